//! Step 1: the score of every permitted parent set of every child, and of those the sets worth keeping.
//!
//! A set is dropped if a permitted subset scores at least as high: no best DAG needs it. The sets of one child stand in
//! layers by size; a layer needs of the layer below only, per set, the best score of its subsets, so a child costs two
//! flat layers of memory and its kept sets, and what was dropped is never stored. Within a layer sets are numbered so
//! that neighbours share their first parents, and cut into blocks of a fixed length; a block is scored by one thread
//! with one [`ChildScore`](arbornet_model::local::ChildScore), and its [`Record`] (the kept sets of the block) is all that travels: to
//! the [`Ledger`], to a checkpoint, or back from another machine. Records do not depend on who made them, and the ledger
//! puts them together in their order, so every way of running gives the same bytes.
//!
//! ```text
//! Space (the sets of one child) ── Block ──> Record ──> Ledger ──> Outcome
//!                                  scored    kept sets  layers     Candidates
//! ```
//!
//! It asks the traits of a score, and knows none.
#![deny(unsafe_code)]

mod journal;
mod ledger;
mod record;
mod reweigh;
mod run;
mod space;
mod survey;
mod within;

pub use journal::{Journal, Manifest};
pub use ledger::{InOrder, Ledger, Next, Outcome, Skipped};
pub use record::{Block, Layer, Record, score_block};
pub use reweigh::reweighed;
pub use space::Space;
pub use survey::{Checked, Sampled};
pub use within::{Spent, Within};

// From below, by the names they have there.
use arbornet_model::{local, prior};
use arbornet_table::{candidates, constraints, control, error, parents, table};

use crate::constraints::Constraints;
use crate::error::{Error, Result};
use crate::table::{Table, Var};

/// Rows times sets of one block: a tenth of a second for most scores, whatever the number of rows.
const BLOCK_ROWS: usize = 1 << 20;
/// The most sets in a block.
const BLOCK_SETS: usize = 1024;
/// More sets than anybody waits for.
const MOST_SETS: f64 = 1e13;

/// What is to be scored: the parent sets of every child, and the length of a block.
#[derive(Clone, Debug)]
pub struct Step1 {
    names: Vec<String>,
    spaces: Vec<Space>,
    block_sets: u64,
    memory_limit: Option<u64>,
}

impl Step1 {
    /// All sets of up to `max_parents` parents that the constraints permit. The length of a block is a function of the
    /// table if it is not given.
    ///
    /// # Errors
    /// If more parents are required than `max_parents`, or there are too many sets for any machine or for
    /// `memory_limit` bytes.
    pub fn new(
        table: &Table,
        max_parents: usize,
        constraints: &Constraints,
        block_sets: Option<usize>,
        memory_limit: Option<u64>,
    ) -> Result<Self> {
        let n = table.n_vars();
        if constraints.n_vars() != n {
            let text = format!("constraints on {} variables do not fit a table of {n}", constraints.n_vars());
            return Err(Error::Shape(text));
        }
        let names: Vec<String> = table.variables().iter().map(|v| v.name.to_string()).collect();
        let space = |v: Var| Space::new(constraints.child(v), max_parents, &names[v]);
        let spaces = (0..n).map(space).collect::<Result<Vec<_>>>()?;
        let default = (BLOCK_ROWS / table.n_rows().max(1)).clamp(1, BLOCK_SETS);
        let made = Self { names, spaces, block_sets: block_sets.unwrap_or(default).max(1) as u64, memory_limit };
        let sets: f64 = made.spaces.iter().map(Space::n_sets).sum();
        if sets > MOST_SETS {
            let problem = format!("this makes {sets:.1e} parent sets, and at most {MOST_SETS:.0e} can be scored");
            return Err(Error::parameter("max_parents", &max_parents, problem + "; lower it, or allow fewer parents"));
        }
        for (name, space) in made.names.iter().zip(&made.spaces) {
            let (needed, limit) = (space.bytes(), memory_limit.map_or(f64::INFINITY, |limit| limit as f64));
            if needed > limit {
                return Err(Error::Memory {
                    what: format!("scoring the {:.1e} parent sets of '{name}'", space.n_sets()),
                    needed_mb: (needed / 1e6).ceil() as u64,
                    limit_mb: (limit / 1e6) as u64,
                    advice: "lower max_parents, or allow fewer parents".to_owned(),
                });
            }
        }
        Ok(made)
    }

    /// The same, with every set kept that can be scored, also those that a subset beats.
    #[must_use]
    pub fn keeping_all(self) -> Self {
        Self { spaces: self.spaces.into_iter().map(Space::keeping_all).collect(), ..self }
    }

    /// The variables' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The parent sets of one child.
    pub fn space(&self, child: Var) -> &Space {
        &self.spaces[child]
    }

    /// The parent sets of every child.
    pub fn spaces(&self) -> &[Space] {
        &self.spaces
    }

    /// Sets in a full block.
    pub fn block_sets(&self) -> u64 {
        self.block_sets
    }

    /// How many children may be under way at once, for so many threads.
    fn most_open(&self, threads: usize) -> usize {
        let largest = self.spaces.iter().map(Space::bytes).fold(1.0, f64::max);
        let fit = self.memory_limit.map_or(f64::INFINITY, |limit| (limit as f64 / largest).floor());
        (threads as f64).min(fit).max(1.0) as usize
    }
}
