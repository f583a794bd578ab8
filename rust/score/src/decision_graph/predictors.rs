//! The table as decision graphs read it: every predictor as codes, with the ways it may be split.
//!
//! Categories split by level, grades by level (and, as an extension, by threshold), numbers (an extension) at the midpoint
//! of their dyadic interval, by the bins of [`crate::tree::bins`].

use std::sync::Arc;

use crate::error::Result;
use crate::table::{Codes, Column, Kind, Table, Var};
use crate::tree::bins::Cuts;
use crate::tree::key::Coded;

/// What a user with a number in a discrete table is told.
pub const ADVICE: &str = "a decision graph needs levels: bin it with Binned(k) in with_types; as a parent a number may \
                          also be halved as PCART does: DecisionGraph(thresholds=True)";

/// How a predictor may be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// One level against the rest; all levels.
    Levels,
    /// Also lower levels against higher ones.
    Thresholds,
    /// At the midpoint of its dyadic interval only.
    Halvings,
}

/// One predictor.
#[derive(Clone, Debug)]
pub struct Predictor {
    /// Codes by row.
    pub codes: Codes,
    /// Number of levels, or of bins.
    pub k: usize,
    /// How it may be split.
    pub ways: Ways,
}

/// All columns of a table.
#[derive(Debug)]
pub struct Predictors {
    table: Arc<Table>,
    /// By variable; `None` for numbers that may not be used.
    columns: Vec<Option<Predictor>>,
    coded: Option<Coded>,
}

impl Predictors {
    /// Of a table; numbers are binned, and grades have thresholds, if `thresholds` says so.
    pub fn new(table: &Arc<Table>, thresholds: bool, max_splits: u32) -> Self {
        let numbers = table.variables().iter().any(crate::table::Variable::is_continuous);
        let coded = (thresholds && numbers).then(|| Coded::new(table, max_splits, Cuts::Range));
        let column = |v: Var| match (table.column(v), &table.variable(v).kind) {
            (Column::Codes(codes), kind) => {
                let ordered = thresholds && matches!(kind, Kind::Ordinal { .. });
                let ways = if ordered { Ways::Thresholds } else { Ways::Levels };
                Some(Predictor { codes: codes.clone(), k: table.variable(v).n_levels().unwrap_or(0), ways })
            }
            (Column::Reals(_), _) => coded.as_ref().map(|coded| {
                let bins: Vec<u32> = coded.codes[v].iter().map(|&bin| u32::from(bin)).collect();
                let k = 1 << max_splits;
                Predictor { codes: Codes::pack(&bins, k), k, ways: Ways::Halvings }
            }),
        };
        let columns = (0..table.n_vars()).map(column).collect();
        Self { table: table.clone(), columns, coded }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Whether these variables can be parents.
    ///
    /// # Errors
    /// If one is a number, and those may not be used.
    pub fn check(&self, vars: &[Var]) -> Result<()> {
        vars.iter().try_for_each(|&var| self.get(var).map(|_| ()))
    }

    /// A predictor.
    ///
    /// # Errors
    /// If it is a number, and those may not be used.
    pub fn get(&self, var: Var) -> Result<&Predictor> {
        self.columns[var].as_ref().map_or_else(|| Err(self.table.codes(var, ADVICE).map(|_| ()).unwrap_err()), Ok)
    }

    /// Where a bin of a number begins, in stored units.
    ///
    /// # Panics
    /// If the variable has no bins.
    pub fn threshold(&self, var: Var, bin: u32) -> f64 {
        let bins = self.coded.as_ref().and_then(|coded| coded.bins[var].as_ref());
        bins.expect("only numbers are halved").threshold(bin)
    }
}
