//! Cut points of columns that tell classes apart.

use arbornet_core::spread::TryMap;
use arbornet_core::{Control, mdlp};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::CoreError;
use crate::jobs::{self, Jobs};

/// The cuts of each column, ascending; NaN is left out, and a value equal to a cut lies below it.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn mdlp_cuts(
    py: Python<'_>,
    columns: Vec<PyReadonlyArray1<'_, f64>>,
    classes: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    n_jobs: Jobs,
) -> PyResult<Vec<Vec<f64>>> {
    let columns: Vec<Vec<f64>> = columns.iter().map(|column| column.as_array().to_vec()).collect();
    let classes = classes.as_array().to_vec();
    if let Some(code) = classes.iter().find(|&&code| code as usize >= n_classes) {
        return Err(CoreError(arbornet_core::Error::parameter("classes", code, "is not the code of a class")).into());
    }
    let (pool, control) = (jobs::pool(n_jobs)?, Control::default());
    let cut = |column: &Vec<f64>| mdlp::cuts(column, &classes, n_classes);
    let all = || pool.install(|| columns.par_iter().try_map(cut));
    Ok(jobs::watched(py, &control, None, all)?.map_err(CoreError)?)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(mdlp_cuts, module)?)
}
