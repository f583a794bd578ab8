//! One shared matrix of cross-products, kept by pairs of variables: each variable stands for one or more columns.
//!
//! A pair's block is computed when it is first asked for and then shared by all threads, so a score is the assembly of a
//! small matrix and its Cholesky factor, whatever the number of rows.

use std::sync::OnceLock;

use super::cholesky::packed;
use crate::control::Halt;
use crate::error::Result;
use crate::table::Var;

/// Blocks of a symmetric matrix by variables.
pub struct Blocks<F> {
    widths: Vec<usize>,
    /// For each pair `(v, w <= v)`, in packed order: `widths[v]` rows of `widths[w]` entries.
    kept: Vec<OnceLock<Box<[f64]>>>,
    make: F,
}

impl<F: Fn(Var, Var, &Halt) -> Result<Box<[f64]>>> Blocks<F> {
    /// Blocks of these numbers of columns; `make(v, w, halt)` for `w <= v` computes one, row after row of `v`, unless
    /// `halt` is due.
    pub fn new(widths: Vec<usize>, make: F) -> Self {
        let kept = (0..packed(widths.len())).map(|_| OnceLock::new()).collect();
        Self { widths, kept, make }
    }

    /// Number of columns of a variable.
    pub fn width(&self, var: Var) -> usize {
        self.widths[var]
    }

    fn block(&self, v: Var, w: Var, halt: &Halt) -> Result<&[f64]> {
        let place = &self.kept[packed(v) + w];
        if place.get().is_none() {
            let made = (self.make)(v, w, halt)?;
            return Ok(place.get_or_init(|| made));
        }
        Ok(place.get().map_or(&[], |made| made))
    }

    /// Appends to a packed lower triangle of the columns of `before` the rows of the columns of `var`.
    ///
    /// # Errors
    /// `Error::Interrupted` once `halt` is due.
    pub fn append(&self, out: &mut Vec<f64>, before: &[Var], var: Var, halt: &Halt) -> Result<()> {
        let width = self.widths[var];
        for row in 0..width {
            for &other in before {
                let columns = self.widths[other];
                if other < var {
                    out.extend_from_slice(&self.block(var, other, halt)?[row * columns..(row + 1) * columns]);
                } else {
                    let block = self.block(other, var, halt)?;
                    out.extend((0..columns).map(|column| block[column * width + row]));
                }
            }
            out.extend_from_slice(&self.block(var, var, halt)?[row * width..=row * width + row]);
        }
        Ok(())
    }
}
