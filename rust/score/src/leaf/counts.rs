//! Whole numbers from 0 up with an unknown rate: negative binomial counts, whose rates or probabilities are marginalised.
//!
//! Of Poisson counts the rate has a gamma prior; of negative binomial ones of a known size r the probability p has a beta prior.
//! Both are written by the column's mean m: `rate ~ Gamma(1, 1/m)` and `p ~ Beta(1 + r/m, 1)`, so that the mean of the counts
//! (`r (1 - p) / p`) is m before and `(1 + sum) / (1/m + n)` after n rows, whatever the size, and the second becomes the first
//! as r grows. The shape of 1 makes the prior that of an exponential variable: no mean is ruled out, and what it knows is worth
//! one event. A leaf has the size under which its rows are most probable; which one is a choice among [`SIZES`], and costs a
//! leaf its logarithm. Real counts spread more than Poisson ones, and not everywhere alike.

use std::cell::Cell;
use std::ops::AddAssign;

use libm::lgamma;

use crate::predictive::{Counts, rising};

/// Sizes: none is Poisson; the standard deviation of others is `1 / sqrt(size)` of the mean, 1/8 to 2, where the mean is large.
pub const SIZES: [Option<f64>; 6] = [None, Some(64.0), Some(16.0), Some(4.0), Some(1.0), Some(0.25)];
/// Numbers that a statistic holds.
pub const COUNT_SUMS: usize = 2 + SIZES.len();

/// Sums over some rows, each times its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountSum {
    /// Of weights.
    pub n: f64,
    /// Of counts.
    pub sum: f64,
    /// By size, of the logarithms of what the count alone decides, and of the length of 1 in stored units.
    pub constants: [f64; SIZES.len()],
    /// Of the log probabilities under the rate that makes each count most probable: no distribution of a leaf gives more.
    pub most: f64,
}

impl AddAssign for CountSum {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.n += other.n;
        self.sum += other.sum;
        self.most += other.most;
        self.constants.iter_mut().zip(other.constants).for_each(|(sum, own)| *sum += own);
    }
}

/// The leaf of a column of counts.
#[derive(Clone, Debug)]
pub struct CountLeaf {
    mean: f64,
    gap: Option<f64>,
    shift: f64,
    scale: f64,
    /// By rows, what of each size they decide: the logarithm of the rate's parameter, or `ln Gamma` of the first of the beta
    /// variable. NaN where it was not asked for.
    of_rows: Vec<Cell<[f64; SIZES.len()]>>,
    /// `ln Gamma` of the counts and one more.
    of_sum: LogGamma,
    /// By size, of both parameters of the beta variable together.
    of_both: [LogGamma; SIZES.len()],
    prior: [f64; SIZES.len()],
    /// What was asked for last, each in its place.
    last: Vec<Cell<Terms>>,
}

/// The terms of so many rows and counts: as large as a line of the processor's cache.
#[derive(Clone, Copy, Debug)]
struct Terms {
    n: f64,
    sum: f64,
    of: [f64; SIZES.len()],
}

impl Terms {
    /// Of nothing that could be asked for.
    const NONE: Self = Self { n: f64::NAN, sum: f64::NAN, of: [f64::NAN; SIZES.len()] };
    /// A power of two: half a megabyte.
    const PLACES: usize = 1 << 13;

    /// Neighbouring sums of equally many rows stand beside each other.
    #[inline]
    fn place(n: f64, sum: f64) -> usize {
        (n as usize).wrapping_mul(193).wrapping_add(sum as usize) & (Self::PLACES - 1)
    }
}

/// `ln Gamma(from + unit place)` of whole places, kept: cells hold few rows again and again.
#[derive(Clone, Debug)]
struct LogGamma {
    from: f64,
    unit: f64,
    /// NaN where it was not asked for.
    known: Vec<Cell<f64>>,
}

/// So many of a kind are kept.
const MOST_KEPT: f64 = 131_072.0;

impl LogGamma {
    fn new(from: f64, unit: f64, places: f64) -> Self {
        Self { from, unit, known: vec![Cell::new(f64::NAN); (places + 1.0).min(MOST_KEPT) as usize] }
    }

