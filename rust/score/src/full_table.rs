//! Full tables with quantile bins (Talvitie, Eggeling and Koivisto 2019, section 3.3): every joint configuration of the
//! parents has its own leaf, continuous and ordinal parents are cut into 2 to `max_bins` bins.
//!
//! The score is the best log marginal over all joint choices of bins, minus `ln(max_bins - 1)` for every parent that
//! is cut: the uniform prior over joint choices, normalised. There is no penalty per leaf. All joint choices are
//! evaluated together (see [`joint`]); the cost of a family is that of its boxes of parts, not rows times choices.
//!
//! In a cell stands what the column says of its leaves: counts, a histogram, a number that many rows share. All of these have a
//! marginal in closed form of sums that add. Lines are refused: sums with the parents would have to be kept for every box.

mod cells;
mod counts;
mod cuts;
mod few;
mod joint;
mod line;
mod pointed;
mod response;
mod runs;
mod weighed;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::cells::{CellLeaf, Rows};
use self::counts::Counts;
use self::cuts::Cuttings;
use self::joint::{Axis, Joint};
use self::pointed::Pointed;
use self::response::{LevelLeaf, Levels, Numbers, Response};
use self::weighed::{WeighedLevels, WeighedNumbers};
use super::{ChildScore, LocalScore};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::leaf::{HistogramLeaf, Leaf, LeafPriors};
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::model::full_table::{FullTable as Model, bin};
use crate::prior;
use crate::registry::Takes;
use crate::said::{self, CountRows, SharedRows};
use crate::table::{Codes, Column, Kind, NumberLeaf, Table, Units, Var};

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
    /// Rows may have any weights, but not with what the authors' program does.
    pub(crate) fn takes(&self) -> Takes {
        if self.published { Takes::Repeated } else { Takes::Any }
    }

    /// Prepares the score for a table: cuts every column in every way.
    ///
    /// # Errors
    /// If a parameter is outside its range, or one is given for a column that is not there.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if !(2..=MOST_BINS).contains(&self.max_bins) {
            return Err(Error::parameter("max_bins", &self.max_bins, format!("must be between 2 and {MOST_BINS}")));
        }
        self.priors.check(table)?;
        let mut histograms = vec![None; table.n_vars()];
        if !self.published {
            (0..table.n_vars()).try_for_each(|var| check(table, var))?;
            histograms = said::histograms(table)?;
        }
        let cuttings = (0..table.n_vars()).map(|v| Cuttings::new(table, v, self.max_bins)).collect();
        Ok(Box::new(Prepared { table: table.clone(), parameters: self.clone(), cuttings, histograms }))
    }
}

/// That a column's own leaves can stand in cells.
fn check(table: &Table, var: Var) -> Result<()> {
    if let Kind::Continuous { scale } = &table.variable(var).kind
        && scale.leaf == Some(NumberLeaf::Linear)
    {
        let problem = "has leaves that follow lines (leaf=\"linear\"), and the cells of a full table follow none";
        return Err(Error::column(table.name(var), problem, "take PCART, or leaf=\"normal\" for the column"));
    }
    said::check_counts(table, var)
}

struct Prepared {
    table: Arc<Table>,
    parameters: FullTable,
    cuttings: Vec<Cuttings>,
    /// Of children whose cells hold histograms.
    histograms: Vec<Option<Arc<HistogramLeaf>>>,
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

    /// Rows in the order in which responses are summed: ascending where sums depend on it, and without those that do not
    /// count for the child. `None` where that is the order of the rows.
    fn row_order(&self, child: Var) -> Option<Vec<u32>> {
        let weights = self.table.weights_of(child);
        let all = 0..self.table.n_rows() as u32;
        let Column::Reals(values) = self.table.column(child) else {
            let weights = weights.filter(|weights| weights.contains(&0.0))?;
            return Some(all.filter(|&row| weights[row as usize] > 0.0).collect());
        };
        let by_value = |a: u32, b: u32| values[a as usize].total_cmp(&values[b as usize]);
        let Some(weights) = weights else {
            let mut order: Vec<u32> = all.collect();
            order.sort_by(|&a, &b| by_value(a, b));
            return Some(order);
        };
        let mut order: Vec<u32> = all.filter(|&row| weights[row as usize] > 0.0).collect();
        order.sort_by(|&a, &b| by_value(a, b).then(weights[a as usize].total_cmp(&weights[b as usize])));
        Some(order)
    }

