//! Rows in a table's codes and units, with gaps: what a fitted model is asked about, and what it draws.

use super::MISSING;
use crate::error::{Error, Result};
use crate::table::{Var, Variable};

/// One value of a variable: a level's code, or a number in stored units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The code of a level.
    Code(u32),
    /// A number in stored units.
    Real(f64),
}

/// One variable's values, some of them possibly missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// The frame had no such column.
    Absent,
    /// Stored (standardised) values, NaN where missing.
    Reals(Vec<f64>),
    /// Codes, [`MISSING`] where missing.
    Codes(Vec<u32>),
}

impl Cells {
    /// The value in a row, if it is known.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Codes(codes) => (codes[row] != MISSING).then(|| Value::Code(codes[row])),
            Self::Reals(reals) => (!reals[row].is_nan()).then(|| Value::Real(reals[row])),
        }
    }

    /// True if some values are there and some are not.
    pub fn may_miss(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Codes(codes) => codes.contains(&MISSING),
            Self::Reals(reals) => reals.iter().any(|x| x.is_nan()),
        }
    }

    /// That these are values of a variable.
    fn check(&self, variable: &Variable) -> Result<()> {
        let bad = |problem: String, advice: &str| Err(Error::column(&*variable.name, problem, advice));
        match (self, variable.n_levels()) {
            (Self::Absent, _) => Ok(()),
            (Self::Codes(codes), Some(k)) => {
                codes.iter().position(|&c| c != MISSING && c as usize >= k).map_or(Ok(()), |row| {
                    let problem = format!("has code {} in row {row} but only {k} levels", codes[row]);
                    bad(problem, "give a declared level, or a missing value")
                })
            }
            (Self::Reals(reals), None) => reals.iter().position(|x| x.is_infinite()).map_or(Ok(()), |row| {
                bad(format!("is {} in row {row}", reals[row]), "give a finite number, or leave it missing")
            }),
            _ => bad("holds values of another kind".to_owned(), "make kind and values agree"),
        }
    }
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

    /// One row of known values; the other variables are absent.
    pub fn of_values(n_vars: usize, known: &[(Var, Value)]) -> Self {
        let mut columns = vec![Cells::Absent; n_vars];
        for &(var, value) in known {
            columns[var] = match value {
                Value::Code(code) => Cells::Codes(vec![code]),
                Value::Real(x) => Cells::Reals(vec![x]),
            };
        }
        Self { n_rows: 1, columns }
    }

    /// That these are rows of these variables.
    ///
    /// # Errors
    /// If there is another number of columns, values are of another kind, a code has no level, or a number is infinite.
    pub fn check(&self, variables: &[Variable]) -> Result<()> {
        if self.columns.len() != variables.len() {
            return Err(Error::Shape(format!("{} columns for {} variables", self.columns.len(), variables.len())));
        }
        variables.iter().zip(&self.columns).try_for_each(|(variable, cells)| cells.check(variable))
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The value of a variable in a row, if it is known.
    #[inline]
    pub fn get(&self, var: Var, row: usize) -> Option<Value> {
        self.columns[var].get(row)
    }

    /// All variables' cells.
    pub fn columns(&self) -> &[Cells] {
        &self.columns
    }

    /// All variables' cells, handed over.
    pub fn into_columns(self) -> Vec<Cells> {
        self.columns
    }
}
