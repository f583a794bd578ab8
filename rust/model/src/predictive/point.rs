//! A number that many rows share, with a probability of its own: zeros, or a limit at which a measurement ends.
//!
//! All other numbers are distributed about it as a Student t. The density of the shared number is its probability over the
//! length of numbers that it stands for, so that densities of models with and without it can be compared.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Counts, Predictive, Value, student_t};

/// The shared number, in stored units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointMass {
    /// Where it is.
    pub at: f64,
    /// The logarithm of the length it stands for.
    pub log_width: f64,
    /// Its probability.
    pub share: f64,
}

/// Of one, in stored units: what the way there and back rounds.
const ROUNDING: f64 = 1e-12;

/// Whether a number in stored units is the one that is shared.
#[inline]
pub fn is_at(x: f64, at: f64) -> bool {
    (x - at).abs() <= ROUNDING * (1.0 + at.abs())
}

impl PointMass {
    /// With the distribution of all other numbers.
    #[must_use]
    pub fn beside(self, other: &Predictive) -> Predictive {
        match *other {
            Predictive::StudentT { df, location, scale } => Predictive::Point { point: self, df, location, scale },
            Predictive::Counts { counts, .. } => Predictive::Counts { counts, point: Some(self) },
            Predictive::Histogram { ref histogram, .. } => {
                Predictive::Histogram { histogram: Arc::clone(histogram), point: Some(self) }
            }
            _ => other.clone(),
        }
    }

    /// Whether its parts are in order.
    pub fn is_sound(&self) -> bool {
        (0.0..=1.0).contains(&self.share) && self.at.abs() <= 1e150 && self.log_width.is_finite()
    }

    /// The probability of less than a number, if all others are below it with this probability.
    pub(super) fn below(&self, x: f64, others: f64) -> f64 {
        let own = if x > self.at { self.share } else { 0.0 };
        own + (1.0 - self.share) * others
    }

    /// The smallest number at which the probability of it or less reaches `p`.
    pub(super) fn quantile(&self, p: f64, others: &Predictive) -> f64 {
        let rest = 1.0 - self.share;
        let before = rest * others.below(self.at);
        if p > before && p <= before + self.share || rest <= 0.0 {
            return self.at;
        }
        let above = p > before;
        let of_rest = (if above { p - self.share } else { p }) / rest;
        let Value::Real(x) = others.quantile(of_rest.clamp(f64::MIN_POSITIVE, 1.0)) else { return f64::NAN };
        // Rounding must not bring it to the other side.
        if above { x.max(self.at) } else { x.min(self.at) }
    }

    pub(super) fn mean(&self, others: f64) -> f64 {
        self.share * self.at + (1.0 - self.share) * others
    }

    /// With the mean and standard deviation of the others.
    pub(super) fn sd(&self, mean: f64, sd: f64) -> f64 {
        let distance = mean - self.at;
        ((1.0 - self.share) * (sd * sd + self.share * distance * distance)).sqrt()
    }
}

impl Predictive {
    /// The number that has a probability of its own, if there is one.
    pub fn point(&self) -> Option<PointMass> {
        match self {
            Self::Point { point, .. } => Some(*point),
            Self::Counts { point, .. } | Self::Histogram { point, .. } => *point,
            _ => None,
        }
    }

    /// Of whole numbers, the distribution of those that are not the shared one.
    pub fn counts(&self) -> Option<&Counts> {
        if let Self::Counts { counts, .. } = self { Some(counts) } else { None }
    }

    /// The distribution of the numbers that are not the shared one.
    #[must_use]
    pub fn others(&self) -> Self {
        match *self {
            Self::Point { df, location, scale, .. } => Self::StudentT { df, location, scale },
            Self::Counts { counts, .. } => Self::Counts { counts, point: None },
            Self::Histogram { ref histogram, .. } => Self::Histogram { histogram: Arc::clone(histogram), point: None },
            _ => self.clone(),
        }
    }

    /// The probability of less than a number; of a level, that of those before it.
    pub fn below(&self, x: f64) -> f64 {
        match *self {
            Self::Point { ref point, df, location, scale } => {
                point.below(x, student_t::cdf(df, (x - location) / scale))
            }
            Self::Counts { ref counts, point: None } => counts.below(x),
            Self::Counts { ref counts, point: Some(ref point) } => point.below(x, counts.below(x)),
            Self::Histogram { ref histogram, point: Some(ref point) } => point.below(x, histogram.cdf(x)),
            _ => self.cdf(Value::Real(x)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_zeros() -> Predictive {
        let point = PointMass { at: 0.0, log_width: 0.1_f64.ln(), share: 0.5 };
        point.beside(&Predictive::StudentT { df: 5.0, location: 1.0, scale: 0.5 })
    }

    #[test]
    fn its_density_is_its_share_over_the_length_it_stands_for() {
        let of = half_zeros();
        assert!((of.log_density(Value::Real(0.0)) - 5.0_f64.ln()).abs() < 1e-15);
        let other = of.others().log_density(Value::Real(0.3)) + 0.5_f64.ln();
        assert!((of.log_density(Value::Real(0.3)) - other).abs() < 1e-15);
    }

    #[test]
    fn quantiles_stay_at_it_as_long_as_its_share_lasts() {
        let of = half_zeros();
        let before = of.below(0.0);
        let at = |p: f64| match of.quantile(p) {
            Value::Real(x) => x,
            Value::Code(_) => f64::NAN,
        };
        assert_eq!([at(before + 1e-9), at(before + 0.25), at(before + 0.5)], [0.0; 3]);
        assert!(at(before * 0.99) < 0.0 && at(before + 0.51) > 0.0);
        for p in [1e-6, 0.01, before * 0.5, before + 0.6, 0.999] {
            assert!((of.cdf(Value::Real(at(p))) - p).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn moments_are_those_of_both_parts() {
        let of = half_zeros();
        let sd = Predictive::StudentT { df: 5.0, location: 1.0, scale: 0.5 }.sd().unwrap();
        assert_eq!(of.mean(), Some(0.5));
        // E x^2 - (E x)^2.
        assert!((of.sd().unwrap().powi(2) - (0.5 * (sd * sd + 1.0) - 0.25)).abs() < 1e-15);
    }
}
