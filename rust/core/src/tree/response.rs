//! What the tree search needs to know of a response: sums over rows, a leaf's score, and a bound on every way to split.
//!
//! The formulas are those of [`crate::leaf`], arranged for the search: everything that a count decides is tabulated, so
//! that a leaf of numbers costs one logarithm and a leaf of levels none.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use super::ln::ln;
use crate::leaf::{Categorical, Moments, Normal, Ordinal};

/// Rows with one combination of predictor bins and levels.
#[derive(Clone, Debug)]
pub struct Point<S> {
    /// Row key.
    pub key: u64,
    /// Statistic of their responses.
    pub sum: S,
}

/// A part of a cell, as one leaf and as more than one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worth {
    /// `ln gamma` plus the log marginal of one leaf.
    pub leaf: f64,
    /// An upper bound over every partition into at least two leaves.
    pub split: f64,
}

/// How many halvings are tried at once.
pub const LANES: usize = 4;

/// One kind of response.
pub trait Response {
    /// What one row holds.
    type Value: Copy;

    /// An additive statistic of some rows.
    type Sum: Clone;

    /// Of no rows.
    fn zero(&self) -> Self::Sum;

    /// Whether there are no rows.
    fn is_empty(&self, sum: &Self::Sum) -> bool;

    /// Of one row.
    fn observe(&self, sum: &mut Self::Sum, value: Self::Value);

    /// Adds another statistic.
    fn add(&self, sum: &mut Self::Sum, other: &Self::Sum);

    /// Takes away a part.
    fn subtract(&self, sum: &mut Self::Sum, part: &Self::Sum);

    /// To be called with the structure prior's `ln gamma` before `worth`.
    fn prepare(&mut self, log_gamma: f64);

    /// What some rows are worth.
    fn worth(&self, sum: &Self::Sum) -> Worth;

    /// Both sides of up to `LANES` halvings of the same points: what has the bit, `2^bits[i]`, goes right. `total` is the
    /// sum over all points.
    fn halves(
        &self,
        points: &[Point<Self::Sum>],
        total: &Self::Sum,
        bits: &[u32],
        out: &mut [Halves<Self::Sum>; LANES],
    );

    /// As many as can be tried at once, ready to be written to.
    fn no_halves(&self) -> [Halves<Self::Sum>; LANES] {
        std::array::from_fn(|_| Halves { sums: [self.zero(), self.zero()], n_right: 0, worth: [Worth::default(); 2] })
    }
}

/// Both sides of a halving.
#[derive(Clone, Debug)]
pub struct Halves<S> {
    /// Left, right.
    pub sums: [S; 2],
    /// Points on the right.
    pub n_right: usize,
    /// Of either side.
    pub worth: [Worth; 2],
}

/// Numbers.
pub struct Numbers {
    by_count: Vec<CountTerms>,
    /// Prior weight, `nu lam`, and the distance of the sums' centre from the prior mean.
    a: f64,
    nu_lam: f64,
    offset: f64,
    published: bool,
    log_gamma: f64,
    /// By count and bucket of the sum of squares.
    split_bounds: Vec<f64>,
    known_bounds: FxHashMap<u64, Vec<f64>>,
}

/// Sums over some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NumberSum {
    n: u64,
    sum: f64,
    squares: f64,
}

impl From<&NumberSum> for Moments {
    fn from(of: &NumberSum) -> Self {
        Self { n: of.n, sum: of.sum, squares: of.squares }
    }
}

#[derive(Clone, Copy)]
struct CountTerms {
    constant: f64,
    half_df: f64,
    /// `1 / (n + a)`.
    inverse: f64,
}

/// Beyond this count the bound is hardly ever below a leaf's score.
const BOUNDED: usize = 40;

impl Numbers {
    /// Up to `n_rows` rows.
    pub fn new(leaf: &Normal, n_rows: usize) -> Self {
        let terms = |n: usize| CountTerms {
            // A leaf without rows is worth nothing.
            constant: if n == 0 { 0.0 } else { leaf.count_term(n as u64) },
            half_df: if n == 0 { 0.0 } else { 0.5 * (n as f64 + leaf.nu()) },
            inverse: 1.0 / (n as f64 + leaf.a()),
        };
        Self {
            by_count: (0..=n_rows).map(terms).collect(),
            a: leaf.a(),
            nu_lam: leaf.nu() * leaf.lam(),
            offset: leaf.centre() - leaf.mean(),
            published: leaf.is_published(),
            log_gamma: f64::NAN,
            split_bounds: Vec::new(),
            known_bounds: FxHashMap::default(),
        }
    }