    #[inline]
    fn at(&self, place: usize) -> f64 {
        let Some(known) = self.known.get(place) else { return self.between(place as f64) };
        if known.get().is_nan() {
            known.set(self.between(place as f64));
        }
        known.get()
    }

    /// Of weights a place need not be whole.
    fn between(&self, place: f64) -> f64 {
        lgamma(self.from + self.unit * place)
    }
}

/// Where the beta variable of a size has whole places: by rows and by counts, and the unit.
const fn places(size: f64) -> [f64; 3] {
    // Of a size below 1 what is whole are its parts.
    if size < 1.0 { [1.0, 1.0 / size, size] } else { [size, 1.0, 1.0] }
}

impl CountLeaf {
    /// For counts of this mean, stored as `(count - shift) / scale`, of up to `n_rows` rows; without those of a number with a
    /// probability of its own, `gap`, if there is one.
    pub fn new(mean: f64, gap: Option<f64>, [shift, scale]: [f64; 2], n_rows: usize) -> Self {
        let most = [n_rows as f64, mean * n_rows as f64];
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let both = |size: Option<f64>| {
            let Some(r) = size else { return LogGamma::new(1.0, 1.0, 0.0) };
            let [rows, counts, unit] = places(r);
            LogGamma::new(2.0 + r / mean, unit, rows * most[0] + counts * most[1])
        };
        let of_rows = vec![Cell::new([f64::NAN; SIZES.len()]); n_rows + 1];
        let of_sum = LogGamma::new(1.0, 1.0, most[1]);
        let last = vec![Cell::new(Terms::NONE); Terms::PLACES];
        let prior = [0.0; SIZES.len()];
        let mut leaf = Self { mean, gap, shift, scale, of_rows, of_sum, of_both: SIZES.map(both), prior, last };
        leaf.prior = leaf.terms(0.0, 0.0);
        leaf
    }

    /// What the choice of a size costs a leaf, as a logarithm.
    pub fn log_choice() -> f64 {
        -(SIZES.len() as f64).ln()
    }

    /// Of no rows.
    pub fn empty(&self) -> CountSum {
        CountSum::default()
    }

    /// Of one row with its weight: the count without the gap.
    pub fn row(&self, count: f64, weight: f64) -> CountSum {
        let place = if self.gap.is_some_and(|gap| count > gap) { count - 1.0 } else { count };
        let length = self.scale.ln();
        let own = lgamma(place + 1.0);
        let constant = |size: Option<f64>| weight * (size.map_or(0.0, |r| rising(r, place)) - own + length);
        let rate = if place > 0.0 { place * place.ln() - place } else { 0.0 };
        CountSum {
            n: weight,
            sum: weight * place,
            constants: SIZES.map(constant),
            most: weight * (rate - own + length),
        }
    }

    fn first(&self, size: f64, n: f64) -> f64 {
        1.0 + size * (1.0 / self.mean + n)
    }

    fn of_rows(&self, n: f64) -> [f64; SIZES.len()] {
        SIZES.map(|size| size.map_or_else(|| (1.0 / self.mean + n).ln(), |r| lgamma(self.first(r, n))))
    }

    /// The log marginals of all sizes, without the constants and the prior's part: a search meets the same few again and again.
    #[inline]
    fn known_terms(&self, n: f64, sum: f64) -> [f64; SIZES.len()] {
        let place = &self.last[Terms::place(n, sum)];
        let last = place.get();
        if last.n == n && last.sum == sum {
            return last.of;
        }
        let of = self.terms(n, sum);
        place.set(Terms { n, sum, of });
        of
    }

