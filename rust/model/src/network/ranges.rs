//! Draws of numbers within a range, such as that of the observed values: the Student t distributions of leaves of few
//! rows have tails without end. What lies outside is drawn again, so a draw follows the distribution cut to its range
//! and no end of it gathers what lies beyond.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Network;
use super::mixture::quantile_within;
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};

/// Draws that are tried before the distribution function is inverted, which takes a hundred times as long.
const TRIES: usize = 60;
/// What rounding may have moved an end of a range by, so that a number which has a probability of its own stays in it.
const ROUNDING: f64 = 1e-12;

/// A draw from a distribution, of a number within its range.
pub(super) fn drawn_within(predictive: &Predictive, (low, high): (f64, f64), rng: &mut Xoshiro256PlusPlus) -> Value {
    let (first, last) = (low - ROUNDING * (1.0 + low.abs()), high + ROUNDING * (1.0 + high.abs()));
    for _ in 0..TRIES {
        match predictive.sample(rng) {
            Value::Real(x) if !(first..=last).contains(&x) => {}
            value => return value,
        }
    }
    Value::Real(quantile_within(predictive, low, high, rng.random::<f64>()))
}

/// What a piece, or an interval that was given, has in common with a range; all of it if that is nothing.
pub(super) fn both((low, high): (f64, f64), range: (f64, f64)) -> (f64, f64) {
    let (first, last) = (low.max(range.0), high.min(range.1));
    if first <= last { (first, last) } else { (low, high) }
}

impl Network {
    /// That there is a range for every variable, with its low end first.
    pub(super) fn check_ranges(&self, ranges: &[(f64, f64)]) -> Result<()> {
        if ranges.len() != self.n_vars() {
            return Err(Error::Shape(format!("{} ranges for {} variables", ranges.len(), self.n_vars())));
        }
        let wrong = |v: &usize| ranges[*v].0.is_nan() || ranges[*v].0 > ranges[*v].1 || ranges[*v].1.is_nan();
        if let Some(v) = (0..self.n_vars()).find(wrong) {
            let problem = format!("has the range {:?}", ranges[v]);
            return Err(Error::column(&*self.variables()[v].name, problem, "give its low end first"));
        }
        Ok(())
    }
}
