//! Counts of the joint configurations of a set of variables with levels.
//!
//! Sets are counted in ascending order of their members, with the joint code of all but the last member kept for the
//! next set: an enumeration in lexicographic order then costs one pass over the rows a set, one load of the prefix code
//! and one of the last column. Codes are mixed-radix numbers while they stay small and ranks among the observed
//! prefixes beyond that, so no table is ever larger than a few times the number of rows, whatever the levels. Sets of few
//! cells are counted by [`bitmaps`].

pub mod bitmaps;

use self::bitmaps::{BitCounter, Bitmaps};
use crate::control::Halt;
use crate::error::Result;
use crate::table::{Codes, Table, Var};

/// Counts joint configurations; one per thread.
pub struct Counter<'t> {
    table: &'t Table,
    advice: &'static str,
    prefixes: Vec<Prefix>,
    depth: usize,
    cells: Vec<u32>,
    sums: Vec<f64>,
    bits: Option<BitCounter<'t>>,
    halt: Halt,
}

/// How many rows a cell holds: a number of rows, or the sum of their weights.
pub trait Count: Copy {
    /// As a number.
    fn real(self) -> f64;

    /// As a number of rows, if it is a whole one that 32 bits hold.
    fn whole(self) -> Option<u32>;
}

impl Count for u32 {
    #[inline]
    fn real(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn whole(self) -> Option<u32> {
        Some(self)
    }
}

impl Count for f64 {
    #[inline]
    fn real(self) -> f64 {
        self
    }

    #[inline]
    fn whole(self) -> Option<u32> {
        (self.fract() == 0.0 && self < f64::from(u32::MAX)).then_some(self as u32)
    }
}

/// The joint codes of the set's first members, row by row.
#[derive(Default)]
struct Prefix {
    var: Var,
    codes: Vec<u32>,
    n_codes: usize,
}

/// Independent histograms for small tables: neighbouring rows often fall into the same cell, and each increment of it
/// would wait for the one before.
const LANES: usize = 4;
const LANED_CELLS: usize = 1024;

impl<'t> Counter<'t> {
    /// For a table; `advice` tells what a user can do about a continuous column.
    pub fn new(table: &'t Table, advice: &'static str) -> Self {
        let (prefixes, halt) = (Vec::new(), Halt::default());
        Self { table, advice, prefixes, depth: 0, cells: Vec::new(), sums: Vec::new(), bits: None, halt }
    }

    /// As `new`, with the table's bit maps for sets of few cells.
    pub fn with_bitmaps(table: &'t Table, advice: &'static str, bitmaps: &'t Bitmaps) -> Self {
        Self { bits: Some(BitCounter::new(table, bitmaps)), ..Self::new(table, advice) }
    }

    /// From now on, counting ends with `Error::Interrupted` soon after this is due.
    pub fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }

    /// The largest number of cells that is counted without looking which of them occur.
    fn dense_limit(&self) -> usize {
        (4 * self.table.n_rows()).max(1 << 14)
    }

    fn levels(&self, var: Var) -> usize {
        self.table.variable(var).n_levels().unwrap_or(1)
    }

    /// Counts by configuration in lexicographic order of the ascending `set`; cells that do not occur may be left out.
    ///
    /// # Errors
    /// If a member is continuous, or interrupted.
    pub fn count(&mut self, set: &[Var]) -> Result<&[u32]> {
        let Some((&last, first)) = set.split_last() else {
            self.cells.clear();
            self.cells.push(self.table.n_rows() as u32);
            return Ok(&self.cells);
        };
        if let Some(bits) = &mut self.bits
            && bits.count(set, &mut self.cells)
        {
            return Ok(&self.cells);
        }
        self.descend(first)?;
        self.halt.check()?;
        let levels = self.levels(last);
        let limit = self.dense_limit();
        let prefix = self.prefixes[..self.depth].last().map_or((&[][..], 1), |p| (&p.codes[..], p.n_codes));
        match self.table.codes(last, self.advice)? {
            Codes::U8(column) => tally(prefix, column, levels, limit, &mut self.cells),
            Codes::U16(column) => tally(prefix, column, levels, limit, &mut self.cells),
            Codes::U32(column) => tally(prefix, column, levels, limit, &mut self.cells),
        }
        Ok(&self.cells)
    }

