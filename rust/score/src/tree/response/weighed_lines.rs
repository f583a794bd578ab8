//! Responses that are numbers of rows with weights along lines: the leaf of [`super::Lines`] with the weighted sums of
//! [`super::Weighed`].

use std::sync::Arc;

use super::halves::{HalvesOf, masked};
use super::in_order::InOrder;
use super::lines::{LineRows, along, line_beside, line_steps, slope_of_line, slopes_as_keys};
use super::weighed::{Weighed, WeighedSum};
use super::{Beside, Point, Response, Worth};
use crate::leaf::{LineSums, Linear, Normal, n_sums, observe_weighed};
use crate::table::Var;
use crate::tree::lattice::Columns;

/// Weighted sums over some rows; what stands beyond those of the present numbers is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeighedLineSum<const W: usize> {
    /// Of weights.
    n: f64,
    /// Numeric parents.
    p: u32,
    sums: [f64; W],
}

impl<const W: usize> WeighedLineSum<W> {
    /// As the leaf has them.
    pub fn stat(&self) -> LineSums {
        LineSums { n: self.n, sums: self.sums().into() }
    }

    /// Number of numeric parents.
    pub fn p(&self) -> usize {
        self.p as usize
    }

    fn sums(&self) -> &[f64] {
        &self.sums[..n_sums(self.p as usize)]
    }

    /// What a normal leaf knows of the rows.
    pub fn numbers(&self) -> WeighedSum {
        WeighedSum { n: self.n, sum: self.sums[0], squares: self.sums[1] }
    }
}

/// Numbers with weights along lines, with up to `W` sums.
pub struct WeighedLines<const W: usize> {
    rows: Arc<LineRows>,
    plain: Weighed,
    leaf: Linear,
    /// Of the present parents, row after row.
    x: Vec<f64>,
    p: usize,
}

/// Steps of a cell of a lattice beside those of lines without weights: two log-gammas.
const MORE_STEPS: u64 = 40;

impl<const W: usize> WeighedLines<W> {
    /// Of these rows.
    pub fn new(normal: &Normal, k: f64, rows: Arc<LineRows>) -> Self {
        debug_assert_eq!(rows.weights.len(), rows.y.len());
        Self { rows, plain: Weighed::new(normal), leaf: Linear::new(normal.clone(), 0, k), x: Vec::new(), p: 0 }
    }

    fn as_leaf(&self, n: f64, sums: &[f64]) -> f64 {
        let normal = self.plain.worth(&WeighedSum { n, sum: sums[0], squares: sums[1] }).leaf;
        if n == 0.0 || self.p == 0 {
            return normal;
        }
        normal.max(self.plain.log_gamma() + self.leaf.log_marginal_of(n, sums))
    }

    /// Of the squares q about the prior mean a line leaves at least `q / D`, `D = 1 + n/a + x'x/k`, as in [`super::Lines`], and its
    /// determinant is no smaller than the normal leaf's. D is at most `1 + x'x/k` times the normal leaf's own `1 + n/a`, of any part
    /// of the cell however little it weighs: so no leaf is worth more than a normal leaf with that share of the squares.
    fn share(&self, sums: &[f64]) -> f64 {
        let squares: f64 = (0..self.p).map(|j| sums[n_sums(j + 1) - 1]).sum();
        1.0 / (1.0 + squares / self.leaf.k())
    }
}

impl<const W: usize> Response for WeighedLines<W> {
    /// Position among the rows.
    type Value = u32;
    type Sum = WeighedLineSum<W>;

    fn read(&mut self, parents: &[Var]) {
        (self.p, self.x) = self.rows.numbers_of(parents);
        debug_assert!(n_sums(self.p) <= W);
        self.leaf.set_numbers(self.p);
    }

    fn choice(&self) -> f64 {
        if self.p == 0 { 0.0 } else { -std::f64::consts::LN_2 }
    }

    fn beside(&self) -> Beside {
        let lines = line_beside(W);
        Beside { split: lines.split + 2 * MORE_STEPS, ..lines }
    }

