//! A stop that another thread can pull. Ctrl-C reaches the main thread alone; work that it shares out to threads of its
//! own heeds a `Stop`, which the main thread sets when it is interrupted.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

thread_local! {
    static HEEDED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Stops the long work of the threads that heed it.
#[pyclass(frozen, module = "arbornet._core")]
#[derive(Default)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the work under way, and what begins later.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was set.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes this thread heed it from now on.
    fn heed(&self) {
        HEEDED.set(Some(self.0.clone()));
    }
}

/// What interrupts work begun on this thread: a signal's exception, or the stop it heeds.
pub fn check(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    let stopped = HEEDED.with_borrow(|stop| stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    if stopped { Err(PyKeyboardInterrupt::new_err("stopped by another thread")) } else { Ok(()) }
}