    /// As `count`, sums of the rows' weights.
    ///
    /// # Errors
    /// As `count`.
    pub fn weigh(&mut self, set: &[Var], weights: &[f64]) -> Result<&[f64]> {
        let Some((&last, first)) = set.split_last() else {
            self.sums.clear();
            self.sums.push(weights.iter().sum());
            return Ok(&self.sums);
        };
        self.descend(first)?;
        self.halt.check()?;
        let levels = self.levels(last);
        let limit = self.dense_limit();
        let prefix = self.prefixes[..self.depth].last().map_or((&[][..], 1), |p| (&p.codes[..], p.n_codes));
        match self.table.codes(last, self.advice)? {
            Codes::U8(column) => weigh(prefix, column, weights, levels, limit, &mut self.sums),
            Codes::U16(column) => weigh(prefix, column, weights, levels, limit, &mut self.sums),
            Codes::U32(column) => weigh(prefix, column, weights, levels, limit, &mut self.sums),
        }
        Ok(&self.sums)
    }

    /// As `weigh`, where every row has the same weight: rows are counted, which is quicker.
    ///
    /// # Errors
    /// As `count`.
    pub fn weigh_equally(&mut self, set: &[Var], each: f64) -> Result<&[f64]> {
        self.count(set)?;
        self.sums.clear();
        self.sums.extend(self.cells.iter().map(|&n| f64::from(n) * each));
        Ok(&self.sums)
    }

    /// Makes the kept prefixes those of `members`, from the first that differs on.
    fn descend(&mut self, members: &[Var]) -> Result<()> {
        let kept = &self.prefixes[..self.depth];
        let same = members.iter().zip(kept).take_while(|(m, p)| **m == p.var).count();
        self.depth = same;
        for &var in &members[same..] {
            self.halt.check()?;
            let column = self.table.codes(var, self.advice)?;
            let (levels, limit) = (self.levels(var), self.dense_limit());
            if self.prefixes.len() == self.depth {
                self.prefixes.push(Prefix::default());
            }
            let (before, after) = self.prefixes.split_at_mut(self.depth);
            let above = before.last().map_or((&[][..], 1), |p| (&p.codes[..], p.n_codes));
            match column {
                Codes::U8(column) => after[0].extend(above, column, levels, limit),
                Codes::U16(column) => after[0].extend(above, column, levels, limit),
                Codes::U32(column) => after[0].extend(above, column, levels, limit),
            }
            after[0].var = var;
            self.depth += 1;
        }
        Ok(())
    }
}

impl Prefix {
    fn extend<T: Copy + Into<u32>>(
        &mut self,
        (above, n_above): (&[u32], usize),
        column: &[T],
        levels: usize,
        limit: usize,
    ) {
        self.codes.clear();
        if above.is_empty() {
            self.codes.extend(column.iter().map(|&c| c.into()));
            self.n_codes = levels;
        } else if n_above * levels <= limit {
            self.codes.extend(above.iter().zip(column).map(|(&p, &c)| p * levels as u32 + c.into()));
            self.n_codes = n_above * levels;
        } else {
            let wide = wide_codes(above, column, levels);
            let mut distinct = wide.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let rank = |code: &u64| distinct.binary_search(code).expect("every code is among the distinct ones") as u32;
            self.codes.extend(wide.iter().map(rank));
            self.n_codes = distinct.len();
        }
    }
}

fn wide_codes<T: Copy + Into<u32>>(above: &[u32], column: &[T], levels: usize) -> Vec<u64> {
    above.iter().zip(column).map(|(&p, &c)| u64::from(p) * levels as u64 + u64::from(c.into())).collect()
}

