//! A Python callable as a local score: slow, and welcome wherever a score goes.

use std::sync::{Arc, Mutex, PoisonError};

use arbornet_core::local::Cost;
use arbornet_core::{ChildScore, Error, LocalModel, LocalScore, Result, Table, Var};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::FamilyError;
use crate::jobs::in_python;

/// A callable of (child, parents), by positions; every call takes the GIL.
pub struct Custom {
    table: Arc<Table>,
    function: Py<PyAny>,
    model: Option<Arc<dyn LocalScore>>,
    raised: Mutex<Option<PyErr>>,
}

impl Custom {
    pub fn new(table: Arc<Table>, function: Py<PyAny>, model: Option<Arc<dyn LocalScore>>) -> Self {
        Self { table, function, model, raised: Mutex::new(None) }
    }

    /// The exception of the last call that failed, once: the cause of the error that was made of it.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn names(&self, parents: &[Var]) -> Vec<String> {
        parents.iter().map(|&p| self.table.name(p).to_owned()).collect()
    }

    fn failed(&self, child: Var, parents: &[Var], problem: String) -> Error {
        Error::Score { child: self.table.name(child).to_owned(), parents: self.names(parents), problem }
    }

    fn call(&self, child: Var, parents: &[Var]) -> Result<f64> {
        in_python(|py| {
            let called = self.function.call1(py, (child, parents.to_vec())).and_then(|value| value.extract::<f64>(py));
            match called {
                Ok(score) if score < f64::INFINITY => Ok(score),
                Ok(score) => {
                    let problem = format!("it is {score}, where scores are finite or minus infinity");
                    Err(self.failed(child, parents, problem))
                }
                // The callable's way of saying that this family alone cannot be scored.
                Err(error) if error.is_instance_of::<FamilyError>(py) => Err(Error::Family {
                    child: self.table.name(child).to_owned(),
                    parents: self.names(parents),
                    problem: error.value(py).to_string(),
                    advice: "the custom score refuses it".to_owned(),
                }),
                // Ctrl-C came while the callable ran: that is no fault of the family.
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(Error::Interrupted),
                Err(error) => {
                    let problem = format!("it raised {error}");
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Err(self.failed(child, parents, problem))
                }
            }
        })
    }
}

/// The core's view of it: a type of its own, as the binding keeps a hold of the callable too.
pub struct Shared(pub Arc<Custom>);

impl LocalScore for Shared {
    fn table(&self) -> &Table {
        &self.0.table
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 1_000_000.0, row: 0.0, continuous: 1.0, levels: 0.0 }
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Child { custom: &self.0, child }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        let Some(model) = &self.0.model else {
            return Err(Error::Family {
                child: self.0.table.name(child).to_owned(),
                parents: self.0.names(parents),
                problem: "a custom score has no models of its own".to_owned(),
                advice: "name a score whose models to fit: CustomScore(f, model=PCART())".to_owned(),
            });
        };
        model.model(child, parents)
    }
}

struct Child<'a> {
    custom: &'a Custom,
    child: Var,
}

impl ChildScore for Child<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        self.custom.call(self.child, parents)
    }
}
