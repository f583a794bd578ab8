//! PCART: the posterior score of the best partition-dyadic tree (Talvitie, Eggeling and Koivisto 2019, section 3).
//!
//! `max over trees T of [leaves(T) ln gamma + sum over leaves of the log marginal] - ln Z(P)`, and with `penalised`
//! (`PCARTp`) the graph prior `-ln binom(n-1, |P|)`. The search is [`crate::tree::optimal`]; `BDeu` leaves (`ess`), whose
//! prior depends on the cell, go through [`crate::tree::literal`].

mod bdeu;
mod cell_prior;
mod chosen;
mod combinations;
mod counts;
mod dear;
mod family;
mod histogram;
mod lines;
mod merging;
mod ordered;
mod points;

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use self::cell_prior::Cells;
use self::chosen::Choices;
use self::family::{OfKind, Rows};
use self::lines::{ByValue, OfLines};
use super::{ChildScore, LocalScore};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::frame::numbers;
use crate::leaf::{Amount, Categorical, HistogramLeaf, Leaf, LeafModel, LeafPriors, LevelFit, Moments, Normal};
use crate::local::{Cost, Groups};
use crate::model::LocalModel;
use crate::model::tree::Node;
use crate::numeric::order::by_value;
use crate::prior::parent_count;
use crate::registry::Takes;
use crate::said;
use crate::table::{Affine, Column, Kind, Table, Var, Variable};
use crate::tree::key::{Coded, Layout, Split};
use crate::tree::memo::Ended;
use crate::tree::normaliser::{Prior, Priors};
use crate::tree::response::{Levels, LevelsLeaf, NumberSum, Numbers, Store, Weighed, WeighedSum};

pub use self::family::{Family, Route};
pub use crate::table::NumberLeaf;
pub use crate::tree::bins::Cuts;

/// How the levels of categories are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// In all ways where that is affordable by counts of levels and rows, otherwise by groups in order.
    #[default]
    Auto,
    /// In all ways; what is too large is refused.
    Exact,
    /// By groups in order.
    Ordered,
}

impl Grouping {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The prior over trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreePrior {
    /// `gamma` for every leaf.
    #[default]
    Paper,
    /// By what can be split in each cell.
    Cell,
}

impl TreePrior {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

const LEAF_PROBABILITY: f64 = 0.5;

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_half(q: &f64) -> bool {
    *q == LEAF_PROBABILITY
}

/// Parameters of PCART.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pcart {
    /// Subtract `ln binom(n-1, |P|)`: `PCARTp`.
    pub penalised: bool,
    /// Most halvings of a continuous predictor's range, or ranks, on the way to a leaf.
    pub max_splits: u32,
    /// `BDeu` leaves with this equivalent sample size for responses with levels, instead of `alpha` per level.
    pub ess: Option<f64>,
    /// The leaves' hyperparameters.
    pub priors: LeafPriors,
    /// Reproduce the authors' program, errata and all.
    pub published: bool,
    /// Most megabytes that one thread's search may hold.
    pub memory_mb: u64,
    /// How the levels of categories are divided. Not written where it is the default: earlier texts have no such entry.
    #[serde(skip_serializing_if = "Grouping::is_default")]
    pub grouping: Grouping,
    /// The prior over trees.
    #[serde(skip_serializing_if = "TreePrior::is_default")]
    pub tree_prior: TreePrior,
    /// Of the prior by the cell: the probability that a cell is a leaf which can be split.
    #[serde(skip_serializing_if = "is_half")]
    pub leaf_probability: f64,
    /// What stands in the leaves of numbers.
    #[serde(skip_serializing_if = "NumberLeaf::is_default")]
    pub leaf: NumberLeaf,
    /// Numbers that linear leaves follow, and by which no tree of a number is split.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub linear_only: Vec<String>,
    /// Where numbers are cut.
    #[serde(skip_serializing_if = "Cuts::is_default")]
    pub cuts: Cuts,
    /// Forbid empty sides alone, of all that the authors' program does: for comparison.
    #[serde(skip)]
    pub skip_empty: bool,
}

impl Default for Pcart {
    fn default() -> Self {
        let priors = LeafPriors::default();
        Self {
            penalised: true,
            max_splits: 5,
            ess: None,
            priors,
            published: false,
            memory_mb: 1024,
            grouping: Grouping::Auto,
            tree_prior: TreePrior::Paper,
            leaf_probability: LEAF_PROBABILITY,
            leaf: NumberLeaf::Normal,
            linear_only: Vec::new(),
            cuts: Cuts::Range,
            skip_empty: false,
        }
    }
}

/// Bins are stored in 16 bits.
const MOST_SPLITS: u32 = 16;
/// A petabyte: in bytes it fits 64 bits.
const MOST_MEGABYTES: u64 = 1 << 30;
/// A categorical predictor with more levels in the data has too many bipartitions to try them all.
const MOST_LEVELS: usize = 24;
/// Up to so many levels there is little to gain by an order: 15 sets against 10 intervals.
const FEW_LEVELS: usize = 4;

impl Pcart {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        Ok(Box::new(self.prepared(table)?))
    }

