//! `GRaSP` (Lam, Andrews, Ramsey 2022, "Greedy relaxations of the sparsest permutation algorithm"): orders changed by
//! tucks, sought depth first.
//!
//! A tuck takes an arc x -> y of the graph an order gives and moves y, with those of its ancestors that stand between,
//! to just before x. Tucks that leave the score as it is are followed up to some depth, because the better order may
//! lie behind them: at any depth those of covered arcs, at lower depths those of other arcs too.

use std::collections::BTreeSet;

use super::boss::{Order, searched};
use super::families::Scored;
use super::ges::{Classed, LEAST_GAIN};
use super::graph::Dag;
use super::registry::{Found, Search, Task};
use crate::control::Budget;
use crate::error::Result;
use crate::table::Var;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grasp {
    /// So many tucks in a row may leave the score as it is.
    pub depth: usize,
    /// Among them, so many of arcs that are not covered.
    pub uncovered: usize,
    /// So many random orders are begun with after the first.
    pub restarts: usize,
    /// Of the random orders.
    pub seed: u64,
}

impl Default for Grasp {
    fn default() -> Self {
        Self { depth: 3, uncovered: 1, restarts: 0, seed: 0 }
    }
}

impl Search for Grasp {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        let scored = task.scored()?;
        Ok(self.run(&scored, task.start, task.budget)?.told(&scored))
    }
}

impl Grasp {
    /// Searches from an order of a graph, or of the one that greedy equivalence search finds.
    ///
    /// # Errors
    /// If the start does not obey or cannot be scored, or the score fails.
    pub fn run(&self, scored: &Scored<'_>, start: Option<&Dag>, budget: Budget<'_>) -> Result<Classed> {
        let arrange = &mut |at: &mut Order<'_, '_>| {
            while self.improved(at, 0, 0, &mut BTreeSet::new(), budget)? {}
            Ok(())
        };
        searched(scored, start, budget, self.restarts, self.seed, arrange)
    }

    /// Goes to a better order if tucks reach one; otherwise leaves the order as it is.
    fn improved(
        &self,
        at: &mut Order<'_, '_>,
        level: usize,
        uncovered: usize,
        seen: &mut BTreeSet<Vec<Var>>,
        budget: Budget<'_>,
    ) -> Result<bool> {
        let score = at.score();
        for y in at.sequence.clone() {
            for x in at.families[y].parents.clone() {
                budget.check()?;
                let of_x = &at.families[x].parents;
                let covered = at.families[y].parents.iter().all(|p| *p == x || of_x.contains(p))
                    && of_x.iter().all(|p| at.families[y].parents.contains(p));
                if !covered && uncovered >= self.uncovered {
                    continue;
                }
                let kept = (at.sequence.clone(), at.families.clone());
                if !at.tuck(x, y) || !seen.insert(at.sequence.clone()) {
                    at.sequence = kept.0;
                    continue;
                }
                budget.control().advance(1);
                let entered = at.enter();
                if entered.is_ok() && at.score() > score + LEAST_GAIN {
                    at.n_moves += 1;
                    return Ok(true);
                }
                let follow = entered.is_ok() && level + 1 < self.depth && at.score() > score - LEAST_GAIN;
                let deeper = if follow {
                    self.improved(at, level + 1, uncovered + usize::from(!covered), seen, budget)
                } else {
                    entered.map(|()| false)
                };
                match deeper {
                    Ok(true) => return Ok(true),
                    other => {
                        (at.sequence, at.families) = kept;
                        other?;
                    }
                }
            }
        }
        Ok(false)
    }
}

impl Order<'_, '_> {
    /// Moves y, with its ancestors between x and itself, to just before x; `false` if a required arc would turn.
    fn tuck(&mut self, x: Var, y: Var) -> bool {
        let dag = self.dag();
        let place = |v: Var| self.sequence.iter().position(|&w| w == v);
        let (Some(from), Some(to)) = (place(x), place(y)) else { return false };
        let (moved, left): (Vec<Var>, Vec<Var>) =
            self.sequence[from..=to].iter().partition(|&&v| v != x && dag.reaches(v, y));
        if moved.iter().any(|&m| left.iter().any(|&l| self.must_precede(l, m))) {
            return false;
        }
        self.sequence.splice(from..=to, moved.into_iter().chain(left));
        true
    }
}
