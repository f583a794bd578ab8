//! The rows of a leaf counted by one predictor and the child: `counts[level][child]`, levels without rows left out.

use super::amounts::Tallied;
use super::prior::Counts;
use crate::table::Codes;

/// Counts of a leaf by a predictor's level.
#[derive(Debug)]
pub struct Tally<N: Tallied = u32> {
    /// (level, rows, where its cells end), ascending by level.
    levels: Vec<(u32, N, usize)>,
    cells: Counts<N>,
    dense: Vec<N>,
    keys: Vec<(u64, N::Extra)>,
}

impl<N: Tallied> Default for Tally<N> {
    fn default() -> Self {
        Self { levels: Vec::new(), cells: Vec::new(), dense: Vec::new(), keys: Vec::new() }
    }
}

impl<N: Tallied> Tally<N> {
    /// Counts the given rows: `children` are their child's codes, of `r` levels, and what they weigh.
    pub fn count(&mut self, codes: &Codes, k: usize, rows: &[u32], children: &[N::Row], r: usize) {
        self.levels.clear();
        self.cells.clear();
        // A table of all cells where it is small beside the rows, sorting where it is not.
        if k.saturating_mul(r) <= 64 + 4 * rows.len() {
            self.dense.clear();
            self.dense.resize(k * r, N::default());
            match codes {
                Codes::U8(codes) => fill(&mut self.dense, codes, rows, children, r),
                Codes::U16(codes) => fill(&mut self.dense, codes, rows, children, r),
                Codes::U32(codes) => fill(&mut self.dense, codes, rows, children, r),
            }
            for (level, counts) in self.dense.chunks_exact(r.max(1)).enumerate() {
                let mut total = N::default();
                for (code, &n) in counts.iter().enumerate() {
                    if n != N::default() {
                        self.cells.push((code as u32, n));
                        total += n;
                    }
                }
                if total != N::default() {
                    self.levels.push((level as u32, total, self.cells.len()));
                }
            }
            return;
        }
        self.keys.clear();
        let key = |(&row, &child): (&u32, &N::Row)| {
            let (child, n) = N::of_row(child);
            ((codes.get(row as usize) as u64) << 32 | u64::from(child), n.extra())
        };
        self.keys.extend(rows.iter().zip(children).map(key));
        self.keys.sort_unstable_by_key(|key| key.0);
        for &(key, extra) in &self.keys {
            let n = N::of_extra(extra);
            let (level, child) = ((key >> 32) as u32, key as u32);
            let known = self.levels.last().is_some_and(|last| last.0 == level);
            if !known {
                self.levels.push((level, N::default(), self.cells.len()));
            }
            let last = self.levels.last_mut().expect("one was just pushed");
            last.1 += n;
            match self.cells.last_mut() {
                Some(cell) if known && cell.0 == child => cell.1 += n,
                _ => self.cells.push((child, n)),
            }
            last.2 = self.cells.len();
        }
    }

    /// Number of levels that have rows.
    pub fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Every level that has rows: its code, its rows, its counts.
    pub fn iter(&self) -> impl Iterator<Item = (u32, N, &[(u32, N)])> + '_ {
        let start = |i: usize| if i == 0 { 0 } else { self.levels[i - 1].2 };
        self.levels.iter().enumerate().map(move |(i, &(level, n, end))| (level, n, &self.cells[start(i)..end]))
    }
}

fn fill<N: Tallied, T: Copy + Into<u32>>(dense: &mut [N], codes: &[T], rows: &[u32], children: &[N::Row], r: usize) {
    for (&row, &child) in rows.iter().zip(children) {
        let level: u32 = codes[row as usize].into();
        let (child, n) = N::of_row(child);
        dense[level as usize * r + child as usize] += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_counting_count_alike() {
        let codes = Codes::U8(vec![2, 0, 2, 2, 1, 0]);
        let (rows, children) = ([0, 1, 2, 3, 5], [1, 0, 1, 0, 1]);
        let (mut table, mut sorted) = (Tally::default(), Tally::default());
        table.count(&codes, 3, &rows, &children, 2);
        sorted.count(&codes, 1000, &rows, &children, 2);
        let all = |tally: &Tally| tally.iter().map(|(l, n, c)| (l, n, c.to_vec())).collect::<Vec<_>>();
        assert_eq!(all(&table), all(&sorted));
        assert_eq!(all(&table), [(0, 2, vec![(0, 1), (1, 1)]), (2, 3, vec![(0, 1), (1, 2)])]);
    }
}
