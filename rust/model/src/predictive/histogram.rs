//! Numbers of any shape: a histogram whose cells are those of the whole column, as a leaf of one predicts them.
//!
//! Within a cell all numbers are equally probable. Beyond the ends lies what one row on either side of all that were seen would
//! be, with tails of a Lomax distribution: the probability of more than `t` beyond an end is `(1 + t / s)^-3` of it,
//! which has a mean and a standard deviation.

use serde::{Deserialize, Serialize};

/// Cells in stored units, and their probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Where the cells begin, and where the last ends.
    pub edges: Vec<f64>,
    /// The probabilities of the cells for a number within the ends.
    pub shares: Vec<f64>,
    /// The probability of a number below the first cell, and of one above the last.
    pub outside: f64,
    /// The scales of the tails: below, above.
    pub tails: [f64; 2],
}

/// Of the tails.
const SHAPE: f64 = 3.0;

impl Histogram {
    /// Log density of a number.
    pub fn log_density(&self, x: f64) -> f64 {
        let tail = |beyond: f64, scale: f64| {
            self.outside.ln() + (SHAPE / scale).ln() - (SHAPE + 1.0) * (beyond / scale).ln_1p()
        };
        let (low, high) = self.ends();
        if x < low {
            tail(low - x, self.tails[0])
        } else if x >= high {
            tail(x - high, self.tails[1])
        } else {
            let cell = self.cell(x);
            (self.inside() * self.shares[cell] / self.width(cell)).ln()
        }
    }

    /// The probability of less than a number, or of it and less: one number alone has none.
    pub fn cdf(&self, x: f64) -> f64 {
        let tail = |beyond: f64, scale: f64| self.outside * (1.0 + beyond / scale).powf(-SHAPE);
        let (low, high) = self.ends();
        if x.is_nan() {
            return f64::NAN;
        }
        if x < low {
            return tail(low - x, self.tails[0]);
        }
        if x >= high {
            return 1.0 - tail(x - high, self.tails[1]);
        }
        let cell = self.cell(x);
        let before: f64 = self.shares[..cell].iter().sum();
        let share = before + self.shares[cell] * ((x - self.edges[cell]) / self.width(cell));
        self.outside + self.inside() * share.min(1.0)
    }

    /// The number below which probability `p` lies.
    pub fn quantile(&self, p: f64) -> f64 {
        let tail = |p: f64, scale: f64| scale * ((p / self.outside).powf(-1.0 / SHAPE) - 1.0);
        let (low, high) = self.ends();
        if p.is_nan() {
            return f64::NAN;
        }
        if p < self.outside {
            return low - tail(p, self.tails[0]);
        }
        if 1.0 - p < self.outside {
            return high + tail(1.0 - p, self.tails[1]);
        }
        let mut left = (p - self.outside) / self.inside();
        for (cell, &share) in self.shares.iter().enumerate() {
            if share > 0.0 && left <= share {
                return (self.edges[cell] + left / share * self.width(cell)).min(self.edges[cell + 1]);
            }
            left -= share;
        }
        high
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        let (low, high) = self.ends();
        // A tail reaches half its scale beyond its end in the mean.
        let tails = low - self.tails[0] / 2.0 + high + self.tails[1] / 2.0;
        let cells: f64 = self.shares.iter().enumerate().map(|(cell, share)| share * self.middle(cell)).sum();
        self.inside() * cells + self.outside * tails
    }

    /// The standard deviation.
    pub fn sd(&self) -> f64 {
        let mean = self.mean();
        let (low, high) = self.ends();
        // Beyond an end in the mean half the scale, and the squares of that are the squared scale.
        let tail = |away: f64, scale: f64| away * away + away * scale + scale * scale;
        let tails = tail(mean - low, self.tails[0]) + tail(high - mean, self.tails[1]);
        let of = |(cell, share): (usize, &f64)| {
            share * ((self.middle(cell) - mean).powi(2) + self.width(cell).powi(2) / 12.0)
        };
        let cells: f64 = self.shares.iter().enumerate().map(of).sum();
        (self.inside() * cells + self.outside * tails).sqrt()
    }

