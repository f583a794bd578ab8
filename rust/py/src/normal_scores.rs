//! Normal scores for Python: the curve of some numbers, and the way along it.

use arbornet_core::{Error, NormalScores};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::values as values_of;
use crate::errors::CoreError;

/// A curve as Python holds it: a tuple of pairs `(score, number)`.
#[derive(Clone)]
pub struct Knots(pub NormalScores);

impl<'py> FromPyObject<'_, 'py> for Knots {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let knots: Vec<(f64, f64)> = value.extract()?;
        let curve = NormalScores::through(&knots).ok_or_else(|| {
            CoreError(Error::Shape(format!("the {} knots of normal scores do not rise", knots.len())))
        })?;
        Ok(Self(curve))
    }
}

impl<'py> IntoPyObject<'py> for Knots {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        PyTuple::new(py, self.0.knots())
    }
}

/// The curve of some numbers without gaps, which may count more or less than once, but for one with a probability of its own.
#[pyfunction]
#[pyo3(signature = (numbers, weights = None, point = None))]
#[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
fn normal_scores(
    numbers: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    point: Option<f64>,
) -> PyResult<Knots> {
    let weights = weights.map(|weights| values_of(&weights)).transpose()?;
    Ok(Knots(NormalScores::of(&values_of(&numbers)?, weights.as_deref(), point)))
}

/// Along a curve: `way` is `to_number`, `to_score`, or `slope`, by how much numbers rise with the score.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
fn along_scores<'py>(
    py: Python<'py>,
    knots: Knots,
    values: PyReadonlyArray1<'_, f64>,
    way: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let of: fn(&NormalScores, f64) -> f64 = match way {
        "to_number" => NormalScores::to_number,
        "to_score" => NormalScores::to_score,
        "slope" => NormalScores::slope,
        _ => {
            let known = "choose to_number, to_score or slope";
            return Err(CoreError(Error::parameter("way", &way, known)).into());
        }
    };
    let mut values = values_of(&values)?;
    for x in &mut values {
        *x = of(&knots.0, *x);
    }
    Ok(values.into_pyarray(py))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(normal_scores, module)?)?;
    module.add_function(wrap_pyfunction!(along_scores, module)?)
}
