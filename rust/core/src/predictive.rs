//! The distribution of one variable as a local model predicts it: what every fitted model hands out for a row.
//!
//! Leaves of trees and tables predict with the posterior predictive: proportions for levels, a Student t for numbers.
//! Densities are in stored (standardised) units; whoever speaks to a person subtracts `ln scale`.

use libm::lgamma;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::table::Variable;

/// One value of a variable: a level's code, or a number in stored units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The code of a level.
    Code(u32),
    /// A number in stored units.
    Real(f64),
}

/// A predictive distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "snake_case")]
pub enum Predictive {
    /// One probability per level.
    Levels {
        /// By code, summing to one.
        probabilities: Vec<f64>,
    },
    /// Student's t, moved and scaled.
    StudentT {
        /// Degrees of freedom.
        df: f64,
        /// Location.
        location: f64,
        /// Scale, the square root of the squared scale.
        scale: f64,
    },
}

impl Predictive {
    /// Log probability of a level or log density of a number; negative infinity for a value of the other kind.
    pub fn log_density(&self, value: Value) -> f64 {
        match (self, value) {
            (Self::Levels { probabilities }, Value::Code(code)) => {
                probabilities.get(code as usize).map_or(f64::NEG_INFINITY, |p| p.ln())
            }
            (&Self::StudentT { df, location, scale }, Value::Real(x)) => {
                let z = (x - location) / scale;
                lgamma(f64::midpoint(df, 1.0))
                    - lgamma(df / 2.0)
                    - 0.5 * (df * std::f64::consts::PI).ln()
                    - scale.ln()
                    - f64::midpoint(df, 1.0) * (z * z / df).ln_1p()
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// Whether this is a distribution of that variable: one probability per level and a sum of one, or finite numbers.
    ///
    /// # Errors
    /// If not, naming the variable.
    pub fn check(&self, variable: &Variable) -> Result<()> {
        let sound = match self {
            Self::Levels { probabilities } => {
                variable.n_levels() == Some(probabilities.len())
                    && probabilities.iter().all(|p| (0.0..=1.0).contains(p))
                    && (probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-6
            }
            Self::StudentT { df, location, scale } => {
                let positive = |x: &f64| x.is_finite() && *x > 0.0;
                variable.is_continuous() && positive(df) && positive(scale) && location.is_finite()
            }
        };
        if sound { Ok(()) } else { Err(Error::Shape(format!("no distribution of '{}': {self:?}", variable.name))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_student_t_integrates_to_one() {
        let t = Predictive::StudentT { df: 3.0, location: 1.0, scale: 0.5 };
        let step = 0.001;
        let total: f64 =
            (-200_000..200_000).map(|i| t.log_density(Value::Real(f64::from(i) * step)).exp() * step).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }

    #[test]
    fn a_value_of_the_other_kind_is_impossible() {
        let levels = Predictive::Levels { probabilities: vec![0.5, 0.5] };
        assert_eq!(levels.log_density(Value::Real(0.0)), f64::NEG_INFINITY);
        assert_eq!(levels.log_density(Value::Code(2)), f64::NEG_INFINITY);
        assert_eq!(levels.log_density(Value::Code(1)), 0.5_f64.ln());
    }
}