    #[cold]
    fn terms(&self, n: f64, sum: f64) -> [f64; SIZES.len()] {
        let (rows, counts) = (n as usize, sum as usize);
        let known = self.of_rows.get(rows).filter(|_| rows as f64 == n && counts as f64 == sum);
        let Some(known) = known else {
            let (of_rows, of_sum) = (self.of_rows(n), self.of_sum.between(sum));
            return std::array::from_fn(|i| {
                SIZES[i].map_or(of_sum - (1.0 + sum) * of_rows[i], |r| {
                    let [by_rows, by_counts, _] = places(r);
                    of_sum + of_rows[i] - self.of_both[i].between(by_rows * n + by_counts * sum)
                })
            });
        };
        if known.get()[0].is_nan() {
            known.set(self.of_rows(n));
        }
        let (of_rows, of_sum) = (known.get(), self.of_sum.at(counts));
        std::array::from_fn(|i| {
            SIZES[i].map_or(of_sum - (1.0 + sum) * of_rows[i], |r| {
                let [by_rows, by_counts, _] = places(r);
                of_sum + of_rows[i] - self.of_both[i].at(by_rows as usize * rows + by_counts as usize * counts)
            })
        })
    }

    /// The size under which some rows are most probable, the first under ties, and their log marginal.
    #[inline]
    pub fn best(&self, n: f64, sum: f64, constants: &[f64; SIZES.len()]) -> (usize, f64) {
        if n == 0.0 {
            return (0, 0.0);
        }
        let terms = self.known_terms(n, sum);
        let mut best = (0, f64::NEG_INFINITY);
        for (i, constant) in constants.iter().enumerate() {
            let log = constant + terms[i] - self.prior[i];
            if log > best.1 {
                best = (i, log);
            }
        }
        best
    }

    /// The log marginal of some rows under that size.
    #[inline]
    pub fn log_marginal(&self, n: f64, sum: f64, constants: &[f64; SIZES.len()]) -> f64 {
        if n == 0.0 {
            return 0.0;
        }
        let terms = self.known_terms(n, sum);
        let mut best = f64::NEG_INFINITY;
        for i in 0..SIZES.len() {
            let log = constants[i] + terms[i] - self.prior[i];
            best = if log > best { log } else { best };
        }
        best
    }

    /// By how much no leaf that holds one of these rows is below the sum of what its rows are worth at most.
    ///
    /// A leaf's log marginal is a sum of those of its rows, each given the ones before, in any order. Each of these is of a mixture of
    /// Poisson distributions, which gives no row more than the most, so the first row's own distance remains.
    pub fn least_below(&self, rows: &[CountSum]) -> f64 {
        let below = |row: &CountSum| row.most - self.log_marginal(row.n, row.sum, &row.constants);
        // Less what sums may round off.
        let least = rows.iter().filter(|row| row.n > 0.0).map(below).fold(f64::INFINITY, f64::min) - 1e-9;
        if least.is_finite() { least.max(0.0) } else { 0.0 }
    }

    /// What a new row of a leaf with these rows is predicted with.
    pub fn fit(&self, of: &CountSum) -> Counts {
        let (best, _) = self.best(of.n, of.sum, &of.constants);
        let size = SIZES[best];
        let a = size.map_or(1.0 / self.mean + of.n, |r| self.first(r, of.n));
        Counts { size, a, b: 1.0 + of.sum, gap: self.gap, shift: self.shift, scale: self.scale }
    }

