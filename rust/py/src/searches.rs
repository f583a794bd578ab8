//! Every search of the core's registry: one call, one result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arbornet_core::control::{Budget, Stop};
use arbornet_core::dag::{Detail, SearchSpec, Source, Task};
use arbornet_core::{Candidates, Constraints, Control, Dag, Error, LocalScore, Network, Pdag, Table};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::handles::TableHandle;
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

/// What a search is given, as Python has it: anything else than the first three is a test that is called.
#[derive(FromPyObject)]
enum Given<'py> {
    Candidates(PyRef<'py, CandidatesHandle>),
    Score(PyRef<'py, ScoreHandle>),
    Table(PyRef<'py, TableHandle>),
    Test(Bound<'py, PyAny>),
}

/// The same as threads hold it, which know nothing of Python but a test.
enum Held {
    Candidates(Arc<Candidates>),
    Score(Arc<dyn LocalScore>),
    Table(Arc<Table>),
    Test(Called),
}

impl Held {
    fn new(given: &Given<'_>, n_vars: usize) -> Self {
        match given {
            Given::Candidates(handle) => Self::Candidates(handle.inner.clone()),
            Given::Score(handle) => Self::Score(handle.score.clone()),
            Given::Table(handle) => Self::Table(handle.0.in_proportion()),
            Given::Test(function) => Self::Test(Called::new(n_vars, function.clone().unbind())),
        }
    }

    fn source(&self) -> Source<'_> {
        match self {
            Self::Candidates(candidates) => Source::Candidates(candidates),
            Self::Score(score) => Source::Score(score),
            Self::Table(table) => Source::Table(table),
            Self::Test(called) => Source::Test(called),
        }
    }
}

/// Runs a search, named with its parameters as JSON, over candidates, a score, a table, or a test of x and y given others.
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
    let held = Held::new(&given, constraints.n_vars());
    let source = held.source();
    let task = Task { source, constraints: &constraints, start: start.as_ref(), budget };
    let work = || pool.install(|| spec.how().search(&task));
    let done = if spec.how().can_be_stopped() {
        jobs::incumbent(py, &control, tell.as_ref(), work)?
    } else {
        jobs::watched(py, &control, tell.as_ref(), work)?
    };
    let found = done.map_err(|error| match (&given, &held) {
        (Given::Score(handle), _) => handle.raise(py, error),
        (_, Held::Test(called)) => called.raise(py, error),
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
            Detail::Name(name) => name.into_py_any(py),
            Detail::Names(names) => names.into_py_any(py),
            Detail::Numbers(numbers) => numbers.into_py_any(py),
            Detail::Arcs(of) => of.into_py_any(py),
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
