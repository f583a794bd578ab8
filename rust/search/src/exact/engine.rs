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
use crate::error::{Error, Result};
use crate::exact::bits::Bits;
use crate::exact::cut::Cut;
use crate::exact::dual::Dual;
use crate::exact::frontier::Frontier;
use crate::exact::lattice::Kernel;
use crate::exact::pattern::Patterns;
use crate::exact::prices::Prices;
use crate::exact::problem::{Loose, LooseSet, NEVER, Problem};
use crate::exact::relax::{Relaxation, Round};
use crate::exact::scale::{Scale, fitting};
use crate::exact::subset_dp::Size;
use crate::exact::{orders, subset_dp};

/// A priced cut: its variables in the candidates' numbering, its price and, for a block, what sets are worth to it.
pub type Priced = (Vec<u32>, i64, Option<Vec<Vec<u32>>>);

/// How a round of the linear program is made.
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

/// How the order search is opened, and goes on.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Width of the beam that looks for a better incumbent first; 0 for none.
    pub beam: usize,
    /// A state's own dual ascent is left out if more sets than this can matter below it.
    pub max_live: usize,
    /// Variables in a block of the pattern databases at most, where an eighth of the memory holds them; 0 for none.
    pub pattern: usize,
    /// Components of more variables have no pattern databases.
    pub patterned: usize,
    /// States expanded between two looks at the clock.
    pub batch: usize,
    /// Share of the memory beyond which the search goes deep first.
    pub shallow: f64,
}

/// The search of one component whose sets take so many words: its problem, its incumbent, its dual solution, its states.
pub struct Engine<const W: usize> {
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
    /// Variables still to be placed in the layer at work, when the bound of the open states was last taken.
    settled: usize,
    /// States expanded in searches given up.
    expanded: u64,
}

/// One component, in as few words as its sets need.
pub enum Component {
    /// Up to 64 variables.
    One(Box<Engine<1>>),
    /// Up to 128.
    Two(Box<Engine<2>>),
    /// Up to 256.
    Four(Box<Engine<4>>),
    /// Up to 512.
    Eight(Box<Engine<8>>),
    /// Up to 1024.
    Sixteen(Box<Engine<16>>),
    /// Up to 2048.
    ThirtyTwo(Box<Engine<32>>),
}

/// The same of an engine of any number of words.
macro_rules! any {
    ($component:expr, $engine:ident => $value:expr) => {
        match $component {
            Component::One($engine) => $value,
            Component::Two($engine) => $value,
            Component::Four($engine) => $value,
            Component::Eight($engine) => $value,
            Component::Sixteen($engine) => $value,
            Component::ThirtyTwo($engine) => $value,
        }
    };
}

/// What is known of a component.
impl Component {
    /// Positions of the variables among the candidates.
    pub fn vars(&self) -> &[u32] {
        any!(self, engine => &engine.problem.vars)
    }

    /// How its costs are told off the grid.
    pub fn scale(&self) -> Scale {
        any!(self, engine => engine.scale)
    }

    /// Parent sets still in play.
    pub fn n_sets(&self) -> usize {
        any!(self, engine => engine.problem.n_columns())
    }

    /// Cost of the incumbent; `NEVER` without one.
    pub fn cost(&self) -> i64 {
        any!(self, engine => engine.cost())
    }

    /// Nothing costs less.
    pub fn bound(&self) -> i64 {
        any!(self, engine => engine.proved)
    }

    /// The incumbent's order, in the candidates' numbering.
    pub fn order(&self) -> Option<Vec<u32>> {
        any!(self, engine => engine.order())
    }

    /// A gap that may be left.
    pub fn slack(&self) -> i64 {
        any!(self, engine => engine.slack)
    }

    /// Variables that cannot be ordered: each needs a parent among them.
    pub fn deadlock(&self) -> Vec<u32> {
        any!(self, engine => engine.deadlock())
    }

    /// States expanded, in all searches.
    pub fn expanded(&self) -> u64 {
        any!(self, engine => engine.expanded + engine.frontier.as_ref().map_or(0, |open| open.expanded))
    }

