//! Search over orders for any number of variables, at any time with its best graph so far.
//!
//! The naive method: for an order, give every variable its best set among its predecessors; try other orders. What
//! makes it good, each in its own file:
//!
//! * `pool`: candidates by child, and by the parent they use.
//! * `order`: the best place for a variable, all places weighed in one pass (Scanagatta et al. 2017, WINASOBS); only
//!   children that can use the moved variable are looked at.
//! * `window`: the best arrangement of up to 14 (at most 20) consecutive variables, exactly, by subset dynamic
//!   programming.
//! * `back`: sets with parents later in the order, as long as no cycle closes (Scanagatta et al. 2015, ASOBS), and the
//!   many orders of one graph.
//!
//! Around these stands an iterated local search: perturb, descend, keep what is no worse. Several chains with their own
//! seeds run in epochs of a fixed number of rounds; between epochs chains that fell behind continue from the best. The
//! number of chains is fixed by the caller, not by the threads, so a budget of rounds gives the same bytes everywhere.

mod back;
mod order;
mod pool;
mod window;

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use self::order::Order;
use self::pool::Pool;
use self::window::Window;
use super::families::{Families, Stored};
use super::graph::Dag;
use super::hill_climb::HillClimb;
use super::registry::{Detail, Found, Search, Task};
use crate::control::{Budget, Stop};
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;

/// Rounds of a chain between two meetings of all chains.
const EPOCH: u64 = 16;

/// Rounds without improvement after which a chain begins anew.
const PATIENCE: u64 = 2 * EPOCH;

/// Each chain holds an order of its own.
const MOST_CHAINS: usize = 10_000;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Anytime {
    /// Rounds (perturb and descend) of each chain; the budget may end them earlier.
    pub rounds: u64,
    /// Chains with seeds of their own.
    pub chains: usize,
    /// Consecutive variables that are arranged exactly, at most 20.
    pub window: usize,
    /// Of all random choices.
    pub seed: u64,
}

impl Default for Anytime {
    fn default() -> Self {
        Self { rounds: u64::MAX, chains: 4, window: 12, seed: 0 }
    }
}

/// The best graph found.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// The parents of each variable.
    pub parents: Vec<Parents>,
    /// Each family's score.
    pub scores: Vec<f64>,
    /// An order in which parents come before children.
    pub order: Vec<Var>,
    /// Rounds made, over all chains.
    pub n_rounds: u64,
    /// True if the graph is the best there is, as far as sums of doubles can tell.
    pub proven: bool,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
    /// Seconds since the start and the total score, whenever it improved.
    pub improvements: Vec<(f64, f64)>,
}

impl Search for Anytime {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        let stored = task.stored()?;
        let found = self.run(&stored, task.budget)?;
        let parents = found.parents.iter().map(|set| set.to_vec()).collect();
        let told = Found::of_parents(parents, found.scores, found.stop).counted([("rounds", found.n_rounds)]);
        let told = told.with("proven", Detail::Whether(found.proven));
        Ok(Found { bound: stored.bound(), improvements: found.improvements, ..told })
    }
}

impl Anytime {
    /// Searches among the stored sets.
    ///
    /// # Errors
    /// If a parameter is outside its range, or there is no graph at all.
    pub fn run(&self, stored: &Stored<'_>, budget: Budget<'_>) -> Result<Ordered> {
        let began = Instant::now();
        if !(2..=20).contains(&self.window) {
            return Err(Error::parameter("window", &self.window, "give from 2 to 20 variables"));
        }
        if self.chains == 0 {
            return Err(Error::parameter("chains", &0, "give at least one"));
        }
        if self.chains > MOST_CHAINS {
            return Err(Error::parameter("chains", &self.chains, format!("give at most {MOST_CHAINS}")));
        }
        let start = stored.start()?;
        let pool = Pool::new(stored);
        let mut chains: Vec<Chain<'_>> = (0..self.chains).map(|i| Chain::new(self, &pool, &start, i as u64)).collect();
        if pool.n_vars() <= self.window {
            return Ok(exact(&pool, chains.swap_remove(0), began));
        }
        let climbed =
            HillClimb { restarts: 10, perturb: 10, max_moves: 100_000, seed: self.seed, ..HillClimb::default() };
        let climbed = climbed.run(stored, Some(&start), budget)?;
        chains[0].adopt(&climbed.dag.topological_order());
        let mut improvements = vec![(began.elapsed().as_secs_f64(), pool.total(&chains[0].best_ranks))];
        let mut done = 0;
        if self.rounds < u64::MAX {
            budget.control().expect(self.rounds);
        }
        let mut proven = false;
        while done < self.rounds && !proven && budget.over().is_none() {
            let now = EPOCH.min(self.rounds - done);
            chains.par_iter_mut().for_each(|chain| chain.epoch(now, budget));
            done += now;
            let leader = leader(&chains);
            let score = pool.total(&chains[leader].best_ranks);
            if improvements.last().is_none_or(|&(_, last)| score > last) {
                improvements.push((began.elapsed().as_secs_f64(), score));
            }
            let (order, best) = (chains[leader].best_order.clone(), chains[leader].best);
            let best_ranks = chains[leader].best_ranks.clone();
            for (i, chain) in chains.iter_mut().enumerate().filter(|(_, chain)| chain.stale >= PATIENCE) {
                if i % 2 == 0 && chain.lap < best { chain.adopt(&order) } else { chain.restart() }
            }
            proven = pool.all_best(&best_ranks);
            budget.control().advance(now);
        }
        let n_rounds = chains.iter().map(|chain| chain.n_rounds).sum();
        let best = chains.swap_remove(leader(&chains));
        let stop = if done < self.rounds && !proven { budget.over() } else { None };
        Ok(Ordered { n_rounds, proven, stop, improvements, ..best.into_result(&pool) })
    }
}

