//! Priors over parent sets, added to a local score.
//!
//! A prior sees how many variables there are, how many of them are parents, and how many free parameters the family
//! has. With no parents to choose from every prior says the same of every set.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What a prior may look at.
#[derive(Clone, Copy, Debug)]
pub struct FamilySize {
    /// Number of variables in the table.
    pub n_vars: usize,
    /// Number of parents.
    pub n_parents: usize,
    /// Free parameters of the family.
    pub n_parameters: f64,
}

/// A prior over parent sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "prior", rename_all = "snake_case", deny_unknown_fields)]
pub enum GraphPrior {
    /// All parent sets alike.
    #[default]
    Uniform,
    /// All sizes alike, and all sets of a size: `-ln binom(n - 1, k)`.
    ParentCount,
    /// Each other variable is a parent with probability `expected_parents / (n - 1)`.
    Binomial {
        /// Expected number of parents, above 0.
        expected_parents: f64,
    },
    /// Extended BIC: `-gamma ln(n)` for each free parameter (Chen and Chen 2008).
    Ebic {
        /// At least 0.
        gamma: f64,
    },
    /// `ln kappa` for each free parameter.
    Parameters {
        /// Above 0, at most 1.
        kappa: f64,
    },
}

/// As the Python package names it.
impl fmt::Display for GraphPrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => write!(f, "priors.Uniform()"),
            Self::ParentCount => write!(f, "priors.ParentCount()"),
            Self::Binomial { expected_parents } => write!(f, "priors.Binomial(expected_parents={expected_parents:?})"),
            Self::Ebic { gamma } => write!(f, "priors.EBIC(gamma={gamma:?})"),
            Self::Parameters { kappa } => write!(f, "priors.Parameters(kappa={kappa:?})"),
        }
    }
}

impl GraphPrior {
    /// Checks its parameters.
    ///
    /// # Errors
    /// If one is outside its range.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Binomial { expected_parents: r } if !(r.is_finite() && r > 0.0) => {
                Err(Error::parameter("expected_parents", &r, "must be a number above 0"))
            }
            Self::Ebic { gamma } if !(gamma.is_finite() && gamma >= 0.0) => {
                Err(Error::parameter("gamma", &gamma, "must be a number of at least 0"))
            }
            Self::Parameters { kappa } if !(kappa > 0.0 && kappa <= 1.0) => {
                Err(Error::parameter("kappa", &kappa, "must be above 0 and at most 1"))
            }
            _ => Ok(()),
        }
    }

    /// The log prior of a parent set, up to a constant that is the same for all sets.
    pub fn log_prior(&self, size: FamilySize) -> f64 {
        let others = size.n_vars.saturating_sub(1) as f64;
        let k = size.n_parents as f64;
        match *self {
            Self::Uniform => 0.0,
            Self::ParentCount => parent_count(size.n_vars, size.n_parents),
            Self::Binomial { expected_parents } => {
                if others == 0.0 {
                    return 0.0;
                }
                let p = (expected_parents / others).clamp(1e-12, 1.0 - 1e-12);
                k * p.ln() + (others - k) * (-p).ln_1p()
            }
            Self::Ebic { gamma } => -size.n_parameters * gamma * (size.n_vars as f64).ln(),
            Self::Parameters { kappa } => size.n_parameters * kappa.ln(),
        }
    }
}

/// `-ln binom(n_vars - 1, n_parents)`: every number of parents is as probable as any other (a constant left out), and
/// every set of that many is.
pub fn parent_count(n_vars: usize, n_parents: usize) -> f64 {
    let others = n_vars.saturating_sub(1);
    (0..n_parents).map(|i| ((i + 1) as f64 / others.saturating_sub(i) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n_vars: usize, n_parents: usize) -> FamilySize {
        FamilySize { n_vars, n_parents, n_parameters: 3.0 }
    }

    #[test]
    fn parent_count_and_binomial_sum_to_what_they_claim() {
        // Over all sets: sum_k binom(5, k) / binom(5, k) = 6 sizes; the binomial is a distribution over sets.
        let total = |prior: GraphPrior| -> f64 {
            let sets = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
            sets.iter().enumerate().map(|(k, sets)| sets * prior.log_prior(size(6, k)).exp()).sum()
        };
        assert!((total(GraphPrior::ParentCount) - 6.0).abs() < 1e-12);
        assert!((total(GraphPrior::Binomial { expected_parents: 1.5 }) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_parent_count_prior_counts_the_sets() {
        assert_eq!(parent_count(9, 0), 0.0);
        assert!((parent_count(9, 3) + 56.0_f64.ln()).abs() < 1e-14);
        assert!((parent_count(9, 8)).abs() < 1e-14);
    }

    #[test]
    fn more_expected_parents_than_variables_stays_finite() {
        let prior = GraphPrior::Binomial { expected_parents: 100.0 };
        assert!(prior.log_prior(size(3, 0)).is_finite() && prior.log_prior(size(1, 0)) == 0.0);
    }

    #[test]
    fn parameters_outside_their_range_are_named() {
        let error = GraphPrior::Ebic { gamma: -1.0 }.check().unwrap_err().to_string();
        assert!(error.contains("gamma=-1"), "{error}");
        assert!(GraphPrior::Parameters { kappa: 0.0 }.check().is_err());
        assert!(GraphPrior::Binomial { expected_parents: f64::NAN }.check().is_err());
    }
}
