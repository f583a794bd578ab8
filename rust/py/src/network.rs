//! A fitted network as Python holds it.

use std::sync::Arc;

use arbornet_core::frame::{Cells, Rows};
use arbornet_core::network::{Draws, Evidence, Method, Network, Sampled, Settings, Steps, Within, contributions};
use arbornet_core::{Control, Error, Kind, LocalScore, Units, Value, Variable, bif};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::values;
use crate::errors::CoreError;
use crate::frames::RowsHandle;
use crate::handles::{PyUnits, TableHandle, kind_from_python, level_to_python};
use crate::jobs::{Jobs, pool, watched, watched_or_left};
use crate::models::ModelHandle;
use crate::scores::ScoreHandle;

/// A column each; `None` where there is nothing to tell.
type Columns<'py> = Vec<Option<Bound<'py, PyAny>>>;

/// What is known short of a value: an interval (low, high) in stored units, or a list of how probable that is under
/// each level.
#[derive(FromPyObject)]
enum Limit {
    Between(f64, f64),
    Levels(Vec<f64>),
}

/// A question, read from Python by its attributes' names: what it is about, and how it is to be answered.
#[derive(FromPyObject)]
pub struct Question<'py> {
    /// Coded rows; without them the question is about one row of known values.
    rows: Option<Bound<'py, RowsHandle>>,
    /// (position, code or number in stored units)
    known: Vec<(usize, f64)>,
    /// What is known of variables in every row, short of their values.
    limits: Vec<(usize, Limit)>,
    /// Variables whose values were set by intervention.
    set: Vec<usize>,
    method: String,
    particles: usize,
    seed: u64,
    /// Taken apart from the others, so that its errors are told as they are.
    n_jobs: Bound<'py, PyAny>,
}

/// A question in the core's terms. It owns what it is about, so that it may outlive the call.
struct Asked {
    rows: Arc<Rows>,
    limits: Vec<(usize, Within)>,
    set: Vec<usize>,
    settings: Settings,
    n_jobs: Jobs,
}

impl Asked {
    fn evidence(&self, net: &Network) -> arbornet_core::Result<Evidence<'_>> {
        let evidence = Evidence::new(net.variables(), &self.rows)?;
        Ok(evidence.limited(net.variables(), self.limits.clone())?.with_set(&self.set))
    }
}

/// Numbers that answer a question, and how many rows were answered by sampling, with what standard error at most.
#[pyclass(frozen, module = "arbornet._core")]
pub struct Answer {
    /// One row of the array a row asked about, or one number.
    #[pyo3(get)]
    values: Py<PyAny>,
    #[pyo3(get)]
    n_sampled: usize,
    #[pyo3(get)]
    standard_error: f64,
}

impl Answer {
    /// Rows of so many numbers each.
    fn of_rows(py: Python<'_>, values: Vec<f64>, width: usize, sampled: Sampled) -> PyResult<Self> {
        let shape = [values.len() / width.max(1), width];
        Ok(Self::new(values.into_pyarray(py).reshape(shape)?.into_any(), sampled))
    }

    fn new(values: Bound<'_, PyAny>, sampled: Sampled) -> Self {
        Self { values: values.unbind(), n_sampled: sampled.rows, standard_error: sampled.standard_error }
    }
}

/// Rows that were drawn, and how many of them by sampling, with what standard error of a share at most.
#[pyclass(frozen, module = "arbornet._core")]
pub struct Drawn {
    columns: Vec<Py<PyAny>>,
    #[pyo3(get)]
    n_sampled: usize,
    #[pyo3(get)]
    standard_error: f64,
}

#[pymethods]
impl Drawn {
    /// Column after column: codes, or numbers in the user's units.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.columns.iter().map(|column| column.clone_ref(py)).collect()
    }
}

/// A fitted network. Immutable, so any number of threads may hold it.
#[pyclass(frozen, module = "arbornet._core")]
pub struct NetworkHandle(pub Arc<Network>);

fn settings(question: &Question<'_>) -> Result<Settings, CoreError> {
    let method = match &*question.method {
        "auto" => Method::Auto,
        "exact" => Method::Exact,
        "sampling" => Method::Sampling,
        method => return Err(Error::parameter("method", &method, "use 'auto', 'exact' or 'sampling'").into()),
    };
    if question.particles == 0 {
        return Err(Error::parameter("particles", &question.particles, "must be at least 1").into());
    }
    Ok(Settings { method, particles: question.particles, seed: question.seed })
}

impl NetworkHandle {
    fn checked(&self, var: usize) -> PyResult<usize> {
        let n = self.0.n_vars();
        if var < n { Ok(var) } else { Err(PyIndexError::new_err(format!("no variable {var}: there are {n}"))) }
    }

