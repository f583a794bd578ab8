//! One component of the search as its driver sees it, whatever the number of words in its sets.
//!
//! The driver (Python) decides what to do next and for how long; an engine keeps the problem, the incumbent, the dual
//! solution and the open states, and never loses any of them when a call is stopped.

use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use crate::control::Budget;
use crate::dag::exact::bits::Bits;
use crate::dag::exact::cut::Cut;
use crate::dag::exact::dual::Dual;
use crate::dag::exact::frontier::Frontier;
use crate::dag::exact::lattice::Kernel;
use crate::dag::exact::pattern::Patterns;
use crate::dag::exact::prices::Prices;
use crate::dag::exact::problem::{Loose, LooseSet, NEVER, Problem};
use crate::dag::exact::relax::{Relaxation, Round};
use crate::dag::exact::scale::{Scale, fitting};
use crate::dag::exact::subset_dp::Size;
use crate::dag::exact::{orders, subset_dp};
use crate::error::{Error, Result};

/// A priced cut: its variables in the candidates' numbering, its price and, for a block, what sets are worth to it.
pub type Priced = (Vec<u32>, i64, Option<Vec<Vec<u32>>>);

/// What a driver can do with a component.
pub trait Component: Send + Sync {
    /// Positions of the variables among the candidates.
    fn vars(&self) -> &[u32];
    /// How its costs are told off the grid.
    fn scale(&self) -> Scale;
    /// Parent sets still in play.
    fn n_sets(&self) -> usize;
    /// Cost of the incumbent; `NEVER` without one.
    fn cost(&self) -> i64;
    /// Nothing costs less.
    fn bound(&self) -> i64;
    /// The incumbent's order, in the candidates' numbering.
    fn order(&self) -> Option<Vec<u32>>;
    /// Variables that cannot be ordered: each needs a parent among them.
    fn deadlock(&self) -> Vec<u32>;
    /// Local search over orders.
    fn improve(&mut self, patience: usize, seed: u64, budget: Budget);
    /// Dual ascents: from fresh, with random preferences after the first.
    fn ascend(&mut self, times: usize, seed: u64, budget: Budget);
    /// One round of the linear program.
    fn relax(&mut self, limits: &Limits, budget: Budget) -> Round;
    /// Drops the sets that no better DAG can use; returns how many went.
    fn fix(&mut self) -> usize;
    /// Two halves that have all DAGs between them: of the two variables that the linear program disagrees most about,
    /// one may not be the parent of the other, or the other way round. None where no two could be each other's parents,
    /// or no program was solved.
    fn split(&self) -> Option<(Box<dyn Component>, Box<dyn Component>)>;
    /// Takes what was found elsewhere: a DAG's cost and order (in the candidates' numbering), states expanded.
    fn learn(&mut self, cost: i64, order: Vec<u32>, expanded: u64);
    /// Takes a bound that was proved elsewhere.
    fn prove(&mut self, bound: i64);
    /// From now on, only what costs less than the incumbent by more than this is searched for.
    fn tolerate(&mut self, slack: i64);
    /// What the dynamic program takes where it may use so many bytes; it may be told to take more than these.
    fn program_size(&self, memory: f64) -> Size;
    /// Solves by the dynamic program, in so many bytes.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped.
    fn program(&mut self, memory: f64, budget: Budget) -> Result<()>;
    /// Opens the order search.
    fn open(&mut self, max_live: usize);
    /// Holds the open states against pattern databases over blocks of at most so many variables.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped.
    fn patterns(&mut self, size: usize, budget: Budget) -> Result<()>;
    /// Gives the order search up, with its bound and its incumbent kept.
    fn close(&mut self);
    /// A beam search from the root for a better incumbent.
    fn beam(&mut self, width: usize, max_live: usize, budget: Budget);
    /// Expands states; false once none is open, which proves the incumbent.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped.
    fn expand(&mut self, count: usize, deepest: bool, budget: Budget) -> Result<bool>;
    /// Takes the frontier's bound (which costs a pass over the open states).
    fn settle(&mut self);
    /// States expanded, states open, variables still to be placed in the layer at work, bytes held.
    fn progress(&self) -> (u64, usize, usize, usize);
    /// About how many bytes it holds, with all that was opened.
    fn held(&self) -> usize;
    /// About how many bytes a step takes beside.
    fn needed(&self, step: Step) -> usize;
    /// Gives all up that only a search needs; the incumbent, the bound and its certificate are kept.
    fn finish(&mut self);
    /// The bound that clusters and prices prove with all sets in play (before any was dropped), and these.
    fn certificate(&self) -> (i64, Vec<Priced>);
}

