//! Log-likelihood under a full table, with AIC's or BIC's penalty or none (Carvalho 2009, section 4.2).
//!
//! `LL = sum_jk N_jk ln(N_jk / N_j)`, minus `f (r - 1) q` with f = 0, 1 or `ln(N)/2`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CountScore, Family, Prepared, n_ln_n};
use crate::LocalScore;
use crate::counts::Count;
use crate::error::Result;
use crate::prior::GraphPrior;
use crate::table::Table;

/// What is subtracted from the log-likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalty {
    /// Nothing.
    None,
    /// One per free parameter.
    Aic,
    /// Half of `ln N` per free parameter.
    Bic,
}

/// Parameters of the penalised log-likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Likelihood {
    /// The penalty.
    pub penalty: Penalty,
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

impl Likelihood {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If the prior's parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        Ok(Box::new(Prepared::new(table, self.penalty, self.prior)?))
    }
}

impl CountScore for Penalty {
    fn joint<N: Count>(&self, cells: &[N], _configurations: f64) -> f64 {
        cells.iter().map(|&n| n_ln_n(n)).sum()
    }

    fn given<N: Count>(&self, cells: &[N], configurations: f64, _r: usize) -> f64 {
        self.joint(cells, configurations)
    }

    fn combine(&self, family: &Family, joint: f64, given: f64) -> f64 {
        joint
            - given
            - match self {
                Self::None => 0.0,
                Self::Aic => family.n_parameters(),
                // A one-level child has no parameters, and no rows have no logarithm.
                Self::Bic if family.r <= 1 => 0.0,
                Self::Bic => 0.5 * family.n_rows.max(1.0).ln() * family.n_parameters(),
            }
    }

    // Laplace's: a row never gets probability zero for a level that happened not to occur in its cell.
    fn pseudo_count(&self, _r: usize, _q: f64) -> f64 {
        1.0
    }

    fn equivalent(&self) -> bool {
        true
    }
}