    /// The question, with all positions checked.
    fn asked(&self, question: Question<'_>) -> PyResult<Asked> {
        let settings = settings(&question)?;
        let value = |&(var, x): &(usize, f64)| -> PyResult<(usize, Value)> {
            let levels = self.0.variables()[self.checked(var)?].n_levels();
            Ok((var, if levels.is_some() { Value::Code(x as u32) } else { Value::Real(x) }))
        };
        let within = |(var, limit): (usize, Limit)| -> PyResult<(usize, Within)> {
            let within = match limit {
                Limit::Between(low, high) => Within::Between(low, high),
                Limit::Levels(shares) => Within::Levels(shares),
            };
            Ok((self.checked(var)?, within))
        };
        let known = question.known.iter().map(value).collect::<PyResult<Vec<_>>>()?;
        let rows = match &question.rows {
            Some(rows) => rows.get().0.clone(),
            None => Arc::new(Rows::of_values(self.0.n_vars(), &known)),
        };
        let limits = question.limits.into_iter().map(within).collect::<PyResult<Vec<_>>>()?;
        question.set.iter().try_for_each(|&v| self.checked(v).map(|_| ()))?;
        Ok(Asked { rows, limits, set: question.set, settings, n_jobs: question.n_jobs.extract()? })
    }

