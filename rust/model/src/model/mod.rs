//! Fitted local models: of each variable given its parents: what a person reads, and what predicts.
//!
//! A new kind of model is one file here (or in its own room) and one line in [`LocalModel`].

pub mod blocks;
pub mod cells;
mod configurations;
pub mod decision_graph;
pub mod discriminant;
pub mod divided;
pub mod full_table;
pub mod linear_leaf;
pub mod outline;
mod questions;
mod ranges;
pub mod regression;
pub mod saved;
pub mod spline;
pub mod text;
pub mod tree;
mod words;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Var, Variable};

pub use outline::{Outline, Values};
pub use words::{Plain, Wording};

/// What every fitted local model can do.
pub trait Model {
    /// The variable it predicts.
    fn child(&self) -> Var;

    /// The variables it reads, ascending.
    fn parents(&self) -> &[Var];

    /// The distribution of the child given one value for each of `parents()`, in that order. Values never seen in
    /// training are legal: a model always answers.
    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive>;

    /// Number of free parameters.
    fn n_parameters(&self) -> usize;

    /// For the continuous parent at a position in `parents()`: every value at which the prediction may jump, ascending;
    /// a value equal to a threshold counts as above it. `None` if the prediction does not stay constant in between.
    /// Exact inference with a hidden number rests on this.
    fn thresholds(&self, _position: usize) -> Option<Vec<f64>> {
        None
    }

    /// The regions of the parents' values and what the child does in each, and what it does outside all of them if
    /// that can be; `None` for a kind of model without regions.
    fn outline(&self, _variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        None
    }

    /// Whether the model can stand in a network of these variables: what a file from elsewhere must pass. A kind of
    /// model that indexes its own arrays checks those too, so that no file can make `predictive` panic.
    ///
    /// # Errors
    /// If not, with the child's name where it has one.
    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child(), self.parents(), variables)
    }
}

/// The part of [`Model::check`] that is the same for every kind: positions in range, parents ascending, no self-arc.
///
/// # Errors
/// If not so.
pub fn check_family(child: Var, parents: &[Var], variables: &[Variable]) -> Result<()> {
    let Some(variable) = variables.get(child) else {
        return Err(Error::Shape(format!("a model for variable {child} of {}", variables.len())));
    };
    let ascending = parents.windows(2).all(|w| w[0] < w[1]);
    if !ascending || parents.iter().any(|&p| p >= variables.len() || p == child) {
        return Err(Error::Shape(format!("the model of '{}' has the parents {parents:?}", variable.name)));
    }
    Ok(())
}

/// A fitted local model of any kind; serialises with its kind's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum LocalModel {
    /// A regression on features of the parents, numbers in a scale of their own.
    Blocks(blocks::Blocks),
    /// One distribution per observed joint configuration of the parents' levels.
    Cells(cells::Cells),
    /// Questions whose ways may meet again, with a distribution in every leaf.
    DecisionGraph(decision_graph::DecisionGraph),
    /// A Gaussian of the numeric parents for every level.
    Discriminant(discriminant::Discriminant),
    /// One distribution per observed joint configuration of the parents' bins and levels.
    FullTable(full_table::FullTable),
    /// Regressions per observed configuration of the parents' levels.
    Regression(regression::Regression),
    /// A sum of products of hinges of the parents.
    Spline(spline::Spline),
    /// A tree with a distribution in every leaf.
    Tree(tree::Tree),
}

impl std::ops::Deref for LocalModel {
    type Target = dyn Model;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Blocks(model) => model,
            Self::Cells(model) => model,
            Self::DecisionGraph(model) => model,
            Self::Discriminant(model) => model,
            Self::FullTable(model) => model,
            Self::Regression(model) => model,
            Self::Spline(model) => model,
            Self::Tree(model) => model,
        }
    }
}
