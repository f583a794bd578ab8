//! A score prepared for a table, as Python holds it.

use std::sync::Arc;

use arbornet_core::parents::{Parents, parent_set};
use arbornet_core::regress::features::{Features, Scale};
use arbornet_core::score::Tables;
use arbornet_core::score::classic::smoothed::{Smoothed, Smoothing};
use arbornet_core::score::limited::Limited;
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Control, Error, LocalScore, Table};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::custom::{Custom, Shared};
use crate::errors::CoreError;
use crate::handles::{TableHandle, leaf_name};
use crate::jobs::watched_or_left;

/// A score prepared for a table, from its JSON (`{"score": name, parameters}`). Shared by any number of threads.
#[pyclass(frozen, module = "arbornet._core")]
pub struct ScoreHandle {
    pub table: Arc<Table>,
    pub score: Arc<dyn LocalScore>,
    #[pyo3(get)]
    pub spec: String,
    pub custom: Option<Callable>,
    /// Seconds per child.
    pub limit: Option<f64>,
}

/// A Python callable behind a score, with what it was made of.
pub struct Callable {
    shared: Arc<Custom>,
    function: Py<PyAny>,
    model: Option<Py<ScoreHandle>>,
}

/// What pickle asks for: a constructor and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

impl ScoreHandle {
    /// The parents sorted, if child and parents are a family of the table.
    pub fn family(&self, child: usize, parents: &[usize]) -> Result<Parents, CoreError> {
        if child >= self.table.n_vars() {
            return Err(CoreError(Error::Shape(format!("there is no column {child}"))));
        }
        Ok(parent_set(&self.table, child, parents)?)
    }

    /// The error for Python; if a callable raised, its exception is the cause.
    pub fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        let told = PyErr::from(CoreError(error));
        if let Some(raised) = self.custom.as_ref().and_then(|custom| custom.shared.take_raised()) {
            told.set_cause(py, Some(raised));
        }
        told
    }
}

#[pymethods]
impl ScoreHandle {
    #[new]
    fn new(py: Python<'_>, table: &TableHandle, spec: String) -> PyResult<Self> {
        let parsed = ScoreSpec::parse(&spec).map_err(CoreError)?;
        let of = table.0.clone();
        let score = watched_or_left(py, &Control::default(), None, move || parsed.prepare(&of))?.map_err(CoreError)?;
        Ok(Self { table: table.0.clone(), score: score.into(), spec, custom: None, limit: None })
    }

    /// A callable of (child, parents), by positions, as a score; models are those of another score, if given. The
    /// spec identifies it in checkpoints.
    #[staticmethod]
    #[pyo3(signature = (table, spec, function, model = None))]
    fn custom(py: Python<'_>, table: &TableHandle, spec: String, function: Py<PyAny>, model: Option<Py<Self>>) -> Self {
        let of_model = model.as_ref().map(|model| model.get().score.clone());
        let shared = Arc::new(Custom::new(table.0.clone(), function.clone_ref(py), of_model));
        let score = Arc::new(Shared(shared.clone()));
        Self { table: table.0.clone(), score, spec, custom: Some(Callable { shared, function, model }), limit: None }
    }

    /// The same score, with no more than so many seconds for the parent sets of each child.
    fn limited(&self, py: Python<'_>, seconds: f64) -> PyResult<Self> {
        let Ok(limit) = std::time::Duration::try_from_secs_f64(seconds) else {
            return Err(CoreError(Error::parameter("child_time_limit", &seconds, "give seconds from 0 up")).into());
        };
        let custom = self.custom.as_ref().map(|custom| Callable {
            shared: custom.shared.clone(),
            function: custom.function.clone_ref(py),
            model: custom.model.as_ref().map(|model| model.clone_ref(py)),
        });
        let score = Arc::new(Limited::new(self.score.clone(), limit));
        Ok(Self { table: self.table.clone(), score, spec: self.spec.clone(), custom, limit: Some(seconds) })
    }

    /// The same score with the models that a classifier wants of it: tables of levels with so much added to every count,
    /// or without an amount, what the score adds itself, and one to every configuration where it adds nothing.
    #[pyo3(signature = (amount = None))]
    fn smoothed(slf: &Bound<'_, Self>, amount: Option<f64>) -> Result<Py<Self>, PyErr> {
        let own = slf.get();
        let smoothing = match (amount, own.score.tables()) {
            (None, Tables::None | Tables::Smoothed) => return Ok(slf.clone().unbind()),
            (Some(amount), Tables::None) => {
                let problem = "this score has models of its own; leave it out";
                return Err(CoreError(Error::parameter("smoothing", &amount, problem)).into());
            }
            (Some(amount), _) => Smoothing::PerLevel(amount),
            (None, Tables::Counted) => Smoothing::PerConfiguration(1.0),
        };
        let score = Arc::new(Smoothed::new(own.score.clone(), smoothing).map_err(CoreError)?);
        Py::new(slf.py(), Self { table: own.table.clone(), score, spec: own.spec.clone(), custom: None, limit: None })
    }

