//! Searches over equivalence classes: by a score (`fGES`, BOSS, `GRaSP`), or by several (the hybrid).

use std::collections::BTreeMap;

use arbornet_core::control::Budget;
use arbornet_core::dag::boss::Boss;
use arbornet_core::dag::families::{Families, Scored};
use arbornet_core::dag::ges::Fges;
use arbornet_core::dag::grasp::Grasp;
use arbornet_core::hybrid::Hybrid;
use arbornet_core::regress::features::Scale;
use arbornet_core::{Constraints, Control, Dag, Error, Pdag};
use pyo3::prelude::*;

use crate::errors::CoreError;
use crate::greedy::{Pairs, families_of, stop_name, time_limit};
use crate::handles::TableHandle;
use crate::jobs::{self, Jobs};
use crate::scores::ScoreHandle;

/// A graph (parents of each variable), its families' scores, its class (arcs, links), why the search stopped early, and
/// counters.
type Found = (Vec<Vec<usize>>, Vec<f64>, (Pairs, Pairs), Option<&'static str>, BTreeMap<&'static str, u64>);

/// The arcs and the links of a class.
pub fn edges(class: &Pdag) -> (Pairs, Pairs) {
    (class.arcs().collect(), class.links().collect())
}

/// How to search: the method, and every method's settings.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct How {
    method: String,
    faithfulness: bool,
    depth: usize,
    uncovered: usize,
    restarts: usize,
    seed: u64,
    start: Option<Vec<Vec<usize>>>,
}

#[pyfunction]
#[pyo3(signature = (score, constraints, how, time_limit, n_jobs, tell))]
#[allow(clippy::needless_pass_by_value)]
fn search_classes(
    py: Python<'_>,
    score: &ScoreHandle,
    constraints: &str,
    how: How,
    time_limit: Option<f64>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Found> {
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let budget = Budget::new(&control, self::time_limit(time_limit)?);
    let scorer = score.score.clone();
    let start = how.start.as_ref().map(|parents| Dag::from_parents(parents)).transpose().map_err(CoreError)?;
    let start = start.as_ref();
    let How { faithfulness, depth, uncovered, restarts, seed, .. } = how;
    let work = || {
        let scored = Scored::new(&*scorer, &constraints, budget);
        let found = match how.method.as_str() {
            "fges" => Fges { faithfulness }.run(&scored, start, budget),
            "boss" => Boss { restarts, seed }.run(&scored, start, budget),
            "grasp" => Grasp { depth, uncovered, restarts, seed }.run(&scored, start, budget),
            other => Err(Error::parameter("method", &other, "choose fges, boss or grasp")),
        };
        Ok((found?, scored.n_scored(), scored.n_refused()))
    };
    let done = jobs::incumbent(py, &control, tell.as_ref(), || pool.install(work))?;
    let (found, scored, refused) = done.map_err(|error| score.raise(py, error))?;
    let counters = BTreeMap::from([("moves", found.n_moves), ("scored", scored), ("refused", refused)]);
    Ok((families_of(&found.dag), found.scores, edges(&found.class), stop_name(found.stop), counters))
}

/// What the hybrid search found: a graph, its families' scores, its class, its arcs' strengths, whose graph it is, what
/// the judges said, how numbers were read, why it stopped early, and counters.
type FoundHybrid = (
    Vec<Vec<usize>>,
    Vec<f64>,
    (Pairs, Pairs),
    Vec<(usize, usize, f64)>,
    &'static str,
    Vec<(&'static str, f64)>,
    Vec<Option<&'static str>>,
    Option<&'static str>,
    BTreeMap<&'static str, u64>,
);

#[pyfunction]
#[pyo3(signature = (table, constraints, restarts, seed, interactions, time_limit, n_jobs, tell))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // what pyo3 extracts
fn search_hybrid(
    py: Python<'_>,
    table: &TableHandle,
    constraints: &str,
    restarts: Option<usize>,
    seed: u64,
    interactions: bool,
    time_limit: Option<f64>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<FoundHybrid> {
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let budget = Budget::new(&control, self::time_limit(time_limit)?);
    let how = Hybrid { restarts, seed, interactions };
    let work = || pool.install(|| how.run(&table.0, &constraints, budget));
    let found = jobs::incumbent(py, &control, tell.as_ref(), work)?.map_err(CoreError)?;
    let counters = BTreeMap::from([
        ("moves", found.n_moves),
        ("scored", found.n_scored),
        ("dropped", found.dropped as u64),
        ("added", found.added as u64),
    ]);
    let strengths = found.dag.arcs().zip(found.strengths).map(|((a, b), strength)| (a, b, strength)).collect();
    let judged = found.judged.into_iter().map(|(winner, total)| (winner.name(), total)).collect();
    let scales = found.scales.into_iter().map(|scale| scale.map(Scale::name)).collect();
    let families = families_of(&found.dag);
    let (class, stop) = (edges(&found.class), stop_name(found.stop));
    Ok((families, found.scores, class, strengths, found.winner.name(), judged, scales, stop, counters))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(search_hybrid, module)?)?;
    module.add_function(wrap_pyfunction!(search_classes, module)?)
}