    /// Rows may have any weights, but not with what the authors' program does, where leaves know their share.
    pub(crate) fn takes(&self) -> Takes {
        let any = !self.published && !self.skip_empty && self.ess.is_none();
        if any { Takes::Any } else { Takes::Repeated }
    }

    fn may_follow_lines(&self) -> bool {
        matches!(self.leaf, NumberLeaf::Linear | NumberLeaf::Auto)
    }

    /// Whether a column says that its leaves may follow lines.
    fn some_lines(&self, table: &Table) -> bool {
        let of = |variable: &Variable| matches!(variable.kind, Kind::Continuous { scale } if scale.leaf == Some(NumberLeaf::Linear));
        !self.published && self.tree_prior == TreePrior::Paper && table.variables().iter().any(of)
    }

    /// As `prepare`, of its own type.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepared(&self, table: &Arc<Table>) -> Result<Prepared> {
        if !(1..=MOST_SPLITS).contains(&self.max_splits) {
            let range = format!("must be between 1 and {MOST_SPLITS}");
            return Err(Error::parameter("max_splits", &self.max_splits, range));
        }
        if let Some(ess) = self.ess.filter(|ess| !(ess.is_finite() && *ess > 0.0)) {
            return Err(Error::parameter("ess", &ess, "must be a positive number"));
        }
        if !(0.5..1.0).contains(&self.leaf_probability) {
            let range = "must be from 0.5 to below 1";
            return Err(Error::parameter("leaf_probability", &self.leaf_probability, range));
        }
        if self.tree_prior == TreePrior::Cell && (self.published || self.ess.is_some()) {
            let problem = "goes neither with published=True nor with ess, whose leaves have a prior of their own";
            return Err(Error::parameter("tree_prior", &"cell", problem));
        }
        if self.cuts == Cuts::Quantile && self.published {
            let problem = "does not go with published=True: the authors' program cuts the range";
            return Err(Error::parameter("cuts", &"quantile", problem));
        }
        if self.may_follow_lines() && (self.published || self.tree_prior == TreePrior::Cell) {
            let problem = "goes neither with published=True nor with tree_prior=\"cell\"";
            let leaf = if self.leaf == NumberLeaf::Auto { "auto" } else { "linear" };
            return Err(Error::parameter("leaf", &leaf, problem));
        }
        for name in &self.linear_only {
            let continuous = table.position(name).is_some_and(|var| table.variable(var).is_continuous());
            if !self.may_follow_lines() {
                return Err(Error::parameter("linear_only", name, "needs leaf=\"linear\" or leaf=\"auto\""));
            }
            if !continuous {
                return Err(Error::parameter("linear_only", name, "must be a column of numbers in the table"));
            }
        }
        if !(1..=MOST_MEGABYTES).contains(&self.memory_mb) {
            let range = format!("must be between 1 and {MOST_MEGABYTES}");
            return Err(Error::parameter("memory_mb", &self.memory_mb, range));
        }
        if let NumberLeaf::Counts | NumberLeaf::Histogram = self.leaf {
            let leaf = if self.leaf == NumberLeaf::Counts { "counts" } else { "histogram" };
            let problem = format!(
                "is said of a column, Continuous(leaf=\"{leaf}\"): choose normal, linear or auto for all others"
            );
            return Err(Error::parameter("leaf", &leaf, problem));
        }
        self.priors.check(table)?;
        if !self.published {
            (0..table.n_vars()).try_for_each(|var| said::check_counts(table, var))?;
        }
        let histograms = if self.published { vec![None; table.n_vars()] } else { said::histograms(table)? };
        let lines = self.may_follow_lines() || self.some_lines(table);
        let coded = Coded::new(table, self.max_splits, self.cuts);
        let scale = |var: Var| match table.column(var) {
            Column::Reals(values) if lines => Some(match table.weights() {
                Some(weights) => numbers::standardising_weighted(values, weights.of_rows()),
                None => numbers::standardising(values),
            }),
            _ => None,
        };
        let scales = (0..table.n_vars()).map(scale).collect();
        let choices = Choices::new(table.n_vars());
        Ok(Prepared {
            table: table.clone(),
            parameters: self.clone(),
            coded,
            scales,
            histograms,
            priors: Mutex::default(),
            choices,
        })
    }
}

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
        let Kind::Continuous { scale } = self.table.variable(child).kind else { return None };
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

    /// Scratch for one child, of its own type.
    ///
    /// # Errors
    /// Never for a child of the table.
    pub fn scratch(&self, child: Var) -> Result<Box<dyn Family + '_>> {
        let published = self.parameters.published;
        if let (Some(ess), Column::Codes(codes)) = (self.parameters.ess, self.table.column(child)) {
            return Ok(Box::new(bdeu::Shares::new(self, child, codes, ess)));
        }
        if self.leaf_of(child) == Some(NumberLeaf::Counts) {
            return Ok(self.of_whole_numbers(child));
        }
        if let Some(leaf) = &self.histograms[child] {
            return Ok(self.of_any_shape(child, leaf));
        }
        Ok(match self.parameters.priors.leaf(&self.table, child, published) {
            Leaf::Normal(leaf) => {
                let Column::Reals(values) = self.table.column(child) else {
                    unreachable!("numbers have normal leaves")
                };
                let values: Vec<_> = values.iter().map(|y| y - leaf.centre()).collect();
                if let Some(weights) = self.table.weights_of(child) {
                    return Ok(self.of_weighed_numbers(child, leaf, &values, weights));
                }
                // Sums of numbers depend on their order, so rows are taken by value: then no order of rows matters.
                let mut order = by_value(&values);
                self.equal_ones_by_numbers(child, &mut order, |i, j| values[i].total_cmp(&values[j]));
                let values: Vec<f64> = order.iter().map(|&row| values[row as usize]).collect();
                let shared = self.shared_rows(child, values.iter().map(|y| (y + leaf.centre(), 1.0)));
                let codes = self.ordered(&order);
                if self.has_lines(child) {
                    let by_value = ByValue { values, codes, order, weights: None, shared };
                    return Ok(Box::new(OfLines::new(self, child, leaf, by_value, &self.scales)));
                }
                let codes = Rows::Ordered(Arc::new(codes));
                let response = Numbers::new(&leaf, values.len());
                let node = move |sum: &NumberSum| number_node(&leaf, &sum.into());
                self.of_numbers(child, response, values, codes, node, shared.as_ref())
            }
            Leaf::Categorical(leaf) => self.of_levels(child, leaf.n_levels(), &leaf, &leaf, true),
            Leaf::Ordinal(leaf) => {
                let pure = Categorical::new(leaf.n_levels(), leaf.alpha()).tabulated(self.table.n_rows());
                self.of_levels(child, leaf.n_levels(), &leaf, &pure, !published)
            }
        })
    }

    fn of_levels<L>(&self, child: Var, k: usize, leaf: &L, pure: &Categorical, bounded: bool) -> Box<dyn Family + '_>
    where
        L: LevelsLeaf + LevelFit + 'static,
    {
        if let Some(weights) = self.table.weights_of(child) {
            // What bounds ordered levels holds of counts only.
            let bounded = bounded && !L::ORDERED;
            return match k {
                0..=2 => self.weighed::<[f64; 2], L>(child, leaf, pure, bounded, weights),
                3..=4 => self.weighed::<[f64; 4], L>(child, leaf, pure, bounded, weights),
                5..=8 => self.weighed::<[f64; 8], L>(child, leaf, pure, bounded, weights),
                _ => self.weighed::<Vec<f64>, L>(child, leaf, pure, bounded, weights),
            };
        }
        match k {
            0..=2 => self.with_store::<[u32; 2], L>(child, leaf, pure, bounded),
            3 => self.with_store::<[u32; 3], L>(child, leaf, pure, bounded),
            4 => self.with_store::<[u32; 4], L>(child, leaf, pure, bounded),
            5 => self.with_store::<[u32; 5], L>(child, leaf, pure, bounded),
            6..=8 => self.with_store::<[u32; 8], L>(child, leaf, pure, bounded),
            9..=16 => self.with_store::<[u32; 16], L>(child, leaf, pure, bounded),
            _ => self.with_store::<Vec<u32>, L>(child, leaf, pure, bounded),
        }
    }

    fn with_store<C, L>(&self, child: Var, leaf: &L, pure: &Categorical, bounded: bool) -> Box<dyn Family + '_>
    where
        C: Store<N = u32> + 'static,
        L: LevelsLeaf + LevelFit + 'static,
    {
        let Column::Codes(codes) = self.table.column(child) else { unreachable!("levels are stored as codes") };
        let values = codes.iter().map(|code| code as u32).collect();
        self.of_counts::<C, L>(child, leaf, pure, bounded, values, Rows::AsTheyStand)
    }

    /// Rows of no weight for the child are left out, so that no level or bin of theirs counts.
    fn weighed<C, L>(
        &self,
        child: Var,
        leaf: &L,
        pure: &Categorical,
        bounded: bool,
        weights: &[f64],
    ) -> Box<dyn Family + '_>
    where
        C: Store<N = f64> + 'static,
        L: LevelsLeaf + LevelFit + 'static,
    {
        let Column::Codes(codes) = self.table.column(child) else { unreachable!("levels are stored as codes") };
        let heavy = |row: &u32| weights[*row as usize] > 0.0;
        let order: Vec<u32> = (0..weights.len() as u32).filter(heavy).collect();
        let rows = if order.len() == weights.len() {
            Rows::AsTheyStand
        } else {
            Rows::Ordered(Arc::new(self.ordered(&order)))
        };
        let value = |&row: &u32| (codes.get(row as usize) as u32, weights[row as usize]);
        self.of_counts::<C, L>(child, leaf, pure, bounded, order.iter().map(value).collect(), rows)
    }

    fn of_counts<C, L>(
        &self,
        child: Var,
        leaf: &L,
        pure: &Categorical,
        bounded: bool,
        values: Vec<<C::N as Amount>::Row>,
        rows: Rows,
    ) -> Box<dyn Family + '_>
    where
        C: Store + 'static,
        L: LevelsLeaf + LevelFit + 'static,
    {
        let k = pure.n_levels();
        let fitted = leaf.clone();
        let node = move |sum: &C| level_node(&fitted, &sum.counts()[..k]);
        let response = Levels::<C, L>::new(leaf.clone(), pure.clone(), bounded);
        if self.by_the_cell() {
            return Box::new(Cells::new(self, child, response, values, rows, node));
        }
        Box::new(OfKind::new(self, child, response, values, rows, node))
    }

    fn of_weighed_numbers(&self, child: Var, leaf: Normal, values: &[f64], weights: &[f64]) -> Box<dyn Family + '_> {
        let heavy = |row: &u32| weights[*row as usize] > 0.0;
        let mut order: Vec<u32> = (0..values.len() as u32).filter(heavy).collect();
        // By value and weight: then no order of rows matters.
        let of = |row: u32| (values[row as usize], weights[row as usize]);
        order.sort_unstable_by(|&i, &j| {
            let ((x, u), (y, v)) = (of(i), of(j));
            x.total_cmp(&y).then(u.total_cmp(&v)).then(i.cmp(&j))
        });
        let stored = |&row: &u32| (values[row as usize] + leaf.centre(), weights[row as usize]);
        let shared = |order: &[u32]| self.shared_rows(child, order.iter().map(stored));
        if self.has_lines(child) {
            let (value, weight) = (|row: usize| values[row], |row: usize| weights[row]);
            let compare = |i, j| value(i).total_cmp(&value(j)).then(weight(i).total_cmp(&weight(j)));
            self.equal_ones_by_numbers(child, &mut order, compare);
            let (values, weights) = order.iter().map(|&row| of(row)).unzip();
            let shared = shared(&order);
            let by_value = ByValue { values, codes: self.ordered(&order), order, weights: Some(weights), shared };
            return Box::new(OfLines::new(self, child, leaf, by_value, &self.scales));
        }
        let rows = Rows::Ordered(Arc::new(self.ordered(&order)));
        let response = Weighed::new(&leaf);
        let shared = shared(&order);
        let values = order.iter().map(|&row| of(row)).collect();
        let node = move |sum: &WeighedSum| weighed_node(&leaf, sum);
        self.of_numbers(child, response, values, rows, node, shared.as_ref())
    }

    /// Brings rows that compare as equal in the order of the numbers that lines may follow, if the child has lines: sums with them
    /// depend on it.
    fn equal_ones_by_numbers(
        &self,
        child: Var,
        order: &mut [u32],
        compare: impl Fn(usize, usize) -> std::cmp::Ordering,
    ) {
        if !self.has_lines(child) {
            return;
        }
        let others = self.numbers_beside(child);
        for equal in order.chunk_by_mut(|&i, &j| compare(i as usize, j as usize).is_eq()) {
            equal.sort_unstable_by(|&i, &j| {
                let mut by = others.iter().map(|x| x[i as usize].total_cmp(&x[j as usize]));
                by.find(|order| order.is_ne()).unwrap_or(i.cmp(&j))
            });
        }
    }

    /// Codes of some rows, in their order.
    fn ordered(&self, order: &[u32]) -> Vec<Vec<u16>> {
        let codes = self.coded.codes.iter().map(|codes| {
            if codes.is_empty() { Vec::new() } else { order.iter().map(|&row| codes[row as usize]).collect() }
        });
        codes.collect()
    }

    /// Whether some rows do not count for the child: what occurs in its rows is not known beforehand then.
    fn leaves_rows_out(&self, child: Var) -> bool {
        self.table.weights().and_then(|weights| weights.own_of(child)).is_some_and(|own| own.contains(&0.0))
    }
}