    fn zero(&self) -> WeighedLineSum<W> {
        WeighedLineSum { n: 0.0, p: self.p as u32, sums: [0.0; W] }
    }

    fn is_empty(&self, sum: &WeighedLineSum<W>) -> bool {
        sum.n == 0.0
    }

    fn observe(&self, sum: &mut WeighedLineSum<W>, row: u32) {
        let row = row as usize;
        let weight = self.rows.weights[row];
        sum.n += weight;
        observe_weighed(&mut sum.sums, self.rows.y[row], &self.x[row * self.p..][..self.p], weight);
    }

    fn add(&self, sum: &mut WeighedLineSum<W>, other: &WeighedLineSum<W>) {
        sum.n += other.n;
        sum.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
    }

    #[inline]
    fn add_masked(&self, sum: &mut WeighedLineSum<W>, other: &WeighedLineSum<W>, mask: u64) {
        sum.n += masked(other.n, mask);
        for i in 0..W {
            sum.sums[i] += masked(other.sums[i], mask);
        }
    }

    fn subtract(&self, sum: &mut WeighedLineSum<W>, part: &WeighedLineSum<W>) {
        sum.n -= part.n;
        sum.sums.iter_mut().zip(&part.sums).for_each(|(sum, part)| *sum -= part);
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.plain.prepare(log_gamma);
    }

    fn worth(&self, sum: &WeighedLineSum<W>) -> Worth {
        let numbers = sum.numbers();
        if sum.n == 0.0 {
            return self.plain.worth(&numbers);
        }
        let split = self.plain.split_bound(&numbers, self.share(sum.sums()));
        Worth { leaf: self.as_leaf(sum.n, sum.sums()), split }
    }

    fn columns(&self) -> [usize; 2] {
        [0, 1 + n_sums(self.p)]
    }

    fn cell_steps(&self) -> u64 {
        line_steps(self.p) + MORE_STEPS
    }

    fn put(&self, sum: &WeighedLineSum<W>, _counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        numbers[0] = sum.n;
        for (i, &of) in sum.sums().iter().enumerate() {
            numbers[(i + 1) * apart] = of;
        }
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        let mut sums = [0.0; W];
        let sums = &mut sums[..n_sums(self.p)];
        for (cell, leaf) in (from..).zip(leaves) {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = columns.numbers[(i + 1) * columns.cells + cell];
            }
            *leaf = self.as_leaf(columns.numbers[cell], sums);
        }
    }

    type Halves = HalvesOf<WeighedLineSum<W>>;

    fn halves(&self, points: &[Point<WeighedLineSum<W>>], total: &WeighedLineSum<W>, bits: &[u32]) -> Self::Halves {
        HalvesOf::new(self, points, total, bits)
    }
}

impl<const W: usize> InOrder for WeighedLines<W> {
    fn n_rows(sum: &WeighedLineSum<W>) -> f64 {
        sum.n
    }

    fn width(&self) -> usize {
        1 + n_sums(self.p)
    }

    fn keys(&self, levels: &[WeighedLineSum<W>]) -> Vec<Vec<f64>> {
        let mut keys = self.plain.keys(&levels.iter().map(WeighedLineSum::numbers).collect::<Vec<_>>());
        keys.extend(slopes_as_keys(&self.leaf, self.p, levels.iter().map(WeighedLineSum::stat)));
        keys
    }

    fn slope(&self, sum: &WeighedLineSum<W>) -> Vec<f64> {
        let normal = self.plain.slope(&sum.numbers());
        let linear = self.plain.log_gamma() + self.leaf.log_marginal_of(sum.n, sum.sums());
        if self.p == 0 || self.plain.worth(&sum.numbers()).leaf >= linear {
            return normal;
        }
        slope_of_line(&self.leaf, sum.n, sum.sums(), self.plain.constant_slope(sum.n))
    }

    fn along(&self, slope: &[f64], sum: &WeighedLineSum<W>) -> f64 {
        along(slope, sum.n, sum.sums())
    }

    fn one_suffices(&self) -> bool {
        false
    }
}
