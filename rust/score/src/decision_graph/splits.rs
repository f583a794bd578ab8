//! What every split of a leaf would gain: one pass over its rows for each predictor gives all of them.
//!
//! The readings that reproduce the paper's numbers: an impossible child is left out and an empty one that is possible is
//! kept; a split must send rows to at least two children; on two possible values the complete split is the binary one and is
//! counted once, as complete where that operator is allowed.

use super::amounts::Tallied;
use super::levels::Levels;
use super::predictors::{Predictor, Ways};
use super::prior::{ByLevel, Counts, Marginal, taken};
use super::state::{GrownLeaf, Problem};
use super::tally::Tally;
use crate::error::Result;

/// How a split divides the values of a predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// One child a level.
    Each,
    /// This level, and the others.
    Level(u32),
    /// The levels before this one, and the others.
    Below(u32),
}

impl Cut {
    /// The sides, of those levels that are possible.
    pub fn sides(self, possible: &Levels, k: usize) -> Vec<Levels> {
        let first = match self {
            Self::Each => return possible.iter().map(|level| Levels::of(k, [level])).collect(),
            Self::Level(level) => Levels::of(k, [level]),
            Self::Below(level) => Levels::of(k, possible.iter().filter(|&l| l < level)),
        };
        let rest = possible.without(&first);
        vec![first, rest]
    }
}

/// The best splits of a leaf by one predictor; minus infinity where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Of the complete split.
    pub complete: f64,
    /// Of the best split in two.
    pub binary: f64,
    /// Which that is.
    pub cut: Cut,
}

/// No split.
pub const NONE: Gains = Gains { complete: f64::NEG_INFINITY, binary: f64::NEG_INFINITY, cut: Cut::Each };

/// Memory of one thread.
#[derive(Debug)]
pub struct Scratch<N: Tallied = u32> {
    tally: Tally<N>,
    side: Counts<N>,
    rest: Counts<N>,
    tried: Vec<(f64, Cut)>,
}

impl<N: Tallied> Default for Scratch<N> {
    fn default() -> Self {
        Self { tally: Tally::default(), side: Vec::new(), rest: Vec::new(), tried: Vec::new() }
    }
}

/// The gains of splitting a leaf by a predictor; `children` are the codes of the child in the leaf's rows, and what these weigh.
///
/// # Errors
/// If the prior cannot say.
pub fn gains<N: Tallied>(
    problem: &Problem<'_, N>,
    leaf: &GrownLeaf<N>,
    field: usize,
    children: &[N::Row],
    scratch: &mut Scratch<N>,
) -> Result<Gains> {
    let predictor = problem.predictors.get(problem.fields[field])?;
    scratch.tally.count(&predictor.codes, predictor.k, &leaf.rows, children, problem.r);
    if scratch.tally.n_levels() < 2 {
        return Ok(NONE);
    }
    let possible = leaf.region.possible(field).unwrap_or_else(|| Levels::all(predictor.k));
    let alphas = problem.prior.by_level(&problem.context(), &leaf.region, field, predictor.k)?;
    let marginal = &problem.marginal;
    let operators = problem.settings.operators;
    let mut out = NONE;
    if operators.complete && predictor.ways != Ways::Halvings {
        out.complete = complete(&scratch.tally, &possible, &alphas, marginal) - leaf.score;
    }
    let twice = out.complete > f64::NEG_INFINITY && possible.len() == 2;
    let halved = predictor.ways == Ways::Halvings && operators.complete;
    if (operators.binary && !twice) || halved {
        binary(predictor, leaf, &possible, &alphas, marginal, scratch);
        let best = scratch.tried.iter().map(|tried| tried.0).fold(f64::NEG_INFINITY, f64::max);
        if let Some(&(gain, cut)) = scratch.tried.iter().find(|tried| tried.0 >= best - marginal.least()) {
            (out.binary, out.cut) = (gain, cut);
        }
    }
    Ok(out)
}

/// The score of one leaf a possible level.
fn complete<N: Tallied>(tally: &Tally<N>, possible: &Levels, alphas: &ByLevel, marginal: &Marginal) -> f64 {
    let empty = possible.len() - tally.n_levels();
    let side = |(level, _, counts): (u32, N, &[(u32, N)])| marginal.score(counts, &alphas.of([level].into_iter()));
    tally.iter().map(side).sum::<f64>() + empty as f64 * marginal.per_leaf()
}

