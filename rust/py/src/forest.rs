//! Ranks of parents by a random forest.

use std::sync::Arc;

use arbornet_core::forest::{Forest, Importance};
use arbornet_core::{Control, Error, Var};
use pyo3::prelude::*;

use crate::errors::CoreError;
use crate::handles::TableHandle;
use crate::jobs::{Jobs, pool, watched_or_left};

/// Per child, the variables that may be its parents (all others without a list), best first, and their importance.
#[pyfunction]
#[pyo3(signature = (table, children, among, n_trees, importance, prefilter, share, min_leaf, seed, n_jobs, tell = None))]
#[allow(clippy::too_many_arguments)]
fn rank_parents(
    py: Python<'_>,
    table: &TableHandle,
    children: Vec<Var>,
    among: Option<Vec<Vec<Var>>>,
    n_trees: usize,
    importance: &str,
    prefilter: Option<usize>,
    share: f64,
    min_leaf: Option<usize>,
    seed: u64,
    n_jobs: Jobs,
    tell: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(Vec<Var>, Vec<f64>)>> {
    let importance = match importance {
        "gain" => Importance::Gain,
        "permutation" => Importance::Permutation,
        other => {
            let problem = "must be 'gain' or 'permutation'";
            return Err(CoreError(Error::parameter("importance", &other, problem)).into());
        }
    };
    let forest = Forest { trees: n_trees, importance, prefilter, share, min_leaf, seed };
    let n = table.0.n_vars();
    if among.as_ref().is_some_and(|among| among.len() != n || among.iter().flatten().any(|&v| v >= n)) {
        return Err(CoreError(Error::Shape("one list of the table's variables is needed for each".to_owned())).into());
    }
    let pool = pool(n_jobs)?;
    let table = table.0.in_proportion();
    let control = Arc::new(Control::default());
    let watched = control.clone();
    let ranks = watched_or_left(py, &watched, tell, move || {
        let others = |child: Var| match &among {
            Some(among) => among[child].clone(),
            None => (0..n).filter(|&v| v != child).collect(),
        };
        pool.install(|| forest.rank(&table, &children, &others, &control))
    })?;
    Ok(ranks.map_err(CoreError)?.into_iter().map(|ranks| ranks.into_iter().unzip()).collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(rank_parents, module)?)
}