    /// The middle of the cell of the highest density, the first under ties.
    pub fn mode(&self) -> f64 {
        let density = |cell: usize| self.shares[cell] / self.width(cell);
        let best = (0..self.shares.len()).fold(0, |best, cell| if density(cell) > density(best) { cell } else { best });
        self.middle(best)
    }

    /// The length that four fifths of all numbers lie on.
    pub fn spread(&self) -> f64 {
        self.quantile(0.9) - self.quantile(0.1)
    }

    /// Whether its parts are in order.
    pub fn is_sound(&self) -> bool {
        let length = |x: f64| (1e-150..=1e150).contains(&x);
        self.shares.len() + 1 == self.edges.len()
            && !self.shares.is_empty()
            && self.edges.iter().all(|edge| edge.abs() <= 1e150)
            && (0..self.shares.len()).all(|cell| length(self.width(cell)))
            && self.shares.iter().all(|share| (0.0..=1.0).contains(share))
            && (self.shares.iter().sum::<f64>() - 1.0).abs() < 1e-6
            && self.outside > 0.0
            && self.outside < 0.5
            && self.tails.into_iter().all(length)
    }

    /// The probability of a number within the ends.
    pub fn inside(&self) -> f64 {
        1.0 - 2.0 * self.outside
    }

    fn ends(&self) -> (f64, f64) {
        (self.edges[0], self.edges[self.shares.len()])
    }

    fn cell(&self, x: f64) -> usize {
        self.edges[1..self.shares.len()].partition_point(|&edge| edge <= x)
    }

    fn width(&self, cell: usize) -> f64 {
        self.edges[cell + 1] - self.edges[cell]
    }

    fn middle(&self, cell: usize) -> f64 {
        self.edges[cell].midpoint(self.edges[cell + 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_hills() -> Histogram {
        Histogram {
            edges: vec![-2.0, -1.0, 0.5, 3.0, 3.25],
            shares: vec![0.4, 0.1, 0.1, 0.4],
            outside: 0.01,
            tails: [0.5, 2.0],
        }
    }

    #[test]
    fn within_a_cell_all_numbers_are_equally_probable() {
        let of = two_hills();
        for x in [-2.0, -1.7, -1.000_001] {
            assert!((of.log_density(x) - (0.98 * 0.4_f64).ln()).abs() < 1e-14);
        }
        assert!((of.cdf(-1.5) - (0.01 + 0.98 * 0.2)).abs() < 1e-14);
        assert_eq!(of.mode(), 3.125);
        assert!((of.quantile(0.5) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_distribution_function_is_the_integral_of_the_density() {
        let of = two_hills();
        for (from, to) in [(-9.0, -2.0), (-1.9, -1.0), (3.1, 3.25), (3.25, 40.0)] {
            let steps = 200_000;
            let h = (to - from) / f64::from(steps);
            let sum: f64 = (0..steps).map(|i| of.log_density(from + (f64::from(i) + 0.5) * h).exp()).sum();
            assert!((sum * h - (of.cdf(to) - of.cdf(from))).abs() < 1e-9, "{from} {to}");
        }
    }

    #[test]
    fn moments_are_those_of_draws_evenly_by_probability() {
        let of = two_hills();
        let n = 1_000_000;
        let draws: Vec<f64> = (0..n).map(|i| of.quantile((f64::from(i) + 0.5) / f64::from(n))).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((of.mean() - mean).abs() < 1e-4, "{} {mean}", of.mean());
        assert!((of.sd() - variance.sqrt()).abs() < 1e-3, "{} {}", of.sd(), variance.sqrt());
    }

    #[test]
    fn what_is_no_histogram_is_found_out() {
        assert!(two_hills().is_sound());
        for spoil in [
            |of: &mut Histogram| of.edges.swap(1, 2),
            |of: &mut Histogram| of.shares[0] = 0.7,
            |of: &mut Histogram| of.outside = 0.0,
            |of: &mut Histogram| of.tails[1] = 0.0,
            |of: &mut Histogram| of.edges[4] = f64::INFINITY,
            |of: &mut Histogram| of.shares.truncate(3),
        ] {
            let mut of = two_hills();
            spoil(&mut of);
            assert!(!of.is_sound(), "{of:?}");
        }
    }
}
