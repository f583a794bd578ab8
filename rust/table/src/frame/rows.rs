//! Rows in a table's codes and units, with gaps: what a fitted model is asked about.

use crate::table::Var;

/// One variable's values, some of them possibly missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// The frame had no such column.
    Absent,
    /// Stored (standardised) values, NaN where missing.
    Reals(Vec<f64>),
    /// Codes, [`super::MISSING`] where missing.
    Codes(Vec<u32>),
}

/// Rows coded as a table's, variable by variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    n_rows: usize,
    columns: Vec<Cells>,
}

impl Rows {
    /// Columns of `n_rows` values each, or absent ones.
    ///
    /// # Panics
    /// If a column has another number of values.
    pub fn new(n_rows: usize, columns: Vec<Cells>) -> Self {
        for cells in &columns {
            let len = match cells {
                Cells::Absent => n_rows,
                Cells::Reals(values) => values.len(),
                Cells::Codes(codes) => codes.len(),
            };
            assert_eq!(len, n_rows, "every column has one cell a row");
        }
        Self { n_rows, columns }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The cells of one variable.
    pub fn column(&self, var: Var) -> &Cells {
        &self.columns[var]
    }

    /// All variables' cells.
    pub fn columns(&self) -> &[Cells] {
        &self.columns
    }
}
