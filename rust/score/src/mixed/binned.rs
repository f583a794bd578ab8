//! Numbers in equal-frequency bins, and counts from there on: the multinomial score of a mixed table, and what the
//! discretising conditional Gaussian score does for a child with levels.
//!
//! Break points are `x[j floor(n / b)]` of the sorted column for `j = 1 .. b - 1`; a value at a break goes up. All `b`
//! bins count as declared levels, whether ties left any of them empty or not.

use std::sync::Arc;

use crate::classic::Prepared;
use crate::classic::likelihood::Penalty;
use crate::error::{Error, Result};
use crate::leaf::{Leaf, LeafModel, LeafPriors};
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::model::full_table::{FullTable, bin};
use crate::prior::GraphPrior;
use crate::table::{Codes, Column, Kind, Level, Table, Var, Variable};
use crate::{ChildScore, LocalScore};

/// A table with its numbers in bins.
pub(super) struct Binned {
    table: Arc<Table>,
    /// The distinct break points of numbers.
    cuts: Vec<Option<Vec<f64>>>,
    counts: Prepared<Penalty>,
}

/// The most bins that make sense.
const MOST_BINS: usize = 256;

/// Whether a number can be cut into so many bins.
///
/// # Errors
/// If the number of bins is out of range.
pub(super) fn check(bins: usize) -> Result<()> {
    if (2..=MOST_BINS).contains(&bins) {
        return Ok(());
    }
    Err(Error::parameter("bins", &bins, format!("must be between 2 and {MOST_BINS}")))
}

impl Binned {
    /// Bins the numbers of a table.
    ///
    /// # Errors
    /// If the number of bins is out of range.
    pub fn new(table: &Arc<Table>, bins: usize) -> Result<Self> {
        check(bins)?;
        let mut cuts = Vec::new();
        let (mut variables, mut columns) = (Vec::new(), Vec::new());
        for var in 0..table.n_vars() {
            let variable = table.variable(var).clone();
            if let Column::Reals(values) = table.column(var) {
                let mut breaks = break_points(values, bins);
                let codes: Vec<u32> = values.iter().map(|&x| bin(&breaks, x)).collect();
                columns.push(Column::Codes(Codes::pack(&codes, bins)));
                let levels = (0..bins as i64).map(Level::Int).collect();
                variables.push(Variable { name: variable.name, kind: Kind::Ordinal { levels } });
                breaks.dedup();
                cuts.push(Some(breaks));
            } else {
                columns.push(table.column(var).clone());
                variables.push(variable);
                cuts.push(None);
            }
        }
        let counts = Prepared::new(&Arc::new(Table::new(variables, columns)?), Penalty::Bic, GraphPrior::Uniform)?;
        Ok(Self { table: table.clone(), cuts, counts })
    }

    /// Counts of a child, by bins of numbers.
    pub fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        self.counts.child(child)
    }

    /// One distribution per observed configuration of levels and bins.
    pub fn model(&self, child: Var, parents: &[Var]) -> LocalModel {
        let priors = LeafPriors::default();
        let cells = match (priors.leaf(&self.table, child, false), self.table.column(child)) {
            (Leaf::Categorical(leaf), Column::Codes(c)) => self.cells(&leaf, |row| c.get(row) as u32, child, parents),
            (Leaf::Ordinal(leaf), Column::Codes(c)) => self.cells(&leaf, |row| c.get(row) as u32, child, parents),
            (Leaf::Normal(leaf), Column::Reals(y)) => self.cells(&leaf, |row| y[row], child, parents),
            _ => unreachable!("leaves are of their column's kind"),
        };
        LocalModel::FullTable(FullTable::new(parents.iter().map(|&p| self.cuts[p].clone()).collect(), cells))
    }

    fn cells<L: LeafModel>(&self, leaf: &L, value: impl Fn(usize) -> L::Value, child: Var, parents: &[Var]) -> Cells {
        let codes = |row: usize| -> Vec<u32> {
            let code = |&p: &Var| match (self.table.column(p), &self.cuts[p]) {
                (Column::Reals(x), Some(cuts)) => bin(cuts, x[row]),
                (Column::Codes(c), _) => c.get(row) as u32,
                (Column::Reals(_), None) => unreachable!("numbers have cuts"),
            };
            parents.iter().map(code).collect()
        };
        let mut rows: Vec<(Vec<u32>, usize)> = (0..self.table.n_rows()).map(|row| (codes(row), row)).collect();
        rows.sort();
        let fitted = |same: &[(Vec<u32>, usize)]| {
            let mut stat = leaf.empty();
            for &(_, row) in same {
                leaf.observe(&mut stat, value(row));
            }
            Cell { codes: same[0].0.clone(), n_rows: same.len(), distribution: leaf.fit(&stat) }
        };
        let cells = rows.chunk_by(|a, b| a.0 == b.0).map(fitted).collect();
        Cells::new(child, parents.to_vec(), cells, leaf.fit(&leaf.empty()))
    }
}

fn break_points(values: &[f64], bins: usize) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() {
        return Vec::new();
    }
    (1..bins).map(|j| sorted[j * (sorted.len() / bins)] + 0.0).collect()
}
