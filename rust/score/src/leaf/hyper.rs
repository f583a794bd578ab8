//! Hyperparameters of the leaves: one set for all variables, and changes for single variables by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Categorical, Normal, Ordinal};
use crate::error::{Error, Result};
use crate::table::{Column, Kind, Table, Var};

/// What the priors of the three leaf distributions need; a variable reads those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeafParameters {
    /// Dirichlet parameter of each level (categorical and ordinal).
    pub alpha: f64,
    /// Prior odds of a boundary between neighbouring levels (ordinal).
    pub kappa: f64,
    /// Prior mean, in stored units (continuous).
    pub mean: f64,
    /// Weight of the prior mean, in rows (continuous).
    pub a: f64,
    /// Degrees of freedom of the prior variance (continuous).
    pub nu: f64,
    /// Scale of the prior variance, in stored units squared (continuous).
    pub lam: f64,
}

impl Default for LeafParameters {
    fn default() -> Self {
        Self { alpha: 0.5, kappa: 0.25, mean: 0.0, a: 1.0, nu: 1.0, lam: 1.0 }
    }
}

impl LeafParameters {
    /// Whether every parameter is in its range.
    ///
    /// # Errors
    /// If not, with its name and value.
    pub fn check(&self) -> Result<()> {
        let positive =
            [("alpha", self.alpha), ("kappa", self.kappa), ("a", self.a), ("nu", self.nu), ("lam", self.lam)];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::parameter(name, &value, "must be a positive number"));
            }
        }
        if !self.mean.is_finite() {
            return Err(Error::parameter("mean", &self.mean, "must be a finite number"));
        }
        Ok(())
    }
}

/// Sums of weights may be beyond any number of rows.
const MOST_TABULATED: f64 = 1e6;

/// Leaf parameters of every variable of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeafPriors {
    /// Those of every variable not named below.
    pub common: LeafParameters,
    /// Those of single variables, by name.
    pub per_variable: BTreeMap<String, LeafParameters>,
}

impl LeafPriors {
    /// Whether every parameter is in its range and every named variable is in the table.
    ///
    /// # Errors
    /// If not, with the parameter's or variable's name.
    pub fn check(&self, table: &Table) -> Result<()> {
        self.common.check()?;
        for (name, parameters) in &self.per_variable {
            parameters.check()?;
            if table.position(name).is_none() {
                return Err(Error::parameter("per_variable", name, "names a column that is not in the table"));
            }
        }
        Ok(())
    }

    /// The parameters of one variable.
    pub fn of(&self, table: &Table, var: Var) -> LeafParameters {
        self.per_variable.get(table.name(var)).copied().unwrap_or(self.common)
    }

    /// The leaf distribution of one variable, with its logarithms tabulated for the table's rows; `published` is the
    /// authors' program's.
    pub fn leaf(&self, table: &Table, var: Var, published: bool) -> Leaf {
        let LeafParameters { alpha, kappa, mean, a, nu, lam } = self.of(table, var);
        // A whole sum of weights is looked up as a count is.
        let n = table.weights().map_or(table.n_rows(), |weights| weights.total().min(MOST_TABULATED) as usize);
        match &table.variable(var).kind {
            Kind::Categorical { levels } => Leaf::Categorical(Categorical::new(levels.len(), alpha).tabulated(n)),
            Kind::Ordinal { levels } => {
                let leaf = Ordinal::new(levels.len(), alpha, kappa);
                Leaf::Ordinal(if published { leaf.published() } else { leaf }.tabulated(n))
            }
            Kind::Continuous { .. } => {
                let leaf = Normal::new(mean, a, nu, lam).centred(middle(table.column(var)));
                Leaf::Normal(if published { leaf.published() } else { leaf }.tabulated(n))
            }
        }
    }
}

/// A middle value of the column: near its mean, and the same in any order of the rows.
fn middle(column: &Column) -> f64 {
    let Column::Reals(values) = column else { return 0.0 };
    let mut values = values.clone();
    if values.is_empty() {
        return 0.0;
    }
    let half = values.len() / 2;
    *values.select_nth_unstable_by(half, f64::total_cmp).1
}

/// The leaf distribution of a variable of any kind; matched once per child, so that the searches stay compiled per kind.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// Of levels without order.
    Categorical(Categorical),
    /// Of ordered levels.
    Ordinal(Ordinal),
    /// Of numbers.
    Normal(Normal),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let bad = LeafParameters { kappa: 0.0, ..LeafParameters::default() };
        assert!(bad.check().unwrap_err().to_string().starts_with("kappa=0"));
        let bad = LeafParameters { mean: f64::NAN, ..LeafParameters::default() };
        assert!(bad.check().unwrap_err().to_string().starts_with("mean=NaN"));
    }

    #[test]
    fn json_may_leave_out_what_stays_as_it_is() {
        let priors: LeafPriors = serde_json::from_str(r#"{"per_variable": {"age": {"nu": 3.0}}}"#).unwrap();
        assert_eq!(priors.common, LeafParameters::default());
        assert_eq!(priors.per_variable["age"], LeafParameters { nu: 3.0, ..LeafParameters::default() });
        assert!(serde_json::from_str::<LeafPriors>(r#"{"common": {"beta": 1.0}}"#).is_err());
    }

    #[test]
    fn the_centre_does_not_depend_on_the_order_of_rows() {
        let middle_of = |values: &[f64]| middle(&Column::Reals(values.to_vec()));
        assert_eq!(middle_of(&[3.0, 1.0, 0.1, 7.0]), middle_of(&[7.0, 0.1, 3.0, 1.0]));
        assert_eq!(middle_of(&[]), 0.0);
    }
}
