//! Log-likelihood of levels under a full table, with AIC's or BIC's penalty or none (Carvalho 2009, section 4.2).
//!
//! `LL = sum_jk N_jk ln(N_jk / N_j)`, minus `f (r - 1) q` with f = 0, 1 or `ln(N)/2`, where r is the child's number of
//! declared levels and q the product of the parents'. One pass over the rows a family; cells are a hash map, so that
//! a wide family costs its data and not its table.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{ChildScore, LocalScore};
use crate::error::Result;
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::predictive::Predictive;
use crate::table::{Codes, Table, Var};

/// What is subtracted from the log-likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalty {
    /// Nothing.
    None,
    /// One per free parameter.
    Aic,
    /// Half of `ln N` per free parameter.
    Bic,
}

/// Parameters of the penalised log-likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Likelihood {
    /// The penalty.
    pub penalty: Penalty,
}

const ADVICE: &str = "bin it with Binned(k) in with_types, or use a score for mixed data";

impl Likelihood {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// Never; continuous columns are refused when they are scored.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        Ok(Box::new(Prepared { table: table.clone(), penalty: self.penalty }))
    }
}

struct Prepared {
    table: Arc<Table>,
    penalty: Penalty,
}

/// Counts of the child's levels in every observed configuration of the parents.
type Counts = FxHashMap<Vec<u32>, Vec<u32>>;

impl Prepared {
    fn counts(&self, child: Var, parents: &[Var]) -> Result<Counts> {
        let response = self.table.codes(child, ADVICE)?;
        let columns = parents.iter().map(|&p| self.table.codes(p, ADVICE)).collect::<Result<Vec<&Codes>>>()?;
        let r = self.levels(child);
        let mut counts = Counts::default();
        let mut key = vec![0; parents.len()];
        for row in 0..self.table.n_rows() {
            for (slot, column) in key.iter_mut().zip(&columns) {
                *slot = column.get(row) as u32;
            }
            if let Some(cell) = counts.get_mut(&key) {
                cell[response.get(row)] += 1;
            } else {
                let mut cell = vec![0; r];
                cell[response.get(row)] = 1;
                counts.insert(key.clone(), cell);
            }
        }
        Ok(counts)
    }

    fn levels(&self, var: Var) -> usize {
        self.table.variable(var).n_levels().unwrap_or(1)
    }
}

impl LocalScore for Prepared {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        self.table.codes(child, ADVICE)?;
        Ok(Box::new(Scratch { score: self, child }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        let r = self.levels(child);
        // Laplace smoothing: a row never gets probability zero for a level that happened not to occur in its cell.
        let smooth = |counts: &[u32]| {
            let total: u32 = counts.iter().sum();
            let probabilities = counts.iter().map(|&n| (f64::from(n) + 1.0) / (f64::from(total) + r as f64)).collect();
            Predictive::Levels { probabilities }
        };
        let cell = |(codes, counts): (Vec<u32>, Vec<u32>)| {
            let n_rows = counts.iter().map(|&n| n as usize).sum();
            Cell { codes, n_rows, distribution: smooth(&counts) }
        };
        let cells = self.counts(child, parents)?.into_iter().map(cell).collect();
        Ok(LocalModel::Cells(Cells::new(child, parents.to_vec(), cells, smooth(&vec![0; r]))))
    }
}

struct Scratch<'a> {
    score: &'a Prepared,
    child: Var,
}

impl ChildScore for Scratch<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let counts = self.score.counts(self.child, parents)?;
        // Summed in the order of the configurations, not of the hash map, so that the last bit never depends on it.
        let mut cells: Vec<_> = counts.into_iter().collect();
        cells.sort_unstable();
        let n_ln_n = |n: u32| if n == 0 { 0.0 } else { f64::from(n) * f64::from(n).ln() };
        let log_likelihood: f64 =
            cells.iter().map(|(_, c)| c.iter().map(|&n| n_ln_n(n)).sum::<f64>() - n_ln_n(c.iter().sum())).sum();
        let q: f64 = parents.iter().map(|&p| self.score.levels(p) as f64).product();
        let free = (self.score.levels(self.child) as f64 - 1.0) * q;
        let n_rows = self.score.table.n_rows() as f64;
        Ok(match self.score.penalty {
            Penalty::None => log_likelihood,
            Penalty::Aic => log_likelihood - free,
            Penalty::Bic => log_likelihood - if free == 0.0 { 0.0 } else { 0.5 * n_rows.max(1.0).ln() * free },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predictive::Value;
    use crate::score::registry::ScoreSpec;
    use crate::table::{Column, Kind, Level, Variable};

    fn table() -> Arc<Table> {
        let letters = |name: &str| Variable {
            name: name.into(),
            kind: Kind::Categorical { levels: (0..2).map(Level::Int).collect() },
        };
        let column = |codes: &[u32]| Column::Codes(Codes::pack(codes, 2));
        let columns = vec![column(&[0, 0, 1, 1, 1]), column(&[0, 1, 1, 1, 1])];
        Arc::new(Table::new(vec![letters("x"), letters("y")], columns).unwrap())
    }

    #[test]
    fn bic_of_a_hand_counted_table() {
        let score = ScoreSpec::parse(r#"{"score":"likelihood","penalty":"bic"}"#).unwrap().prepare(&table()).unwrap();
        // y given x: x=0 has one of each, x=1 has three ones.
        let expected = 2.0 * 0.5_f64.ln() - 0.5 * 5.0_f64.ln() * 2.0;
        assert!((score.score(1, &[0]).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn the_model_counts_what_the_score_counted() {
        let score = Likelihood { penalty: Penalty::None }.prepare(&table()).unwrap();
        let model = score.model(1, &[0]).unwrap();
        let p = model.predictive(&[Value::Code(1)]).log_density(Value::Code(1)).exp();
        assert!((p - 4.0 / 5.0).abs() < 1e-12);
    }

    #[test]
    fn an_unknown_score_or_parameter_is_refused() {
        assert!(ScoreSpec::parse(r#"{"score":"likelyhood"}"#).is_err());
        assert!(ScoreSpec::parse(r#"{"score":"likelihood","penalty":"bic","gamma":1}"#).is_err());
    }
}
