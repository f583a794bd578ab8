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
create_exception!(arbornet, ColumnError, ArbornetError, "A column cannot be used in this way.");
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
            Error::File { .. } => PyOSError::new_err(visible(&text)),
            Error::Shape(_) => ArbornetError::new_err(text),
            Error::Memory { .. } | Error::Allocation { .. } => PyMemoryError::new_err(visible(&text)),
            Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        }
    }
}

/// A text in which no control character acts on a terminal, for the errors that are Python's own: those of ours do this
/// themselves (`arbornet/text/visible.py`).
fn visible(text: &str) -> String {
    let acts = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let escaped = |c: char| match c {
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        c if u32::from(c) < 256 => format!("\\x{:02x}", u32::from(c)),
        c => format!("\\u{:04x}", u32::from(c)),
    };
    text.chars().map(|c| if acts(c) { escaped(c) } else { c.to_string() }).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ArbornetError", py.get_type::<ArbornetError>())?;
    module.add("ColumnError", py.get_type::<ColumnError>())?;
    module.add("FamilyError", py.get_type::<FamilyError>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("FormatError", py.get_type::<FormatError>())
}
