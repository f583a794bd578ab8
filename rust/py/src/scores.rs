//! A score prepared for a table, as Python holds it.

use std::sync::Arc;

use arbornet_core::parents::{Parents, parent_set};
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Error, LocalScore, Table};
use pyo3::prelude::*;

use crate::errors::CoreError;
use crate::handles::TableHandle;

/// A score prepared for a table, from its JSON (`{"score": name, parameters}`). Shared by any number of threads.
#[pyclass(frozen, module = "arbornet._core")]
pub struct ScoreHandle {
    pub table: Arc<Table>,
    pub score: Arc<dyn LocalScore>,
    #[pyo3(get)]
    pub spec: String,
}

impl ScoreHandle {
    /// The parents sorted, if child and parents are a family of the table.
    pub fn family(&self, child: usize, parents: &[usize]) -> Result<Parents, CoreError> {
        if child >= self.table.n_vars() {
            return Err(CoreError(Error::Shape(format!("there is no column {child}"))));
        }
        Ok(parent_set(&self.table, child, parents)?)
    }
}

#[pymethods]
impl ScoreHandle {
    #[new]
    fn new(py: Python<'_>, table: &TableHandle, spec: String) -> PyResult<Self> {
        let parsed = ScoreSpec::parse(&spec).map_err(CoreError)?;
        let score = py.detach(|| parsed.prepare(&table.0)).map_err(CoreError)?;
        Ok(Self { table: table.0.clone(), score: score.into(), spec })
    }

    /// The score of one family, by positions: higher is better, natural logarithm.
    #[allow(clippy::needless_pass_by_value)] // what pyo3 extracts
    fn score(&self, py: Python<'_>, child: usize, parents: Vec<usize>) -> PyResult<f64> {
        let parents = self.family(child, &parents)?;
        Ok(py.detach(|| self.score.score(child, &parents)).map_err(CoreError)?)
    }

    /// Raises what scoring this family would raise, without scoring it.
    #[allow(clippy::needless_pass_by_value)]
    fn check(&self, child: usize, parents: Vec<usize>) -> PyResult<()> {
        let parents = self.family(child, &parents)?;
        Ok(self.score.check(child, &parents).map_err(CoreError)?)
    }

    /// The table it was prepared for.
    #[getter]
    fn table(&self) -> TableHandle {
        TableHandle(self.table.clone())
    }

    fn __repr__(&self) -> String {
        format!("ScoreHandle({})", self.spec)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (TableHandle, String)) {
        (py.get_type::<Self>().into_any(), (self.table(), self.spec.clone()))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScoreHandle>()
}
