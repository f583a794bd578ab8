//! Responses that are numbers along a line in the family's numeric parents: the sums of [`crate::leaf::Linear`], and a
//! bound from how much any line could explain.
//!
//! A leaf is normal or linear, whichever is worth more; for the choice each leaf pays `ln 2`, which is [`Response::choice`].

use std::sync::Arc;

use super::halves::{HalvesOf, masked};
use super::in_order::InOrder;
use super::numbers::{NumberSum, Numbers};
use super::{Beside, Point, Response, Worth};
use crate::leaf::{LineSums, Linear, Moments, Normal, eliminated, n_sums, observe};
use crate::table::Var;
use crate::tree::lattice::Columns;
use crate::tree::ln::ln;

/// Sums over some rows; what stands beyond those of the present numbers is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSum<const W: usize> {
    n: u32,
    /// Numeric parents.
    p: u32,
    sums: [f64; W],
}

impl<const W: usize> LineSum<W> {
    /// As the leaf has them.
    pub fn stat(&self) -> LineSums {
        LineSums { n: f64::from(self.n), sums: self.sums().into() }
    }

    /// Number of numeric parents.
    pub fn p(&self) -> usize {
        self.p as usize
    }

    fn sums(&self) -> &[f64] {
        &self.sums[..n_sums(self.p as usize)]
    }

    fn numbers(&self) -> NumberSum {
        NumberSum { n: u64::from(self.n), sum: self.sums[0], squares: self.sums[1] }
    }

    /// What a normal leaf knows of the rows.
    pub fn moments(&self) -> Moments {
        (&self.numbers()).into()
    }
}

/// What rows hold, in the order in which they are taken.
#[derive(Clone, Debug, Default)]
pub struct LineRows {
    /// The response, its centre subtracted.
    pub y: Vec<f64>,
    /// By variable: standardised numbers (of a table without rows there are none), nothing for levels.
    pub x: Vec<Option<Vec<f64>>>,
    /// How often each row counts, if not all count once.
    pub weights: Vec<f64>,
}

impl LineRows {
    /// How many of some parents are numbers, and what these are, row after row.
    pub(super) fn numbers_of(&self, parents: &[Var]) -> (usize, Vec<f64>) {
        let columns: Vec<&Vec<f64>> = parents.iter().filter_map(|&v| self.x[v].as_ref()).collect();
        let x = (0..self.y.len()).flat_map(|row| columns.iter().map(move |x| x[row])).collect();
        (columns.len(), x)
    }
}

/// Keys by which levels may be put in order: their slopes along each number, since levels may also differ in how they follow it.
pub(super) fn slopes_as_keys(leaf: &Linear, p: usize, levels: impl Iterator<Item = LineSums>) -> Vec<Vec<f64>> {
    let slopes: Vec<Vec<f64>> = levels.map(|stat| leaf.fit(&stat).slopes).collect();
    (0..p).map(|j| slopes.iter().map(|slopes| slopes[j]).collect()).collect()
}

/// The slope of a line's score in the rows' number and their sums; `of_constant` is that of what the number alone decides in the
/// normal leaf, which holds the slope of its determinant, a part of this one's.
pub(super) fn slope_of_line(leaf: &Linear, n: f64, sums: &[f64], of_constant: f64) -> Vec<f64> {
    let (of_sums, of_ones) = leaf.gradient(n, sums);
    let of_count = of_constant + 0.5 / (n + leaf.normal().a()) + of_ones - 0.5 * leaf.spread_of(n, sums).ln();
    [vec![of_count], of_sums].concat()
}

/// How far sums lie along a slope, as [`super::InOrder::along`]; a normal leaf's has three entries, and says nothing of the others.
pub(super) fn along(slope: &[f64], n: f64, sums: &[f64]) -> f64 {
    slope[0] * n + slope[1..].iter().zip(sums).map(|(slope, of)| slope * of).sum::<f64>()
}

/// Numbers along lines, with up to `W` sums.
pub struct Lines<const W: usize> {
    rows: Arc<LineRows>,
    numbers: Numbers,
    leaf: Linear,
    /// Of the present parents, row after row.
    x: Vec<f64>,
    p: usize,
}

/// Steps of a cell of a lattice with lines in `p` numbers: its sums, and an elimination.
pub fn line_steps(p: usize) -> u64 {
    let p = p as u64;
    20 + n_sums(p as usize) as u64 + p * (25 + p * (3 + p))
}

