//! The distribution of one variable as a local model predicts it: what every fitted model hands out for a row.
//!
//! Leaves of trees and tables predict with the posterior predictive: proportions for levels, a Student t for numbers.
//! Densities are in stored (standardised) units; whoever speaks to a person subtracts `ln scale`. Another family of
//! distributions is one variant here, with its arm in each method.

mod counts;
mod line;
mod point;
mod student_t;

pub use counts::{Counts, MOST_COUNTED, count_of, rising};
pub use line::{LARGEST, Line};
pub use point::{PointMass, is_at};

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
            (Self::Point { point, .. } | Self::Counts { point: Some(point), .. }, Value::Real(x)) => {
                if is_at(x, point.at) {
                    point.share.ln() - point.log_width
                } else {
                    (-point.share).ln_1p() + self.others().log_density(value)
                }
            }
            (Self::Counts { counts, point: None }, Value::Real(x)) => counts.log_density(x),
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
            Self::Point { point, .. } | Self::Counts { point: Some(point), .. } => {
                Some(point.mean(self.others().mean()?))
            }
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
            Self::Point { point, .. } | Self::Counts { point: Some(point), .. } => {
                Some(point.sd(self.others().mean()?, self.others().sd()?))
            }
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
            Self::Point { point, .. } | Self::Counts { point: Some(point), .. } if point.share >= 0.5 => {
                Value::Real(point.at)
            }
            Self::Counts { counts, .. } => Value::Real(counts.mode()),
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
            (Self::Point { point, .. } | Self::Counts { point: Some(point), .. }, Value::Real(x)) => {
                point.below(if is_at(x, point.at) { f64::INFINITY } else { x }, self.others().cdf(value))
            }
            _ => f64::NAN,
        }
    }

    /// The smallest value whose cdf reaches `p`, for `p` between 0 and 1.
    pub fn quantile(&self, p: f64) -> Value {
        match self {
            Self::Levels { probabilities } => Value::Code(first_reaching(probabilities, p)),
            &Self::StudentT { df, location, scale } => Value::Real(location + scale * student_t::quantile(df, p)),
            Self::Counts { counts, point: None } => Value::Real(counts.quantile(p)),
            Self::Point { point, .. } | Self::Counts { point: Some(point), .. } => {
                Value::Real(point.quantile(p, &self.others()))
            }
        }
    }

    /// The central interval that leaves `(1 - mass) / 2` on either side; for levels it may hold more than `mass`.
    pub fn interval(&self, mass: f64) -> (Value, Value) {
        let outside = (1.0 - mass) / 2.0;
        match self {
            Self::Levels { .. } | Self::Point { .. } | Self::Counts { .. } => {
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
            Self::Point { point, .. } | Self::Counts { point: Some(point), .. } if uniform(rng) < point.share => {
                Value::Real(point.at)
            }
            Self::Counts { counts, .. } => Value::Real(counts.quantile(uniform(rng))),
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
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn every_kind() -> Vec<Predictive> {
        vec![
            Predictive::Levels { probabilities: vec![1.0] },
            Predictive::Levels { probabilities: vec![0.1, 0.0, 0.65, 0.25] },
            Predictive::StudentT { df: 1.0, location: -2.0, scale: 3.0 },
            Predictive::StudentT { df: 3.0, location: 1.0, scale: 0.5 },
            Predictive::StudentT { df: 401.0, location: 0.0, scale: 1e-3 },
            Predictive::Point {
                point: PointMass { at: 0.7, log_width: -2.0, share: 0.3 },
                df: 7.0,
                location: 0.5,
                scale: 2.0,
            },
            counted(None),
            counted(Some(PointMass { at: -1.5, log_width: -2.0_f64.ln(), share: 0.3 })),
        ]
    }

    /// Whole numbers, stored as `(count - 3) / 2`; without 0 if that has a probability of its own.
    fn counted(point: Option<PointMass>) -> Predictive {
        let gap = point.map(|_| 0.0);
        Predictive::Counts { counts: Counts { size: Some(4.0), a: 90.0, b: 120.0, gap, shift: 3.0, scale: 2.0 }, point }
    }

    fn real(value: Value) -> f64 {
        match value {
            Value::Code(code) => f64::from(code),
            Value::Real(x) => x,
        }
    }

    #[test]
    fn everything_sums_or_integrates_to_one() {
        for predictive in every_kind() {
            let total = match &predictive {
                Predictive::Levels { probabilities } => {
                    (0..probabilities.len()).map(|c| predictive.log_density(Value::Code(c as u32)).exp()).sum::<f64>()
                }
                // A count stands for the length of 1, in stored units half of that.
                Predictive::Counts { .. } => {
                    let at = |y: i32| predictive.log_density(Value::Real((f64::from(y) - 3.0) / 2.0)).exp() / 2.0;
                    (0..2000).map(at).sum::<f64>()
                }
                // The midpoint rule over x = location + scale tan(u), which brings the heavy tails within reach.
                &Predictive::StudentT { location, scale, .. } | &Predictive::Point { location, scale, .. } => {
                    let steps = 200_000;
                    let h = std::f64::consts::PI / f64::from(steps);
                    let at = |i: i32| {
                        let u = (f64::from(i) + 0.5) * h - std::f64::consts::FRAC_PI_2;
                        let jacobian = scale / u.cos().powi(2);
                        predictive.log_density(Value::Real(location + scale * u.tan())).exp() * jacobian
                    };
                    // The length that a shared number stands for holds its probability.
                    let shared = predictive.point().map_or(0.0, |point| {
                        predictive.log_density(Value::Real(point.at)).exp() * point.log_width.exp()
                    });
                    shared + (0..steps).map(at).sum::<f64>() * h
                }
            };
            assert!((total - 1.0).abs() < 1e-9, "{predictive:?} {total}");
        }
    }

    #[test]
    fn quantile_is_the_smallest_value_whose_cdf_reaches_p() {
        for predictive in every_kind() {
            for p in [0.001, 0.1, 0.100001, 0.5, 0.75, 0.9, 0.9999] {
                let x = predictive.quantile(p);
                match x {
                    Value::Real(x) if predictive.point().is_some_and(|point| x == point.at) => {
                        assert!(predictive.below(x) <= p && p <= predictive.cdf(Value::Real(x)));
                    }
                    Value::Real(y) if predictive.counts().is_some() => {
                        assert!(predictive.below(y) < p && p <= predictive.cdf(x));
                    }
                    Value::Real(_) => assert!((predictive.cdf(x) / p - 1.0).abs() < 1e-12),
                    Value::Code(c) => {
                        assert!(predictive.cdf(x) >= p);
                        assert!(c == 0 || predictive.cdf(Value::Code(c - 1)) < p);
                    }
                }
            }
        }
    }

    #[test]
    fn draws_follow_the_cdf() {
        // Kolmogorov-Smirnov at the values themselves (an upper bound for levels); 1.95 is exceeded once in a thousand.
        let n = 20_000;
        for predictive in every_kind() {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
            let mut draws: Vec<Value> = (0..n).map(|_| predictive.sample(&mut rng)).collect();
            draws.sort_by(|a, b| real(*a).total_cmp(&real(*b)));
            let distinct_ends = (0..n).filter(|&i| i + 1 == n || draws[i] != draws[i + 1]);
            let distance =
                distinct_ends.map(|i| ((i + 1) as f64 / n as f64 - predictive.cdf(draws[i])).abs()).fold(0.0, f64::max);
            assert!(distance * (n as f64).sqrt() < 1.95, "{predictive:?} {distance}");
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_values() {
        for predictive in every_kind() {
            let draw = || {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
                (0..50).map(|_| predictive.sample(&mut rng)).collect::<Vec<_>>()
            };
            assert_eq!(draw(), draw());
        }
    }

    #[test]
    fn a_draw_is_a_number_however_far_the_tails_reach() {
        let predictive = Predictive::StudentT { df: 1e-3, location: 0.0, scale: 1e150 };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let draws: Vec<f64> = (0..1000).map(|_| real(predictive.sample(&mut rng))).collect();
        assert!(draws.contains(&f64::MAX) && draws.contains(&f64::MIN));
        assert!(draws.iter().all(|x| x.is_finite()));
    }

    #[test]
    fn an_impossible_level_is_never_drawn_nor_a_quantile() {
        let predictive = Predictive::Levels { probabilities: vec![0.0, 0.5, 0.5, 0.0] };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for p in [0.0, 0.5, 1.0] {
            assert!(predictive.log_density(predictive.quantile(p)).is_finite());
        }
        for _ in 0..1000 {
            assert!(predictive.log_density(predictive.sample(&mut rng)).is_finite());
        }
    }

    #[test]
    fn an_interval_holds_its_mass() {
        for predictive in every_kind() {
            for mass in [0.5, 0.95, 0.999] {
                let (low, high) = predictive.interval(mass);
                let below = if let Value::Code(c) = low {
                    if c == 0 { 0.0 } else { predictive.cdf(Value::Code(c - 1)) }
                } else {
                    predictive.below(real(low))
                };
                let held = predictive.cdf(high) - below;
                assert!(held >= mass - 1e-12, "{predictive:?} {mass} {held}");
                let exact = matches!(predictive, Predictive::StudentT { .. });
                assert!(!exact || held <= mass + 1e-12);
            }
        }
    }

    #[test]
    fn moments_of_small_cases() {
        let levels = Predictive::Levels { probabilities: vec![0.25, 0.25, 0.5] };
        assert_eq!(levels.mean(), Some(1.25));
        assert_eq!(levels.sd(), Some(0.6875_f64.sqrt()));
        assert_eq!(levels.mode(), Value::Code(2));
        let tied = Predictive::Levels { probabilities: vec![0.2, 0.4, 0.4] };
        assert_eq!(tied.mode(), Value::Code(1), "of equally probable levels the first");
        let t = |df| Predictive::StudentT { df, location: 1.5, scale: 2.0 };
        assert_eq!((t(1.0).mean(), t(2.0).mean()), (None, Some(1.5)));
        assert_eq!((t(2.0).sd(), t(4.0).sd()), (None, Some(2.0 * 2.0_f64.sqrt())));
        assert_eq!(t(1.0).mode(), Value::Real(1.5));
    }

    #[test]
    fn a_value_of_the_other_kind_is_impossible() {
        let levels = Predictive::Levels { probabilities: vec![0.5, 0.5] };
        assert_eq!(levels.log_density(Value::Real(0.0)), f64::NEG_INFINITY);
        assert_eq!(levels.log_density(Value::Code(2)), f64::NEG_INFINITY);
        assert_eq!(levels.log_density(Value::Code(1)), 0.5_f64.ln());
    }
}
