//! A score whose models are tables of levels with another amount added to every count than the score's own.
//!
//! What is best for choosing a graph need not be best for predicting: maximum likelihood chooses, but must not give a
//! level probability zero because it happened not to occur.

use std::sync::Arc;

use super::counted_model;
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::model::LocalModel;
use crate::table::{Table, Var};
use crate::{ChildScore, LocalScore, Tables};

/// What is added to the count of each level in each configuration of the parents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// So much.
    PerLevel(f64),
    /// So much in all, the same for every level.
    PerConfiguration(f64),
}

/// A score with smoothed tables as its models.
pub struct Smoothed {
    score: Arc<dyn LocalScore>,
    smoothing: Smoothing,
}

impl Smoothed {
    /// The score, and what its models add.
    ///
    /// # Errors
    /// If that is no number above 0.
    pub fn new(score: Arc<dyn LocalScore>, smoothing: Smoothing) -> Result<Self> {
        let (Smoothing::PerLevel(extra) | Smoothing::PerConfiguration(extra)) = smoothing;
        if !(extra.is_finite() && extra > 0.0) {
            return Err(Error::parameter("smoothing", &extra, "must be a number above 0"));
        }
        Ok(Self { score, smoothing })
    }
}

impl LocalScore for Smoothed {
    fn table(&self) -> &Table {
        self.score.table()
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        self.score.child(child)
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.model_until(child, parents, &Halt::default())
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        counted_model(self.table(), child, parents, halt, |r, _| match self.smoothing {
            Smoothing::PerLevel(extra) => extra,
            Smoothing::PerConfiguration(extra) => extra / r as f64,
        })
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        self.score.check(child, parents)
    }

    fn cost(&self) -> Cost {
        self.score.cost()
    }

    fn family_steps(&self, child: Var, parents: &[Var]) -> u64 {
        self.score.family_steps(child, parents)
    }

    fn tables(&self) -> Tables {
        self.score.tables()
    }

    fn equivalent(&self) -> bool {
        self.score.equivalent()
    }
}
