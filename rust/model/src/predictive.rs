//! The distribution of one variable as a local model predicts it: what every fitted model hands out for a row.
//!
//! Leaves of trees and tables predict with the posterior predictive: proportions for levels, a Student t for numbers.
//! Densities are in stored (standardised) units; whoever speaks to a person subtracts `ln scale`. Another family of
//! distributions is one variant here, with its arm in each method.

mod counts;
mod histogram;
mod line;
mod point;
pub(crate) mod student_t;

pub use counts::{Counts, MOST_COUNTED, count_of, rising};
pub use histogram::Histogram;
pub use line::{LARGEST, Line};
pub use point::{PointMass, is_at};

use std::sync::Arc;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::table::Variable;

pub use crate::frame::Value;

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
    /// Student's t, and a number with a probability of its own.
    Point {
        /// That number.
        point: PointMass,
        /// As of a Student t.
        df: f64,
        /// As of a Student t.
        location: f64,
        /// As of a Student t.
        scale: f64,
    },
    /// Whole numbers from 0 up.
    Counts {
        /// All of them, or those that are not the point.
        counts: Counts,
        /// A number that has a probability of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<PointMass>,
    },
    /// Numbers of any shape.
    Histogram {
        /// Of all of them, or of those that are not the point.
        histogram: Arc<Histogram>,
        /// A number that has a probability of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<PointMass>,
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
                student_t::ln_density(df, (x - location) / scale) - scale.ln()
            }
            (
                Self::Point { point, .. }
                | Self::Counts { point: Some(point), .. }
                | Self::Histogram { point: Some(point), .. },
                Value::Real(x),
            ) => {
                if is_at(x, point.at) {
                    point.share.ln() - point.log_width
                } else {
                    (-point.share).ln_1p() + self.others().log_density(value)
                }
            }
            (Self::Counts { counts, point: None }, Value::Real(x)) => counts.log_density(x),
            (Self::Histogram { histogram, point: None }, Value::Real(x)) => histogram.log_density(x),
            _ => f64::NEG_INFINITY,
        }
    }

    /// The mean: of the codes for levels, `None` where a Student t has none (one degree of freedom or less).
    pub fn mean(&self) -> Option<f64> {
        match self {
            Self::Levels { probabilities } => {
                Some(probabilities.iter().zip(0_u32..).map(|(p, c)| p * f64::from(c)).sum())
            }
            Self::StudentT { df, location, .. } => (*df > 1.0).then_some(*location),
            Self::Counts { counts, point: None } => counts.mean(),
            Self::Histogram { histogram, point: None } => Some(histogram.mean()),
            Self::Point { point, .. }
            | Self::Counts { point: Some(point), .. }
            | Self::Histogram { point: Some(point), .. } => Some(point.mean(self.others().mean()?)),
        }
    }

    /// The standard deviation: of the codes for levels, `None` where a Student t has none (two degrees or less).
    pub fn sd(&self) -> Option<f64> {
        match self {
            Self::Levels { probabilities } => {
                let mean = self.mean()?;
                let squares = probabilities.iter().zip(0_u32..).map(|(p, c)| p * (f64::from(c) - mean).powi(2));
                Some(squares.sum::<f64>().sqrt())
            }
            Self::StudentT { df, scale, .. } => (*df > 2.0).then(|| scale * (df / (df - 2.0)).sqrt()),
            Self::Counts { counts, point: None } => counts.sd(),
            Self::Histogram { histogram, point: None } => Some(histogram.sd()),
            Self::Point { point, .. }
            | Self::Counts { point: Some(point), .. }
            | Self::Histogram { point: Some(point), .. } => Some(point.sd(self.others().mean()?, self.others().sd()?)),
        }
    }

    /// The most probable level, the first under ties, or the number of highest density; a number that has a probability of its own
    /// if that is a half or more.
    pub fn mode(&self) -> Value {
        match self {
            Self::Levels { probabilities } => {
                let mut best = 0;
                for (code, p) in probabilities.iter().enumerate() {
                    if *p > probabilities[best] {
                        best = code;
                    }
                }
                Value::Code(best as u32)
            }
            Self::Point { point, .. }
            | Self::Counts { point: Some(point), .. }
            | Self::Histogram { point: Some(point), .. }
                if point.share >= 0.5 =>
            {
                Value::Real(point.at)
            }
            Self::Counts { counts, .. } => Value::Real(counts.mode()),
            Self::Histogram { histogram, .. } => Value::Real(histogram.mode()),
            Self::StudentT { location, .. } | Self::Point { location, .. } => Value::Real(*location),
        }
    }

    /// Probability of a value at most this one (levels in the order of their codes); NaN for one of the other kind.
    pub fn cdf(&self, value: Value) -> f64 {
        match (self, value) {
            (Self::Levels { probabilities }, Value::Code(code)) if code as usize + 1 >= probabilities.len() => 1.0,
            (Self::Levels { probabilities }, Value::Code(code)) => {
                probabilities[..=code as usize].iter().sum::<f64>().min(1.0)
            }
            (&Self::StudentT { df, location, scale }, Value::Real(x)) => student_t::cdf(df, (x - location) / scale),
            // At most it: less than the next.
            (Self::Counts { counts, point: None }, Value::Real(x)) => counts.cdf(x),
            (Self::Histogram { histogram, point: None }, Value::Real(x)) => histogram.cdf(x),
            (
                Self::Point { point, .. }
                | Self::Counts { point: Some(point), .. }
                | Self::Histogram { point: Some(point), .. },
                Value::Real(x),
            ) => point.below(if is_at(x, point.at) { f64::INFINITY } else { x }, self.others().cdf(value)),
            _ => f64::NAN,
        }
    }

    /// The smallest value whose cdf reaches `p`, for `p` between 0 and 1.
    pub fn quantile(&self, p: f64) -> Value {
        match self {
            Self::Levels { probabilities } => Value::Code(first_reaching(probabilities, p)),
            &Self::StudentT { df, location, scale } => Value::Real(location + scale * student_t::quantile(df, p)),
            Self::Counts { counts, point: None } => Value::Real(counts.quantile(p)),
            Self::Histogram { histogram, point: None } => Value::Real(histogram.quantile(p)),
            Self::Point { point, .. }
            | Self::Counts { point: Some(point), .. }
            | Self::Histogram { point: Some(point), .. } => Value::Real(point.quantile(p, &self.others())),
        }
    }

    /// The central interval that leaves `(1 - mass) / 2` on either side; for levels it may hold more than `mass`.
    pub fn interval(&self, mass: f64) -> (Value, Value) {
        let outside = (1.0 - mass) / 2.0;
        match self {
            Self::Levels { .. } | Self::Point { .. } | Self::Counts { .. } | Self::Histogram { .. } => {
                (self.quantile(outside), self.quantile(1.0 - outside))
            }
            // Twice the lower side, so that narrow outer parts keep their precision.
            &Self::StudentT { df, location, scale } => {
                let half = -scale * student_t::quantile(df, outside);
                (Value::Real(location - half), Value::Real(location + half))
            }
        }
    }

    /// One draw.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Value {
        match self {
            Self::Levels { probabilities } => Value::Code(first_reaching(probabilities, uniform(rng))),
            Self::Point { point, .. }
            | Self::Counts { point: Some(point), .. }
            | Self::Histogram { point: Some(point), .. }
                if uniform(rng) < point.share =>
            {
                Value::Real(point.at)
            }
            Self::Counts { counts, .. } => Value::Real(counts.quantile(uniform(rng))),
            Self::Histogram { histogram, .. } => Value::Real(histogram.quantile(uniform(rng))),
            &Self::StudentT { df, location, scale } | &Self::Point { df, location, scale, .. } => {
                // Bailey's polar method (Mathematics of Computation 62, 1994): exact for any degrees of freedom.
                loop {
                    let (u, v) = (2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0);
                    let w = u * u + v * v;
                    if w > 0.0 && w < 1.0 {
                        let z = u * (df * (-2.0 / df * w.ln()).exp_m1() / w).sqrt();
                        // A draw is a value of a table: below one degree of freedom the tails reach beyond all numbers.
                        break Value::Real((location + scale * z).clamp(f64::MIN, f64::MAX));
                    }
                }
            }
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
            Self::StudentT { df, location, scale } | Self::Point { df, location, scale, .. } => {
                // Within these no density, quantile or draw overflows or takes long; no data lead beyond them.
                variable.is_continuous()
                    && (1e-3..=1e15).contains(df)
                    && (1e-150..=1e150).contains(scale)
                    && location.abs() <= 1e150
                    && self.point().is_none_or(|point| point.is_sound())
            }
            Self::Counts { counts, point } => {
                variable.is_continuous() && counts.is_sound() && point.is_none_or(|point| point.is_sound())
            }
            Self::Histogram { histogram, point } => {
                variable.is_continuous() && histogram.is_sound() && point.is_none_or(|point| point.is_sound())
            }
        };
        if sound {
            Ok(())
        } else {
            Err(Error::Shape(format!("'{}' has a distribution that is not one: {self:?}", variable.name)))
        }
    }
    /// Number of free parameters.
    pub fn n_parameters(&self) -> usize {
        match self {
            Self::Levels { probabilities } => probabilities.len().saturating_sub(1),
            Self::StudentT { .. } => 2,
            Self::Point { .. } => 3,
            // The rate and the size.
            Self::Counts { point, .. } => 2 + usize::from(point.is_some()),
            Self::Histogram { histogram, point } => histogram.shares.len() - 1 + usize::from(point.is_some()),
        }
    }
}

/// A number in `(0, 1)`, on a grid of 2^-53.
fn uniform<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
}

/// The first code at which the running sum reaches `p`, never one of probability zero.
fn first_reaching(probabilities: &[f64], p: f64) -> u32 {
    let (mut sum, mut last) = (0.0, 0);
    for (code, &q) in probabilities.iter().enumerate() {
        if q > 0.0 {
            sum += q;
            last = code;
            if sum >= p {
                break;
            }
        }
    }
    last as u32
}

#[cfg(test)]
mod tests;
