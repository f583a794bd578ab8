//! Decision graphs (Chickering, Heckerman and Meek 1997): decision trees whose leaves may be merged, so that any
//! partition of the parents' configurations can be the model of a variable.
//!
//! A leaf scores the Dirichlet marginal likelihood of its counts ([`prior`]); a graph scores the sum over its leaves. Three
//! operators change the leaves: the complete split, the binary split and the merge ([`splits`], [`merges`]). Greedy search
//! applies the best until none improves ([`grow`]), for one node with given parents, or for all nodes of a network at once
//! with every non-descendant as a possible parent (the joint search, figure 5). Splitting on the child itself (section 6) is
//! left out.

pub mod amounts;
pub(crate) mod beliefs;
pub mod build;
pub mod grow;
pub(crate) mod merges;
pub(crate) mod predictors;
pub mod prior;
pub mod region;
mod score;
pub mod splits;
pub mod state;
mod tally;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::control::Halt;
use crate::error::{Error, Result};
use crate::network::Network;
use crate::table::{Table, Var};

pub use crate::model::decision_graph::levels;

use self::amounts::Tallied;
use self::beliefs::Beliefs;
use self::predictors::{ADVICE, Predictors};
use self::prior::{Marginal, Prior};
use self::state::Problem;

/// Operators that gain no more are not applied; where very many rows round more coarsely, [`Marginal::least`] is more.
pub const LEAST_GAIN: f64 = 1e-9;

/// Which operators may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Operators {
    /// C.
    pub complete: bool,
    /// B.
    pub binary: bool,
    /// M.
    pub merge: bool,
}

impl TryFrom<String> for Operators {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let bad = |problem: &str| Err(Error::parameter("operators", &text, problem));
        if let Some(odd) = text.chars().find(|c| !"CBM".contains(*c)) {
            return bad(&format!("'{odd}' is not an operator: use C (complete split), B (binary split), M (merge)"));
        }
        let holds = |c| text.contains(c);
        if !holds('C') && !holds('B') {
            return bad("nothing grows without C (complete split) or B (binary split)");
        }
        Ok(Self { complete: holds('C'), binary: holds('B'), merge: holds('M') })
    }
}

impl From<Operators> for String {
    fn from(operators: Operators) -> Self {
        let letters = [('C', operators.complete), ('B', operators.binary), ('M', operators.merge)];
        letters.iter().filter(|l| l.1).map(|l| l.0).collect()
    }
}

/// When merges are considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Always: the best operator is applied, whichever it is.
    Best,
    /// Only when no split improves.
    SplitsFirst,
}

/// The prior of the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorChoice {
    /// Every pseudo-count is 1.
    Uniform,
    /// So many equivalent rows, spread evenly.
    Ess(f64),
    /// So many equivalent rows, as a network would spread them.
    Network {
        /// Equivalent sample size.
        ess: f64,
        /// The network.
        network: Arc<Network>,
    },
}

/// Parameters of decision graphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which operators may be used.
    pub operators: Operators,
    /// The prior of the parameters.
    pub prior: PriorChoice,
    /// The prior of the structure, for every free parameter.
    pub kappa: f64,
    /// When merges are considered.
    pub schedule: Schedule,
    /// Also split grades by threshold, and numbers by halving.
    pub thresholds: bool,
    /// Most halvings of a number's range.
    pub max_splits: u32,
    /// Where no operator improves, try so many of the best splits and what follows them.
    pub lookahead: usize,
    /// So many times, disturb the best graph and grow again.
    pub restarts: usize,
    /// Of the disturbances.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            operators: Operators { complete: true, binary: true, merge: true },
            prior: PriorChoice::Uniform,
            kappa: 1.0,
            schedule: Schedule::Best,
            thresholds: false,
            max_splits: 5,
            lookahead: 0,
            restarts: 0,
            seed: 0,
        }
    }
}

/// Bins are stored in 16 bits.
const MOST_SPLITS: u32 = 16;
/// No search takes more steps ahead or restarts than this.
const MOST_TIMES: usize = 1 << 20;

impl Settings {
    /// Prepares to grow graphs over a table.
    ///
    /// # Errors
    /// If a parameter is outside its range, or the prior network does not fit the table.
    pub fn prepared(&self, table: &Arc<Table>) -> Result<Prepared> {
        if !(self.kappa > 0.0 && self.kappa <= 1.0) {
            return Err(Error::parameter("kappa", &self.kappa, "must be above 0 and at most 1"));
        }
        if !(1..=MOST_SPLITS).contains(&self.max_splits) {
            let range = format!("must be between 1 and {MOST_SPLITS}");
            return Err(Error::parameter("max_splits", &self.max_splits, range));
        }
        for (name, times) in [("lookahead", self.lookahead), ("restarts", self.restarts)] {
            if times > MOST_TIMES {
                return Err(Error::parameter(name, &times, format!("must be between 0 and {MOST_TIMES}")));
            }
        }
        let positive = |ess: f64| {
            if ess.is_finite() && ess > 0.0 {
                return Ok(ess);
            }
            Err(Error::parameter("ess", &ess, "must be a number above 0"))
        };
        let prior = match &self.prior {
            PriorChoice::Uniform => Prior::Uniform,
            PriorChoice::Ess(ess) => Prior::Ess(positive(*ess)?),
            PriorChoice::Network { ess, network } => {
                if self.thresholds && table.variables().iter().any(crate::table::Variable::is_continuous) {
                    let problem = "a prior network says nothing of halved numbers";
                    return Err(Error::parameter("thresholds", &true, problem));
                }
                Prior::Network(positive(*ess)?, Arc::new(Beliefs::new(network, table)?))
            }
        };
        let predictors = Predictors::new(table, self.thresholds, self.max_splits);
        Ok(Prepared { table: table.clone(), settings: self.clone(), prior, predictors })
    }
}

/// Decision graphs over one table.
pub struct Prepared {
    table: Arc<Table>,
    settings: Settings,
    prior: Prior,
    predictors: Predictors,
}

impl Prepared {
    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The parameters.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The columns as predictors.
    pub fn predictors(&self) -> &Predictors {
        &self.predictors
    }

    /// A child with the predictors its graph may split on, ascending.
    ///
    /// # Errors
    /// If the child is a number, or a predictor is one and may not be.
    pub fn problem(&self, child: Var, fields: &[Var]) -> Result<Problem<'_>> {
        self.problem_of(child, fields)
    }

    /// As `problem`, by numbers of rows or by sums of their weights.
    ///
    /// # Errors
    /// As `problem`.
    pub fn problem_of<N: Tallied>(&self, child: Var, fields: &[Var]) -> Result<Problem<'_, N>> {
        let codes = self.table.codes(child, ADVICE)?;
        self.predictors.check(fields)?;
        let r = self.table.variable(child).n_levels().unwrap_or(0);
        let kappa = self.settings.kappa;
        let marginal = match self.table.weights() {
            None => Marginal::new(r, self.table.n_rows(), kappa),
            Some(weights) => Marginal::of_weights(r, weights.of_child(child).iter().sum(), kappa),
        };
        let weights = self.table.weights_of(child);
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        Ok(Problem {
            predictors: &self.predictors,
            child,
            r,
            children: (0..).zip(codes.iter()).map(|(row, code)| N::row(code as u32, weight(row))).collect(),
            fields: fields.to_vec(),
            marginal,
            prior: self.prior.clone(),
            settings: &self.settings,
            budget: None,
            halt: Halt::default(),
            parallel: false,
        })
    }
}
