//! Handles: the core's tables as Python objects, shared without a copy between the calls that read them.

use std::sync::Arc;

use arbornet_core::{Codes, Column, Error, Kind, Level, NumberLeaf, Point, Table, Units, Variable};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString};

use crate::arrays::values as values_of;
use crate::errors::CoreError;
use crate::normal_scores::Knots;

/// A core table. Immutable, so any number of threads and scores may hold it.
#[pyclass(frozen, module = "arbornet._core")]
pub struct TableHandle(pub Arc<Table>);

/// A value of the user's as a level.
pub fn level_from_python(column: &str, value: &Bound<'_, PyAny>) -> PyResult<Level> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Level::Bool(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>()
        && let Ok(int) = value.extract::<i64>()
    {
        return Ok(Level::Int(int));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return Ok(Level::Real(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Level::Text(text.to_cow()?.as_ref().into()));
    }
    let problem = format!("has the level {} of type {}", value.repr()?, value.get_type().name()?);
    Err(CoreError(Error::column(column, problem, "levels are texts, integers, numbers or booleans")).into())
}

/// A level as the Python value it came from.
pub fn level_to_python<'py>(py: Python<'py>, level: &Level) -> PyResult<Bound<'py, PyAny>> {
    Ok(match level {
        Level::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
        Level::Int(i) => i.into_pyobject(py)?.into_any(),
        Level::Real(x) => x.into_pyobject(py)?.into_any(),
        Level::Text(t) => PyString::new(py, t).into_any(),
    })
}

/// A scale as Python holds it: shift and scale, and of a logarithmic one what is added before the logarithm is taken, of normal
/// scores their knots.
#[derive(Clone, FromPyObject, IntoPyObject)]
pub enum PyUnits {
    Linear(f64, f64),
    Log(f64, f64, f64),
    Scores(f64, f64, Knots),
}

impl From<Units> for PyUnits {
    fn from(Units { shift, scale, log, scores, .. }: Units) -> Self {
        match (scores, log) {
            (Some(scores), _) => Self::Scores(shift, scale, Knots(scores)),
            (None, Some(log)) => Self::Log(shift, scale, log),
            (None, None) => Self::Linear(shift, scale),
        }
    }
}

impl From<PyUnits> for Units {
    fn from(units: PyUnits) -> Self {
        match units {
            PyUnits::Linear(shift, scale) => Self { shift, scale, ..Self::IDENTITY },
            PyUnits::Log(shift, scale, log) => Self { shift, scale, log: Some(log), ..Self::IDENTITY },
            PyUnits::Scores(shift, scale, Knots(scores)) => {
                Self { shift, scale, scores: Some(scores), ..Self::IDENTITY }
            }
        }
    }
}

/// What a column says of the leaves of its trees.
pub fn leaf_from_python(name: &str, leaf: &str) -> PyResult<NumberLeaf> {
    match leaf {
        "normal" => Ok(NumberLeaf::Normal),
        "linear" => Ok(NumberLeaf::Linear),
        "counts" => Ok(NumberLeaf::Counts),
        "histogram" => Ok(NumberLeaf::Histogram),
        _ => {
            let advice = "leaves of numbers are 'normal', 'linear', 'counts' and 'histogram'";
            Err(CoreError(Error::column(name, format!("has leaves that are '{leaf}'"), advice)).into())
        }
    }
}

/// The name of what stands in the leaves of numbers.
pub fn leaf_name(leaf: NumberLeaf) -> &'static str {
    match leaf {
        NumberLeaf::Normal => "normal",
        NumberLeaf::Linear => "linear",
        NumberLeaf::Counts => "counts",
        NumberLeaf::Histogram => "histogram",
        NumberLeaf::Auto => "auto",
    }
}

pub fn kind_from_python(name: &str, kind: &str, levels: Option<Bound<'_, PyAny>>, scale: Units) -> PyResult<Kind> {
    if kind == "continuous" {
        return Ok(Kind::Continuous { scale });
    }
    let Some(levels) = levels else {
        let advice = "give the list of its levels";
        return Err(CoreError(Error::column(name, format!("is {kind} without levels"), advice)).into());
    };
    let levels = levels.try_iter()?.map(|level| level_from_python(name, &level?)).collect::<PyResult<_>>()?;
    match kind {
        "categorical" => Ok(Kind::Categorical { levels }),
        "ordinal" => Ok(Kind::Ordinal { levels }),
        _ => {
            let advice = "kinds are 'continuous', 'categorical' and 'ordinal'";
            Err(CoreError(Error::column(name, format!("has the kind '{kind}'"), advice)).into())
        }
    }
}

