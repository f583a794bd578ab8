//! Components of the exact search, driven from Python verb by verb.

use arbornet_core::control::Budget;
use arbornet_core::dag::exact::cut::MOST_MEMBERS;
use arbornet_core::dag::exact::engine::{self, Component, Limits, MOST_VARIABLES, Opening, Priced};
use arbornet_core::dag::exact::problem::{Loose, NEVER};
use arbornet_core::dag::exact::restrict::{Scored, restricted};

use arbornet_core::{Constraints, Control, Error};
use pyo3::prelude::*;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::jobs::{self, Jobs};
use crate::searches::time_limit;

/// How a round of the linear program is made: the attributes of Python's settings that the core reads.
#[derive(FromPyObject)]
struct Cuts {
    columns: usize,
    clusters: usize,
    new: usize,
    block: usize,
    scarce: usize,
    tolerance: f64,
}

impl From<Cuts> for Limits {
    fn from(Cuts { columns, clusters, new, block, scarce, tolerance }: Cuts) -> Self {
        Self { columns, clusters, new, block: block.min(MOST_MEMBERS), scarce, tolerance }
    }
}

/// How the order search is opened and goes on, likewise.
#[derive(FromPyObject)]
struct How {
    beam: usize,
    max_live: usize,
    pattern: usize,
    patterned: usize,
    batch: usize,
    shallow: f64,
}

impl From<How> for Opening {
    fn from(How { beam, max_live, pattern, patterned, batch, shallow }: How) -> Self {
        Self { beam, max_live, pattern, patterned, batch, shallow }
    }
}

/// One component of the exact search; costs are integers, `2^exponent` of them make one unit of score.
#[pyclass(module = "arbornet._core")]
pub struct SearchComponent {
    component: Component,
    threads: Jobs,
}

impl SearchComponent {
    /// Works on the component within a time, watched for signals.
    fn work<T: Send>(
        &mut self,
        py: Python<'_>,
        seconds: Option<f64>,
        work: impl FnOnce(&mut Component, Budget) -> T + Send,
    ) -> PyResult<T> {
        let limit = time_limit(seconds)?;
        let control = Control::default();
        let pool = jobs::pool(self.threads)?;
        let component = &mut self.component;
        jobs::watched(py, &control, None, || pool.install(|| work(component, Budget::new(&control, limit))))
    }
}

/// What a stopped call did is kept; only finishing or not is told.
fn finished<T>(result: arbornet_core::Result<T>) -> Result<Option<T>, CoreError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Interrupted) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[pymethods]
impl SearchComponent {
    /// Positions of the variables among the candidates.
    #[getter]
    fn vars(&self) -> Vec<u32> {
        self.component.vars().to_vec()
    }

    /// Binary digits of a cost behind the point; below 0, so many before it are not told.
    #[getter]
    fn exponent(&self) -> i32 {
        self.component.scale().exponent
    }

    /// Parent sets still in play.
    #[getter]
    fn n_sets(&self) -> usize {
        self.component.n_sets()
    }

    /// Cost of the incumbent, if there is one.
    #[getter]
    fn cost(&self) -> Option<i64> {
        Some(self.component.cost()).filter(|&cost| cost < NEVER)
    }

    /// Nothing costs less.
    #[getter]
    fn bound(&self) -> i64 {
        self.component.bound()
    }

    /// The incumbent's order, in the candidates' numbering.
    #[getter]
    fn order(&self) -> Option<Vec<u32>> {
        self.component.order()
    }

    /// Variables that cannot be ordered: each needs a parent among them.
    #[getter]
    fn deadlock(&self) -> Vec<u32> {
        self.component.deadlock()
    }

    /// States expanded.
    #[getter]
    fn expanded(&self) -> u64 {
        self.component.expanded()
    }

    /// About how many bytes it holds.
    #[getter]
    fn held(&self) -> usize {
        self.component.held()
    }

    /// A gap that may be left, in costs.
    #[getter]
    fn slack(&self) -> i64 {
        self.component.slack()
    }

    #[setter]
    fn set_slack(&mut self, slack: i64) {
        self.component.tolerate(slack);
    }

    /// Bytes and elementary steps of the dynamic program, where it may use so many bytes (it may need more).
    fn program_size(&self, memory: f64) -> (f64, f64) {
        let size = self.component.program_size(memory);
        (size.bytes, size.steps)
    }

    /// The bound that cuts and prices prove with all sets in play, and these.
    fn certificate(&self) -> (i64, Vec<Priced>) {
        self.component.certificate()
    }

    /// Improves the incumbent by local search over orders, until so many perturbations in a row have failed.
    fn improve(&mut self, py: Python<'_>, patience: usize, seconds: Option<f64>) -> PyResult<()> {
        self.work(py, seconds, move |component, budget| component.improve(patience, budget))
    }

    /// Raises the bound by dual ascents from fresh, each with its own preferences; not where it would hold more than so many
    /// bytes.
    fn ascend(&mut self, py: Python<'_>, times: usize, memory: f64, seconds: Option<f64>) -> PyResult<()> {
        self.work(py, seconds, move |component, budget| component.ascend(times, memory, budget))
    }

    /// Raises the bound by a round of the linear program and drops the sets that no better graph can use; true if another
    /// round may raise it more, and false where it would hold more than so many bytes.
    fn cut(&mut self, py: Python<'_>, how: Cuts, memory: f64, seconds: Option<f64>) -> PyResult<bool> {
        let limits = Limits::from(how);
        self.work(py, seconds, move |component, budget| component.cut(&limits, memory, budget))
    }

