//! Responses with a number that many rows share: the rows that hold it are counted behind what the others are in a cell.

use super::response::{Number, Response};
use crate::said::SharedRows;

/// What a response does, beside the rows that hold a shared number.
pub struct Pointed<R> {
    others: R,
    shared: SharedRows,
    /// By row.
    alone: Vec<f64>,
}

impl<R: Response> Pointed<R> {
    /// Of the others, and of which rows are none of these; both in the order of the response.
    pub fn new(others: R, shared: SharedRows) -> Self {
        let n_rows = shared.held.len();
        let mut of = Self { others, shared, alone: Vec::new() };
        let mut cell = vec![R::Number::default(); of.width()];
        let alone = |row: usize| {
            cell.fill(R::Number::default());
            of.add(row, &mut cell);
            of.log_marginal(&cell)
        };
        of.alone = (0..n_rows).map(alone).collect();
        of
    }
}

/// What the others are, and what is counted of the shared number.
fn parts<N: Number>(cell: &[N]) -> (&[N], f64) {
    let (shared, others) = cell.split_last().expect("the last counts the shared number");
    (others, shared.weight())
}

impl<R: Response> Response for Pointed<R> {
    type Number = R::Number;

    fn width(&self) -> usize {
        self.others.width() + 1
    }

    #[inline]
    fn add(&self, row: usize, cell: &mut [R::Number]) {
        let (shared, others) = cell.split_last_mut().expect("the last counts the shared number");
        match self.shared.held[row] {
            Some(weight) => *shared += R::Number::of_weight(weight),
            None => self.others.add(row, others),
        }
    }

    #[inline]
    fn is_empty(cell: &[R::Number]) -> bool {
        let (others, shared) = parts(cell);
        shared == 0.0 && R::is_empty(others)
    }

    fn log_marginal(&self, cell: &[R::Number]) -> f64 {
        let (others, shared) = parts(cell);
        let n = R::n_rows(others);
        let of_others = if n == 0.0 { 0.0 } else { self.others.log_marginal(others) };
        of_others + self.shared.shares.log_marginal(shared, n)
    }

    fn alone(&self, row: u32) -> f64 {
        self.alone[row as usize]
    }

    fn n_rows(cell: &[R::Number]) -> f64 {
        let (others, shared) = parts(cell);
        shared + R::n_rows(others)
    }

    fn constant(&self) -> f64 {
        self.others.constant()
    }
}
