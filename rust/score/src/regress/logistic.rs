//! Multinomial logistic regression by Newton's method, with a small ridge.
//!
//! The first level is the reference; every other has its log-odds to it, linear in the columns of a [`Basis`] scaled to unit
//! mean square. The ridge keeps separable data finite and does not move others; the likelihood is reported without it. Steps
//! are halved until the penalised likelihood rises, so the end does not depend on where the fit began: it always begins
//! at the levels' shares.

use super::cells::sum;
use super::cholesky::{backward, factor_from, forward, packed};
use super::least_squares::Basis;
use crate::control::Halt;

/// A fit: the likelihood and what it was reached with.
pub struct Logistic {
    /// Without the ridge.
    pub log_likelihood: f64,
    /// Per level after the first, coefficients on the unit-mean-square basis.
    pub coefficients: Vec<Vec<f64>>,
}

const RIDGE: f64 = 1e-6;
const MOST_STEPS: usize = 100;
/// Newton's method squares its error, so a step that promises less than this was the last that matters.
const LEAST_GAIN: f64 = 1e-9;

/// Fits levels `0..k`, every one of which occurs, to the columns of a basis whose first column is constant, both times the roots
/// of the rows' weights if they have some. It ends soon after what the basis heeds is due, with a result to be thrown away.
pub fn fit(basis: &Basis, (levels, roots): (&[u32], Option<&[f64]>), k: usize) -> Logistic {
    if basis.halt().is_due() {
        return Logistic { log_likelihood: f64::NAN, coefficients: vec![vec![0.0; basis.rank()]; k - 1] };
    }
    let n = levels.len();
    let weights: Option<Vec<f64>> = roots.map(|roots| roots.iter().map(|root| root * root).collect());
    let weight = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]);
    let mut counts = vec![0.0_f64; k];
    for (row, &y) in levels.iter().enumerate() {
        counts[y as usize] += weight(row);
    }
    let root = counts.iter().sum::<f64>().sqrt();
    let column = |q: &[f64]| match roots {
        None => q.iter().map(|x| x * root).collect(),
        Some(roots) => q.iter().zip(roots).map(|(x, own)| x / own * root).collect(),
    };
    let columns: Vec<Vec<f64>> = basis.columns().map(column).collect();
    let p = columns.len();
    let free = k - 1;
    let mut b = vec![0.0; free * p];
    let sign = columns[0][0].signum();
    for j in 0..free {
        b[j * p] = sign * (counts[j + 1] / counts[0]).ln();
    }
    let weights = weights.as_deref();
    let mut state = State { columns: &columns, levels, weights, k, shares: vec![0.0; n * k], halt: basis.halt() };
    let mut log_likelihood = state.evaluate(&b);
    let penalised =
        |log_likelihood: f64, b: &[f64]| log_likelihood - RIDGE / 2.0 * b.iter().map(|x| x * x).sum::<f64>();
    for _ in 0..MOST_STEPS {
        if state.halt.is_due() {
            break;
        }
        let (gradient, hessian) = state.derivatives(&b);
        let mut step = gradient.clone();
        let mut factor = vec![0.0; packed(step.len())];
        if !factor_from(&hessian, &mut factor, 0, step.len(), 0.0) {
            break;
        }
        forward(&factor, &mut step);
        backward(&factor, &mut step);
        let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
        let before = penalised(log_likelihood, &b);
        let mut length = 1.0;
        loop {
            let next: Vec<f64> = b.iter().zip(&step).map(|(b, s)| b + length * s).collect();
            let reached = state.evaluate(&next);
            if penalised(reached, &next) >= before - 1e-12 * before.abs() {
                b = next;
                log_likelihood = reached;
                break;
            }
            length /= 2.0;
            if length < 1e-10 {
                log_likelihood = state.evaluate(&b);
                break;
            }
        }
        if gain < LEAST_GAIN || length < 1e-10 {
            break;
        }
    }
    Logistic { log_likelihood, coefficients: b.chunks(p).map(<[f64]>::to_vec).collect() }
}

struct State<'a> {
    columns: &'a [Vec<f64>],
    levels: &'a [u32],
    /// How often each row counts; none where each counts once.
    weights: Option<&'a [f64]>,
    k: usize,
    /// Level after level, a probability per row.
    shares: Vec<f64>,
    halt: &'a Halt,
}