/// What a search takes for lines of up to `width` sums beside what it takes for numbers. Over all sets of up to four parents of a table
/// of 506 rows, with and without columns that copy others, searches with four numbers took 5.3 and 5.9 times as long as steps of plain
/// numbers say, and .94 and 1.05 times as long as these.
pub(super) fn line_beside(width: usize) -> Beside {
    let p = (0..width).find(|&p| n_sums(p) >= width).unwrap_or(0);
    Beside { visit: 0, split: 2 * line_steps(p) / 3, point: 3 * width as u64 / 2 }
}

impl<const W: usize> Lines<W> {
    /// Precision of a slope of standardised numbers, in units of the noise's.
    pub const K: f64 = 1.0;

    /// Of these rows.
    pub fn new(normal: &Normal, rows: Arc<LineRows>) -> Self {
        let numbers = Numbers::new(normal, rows.y.len());
        Self { rows, numbers, leaf: Linear::new(normal.clone(), 0, Self::K), x: Vec::new(), p: 0 }
    }

    /// What rows are worth as a leaf, and as more than one at most.
    ///
    /// Of the squares q about the prior mean a leaf of n rows keeps at least `q / D`, `D = 1 + n/a + x'x/k` (the largest
    /// eigenvalue of what explains them is at most the trace), and its determinant is at least `a k^p D`. Let `r` be D in
    /// units of `1 + n/a`, the normal leaf's own; for rows of the cell it is at most `R = 1 + x'x/k / (1 + 1/a)`. So the leaf
    /// is worth at most what the normal leaf is with `q / r`, less `ln(r)/2`. That rises with r up to
    /// `r* = (n + nu - 1) / (nu lam) q a / (n + a)` and falls then. So it is greatest at R; or, if `r* < R`, at `r*`, where what is
    /// left of the squares costs the leaf at least 1/2 against none; or, if `r* < 1`, at 1, as for the normal leaf. As there,
    /// no partition beats one with all squares in one leaf.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn both(&self, n: u64, sums: &[f64]) -> Worth {
        let of = self.numbers.parts(&NumberSum { n, sum: sums[0], squares: sums[1] });
        let normal = of.constant - of.half_df * ln(of.nu_lam + of.spread.max(0.0));
        let log_gamma = self.numbers.log_gamma();
        if n == 0 || self.p == 0 {
            return Worth { leaf: log_gamma + normal, split: self.numbers.split_bound(n as usize, of.about) };
        }
        let (det, explained) = match self.p {
            1 => eliminated::<1>(sums, Self::K, of.inverse, of.intercept),
            2 => eliminated::<2>(sums, Self::K, of.inverse, of.intercept),
            3 => eliminated::<3>(sums, Self::K, of.inverse, of.intercept),
            4 => eliminated::<4>(sums, Self::K, of.inverse, of.intercept),
            _ => self.leaf.eliminated(n as f64, sums),
        };
        let linear = of.constant - of.half_df * ln(of.nu_lam + (of.spread - explained).max(0.0)) - 0.5 * ln(det);
        let leaf = log_gamma + normal.max(linear);
        if !self.numbers.is_bounded(n as usize) {
            return Worth { leaf, split: f64::INFINITY };
        }
        let squares: f64 = (0..self.p).map(|j| sums[n_sums(j + 1) - 1]).sum();
        let (a, nu) = (self.leaf.normal().a(), self.leaf.normal().nu());
        let most = 1.0 + squares / Self::K / (1.0 + 1.0 / a);
        let at_most = self.numbers.split_bound(n as usize, of.about / most) - 0.5 * ln(most);
        // The least r* of any part: (n + nu - 1) a / (n + a) rises or falls with n, from n = 1 on.
        let turn = of.about * (nu / (1.0 + 1.0 / a)).min(a) / of.nu_lam;
        let without = self.numbers.split_bound(n as usize, 0.0) - 0.5;
        let split = if turn >= most {
            at_most
        } else if turn >= 1.0 {
            at_most.max(without - 0.5 * ln(turn))
        } else {
            at_most.max(without).max(self.numbers.split_bound(n as usize, of.about))
        };
        Worth { leaf, split }
    }
}

