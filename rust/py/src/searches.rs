//! Every search of the core's registry: one call, one result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arbornet_core::control::{Budget, Stop};
use arbornet_core::dag::{Detail, SearchSpec, Source, Task};
use arbornet_core::{Constraints, Control, Dag, Error, Network, Pdag};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::jobs::{self, Jobs};
use crate::network::NetworkHandle;
use crate::scores::ScoreHandle;
use crate::tests::Called;

/// Arcs or links, as pairs of variables.
pub type Pairs = Vec<(usize, usize)>;

/// A limit on time, as it was given.
pub fn time_limit(seconds: Option<f64>) -> Result<Option<Duration>, CoreError> {
    let bad = |s: f64| CoreError(Error::parameter("time_limit", &s, "give seconds from 0 up, or None"));
    // Without end for a limit beyond what the clock holds.
    seconds.map_or(Ok(None), |s| if s >= 0.0 { Ok(Duration::try_from_secs_f64(s).ok()) } else { Err(bad(s)) })
}

fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::Time => "time",
        Stop::Interrupted => "interrupted",
    }
}

/// The arcs and the links of a class.
fn edges(class: &Pdag) -> (Pairs, Pairs) {
    (class.arcs().collect(), class.links().collect())
}

/// What a search found.
#[pyclass(frozen, get_all, module = "arbornet._core")]
pub struct SearchResult {
    /// The parents of each variable.
    parents: Vec<Vec<usize>>,
    /// Their families' scores.
    scores: Vec<f64>,
    /// No graph scores more.
    bound: f64,
    /// The equivalence class: arcs and links.
    class_: Option<(Pairs, Pairs)>,
    /// Why it ended early.
    stopped: Option<&'static str>,
    /// Seconds since the start and the score, whenever it improved.
    improvements: Vec<(f64, f64)>,
    /// Counters and findings of this search alone.
    details: BTreeMap<&'static str, Py<PyAny>>,
    /// The network of the models, of a search that grows them.
    network: Option<Py<NetworkHandle>>,
}

/// What a search is given, as Python has it: anything else than the first two is a test that is called.
#[derive(FromPyObject)]
enum Given<'py> {
    Candidates(PyRef<'py, CandidatesHandle>),
    Score(PyRef<'py, ScoreHandle>),
    Test(Bound<'py, PyAny>),
}

/// Runs a search, named with its parameters as JSON, over candidates, a score, or a test of x and y given others.
#[pyfunction]
#[pyo3(signature = (spec, source, constraints, start = None, time_limit = None, n_jobs = Jobs::ALL, tell = None))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // what every search is given
fn search(
    py: Python<'_>,
    spec: &str,
    source: Bound<'_, PyAny>,
    constraints: &str,
    start: Option<Vec<Vec<usize>>>,
    time_limit: Option<f64>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<SearchResult> {
    let spec = SearchSpec::parse(spec).map_err(CoreError)?;
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let start = start.map(|parents| Dag::from_parents(&parents)).transpose().map_err(CoreError)?;
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let budget = Budget::new(&control, self::time_limit(time_limit)?);
    let given: Given<'_> = source.extract()?;
    let candidates = if let Given::Candidates(handle) = &given { Some(handle.inner.clone()) } else { None };
    let score = if let Given::Score(handle) = &given { Some(handle.score.clone()) } else { None };
    let called = match &given {
        Given::Test(function) => Some(Called::new(constraints.n_vars(), function.clone().unbind())),
        _ => None,
    };
    let source = match (&candidates, &score, &called) {
        (Some(candidates), ..) => Source::Candidates(candidates),
        (_, Some(score), _) => Source::Score(score),
        (.., Some(called)) => Source::Test(called),
        _ => unreachable!("what is given is one of the three"),
    };
    let task = Task { source, constraints: &constraints, start: start.as_ref(), budget };
    let work = || pool.install(|| spec.how().search(&task));
    let done = if spec.how().can_be_stopped() {
        jobs::incumbent(py, &control, tell.as_ref(), work)?
    } else {
        jobs::watched(py, &control, tell.as_ref(), work)?
    };
    let found = done.map_err(|error| match (&given, &called) {
        (Given::Score(handle), _) => handle.raise(py, error),
        (_, Some(called)) => called.raise(py, error),
        _ => CoreError(error).into(),
    })?;
    let network = match (&given, found.models) {
        (Given::Score(handle), Some(models)) => {
            let network = Network::new(handle.table.variables().to_vec(), models).map_err(CoreError)?;
            Some(Py::new(py, NetworkHandle(Arc::new(network)))?)
        }
        _ => None,
    };
    let detail = |(name, detail)| {
        let told = match detail {
            Detail::Count(n) => n.into_py_any(py),
            Detail::Whether(is) => is.into_py_any(py),
            Detail::Triples(of) => of.into_py_any(py),
        };
        Ok((name, told?))
    };
    Ok(SearchResult {
        parents: found.parents,
        scores: found.scores,
        bound: found.bound,
        class_: found.class.as_ref().map(edges),
        stopped: found.stop.map(stop_name),
        improvements: found.improvements,
        details: found.details.into_iter().map(detail).collect::<PyResult<_>>()?,
        network,
    })
}

/// The equivalence class of a graph given by parents: (compelled arcs, reversible links), both as pairs.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn cpdag(parents: Vec<Vec<usize>>) -> Result<(Pairs, Pairs), CoreError> {
    Ok(edges(&Dag::from_parents(&parents)?.cpdag()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SearchResult>()?;
    module.add_function(wrap_pyfunction!(search, module)?)?;
    module.add_function(wrap_pyfunction!(cpdag, module)?)
}
