//! One `From` lets `?` cross the border: each core error becomes the Python exception of its kind.

use arbornet_core::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    arbornet,
    ArbornetError,
    PyValueError,
    "What was given cannot be used; the message says what and why."
);
create_exception!(arbornet, ColumnError, ArbornetError, "A column cannot be used as asked.");
create_exception!(arbornet, FamilyError, ArbornetError, "A child and its parents cannot be scored.");
create_exception!(arbornet, ParameterError, ArbornetError, "A parameter is outside its range.");
create_exception!(arbornet, FormatError, ArbornetError, "A file is not of its format.");

/// A core error on its way to Python.
pub struct CoreError(pub Error);

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<CoreError> for PyErr {
    fn from(CoreError(error): CoreError) -> Self {
        let text = error.to_string();
        match error {
            Error::Column { .. } => ColumnError::new_err(text),
            Error::Family { .. } | Error::Score { .. } => FamilyError::new_err(text),
            Error::Parameter { .. } => ParameterError::new_err(text),
            Error::Format { .. } => FormatError::new_err(text),
            Error::File { .. } => PyOSError::new_err(text),
            Error::Shape(_) => ArbornetError::new_err(text),
            Error::Memory { .. } | Error::Allocation { .. } => PyMemoryError::new_err(text),
            Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ArbornetError", py.get_type::<ArbornetError>())?;
    module.add("ColumnError", py.get_type::<ColumnError>())?;
    module.add("FamilyError", py.get_type::<FamilyError>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("FormatError", py.get_type::<FormatError>())
}