fn column_from_python(variable: &Variable, values: &Bound<'_, PyAny>) -> PyResult<Column> {
    let Some(n_levels) = variable.n_levels() else {
        let reals: PyReadonlyArray1<'_, f64> = values.extract()?;
        return Ok(Column::Reals(values_of(&reals)?));
    };
    if let Ok(codes) = values.extract::<PyReadonlyArray1<'_, u8>>()
        && n_levels <= 256
    {
        return Ok(Column::Codes(Codes::U8(values_of(&codes)?)));
    }
    let codes: PyReadonlyArray1<'_, u32> = values.call_method1("astype", ("uint32",))?.extract()?;
    let codes = values_of(&codes)?;
    if let Some(row) = codes.iter().position(|&code| code as usize >= n_levels) {
        let problem = format!("has code {} in row {row} but only {n_levels} levels", codes[row]);
        return Err(CoreError(Error::column(&*variable.name, problem, "declare every level that occurs")).into());
    }
    Ok(Column::Codes(Codes::pack(&codes, n_levels)))
}

impl TableHandle {
    fn checked(&self, var: usize) -> PyResult<&Variable> {
        self.0.variables().get(var).ok_or_else(|| {
            PyIndexError::new_err(format!("no variable {var}: the table has {} variables", self.0.n_vars()))
        })
    }
}

#[pymethods]
impl TableHandle {
    /// Puts a table together from `NumPy` columns: `float64` values in stored units, or codes of any unsigned type.
    ///
    /// `scales` holds one pair (shift, scale) per column with `original = shift + scale * stored`, or on a logarithmic scale
    /// (shift, scale, log) with `ln(original + log) = shift + scale * stored`, or by normal scores (shift, scale, knots); `weights` says how often each row counts, and `points`
    /// of each column the number that many rows share, with the length of numbers it stands for, and `leaves` what stands in the
    /// leaves of its trees, if the column says so.
    #[staticmethod]
    #[pyo3(signature = (names, kinds, levels, columns, scales = None, weights = None, points = None, leaves = None))]
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // the shapes pyo3 extracts, and a table's parts
    fn from_columns(
        names: Vec<String>,
        kinds: Vec<String>,
        levels: Vec<Option<Bound<'_, PyAny>>>,
        columns: Vec<Bound<'_, PyAny>>,
        scales: Option<Vec<PyUnits>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        points: Option<Vec<Option<(f64, f64)>>>,
        leaves: Option<Vec<Option<String>>>,
    ) -> PyResult<Self> {
        let n = names.len();
        let scales = scales.unwrap_or_else(|| vec![PyUnits::Linear(0.0, 1.0); n]);
        let points = points.unwrap_or_else(|| vec![None; n]);
        let leaves = leaves.unwrap_or_else(|| vec![None; n]);
        let lengths = [kinds.len(), levels.len(), columns.len(), scales.len(), points.len(), leaves.len()];
        if lengths.iter().any(|&len| len != n) {
            let problem = format!("{n} names need as many kinds, levels, columns, scales, points and leaves");
            return Err(CoreError(Error::Shape(problem)).into());
        }
        let mut variables = Vec::with_capacity(n);
        let mut values = Vec::with_capacity(n);
        let units = scales.into_iter().zip(points).zip(leaves);
        for (((name, kind), (levels, column)), ((scale, point), leaf)) in
            names.iter().zip(&kinds).zip(levels.into_iter().zip(&columns)).zip(units)
        {
            let point = point.map(|(at, width)| Point { at, width });
            let leaf = leaf.map(|leaf| leaf_from_python(name, &leaf)).transpose()?;
            let kind = kind_from_python(name, kind, levels, Units { point, leaf, ..scale.into() })?;
            let variable = Variable { name: name.as_str().into(), kind };
            values.push(column_from_python(&variable, column)?);
            variables.push(variable);
        }
        let table = Table::new(variables, values).map_err(CoreError)?;
        let table = match weights {
            None => table,
            Some(weights) => table.weighted(values_of(&weights)?).map_err(CoreError)?,
        };
        Ok(Self(Arc::new(table)))
    }

