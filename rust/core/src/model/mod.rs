//! Fitted local models: what stands under a node, what a person reads, and what predicts.
//!
//! A new kind of model is one file here (or in its own room) and one line in [`LocalModel`].

pub mod cells;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::predictive::{Predictive, Value};
use crate::table::Var;

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
}

/// A fitted local model of any kind; serialises with its kind's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum LocalModel {
    /// One distribution per observed joint configuration of the parents' levels.
    Cells(cells::Cells),
}

impl std::ops::Deref for LocalModel {
    type Target = dyn Model;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Cells(model) => model,
        }
    }
}
