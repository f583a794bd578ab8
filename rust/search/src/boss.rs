//! Best order score search (Andrews et al. 2023): orders of the variables, each variable moved to where the whole order
//! scores best, its parents within an order read off its grow-shrink tree.
//!
//! The move of one variable over all positions changes each other variable's prefix in one way only: with it or without
//! it. So all n positions cost two walks per tree and n walks of its own. When no move helps, the backward phase of
//! the equivalence search takes away what the order forced in, and its graph gives an order to go on from.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::families::Scored;
use super::ges::{Classed, Climb, Fges, LEAST_GAIN, checked, ended};
use super::graph::Dag;
use super::grow_shrink::{Family, Tree};
use super::knowledge::Knowledge;
use super::registry::{Found, Search, Task};
use crate::control::Budget;
use crate::error::Result;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boss {
    /// So many random orders are begun with after the first.
    pub restarts: usize,
    /// Of the random orders.
    pub seed: u64,
}

impl Search for Boss {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        let scored = task.scored()?;
        Ok(self.run(&scored, task.start, task.budget)?.told(&scored))
    }
}

impl Boss {
    /// Searches from an order of a graph, or of the one that greedy equivalence search finds.
    ///
    /// # Errors
    /// If the start does not obey or cannot be scored, or the score fails.
    pub fn run(&self, scored: &Scored<'_>, start: Option<&Dag>, budget: Budget<'_>) -> Result<Classed> {
        searched(scored, start, budget, self.restarts, self.seed, &mut |at| at.arrange(budget))
    }
}

/// Searches over orders from several starts: each arranged, pruned backwards, and arranged again as long as that helps.
pub(super) fn searched<'a, 'b>(
    scored: &'a Scored<'b>,
    start: Option<&Dag>,
    budget: Budget<'a>,
    restarts: usize,
    seed: u64,
    arrange: &mut dyn FnMut(&mut Order<'a, 'b>) -> Result<()>,
) -> Result<Classed> {
    let knowledge = Knowledge::new(scored.constraints());
    let mut best = if start.is_some() {
        checked(start, scored, &knowledge)?
    } else {
        let found = Fges { faithfulness: false }.run(scored, None, budget)?;
        if found.stop.is_some() {
            return Ok(found);
        }
        found.dag
    };
    let mut best_score: f64 = scored.of_graph(&best)?.iter().sum();
    let mut at = Order::new(scored, knowledge.sorted(&best.topological_order()))?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut keep = |dag: &Dag, score: f64| {
        if score > best_score + LEAST_GAIN {
            best_score = score;
            best.clone_from(dag);
        }
    };
    let mut rounds = || -> Result<()> {
        for start in 0..=restarts {
            if start > 0 {
                let mut order: Vec<Var> = (0..knowledge.n_vars()).collect();
                order.shuffle(&mut rng);
                at.sequence = knowledge.sorted(&order);
            }
            at.enter()?;
            let mut last = f64::NEG_INFINITY;
            loop {
                let outcome = arrange(&mut at);
                let (dag, score) = (at.dag(), at.score());
                keep(&dag, score);
                outcome?;
                if score <= last + LEAST_GAIN {
                    break;
                }
                last = score;
                let mut climb = Climb::new(scored, &knowledge, budget, dag);
                let outcome = climb.backward();
                let pruned: f64 = scored.of_graph(&climb.dag)?.iter().sum();
                keep(&climb.dag, pruned);
                if outcome? == 0 || pruned <= score + LEAST_GAIN {
                    break;
                }
                at.sequence = knowledge.sorted(&climb.dag.topological_order());
                at.enter()?;
            }
        }
        Ok(())
    };
    let outcome = rounds();
    let n_moves = at.n_moves;
    let stop = ended(outcome, budget)?;
    let mut found = Climb::new(scored, &knowledge, budget, best).finish(stop)?;
    found.n_moves = n_moves;
    Ok(found)
}

/// An order with every variable's family within it.
pub(super) struct Order<'a, 'b> {
    pub(super) sequence: Vec<Var>,
    pub(super) families: Vec<Family>,
    trees: Vec<Tree<'a, 'b>>,
    /// Per variable, those that must come before it, and those that must come after it.
    before: Vec<Vec<Var>>,
    after: Vec<Vec<Var>>,
    pub(super) n_moves: u64,
}

impl<'a, 'b> Order<'a, 'b> {
    /// Every variable with its required parents alone; `enter` gives them what their prefixes offer.
    fn new(scored: &'a Scored<'b>, sequence: Vec<Var>) -> Result<Self> {
        let n = sequence.len();
        let trees: Vec<Tree<'a, 'b>> = (0..n).into_par_iter().try_map(|v| Tree::new(scored, v))?;
        let families = trees.iter().map(Tree::root).collect();
        let mut after = vec![vec![]; n];
        let before: Vec<Vec<Var>> = (0..n).map(|v| scored.constraints().child(v).required.clone()).collect();
        for (v, required) in before.iter().enumerate() {
            for &p in required {
                after[p].push(v);
            }
        }
        Ok(Self { sequence, families, trees, before, after, n_moves: 0 })
    }

    /// Whether an arc from `a` to `b` is required.
    pub(super) fn must_precede(&self, a: Var, b: Var) -> bool {
        self.before[b].contains(&a)
    }

    /// The sum of the families' scores.
    pub(super) fn score(&self) -> f64 {
        self.families.iter().map(|family| family.score).sum()
    }

