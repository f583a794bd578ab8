//! The way between a column's stored values and the user's units: by an affine map, or by that of a logarithm or of normal scores.
//!
//! A column on a logarithmic scale is stored as the standardised `t = ln(x + log)`, by normal scores as these. Scores, searches and models know stored
//! values only; whoever speaks to the user goes by this map.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::normal_scores::NormalScores;

/// `original = shift + scale * stored`: the way back from standardised values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// The mean that was subtracted, 0 if the column stands as it is.
    pub shift: f64,
    /// The standard deviation that was divided by, 1 if the column stands as it is or is constant.
    pub scale: f64,
}

impl Affine {
    /// The map that changes nothing.
    pub const IDENTITY: Self = Self { shift: 0.0, scale: 1.0 };

    /// From stored to original units.
    #[inline]
    pub fn to_original(self, stored: f64) -> f64 {
        self.shift + self.scale * stored
    }

    /// From original to stored units.
    #[inline]
    pub fn to_stored(self, original: f64) -> f64 {
        (original - self.shift) / self.scale
    }
}

/// A variable's way back to the user's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// As of an [`Affine`] map.
    pub shift: f64,
    /// As of an [`Affine`] map.
    pub scale: f64,
    /// On a logarithmic scale what is added to a number before its logarithm is taken: the affine map leads to
    /// `ln(original + log)`. Such a variable is 0 or above; above 0 if this is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<f64>,
    /// Where numbers are taken by their normal scores, the curve that the affine map leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<NormalScores>,
    /// A number that many rows share, to which models that can give a probability of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// What stands in the leaves of trees, where the column says so and not the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<NumberLeaf>,
}

/// What stands in the leaves of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberLeaf {
    /// A normal distribution.
    #[default]
    Normal,
    /// One about a line in the numeric parents, where that is worth more.
    Linear,
    /// Of whole numbers from 0 up, a negative binomial distribution.
    Counts,
    /// Of numbers of any shape, a histogram.
    Histogram,
    /// Of a score: normal or linear, whichever makes the variable more probable.
    Auto,
}

impl NumberLeaf {
    /// Whether it is that of a score that does not say.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A number that many rows share: the zeros of a column of rainfall, or a limit at which a measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The number, in the user's units.
    pub at: f64,
    /// What length of numbers it stands for, in the user's units: its density is its probability over this.
    pub width: f64,
}

impl From<Affine> for Units {
    fn from(Affine { shift, scale }: Affine) -> Self {
        Self { shift, scale, ..Self::IDENTITY }
    }
}

impl Units {
    /// The map that changes nothing.
    pub const IDENTITY: Self = Self { shift: 0.0, scale: 1.0, log: None, scores: None, point: None, leaf: None };

    /// The map to the user's units, or to their logarithm or normal scores.
    #[inline]
    pub fn affine(&self) -> Affine {
        Affine { shift: self.shift, scale: self.scale }
    }

    /// From stored to original units.
    #[inline]
    pub fn to_original(&self, stored: f64) -> f64 {
        let x = self.shift + self.scale * stored;
        match (&self.scores, self.log) {
            (Some(scores), _) => scores.to_number(x),
            (None, Some(log)) => back(x, log),
            (None, None) => x,
        }
    }

    /// From original to stored units. NaN for a number that has no logarithm here.
    #[inline]
    pub fn to_stored(&self, original: f64) -> f64 {
        let x = match (&self.scores, self.log) {
            (Some(scores), _) => scores.to_score(original),
            (None, Some(log)) => logarithm(original, log),
            (None, None) => original,
        };
        (x - self.shift) / self.scale
    }

    /// What turns the log density of a stored value into one in the user's units.
    #[inline]
    pub fn log_jacobian(&self, stored: f64) -> f64 {
        let (affine, x) = (-self.scale.ln(), self.shift + self.scale * stored);
        match (&self.scores, self.log) {
            (Some(scores), _) => affine - scores.slope(x).ln(),
            (None, Some(_)) => affine - x,
            (None, None) => affine,
        }
    }

    /// Whether the affine map leads to something else than the number.
    pub fn is_bent(&self) -> bool {
        self.log.is_some() || self.scores.is_some()
    }

    /// By how much the number changes for each one of what the affine map leads to, near a stored value.
    pub fn slope(&self, stored: f64) -> f64 {
        match (&self.scores, self.log) {
            (Some(scores), _) => scores.slope(self.shift + self.scale * stored),
            (None, Some(log)) => self.to_original(stored) + log,
            (None, None) => 1.0,
        }
    }

    /// What the affine map leads to, by the variable's name: `x`, `ln(x)`, `ln(x + 0.5)` or `score(x)`.
    pub fn name<'a>(&self, variable: &'a str) -> Cow<'a, str> {
        if self.scores.is_some() {
            return format!("score({variable})").into();
        }
        match self.log {
            None => variable.into(),
            Some(0.0) => format!("ln({variable})").into(),
            Some(log) => format!("ln({variable} + {log})").into(),
        }
    }

    /// Whether its parts are in order.
    pub fn is_sound(&self) -> bool {
        self.shift.is_finite()
            && self.scale.is_finite()
            && self.scale > 0.0
            && self.log.is_none_or(|log| log.is_finite() && log >= 0.0 && self.scores.is_none())
            && self.point.is_none_or(|point| point.at.is_finite() && point.width.is_finite() && point.width > 0.0)
    }
}