impl<const W: usize> Response for Lines<W> {
    /// Position among the rows.
    type Value = u32;
    type Sum = LineSum<W>;
    const DENSE: bool = true;

    fn read(&mut self, parents: &[Var]) {
        (self.p, self.x) = self.rows.numbers_of(parents);
        debug_assert!(n_sums(self.p) <= W);
        self.leaf.set_numbers(self.p);
    }

    fn choice(&self) -> f64 {
        if self.p == 0 { 0.0 } else { -std::f64::consts::LN_2 }
    }

    fn beside(&self) -> Beside {
        line_beside(W)
    }

    fn zero(&self) -> LineSum<W> {
        LineSum { n: 0, p: self.p as u32, sums: [0.0; W] }
    }

    fn is_empty(&self, sum: &LineSum<W>) -> bool {
        sum.n == 0
    }

    #[inline]
    fn observe(&self, sum: &mut LineSum<W>, row: u32) {
        let row = row as usize;
        sum.n += 1;
        observe(&mut sum.sums, self.rows.y[row], &self.x[row * self.p..][..self.p]);
    }

    #[inline]
    fn add(&self, sum: &mut LineSum<W>, other: &LineSum<W>) {
        sum.n += other.n;
        for i in 0..W {
            sum.sums[i] += other.sums[i];
        }
    }

    #[inline]
    fn add_masked(&self, sum: &mut LineSum<W>, other: &LineSum<W>, mask: u64) {
        sum.n += other.n & mask as u32;
        for i in 0..W {
            sum.sums[i] += masked(other.sums[i], mask);
        }
    }

    #[inline]
    fn subtract(&self, sum: &mut LineSum<W>, part: &LineSum<W>) {
        sum.n -= part.n;
        for i in 0..W {
            sum.sums[i] -= part.sums[i];
        }
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.numbers.prepare(log_gamma);
    }

    #[inline]
    fn worth(&self, sum: &LineSum<W>) -> Worth {
        self.both(u64::from(sum.n), sum.sums())
    }

    fn columns(&self) -> [usize; 2] {
        [1, n_sums(self.p)]
    }

    fn cell_steps(&self) -> u64 {
        line_steps(self.p)
    }

    fn put(&self, sum: &LineSum<W>, counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        counts[0] = sum.n;
        for (i, &of) in sum.sums().iter().enumerate() {
            numbers[i * apart] = of;
        }
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        let mut sums = [0.0; W];
        let sums = &mut sums[..n_sums(self.p)];
        for (cell, leaf) in (from..).zip(leaves) {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = columns.numbers[i * columns.cells + cell];
            }
            *leaf = self.both(u64::from(columns.counts[cell]), sums).leaf;
        }
    }

    type Halves = HalvesOf<LineSum<W>>;

    #[inline]
    fn halves(&self, points: &[Point<LineSum<W>>], total: &LineSum<W>, bits: &[u32]) -> Self::Halves {
        HalvesOf::new(self, points, total, bits)
    }
}

impl<const W: usize> InOrder for Lines<W> {
    fn n_rows(sum: &LineSum<W>) -> f64 {
        f64::from(sum.n)
    }

    fn width(&self) -> usize {
        1 + n_sums(self.p)
    }

    fn keys(&self, levels: &[LineSum<W>]) -> Vec<Vec<f64>> {
        let mut keys = self.numbers.keys(&levels.iter().map(LineSum::numbers).collect::<Vec<_>>());
        keys.extend(slopes_as_keys(&self.leaf, self.p, levels.iter().map(LineSum::stat)));
        keys
    }

    fn slope(&self, sum: &LineSum<W>) -> Vec<f64> {
        let normal = self.numbers.slope(&sum.numbers());
        let linear = self.leaf.log_marginal_of(f64::from(sum.n), sum.sums());
        if self.p == 0 || self.numbers.worth(&sum.numbers()).leaf - self.numbers.log_gamma() >= linear {
            return normal;
        }
        let of_constant = self.numbers.constant_slope(sum.n as usize);
        slope_of_line(&self.leaf, f64::from(sum.n), sum.sums(), of_constant)
    }

    fn along(&self, slope: &[f64], sum: &LineSum<W>) -> f64 {
        along(slope, f64::from(sum.n), sum.sums())
    }

    fn one_suffices(&self) -> bool {
        false
    }
}
