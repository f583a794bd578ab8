//! Frames in: any object with an Arrow C stream, or plain columns, to raw columns, and from there to tables.
//!
//! [`stream`] reads the Arrow C stream, [`objects`] takes `NumPy` arrays and Python lists; both end in Arrow arrays, so
//! one [`column`] is made of them in one way. [`values`] knows the layouts, [`exact`] where floats do not do. [`handle`]
//! is what Python holds; [`profile`] is what it is told of a column, [`plan`] how it says that one is coded, [`rows`] the rows that a
//! network is asked about.

mod column;
mod exact;
mod handle;
mod objects;
mod plan;
mod profile;
mod rows;
mod stream;
mod values;

use arbornet_core::frame::MISSING;
use pyo3::prelude::*;

pub use rows::RowsHandle;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MISSING", MISSING)?;
    module.add_class::<handle::RawFrame>()?;
    module.add_class::<handle::Keep>()?;
    module.add_class::<RowsHandle>()
}
