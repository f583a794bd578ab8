//! Rows to be explained or predicted: like a table, but any value may be missing and any column absent.

use crate::error::{Error, Result};
use crate::predictive::Value;
use crate::table::{Column, Table, Var, Variable};

/// The code that says a level is missing.
pub const MISSING: u32 = u32::MAX;

/// One column, missing values included.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// Nothing is known of this variable in any row.
    Nothing,
    /// Levels, [`MISSING`] where unknown.
    Codes(Vec<u32>),
    /// Numbers in stored units, NaN where unknown.
    Reals(Vec<f64>),
}

impl Observed {
    /// The value in a row, if it is known.
    pub fn get(&self, row: usize) -> Option<Value> {
        match self {
            Self::Nothing => None,
            Self::Codes(codes) => (codes[row] != MISSING).then(|| Value::Code(codes[row])),
            Self::Reals(reals) => (!reals[row].is_nan()).then(|| Value::Real(reals[row])),
        }
    }

    /// True if some values are there and some are not.
    pub fn may_miss(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Codes(codes) => codes.contains(&MISSING),
            Self::Reals(reals) => reals.iter().any(|x| x.is_nan()),
        }
    }
}

/// What may be known of a variable short of its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Within {
    /// How probable what is known is under each level, from 0 (it is not this one) to 1 (it may well be): in between
    /// where what is known holds for some of a level's values, as for a bin that an interval covers in part.
    Levels(Vec<f64>),
    /// It lies in `[low, high)`, in stored units; an end may be infinite.
    Between(f64, f64),
}

impl Within {
    /// How probable what is known is if this is the value: 0 or 1 for a number.
    pub fn share(&self, value: Value) -> f64 {
        match (self, value) {
            (Self::Levels(shares), Value::Code(code)) => shares[code as usize],
            (&Self::Between(low, high), Value::Real(x)) => f64::from(u8::from(low <= x && x < high)),
            _ => 0.0,
        }
    }

    /// Where a number's pieces must end so that each lies inside or outside.
    pub(super) fn cuts(&self) -> impl Iterator<Item = f64> {
        let (low, high) = if let Self::Between(low, high) = *self { (low, high) } else { (f64::NAN, f64::NAN) };
        [low, high].into_iter().filter(|end| end.is_finite())
    }
}

/// Rows of evidence about the variables of a network.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_field_names)] // `n_rows` is what it is called everywhere
pub struct Rows {
    columns: Vec<Observed>,
    n_rows: usize,
    /// What is known of variables in every row, short of their values.
    limits: Vec<(Var, Within)>,
}

impl Rows {
    /// Puts one column per variable together.
    ///
    /// # Errors
    /// If lengths differ, a code has no level, or a number is infinite.
    pub fn new(variables: &[Variable], columns: Vec<Observed>, n_rows: usize) -> Result<Self> {
        if columns.len() != variables.len() {
            return Err(Error::Shape(format!("{} columns for {} variables", columns.len(), variables.len())));
        }
        for (variable, column) in variables.iter().zip(&columns) {
            let bad = |problem: String, advice: &str| Err(Error::column(&*variable.name, problem, advice));
            let len = match column {
                Observed::Nothing => n_rows,
                Observed::Codes(codes) => codes.len(),
                Observed::Reals(reals) => reals.len(),
            };
            if len != n_rows {
                return bad(format!("has {len} rows where the others have {n_rows}"), "give one value per row");
            }
            match (column, variable.n_levels()) {
                (Observed::Nothing, _) => {}
                (Observed::Codes(codes), Some(k)) => {
                    if let Some(row) = codes.iter().position(|&c| c != MISSING && c as usize >= k) {
                        let problem = format!("has code {} in row {row} but only {k} levels", codes[row]);
                        return bad(problem, "give a declared level, or a missing value");
                    }
                }
                (Observed::Reals(reals), None) => {
                    if let Some(row) = reals.iter().position(|x| x.is_infinite()) {
                        return bad(
                            format!("is {} in row {row}", reals[row]),
                            "give a finite number, or leave it missing",
                        );
                    }
                }
                _ => return bad("holds values of another kind".to_owned(), "make kind and values agree"),
            }
        }
        Ok(Self { columns, n_rows, limits: Vec::new() })
    }

    /// The rows of a complete table.
    pub fn of_table(table: &Table) -> Self {
        let column = |v| match table.column(v) {
            Column::Reals(x) => Observed::Reals(x.clone()),
            Column::Codes(c) => Observed::Codes(c.iter().map(|c| c as u32).collect()),
        };
        Self { columns: (0..table.n_vars()).map(column).collect(), n_rows: table.n_rows(), limits: Vec::new() }
    }

    /// One row of known values.
    ///
    /// # Errors
    /// As for [`Rows::new`].
    pub fn single(variables: &[Variable], known: &[(Var, Value)]) -> Result<Self> {
        let mut columns = vec![Observed::Nothing; variables.len()];
        for &(var, value) in known {
            columns[var] = match value {
                Value::Code(code) => Observed::Codes(vec![code]),
                Value::Real(x) => Observed::Reals(vec![x]),
            };
        }
        Self::new(variables, columns, 1)
    }

    /// The same rows with variables known to lie within limits, each without a column of its own.
    ///
    /// # Errors
    /// If a limit is not of its variable's kind, leaves nothing, or the variable has values or another limit.
    pub fn limited(mut self, variables: &[Variable], limits: Vec<(Var, Within)>) -> Result<Self> {
        for (i, (var, within)) in limits.iter().enumerate() {
            let bad = |problem: &str, advice: &str| Err(Error::column(&*variables[*var].name, problem, advice));
            let fits = match (within, variables[*var].n_levels()) {
                (Within::Levels(shares), Some(k)) => {
                    let fit = shares.iter().all(|share| (0.0..=1.0).contains(share));
                    fit && shares.len() == k && shares.iter().any(|&share| share > 0.0)
                }
                (Within::Between(low, high), None) => low < high,
                _ => false,
            };
            if !fits {
                return bad("is limited to nothing it can be", "give some of its levels, or an interval (low, high)");
            }
            if self.columns[*var] != Observed::Nothing || limits[..i].iter().any(|(v, _)| v == var) {
                return bad("is given twice", "give its values or a limit, once");
            }
        }
        self.limits = limits;
        Ok(self)
    }

    /// What is known of variables in every row, short of their values.
    pub fn limits(&self) -> &[(Var, Within)] {
        &self.limits
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// What is known of a variable in a row.
    pub fn get(&self, var: Var, row: usize) -> Option<Value> {
        self.columns[var].get(row)
    }

    /// One column.
    pub fn column(&self, var: Var) -> &Observed {
        &self.columns[var]
    }

    /// All columns.
    pub fn into_columns(self) -> Vec<Observed> {
        self.columns
    }

    /// Forgets a column: a target's own values are no evidence about it.
    #[must_use]
    pub fn without(mut self, var: Var) -> Self {
        self.columns[var] = Observed::Nothing;
        self
    }
}
