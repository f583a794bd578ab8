//! Responses with a number that many rows share: how many rows of a leaf hold it, and what the others are as any response of numbers.
//!
//! The share has a Beta prior, and the others the leaf that they would have alone; both are conjugate, so the marginal
//! likelihood of a leaf is a product. No partition gains more by shares than leaves that hold either the number or
//! others only, of which two suffice (what one row teaches a share, another row of the same side confirms), and none gains more by
//! the others than their own bound says.

use super::halves::{HalvesOf, masked};
use super::in_order::InOrder;
use super::{Beside, Point, Response, Worth};
use crate::leaf::Shares;
use crate::table::Var;
use crate::tree::lattice::Columns;

/// What a row holds.
#[derive(Clone, Copy, Debug)]
pub enum Held<V> {
    /// The shared number, and how often the row counts.
    Shared(f64),
    /// Another.
    Other(V),
}

/// Of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointedSum<S> {
    /// Rows that hold the shared number.
    pub rows: u64,
    /// Their weights.
    pub shared: f64,
    /// Of the others.
    pub others: S,
}

/// What a response does, beside the rows that hold a shared number.
pub struct Pointed<R> {
    others: R,
    shares: Shares,
    log_gamma: f64,
}

/// Steps of a cell of a lattice for the shared number: two sums, and the share's score.
pub const POINT_STEPS: u64 = 8;

impl<R: InOrder> Pointed<R> {
    /// Of what the others are as responses, and of the shares.
    pub fn new(others: R, shares: Shares) -> Self {
        Self { others, shares, log_gamma: f64::NAN }
    }
}

impl<R: InOrder> Response for Pointed<R> {
    type Value = Held<R::Value>;
    type Sum = PointedSum<R::Sum>;
    const DENSE: bool = R::DENSE;

    fn read(&mut self, parents: &[Var]) {
        self.others.read(parents);
    }

    fn choice(&self) -> f64 {
        self.others.choice()
    }

    fn constant(&self) -> f64 {
        self.others.constant()
    }

    fn bulk(&self) -> u64 {
        self.others.bulk()
    }

    fn beside(&self) -> Beside {
        let others = self.others.beside();
        Beside { split: others.split + 2 * POINT_STEPS, point: others.point + 2, ..others }
    }

    fn zero(&self) -> Self::Sum {
        PointedSum { rows: 0, shared: 0.0, others: self.others.zero() }
    }

    fn is_empty(&self, sum: &Self::Sum) -> bool {
        sum.rows == 0 && self.others.is_empty(&sum.others)
    }

    fn observe(&self, sum: &mut Self::Sum, value: Self::Value) {
        match value {
            Held::Shared(weight) => {
                sum.rows += 1;
                sum.shared += weight;
            }
            Held::Other(value) => self.others.observe(&mut sum.others, value),
        }
    }

    fn add(&self, sum: &mut Self::Sum, other: &Self::Sum) {
        sum.rows += other.rows;
        sum.shared += other.shared;
        self.others.add(&mut sum.others, &other.others);
    }

    #[inline]
    fn add_masked(&self, sum: &mut Self::Sum, other: &Self::Sum, mask: u64) {
        sum.rows += other.rows & mask;
        sum.shared += masked(other.shared, mask);
        self.others.add_masked(&mut sum.others, &other.others, mask);
    }

    fn subtract(&self, sum: &mut Self::Sum, part: &Self::Sum) {
        sum.rows -= part.rows;
        sum.shared = if sum.rows == 0 { 0.0 } else { sum.shared - part.shared };
        self.others.subtract(&mut sum.others, &part.others);
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
        self.others.prepare(log_gamma);
    }

    #[inline]
    fn worth(&self, sum: &Self::Sum) -> Worth {
        let of = self.others.worth(&sum.others);
        let n = R::n_rows(&sum.others);
        // Others in one leaf, beside leaves that hold the shared number only, are a division too.
        let apart = of.split.max(of.leaf + self.log_gamma);
        Worth {
            leaf: of.leaf + self.shares.log_marginal(sum.shared, n),
            split: apart + self.shares.pure(sum.shared) + self.shares.pure(n) + self.shares.log_density() * sum.shared,
        }
    }

    fn columns(&self) -> [usize; 2] {
        let [counts, numbers] = self.others.columns();
        [counts, numbers + 2]
    }

    fn cell_steps(&self) -> u64 {
        self.others.cell_steps() + POINT_STEPS
    }

    fn put(&self, sum: &Self::Sum, counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        self.others.put(&sum.others, counts, numbers, apart);
        let after = self.others.columns()[1];
        numbers[after * apart] = sum.shared;
        numbers[(after + 1) * apart] = R::n_rows(&sum.others);
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        let after = self.others.columns()[1];
        let [shared, others] = [after, after + 1].map(|x| &columns.numbers[x * columns.cells..][..columns.cells]);
        self.others.leaves(columns, from, leaves);
        for (leaf, (&shared, &others)) in leaves.iter_mut().zip(shared[from..].iter().zip(&others[from..])) {
            *leaf += self.shares.log_marginal(shared, others);
        }
    }

    type Halves = HalvesOf<Self::Sum>;

    fn halves(&self, points: &[Point<Self::Sum>], total: &Self::Sum, bits: &[u32]) -> Self::Halves {
        HalvesOf::new(self, points, total, bits)
    }
}

impl<R: InOrder> InOrder for Pointed<R> {
    fn n_rows(sum: &Self::Sum) -> f64 {
        sum.shared + R::n_rows(&sum.others)
    }

    fn width(&self) -> usize {
        2 + self.others.width()
    }

    fn keys(&self, levels: &[Self::Sum]) -> Vec<Vec<f64>> {
        let others: Vec<R::Sum> = levels.iter().map(|sum| sum.others.clone()).collect();
        let mut keys = vec![levels.iter().map(|sum| sum.shared / Self::n_rows(sum)).collect::<Vec<f64>>()];
        // Levels of which no row holds another number say nothing of these.
        let known = |key: f64| if key.is_finite() { key } else { 0.0 };
        keys.extend(self.others.keys(&others).into_iter().map(|keys| keys.into_iter().map(known).collect()));
        keys
    }

    /// Of the shared number, of which rows are others, and of these.
    fn slope(&self, sum: &Self::Sum) -> Vec<f64> {
        let n = R::n_rows(&sum.others);
        let alpha = self.shares.alpha();
        let all = (sum.shared + n + 2.0 * alpha).ln();
        let mut slope = vec![self.shares.log_density() + (sum.shared + alpha).ln() - all, (n + alpha).ln() - all];
        slope.extend(self.others.slope(&sum.others));
        slope
    }

    fn along(&self, slope: &[f64], sum: &Self::Sum) -> f64 {
        let n = R::n_rows(&sum.others);
        slope[0] * sum.shared + slope[1] * n + self.others.along(&slope[2..], &sum.others)
    }

    fn one_suffices(&self) -> bool {
        false
    }
}
