//! The parameters of PCART, what of them goes together, and how they are prepared for a table.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::chosen::Choices;
use super::{Cuts, NumberLeaf, Prepared};
use crate::LocalScore;
use crate::error::{Error, Result};
use crate::frame::numbers;
use crate::leaf::LeafPriors;
use crate::registry::Takes;
use crate::said;
use crate::table::{Column, Kind, Table, Var, Variable};
use crate::tree::key::Coded;

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
        let of = |variable: &Variable| matches!(&variable.kind, Kind::Continuous { scale } if scale.leaf == Some(NumberLeaf::Linear));
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
