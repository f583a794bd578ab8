//! Multinomial: every number in equal-frequency bins, then BIC of counts. Declared configurations count, observed or not.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::binned::Binned;
use super::{Bic, Fits, Rule};
use crate::control::Halt;
use crate::error::Result;
use crate::local::Cost;
use crate::model::LocalModel;
use crate::prior::GraphPrior;
use crate::table::{Table, Var};
use crate::{ChildScore, Fit, LocalScore};

/// Parameters of the multinomial score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Multinomial {
    /// How many bins a number is cut into.
    pub bins: usize,
    /// Nothing here was printed otherwise: both forms are the same.
    pub published: bool,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

impl Default for Multinomial {
    fn default() -> Self {
        Self { bins: 3, published: false, prior: GraphPrior::Uniform }
    }
}

impl Multinomial {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        let rule = Counts { table: table.clone(), binned: Binned::new(table, self.bins)? };
        Ok(Box::new(Bic::new(rule, self.prior)?))
    }
}

struct Counts {
    table: Arc<Table>,
    binned: Binned,
}

impl Rule for Counts {
    type Child<'a> = Child<'a>;

    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Child<'_>> {
        Ok(Child(self.binned.child(child)?))
    }

    fn model(&self, child: Var, parents: &[Var], _halt: &Halt) -> Result<LocalModel> {
        Ok(self.binned.model(child, parents))
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 2000.0, row: 1.0, continuous: 1.2, levels: 0.2 }
    }

    fn equivalent(&self) -> bool {
        true
    }
}

struct Child<'a>(Box<dyn ChildScore + 'a>);

impl Fits for Child<'_> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        self.0.likelihood(parents)
    }

    fn heed(&mut self, halt: &Halt) {
        self.0.heed(halt);
    }
}
