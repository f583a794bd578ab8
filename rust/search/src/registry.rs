//! What every search has in common: what it is given, what it returns, and the macro behind the list of them in this crate.
//!
//! A search's parameters arrive as JSON, as those of a score do: `{"search": "boss", "restarts": 20, "seed": 0}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::families::{Families, Scored, Stored};
use super::graph::Dag;
use super::pdag::Pdag;
use crate::candidates::Candidates;
use crate::constraints::Constraints;
use crate::control::{Budget, Stop};
use crate::error::{Error, Result};
use crate::independence::IndependenceTest;
use crate::local::LocalScore;
use crate::model::LocalModel;
use crate::table::{Table, Var};

/// Where a search learns what a graph is worth.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Parent sets that were scored before.
    Candidates(&'a Candidates),
    /// A score that is asked on demand; its tests too.
    Score(&'a Arc<dyn LocalScore>),
    /// Tests alone.
    Test(&'a dyn IndependenceTest),
    /// A table, for a search that has scores of its own.
    Table(&'a Arc<Table>),
}

/// What a search is given.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What graphs are worth.
    pub source: Source<'a>,
    /// What the graph must obey.
    pub constraints: &'a Constraints,
    /// Where to start, of searches that start anywhere.
    pub start: Option<&'a Dag>,
    /// How long.
    pub budget: Budget<'a>,
}

impl<'a> Task<'a> {
    /// The score on demand.
    ///
    /// # Errors
    /// If there is none.
    pub fn scored(&self) -> Result<Scored<'a>> {
        match self.source {
            Source::Score(score) => Ok(Scored::new(&**score, self.constraints, self.budget)),
            _ => Err(Error::Shape("this search scores on demand: give a table and a score".to_owned())),
        }
    }

    /// The candidates that obey.
    ///
    /// # Errors
    /// If there are none.
    pub fn stored(&self) -> Result<Stored<'a>> {
        match self.source {
            Source::Candidates(candidates) => Stored::new(candidates, self.constraints),
            _ => Err(Error::Shape("this search is over candidates: score parent sets first".to_owned())),
        }
    }
}

/// What a search found, whichever it was.
#[derive(Clone, Debug)]
pub struct Found {
    /// The parents of every variable, ascending.
    pub parents: Vec<Vec<Var>>,
    /// The scores of their families; none of a search that asks for no scores.
    pub scores: Vec<f64>,
    /// No graph scores more, as far as the search knows.
    pub bound: f64,
    /// The equivalence class, of searches over classes.
    pub class: Option<Pdag>,
    /// The models of the variables, of a search that grows them.
    pub models: Option<Vec<LocalModel>>,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
    /// Seconds since the start and the total score, whenever it improved.
    pub improvements: Vec<(f64, f64)>,
    /// Counters and findings of this search alone, by name.
    pub details: BTreeMap<&'static str, Detail>,
}

/// A counter or a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// How many.
    Count(u64),
    /// Whether.
    Whether(bool),
    /// Triples of variables.
    Triples(Vec<(Var, Var, Var)>),
    /// Which.
    Name(&'static str),
    /// Which, for each variable that has one.
    Names(Vec<Option<&'static str>>),
    /// Numbers by name.
    Numbers(Vec<(&'static str, f64)>),
    /// A number for each arc.
    Arcs(Vec<(Var, Var, f64)>),
}

impl Found {
    /// A graph of scored families, with nothing said about better ones.
    pub fn new(dag: &Dag, scores: Vec<f64>, stop: Option<Stop>) -> Self {
        let parents = (0..dag.n_vars()).map(|v| dag.parents(v).collect());
        Self::of_parents(parents.collect(), scores, stop)
    }

    /// The same of a graph told by the parents of each variable.
    pub fn of_parents(parents: Vec<Vec<Var>>, scores: Vec<f64>, stop: Option<Stop>) -> Self {
        let (class, models, improvements, details) = (None, None, vec![], BTreeMap::new());
        Self { parents, scores, bound: f64::INFINITY, class, models, stop, improvements, details }
    }

    /// With counters.
    #[must_use]
    pub fn counted<const N: usize>(self, counts: [(&'static str, u64); N]) -> Self {
        counts.into_iter().fold(self, |found, (name, n)| found.with(name, Detail::Count(n)))
    }

    /// With a detail.
    #[must_use]
    pub fn with(mut self, name: &'static str, detail: Detail) -> Self {
        self.details.insert(name, detail);
        self
    }
}

/// A search: its parameters, which know how to run.
pub trait Search {
    /// Searches.
    ///
    /// # Errors
    /// If a parameter is outside its range, the source is none that this search can use, or there is no graph at all.
    fn search(&self, task: &Task<'_>) -> Result<Found>;

    /// Whether it has a graph to show whenever it is stopped; otherwise it ends with `Error::Interrupted`.
    fn can_be_stopped(&self) -> bool {
        true
    }
}

/// Runs a search over whichever families the source has; also returns what no graph exceeds, and how many were scored.
pub(super) fn over_families<T>(
    task: &Task<'_>,
    candidates: impl FnOnce(&Stored<'_>) -> Result<T>,
    score: impl FnOnce(&Scored<'_>) -> Result<T>,
) -> Result<(T, f64, u64)> {
    if let Source::Candidates(_) = task.source {
        let stored = task.stored()?;
        Ok((candidates(&stored)?, stored.bound(), 0))
    } else {
        let scored = task.scored()?;
        let found = score(&scored)?;
        Ok((found, f64::INFINITY, scored.n_scored()))
    }
}

/// From the list of searches: the modules of their files, and a macro that hands the list on with more lines.
macro_rules! searches {
    ($($list:tt)*) => { listed! { ($) $($list)* } };
}

macro_rules! listed {
    (($d:tt) $($(#[$doc:meta])* $file:ident::$name:ident,)*) => {
        $(pub mod $file;)*

        /// Calls a macro with the searches of this crate, `file::Type` each, and those that are given.
        #[macro_export]
        macro_rules! with_searches {
            ($d then:ident! { $d($d more:tt)* }) => {
                $d then! { $($(#[$doc])* $file::$name,)* $d($d more)* }
            };
        }
    };
}
