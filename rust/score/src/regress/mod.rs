//! Building blocks of regressions within cells: what the scores for mixed data and their models are made of.
//!
//! [`columns`] puts rows in a canonical order and numbers on a common scale; [`cells`] divides rows by the levels of some
//! variables and keeps the cross-product sums of pairs of numbers within each cell, `lanes` adds them up, [`store`] keeps such
//! divisions;
//! [`blocks`] keeps one shared matrix of cross-products by pairs of variables; [`least_squares`] and [`logistic`] fit;
//! [`features`] makes orthonormal features of columns. [`cholesky`] and [`ranks`] stand lower: fitted models rest on them, too.

pub(crate) mod blocks;
pub mod cells;
pub(crate) mod columns;
pub mod features;
mod lanes;
pub(crate) mod least_squares;
pub(crate) mod logistic;
pub mod store;

pub use crate::numeric::{cholesky, legendre, ranks};
