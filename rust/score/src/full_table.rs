//! Full tables with quantile bins (Talvitie, Eggeling and Koivisto 2019, section 3.3): every joint configuration of the
//! parents has its own leaf, continuous and ordinal parents are cut into 2 to `max_bins` bins.
//!
//! The score is the best log marginal over all joint choices of bins, minus `ln(max_bins - 1)` for every parent that
//! is cut: the uniform prior over joint choices, normalised. There is no penalty per leaf. All joint choices are
//! evaluated together (see [`joint`]); the cost of a family is that of its boxes of parts, not rows times choices.

mod cuts;
mod few;
mod joint;
mod line;
mod response;
mod runs;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::cuts::Cuttings;
use self::joint::{Axis, Joint};
use self::response::{Levels, Numbers, Response};
use super::{ChildScore, LocalScore};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::leaf::{Leaf, LeafModel, LeafPriors};
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::model::full_table::{FullTable as Model, bin};
use crate::prior;
use crate::table::{Column, Table, Var};

/// Parameters of full tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullTable {
    /// Whether the prior over parent sets, `-ln binom(n - 1, |P|)`, is part of the score.
    pub penalised: bool,
    /// The largest number of bins tried.
    pub max_bins: usize,
    /// Whether the prior over joint choices of bins is part of the score.
    pub normalised: bool,
    /// Priors of the leaves.
    pub priors: LeafPriors,
    /// Leaves as the authors' program computes them, and no prior over choices.
    pub published: bool,
}

impl Default for FullTable {
    fn default() -> Self {
        Self { penalised: true, max_bins: 7, normalised: true, priors: LeafPriors::default(), published: false }
    }
}

/// More bins than this have no use and cost tables of parts.
const MOST_BINS: usize = 64;

impl FullTable {
    /// Prepares the score for a table: cuts every column in every way.
    ///
    /// # Errors
    /// If a parameter is outside its range, or one is given for a column that is not there.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if !(2..=MOST_BINS).contains(&self.max_bins) {
            return Err(Error::parameter("max_bins", &self.max_bins, format!("must be between 2 and {MOST_BINS}")));
        }
        self.priors.check(table)?;
        let cuttings = (0..table.n_vars()).map(|v| Cuttings::new(table, v, self.max_bins)).collect();
        Ok(Box::new(Prepared { table: table.clone(), parameters: self.clone(), cuttings }))
    }
}

struct Prepared {
    table: Arc<Table>,
    parameters: FullTable,
    cuttings: Vec<Cuttings>,
}

impl Prepared {
    /// The prior over joint choices of bins.
    fn log_prior_of_choices(&self, parents: &[Var]) -> f64 {
        let FullTable { max_bins, normalised, published, .. } = self.parameters;
        let n_cut = parents.iter().filter(|&&p| self.cuttings[p].is_cut).count() as f64;
        if normalised && !published { -n_cut * (max_bins as f64 - 1.0).ln() } else { 0.0 }
    }

    /// The prior over parent sets.
    fn log_prior(&self, parents: &[Var]) -> f64 {
        if self.parameters.penalised { prior::parent_count(self.table.n_vars(), parents.len()) } else { 0.0 }
    }

    /// Parents in the order in which their axes are split: those without a choice first, as they only divide the rows.
    fn axis_order(&self, parents: &[Var]) -> Vec<Var> {
        let mut order = parents.to_vec();
        order.sort_by_key(|&p| (self.cuttings[p].choices.len(), std::cmp::Reverse(self.cuttings[p].n_parts), p));
        order
    }

    fn leaf(&self, child: Var) -> Leaf {
        self.parameters.priors.leaf(&self.table, child, self.parameters.published)
    }

    /// Rows in the order in which responses are summed: ascending where sums depend on it.
    fn row_order(&self, child: Var) -> Option<Vec<u32>> {
        let Column::Reals(values) = self.table.column(child) else { return None };
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        Some(order)
    }

    fn scratch<R: Response + 'static>(&self, child: Var, response: R) -> Scratch<'_, R> {
        let codes = self.row_order(child).map(|order| {
            let permuted = |c: &Cuttings| order.iter().map(|&row| c.codes[row as usize]).collect();
            self.cuttings.iter().map(permuted).collect()
        });
        Scratch { score: self, codes, joint: Joint::new(self.table.n_rows()), response }
    }