/// With ties to the first.
fn leader(chains: &[Chain<'_>]) -> usize {
    (1..chains.len()).fold(0, |best, i| if chains[i].best > chains[best].best { i } else { best })
}

/// One window holds all variables.
fn exact(pool: &Pool, mut chain: Chain<'_>, began: Instant) -> Ordered {
    if pool.n_vars() > 0 {
        chain.window = Window::new(pool.n_vars());
        chain.window.improve(&mut chain.at, 0);
    }
    chain.remember();
    let improvements = vec![(began.elapsed().as_secs_f64(), pool.total(&chain.best_ranks))];
    Ordered { improvements, proven: true, ..chain.into_result(pool) }
}

/// One iterated local search.
struct Chain<'a> {
    rng: Xoshiro256PlusPlus,
    at: Order<'a>,
    window: Window,
    /// Where the last accepted round ended.
    home: Vec<u32>,
    home_score: f64,
    best_order: Vec<u32>,
    best_ranks: Vec<u32>,
    best: f64,
    /// The best since the chain last began anew.
    lap: f64,
    /// Rounds since that improved.
    stale: u64,
    n_rounds: u64,
}

impl<'a> Chain<'a> {
    fn new(how: &Anytime, pool: &'a Pool, start: &Dag, index: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(how.seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut order: Vec<u32> = start.topological_order().iter().map(|&v| v as u32).collect();
        if index > 0 {
            shuffle(&mut order, &mut rng);
        }
        let at = Order::new(pool, &order);
        let (home_score, ranks) = (at.score(), at.ranks().to_vec());
        Self {
            rng,
            at,
            window: Window::new(how.window.min(pool.n_vars().max(1))),
            home: order.clone(),
            home_score,
            best_order: order,
            best_ranks: ranks,
            best: home_score,
            lap: home_score,
            stale: 0,
            n_rounds: 0,
        }
    }

    fn adopt(&mut self, order: &[impl Copy + TryInto<u32>]) {
        let order: Vec<u32> = order.iter().map(|&v| v.try_into().unwrap_or(u32::MAX)).collect();
        self.at.set_order(&order);
        self.home = order;
        self.home_score = self.at.score();
        self.lap = f64::NEG_INFINITY;
        self.remember();
    }

    /// From a random order, the best kept.
    fn restart(&mut self) {
        shuffle(&mut self.home, &mut self.rng);
        self.at.set_order(&self.home);
        self.home_score = self.at.score();
        self.lap = self.home_score;
        self.stale = 0;
    }

    fn epoch(&mut self, rounds: u64, budget: Budget<'_>) {
        for _ in 0..rounds {
            if budget.over().is_some() {
                return;
            }
            self.round(budget);
        }
    }

    fn round(&mut self, budget: Budget<'_>) {
        if self.n_rounds > 0 {
            self.perturb();
        } else {
            self.at.touch_all();
        }
        self.n_rounds += 1;
        self.stale += 1;
        self.descend(budget);
        let score = self.at.score();
        if score >= self.home_score - self.least(score) {
            self.home.copy_from_slice(self.at.order());
            self.home_score = score;
        }
        self.remember();
    }

    fn perturb(&mut self) {
        let n = self.home.len();
        self.at.set_order(&self.home);
        back::resort(&mut self.at, &mut self.rng);
        let most = (n / 8).clamp(3, 12);
        for _ in 0..self.rng.random_range(1..=most) {
            let (from, to) = (self.rng.random_range(0..n), self.rng.random_range(0..n));
            self.at.insert(from, to);
        }
    }

    fn descend(&mut self, budget: Budget<'_>) {
        let over = || budget.over().is_some();
        loop {
            self.at.descend(&mut self.rng, over);
            if over() {
                return;
            }
            if back::improve(&mut self.at) {
                continue;
            }
            let better = self.windows(over);
            if !better || over() {
                return;
            }
        }
    }

    /// Slides the window over the order, from a random offset.
    fn windows(&mut self, over: impl Fn() -> bool) -> bool {
        let (n, size) = (self.at.order().len(), self.window.size());
        let stride = size.div_ceil(2);
        let mut start = self.rng.random_range(0..stride);
        let mut better = false;
        while start < n && !over() {
            better |= self.window.improve(&mut self.at, start.min(n - size));
            start += stride;
        }
        better
    }

    /// The least improvement on a total like this.
    fn least(&self, score: f64) -> f64 {
        self.at.pool().least(score)
    }

    fn remember(&mut self) {
        let score = self.at.score();
        let least = self.least(score);
        if score > self.lap + least {
            (self.lap, self.stale) = (score, 0);
        }
        if score > self.best + least {
            self.best = score;
            self.best_order.copy_from_slice(self.at.order());
            self.best_ranks.copy_from_slice(self.at.ranks());
        }
    }

    fn into_result(self, pool: &Pool) -> Ordered {
        let ranks = self.best_ranks.iter().enumerate();
        Ordered {
            parents: ranks.clone().map(|(v, &r)| pool.child(v).set(r).iter().map(|&p| p as Var).collect()).collect(),
            scores: ranks.map(|(v, &r)| pool.score(v, r)).collect(),
            order: self.best_order.iter().map(|&v| v as Var).collect(),
            n_rounds: self.n_rounds,
            proven: false,
            stop: None,
            improvements: vec![],
        }
    }
}

/// Fisher and Yates.
fn shuffle(items: &mut [u32], rng: &mut Xoshiro256PlusPlus) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests;
