//! Whole numbers from 0 up: what a leaf of counts predicts.
//!
//! A negative binomial distribution whose rate is a gamma variable, or, with a size, whose probability is a beta variable: the
//! posterior predictives of Poisson counts and of negative binomial ones. Counts are stored as all numbers of a column are, so a
//! distribution knows the way back to them; its density is the probability of a count over the length of 1.
//!
//! Where a number has a probability of its own, the counts are those of the others: the numbers above it move down by one, so
//! that no probability is left over for it.

use libm::lgamma;
use serde::{Deserialize, Serialize};

/// Counts, stored as standardised numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Of a negative binomial distribution its size: the variance is `mean + mean^2 / size`. None for Poisson counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Of Poisson counts the rate of their gamma variable; with a size the first parameter of the beta variable.
    pub a: f64,
    /// The gamma variable's shape, or the second parameter of the beta variable.
    pub b: f64,
    /// A number that has a probability of its own and is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// `count = shift + scale * stored`.
    pub shift: f64,
    /// As `shift`.
    pub scale: f64,
}

/// The largest count that a column may hold: sums over all counts up to it take milliseconds.
pub const MOST_COUNTED: f64 = 1e6;
/// What rounding may move a count by.
const SLACK: f64 = 1e-6;
/// Beyond so many counts above the mode a tail is taken as a power of the count.
const WALK: f64 = 262_144.0;
/// No count is beyond it: all whole numbers up to it are floats.
const MOST: f64 = 1e15;
/// Probabilities less than this part of the mode's are left out below it.
const NOTHING: f64 = 1e-40;
/// Sums no longer change by what is less than this part of them.
const SETTLED: f64 = 1e-17;

/// The whole number, from 0 up, that a number of a column is, if it is one up to rounding.
pub fn count_of(x: f64) -> Option<f64> {
    let whole = x.round();
    ((x - whole).abs() <= SLACK && (0.0..=MOST).contains(&whole)).then_some(whole + 0.0)
}

impl Counts {
    /// Log density of a stored number; negative infinity for what is no count.
    pub fn log_density(&self, x: f64) -> f64 {
        match count_of(self.to_count(x)) {
            Some(y) if self.gap != Some(y) => self.ln_probability(self.place(y)) + self.scale.ln(),
            _ => f64::NEG_INFINITY,
        }
    }

    /// The probability of a stored number or less.
    pub fn cdf(&self, x: f64) -> f64 {
        self.up_to((self.to_count(x) + SLACK).floor())
    }

    /// The probability of less than a stored number.
    pub fn below(&self, x: f64) -> f64 {
        self.up_to((self.to_count(x) - SLACK).ceil() - 1.0)
    }

    /// The smallest stored count at which the probability of it or less reaches `p`.
    pub fn quantile(&self, p: f64) -> f64 {
        if p.is_nan() {
            return f64::NAN;
        }
        self.to_stored(self.count_at(self.place_at(p)))
    }

    /// The stored whole number nearest to a number.
    pub fn nearest(&self, x: f64) -> f64 {
        self.to_stored(self.to_count(x).round() + 0.0)
    }

    /// Half of the distance to the next count, in stored units.
    pub fn half_step(&self) -> f64 {
        0.5 / self.scale
    }

    /// The most probable stored count, the lowest under ties.
    pub fn mode(&self) -> f64 {
        self.to_stored(self.count_at(self.top()))
    }

    /// The mean in stored units, if there is one.
    pub fn mean(&self) -> Option<f64> {
        Some(self.to_stored(self.mean_count()?))
    }

