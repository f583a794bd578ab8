//! A search for arcs by several scores, each where it sees best: Gaussians over features find arcs, trees take away those
//! that only shapes made, and equivalence tells which way they point.
//!
//! 1. The best order score search from one order, with a Gaussian over blocks of degree 1, 2 and 3 (scales chosen by column,
//!    and again on normal scores), with the discretised conditional Gaussian, and on levels
//!    alone with the quotient normalised maximum likelihood.
//! 2. Each graph's class is judged by all scores together ([`judge`]). One of degree 2 wins if it is slightly
//!    better, the conditional Gaussian's if it is far better; on levels alone the one by counts wins unless another is
//!    clearly better.
//! 3. Scores whose graphs are not far behind search on from random orders, and these graphs are judged.
//! 4. Where curves won, arcs that no tree needs are dropped, and the search is made again inside what is left.
//! 5. On request, arcs that only trees see are added ([`interactions`]).
//!
//! Gaussians over features are the same for equivalent graphs, and counts nearly so: what they direct is what independence
//! directs.

mod interactions;
mod judge;
mod scores;
mod trees;

use std::sync::Arc;

use rayon::prelude::*;

use self::interactions::Curves;
pub use self::scores::Winner;
use self::scores::{DEGREE, Prepared};
use crate::constraints::{Constraints, ParentRule};
use crate::control::{Budget, Halt, Stop};
use crate::dag::boss::Boss;
use crate::dag::families::{Families, Scored};
use crate::dag::ges::{Classed, Fges};
use crate::dag::knowledge::Knowledge;
use crate::dag::registry::{self, Detail, Source, Task};
use crate::dag::{Dag, Pdag};
use crate::error::{Error, Result};
use crate::local::LocalScore;
use crate::regress::features::{Features, Scale};
use crate::table::{Table, Var};
use arbornet_table::spread::TryMap;

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hybrid {
    /// So many random orders are begun with after the first; as many as is quick if not said.
    pub restarts: Option<usize>,
    /// Of the random orders.
    pub seed: u64,
    /// Whether to look for what only trees see.
    pub interactions: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// A member of the class that obeys.
    pub dag: Dag,
    /// Its class, narrowed by what is known.
    pub class: Pdag,
    /// The families' scores under the winning score.
    pub scores: Vec<f64>,
    /// For each arc, in the graph's order, what the winning score loses without it.
    pub strengths: Vec<f64>,
    /// Which score's graph it is.
    pub winner: Winner,
    /// What the judges said of each graph.
    pub judged: Vec<(Winner, f64)>,
    /// How each number was read; `None` for levels.
    pub scales: Vec<Option<Scale>>,
    /// Arcs that no tree needed.
    pub dropped: usize,
    /// Arcs that only trees saw.
    pub added: usize,
    /// Steps of all searches.
    pub n_moves: u64,
    /// Families scored by all searches.
    pub n_scored: u64,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

/// A graph is taken instead of that of counts if it is better by this share.
const CLEARLY: f64 = 0.04;
/// Scores whose first graphs are worse by more than this share do not search on.
const NEAR: f64 = 0.05;
/// Arcs are dropped, and the search made again, so often at most.
const ROUNDS: usize = 5;
/// So many random orders of narrow tables; wider ones have fewer, so that all orders' variables are not more than `PLACES`.
const RESTARTS: usize = 10;
const PLACES: usize = 400;
/// With more variables the greedy equivalence search alone finds the graphs, unless orders are asked for.
const WIDE: usize = 400;

/// A score to search with, which remembers what it was asked from one search to the next, and the graph it found.
struct Runner<'a> {
    winner: Winner,
    scored: Scored<'a>,
    found: Option<Classed>,
}

impl registry::Search for Hybrid {
    fn search(&self, task: &Task<'_>) -> Result<registry::Found> {
        let Source::Table(table) = task.source else {
            return Err(Error::Shape("this search has scores of its own: give a table".to_owned()));
        };
        let found = self.run(table, task.constraints, task.budget)?;
        let strengths = found.dag.arcs().zip(found.strengths).map(|((a, b), strength)| (a, b, strength)).collect();
        let judged = found.judged.into_iter().map(|(winner, total)| (winner.name(), total)).collect();
        let scales = found.scales.into_iter().map(|scale| scale.map(Scale::name)).collect();
        let (dropped, added) = (found.dropped as u64, found.added as u64);
        let told = registry::Found::new(&found.dag, found.scores, found.stop)
            .counted([("moves", found.n_moves), ("scored", found.n_scored), ("dropped", dropped), ("added", added)])
            .with("winner", Detail::Name(found.winner.name()))
            .with("judged", Detail::Numbers(judged))
            .with("strengths", Detail::Arcs(strengths))
            .with("scales", Detail::Names(scales));
        Ok(registry::Found { class: Some(found.class), ..told })
    }
}

