//! Hill climbing over DAGs: add, delete or reverse one arc, with a tabu list and seeded random restarts.
//!
//! The change of the score by every toggle of a parent is kept per child in descending order. A move touches one child
//! (a reversal two), so only their columns are asked for again and sorted; the best legal move is then found at the
//! heads of the columns. Cycles are told by the kept ancestors in O(1) (a reversal: one AND of bit sets). Tabu (as in
//! bnlearn: the last structures, not the last moves) is a set of hashes, one XOR per arc.
//!
//! The order of moves is total (change, then deletions and additions by child and parent before reversals), so the result
//! depends on nothing but the scores and the seed.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::ancestors::Ancestors;
use super::families::{Families, Scored, Stored, toggle};
use super::graph::Dag;
use super::registry::{Found, Search, Task, over_families};
use crate::control::{Budget, Stop};
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// How to climb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HillClimb {
    /// So many structures last visited are not visited again; 0 for plain hill climbing.
    pub tabu: usize,
    /// With a tabu list, so many moves in a row may fail to improve on the best structure.
    pub patience: usize,
    /// So many times, perturb the best structure and climb again.
    pub restarts: usize,
    /// So many random moves perturb.
    pub perturb: usize,
    /// At most so many moves in all.
    pub max_moves: u64,
    /// Of the random moves.
    pub seed: u64,
}

impl Default for HillClimb {
    fn default() -> Self {
        Self { tabu: 10, patience: 10, restarts: 0, perturb: 5, max_moves: u64::MAX, seed: 0 }
    }
}

/// Where it ended.
#[derive(Clone, Debug)]
pub struct Climbed {
    /// The best structure seen.
    pub dag: Dag,
    /// Its families' scores.
    pub scores: Vec<f64>,
    /// Moves made.
    pub n_moves: u64,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

impl Climbed {
    /// The total score.
    pub fn score(&self) -> f64 {
        self.scores.iter().sum()
    }
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Toggle(Var, Var),
    Reverse(Var, Var),
}

impl Search for HillClimb {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        let (candidates, score) = (
            |f: &Stored<'_>| self.run(f, task.start, task.budget),
            |f: &Scored<'_>| self.run(f, task.start, task.budget),
        );
        let (found, bound, n_scored) = over_families(task, candidates, score)?;
        let told = Found::new(&found.dag, found.scores, found.stop);
        Ok(Found { bound, ..told.counted([("moves", found.n_moves), ("scored", n_scored)]) })
    }
}

impl HillClimb {
    /// Climbs from a structure, or from the poorest one the families permit.
    ///
    /// # Errors
    /// If the families permit no structure or not this one, a family cannot be scored, or the budget was used up before
    /// the first structure had a score.
    pub fn run<F: Families>(&self, families: &F, start: Option<&Dag>, budget: Budget<'_>) -> Result<Climbed> {
        let start = start.map_or_else(|| families.start(), |dag| Ok(dag.clone()))?;
        let mut at = Position::new(families, &start)?;
        if at.scores.contains(&f64::NEG_INFINITY) {
            return Err(Error::Shape(
                "the starting graph breaks the constraints, or has parent sets without a score".to_owned(),
            ));
        }
        let mut best = Climbed { dag: at.dag.clone(), scores: at.scores.clone(), n_moves: 0, stop: None };
        let outcome = self.climb_all(&mut at, &mut best, budget);
        best.n_moves = at.n_moves;
        match outcome {
            Err(Error::Interrupted) => best.stop = Some(budget.over().unwrap_or(Stop::Interrupted)),
            other => other?,
        }
        Ok(best)
    }

    fn climb_all<F: Families>(&self, at: &mut Position<'_, F>, best: &mut Climbed, budget: Budget<'_>) -> Result<()> {
        at.look_everywhere()?;
        self.climb(at, best, budget)?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for _ in 0..self.restarts {
            if at.n_moves >= self.max_moves {
                break;
            }
            at.go_to(&best.dag, &best.scores)?;
            for _ in 0..self.perturb {
                at.random_move(&mut rng)?;
            }
            self.climb(at, best, budget)?;
        }
        Ok(())
    }

