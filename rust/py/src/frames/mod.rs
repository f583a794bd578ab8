//! Frames in: any object with an Arrow C stream, or plain columns, to raw columns, and from there to tables.
//!
//! [`stream`] reads the Arrow C stream, [`objects`] takes `NumPy` arrays and Python lists; both end in Arrow arrays, so
//! one [`column`] is made of them in one way. [`values`] knows the layouts, [`exact`] where floats do not do. [`handle`]
//! is what Python holds.

mod column;
mod exact;
mod handle;
mod objects;
mod stream;
mod values;

pub use handle::{RowsHandle, register};