    /// What several groups of rows are worth.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn worths<const L: usize>(&self, sums: &[NumberSum; L]) -> [Worth; L] {
        // Plain loops over arrays: closures would not be compiled for the wider registers of the caller.
        let (mut constant, mut half_df, mut spread) = ([0.0; L], [0.0; L], [0.0; L]);
        let mut worths = [Worth::default(); L];
        for i in 0..L {
            let NumberSum { n: count, sum, squares } = sums[i];
            let terms = &self.by_count[count as usize];
            (constant[i], half_df[i]) = (terms.constant, terms.half_df);
            let n = f64::from(count as u32);
            // The squares about the prior mean; less what the leaf's own mean explains, they are s + t.
            let distance = self.offset * (2.0 * sum + n * self.offset);
            spread[i] = squares + (self.a * distance - sum * sum) * terms.inverse;
            if self.published {
                spread[i] -= (squares - sum * sum / n.max(1.0)).max(0.0) / n.max(1.0);
            }
            worths[i].split = self.split_bound(count as usize, squares + distance);
        }
        for i in 0..L {
            let leaf = constant[i] - half_df[i] * ln(self.nu_lam + spread[i].max(0.0));
            worths[i].leaf = self.log_gamma + leaf;
        }
        worths
    }

    /// A leaf's spread is at least `nu lam + a q / (n + a)`, where q is the sum of squares about the prior mean. The q of
    /// all leaves add up to that of the cell, and minus the logarithm of the spread is convex in q: no partition beats
    /// the best one that has all squares in one leaf and none in the others.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn split_bound(&self, n: usize, squares: f64) -> f64 {
        let at = n * BUCKETS + Self::bucket(squares);
        self.split_bounds.get(at).copied().unwrap_or(f64::INFINITY)
    }

    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn halves_in_lanes(
        &self,
        points: &[Point<NumberSum>],
        total: &NumberSum,
        bits: &[u32],
        out: &mut [Halves<NumberSum>; LANES],
    ) {
        // Fields beyond the given ones put everything on the left.
        let mut shifts = [0_u64; LANES];
        for (shift, bit) in shifts.iter_mut().zip(bits) {
            *shift = 63 - u64::from(*bit);
        }
        let (mut points_right, mut n) = ([0_u64; LANES], [0_u64; LANES]);
        let (mut sum, mut squares) = ([0.0; LANES], [0.0; LANES]);
        for point in points {
            for i in 0..LANES {
                let mask = ((point.key << shifts[i]) as i64 >> 63) as u64;
                points_right[i] = points_right[i].wrapping_sub(mask);
                n[i] += point.sum.n & mask;
                sum[i] += f64::from_bits(point.sum.sum.to_bits() & mask);
                squares[i] += f64::from_bits(point.sum.squares.to_bits() & mask);
            }
        }
        let mut sums = [NumberSum::default(); 2 * LANES];
        for i in 0..LANES {
            sums[i] = NumberSum { n: total.n - n[i], sum: total.sum - sum[i], squares: total.squares - squares[i] };
            sums[LANES + i] = NumberSum { n: n[i], sum: sum[i], squares: squares[i] };
        }
        let worths = self.worths(&sums);
        for i in 0..LANES {
            out[i].sums = [sums[i], sums[LANES + i]];
            out[i].n_right = points_right[i] as usize;
            out[i].worth = [worths[i], worths[LANES + i]];
        }
    }

    /// The same with wider registers; every operation rounds as before, so the results are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn halves_in_wide_lanes(
        &self,
        points: &[Point<NumberSum>],
        total: &NumberSum,
        bits: &[u32],
        out: &mut [Halves<NumberSum>; LANES],
    ) {
        self.halves_in_lanes(points, total, bits, out);
    }
}

