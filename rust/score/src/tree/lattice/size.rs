//! What a lattice costs, and what the search over keys may, counted from the table alone.
//!
//! Both are whole numbers that follow from the parents' occurring levels and bins and from the number of rows, so the
//! choice between the two ways is the same on every machine, at any number of threads, and for any order of the rows.

use super::axis::Axis;

/// Counted work, in the steps of [`crate::score::LocalScore::family_steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Cells.
    pub cells: u128,
    /// Splits of all cells: one addition each.
    pub splits: u128,
}

impl Size {
    /// Of all cells that these predictors make.
    pub fn of(axes: &[&Axis]) -> Self {
        let cells = axes.iter().fold(1_u128, |cells, axis| cells.saturating_mul(axis.n_parts()));
        let of_axis = |axis: &Axis| (cells / axis.n_parts()).saturating_mul(axis.n_pairs());
        Self { cells, splits: axes.iter().fold(0_u128, |splits, axis| splits.saturating_add(of_axis(axis))) }
    }

    /// Steps of the lattice: its splits, and for each cell the sums and the leaf of `cell` steps.
    pub fn lattice_steps(&self, cell: u64) -> u64 {
        saturating(self.splits.saturating_add(self.cells.saturating_mul(u128::from(cell))))
    }

    /// At most so many steps the search over keys takes: of the cells those that hold at least two points, each with its
    /// look-ups, its splits and its points.
    pub fn search_steps(&self, axes: &[&Axis], n_rows: usize) -> u64 {
        let corners = axes.iter().fold(1_u128, |n, axis| n.saturating_mul(axis.n_elements().max(1) as u128));
        let points = corners.min(n_rows as u128);
        let around = axes.iter().fold(1_u128, |n, axis| n.saturating_mul(axis.n_around()));
        // So many times a point stands in a cell.
        let standing = points.saturating_mul(around);
        let visited = self.cells.min(standing / 2).max(1);
        let at_root = axes.iter().fold(0_u128, |n, axis| n.saturating_add(axis.n_at_root()));
        let splits = self.splits.min(visited.saturating_mul(at_root));
        saturating(
            visited
                .saturating_mul(130)
                .saturating_add(splits.saturating_mul(20))
                .saturating_add(standing.saturating_mul(4)),
        )
    }
}

fn saturating(steps: u128) -> u64 {
    u64::try_from(steps).unwrap_or(u64::MAX)
}
