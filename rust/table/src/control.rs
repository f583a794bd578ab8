//! How long work is watched and stopped from outside: a flag to stop, counters to show progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Shared between the worker threads and whoever watches them.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Control {
    /// Asks the workers to return soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True once a stop was asked for.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// To be called by workers many times a second.
    ///
    /// # Errors
    /// `Error::Interrupted` once a stop was asked for.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// For work that is long in one step.
    pub fn halt(&self) -> Halt {
        Halt { stop: self.stop.clone(), deadline: None }
    }

    /// Says how much there is to do, in the worker's own unit.
    pub fn expect(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Says that this much more is done.
    #[inline]
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// How much is done, of how much.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// What a long step of work, one family above all, asks now and then: whether it should end at once.
#[derive(Clone, Debug, Default)]
pub struct Halt {
    stop: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Halt {
    /// The same, and due after so much time at the latest.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        let ends = Instant::now().checked_add(time);
        let deadline = [self.deadline, ends].into_iter().flatten().min();
        Self { stop: self.stop.clone(), deadline }
    }

    /// True once a stop was asked for or the time is up.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// To be called by workers many times a second.
    ///
    /// # Errors
    /// `Error::Interrupted` once it is due.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_due() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Why work ended before it was through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time was up.
    Time,
    /// The caller asked.
    Interrupted,
}

/// What a search may use: until when, and until who asks.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    control: &'a Control,
    deadline: Option<Instant>,
}

impl<'a> Budget<'a> {
    /// From now on for `time_limit`, or without end.
    pub fn new(control: &'a Control, time_limit: Option<Duration>) -> Self {
        Self { control, deadline: time_limit.and_then(|limit| Instant::now().checked_add(limit)) }
    }

    /// Why to stop now, if so.
    #[inline]
    pub fn over(&self) -> Option<Stop> {
        if self.control.stopped() {
            return Some(Stop::Interrupted);
        }
        self.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| Stop::Time)
    }

    /// To be called by workers many times a second.
    ///
    /// # Errors
    /// `Error::Interrupted` once the budget is used up, for whatever reason.
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.over().map_or(Ok(()), |_| Err(Error::Interrupted))
    }

    /// For work that is long in one step.
    pub fn halt(&self) -> Halt {
        Halt { deadline: self.deadline, ..self.control.halt() }
    }

    /// The control that can end it.
    pub fn control(&self) -> &'a Control {
        self.control
    }
}