impl Response for Numbers {
    type Value = f64;
    type Sum = NumberSum;

    fn zero(&self) -> NumberSum {
        NumberSum::default()
    }

    #[inline]
    fn is_empty(&self, sum: &NumberSum) -> bool {
        sum.n == 0
    }

    /// A number, its centre already subtracted.
    #[inline]
    fn observe(&self, sum: &mut NumberSum, value: f64) {
        self.add(sum, &NumberSum { n: 1, sum: value, squares: value * value });
    }

    #[inline]
    fn add(&self, sum: &mut NumberSum, other: &NumberSum) {
        sum.n += other.n;
        sum.sum += other.sum;
        sum.squares += other.squares;
    }

    #[inline]
    fn subtract(&self, sum: &mut NumberSum, part: &NumberSum) {
        sum.n -= part.n;
        sum.sum -= part.sum;
        sum.squares -= part.squares;
    }

    #[inline]
    fn worth(&self, sum: &NumberSum) -> Worth {
        self.worths(&[*sum])[0]
    }

    fn halves(
        &self,
        points: &[Point<NumberSum>],
        total: &NumberSum,
        bits: &[u32],
        out: &mut [Halves<NumberSum>; LANES],
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has it.
            return unsafe { self.halves_in_wide_lanes(points, total, bits, out) };
        }
        self.halves_in_lanes(points, total, bits, out);
    }

    fn prepare(&mut self, log_gamma: f64) {
        if log_gamma == self.log_gamma {
            return;
        }
        // Parent sets of the same kinds have the same gamma, and there are few combinations of kinds.
        let before = std::mem::take(&mut self.split_bounds);
        self.known_bounds.insert(self.log_gamma.to_bits(), before);
        self.log_gamma = log_gamma;
        if let Some(known) = self.known_bounds.remove(&log_gamma.to_bits()) {
            self.split_bounds = known;
            return;
        }
        // The authors' spread is smaller by s / n; it keeps to the bound for up to two prior observations.
        let bounded = if self.published && self.a > 2.0 { 0 } else { BOUNDED };
        let top = bounded.min(self.by_count.len() - 1);
        let leaf = |n: usize, squares: f64| {
            let terms = &self.by_count[n];
            log_gamma + terms.constant - terms.half_df * ln(self.nu_lam + self.a * squares * terms.inverse)
        };
        // The best that any number of leaves can do without spread.
        let mut tight = vec![0.0_f64; top + 1];
        for n in 1..=top {
            tight[n] = (1..n).map(|part| leaf(part, 0.0) + tight[n - part]).fold(leaf(n, 0.0), f64::max);
        }
        self.split_bounds.resize((top + 1) * BUCKETS, f64::NEG_INFINITY);
        for n in 2..=top {
            for bucket in 0..BUCKETS {
                let squares = Self::least(bucket);
                let all_in = |part: usize| leaf(part, squares) + tight[n - part];
                self.split_bounds[n * BUCKETS + bucket] = (1..n).map(all_in).fold(f64::NEG_INFINITY, f64::max);
            }
        }
    }
}

/// Buckets of sums of squares: four an octave from `2^-4` on, and one for less.
const BUCKETS: usize = 64;
const FIRST: u64 = (1023 - 4) << 2;

impl Numbers {
    #[inline]
    fn bucket(squares: f64) -> usize {
        // Also for numbers that rounding has put below zero.
        let octave_quarters = squares.max(0.0).to_bits() >> 50;
        (octave_quarters.saturating_sub(FIRST) as usize).min(BUCKETS - 1)
    }

    /// The lower end of a bucket.
    fn least(bucket: usize) -> f64 {
        if bucket == 0 { 0.0 } else { f64::from_bits((FIRST + bucket as u64) << 50) }
    }
}

/// Levels, ordered or not; `C` stores their counts.
pub struct Levels<C, L> {
    leaf: L,
    k: usize,
    pure: Categorical,
    bounded: bool,
    log_gamma: f64,
    store: PhantomData<C>,
}