    /// The scratch of a child, with its response in the order of its rows.
    fn family(&self, child: Var) -> Box<dyn Family + '_> {
        let codes = |n| match self.table.column(child) {
            Column::Codes(codes) => (codes.iter().map(|c| c as u32).collect(), n),
            Column::Reals(_) => unreachable!("a leaf of levels belongs to a column of codes"),
        };
        match self.leaf(child) {
            Leaf::Categorical(leaf) => {
                let (codes, width) = codes(leaf.n_levels());
                Box::new(self.scratch(child, Levels::new(leaf, codes, width)))
            }
            Leaf::Ordinal(leaf) => {
                let (codes, width) = codes(leaf.n_levels());
                Box::new(self.scratch(child, Levels::new(leaf, codes, width)))
            }
            Leaf::Normal(leaf) => {
                let Column::Reals(reals) = self.table.column(child) else {
                    unreachable!("a leaf of numbers belongs to a column of numbers")
                };
                Box::new(self.scratch(child, Numbers::new(&leaf, reals.clone())))
            }
        }
    }

    /// Cells of the rows under given cuts, each fitted with the responses observed in their canonical order.
    fn cells<L: LeafModel>(
        &self,
        leaf: &L,
        value: impl Fn(usize) -> L::Value,
        family: (Var, &[Var]),
        cuts: &[Option<Vec<f64>>],
    ) -> Cells {
        let (child, parents) = family;
        let codes_of = |row: usize| -> Vec<u32> {
            let code = |(&p, cuts): (&Var, &Option<Vec<f64>>)| match (self.table.column(p), cuts) {
                (Column::Reals(x), Some(cuts)) => bin(cuts, x[row]),
                (Column::Codes(c), Some(cuts)) => bin(cuts, c.get(row) as f64),
                (Column::Codes(c), None) => c.get(row) as u32,
                (Column::Reals(_), None) => unreachable!("a continuous parent is always cut"),
            };
            parents.iter().zip(cuts).map(code).collect()
        };
        let mut rows: Vec<(Vec<u32>, usize)> = match self.row_order(child) {
            Some(order) => order.into_iter().map(|row| (codes_of(row as usize), row as usize)).collect(),
            None => (0..self.table.n_rows()).map(|row| (codes_of(row), row)).collect(),
        };
        rows.sort_by(|a, b| a.0.cmp(&b.0)); // stable: within a cell the order stays
        let fitted = |same: &[(Vec<u32>, usize)]| {
            let mut stat = leaf.empty();
            for &(_, row) in same {
                leaf.observe(&mut stat, value(row));
            }
            Cell { codes: same[0].0.clone(), n_rows: same.len(), distribution: leaf.fit(&stat) }
        };
        let cells = rows.chunk_by(|a, b| a.0 == b.0).map(fitted).collect();
        Cells::new(child, parents.to_vec(), cells, leaf.fit(&leaf.empty()))
    }
}

impl LocalScore for Prepared {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Boxed { score: self, family: self.family(child), halt: Halt::default() }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.model_until(child, parents, &Halt::default())
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        let mut scratch = self.family(child);
        scratch.heed(halt);
        let (_, choices) = scratch.best(parents);
        halt.check()?;
        let cuts: Vec<Option<Vec<f64>>> = parents
            .iter()
            .zip(choices)
            .map(|(&p, choice)| self.cuttings[p].is_cut.then(|| self.cuttings[p].choices[choice].clone()))
            .collect();
        let family = (child, parents);
        let cells = match (self.leaf(child), self.table.column(child)) {
            (Leaf::Categorical(leaf), Column::Codes(c)) => self.cells(&leaf, |row| c.get(row) as u32, family, &cuts),
            (Leaf::Ordinal(leaf), Column::Codes(c)) => self.cells(&leaf, |row| c.get(row) as u32, family, &cuts),
            (Leaf::Normal(leaf), Column::Reals(y)) => self.cells(&leaf, |row| y[row], family, &cuts),
            _ => unreachable!("leaves are of their column's kind"),
        };
        Ok(LocalModel::FullTable(Model::new(cuts, cells)))
    }
}

/// A child with its kind of response hidden.
trait Family {
    /// The score without the prior over parent sets, and the choice of bins per parent it is reached with: the first of
    /// the best.
    fn best(&mut self, parents: &[Var]) -> (f64, Vec<usize>);

    /// Who can stop it, after which its results mean nothing.
    fn heed(&mut self, halt: &Halt);

    /// As [`ChildScore::steps`].
    fn steps(&self) -> u64;
}

struct Boxed<'a> {
    score: &'a Prepared,
    family: Box<dyn Family + 'a>,
    halt: Halt,
}

impl ChildScore for Boxed<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let score = self.family.best(parents).0 + self.score.log_prior(parents);
        self.halt.check()?;
        Ok(score)
    }

    fn log_marginal(&mut self, parents: &[Var]) -> Result<Option<f64>> {
        let log_marginal = self.family.best(parents).0;
        self.halt.check()?;
        Ok(Some(log_marginal))
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
        self.family.heed(halt);
    }

    fn steps(&self) -> Option<u64> {
        Some(self.family.steps())
    }
}

struct Scratch<'a, R: Response> {
    score: &'a Prepared,
    /// Per variable, in the order of the responses; `None` where that is the order of the rows.
    codes: Option<Vec<Vec<u16>>>,
    joint: Joint<R::Number>,
    response: R,
}

impl<R: Response> Family for Scratch<'_, R> {
    fn heed(&mut self, halt: &Halt) {
        self.joint.halt = halt.clone();
    }

    fn steps(&self) -> u64 {
        self.joint.steps
    }

    fn best(&mut self, parents: &[Var]) -> (f64, Vec<usize>) {
        let order = self.score.axis_order(parents);
        let axis = |&p: &Var| {
            let cuttings = &self.score.cuttings[p];
            Axis::new(cuttings, self.codes.as_ref().map_or(&cuttings.codes, |codes| &codes[p]))
        };
        let axes: Vec<Axis<'_>> = order.iter().map(axis).collect();
        let totals = self.joint.log_marginals(&self.response, &axes);
        let mut best = 0;
        for (joint, &total) in totals.iter().enumerate() {
            if total > totals[best] {
                best = joint;
            }
        }
        let score = totals[best] + self.score.log_prior_of_choices(parents);
        let mut choices = vec![0; parents.len()];
        for (axis, p) in axes.iter().zip(&order).rev() {
            let position = parents.iter().position(|q| q == p).expect("the order is one of the parents");
            choices[position] = best % axis.n_choices;
            best /= axis.n_choices;
        }
        (score, choices)
    }
}
