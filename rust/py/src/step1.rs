//! Step 1 for Python: on the threads of this machine, or block by block for whoever spreads the work.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arbornet_core::score::mixed::block::BlockGaussian;
use arbornet_core::step1::{
    self, Block, InOrder, Journal, Layer, Ledger, Manifest, Next, Outcome, Record, Skipped, Space, Spent, Within,
};
use arbornet_core::{Constraints, Control, Error, LocalScore};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::handles::TableHandle;
use crate::jobs::{Jobs, pool, watched_or_left};
use crate::scores::ScoreHandle;
use crate::searches::time_limit;

/// A block as Python passes it on: child, size, start, length.
type Place = (usize, usize, u64, u32);
/// A family that cannot be scored: child, parents, reason.
type Told = (usize, Vec<usize>, String);
/// A family whose score is a lower bound: child, parents; each parent in order with its levels and its groups.
type Bounded = (usize, Vec<usize>, Vec<(usize, u32, u32)>);
/// Candidates, sets, scored sets, families that cannot be scored, and the first of them; how many scores are lower bounds,
/// and the sets kept among them.
type Result1 = (CandidatesHandle, u64, u64, u64, Vec<Told>, u64, Vec<Bounded>);

fn block((child, size, start, len): Place) -> Block {
    Block { child, size, start, len }
}

fn place(block: Block) -> Place {
    (block.child, block.size, block.start, block.len)
}

fn told(skipped: Vec<Skipped>) -> Vec<Told> {
    skipped.into_iter().map(|s| (s.child, s.parents.to_vec(), s.reason)).collect()
}

fn result(outcome: Outcome) -> Result1 {
    let Outcome { candidates, n_sets, n_evaluated, n_skipped, skipped, n_in_order, in_order } = outcome;
    let bounded = |of: InOrder| {
        let groups = of.groups.iter().map(|groups| (groups.parent, groups.levels, groups.groups)).collect();
        (of.child, of.parents.to_vec(), groups)
    };
    let bounded = in_order.into_iter().map(bounded).collect();
    (candidates.into(), n_sets, n_evaluated, n_skipped, told(skipped), n_in_order, bounded)
}

/// What is to be scored: every permitted parent set of every child, up to a size. Immutable; pickles.
#[pyclass(frozen, module = "arbornet._core")]
pub struct Step1 {
    score: Py<ScoreHandle>,
    step: Arc<step1::Step1>,
    constraints: Constraints,
    max_parents: usize,
    memory_limit: Option<u64>,
    prune: bool,
}

impl Step1 {
    fn journal(&self, folder: &Path) -> Result<Journal, CoreError> {
        let score = self.score.get();
        let manifest = Manifest::new(&score.table, &score.spec, self.max_parents, &self.constraints, &self.step);
        let manifest = manifest.within(score.limit);
        Ok(Journal::open(folder, &manifest)?)
    }

    fn score(&self) -> Arc<dyn LocalScore> {
        self.score.get().score.clone()
    }
}

#[pymethods]
impl Step1 {
    /// Constraints as JSON, one rule a child; the memory limit in bytes; sets in a block, by default by the rows; whether
    /// sets that a subset beats are left out.
    #[new]
    #[pyo3(signature = (score, max_parents, constraints = None, memory_limit = None, block_sets = None, prune = true))]
    fn new(
        score: Py<ScoreHandle>,
        max_parents: usize,
        constraints: Option<&str>,
        memory_limit: Option<u64>,
        block_sets: Option<usize>,
        prune: bool,
    ) -> Result<Self, CoreError> {
        let table = &score.get().table;
        let constraints = match constraints {
            Some(json) => Constraints::parse(json)?,
            None => Constraints::none(table.n_vars()),
        };
        let step = step1::Step1::new(table, max_parents, &constraints, block_sets, memory_limit)?;
        let step = Arc::new(if prune { step } else { step.keeping_all() });
        Ok(Self { score, step, constraints, max_parents, memory_limit, prune })
    }

    /// Per child, the number of its sets with 0, 1, ... parents.
    #[getter]
    fn sizes(&self) -> Vec<Vec<u64>> {
        let of = |space: &Space| {
            let free = (0..=space.layers()).map(|size| space.n_of_size(size));
            std::iter::repeat_n(0, space.n_required()).chain(free).collect()
        };
        self.step.spaces().iter().map(of).collect()
    }

    /// Most bytes of one child while it is under way, apart from its kept sets.
    #[getter]
    fn bytes_per_child(&self) -> f64 {
        self.step.spaces().iter().map(Space::bytes).fold(0.0, f64::max)
    }

    /// Sets in a block.
    #[getter]
    fn block_sets(&self) -> u64 {
        self.step.block_sets()
    }

