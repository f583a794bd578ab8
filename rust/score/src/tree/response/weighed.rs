//! Responses that are numbers of rows with weights: weighted sums, and a bound from how far they lie from the prior mean.
//!
//! The formulas are those of [`super::Numbers`] with sums of weights where that has counts. Nothing is tabulated but what whole sums
//! share with counts, so a leaf costs two log-gammas more.

use super::halves::{HalvesOf, masked};
use super::{Point, Response, Worth};
use crate::leaf::Normal;
use crate::tree::lattice::Columns;
use crate::tree::ln::ln;

/// Numbers with weights.
pub struct Weighed {
    leaf: Normal,
    nu_lam: f64,
    /// The distance of the sums' centre from the prior mean.
    offset: f64,
    log_gamma: f64,
}

/// Sums over some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeighedSum {
    /// Of weights.
    pub n: f64,
    /// Of weighted distances from the centre.
    pub sum: f64,
    /// Of their weighted squares.
    pub squares: f64,
}

/// Steps of a cell of a lattice: three sums, a logarithm and two log-gammas.
const STEPS: u64 = 60;

impl Weighed {
    /// Of a leaf that is not the authors' program's.
    pub fn new(leaf: &Normal) -> Self {
        debug_assert!(!leaf.is_published());
        let (nu_lam, offset) = (leaf.nu() * leaf.lam(), leaf.centre() - leaf.mean());
        Self { leaf: leaf.clone(), nu_lam, offset, log_gamma: f64::NAN }
    }

    /// `ln gamma`, as it was prepared.
    pub(super) fn log_gamma(&self) -> f64 {
        self.log_gamma
    }

    fn half_df(&self, n: f64) -> f64 {
        0.5 * (n + self.leaf.nu())
    }

    /// The squares about the prior mean, and `nu lam` with the leaf's own spread and shift.
    fn spreads(&self, of: &WeighedSum) -> [f64; 2] {
        let distance = self.offset * (2.0 * of.sum + of.n * self.offset);
        let inverse = 1.0 / (of.n + self.leaf.a());
        let own = of.squares + (self.leaf.a() * distance - of.sum * of.sum) * inverse;
        [of.squares + distance, self.nu_lam + own.max(0.0)]
    }

    fn as_leaf(&self, of: &WeighedSum) -> f64 {
        if of.n == 0.0 {
            return self.log_gamma;
        }
        let [_, spread] = self.spreads(of);
        self.log_gamma + (self.leaf.weight_term(of.n) - self.half_df(of.n) * ln(spread))
    }

    /// As of counts, a leaf's spread is at least `nu lam + a q / (n + a)`, where q is the sum of squares about the prior mean,
    /// and no partition beats one that has all squares in one leaf and none in the others. Here that leaf may be of any
    /// weight m. With the spread's `n` in place of `m`, its score is convex in m, as the score of leaves without spread is in
    /// theirs (log-gammas and minus logarithms are convex, the rest is linear), and so is the sum of both: it is largest at
    /// m = 0 or m = n.
    /// `share` of the squares is what the leaves may not explain: all of them, but for lines.
    pub(super) fn split_bound(&self, of: &WeighedSum, share: f64) -> f64 {
        let [about, _] = self.spreads(of);
        let spread = ln(self.nu_lam + self.leaf.a() * share * about.max(0.0) / (of.n + self.leaf.a()));
        let term = self.leaf.weight_term(of.n);
        let with_all = term - self.half_df(of.n) * spread;
        let apart = term - self.half_df(of.n) * ln(self.nu_lam) + 0.5 * self.leaf.nu() * (ln(self.nu_lam) - spread);
        2.0 * self.log_gamma + with_all.max(apart)
    }

    /// The slope in the weight of what the weight alone decides.
    pub(super) fn constant_slope(&self, n: f64) -> f64 {
        let (below, above) = ((n - 1.0).max(0.0), n + 1.0);
        let constant = |n: f64| if n == 0.0 { 0.0 } else { self.leaf.weight_term(n) };
        (constant(above) - constant(below)) / (above - below)
    }

    /// The slope of a leaf's score in its three sums.
    pub(super) fn slope_of(&self, of: &WeighedSum) -> [f64; 3] {
        let [_, spread] = self.spreads(of);
        let (a, weight) = (self.leaf.a(), 1.0 / (of.n + self.leaf.a()));
        let of_constant = self.constant_slope(of.n);
        let explained = a * self.offset * (2.0 * of.sum + of.n * self.offset) - of.sum * of.sum;
        let half_df = self.half_df(of.n);
        let of_count = a * self.offset * self.offset * weight - explained * weight * weight;
        let of_sum = 2.0 * (a * self.offset - of.sum) * weight;
        [of_constant - 0.5 * spread.ln() - half_df * of_count / spread, -half_df * of_sum / spread, -half_df / spread]
    }
}

impl Response for Weighed {
    /// A number, its centre already subtracted, and its weight.
    type Value = (f64, f64);
    type Sum = WeighedSum;
    const DENSE: bool = true;

    fn zero(&self) -> WeighedSum {
        WeighedSum::default()
    }

    fn is_empty(&self, sum: &WeighedSum) -> bool {
        sum.n == 0.0
    }

    fn observe(&self, sum: &mut WeighedSum, (value, weight): (f64, f64)) {
        self.add(sum, &WeighedSum { n: weight, sum: weight * value, squares: weight * value * value });
    }

    fn add(&self, sum: &mut WeighedSum, other: &WeighedSum) {
        sum.n += other.n;
        sum.sum += other.sum;
        sum.squares += other.squares;
    }

    #[inline]
    fn add_masked(&self, sum: &mut WeighedSum, other: &WeighedSum, mask: u64) {
        sum.n += masked(other.n, mask);
        sum.sum += masked(other.sum, mask);
        sum.squares += masked(other.squares, mask);
    }

    fn subtract(&self, sum: &mut WeighedSum, part: &WeighedSum) {
        sum.n -= part.n;
        sum.sum -= part.sum;
        sum.squares -= part.squares;
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
    }

    fn worth(&self, sum: &WeighedSum) -> Worth {
        if sum.n == 0.0 {
            return Worth { leaf: self.log_gamma, split: 2.0 * self.log_gamma };
        }
        Worth { leaf: self.as_leaf(sum), split: self.split_bound(sum, 1.0) }
    }

    fn columns(&self) -> [usize; 2] {
        [0, 3]
    }

    fn cell_steps(&self) -> u64 {
        STEPS
    }

    fn put(&self, sum: &WeighedSum, _counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        numbers[0] = sum.n;
        numbers[apart] = sum.sum;
        numbers[2 * apart] = sum.squares;
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let [n, sum, squares] = [0, 1, 2].map(|x| columns.numbers[x * columns.cells + from + i]);
            *leaf = self.as_leaf(&WeighedSum { n, sum, squares });
        }
    }

    type Halves = HalvesOf<WeighedSum>;

    fn halves(&self, points: &[Point<WeighedSum>], total: &WeighedSum, bits: &[u32]) -> Self::Halves {
        HalvesOf::new(self, points, total, bits)
    }
}
