//! Greedy search for the graph of one node (section 4.1), and two ways beyond it.
//!
//! Lookahead: where no operator improves, the best splits are tried although each of them loses, and growth goes on from
//! each; so two parents that only matter together are found. Restarts: a few random operators disturb the best graph,
//! growth goes on, and the better of the two is kept. Both start from the greedy graph and never end below it.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::amounts::Tallied;
use super::splits::Cut;
use super::state::{Operator, Problem, State};
use crate::error::Result;

/// Random operators of a restart.
const DISTURBANCES: usize = 4;

/// The graph that the settings' search finds.
///
/// # Errors
/// If the prior cannot say, or the budget is used up.
pub fn grown<N: Tallied>(problem: &Problem<'_, N>) -> Result<State<N>> {
    let mut state = State::new(problem)?;
    greedy(problem, &mut state)?;
    look_ahead(problem, &mut state)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(problem.settings.seed);
    for _ in 0..problem.settings.restarts {
        let mut other = state.clone();
        for _ in 0..DISTURBANCES {
            if let Some(operator) = random_operator(problem, &other, &mut rng) {
                other.apply(problem, operator)?;
            }
        }
        greedy(problem, &mut other)?;
        look_ahead(problem, &mut other)?;
        if other.score() > state.score() + problem.marginal.least() {
            state = other;
        }
    }
    Ok(state)
}

/// Applies the best operator until none improves.
///
/// # Errors
/// If the prior cannot say, or the budget is used up.
pub fn greedy<N: Tallied>(problem: &Problem<'_, N>, state: &mut State<N>) -> Result<()> {
    while let Some((_, operator)) = state.best(problem, None) {
        problem.check()?;
        state.apply(problem, operator)?;
    }
    Ok(())
}

fn look_ahead<N: Tallied>(problem: &Problem<'_, N>, state: &mut State<N>) -> Result<()> {
    if problem.settings.lookahead == 0 {
        return Ok(());
    }
    loop {
        let mut tries: Vec<(f64, Operator)> = Vec::new();
        for (leaf, of) in state.leaves() {
            for (field, gains) in of.gains.iter().enumerate() {
                tries.push((gains.complete, Operator::Split { leaf, field, cut: Cut::Each }));
                tries.push((gains.binary, Operator::Split { leaf, field, cut: gains.cut }));
            }
        }
        tries.retain(|tried| tried.0 > f64::NEG_INFINITY);
        // The sort is stable: ties stay in the order of leaves and predictors.
        tries.sort_by(|a, b| b.0.total_cmp(&a.0));
        tries.truncate(problem.settings.lookahead);
        let mut best: Option<State<N>> = None;
        let mut best_score = state.score() + problem.marginal.least();
        for (_, operator) in tries {
            let mut other = state.clone();
            other.apply(problem, operator)?;
            greedy(problem, &mut other)?;
            let score = other.score();
            if score > best_score + problem.marginal.least() {
                (best_score, best) = (score, Some(other));
            }
        }
        match best {
            Some(better) => *state = better,
            None => return Ok(()),
        }
    }
}

fn random_operator<N: Tallied>(
    problem: &Problem<'_, N>,
    state: &State<N>,
    rng: &mut Xoshiro256PlusPlus,
) -> Option<Operator> {
    let ids: Vec<usize> = state.leaves().map(|(id, _)| id).collect();
    if problem.settings.operators.merge && ids.len() > 1 && rng.random::<bool>() {
        let (a, b) = (rng.random_range(0..ids.len()), rng.random_range(0..ids.len() - 1));
        let b = if b >= a { b + 1 } else { b };
        return Some(Operator::Merge(ids[a.min(b)], ids[a.max(b)]));
    }
    for _ in 0..if problem.fields.is_empty() { 0 } else { 100 } {
        let leaf = ids[rng.random_range(0..ids.len())];
        let field = rng.random_range(0..problem.fields.len());
        let gains = state.leaf(leaf).gains[field];
        if gains.binary > f64::NEG_INFINITY {
            return Some(Operator::Split { leaf, field, cut: gains.cut });
        }
        if gains.complete > f64::NEG_INFINITY {
            return Some(Operator::Split { leaf, field, cut: Cut::Each });
        }
    }
    None
}