    /// Scores everything on threads of this machine; `tell(done, total)` is called as work is done.
    #[pyo3(signature = (n_jobs, checkpoint = None, tell = None))]
    fn run(
        &self,
        py: Python<'_>,
        n_jobs: Jobs,
        checkpoint: Option<PathBuf>,
        tell: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Result1> {
        let mut journal = checkpoint.map(|folder| py.detach(|| self.journal(&folder))).transpose()?;
        let pool = pool(n_jobs)?;
        let (step, score, control) = (self.step.clone(), self.score(), Arc::new(Control::default()));
        let outcome = watched_or_left(py, &control.clone(), tell, move || {
            pool.install(|| step.run(&*score, &control, journal.as_mut()))
        })?;
        outcome.map(result).map_err(|error| self.score.get().raise(py, error))
    }

    /// The records of blocks of one child and size, made here; `below` is the layer below as `Step1Run.next` gives it.
    #[allow(clippy::needless_pass_by_value)] // what pyo3 extracts
    fn score_blocks<'py>(
        &self,
        py: Python<'py>,
        blocks: Vec<Place>,
        below: &[u8],
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let score = self.score.get();
        let n_vars = self.step.spaces().len();
        if blocks.iter().any(|b| b.0 >= n_vars || b.1 > self.step.space(b.0).layers()) {
            return Err(CoreError(Error::Shape("there is no such block".to_owned())).into());
        }
        let (step, of, below, control) =
            (self.step.clone(), self.score(), below.to_vec(), Arc::new(Control::default()));
        let heard = control.clone();
        let work = move || -> arbornet_core::Result<Vec<Vec<u8>>> {
            let below = Layer::from_bytes(&below)?;
            let Some(first) = blocks.first() else { return Ok(vec![]) };
            let mut scratch = of.child(first.0)?;
            scratch.heed(&control.halt());
            let space = step.space(first.0);
            let record =
                |&given: &Place| step1::score_block(&*of, scratch.as_mut(), space, block(given), &below, &control);
            blocks.iter().map(record).map(|record| Ok(record?.to_bytes())).collect()
        };
        // A task that was given up is to end: it listens as long work does.
        let records = watched_or_left(py, &heard, None, work)?.map_err(|error| score.raise(py, error))?;
        Ok(records.iter().map(|record| PyBytes::new(py, record)).collect())
    }

    /// Whether families can be scored: how many were looked at, how many cannot, and the first of those.
    fn check(&self, py: Python<'_>, limit: u64, first: usize) -> PyResult<(u64, u64, Vec<Told>)> {
        let (step, score, control) = (self.step.clone(), self.score(), Arc::new(Control::default()));
        let checked = watched_or_left(py, &control.clone(), None, move || step.check(&*score, limit, first, &control))?;
        let checked = checked.map_err(CoreError)?;
        Ok((checked.n_checked, checked.n_unscorable, told(checked.first)))
    }

    /// By number of parents beyond the required ones: how many sampled families were scored, and their seconds.
    fn time(&self, py: Python<'_>, seconds: f64) -> PyResult<Vec<(u64, f64)>> {
        let (step, score, control) = (self.step.clone(), self.score(), Arc::new(Control::default()));
        let budget = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        let timed = watched_or_left(py, &control.clone(), None, move || step.time(&*score, budget, &control))?;
        let timed = timed.map_err(|error| self.score.get().raise(py, error))?;
        Ok(timed.into_iter().map(|t| (t.n, t.cost)).collect())
    }

    /// The same in steps of about a nanosecond, counted and not timed, until so many are spent; None if the score does
    /// not count them. A family that is left early counts with what it took; if it is known what one may take in earnest,
    /// with more.
    #[pyo3(signature = (steps, in_earnest = None))]
    fn count(&self, py: Python<'_>, steps: u64, in_earnest: Option<u64>) -> PyResult<Option<Vec<(u64, f64)>>> {
        let (step, score, control) = (self.step.clone(), self.score(), Arc::new(Control::default()));
        let counted =
            watched_or_left(py, &control.clone(), None, move || step.count(&*score, steps, in_earnest, &control))?;
        let counted = counted.map_err(|error| self.score.get().raise(py, error))?;
        Ok(counted.map(|counted| counted.into_iter().map(|t| (t.n, t.cost)).collect()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let constraints = serde_json::to_string(&this.constraints).expect("rules are plain data");
        let block_sets = this.step.block_sets();
        let given = (&this.score, this.max_parents, constraints, this.memory_limit, block_sets, this.prune);
        Ok((slf.get_type().into_any(), given.into_pyobject(py)?.into_any()))
    }
}

/// The book of a run that others do block by block.
#[pyclass(frozen, module = "arbornet._core")]
pub struct Step1Run {
    step: Py<Step1>,
    control: Control,
    state: Mutex<State>,
}

struct State {
    ledger: Option<Ledger>,
    journal: Option<Journal>,
    sent: HashSet<(usize, usize)>,
}

/// Blocks to score, and the layer below them the first time that it is needed.
type Work<'py> = (Vec<Place>, Option<Bound<'py, PyBytes>>);

#[pymethods]
impl Step1Run {
    /// For so many children under way at once.
    #[new]
    #[pyo3(signature = (step, workers, checkpoint = None))]
    fn new(py: Python<'_>, step: Py<Step1>, workers: usize, checkpoint: Option<PathBuf>) -> PyResult<Self> {
        let this = step.get();
        let mut journal = checkpoint.map(|folder| py.detach(|| this.journal(&folder))).transpose()?;
        let found = journal.as_mut().map_or_else(Vec::new, Journal::take_found);
        let ledger = Some(Ledger::new(&this.step, workers, found));
        let control = Control::default();
        control.expect(this.step.total_effort());
        Ok(Self { step, control, state: Mutex::new(State { ledger, journal, sent: HashSet::new() }) })
    }

