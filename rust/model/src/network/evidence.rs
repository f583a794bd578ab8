//! What a question is about: rows with gaps, what is known of variables short of their values, and which values were set.

use crate::error::{Error, Result};
use crate::frame::{Cells, Rows};
use crate::predictive::Value;
use crate::table::{Var, Variable};

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

/// A variable of which nothing is known in any row.
static NOTHING: Cells = Cells::Absent;

/// What is known of the variables of a network, row by row. It borrows its rows, so that to forget a column copies nothing.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    columns: Vec<&'a Cells>,
    n_rows: usize,
    /// What is known of variables in every row, short of their values.
    limits: Vec<(Var, Within)>,
    set: Vec<Var>,
}

impl<'a> Evidence<'a> {
    /// Rows as observed.
    ///
    /// # Errors
    /// If they are not rows of these variables, see [`Rows::check`].
    pub fn new(variables: &[Variable], rows: &'a Rows) -> Result<Self> {
        rows.check(variables)?;
        let columns = rows.columns().iter().collect();
        Ok(Self { columns, n_rows: rows.n_rows(), limits: Vec::new(), set: Vec::new() })
    }

    /// One row of which nothing is known.
    pub fn nothing(n_vars: usize) -> Self {
        Self { columns: vec![&NOTHING; n_vars], n_rows: 1, limits: Vec::new(), set: Vec::new() }
    }

    /// The same with variables known to lie within limits in every row, each without a column of its own.
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
            if self.has(*var) || limits[..i].iter().any(|(v, _)| v == var) {
                return bad("is given twice", "give its values or a limit, once");
            }
        }
        self.limits = limits;
        Ok(self)
    }

    /// The same with the values of some variables set by intervention: they say nothing about their parents.
    #[must_use]
    pub fn with_set(mut self, set: &[Var]) -> Self {
        set.clone_into(&mut self.set);
        self
    }

    /// The same without a column: a target's own values are no evidence about it.
    #[must_use]
    pub fn without(mut self, var: Var) -> Self {
        self.columns[var] = &NOTHING;
        self
    }

    /// What is known of variables in every row, short of their values.
    pub(super) fn limits(&self) -> &[(Var, Within)] {
        &self.limits
    }

    /// The variables whose values were set.
    pub(super) fn set(&self) -> &[Var] {
        &self.set
    }

    /// Number of rows.
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// What is known of a variable in a row.
    #[inline]
    pub(super) fn get(&self, var: Var, row: usize) -> Option<Value> {
        self.columns[var].get(row)
    }

    /// True if a variable has a column.
    pub(super) fn has(&self, var: Var) -> bool {
        !matches!(self.columns[var], Cells::Absent)
    }

    /// True if a variable has values in some rows and not in others.
    pub(super) fn may_miss(&self, var: Var) -> bool {
        self.columns[var].may_miss()
    }
}
