//! Cholesky factors of small symmetric matrices, packed by rows of the lower triangle.
//!
//! Families have a handful of parents, so matrices have a handful of rows: written out loops over packed rows beat a
//! library whose calls prepare blocks and threads. Row `i` starts at `i (i + 1) / 2`; a factor of the first rows is the
//! first rows of the factor, which is what lets a scratch keep what two parent sets have in common.

/// The length of a packed lower triangle, and where its row `k` starts.
#[inline]
pub const fn packed(k: usize) -> usize {
    k * (k + 1) / 2
}

/// Extends a factor of the first `done` rows to all `k` rows of `a`; `false` at the first pivot that is not above `least`.
///
/// Every entry is a sum that waits for itself, so four rows are taken at a time, each in its own order.
#[inline]
pub fn factor_from(a: &[f64], l: &mut [f64], done: usize, k: usize, least: f64) -> bool {
    let mut i = done;
    while i + 4 <= k {
        let (before, own) = l.split_at_mut(packed(i));
        let (l0, own) = own.split_at_mut(i + 1);
        let (l1, own) = own.split_at_mut(i + 2);
        let (l2, own) = own.split_at_mut(i + 3);
        let (l0, l1, l2, l3) = (&mut l0[..i], &mut l1[..i], &mut l2[..i], &mut own[..i]);
        let row = |i: usize| &a[packed(i)..];
        let (a0, a1, a2, a3) = (&row(i)[..i], &row(i + 1)[..i], &row(i + 2)[..i], &row(i + 3)[..i]);
        for j in 0..i {
            let (other, pivot) = (&before[packed(j)..packed(j) + j], before[packed(j) + j]);
            let (mut s0, mut s1, mut s2, mut s3) = (a0[j], a1[j], a2[j], a3[j]);
            for (t, x) in other.iter().enumerate() {
                s0 -= l0[t] * x;
                s1 -= l1[t] * x;
                s2 -= l2[t] * x;
                s3 -= l3[t] * x;
            }
            (l0[j], l1[j], l2[j], l3[j]) = (s0 / pivot, s1 / pivot, s2 / pivot, s3 / pivot);
        }
        if !(i..i + 4).all(|row| factor_row(a, l, i, row, least)) {
            return false;
        }
        i += 4;
    }
    (i..k).all(|row| factor_row(a, l, 0, row, least))
}

/// One row of a factor, from a column on; `false` if its pivot is not above `least`.
#[inline]
fn factor_row(a: &[f64], l: &mut [f64], from: usize, i: usize, least: f64) -> bool {
    let (before, own) = l.split_at_mut(packed(i));
    let (a, own) = (&a[packed(i)..=packed(i) + i], &mut own[..=i]);
    for j in from..i {
        let other = &before[packed(j)..=packed(j) + j];
        let mut sum = a[j];
        for (x, y) in own[..j].iter().zip(other) {
            sum -= x * y;
        }
        own[j] = sum / other[j];
    }
    let mut sum = a[i];
    for x in &own[..i] {
        sum -= x * x;
    }
    own[i] = sum.sqrt();
    sum > least
}

/// Solves `L y = b` in place.
#[inline]
pub fn forward(l: &[f64], b: &mut [f64]) {
    for i in 0..b.len() {
        let row = packed(i);
        let mut sum = b[i];
        for j in 0..i {
            sum -= l[row + j] * b[j];
        }
        b[i] = sum / l[row + i];
    }
}

/// Solves `L' x = y` in place.
#[inline]
pub fn backward(l: &[f64], y: &mut [f64]) {
    for i in (0..y.len()).rev() {
        let mut sum = y[i];
        for j in i + 1..y.len() {
            sum -= l[packed(j) + i] * y[j];
        }
        y[i] = sum / l[packed(i) + i];
    }
}

/// Solves `x R = y` in place, where row `i` of the packed `r` holds what `R` has in column `i`.
#[inline]
pub fn backward_rows(r: &[f64], y: &mut [f64]) {
    for i in (0..y.len()).rev() {
        y[i] /= r[packed(i) + i];
        let (before, own) = y.split_at_mut(i);
        before.iter_mut().zip(&r[packed(i)..]).for_each(|(y, r)| *y -= own[0] * r);
    }
}

/// The packed inverse of the matrix with factor `l` of `k` rows.
pub fn inverse(l: &[f64], k: usize) -> Vec<f64> {
    let mut out = vec![0.0; packed(k)];
    let mut column = vec![0.0; k];
    for j in 0..k {
        column.fill(0.0);
        column[j] = 1.0;
        forward(l, &mut column);
        backward(l, &mut column);
        for i in j..k {
            out[packed(i) + j] = column[i];
        }
    }
    out
}

/// `ln` of the determinant of rows `from..k` given those before: the sum of the logarithms of their pivots.
#[inline]
pub fn log_det(l: &[f64], from: usize, k: usize) -> f64 {
    2.0 * (from..k).map(|i| l[packed(i) + i].ln()).sum::<f64>()
}