    fn climb<F: Families>(&self, at: &mut Position<'_, F>, best: &mut Climbed, budget: Budget<'_>) -> Result<()> {
        let mut tabu = Tabu::new(self.tabu);
        tabu.visit(at.hash);
        let mut stale = 0;
        let mut best_score = best.score();
        while at.n_moves < self.max_moves {
            budget.check()?;
            let least = at.least_gain();
            let Some(chosen) = at.best_move(&tabu, if self.tabu == 0 { least } else { f64::NEG_INFINITY }) else {
                break;
            };
            at.make(chosen)?;
            tabu.visit(at.hash);
            let score: f64 = at.scores.iter().sum();
            if score > best_score + least {
                (best_score, stale) = (score, 0);
                best.dag.clone_from(&at.dag);
                best.scores.clone_from(&at.scores);
            } else {
                stale += 1;
                if self.tabu > 0 && stale >= self.patience {
                    break;
                }
            }
            budget.control().advance(1);
        }
        Ok(())
    }
}

/// A structure with everything needed to choose the next.
struct Position<'a, F> {
    families: &'a F,
    dag: Dag,
    ancestors: Ancestors,
    /// Current score of each family.
    scores: Vec<f64>,
    /// Per child: the gain of toggling each parent.
    gains: Vec<Vec<f64>>,
    /// Per child: the parents that may be toggled, highest gain first.
    order: Vec<Vec<u32>>,
    hash: u64,
    n_moves: u64,
}

impl<'a, F: Families> Position<'a, F> {
    fn new(families: &'a F, start: &Dag) -> Result<Self> {
        let n = start.n_vars();
        let found: Vec<_> = (0..n).into_par_iter().try_map(|v| families.family(v, &start.family(v)))?;
        let (scores, parents): (Vec<f64>, Vec<Parents>) = found.into_iter().unzip();
        let dag = Dag::from_parents(&parents)?;
        let hash = dag.arcs().fold(0, |hash, (p, c)| hash ^ arc_hash(p, c));
        let ancestors = Ancestors::new(&dag);
        Ok(Self { families, dag, ancestors, scores, gains: vec![vec![]; n], order: vec![vec![]; n], hash, n_moves: 0 })
    }

    fn column(&self, child: Var) -> Result<(Vec<f64>, Vec<u32>)> {
        let mut gains = self.families.toggled(child, &self.dag.family(child))?;
        for gain in &mut gains {
            *gain -= self.scores[child];
        }
        let mut order: Vec<u32> = (0..gains.len() as u32).filter(|&p| gains[p as usize] > f64::NEG_INFINITY).collect();
        order.sort_unstable_by(|&a, &b| gains[b as usize].total_cmp(&gains[a as usize]).then(a.cmp(&b)));
        Ok((gains, order))
    }

    fn look(&mut self, child: Var) -> Result<()> {
        (self.gains[child], self.order[child]) = self.column(child)?;
        Ok(())
    }

    fn look_everywhere(&mut self) -> Result<()> {
        let columns: Vec<_> = (0..self.dag.n_vars()).into_par_iter().try_map(|v| self.column(v))?;
        (self.gains, self.order) = columns.into_iter().unzip();
        Ok(())
    }

    /// What counts as an improvement rather than rounding.
    fn least_gain(&self) -> f64 {
        1e-10 + 1e-14 * self.scores.iter().map(|s| s.abs()).sum::<f64>()
    }

    fn legal(&self, parent: Var, child: Var) -> bool {
        self.dag.has_arc(parent, child) || self.ancestors.may_add(parent, child)
    }

    fn best_move(&self, tabu: &Tabu, above: f64) -> Option<Move> {
        let mut best = (above, None);
        for child in 0..self.dag.n_vars() {
            for &parent in &self.order[child] {
                let parent = parent as Var;
                let gain = self.gains[child][parent];
                if gain <= best.0 {
                    break;
                }
                if self.legal(parent, child) && !tabu.holds(self.hash ^ arc_hash(parent, child)) {
                    best = (gain, Some(Move::Toggle(parent, child)));
                    break;
                }
            }
        }
        for (parent, child) in self.dag.arcs() {
            let gain = self.gains[child][parent] + self.gains[parent][child];
            let next = self.hash ^ arc_hash(parent, child) ^ arc_hash(child, parent);
            if gain > best.0 && self.ancestors.may_reverse(&self.dag, parent, child) && !tabu.holds(next) {
                best = (gain, Some(Move::Reverse(parent, child)));
            }
        }
        best.1
    }

