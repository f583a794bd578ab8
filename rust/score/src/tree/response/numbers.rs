//! Responses that are numbers: sums, squares, and a bound from how far they lie from the prior mean.

use rustc_hash::FxHashMap;

use super::halves::masked;
use super::tally::Tally;
use super::{Half, Halves, LANES, Point, Response, Worth};
use crate::leaf::{Moments, Normal};
use crate::tree::lattice::Columns;
use crate::tree::ln::ln;

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
    pub(super) n: u64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl From<&NumberSum> for Moments {
    fn from(of: &NumberSum) -> Self {
        Self { n: of.n, sum: of.sum, squares: of.squares }
    }
}

/// `constant - half_df ln(nu_lam + spread)` is the log marginal of some rows; the leaf's centre is `intercept` from that of
/// the sums, and `about` the squares about the prior mean.
pub(super) struct Parts {
    pub constant: f64,
    pub half_df: f64,
    /// `1 / (n + a)`.
    pub inverse: f64,
    pub intercept: f64,
    pub about: f64,
    pub spread: f64,
    pub nu_lam: f64,
}

#[derive(Clone, Copy)]
struct CountTerms {
    constant: f64,
    half_df: f64,
    /// `1 / (n + a)`.
    inverse: f64,
}

/// Steps of a cell of a lattice: three sums and a logarithm, eight at once.
pub const NUMBER_STEPS: u64 = 9;

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

    /// What a leaf's score is made of.
    #[inline]
    pub(super) fn parts(&self, of: &NumberSum) -> Parts {
        let terms = &self.by_count[of.n as usize];
        let distance = self.offset * (2.0 * of.sum + counted(of.n) * self.offset);
        let explained = (of.sum * of.sum - self.a * distance) * terms.inverse;
        Parts {
            constant: terms.constant,
            half_df: terms.half_df,
            inverse: terms.inverse,
            intercept: (of.sum - self.a * self.offset) * terms.inverse,
            about: of.squares + distance,
            spread: of.squares - explained,
            nu_lam: self.nu_lam,
        }
    }

    /// What each leaf costs.
    pub(super) fn log_gamma(&self) -> f64 {
        self.log_gamma
    }

    /// Whether there is a bound on the ways to split so many rows.
    #[inline]
    pub(super) fn is_bounded(&self, n: usize) -> bool {
        (n + 1) * BUCKETS <= self.split_bounds.len()
    }

    /// The slope of a leaf's score in its count, sum and sum of squares.
    pub(super) fn slope_of(&self, of: &NumberSum) -> [f64; 3] {
        let n = of.n as usize;
        let of_constant = self.constant_slope(n);
        let weight = 1.0 / (of.n as f64 + self.a);
        let distance = self.offset * (2.0 * of.sum + of.n as f64 * self.offset);
        let explained = self.a * distance - of.sum * of.sum;
        let spread = self.nu_lam + (of.squares + explained * weight).max(0.0);
        let half_df = self.by_count[n].half_df;
        let of_count = self.a * self.offset * self.offset * weight - explained * weight * weight;
        let of_sum = 2.0 * (self.a * self.offset - of.sum) * weight;
        [of_constant - 0.5 * spread.ln() - half_df * of_count / spread, -half_df * of_sum / spread, -half_df / spread]
    }

    /// The slope in the count of what the count alone decides.
    pub(super) fn constant_slope(&self, n: usize) -> f64 {
        let (below, above) = (n.saturating_sub(1), (n + 1).min(self.by_count.len() - 1));
        let constant = |n: usize| self.by_count[n].constant;
        if above > below { (constant(above) - constant(below)) / (above - below) as f64 } else { 0.0 }
    }

    /// What several groups of rows are worth: as leaves, and the bounds on every way to split them.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn worths<const L: usize>(&self, n: &[u64; L], sum: &[f64; L], squares: &[f64; L]) -> ([f64; L], [f64; L]) {
        let (leaves, about) = self.as_leaves(n, sum, squares);
        let mut splits = [0.0; L];
        for i in 0..L {
            splits[i] = self.split_bound(n[i] as usize, about[i]);
        }
        (leaves, splits)
    }

    /// What several groups of rows are worth as leaves, and their squares about the prior mean.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn as_leaves<const L: usize>(&self, n: &[u64; L], sum: &[f64; L], squares: &[f64; L]) -> ([f64; L], [f64; L]) {
        // Plain loops over arrays: closures would not be compiled for the wider registers of the caller.
        let (mut constant, mut half_df, mut inverse) = ([0.0; L], [0.0; L], [0.0; L]);
        for i in 0..L {
            let terms = &self.by_count[n[i] as usize];
            (constant[i], half_df[i], inverse[i]) = (terms.constant, terms.half_df, terms.inverse);
        }
        let (mut about, mut spread) = ([0.0; L], [0.0; L]);
        for i in 0..L {
            // The squares about the prior mean; less what the leaf's own mean explains, they are s + t.
            let distance = self.offset * (2.0 * sum[i] + counted(n[i]) * self.offset);
            about[i] = squares[i] + distance;
            spread[i] = squares[i] + (self.a * distance - sum[i] * sum[i]) * inverse[i];
        }
        if self.published {
            for i in 0..L {
                let n = counted(n[i]).max(1.0);
                spread[i] -= (squares[i] - sum[i] * sum[i] / n).max(0.0) / n;
            }
        }
        let mut leaves = [0.0; L];
        for i in 0..L {
            leaves[i] = self.log_gamma + (constant[i] - half_df[i] * ln(self.nu_lam + spread[i].max(0.0)));
        }
        (leaves, about)
    }

    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn leaves_of(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        const AT_ONCE: usize = 8;
        let to = from + leaves.len();
        let counts = &columns.counts[from..to];
        let sums = &columns.numbers[from..to];
        let all_squares = &columns.numbers[columns.cells + from..columns.cells + to];
        let mut start = 0;
        while start < leaves.len() {
            let len = (leaves.len() - start).min(AT_ONCE);
            let (mut n, mut sum, mut squares) = ([0; AT_ONCE], [0.0; AT_ONCE], [0.0; AT_ONCE]);
            for i in 0..len {
                n[i] = u64::from(counts[start + i]);
                sum[i] = sums[start + i];
                squares[i] = all_squares[start + i];
            }
            let (worth, _) = self.as_leaves(&n, &sum, &squares);
            leaves[start..start + len].copy_from_slice(&worth[..len]);
            start += len;
        }
    }

    /// With wider registers, as below.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn leaves_in_wide_registers(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        self.leaves_of(columns, from, leaves);
    }

    /// A leaf's spread is at least `nu lam + a q / (n + a)`, where q is the sum of squares about the prior mean. The q of
    /// all leaves add up to that of the cell, and minus the logarithm of the spread is convex in q: no partition beats
    /// the best one that has all squares in one leaf and none in the others.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    pub(super) fn split_bound(&self, n: usize, squares: f64) -> f64 {
        let at = n * BUCKETS + Self::bucket(squares);
        self.split_bounds.get(at).copied().unwrap_or(f64::INFINITY)
    }

    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn finished(&self, total: &NumberSum, right: &Tally) -> NumberHalves {
        let (mut n, mut sum, mut squares) = ([0; 2 * LANES], [0.0; 2 * LANES], [0.0; 2 * LANES]);
        n[LANES..].copy_from_slice(&right.n);
        sum[LANES..].copy_from_slice(&right.sum);
        squares[LANES..].copy_from_slice(&right.squares);
        for i in 0..LANES {
            n[i] = total.n - right.n[i];
            sum[i] = total.sum - right.sum[i];
            squares[i] = total.squares - right.squares[i];
        }
        let (leaves, splits) = self.worths(&n, &sum, &squares);
        NumberHalves { points: right.points, keys: right.keys, n, sum, squares, leaves, splits }
    }

    /// With wider registers; every operation rounds as without, so the results are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn halves_in_wide_registers(
        &self,
        points: &[Point<NumberSum>],
        total: &NumberSum,
        bits: [u64; LANES],
    ) -> NumberHalves {
        self.finished(total, &Tally::in_wide_registers(points, bits))
    }
}

