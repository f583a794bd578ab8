//! Least squares by an orthonormal basis of the design's columns.
//!
//! Columns are orthonormalised one after the other, each twice (Gram and Schmidt; "twice is enough", Kahan), as accurate as
//! Householder's and a few vector loops a column. A column that the earlier ones nearly span has no direction of its own:
//! it is left out, and who asks is told.

use super::cells::dot;
use crate::control::Halt;

/// An orthonormal basis of some columns, and the way from it back to them.
#[derive(Default)]
pub struct Basis {
    n: usize,
    /// The basis, column after column.
    q: Vec<f64>,
    /// Per kept column its coefficients on the basis up to itself, in packed rows.
    r: Vec<f64>,
    /// The positions of the kept columns among those added.
    kept: Vec<usize>,
    added: usize,
    halt: Halt,
}

/// A column whose own part is a smaller share of it has no direction of its own.
const OWN_SHARE: f64 = 1e-9;

impl Basis {
    /// From now on, columns are left out once this is due: what is fitted to them is then to be thrown away.
    pub fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }

    /// What it heeds.
    pub fn halt(&self) -> &Halt {
        &self.halt
    }

    /// Forgets all columns; the next are of `n` rows.
    pub fn clear(&mut self, n: usize) {
        self.n = n;
        self.q.clear();
        self.r.clear();
        self.kept.clear();
        self.added = 0;
    }

    /// Adds a column; false if those before span it.
    pub fn push(&mut self, column: impl Iterator<Item = f64>) -> bool {
        if self.halt.is_due() {
            self.added += 1;
            return false;
        }
        let start = self.q.len();
        self.q.extend(column);
        debug_assert_eq!(self.q.len(), start + self.n);
        let (before, own) = self.q.split_at_mut(start);
        let size = dot(own, own).sqrt();
        let row = self.r.len();
        self.r.resize(row + self.kept.len(), 0.0);
        for _ in 0..2 {
            for (j, q) in before.chunks_exact(self.n.max(1)).enumerate() {
                let share = dot(q, own);
                self.r[row + j] += share;
                own.iter_mut().zip(q).for_each(|(x, q)| *x -= share * q);
            }
        }
        let rest = dot(own, own).sqrt();
        self.added += 1;
        let distinct = rest > OWN_SHARE * size && rest.is_finite();
        if distinct {
            for x in own.iter_mut() {
                *x /= rest;
            }
            self.r.push(rest);
            self.kept.push(self.added - 1);
        } else {
            self.q.truncate(start);
            self.r.truncate(row);
        }
        distinct
    }

    /// The positions of the columns kept, among all that were added.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        self.kept.iter().copied()
    }

    /// Number of columns kept.
    pub fn rank(&self) -> usize {
        self.kept.len()
    }

    /// The columns of the basis.
    pub fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.q.chunks_exact(self.n.max(1))
    }

    /// Keeps the first `rank` columns of the basis.
    pub fn truncate(&mut self, rank: usize) {
        self.kept.truncate(rank);
        self.q.truncate(rank * self.n);
        self.r.truncate(super::cholesky::packed(rank));
    }

    /// Takes from `y` what the basis spans; what is left are residuals.
    pub fn residuals(&self, y: &mut [f64]) {
        for _ in 0..2 {
            for q in self.columns() {
                let share = dot(q, y);
                y.iter_mut().zip(q).for_each(|(y, q)| *y -= share * q);
            }
        }
    }

    /// The coefficients of least squares, one per column added: zero for those left out.
    pub fn coefficients(&self, y: &[f64]) -> Vec<f64> {
        let mut rest = y.to_vec();
        let mut shares = vec![0.0; self.rank()];
        for _ in 0..2 {
            for (share, q) in shares.iter_mut().zip(self.columns()) {
                let more = dot(q, &rest);
                *share += more;
                rest.iter_mut().zip(q).for_each(|(y, q)| *y -= more * q);
            }
        }
        self.in_columns(shares)
    }

    /// Coefficients on the basis as coefficients on the columns added.
    pub fn in_columns(&self, mut shares: Vec<f64>) -> Vec<f64> {
        // Row i of r holds column i on the basis: solve the transposed system from the last on.
        super::cholesky::backward_rows(&self.r, &mut shares);
        let mut out = vec![0.0; self.added];
        self.kept.iter().zip(shares).for_each(|(&at, b)| out[at] = b);
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn residuals_are_orthogonal_to_all_columns_and_coefficients_make_them(
            rows in prop::collection::vec((-2.0..2.0_f64, -2.0..2.0_f64, -2.0..2.0_f64), 6..20)) {
            let n = rows.len();
            let columns = [vec![1.0; n], rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| 3.0 * r.0 - 2.0).collect(),
                           rows.iter().map(|r| r.0 * r.0 + r.1).collect::<Vec<f64>>()];
            let y: Vec<f64> = rows.iter().map(|r| r.2).collect();
            let mut basis = Basis::default();
            basis.clear(n);
            let distinct: Vec<bool> = columns.iter().map(|c| basis.push(c.iter().copied())).collect();
            prop_assert_eq!(distinct, [true, true, false, true]);
            let mut residuals = y.clone();
            basis.residuals(&mut residuals);
            let b = basis.coefficients(&y);
            prop_assert_eq!(b[2], 0.0);
            for column in &columns {
                prop_assert!(dot(column, &residuals).abs() < 1e-10);
            }
            for row in 0..n {
                let fitted: f64 = columns.iter().zip(&b).map(|(c, b)| c[row] * b).sum();
                prop_assert!((y[row] - fitted - residuals[row]).abs() < 1e-9);
            }
        }
    }
}
