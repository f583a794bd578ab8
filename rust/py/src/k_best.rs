//! The k best graphs.

use arbornet_core::control::Budget;
use arbornet_core::dag::families::Stored;
use arbornet_core::dag::k_best::{KBest, Ranked};
use arbornet_core::{Constraints, Control, Error};
use pyo3::prelude::*;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::jobs;
use crate::searches::time_limit as limit;

/// A graph's parents and its families' scores.
type Graph = (Vec<Vec<usize>>, Vec<f64>);

/// The k best graphs, best first: each with the parents and the scores of its variables. None if the time was up, or on
/// Ctrl-C.
#[pyfunction]
#[pyo3(signature = (candidates, constraints, k, margin, memory, time_limit, tell))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
fn k_best(
    py: Python<'_>,
    candidates: &CandidatesHandle,
    constraints: &str,
    k: usize,
    margin: f64,
    memory: f64,
    time_limit: Option<f64>,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<Vec<Graph>>> {
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let control = Control::default();
    let budget = Budget::new(&control, limit(time_limit)?);
    let candidates = candidates.inner.clone();
    let work = || {
        let stored = Stored::new(&candidates, &constraints)?;
        KBest { k, margin, memory }.run(&stored, budget)
    };
    match jobs::incumbent(py, &control, tell.as_ref(), work)? {
        Ok(ranked) => {
            let graph = |g: Ranked| (g.parents.iter().map(|p| p.to_vec()).collect(), g.scores);
            Ok(Some(ranked.into_iter().map(graph).collect()))
        }
        Err(Error::Interrupted) => Ok(None),
        Err(error) => Err(CoreError(error).into()),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(k_best, module)?)
}