/// A count of rows as a number, without a branch.
#[allow(clippy::inline_always)] // compiled for the registers of its caller
#[inline(always)]
fn counted(n: u64) -> f64 {
    const ONES: f64 = 4_503_599_627_370_496.0;
    f64::from_bits(ONES.to_bits() | n) - ONES
}

/// Halvings of numbers: all left sides, then all right ones.
pub struct NumberHalves {
    points: [u64; LANES],
    keys: [[u64; LANES]; 4],
    n: [u64; 2 * LANES],
    sum: [f64; 2 * LANES],
    squares: [f64; 2 * LANES],
    leaves: [f64; 2 * LANES],
    splits: [f64; 2 * LANES],
}

impl Halves<NumberSum> for NumberHalves {
    #[inline]
    fn n_right(&self, lane: usize) -> usize {
        self.points[lane] as usize
    }

    #[inline]
    fn worth(&self, lane: usize) -> [Worth; 2] {
        [lane, LANES + lane].map(|at| Worth { leaf: self.leaves[at], split: self.splits[at] })
    }

    #[inline]
    fn key(&self, lane: usize, side: usize) -> [u64; 2] {
        [self.keys[side][lane], self.keys[2 + side][lane]]
    }

    #[inline]
    fn half(&self, lane: usize, side: usize) -> Half<NumberSum> {
        let at = side * LANES + lane;
        let sum = NumberSum { n: self.n[at], sum: self.sum[at], squares: self.squares[at] };
        Half { sum, or: self.keys[side][lane], and: self.keys[2 + side][lane] }
    }
}