impl Hybrid {
    /// Searches.
    ///
    /// # Errors
    /// If the required arcs cannot be scored, or the caller asked to stop before there was any graph.
    pub fn run(&self, table: &Arc<Table>, constraints: &Constraints, budget: Budget<'_>) -> Result<Found> {
        let halt = budget.halt();
        // Also with no time at all there is a graph to show: only who asks can stop what comes before.
        let asked = budget.control().halt();
        let ranks = Features::until(table, DEGREE, Scale::NormalScores, &asked)?;
        let features = ranks.rescaled(table, DEGREE, &asked)?;
        let scales = features.scales.clone();
        // Which scale shows a column best is itself a guess, so the graphs of ranks are judged beside those of the scales.
        let as_ranks = |scale: &Option<Scale>| scale.is_none_or(|scale| scale == Scale::NormalScores);
        let other = table.n_vars() <= WIDE && !scales.iter().all(as_ranks);
        let prepared = Prepared::new(table, features, other.then_some(ranks))?;
        let mut search = Search::new(self, &prepared, constraints, budget);
        let outcome = search.all(&halt);
        let stop = match outcome {
            Err(Error::Interrupted) => Some(budget.over().unwrap_or(Stop::Interrupted)),
            other => other.map(|()| None)?,
        };
        search.finish(scales, stop)
    }
}

struct Search<'a> {
    how: &'a Hybrid,
    constraints: &'a Constraints,
    knowledge: Knowledge<'a>,
    budget: Budget<'a>,
    runners: Vec<Runner<'a>>,
    prepared: &'a Prepared,
    /// The graph as far as it is known, and whose it is.
    best: Option<(usize, Dag)>,
    judged: Vec<(Winner, f64)>,
    dropped: usize,
    added: usize,
    n_moves: u64,
    /// Within what arcs that no tree needs left.
    n_scored: u64,
}

