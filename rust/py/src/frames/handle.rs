//! What Python holds of a frame: its raw columns, and which rows it keeps. How they are coded is in the core (`frame/`).

use std::sync::Arc;

use arbornet_core::frame::{Cells, KeptRows, RawValues, Recipe, Rows, complete_rows};
use arbornet_core::spread::TryMap;
use arbornet_core::{Control, Error, Table};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use super::column::RawColumn;
use super::objects::column;
use super::plan::{Plan, Planned};
use super::profile::profile;
use super::rows::RowsHandle;
use super::stream::Opened;
use crate::arrays::values;
use crate::errors::CoreError;
use crate::handles::{TableHandle, level_to_python};
use crate::jobs::{Jobs, pool, watched, watched_or_left};

/// The columns of a frame in compact form, not yet told what kind they are.
#[pyclass(frozen, module = "arbornet._core")]
pub struct RawFrame {
    columns: Arc<Vec<RawColumn>>,
    n_rows: usize,
}

/// The rows of a frame that have a value in every used column.
#[pyclass(frozen, module = "arbornet._core")]
pub struct Keep {
    rows: KeptRows,
    /// For each plan, the number of rows without a value.
    #[pyo3(get)]
    n_missing: Vec<u64>,
}

#[pymethods]
impl Keep {
    /// How many rows are kept.
    #[getter]
    fn n_kept(&self) -> usize {
        self.rows.n_kept()
    }

    /// Rows with all values that weigh nothing: they are not kept.
    #[getter]
    fn n_weightless(&self) -> usize {
        self.rows.n_weightless()
    }

    /// What the weights of the kept rows sum to as they were given, if there are some.
    #[getter]
    fn given_weight(&self) -> Option<f64> {
        self.rows.given_weight()
    }
}

impl RawFrame {
    fn checked(&self, column: usize) -> PyResult<&RawColumn> {
        self.columns.get(column).ok_or_else(|| PyIndexError::new_err(format!("no column {column}")))
    }
}

#[pymethods]
impl RawFrame {
    /// Reads any object with `__arrow_c_stream__`; only the wanted columns if they are named.
    #[staticmethod]
    #[pyo3(signature = (stream, wanted, n_jobs))]
    #[allow(clippy::needless_pass_by_value)]
    fn from_stream(
        py: Python<'_>,
        stream: &Bound<'_, PyAny>,
        wanted: Option<Vec<String>>,
        n_jobs: Jobs,
    ) -> PyResult<Self> {
        let (opened, pool, control) = (Opened::of(stream)?, pool(n_jobs)?, Arc::new(Control::default()));
        // On another thread also because a producer may be slow to give its next chunk, and may want the GIL for it.
        watched_or_left(py, &control.clone(), None, move || {
            let (n_rows, sources) = opened.read(wanted.as_deref(), &control)?;
            let make = |source| control.check().and_then(|()| RawColumn::new(source, n_rows));
            let columns = pool.install(|| sources.into_par_iter().try_map(make))?;
            Ok::<_, CoreError>(Self { columns: Arc::new(columns), n_rows })
        })?
        .map_err(PyErr::from)
    }

    /// Takes columns of one length: arrays, objects, categories, or Arrow streams of one column.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)]
    fn from_columns(names: Vec<String>, payloads: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut columns = Vec::with_capacity(names.len());
        for (name, payload) in names.iter().zip(&payloads) {
            columns.push(column(name, payload)?);
        }
        let n_rows = columns.first().map_or(0, RawColumn::n_rows);
        if let Some(other) = columns.iter().find(|column| column.n_rows() != n_rows) {
            let problem = format!("has {} rows where '{}' has {n_rows}", other.n_rows(), names[0]);
            let advice = "all columns need one value per row";
            return Err(CoreError(Error::column(&*other.name, problem, advice)).into());
        }
        Ok(Self { columns: Arc::new(columns), n_rows })
    }

