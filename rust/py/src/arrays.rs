//! The values of `NumPy` arrays, however they lie in memory.

use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

/// A copy of an array's values.
///
/// What arrived from another process or lies within records can be misaligned, which must not be read in place: `NumPy`
/// copies it first.
pub fn values<T: Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> PyResult<Vec<T>> {
    if let Ok(slice) = array.as_slice() {
        return Ok(slice.to_vec());
    }
    let copy: PyReadonlyArray1<'_, T> = array.call_method0("copy")?.extract()?;
    Ok(copy.as_slice()?.to_vec())
}
