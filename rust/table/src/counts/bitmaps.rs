//! One bit per row and level: counting a cell is then a population count of an AND, 64 rows at a time.
//!
//! With few levels this beats walking over the rows: four variables of three levels take 54 passes over a 64th of the
//! rows each. Cells that do not occur are not followed further.

use std::sync::OnceLock;

use crate::table::{Codes, Column, Table, Var};

/// Columns of more levels have no bit maps, so those of a column never take more memory than its codes.
const MAX_LEVELS: usize = 8;

/// A set is counted by bits if that takes at most so many passes over words of 64 rows in its last step.
const MAX_PASSES: usize = 64;

/// The bit maps of a table's columns, made when they are first asked for and shared by all threads.
pub struct Bitmaps {
    columns: Vec<OnceLock<Option<Vec<u64>>>>,
    n_words: usize,
}

impl Bitmaps {
    /// For a table.
    pub fn new(table: &Table) -> Self {
        let columns = (0..table.n_vars()).map(|_| OnceLock::new()).collect();
        Self { columns, n_words: table.n_rows().div_ceil(64).max(1) }
    }

    /// The maps of a column, one level after the other; none for a continuous column or one of many levels.
    fn column(&self, table: &Table, var: Var) -> Option<&[u64]> {
        let made = self.columns[var].get_or_init(|| match (table.column(var), table.variable(var).n_levels()) {
            (Column::Codes(codes), Some(k)) if k <= MAX_LEVELS => Some(self.maps(codes, k)),
            _ => None,
        });
        made.as_deref()
    }

    fn maps(&self, codes: &Codes, k: usize) -> Vec<u64> {
        let mut maps = vec![0; k * self.n_words];
        for (row, code) in codes.iter().enumerate() {
            maps[code * self.n_words + row / 64] |= 1 << (row % 64);
        }
        maps
    }
}

/// The cells of a set's first members.
#[derive(Default)]
struct Prefix {
    var: Var,
    /// The rows of each cell that occurs, one cell after the other.
    maps: Vec<u64>,
    counts: Vec<u32>,
}

/// Counts sets by bit maps; one per thread, with the cells of the last set's first members kept for the next.
pub struct BitCounter<'t> {
    table: &'t Table,
    bitmaps: &'t Bitmaps,
    prefixes: Vec<Prefix>,
    depth: usize,
}

impl<'t> BitCounter<'t> {
    /// For a table and its bit maps.
    pub fn new(table: &'t Table, bitmaps: &'t Bitmaps) -> Self {
        Self { table, bitmaps, prefixes: Vec::new(), depth: 0 }
    }

    /// Counts of the cells that occur, in lexicographic order of the ascending `set`; false if the set is not for bits.
    pub fn count(&mut self, set: &[Var], cells: &mut Vec<u32>) -> bool {
        let Some((&last, first)) = set.split_last() else { return false };
        let levels = |v: Var| self.table.variable(v).n_levels().filter(|&k| k <= MAX_LEVELS);
        let Some(k) = levels(last) else { return false };
        let passes = first.iter().try_fold(k, |n, &v| levels(v).map(|k| n * k).filter(|&n| n <= MAX_PASSES + k));
        if passes.is_none() {
            return false;
        }
        let Some(maps) = self.bitmaps.column(self.table, last) else { return false };
        self.descend(first);
        cells.clear();
        let n_words = self.bitmaps.n_words;
        let level = |l: usize| &maps[l * n_words..(l + 1) * n_words];
        let Some(prefix) = self.prefixes[..self.depth].last() else {
            cells.extend((0..k).map(|l| ones_of_both(level(l), level(l))));
            return true;
        };
        for (cell, &n) in prefix.maps.chunks_exact(n_words).zip(&prefix.counts) {
            let mut rest = n;
            for l in 0..k - 1 {
                let ones = ones_of_both(cell, level(l));
                rest -= ones;
                if ones > 0 {
                    cells.push(ones);
                }
            }
            if rest > 0 {
                cells.push(rest);
            }
        }
        true
    }

    fn descend(&mut self, members: &[Var]) {
        let kept = &self.prefixes[..self.depth];
        let same = members.iter().zip(kept).take_while(|(m, p)| **m == p.var).count();
        self.depth = same;
        let n_words = self.bitmaps.n_words;
        for &var in &members[same..] {
            let maps = self.bitmaps.column(self.table, var).expect("sets for bits have few levels");
            if self.prefixes.len() == self.depth {
                self.prefixes.push(Prefix::default());
            }
            let (before, after) = self.prefixes.split_at_mut(self.depth);
            let own = &mut after[0];
            own.var = var;
            own.maps.clear();
            own.counts.clear();
            let mut add = |cell: Option<&[u64]>| {
                for level in maps.chunks_exact(n_words) {
                    let start = own.maps.len();
                    match cell {
                        None => own.maps.extend_from_slice(level),
                        Some(cell) => own.maps.extend(cell.iter().zip(level).map(|(a, b)| a & b)),
                    }
                    let ones = ones_of_both(&own.maps[start..], &own.maps[start..]);
                    if ones > 0 {
                        own.counts.push(ones);
                    } else {
                        own.maps.truncate(start);
                    }
                }
            };
            match before.last() {
                None => add(None),
                Some(above) => above.maps.chunks_exact(n_words).for_each(|cell| add(Some(cell))),
            }
            self.depth += 1;
        }
    }
}

/// How many bits are set in both.
fn ones_of_both(a: &[u64], b: &[u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor was just asked for both.
        #[allow(unsafe_code)]
        return unsafe { ones_of_both_wide(a, b) };
    }
    ones(a, b)
}

/// The same instructions for the compiler, with wider registers to put them in.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn ones_of_both_wide(a: &[u64], b: &[u64]) -> u32 {
    ones(a, b)
}

#[inline(always)]
#[allow(clippy::inline_always)] // or it would not be compiled for the wider registers
fn ones(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}