/// Counts `(prefix, last column)` pairs into `cells`, in code order.
fn tally<T: Copy + Into<u32>>(
    (above, n_above): (&[u32], usize),
    column: &[T],
    levels: usize,
    limit: usize,
    cells: &mut Vec<u32>,
) {
    let n_cells = n_above * levels;
    cells.clear();
    if n_cells > limit && !above.is_empty() {
        let mut wide = wide_codes(above, column, levels);
        wide.sort_unstable();
        cells.extend(wide.chunk_by(|a, b| a == b).map(|run| run.len() as u32));
    } else if n_cells <= LANED_CELLS {
        // The length is fixed, so every index below it is known to be in bounds.
        let mut lanes = [0_u32; LANES * LANED_CELLS];
        let mut add =
            |lane: usize, code: u32| lanes[(lane * LANED_CELLS + code as usize) & (LANES * LANED_CELLS - 1)] += 1;
        if above.is_empty() {
            column.iter().enumerate().for_each(|(row, &c)| add(row % LANES, c.into()));
        } else {
            let levels = levels as u32;
            let (above_quads, above_rest) = above.as_chunks::<LANES>();
            let (quads, rest) = column.as_chunks::<LANES>();
            for (p, c) in above_quads.iter().zip(quads) {
                for lane in 0..LANES {
                    add(lane, p[lane] * levels + c[lane].into());
                }
            }
            above_rest.iter().zip(rest).for_each(|(&p, &c)| add(0, p * levels + c.into()));
        }
        cells.extend((0..n_cells).map(|cell| (0..LANES).map(|lane| lanes[lane * LANED_CELLS + cell]).sum::<u32>()));
    } else {
        cells.resize(n_cells, 0);
        if above.is_empty() {
            for &c in column {
                cells[c.into() as usize] += 1;
            }
        } else {
            let levels = levels as u32;
            for (&p, &c) in above.iter().zip(column) {
                cells[(p * levels + c.into()) as usize] += 1;
            }
        }
    }
}

