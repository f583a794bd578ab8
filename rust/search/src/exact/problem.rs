//! The search problem of one component: per variable its useful parent sets as bits, with integer costs, cheapest first.
//!
//! A cost is how much worse a set scores than its variable's best, in fixed point (`scale.rs`), so that every comparison
//! of the search is exact and does not depend on the order of a sum. Presolve drops sets that a subset beats or equals
//! and splits the graph of possible parents into strongly connected components: what a variable may take from an
//! upstream component costs nothing, so each component is a problem of its own.

use crate::candidates::Candidates;
use crate::error::{Error, Result};
use crate::exact::bits::Bits;
use crate::exact::dominance::useful;
use crate::exact::scale::Scale;

/// Stands for the cost of a choice that does not exist: above every total, and 2^10 of them still add up.
pub const NEVER: i64 = 1 << 52;

/// One parent set of one variable before it is packed into bits: members (local), what it scores less than the
/// variable's best, rank among the candidates.
pub type LooseSet = (Vec<u32>, f64, u32);

/// A problem before it is packed into bits.
#[derive(Clone, Debug, Default)]
pub struct Loose {
    /// The variables' positions among the candidates.
    pub vars: Vec<u32>,
    /// Per variable its sets, cheapest first.
    pub sets: Vec<Vec<LooseSet>>,
}

/// The problem of one component on sets of W words.
#[derive(Clone, Debug)]
pub struct Problem<const W: usize> {
    /// The variables' positions among the candidates.
    pub vars: Vec<u32>,
    /// Per variable its useful sets, cheapest first.
    pub columns: Vec<Columns<W>>,
}

/// The useful parent sets of one variable, cheapest first.
#[derive(Clone, Debug, Default)]
pub struct Columns<const W: usize> {
    /// The sets.
    pub sets: Vec<Bits<W>>,
    /// What each costs above the variable's best.
    pub costs: Vec<i64>,
    /// Where each stands among the candidates.
    pub ranks: Vec<u32>,
    /// `unions[i]` is the union of the first i sets.
    pub unions: Vec<Bits<W>>,
}

impl<const W: usize> Columns<W> {
    /// Puts sets that stand cheapest first together.
    pub fn new(columns: impl IntoIterator<Item = (Bits<W>, i64, u32)>) -> Self {
        let columns = columns.into_iter();
        let n = columns.size_hint().0;
        let mut out = Self {
            sets: Vec::with_capacity(n),
            costs: Vec::with_capacity(n),
            ranks: Vec::with_capacity(n),
            unions: Vec::with_capacity(n + 1),
        };
        let mut union = Bits::EMPTY;
        out.unions.push(union);
        for (set, cost, rank) in columns {
            union |= set;
            out.sets.push(set);
            out.costs.push(cost);
            out.ranks.push(rank);
            out.unions.push(union);
        }
        out
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        (self.sets.capacity() + self.unions.capacity()) * size_of::<Bits<W>>()
            + self.costs.capacity() * size_of::<i64>()
            + self.ranks.capacity() * size_of::<u32>()
    }

    /// True without sets.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The cheapest set within a prefix, of those before `end`.
    #[inline]
    pub fn best_within(&self, prefix: Bits<W>, end: usize) -> Option<usize> {
        let outside = !prefix;
        self.sets[..end].iter().position(|&set| !set.meets(outside))
    }

    /// Keeps the sets for which the answer is yes.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) -> usize {
        let kept: Vec<usize> = (0..self.len()).filter(|&i| keep(i)).collect();
        let dropped = self.len() - kept.len();
        if dropped > 0 {
            *self = Self::new(kept.into_iter().map(|i| (self.sets[i], self.costs[i], self.ranks[i])));
        }
        dropped
    }

    /// Drops the sets that a subset beats or equals.
    pub fn drop_dominated(&mut self) {
        let useful = useful(&self.sets);
        self.retain(|i| useful[i]);
    }
}

impl Loose {
    /// All candidates as one problem, without sets that score minus infinity.
    ///
    /// # Errors
    /// If a variable has no set left, or a score is plus infinity.
    pub fn from_candidates(candidates: &Candidates) -> Result<Self> {
        let n = candidates.n_vars();
        let sets = (0..n).map(|v| {
            let (child, name) = (candidates.child(v), &candidates.names()[v]);
            let best = child.best();
            if best == f64::NEG_INFINITY {
                return Err(Error::Shape(format!("'{name}' has no candidate parent set with a finite score")));
            }
            if best == f64::INFINITY {
                return Err(Error::Shape(format!("'{name}' has a candidate parent set that scores infinity")));
            }
            let finite = child.iter().enumerate().take_while(|(_, (_, score))| score.is_finite());
            Ok(finite.map(|(rank, (set, score))| (set.to_vec(), best - score, rank as u32)).collect())
        });
        Ok(Self { vars: (0..n as u32).collect(), sets: sets.collect::<Result<_>>()? })
    }