    /// About how many bytes it holds, with all that was opened.
    pub fn held(&self) -> usize {
        any!(self, engine => engine.held())
    }

    /// What the dynamic program takes where it may use so many bytes; it may be told to take more than these.
    pub fn program_size(&self, memory: f64) -> Size {
        any!(self, engine => subset_dp::size(&engine.problem, memory))
    }

    /// The bound that clusters and prices prove with all sets in play (before any was dropped), and these.
    pub fn certificate(&self) -> (i64, Vec<Priced>) {
        any!(self, engine => engine.certificate())
    }
}

/// What can be done with it. Whatever is stopped keeps what it has. A memory is the bytes that the component may hold while
/// it works, with what it holds already; what would take more is left out.
impl Component {
    /// Only what costs less than the incumbent by more than this is searched for.
    pub fn tolerate(&mut self, slack: i64) {
        any!(self, engine => engine.slack = slack);
    }

    /// Improves the incumbent: local search over orders, until so many perturbations in a row have failed.
    pub fn improve(&mut self, patience: usize, budget: Budget) {
        any!(self, engine => engine.improve(patience, budget));
    }

    /// Raises the bound by dual ascents from fresh, with random preferences after the first two.
    pub fn ascend(&mut self, times: usize, memory: f64, budget: Budget) {
        any!(self, engine => engine.ascend(times, memory, budget));
    }

    /// Raises the bound by a round of the linear program; true if another may raise it more. Sets that no better DAG can use
    /// are dropped.
    pub fn cut(&mut self, limits: &Limits, memory: f64, budget: Budget) -> bool {
        any!(self, engine => engine.cut(limits, memory, budget))
    }

    /// Solves by the dynamic program, in so many bytes beside what is held.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped.
    pub fn program(&mut self, memory: f64, budget: Budget) -> Result<()> {
        any!(self, engine => engine.program(memory, budget))
    }

    /// Opens the order search: a beam for a better incumbent, the first state, pattern databases in some of the memory.
    /// There is nothing to open where the beam closes the gap. False where the memory is too small.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped; what is open stays open.
    pub fn open(&mut self, how: &Opening, memory: f64, budget: Budget) -> Result<bool> {
        any!(self, engine => engine.open(how, memory, budget))
    }

    /// Expands a batch of states; false once none is open, which proves the incumbent.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped, or nothing was opened.
    pub fn expand(&mut self, how: &Opening, memory: f64, budget: Budget) -> Result<bool> {
        any!(self, engine => engine.expand(how, memory, budget))
    }

    /// Gives the order search up, with `cuts` the linear program too; the incumbent, the bound and its certificate are kept.
    pub fn close(&mut self, cuts: bool) {
        any!(self, engine => engine.close(cuts));
    }

    /// Two halves that have all DAGs between them: of the two variables that the linear program disagrees most about, one
    /// may not be the parent of the other, or the other way round. None where no two could be each other's parents, or no
    /// program was solved.
    pub fn branch(&self) -> Option<(Self, Self)> {
        match self {
            Self::One(engine) => engine.branch().map(|(a, b)| (Self::One(a), Self::One(b))),
            Self::Two(engine) => engine.branch().map(|(a, b)| (Self::Two(a), Self::Two(b))),
            Self::Four(engine) => engine.branch().map(|(a, b)| (Self::Four(a), Self::Four(b))),
            Self::Eight(engine) => engine.branch().map(|(a, b)| (Self::Eight(a), Self::Eight(b))),
            Self::Sixteen(engine) => engine.branch().map(|(a, b)| (Self::Sixteen(a), Self::Sixteen(b))),
            Self::ThirtyTwo(engine) => engine.branch().map(|(a, b)| (Self::ThirtyTwo(a), Self::ThirtyTwo(b))),
        }
    }

    /// Takes what was found elsewhere: a DAG's cost and order (in the candidates' numbering), states expanded.
    pub fn learn(&mut self, cost: i64, order: &[u32], expanded: u64) {
        any!(self, engine => engine.learn(cost, order, expanded));
    }

