//! Dynamic programming over all subsets of variables (Silander and Myllymaki 2006): the exact search for components of
//! up to about 25 variables, and the oracle of the tests.
//!
//! For each variable v a table over the subsets of `U_v` (the union of v's sets) holds the rank of the best set within
//! each subset: placed sets, then a minimum over sub-subsets, dimension by dimension. Then, over all subsets X by growing
//! number, `f[X] = min over v in X of f[X - v] + cost(v, best set within X - v)`. Both passes run in blocks that stay in
//! cache. Memory: 8 bytes per subset, and 4 per entry of the tables. Ties go to the sink with the smaller number and, per
//! sink, to the set that stands first among the candidates.
//!
//! The tables would need more than the costs: 15 GB against 2 at 28 variables. So the subsets are worked through slab by
//! slab. A slab is what has the same members among the last t variables; its tables are made of the sets that these
//! permit, range over the other variables only, and are dropped with it. Every slab comes after those it looks back to.

use rayon::prelude::*;

use crate::control::Budget;
use crate::error::Result;
use crate::exact::bits::Bits;
use crate::exact::problem::{Columns, NEVER, Problem};

/// Subsets whose bits below this number vary together form a block (4096 subsets, 32 kB of costs).
pub const BLOCK_BITS: usize = 12;

/// What the program would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// About how many bytes.
    pub bytes: f64,
    /// About how many elementary steps.
    pub steps: f64,
    /// By how many of the last variables the subsets are cut into slabs.
    slab_bits: usize,
}

/// The fewest steps that fit into the memory; where none does, the fewest bytes.
///
/// # Panics
/// Never: there is always a way to cut.
pub fn size<const W: usize>(problem: &Problem<W>, memory: f64) -> Size {
    let n = problem.n();
    let with = |slab_bits: usize| {
        let inside = Bits::first(n - slab_bits);
        let slabs = 2f64.powi(slab_bits as i32);
        // Measured: a look-up of a cost takes as long as 10 minima of a table, a look at a set as long as 28.
        let (mut bytes, mut steps) = (8.0 * 2f64.powi(n as i32), 2.5 * n as f64 * 2f64.powi(n as i32));
        for (v, columns) in problem.columns.iter().enumerate() {
            let parents = (columns.unions[columns.len()] & inside).len() as i32;
            let table = 2f64.powi(parents);
            let slabs = if inside.has(v) { slabs } else { slabs / 2.0 };
            bytes += 4.0 * table + 24.0 * columns.len() as f64;
            steps += slabs * (f64::from(parents) / 4.0 * table + 7.0 * columns.len() as f64);
        }
        Size { bytes, steps, slab_bits }
    };
    let sizes = || (0..=n.saturating_sub(BLOCK_BITS)).map(with);
    let fitting = sizes().filter(|size| size.bytes <= memory).min_by(|a, b| a.steps.total_cmp(&b.steps));
    let smallest = sizes().min_by(|a, b| a.bytes.total_cmp(&b.bytes));
    fitting.or(smallest).expect("no slabs at all is one way")
}

/// The best set of one variable within every subset of its possible parents, slab by slab.
pub struct Table {
    /// Parents that vary within a slab.
    parents: u64,
    /// Per set, its members among the slab bits, and where it stands in the table.
    sets: Vec<(u64, u32)>,
    /// Cost by rank; the last one stands for "no set".
    pub costs: Vec<i64>,
    /// Index of the low (block) part of a subset.
    pub low: Vec<u32>,
    /// Rank of the best set; kept from slab to slab, because fresh memory costs more than filling it.
    pub best: Vec<u32>,
}

impl Table {
    /// Lays out, for the subsets of `inside`, with `block` low bits; `fill` follows.
    pub fn new<const W: usize>(columns: &Columns<W>, inside: u64, block: usize) -> Self {
        let parents = columns.unions[columns.len()].word() & inside;
        let place = |set: u64| (set & !inside, squeeze(set & inside, parents) as u32);
        Self {
            parents,
            sets: columns.sets.iter().map(|set| place(set.word())).collect(),
            costs: columns.costs.iter().copied().chain([NEVER]).collect(),
            low: (0..1u64 << block).map(|x| squeeze(x & parents, parents) as u32).collect(),
            best: vec![0; 1 << parents.count_ones()],
        }
    }

    /// Moves to the slab whose members among the slab bits are given.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped.
    pub fn fill(&mut self, slab: u64, budget: Budget) -> Result<()> {
        self.best.fill(self.sets.len() as u32);
        for (i, &(outside, at)) in self.sets.iter().enumerate().rev() {
            if outside & !slab == 0 {
                self.best[at as usize] = i as u32;
            }
        }
        spread(&mut self.best, budget)
    }

    /// Index of the high (block) part of a subset.
    pub fn high(&self, subset: u64) -> usize {
        squeeze(subset & self.parents, self.parents)
    }

    /// The cost of the best set within the subset of a low part and the index of a high part.
    #[inline]
    pub fn cost(&self, high: usize, low: usize) -> i64 {
        self.costs[self.best[high + self.low[low] as usize] as usize]
    }
}

/// The bits of a subset of `of`, moved together (pext).
pub fn squeeze(subset: u64, of: u64) -> usize {
    let (mut out, mut left) = (0, subset);
    while left != 0 {
        let bit = left & left.wrapping_neg();
        out |= 1 << (of & (bit - 1)).count_ones();
        left ^= bit;
    }
    out
}

