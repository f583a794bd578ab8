//! A fitted network as Python holds it.

use std::sync::Arc;

use arbornet_core::network::{Method, Network, Observed, Rows, Sampled, Settings, Within, contributions};
use arbornet_core::{Control, Error, Kind, Value, Variable, bif};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::CoreError;
use crate::handles::{TableHandle, level_to_python};
use crate::jobs::{Jobs, pool, watched, watched_or_left};
use crate::models::ModelHandle;
use crate::scores::ScoreHandle;

/// (rows answered by sampling, largest standard error of a probability among them)
type How = (usize, f64);
type Reals<'py> = Bound<'py, PyArray1<f64>>;
/// (position, code or number in stored units)
type Known = Vec<(usize, f64)>;

/// What is known short of a value: an interval (low, high) in stored units, or a list of how probable that is under
/// each level.
#[derive(FromPyObject)]
enum Limit {
    Between(f64, f64),
    Levels(Vec<f64>),
}
type Limits = Vec<(usize, Limit)>;

/// A fitted network. Immutable, so any number of threads may hold it.
#[pyclass(frozen, module = "arbornet._core")]
pub struct NetworkHandle(pub Arc<Network>);

fn how(sampled: Sampled) -> How {
    (sampled.rows, sampled.standard_error)
}

fn settings((method, particles, seed): (&str, usize, u64)) -> Result<Settings, CoreError> {
    let method = match method {
        "auto" => Method::Auto,
        "exact" => Method::Exact,
        "sampling" => Method::Sampling,
        _ => return Err(Error::parameter("method", &method, "use 'auto', 'exact' or 'sampling'").into()),
    };
    if particles == 0 {
        return Err(Error::parameter("particles", &particles, "must be at least 1").into());
    }
    Ok(Settings { method, particles, seed })
}

impl NetworkHandle {
    fn checked(&self, var: usize) -> PyResult<usize> {
        let n = self.0.n_vars();
        if var < n { Ok(var) } else { Err(PyIndexError::new_err(format!("no variable {var}: there are {n}"))) }
    }

    fn rows(&self, columns: &[Option<Bound<'_, PyAny>>], n_rows: usize) -> PyResult<Rows> {
        let column = |column: &Option<Bound<'_, PyAny>>| -> PyResult<Observed> {
            let Some(values) = column else { return Ok(Observed::Nothing) };
            if let Ok(reals) = values.extract::<PyReadonlyArray1<'_, f64>>() {
                return Ok(Observed::Reals(reals.as_array().to_vec()));
            }
            let codes: PyReadonlyArray1<'_, u32> = values.extract()?;
            Ok(Observed::Codes(codes.as_array().to_vec()))
        };
        let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
        Ok(Rows::new(self.0.variables(), columns, n_rows).map_err(CoreError)?)
    }

    fn known(&self, known: &Known) -> PyResult<Rows> {
        let value = |&(var, x): &(usize, f64)| -> PyResult<(usize, Value)> {
            let levels = self.0.variables()[self.checked(var)?].n_levels();
            Ok((var, if levels.is_some() { Value::Code(x as u32) } else { Value::Real(x) }))
        };
        let known = known.iter().map(value).collect::<PyResult<Vec<_>>>()?;
        Ok(Rows::single(self.0.variables(), &known).map_err(CoreError)?)
    }

    fn limited(&self, rows: Rows, limits: Limits) -> PyResult<Rows> {
        let within = |(var, limit): (usize, Limit)| -> PyResult<(usize, Within)> {
            let within = match limit {
                Limit::Between(low, high) => Within::Between(low, high),
                Limit::Levels(shares) => Within::Levels(shares),
            };
            Ok((self.checked(var)?, within))
        };
        let limits = limits.into_iter().map(within).collect::<PyResult<Vec<_>>>()?;
        Ok(rows.limited(self.0.variables(), limits).map_err(CoreError)?)
    }

    /// Runs a question on a pool of its own, without the GIL, signals watched.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        n_jobs: Jobs,
        question: impl FnOnce(&Network, &Control) -> arbornet_core::Result<T> + Send,
    ) -> PyResult<T> {
        let control = Control::default();
        let pool = pool(n_jobs)?;
        let answer = watched(py, &control, None, || pool.install(|| question(&self.0, &control)))?;
        Ok(answer.map_err(CoreError)?)
    }
}

#[pymethods]
#[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
impl NetworkHandle {
    /// Fits the model of a score for every variable; `parents` holds the positions of each variable's parents.
    #[staticmethod]
    fn fit(py: Python<'_>, score: &ScoreHandle, parents: Vec<Vec<usize>>, n_jobs: Jobs) -> PyResult<Self> {
        let control = Control::default();
        let pool = pool(n_jobs)?;
        let of = score.score.clone();
        let network = watched(py, &control, None, || pool.install(|| Network::fit(&*of, &parents, &control)))?;
        Ok(Self(Arc::new(network.map_err(|error| score.raise(py, error))?)))
    }

