//! Searches without a proof, and what they share with Python: graphs as lists of parents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arbornet_core::control::{Budget, Stop};
use arbornet_core::dag::anytime::Anytime;
use arbornet_core::dag::families::{Families, Scored, Stored};
use arbornet_core::dag::hill_climb::{Climbed, HillClimb};
use arbornet_core::dag::k_best::{KBest, Ranked};
use arbornet_core::dag::trees::TreeSearch;
use arbornet_core::{Constraints, Control, Dag, Error, LocalScore};
use pyo3::prelude::*;

use crate::candidates::CandidatesHandle;
use crate::errors::CoreError;
use crate::jobs::{self, Jobs};
use crate::scores::ScoreHandle;

/// A graph (parents of each variable), its families' scores, what no graph exceeds, why the search stopped early, and
/// its counters.
type Outcome = (Vec<Vec<usize>>, Vec<f64>, f64, Option<&'static str>, BTreeMap<&'static str, u64>);

pub fn time_limit(seconds: Option<f64>) -> Result<Option<Duration>, CoreError> {
    let bad = |s: f64| CoreError(Error::parameter("time_limit", &s, "give seconds from 0 up, or None"));
    // Without end for a limit beyond what the clock holds.
    seconds.map_or(Ok(None), |s| if s >= 0.0 { Ok(Duration::try_from_secs_f64(s).ok()) } else { Err(bad(s)) })
}

pub fn stop_name(stop: Option<Stop>) -> Option<&'static str> {
    stop.map(|stop| match stop {
        Stop::Time => "time",
        Stop::Interrupted => "interrupted",
    })
}

pub fn families_of(dag: &Dag) -> Vec<Vec<usize>> {
    (0..dag.n_vars()).map(|v| dag.parents(v).collect()).collect()
}

/// An error for Python, with the exception that a Python score raised as its cause.
fn raised(py: Python<'_>, score: Option<&ScoreHandle>, error: Error) -> PyErr {
    match score {
        Some(score) => score.raise(py, error),
        None => CoreError(error).into(),
    }
}

/// Hill climbing over exactly one of candidates and a score.
#[pyfunction]
#[pyo3(signature = (candidates, score, constraints, start, tabu, patience, restarts, perturb, max_moves, seed,
                    time_limit, n_jobs, tell))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // the dataclass of the Python side, spread out
fn hill_climb(
    py: Python<'_>,
    candidates: Option<&CandidatesHandle>,
    score: Option<&ScoreHandle>,
    constraints: &str,
    start: Option<Vec<Vec<usize>>>,
    tabu: usize,
    patience: usize,
    restarts: usize,
    perturb: usize,
    max_moves: Option<u64>,
    seed: u64,
    time_limit: Option<f64>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let how = HillClimb { tabu, patience, restarts, perturb, max_moves: max_moves.unwrap_or(u64::MAX), seed };
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let start = start.map(|parents| Dag::from_parents(&parents)).transpose().map_err(CoreError)?;
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let budget = Budget::new(&control, self::time_limit(time_limit)?);
    let candidates = candidates.map(|c| c.inner.clone());
    let scored = score;
    let score: Option<Arc<dyn LocalScore>> = score.map(|s| s.score.clone());
    let work = || -> arbornet_core::Result<(Climbed, f64, u64)> {
        if let Some(candidates) = &candidates {
            let families = Stored::new(candidates, &constraints)?;
            Ok((how.run(&families, start.as_ref(), budget)?, families.bound(), 0))
        } else if let Some(score) = &score {
            let families = Scored::new(&**score, &constraints, budget);
            let found = how.run(&families, start.as_ref(), budget)?;
            Ok((found, f64::INFINITY, families.n_scored()))
        } else {
            Err(Error::Shape("give candidates or a score".to_owned()))
        }
    };
    let done = jobs::incumbent(py, &control, tell.as_ref(), || pool.install(work))?;
    let (found, bound, n_scored) = done.map_err(|error| raised(py, scored, error))?;
    let counters = BTreeMap::from([("moves", found.n_moves), ("scored", n_scored)]);
    Ok((families_of(&found.dag), found.scores, bound, stop_name(found.stop), counters))
}