impl State<'_> {
    /// The log-likelihood of coefficients; keeps the probabilities.
    fn evaluate(&mut self, b: &[f64]) -> f64 {
        let (n, p) = (self.levels.len(), self.columns.len());
        self.shares.fill(0.0);
        for j in 1..self.k {
            if self.halt.is_due() {
                return f64::NEG_INFINITY;
            }
            let own = &mut self.shares[j * n..(j + 1) * n];
            for (column, b) in self.columns.iter().zip(&b[(j - 1) * p..]) {
                own.iter_mut().zip(column).for_each(|(eta, x)| *eta += b * x);
            }
        }
        let mut total = 0.0;
        for (row, &y) in self.levels.iter().enumerate() {
            let eta = |j: usize| self.shares[j * n + row];
            let top = (0..self.k).map(eta).fold(f64::NEG_INFINITY, f64::max);
            let own = eta(y as usize) - top;
            let mut all = 0.0;
            for j in 0..self.k {
                let e = (self.shares[j * n + row] - top).exp();
                self.shares[j * n + row] = e;
                all += e;
            }
            (0..self.k).for_each(|j| self.shares[j * n + row] /= all);
            let log = own - all.ln();
            total += self.weights.map_or(log, |weights| weights[row] * log);
        }
        total
    }

    /// Gradient and negative Hessian (packed) of the penalised log-likelihood at what was evaluated last.
    fn derivatives(&self, b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, p, free) = (self.levels.len(), self.columns.len(), self.k - 1);
        let share = |j: usize| &self.shares[(j + 1) * n..(j + 2) * n];
        let mut gradient = Vec::with_capacity(free * p);
        let mut rest = vec![0.0; n];
        for j in 0..free {
            for ((r, s), &y) in rest.iter_mut().zip(share(j)).zip(self.levels) {
                *r = f64::from(u8::from(y as usize == j + 1)) - s;
            }
            if let Some(own) = self.weights {
                rest.iter_mut().zip(own).for_each(|(r, own)| *r *= own);
            }
            for (a, x) in self.columns.iter().enumerate() {
                gradient.push(super::cells::dot(x, &rest) - RIDGE * b[j * p + a]);
            }
        }
        let mut hessian = vec![0.0; packed(free * p)];
        let (mut weights, mut weighted) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..free {
            for j in 0..=i {
                for ((w, s), t) in weights.iter_mut().zip(share(i)).zip(share(j)) {
                    *w = if i == j { s * (1.0 - s) } else { -s * t };
                }
                if let Some(own) = self.weights {
                    weights.iter_mut().zip(own).for_each(|(w, own)| *w *= own);
                }
                for a in 0..p {
                    if self.halt.is_due() {
                        return (gradient, hessian);
                    }
                    weighted.iter_mut().zip(&weights).zip(&self.columns[a]).for_each(|((v, w), x)| *v = w * x);
                    let row = i * p + a;
                    let last = if i == j { a } else { p - 1 };
                    for (c, x) in self.columns[..=last].iter().enumerate() {
                        hessian[packed(row) + j * p + c] = super::cells::dot(&weighted, x);
                    }
                }
            }
        }
        (0..free * p).for_each(|i| hessian[packed(i) + i] += RIDGE);
        (gradient, hessian)
    }
}

/// The log-likelihood of counts under their own shares.
pub fn of_shares(counts: &[f64]) -> f64 {
    let n = sum(counts);
    counts.iter().filter(|c| **c > 0.0).map(|c| c * (c / n).ln()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn basis(x: &[f64]) -> Basis {
        let mut basis = Basis::default();
        basis.clear(x.len());
        assert!(basis.push(x.iter().map(|_| 1.0)) && basis.push(x.iter().copied()));
        basis
    }

    proptest! {
        #[test]
        fn no_other_coefficients_fit_better(rows in prop::collection::vec((-2.0..2.0_f64, 0..3_u32), 30..60),
                                            moves in prop::collection::vec(-0.1..0.1_f64, 4)) {
            let levels: Vec<u32> = rows.iter().map(|r| r.1).collect();
            prop_assume!((0..3).all(|k| levels.contains(&k)));
            let x: Vec<f64> = rows.iter().map(|r| r.0).collect();
            let basis = basis(&x);
            let fitted = fit(&basis, (&levels, None), 3);
            let root = (rows.len() as f64).sqrt();
            let columns: Vec<Vec<f64>> = basis.columns().map(|q| q.iter().map(|x| x * root).collect()).collect();
            let mut state = State { columns: &columns, levels: &levels, weights: None, k: 3, shares: vec![0.0; 3 * rows.len()], halt: basis.halt() };
            let b: Vec<f64> = fitted.coefficients.concat();
            prop_assert!((state.evaluate(&b) - fitted.log_likelihood).abs() < 1e-9);
            let moved: Vec<f64> = b.iter().zip(&moves).map(|(b, m)| b + m).collect();
            prop_assert!(state.evaluate(&moved) <= fitted.log_likelihood + 1e-5);
            let counts: Vec<f64> = (0..3).map(|k| levels.iter().filter(|y| **y == k).count() as f64).collect();
            prop_assert!(fitted.log_likelihood >= of_shares(&counts) - 1e-9);
        }
    }

    #[test]
    fn a_fit_ends_once_a_stop_is_due() {
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let levels: Vec<u32> = (0..40).map(|i| i % 3).collect();
        let control = crate::control::Control::default();
        let mut basis = basis(&x);
        basis.heed(&control.halt());
        assert!(fit(&basis, (&levels, None), 3).log_likelihood.is_finite());
        control.stop();
        assert!(fit(&basis, (&levels, None), 3).log_likelihood.is_nan());
        assert!(!basis.push(x.iter().map(|x| x * x)));
        assert_eq!(basis.rank(), 2);
    }

    #[test]
    fn separable_data_end_near_certainty() {
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let levels: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
        let fitted = fit(&basis(&x), (&levels, None), 2);
        assert!(fitted.log_likelihood > -1e-2 && fitted.log_likelihood <= 0.0, "{}", fitted.log_likelihood);
    }
}
