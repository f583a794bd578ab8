//! What the variables that are not placed yet cost at least, for every subset that may have been placed: the dynamic
//! program of `subset_dp`, from its end to its beginning.

use crate::control::Budget;
use crate::error::Result;
use crate::exact::problem::{Columns, NEVER};
use crate::exact::subset_dp::{BLOCK_BITS, Table};

/// By the subset placed; `NEVER` where the others cannot be ordered.
///
/// # Errors
/// `Error::Interrupted` if stopped.
pub fn cost_to_go(columns: &[Columns<1>], budget: Budget) -> Result<Vec<i64>> {
    let n = columns.len();
    let block = n.min(BLOCK_BITS);
    let mut tables: Vec<Table> = columns.iter().map(|c| Table::new(c, (1 << n) - 1, block)).collect();
    tables.iter_mut().try_for_each(|table| table.fill(0, budget))?;
    let mut to_go = vec![NEVER; 1 << n];
    to_go[(1 << n) - 1] = 0;
    for high in (0..1usize << (n - block)).rev() {
        budget.check()?;
        let (now, later) = to_go.split_at_mut((high + 1) << block);
        fill_block(high, &mut now[high << block..], later, &tables, block);
    }
    Ok(to_go)
}

/// Subsets of one high part, from those with one variable more.
fn fill_block(high: usize, out: &mut [i64], later: &[i64], tables: &[Table], block: usize) {
    let placed = (high as u64) << block;
    for (v, table) in tables.iter().enumerate().skip(block).filter(|&(v, _)| placed >> v & 1 == 0) {
        let after = &later[((1 << (v - block)) - 1) << block..];
        let (best, costs) = (&table.best[table.high(placed)..], &table.costs[..]);
        for ((out, &after), &low) in out.iter_mut().zip(after).zip(&table.low) {
            *out = (*out).min(after + costs[best[low as usize] as usize]);
        }
    }
    let low: Vec<(&Table, usize)> = tables[..block].iter().map(|t| (t, t.high(placed))).collect();
    let all = out.len() - 1;
    for subset in (0..all).rev() {
        let mut best = out[subset];
        let mut left = all & !subset;
        while left != 0 {
            let v = left.trailing_zeros() as usize;
            left &= left - 1;
            let (table, offset) = low[v];
            best = best.min(out[subset | 1 << v] + table.cost(offset, subset));
        }
        out[subset] = best;
    }
}