    /// The standard deviation in stored units, if there is one.
    pub fn sd(&self) -> Option<f64> {
        let mean = self.mean_place()?;
        let variance = match self.size {
            None => mean * (1.0 + 1.0 / self.a),
            Some(r) if self.a > 2.0 => {
                mean * (r + self.a - 1.0) * (self.a + self.b - 1.0) / ((self.a - 2.0) * (self.a - 1.0))
            }
            Some(_) => return None,
        };
        let Some(gap) = self.gap.filter(|gap| *gap > 0.0) else { return Some(variance.sqrt() / self.scale) };
        // What lies above the gap is one more than its place: twice their covariance, and the variance of that.
        let (mut below, mut sum) = (0.0, 0.0);
        self.walk(|place, probability, _| {
            if place < gap {
                (below, sum) = (below + probability, sum + place * probability);
            }
            place + 1.0 >= gap
        });
        let covariance = mean - sum - mean * (1.0 - below);
        Some((variance + 2.0 * covariance + below * (1.0 - below)).sqrt() / self.scale)
    }

    /// The mean as a count.
    pub fn mean_count(&self) -> Option<f64> {
        Some(self.mean_place()? + self.gap.map_or(0.0, |gap| 1.0 - self.up_to_place(gap - 1.0)))
    }

    /// The standard deviation of counts with the leaf's own rate, which there always is.
    pub fn spread_count(&self) -> f64 {
        let mean = self.mean_place().unwrap_or(self.b);
        (mean + self.size.map_or(0.0, |size| mean * mean / size)).sqrt()
    }

    /// Whether its parts are in order.
    pub fn is_sound(&self) -> bool {
        let positive = |x: f64| (1e-15..=1e15).contains(&x);
        positive(self.a)
            && positive(self.b)
            && self.size.is_none_or(|size| positive(size) && self.a > 1.0)
            && self.gap.is_none_or(|gap| gap.fract() == 0.0 && (0.0..=MOST_COUNTED).contains(&gap))
            && self.shift.abs() <= 1e150
            && (1e-150..=1e150).contains(&self.scale)
    }

    fn to_count(self, x: f64) -> f64 {
        self.shift + self.scale * x
    }

    fn to_stored(self, y: f64) -> f64 {
        (y - self.shift) / self.scale
    }

    /// Where a count stands among those that are not left out.
    fn place(&self, y: f64) -> f64 {
        if self.gap.is_some_and(|gap| y > gap) { y - 1.0 } else { y }
    }

    fn count_at(&self, place: f64) -> f64 {
        if self.gap.is_some_and(|gap| place >= gap) { place + 1.0 } else { place }
    }

    /// The probability of a count or less.
    fn up_to(&self, y: f64) -> f64 {
        let past = self.gap.is_some_and(|gap| y >= gap);
        self.up_to_place(if past { y - 1.0 } else { y })
    }

    fn mean_place(&self) -> Option<f64> {
        match self.size {
            None => Some(self.b / self.a),
            Some(r) => (self.a > 1.0).then(|| r * self.b / (self.a - 1.0)),
        }
    }

    fn ln_probability(&self, k: f64) -> f64 {
        let among = |ln_ways: f64| ln_ways - lgamma(k + 1.0);
        match self.size {
            None => among(rising(self.b, k)) - self.b * (1.0 / self.a).ln_1p() - k * self.a.ln_1p(),
            Some(r) => among(rising(r, k)) + rising(self.a, r) + rising(self.b, k) - rising(self.a + self.b, r + k),
        }
    }

    /// The probability of the next count over that of this one.
    fn ratio(&self, k: f64) -> f64 {
        match self.size {
            None => (self.b + k) / ((k + 1.0) * (self.a + 1.0)),
            Some(r) => (r + k) * (self.b + k) / ((k + 1.0) * (self.a + self.b + r + k)),
        }
    }

    /// The place of the mode.
    fn top(&self) -> f64 {
        let last_rise = match self.size {
            None => (self.b - 1.0) / self.a - 1.0,
            Some(r) => (r * self.b - self.a - r - self.b) / (self.a + 1.0),
        };
        last_rise.ceil().clamp(0.0, MOST)
    }

