//! What trees say of a graph that regressions found: which arcs they do not need.
//!
//! Trees ask by their Bayes factor, on normal scores, so that no shape of a column counts. A pair that curves of degree three
//! join because of a mere trend is seen through by a tree given the other parents.

use rayon::prelude::*;

use super::judge::or_none;
use crate::control::Halt;
use crate::dag::Dag;
use crate::dag::knowledge::Knowledge;
use crate::error::Result;
use crate::kept::Kept;
use crate::local::LocalScore;
use crate::parents::Parents;
use crate::table::{Kind, Table, Var};
use arbornet_table::spread::TryMap;

/// Trees over normal scores.
pub(super) struct Trees {
    score: Box<dyn LocalScore>,
    takes: Vec<bool>,
    kept: Kept<(Var, Parents), Option<f64>>,
}

/// A tree tries all bipartitions of so many categories at most.
const MOST_LEVELS: usize = 8;
/// An arc with more other parents of its child is not judged.
pub(super) const MOST_OTHERS: usize = 3;

impl Trees {
    /// Trees of a score, `PCART` without its prior over parent sets.
    pub fn new(score: Box<dyn LocalScore>) -> Self {
        let takes = |v| takes(score.table(), v);
        let takes = (0..score.table().n_vars()).map(takes).collect();
        Self { score, takes, kept: Kept::default() }
    }

    /// Number of variables.
    pub fn n_vars(&self) -> usize {
        self.takes.len()
    }

    /// Whether a variable may be a parent.
    pub fn takes(&self, v: Var) -> bool {
        self.takes[v]
    }

    /// The log marginal likelihood of the best tree; `None` if the family is too large.
    pub fn marginal(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<Option<f64>> {
        self.kept.get_or((child, Parents::from_slice(parents)), |(child, parents)| {
            halt.check()?;
            let mut scratch = self.score.child(*child)?;
            scratch.heed(halt);
            or_none(scratch.score(parents))
        })
    }

    /// The log Bayes factor for `a` and `b` being dependent given others, ascending: the larger of both directions.
    pub fn factor(&self, a: Var, b: Var, given: &[Var], halt: &Halt) -> Result<Option<f64>> {
        if given.len() > MOST_OTHERS || given.iter().any(|&v| !self.takes[v]) {
            return Ok(None);
        }
        let direction = |child: Var, parent: Var| -> Result<Option<f64>> {
            if !self.takes[parent] {
                return Ok(None);
            }
            let with = self.marginal(child, &with(given, &[parent]), halt)?;
            Ok(with.zip(self.marginal(child, given, halt)?).map(|(with, without)| with - without))
        };
        let (one, other) = (direction(b, a)?, direction(a, b)?);
        Ok([one, other].into_iter().flatten().reduce(f64::max))
    }

    /// The arcs that no tree needs given their child's other parents, but for required ones.
    pub fn unneeded(&self, dag: &Dag, knowledge: &Knowledge<'_>, halt: &Halt) -> Result<Vec<(Var, Var)>> {
        let arcs: Vec<(Var, Var)> = dag.arcs().filter(|&(a, b)| !knowledge.requires(a, b)).collect();
        let judged = |&(a, b): &(Var, Var)| -> Result<Option<(Var, Var)>> {
            let others = without(&dag.family(b), &[a]);
            let factor = self.factor(a, b, &others, halt)?;
            Ok(factor.filter(|factor| *factor < 0.0).map(|_| (a, b)))
        };
        let judged: Vec<_> = arcs.par_iter().try_map(judged)?;
        Ok(judged.into_iter().flatten().collect())
    }
}

fn takes(table: &Table, v: Var) -> bool {
    match &table.variable(v).kind {
        Kind::Categorical { levels } => levels.len() <= MOST_LEVELS,
        Kind::Ordinal { .. } | Kind::Continuous { .. } => true,
    }
}

/// An ascending set with some more, each once.
pub(super) fn with(set: &[Var], more: &[Var]) -> Parents {
    let mut out: Parents = set.iter().chain(more).copied().collect();
    out.sort_unstable();
    out.dedup();
    out
}

pub(super) fn without(set: &[Var], less: &[Var]) -> Parents {
    set.iter().copied().filter(|v| !less.contains(v)).collect()
}
