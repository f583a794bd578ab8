//! Searches by independence tests: PC and conservative PC, with the tests of a score or of a Python callable.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use arbornet_core::control::Budget;
use arbornet_core::dag::pc::Pc;
use arbornet_core::independence::{IndependenceTest, Remembered, ScoreTest, Tested};
use arbornet_core::{Constraints, Control, Error, Result, Var};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::classes::edges;
use crate::errors::CoreError;
use crate::greedy::{Pairs, families_of, stop_name, time_limit};
use crate::jobs::{self, Jobs};
use crate::scores::ScoreHandle;

/// A callable of (x, y, given), by positions, that returns a p-value; every call takes the GIL.
struct Called {
    n_vars: usize,
    function: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl IndependenceTest for Called {
    fn n_vars(&self) -> usize {
        self.n_vars
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        jobs::in_python(|py| {
            let called = self.function.call1(py, (x, y, given.to_vec())).and_then(|value| value.extract::<f64>(py));
            match called {
                Ok(p_value) if (0.0..=1.0).contains(&p_value) => {
                    Ok(Tested { p_value, statistic: f64::NAN, df: f64::NAN })
                }
                Ok(p_value) => Err(Error::parameter("test", &p_value, "a test returns a p-value, from 0 to 1")),
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(Error::Interrupted),
                Err(error) => {
                    let told = Error::Shape(format!("the test raised {error}"));
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Err(told)
                }
            }
        })
    }
}

/// A graph (parents of each variable), its class (arcs, links), whether the graph is of that class, the ambiguous triples,
/// why the search stopped early, and counters.
type Found = (
    Vec<Vec<usize>>,
    (Pairs, Pairs),
    bool,
    Vec<(usize, usize, usize)>,
    Option<&'static str>,
    BTreeMap<&'static str, u64>,
);

/// How to search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct How {
    alpha: f64,
    conservative: bool,
    ambiguous_as_noncollider: bool,
    max_given: Option<usize>,
}

#[pyfunction]
#[pyo3(signature = (n_vars, test, constraints, how, time_limit, n_jobs, tell))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
fn search_by_tests(
    py: Python<'_>,
    n_vars: usize,
    test: Bound<'_, PyAny>,
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
    let How { alpha, conservative, ambiguous_as_noncollider, max_given } = how;
    let pc = Pc { alpha, conservative, ambiguous_as_noncollider, max_given: max_given.unwrap_or(usize::MAX) };
    // A prepared score tests without Python; anything else is called.
    let of_score = test.extract::<PyRef<'_, ScoreHandle>>().ok().map(|handle| handle.score.clone());
    let scored = of_score.map(|score| Remembered::new(ScoreTest(score)));
    let called = Called { n_vars, function: test.unbind(), raised: Mutex::default() };
    let asked: &dyn IndependenceTest = scored.as_ref().map_or(&called, |scored| scored);
    let work = || pc.run(asked, &constraints, budget);
    let done = jobs::incumbent(py, &control, tell.as_ref(), || pool.install(work))?;
    let found = done.map_err(|error| {
        let told = PyErr::from(CoreError(error));
        told.set_cause(py, called.raised.lock().unwrap_or_else(PoisonError::into_inner).take());
        told
    })?;
    let counters =
        BTreeMap::from([("tests", found.n_tests), ("trimmed", found.n_trimmed), ("refused", found.n_refused)]);
    let stop = stop_name(found.stop);
    Ok((families_of(&found.dag), edges(&found.class), found.consistent, found.ambiguous, stop, counters))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(search_by_tests, module)?)
}
