//! Responses with a number that many rows share: how many rows of a leaf hold it, and what the others are as any response of numbers.
//!
//! The share has a Beta prior, and the others the leaf that they would have alone; both are conjugate, so the marginal
//! likelihood of a leaf is a product. No partition gains more by shares than leaves that hold either the number or
//! others only, of which two suffice (what one row teaches a share, another row of the same side confirms), and none gains more by
//! the others than their own bound says.

use libm::lgamma;

use super::in_order::InOrder;
use super::weighed::HalvesOf;
use super::{Beside, Point, Response, Worth};
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
    pub rows: u32,
    /// Their weights.
    pub shared: f64,
    /// Of the others.
    pub others: S,
}

/// What a response does, beside the rows that hold a shared number.
pub struct Pointed<R> {
    others: R,
    alpha: f64,
    /// Of a row that holds the shared number.
    log_density: f64,
    log_gamma: f64,
    /// `ln G(n + alpha) - ln G(alpha)` and `ln G(n + 2 alpha) - ln G(2 alpha)` by count.
    by_count: Vec<[f64; 2]>,
}

/// Steps of a cell of a lattice for the shared number: two sums, and the share's score.
pub const POINT_STEPS: u64 = 8;

impl<R: InOrder> Pointed<R> {
    /// With a prior of `alpha` rows of each kind, of up to `n_rows` rows; the shared number stands for a length of numbers of this
    /// logarithm.
    pub fn new(others: R, alpha: f64, log_width: f64, n_rows: usize) -> Self {
        let mut of = Self { others, alpha, log_density: -log_width, log_gamma: f64::NAN, by_count: Vec::new() };
        of.by_count = (0..=n_rows).map(|n| of.rising(n as f64)).collect();
        of
    }

    fn rising(&self, n: f64) -> [f64; 2] {
        let of = |prior: f64| if n == 0.0 { 0.0 } else { lgamma(n + prior) - lgamma(prior) };
        [of(self.alpha), of(2.0 * self.alpha)]
    }

    fn of_count(&self, n: f64) -> [f64; 2] {
        let known = (n >= 0.0 && n.fract() == 0.0).then(|| self.by_count.get(n as usize).copied()).flatten();
        known.unwrap_or_else(|| self.rising(n.max(0.0)))
    }

    /// The log probability of which rows hold the shared number, and their density.
    fn of_shares(&self, shared: f64, others: f64) -> f64 {
        self.log_density * shared + self.of_count(shared)[0] + self.of_count(others)[0]
            - self.of_count(shared + others)[1]
    }

    /// At most that of any partition: each side pure.
    fn of_pure(&self, n: f64) -> f64 {
        let [one, both] = self.of_count(n);
        one - both
    }
}

impl<R: InOrder> Response for Pointed<R> {
    type Value = Held<R::Value>;
    type Sum = PointedSum<R::Sum>;

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

    fn subtract(&self, sum: &mut Self::Sum, part: &Self::Sum) {
        sum.rows -= part.rows;
        sum.shared = if sum.rows == 0 { 0.0 } else { sum.shared - part.shared };
        self.others.subtract(&mut sum.others, &part.others);
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
        self.others.prepare(log_gamma);
    }

    fn worth(&self, sum: &Self::Sum) -> Worth {
        let of = self.others.worth(&sum.others);
        let n = R::n_rows(&sum.others);
        // Others in one leaf, beside leaves that hold the shared number only, are a division too.
        let apart = of.split.max(of.leaf + self.log_gamma);
        Worth {
            leaf: of.leaf + self.of_shares(sum.shared, n),
            split: apart + self.of_pure(sum.shared) + self.of_pure(n) + self.log_density * sum.shared,
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
            *leaf += self.of_shares(shared, others);
        }
    }

    type Halves = HalvesOf<Self>;

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
        let all = (sum.shared + n + 2.0 * self.alpha).ln();
        let mut slope = vec![self.log_density + (sum.shared + self.alpha).ln() - all, (n + self.alpha).ln() - all];
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