/// What is about to be done.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A dual ascent.
    Ascent,
    /// A round of the linear program.
    Round(Limits),
    /// Opening the order search, or a beam.
    Opening,
}

/// How large the linear program may become.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Columns at the start.
    pub columns: usize,
    /// Clusters at the start.
    pub clusters: usize,
    /// New cuts a round.
    pub new: usize,
    /// Variables of a block at most; below 3 there are none.
    pub block: usize,
    /// Blocks are looked at where fewer clusters than this were found.
    pub scarce: usize,
    /// Relative gap at which a program counts as solved.
    pub tolerance: f64,
}

struct Engine<const W: usize> {
    scale: Scale,
    /// Before any set was dropped.
    whole: Arc<Problem<W>>,
    problem: Arc<Problem<W>>,
    incumbent: Option<(i64, Vec<usize>)>,
    dual: Dual<W>,
    /// The best dual solution found while no set had been dropped, without its reduced costs.
    first: Dual<W>,
    proved: i64,
    slack: i64,
    /// Clusters of all dual ascents, with the highest price each had.
    seen: FxHashMap<Bits<W>, i64>,
    relaxation: Option<Relaxation<W>>,
    frontier: Option<Frontier<W>>,
    /// States expanded in searches given up.
    expanded: u64,
}

/// Packs a component into as few words as it needs.
///
/// # Panics
/// Beyond `MOST_VARIABLES` variables.
pub fn component(loose: &Loose) -> Box<dyn Component> {
    fn boxed<const W: usize>(loose: &Loose) -> Box<dyn Component> {
        let (scale, known) = fitting::<W>(loose);
        let problem = Arc::new(loose.pack::<W>(scale));
        let dual = Dual::new(&problem, vec![], vec![]);
        let proved = dual.bound;
        let (whole, first) = (problem.clone(), dual.without_reduced());
        Box::new(Engine {
            scale,
            whole,
            first,
            incumbent: known.map(|order| (problem.follow(&order).0, order)),
            problem,
            dual,
            proved,
            slack: 0,
            seen: FxHashMap::default(),
            relaxation: None,
            frontier: None,
            expanded: 0,
        })
    }
    match loose.vars.len() {
        0..=64 => boxed::<1>(loose),
        65..=128 => boxed::<2>(loose),
        129..=256 => boxed::<4>(loose),
        257..=512 => boxed::<8>(loose),
        513..=1024 => boxed::<16>(loose),
        1025..=2048 => boxed::<32>(loose),
        n => panic!("{n} variables in one component; the caller refuses more than {MOST_VARIABLES}"),
    }
}

/// About how many bytes the components of so many sets over so many variables take at first, from their candidates on.
pub fn first_bytes(n_vars: usize, n_sets: usize) -> usize {
    let words = n_vars.div_ceil(64).next_power_of_two();
    // Members of a set in a list of its own, cost and rank; then two bit sets, cost, rank and reduced cost.
    n_sets * (size_of::<LooseSet>() + 32 + 16 * words + 20)
}

/// Components with more variables are left to other searches.
pub const MOST_VARIABLES: usize = 2048;

impl<const W: usize> Engine<W> {
    fn offer(&mut self, cost: i64, order: Vec<usize>) {
        if cost < self.incumbent.as_ref().map_or(NEVER, |(c, _)| *c) {
            self.incumbent = Some((cost, order));
        }
    }

    /// Only what costs less than this is worth finding.
    fn below(&self) -> i64 {
        self.cost() - self.slack
    }

    /// The same search among the DAGs in which p is no parent of v.
    fn without_parent(&self, v: usize, p: usize) -> Self {
        let mut problem = Problem::clone(&self.problem);
        let sets = problem.columns[v].sets.clone();
        problem.columns[v].retain(|i| !sets[i].has(p));
        let problem = Arc::new(problem);
        let dual = Dual::new(&problem, self.dual.cuts.clone(), self.dual.prices.clone());
        let nothing_left = problem.columns[v].is_empty();
        let mut half = Self {
            scale: self.scale,
            whole: problem.clone(),
            problem,
            incumbent: self.incumbent.clone(),
            first: dual.without_reduced(),
            dual,
            proved: self.proved,
            slack: self.slack,
            seen: FxHashMap::default(),
            relaxation: self.relaxation.clone(),
            frontier: None,
            expanded: 0,
        };
        if nothing_left {
            half.proved = half.below();
        }
        half.raise();
        half
    }

