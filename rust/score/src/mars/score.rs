//! MARS (Sharma and van Beek 2022): how well a spline of the parents explains the child.
//!
//! The score is minus the generalised cross-validation of the fitted spline, of a child with standard deviation one (not in
//! logarithms), or the BIC of the fitted model. A child with levels has one indicator column a level, all on one basis;
//! parents with levels enter as treatment contrasts, the first observed level dropped. If all parents have levels, rows
//! with the same levels are given to the spline once, with their number as weight: the same sums, over cells instead of rows.
//! Where rows weigh, sums are weighted, and the number of rows is the sum of the weights.
//!
//! Rows are put in an order that depends on their values alone, so that no order of the rows changes a score's last bit.

mod family;

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use self::family::Family;
use super::{Number, Predictor};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::local::{ChildScore, LocalScore};
use crate::model::LocalModel;
use crate::registry::Takes;
use crate::table::{Column, Kind, Table, Var};
use crate::weights::Weights;

/// What a spline is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Minus the generalised cross-validation.
    #[default]
    Gcv,
    /// The Gaussian or multinomial BIC of the fitted model.
    Bic,
}

/// Another program whose numbers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compatible {
    /// R's earth.
    Earth,
}

/// Parameters of MARS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mars {
    /// The most factors of a term.
    pub degree: usize,
    /// What a knot costs; by default 2 for degree 1, else 3.
    pub penalty: Option<f64>,
    /// What a spline is judged by.
    pub criterion: Criterion,
    /// Whose numbers are wanted, if not our own.
    pub compatible: Option<Compatible>,
}

impl Default for Mars {
    fn default() -> Self {
        Self { degree: 10, penalty: None, criterion: Criterion::Gcv, compatible: None }
    }
}

impl Mars {
    /// Rows may have any weights that are the same for all children, but not where R's earth is followed. Where they can, rows
    /// are repeated: terms that are equal in all rows tie, and which is taken rounding decides.
    pub(crate) fn takes(&self) -> Takes {
        if self.compatible.is_some() { Takes::Repeated } else { Takes::RepeatedOrShared }
    }

    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if !(1..=100).contains(&self.degree) {
            return Err(Error::parameter("degree", &self.degree, "must be between 1 and 100"));
        }
        if let Some(penalty) = self.penalty
            && !(0.0..=1000.0).contains(&penalty)
        {
            return Err(Error::parameter("penalty", &penalty, "must be between 0 and 1000"));
        }
        let rows: Vec<u32> =
            if self.compatible.is_some() { (0..table.n_rows() as u32).collect() } else { table.canonical_rows() };
        let inputs = (0..table.n_vars()).map(|_| OnceLock::new()).collect();
        let of_rows = |weights: &Weights| rows.iter().map(|&row| weights.of_rows()[row as usize]).collect();
        let weights = table.weights().map(of_rows);
        Ok(Box::new(Prepared { table: table.clone(), parameters: self.clone(), rows, weights, inputs }))
    }
}

/// A variable as splines read it, in the canonical order of the rows.
enum Input {
    Number {
        values: Vec<f64>,
        predictor: Predictor,
    },
    Levels {
        /// Position among the observed levels.
        codes: Vec<u32>,
        /// Codes of the observed levels, ascending.
        observed: Vec<u32>,
        /// Where each of them but the first holds.
        indicators: Vec<Predictor>,
    },
}

struct Prepared {
    table: Arc<Table>,
    parameters: Mars,
    rows: Vec<u32>,
    /// Of these rows, if they weigh.
    weights: Option<Vec<f64>>,
    /// Made when they are first asked for.
    inputs: Vec<OnceLock<Input>>,
}

impl Prepared {
    fn earth(&self) -> bool {
        self.parameters.compatible.is_some()
    }

    /// Number of rows, or the sum of their weights.
    fn n(&self) -> f64 {
        self.table.total_weight()
    }

    /// How often a row counts.
    #[inline]
    fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    fn input(&self, var: Var) -> &Input {
        self.inputs[var].get_or_init(|| match (self.table.column(var), &self.table.variable(var).kind) {
            (Column::Reals(x), Kind::Continuous { scale }) => {
                let values: Vec<f64> = self.rows.iter().map(|&row| x[row as usize]).collect();
                let earth = self.earth().then_some((scale.shift, scale.scale));
                let predictor = Predictor::Number(Number::new(&values, self.weights.as_deref(), earth));
                Input::Number { values, predictor }
            }
            (Column::Codes(c), kind) => {
                let given: Vec<usize> = self.rows.iter().map(|&row| c.get(row as usize)).collect();
                let n_levels = match kind {
                    Kind::Categorical { levels } | Kind::Ordinal { levels } => levels.len(),
                    Kind::Continuous { .. } => unreachable!("codes belong to levels"),
                };
                let mut place = vec![u32::MAX; n_levels];
                for &code in &given {
                    place[code] = 0;
                }
                let observed: Vec<u32> = (0..n_levels as u32).filter(|&code| place[code as usize] == 0).collect();
                for (position, &code) in observed.iter().enumerate() {
                    place[code as usize] = position as u32;
                }
                let codes: Vec<u32> = given.iter().map(|&code| place[code]).collect();
                let mut rows: Vec<Vec<u32>> = vec![vec![]; observed.len()];
                for (row, &code) in codes.iter().enumerate() {
                    rows[code as usize].push(row as u32);
                }
                let indicators = rows.into_iter().skip(1).map(Predictor::Indicator).collect();
                Input::Levels { codes, observed, indicators }
            }
            (Column::Reals(_), _) => unreachable!("reals belong to continuous variables"),
        })
    }
}

impl LocalScore for Prepared {
    fn table(&self) -> &Table {
        &self.table
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 100_000.0, row: 60.0, continuous: 1.6, levels: 0.2 }
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Family::new(self, child)))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.model_until(child, parents, &Halt::default())
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        let mut family = Family::new(self, child);
        family.heed(halt);
        Ok(LocalModel::Spline(family.model(parents)?))
    }
}

impl ChildScore for Family<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        self.value(parents)
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt.clone_from(halt);
    }
}
