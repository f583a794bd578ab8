//! What a family is worth whoever found it: the largest gain over no parents that any of several scores sees.
//!
//! Scores of one kind prefer the graphs of their own search. Judges of all kinds make graphs comparable: regressions of the
//! child's first features on lines and on curves, the discretised conditional Gaussian, the best tree, and for levels
//! among levels the quotient normalised maximum likelihood. Each gain carries the same prior over parent sets.

use rayon::prelude::*;

use super::trees::Trees;
use crate::control::Halt;
use crate::dag::Dag;
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::prior::{FamilySize, GraphPrior};
use crate::score::LocalScore;
use crate::score::kept::Kept;
use crate::table::Var;

/// The prior of every score here: one parent is expected.
pub(super) const PRIOR: GraphPrior = GraphPrior::Binomial { expected_parents: 1.0 };

/// What the prior says of so many parents; no score here has one that asks for parameters.
pub(super) fn log_prior(n_vars: usize, n_parents: usize) -> f64 {
    PRIOR.log_prior(FamilySize { n_vars, n_parents, n_parameters: 0.0 })
}

/// A score, or nothing where the family is too large for it.
pub(super) fn or_none(score: Result<f64>) -> Result<Option<f64>> {
    match score {
        Ok(score) => Ok(score.is_finite().then_some(score)),
        Err(Error::Family { .. } | Error::Memory { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All judges.
pub(super) struct Judge<'a> {
    /// Scores without a prior that take any family; each is compared with itself without parents.
    pub scores: Vec<Box<dyn LocalScore>>,
    /// Of levels given levels.
    pub counts: Option<Box<dyn LocalScore>>,
    /// Whether a variable has levels.
    pub levels: Vec<bool>,
    pub trees: &'a Trees,
    pub kept: Kept<(Var, Parents)>,
}

impl Judge<'_> {
    /// The sum over the families of a graph.
    pub fn total(&self, dag: &Dag, halt: &Halt) -> Result<f64> {
        let gains: Vec<f64> =
            (0..dag.n_vars()).into_par_iter().map(|v| self.gain(v, &dag.family(v), halt)).collect::<Result<_>>()?;
        Ok(gains.iter().sum())
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