    /// The dual bound holds for what costs less than the incumbents that sets were dropped for.
    fn raise(&mut self) {
        self.proved = self.proved.max(self.dual.bound.min(self.below()));
    }
}

impl<const W: usize> Component for Engine<W> {
    fn vars(&self) -> &[u32] {
        &self.problem.vars
    }

    fn scale(&self) -> Scale {
        self.scale
    }

    fn n_sets(&self) -> usize {
        self.problem.n_columns()
    }

    fn cost(&self) -> i64 {
        self.incumbent.as_ref().map_or(NEVER, |(cost, _)| *cost)
    }

    fn bound(&self) -> i64 {
        self.proved
    }

    fn order(&self) -> Option<Vec<u32>> {
        self.incumbent.as_ref().map(|(_, order)| order.iter().map(|&v| self.problem.vars[v]).collect())
    }

    fn deadlock(&self) -> Vec<u32> {
        self.problem.deadlock().iter().map(|v| self.problem.vars[v]).collect()
    }

    fn improve(&mut self, patience: usize, seed: u64, budget: Budget) {
        let mut stop = || budget.over().is_some();
        let start = self.incumbent.as_ref().map(|(_, order)| order.clone());
        if let Some((cost, order)) = orders::search(&self.problem, patience, seed, start, &mut stop) {
            self.offer(cost, order);
        }
    }