/// `ln(x + log)`. NaN for a number below 0, and for 0 if nothing is added.
#[inline]
pub fn logarithm(x: f64, log: f64) -> f64 {
    if x < 0.0 || x + log <= 0.0 { f64::NAN } else { (x + log).ln() }
}

/// The number of that logarithm. Never below 0, and above 0 if nothing is added: heavy tails end at the ends of the floating
/// range.
#[inline]
fn back(t: f64, log: f64) -> f64 {
    let x = t.exp().clamp(f64::MIN_POSITIVE, f64::MAX);
    if log > 0.0 { (x - log).max(0.0) } else { x }
}

/// What is added to the numbers of a column before their logarithms are taken: nothing if all are above 0, otherwise half of the
/// smallest above 0, or 1 if there is none.
pub fn log_shift(values: impl Iterator<Item = f64>) -> f64 {
    let (mut zero, mut least) = (false, f64::INFINITY);
    for x in values {
        zero |= x == 0.0;
        if x > 0.0 {
            least = least.min(x);
        }
    }
    match zero {
        false => 0.0,
        // Half of the smallest number of all would be 0.
        true if least.is_finite() => (least / 2.0).max(f64::MIN_POSITIVE),
        true => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_maps_are_undone() {
        let map = Affine { shift: 3.0, scale: 2.0 };
        assert_eq!(map.to_stored(map.to_original(1.25)), 1.25);
        let scale = Units::from(map);
        assert_eq!((scale.to_original(1.25), scale.to_stored(5.5)), (5.5, 1.25));
        assert_eq!(scale.log_jacobian(7.0), -2.0_f64.ln());
    }

    #[test]
    fn logarithms_are_undone() {
        for log in [0.0, 0.5] {
            let map = Units { log: Some(log), ..Affine { shift: 1.0, scale: 3.0 }.into() };
            for x in [1e-285, 0.3, 1.0, 12_345.0, 1e285] {
                let again = map.to_original(map.to_stored(x));
                assert!(((again - x) / (x + log)).abs() < 1e-12, "{x} came back as {again}");
            }
        }
        let map = Units { log: Some(0.5), ..Affine { shift: 1.0, scale: 3.0 }.into() };
        assert_eq!(map.to_original(map.to_stored(0.0)).max(1e-15), 1e-15);
    }

    #[test]
    fn nothing_leaves_the_support() {
        let above = Units { log: Some(0.0), ..Units::IDENTITY };
        let from_zero = Units { log: Some(0.5), ..Units::IDENTITY };
        for stored in [-1e300, -1e4, -3.0, 0.0, 1e4, 1e300] {
            assert!(above.to_original(stored) > 0.0 && above.to_original(stored).is_finite());
            assert!(from_zero.to_original(stored) >= 0.0 && from_zero.to_original(stored).is_finite());
        }
        assert!(above.to_stored(0.0).is_nan() && above.to_stored(-1.0).is_nan());
        assert!(from_zero.to_stored(-0.1).is_nan() && from_zero.to_stored(0.0).is_finite());
    }

    #[test]
    fn zeros_ask_for_half_of_the_smallest_number() {
        assert_eq!(log_shift([3.0, 2.0].into_iter()), 0.0);
        assert_eq!(log_shift([3.0, 0.0, 2.0].into_iter()), 1.0);
        assert_eq!(log_shift([0.0, 0.0].into_iter()), 1.0);
        assert!(log_shift([0.0, 5e-324].into_iter()) > 0.0);
        assert_eq!(log_shift(std::iter::empty()), 0.0);
    }

    #[test]
    fn linear_scales_are_written_as_ever() {
        let text = serde_json::to_string(&Units::from(Affine { shift: 1.5, scale: 2.0 })).unwrap();
        assert_eq!(text, r#"{"shift":1.5,"scale":2.0}"#);
        assert_eq!(serde_json::from_str::<Units>(&text).unwrap().log, None);
        let log = Units { log: Some(0.0), ..Affine { shift: 1.5, scale: 2.0 }.into() };
        assert_eq!(serde_json::from_str::<Units>(&serde_json::to_string(&log).unwrap()).unwrap(), log);
        assert_eq!((log.name("x"), log.is_sound()), ("ln(x)".into(), true));
        assert!(!Units { log: Some(-1.0), ..log }.is_sound());
    }

    #[test]
    fn by_normal_scores_a_number_comes_back_and_the_jacobian_is_the_slope() {
        let values: Vec<f64> = (-300..=300).map(|i| (f64::from(i) / 60.0).sinh()).collect();
        let scores = NormalScores::of(&values, None, None);
        let units = Units { scores: Some(scores), ..Affine { shift: 0.1, scale: 0.9 }.into() };
        assert!(units.is_bent() && units.is_sound() && !Units { log: Some(0.0), ..units.clone() }.is_sound());
        for x in [-200.0, -3.0, 0.0, 0.7, 74.0, 1e4] {
            let stored = units.to_stored(x);
            assert!((units.to_original(stored) - x).abs() < 1e-11 * (1.0 + x.abs()), "{x}");
            let step = 1e-6;
            let slope = (units.to_original(stored + step) - units.to_original(stored - step)) / (2.0 * step);
            assert!((units.log_jacobian(stored) + slope.ln()).abs() < 1e-5, "{x}");
        }
        assert_eq!(units.name("profit"), "score(profit)");
        let text = serde_json::to_string(&units).unwrap();
        assert_eq!(serde_json::from_str::<Units>(&text).unwrap(), units);
    }
}
