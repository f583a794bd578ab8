//! What a family is worth whoever found it: the largest gain over no parents that any of several scores sees.
//!
//! Scores of one kind prefer the graphs of their own search. Judges of all kinds make graphs comparable: regressions of the
//! child's first features on lines and on curves, the discretised conditional Gaussian, the best tree, and for levels
//! among levels the quotient normalised maximum likelihood. Each gain carries the same prior over parent sets.
//!
//! Judges see more in one direction of an arc than in the other: a class of levels by a number is a curve, the number by the
//! class is not. Equivalent graphs differ in that by far more than graphs of different searches do, and which member of
//! its class a search returns is chance. So a class is worth what its best member is.

use rayon::prelude::*;

use super::trees::{Trees, with};
use crate::control::Halt;
use crate::dag::Dag;
use crate::dag::knowledge::Knowledge;
use crate::error::{Error, Result};
use crate::kept::Kept;
use crate::local::LocalScore;
use crate::parents::Parents;
use crate::prior::{FamilySize, GraphPrior};
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// The prior of every score here: one parent is expected, of two variables half of one, as there is no more than one.
pub(super) fn prior(n_vars: usize) -> GraphPrior {
    GraphPrior::Binomial { expected_parents: if n_vars > 2 { 1.0 } else { 0.5 } }
}

/// What the prior says of so many parents; no score here has one that asks for parameters.
pub(super) fn log_prior(n_vars: usize, n_parents: usize) -> f64 {
    prior(n_vars).log_prior(FamilySize { n_vars, n_parents, n_parameters: 0.0 })
}

/// A score, or nothing where the family is too large for it.
pub(super) fn or_none(score: Result<f64>) -> Result<Option<f64>> {
    match score {
        Ok(score) => Ok(score.is_finite().then_some(score)),
        Err(Error::Family { .. } | Error::Memory { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What is won by less is rounding.
pub(super) const LEAST: f64 = 1e-6;

/// All judges.
pub(super) struct Judge {
    /// Scores without a prior that take any family; each is compared with itself without parents.
    pub scores: Vec<Box<dyn LocalScore>>,
    /// Of levels given levels.
    pub counts: Option<Box<dyn LocalScore>>,
    /// Whether a variable has levels.
    pub levels: Vec<bool>,
    pub trees: Trees,
    pub kept: Kept<(Var, Parents)>,
}

impl Judge {
    /// What the best member of a graph's class is worth that can be had by reversing one arc after the other, the class kept.
    pub fn of_class(&self, dag: &Dag, knowledge: &Knowledge<'_>, halt: &Halt) -> Result<f64> {
        let mut dag = dag.clone();
        loop {
            let arcs: Vec<(Var, Var)> = dag.arcs().filter(|&arc| reversible(&dag, knowledge, arc)).collect();
            let judged = |&(a, b): &(Var, Var)| Ok((self.of_reversal(&dag, a, b, halt)?, (a, b)));
            let mut better: Vec<(f64, (Var, Var))> = arcs.par_iter().try_map(judged)?;
            better.retain(|(gain, _)| *gain > LEAST);
            if better.is_empty() {
                return self.total(&dag, halt);
            }
            better.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
            // The best first; those after it whose families are still what they were when they were judged.
            let mut changed = vec![false; dag.n_vars()];
            for (_, (a, b)) in better {
                if !changed[a] && !changed[b] {
                    dag.remove_arc(a, b);
                    dag.add_arc(b, a);
                    (changed[a], changed[b]) = (true, true);
                }
            }
        }
    }

    /// The sum over the families of a graph.
    pub fn total(&self, dag: &Dag, halt: &Halt) -> Result<f64> {
        let gains: Vec<f64> = (0..dag.n_vars()).into_par_iter().try_map(|v| self.gain(v, &dag.family(v), halt))?;
        Ok(gains.iter().sum())
    }

    /// What is won if an arc whose ends share all other parents points the other way.
    fn of_reversal(&self, dag: &Dag, a: Var, b: Var, halt: &Halt) -> Result<f64> {
        let (shared, with_b) = (dag.family(a), with(&dag.family(a), &[b]));
        let now = self.gain(a, &shared, halt)? + self.gain(b, &dag.family(b), halt)?;
        Ok(self.gain(a, &with_b, halt)? + self.gain(b, &shared, halt)? - now)
    }

    fn gain(&self, child: Var, parents: &Parents, halt: &Halt) -> Result<f64> {
        self.kept.get_or((child, parents.clone()), |_| {
            let mut best = if parents.is_empty() { 0.0 } else { f64::NEG_INFINITY };
            let counts = self.counts.iter().filter(|_| parents.iter().chain([&child]).all(|&v| self.levels[v]));
            for score in self.scores.iter().chain(counts) {
                halt.check()?;
                let mut scratch = score.child(child)?;
                scratch.heed(halt);
                if let (Some(with), Some(without)) = (or_none(scratch.score(parents))?, or_none(scratch.score(&[]))?) {
                    best = best.max(with - without);
                }
            }
            if let Some(gain) = self.of_trees(child, parents, halt)? {
                best = best.max(gain);
            }
            Ok(best + log_prior(self.levels.len(), parents.len()))
        })
    }

    /// The gain of the best tree over the strongest few parents that trees take.
    fn of_trees(&self, child: Var, parents: &Parents, halt: &Halt) -> Result<Option<f64>> {
        const MOST: usize = 3;
        let mut taken: Parents = parents.iter().copied().filter(|&p| self.trees.takes(p)).collect();
        if taken.len() > MOST {
            // The weakest go: those without whom the regression on curves loses the least.
            let curves = self.scores.last().map(|score| score.child(child)).transpose()?;
            if let Some(mut curves) = curves {
                let mut without = |p: &Var| {
                    let rest: Parents = parents.iter().copied().filter(|q| q != p).collect();
                    or_none(curves.score(&rest)).map(|score| score.unwrap_or(f64::NEG_INFINITY))
                };
                let mut losses: Vec<(f64, Var)> =
                    taken.iter().map(|p| Ok((without(p)?, *p))).collect::<Result<Vec<_>>>()?;
                losses.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                taken = losses[..MOST].iter().map(|(_, p)| *p).collect();
                taken.sort_unstable();
            }
        }
        if taken.is_empty() {
            return Ok(None);
        }
        let (with, without) = (self.trees.marginal(child, &taken, halt)?, self.trees.marginal(child, &[], halt)?);
        Ok(with.zip(without).map(|(with, without)| with - without))
    }
}

/// Whether an arc may be reversed and the class stays: its ends have all other parents in common.
fn reversible(dag: &Dag, knowledge: &Knowledge<'_>, (a, b): (Var, Var)) -> bool {
    let (of_a, of_b) = (dag.family(a), dag.family(b));
    of_b.len() == of_a.len() + 1
        && of_b.iter().all(|p| *p == a || of_a.contains(p))
        && !knowledge.requires(a, b)
        && knowledge.allows(b, a)
        && of_b.len() <= knowledge.max_parents(a)
}