    fn ascend(&mut self, times: usize, seed: u64, budget: Budget) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for round in 0..times {
            if budget.over().is_some() || self.proved >= self.below() {
                return;
            }
            let mut dual = Dual::new(&self.problem, vec![], vec![]);
            dual.ascend(&self.problem, self.below(), budget, &mut |plain| {
                let mut order = plain.to_vec();
                if round == 1 {
                    order.reverse();
                } else if round > 1 {
                    order.shuffle(&mut random);
                }
                order
            });
            if budget.over().is_none() {
                let order = orders::greedy(&self.problem, |v, i| dual.reduced[v][i]);
                let mut stop = || budget.over().is_some();
                if let Some((cost, order)) = orders::search(&self.problem, 0, seed, Some(order), &mut stop) {
                    self.offer(cost, order);
                }
            }
            for (cluster, &price) in dual.cuts.iter().zip(&dual.prices) {
                let highest = self.seen.entry(cluster.members()).or_insert(0);
                *highest = price.max(*highest);
            }
            if dual.bound > self.dual.bound {
                if self.problem.n_columns() == self.whole.n_columns() {
                    self.first = dual.without_reduced();
                }
                self.dual = dual;
            }
            self.raise();
        }
    }

    fn relax(&mut self, limits: &Limits, budget: Budget) -> Round {
        let relaxation = self.relaxation.get_or_insert_with(|| {
            Relaxation::new(&self.problem, &self.dual, &self.seen, limits.columns, limits.clusters)
        });
        let stop = || budget.over().is_some();
        let round = relaxation.round(&self.problem, &mut self.dual, limits, &stop);
        let order = orders::greedy(&self.problem, |v, i| self.dual.reduced[v][i]);
        if let Some((cost, order)) = orders::search(&self.problem, 0, 0, Some(order), &mut || stop()) {
            self.offer(cost, order);
        }
        self.raise();
        round
    }

    fn fix(&mut self) -> usize {
        let below = self.below();
        let slack = below - self.dual.bound;
        // Sets are shared with the problem as it was, until the first is dropped.
        if slack <= 0 || self.dual.reduced.iter().flatten().all(|&r| r < slack) {
            return 0;
        }
        self.dual.fix(Arc::make_mut(&mut self.problem), below)
    }

    fn split(&self) -> Option<(Box<dyn Component>, Box<dyn Component>)> {
        let (v, p) = self.relaxation.as_ref()?.contested(&self.problem)?;
        Some((Box::new(self.without_parent(v, p)), Box::new(self.without_parent(p, v))))
    }

    fn learn(&mut self, cost: i64, order: Vec<u32>, expanded: u64) {
        let place: FxHashMap<u32, usize> = self.problem.vars.iter().copied().zip(0..).collect();
        self.offer(cost, order.into_iter().map(|v| place[&v]).collect());
        self.expanded += expanded;
    }

    fn prove(&mut self, bound: i64) {
        self.proved = self.proved.max(bound.min(self.below()));
    }

    fn tolerate(&mut self, slack: i64) {
        self.slack = slack;
    }

    fn program_size(&self, memory: f64) -> Size {
        subset_dp::size(&self.problem, memory)
    }

    fn program(&mut self, memory: f64, budget: Budget) -> Result<()> {
        let found = subset_dp::solve(&self.problem, memory, budget)?;
        if let Some((cost, order)) = found {
            self.offer(cost, order);
        }
        self.proved = self.cost();
        Ok(())
    }

    fn open(&mut self, max_live: usize) {
        let kernel = Kernel::new(self.problem.clone(), &self.dual, max_live);
        self.frontier = Some(Frontier::new(kernel, self.below(), self.slack));
    }

    fn patterns(&mut self, size: usize, budget: Budget) -> Result<()> {
        let frontier = self.frontier.as_mut().ok_or_else(|| Error::Shape("open the search first".to_owned()))?;
        frontier.equip(Patterns::new(&self.problem, &self.dual, size, budget)?);
        Ok(())
    }

    fn close(&mut self) {
        self.settle();
        self.expanded += self.frontier.take().map_or(0, |frontier| frontier.expanded);
    }

    fn beam(&mut self, width: usize, max_live: usize, budget: Budget) {
        let kernel = Kernel::new(self.problem.clone(), &self.dual, max_live);
        let mut beam = Frontier::new(kernel, self.below(), self.slack);
        loop {
            beam.narrow(width);
            if !beam.expand(width, false, budget).unwrap_or(false) {
                break;
            }
        }
        if let Some((cost, order)) = beam.best() {
            self.offer(cost, order.to_vec());
        }
    }

    fn expand(&mut self, count: usize, deepest: bool, budget: Budget) -> Result<bool> {
        let frontier = self.frontier.as_mut().ok_or_else(|| Error::Shape("open the search first".to_owned()))?;
        let more = frontier.expand(count, deepest, budget)?;
        let best = frontier.best().map(|(cost, order)| (cost, order.to_vec()));
        if let Some((cost, order)) = best {
            self.offer(cost, order);
        }
        if !more {
            self.proved = self.proved.max(self.below());
        }
        Ok(more)
    }

    fn settle(&mut self) {
        if let Some(frontier) = &self.frontier {
            self.proved = self.proved.max(frontier.bound().min(self.below()));
        }
    }

    fn progress(&self) -> (u64, usize, usize, usize) {
        let of = |f: &Frontier<W>| (self.expanded + f.expanded, f.open(), f.depth(), f.bytes());
        self.frontier.as_ref().map_or((self.expanded, 0, 0, 0), of)
    }

    fn held(&self) -> usize {
        let dropped = !Arc::ptr_eq(&self.whole, &self.problem);
        self.problem.bytes()
            + if dropped { self.whole.bytes() } else { 0 }
            + self.dual.bytes()
            + self.first.bytes()
            + self.seen.capacity() * (size_of::<(Bits<W>, i64)>() + 1)
            + self.relaxation.as_ref().map_or(0, Relaxation::bytes)
            + self.frontier.as_ref().map_or(0, Frontier::bytes)
    }

    fn needed(&self, step: Step) -> usize {
        // The certificate is told by reduced costs anew.
        let reduced = self.problem.n_columns() * size_of::<i64>();
        match step {
            Step::Ascent => 2 * reduced,
            Step::Round(limits) => {
                let first = self.seen.len().min(limits.clusters);
                let cuts = self.relaxation.as_ref().map_or(first, |relaxation| relaxation.pool.len());
                Relaxation::round_bytes(&self.problem, cuts, &limits)
            }
            Step::Opening => Prices::bytes_for(&self.problem, &self.dual),
        }
    }

    fn finish(&mut self) {
        self.close();
        self.relaxation = None;
        self.seen = FxHashMap::default();
    }

    fn certificate(&self) -> (i64, Vec<Priced>) {
        let last = Dual::new(&self.whole, self.dual.cuts.clone(), self.dual.prices.clone());
        let dual = if last.bound > self.first.bound { &last } else { &self.first };
        let global = |c: &Cut<W>| c.members().iter().map(|v| self.problem.vars[v]).collect();
        let worth = |c: &Cut<W>| c.table().map(|block| block.worth.clone());
        let priced = dual.cuts.iter().zip(&dual.prices).filter(|(_, p)| **p > 0);
        (dual.bound, priced.map(|(c, p)| (global(c), *p, worth(c))).collect())
    }
}