/// Room for the counts of a known number of levels.
pub trait Store: Clone {
    /// All zero.
    fn zeros(n_levels: usize) -> Self;
    /// At least as many as there are levels; further ones stay zero.
    fn counts(&self) -> &[u32];
    /// To change.
    fn counts_mut(&mut self) -> &mut [u32];
}

impl<const K: usize> Store for [u32; K] {
    fn zeros(n_levels: usize) -> Self {
        debug_assert!(n_levels <= K);
        [0; K]
    }

    #[inline]
    fn counts(&self) -> &[u32] {
        self
    }

    #[inline]
    fn counts_mut(&mut self) -> &mut [u32] {
        self
    }
}

impl Store for Vec<u32> {
    fn zeros(n_levels: usize) -> Self {
        vec![0; n_levels]
    }

    fn counts(&self) -> &[u32] {
        self
    }

    fn counts_mut(&mut self) -> &mut [u32] {
        self
    }
}

/// A leaf of levels, by its counts.
pub trait LevelsLeaf {
    /// Log marginal of these counts; zeros beyond the declared levels change nothing.
    fn of_counts(&self, counts: &[u32]) -> f64;
}

impl LevelsLeaf for Categorical {
    #[inline]
    fn of_counts(&self, counts: &[u32]) -> f64 {
        self.log_marginal_of(counts)
    }
}

impl LevelsLeaf for Ordinal {
    fn of_counts(&self, counts: &[u32]) -> f64 {
        self.log_marginal_of(&counts[..self.n_levels()])
    }
}

impl<C: Store, L: LevelsLeaf> Levels<C, L> {
    /// `pure` scores leaves whose responses are all equal, which bounds every other leaf; `bounded` says whether it does.
    pub fn new(leaf: L, pure: Categorical, bounded: bool) -> Self {
        Self { leaf, k: pure.n_levels(), pure, bounded, log_gamma: f64::NAN, store: PhantomData }
    }
}

impl<C: Store, L: LevelsLeaf> Response for Levels<C, L> {
    type Value = u32;
    type Sum = C;

    fn zero(&self) -> C {
        C::zeros(self.k)
    }

    #[inline]
    fn is_empty(&self, sum: &C) -> bool {
        sum.counts().iter().all(|&n| n == 0)
    }

    #[inline]
    fn observe(&self, sum: &mut C, value: u32) {
        sum.counts_mut()[value as usize] += 1;
    }

    #[inline]
    fn add(&self, sum: &mut C, other: &C) {
        for (n, m) in sum.counts_mut().iter_mut().zip(other.counts()) {
            *n += m;
        }
    }

    #[inline]
    fn subtract(&self, sum: &mut C, part: &C) {
        for (n, m) in sum.counts_mut().iter_mut().zip(part.counts()) {
            *n -= m;
        }
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
    }

    /// Every leaf is at most what its levels would be worth in leaves of their own, whatever those cost beyond two.
    #[inline]
    fn worth(&self, sum: &C) -> Worth {
        let counts = sum.counts();
        let leaf = self.log_gamma + self.leaf.of_counts(counts);
        if !self.bounded {
            return Worth { leaf, split: f64::INFINITY };
        }
        let (mut observed, mut pure) = (0, 0.0);
        for &n in counts {
            observed += usize::from(n > 0);
            pure += self.pure.log_pure(u64::from(n));
        }
        Worth { leaf, split: if observed < 2 { f64::NEG_INFINITY } else { 2.0 * self.log_gamma + pure } }
    }

    fn halves(&self, points: &[Point<C>], total: &C, bits: &[u32], out: &mut [Halves<C>; LANES]) {
        for (&bit, half) in bits.iter().zip(out) {
            let mut right = self.zero();
            half.n_right = 0;
            for point in points {
                let goes_right = point.key >> bit & 1;
                half.n_right += goes_right as usize;
                let mask = (goes_right as u32).wrapping_neg();
                for (n, m) in right.counts_mut().iter_mut().zip(point.sum.counts()) {
                    *n += m & mask;
                }
            }
            half.sums[0].clone_from(total);
            self.subtract(&mut half.sums[0], &right);
            half.sums[1] = right;
            half.worth = [self.worth(&half.sums[0]), self.worth(&half.sums[1])];
        }
    }
}

#[cfg(test)]
mod tests;
