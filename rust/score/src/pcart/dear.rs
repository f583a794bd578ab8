//! What the exact search of a family would cost, from its numbers of levels and rows alone: which go by groups in order.
//!
//! A cell is a product over parents: a set of levels (`2^k - 1` of k), an interval of levels (`k (k + 1) / 2`), or a dyadic
//! interval. Each cell is divided in all ways along each parent. Cells without rows are not visited, so there are also at
//! most as many as the rows times the cells around one row. For numbers this counts three intervals of a row, since the
//! others hold so few or so many rows that bounds settle them.

use crate::tree::key::Split;

/// A parent: how it splits, and its halvings or its observed levels.
pub type Extent = (Split, usize);

/// Steps of about a nanosecond that one way to divide a cell takes.
const DIVISION: f64 = 150.0;
/// Numbers in a sum that are added within one such step.
const WIDTH: f64 = 16.0;
/// A family whose exact search takes no more steps, as [`crate::LocalScore::family_steps`] counts them, is searched exactly.
pub const AFFORDABLE: u64 = 200_000_000;
/// One that is dearer than this by the estimate is not searched exactly.
pub const EXACT: f64 = 1e8;
/// In a search by groups in order dearer than this, neighbours are merged: it is repeated with other orders.
pub const IN_ORDER: f64 = 5e7;
/// A family whose numbers alone are dear may cost so many times what they do.
const BESIDE_NUMBERS: f64 = 32.0;

/// At most so many steps, about.
pub fn steps(extents: &[Extent], n_rows: usize, width: usize) -> f64 {
    let per_cell: f64 = extents.iter().map(|extent| pairs(*extent) / cells(*extent)).sum();
    n_cells(extents, n_rows as f64) * per_cell * DIVISION * (1.0 + width as f64 / WIDTH)
}

/// How many steps such a family may cost, with this limit for families whose numbers are not dear by themselves.
pub fn cap(limit: f64, extents: &[Extent], n_rows: usize, width: usize) -> f64 {
    let numbers: Vec<Extent> = extents.iter().copied().filter(|extent| extent.0 == Split::Halving).collect();
    limit.max(BESIDE_NUMBERS * steps(&numbers, n_rows, width))
}

/// The least over all ways to bound some parents by their cells and the others by the rows.
fn n_cells(extents: &[Extent], n_rows: f64) -> f64 {
    let (mut product, mut by_rows) = (1.0, n_rows);
    // Each factor where it is smaller; then at least one of the two bounds is near the least.
    let mut least = f64::INFINITY;
    let mut order: Vec<(f64, f64)> = extents.iter().map(|&extent| (cells(extent), around(extent))).collect();
    order.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    by_rows *= order.iter().map(|of| of.1).product::<f64>();
    for (cells, around) in order {
        least = f64::min(least, product * by_rows);
        product *= cells;
        by_rows /= around;
    }
    least.min(product)
}

fn cells((split, k): Extent) -> f64 {
    let k = k as f64;
    match split {
        Split::Halving => 2.0 * k.exp2() - 1.0,
        Split::Bipartition => k.exp2() - 1.0,
        Split::Threshold => k * (k + 1.0) / 2.0,
    }
}

/// Cells that hold one row, on average.
fn around((split, k): Extent) -> f64 {
    let k = k as f64;
    match split {
        Split::Halving => 3.0,
        Split::Bipartition => (k - 1.0).exp2(),
        Split::Threshold => (k + 1.0) * (k + 2.0) / 6.0,
    }
}

/// Ways to divide, over all cells of one parent.
fn pairs((split, k): Extent) -> f64 {
    let k = k as f64;
    match split {
        Split::Halving => k.exp2() - 1.0,
        Split::Bipartition => 0.5 * 3.0_f64.powf(k) - k.exp2() + 0.5,
        Split::Threshold => (k * k * k - k) / 6.0,
    }
}
