//! Dynamic programming over all subsets of variables (Silander and Myllymaki 2006): the exact search for components of
//! up to about 25 variables, and the oracle of the tests.
//!
//! Per variable v a table over the subsets of `U_v` (the union of v's sets) holds the rank of the best set within each
//! subset: placed sets, then a minimum over sub-subsets, dimension by dimension. Then, over all subsets X by growing
//! number, `f[X] = min over v in X of f[X - v] + cost(v, best set within X - v)`. Both passes run in blocks that stay
//! in cache. Memory: 4 bytes per entry of the tables, 8 bytes per subset. Ties go to the sink with the smaller number
//! and, per sink, to the set that stands first among the candidates.

use rayon::prelude::*;

use crate::control::Budget;
use crate::dag::exact::problem::{NEVER, Problem};
use crate::error::Result;

/// Subsets whose bits below this number vary together form a block (4096 subsets, 32 kB of costs).
const BLOCK_BITS: usize = 12;
/// About how many bytes the program would take, and how many elementary steps.
pub fn size<const W: usize>(problem: &Problem<W>) -> (f64, f64) {
    let n = problem.n() as i32;
    let all = 2f64.powi(n);
    let (mut bytes, mut steps) = (8.0 * all, f64::from(n) * all);
    for columns in &problem.columns {
        let parents = columns.unions[columns.len()].len() as i32;
        let table = 2f64.powi(parents);
        bytes += 4.0 * table;
        steps += f64::from(parents) / 4.0 * table;
    }
    (bytes, steps)
}

/// The best set within every subset of one variable's possible parents.
struct Table {
    parents: u64,
    best: Vec<u32>,
    /// Cost by rank; the last one stands for "no set".
    costs: Vec<i64>,
    /// Index of the low (block) part of a subset.
    low: Vec<u32>,
}

impl Table {
    fn new<const W: usize>(problem: &Problem<W>, v: usize, block: usize, budget: Budget) -> Result<Self> {
        let columns = &problem.columns[v];
        let parents = columns.unions[columns.len()].word();
        let none = columns.len() as u32;
        let mut best = vec![none; 1 << parents.count_ones()];
        for (i, set) in columns.sets.iter().enumerate().rev() {
            best[squeeze(set.word(), parents)] = i as u32;
        }
        spread(&mut best, budget)?;
        let low = (0..1u64 << block).map(|x| squeeze(x & parents, parents) as u32).collect();
        let costs = columns.costs.iter().copied().chain([NEVER]).collect();
        Ok(Self { parents, best, costs, low })
    }

    /// Index of the high (block) part of a subset.
    fn high(&self, subset: u64) -> usize {
        squeeze(subset & self.parents, self.parents)
    }
}

/// The bits of a subset of `of`, moved together (pext).
fn squeeze(subset: u64, of: u64) -> usize {
    let (mut out, mut left) = (0, subset);
    while left != 0 {
        let bit = left & left.wrapping_neg();
        out |= 1 << (of & (bit - 1)).count_ones();
        left ^= bit;
    }
    out
}

/// Every entry becomes the minimum over its subsets. Halves are finished while they are in cache, then combined.
fn spread(best: &mut [u32], budget: Budget) -> Result<()> {
    let half = best.len() / 2;
    if half == 0 {
        return Ok(());
    }
    if best.len() > 1 << 14 {
        budget.check()?;
        let (without, with) = best.split_at_mut(half);
        let (a, b) = rayon::join(|| spread(without, budget), || spread(with, budget));
        a.and(b)?;
    } else {
        let mut step = 1;
        while step < half {
            for pair in best.chunks_exact_mut(2 * step) {
                let (without, with) = pair.split_at_mut(step);
                combine(without, with);
            }
            step *= 2;
        }
    }
    let (without, with) = best.split_at_mut(half);
    combine(without, with);
    Ok(())
}

