//! One shared matrix of cross-products, kept by pairs of variables: each variable stands for one or more columns.
//!
//! A pair's block is computed when it is first asked for and then shared by all threads, so a score is the assembly of a
//! small matrix and its Cholesky factor, whatever the number of rows.

use std::sync::OnceLock;

use super::cells::Set;
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

    /// Number of columns of some variables.
    pub fn width_of(&self, vars: &[Var]) -> usize {
        vars.iter().map(|&v| self.widths[v]).sum()
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

/// The packed rows of one family after the other; those of the first parents stay while these stay the same.
#[derive(Default)]
pub struct FamilyRows {
    /// The packed lower triangle.
    pub matrix: Vec<f64>,
    standing: Set,
}

impl FamilyRows {
    /// Makes the rows of these parents. Returns how many rows at the beginning are those that stood.
    ///
    /// Nothing stands until [`Self::stand`] says so: a family that was stopped midway, or whose rows were changed, is no
    /// beginning of the next.
    ///
    /// # Errors
    /// `Error::Interrupted` once `halt` is due.
    pub fn of<F>(&mut self, blocks: &Blocks<F>, parents: &[Var], halt: &Halt) -> Result<usize>
    where
        F: Fn(Var, Var, &Halt) -> Result<Box<[f64]>>,
    {
        let same = self.standing.iter().zip(parents).take_while(|(a, b)| a == b).count();
        let done = blocks.width_of(&parents[..same]);
        self.matrix.truncate(packed(done));
        self.standing.clear();
        for i in same..parents.len() {
            blocks.append(&mut self.matrix, &parents[..i], parents[i], halt)?;
        }
        Ok(done)
    }

    /// The rows of these parents are whole, and may begin those of the next family.
    pub fn stand(&mut self, parents: &[Var]) {
        self.standing.extend_from_slice(parents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::error::Error;

    #[test]
    fn rows_that_were_not_finished_begin_no_other_family() {
        let product = |v: Var, w: Var, halt: &Halt| -> Result<Box<[f64]>> {
            halt.check()?;
            Ok(vec![(10 * v + w) as f64].into())
        };
        let blocks = Blocks::new(vec![1; 4], product);
        let mut rows = FamilyRows::default();
        assert_eq!(rows.of(&blocks, &[0, 1], &Halt::default()).unwrap(), 0);
        rows.stand(&[0, 1]);
        let control = Control::default();
        control.stop();
        let due = control.halt();
        assert!(matches!(rows.of(&blocks, &[0, 2], &due), Err(Error::Interrupted)));
        assert_eq!(rows.of(&blocks, &[0, 1], &Halt::default()).unwrap(), 0);
        assert_eq!(rows.matrix, [0.0, 10.0, 11.0]);
        rows.stand(&[0, 1]);
        assert_eq!(rows.of(&blocks, &[0, 2], &Halt::default()).unwrap(), 1);
        assert_eq!(rows.matrix, [0.0, 20.0, 22.0]);
    }
}