/// Every entry becomes the minimum over its subsets.
pub fn minima(best: &mut [u32]) {
    let (eights, _) = best.as_chunks_mut::<8>();
    for eight in eights {
        for (step, mask) in [(1, 0b1010_1010), (2, 0b1100_1100), (4, 0b1111_0000)] {
            for i in (0..8).filter(|i| mask >> i & 1 == 1) {
                eight[i] = eight[i].min(eight[i - step]);
            }
        }
    }
    let mut step = if best.len() < 8 { 1 } else { 8 };
    while step < best.len() {
        for pair in best.chunks_exact_mut(2 * step) {
            let (without, with) = pair.split_at_mut(step);
            combine(without, with);
        }
        step *= 2;
    }
}

/// The same for large tables: halves are finished while they are in cache, then combined.
fn spread(best: &mut [u32], budget: Budget) -> Result<()> {
    if best.len() <= 1 << 14 {
        minima(best);
        return Ok(());
    }
    budget.check()?;
    let (without, with) = best.split_at_mut(best.len() / 2);
    let (a, b) = rayon::join(|| spread(without, budget), || spread(with, budget));
    combine(without, with);
    a.and(b)
}

fn combine(without: &[u32], with: &mut [u32]) {
    for (a, b) in without.iter().zip(with) {
        // Ranks are far below 2^31, and signed numbers compare in one instruction.
        *b = if (*a as i32) < (*b as i32) { *a } else { *b };
    }
}

/// The cheapest order and its cost, in the memory that was given; None if no order admits a choice of sets.
///
/// # Errors
/// `Error::Interrupted` if stopped.
///
/// # Panics
/// With 64 variables or more; the caller compares the size with its memory first.
pub fn solve<const W: usize>(problem: &Problem<W>, memory: f64, budget: Budget) -> Result<Option<(i64, Vec<usize>)>> {
    let n = problem.n();
    let block = n.min(BLOCK_BITS);
    assert!(n < 64, "the caller compares the size with its memory");
    let inner = n - size(problem, memory).slab_bits;
    let blocks_per_slab = 1usize << (inner - block);
    budget.control().expect(1 << (n - block));
    let inside = (1u64 << inner) - 1;
    let mut tables: Vec<Table> = problem.columns.iter().map(|columns| Table::new(columns, inside, block)).collect();
    let mut f = vec![NEVER; 1 << n];
    f[0] = 0;
    let mut blocks: Vec<Option<&mut [i64]>> = f.chunks_exact_mut(1 << block).map(Some).collect();
    let mut done: Vec<&[i64]> = vec![&[]; blocks.len()];
    for slab in 0..1usize << (n - inner) {
        let members = (slab as u64) << inner;
        budget.check()?;
        // A sink of these subsets is one of their members.
        let possible = |v: usize| v < inner || members >> v & 1 == 1;
        let sinks = tables.par_iter_mut().enumerate().filter(|&(v, _)| possible(v));
        sinks.try_for_each(|(_, table)| table.fill(members, budget))?;
        for layer in layers(inner - block) {
            let mine = layer.into_iter().map(|high| high + slab * blocks_per_slab);
            let mut work: Vec<(usize, &mut [i64])> =
                mine.map(|high| (high, blocks[high].take().expect("each block is filled once"))).collect();
            work.par_iter_mut().try_for_each(|(high, out)| {
                fill_block(*high, out, &done, &tables, block);
                budget.control().advance(1);
                budget.check()
            })?;
            for (high, out) in work {
                done[high] = out;
            }
        }
    }
    Ok(follow(&f, problem))
}

/// Numbers of so many bits, by how many are set: blocks with equally many members do not depend on one another.
fn layers(bits: usize) -> Vec<Vec<usize>> {
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); bits + 1];
    for high in 0..1usize << bits {
        layers[high.count_ones() as usize].push(high);
    }
    layers
}

fn fill_block(high: usize, out: &mut [i64], done: &[&[i64]], tables: &[Table], block: usize) {
    let subset = (high as u64) << block;
    for (v, table) in tables.iter().enumerate().skip(block).filter(|&(v, _)| subset >> v & 1 == 1) {
        let before = done[high & !(1 << (v - block))];
        let offset = table.high(subset & !(1 << v));
        let (best, costs) = (&table.best[offset..], &table.costs[..]);
        for ((out, &before), &low) in out.iter_mut().zip(before).zip(&table.low) {
            *out = (*out).min(before + costs[best[low as usize] as usize]);
        }
    }
    let low: Vec<(&Table, usize)> = tables[..block].iter().map(|t| (t, t.high(subset))).collect();
    for subset in 1..out.len() {
        let mut best = out[subset];
        let mut left = subset;
        while left != 0 {
            let v = left.trailing_zeros() as usize;
            left &= left - 1;
            let rest = subset & !(1 << v);
            let (table, offset) = low[v];
            best = best.min(out[rest] + table.cost(offset, rest));
        }
        out[subset] = best;
    }
}

/// The order behind the cost of all variables, last sink first.
fn follow<const W: usize>(f: &[i64], problem: &Problem<W>) -> Option<(i64, Vec<usize>)> {
    let mut subset = f.len() - 1;
    if f[subset] >= NEVER {
        return None;
    }
    let (cost, mut order) = (f[subset], Vec::with_capacity(problem.n()));
    while subset != 0 {
        let attains = |v: usize| {
            let (rest, columns) = (subset & !(1 << v), &problem.columns[v]);
            let best = columns.sets.iter().position(|set| set.word() & !(rest as u64) == 0);
            rest != subset && best.is_some_and(|rank| f[rest] + columns.costs[rank] == f[subset])
        };
        let sink = (0..problem.n()).find(|&v| attains(v)).expect("some sink attains the minimum");
        order.push(sink);
        subset &= !(1 << sink);
    }
    order.reverse();
    Some((cost, order))
}