    /// Up to `most` blocks of one child and size; none if records have to come in first, or all are handed out.
    fn next<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Option<Work<'py>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = state.ledger.as_mut().ok_or_else(over)?;
        let Next::Blocks(blocks, below) = ledger.next(None, most, &self.control).map_err(CoreError)? else {
            return Ok(None);
        };
        let new = state.sent.insert((blocks[0].child, blocks[0].size));
        let below = new.then(|| PyBytes::new(py, &below.to_bytes()));
        Ok(Some((blocks.into_iter().map(place).collect(), below)))
    }

    /// Enters a record, and writes it to the checkpoint.
    fn accept(&self, py: Python<'_>, record: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let record = Record::from_bytes(record)?;
            if let Some(journal) = &mut state.journal {
                journal.append(&record)?;
            }
            let ledger = state.ledger.as_mut().ok_or_else(|| Error::Shape("the run has ended".to_owned()))?;
            ledger.accept(record, &self.control)
        })
        .map_err(|error| self.step.get().score.get().raise(py, error))
    }

    /// Effort done, and in all.
    #[getter]
    fn progress(&self) -> (u64, u64) {
        self.control.progress()
    }

    /// What came out; the run has ended then.
    fn finish(&self) -> PyResult<Result1> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = state.ledger.take().ok_or_else(over)?;
        Ok(result(ledger.finish().map_err(CoreError)?))
    }
}

fn over() -> CoreError {
    CoreError(Error::Shape("the run has ended".to_owned()))
}

/// Steps taken, sets looked at and permitted by number of optional parents, families given up, complete children.
type Told1 = (u64, Vec<u64>, Vec<f64>, u64, usize);

/// Scores parent sets within so many counted steps, the most promising first; see the core's `Within`.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // what Python gives
#[pyo3(signature = (score, max_parents, constraints, steps, n_jobs, tell = None, seconds = None))]
fn score_within(
    py: Python<'_>,
    score: &ScoreHandle,
    max_parents: usize,
    constraints: &str,
    steps: u64,
    n_jobs: Jobs,
    tell: Option<&Bound<'_, PyAny>>,
    seconds: Option<f64>,
) -> PyResult<(Result1, Told1)> {
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let pool = pool(n_jobs)?;
    let (of, control) = (score.score.clone(), Arc::new(Control::default()));
    let within = Within { steps, max_parents, time: time_limit(seconds)? };
    // What is screened decides only what is looked at first.
    let table = score.table.in_proportion();
    let known = score.custom.is_none();
    let outcome = watched_or_left(py, &control.clone(), tell, move || {
        pool.install(|| {
            // Curves of numbers and means of levels: a pair of columns takes a microsecond or two.
            let rows = if known { within.rows_to_screen(&*of, &constraints) } else { None };
            // Where it cannot be made, all rows have to do.
            let made = |rows| BlockGaussian::default().prepare(&Arc::new(table.every(rows)?));
            let screen = rows.map(made).and_then(arbornet_core::Result::ok);
            within.run(&*of, screen.as_deref(), &constraints, &control)
        })
    })?;
    let (outcome, spent) = outcome.map_err(|error| score.raise(py, error))?;
    let Spent { steps, looked_at, permitted, dear, complete } = spent;
    Ok((result(outcome), (steps, looked_at, permitted, dear, complete)))
}

/// A short name for a table's content: names, kinds and values.
#[pyfunction]
fn table_fingerprint(py: Python<'_>, table: &TableHandle) -> String {
    py.detach(|| Manifest::fingerprint(&table.0))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(table_fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(score_within, module)?)?;
    module.add_class::<Step1>()?;
    module.add_class::<Step1Run>()
}
