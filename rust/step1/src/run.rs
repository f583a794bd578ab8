//! Step 1 on this machine: the threads of the current rayon pool take blocks from one ledger until none is left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::local::{ChildScore, LocalScore};
use crate::table::Var;

use super::journal::Journal;
use super::ledger::{Ledger, Next, Outcome};
use super::record::{Block, Layer, Record, score_block};
use super::{Space, Step1};

impl Step1 {
    /// Scores everything with the threads of the current rayon pool, writing records to a journal as they are made.
    ///
    /// # Errors
    /// If asked to stop, a child cannot be scored at all, memory does not suffice, or the journal cannot be written.
    pub fn run(
        self: &Arc<Self>,
        score: &dyn LocalScore,
        control: &Control,
        journal: Option<&mut Journal>,
    ) -> Result<Outcome> {
        let workers = rayon::current_num_threads();
        control.expect(self.total_effort());
        let mut journal = journal;
        let found = journal.as_mut().map_or_else(Vec::new, |journal| journal.take_found());
        let desk = Desk {
            ledger: Mutex::new(Ledger::new(self, workers, found)),
            bell: Condvar::new(),
            failed: Mutex::new(None),
            over: AtomicBool::new(false),
            journal: journal.map(Mutex::new),
        };
        rayon::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|_| desk.work(self, score, control));
            }
        });
        match desk.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(self.first_refused(score).unwrap_or(error)),
            None => desk.ledger.into_inner().unwrap_or_else(PoisonError::into_inner).finish(),
        }
    }

    /// Of the children that the score refuses, what it says of the first: which worker met one first is chance.
    fn first_refused(&self, score: &dyn LocalScore) -> Option<Error> {
        (0..self.spaces().len()).find_map(|child| score.child(child).err())
    }

    /// Progress is counted in this: sets, the larger ones weighing more, as their scores cost more.
    pub fn effort(&self, block: Block) -> u64 {
        u64::from(block.len) << (block.size + self.space(block.child).n_required()).min(16)
    }

    /// The effort of everything.
    pub fn total_effort(&self) -> u64 {
        let of = |space: &Space| -> u64 {
            (0..=space.layers()).map(|k| space.n_of_size(k) << (k + space.n_required()).min(16)).sum()
        };
        self.spaces().iter().map(of).sum()
    }
}

/// What the workers share.
struct Desk<'a> {
    ledger: Mutex<Ledger>,
    bell: Condvar,
    failed: Mutex<Option<Error>>,
    over: AtomicBool,
    journal: Option<Mutex<&'a mut Journal>>,
}

/// Sends everybody home when a worker panics, so that nobody waits for its record.
struct Alarm<'a, 'b>(&'a Desk<'b>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.over.store(true, Ordering::Relaxed);
        }
    }
}

impl Desk<'_> {
    fn work(&self, step: &Step1, score: &dyn LocalScore, control: &Control) {
        let _alarm = Alarm(self);
        if let Err(error) = self.score_blocks(step, score, control) {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            self.over.store(true, Ordering::Relaxed);
        }
        self.bell.notify_all();
    }

    fn score_blocks(&self, step: &Step1, score: &dyn LocalScore, control: &Control) -> Result<()> {
        let mut scratch: Option<(Var, Box<dyn ChildScore + '_>)> = None;
        while !self.over.load(Ordering::Relaxed) {
            control.check()?;
            let child = scratch.as_ref().map(|s| s.0);
            let Some((blocks, below)) = self.next(child, control)? else { break };
            for block in blocks {
                let fitting = scratch.take().filter(|s| s.0 == block.child);
                let (_, child) = if let Some(fitting) = fitting {
                    scratch.insert(fitting)
                } else {
                    let mut child = score.child(block.child)?;
                    child.heed(&control.halt());
                    scratch.insert((block.child, child))
                };
                let space = step.space(block.child);
                let record = score_block(score, child.as_mut(), space, block, &below, control)?;
                self.enter(record, control)?;
            }
        }
        Ok(())
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, prefer: Option<Var>, control: &Control) -> Result<Option<(Vec<Block>, Arc<Layer>)>> {
        let mut ledger = self.ledger();
        loop {
            match ledger.next(prefer, 1, control)? {
                Next::Blocks(blocks, below) => return Ok(Some((blocks, below))),
                Next::Done => return Ok(None),
                Next::Wait if self.over.load(Ordering::Relaxed) => return Ok(None),
                Next::Wait => {
                    control.check()?;
                    let wait = self.bell.wait_timeout(ledger, Duration::from_millis(50));
                    ledger = wait.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    fn enter(&self, record: Record, control: &Control) -> Result<()> {
        if let Some(journal) = &self.journal {
            journal.lock().unwrap_or_else(PoisonError::into_inner).append(&record)?;
        }
        let entered = self.ledger().accept(record, control);
        self.bell.notify_all();
        entered
    }
}