    /// The strongly connected components of the graph of possible parents, upstream first, each with its own sets.
    pub fn split(mut self) -> Vec<Self> {
        let n = self.vars.len();
        let parents: Vec<Vec<usize>> = self
            .sets
            .iter()
            .map(|sets| {
                let mut seen = vec![false; n];
                sets.iter().flat_map(|s| &s.0).for_each(|&p| seen[p as usize] = true);
                (0..n).filter(|&p| seen[p]).collect()
            })
            .collect();
        let components = strong_components(&parents);
        let mut local = vec![(usize::MAX, 0); n];
        for (c, members) in components.iter().enumerate() {
            members.iter().enumerate().for_each(|(i, &v)| local[v] = (c, i as u32));
        }
        let inside = |c: usize, set: &[u32]| -> Vec<u32> {
            set.iter().map(|&p| local[p as usize]).filter(|&(of, _)| of == c).map(|(_, i)| i).collect()
        };
        let mut own = |c: usize, v: usize| -> Vec<LooseSet> {
            let sets = std::mem::take(&mut self.sets[v]);
            sets.into_iter().map(|(set, cost, rank)| (inside(c, &set), cost, rank)).collect()
        };
        let component = |(c, members): (usize, &Vec<usize>)| Self {
            vars: members.iter().map(|&v| self.vars[v]).collect(),
            sets: members.iter().map(|&v| own(c, v)).collect(),
        };
        components.iter().enumerate().map(component).collect()
    }

    /// Packs into sets of W words, with costs on a scale, without dominated sets.
    ///
    /// # Panics
    /// If the words are too few for the variables.
    pub fn pack<const W: usize>(&self, scale: Scale) -> Problem<W> {
        assert!(self.vars.len() <= 64 * W, "the caller chooses W by the number of variables");
        let pack = |sets: &Vec<LooseSet>| {
            let bits = |set: &[u32]| set.iter().map(|&p| p as usize).collect();
            let mut columns = Columns::new(sets.iter().map(|(set, cost, rank)| (bits(set), scale.fixed(*cost), *rank)));
            columns.drop_dominated();
            columns
        };
        Problem { vars: self.vars.clone(), columns: self.sets.iter().map(pack).collect() }
    }
}

/// Strongly connected components of "parent -> child" graphs given by parents, every component after those it depends
/// on; members ascending. Tarjan's algorithm with its stack on the heap.
///
/// # Panics
/// If a parent is no vertex.
pub fn strong_components(parents: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = parents.len();
    let (mut index, mut low, mut on_stack) = (vec![NEW; n], vec![0; n], vec![false; n]);
    let (mut stack, mut calls, mut out, mut clock) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for root in 0..n {
        if index[root] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some(&mut (v, ref mut next)) = calls.last_mut() {
            if *next == 0 {
                (index[v], low[v]) = (clock, clock);
                clock += 1;
                stack.push(v);
                on_stack[v] = true;
            }
            if let Some(&w) = parents[v].get(*next) {
                *next += 1;
                if index[w] == NEW {
                    calls.push((w, 0));
                } else if on_stack[w] {
                    low[v] = low[v].min(index[w]);
                }
                continue;
            }
            // A vertex without parents must not be entered twice.
            calls.pop();
            if let Some(&(u, _)) = calls.last() {
                low[u] = low[u].min(low[v]);
            }
            if low[v] == index[v] {
                let start = stack.iter().rposition(|&w| w == v).expect("v is on the stack until its component is");
                let mut members = stack.split_off(start);
                for &w in &members {
                    on_stack[w] = false;
                }
                members.sort_unstable();
                out.push(members);
            }
        }
    }
    out
}

impl<const W: usize> Problem<W> {
    /// Number of variables.
    pub fn n(&self) -> usize {
        self.vars.len()
    }

    /// Number of sets.
    pub fn n_columns(&self) -> usize {
        self.columns.iter().map(Columns::len).sum()
    }

    /// How many bytes the sets take.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Columns::bytes).sum()
    }

    /// The variables that no choice of sets can order: each needs a parent among the others. Empty if a DAG exists.
    pub fn deadlock(&self) -> Bits<W> {
        let all = Bits::first(self.n());
        let mut prefix = Bits::EMPTY;
        loop {
            let ready = |&v: &usize| self.columns[v].best_within(prefix, self.columns[v].len()).is_some();
            let more: Bits<W> = all.minus(prefix).iter().filter(ready).collect();
            if more.is_empty() {
                return all.minus(prefix);
            }
            prefix |= more;
        }
    }

    /// The cheapest choice of sets along an order, and its cost.
    ///
    /// # Panics
    /// If the order admits no choice.
    pub fn follow(&self, order: &[usize]) -> (i64, Vec<usize>) {
        let mut chosen = vec![0; self.n()];
        let (mut prefix, mut cost) = (Bits::EMPTY, 0);
        for &v in order {
            let best = self.columns[v].best_within(prefix, self.columns[v].len());
            chosen[v] = best.expect("the order admits a choice");
            cost += self.columns[v].costs[chosen[v]];
            prefix = prefix.with(v);
        }
        (cost, chosen)
    }
}
