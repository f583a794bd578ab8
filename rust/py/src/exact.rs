//! Components of the exact search: an engine each, driven from Python call by call.

use arbornet_core::control::Budget;
use arbornet_core::dag::exact::cut::MOST_MEMBERS;
use arbornet_core::dag::exact::engine::{self, Component, Limits, MOST_VARIABLES, Priced, Step};
use arbornet_core::dag::exact::problem::{Loose, NEVER};
use arbornet_core::dag::exact::restrict::{Scored, restricted};

use arbornet_core::{Constraints, Control, Error};
use pyo3::prelude::*;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::jobs::{self, Jobs};
use crate::searches::time_limit;

/// One component of the exact search; costs are integers, `2^exponent` of them make one unit of score.
#[pyclass(module = "arbornet._core")]
pub struct SearchComponent {
    engine: Box<dyn Component>,
    threads: Jobs,
}

impl SearchComponent {
    /// Runs work on the engine within a time, watched for signals.
    fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        seconds: Option<f64>,
        work: impl FnOnce(&mut dyn Component, Budget) -> T + Send,
    ) -> PyResult<T> {
        let limit = time_limit(seconds)?;
        let control = Control::default();
        let pool = jobs::pool(self.threads)?;
        let engine = &mut *self.engine;
        jobs::watched(py, &control, None, || pool.install(|| work(engine, Budget::new(&control, limit))))
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
        self.engine.vars().to_vec()
    }

    /// Binary digits of a cost behind the point; below 0, so many before it are not told.
    #[getter]
    fn exponent(&self) -> i32 {
        self.engine.scale().exponent
    }

    /// Parent sets still in play.
    #[getter]
    fn n_sets(&self) -> usize {
        self.engine.n_sets()
    }

    /// Cost of the incumbent, if there is one.
    #[getter]
    fn cost(&self) -> Option<i64> {
        Some(self.engine.cost()).filter(|&cost| cost < NEVER)
    }

    /// Nothing costs less.
    #[getter]
    fn bound(&self) -> i64 {
        self.engine.bound()
    }

    /// The incumbent's order, in the candidates' numbering.
    #[getter]
    fn order(&self) -> Option<Vec<u32>> {
        self.engine.order()
    }

    /// Variables that cannot be ordered: each needs a parent among them.
    fn deadlock(&self) -> Vec<u32> {
        self.engine.deadlock()
    }

    /// Local search over orders until so many perturbations in a row have failed.
    fn improve(&mut self, py: Python<'_>, patience: usize, seed: u64, seconds: Option<f64>) -> PyResult<()> {
        self.run(py, seconds, move |engine, budget| engine.improve(patience, seed, budget))
    }

    /// Dual ascents from fresh, each with its own preferences.
    fn ascend(&mut self, py: Python<'_>, times: usize, seed: u64, seconds: Option<f64>) -> PyResult<()> {
        self.run(py, seconds, move |engine, budget| engine.ascend(times, seed, budget))
    }

    /// One round of the linear program: columns, cuts, columns that joined, cuts found. Blocks of at most so many
    /// variables are looked at.
    fn relax(
        &mut self,
        py: Python<'_>,
        limits: (usize, usize, usize, usize, usize),
        tolerance: f64,
        seconds: Option<f64>,
    ) -> PyResult<(usize, usize, usize, usize)> {
        let (columns, clusters, new, block, scarce) = limits;
        let limits = Limits { columns, clusters, new, block: block.min(MOST_MEMBERS), scarce, tolerance };
        let round = self.run(py, seconds, move |engine, budget| engine.relax(&limits, budget))?;
        Ok((round.columns, round.cuts, round.priced, round.found))
    }

    /// Drops the sets that no better graph can use; returns how many went.
    fn fix(&mut self, py: Python<'_>) -> usize {
        let engine = &mut self.engine;
        py.detach(|| engine.fix())
    }

    /// Two halves that have all graphs between them: one of two variables may not be the parent of the other, or the
    /// other way round. None where there is nothing to divide by.
    fn split(&self, py: Python<'_>) -> Option<(Self, Self)> {
        let (one, other) = py.detach(|| self.engine.split())?;
        Some((Self { engine: one, threads: self.threads }, Self { engine: other, threads: self.threads }))
    }

    /// Takes what was found elsewhere: a graph's cost and order, states expanded.
    fn learn(&mut self, cost: i64, order: Vec<u32>, expanded: u64) -> PyResult<()> {
        if let Some(v) = order.iter().find(|v| !self.engine.vars().contains(v)) {
            return Err(pyo3::exceptions::PyValueError::new_err(format!("variable {v} is not in the component")));
        }
        self.engine.learn(cost, order, expanded);
        Ok(())
    }

    /// Takes a bound that was proved elsewhere.
    fn prove(&mut self, bound: i64) {
        self.engine.prove(bound);
    }

    /// From now on, only what costs less than the incumbent by more than this is searched for.
    fn tolerate(&mut self, slack: i64) {
        self.engine.tolerate(slack);
    }

    /// Bytes and elementary steps of the dynamic program, where it may use so many bytes (it may need more).
    fn program_size(&self, memory: f64) -> (f64, f64) {
        let size = self.engine.program_size(memory);
        (size.bytes, size.steps)
    }

    /// Solves by the dynamic program in so many bytes; false if stopped.
    fn program(&mut self, py: Python<'_>, memory: f64, seconds: Option<f64>) -> PyResult<bool> {
        let done = self.run(py, seconds, move |engine, budget| engine.program(memory, budget))?;
        Ok(finished(done)?.is_some())
    }

    /// Opens the order search.
    fn open(&mut self, py: Python<'_>, max_live: usize) {
        let engine = &mut self.engine;
        py.detach(|| engine.open(max_live));
    }

    /// Holds the open states against pattern databases over blocks of so many variables; false if stopped.
    fn patterns(&mut self, py: Python<'_>, size: usize, seconds: Option<f64>) -> PyResult<bool> {
        let done = self.run(py, seconds, move |engine, budget| engine.patterns(size, budget))?;
        Ok(finished(done)?.is_some())
    }

    /// Gives the order search up; its bound and its incumbent are kept.
    fn close(&mut self, py: Python<'_>) {
        let engine = &mut self.engine;
        py.detach(|| engine.close());
    }

    /// A beam search from the root for a better incumbent.
    fn beam(&mut self, py: Python<'_>, width: usize, max_live: usize, seconds: Option<f64>) -> PyResult<()> {
        self.run(py, seconds, move |engine, budget| engine.beam(width, max_live, budget))
    }

    /// Expands states; false once none is open, None if stopped.
    fn expand(&mut self, py: Python<'_>, count: usize, deepest: bool, seconds: Option<f64>) -> PyResult<Option<bool>> {
        let done = self.run(py, seconds, move |engine, budget| engine.expand(count, deepest, budget))?;
        Ok(finished(done)?)
    }

    /// Takes the bound of the open states.
    fn settle(&mut self, py: Python<'_>) {
        let engine = &mut self.engine;
        py.detach(|| engine.settle());
    }

    /// States expanded, states open, variables still to be placed in the layer at work, bytes held.
    #[getter]
    fn progress(&self) -> (u64, usize, usize, usize) {
        self.engine.progress()
    }

    /// About how many bytes it holds.
    #[getter]
    fn held(&self) -> usize {
        self.engine.held()
    }

    /// About how many bytes a dual ascent takes beside.
    fn ascent_needs(&self) -> usize {
        self.engine.needed(Step::Ascent)
    }

    /// About how many bytes a round of the linear program takes beside.
    fn relax_needs(&self, limits: (usize, usize, usize, usize, usize)) -> usize {
        let (columns, clusters, new, block, scarce) = limits;
        self.engine.needed(Step::Round(Limits { columns, clusters, new, block, scarce, tolerance: 0.0 }))
    }

    /// About how many bytes the order search takes when it is opened.
    fn open_needs(&self) -> usize {
        self.engine.needed(Step::Opening)
    }

    /// Gives all up that only a search needs; the incumbent, the bound and its certificate are kept.
    fn finish(&mut self, py: Python<'_>) {
        let engine = &mut self.engine;
        py.detach(|| engine.finish());
    }

    /// The bound that cuts and prices prove with all sets in play, and these.
    fn certificate(&self) -> (i64, Vec<Priced>) {
        self.engine.certificate()
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
    let engines: Vec<_> = py.detach(split).map_err(CoreError)?;
    Ok(engines.into_iter().map(|engine| SearchComponent { engine, threads: n_jobs }).collect())
}

/// About how many bytes the components of a search take at first.
#[pyfunction]
fn search_needs(candidates: &CandidatesHandle) -> usize {
    engine::first_bytes(candidates.inner.n_vars(), candidates.inner.n_sets())
}

/// Along an order, the best candidate set of each variable within those before it: parents and scores by variable.
#[pyfunction]
fn best_along(candidates: &CandidatesHandle, order: Vec<u32>) -> Result<(Vec<Vec<u32>>, Vec<f64>), CoreError> {
    let n = candidates.inner.n_vars();
    let (mut parents, mut scores, mut before) = (vec![Vec::new(); n], vec![f64::NEG_INFINITY; n], vec![false; n]);
    for v in order {
        let child = candidates.inner.child(v as usize);
        let best = child.iter().find(|(set, _)| set.iter().all(|&p| before[p as usize]));
        let (set, score) = best.ok_or_else(|| Error::Shape(format!("variable {v} has no set within the order")))?;
        parents[v as usize] = set.to_vec();
        scores[v as usize] = score;
        before[v as usize] = true;
    }
    Ok((parents, scores))
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
