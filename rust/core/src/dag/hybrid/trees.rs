//! What trees say of a graph that regressions found: arcs that they do not need, and arcs that only they see.
//!
//! Trees ask by their Bayes factor, on normal scores, so that no shape of a column counts. A pair that curves of degree three
//! join because of a mere trend is seen through by a tree given the other parents; a wave, or two columns that only
//! together say something of a third, is seen by nothing else.

use rayon::prelude::*;

use super::judge::{log_prior, or_none};
use crate::control::Halt;
use crate::dag::Dag;
use crate::dag::knowledge::Knowledge;
use crate::error::Result;
use crate::kept::Kept;
use crate::local::LocalScore;
use crate::parents::Parents;
use crate::regress::cells::dot;
use crate::regress::features::Block;
use crate::table::{Kind, Table, Var};

/// Trees over normal scores.
pub(super) struct Trees {
    score: Box<dyn LocalScore>,
    takes: Vec<bool>,
    kept: Kept<(Var, Parents), Option<f64>>,
}

/// A tree tries all bipartitions of so many categories at most.
const MOST_LEVELS: usize = 8;
/// An arc with more other parents of its child is not judged.
const MOST_OTHERS: usize = 3;

impl Trees {
    /// Trees of a score, `PCART` without its prior over parent sets.
    pub fn new(score: Box<dyn LocalScore>) -> Self {
        let takes = |v| takes(score.table(), v);
        let takes = (0..score.table().n_vars()).map(takes).collect();
        Self { score, takes, kept: Kept::default() }
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
        let judged: Vec<_> = arcs.par_iter().map(judged).collect::<Result<_>>()?;
        Ok(judged.into_iter().flatten().collect())
    }

    /// Adds to a graph what only trees see, as far as the constraints permit; how many arcs these are.
    pub fn complete(&self, dag: &mut Dag, knowledge: &Knowledge<'_>, firsts: &[Block], halt: &Halt) -> Result<usize> {
        let mut added = 0;
        for (pair, _) in self.moments(firsts, halt)? {
            added += self.join_three(dag, knowledge, pair, halt)?;
        }
        for (a, b) in self.pairs(dag, knowledge, halt)? {
            added += self.join_two(dag, knowledge, a, b, halt)?;
        }
        Ok(added)
    }

    /// Pairs apart in the graph that depend on each other alone, and given the parents of either; the strongest first.
    fn pairs(&self, dag: &Dag, knowledge: &Knowledge<'_>, halt: &Halt) -> Result<Vec<(Var, Var)>> {
        let n = dag.n_vars();
        let apart: Vec<(Var, Var)> = (0..n)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .filter(|&(a, b)| !dag.adjacent(a, b) && knowledge.allows_edge(a, b))
            .collect();
        let least = self.cost(1);
        let judged = |&(a, b): &(Var, Var)| -> Result<Option<(f64, (Var, Var))>> {
            let mut weakest = f64::INFINITY;
            for given in [Parents::new(), dag.family(a), dag.family(b)] {
                match self.factor(a, b, &given, halt)? {
                    Some(factor) if factor > least => weakest = weakest.min(factor),
                    _ => return Ok(None),
                }
            }
            Ok(Some((weakest, (a, b))))
        };
        let mut judged: Vec<_> =
            apart.par_iter().map(judged).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        judged.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        Ok(judged.into_iter().map(|(_, pair)| pair).collect())
    }

    /// What the prior takes for so many more parents.
    fn cost(&self, more: usize) -> f64 {
        let n = self.takes.len();
        log_prior(n, 0) - log_prior(n, more)
    }

    fn join_two(&self, dag: &mut Dag, knowledge: &Knowledge<'_>, a: Var, b: Var, halt: &Halt) -> Result<usize> {
        let mut best: Option<(f64, Var, Var)> = None;
        for (parent, child) in [(a, b), (b, a)] {
            if !self.may_join(dag, knowledge, &[parent], child) {
                continue;
            }
            let before = dag.family(child);
            let (with, without) =
                (self.marginal(child, &with(&before, &[parent]), halt)?, self.marginal(child, &before, halt)?);
            // The graph has changed since the pair was judged.
            let gain = with.zip(without).map_or(f64::NEG_INFINITY, |(with, without)| with - without);
            if gain > self.cost(1) && best.is_none_or(|(most, ..)| gain > most) {
                best = Some((gain, parent, child));
            }
        }
        Ok(best.map_or(0, |(_, parent, child)| usize::from(dag.add_arc(parent, child))))
    }

    fn may_join(&self, dag: &Dag, knowledge: &Knowledge<'_>, parents: &[Var], child: Var) -> bool {
        let family = dag.family(child);
        let size = family.len() + parents.len();
        size <= MOST_OTHERS + 1
            && size <= knowledge.max_parents(child)
            && family.iter().chain(parents).all(|&p| self.takes[p])
            && parents.iter().all(|&p| knowledge.allows(p, child) && !dag.reaches(child, p))
    }

