//! How a number is cut: by halvings of its range or of its ranks, `max_splits` deep.
//!
//! Either way the bins are numbered from low to high, and those of a halving share the leading bits of their numbers. So
//! the search, the lattice and the prior over trees know nothing of where the cuts are.

use serde::{Deserialize, Serialize};

use super::ranks::Ranks;

/// Where numbers are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cuts {
    /// At midpoints of the range.
    #[default]
    Range,
    /// At midpoints of the ranks.
    Quantile,
}

impl Cuts {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Values less than this part of the range below a midpoint count as on it, and go right: standardised values are rounded,
/// and whole numbers that lie on a midpoint of their own range must not be told apart from it by their last bit.
pub(super) const SLACK: f64 = 1.0 / (1_u64 << 42) as f64;

/// The bins of a continuous variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Bins {
    /// `2^max_splits` of equal width.
    Range(Range),
    /// With about as many rows in each.
    Ranks(Ranks),
}

/// Bins of equal width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    max_splits: u32,
}

impl Bins {
    /// Of equal width, over the range of the given values.
    pub fn of(values: &[f64], max_splits: u32) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self::Range(Range { low, high, max_splits })
    }

    /// Where bin `bin >= 1` begins; values at or above it are in that bin or higher. Of bins of equal width, a very little
    /// below the midpoint.
    pub fn threshold(&self, bin: u32) -> f64 {
        match self {
            Self::Range(range) => range.threshold(bin),
            Self::Ranks(ranks) => ranks.cut(bin).stored,
        }
    }

    /// Where bin `bin >= 1` begins in the user's units, if the cut was chosen as a number that can be written.
    pub fn written(&self, bin: u32) -> Option<f64> {
        match self {
            Self::Range(_) => None,
            Self::Ranks(ranks) => Some(ranks.cut(bin).written),
        }
    }

    /// The bin of a value; values outside the range belong to the end bins.
    pub fn bin(&self, value: f64) -> u32 {
        match self {
            Self::Range(range) => range.bin(value),
            Self::Ranks(ranks) => ranks.bin(value),
        }
    }
}

impl Range {
    fn threshold(&self, bin: u32) -> f64 {
        let part = f64::from(bin) / f64::from(1_u32 << self.max_splits) - SLACK;
        let width = self.high - self.low;
        if width.is_finite() { self.low + width * part } else { self.low * (1.0 - part) + self.high * part }
    }

    fn bin(&self, value: f64) -> u32 {
        if self.low >= self.high {
            return 0;
        }
        let last = (1_u32 << self.max_splits) - 1;
        let guess = (value - self.low) / (self.high - self.low) * f64::from(last + 1);
        let mut bin = (guess as u32).min(last);
        // The thresholds decide, so that a tree sends every row where its statistics came from.
        while bin > 0 && value < self.threshold(bin) {
            bin -= 1;
        }
        while bin < last && value >= self.threshold(bin + 1) {
            bin += 1;
        }
        bin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_midpoint_goes_right_and_values_outside_go_to_the_ends() {
        let bins = Bins::of(&[0.0, 8.0], 3);
        let codes: Vec<_> = [-1.0, 0.0, 0.99, 1.0, 4.0, 7.99, 8.0, 9.0].map(|x| bins.bin(x)).into();
        assert_eq!(codes, [0, 0, 0, 1, 4, 7, 7, 7]);
    }

    #[test]
    fn whole_numbers_on_midpoints_go_right_whatever_they_are_standardised_with() {
        for (shift, scale) in [(0.0, 1.0), (9.137, 4.9), (8.3, 1.0 / 3.0), (-1e4, 7.7e5), (2000.0 / 7.0, 1e-3)] {
            let bins = |x: f64| (x - shift) / scale;
            let of = Bins::of(&[bins(1.0), bins(17.0)], 4);
            for day in 1..=17 {
                assert_eq!(of.bin(bins(f64::from(day))), (day as u32 - 1).min(15), "{shift} {scale}");
            }
        }
    }

    #[test]
    fn a_constant_has_one_bin() {
        let bins = Bins::of(&[2.5, 2.5], 5);
        assert_eq!([1.0, 2.5, 3.0].map(|x| bins.bin(x)), [0, 0, 0]);
    }

    #[test]
    fn thresholds_and_bins_agree_on_awkward_ranges() {
        for (low, high) in [(0.1, 0.7), (-1e308, 1e308), (1e16, 1e16 + 64.0), (0.0, 5e-324)] {
            let bins = Bins::of(&[low, high], 5);
            for i in 0..=100 {
                let x = low * (1.0 - f64::from(i) / 100.0) + high * (f64::from(i) / 100.0);
                let bin = bins.bin(x);
                assert!(bin == 0 || x >= bins.threshold(bin));
                assert!(bin == 31 || x < bins.threshold(bin + 1) || low == high);
            }
        }
    }
}
