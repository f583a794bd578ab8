//! A score with a limit on the time spent on each child: parent sets that come after it are not scored.
//!
//! Step 1 scores the small sets of a child first, so these are the ones that are always there. What is left out depends on
//! the machine, and is told like any other family that cannot be scored.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{ChildScore, Fit, LocalScore, Tables};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::local::Groups;
use crate::local::Tested;
use crate::model::LocalModel;
use crate::table::{NumberLeaf, Table, Var};

/// Another score, within a time per child.
pub struct Limited {
    score: Arc<dyn LocalScore>,
    limit: Duration,
    /// Nanoseconds spent on each child.
    spent: Vec<AtomicU64>,
}

impl Limited {
    /// A score that stops scoring a child when so much time was spent on it, over all threads.
    pub fn new(score: Arc<dyn LocalScore>, limit: Duration) -> Self {
        let spent = (0..score.table().n_vars()).map(|_| AtomicU64::new(0)).collect();
        Self { score, limit, spent }
    }
}

struct Timed<'a> {
    of: &'a Limited,
    child: Var,
    inner: Box<dyn ChildScore + 'a>,
    halt: Halt,
}

impl Timed<'_> {
    fn timed<T>(&mut self, parents: &[Var], score: impl FnOnce(&mut dyn ChildScore) -> Result<T>) -> Result<T> {
        let spent = &self.of.spent[self.child];
        let left = self.of.limit.saturating_sub(Duration::from_nanos(spent.load(Ordering::Relaxed)));
        if parents.is_empty() {
            self.inner.heed(&self.halt);
        } else if left.is_zero() {
            return Err(self.over(parents, "were spent on smaller parent sets"));
        } else {
            self.inner.heed(&self.halt.within(left));
        }
        let start = Instant::now();
        let scored = score(self.inner.as_mut());
        spent.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        match scored {
            Err(Error::Interrupted) if !self.halt.is_due() => Err(self.over(parents, "ended within this family")),
            scored => scored,
        }
    }

    fn over(&self, parents: &[Var], how: &str) -> Error {
        let table = self.of.score.table();
        Error::Family {
            child: table.name(self.child).to_owned(),
            parents: parents.iter().map(|&p| table.name(p).to_owned()).collect(),
            problem: format!("the {} s for this child {how}", self.of.limit.as_secs_f64()),
            advice: "give more time per child, or fewer candidates".to_owned(),
        }
    }
}

impl ChildScore for Timed<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        self.timed(parents, |inner| inner.score(parents))
    }

    fn score_above(&mut self, parents: &[Var], threshold: f64) -> Result<Option<f64>> {
        self.timed(parents, |inner| inner.score_above(parents, threshold))
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
        self.inner.heed(halt);
    }

    fn cap(&mut self, steps: u64) {
        self.inner.cap(steps);
    }

    fn steps(&self) -> Option<u64> {
        self.inner.steps()
    }

    fn in_order(&self) -> Option<&[Groups]> {
        self.inner.in_order()
    }

    fn likelihood(&mut self, parents: &[Var]) -> Result<Fit> {
        self.inner.likelihood(parents)
    }

    fn log_marginal(&mut self, parents: &[Var]) -> Result<Option<f64>> {
        self.inner.log_marginal(parents)
    }

    fn superset_bound(&mut self, parents: &[Var]) -> f64 {
        self.inner.superset_bound(parents)
    }
}

impl LocalScore for Limited {
    fn table(&self) -> &Table {
        self.score.table()
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Timed { of: self, child, inner: self.score.child(child)?, halt: Halt::default() }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.score.model(child, parents)
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        self.score.model_until(child, parents, halt)
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        self.score.check(child, parents)
    }

    fn in_order(&self, child: Var, parents: &[Var]) -> Result<Option<Vec<Groups>>> {
        self.score.in_order(child, parents)
    }

    fn test_until(&self, x: Var, y: Var, given: &[Var], halt: &Halt) -> Result<Tested> {
        self.score.test_until(x, y, given, halt)
    }

    fn cost(&self) -> Cost {
        self.score.cost()
    }

    fn family_steps(&self, child: Var, parents: &[Var]) -> u64 {
        self.score.family_steps(child, parents)
    }

    fn leaf(&self, child: Var) -> Option<NumberLeaf> {
        self.score.leaf(child)
    }

    fn tables(&self) -> Tables {
        self.score.tables()
    }

    fn equivalent(&self) -> bool {
        self.score.equivalent()
    }

    fn decision_graphs(&self) -> Option<&dyn Any> {
        self.score.decision_graphs()
    }
}
