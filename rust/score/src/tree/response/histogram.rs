//! Responses that are cells of a histogram: counted as levels are, with leaves and a bound of their own.

use std::sync::Arc;

use super::Beside;
use super::levels::{LevelsLeaf, Stored, collected};
use super::remembered::Remembered;
use crate::leaf::{Amount, Categorical, HistogramLeaf};
use crate::tree::lattice::Columns;

/// Steps of a cell of a lattice whose response has `k` cells: an addition each, and two look-ups.
pub fn histogram_steps(k: usize) -> u64 {
    5 * k as u64 + 20
}

impl LevelsLeaf for Arc<HistogramLeaf> {
    const ORDERED: bool = false;

    fn of_counts<N: Amount>(&self, counts: &[N], _known: &Remembered) -> f64 {
        self.both(counts)[0]
    }

    fn leaf_and_apart<N: Amount>(&self, counts: &[N], _pure: &Categorical, _known: &Remembered) -> [f64; 2] {
        self.both(counts)
    }

    fn constant(&self) -> f64 {
        self.as_ref().constant()
    }

    fn slope<N: Amount>(&self, counts: &[N]) -> Vec<f64> {
        self.shares(counts).into_iter().map(f64::ln).collect()
    }

    fn of_columns<N: Stored>(
        &self,
        columns: Columns<'_>,
        from: usize,
        log_gamma: f64,
        leaves: &mut [f64],
        _known: &Remembered,
    ) {
        collected::<N>(self.n_cells(), columns, from, leaves, |counts| log_gamma + self.both(counts)[0]);
    }

    fn cell_steps(&self) -> u64 {
        histogram_steps(self.n_cells())
    }

    fn beside(&self) -> Beside {
        Beside { visit: 0, split: 2 * self.cell_steps(), point: self.n_cells() as u64 / 2 }
    }
}
