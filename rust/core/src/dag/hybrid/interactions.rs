//! What only trees see: waves, and columns that only together say something of a third.
//!
//! A column that depends on two others jointly has no correlation with either, but the product of the three has a mean that
//! is not zero. Such triples are looked for among all; those that the curves of the graph's arcs make are left out by
//! regression, so that trees, which are slow over several parents, are asked of few.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::judge::{log_prior, or_none};
use super::trees::{MOST_OTHERS, Trees, with, without};
use crate::control::Halt;
use crate::dag::Dag;
use crate::dag::knowledge::Knowledge;
use crate::error::Result;
use crate::local::LocalScore;
use crate::parents::Parents;
use crate::regress::cells::dot;
use crate::regress::features::Block;
use crate::table::Var;
use arbornet_table::spread::TryMap;

type Triple = [Var; 3];

/// What curves are, and what they see.
pub(super) struct Curves<'a> {
    /// First features of every variable.
    pub firsts: &'a [Block],
    /// All features.
    pub all: &'a [Block],
    /// The regression of a child's first features on all features of its parents, without a prior.
    pub regression: &'a dyn LocalScore,
}

impl Curves<'_> {
    /// The gain of one of two variables by the other: the larger of both directions.
    fn gain(&self, a: Var, b: Var) -> Result<f64> {
        let direction = |child: Var, parent: Var| -> Result<f64> {
            let mut regression = self.regression.child(child)?;
            let with = or_none(regression.score(&[parent]))?;
            Ok(with.zip(or_none(regression.score(&[]))?).map_or(f64::NEG_INFINITY, |(with, without)| with - without))
        };
        Ok(direction(a, b)?.max(direction(b, a)?))
    }
}

impl Trees {
    /// Adds to a graph what only trees see, as far as the constraints permit; how many arcs these are.
    pub fn complete(
        &self,
        dag: &mut Dag,
        knowledge: &Knowledge<'_>,
        curves: &Curves<'_>,
        halt: &Halt,
    ) -> Result<usize> {
        let mut added = 0;
        let of: Vec<Vec<Vec<f64>>> =
            curves.firsts.iter().enumerate().map(|(v, block)| rows(block, self.takes(v))).collect();
        let triples = self.moments(&of, halt)?;
        for (triple, children) in self.unexplained(&triples, dag, &of, curves.all, halt)? {
            added += self.join_three(dag, knowledge, triple, &children, halt)?;
        }
        for (a, b) in self.pairs(dag, knowledge, curves, halt)? {
            added += self.join_two(dag, knowledge, a, b, halt)?;
        }
        Ok(added)
    }

    /// Pairs apart in the graph of which trees see more than curves do, and that depend on each other alone, and given the
    /// parents of either; the strongest first.
    ///
    /// What curves see of a pair the search has had before it, so this asks trees over several parents of few pairs.
    fn pairs(&self, dag: &Dag, knowledge: &Knowledge<'_>, curves: &Curves<'_>, halt: &Halt) -> Result<Vec<(Var, Var)>> {
        let n = dag.n_vars();
        let apart: Vec<(Var, Var)> = (0..n)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .filter(|&(a, b)| !dag.adjacent(a, b) && knowledge.allows_edge(a, b))
            .collect();
        let least = self.cost(1);
        let judged = |&(a, b): &(Var, Var)| -> Result<Option<(f64, (Var, Var))>> {
            let Some(alone) = self.factor(a, b, &[], halt)? else { return Ok(None) };
            if alone <= least || alone <= curves.gain(a, b)? {
                return Ok(None);
            }
            let mut weakest = alone;
            for given in [dag.family(a), dag.family(b)] {
                match self.factor(a, b, &given, halt)? {
                    Some(factor) if factor > least => weakest = weakest.min(factor),
                    _ => return Ok(None),
                }
            }
            Ok(Some((weakest, (a, b))))
        };
        let mut judged: Vec<_> = apart.par_iter().try_map(judged)?.into_iter().flatten().collect();
        judged.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        Ok(judged.into_iter().map(|(_, pair)| pair).collect())
    }

    /// What the prior takes for so many more parents.
    fn cost(&self, more: usize) -> f64 {
        let n = self.n_vars();
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
            && family.iter().chain(parents).all(|&p| self.takes(p))
            && parents.iter().all(|&p| knowledge.allows(p, child) && !dag.reaches(child, p))
    }

