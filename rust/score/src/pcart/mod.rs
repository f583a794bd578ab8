//! PCART: the posterior score of the best partition-dyadic tree (Talvitie, Eggeling and Koivisto 2019, section 3).
//!
//! `max over trees T of [leaves(T) ln gamma + sum over leaves of the log marginal] - ln Z(P)`, and with `penalised`
//! (`PCARTp`) the graph prior `-ln binom(n-1, |P|)`. The search is [`crate::tree::optimal`]; `BDeu` leaves (`ess`), whose
//! prior depends on the cell, go through [`crate::tree::literal`].

mod bdeu;
mod cell_prior;
mod children;
mod chosen;
mod combinations;
mod counts;
mod dear;
mod family;
mod histogram;
mod lines;
mod merging;
mod ordered;
mod parameters;
mod points;

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use self::chosen::Choices;
use super::{ChildScore, LocalScore};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::leaf::HistogramLeaf;
use crate::local::{Cost, Groups};
use crate::model::LocalModel;
use crate::prior::parent_count;
use crate::table::{Affine, Column, Kind, Table, Var};
use crate::tree::key::{Coded, Layout, Split};
use crate::tree::memo::Ended;
use crate::tree::normaliser::{Prior, Priors};

pub use self::family::{Family, Route};
pub use self::parameters::{Grouping, Pcart, TreePrior};
pub use crate::table::NumberLeaf;
pub use crate::tree::bins::Cuts;

/// A categorical predictor with more levels in the data has too many bipartitions to try them all.
const MOST_LEVELS: usize = 24;
/// Up to so many levels there is little to gain by an order: 15 sets against 10 intervals.
const FEW_LEVELS: usize = 4;

/// PCART prepared for a table.
pub struct Prepared {
    table: Arc<Table>,
    parameters: Pcart,
    coded: Coded,
    /// Of linear leaves: what brings a number to mean 0 and standard deviation 1 over the rows.
    scales: Vec<Option<Affine>>,
    /// Of children whose leaves are histograms.
    histograms: Vec<Option<Arc<HistogramLeaf>>>,
    /// Of families that are searched by groups in order: with many levels a prior takes longer than a look-up.
    priors: Mutex<Priors>,
    /// Of `leaf="auto"`.
    choices: Choices,
}

/// How a family is searched.
enum Way {
    /// By every division.
    Exact(Layout),
    /// With the levels of these parents (by position) in order, if of any.
    InOrder(Vec<bool>),
}

impl Prepared {
    /// How a family is searched: known from counts of levels and rows, before the start.
    fn way(&self, child: Var, family: &[Var]) -> Result<Way> {
        let parameters = &self.parameters;
        if self.n_lines(child, family) > lines::MOST {
            return Err(self.too_many_numbers(child, family));
        }
        let parents = &self.dividing(child, family)[..];
        let exact = parameters.grouping == Grouping::Exact || parameters.published || self.shares(child);
        if exact || !self.fits_in_order(parents) {
            return self.layout(child, parents).map(Way::Exact);
        }
        let always = parameters.grouping == Grouping::Ordered;
        // What the exact search costs is known before; an estimate for its parts serves where that is too much.
        let affordable = !always && self.route(child, family).1 <= dear::AFFORDABLE;
        if affordable && let Ok(layout) = self.layout(child, parents) {
            return Ok(Way::Exact(layout));
        }
        let n_rows = self.table.n_rows();
        let width = self.table.variable(child).n_levels().unwrap_or(3);
        let nominal = |&p: &Var| matches!(self.table.variable(p).kind, Kind::Categorical { .. });
        let observed = |p: Var| self.coded.axes[p].n_elements();
        let mut extents: Vec<dear::Extent> = parents
            .iter()
            .map(|&p| match self.table.variable(p).kind {
                Kind::Continuous { .. } => (Split::Halving, parameters.max_splits as usize),
                Kind::Ordinal { .. } => (Split::Threshold, observed(p)),
                Kind::Categorical { .. } => (Split::Bipartition, observed(p)),
            })
            .collect();
        let cap = dear::cap(dear::EXACT, &extents, n_rows, width);
        let mut in_order = vec![false; parents.len()];
        let mut largest: Vec<usize> = (0..parents.len()).filter(|&i| nominal(&parents[i])).collect();
        largest.sort_by_key(|&i| (std::cmp::Reverse(observed(parents[i])), i));
        for i in largest {
            let levels = observed(parents[i]);
            let dear = levels > MOST_LEVELS || levels > FEW_LEVELS && dear::steps(&extents, n_rows, width) > cap;
            if dear || always && levels > 2 {
                (extents[i].0, in_order[i]) = (Split::Threshold, true);
            }
        }
        match self.layout(child, parents) {
            Ok(layout) if !in_order.contains(&true) => Ok(Way::Exact(layout)),
            _ => Ok(Way::InOrder(in_order)),
        }
    }

