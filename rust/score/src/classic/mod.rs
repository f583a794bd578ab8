//! The classic scores of discrete data (Carvalho 2009; Silander et al. 2018): functions of counts.
//!
//! Every one of them is `joint(counts of child and parents) - given(counts of the parents)` and a term of the numbers of
//! levels alone. Both parts are functions of a variable *set*, so they are kept by set: the four families within
//! four variables count their rows once. A new score of this form says what the two parts are ([`CountScore`]).
//!
//! A family costs at most one pass over the rows and one over its cells. Cells that do not occur cost nothing here
//! and enter through the number of configurations, which counts declared levels, observed or not.

pub mod bde;
pub mod dirichlet;
pub mod likelihood;
pub mod mit;
pub mod nml;
pub mod smoothed;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{ChildScore, Fit, LocalScore, Tables};
use crate::control::Halt;
use crate::counts::Counter;
use crate::counts::bitmaps::Bitmaps;
use crate::error::Result;
use crate::kept::Kept;
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::predictive::Predictive;
use crate::prior::{FamilySize, GraphPrior};
use crate::table::{Codes, Table, Var};

/// What the classic scores tell a user who has a continuous column; `{column}` stands for its name.
pub const ADVICE: &str = "this score needs levels: cut it into bins by \
    with_types({'{column}': an.Binned(5)}) or by an.FayyadIrani(), or use a score for mixed columns such as an.PCART()";

/// A child with its parents, as numbers of levels.
#[derive(Clone, Debug)]
pub struct Family {
    /// Levels of the child.
    pub r: usize,
    /// Levels of each parent.
    pub parent_levels: SmallVec<[usize; 4]>,
    /// Joint configurations of the parents.
    pub q: f64,
    /// Rows.
    pub n_rows: f64,
    /// `sum n ln n` over the child's own levels.
    pub child_n_ln_n: f64,
}

impl Family {
    /// `(r - 1) q`.
    pub fn n_parameters(&self) -> f64 {
        (self.r as f64 - 1.0) * self.q
    }
}

/// A score of counts: what its two parts are, and how they make a score.
pub trait CountScore: Send + Sync {
    /// The part of the counts of child and parents together, of so many configurations.
    fn joint(&self, cells: &[u32], configurations: f64) -> f64;

    /// The part of the counts of the parents, of so many configurations, for a child of `r` levels.
    fn given(&self, cells: &[u32], configurations: f64, r: usize) -> f64;

    /// Whether `given` depends on `r`.
    fn given_depends_on_child(&self) -> bool {
        false
    }

    /// The score, without the graph prior.
    fn combine(&self, family: &Family, joint: f64, given: f64) -> f64 {
        let _ = family;
        joint - given
    }

    /// What is added to every count when the model predicts, for `r` levels and `q` configurations.
    fn pseudo_count(&self, r: usize, q: f64) -> f64;

    /// Whether the score itself adds something to the counts, or is one of maximum likelihood.
    fn tables(&self) -> Tables {
        Tables::Counted
    }

    /// True if Markov equivalent graphs always score alike, graph prior aside.
    fn equivalent(&self) -> bool;
}

/// A count score prepared for a table.
pub struct Prepared<C> {
    table: Arc<Table>,
    rule: C,
    prior: GraphPrior,
    kept: Kept<(Part, Set)>,
    bitmaps: Bitmaps,
}

impl<C: CountScore> Prepared<C> {
    /// Prepares a score; continuous columns are refused when they are scored.
    ///
    /// # Errors
    /// If the prior's parameter is outside its range.
    pub fn new(table: &Arc<Table>, rule: C, prior: GraphPrior) -> Result<Self> {
        prior.check()?;
        let bitmaps = Bitmaps::new(table);
        Ok(Self { table: table.clone(), rule, prior, kept: Kept::default(), bitmaps })
    }

    fn levels(&self, var: Var) -> usize {
        self.table.variable(var).n_levels().unwrap_or(1)
    }
}

