//! Fitted networks: a local model for every variable, read together as one joint distribution.
//!
//! The density of a complete row is the product of the models' predictive densities (Talvitie, Eggeling and Koivisto
//! 2019, section 2.4: the posterior predictive distribution given structure and data), see [`density`]. Everything
//! that leaves variables out goes through [`plan`]: what matters for a question is found by pruning, a hidden number
//! is cut at the thresholds of its children's models (in between nothing depends on it), and the finite network that
//! remains is solved by variable elimination, exactly. Where a plan would be too large, or a model bends without
//! thresholds, [`weighting`] samples, with a seed and a standard error.

mod averaged;
mod complete;
mod components;
mod density;
mod eliminate;
mod evidence;
mod grid;
mod infer;
mod joint;
pub mod mass;
mod mixture;
mod pieces;
mod plan;
mod ranges;
pub mod sample;
mod steps;
mod weighting;

use std::fmt::Write;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::local::LocalScore;
use crate::model::LocalModel;
use crate::model::cells::Cells;
use crate::parents::{Parents, parent_set};
use crate::table::{Codes, Column, Table, Var, Variable};
use arbornet_table::spread::TryMap;

pub use complete::Draws;
pub use evidence::{Evidence, Within};
pub use infer::{Levels, Method, Quantiles, Sampled, Settings};
pub use joint::Joint;
pub use steps::Steps;

/// A directed acyclic graph with a fitted local model for every variable. Immutable once made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Network {
    /// Shared with every model that is handed out.
    variables: Arc<[Variable]>,
    models: Vec<LocalModel>,
    order: Vec<Var>,
    children: Vec<Vec<Var>>,
}

/// What is saved of a network; the rest follows from it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    variables: Vec<Variable>,
    models: Vec<LocalModel>,
}

impl TryFrom<Parts> for Network {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        Self::new(parts.variables, parts.models)
    }
}

impl From<Network> for Parts {
    fn from(network: Network) -> Self {
        Self { variables: network.variables.to_vec(), models: network.models }
    }
}

impl Network {
    /// Puts variables and their models together, one model per variable in the variables' order.
    ///
    /// # Errors
    /// If a model does not fit its variables, names repeat, or the models' parents form a cycle.
    pub fn new(variables: Vec<Variable>, models: Vec<LocalModel>) -> Result<Self> {
        if variables.len() != models.len() {
            return Err(Error::Shape(format!("{} variables for {} models", variables.len(), models.len())));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        for variable in &variables {
            if !seen.insert(&variable.name) {
                return Err(Error::column(&*variable.name, "appears twice", "give every variable its own name"));
            }
            if let crate::table::Kind::Continuous { scale } = &variable.kind
                && !scale.is_sound()
            {
                let mut problem = format!("has shift {} and scale {}", scale.shift, scale.scale);
                if let Some(log) = scale.log {
                    let _ = write!(problem, ", and adds {log} before taking logarithms");
                }
                return Err(Error::column(&*variable.name, problem, "both must be finite, the scale positive"));
            }
        }
        for (v, model) in models.iter().enumerate() {
            model.check(&variables)?;
            if model.child() != v {
                return Err(Error::Shape(format!("model {v} is of variable {}, not of its own", model.child())));
            }
        }
        let parents: Vec<&[Var]> = models.iter().map(|m| m.parents()).collect();
        let order = topological_order(&parents)
            .map_err(|v| Error::Shape(format!("the graph has a cycle through '{}'", variables[v].name)))?;
        let mut children = vec![Vec::new(); variables.len()];
        for (v, parents) in parents.iter().enumerate() {
            parents.iter().for_each(|&p| children[p].push(v));
        }
        Ok(Self { variables: variables.into(), models, order, children })
    }

    /// A network of levels by its tables: for each variable the positions of its parents, ascending, and a distribution for
    /// each configuration of their levels, the last parent's fastest.
    ///
    /// # Errors
    /// If a table does not fit its variables, or as for [`Network::new`].
    pub fn from_tables(variables: Vec<Variable>, tables: Vec<(Vec<Var>, Vec<f64>)>) -> Result<Self> {
        let models = tables.into_iter().enumerate().map(|(child, (parents, table))| {
            let bad = |problem: String| Err(Error::Shape(format!("the table of variable {child} {problem}")));
            let of = |v: Var| variables.get(v).and_then(Variable::n_levels);
            let Some(k) = of(child).filter(|&k| k > 0) else { return bad("is of no variable with levels".to_owned()) };
            let Some(dims) = parents.iter().map(|&p| of(p)).collect::<Option<Vec<usize>>>() else {
                return bad("has a parent without levels".to_owned());
            };
            let n_cells = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).and_then(|n| n.checked_mul(k));
            if n_cells != Some(table.len()) {
                return bad(format!("has {} numbers, which do not fit its parents", table.len()));
            }
            Ok(LocalModel::Cells(Cells::of_table(child, parents, &dims, table.chunks(k))))
        });
        let models = models.collect::<Result<Vec<_>>>()?;
        Self::new(variables, models)
    }

    /// Fits the model of a score for every variable of a graph, given as the parents of each variable.
    ///
    /// # Errors
    /// If the graph does not fit the table or has a cycle, a family cannot be modelled, or interrupted.
    pub fn fit(score: &dyn LocalScore, parents: &[Vec<Var>], control: &Control) -> Result<Self> {
        Self::fitted(score.table(), |_| score, parents, control)
    }