    fn scratch<R: Response + 'static>(&self, child: Var, response: impl FnOnce(&[u32]) -> R) -> Scratch<'_, R> {
        let order = self.row_order(child);
        let codes = order.as_ref().map(|order| {
            let permuted = |c: &Cuttings| order.iter().map(|&row| c.codes[row as usize]).collect();
            self.cuttings.iter().map(permuted).collect()
        });
        let order = order.unwrap_or_else(|| (0..self.table.n_rows() as u32).collect());
        Scratch { score: self, codes, joint: Joint::new(order.len()), response: response(&order) }
    }

    /// The units of a child that says it holds counts.
    fn counts(&self, child: Var) -> Option<&Units> {
        let Kind::Continuous { scale } = &self.table.variable(child).kind else { return None };
        (scale.leaf == Some(NumberLeaf::Counts) && !self.parameters.published).then_some(scale)
    }

    /// Which rows hold the child's shared number, if it has one, of stored numbers with their weights.
    fn shared(&self, child: Var, rows: impl Iterator<Item = (f64, f64)>) -> Option<SharedRows> {
        let point = said::point_of(&self.table, child).filter(|_| !self.parameters.published)?;
        let alpha = self.parameters.priors.of(&self.table, child).alpha;
        Some(SharedRows::new(point, alpha, rows))
    }

    /// The stored numbers of a child and their weights, in some order of the rows.
    fn numbers<'a>(&'a self, child: Var, order: &'a [u32]) -> impl Iterator<Item = (f64, f64)> + 'a {
        let Column::Reals(reals) = self.table.column(child) else { unreachable!("only numbers are asked for") };
        let weights = self.table.weights_of(child);
        order.iter().map(move |&row| (reals[row as usize], weights.map_or(1.0, |weights| weights[row as usize])))
    }

    /// The scratch of a child of numbers, beside its shared number if it has one.
    fn of_numbers<R>(&self, child: Var, response: impl FnOnce(&[u32]) -> R) -> Box<dyn Family + '_>
    where
        R: Response + 'static,
    {
        if said::point_of(&self.table, child).is_none() || self.parameters.published {
            return Box::new(self.scratch(child, response));
        }
        Box::new(self.scratch(child, |order| {
            let shared = self.shared(child, self.numbers(child, order));
            Pointed::new(response(order), shared.expect("the column has a point mass"))
        }))
    }