impl<C: CountScore> LocalScore for Prepared<C> {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        let mut counter = Counter::with_bitmaps(&self.table, ADVICE, &self.bitmaps);
        let child_n_ln_n = counter.count(&[child])?.iter().map(|&n| n_ln_n(n)).sum();
        Ok(Box::new(Scratch { score: self, child, child_n_ln_n, counter }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.model_until(child, parents, &Halt::default())
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        counted_model(&self.table, child, parents, halt, |r, q| self.rule.pseudo_count(r, q))
    }

    fn tables(&self) -> Tables {
        self.rule.tables()
    }

    fn equivalent(&self) -> bool {
        // Equivalent graphs have as many arcs, but not the same numbers of parents.
        self.rule.equivalent() && self.prior != GraphPrior::ParentCount
    }
}

/// The shares of a child's levels in every observed configuration of its parents, so much added to every count for `r`
/// levels and `q` configurations.
///
/// # Errors
/// If a column is continuous, or interrupted.
pub fn counted_model(
    table: &Table,
    child: Var,
    parents: &[Var],
    halt: &Halt,
    pseudo_count: impl Fn(usize, f64) -> f64,
) -> Result<LocalModel> {
    let response = table.codes(child, ADVICE)?;
    let columns = parents.iter().map(|&p| table.codes(p, ADVICE)).collect::<Result<Vec<&Codes>>>()?;
    let levels = |v: Var| table.variable(v).n_levels().unwrap_or(1);
    let r = levels(child);
    let mut counts: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
    for row in 0..table.n_rows() {
        if row % 4096 == 4095 {
            halt.check()?;
        }
        let cell = columns.iter().map(|c| c.get(row) as u32).collect();
        counts.entry(cell).or_insert_with(|| vec![0; r])[response.get(row)] += 1;
    }
    let q = parents.iter().map(|&p| levels(p) as f64).product();
    let extra = pseudo_count(r, q);
    let smooth = |counts: &[u32]| {
        let total = f64::from(counts.iter().sum::<u32>()) + extra * r as f64;
        Predictive::Levels { probabilities: counts.iter().map(|&n| (f64::from(n) + extra) / total).collect() }
    };
    let cell = |(codes, counts): (Vec<u32>, Vec<u32>)| {
        let n_rows = counts.iter().map(|&n| n as usize).sum();
        Cell { codes, n_rows, distribution: smooth(&counts) }
    };
    let cells = counts.into_iter().map(cell).collect();
    Ok(LocalModel::Cells(Cells::new(child, parents.to_vec(), cells, smooth(&vec![0; r]))))
}

struct Scratch<'a, C> {
    score: &'a Prepared<C>,
    child: Var,
    child_n_ln_n: f64,
    counter: Counter<'a>,
}

impl<C: CountScore> ChildScore for Scratch<'_, C> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let Prepared { table, rule, prior, kept, .. } = self.score;
        let r = self.score.levels(self.child);
        let parent_levels: SmallVec<[usize; 4]> = parents.iter().map(|&p| self.score.levels(p)).collect();
        let q: f64 = parent_levels.iter().map(|&k| k as f64).product();
        let mut members: Set = parents.iter().copied().chain([self.child]).collect();
        members.sort_unstable();
        let joint =
            kept.get_or((Part::Joint, members), |(_, set)| Ok(rule.joint(self.counter.count(set)?, q * r as f64)))?;
        let part = if rule.given_depends_on_child() { Part::Given(r) } else { Part::Given(0) };
        let given =
            kept.get_or((part, Set::from_slice(parents)), |(_, set)| Ok(rule.given(self.counter.count(set)?, q, r)))?;
        let family = Family { r, parent_levels, q, n_rows: table.n_rows() as f64, child_n_ln_n: self.child_n_ln_n };
        let size = FamilySize { n_vars: table.n_vars(), n_parents: parents.len(), n_parameters: family.n_parameters() };
        Ok(rule.combine(&family, joint, given) + prior.log_prior(size))
    }

    fn heed(&mut self, halt: &Halt) {
        self.counter.heed(halt);
    }

    /// Of the full table, whatever the score: the likelihood ratio is the G test.
    fn likelihood(&mut self, parents: &[Var]) -> Result<Fit> {
        let mut members: Set = parents.iter().copied().chain([self.child]).collect();
        members.sort_unstable();
        let mut part = |set: Set| {
            let sum = |counts: &[u32]| counts.iter().map(|&n| n_ln_n(n)).sum();
            self.score.kept.get_or((Part::Entropy, set), |(_, set)| Ok(sum(self.counter.count(set)?)))
        };
        let log_likelihood = part(members)? - part(Set::from_slice(parents))?;
        let q: f64 = parents.iter().map(|&p| self.score.levels(p) as f64).product();
        Ok(Fit { log_likelihood, df: (self.score.levels(self.child) as f64 - 1.0) * q })
    }
}

/// `n ln n`, 0 for 0.
pub fn n_ln_n(n: u32) -> f64 {
    if n <= 1 { 0.0 } else { f64::from(n) * f64::from(n).ln() }
}

/// An ascending variable set.
type Set = SmallVec<[Var; 5]>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// `sum n ln n`, for tests.
    Entropy,
    Joint,
    /// For a child of so many levels, 0 where that makes no difference.
    Given(usize),
}

#[cfg(test)]
mod tests;
