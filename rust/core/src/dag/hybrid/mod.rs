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
mod trees;

use std::sync::Arc;

use rayon::prelude::*;

use self::interactions::Curves;
use self::judge::{Judge, prior};
use self::trees::Trees;
use crate::constraints::{Constraints, ParentRule};
use crate::control::{Budget, Halt, Stop};
use crate::dag::boss::Boss;
use crate::dag::families::{Families, Scored};
use crate::dag::ges::{Classed, Fges};
use crate::dag::knowledge::Knowledge;
use crate::dag::registry::{self, Detail, Source, Task};
use crate::dag::{Dag, Pdag};
use crate::error::{Error, Result};
use crate::kept::Kept;
use crate::leaf::LeafPriors;
use crate::local::LocalScore;
use crate::prior::GraphPrior;
use crate::regress::features::{Block, Features, Scale, TRIED};
use crate::regress::ranks::{normal_score, shares};
use crate::score::classic::nml::Qnml;
use crate::score::mixed::block::BlockGaussian;
use crate::score::mixed::conditional::ConditionalGaussian;
use crate::score::pcart::Pcart;
use crate::table::{Affine, Column, Kind, Table, Var};

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

/// Which score's graph was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The Gaussian over blocks of degree 1.
    Lines,
    /// The Gaussian over blocks of degree 3.
    Curves,
    /// The one of degree 1, every number by its normal scores.
    LinesOfRanks,
    /// The one of degree 3, every number by its normal scores.
    CurvesOfRanks,
    /// The Gaussian over blocks of degree 2.
    Bends,
    /// The one of degree 2, every number by its normal scores.
    BendsOfRanks,
    /// The discretised conditional Gaussian, numbers as they are.
    Cells,
    /// The quotient normalised maximum likelihood.
    Counts,
}

impl Winner {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Curves => "curves",
            Self::LinesOfRanks => "lines_of_ranks",
            Self::CurvesOfRanks => "curves_of_ranks",
            Self::Bends => "bends",
            Self::BendsOfRanks => "bends_of_ranks",
            Self::Cells => "cells",
            Self::Counts => "counts",
        }
    }

    /// Whether it fits curves, which may join what a mere trend suggests.
    fn bends(self) -> bool {
        matches!(self, Self::Curves | Self::CurvesOfRanks | Self::Bends | Self::BendsOfRanks)
    }

    /// Whether it reads every number by its normal scores.
    fn ranks(self) -> bool {
        matches!(self, Self::LinesOfRanks | Self::CurvesOfRanks | Self::BendsOfRanks)
    }

    /// How much better, as a share, it has to be judged than another.
    fn margin(self) -> f64 {
        match self {
            Self::Bends | Self::BendsOfRanks => SLIGHTLY,
            Self::Cells => FAR,
            _ => 0.0,
        }
    }
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
/// One of degree 2 is taken if it is better by this share: it is right where rows are few, and misses bends where they are many.
const SLIGHTLY: f64 = 0.01;
/// The conditional Gaussian's is taken if it is better by this share: where lines differ from cell to cell it mostly is by a
/// tenth and more, and where it is wrong it is by less.
const FAR: f64 = 0.09;
/// Scores whose first graphs are worse by more than this share do not search on.
const NEAR: f64 = 0.05;
/// Arcs are dropped, and the search made again, so often at most.
const ROUNDS: usize = 5;
/// The degree of curves.
const DEGREE: usize = TRIED;
/// Megabytes of one tree's search.
const TREE_MEMORY: u64 = 256;

/// So many random orders of narrow tables; wider ones have fewer, so that all orders' variables are not more than `PLACES`.
const RESTARTS: usize = 10;
const PLACES: usize = 400;
/// With more variables the greedy equivalence search alone finds the graphs, unless orders are asked for.
const WIDE: usize = 400;

/// A score to search with, and the graph it found.
struct Runner {
    winner: Winner,
    score: Box<dyn LocalScore>,
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
        let mut search = Search::new(self, table, constraints, budget, features, other.then_some(ranks))?;
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
    runners: Vec<Runner>,
    firsts: Arc<Features>,
    curves: Arc<Features>,
    judge: Judge,
    /// The graph as far as it is known, and whose it is.
    best: Option<(usize, Dag)>,
    judged: Vec<(Winner, f64)>,
    dropped: usize,
    added: usize,
    n_moves: u64,
    n_scored: u64,
}

