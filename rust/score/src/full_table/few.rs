//! Boxes of two rows, over any number of axes: either they share a cell or each has its own.
//!
//! Under a joint choice they share it if no axis separates them. The choices of an axis that do not are a bit mask, known
//! for every two parts.

use smallvec::SmallVec;

use super::joint::Axis;
use super::response::Response;

/// Writes the log marginals of two rows for every joint choice of the axes to `totals`.
pub fn add_up_pair<R: Response>(response: &R, axes: &[Axis<'_>], rows: [u32; 2], totals: &mut [f64]) {
    totals.fill(response.alone(rows[0]) + response.alone(rows[1]));
    let masks: SmallVec<[u64; 8]> = axes.iter().map(|axis| together(axis, rows)).collect();
    if masks.contains(&0) {
        return;
    }
    let mut cell: SmallVec<[R::Number; 16]> = SmallVec::from_elem(R::Number::default(), response.width());
    for row in rows {
        response.add(row as usize, &mut cell);
    }
    fill_where(axes, &masks, response.log_marginal(&cell), totals);
}

/// The choices of an axis that have two rows in one bin.
fn together(axis: &Axis<'_>, rows: [u32; 2]) -> u64 {
    let [a, b] = rows.map(|row| axis.part(row) as u16);
    axis.together(a.min(b), a.max(b))
}

/// Writes a value to every joint choice whose choices are in the masks.
fn fill_where(axes: &[Axis<'_>], masks: &[u64], value: f64, totals: &mut [f64]) {
    let ([axis, inner @ ..], [mask, deeper @ ..]) = (axes, masks) else {
        totals[0] = value;
        return;
    };
    let size = totals.len() / axis.n_choices;
    let mut left = *mask;
    while left != 0 {
        let choice = left.trailing_zeros() as usize;
        left &= left - 1;
        fill_where(inner, deeper, value, &mut totals[choice * size..][..size]);
    }
}