fn combine(without: &[u32], with: &mut [u32]) {
    for (a, b) in without.iter().zip(with) {
        *b = (*b).min(*a);
    }
}

/// The cheapest order and its cost; None if no order admits a choice of sets.
///
/// # Errors
/// `Error::Interrupted` if stopped.
///
/// # Panics
/// With 64 variables or more; the caller compares the size with its memory first.
pub fn solve<const W: usize>(problem: &Problem<W>, budget: Budget) -> Result<Option<(i64, Vec<usize>)>> {
    let n = problem.n();
    let block = n.min(BLOCK_BITS);
    assert!(n < 64, "the caller compares the size with its memory");
    budget.control().expect((n + (1 << (n - block))) as u64);
    let table = |v| {
        let table = Table::new(problem, v, block, budget);
        budget.control().advance(1);
        table
    };
    let tables = (0..n).into_par_iter().map(table).collect::<Result<Vec<_>>>()?;
    let mut f = vec![NEVER; 1 << n];
    fill(&mut f, &tables, n, block, budget)?;
    let full = (1usize << n) - 1;
    if f[full] >= NEVER {
        return Ok(None);
    }
    let mut order = Vec::with_capacity(n);
    let mut subset = full;
    while subset != 0 {
        let sink = (0..n).find(|&v| {
            let rest = subset & !(1 << v);
            let table = &tables[v];
            rest != subset && f[rest] + table.costs[table.best[table.high(rest as u64)] as usize] == f[subset]
        });
        let sink = sink.expect("some sink attains the minimum");
        order.push(sink);
        subset &= !(1 << sink);
    }
    order.reverse();
    Ok(Some((f[full], order)))
}

/// Blocks with equally many high variables do not depend on one another: layer by layer, in parallel.
fn fill(f: &mut [i64], tables: &[Table], n: usize, block: usize, budget: Budget) -> Result<()> {
    let size = 1usize << block;
    let high_bits = n - block;
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); high_bits + 1];
    for high in 0..1usize << high_bits {
        layers[high.count_ones() as usize].push(high);
    }
    let mut blocks: Vec<Option<&mut [i64]>> = f.chunks_exact_mut(size).map(Some).collect();
    let mut done: Vec<&[i64]> = vec![&[]; blocks.len()];
    for layer in &layers {
        let mut work: Vec<(usize, &mut [i64])> =
            layer.iter().map(|&high| (high, blocks[high].take().expect("each block is filled once"))).collect();
        work.par_iter_mut().try_for_each(|(high, out)| {
            fill_block(*high, out, &done, tables, n, block);
            budget.control().advance(1);
            budget.check()
        })?;
        for (high, out) in work {
            done[high] = out;
        }
    }
    Ok(())
}

fn fill_block(high: usize, out: &mut [i64], done: &[&[i64]], tables: &[Table], n: usize, block: usize) {
    let subset = (high as u64) << block;
    for v in (block..n).filter(|&v| high >> (v - block) & 1 == 1) {
        let table = &tables[v];
        let offset = table.high(subset & !(1 << v));
        let before = done[high & !(1 << (v - block))];
        for ((out, &before), &low) in out.iter_mut().zip(before).zip(&table.low) {
            let cost = table.costs[table.best[offset + low as usize] as usize];
            *out = (*out).min(before + cost);
        }
    }
    if high == 0 {
        out[0] = 0;
    }
    let offsets: Vec<usize> = tables[..block].iter().map(|t| t.high(subset)).collect();
    for low in 1..out.len() {
        let mut best = out[low];
        let mut left = low;
        while left != 0 {
            let v = left.trailing_zeros() as usize;
            left &= left - 1;
            let rest = low & !(1 << v);
            let table = &tables[v];
            let cost = table.costs[table.best[offsets[v] + table.low[rest] as usize] as usize];
            best = best.min(out[rest] + cost);
        }
        out[low] = best;
    }
}