/// A graph (parents), its families' scores, a bound, whether it is proved, why it stopped early, (seconds, score) as it
/// improved, and counters.
type Improved =
    (Vec<Vec<usize>>, Vec<f64>, f64, bool, Option<&'static str>, Vec<(f64, f64)>, BTreeMap<&'static str, u64>);

/// Anytime search over orders.
#[pyfunction]
#[pyo3(signature = (candidates, constraints, rounds, chains, window, seed, time_limit, n_jobs, tell))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
fn anytime(
    py: Python<'_>,
    candidates: &CandidatesHandle,
    constraints: &str,
    rounds: Option<u64>,
    chains: usize,
    window: usize,
    seed: u64,
    time_limit: Option<f64>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Improved> {
    let how = Anytime { rounds: rounds.unwrap_or(u64::MAX), chains, window, seed };
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let budget = Budget::new(&control, self::time_limit(time_limit)?);
    let candidates = candidates.inner.clone();
    let work = || {
        let stored = Stored::new(&candidates, &constraints)?;
        Ok((how.run(&stored, budget)?, stored.bound()))
    };
    let (found, bound) = jobs::incumbent(py, &control, tell.as_ref(), || pool.install(work))?.map_err(CoreError)?;
    let parents = found.parents.iter().map(|p| p.to_vec()).collect();
    let counters = BTreeMap::from([("rounds", found.n_rounds)]);
    Ok((parents, found.scores, bound, found.proven, stop_name(found.stop), found.improvements, counters))
}

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
    let budget = Budget::new(&control, self::time_limit(time_limit)?);
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

/// A tree's parents and its families' scores, whether directions were told apart, and the number of families scored.
type Planted = (Vec<Vec<usize>>, Vec<f64>, bool, u64);

/// The best tree or forest over exactly one of candidates (always a forest) and a score.
#[pyfunction]
#[pyo3(signature = (candidates, score, constraints, class_, root, forest, directed, n_jobs, tell))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
fn tree(
    py: Python<'_>,
    candidates: Option<&CandidatesHandle>,
    score: Option<&ScoreHandle>,
    constraints: &str,
    class_: Option<usize>,
    root: Option<usize>,
    forest: bool,
    directed: Option<bool>,
    n_jobs: Jobs,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<Planted> {
    let constraints = Constraints::parse(constraints).map_err(CoreError)?;
    let scorer: Option<Arc<dyn LocalScore>> = score.map(|s| s.score.clone());
    // Constraints and candidates may tell directions apart even where the score does not.
    let alike = constraints.is_empty() && scorer.as_ref().is_some_and(|s| s.equivalent());
    let how = TreeSearch { class: class_, root, forest, directed: directed.unwrap_or(!alike) };
    let pool = jobs::pool(n_jobs)?;
    let control = Control::default();
    let candidates = candidates.map(|c| c.inner.clone());
    let work = || {
        let budget = Budget::new(&control, None);
        match (&candidates, &scorer) {
            (Some(candidates), _) => how.run(&Stored::new(candidates, &constraints)?).map(|tree| (tree, 0)),
            (None, Some(scorer)) => {
                let families = Scored::new(&**scorer, &constraints, budget);
                how.run(&families).map(|tree| (tree, families.n_scored()))
            }
            (None, None) => Err(Error::Shape("give candidates or a score".to_owned())),
        }
    };
    let found = jobs::watched(py, &control, tell.as_ref(), || pool.install(work))?;
    let (tree, n_scored) = found.map_err(|error| raised(py, score, error))?;
    Ok((tree.parents.iter().map(|p| p.to_vec()).collect(), tree.scores, how.directed, n_scored))
}

pub type Pairs = Vec<(usize, usize)>;

/// The equivalence class of a graph given by parents: (compelled arcs, reversible links), both as pairs.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn cpdag(parents: Vec<Vec<usize>>) -> Result<(Pairs, Pairs), CoreError> {
    let class = Dag::from_parents(&parents)?.cpdag();
    Ok((class.arcs().collect(), class.links().collect()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hill_climb, module)?)?;
    module.add_function(wrap_pyfunction!(anytime, module)?)?;
    module.add_function(wrap_pyfunction!(k_best, module)?)?;
    module.add_function(wrap_pyfunction!(tree, module)?)?;
    module.add_function(wrap_pyfunction!(cpdag, module)?)
}