    /// Column names as they came.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// What is in each column, as far as one pass tells.
    fn profiles<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.columns.iter().map(|raw| profile(py, raw)).collect()
    }

    /// All distinct values of a column in their order, and how often each occurs.
    fn levels<'py>(&self, py: Python<'py>, column: usize) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<u64>)> {
        self.checked(column)?;
        let columns = self.columns.clone();
        watched_or_left(py, &Control::default(), None, move || columns[column].levels().len())?;
        let levels = self.columns[column].levels();
        let values = levels.values().iter().map(|level| level_to_python(py, level)).collect::<PyResult<Vec<_>>>()?;
        Ok((values, levels.counts().to_vec()))
    }

    /// The first row that holds the value of this rank among a column's distinct values.
    fn first_row(&self, column: usize, rank: u32) -> PyResult<Option<usize>> {
        let levels = self.checked(column)?.levels();
        Ok((0..levels.len()).find(|&row| levels.rank(row) == rank))
    }

    /// The rows that have a value under every plan, and a weight if weights are given: one for each row of the frame.
    /// Those of a survey are scaled to the effective size of the kept rows.
    #[pyo3(signature = (plans, weights = None, survey = false))]
    #[allow(clippy::needless_pass_by_value)]
    fn keep(
        &self,
        py: Python<'_>,
        plans: Vec<Plan<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        survey: bool,
    ) -> PyResult<Keep> {
        let planned = Planned::all(&plans)?;
        let weights = weights.map(|weights| values(&weights)).transpose()?;
        let kept = py.detach(|| {
            let recipes = planned.iter().map(|planned| (&planned.recipe, planned.column(&self.columns)));
            let (complete, n_missing) = complete_rows(self.n_rows, recipes);
            KeptRows::new(complete, weights.as_deref(), survey).map(|rows| Keep { rows, n_missing })
        });
        Ok(kept.map_err(CoreError)?)
    }

    /// Upper ends of at most `k` bins of a column's numbers in the kept rows.
    fn cuts(&self, py: Python<'_>, column: usize, keep: &Keep, k: usize, equal_width: bool) -> PyResult<Vec<f64>> {
        let raw = self.checked(column)?;
        Ok(py.detach(|| keep.rows.cuts(raw, k, equal_width)))
    }

    /// What a logarithmic scale has to add to a column's numbers in the kept rows.
    fn log_shift(&self, py: Python<'_>, column: usize, keep: &Keep) -> PyResult<f64> {
        let raw = self.checked(column)?;
        Ok(py.detach(|| keep.rows.log_shift(raw)))
    }

    /// The kept rows as a table, one variable per plan.
    #[allow(clippy::needless_pass_by_value)]
    fn table(&self, py: Python<'_>, plans: Vec<Plan<'_>>, keep: &Keep, n_jobs: Jobs) -> PyResult<TableHandle> {
        let planned = Planned::all(&plans)?;
        let raw = planned.iter().map(|planned| {
            let absent = || PyIndexError::new_err(format!("no column for '{}'", planned.recipe.variable.name));
            planned.column(&self.columns).map(|raw| (&planned.recipe, raw)).ok_or_else(absent)
        });
        let raw = raw.collect::<PyResult<Vec<_>>>()?;
        let pool = pool(n_jobs)?;
        let control = Control::default();
        let table = watched(py, &control, None, || {
            let encode = |&(recipe, raw): &(&Recipe, &RawColumn)| {
                control.check()?;
                recipe.encode(raw, &keep.rows)
            };
            let (variables, columns): (Vec<_>, Vec<_>) =
                pool.install(|| raw.par_iter().try_map(encode))?.into_iter().unzip();
            let table = Table::new(variables, columns)?;
            match keep.rows.weights() {
                None => Ok(table),
                Some(weights) => table.weighted(weights.to_vec()),
            }
        })?;
        Ok(TableHandle(Arc::new(table.map_err(CoreError)?)))
    }

    /// All rows, coded as the plans say, with what is missing left missing.
    #[allow(clippy::needless_pass_by_value)]
    fn rows(&self, py: Python<'_>, plans: Vec<Plan<'_>>, n_jobs: Jobs) -> PyResult<RowsHandle> {
        let planned = Planned::all(&plans)?;
        let pool = pool(n_jobs)?;
        let control = Control::default();
        let columns = watched(py, &control, None, || {
            let cells = |planned: &Planned| {
                control.check()?;
                Ok(planned.column(&self.columns).map_or(Cells::Absent, |raw| planned.recipe.cells(raw)))
            };
            pool.install(|| planned.par_iter().try_map(cells))
        })?;
        Ok(RowsHandle(Arc::new(Rows::new(self.n_rows, columns.map_err(CoreError)?))))
    }

    fn __repr__(&self) -> String {
        format!("RawFrame({} rows, {} columns)", self.n_rows, self.columns.len())
    }
}
