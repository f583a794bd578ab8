//! What a cell of a full table predicts, fitted to its rows.

use std::sync::Arc;

use crate::leaf::{CountLeaf, HistogramLeaf, Leaf, LevelFit};
use crate::predictive::{PointMass, Predictive, count_of, is_at};
use crate::said::SharedRows;
use crate::table::{Column, Units};

/// What stands in the cells of a child.
pub enum CellLeaf {
    /// As its kind has it.
    OfKind(Leaf),
    /// Counts in these units.
    Counts(Box<CountLeaf>, Units),
    /// Cells of its own.
    Histogram(Arc<HistogramLeaf>),
}

/// The rows of a child: what they hold and how often they count.
pub struct Rows<'a> {
    pub column: &'a Column,
    pub weights: Option<&'a [f64]>,
}

impl Rows<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    fn value(&self, row: usize) -> f64 {
        match self.column {
            Column::Reals(values) => values[row],
            Column::Codes(_) => unreachable!("only numbers have leaves of their own"),
        }
    }

    /// How many rows these are, or the sum of their weights rounded, and what they predict.
    pub fn fitted(&self, leaf: &CellLeaf, shared: Option<&SharedRows>, rows: &[usize]) -> (usize, Predictive) {
        let Some(shared) = shared else { return self.without_point(leaf, rows) };
        let (held, others): (Vec<usize>, Vec<usize>) =
            rows.iter().partition(|&&row| is_at(self.value(row), shared.point.at));
        let [held, n] = [held, others.clone()].map(|rows| rows.iter().map(|&row| self.weight(row)).sum::<f64>());
        let point = PointMass { share: shared.shares.share(held, n), ..shared.point };
        ((held + n).round() as usize, point.beside(&self.without_point(leaf, &others).1))
    }

    fn without_point(&self, leaf: &CellLeaf, rows: &[usize]) -> (usize, Predictive) {
        match leaf {
            CellLeaf::OfKind(leaf) => leaf.fit_rows(self.column, self.weights, rows.iter().copied()),
            CellLeaf::Counts(leaf, scale) => {
                let mut sum = leaf.empty();
                for &row in rows {
                    let count = count_of(scale.to_original(self.value(row))).unwrap_or(0.0);
                    sum += leaf.row(count, self.weight(row));
                }
                (sum.n.round() as usize, Predictive::Counts { counts: leaf.fit(&sum), point: None })
            }
            CellLeaf::Histogram(leaf) => {
                let mut counts = vec![0.0; leaf.n_cells()];
                for &row in rows {
                    counts[leaf.cell(self.value(row)) as usize] += self.weight(row);
                }
                (counts.iter().sum::<f64>().round() as usize, leaf.fit_of(&counts))
            }
        }
    }
}