    /// Visits places in ascending order, with the probability of each and of all up to it, from where there is any until asked to
    /// stop or nothing is left: the place after the last, and the sum.
    fn walk(&self, mut stop: impl FnMut(f64, f64, f64) -> bool) -> (f64, f64) {
        let top = self.top();
        let peak = self.ln_probability(top).exp();
        let (mut k, mut probability) = (top, peak);
        while k > 0.0 && probability > NOTHING * peak {
            k -= 1.0;
            probability /= self.ratio(k);
        }
        let mut sum = probability;
        while !stop(k, probability, sum) && k < top + WALK {
            if k > top && probability * k < SETTLED * sum {
                break;
            }
            probability *= self.ratio(k);
            k += 1.0;
            sum += probability;
        }
        (k, sum)
    }

    fn up_to_place(&self, k: f64) -> f64 {
        if k < 0.0 || k.is_nan() {
            return 0.0;
        }
        let mut found = 0.0;
        let (last, sum) = self.walk(|at, _, sum| {
            if at <= k {
                found = sum;
            }
            at >= k
        });
        if k <= last || last < self.top() + WALK {
            return f64::min(found, 1.0);
        }
        1.0 - (1.0 - sum).max(0.0) * (k / last).powf(-self.steepness(last))
    }

    fn place_at(&self, p: f64) -> f64 {
        let (last, sum) = self.walk(|_, _, sum| sum >= p);
        let rest = (1.0 - sum).max(0.0);
        if sum >= p || rest == 0.0 || last < self.top() + WALK {
            return last;
        }
        (last * (rest / (1.0 - p).max(f64::MIN_POSITIVE)).powf(1.0 / self.steepness(last))).round().clamp(last, MOST)
    }

    /// The power of a count with which what is beyond it falls.
    fn steepness(&self, k: f64) -> f64 {
        (-self.ratio(k).ln() / (1.0 / k).ln_1p() - 1.0).max(1e-3)
    }
}