impl<'a> Search<'a> {
    fn new(
        how: &'a Hybrid,
        table: &Arc<Table>,
        constraints: &'a Constraints,
        budget: Budget<'a>,
        features: Features,
        ranks: Option<Features>,
    ) -> Result<Self> {
        let levels: Vec<bool> = (0..table.n_vars()).map(|v| !table.variable(v).is_continuous()).collect();
        let ranked = Arc::new(in_normal_scores(table)?);
        let lines = features.of_degree(table, 1);
        let bent = features.blocks.iter().zip(&lines.blocks).any(|(all, first)| all.width() > first.width());
        let width_of_firsts: Vec<usize> = lines.blocks.iter().map(Block::width).collect();
        let (lines, curves) = (Arc::new(lines), Arc::new(features));
        let block = |features: &Arc<Features>, prior: GraphPrior, degree: usize, scored: Option<Vec<usize>>| {
            BlockGaussian { degree, scale: Scale::Auto, prior }.with(table, features.clone(), scored)
        };
        let cells = |prior| ConditionalGaussian { discretise: true, prior, ..ConditionalGaussian::default() };
        let (one, plain) = (prior(table.n_vars()), GraphPrior::Uniform);
        let mut runners = vec![Runner { winner: Winner::Lines, score: block(&lines, one, 1, None)?, found: None }];
        let mut add = |winner, score| runners.push(Runner { winner, score, found: None });
        if bent {
            add(Winner::Curves, block(&curves, one, DEGREE, None)?);
        }
        let mut bends = vec![(Winner::Bends, curves.of_degree(table, 2))];
        if let Some(ranks) = ranks {
            let lines = Arc::new(ranks.of_degree(table, 1));
            add(Winner::LinesOfRanks, block(&lines, one, 1, None)?);
            bends.push((Winner::BendsOfRanks, ranks.of_degree(table, 2)));
            if bent {
                add(Winner::CurvesOfRanks, block(&Arc::new(ranks), one, DEGREE, None)?);
            }
        }
        for (winner, features) in bends.into_iter().filter(|_| bent) {
            add(winner, block(&Arc::new(features), one, 2, None)?);
        }
        if levels.iter().all(|l| *l) {
            add(Winner::Counts, Qnml { prior: one }.prepare(table)?);
        }
        add(Winner::Cells, cells(one).prepare(table)?);
        let counts = if levels.iter().filter(|l| **l).count() > 1 { levels_alone(table)? } else { None };
        // The regression on curves stands last: it says which parents are strong.
        let scores: Vec<Box<dyn LocalScore>> = vec![
            block(&lines, plain, 1, None)?,
            cells(plain).prepare(&ranked)?,
            block(&curves, plain, DEGREE, Some(width_of_firsts))?,
        ];
        let trees =
            Pcart { penalised: false, memory_mb: TREE_MEMORY, priors: LeafPriors::default(), ..Pcart::default() };
        Ok(Self {
            how,
            constraints,
            knowledge: Knowledge::new(constraints),
            budget,
            runners,
            firsts: lines,
            curves: curves.clone(),
            judge: Judge { scores, counts, levels, trees: Trees::new(trees.prepare(&ranked)?), kept: Kept::default() },
            best: None,
            judged: Vec::new(),
            dropped: 0,
            added: 0,
            n_moves: 0,
            n_scored: 0,
        })
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
        let (constraints, budget) = (self.constraints, self.budget);
        let search = |runner: &Runner| -> Result<(Classed, u64)> {
            let scored = Scored::new(&*runner.score, constraints, budget);
            Ok((self.searched(&scored, None, 0)?, scored.n_scored()))
        };
        let found: Vec<_> = self.runners.par_iter().map(search).collect::<Result<_>>()?;
        for (runner, (found, scored)) in self.runners.iter_mut().zip(found) {
            self.n_moves += found.n_moves;
            self.n_scored += scored;
            runner.found = Some(found);
        }
        // Until they are judged, curves stand for all: they see most.
        let shown = usize::from(self.runners.get(1).is_some_and(|runner| runner.winner == Winner::Curves));
        self.best = self.runners[shown].found.as_ref().map(|found| (shown, found.dag.clone()));
        budget.check()?;
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
            let regression = &**self.judge.scores.last().expect("there are judges");
            let curves = Curves { firsts: &self.firsts.blocks, all: &self.curves.blocks, regression };
            self.added = self.judge.trees.complete(&mut dag, &self.knowledge, &curves, halt)?;
            self.best = Some((winner, dag));
        }
        Ok(())
    }

    /// From random orders too, with the scores whose graphs are judged nearly as good as the best.
    fn search_on(&mut self) -> Result<()> {
        let (constraints, budget) = (self.constraints, self.budget);
        let top = self.judged.iter().map(|(_, total)| *total).fold(f64::NEG_INFINITY, f64::max);
        let near = |i: usize| {
            let (winner, total) = self.judged[i];
            // The conditional Gaussian is slow, and is not taken without being the best.
            total >= if winner == Winner::Cells { top } else { top - NEAR * top.abs() }
        };
        let search = |i: usize| -> Result<(usize, Classed, u64)> {
            let runner = &self.runners[i];
            let scored = Scored::new(&*runner.score, constraints, budget);
            let start = runner.found.as_ref().map(|found| &found.dag);
            Ok((i, self.searched(&scored, start, usize::MAX)?, scored.n_scored()))
        };
        let kept: Vec<usize> = (0..self.runners.len()).filter(|&i| near(i)).collect();
        let found: Vec<_> = kept.into_par_iter().map(search).collect::<Result<_>>()?;
        for (i, found, scored) in found {
            self.n_moves += found.n_moves;
            self.n_scored += scored;
            self.runners[i].found = Some(found);
        }
        self.budget.check()
    }

    /// The graph that the judges together like best.
    fn best_judged(&mut self, halt: &Halt) -> Result<usize> {
        let mut totals = Vec::new();
        for runner in &self.runners {
            let dag = &runner.found.as_ref().expect("it was searched").dag;
            totals.push(self.judge.of_class(dag, &self.knowledge, halt)?);
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
            let unneeded = self.judge.trees.unneeded(&dag, &self.knowledge, halt)?;
            if unneeded.is_empty() {
                return Ok(());
            }
            for &(a, b) in &unneeded {
                dag.remove_arc(a, b);
            }
            let inside = within(self.constraints, &dag)?;
            let scored = Scored::new(&*self.runners[winner].score, &inside, self.budget);
            let found = self.searched(&scored, Some(&dag), usize::MAX)?;
            self.dropped += unneeded.len();
            self.n_moves += found.n_moves;
            self.n_scored += scored.n_scored();
            let [left, anew] = [&dag, &found.dag].map(|dag| self.judge.of_class(dag, &self.knowledge, halt));
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
        let scored = Scored::new(&*runner.score, self.constraints, self.budget);
        let scores = scored.of_graph(&dag)?;
        let arcs: Vec<(Var, Var)> = dag.arcs().collect();
        let strength = |&(a, b): &(Var, Var)| -> Result<f64> {
            let rest: Vec<Var> = dag.parents(b).filter(|&p| p != a).collect();
            Ok(scores[b] - runner.score.score(b, &rest)?)
        };
        let strengths = arcs.par_iter().map(strength).collect::<Result<_>>()?;
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
            n_scored: self.n_scored,
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

/// The table with every number by its normal scores.
fn in_normal_scores(table: &Table) -> Result<Table> {
    let columns = (0..table.n_vars()).into_par_iter().map(|v| match table.column(v) {
        Column::Reals(x) => Column::Reals(shares(x).into_iter().map(normal_score).collect()),
        codes @ Column::Codes(_) => codes.clone(),
    });
    let mut variables = table.variables().to_vec();
    for variable in &mut variables {
        if let Kind::Continuous { scale } = &mut variable.kind {
            *scale = Affine::IDENTITY;
        }
    }
    Table::new(variables, columns.collect())
}

/// The score of levels among levels; nothing where numbers stand, of which it knows none.
fn levels_alone(table: &Arc<Table>) -> Result<Option<Box<dyn LocalScore>>> {
    Qnml { prior: GraphPrior::Uniform }.prepare(table).map(Some)
}

#[cfg(test)]
mod tests;