/// The sum of products of two symmetric packed matrices, the trace of their product.
#[inline]
pub fn trace_of_product(a: &[f64], b: &[f64], k: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..k {
        let row = packed(i);
        for j in 0..i {
            sum += 2.0 * a[row + j] * b[row + j];
        }
        sum += a[row + i] * b[row + i];
    }
    sum
}

/// The smallest eigenvalue, by Jacobi's rotations.
pub fn smallest_eigenvalue(a: &[f64], k: usize) -> f64 {
    let mut m = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..=i {
            m[i * k + j] = a[packed(i) + j];
            m[j * k + i] = a[packed(i) + j];
        }
    }
    for _sweep in 0..30 {
        let off: f64 = (0..k).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| m[i * k + j].powi(2)).sum();
        let size: f64 = m.iter().map(|x| x * x).sum();
        if off <= 1e-32 * size {
            break;
        }
        for p in 0..k {
            for q in p + 1..k {
                rotate(&mut m, k, p, q);
            }
        }
    }
    (0..k).map(|i| m[i * k + i]).fold(f64::INFINITY, f64::min)
}

fn rotate(m: &mut [f64], k: usize, p: usize, q: usize) {
    let off = m[p * k + q];
    if off == 0.0 {
        return;
    }
    let theta = (m[q * k + q] - m[p * k + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for i in 0..k {
        let (x, y) = (m[i * k + p], m[i * k + q]);
        m[i * k + p] = c * x - s * y;
        m[i * k + q] = s * x + c * y;
    }
    for i in 0..k {
        let (x, y) = (m[p * k + i], m[q * k + i]);
        m[p * k + i] = c * x - s * y;
        m[q * k + i] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `B B'` of random rows: any positive semidefinite matrix.
    fn gram(rows: &[Vec<f64>], k: usize) -> Vec<f64> {
        let at = |i: usize, j: usize| rows.iter().map(|r| r[i] * r[j]).sum();
        (0..k).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect()
    }

    proptest! {
        #[test]
        fn a_factor_inverts_its_matrix(rows in prop::collection::vec(prop::collection::vec(-2.0..2.0_f64, 5), 9..14)) {
            let k = 5;
            let a = gram(&rows, k);
            prop_assume!(smallest_eigenvalue(&a, k) > 1e-3);
            let mut l = vec![0.0; packed(k)];
            prop_assert!(factor_from(&a, &mut l, 0, 2, 0.0));
            prop_assert!(factor_from(&a, &mut l, 2, k, 0.0));
            let inverse = inverse(&l, k);
            prop_assert!((trace_of_product(&a, &inverse, k) - k as f64).abs() < 1e-8);
            // The determinant is the product of the pivots, and at most the product of the diagonal (Hadamard).
            let diagonal: f64 = (0..k).map(|i| a[packed(i) + i].ln()).sum();
            prop_assert!(log_det(&l, 0, k) <= diagonal + 1e-9);
        }

        #[test]
        fn the_smallest_eigenvalue_is_where_a_shift_stops_being_positive(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0_f64, 4), 6..9)) {
            let k = 4;
            let a = gram(&rows, k);
            let least = smallest_eigenvalue(&a, k);
            let shifted = |by: f64| {
                let mut b = a.clone();
                (0..k).for_each(|i| b[packed(i) + i] -= by);
                factor_from(&b, &mut vec![0.0; packed(k)], 0, k, 0.0)
            };
            prop_assert!(shifted(least - 1e-6) && !shifted(least + 1e-6));
        }
    }

    /// Entry by entry, as it is defined.
    fn literal(a: &[f64], l: &mut [f64], k: usize) -> bool {
        for i in 0..k {
            for j in 0..=i {
                let mut sum = a[packed(i) + j];
                for t in 0..j {
                    sum -= l[packed(i) + t] * l[packed(j) + t];
                }
                if i == j && sum <= 0.0 {
                    return false;
                }
                l[packed(i) + j] = if i == j { sum.sqrt() } else { sum / l[packed(j) + j] };
            }
        }
        true
    }

    proptest! {
        #[test]
        fn rows_taken_together_have_the_bits_of_rows_one_by_one(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0_f64, 23), 3..30), k in 0..23_usize, done in 0..23_usize) {
            let a = gram(&rows, k);
            let (mut one, mut four) = (vec![0.0; packed(k)], vec![0.0; packed(k)]);
            let sound = literal(&a, &mut one, k);
            let done = done.min(k);
            let first = factor_from(&a, &mut four, 0, done, 0.0);
            prop_assert_eq!(first && factor_from(&a, &mut four, done, k, 0.0), sound);
            if sound {
                prop_assert_eq!(one, four);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        assert!(!factor_from(&[1.0, 1.0, 1.0], &mut [0.0; 3], 0, 2, 1e-12));
        assert_eq!(smallest_eigenvalue(&[2.0], 1), 2.0);
        assert_eq!(smallest_eigenvalue(&[], 0), f64::INFINITY);
    }
}