    /// Of every variable its family's score and, per parent in ascending order, what is lost without that parent.
    #[staticmethod]
    fn contributions(
        py: Python<'_>,
        score: &ScoreHandle,
        parents: Vec<Vec<usize>>,
        n_jobs: Jobs,
    ) -> PyResult<Vec<(f64, Vec<f64>)>> {
        let control = Control::default();
        let pool = pool(n_jobs)?;
        let of = score.score.clone();
        let scores = watched(py, &control, None, || pool.install(|| contributions(&*of, &parents, &control)))?;
        scores.map_err(|error| score.raise(py, error))
    }

    /// Reads the JSON form; origin names it in errors.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str, origin: &str) -> PyResult<Self> {
        let network = py.detach(|| Network::from_json(text)).map_err(|error| match error {
            Error::Format { line, problem, .. } => {
                CoreError(Error::Format { origin: origin.to_owned(), line, problem })
            }
            other => CoreError(other),
        })?;
        Ok(Self(Arc::new(network)))
    }

    /// The JSON form: variables and models.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_json())
    }

    /// Reads the text of a BIF file; origin names it in errors.
    #[staticmethod]
    fn from_bif(py: Python<'_>, text: &str, origin: &str) -> Result<Self, CoreError> {
        Ok(Self(Arc::new(py.detach(|| bif::read(text, origin))?)))
    }

    /// The text of a BIF file.
    fn to_bif(&self, py: Python<'_>) -> Result<String, CoreError> {
        Ok(py.detach(|| bif::write(&self.0))?)
    }

    /// A table of the same variables without rows.
    fn empty_table(&self) -> PyResult<TableHandle> {
        Ok(TableHandle(Arc::new(self.0.empty_table().map_err(CoreError)?)))
    }

    /// Names of all variables.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.variables().iter().map(|v| v.name.to_string()).collect()
    }

    /// "continuous", "categorical" or "ordinal".
    fn kind(&self, var: usize) -> PyResult<&'static str> {
        Ok(match self.0.variables()[self.checked(var)?].kind {
            Kind::Continuous { .. } => "continuous",
            Kind::Categorical { .. } => "categorical",
            Kind::Ordinal { .. } => "ordinal",
        })
    }

    /// The declared levels by code, or None for a continuous variable.
    fn levels<'py>(&self, py: Python<'py>, var: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        match &self.0.variables()[self.checked(var)?].kind {
            Kind::Continuous { .. } => Ok(None),
            Kind::Categorical { levels } | Kind::Ordinal { levels } => {
                let levels = levels.iter().map(|level| level_to_python(py, level)).collect::<PyResult<Vec<_>>>()?;
                Ok(Some(PyList::new(py, levels)?))
            }
        }
    }

    /// The pair (shift, scale) back to the user's units, or None for a variable with levels.
    fn scale(&self, var: usize) -> PyResult<Option<(f64, f64)>> {
        match self.0.variables()[self.checked(var)?].kind {
            Kind::Continuous { scale } => Ok(Some((scale.shift, scale.scale))),
            _ => Ok(None),
        }
    }

    /// Positions of the parents, ascending.
    fn parents(&self, var: usize) -> PyResult<Vec<usize>> {
        Ok(self.0.parents(self.checked(var)?).to_vec())
    }

    /// All positions, parents before children.
    fn order(&self) -> Vec<usize> {
        self.0.order().to_vec()
    }

    /// One local model.
    fn model(&self, var: usize) -> PyResult<ModelHandle> {
        let model = self.0.model(self.checked(var)?).clone();
        Ok(ModelHandle { variables: self.0.shared_variables(), model })
    }

    /// Number of free parameters of one local model.
    fn n_parameters(&self, var: usize) -> PyResult<usize> {
        Ok(self.0.model(self.checked(var)?).n_parameters())
    }

    /// Log density of each row, missing values marginalised.
    fn log_likelihood<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Option<Bound<'py, PyAny>>>,
        n_rows: usize,
        how_to: (String, usize, u64),
        n_jobs: Jobs,
    ) -> PyResult<(Reals<'py>, How)> {
        let rows = self.rows(&columns, n_rows)?;
        let settings = settings((&how_to.0, how_to.1, how_to.2))?;
        let (values, sampled) = self.ask(py, n_jobs, |net, control| net.log_likelihood(&rows, &settings, control))?;
        Ok((values.into_pyarray(py), how(sampled)))
    }

    /// Log density of each node in each row, NaN where a value of its family is missing.
    fn log_densities<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Option<Bound<'py, PyAny>>>,
        n_rows: usize,
        n_jobs: Jobs,
    ) -> PyResult<Vec<Reals<'py>>> {
        let rows = self.rows(&columns, n_rows)?;
        let columns = self.ask(py, n_jobs, |net, control| net.log_densities(&rows, control))?;
        Ok(columns.into_iter().map(|column| column.into_pyarray(py)).collect())
    }

    /// Probabilities of a target's levels, row after row.
    #[allow(clippy::too_many_arguments)]
    fn predict_levels<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Option<Bound<'py, PyAny>>>,
        n_rows: usize,
        set: Vec<usize>,
        target: usize,
        how_to: (String, usize, u64),
        n_jobs: Jobs,
    ) -> PyResult<(Reals<'py>, How)> {
        let rows = self.rows(&columns, n_rows)?;
        self.checked(target)?;
        set.iter().try_for_each(|&v| self.checked(v).map(|_| ()))?;
        let settings = settings((&how_to.0, how_to.1, how_to.2))?;
        let answer = self.ask(py, n_jobs, |net, control| net.levels(&rows, &set, target, &settings, control))?;
        Ok((answer.probabilities.into_pyarray(py), how(answer.sampled)))
    }

    /// Quantiles of a continuous target in the user's units, row after row; limits hold in every row.
    #[allow(clippy::too_many_arguments)]
    fn predict_quantiles<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Option<Bound<'py, PyAny>>>,
        n_rows: usize,
        limits: Limits,
        set: Vec<usize>,
        target: usize,
        probabilities: Vec<f64>,
        how_to: (String, usize, u64),
        n_jobs: Jobs,
    ) -> PyResult<(Reals<'py>, How)> {
        let rows = self.limited(self.rows(&columns, n_rows)?, limits)?;
        self.checked(target)?;
        set.iter().try_for_each(|&v| self.checked(v).map(|_| ()))?;
        let settings = settings((&how_to.0, how_to.1, how_to.2))?;
        let answer = self
            .ask(py, n_jobs, |net, control| net.quantiles(&rows, &set, target, &probabilities, &settings, control))?;
        Ok((answer.values.into_pyarray(py), how(answer.sampled)))
    }

    /// The joint distribution of targets, each with cuts in stored units (none for levels); the last varies fastest.
    #[allow(clippy::too_many_arguments)]
    fn joint<'py>(
        &self,
        py: Python<'py>,
        known: Known,
        limits: Limits,
        set: Vec<usize>,
        targets: Vec<(usize, Vec<f64>)>,
        how_to: (String, usize, u64),
    ) -> PyResult<(Reals<'py>, How)> {
        let known = self.limited(self.known(&known)?, limits)?;
        set.iter().chain(targets.iter().map(|t| &t.0)).try_for_each(|&v| self.checked(v).map(|_| ()))?;
        let settings = settings((&how_to.0, how_to.1, how_to.2))?;
        let (net, pool) = (self.0.clone(), pool(Jobs::ONE)?);
        let work = move || pool.install(|| net.joint(&known, &set, &targets, &settings));
        let answer = watched_or_left(py, &Control::default(), None, work)?.map_err(CoreError)?;
        Ok((answer.probabilities.into_pyarray(py), how(answer.sampled)))
    }

    /// Draws, column after column: codes, or numbers in the user's units.
    #[allow(clippy::too_many_arguments)]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n_rows: usize,
        known: Known,
        limits: Limits,
        set: Vec<usize>,
        how_to: (String, usize, u64),
        n_jobs: Jobs,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, How)> {
        let known = self.limited(self.known(&known)?, limits)?;
        set.iter().try_for_each(|&v| self.checked(v).map(|_| ()))?;
        let settings = settings((&how_to.0, how_to.1, how_to.2))?;
        let (rows, sampled) =
            self.ask(py, n_jobs, |net, control| net.sample(n_rows, &known, &set, &settings, control))?;
        // In place: there may be just room enough for the rows.
        let column = |(column, variable): (Observed, &Variable)| match (column, &variable.kind) {
            (Observed::Reals(mut reals), Kind::Continuous { scale }) => {
                for x in &mut reals {
                    *x = scale.to_original(*x);
                }
                reals.into_pyarray(py).into_any()
            }
            (Observed::Codes(codes), _) => codes.into_pyarray(py).into_any(),
            _ => unreachable!("draws have their variable's kind"),
        };
        let columns = rows.into_columns().into_iter().zip(self.0.variables()).map(column).collect();
        Ok((columns, how(sampled)))
    }

    fn __repr__(&self) -> String {
        let arcs: usize = (0..self.0.n_vars()).map(|v| self.0.parents(v).len()).sum();
        format!("NetworkHandle({} variables, {arcs} arcs)", self.0.n_vars())
    }

    fn __eq__(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.0.to_json(), "pickle".to_owned())))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NetworkHandle>()
}
