//! A table over binned parents: every joint configuration of bins and levels has its own distribution.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use super::{Model, Outline, Values};
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Var, Variable};

/// A table of distributions over bins of continuous and ordinal parents and levels of categorical ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullTable {
    /// Per parent: its cuts, strictly ascending, in stored units or codes; `None` for levels without order.
    cuts: Vec<Option<Vec<f64>>>,
    cells: Cells,
}

/// The bin of a value: how many cuts are at most it. Values beyond the outer cuts are in the end bins.
pub fn bin(cuts: &[f64], x: f64) -> u32 {
    cuts.partition_point(|&cut| cut <= x) as u32
}

impl FullTable {
    /// Puts cuts and cells together; configurations of the cells are bins where there are cuts, codes elsewhere.
    pub fn new(cuts: Vec<Option<Vec<f64>>>, cells: Cells) -> Self {
        Self { cuts, cells }
    }

    /// Per parent: its cuts, or `None` for levels without order.
    pub fn cuts(&self) -> &[Option<Vec<f64>>] {
        &self.cuts
    }

    /// The cells behind the cuts.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }
}

impl Model for FullTable {
    fn child(&self) -> Var {
        self.cells.child()
    }

    fn parents(&self) -> &[Var] {
        self.cells.parents()
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        let binned = |(value, cuts): (&Value, &Option<Vec<f64>>)| match (value, cuts) {
            (&Value::Real(x), Some(cuts)) => Value::Code(bin(cuts, x)),
            (&Value::Code(code), Some(cuts)) => Value::Code(bin(cuts, f64::from(code))),
            (&other, None) => other,
        };
        let codes: smallvec::SmallVec<[Value; 8]> = parents.iter().zip(&self.cuts).map(binned).collect();
        self.cells.predictive(&codes)
    }

    fn n_parameters(&self) -> usize {
        self.cells.n_parameters()
    }

    fn thresholds(&self, position: usize) -> Option<Vec<f64>> {
        self.cuts.get(position).cloned().flatten()
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let n_codes = |position: usize| match &self.cuts[position] {
            Some(cuts) => cuts.len() + 1,
            None => variables[self.parents()[position]].n_levels().unwrap_or(0),
        };
        let values = |position: usize, code: u32| match &self.cuts[position] {
            Some(cuts) => {
                let code = code as usize;
                Values::Range(code.checked_sub(1).map(|below| cuts[below]), cuts.get(code).copied())
            }
            None => Values::Codes(vec![code]),
        };
        Some(self.cells.outline_with(n_codes, values))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        self.cells.check_with(variables, |position| self.cuts.get(position).is_some_and(Option::is_some))?;
        let name = &variables[self.child()].name;
        let bad = |problem: &str| Err(Error::Shape(format!("the table of '{name}' {problem}")));
        if self.cuts.len() != self.parents().len() {
            return bad("has not one list of cuts per parent");
        }
        let ascending = |cuts: &Vec<f64>| cuts.iter().all(|c| c.is_finite()) && cuts.windows(2).all(|w| w[0] < w[1]);
        if !self.cuts.iter().flatten().all(ascending) {
            return bad("has cuts out of order");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cells::Cell;

    fn model() -> FullTable {
        let coin = |p: f64| Predictive::Levels { probabilities: vec![1.0 - p, p] };
        let cell = |codes: &[u32], p| Cell { codes: codes.to_vec(), n_rows: 3, distribution: coin(p) };
        let cells = vec![cell(&[0, 1], 0.1), cell(&[1, 1], 0.2), cell(&[2, 1], 0.3)];
        FullTable::new(vec![Some(vec![-1.0, 0.5]), None], Cells::new(2, vec![0, 1], cells, coin(0.5)))
    }

    fn p(model: &FullTable, x: f64, code: u32) -> f64 {
        model.predictive(&[Value::Real(x), Value::Code(code)]).log_density(Value::Code(1)).exp()
    }

    #[test]
    fn a_value_at_a_cut_goes_up_and_values_outside_go_to_the_end_bins() {
        let model = model();
        for (x, expected) in [(-99.0, 0.1), (-1.1, 0.1), (-1.0, 0.2), (0.49, 0.2), (0.5, 0.3), (99.0, 0.3)] {
            assert!((p(&model, x, 1) - expected).abs() < 1e-15, "{x}");
        }
        assert!((p(&model, 0.0, 0) - 0.5).abs() < 1e-15, "an unseen cell predicts as the prior does");
        assert_eq!(model.thresholds(0), Some(vec![-1.0, 0.5]));
        assert_eq!(model.thresholds(1), None);
    }

    #[test]
    fn json_goes_there_and_back() {
        let model = crate::model::LocalModel::FullTable(model());
        let json = serde_json::to_string(&model).unwrap();
        assert!(json.contains(r#""model":"full_table""#));
        assert_eq!(serde_json::from_str::<crate::model::LocalModel>(&json).unwrap(), model);
    }
}