    /// What the best sets along an order of its variables cost; `NEVER` if one has none.
    pub fn cost_along(&self, order: &[u32]) -> i64 {
        any!(self, engine => engine.cost_along(order))
    }

    /// Takes a bound that was proved elsewhere.
    pub fn prove(&mut self, bound: i64) {
        any!(self, engine => engine.proved = engine.proved.max(bound.min(engine.below())));
    }
}

/// Packs a component into as few words as it needs.
///
/// # Panics
/// Beyond `MOST_VARIABLES` variables.
pub fn component(loose: &Loose) -> Component {
    fn boxed<const W: usize>(loose: &Loose) -> Box<Engine<W>> {
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
            settled: usize::MAX,
            expanded: 0,
        })
    }
    match loose.vars.len() {
        0..=64 => Component::One(boxed(loose)),
        65..=128 => Component::Two(boxed(loose)),
        129..=256 => Component::Four(boxed(loose)),
        257..=512 => Component::Eight(boxed(loose)),
        513..=1024 => Component::Sixteen(boxed(loose)),
        1025..=2048 => Component::ThirtyTwo(boxed(loose)),
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
            settled: usize::MAX,
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

    fn cost(&self) -> i64 {
        self.incumbent.as_ref().map_or(NEVER, |(cost, _)| *cost)
    }

    fn order(&self) -> Option<Vec<u32>> {
        self.incumbent.as_ref().map(|(_, order)| order.iter().map(|&v| self.problem.vars[v]).collect())
    }

    fn deadlock(&self) -> Vec<u32> {
        self.problem.deadlock().iter().map(|v| self.problem.vars[v]).collect()
    }

    fn improve(&mut self, patience: usize, budget: Budget) {
        let seed = u64::from(patience > 0);
        let mut stop = || budget.over().is_some();
        let start = self.incumbent.as_ref().map(|(_, order)| order.clone());
        if let Some((cost, order)) = orders::search(&self.problem, patience, seed, start, &mut stop) {
            self.offer(cost, order);
        }
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

    /// Whether so many bytes more fit.
    fn fits(&self, more: usize, memory: f64) -> bool {
        (self.held() + more) as f64 <= memory
    }

    fn ascend(&mut self, times: usize, memory: f64, budget: Budget) {
        // The certificate is told by reduced costs anew.
        let reduced = self.problem.n_columns() * size_of::<i64>();
        if !self.fits(2 * reduced, memory) {
            return;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
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
                if let Some((cost, order)) = orders::search(&self.problem, 0, 1, Some(order), &mut stop) {
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

    fn cut(&mut self, limits: &Limits, memory: f64, budget: Budget) -> bool {
        self.fix();
        let first = self.seen.len().min(limits.clusters);
        let cuts = self.relaxation.as_ref().map_or(first, |relaxation| relaxation.pool.len());
        if !self.fits(Relaxation::round_bytes(&self.problem, cuts, limits), memory) {
            return false;
        }
        let round = self.relax(limits, budget);
        self.fix();
        round.priced > 0 || round.found > 0
    }

    /// One round of the linear program.
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

    /// Drops the sets that no better DAG can use.
    fn fix(&mut self) {
        let below = self.below();
        let slack = below - self.dual.bound;
        // Sets are shared with the problem as it was, until the first is dropped.
        if slack > 0 && self.dual.reduced.iter().flatten().any(|&r| r >= slack) {
            self.dual.fix(Arc::make_mut(&mut self.problem), below);
        }
    }

    fn branch(&self) -> Option<(Box<Self>, Box<Self>)> {
        let (v, p) = self.relaxation.as_ref()?.contested(&self.problem)?;
        Some((Box::new(self.without_parent(v, p)), Box::new(self.without_parent(p, v))))
    }

    fn learn(&mut self, cost: i64, order: &[u32], expanded: u64) {
        let place: FxHashMap<u32, usize> = self.problem.vars.iter().copied().zip(0..).collect();
        self.offer(cost, order.iter().map(|v| place[v]).collect());
        self.expanded += expanded;
    }

    fn cost_along(&self, order: &[u32]) -> i64 {
        let place: FxHashMap<u32, usize> = self.problem.vars.iter().copied().zip(0..).collect();
        orders::cost(&self.problem, &order.iter().map(|v| place[v]).collect::<Vec<usize>>())
    }

    fn program(&mut self, memory: f64, budget: Budget) -> Result<()> {
        let found = subset_dp::solve(&self.problem, memory, budget)?;
        if let Some((cost, order)) = found {
            self.offer(cost, order);
        }
        self.proved = self.cost();
        Ok(())
    }

    fn open(&mut self, how: &Opening, memory: f64, budget: Budget) -> Result<bool> {
        self.close(false);
        self.fix();
        if !self.fits(Prices::bytes_for(&self.problem, &self.dual), memory) {
            return Ok(false);
        }
        if how.beam > 0 && budget.over().is_none() {
            let before = self.cost();
            self.beam(how.beam, budget);
            if self.cost() != before {
                self.fix();
            }
            if self.proved >= self.below() {
                return Ok(true);
            }
        }
        let below = self.below();
        let kernel = Kernel::new(self.problem.clone(), &self.dual, how.max_live);
        let frontier = self.frontier.insert(Frontier::new(kernel, below, self.slack));
        self.settled = usize::MAX;
        let size = pattern_size(self.problem.vars.len(), how, memory);
        if size > 0 && budget.over().is_none() {
            frontier.equip(Patterns::new(&self.problem, &self.dual, size, budget)?);
            self.settle();
        }
        Ok(true)
    }

    fn close(&mut self, cuts: bool) {
        self.settle();
        self.expanded += self.frontier.take().map_or(0, |frontier| frontier.expanded);
        if cuts {
            self.relaxation = None;
            self.seen = FxHashMap::default();
        }
    }

    /// A beam search from the root for a better incumbent.
    fn beam(&mut self, width: usize, budget: Budget) {
        let kernel = Kernel::new(self.problem.clone(), &self.dual, 0);
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

    fn expand(&mut self, how: &Opening, memory: f64, budget: Budget) -> Result<bool> {
        let before = self.cost();
        let deepest = self.held() as f64 > how.shallow * memory;
        let batch = batch_size(self.problem.vars.len(), how, memory);
        let frontier = self.frontier.as_mut().ok_or_else(|| Error::Shape("open the search first".to_owned()))?;
        let more = frontier.expand(batch, deepest, budget);
        let depth = frontier.depth();
        if let Ok(more) = &more {
            let best = frontier.best().map(|(cost, order)| (cost, order.to_vec()));
            if let Some((cost, order)) = best {
                self.offer(cost, order);
            }
            if !more {
                self.proved = self.proved.max(self.below());
                return Ok(false);
            }
        }
        // The bound of the open states costs a pass over them.
        if depth != self.settled || self.cost() != before {
            self.settled = depth;
            self.settle();
        }
        more
    }

    /// Takes the bound of the open states.
    fn settle(&mut self) {
        if let Some(frontier) = &self.frontier {
            self.proved = self.proved.max(frontier.bound().min(self.below()));
        }
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

/// States to expand at once: each may open a successor for every variable.
fn batch_size(n: usize, how: &Opening, memory: f64) -> usize {
    /// Bytes of a state that was just opened, about.
    const STATE: f64 = 100.0;
    how.batch.min((memory / 16.0 / (STATE * n as f64)).max(32.0) as usize)
}

/// The size of the blocks of the pattern databases: tables of all blocks, and ranks by the subsets of one.
fn pattern_size(n: usize, how: &Opening, memory: f64) -> usize {
    let bytes = |k: usize| 2_f64.powi(k as i32) * (8 * n.div_ceil(k) + 2 * k) as f64;
    let most = if n <= how.patterned { n.min(how.pattern) } else { 0 };
    (2..=most).rev().find(|&k| bytes(k) <= memory / 8.0).unwrap_or(0)
}
