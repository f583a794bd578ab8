//! A decision graph while it grows: its leaves with their rows, and what every operator would gain.
//!
//! An operator touches the leaves it takes away and makes; everything known of the others stays valid, whichever
//! predictors are allowed at the moment. Leaves are numbered as they are made, so the smaller number is the older leaf; a
//! merged leaf is a new one.

use std::sync::Arc;

use rayon::prelude::*;

use super::amounts::Tallied;
use super::levels::Levels;
use super::merges::Merges;
use super::predictors::Predictors;
use super::prior::{Alphas, Context, Counts, Marginal, Prior, total};
use super::region::Region;
use super::splits::{self, Cut, Gains, Scratch};
use super::{Schedule, Settings};
use crate::control::{Budget, Halt};
use crate::error::Result;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// A child with the predictors its graph may split on.
pub struct Problem<'a, N: Tallied = u32> {
    /// The table.
    pub predictors: &'a Predictors,
    /// The child.
    pub child: Var,
    /// Its number of levels.
    pub r: usize,
    /// Its code in every row, and what the row weighs.
    pub children: Vec<N::Row>,
    /// The predictors' variables, ascending.
    pub fields: Vec<Var>,
    /// Scores of leaves.
    pub marginal: Marginal,
    /// Pseudo-counts of leaves.
    pub prior: Prior,
    /// How to grow.
    pub settings: &'a Settings,
    /// Looked at between predictors.
    pub budget: Option<Budget<'a>>,
    /// Looked at with it.
    pub halt: Halt,
    /// Whether a leaf's predictors may be looked at by several threads.
    pub parallel: bool,
}

impl<N: Tallied> Problem<'_, N> {
    /// What the prior has to know.
    pub fn context(&self) -> Context<'_> {
        Context { child: self.child, r: self.r, fields: &self.fields }
    }

    /// Number of levels of a predictor.
    ///
    /// # Panics
    /// If it cannot be used, which is checked when the problem is made.
    pub fn n_levels(&self, field: usize) -> usize {
        self.predictors.get(self.fields[field]).expect("predictors were checked").k
    }

    pub(super) fn check(&self) -> Result<()> {
        self.halt.check()?;
        self.budget.map_or(Ok(()), |budget| budget.check())
    }
}

/// A set of rows that share one distribution of the child.
#[derive(Clone, Debug)]
pub struct GrownLeaf<N: Tallied = u32> {
    /// Positions in the table, in no particular order.
    pub rows: Vec<u32>,
    /// The child's counts.
    pub counts: Counts<N>,
    /// Their sum.
    pub n: N,
    /// Pseudo-counts.
    pub alphas: Alphas,
    /// Marginal likelihood and cost.
    pub score: f64,
    /// What leads here.
    pub region: Region,
    /// By predictor: the best splits.
    pub gains: Vec<Gains>,
    best: Best,
}

/// The best splits of a leaf: (gain, predictor).
#[derive(Clone, Copy, Debug)]
struct Best {
    complete: (f64, usize),
    binary: (f64, usize),
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Of a leaf, by a predictor.
    Split {
        /// The leaf's number.
        leaf: usize,
        /// The predictor's position.
        field: usize,
        /// How.
        cut: Cut,
    },
    /// Of two leaves, the older one first.
    Merge(usize, usize),
}

/// A node of the growing graph.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A leaf by its number.
    Leaf(usize),
    /// Merged: another node stands for it.
    Same(usize),
    /// A question and the nodes of its sides.
    Split {
        /// The predictor's position.
        field: usize,
        /// How it divides.
        cut: Cut,
        /// The levels of each side, and its node.
        sides: Vec<(Levels, usize)>,
    },
}

/// A growing decision graph.
#[derive(Clone, Debug)]
pub struct State<N: Tallied = u32> {
    leaves: Vec<Option<Arc<GrownLeaf<N>>>>,
    /// Numbers of the leaves there are, ascending.
    live: Vec<usize>,
    shapes: Vec<Shape>,
    /// By leaf: its node.
    nodes: Vec<usize>,
    merges: Merges<N>,
    n_steps: usize,
}

/// Fewer (row, predictor) pairs are not worth several threads.
const WORTH_THREADS: usize = 1 << 17;

impl<N: Tallied> State<N> {
    /// A single leaf.
    ///
    /// # Errors
    /// If the prior cannot say, or the budget is used up.
    pub fn new(problem: &Problem<'_, N>) -> Result<Self> {
        Self::root(problem, true)
    }

    /// A single leaf of which no split is known.
    ///
    /// # Errors
    /// If the prior cannot say.
    pub fn unlooked(problem: &Problem<'_, N>) -> Result<Self> {
        Self::root(problem, false)
    }