    fn by_the_cell(&self) -> bool {
        self.parameters.tree_prior == TreePrior::Cell
    }

    /// What stands in the leaves of a child of numbers: what its column says, otherwise what the score does.
    fn leaf_of(&self, child: Var) -> Option<NumberLeaf> {
        let Kind::Continuous { scale } = &self.table.variable(child).kind else { return None };
        let goes = |leaf: &NumberLeaf| !(*leaf == NumberLeaf::Linear && self.by_the_cell());
        let own = scale.leaf.filter(|leaf| !self.parameters.published && goes(leaf));
        Some(match own.unwrap_or(self.parameters.leaf) {
            NumberLeaf::Auto => self.chosen(child),
            said => said,
        })
    }

    /// Whether leaves may follow numbers along a line.
    fn has_lines(&self, child: Var) -> bool {
        self.leaf_of(child) == Some(NumberLeaf::Linear)
    }

    /// The numbers that lines may follow: sums with them depend on the order of rows with equal responses too.
    fn numbers_beside(&self, child: Var) -> Vec<&[f64]> {
        let numbers = |var: Var| match self.table.column(var) {
            Column::Reals(x) if var != child => Some(&x[..]),
            _ => None,
        };
        (0..self.table.n_vars()).filter_map(numbers).collect()
    }

    /// The parents by which the trees of a child may be split.
    fn dividing(&self, child: Var, parents: &[Var]) -> SmallVec<[Var; 8]> {
        let straight = |var: Var| {
            self.has_lines(child) && self.parameters.linear_only.iter().any(|name| *name == self.table.name(var))
        };
        parents.iter().copied().filter(|&parent| !straight(parent)).collect()
    }

    fn too_many_numbers(&self, child: Var, parents: &[Var]) -> Error {
        Error::Family {
            child: self.table.name(child).to_owned(),
            parents: parents.iter().map(|&p| self.table.name(p).to_owned()).collect(),
            problem: format!("linear leaves follow at most {} numbers", lines::MOST),
            advice: "use fewer parents, or leaf=\"normal\"".to_owned(),
        }
    }

    /// Whether leaves know their share of the space.
    fn shares(&self, child: Var) -> bool {
        self.parameters.ess.is_some() && matches!(self.table.column(child), Column::Codes(_))
    }

    /// Whether the search fits a key once levels are merged, and all codes are there.
    fn fits_in_order(&self, parents: &[Var]) -> bool {
        let bits = |&p: &Var| if self.table.variable(p).is_continuous() { self.parameters.max_splits + 1 } else { 2 };
        parents.iter().map(bits).sum::<u32>() <= 64
            && parents.iter().all(|&p| self.coded.codes[p].len() == self.table.n_rows())
    }

    /// The prior of a family, by its declared levels.
    fn prior(&self, parents: &[Var]) -> Prior {
        let size = |&p: &Var| match &self.table.variable(p).kind {
            Kind::Continuous { .. } => (Split::Halving, self.parameters.max_splits),
            Kind::Categorical { levels } => (Split::Bipartition, levels.len() as u32),
            Kind::Ordinal { levels } => (Split::Threshold, levels.len() as u32),
        };
        self.priors.lock().unwrap_or_else(PoisonError::into_inner).of_sizes(parents.iter().map(size))
    }

