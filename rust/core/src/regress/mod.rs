//! Building blocks of regressions within cells: what the scores for mixed data and their models are made of.
//!
//! [`columns`] puts rows in a canonical order and numbers on a common scale; [`cells`] divides rows by the levels of some
//! variables and keeps the cross-product sums of pairs of numbers within each cell; [`cholesky`] factors the small
//! matrices made of them; [`blocks`] keeps one shared matrix of cross-products by pairs of variables;
//! [`least_squares`] and [`logistic`] fit; [`ranks`] and [`features`] make orthonormal features of columns.

pub mod blocks;
pub mod cells;
pub mod cholesky;
pub mod columns;
pub mod features;
pub mod least_squares;
pub mod logistic;
pub mod ranks;

/// The Legendre polynomial of a degree.
pub fn legendre(degree: usize, u: f64) -> f64 {
    let (mut before, mut now) = (1.0, u);
    for t in 1..degree {
        let t = t as f64;
        (before, now) = (now, ((2.0 * t + 1.0) * u * now - t * before) / (t + 1.0));
    }
    if degree == 0 { 1.0 } else { now }
}