    /// The scratch of a child, with its response in the order of its rows.
    fn family(&self, child: Var) -> Box<dyn Family + '_> {
        if let Some(scale) = self.counts(child) {
            return self.of_numbers(child, |order| {
                let rows: Vec<_> = self.numbers(child, order).collect();
                Counts::new(CountRows::new(&rows, scale, said::point_of(&self.table, child).as_ref()))
            });
        }
        if let Some(leaf) = &self.histograms[child] {
            let cells = |order: &[u32]| self.numbers(child, order).map(|(y, n)| (leaf.cell(y), n)).collect::<Vec<_>>();
            if self.table.weights_of(child).is_some() {
                let response = |order: &[u32]| WeighedLevels::new(leaf.clone(), cells(order), leaf.n_cells());
                return self.of_numbers(child, response);
            }
            let codes = |order: &[u32]| cells(order).into_iter().map(|(cell, _)| cell).collect();
            return self.of_numbers(child, |order| Levels::new(leaf.clone(), codes(order), leaf.n_cells()));
        }
        match (self.leaf(child), self.table.column(child)) {
            (Leaf::Categorical(leaf), Column::Codes(codes)) => {
                let width = leaf.n_levels();
                self.of_levels(child, leaf, codes, width)
            }
            (Leaf::Ordinal(leaf), Column::Codes(codes)) => {
                let width = leaf.n_levels();
                self.of_levels(child, leaf, codes, width)
            }
            (Leaf::Normal(leaf), Column::Reals(reals)) => match self.table.weights_of(child) {
                None => self.of_numbers(child, |_| Numbers::new(&leaf, reals.clone())),
                Some(_) => self.of_numbers(child, |order| WeighedNumbers::new(leaf, self.numbers(child, order))),
            },
            _ => unreachable!("leaves are of their column's kind"),
        }
    }

    fn of_levels<L>(&self, child: Var, leaf: L, codes: &Codes, width: usize) -> Box<dyn Family + '_>
    where
        L: LevelLeaf + 'static,
    {
        let code = |&row: &u32| codes.get(row as usize) as u32;
        match self.table.weights_of(child) {
            None => Box::new(self.scratch(child, |order| Levels::new(leaf, order.iter().map(code).collect(), width))),
            Some(weights) => Box::new(self.scratch(child, |order| {
                let rows = order.iter().map(|row| (code(row), weights[*row as usize])).collect();
                WeighedLevels::new(leaf, rows, width)
            })),
        }
    }

    /// Cells of the rows under given cuts, each fitted with the responses observed in their canonical order.
    fn cells(&self, child: Var, parents: &[Var], cuts: &[Option<Vec<f64>>]) -> Cells {
        let rows_of_child = Rows { column: self.table.column(child), weights: self.table.weights_of(child) };
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
        let order: Vec<u32> = rows.iter().map(|&(_, row)| row as u32).collect();
        let leaf = self.cell_leaf(child, &order);
        let shared = match self.table.column(child) {
            Column::Reals(_) => self.shared(child, self.numbers(child, &order)),
            Column::Codes(_) => None,
        };
        rows.sort_by(|a, b| a.0.cmp(&b.0)); // stable: within a cell the order stays
        let fitted = |same: &[(Vec<u32>, usize)]| {
            let of_cell: Vec<usize> = same.iter().map(|&(_, row)| row).collect();
            let (n_rows, distribution) = rows_of_child.fitted(&leaf, shared.as_ref(), &of_cell);
            Cell { codes: same[0].0.clone(), n_rows, distribution }
        };
        let cells = rows.chunk_by(|a, b| a.0 == b.0).map(fitted).collect();
        let (_, unseen) = rows_of_child.fitted(&leaf, shared.as_ref(), &[]);
        Cells::new(child, parents.to_vec(), cells, unseen)
    }

    /// What stands in the cells of a child, whose rows come in this order.
    fn cell_leaf(&self, child: Var, order: &[u32]) -> CellLeaf {
        if let Some(scale) = self.counts(child) {
            let rows: Vec<_> = self.numbers(child, order).collect();
            let point = said::point_of(&self.table, child);
            return CellLeaf::Counts(Box::new(CountRows::new(&rows, scale, point.as_ref()).leaf), scale.clone());
        }
        match &self.histograms[child] {
            Some(leaf) => CellLeaf::Histogram(leaf.clone()),
            None => CellLeaf::OfKind(self.leaf(child)),
        }
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
        let cells = self.cells(child, parents, &cuts);
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
        let score = totals[best] + self.response.constant() + self.score.log_prior_of_choices(parents);
        let mut choices = vec![0; parents.len()];
        for (axis, p) in axes.iter().zip(&order).rev() {
            let position = parents.iter().position(|q| q == p).expect("the order is one of the parents");
            choices[position] = best % axis.n_choices;
            best /= axis.n_choices;
        }
        (score, choices)
    }
}

#[cfg(test)]
mod tests;