    /// The slope of a leaf's score in the numbers of its statistic: rows, counts, constants.
    pub fn slope(&self, of: &CountSum) -> Vec<f64> {
        let (best, _) = self.best(of.n, of.sum, &of.constants);
        // The derivative of ln Gamma, near enough for an order.
        let digamma = |x: f64| (x - 0.5).ln();
        let mut slope = vec![0.0; COUNT_SUMS];
        slope[2 + best] = 1.0;
        let b = 1.0 + of.sum;
        match SIZES[best] {
            None => {
                let rate = 1.0 / self.mean + of.n;
                (slope[0], slope[1]) = (-b / rate, digamma(b) - rate.ln());
            }
            Some(r) => {
                let a = self.first(r, of.n);
                (slope[0], slope[1]) = (r * (digamma(a) - digamma(a + b)), digamma(b) - digamma(a + b));
            }
        }
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(mean: f64, gap: Option<f64>) -> CountLeaf {
        CountLeaf::new(mean, gap, [3.0, 2.0], 10)
    }

    fn observed(leaf: &CountLeaf, counts: &[f64]) -> CountSum {
        let mut of = leaf.empty();
        for &count in counts {
            let row = leaf.row(count, 1.0);
            of.n += row.n;
            of.sum += row.sum;
            of.most += row.most;
            of.constants.iter_mut().zip(row.constants).for_each(|(sum, own)| *sum += own);
        }
        of
    }

    /// The log marginal of one size.
    fn marginal(leaf: &CountLeaf, size: usize, of: &CountSum) -> f64 {
        let mut only = [f64::NEG_INFINITY; SIZES.len()];
        only[size] = of.constants[size];
        if of.n == 0.0 { 0.0 } else { leaf.best(of.n, of.sum, &only).1 }
    }

    #[test]
    fn a_marginal_is_the_product_of_its_predictives() {
        for (leaf, counts) in [
            (leaf(2.5, None), vec![0.0, 3.0, 3.0, 11.0, 1.0]),
            (leaf(0.2, Some(0.0)), vec![1.0, 1.0, 40.0]),
            (leaf(300.0, Some(2.0)), vec![280.0, 1.0, 3.0, 500.0, 312.0, 300.0]),
        ] {
            for (i, size) in SIZES.into_iter().enumerate() {
                let mut by_steps = 0.0;
                for rows in 0..counts.len() {
                    let of = observed(&leaf, &counts[..rows]);
                    let (a, b) = (size.map_or(1.0 / leaf.mean + of.n, |r| leaf.first(r, of.n)), 1.0 + of.sum);
                    let next = Counts { size, a, b, gap: leaf.gap, shift: leaf.shift, scale: leaf.scale };
                    by_steps += next.log_density((counts[rows] - leaf.shift) / leaf.scale);
                }
                let at_once = marginal(&leaf, i, &observed(&leaf, &counts));
                assert!((at_once - by_steps).abs() < 1e-9 * at_once.abs().max(1.0), "{size:?} {at_once} {by_steps}");
            }
        }
    }

    #[test]
    fn marginals_are_integrals_over_the_prior() {
        // Of 0, 3 and 1 with a prior mean of 2, by scipy.integrate.quad.
        let leaf = CountLeaf::new(2.0, None, [0.0, 1.0], 3);
        let of = observed(&leaf, &[0.0, 3.0, 1.0]);
        let want = [-5.570_667_661_917, -5.489_970_250_771, -6.628_470_718_890];
        for (i, want) in [0, 3, 5].into_iter().zip(want) {
            assert!((marginal(&leaf, i, &of) - want).abs() < 1e-9, "{} {want}", marginal(&leaf, i, &of));
        }
    }

    #[test]
    fn the_largest_size_is_nearly_poisson_and_its_mean_is_that_of_all() {
        let leaf = leaf(2.0, None);
        let of = observed(&leaf, &[2.0, 1.0, 3.0]);
        assert!((marginal(&leaf, 0, &of) - marginal(&leaf, 1, &of)).abs() < 0.05);
        for (i, &size) in SIZES.iter().enumerate() {
            let mut only = CountSum { constants: [f64::NEG_INFINITY; SIZES.len()], ..of };
            only.constants[i] = of.constants[i];
            let fit = leaf.fit(&only);
            assert_eq!(fit.size, size);
            assert!((fit.mean_count().unwrap() - 7.0 / 3.5).abs() < 1e-12);
        }
    }

    #[test]
    fn spread_counts_choose_a_size_and_even_ones_none() {
        let leaf = leaf(5.0, None);
        assert_eq!(leaf.fit(&observed(&leaf, &[5.0; 10])).size, None);
        assert_eq!(leaf.fit(&observed(&leaf, &[0.0, 0.0, 0.0, 1.0, 37.0, 0.0, 2.0])).size, Some(0.25));
    }

    #[test]
    fn no_division_is_worth_more_than_the_bound() {
        let leaf = leaf(4.0, None);
        let counts = [0.0, 1.0, 9.0, 9.0, 4.0];
        let of = observed(&leaf, &counts);
        let apart: f64 =
            counts.iter().map(|&y| observed(&leaf, &[y])).map(|of| leaf.best(of.n, of.sum, &of.constants).1).sum();
        assert!(apart < of.most && leaf.best(of.n, of.sum, &of.constants).1 < of.most);
    }
}
