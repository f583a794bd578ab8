//! A Python callable as a test of independence.

use std::sync::{Mutex, PoisonError};

use arbornet_core::independence::{IndependenceTest, Tested};
use arbornet_core::{Error, Result, Var};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::CoreError;
use crate::jobs::in_python;

/// A callable of (x, y, given), by positions, that returns a p-value; every call takes the GIL.
pub struct Called {
    n_vars: usize,
    function: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Called {
    pub fn new(n_vars: usize, function: Py<PyAny>) -> Self {
        Self { n_vars, function, raised: Mutex::default() }
    }

    /// The error for Python; if the callable raised, its exception is the cause.
    pub fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        let told = PyErr::from(CoreError(error));
        told.set_cause(py, self.raised.lock().unwrap_or_else(PoisonError::into_inner).take());
        told
    }
}

impl IndependenceTest for Called {
    fn n_vars(&self) -> usize {
        self.n_vars
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        in_python(|py| {
            let called = self.function.call1(py, (x, y, given.to_vec())).and_then(|value| value.extract::<f64>(py));
            match called {
                Ok(p_value) if (0.0..=1.0).contains(&p_value) => {
                    Ok(Tested { p_value, statistic: f64::NAN, df: f64::NAN })
                }
                Ok(p_value) => Err(Error::parameter("test", &p_value, "a test returns a p-value, from 0 to 1")),
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(Error::Interrupted),
                Err(error) => {
                    let told = Error::Shape(format!("the test raised {error}"));
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Err(told)
                }
            }
        })
    }
}
