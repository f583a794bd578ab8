//! The k best graphs of one strongly connected component; members outside it are always available.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::super::families::Stored;
use super::{Choice, slack};
use crate::control::Budget;
use crate::error::{Error, Result};
use crate::table::Var;

/// Subsets are words of 32 bits with room to spare.
const MOST_VARIABLES: usize = 30;
/// Beyond so many graphs a bound from graphs near the best one costs more than it saves.
const MOST_NEAR: usize = 5000;
/// Subsets are projected on a variable's possible parents by this many bits at a time.
const CHUNK: usize = 10;

/// A candidate set as the component sees it.
#[derive(Clone, Copy, Debug)]
struct Set {
    /// Members inside the component.
    mask: u32,
    /// Its score less the child's best, unless that is above zero: then its score itself. So no loss is larger than the
    /// score that it stands for, and sums of losses round by no more than sums of scores, whatever sets there are beside.
    loss: f64,
}

pub struct Component {
    vars: Vec<Var>,
    /// Per variable, best first, in the order of the stored sets.
    sets: Vec<Vec<Set>>,
    /// By placed subset: the least loss of the variables still to place.
    rest: Vec<f64>,
    /// Bytes that entries may take.
    memory: f64,
}

/// The first usable set of a variable within each subset of its possible parents.
struct First {
    ranks: Vec<u32>,
    chunks: Vec<Vec<u32>>,
}

impl First {
    fn new(sets: &[Set]) -> Self {
        let union = sets.iter().fold(0, |union, set| union | set.mask);
        let members: Vec<u32> = (0..u32::BITS).filter(|b| union >> b & 1 == 1).collect();
        let project = |mask: u32| members.iter().enumerate().fold(0, |m, (i, &b)| m | (mask >> b & 1) << i);
        let mut ranks = vec![u32::MAX; 1 << members.len()];
        for (rank, set) in sets.iter().enumerate() {
            let slot = &mut ranks[project(set.mask) as usize];
            *slot = (*slot).min(rank as u32);
        }
        for bit in 0..members.len() {
            for block in ranks.chunks_exact_mut(2 << bit) {
                let (without, with) = block.split_at_mut(1 << bit);
                for (w, wo) in with.iter_mut().zip(without) {
                    *w = (*w).min(*wo);
                }
            }
        }
        let chunk = |c: usize| (0..1_u32 << CHUNK).map(|part| project(part << (c * CHUNK))).collect();
        Self { ranks, chunks: (0..MOST_VARIABLES / CHUNK).map(chunk).collect() }
    }

    fn within(&self, subset: u32) -> u32 {
        let part = |c: usize| self.chunks[c][(subset >> (c * CHUNK)) as usize & ((1 << CHUNK) - 1)];
        self.ranks[(part(0) | part(1) | part(2)) as usize]
    }
}

/// A graph over the placed variables.
#[derive(Clone, Copy, Debug)]
struct Entry {
    loss: f64,
    sinks: u32,
    /// How it was made: by adding a variable with a set to another entry.
    made: u32,
}

/// The step that made an entry: the entry before, the variable, the rank of its set.
type Step = (u32, u8, u32);

/// An entry waiting for its subset to be complete, ordered by loss, then by how it was made.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Waiting {
    loss: f64,
    sinks: u32,
    step: Step,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.loss.total_cmp(&other.loss).then(other.step.cmp(&self.step))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keys in the order of falling numbers.
fn falling(number: f64) -> Reverse<i64> {
    let bits = number.to_bits().cast_signed();
    Reverse(bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed())
}

impl Component {
    pub fn new(stored: &Stored<'_>, vars: Vec<Var>, memory: f64) -> Result<Self> {
        let n = vars.len();
        let inside = |set: &[u32]| {
            set.iter().filter_map(|&p| vars.binary_search(&(p as Var)).ok()).fold(0_u64, |mask, i| mask | 1 << (i % 64))
        };
        let unions = vars.iter().map(|&v| stored.sets(v).fold(0, |union, (set, _)| union | inside(set)));
        let tables: f64 = unions.map(|union| 4.0 * 2_f64.powi(union.count_ones() as i32)).sum();
        let needed = 8.0 * 2_f64.powi(n as i32) + tables;
        if n > MOST_VARIABLES || needed > memory {
            // At worst every variable may use every other: 8 2^n + 4 n 2^(n-1) bytes.
            let fits = (1..=MOST_VARIABLES).rev().find(|&m| (8.0 + 2.0 * m as f64) * 2_f64.powi(m as i32) <= memory);
            return Err(Error::Memory {
                what: format!("ranking the graphs of {n} variables that can all be each other's ancestors"),
                needed_mb: (needed / 1e6).ceil() as u64,
                limit_mb: (memory / 1e6) as u64,
                advice: format!(
                    "up to about {} such variables fit; fewer candidates, tiers or forbidden arcs break them up",
                    fits.unwrap_or(0)
                ),
            });
        }
        let sets = vars.iter().map(|&v| {
            let from = stored.sets(v).next().map_or(0.0, |(_, score)| score.min(0.0));
            stored.sets(v).map(|(set, score)| Set { mask: inside(set) as u32, loss: score - from }).collect()
        });
        Ok(Self { sets: sets.collect(), vars, rest: vec![], memory: memory - needed })
    }

