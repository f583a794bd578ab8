//! What the tree search needs to know of a response: sums over rows, a leaf's score, and a bound on every way to split.
//!
//! The formulas are those of [`crate::leaf`], arranged for the search: everything that a count decides is tabulated, so
//! that a leaf of numbers costs one logarithm and a leaf of levels none.

mod counts;
mod halves;
mod histogram;
mod in_order;
mod levels;
mod lines;
mod numbers;
mod pointed;
mod remembered;
mod tally;
mod weighed;
mod weighed_lines;

pub use counts::{COUNT_STEPS, Counts};
pub use histogram::histogram_steps;
pub use in_order::{InOrder, by_key, first_orders};
pub use levels::{Levels, LevelsLeaf, Store, categorical_steps, ordinal_steps, ordinal_weight};
pub use lines::{LineRows, LineSum, Lines, line_steps};
pub use numbers::{NUMBER_STEPS, NumberSum, Numbers};
pub use pointed::{Held, POINT_STEPS, Pointed, PointedSum};
pub use weighed::{Weighed, WeighedSum};
pub use weighed_lines::{WeighedLineSum, WeighedLines};

use super::lattice::Columns;
use crate::table::Var;

/// Rows with one combination of predictor bins and levels.
#[derive(Clone, Debug)]
pub struct Point<S> {
    /// Row key.
    pub key: u64,
    /// Statistic of their responses.
    pub sum: S,
}

/// A part of a cell, as one leaf and as more than one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worth {
    /// `ln gamma` plus the log marginal of one leaf.
    pub leaf: f64,
    /// An upper bound over every partition into at least two leaves.
    pub split: f64,
}

/// How many halvings are tried at once.
pub const LANES: usize = 4;

/// One kind of response.
pub trait Response {
    /// What one row holds.
    type Value: Copy;

    /// An additive statistic of some rows.
    type Sum: Clone;

    /// Whether all bytes of a sum hold something: three numbers do, and a point is then moved in wide registers.
    const DENSE: bool = false;

    /// To be called with the parents of a family before any of its rows is observed.
    fn read(&mut self, _parents: &[Var]) {}

    /// What each leaf costs beside `gamma`, as a logarithm: the choice between several kinds of leaves.
    fn choice(&self) -> f64 {
        0.0
    }

    /// What all rows are worth in whatever leaves they are, beside these.
    fn constant(&self) -> f64 {
        0.0
    }

    /// Numbers that a sum holds, if they are so many that what a search costs is what they cost; else 0.
    fn bulk(&self) -> u64 {
        0
    }

    /// What a search takes where sums hold more than three numbers, or a leaf takes more than a logarithm.
    fn beside(&self) -> Beside {
        Beside::default()
    }

    /// Of no rows.
    fn zero(&self) -> Self::Sum;

    /// Whether there are no rows.
    fn is_empty(&self, sum: &Self::Sum) -> bool;

    /// Of one row.
    fn observe(&self, sum: &mut Self::Sum, value: Self::Value);

    /// Adds another statistic.
    fn add(&self, sum: &mut Self::Sum, other: &Self::Sum);

    /// The same if all bits of the mask are set, nothing if none is.
    #[inline]
    fn add_masked(&self, sum: &mut Self::Sum, other: &Self::Sum, mask: u64) {
        if mask != 0 {
            self.add(sum, other);
        }
    }

    /// Takes away a part.
    fn subtract(&self, sum: &mut Self::Sum, part: &Self::Sum);

    /// To be called with the structure prior's `ln gamma` before `worth`.
    fn prepare(&mut self, log_gamma: f64);

    /// What some rows are worth.
    fn worth(&self, sum: &Self::Sum) -> Worth;

    /// Columns of a lattice's sums: counts, and numbers.
    fn columns(&self) -> [usize; 2];

    /// Steps of a cell of a lattice: its sums and its leaf.
    fn cell_steps(&self) -> u64;

    /// Writes a statistic into the first place of each column; columns stand so far apart.
    fn put(&self, sum: &Self::Sum, counts: &mut [u32], numbers: &mut [f64], apart: usize);

    /// What the cells of some columns are worth as leaves, from one cell on.
    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]);

    /// Both sides of up to `LANES` halvings.
    type Halves: Halves<Self::Sum>;

    /// Both sides of up to `LANES` halvings of the same points: what has the bit, `2^bits[i]`, goes right. `total` is the
    /// sum over all points.
    fn halves(&self, points: &[Point<Self::Sum>], total: &Self::Sum, bits: &[u32]) -> Self::Halves;
}

/// Steps that a search takes for a response beside those for plain numbers, of which eight halvings are summed at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Of a cell that is visited.
    pub visit: u64,
    /// Of a split: the worth of both sides.
    pub split: u64,
    /// Of a point of a visited cell: it is added up for each halving by itself, and moved.
    pub point: u64,
}

/// Both sides of several halvings, each in its lane.
pub trait Halves<S> {
    /// Points on the right.
    fn n_right(&self, lane: usize) -> usize;

    /// What the left and the right are worth.
    fn worth(&self, lane: usize) -> [Worth; 2];

    /// Union and intersection of the keys on the left (0) or the right (1).
    fn key(&self, lane: usize, side: usize) -> [u64; 2];

    /// The left (0) or the right (1).
    fn half(&self, lane: usize, side: usize) -> Half<S>;
}

/// One side of a halving.
#[derive(Clone, Debug)]
pub struct Half<S> {
    /// Over its points.
    pub sum: S,
    /// Union of its keys.
    pub or: u64,
    /// Intersection of its keys.
    pub and: u64,
}

#[cfg(test)]
mod tests;
