//! The classic scores of discrete data (Carvalho 2009; Silander et al. 2018): functions of counts.
//!
//! Every one of them is `joint(counts of child and parents) - given(counts of the parents)` and a term of the numbers of
//! levels alone. Both parts are functions of a variable *set*, so they are kept by set: the four families within
//! four variables count their rows once. A new score of this form says what the two parts are ([`CountScore`]).
//!
//! A family costs at most one pass over the rows and one over its cells. Cells that do not occur cost nothing here
//! and enter through the number of configurations, which counts declared levels, observed or not.
//!
//! Where rows have weights, counts are their sums. What is known of whole counts alone is said at the score.

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
use crate::counts::bitmaps::Bitmaps;
use crate::counts::{Count, Counter};
use crate::error::Result;
use crate::kept::Kept;
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::numeric::ln_of_count;
use crate::predictive::Predictive;
use crate::prior::{FamilySize, GraphPrior};
use crate::table::{Codes, Table, Var};
use crate::weights::Weights;

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
    /// Rows, or the sum of their weights.
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
    fn joint<N: Count>(&self, cells: &[N], configurations: f64) -> f64;

    /// The part of the counts of the parents, of so many configurations, for a child of `r` levels.
    fn given<N: Count>(&self, cells: &[N], configurations: f64, r: usize) -> f64;

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
    kept: Kept<(Statistic, Set)>,
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
        let weights = self.table.weights_of(child);
        let each = self.table.weights().and_then(Weights::each);
        let child_n_ln_n = match (each, weights) {
            (_, None) => counter.count(&[child])?.iter().map(|&n| n_ln_n(n)).sum(),
            (Some(each), _) => counter.weigh_equally(&[child], each)?.iter().map(|&n| n_ln_n(n)).sum(),
            (None, Some(weights)) => counter.weigh(&[child], weights)?.iter().map(|&n| n_ln_n(n)).sum(),
        };
        let n_rows = weights.map_or(self.table.n_rows() as f64, |weights| weights.iter().sum());
        // Sets are counted once for all children whose rows weigh the same.
        let shared = self.table.weights().is_none_or(|weights| weights.own_of(child).is_none());
        Ok(Box::new(Scratch { score: self, child, child_n_ln_n, n_rows, weights, each, shared, counter }))
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
    let mut counts: FxHashMap<Vec<u32>, Vec<f64>> = FxHashMap::default();
    let weights = table.weights_of(child);
    for row in 0..table.n_rows() {
        if row % 4096 == 4095 {
            halt.check()?;
        }
        let weight = weights.map_or(1.0, |weights| weights[row]);
        if weight > 0.0 {
            let cell = columns.iter().map(|c| c.get(row) as u32).collect();
            counts.entry(cell).or_insert_with(|| vec![0.0; r])[response.get(row)] += weight;
        }
    }
    let q = parents.iter().map(|&p| levels(p) as f64).product();
    let extra = pseudo_count(r, q);
    let smooth = |counts: &[f64]| {
        let total = counts.iter().sum::<f64>() + extra * r as f64;
        Predictive::Levels { probabilities: counts.iter().map(|&n| (n + extra) / total).collect() }
    };
    let cell = |(codes, counts): (Vec<u32>, Vec<f64>)| {
        let n_rows = counts.iter().sum::<f64>().round() as usize;
        Cell { codes, n_rows, distribution: smooth(&counts) }
    };
    let cells = counts.into_iter().map(cell).collect();
    Ok(LocalModel::Cells(Cells::new(child, parents.to_vec(), cells, smooth(&vec![0.0; r]))))
}

struct Scratch<'a, C> {
    score: &'a Prepared<C>,
    child: Var,
    child_n_ln_n: f64,
    n_rows: f64,
    weights: Option<&'a [f64]>,
    each: Option<f64>,
    shared: bool,
    counter: Counter<'a>,
}

impl<C: CountScore> Scratch<'_, C> {
    /// One term of the score, of a set.
    fn statistic(&mut self, statistic: Statistic, set: Set, configurations: f64) -> Result<f64> {
        let Self { score, weights, each, counter, .. } = self;
        let rule = &score.rule;
        let r = score.levels(self.child);
        let mut compute = |set: &Set| match (*each, *weights) {
            (_, None) => Ok(statistic.of(rule, counter.count(set)?, configurations, r)),
            (Some(each), _) => Ok(statistic.of(rule, counter.weigh_equally(set, each)?, configurations, r)),
            (None, Some(weights)) => Ok(statistic.of(rule, counter.weigh(set, weights)?, configurations, r)),
        };
        if self.shared { score.kept.get_or((statistic, set), |(_, set)| compute(set)) } else { compute(&set) }
    }
}

impl<C: CountScore> ChildScore for Scratch<'_, C> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let Prepared { table, rule, prior, .. } = self.score;
        let r = self.score.levels(self.child);
        let parent_levels: SmallVec<[usize; 4]> = parents.iter().map(|&p| self.score.levels(p)).collect();
        let q: f64 = parent_levels.iter().map(|&k| k as f64).product();
        let mut members: Set = parents.iter().copied().chain([self.child]).collect();
        members.sort_unstable();
        let joint = self.statistic(Statistic::Joint, members, q * r as f64)?;
        let given = if rule.given_depends_on_child() { Statistic::Given(r) } else { Statistic::Given(0) };
        let given = self.statistic(given, Set::from_slice(parents), q)?;
        let family = Family { r, parent_levels, q, n_rows: self.n_rows, child_n_ln_n: self.child_n_ln_n };
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
        let joint = self.statistic(Statistic::Entropy, members, 0.0)?;
        let log_likelihood = joint - self.statistic(Statistic::Entropy, Set::from_slice(parents), 0.0)?;
        let q: f64 = parents.iter().map(|&p| self.score.levels(p) as f64).product();
        Ok(Fit { log_likelihood, df: (self.score.levels(self.child) as f64 - 1.0) * q })
    }
}

/// `n ln n`, 0 for 0.
pub fn n_ln_n<N: Count>(n: N) -> f64 {
    match n.whole() {
        Some(0 | 1) => 0.0,
        Some(whole) => n.real() * ln_of_count(whole),
        None => n.real() * n.real().ln(),
    }
}

/// An ascending variable set.
type Set = SmallVec<[Var; 5]>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Statistic {
    /// `sum n ln n`, for tests.
    Entropy,
    Joint,
    /// For a child of so many levels, 0 where that makes no difference.
    Given(usize),
}

impl Statistic {
    fn of<C: CountScore, N: Count>(self, rule: &C, cells: &[N], configurations: f64, r: usize) -> f64 {
        match self {
            Self::Entropy => cells.iter().map(|&n| n_ln_n(n)).sum(),
            Self::Joint => rule.joint(cells, configurations),
            Self::Given(_) => rule.given(cells, configurations, r),
        }
    }
}

#[cfg(test)]
mod tests;