    fn full(&self) -> u32 {
        (1 << self.vars.len()) - 1
    }

    /// The best graphs, best first.
    pub fn best(mut self, stored: &Stored<'_>, k: usize, margin: f64, budget: Budget<'_>) -> Result<Vec<Choice>> {
        let first: Vec<First> = self.sets.iter().map(|sets| First::new(sets)).collect();
        self.complete(&first, budget)?;
        let ranks = self.best_ranks(&first);
        let scores = ranks.iter().zip(&self.vars).map(|(&rank, &v)| stored.set(v, rank).1);
        let within = self.rest[0] - margin - slack(scores.chain([margin]));
        let least = self.near_the_best(ranks, k, budget)?.max(within);
        let mut steps: Vec<Step> = vec![];
        let mut layer = BTreeMap::from([(0, vec![Entry { loss: 0.0, sinks: 0, made: u32::MAX }])]);
        for _ in 0..self.vars.len() {
            layer = self.next_layer(&layer, &first, least, k, &mut steps, budget)?;
        }
        let entries = layer.remove(&self.full()).expect("the best graph is never pruned");
        Ok(entries.iter().map(|entry| (entry.loss, self.ranks(entry, &steps))).collect())
    }

    /// The least loss of completing every placed subset, from the full one down.
    fn complete(&mut self, first: &[First], budget: Budget<'_>) -> Result<()> {
        let full = self.full();
        self.rest = vec![f64::NEG_INFINITY; full as usize + 1];
        self.rest[full as usize] = 0.0;
        for placed in (0..full).rev() {
            if placed.trailing_zeros() >= 16 {
                budget.check()?;
            }
            let mut best = f64::NEG_INFINITY;
            let mut left = full ^ placed;
            while left != 0 {
                let v = left.trailing_zeros() as usize;
                left &= left - 1;
                let rank = first[v].within(placed);
                if rank != u32::MAX {
                    best = best.max(self.sets[v][rank as usize].loss + self.rest[(placed | 1 << v) as usize]);
                }
            }
            self.rest[placed as usize] = best;
        }
        Ok(())
    }

    /// The rank of each variable's set in the best graph.
    fn best_ranks(&self, first: &[First]) -> Vec<u32> {
        let mut ranks = vec![0; self.vars.len()];
        let mut placed = 0;
        while placed != self.full() {
            let left = (0..self.vars.len()).filter(|v| placed >> v & 1 == 0);
            let choices = left.filter_map(|v| {
                let rank = first[v].within(placed);
                let set = self.sets[v].get(rank as usize)?;
                Some((set.loss + self.rest[(placed | 1 << v) as usize], v, rank))
            });
            let (_, v, rank) = choices.reduce(|a, b| if b.0 > a.0 { b } else { a }).expect("a graph exists");
            ranks[v] = rank;
            placed |= 1 << v;
        }
        ranks
    }