    /// Triples whose first features have a product that is not zero in the mean, where columns without an interaction have
    /// one only by curves; the clearest first.
    fn moments(&self, of: &[Vec<Vec<f64>>], halt: &Halt) -> Result<Vec<Triple>> {
        let n_vars = of.len();
        let pairs: Vec<(Var, Var)> = (0..n_vars).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let from_pair = |&(a, b): &(Var, Var)| -> Result<Vec<(Triple, f64)>> {
            halt.check()?;
            let products = products(&of[a], &of[b]);
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
        let mut found: Vec<_> = pairs.par_iter().try_map(from_pair)?.into_iter().flatten().collect();
        found.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        found.truncate(20 * n_vars);
        Ok(found.into_iter().map(|(triple, _)| triple).collect())
    }

    /// The triples with a member whose rest, after the curves of its parents, still goes with the others' product; which
    /// members these are.
    fn unexplained(
        &self,
        triples: &[Triple],
        dag: &Dag,
        of: &[Vec<Vec<f64>>],
        curves: &[Block],
        halt: &Halt,
    ) -> Result<Vec<(Triple, Parents)>> {
        let mut asked: Vec<Var> = triples.iter().flatten().copied().collect();
        asked.sort_unstable();
        asked.dedup();
        let rest = |&v: &Var| -> Result<(Var, Vec<Vec<f64>>)> {
            halt.check()?;
            let parents = dag.parents(v).filter(|&p| self.takes(p)).flat_map(|p| rows(&curves[p], true));
            Ok((v, rests(&of[v], parents)))
        };
        let rests: BTreeMap<Var, Vec<Vec<f64>>> = asked.par_iter().try_map(rest)?.into_iter().collect();
        let left = |triple: &Triple| -> Result<Option<(Triple, Parents)>> {
            halt.check()?;
            let goes = |child: &Var| {
                let [a, b] = others(triple, *child);
                let (products, rest) = (products(&of[a], &of[b]), &rests[child]);
                let n = rest.first().map_or(0, Vec::len) as f64;
                let squares: f64 = products.iter().flat_map(|p| rest.iter().map(|z| correlation(p, z).powi(2))).sum();
                let terms = (products.len() * rest.len()) as f64;
                terms > 0.0 && n * squares / 2.0 - 0.5 * n.ln() * terms - self.cost(2) > 0.0
            };
            let children: Parents = triple.iter().copied().filter(goes).collect();
            Ok((!children.is_empty()).then_some((*triple, children)))
        };
        let left: Vec<_> = triples.par_iter().try_map(left)?;
        Ok(left.into_iter().flatten().collect())
    }

    /// Makes two of a triple parents of a third, where the best tree sees something in what is not yet joined.
    fn join_three(
        &self,
        dag: &mut Dag,
        knowledge: &Knowledge<'_>,
        triple: Triple,
        children: &[Var],
        halt: &Halt,
    ) -> Result<usize> {
        let mut best: Option<(f64, Parents, Var)> = None;
        for &child in children {
            let others = without(&triple, &[child]);
            let new: Parents = others.iter().copied().filter(|&p| !dag.adjacent(p, child)).collect();
            if new.is_empty() || !self.may_join(dag, knowledge, &new, child) {
                continue;
            }
            let before = dag.family(child);
            // Who is joined already, whichever way, explains first.
            let known: Parents = others.iter().copied().filter(|p| !new.contains(p) && !before.contains(p)).collect();
            let base = with(&before, &known);
            if base.len() + new.len() > MOST_OTHERS + 1 || base.iter().any(|&p| !self.takes(p)) {
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
            if given.len() > MOST_OTHERS || given.iter().chain([&child]).any(|&v| !self.takes(v)) {
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

fn others(triple: &Triple, child: Var) -> [Var; 2] {
    match *triple {
        [a, b, c] if a == child => [b, c],
        [a, b, c] if b == child => [a, c],
        [a, b, _] => [a, b],
    }
}

/// The products of all features of two variables, row by row.
fn products(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).collect();
    a.iter().flat_map(|x| b.iter().map(move |y| product(x, y))).collect()
}

/// What is left of centred columns after the regression on others; nothing of one that these explain.
fn rests(columns: &[Vec<f64>], on: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut x in on {
        let size = dot(&x, &x);
        take_away(&mut x, &basis);
        let left = dot(&x, &x);
        if left > SPANNED * size {
            let root = left.sqrt();
            for x in &mut x {
                *x /= root;
            }
            basis.push(x);
        }
    }
    let rest = |column: &Vec<f64>| {
        let mut x = column.clone();
        take_away(&mut x, &basis);
        (dot(&x, &x) > SPANNED * dot(column, column)).then_some(x)
    };
    columns.iter().filter_map(rest).collect()
}

fn take_away(x: &mut [f64], basis: &[Vec<f64>]) {
    for q in basis {
        let share = dot(q, x);
        x.iter_mut().zip(q).for_each(|(x, q)| *x -= share * q);
    }
}

/// Of a column and a centred one; zero where the first is constant.
fn correlation(x: &[f64], centred: &[f64]) -> f64 {
    let n = x.len() as f64;
    let squares = dot(x, x) - x.iter().sum::<f64>().powi(2) / n;
    let both = (squares * dot(centred, centred)).sqrt();
    if both > 0.0 { dot(x, centred) / both } else { 0.0 }
}

/// A column of which no more than this share of its square is left is spanned by others.
const SPANNED: f64 = 1e-9;

/// First features row by row, each of mean square one; none of what trees do not take.
fn rows(block: &Block, takes: bool) -> Vec<Vec<f64>> {
    let unit = |x: Vec<f64>| -> Vec<f64> {
        let root = (x.len() as f64).sqrt();
        x.into_iter().map(|x| x * root).collect()
    };
    match block {
        _ if !takes => Vec::new(),
        Block::Rows(features) => features.iter().map(|x| unit(x.to_vec())).collect(),
        Block::Codes { codes, tables, .. } => {
            tables.iter().map(|t| unit(codes.iter().map(|&c| t[c as usize]).collect())).collect()
        }
    }
}