    fn layout(&self, child: Var, parents: &[Var]) -> Result<Layout> {
        let layout = Layout::new(&self.table, child, parents, self.parameters.max_splits)?;
        for (field, &parent) in layout.fields.iter().zip(parents) {
            let observed = self.coded.axes[parent].n_elements();
            if field.split == Split::Bipartition && observed > MOST_LEVELS {
                return Err(Error::Family {
                    child: self.table.name(child).to_owned(),
                    parents: parents.iter().map(|&p| self.table.name(p).to_owned()).collect(),
                    problem: format!(
                        "'{}' has {observed} levels, which fall into two groups in 2^{} ways",
                        self.table.name(parent),
                        observed - 1
                    ),
                    advice: format!(
                        "merge its rarest levels (the limit is {MOST_LEVELS}), declare it ordinal, or divide its levels \
                         by groups in order (grouping=\"auto\")"
                    ),
                });
            }
        }
        Ok(layout)
    }

    fn ended(&self, child: Var, parents: &[Var], ended: Ended) -> Error {
        let names: Vec<_> = parents.iter().map(|&p| self.table.name(p)).collect();
        let full = match ended {
            Ended::Full(full) => full,
            Ended::Halted => return Error::Interrupted,
            Ended::Dear(most) => {
                return Error::Family {
                    child: self.table.name(child).to_owned(),
                    parents: names.into_iter().map(str::to_owned).collect(),
                    problem: format!("its best tree takes more than {most} steps"),
                    advice: "merge rare levels, declare levels that have an order as ordinal, or give more effort"
                        .to_owned(),
                };
            }
        };
        Error::Memory {
            what: format!("the best tree of '{}' given [{}]", self.table.name(child), names.join(", ")),
            needed_mb: full.bytes >> 20,
            limit_mb: self.parameters.memory_mb,
            advice: "raise memory_limit, lower max_splits, merge rare levels, or use fewer parents".to_owned(),
        }
    }
}

impl LocalScore for Prepared {
    fn table(&self) -> &Table {
        &self.table
    }

    fn cost(&self) -> Cost {
        // Trees whose leaves know their share of the space (`ess`) do not count their steps.
        Cost { fixed: 2000.0, row: 2.0, continuous: 8.0, levels: 1.3 }
    }

    fn family_steps(&self, child: Var, parents: &[Var]) -> u64 {
        match self.way(child, parents) {
            Ok(Way::InOrder(_)) => {
                self.row_steps(&self.dividing(child, parents)).saturating_add(2 * dear::IN_ORDER as u64)
            }
            _ => self.route(child, parents).1,
        }
    }

    fn leaf(&self, child: Var) -> Option<NumberLeaf> {
        self.leaf_of(child)
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Scratch { prepared: self, child, family: self.scratch(child)? }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        Ok(LocalModel::Tree(self.scratch(child)?.tree(parents)?))
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        let mut family = self.scratch(child)?;
        family.heed(halt);
        Ok(LocalModel::Tree(family.tree(parents)?))
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        self.way(child, parents).map(|_| ())
    }

    fn in_order(&self, child: Var, parents: &[Var]) -> Result<Option<Vec<Groups>>> {
        if let Way::Exact(_) = self.way(child, parents)? {
            return Ok(None); // also by the cell's prior, whose search does the same
        }
        let mut family = self.scratch(child)?;
        family.best(parents)?;
        Ok(family.in_order().map(<[Groups]>::to_vec))
    }
}

struct Scratch<'a> {
    prepared: &'a Prepared,
    child: Var,
    family: Box<dyn Family + 'a>,
}

impl Scratch<'_> {
    /// The best tree, by its marginal likelihood and its prior among trees.
    fn of_trees(&mut self, parents: &[Var]) -> Result<f64> {
        let (log_tree, prior) = self.family.best(parents)?;
        Ok(log_tree - prior.log_z)
    }
}

impl ChildScore for Scratch<'_> {
    fn heed(&mut self, halt: &Halt) {
        self.family.heed(halt);
    }

    fn cap(&mut self, steps: u64) {
        self.family.cap(steps);
    }

    fn steps(&self) -> Option<u64> {
        self.family.steps()
    }

    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        debug_assert!(!parents.contains(&self.child));
        let of_graph = if self.prepared.parameters.penalised {
            parent_count(self.prepared.table.n_vars(), parents.len())
        } else {
            0.0
        };
        Ok(self.of_trees(parents)? + of_graph)
    }

    fn log_marginal(&mut self, parents: &[Var]) -> Result<Option<f64>> {
        self.of_trees(parents).map(Some)
    }

    fn in_order(&self) -> Option<&[Groups]> {
        self.family.in_order()
    }
}