/// `ln Gamma(x + n) - ln Gamma(x)`, without the cancellation of the two for large `x`.
pub fn rising(x: f64, n: f64) -> f64 {
    if n == 0.0 {
        return 0.0;
    }
    if x < 30.0 {
        return lgamma(x + n) - lgamma(x);
    }
    // Stirling's series; the next term is below 1e-15 from 30 on.
    let rest = |x: f64| (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
    (x - 0.5) * (n / x).ln_1p() + n * (x + n).ln() - n + rest(x + n) - rest(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_kind() -> Vec<Counts> {
        let of = |size, a, b, gap| Counts { size, a, b, gap, shift: 3.0, scale: 2.0 };
        vec![
            of(None, 0.4, 1.0, None),
            of(None, 12.5, 41.0, None),
            of(None, 200.0, 1.0, Some(0.0)),
            of(Some(4.0), 9.0, 22.0, None),
            of(Some(0.25), 2.5, 70.0, Some(0.0)),
            of(Some(16.0), 650.0, 1201.0, Some(25.0)),
        ]
    }

    fn probability(of: &Counts, y: f64) -> f64 {
        of.log_density(of.to_stored(y)).exp() / of.scale
    }

    #[test]
    fn probabilities_of_all_counts_sum_to_one() {
        for of in every_kind() {
            let total: f64 = (0..4_000_000).map(|y| probability(&of, f64::from(y))).sum();
            assert!((total - 1.0).abs() < 1e-7, "{of:?} {total}");
        }
    }

    #[test]
    fn they_follow_from_sums_over_the_hidden_rate() {
        // Poisson(3) with a rate of Gamma(41, 12.5), and a negative binomial with p of Beta(9, 22), by scipy's quadrature.
        let [_, poisson, _, sized, ..] = &every_kind()[..] else { panic!("six") };
        assert!((probability(poisson, 3.0) - 0.213_783_9).abs() < 1e-6, "{}", probability(poisson, 3.0));
        assert!((probability(sized, 7.0) - 0.067_456_8).abs() < 1e-6, "{}", probability(sized, 7.0));
    }

    #[test]
    fn its_cdf_is_the_sum_and_its_quantile_the_first_to_reach_it() {
        for of in every_kind() {
            let mut sum = 0.0;
            for y in 0..400 {
                let y = f64::from(y);
                assert!((of.below(of.to_stored(y)) - sum).abs() < 1e-12);
                sum += probability(&of, y);
                let x = of.to_stored(y);
                assert!((of.cdf(x) - sum).abs() < 1e-12 && (of.cdf(x + 0.1) - sum).abs() < 1e-12, "{of:?} {y}");
                if probability(&of, y) > 1e-9 {
                    for p in [sum - 1e-11, sum - 0.99 * probability(&of, y)] {
                        assert_eq!(count_of(of.to_count(of.quantile(p))), Some(y), "{of:?} {p}");
                    }
                }
            }
            assert_eq!((of.cdf(of.to_stored(-0.5)), of.below(of.to_stored(0.0))), (0.0, 0.0));
        }
    }

    #[test]
    fn moments_are_those_of_the_sums() {
        for of in every_kind().into_iter().filter(|of| of.size.is_none_or(|_| of.a > 4.0)) {
            let sums = |f: &dyn Fn(f64) -> f64| {
                (0..400_000).map(|y| f(f64::from(y)) * probability(&of, f64::from(y))).sum::<f64>()
            };
            let mean = sums(&|y| y);
            assert!((of.mean_count().unwrap() / mean - 1.0).abs() < 1e-6, "{of:?} {mean}");
            let sd = sums(&|y| (y - mean).powi(2)).sqrt();
            assert!((of.sd().unwrap() * of.scale / sd - 1.0).abs() < 1e-5, "{of:?} {sd}");
            let best = (0..1000).map(f64::from).fold(0.0, |best, y| {
                if probability(&of, y) > probability(&of, best) * (1.0 + 1e-12) { y } else { best }
            });
            assert_eq!(count_of(of.to_count(of.mode())), Some(best), "{of:?}");
        }
    }

    #[test]
    fn what_is_no_count_is_impossible_and_the_gap_too() {
        let of = Counts { size: None, a: 1.0, b: 3.0, gap: Some(2.0), shift: 0.0, scale: 1.0 };
        for x in [-1.0, 0.5, 2.0, 1e300, f64::INFINITY] {
            assert_eq!(of.log_density(x), f64::NEG_INFINITY, "{x}");
        }
        assert_eq!([of.nearest(3.4), of.nearest(1.9), of.nearest(-7.0)], [3.0, 2.0, -7.0]);
    }

    #[test]
    fn heavy_tails_end_and_stay_in_order() {
        let of = Counts { size: Some(0.25), a: 1.02, b: 90.0, gap: None, shift: 0.0, scale: 1.0 };
        let at = [0.5, 0.99, 0.9999, 1.0 - 1e-9, 1.0].map(|p| of.quantile(p));
        assert!(at.is_sorted() && at[4] <= MOST, "{at:?}");
        let seen = [1e3, 262_200.0, 262_300.0, 1e6, 1e12].map(|x| of.cdf(x));
        assert!(seen.is_sorted() && seen[4] <= 1.0 && seen[3] < 1.0, "{seen:?}");
        assert!((of.cdf(of.quantile(0.9999)) - 0.9999).abs() < 1e-6);
    }

    #[test]
    fn large_counts_keep_their_precision() {
        // Nearly Poisson(1e5): its mode's probability is 1 / sqrt(2 pi 1e5).
        let of = Counts { size: None, a: 1e6, b: 1e11, gap: None, shift: 0.0, scale: 1.0 };
        let want = 1.0 / (2.0 * std::f64::consts::PI * 1e5).sqrt();
        assert!((probability(&of, 1e5) / want - 1.0).abs() < 1e-3, "{}", probability(&of, 1e5));
        assert!((of.cdf(1e5) - 0.5).abs() < 1e-2 && (of.quantile(0.5) - 1e5).abs() < 2.0);
    }

    #[test]
    fn rising_is_continuous_where_the_series_begins() {
        for n in [0.3, 1.0, 7.5, 1e4] {
            let by_series = rising(30.0, n);
            assert!((by_series - (lgamma(30.0 + n) - lgamma(30.0))).abs() < 1e-11 * by_series.abs().max(1.0));
        }
    }
}
