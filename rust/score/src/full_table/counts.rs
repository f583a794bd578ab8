//! Responses that are counts, as full tables see them: what a leaf of counts sums up, cell by cell.

use super::response::Response;
use crate::leaf::{CountLeaf, CountSum};
use crate::said::CountRows;

/// Whole numbers from 0 up, by number and then by weight.
pub struct Counts {
    of: CountRows,
    /// By different row.
    alone: Vec<f64>,
}

impl Counts {
    /// Of the rows of a column.
    pub fn new(of: CountRows) -> Self {
        let alone = of.rows.iter().map(|row| log_marginal(&of.leaf, row)).collect();
        Self { of, alone }
    }
}

fn log_marginal(leaf: &CountLeaf, of: &CountSum) -> f64 {
    // Which size a cell has is chosen only where it holds rows.
    if of.n == 0.0 { 0.0 } else { leaf.log_marginal(of.n, of.sum, &of.constants) + CountLeaf::log_choice() }
}

impl Response for Counts {
    type Number = CountSum;

    fn width(&self) -> usize {
        1
    }

    #[inline]
    fn add(&self, row: usize, cell: &mut [CountSum]) {
        cell[0] += self.of.rows[self.of.values[row] as usize];
    }

    #[inline]
    fn is_empty(cell: &[CountSum]) -> bool {
        cell[0].n == 0.0
    }

    fn log_marginal(&self, cell: &[CountSum]) -> f64 {
        log_marginal(&self.of.leaf, &cell[0])
    }

    fn alone(&self, row: u32) -> f64 {
        self.alone[self.of.values[row as usize] as usize]
    }

    fn n_rows(cell: &[CountSum]) -> f64 {
        cell[0].n
    }
}