    /// How often each row counts, as it is used; None if each counts once.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.0.weights().map(|weights| weights.of_rows().to_vec().into_pyarray(py).into_any())
    }

    /// The sum of the weights: the number of rows if each counts once.
    #[getter]
    fn total_weight(&self) -> f64 {
        self.0.total_weight()
    }

    /// Names of all variables in column order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.variables().iter().map(|v| v.name.to_string()).collect()
    }

    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    /// "continuous", "categorical" or "ordinal".
    fn kind(&self, var: usize) -> PyResult<&'static str> {
        Ok(match self.checked(var)?.kind {
            Kind::Continuous { .. } => "continuous",
            Kind::Categorical { .. } => "categorical",
            Kind::Ordinal { .. } => "ordinal",
        })
    }

    /// The declared levels by code, or None for a continuous variable.
    fn levels<'py>(&self, py: Python<'py>, var: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        match &self.checked(var)?.kind {
            Kind::Continuous { .. } => Ok(None),
            Kind::Categorical { levels } | Kind::Ordinal { levels } => {
                let levels = levels.iter().map(|level| level_to_python(py, level)).collect::<PyResult<Vec<_>>>()?;
                Ok(Some(PyList::new(py, levels)?))
            }
        }
    }

    /// The pair (shift, scale) back to the user's units, with what a logarithmic scale adds or the knots of normal scores as a
    /// third part; None for a variable with levels.
    fn scale(&self, var: usize) -> PyResult<Option<PyUnits>> {
        match &self.checked(var)?.kind {
            Kind::Continuous { scale } => Ok(Some(scale.clone().into())),
            _ => Ok(None),
        }
    }

    /// The same of every variable.
    #[getter]
    fn scales(&self) -> Vec<Option<PyUnits>> {
        let scale = |variable: &Variable| match &variable.kind {
            Kind::Continuous { scale } => Some(scale.clone().into()),
            _ => None,
        };
        self.0.variables().iter().map(scale).collect()
    }

    /// Of every variable the number that many rows share, with the length of numbers it stands for; None without one.
    #[getter]
    fn points(&self) -> Vec<Option<(f64, f64)>> {
        let point = |variable: &Variable| match &variable.kind {
            Kind::Continuous { scale } => scale.point.map(|point| (point.at, point.width)),
            _ => None,
        };
        self.0.variables().iter().map(point).collect()
    }

    /// Of every variable what stands in the leaves of its trees, if its column says so.
    #[getter]
    fn leaves(&self) -> Vec<Option<&'static str>> {
        let leaf = |variable: &Variable| match &variable.kind {
            Kind::Continuous { scale } => scale.leaf.map(leaf_name),
            _ => None,
        };
        self.0.variables().iter().map(leaf).collect()
    }

    /// A copy of the stored (standardised) values of a continuous variable.
    fn reals<'py>(&self, py: Python<'py>, var: usize) -> PyResult<Bound<'py, PyAny>> {
        let variable = self.checked(var)?;
        match self.0.column(var) {
            Column::Reals(values) => Ok(values.clone().into_pyarray(py).into_any()),
            Column::Codes(_) => {
                let advice = "read its codes instead";
                Err(CoreError(Error::column(&*variable.name, "has levels, not real values", advice)).into())
            }
        }
    }

    /// A copy of the codes of a variable with levels, in the narrowest unsigned type.
    fn codes<'py>(&self, py: Python<'py>, var: usize) -> PyResult<Bound<'py, PyAny>> {
        self.checked(var)?;
        Ok(match self.0.codes(var, "read its reals instead").map_err(CoreError)? {
            Codes::U8(codes) => codes.clone().into_pyarray(py).into_any(),
            Codes::U16(codes) => codes.clone().into_pyarray(py).into_any(),
            Codes::U32(codes) => codes.clone().into_pyarray(py).into_any(),
        })
    }

    fn __repr__(&self) -> String {
        format!("TableHandle({} rows, {} variables)", self.0.n_rows(), self.0.n_vars())
    }

    /// Pickles as the call of `from_columns` that makes the same table.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let vars = 0..self.0.n_vars();
        let kinds = vars.clone().map(|v| self.kind(v)).collect::<PyResult<Vec<_>>>()?;
        let levels = vars.clone().map(|v| self.levels(py, v)).collect::<PyResult<Vec<_>>>()?;
        let columns = vars
            .clone()
            .map(|v| match self.0.column(v) {
                Column::Reals(_) => self.reals(py, v),
                Column::Codes(_) => self.codes(py, v),
            })
            .collect::<PyResult<Vec<_>>>()?;
        let scales =
            vars.map(|v| Ok(self.scale(v)?.unwrap_or(PyUnits::Linear(0.0, 1.0)))).collect::<PyResult<Vec<_>>>()?;
        let make = py.get_type::<Self>().getattr("from_columns")?;
        let given = (self.names(), kinds, levels, columns, scales, self.weights(py), self.points(), self.leaves())
            .into_pyobject(py)?
            .into_any();
        Ok((make, given))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TableHandle>()
}