    /// The k-th best loss among graphs near the best one, less what sums round: no more than the k-th best of all. Starts from the best graph
    /// and exchanges one family at a time, best graphs first.
    fn near_the_best(&self, ranks: Vec<u32>, k: usize, budget: Budget<'_>) -> Result<f64> {
        if k > MOST_NEAR {
            return Ok(f64::NEG_INFINITY);
        }
        let losses = |ranks: &[u32]| {
            ranks.iter().zip(&self.sets).map(|(&r, sets)| sets[r as usize].loss).collect::<SmallVec<[f64; 32]>>()
        };
        let loss = |ranks: &[u32]| losses(ranks).iter().sum::<f64>();
        // A heap of reversed keys gives the best first.
        let key = |ranks: Vec<u32>| Reverse((falling(loss(&ranks)), ranks));
        let mut seen = FxHashSet::from_iter([ranks.clone()]);
        let mut heap = BinaryHeap::from([key(ranks)]);
        let mut worst = f64::INFINITY;
        for popped in 1..=k {
            budget.check()?;
            let Some(Reverse((_, ranks))) = heap.pop() else { return Ok(f64::NEG_INFINITY) };
            // Added up in another order, it may come to a little less.
            worst = worst.min(loss(&ranks) - slack(losses(&ranks).into_iter()));
            for v in 0..self.vars.len() {
                let below = self.descendants(&ranks, v);
                let legal = (0..self.sets[v].len() as u32).filter(|&r| self.sets[v][r as usize].mask & below == 0);
                for rank in legal.filter(|&r| r != ranks[v]).take(k - popped) {
                    let mut next = ranks.clone();
                    next[v] = rank;
                    if seen.insert(next.clone()) {
                        heap.push(key(next));
                    }
                }
            }
        }
        Ok(worst)
    }

    /// Variables that a path leads to from v, and v.
    fn descendants(&self, ranks: &[u32], v: usize) -> u32 {
        let mut below = 1 << v;
        loop {
            let before = below;
            for (u, &rank) in ranks.iter().enumerate() {
                if u != v && self.sets[u][rank as usize].mask & below != 0 {
                    below |= 1 << u;
                }
            }
            if below == before {
                return below;
            }
        }
    }

    fn next_layer(
        &self,
        layer: &BTreeMap<u32, Vec<Entry>>,
        first: &[First],
        least: f64,
        k: usize,
        steps: &mut Vec<Step>,
        budget: Budget<'_>,
    ) -> Result<BTreeMap<u32, Vec<Entry>>> {
        let mut next: BTreeMap<u32, BinaryHeap<Reverse<Waiting>>> = BTreeMap::new();
        for (&placed, entries) in layer {
            budget.check()?;
            for v in (0..self.vars.len()).filter(|v| placed >> v & 1 == 0) {
                let rank = first[v].within(placed);
                let rest = self.rest[(placed | 1 << v) as usize];
                let possible = rank != u32::MAX && entries[0].loss + self.sets[v][rank as usize].loss + rest >= least;
                if possible {
                    let waiting = next.entry(placed | 1 << v).or_default();
                    for entry in entries {
                        self.add_sink(*entry, placed, v, rank, least - rest, k, waiting);
                    }
                }
            }
        }
        let mut out = BTreeMap::new();
        for (placed, heap) in next.into_iter().filter(|(_, heap)| !heap.is_empty()) {
            let sorted = heap.into_sorted_vec().into_iter().map(|Reverse(w)| {
                steps.push(w.step);
                Entry { loss: w.loss, sinks: w.sinks, made: steps.len() as u32 - 1 }
            });
            out.insert(placed, sorted.collect());
            let needed = (size_of::<Step>() * steps.len()) as f64;
            if needed > self.memory {
                return Err(Error::Memory {
                    what: format!("a list of {k} graphs"),
                    needed_mb: (needed / 1e6).ceil() as u64,
                    limit_mb: (self.memory / 1e6) as u64,
                    advice: "give a smaller k or margin".to_owned(),
                });
            }
        }
        Ok(out)
    }

    /// Adds v with each usable set to a graph over `placed`, as long as it is the largest sink and the loss allows.
    #[allow(clippy::too_many_arguments)]
    fn add_sink(
        &self,
        entry: Entry,
        placed: u32,
        v: usize,
        from: u32,
        least: f64,
        k: usize,
        waiting: &mut BinaryHeap<Reverse<Waiting>>,
    ) {
        for (rank, set) in self.sets[v].iter().enumerate().skip(from as usize) {
            let loss = entry.loss + set.loss;
            let worst = if waiting.len() == k { waiting.peek().map_or(f64::NEG_INFINITY, |w| w.0.loss) } else { least };
            if loss < least.max(worst) {
                return;
            }
            let sinks = entry.sinks & !set.mask | 1 << v;
            if set.mask & !placed == 0 && sinks >> v == 1 {
                waiting.push(Reverse(Waiting { loss, sinks, step: (entry.made, v as u8, rank as u32) }));
                if waiting.len() > k {
                    waiting.pop();
                }
            }
        }
    }

    fn ranks(&self, entry: &Entry, steps: &[Step]) -> Vec<(Var, u32)> {
        let mut out = vec![];
        let mut made = entry.made;
        while made != u32::MAX {
            let (before, v, rank) = steps[made as usize];
            out.push((self.vars[v as usize], rank));
            made = before;
        }
        out
    }
}
