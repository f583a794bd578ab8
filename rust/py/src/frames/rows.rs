//! Rows with gaps, as Python hands them to a network.

use std::sync::Arc;

use arbornet_core::Error;
use arbornet_core::frame::{Cells, Rows};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arrays::values as values_of;
use crate::errors::CoreError;

/// Rows coded as a table's, some values possibly missing.
#[pyclass(frozen, module = "arbornet._core")]
pub struct RowsHandle(pub Arc<Rows>);

#[pymethods]
impl RowsHandle {
    /// Rows of coded columns: numbers in stored units (NaN where missing), codes (4294967295 where missing), or None.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
    fn from_cells(columns: Vec<Option<Bound<'_, PyAny>>>, n_rows: usize) -> PyResult<Self> {
        let cells = |column: &Option<Bound<'_, PyAny>>| -> PyResult<Cells> {
            let Some(values) = column else { return Ok(Cells::Absent) };
            let (cells, len) = if let Ok(reals) = values.extract::<PyReadonlyArray1<'_, f64>>() {
                (Cells::Reals(values_of(&reals)?), reals.len()?)
            } else {
                let codes: PyReadonlyArray1<'_, u32> = values.extract()?;
                (Cells::Codes(values_of(&codes)?), codes.len()?)
            };
            if len == n_rows {
                return Ok(cells);
            }
            Err(CoreError(Error::Shape(format!("a column of {len} cells for {n_rows} rows"))).into())
        };
        let columns = columns.iter().map(cells).collect::<PyResult<Vec<_>>>()?;
        Ok(Self(Arc::new(Rows::new(n_rows, columns))))
    }

    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    /// True if the frame had a column of some variable.
    #[getter]
    fn has_columns(&self) -> bool {
        self.0.columns().iter().any(|cells| !matches!(cells, Cells::Absent))
    }

    /// A copy of one variable's cells: numbers in stored units (NaN where missing), codes (4294967295 where missing),
    /// or None if the frame had no such column.
    fn column<'py>(&self, py: Python<'py>, var: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(cells) = self.0.columns().get(var) else {
            return Err(PyIndexError::new_err(format!("no variable {var}")));
        };
        Ok(match cells {
            Cells::Absent => None,
            Cells::Reals(values) => Some(values.clone().into_pyarray(py).into_any()),
            Cells::Codes(codes) => Some(codes.clone().into_pyarray(py).into_any()),
        })
    }

    fn __repr__(&self) -> String {
        format!("RowsHandle({} rows, {} variables)", self.0.n_rows(), self.0.columns().len())
    }
}