    /// Answers on a pool of its own, without the GIL, signals watched.
    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        asked: &Asked,
        answer: impl FnOnce(&Network, &Evidence<'_>, &Control) -> arbornet_core::Result<T> + Send,
    ) -> PyResult<T> {
        let control = Control::default();
        let pool = pool(asked.n_jobs)?;
        let evidence = py.detach(|| asked.evidence(&self.0)).map_err(CoreError)?;
        let answer = watched(py, &control, None, || pool.install(|| answer(&self.0, &evidence, &control)))?;
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

    /// As `fit`, for every variable by a score of its own: of the same variables, and the rows it is prepared for.
    #[staticmethod]
    fn fit_each(
        py: Python<'_>,
        scores: Vec<Bound<'_, ScoreHandle>>,
        parents: Vec<Vec<usize>>,
        n_jobs: Jobs,
    ) -> PyResult<Self> {
        let control = Control::default();
        let pool = pool(n_jobs)?;
        let own: Vec<_> = scores.iter().map(|score| score.get().score.clone()).collect();
        let of: Vec<&dyn LocalScore> = own.iter().map(|score| &**score).collect();
        let network = watched(py, &control, None, || pool.install(|| Network::fit_each(&of, &parents, &control)))?;
        Ok(Self(Arc::new(network.map_err(CoreError)?)))
    }

    /// The network of models that were fitted elsewhere, one for every variable of a table, in their order.
    #[staticmethod]
    fn of_models(table: &TableHandle, models: Vec<Bound<'_, ModelHandle>>) -> Result<Self, CoreError> {
        let models = models.iter().map(|model| model.get().model.clone()).collect();
        Ok(Self(Arc::new(Network::new(table.0.variables().to_vec(), models)?)))
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

    /// A network of levels by its tables: of each variable the positions of its parents, ascending, and a distribution in
    /// each row, the last parent's level changing fastest.
    #[staticmethod]
    fn from_tables(
        names: Vec<String>,
        kinds: Vec<String>,
        levels: Vec<Bound<'_, PyAny>>,
        parents: Vec<Vec<usize>>,
        tables: Vec<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<Self> {
        let variable = |((name, kind), levels): ((&String, &String), Bound<'_, PyAny>)| -> PyResult<Variable> {
            let kind = kind_from_python(name, kind, Some(levels), Units::IDENTITY)?;
            Ok(Variable { name: name.as_str().into(), kind })
        };
        let variables = names.iter().zip(&kinds).zip(levels).map(variable).collect::<PyResult<Vec<_>>>()?;
        let tables = tables.iter().map(|table| table.as_array().iter().copied().collect());
        let network = Network::from_tables(variables, parents.into_iter().zip(tables).collect());
        Ok(Self(Arc::new(network.map_err(CoreError)?)))
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

    /// The pair (shift, scale) back to the user's units, with what a logarithmic scale adds or the knots of normal scores; None for a
    /// variable with levels.
    fn scale(&self, var: usize) -> PyResult<Option<PyUnits>> {
        match &self.0.variables()[self.checked(var)?].kind {
            Kind::Continuous { scale } => Ok(Some(scale.clone().into())),
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
    fn log_likelihood(&self, py: Python<'_>, question: Question<'_>) -> PyResult<Answer> {
        let asked = self.asked(question)?;
        let (values, sampled) =
            self.answer(py, &asked, |net, evidence, control| net.log_likelihood(evidence, &asked.settings, control))?;
        Ok(Answer::new(values.into_pyarray(py).into_any(), sampled))
    }

    /// Log density of each node in each row, NaN where a value of its family is missing.
    fn log_densities<'py>(&self, py: Python<'py>, question: Question<'_>) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let asked = self.asked(question)?;
        let columns = self.answer(py, &asked, Network::log_densities)?;
        Ok(columns.into_iter().map(|column| column.into_pyarray(py)).collect())
    }

    /// Probabilities of a target's levels, a row for each row.
    fn predict_levels(&self, py: Python<'_>, question: Question<'_>, target: usize) -> PyResult<Answer> {
        let asked = self.asked(question)?;
        let n_levels = self.0.variables()[self.checked(target)?].n_levels().unwrap_or(0);
        let answer =
            self.answer(py, &asked, |net, evidence, control| net.levels(evidence, target, &asked.settings, control))?;
        Answer::of_rows(py, answer.probabilities, n_levels, answer.sampled)
    }

    /// Quantiles of a continuous target in the user's units, a row for each row.
    fn predict_quantiles(
        &self,
        py: Python<'_>,
        question: Question<'_>,
        target: usize,
        probabilities: Vec<f64>,
    ) -> PyResult<Answer> {
        let asked = self.asked(question)?;
        self.checked(target)?;
        let answer = self.answer(py, &asked, |net, evidence, control| {
            net.quantiles(evidence, target, &probabilities, &asked.settings, control)
        })?;
        Answer::of_rows(py, answer.values, probabilities.len(), answer.sampled)
    }

    /// The joint distribution of targets, each with cuts in stored units (none for levels); the last varies fastest.
    fn joint(&self, py: Python<'_>, question: Question<'_>, targets: Vec<(usize, Vec<f64>)>) -> PyResult<Answer> {
        let asked = self.asked(question)?;
        targets.iter().try_for_each(|t| self.checked(t.0).map(|_| ()))?;
        let (net, pool) = (self.0.clone(), pool(Jobs::ONE)?);
        let work = move || pool.install(|| net.joint(&asked.evidence(&net)?, &targets, &asked.settings));
        let answer = watched_or_left(py, &Control::default(), None, work)?.map_err(CoreError)?;
        Ok(Answer::new(answer.probabilities.into_pyarray(py).into_any(), answer.sampled))
    }

    /// Draws rows, numbers within their ranges if these are given.
    #[pyo3(signature = (question, n_rows, ranges=None))]
    fn sample(
        &self,
        py: Python<'_>,
        question: Question<'_>,
        n_rows: usize,
        ranges: Option<Vec<(f64, f64)>>,
    ) -> PyResult<Drawn> {
        let asked = self.asked(question)?;
        let (rows, sampled) = self.answer(py, &asked, |net, evidence, control| match &ranges {
            Some(ranges) => net.sample_within(n_rows, evidence, ranges, &asked.settings, control),
            None => net.sample(n_rows, evidence, &asked.settings, control),
        })?;
        // In place: there may be just room enough for the rows.
        let column = |(column, variable): (Cells, &Variable)| match (column, &variable.kind) {
            (Cells::Reals(mut reals), Kind::Continuous { scale }) => {
                for x in &mut reals {
                    *x = scale.to_original(*x);
                }
                reals.into_pyarray(py).into_any().unbind()
            }
            (Cells::Codes(codes), _) => codes.into_pyarray(py).into_any().unbind(),
            _ => unreachable!("draws have their variable's kind"),
        };
        let columns = rows.into_columns().into_iter().zip(self.0.variables()).map(column).collect();
        Ok(Drawn { columns, n_sampled: sampled.rows, standard_error: sampled.standard_error })
    }

    /// Rows with every missing value drawn, so many times: each time column after column in stored units (None for a
    /// column that has them all), and how many rows took a Markov chain; per variable the range of its draws, and what they
    /// are multiples of, if anything: whole numbers times the first over the second, from the third to the fourth in the
    /// user's units; per row a key of its random numbers. The seeds of the times follow one another.
    #[pyo3(signature = (question, ranges, steps, keys, times=1))]
    fn complete<'py>(
        &self,
        py: Python<'py>,
        question: Question<'_>,
        ranges: Vec<(f64, f64)>,
        steps: Vec<Option<(f64, f64, f64, f64)>>,
        keys: PyReadonlyArray1<'py, u64>,
        times: usize,
    ) -> PyResult<(Vec<Columns<'py>>, usize)> {
        let asked = self.asked(question)?;
        let keys = values(&keys)?;
        let of = |(of, per, first, last)| Steps { of, per, range: (first, last) };
        let steps: Vec<Option<Steps>> = steps.into_iter().map(|steps| steps.map(of)).collect();
        let draws = Draws { ranges: &ranges, steps: &steps, keys: &keys };
        let (made, chained) = self.answer(py, &asked, |net, evidence, control| {
            net.complete_times(evidence, draws, times, &asked.settings, control)
        })?;
        let column = |(made, given): (Cells, &Cells)| match made {
            _ if !matches!(given, Cells::Absent) && !given.may_miss() => None,
            Cells::Reals(reals) => Some(reals.into_pyarray(py).into_any()),
            Cells::Codes(codes) => Some(codes.into_pyarray(py).into_any()),
            Cells::Absent => unreachable!("every value was drawn"),
        };
        let columns = |rows: Rows| rows.into_columns().into_iter().zip(asked.rows.columns()).map(column).collect();
        Ok((made.into_iter().map(columns).collect(), chained))
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
    module.add_class::<Answer>()?;
    module.add_class::<Drawn>()?;
    module.add_class::<NetworkHandle>()
}
