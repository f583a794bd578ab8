//! The k best graphs, exactly; or all within a margin of the best, up to k.
//!
//! The naive method ranks all graphs. Tian, He and Ram (2010) keep the k best graphs over every subset of the variables
//! and build those of a larger subset by adding a sink. This does the same with four changes:
//!
//! * Every graph is built once: only by adding its largest sink, which an entry's set of sinks tells in one step; so no
//!   graph is compared with another to find duplicates.
//! * An exact bound, the best completion of every subset (one backward dynamic program, 8 bytes a subset), and a lower
//!   bound on the k-th best score, from graphs near the best one, leave few subsets with any entry at all: memory no
//!   longer grows with k times 2^n.
//! * Strongly connected components of "can be a parent of" are ranked apart and their lists combined.
//! * Sets are read best first and only as far as the bound allows.
//!
//! A component of n variables takes about `8 2^n + 4 sum_v 2^|U_v|` bytes, `U_v` the union of v's sets. What exceeds
//! the limit is refused before it is allocated. Graphs are made of the given candidates: a set that Step 1 dropped is in
//! none of them.

mod component;

use self::component::Component;
use super::bits::BitMatrix;
use super::families::{Families, Stored};
use crate::control::Budget;
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;

/// Totals closer than this to a bound count as equal: 1e-9, or what sums of such scores round by; less for scores far below
/// one.
fn slack(scores: impl Iterator<Item = f64>) -> f64 {
    let size: f64 = scores.map(f64::abs).sum();
    1e-9 * size.min(1.0).max(1e-5 * size)
}

/// How many graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KBest {
    /// At most so many.
    pub k: usize,
    /// Only graphs that score no less than the best minus this.
    pub margin: f64,
    /// Bytes that the tables may take.
    pub memory: f64,
}

/// A graph with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The parents of each variable.
    pub parents: Vec<Parents>,
    /// Each family's score.
    pub scores: Vec<f64>,
}

impl Ranked {
    /// The total score.
    pub fn score(&self) -> f64 {
        self.scores.iter().sum()
    }
}

/// One set's rank among its child's, per variable of a component; with their losses summed.
type Choice = (f64, Vec<(Var, u32)>);

impl KBest {
    /// The best graphs, best first; ties go to fewer arcs, then to the lexicographically smaller parents. If more graphs
    /// tie for the last place than fit, which of them are in the list is unspecified, but always the same.
    ///
    /// # Errors
    /// If there is no graph, the tables would exceed the memory, or the budget is used up.
    pub fn run(&self, stored: &Stored<'_>, budget: Budget<'_>) -> Result<Vec<Ranked>> {
        if self.k == 0 {
            return Err(Error::parameter("k", &0, "give how many graphs, from 1 up"));
        }
        if self.margin.is_nan() || self.margin < 0.0 {
            return Err(Error::parameter("margin", &self.margin, "give a score difference from 0 up"));
        }
        stored.start()?;
        let mut combined: Vec<Choice> = vec![(0.0, vec![])];
        for vars in components(stored) {
            let list = Component::new(stored, vars, self.memory)?.best(stored, self.k, self.margin, budget)?;
            combined = self.combine(stored, &combined, &list);
        }
        let mut ranked: Vec<Ranked> = combined.into_iter().map(|(_, ranks)| read(stored, ranks)).collect();
        let n_arcs = |g: &Ranked| g.parents.iter().map(Parents::len).sum::<usize>();
        ranked.sort_by(|a, b| {
            b.score().total_cmp(&a.score()).then(n_arcs(a).cmp(&n_arcs(b))).then_with(|| a.parents.cmp(&b.parents))
        });
        let rounding = ranked.first().map_or(0.0, |best| slack(best.scores.iter().copied()));
        let least = ranked.first().map_or(0.0, Ranked::score) - self.margin - rounding;
        ranked.retain(|graph| graph.score() >= least);
        Ok(ranked)
    }

    /// The k best sums of one choice of each list, both best first. A pair (i, j) has (i + 1)(j + 1) - 1 others no worse.
    fn combine(&self, stored: &Stored<'_>, a: &[Choice], b: &[Choice]) -> Vec<Choice> {
        let pairs = (0..a.len()).flat_map(|i| (0..b.len().min(self.k / (i + 1))).map(move |j| (i, j)));
        let mut sums: Vec<(f64, usize, usize)> = pairs.map(|(i, j)| (a[i].0 + b[j].0, i, j)).collect();
        sums.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        sums.truncate(self.k);
        let best = a[0].1.iter().chain(&b[0].1).map(|&(v, rank)| stored.set(v, rank).1);
        let least = a[0].0 + b[0].0 - self.margin - slack(best);
        sums.retain(|sum| sum.0 >= least);
        sums.into_iter().map(|(loss, i, j)| (loss, [&a[i].1[..], &b[j].1[..]].concat())).collect()
    }
}

fn read(stored: &Stored<'_>, mut ranks: Vec<(Var, u32)>) -> Ranked {
    ranks.sort_unstable();
    let family = |&(v, rank): &(Var, u32)| stored.set(v, rank);
    let (parents, scores) = ranks.iter().map(family).unzip();
    Ranked { parents, scores }
}

/// Variables that reach each other through "can be a parent of", each component ascending.
fn components(stored: &Stored<'_>) -> Vec<Vec<Var>> {
    let n = stored.n_vars();
    let mut reach = BitMatrix::new(n);
    for v in 0..n {
        for (set, _) in stored.sets(v) {
            for &p in set {
                reach.insert(v, p as Var);
            }
        }
    }
    for middle in 0..n {
        for v in 0..n {
            if reach.contains(v, middle) {
                reach.union_rows(v, middle);
            }
        }
    }
    let mut out: Vec<Vec<Var>> = vec![];
    let mut component_of = vec![usize::MAX; n];
    for v in 0..n {
        let known = reach.iter(v).take_while(|&u| u < v).find(|&u| reach.contains(u, v)).map(|u| component_of[u]);
        component_of[v] = known.unwrap_or(out.len());
        match known {
            Some(c) => out[c].push(v),
            None => out.push(vec![v]),
        }
    }
    out
}

#[cfg(test)]
mod tests;