impl<'a> Search<'a> {
    fn new(how: &'a Hybrid, prepared: &'a Prepared, constraints: &'a Constraints, budget: Budget<'a>) -> Self {
        let runner = |(winner, score): &'a (Winner, Box<dyn LocalScore>)| Runner {
            winner: *winner,
            scored: Scored::new(&**score, constraints, budget),
            found: None,
        };
        Self {
            how,
            constraints,
            knowledge: Knowledge::new(constraints),
            budget,
            runners: prepared.scores.iter().map(runner).collect(),
            prepared,
            best: None,
            judged: Vec::new(),
            dropped: 0,
            added: 0,
            n_moves: 0,
            n_scored: 0,
        }
    }

    /// So many random orders, if orders are searched at all: in wide tables they are not, unless that was asked for.
    fn restarts(&self) -> Option<usize> {
        let n = self.constraints.n_vars();
        self.how.restarts.or_else(|| (n <= WIDE).then(|| RESTARTS.min(PLACES / n.max(1))))
    }

    fn searched(&self, scored: &Scored<'_>, start: Option<&Dag>, restarts: usize) -> Result<Classed> {
        match self.restarts() {
            None => Fges { faithfulness: false }.run(scored, start, self.budget),
            Some(most) => Boss { restarts: restarts.min(most), seed: self.how.seed }.run(scored, start, self.budget),
        }
    }

    fn all(&mut self, halt: &Halt) -> Result<()> {
        let search = |runner: &Runner<'_>| self.searched(&runner.scored, None, 0);
        let found: Vec<_> = self.runners.par_iter().try_map(search)?;
        for (runner, found) in self.runners.iter_mut().zip(found) {
            self.n_moves += found.n_moves;
            runner.found = Some(found);
        }
        // Until they are judged, curves stand for all: they see most.
        let shown = usize::from(self.runners.get(1).is_some_and(|runner| runner.winner == Winner::Curves));
        self.best = self.runners[shown].found.as_ref().map(|found| (shown, found.dag.clone()));
        self.budget.check()?;
        let first = self.best_judged(halt)?;
        if self.restarts().is_some_and(|restarts| restarts > 0) {
            self.best = self.runners[first].found.as_ref().map(|found| (first, found.dag.clone()));
            self.search_on()?;
        }
        let winner = self.best_judged(halt)?;
        let dag = self.runners[winner].found.as_ref().expect("it was searched").dag.clone();
        self.best = Some((winner, dag));
        if self.runners[winner].winner.bends() {
            self.prune(winner, halt)?;
        }
        if self.how.interactions {
            let (_, mut dag) = self.best.clone().expect("there is a graph");
            let regression = &**self.prepared.judge.scores.last().expect("there are judges");
            let curves = Curves { firsts: &self.prepared.firsts.blocks, all: &self.prepared.curves.blocks, regression };
            self.added = self.prepared.judge.trees.complete(&mut dag, &self.knowledge, &curves, halt)?;
            self.best = Some((winner, dag));
        }
        Ok(())
    }

    /// From random orders too, with the scores whose graphs are judged nearly as good as the best.
    fn search_on(&mut self) -> Result<()> {
        let top = self.judged.iter().map(|(_, total)| *total).fold(f64::NEG_INFINITY, f64::max);
        let near = |i: usize| {
            let (winner, total) = self.judged[i];
            // The conditional Gaussian is slow, and is not taken without being the best.
            total >= if winner == Winner::Cells { top } else { top - NEAR * top.abs() }
        };
        let search = |i: usize| -> Result<(usize, Classed)> {
            let runner = &self.runners[i];
            let start = runner.found.as_ref().map(|found| &found.dag);
            Ok((i, self.searched(&runner.scored, start, usize::MAX)?))
        };
        let kept: Vec<usize> = (0..self.runners.len()).filter(|&i| near(i)).collect();
        let found: Vec<_> = kept.into_par_iter().try_map(search)?;
        for (i, found) in found {
            self.n_moves += found.n_moves;
            self.runners[i].found = Some(found);
        }
        self.budget.check()
    }

    /// The graph that the judges together like best.
    fn best_judged(&mut self, halt: &Halt) -> Result<usize> {
        let mut totals = Vec::new();
        for runner in &self.runners {
            let dag = &runner.found.as_ref().expect("it was searched").dag;
            totals.push(self.prepared.judge.of_class(dag, &self.knowledge, halt)?);
        }
        self.judged = self.runners.iter().map(|runner| runner.winner).zip(totals.iter().copied()).collect();
        // Among levels alone counts know best.
        let mut best = self.runners.iter().position(|runner| runner.winner == Winner::Counts).unwrap_or(0);
        for (i, runner) in self.runners.iter().enumerate() {
            let counted = self.runners[best].winner == Winner::Counts;
            let share = if counted { CLEARLY.max(runner.winner.margin()) } else { runner.winner.margin() };
            if totals[i] > totals[best] + (share * totals[best].abs()).max(judge::LEAST) {
                best = i;
            }
        }
        Ok(best)
    }

    /// Drops arcs that no tree needs and searches again inside what is left, until all are needed.
    ///
    /// Where curves do not see all of what an arc carries, a new search turns others to make up for it. The judges say
    /// whether its graph is better than the one that is left.
    fn prune(&mut self, winner: usize, halt: &Halt) -> Result<()> {
        for _ in 0..ROUNDS {
            let (_, mut dag) = self.best.clone().expect("there is a graph");
            let unneeded = self.prepared.judge.trees.unneeded(&dag, &self.knowledge, halt)?;
            if unneeded.is_empty() {
                return Ok(());
            }
            for &(a, b) in &unneeded {
                dag.remove_arc(a, b);
            }
            let inside = within(self.constraints, &dag)?;
            let scored = Scored::new(self.runners[winner].scored.score(), &inside, self.budget);
            let found = self.searched(&scored, Some(&dag), usize::MAX)?;
            self.dropped += unneeded.len();
            self.n_moves += found.n_moves;
            self.n_scored += scored.n_scored();
            let [left, anew] = [&dag, &found.dag].map(|dag| self.prepared.judge.of_class(dag, &self.knowledge, halt));
            self.best = Some((winner, if anew? < left? { dag } else { found.dag }));
            self.budget.check()?;
        }
        Ok(())
    }

    fn finish(self, mut scales: Vec<Option<Scale>>, stop: Option<Stop>) -> Result<Found> {
        let (runner, dag) = match self.best {
            Some((at, dag)) => (&self.runners[at], dag),
            None => (&self.runners[0], self.knowledge.required_arcs()),
        };
        let read = match runner.winner {
            Winner::Cells => Some(Scale::Raw),
            winner => winner.ranks().then_some(Scale::NormalScores),
        };
        scales.iter_mut().flatten().for_each(|scale| *scale = read.unwrap_or(*scale));
        let scores = runner.scored.of_graph(&dag)?;
        let n_scored = self.n_scored + self.runners.iter().map(|runner| runner.scored.n_scored()).sum::<u64>();
        let arcs: Vec<(Var, Var)> = dag.arcs().collect();
        let strength = |&(a, b): &(Var, Var)| -> Result<f64> {
            let rest: Vec<Var> = dag.parents(b).filter(|&p| p != a).collect();
            Ok(scores[b] - runner.scored.score().score(b, &rest)?)
        };
        let strengths = arcs.par_iter().try_map(strength)?;
        Ok(Found {
            class: self.knowledge.class_of(&dag),
            dag,
            scores,
            strengths,
            winner: runner.winner,
            judged: self.judged,
            scales,
            dropped: self.dropped,
            added: self.added,
            n_moves: self.n_moves,
            n_scored,
            stop,
        })
    }
}

/// The constraints, and no adjacencies but those of a graph.
fn within(constraints: &Constraints, dag: &Dag) -> Result<Constraints> {
    let rule = |v: Var| {
        let rule = constraints.child(v);
        let allowed = rule.allowed.iter().copied().filter(|&p| dag.adjacent(p, v) || rule.requires(p)).collect();
        ParentRule { allowed, ..rule.clone() }
    };
    Constraints::new((0..constraints.n_vars()).map(rule).collect())
}

#[cfg(test)]
mod tests;
