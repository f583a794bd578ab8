//! The log-likelihood of cells with their numbers, from sums of values and of products, and by how much it may be wrong.
//!
//! It is what [`super::conditional`] computes from columns less their cells' means, of the same cells: those too small for a
//! covariance of their own have the pooled one. Plain sums are faster and lose digits where a mean is large beside the
//! spread, so the error is bounded along the way; where it cannot be, or a cell is flat, there is no answer.
//!
//! **The error.** Entries of a scatter `S` of `n` rows are wrong by at most `4 n e` times the roots of the plain sums of
//! squares `M`, where `e` is the machine's precision. `S` divided by these roots has a trace of at most `k` and so a smallest
//! eigenvalue of at least `1 / (2.8 f)`, where `1 / f` is its determinant, the product of all pivots over their `M`. So `ln det S`
//! is wrong by at most `4 n e k 2.8 f`; what the factor and the careful way round is less.

use crate::classic::n_ln_n;
use crate::regress::cholesky::{factor_from, inverse, log_det, packed, trace_of_product};

use super::LN_2_PI;

/// A covariance with a smaller eigenvalue is no covariance to divide by.
pub(super) const LEAST_EIGENVALUE: f64 = 1e-9;
/// So many numbers at most.
pub(super) const MOST: usize = 7;
const PAIRS: usize = packed(MOST);
/// Flatter scatters are left to who computes them with more care.
const MOST_FLATNESS: f64 = 1e7;

/// The sums of one cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    /// Rows.
    pub n: f64,
    /// Of each number.
    pub sums: [f64; MOST],
    /// Of each pair, in packed order.
    pub products: [f64; PAIRS],
}

impl Moments {
    /// Those of two cells together.
    pub fn add(&mut self, other: &Self) {
        self.n += other.n;
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| *own += other);
        self.products.iter_mut().zip(&other.products).for_each(|(own, other)| *own += other);
    }
}

/// Cells added so far.
pub(super) struct Likelihood {
    k: usize,
    total: f64,
    error: f64,
    /// Of all cells: rows, scatters, plain sums of squares.
    n: f64,
    pooled: [f64; PAIRS],
    squares: [f64; MOST],
    /// Of cells without a covariance of their own.
    n_small: f64,
    small: [f64; PAIRS],
    sound: bool,
}

impl Likelihood {
    /// No cells yet, of so many numbers.
    pub fn new(k: usize) -> Self {
        let (pooled, small, squares) = ([0.0; PAIRS], [0.0; PAIRS], [0.0; MOST]);
        Self { k, total: 0.0, error: 0.0, n: 0.0, pooled, squares, n_small: 0.0, small, sound: k <= MOST }
    }

    /// Of cells that nothing is said of.
    pub fn unknown() -> Self {
        Self { sound: false, ..Self::new(0) }
    }

    /// Whether there may still be an answer.
    pub fn is_sound(&self) -> bool {
        self.sound
    }

    /// One cell more: its rows, and of its first numbers the sums and those of products.
    #[inline]
    pub fn add(&mut self, n: f64, sums: &[f64], products: &[f64]) {
        self.total += n_ln_n(n as u32);
        match self.k {
            1 => self.add_numbers::<1>(n, sums, products),
            2 => self.add_numbers::<2>(n, sums, products),
            3 => self.add_numbers::<3>(n, sums, products),
            4 => self.add_numbers::<4>(n, sums, products),
            5 => self.add_numbers::<5>(n, sums, products),
            6 => self.add_numbers::<6>(n, sums, products),
            7 => self.add_numbers::<7>(n, sums, products),
            _ => {}
        }
    }

    fn add_numbers<const K: usize>(&mut self, n: f64, sums: &[f64], products: &[f64]) {
        if !self.sound {
            return;
        }
        let share = 1.0 / n;
        let mut scatter = [[0.0; K]; K];
        let mut squares = 1.0;
        for i in 0..K {
            for j in 0..=i {
                let at = packed(i) + j;
                scatter[i][j] = products[at] - sums[i] * sums[j] * share;
                self.pooled[at] += scatter[i][j];
            }
            self.squares[i] += products[packed(i) + i];
            squares *= products[packed(i) + i];
        }
        self.n += n;
        if n < (K + 2) as f64 {
            self.n_small += n;
            for (i, row) in scatter.iter().enumerate() {
                for (j, of_pair) in row[..=i].iter().enumerate() {
                    self.small[packed(i) + j] += of_pair;
                }
            }
            return;
        }
        // Rows times their pivots, and rows: no roots.
        let (mut scaled, mut factor) = ([[0.0; K]; K], [[0.0; K]; K]);
        let mut inverses = [0.0; K];
        let (mut pivots, mut det, mut trace, mut positive) = (1.0, 1.0, 0.0, true);
        for i in 0..K {
            let mut pivot = scatter[i][i];
            for j in 0..i {
                let before: f64 = (0..j).map(|t| scaled[i][t] * factor[j][t]).sum();
                scaled[i][j] = scatter[i][j] - before;
                factor[i][j] = scaled[i][j] * inverses[j];
                pivot -= scaled[i][j] * factor[i][j];
            }
            // One that is not a number is not positive either.
            positive &= pivot > 0.0;
            if i + 1 < K {
                inverses[i] = 1.0 / pivot;
            }
            pivots *= pivot;
            det *= pivot * share;
            trace += scatter[i][i] * share;
        }
        let flatness = squares / pivots;
        self.sound = positive && flatness < MOST_FLATNESS && clearly_sound(K, det, trace);
        self.total -= n / 2.0 * (det.ln() + K as f64 * (1.0 + LN_2_PI));
        self.error += 32.0 * K as f64 * n * n * f64::EPSILON * flatness;
    }

    /// The log-likelihood, but for what depends on the number of all rows alone, and by how much it may be wrong.
    pub fn value(&self) -> Option<(f64, f64)> {
        let (k, mut total, mut error) = (self.k, self.total, self.error);
        if !self.sound {
            return None;
        }
        if self.n_small > 0.0 {
            let covariance: Vec<f64> = self.pooled[..packed(k)].iter().map(|s| s / self.n).collect();
            let mut factor = vec![0.0; packed(k)];
            if !factor_from(&covariance, &mut factor, 0, k, 0.0) {
                return None;
            }
            let diagonal = |of: &[f64], i: usize| of[packed(i) + i];
            let square = |i: usize| self.squares[i] / self.n / (diagonal(&factor, i) * diagonal(&factor, i));
            let flatness: f64 = (0..k).map(square).product();
            let log_det = log_det(&factor, 0, k);
            let trace = (0..k).map(|i| diagonal(&covariance, i)).sum();
            if !(flatness < MOST_FLATNESS && clearly_sound(k, log_det.exp(), trace)) {
                return None;
            }
            let traces = trace_of_product(&inverse(&factor, k), &self.small[..packed(k)], k);
            total -= self.n_small / 2.0 * (log_det + k as f64 * LN_2_PI) + 0.5 * traces;
            // Of the inverse, by the square; the scatters of small cells are at most the pooled one.
            error += 64.0 * (k * k) as f64 * self.n * self.n * f64::EPSILON * flatness * flatness;
        }
        Some((total, error + 1e-9 * total.abs()))
    }
}

/// Whether a covariance has a smallest eigenvalue well above the least: it is at least the determinant by the largest
/// product that the others can have.
fn clearly_sound(k: usize, det: f64, trace: f64) -> bool {
    det * ((k as f64 - 1.0) / trace).powi(k as i32 - 1) > 2.0 * LEAST_EIGENVALUE
}