fn number_node(leaf: &Normal, sum: &Moments) -> Node {
    let n = sum.n as f64;
    let statistic = if sum.n == 0 {
        Vec::new()
    } else {
        let scatter = (sum.squares - sum.sum * sum.sum / n).max(0.0);
        vec![leaf.centre() + sum.sum / n, (scatter / n).sqrt()]
    };
    Node::Leaf { n: sum.n, statistic, predictive: leaf.fit(sum) }
}

/// As of a count of rows: the number of rows told is the sum of weights, rounded.
fn weighed_node(leaf: &Normal, of: &WeighedSum) -> Node {
    let statistic = if of.n == 0.0 {
        Vec::new()
    } else {
        let scatter = (of.squares - of.sum * of.sum / of.n).max(0.0);
        vec![leaf.centre() + of.sum / of.n, (scatter / of.n).sqrt()]
    };
    Node::Leaf { n: of.n.round() as u64, statistic, predictive: leaf.fit_weighed(of.n, of.sum, of.squares) }
}

fn level_node<L: LevelFit, N: Amount>(leaf: &L, counts: &[N]) -> Node {
    let n: f64 = counts.iter().map(|&n| n.real()).sum();
    Node::Leaf {
        n: n.round() as u64,
        statistic: counts.iter().map(|&n| n.real()).collect(),
        predictive: leaf.fit_of(counts),
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