    fn make(&mut self, chosen: Move) -> Result<()> {
        self.n_moves += 1;
        match chosen {
            Move::Toggle(parent, child) => {
                self.toggle(parent, child)?;
                self.look(child)
            }
            Move::Reverse(parent, child) => {
                self.toggle(parent, child)?;
                self.toggle(child, parent)?;
                self.look(child)?;
                self.look(parent)
            }
        }
    }

    fn toggle(&mut self, parent: Var, child: Var) -> Result<()> {
        let wanted = toggle(&self.dag.family(child), parent);
        self.set_family(child, &wanted)
    }

    fn set_family(&mut self, child: Var, wanted: &Parents) -> Result<()> {
        let before = self.dag.family(child);
        let (score, parents) = self.families.family(child, wanted)?;
        for &p in before.iter().filter(|p| !parents.contains(p)) {
            self.dag.remove_arc(p, child);
            self.hash ^= arc_hash(p, child);
        }
        if before.iter().any(|p| !parents.contains(p)) {
            self.ancestors.removed(&self.dag, child);
        }
        for &p in parents.iter().filter(|p| !before.contains(p)) {
            self.dag.set(p, child);
            self.ancestors.added(p, child);
            self.hash ^= arc_hash(p, child);
        }
        self.scores[child] = score;
        Ok(())
    }

    fn go_to(&mut self, dag: &Dag, scores: &[f64]) -> Result<()> {
        let changed: Vec<Var> = (0..dag.n_vars()).filter(|&v| dag.parent_bits(v) != self.dag.parent_bits(v)).collect();
        self.dag.clone_from(dag);
        self.ancestors = Ancestors::new(dag);
        self.hash = dag.arcs().fold(0, |hash, (p, c)| hash ^ arc_hash(p, c));
        self.scores.copy_from_slice(scores);
        changed.into_iter().try_for_each(|v| self.look(v))
    }

    /// Toggles or reverses a random pair, if a few draws find a legal one.
    fn random_move(&mut self, rng: &mut Xoshiro256PlusPlus) -> Result<()> {
        let n = self.dag.n_vars();
        for _ in 0..if n > 1 { 100 } else { 0 } {
            let (parent, child) = (rng.random_range(0..n), rng.random_range(0..n));
            let gain = |child: Var, parent: Var| self.gains[child][parent];
            if self.dag.has_arc(parent, child) && rng.random::<bool>() {
                let possible = gain(child, parent) + gain(parent, child) > f64::NEG_INFINITY;
                if possible && self.ancestors.may_reverse(&self.dag, parent, child) {
                    return self.make(Move::Reverse(parent, child));
                }
            } else if gain(child, parent) > f64::NEG_INFINITY && self.legal(parent, child) {
                return self.make(Move::Toggle(parent, child));
            }
        }
        Ok(())
    }
}

/// The structures last visited, by hash.
struct Tabu {
    length: usize,
    queue: VecDeque<u64>,
    set: FxHashSet<u64>,
}

impl Tabu {
    fn new(length: usize) -> Self {
        Self { length, queue: VecDeque::new(), set: FxHashSet::default() }
    }

    fn holds(&self, hash: u64) -> bool {
        self.length > 0 && self.set.contains(&hash)
    }

    fn visit(&mut self, hash: u64) {
        if self.length > 0 && self.set.insert(hash) {
            self.queue.push_back(hash);
            if self.queue.len() > self.length
                && let Some(oldest) = self.queue.pop_front()
            {
                self.set.remove(&oldest);
            }
        }
    }
}

/// A fixed random word per arc (splitmix64); a structure's hash is the XOR of its arcs'.
fn arc_hash(parent: Var, child: Var) -> u64 {
    let mut z = ((parent as u64) << 32 | child as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
