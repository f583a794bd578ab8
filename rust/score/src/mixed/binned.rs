//! Numbers in equal-frequency bins, and counts from there on: the multinomial score of a mixed table, and what the
//! discretising conditional Gaussian score does for a child with levels.
//!
//! Break points are `x[j floor(n / b)]` of the sorted column for `j = 1 .. b - 1`; a value at a break goes up. All `b`
//! bins count as declared levels, whether ties left any of them empty or not. Rows with weights take as many places in the
//! sorted column as they weigh.

use std::sync::Arc;

use crate::classic::Prepared;
use crate::classic::likelihood::Penalty;
use crate::error::{Error, Result};
use crate::leaf::LeafPriors;
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::model::full_table::{FullTable, bin};
use crate::prior::GraphPrior;
use crate::table::{Codes, Column, Kind, Level, Table, Var, Variable};
use crate::weights::Weights;
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
                let mut breaks = break_points(values, table.weights().map(Weights::of_rows), bins);
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
        let binned = Table::new(variables, columns)?;
        let binned = match table.weights() {
            None => binned,
            Some(weights) => binned.with_weights(weights.clone()),
        };
        let counts = Prepared::new(&Arc::new(binned), Penalty::Bic, GraphPrior::Uniform)?;
        Ok(Self { table: table.clone(), cuts, counts })
    }

    /// Counts of a child, by bins of numbers.
    pub fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        self.counts.child(child)
    }

    /// One distribution per observed configuration of levels and bins.
    pub fn model(&self, child: Var, parents: &[Var]) -> LocalModel {
        let cells = self.cells(child, parents);
        LocalModel::FullTable(FullTable::new(parents.iter().map(|&p| self.cuts[p].clone()).collect(), cells))
    }

    fn cells(&self, child: Var, parents: &[Var]) -> Cells {
        let leaf = LeafPriors::default().leaf(&self.table, child, false);
        let (column, weights) = (self.table.column(child), self.table.weights_of(child));
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
            let (n_rows, distribution) = leaf.fit_rows(column, weights, same.iter().map(|&(_, row)| row));
            Cell { codes: same[0].0.clone(), n_rows, distribution }
        };
        let cells = rows.chunk_by(|a, b| a.0 == b.0).map(fitted).collect();
        let (_, unseen) = leaf.fit_rows(column, weights, std::iter::empty());
        Cells::new(child, parents.to_vec(), cells, unseen)
    }
}

fn break_points(values: &[f64], weights: Option<&[f64]>, bins: usize) -> Vec<f64> {
    let Some(weights) = weights else {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        if sorted.is_empty() {
            return Vec::new();
        }
        return (1..bins).map(|j| sorted[j * (sorted.len() / bins)] + 0.0).collect();
    };
    let mut rows: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // What weighs so much together, each row with those before it; sums of weights are not rounded.
    let mut total = 0.0;
    for row in &mut rows {
        total += row.1;
        row.1 = total;
    }
    let step = (total / bins as f64).floor();
    let at = |j: usize| rows.get(rows.partition_point(|row| row.1 <= j as f64 * step)).map(|row| row.0 + 0.0);
    (1..bins).filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_weights_break_where_repeated_rows_do() {
        let (values, weights) = ([0.5, -1.0, 3.0, 2.0, 0.5], [1.0, 4.0, 2.0, 3.0, 1.0]);
        let repeated: Vec<f64> =
            values.iter().zip(weights).flat_map(|(&x, w)| std::iter::repeat_n(x, w as usize)).collect();
        for bins in 2..14 {
            assert_eq!(break_points(&values, Some(&weights), bins), break_points(&repeated, None, bins), "{bins}");
        }
    }
}