    /// As [`Self::fit`], for every variable by a score of its own: of the rows that its family has, where others have gaps.
    ///
    /// # Errors
    /// As [`Self::fit`], or if there is not one score for every variable.
    pub fn fit_each(scores: &[&dyn LocalScore], parents: &[Vec<Var>], control: &Control) -> Result<Self> {
        let n_vars = scores.first().map_or(0, |first| first.table().n_vars());
        if n_vars != scores.len() || n_vars == 0 {
            return Err(Error::Shape(format!("{} scores for {n_vars} variables", scores.len())));
        }
        Self::fitted(scores[0].table(), |v| scores[v], parents, control)
    }

    fn fitted<'a>(
        table: &Table,
        score: impl (Fn(Var) -> &'a dyn LocalScore) + Sync,
        parents: &[Vec<Var>],
        control: &Control,
    ) -> Result<Self> {
        if parents.len() != table.n_vars() {
            let problem = format!("a graph of {} nodes for {} variables", parents.len(), table.n_vars());
            return Err(Error::Shape(problem));
        }
        let parents = parents
            .iter()
            .enumerate()
            .map(|(child, parents)| parent_set(table, child, parents))
            .collect::<Result<Vec<_>>>()?;
        topological_order(&parents.iter().map(|p| &p[..]).collect::<Vec<_>>())
            .map_err(|v| Error::Shape(format!("the graph has a cycle through '{}'", table.name(v))))?;
        let halt = control.halt();
        let model = |(v, parents): (Var, &Parents)| score(v).model_until(v, parents, &halt);
        let models = parents.par_iter().enumerate().try_map(model)?;
        Self::new(table.variables().to_vec(), models)
    }

    /// A table of these variables without rows: enough to know them by.
    ///
    /// # Errors
    /// Never for a network that was made here.
    pub fn empty_table(&self) -> Result<Table> {
        let column = |variable: &Variable| {
            let k = variable.n_levels();
            k.map_or_else(|| Column::Reals(Vec::new()), |k| Column::Codes(Codes::pack(&[], k)))
        };
        Table::new(self.variables.to_vec(), self.variables.iter().map(column).collect())
    }

    /// All variables, in the table's column order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// All variables, to be held by others without a copy.
    pub fn shared_variables(&self) -> Arc<[Variable]> {
        self.variables.clone()
    }

    /// Number of variables.
    pub fn n_vars(&self) -> usize {
        self.variables.len()
    }

    /// The local model of a variable.
    pub fn model(&self, var: Var) -> &LocalModel {
        &self.models[var]
    }

    /// The parents of a variable, ascending.
    pub fn parents(&self, var: Var) -> &[Var] {
        self.models[var].parents()
    }

    /// The children of a variable, ascending.
    pub fn children(&self, var: Var) -> &[Var] {
        &self.children[var]
    }

    /// Parents before children; among free choices the smaller variable first.
    pub fn order(&self) -> &[Var] {
        &self.order
    }

    /// The JSON form: variables and models, every number with the digits that bring back the same bits.
    ///
    /// # Panics
    /// Never: networks hold finite numbers and string keys only.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("networks hold finite numbers and string keys only")
    }

    /// Reads the JSON form and checks all of it: what comes back is safe to use, whoever wrote the text.
    ///
    /// # Errors
    /// If the text is not a network.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| Error::Format {
            origin: "network".to_owned(),
            line: e.line(),
            problem: e.to_string(),
        })
    }
}

/// Of every variable its family's score and, per parent, what the score loses without the arc from it.
///
/// # Errors
/// If a family cannot be scored, or interrupted.
pub fn contributions(score: &dyn LocalScore, parents: &[Vec<Var>], control: &Control) -> Result<Vec<(f64, Vec<f64>)>> {
    let of = |(child, parents): (Var, &Vec<Var>)| {
        control.check()?;
        let parents = parent_set(score.table(), child, parents)?;
        let mut scratch = score.child(child)?;
        scratch.heed(&control.halt());
        let whole = scratch.score(&parents)?;
        let without = (0..parents.len()).map(|i| {
            control.check()?;
            let mut fewer = parents.clone();
            fewer.remove(i);
            Ok(whole - scratch.score(&fewer)?)
        });
        let without = without.collect::<Result<_>>()?;
        Ok((whole, without))
    };
    parents.par_iter().enumerate().try_map(of)
}

/// Parents before children, smallest first among free choices; `Err` with a variable on a cycle.
fn topological_order(parents: &[&[Var]]) -> std::result::Result<Vec<Var>, Var> {
    let n = parents.len();
    let mut waiting: Vec<usize> = parents.iter().map(|p| p.len()).collect();
    let mut children = vec![Vec::new(); n];
    for (v, parents) in parents.iter().enumerate() {
        parents.iter().for_each(|&p| children[p].push(v));
    }
    let mut free: std::collections::BinaryHeap<_> =
        (0..n).filter(|&v| waiting[v] == 0).map(std::cmp::Reverse).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(std::cmp::Reverse(v)) = free.pop() {
        order.push(v);
        for &c in &children[v] {
            waiting[c] -= 1;
            if waiting[c] == 0 {
                free.push(std::cmp::Reverse(c));
            }
        }
    }
    if order.len() == n { Ok(order) } else { Err((0..n).find(|&v| waiting[v] > 0).expect("some node still waits")) }
}

#[cfg(test)]
mod tests {
    use super::topological_order;

    #[test]
    fn parents_come_first_and_cycles_are_found() {
        assert_eq!(topological_order(&[&[2], &[], &[1]]), Ok(vec![1, 2, 0]));
        assert_eq!(topological_order(&[&[], &[2], &[1]]), Err(1));
    }
}