    /// Solves by the dynamic program in so many bytes beside what is held; false if stopped.
    fn program(&mut self, py: Python<'_>, memory: f64, seconds: Option<f64>) -> PyResult<bool> {
        let done = self.work(py, seconds, move |component, budget| component.program(memory, budget))?;
        Ok(finished(done)?.is_some())
    }

    /// Opens the order search: a beam for a better incumbent, pattern databases; false where it would hold more than so
    /// many bytes.
    fn open(&mut self, py: Python<'_>, how: How, memory: f64, seconds: Option<f64>) -> PyResult<bool> {
        let how = Opening::from(how);
        let done = self.work(py, seconds, move |component, budget| component.open(&how, memory, budget))?;
        // Without pattern databases it is open too.
        Ok(finished(done)?.unwrap_or(true))
    }

    /// Expands a batch of states; false once none is open, None if stopped.
    fn expand(&mut self, py: Python<'_>, how: How, memory: f64, seconds: Option<f64>) -> PyResult<Option<bool>> {
        let how = Opening::from(how);
        let done = self.work(py, seconds, move |component, budget| component.expand(&how, memory, budget))?;
        Ok(finished(done)?)
    }

    /// Gives the order search up, with `cuts` the linear program too; the incumbent, the bound and its certificate are kept.
    #[pyo3(signature = (cuts = false))]
    fn close(&mut self, py: Python<'_>, cuts: bool) {
        let component = &mut self.component;
        py.detach(|| component.close(cuts));
    }

    /// Two halves that have all graphs between them: one of two variables may not be the parent of the other, or the
    /// other way round. None where there is nothing to divide by.
    fn branch(&self, py: Python<'_>) -> Option<(Self, Self)> {
        let (one, other) = py.detach(|| self.component.branch())?;
        Some((Self { component: one, threads: self.threads }, Self { component: other, threads: self.threads }))
    }

    /// Takes what was found elsewhere: a graph's cost and order, states expanded. Without a cost it is that of the best sets
    /// along the order.
    #[allow(clippy::needless_pass_by_value)]
    fn learn(&mut self, cost: Option<i64>, order: Vec<u32>, expanded: u64) -> PyResult<()> {
        if let Some(v) = order.iter().find(|v| !self.component.vars().contains(v)) {
            return Err(pyo3::exceptions::PyValueError::new_err(format!("variable {v} is not in the component")));
        }
        if order.len() != self.component.vars().len() && cost.is_none() {
            return Err(pyo3::exceptions::PyValueError::new_err("an order holds every variable of the component once"));
        }
        let cost = cost.unwrap_or_else(|| self.component.cost_along(&order));
        self.component.learn(cost, &order, expanded);
        Ok(())
    }

    /// Takes a bound that was proved elsewhere.
    fn prove(&mut self, bound: i64) {
        self.component.prove(bound);
    }
}

/// The components of a search, upstream first.
#[pyfunction]
fn search_components(py: Python<'_>, candidates: &CandidatesHandle, n_jobs: Jobs) -> PyResult<Vec<SearchComponent>> {
    jobs::threads(n_jobs)?;
    let split = || {
        let parts = Loose::from_candidates(&candidates.inner)?.split();
        if let Some(large) = parts.iter().find(|p| p.vars.len() > MOST_VARIABLES) {
            let n = large.vars.len();
            let text = format!(
                "{n} variables may all depend on one another; exact search takes up to {MOST_VARIABLES}: \
                 use search.anytime or search.hill_climb"
            );
            return Err(Error::Shape(text));
        }
        // One after the other gives its lists up.
        Ok(parts.into_iter().map(|part| engine::component(&part)).collect::<Vec<_>>())
    };
    let components: Vec<_> = py.detach(split).map_err(CoreError)?;
    Ok(components.into_iter().map(|component| SearchComponent { component, threads: n_jobs }).collect())
}

/// About how many bytes the components of a search take at first.
#[pyfunction]
fn search_needs(candidates: &CandidatesHandle) -> usize {
    engine::first_bytes(candidates.inner.n_vars(), candidates.inner.n_sets())
}

/// Along an order, the best candidate set of each variable within those before it: parents and scores by variable.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
fn best_along(candidates: &CandidatesHandle, order: Vec<u32>) -> Result<(Vec<Vec<u32>>, Vec<f64>), CoreError> {
    Ok(candidates.inner.best_along(&order)?)
}

/// The candidates that obey constraints (as JSON). What is known of their scoring (constraints, the most parents, whether
/// sets were left out because a subset beats them) tells whether sets that the constraints ask for may be missing.
#[pyfunction]
#[pyo3(signature = (candidates, constraints, scored_under = None, max_parents = None, pruned = true))]
fn restrict(
    candidates: &CandidatesHandle,
    constraints: &str,
    scored_under: Option<&str>,
    max_parents: Option<usize>,
    pruned: bool,
) -> Result<CandidatesHandle, CoreError> {
    let constraints = Constraints::parse(constraints)?;
    let under = scored_under.map(Constraints::parse).transpose()?;
    // Constraints of a file may be those of other variables.
    let under = under.filter(|under| under.n_vars() == candidates.inner.n_vars());
    let scored = Scored { constraints: under, max_parents, pruned };
    Ok(restricted(&candidates.inner, &constraints, &scored)?.into())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SearchComponent>()?;
    module.add_function(wrap_pyfunction!(search_components, module)?)?;
    module.add_function(wrap_pyfunction!(search_needs, module)?)?;
    module.add_function(wrap_pyfunction!(best_along, module)?)?;
    module.add_function(wrap_pyfunction!(restrict, module)?)
}