impl Response for Numbers {
    type Value = f64;
    type Sum = NumberSum;
    const DENSE: bool = true;

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
    fn add_masked(&self, sum: &mut NumberSum, other: &NumberSum, mask: u64) {
        sum.n += other.n & mask;
        sum.sum += masked(other.sum, mask);
        sum.squares += masked(other.squares, mask);
    }

    #[inline]
    fn subtract(&self, sum: &mut NumberSum, part: &NumberSum) {
        sum.n -= part.n;
        sum.sum -= part.sum;
        sum.squares -= part.squares;
    }

    #[inline]
    fn worth(&self, sum: &NumberSum) -> Worth {
        let ([leaf], [split]) = self.worths(&[sum.n], &[sum.sum], &[sum.squares]);
        Worth { leaf, split }
    }

    fn columns(&self) -> [usize; 2] {
        [1, 2]
    }

    fn cell_steps(&self) -> u64 {
        NUMBER_STEPS
    }

    fn put(&self, sum: &NumberSum, counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        counts[0] = sum.n as u32;
        numbers[0] = sum.sum;
        numbers[apart] = sum.squares;
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked.
            #[allow(unsafe_code)]
            return unsafe { self.leaves_in_wide_registers(columns, from, leaves) };
        }
        self.leaves_of(columns, from, leaves);
    }

    type Halves = NumberHalves;

    #[inline]
    fn halves(&self, points: &[Point<NumberSum>], total: &NumberSum, bits: &[u32]) -> NumberHalves {
        // What stands in lanes beyond the given ones has no meaning.
        let mut of_right = [0_u64; LANES];
        for (bit, at) in of_right.iter_mut().zip(bits) {
            *bit = 1 << at;
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked.
            #[allow(unsafe_code)]
            return unsafe { self.halves_in_wide_registers(points, total, of_right) };
        }
        self.finished(total, &Tally::of(points, of_right))
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
        // By the number of rows and the squares of the leaf that has them all.
        let all_in: Vec<f64> = (1..=top)
            .flat_map(|part| (0..BUCKETS).map(move |b| (part, b)))
            .map(|(n, b)| leaf(n, Self::least(b)))
            .collect();
        self.split_bounds.resize((top + 1) * BUCKETS, f64::NEG_INFINITY);
        for n in 2..=top {
            for part in 1..n {
                for bucket in 0..BUCKETS {
                    let bound = &mut self.split_bounds[n * BUCKETS + bucket];
                    *bound = bound.max(all_in[(part - 1) * BUCKETS + bucket] + tight[n - part]);
                }
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
