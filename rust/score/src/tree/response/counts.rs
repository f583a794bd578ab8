//! Responses that are counts: sums by size, and a bound from the rates that would suit each row best.

use super::halves::{HalvesOf, masked};
use super::in_order::InOrder;
use super::{Beside, Point, Response, Worth};
use crate::leaf::{COUNT_SUMS, CountLeaf, CountSum, SIZES};
use crate::tree::lattice::Columns;

/// Whole numbers from 0 up, each row with its weight.
pub struct Counts {
    leaf: CountLeaf,
    /// What different rows hold.
    rows: Vec<CountSum>,
    log_gamma: f64,
    /// By how much a leaf with rows is at least below the most that these are worth.
    below: f64,
}

/// Steps of a cell of a lattice: as many log-gammas as sizes, and as many sums.
pub const COUNT_STEPS: u64 = 120;

impl Counts {
    /// Of a leaf and what different rows hold.
    pub fn new(leaf: CountLeaf, rows: Vec<CountSum>) -> Self {
        let below = leaf.least_below(&rows);
        Self { leaf, rows, log_gamma: f64::NAN, below }
    }

    #[inline]
    fn as_leaf(&self, n: f64, sum: f64, constants: &[f64; SIZES.len()]) -> f64 {
        self.log_gamma + self.leaf.log_marginal(n, sum, constants)
    }
}

impl Response for Counts {
    /// A row by its place among the different ones.
    type Value = u32;
    type Sum = CountSum;
    const DENSE: bool = true;

    /// Which size.
    fn choice(&self) -> f64 {
        CountLeaf::log_choice()
    }

    fn beside(&self) -> Beside {
        Beside { visit: 0, split: 2 * COUNT_STEPS, point: COUNT_SUMS as u64 }
    }

    fn zero(&self) -> CountSum {
        self.leaf.empty()
    }

    fn is_empty(&self, sum: &CountSum) -> bool {
        sum.n == 0.0
    }

    fn observe(&self, sum: &mut CountSum, row: u32) {
        self.add(sum, &self.rows[row as usize]);
    }

    fn add(&self, sum: &mut CountSum, other: &CountSum) {
        *sum += *other;
    }

    #[inline]
    fn add_masked(&self, sum: &mut CountSum, other: &CountSum, mask: u64) {
        sum.n += masked(other.n, mask);
        sum.sum += masked(other.sum, mask);
        sum.most += masked(other.most, mask);
        for i in 0..SIZES.len() {
            sum.constants[i] += masked(other.constants[i], mask);
        }
    }

    fn subtract(&self, sum: &mut CountSum, part: &CountSum) {
        sum.n -= part.n;
        sum.sum -= part.sum;
        sum.most -= part.most;
        sum.constants.iter_mut().zip(part.constants).for_each(|(sum, own)| *sum -= own);
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
    }

    /// No distribution of counts that mixes Poisson ones gives a row more than the best of these, and each leaf's first row less.
    #[inline]
    fn worth(&self, sum: &CountSum) -> Worth {
        let split = 2.0 * (self.log_gamma - self.below) + sum.most;
        Worth { leaf: self.as_leaf(sum.n, sum.sum, &sum.constants), split }
    }

    fn columns(&self) -> [usize; 2] {
        [0, COUNT_SUMS]
    }

    fn cell_steps(&self) -> u64 {
        COUNT_STEPS
    }

    fn put(&self, sum: &CountSum, _counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        numbers[0] = sum.n;
        numbers[apart] = sum.sum;
        for (i, constant) in sum.constants.iter().enumerate() {
            numbers[(2 + i) * apart] = *constant;
        }
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        for (i, leaf) in leaves.iter_mut().enumerate() {
            let of = |x: usize| columns.numbers[x * columns.cells + from + i];
            *leaf = self.as_leaf(of(0), of(1), &std::array::from_fn(|size| of(2 + size)));
        }
    }

    type Halves = HalvesOf<CountSum>;

    fn halves(&self, points: &[Point<CountSum>], total: &CountSum, bits: &[u32]) -> Self::Halves {
        HalvesOf::new(self, points, total, bits)
    }
}

impl InOrder for Counts {
    fn n_rows(sum: &CountSum) -> f64 {
        sum.n
    }

    fn width(&self) -> usize {
        COUNT_SUMS
    }

    /// By the mean, and by how probable the counts are apart from it: spread ones are less so.
    fn keys(&self, levels: &[CountSum]) -> Vec<Vec<f64>> {
        let means = levels.iter().map(|sum| sum.sum / sum.n).collect();
        let spreads = levels.iter().map(|sum| (sum.most - self.leaf.best(sum.n, sum.sum, &sum.constants).1) / sum.n);
        vec![means, spreads.collect()]
    }

    fn slope(&self, sum: &CountSum) -> Vec<f64> {
        self.leaf.slope(sum)
    }

    fn along(&self, slope: &[f64], sum: &CountSum) -> f64 {
        let constants: f64 = slope[2..].iter().zip(sum.constants).map(|(slope, own)| slope * own).sum();
        slope[0] * sum.n + slope[1] * sum.sum + constants
    }

    fn one_suffices(&self) -> bool {
        false
    }
}