    fn root(problem: &Problem<'_, N>, look: bool) -> Result<Self> {
        // A row of weight 0 does not count for the child.
        let counts = |row: &u32| N::of_row(problem.children[*row as usize]).1 != N::default();
        let rows: Vec<u32> = (0..problem.children.len() as u32).filter(counts).collect();
        let (live, shapes, nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut state = Self { leaves: Vec::new(), live, shapes, nodes, merges: Merges::default(), n_steps: 0 };
        let region = Region::whole();
        let alphas = problem.prior.of(&problem.context(), &region)?;
        let leaf = leaf(problem, rows, alphas, region, look)?;
        state.shapes.push(Shape::Leaf(0));
        state.add(problem, leaf, 0);
        Ok(state)
    }

    /// The leaves with their numbers, oldest first.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, &GrownLeaf<N>)> + '_ {
        self.live.iter().map(|&id| (id, self.leaf(id)))
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.live.len()
    }

    /// Operators applied so far.
    pub fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// All nodes, the root first.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The sum of the leaves' scores.
    pub fn score(&self) -> f64 {
        self.leaves().map(|(_, leaf)| leaf.score).sum()
    }

    /// A leaf by its number.
    ///
    /// # Panics
    /// If it is gone.
    pub fn leaf(&self, id: usize) -> &GrownLeaf<N> {
        self.leaves[id].as_ref().expect("numbers in use have leaves")
    }

    /// The predictors that some node asks about.
    pub fn asked(&self, n_fields: usize) -> Vec<bool> {
        let mut out = vec![false; n_fields];
        for shape in &self.shapes {
            if let Shape::Split { field, .. } = shape {
                out[*field] = true;
            }
        }
        out
    }

    /// The best operator under the schedule and its gain, if one improves; splits only by allowed predictors.
    pub fn best(&mut self, problem: &Problem<'_, N>, allowed: Option<&[bool]>) -> Option<(f64, Operator)> {
        let least = problem.marginal.least();
        let bests: Vec<Best> = self.live.iter().map(|&id| self.leaf(id).best(allowed, least)).collect();
        let of_splits = bests.iter().map(|b| b.complete.0.max(b.binary.0)).fold(f64::NEG_INFINITY, f64::max);
        let settings = problem.settings;
        let wait = settings.schedule == Schedule::SplitsFirst && of_splits > least;
        let of_merges = if settings.operators.merge && !wait {
            self.merges.top(&problem.marginal, &problem.prior)
        } else {
            f64::NEG_INFINITY
        };
        let top = of_splits.max(of_merges);
        if top <= least || top.is_nan() {
            return None;
        }
        let leaves = || self.live.iter().zip(&bests);
        if let Some((&leaf, best)) = leaves().find(|(_, best)| best.complete.0 >= top - least) {
            return Some((best.complete.0, Operator::Split { leaf, field: best.complete.1, cut: Cut::Each }));
        }
        if let Some((&leaf, best)) = leaves().find(|(_, best)| best.binary.0 >= top - least) {
            let cut = self.leaf(leaf).gains[best.binary.1].cut;
            return Some((best.binary.0, Operator::Split { leaf, field: best.binary.1, cut }));
        }
        let (older, younger) = self.merges.pair(of_merges, &problem.marginal, &problem.prior)?;
        Some((of_merges, Operator::Merge(older, younger)))
    }

    /// Applies an operator.
    ///
    /// # Errors
    /// If the prior cannot say, or the budget is used up; then the state is as before.
    pub fn apply(&mut self, problem: &Problem<'_, N>, operator: Operator) -> Result<()> {
        match operator {
            Operator::Split { leaf, field, cut } => self.split(problem, leaf, field, cut)?,
            Operator::Merge(a, b) => self.merge(problem, a, b)?,
        }
        self.n_steps += 1;
        Ok(())
    }

    fn split(&mut self, problem: &Problem<'_, N>, id: usize, field: usize, cut: Cut) -> Result<()> {
        let old = self.leaves[id].clone().expect("numbers in use have leaves");
        let predictor = problem.predictors.get(problem.fields[field])?;
        let possible = old.region.possible(field).unwrap_or_else(|| Levels::all(predictor.k));
        let sides = cut.sides(&possible, predictor.k);
        let mut side_of = vec![u32::MAX; predictor.k];
        for (side, levels) in sides.iter().enumerate() {
            levels.iter().for_each(|level| side_of[level as usize] = side as u32);
        }
        let mut rows = vec![Vec::new(); sides.len()];
        for &row in &old.rows {
            rows[side_of[predictor.codes.get(row as usize)] as usize].push(row);
        }
        let made = sides
            .iter()
            .zip(rows)
            .map(|(levels, rows)| {
                let region = old.region.within(field, predictor.k, levels);
                let alphas = problem.prior.of(&problem.context(), &region)?;
                leaf(problem, rows, alphas, region, true)
            })
            .collect::<Result<Vec<GrownLeaf<N>>>>()?;
        self.take(problem, id, &old);
        let mut below = Vec::with_capacity(sides.len());
        for (levels, leaf) in sides.into_iter().zip(made) {
            let node = self.shapes.len();
            self.shapes.push(Shape::Leaf(self.leaves.len()));
            self.add(problem, leaf, node);
            below.push((levels, node));
        }
        self.shapes[self.nodes[id]] = Shape::Split { field, cut, sides: below };
        Ok(())
    }