/// Tries every split in two, lowest level first.
fn binary<N: Tallied>(
    predictor: &Predictor,
    leaf: &GrownLeaf<N>,
    possible: &Levels,
    alphas: &ByLevel,
    marginal: &Marginal,
    scratch: &mut Scratch<N>,
) {
    let Scratch { tally, side, rest, tried } = scratch;
    tried.clear();
    if predictor.ways == Ways::Halvings {
        if let (Some(low), Some(high)) = (tally.iter().next(), tally.iter().last()) {
            below(leaf, midpoint(low.0, high.0), possible, alphas, marginal, (tally, side, rest, tried));
        }
        return;
    }
    // Where every pseudo-count is 1 the rest follows from what is taken from the leaf.
    let whole: f64 = leaf.counts.iter().map(|&(_, n)| marginal.ln_factorial(n)).sum();
    for (level, n, counts) in tally.iter() {
        let others = if matches!(alphas, ByLevel::Same) {
            let mut cells = whole;
            let mut all = leaf.counts.iter();
            for &(code, taken) in counts {
                let all = all.find(|c| c.0 == code).expect("a level's rows are among the leaf's").1;
                let mut left = all;
                left -= taken;
                cells += marginal.ln_factorial(left) - marginal.ln_factorial(all);
            }
            let mut left = leaf.n;
            left -= n;
            cells + marginal.of_total(left) + marginal.per_leaf()
        } else {
            taken(&leaf.counts, counts, rest);
            marginal.score(rest, &alphas.of(possible.iter().filter(|&l| l != level)))
        };
        let this = marginal.score(counts, &alphas.of([level].into_iter()));
        tried.push((this + others - leaf.score, Cut::Level(level)));
    }
    if predictor.ways == Ways::Thresholds && possible.len() > 2 {
        // A cut before the lowest level that has rows, or after the highest, leaves a side empty.
        let lowest = tally.iter().next().map_or(0, |l| l.0);
        let highest = tally.iter().last().map_or(0, |l| l.0);
        for level in possible.iter().filter(|&l| l > lowest && l <= highest) {
            below(leaf, level, possible, alphas, marginal, (tally, side, rest, tried));
        }
    }
}

type Buffers<'a, N> = (&'a Tally<N>, &'a mut Counts<N>, &'a mut Counts<N>, &'a mut Vec<(f64, Cut)>);

fn below<N: Tallied>(
    leaf: &GrownLeaf<N>,
    cut: u32,
    possible: &Levels,
    alphas: &ByLevel,
    marginal: &Marginal,
    (tally, side, rest, tried): Buffers<'_, N>,
) {
    side.clear();
    for (_, _, counts) in tally.iter().take_while(|l| l.0 < cut) {
        *side = super::prior::added(side, counts);
    }
    taken(&leaf.counts, side, rest);
    let low = marginal.score(side, &alphas.of(possible.iter().filter(|&l| l < cut)));
    let high = marginal.score(rest, &alphas.of(possible.iter().filter(|&l| l >= cut)));
    tried.push((low + high - leaf.score, Cut::Below(cut)));
}

/// The middle of the smallest dyadic interval of bins that holds both: the first halving that parts the rows.
fn midpoint(low: u32, high: u32) -> u32 {
    let bit = (low ^ high).ilog2();
    high >> bit << bit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_halving_that_parts_the_rows() {
        assert_eq!([midpoint(0, 31), midpoint(3, 4), midpoint(4, 7), midpoint(5, 6), midpoint(0, 1)], [16, 4, 6, 6, 1]);
    }

    #[test]
    fn the_sides_of_a_cut_are_the_possible_levels() {
        let possible = Levels::of(5, [0, 2, 4]);
        let codes = |cut: Cut| cut.sides(&possible, 5).iter().map(|s| s.iter().collect()).collect::<Vec<Vec<u32>>>();
        assert_eq!(codes(Cut::Each), [vec![0], vec![2], vec![4]]);
        assert_eq!(codes(Cut::Level(2)), [vec![2], vec![0, 4]]);
        assert_eq!(codes(Cut::Below(3)), [vec![0, 2], vec![4]]);
    }
}