/// As [`tally`], sums of weights.
fn weigh<T: Copy + Into<u32>>(
    (above, n_above): (&[u32], usize),
    column: &[T],
    weights: &[f64],
    levels: usize,
    limit: usize,
    sums: &mut Vec<f64>,
) {
    sums.clear();
    let n_cells = n_above * levels;
    if n_cells > limit && !above.is_empty() {
        let mut wide: Vec<(u64, f64)> =
            wide_codes(above, column, levels).into_iter().zip(weights.iter().copied()).collect();
        wide.sort_unstable_by_key(|&(code, _)| code);
        sums.extend(wide.chunk_by(|a, b| a.0 == b.0).map(|run| run.iter().map(|&(_, w)| w).sum::<f64>()));
        return;
    }
    sums.resize(n_cells, 0.0);
    if above.is_empty() {
        for (&c, w) in column.iter().zip(weights) {
            sums[c.into() as usize] += w;
        }
    } else {
        for ((&p, &c), w) in above.iter().zip(column).zip(weights) {
            sums[(p * levels as u32 + c.into()) as usize] += w;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::table::{Column, Kind, Level, Variable};

    fn table(columns: &[Vec<u32>], levels: &[usize]) -> Table {
        let variables = levels.iter().enumerate().map(|(i, &k)| Variable {
            name: format!("v{i}").into(),
            kind: Kind::Categorical { levels: (0..k as i64).map(Level::Int).collect() },
        });
        let packed = columns.iter().zip(levels).map(|(c, &k)| Column::Codes(Codes::pack(c, k)));
        Table::new(variables.collect(), packed.collect()).unwrap()
    }

    /// Counts by a map of whole configurations.
    fn literal(columns: &[Vec<u32>], set: &[Var]) -> Vec<u32> {
        let mut cells = BTreeMap::new();
        let members: Vec<_> = set.iter().map(|&v| &columns[v]).collect();
        for row in 0..columns[0].len() {
            *cells.entry(members.iter().map(|column| column[row]).collect::<Vec<_>>()).or_insert(0) += 1;
        }
        cells.into_values().collect()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(rows in prop::collection::vec((0..3_u32, 0..300_u32, 0..70_000_u32, 0..2_u32), 1..60),
                                     sets in prop::collection::vec(prop::collection::btree_set(0..4_usize, 0..5), 1..12)) {
            let columns = [0, 1, 2, 3].map(|i| rows.iter().map(|r| [r.0, r.1, r.2, r.3][i]).collect::<Vec<_>>());
            let table = table(&columns, &[3, 300, 70_000, 2]);
            let mut counter = Counter::new(&table, "");
            for set in &sets {
                let set: Vec<_> = set.iter().copied().collect();
                let counted: Vec<_> = counter.count(&set).unwrap().iter().copied().filter(|&n| n > 0).collect();
                let expected = if set.is_empty() { vec![rows.len() as u32] } else { literal(&columns, &set) };
                prop_assert_eq!(counted, expected);
            }
        }

        #[test]
        fn whole_weights_sum_to_the_counts_of_repeated_rows(
            rows in prop::collection::vec((0..3_u32, 0..300_u32, 0..70_000_u32, 0..2_u32, 1..5_u8), 1..60),
            sets in prop::collection::vec(prop::collection::btree_set(0..4_usize, 0..5), 1..12),
        ) {
            let columns = [0, 1, 2, 3].map(|i| rows.iter().map(|r| [r.0, r.1, r.2, r.3][i]).collect::<Vec<_>>());
            let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.4)).collect();
            let weighted = table(&columns, &[3, 300, 70_000, 2]);
            let all = std::sync::Arc::new(weighted.clone().weighted(weights.clone()).unwrap());
            let repeated = all.repeated(("score", ""), "").unwrap();
            let (mut counter, mut of_repeated) = (Counter::new(&weighted, ""), Counter::new(&repeated, ""));
            for set in &sets {
                let set: Vec<_> = set.iter().copied().collect();
                let weighed: Vec<_> = counter.weigh(&set, &weights).unwrap().iter().copied().filter(|&n| n > 0.0).collect();
                let counted = of_repeated.count(&set).unwrap().iter().copied().filter(|&n| n > 0).map(f64::from);
                prop_assert_eq!(weighed, counted.collect::<Vec<_>>());
                let of_three = counter.weigh(&set, &vec![3.0; rows.len()]).unwrap().to_vec();
                let occur = |sums: &[f64]| sums.iter().copied().filter(|&n| n > 0.0).collect::<Vec<_>>();
                prop_assert_eq!(occur(&of_three), occur(counter.weigh_equally(&set, 3.0).unwrap()));
            }
        }

        #[test]
        fn bits_count_as_a_map_does(rows in prop::collection::vec((0..3_u32, 0..4_u32, 0..8_u32, 0..2_u32, 0..9_u32), 1..300),
                                    sets in prop::collection::vec(prop::collection::btree_set(0..5_usize, 0..6), 1..12)) {
            let columns = [0, 1, 2, 3, 4].map(|i| rows.iter().map(|r| [r.0, r.1, r.2, r.3, r.4][i]).collect::<Vec<_>>());
            let table = table(&columns, &[3, 4, 8, 2, 9]);
            let bitmaps = Bitmaps::new(&table);
            let mut counter = Counter::with_bitmaps(&table, "", &bitmaps);
            let (mut bits, mut by_bits) = (BitCounter::new(&table, &bitmaps), 0);
            for set in &sets {
                let set: Vec<_> = set.iter().copied().collect();
                let counted: Vec<_> = counter.count(&set).unwrap().iter().copied().filter(|&n| n > 0).collect();
                let expected = if set.is_empty() { vec![rows.len() as u32] } else { literal(&columns, &set) };
                prop_assert_eq!(counted, expected);
                by_bits += usize::from(bits.count(&set, &mut vec![]));
            }
            // What is meant to be counted by bits is: not 9 levels, not 4 * 8 * 3 cells.
            prop_assert_eq!(by_bits, sets.iter().filter(|s| !s.is_empty() && !s.contains(&4) && s.len() < 3).count()
                + sets.iter().filter(|s| !s.contains(&4) && s.len() == 3 && (!s.contains(&2) || s.contains(&3))
                    && !(s.contains(&1) && s.contains(&2) && s.contains(&0))).count());
        }
    }

    #[test]
    fn counting_ends_once_a_stop_is_due() {
        let columns: Vec<Vec<u32>> = (0..3).map(|v| (0..500).map(|row| (row * (v + 7)) % 300).collect()).collect();
        let table = table(&columns, &[300; 3]);
        let mut counter = Counter::new(&table, "");
        let control = crate::control::Control::default();
        counter.heed(&control.halt());
        assert!(counter.count(&[0, 1, 2]).is_ok());
        control.stop();
        assert_eq!(counter.count(&[0, 1, 2]), Err(crate::error::Error::Interrupted));
    }

    #[test]
    fn a_thousand_levels_of_five_variables_stay_small() {
        let columns: Vec<Vec<u32>> = (0..5).map(|v| (0..500).map(|row| (row * (v + 7)) % 1000).collect()).collect();
        let table = table(&columns, &[1000; 5]);
        let mut counter = Counter::new(&table, "");
        assert!(counter.count(&[0, 1, 2, 3, 4]).unwrap().len() <= 500);
        assert!(counter.prefixes.iter().all(|p| p.n_codes <= 1 << 14));
    }
}