    fn merge(&mut self, problem: &Problem<'_, N>, a: usize, b: usize) -> Result<()> {
        let of = |id: usize| self.leaves[id].clone().expect("numbers in use have leaves");
        let (first, second) = (of(a), of(b));
        let mut rows = first.rows.clone();
        rows.extend_from_slice(&second.rows);
        let region = first.region.union(&second.region, |field| problem.n_levels(field));
        let alphas = problem.prior.merged(&first.alphas, &second.alphas);
        let both = leaf(problem, rows, alphas, region, true)?;
        self.take(problem, a, &first);
        self.take(problem, b, &second);
        let node = self.shapes.len();
        self.shapes.push(Shape::Leaf(self.leaves.len()));
        self.shapes[self.nodes[a]] = Shape::Same(node);
        self.shapes[self.nodes[b]] = Shape::Same(node);
        self.add(problem, both, node);
        Ok(())
    }

    fn take(&mut self, problem: &Problem<'_, N>, id: usize, leaf: &GrownLeaf<N>) {
        if let Ok(at) = self.live.binary_search(&id) {
            self.live.remove(at);
        }
        if problem.settings.operators.merge {
            self.merges.remove(id, leaf);
        }
        self.leaves[id] = None;
    }

    fn add(&mut self, problem: &Problem<'_, N>, leaf: GrownLeaf<N>, node: usize) {
        let id = self.leaves.len();
        if problem.settings.operators.merge {
            self.merges.insert(id, &leaf, &problem.marginal, &problem.prior);
        }
        self.live.push(id);
        self.nodes.push(node);
        self.leaves.push(Some(Arc::new(leaf)));
    }
}

/// A leaf of these rows, with the gains of all its splits if they are looked at.
fn leaf<N: Tallied>(
    problem: &Problem<'_, N>,
    rows: Vec<u32>,
    alphas: Alphas,
    region: Region,
    look: bool,
) -> Result<GrownLeaf<N>> {
    let children: Vec<N::Row> = rows.iter().map(|&row| problem.children[row as usize]).collect();
    let counts = counted::<N>(&children);
    let score = problem.marginal.score(&counts, &alphas);
    let nothing = (f64::NEG_INFINITY, usize::MAX);
    let best = Best { complete: nothing, binary: nothing };
    let n = total(&counts);
    let mut leaf = GrownLeaf { rows, counts, n, alphas, score, region, gains: Vec::new(), best };
    let n = problem.fields.len();
    // Under the uniform prior no split of a leaf of one level gains.
    let pure = problem.prior.is_uniform() && leaf.counts.len() < 2;
    leaf.gains = if !look || pure || leaf.rows.len() < 2 {
        vec![splits::NONE; n]
    } else if problem.parallel && leaf.rows.len() * n > WORTH_THREADS {
        let of = |scratch: &mut Scratch<N>, field| {
            problem.check()?;
            splits::gains(problem, &leaf, field, &children, scratch)
        };
        (0..n).into_par_iter().try_map_with(Scratch::default, of)?
    } else {
        let mut scratch = Scratch::default();
        let of = |field| {
            problem.check()?;
            splits::gains(problem, &leaf, field, &children, &mut scratch)
        };
        (0..n).map(of).collect::<Result<_>>()?
    };
    leaf.best = leaf.best(None, problem.marginal.least());
    Ok(leaf)
}

fn counted<N: Tallied>(children: &[N::Row]) -> Counts<N> {
    let code = |child: &N::Row| N::of_row(*child).0;
    let most = children.iter().map(code).max().map_or(0, |c| c as usize + 1);
    if most <= 64 + 4 * children.len() {
        let mut counts = vec![N::default(); most];
        for &child in children {
            let (code, n) = N::of_row(child);
            counts[code as usize] += n;
        }
        return (0..).zip(counts).filter(|c| c.1 != N::default()).collect();
    }
    let mut sorted = children.to_vec();
    sorted.sort_unstable_by_key(code);
    let together = |same: &[N::Row]| {
        let mut all = N::default();
        for &child in same {
            all += N::of_row(child).1;
        }
        (code(&same[0]), all)
    };
    sorted.chunk_by(|a, b| code(a) == code(b)).map(together).collect()
}

impl<N: Tallied> GrownLeaf<N> {
    /// The best splits by the allowed predictors; of those tied, the first predictor.
    fn best(&self, allowed: Option<&[bool]>, least: f64) -> Best {
        if allowed.is_none() && self.best.complete.1.min(self.best.binary.1) != usize::MAX {
            return self.best;
        }
        let first = |gain: fn(&Gains) -> f64| {
            let may = |field: usize| allowed.is_none_or(|allowed| allowed[field]);
            let gains = || self.gains.iter().map(gain).enumerate().filter(|&(field, _)| may(field));
            let top = gains().map(|g| g.1).fold(f64::NEG_INFINITY, f64::max);
            gains().find(|g| g.1 >= top - least).map_or((f64::NEG_INFINITY, usize::MAX), |(field, gain)| (gain, field))
        };
        Best { complete: first(|g| g.complete), binary: first(|g| g.binary) }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }
}