    /// Seconds that an average family of so many parents takes, as the score states it.
    fn seconds(&self, n_parents: usize) -> f64 {
        self.score.cost().seconds(&self.table, n_parents)
    }

    /// The score of one family, by positions: higher is better, natural logarithm.
    #[allow(clippy::needless_pass_by_value)] // what pyo3 extracts
    fn score(&self, py: Python<'_>, child: usize, parents: Vec<usize>) -> PyResult<f64> {
        let parents = self.family(child, &parents)?;
        if self.custom.is_some() {
            return py.detach(|| self.score.score(child, &parents)).map_err(|error| self.raise(py, error));
        }
        let (score, control) = (self.score.clone(), Control::default());
        let halt = control.halt();
        let scored = watched_or_left(py, &control, None, move || {
            let mut scratch = score.child(child)?;
            scratch.heed(&halt);
            scratch.score(&parents)
        })?;
        Ok(scored.map_err(CoreError)?)
    }

    /// Raises what scoring this family would raise, without scoring it.
    #[allow(clippy::needless_pass_by_value)]
    fn check(&self, child: usize, parents: Vec<usize>) -> PyResult<()> {
        let parents = self.family(child, &parents)?;
        Ok(self.score.check(child, &parents).map_err(CoreError)?)
    }

    /// How the levels of the parents are grouped in a family whose score is a lower bound: each parent with its levels
    /// and its groups; None if the score is exact.
    #[allow(clippy::needless_pass_by_value)]
    fn in_order(&self, py: Python<'_>, child: usize, parents: Vec<usize>) -> PyResult<Option<Vec<(usize, u32, u32)>>> {
        let parents = self.family(child, &parents)?;
        let score = self.score.clone();
        let found = watched_or_left(py, &Control::default(), None, move || score.in_order(child, &parents))?;
        let found = found.map_err(|error| self.raise(py, error))?;
        Ok(found.map(|all| all.into_iter().map(|of| (of.parent, of.levels, of.groups)).collect()))
    }

    /// What scoring a family costs, counted in steps of about a nanosecond, known before it is scored.
    #[allow(clippy::needless_pass_by_value)]
    fn family_steps(&self, child: usize, parents: Vec<usize>) -> PyResult<u64> {
        let parents = self.family(child, &parents)?;
        Ok(self.score.family_steps(child, &parents))
    }

    /// What stands in the leaves of a child of numbers: "normal", "linear" or "counts"; None of other children and scores.
    fn leaf(&self, py: Python<'_>, child: usize) -> PyResult<Option<&'static str>> {
        self.family(child, &[])?;
        let score = self.score.clone();
        Ok(watched_or_left(py, &Control::default(), None, move || score.leaf(child))?.map(leaf_name))
    }

    /// True if all members of an equivalence class always score alike.
    #[getter]
    fn equivalent(&self) -> bool {
        self.score.equivalent()
    }

    /// Tests x and y given others (ascending): p-value, statistic, degrees of freedom.
    #[allow(clippy::needless_pass_by_value)]
    fn test(&self, py: Python<'_>, x: usize, y: usize, given: Vec<usize>) -> PyResult<(f64, f64, f64)> {
        let (score, control) = (self.score.clone(), Control::default());
        let halt = control.halt();
        let tested = watched_or_left(py, &control, None, move || score.test_until(x, y, &given, &halt))?
            .map_err(|error| self.raise(py, error))?;
        Ok((tested.p_value, tested.statistic, tested.df))
    }

    /// The table it was prepared for.
    #[getter]
    fn table(&self) -> TableHandle {
        TableHandle(self.table.clone())
    }

    fn __repr__(&self) -> String {
        format!("ScoreHandle({})", self.spec)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let class = py.get_type::<Self>();
        let (make, given) = match &self.custom {
            None => (class.clone().into_any(), (self.table(), &self.spec).into_pyobject(py)?),
            Some(Callable { function, model, .. }) => {
                (class.getattr("custom")?, (self.table(), &self.spec, function, model).into_pyobject(py)?)
            }
        };
        match self.limit {
            None => Ok((make, given)),
            Some(limit) => Ok((class.getattr("limited")?, (make.call1(given)?, limit).into_pyobject(py)?)),
        }
    }
}

/// How each number of a table is read in a scale asked for (as JSON text without quotes); None for levels.
#[pyfunction]
fn feature_scales(py: Python<'_>, table: &TableHandle, scale: &str) -> PyResult<Vec<Option<&'static str>>> {
    let asked = match scale {
        "normal_scores" => Scale::NormalScores,
        "raw" => Scale::Raw,
        "log" => Scale::Log,
        "auto" => Scale::Auto,
        other => {
            return Err(CoreError(Error::parameter("scale", &other, "choose normal_scores, raw, log or auto")).into());
        }
    };
    let table = table.0.in_proportion();
    let work = move || Ok(Features::new(&table, 1, asked).scales);
    let scales = watched_or_left(py, &Control::default(), None, work)?.map_err(CoreError)?;
    Ok(scales.into_iter().map(|scale| scale.map(Scale::name)).collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScoreHandle>()?;
    module.add_function(wrap_pyfunction!(feature_scales, module)?)
}
