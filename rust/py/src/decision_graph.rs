//! The combined search for a graph and the decision graphs of its variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use arbornet_core::control::Budget;
use arbornet_core::decision_graph::joint::Joint;
use arbornet_core::model::decision_graph::DecisionGraph;
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Constraints, Control, Error, LocalModel, Network};
use pyo3::prelude::*;

use crate::errors::CoreError;
use crate::greedy::{families_of, stop_name, time_limit as limit};
use crate::jobs::{self, Jobs};
use crate::network::NetworkHandle;
use crate::scores::ScoreHandle;

/// The network, parents by variable, scores by variable, why the search stopped early, and its counters.
type Outcome = (NetworkHandle, Vec<Vec<usize>>, Vec<f64>, Option<&'static str>, BTreeMap<&'static str, u64>);

/// Grows the graph and the decision graphs of its variables together.
#[pyfunction]
#[pyo3(signature = (score, constraints, max_steps, drop_unused, time_limit, n_jobs, tell))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // the keywords of the Python side, spread out
fn decision_graphs(
    py: Python<'_>,
    score: &ScoreHandle,
    constraints: &str,
    max_steps: Option<u64>,
    drop_unused: bool,
    time_limit: Option<f64>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let Ok(ScoreSpec::DecisionGraph(settings)) = ScoreSpec::parse(&score.spec) else {
        let problem = "this search grows decision graphs: give a DecisionGraph";
        return Err(CoreError(Error::parameter("score", &score.spec, problem)).into());
    };
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let how = Joint { max_steps: max_steps.unwrap_or(u64::MAX), drop_unused };
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let budget = Budget::new(&control, limit(time_limit)?);
    let table = score.table.clone();
    let work = || -> arbornet_core::Result<_> {
        let found = how.run(&settings.prepared(&table)?, &constraints, budget)?;
        let scores = found.graphs.iter().map(DecisionGraph::log_marginal).collect();
        let models = found.graphs.into_iter().map(LocalModel::DecisionGraph).collect();
        let network = Network::new(table.variables().to_vec(), models)?;
        let counters = BTreeMap::from([("steps", found.n_steps), ("dropped", found.n_dropped)]);
        Ok((network, families_of(&found.dag), scores, stop_name(found.stop), counters))
    };
    let (network, parents, scores, stop, counters) =
        jobs::incumbent(py, &control, tell.as_ref(), || pool.install(work))?.map_err(CoreError)?;
    Ok((NetworkHandle(Arc::new(network)), parents, scores, stop, counters))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decision_graphs, module)?)
}