    /// The graph of the families.
    pub(super) fn dag(&self) -> Dag {
        let parents: Vec<_> = self.families.iter().map(|family| &family.parents).collect();
        Dag::from_parents(&parents).expect("parents come before their children in the order")
    }

    /// Gives every variable the family its prefix offers; on an error all families are as before.
    pub(super) fn enter(&mut self) -> Result<()> {
        let place = places(&self.sequence);
        let within = |(v, tree): (Var, &mut Tree<'_, '_>)| tree.within(|z| place[z] < place[v]);
        self.families = self.trees.par_iter_mut().enumerate().try_map(within)?;
        Ok(())
    }

    /// Moves variables to their best positions until no move helps.
    fn arrange(&mut self, budget: Budget<'_>) -> Result<()> {
        loop {
            let mut moved = false;
            for v in self.sequence.clone() {
                budget.check()?;
                moved |= self.move_to_best(v)?;
                budget.control().advance(1);
            }
            if !moved {
                return Ok(());
            }
        }
    }

    fn move_to_best(&mut self, v: Var) -> Result<bool> {
        let n = self.sequence.len();
        let now = self.sequence.iter().position(|&w| w == v).expect("an order holds every variable");
        let mut rest = self.sequence.clone();
        rest.remove(now);
        // v itself has no place among the rest.
        let mut place = vec![usize::MAX; n];
        for (i, &w) in rest.iter().enumerate() {
            place[w] = i;
        }
        let first = self.before[v].iter().map(|&p| place[p] + 1).max().unwrap_or(0);
        let last = self.after[v].iter().map(|&c| place[c]).min().unwrap_or(n - 1);
        let ask = |(w, tree): (Var, &mut Tree<'_, '_>)| -> Result<Vec<Family>> {
            if w == v {
                return (first..=last).map(|i| tree.within(|z| place[z] < i)).collect();
            }
            let (without, with) = tree.without_and_with(|z| place[z] < place[w], v)?;
            Ok(vec![without, with])
        };
        let answers: Vec<Vec<Family>> = if rayon::current_num_threads() == 1 {
            self.trees.iter_mut().enumerate().map(ask).collect::<Result<_>>()?
        } else {
            self.trees.par_iter_mut().enumerate().try_map(ask)?
        };
        // The total with v at position i: those before it without it, those after it with it.
        let mut total: f64 = rest[..first].iter().map(|&w| answers[w][0].score).sum::<f64>()
            + rest[first..].iter().map(|&w| answers[w][1].score).sum::<f64>();
        let mut totals = Vec::with_capacity(last - first + 1);
        for i in first..=last {
            totals.push(total + answers[v][i - first].score);
            if let Some(&w) = rest.get(i) {
                total += answers[w][0].score - answers[w][1].score;
            }
        }
        let mut best = now - first;
        for (i, &candidate) in totals.iter().enumerate() {
            if candidate > totals[best] + if best == now - first { LEAST_GAIN } else { 0.0 } {
                best = i;
            }
        }
        if best == now - first {
            return Ok(false);
        }
        let to = first + best;
        for (w, mut answer) in answers.into_iter().enumerate() {
            let take = if w == v { best } else { usize::from(place[w] >= to) };
            self.families[w] = answer.swap_remove(take);
        }
        rest.insert(to, v);
        self.sequence = rest;
        self.n_moves += 1;
        Ok(true)
    }
}

/// Where each variable stands in an order.
fn places(order: &[Var]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (i, &v) in order.iter().enumerate() {
        place[v] = i;
    }
    place
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::testing;
    use super::*;
    use crate::constraints::Constraints;
    use crate::control::Control;
    use arbornet_model::prior::GraphPrior;
    use arbornet_score::classic::likelihood::{Likelihood, Penalty};

    #[test]
    fn a_move_is_the_best_of_all_places_each_entered_anew() {
        for seed in 0..testing::rounds(40) {
            let mut rng = testing::rng(seed);
            let n = rng.random_range(1..7);
            let table = testing::odd_levels(n, &mut rng);
            let score = Likelihood { penalty: Penalty::Bic, prior: GraphPrior::Uniform }.prepare(&table).unwrap();
            let (control, none) = (Control::default(), Constraints::none(n));
            let scored = Scored::new(&*score, &none, Budget::new(&control, None));
            let mut sequence: Vec<Var> = (0..n).collect();
            sequence.shuffle(&mut rng);
            let mut at = Order::new(&scored, sequence.clone()).unwrap();
            at.enter().unwrap();
            let before = at.score();
            let v = rng.random_range(0..n);
            let of_place = |to: usize| {
                let mut other = sequence.clone();
                other.retain(|&w| w != v);
                other.insert(to, v);
                let mut fresh = Order::new(&scored, other).unwrap();
                fresh.enter().unwrap();
                fresh.score()
            };
            let best = (0..n).map(of_place).fold(f64::NEG_INFINITY, f64::max);
            let moved = at.move_to_best(v).unwrap();
            assert!(moved == (best > before + LEAST_GAIN) || (best - before - LEAST_GAIN).abs() < 1e-9, "seed {seed}");
            let reached = if moved { best } else { before };
            assert!((at.score() - reached).abs() < 1e-9, "seed {seed}: {} of {reached}", at.score());
            let kept = at.score();
            at.enter().unwrap();
            assert!((at.score() - kept).abs() < 1e-9, "seed {seed}: the families are not those of the order");
        }
    }
}