    /// Triples whose first features have a product that is not zero in the mean, where columns without an interaction have
    /// one only by curves; the clearest first.
    fn moments(&self, firsts: &[Block], halt: &Halt) -> Result<Vec<(Triple, f64)>> {
        let n_vars = firsts.len();
        let of: Vec<Vec<Vec<f64>>> = firsts.iter().zip(&self.takes).map(|(block, takes)| rows(block, *takes)).collect();
        let pairs: Vec<(Var, Var)> = (0..n_vars).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let from_pair = |&(a, b): &(Var, Var)| -> Result<Vec<(Triple, f64)>> {
            halt.check()?;
            let products: Vec<Vec<f64>> = of[a]
                .iter()
                .flat_map(|x| of[b].iter().map(|y| x.iter().zip(y).map(|(x, y)| x * y).collect()))
                .collect();
            let mut out = Vec::new();
            for (c, third) in of.iter().enumerate().skip(b + 1) {
                let n = third.first().map_or(0, Vec::len) as f64;
                let squares: f64 = products.iter().flat_map(|p| third.iter().map(|z| dot(p, z).powi(2))).sum();
                // The mean of a product of three has the variance 1/n: half the statistic, less BIC's price.
                let terms = (products.len() * third.len()) as f64;
                let gain = squares / n.max(1.0) / 2.0 - 0.5 * n.max(1.0).ln() * terms - self.cost(2);
                if terms > 0.0 && gain > 0.0 {
                    out.push(([a, b, c], gain));
                }
            }
            Ok(out)
        };
        let mut found: Vec<_> =
            pairs.par_iter().map(from_pair).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        found.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        found.truncate(20 * n_vars);
        Ok(found)
    }

    /// Makes two of a triple parents of the third, where the best tree sees something in what is not yet joined.
    fn join_three(&self, dag: &mut Dag, knowledge: &Knowledge<'_>, triple: Triple, halt: &Halt) -> Result<usize> {
        let mut best: Option<(f64, Parents, Var)> = None;
        for child in triple {
            let others = without(&triple, &[child]);
            let new: Parents = others.iter().copied().filter(|&p| !dag.adjacent(p, child)).collect();
            if new.is_empty() || !self.may_join(dag, knowledge, &new, child) {
                continue;
            }
            let before = dag.family(child);
            // Who is joined already, whichever way, explains first.
            let known: Parents = others.iter().copied().filter(|p| !new.contains(p) && !before.contains(p)).collect();
            let base = with(&before, &known);
            if base.len() + new.len() > MOST_OTHERS + 1 || base.iter().any(|&p| !self.takes[p]) {
                continue;
            }
            let gain = |more: &[Var]| -> Result<f64> {
                let (with, without) =
                    (self.marginal(child, &with(&base, more), halt)?, self.marginal(child, &base, halt)?);
                Ok(with.zip(without).map_or(f64::NEG_INFINITY, |(with, without)| with - without))
            };
            let all = gain(&new)? - self.cost(new.len());
            // Both together say more than either alone, or this is a matter of pairs.
            let mut alone = 0.0_f64;
            if new.len() > 1 {
                for &p in &new {
                    alone = alone.max(gain(&[p])? - self.cost(1));
                }
            }
            if all > alone
                && self.holds_from_other_ends(dag, child, &new, halt)?
                && best.as_ref().is_none_or(|b| all > b.0)
            {
                best = Some((all, new, child));
            }
        }
        let Some((_, parents, child)) = best else { return Ok(0) };
        Ok(parents.iter().filter(|&&p| dag.add_arc(p, child)).count())
    }

    /// Whether the child still says something of each new parent, given that one's own parents and the other's.
    fn holds_from_other_ends(&self, dag: &Dag, child: Var, new: &[Var], halt: &Halt) -> Result<bool> {
        for &p in new {
            let others: Parents = new.iter().copied().filter(|&q| q != p).collect();
            let given = without(&with(&dag.family(p), &others), &[child]);
            if given.len() > MOST_OTHERS || given.iter().chain([&child]).any(|&v| !self.takes[v]) {
                continue;
            }
            let (with, without) = (self.marginal(p, &with(&given, &[child]), halt)?, self.marginal(p, &given, halt)?);
            if with.zip(without).is_some_and(|(with, without)| with <= without) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

type Triple = [Var; 3];

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

fn without(set: &[Var], less: &[Var]) -> Parents {
    set.iter().copied().filter(|v| !less.contains(v)).collect()
}

/// First features row by row, each of mean square one; none of what trees do not take.
fn rows(block: &Block, takes: bool) -> Vec<Vec<f64>> {
    let unit = |x: Vec<f64>| -> Vec<f64> {
        let root = (x.len() as f64).sqrt();
        x.into_iter().map(|x| x * root).collect()
    };
    match block {
        _ if !takes => Vec::new(),
        Block::Rows(features) => features.iter().map(|x| unit(x.clone())).collect(),
        Block::Codes { codes, tables, .. } => {
            tables.iter().map(|t| unit(codes.iter().map(|&c| t[c as usize]).collect())).collect()
        }
    }
}
