//! Long work away from the GIL: on another thread, watched from here, so that Ctrl-C returns within a second.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arbornet_core::{Control, Error};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::CoreError;
use crate::stop;

/// How often signals are looked at and progress is told.
const POLL: Duration = Duration::from_millis(50);

/// How long stopped work may take to end before it is left to end by itself.
const PATIENCE: Duration = Duration::from_millis(700);

/// Set when the work is over, also by a panic.
#[derive(Default)]
struct Over {
    flag: Mutex<bool>,
    bell: Condvar,
}

impl Over {
    fn wait(&self) -> bool {
        let over = self.flag.lock().unwrap_or_else(PoisonError::into_inner);
        *self.bell.wait_timeout_while(over, POLL, |over| !*over).unwrap_or_else(PoisonError::into_inner).0
    }
}

struct Ring<'a>(&'a Over);

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        *self.0.flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.bell.notify_all();
    }
}

/// Runs work on a thread of its own without the GIL. Meanwhile `tell(done, total)` is called as progress is made; a
/// signal's exception, or one of `tell`, stops the work through its control and is returned once it has stopped.
#[allow(dead_code)] // for searches that show nothing when stopped
pub fn watched<T: Send>(
    py: Python<'_>,
    control: &Control,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (value, failed) = watch(py, control, tell, work);
    failed.map_or(Ok(value), Err)
}

/// As `watched`, for a search that has something to show whenever it is stopped: Ctrl-C returns what it has.
pub fn incumbent<T: Send>(
    py: Python<'_>,
    control: &Control,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    match watch(py, control, tell, work) {
        (_, Some(error)) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        (value, _) => Ok(value),
    }
}

fn watch<T: Send>(
    py: Python<'_>,
    control: &Control,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    let over = Over::default();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _ring = Ring(&over);
            work()
        });
        let mut told = (0, 0);
        let mut failed = None;
        while !py.detach(|| over.wait()) {
            let progress = control.progress();
            let news = tell.filter(|_| failed.is_none() && progress != told);
            told = progress;
            let watch = || stop::check(py).and_then(|()| news.map_or(Ok(()), |tell| tell.call1(progress).map(|_| ())));
            if let Err(error) = watch() {
                control.stop();
                failed.get_or_insert(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (failed, result) {
            (_, Err(panic)) => std::panic::resume_unwind(panic),
            (failed, Ok(value)) => (value, failed),
        }
    })
}

/// As `watched`, for work that may be deep in one long step when it is stopped: it shares what it reads, so that it can
/// be left to notice the stop and end by itself.
pub fn watched_or_left<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let over = Arc::new(Over::default());
    let bell = over.clone();
    let worker = std::thread::spawn(move || {
        let _ring = Ring(&bell);
        work()
    });
    let mut told = (0, 0);
    while !py.detach(|| over.wait()) {
        let progress = control.progress();
        let news = tell.filter(|_| progress != told);
        told = progress;
        let heard = stop::check(py).and_then(|()| news.map_or(Ok(()), |tell| tell.call1(progress).map(|_| ())));
        if let Err(error) = heard {
            control.stop();
            let asked = Instant::now();
            while asked.elapsed() < PATIENCE && !py.detach(|| over.wait()) {}
            return Err(error);
        }
    }
    let value = py.detach(|| worker.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    if let Some(tell) = tell.filter(|_| control.progress() != told) {
        tell.call1(control.progress())?;
    }
    Ok(value)
}

/// Calls of Python functions under way on threads of ours, and whether the interpreter is about to end.
static CALLS: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// One of `CALLS`.
struct Call;

impl Call {
    fn begin() -> Self {
        CALLS.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Calls Python from any thread, also from one that was left behind; `Interrupted` once the interpreter is about to end.
pub fn in_python<T>(call: impl FnOnce(Python<'_>) -> arbornet_core::Result<T>) -> arbornet_core::Result<T> {
    let _counted = Call::begin();
    if ENDING.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { Python::attach(call) }
}

/// Waits at the interpreter's end for the Python functions that threads left behind are in. A thread that comes back from
/// one later finds no interpreter, and Python ends such a thread by force, which aborts the process.
#[pyfunction]
fn await_calls(py: Python<'_>, importer: u32) -> PyResult<()> {
    if std::process::id() != importer {
        return Ok(()); // a fork has none of these threads
    }
    ENDING.store(true, Ordering::SeqCst);
    while CALLS.load(Ordering::SeqCst) > 0 {
        py.detach(|| std::thread::sleep(Duration::from_millis(5)));
        py.check_signals()?;
    }
    Ok(())
}

/// What a user gives for `n_jobs`: whatever is no whole number that fits is refused by this name.
#[derive(Clone, Copy)]
pub struct Jobs(isize);

impl Jobs {
    /// The thread that asks.
    pub const ONE: Self = Self(1);
    /// All cores.
    pub const ALL: Self = Self(-1);
}

impl<'py> FromPyObject<'_, 'py> for Jobs {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Self).map_err(|_| {
            let value = given.repr().map_or_else(|_| String::new(), |text| text.to_string());
            CoreError(Error::parameter("n_jobs", &value, "give a whole number of threads, or -1 for all cores")).into()
        })
    }
}

/// More threads than so many for each core are never started: they would only cost memory, and results are the same.
const MOST_PER_CORE: usize = 4;

/// The number of threads that `n_jobs` asks for: as it stands, but at most so many per core, or from -1 downwards all
/// cores, all but one, ...
pub fn threads(Jobs(n_jobs): Jobs) -> Result<usize, CoreError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs {
        0 => Err(CoreError(Error::parameter("n_jobs", &0, "give a number of threads, or -1 for all cores"))),
        1.. => Ok(n_jobs.unsigned_abs().min(MOST_PER_CORE * cores)),
        _ => Ok(cores.saturating_add_signed(n_jobs + 1).max(1)),
    }
}

/// The number of threads that `n_jobs` asks for.
#[pyfunction(name = "threads")]
fn threads_of(n_jobs: Jobs) -> PyResult<usize> {
    Ok(threads(n_jobs)?)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<stop::Stop>()?;
    let at_exit = wrap_pyfunction!(await_calls, module)?;
    module.py().import("atexit")?.call_method1("register", (at_exit, std::process::id()))?;
    module.add_function(wrap_pyfunction!(threads_of, module)?)
}

/// A pool of `n_jobs` threads for one call, gone when it is dropped, so that a fork finds no threads of ours.
pub fn pool(n_jobs: Jobs) -> Result<rayon::ThreadPool, CoreError> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads(n_jobs)?).build();
    built.map_err(|e| CoreError(Error::parameter("n_jobs", &n_jobs.0, format!("threads cannot be started: {e}"))))
}
