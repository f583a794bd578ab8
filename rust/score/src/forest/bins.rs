//! Columns in bins of one byte, made once and read by the forests of all children.

use crate::table::{Column, Kind, Table, Var};

/// The most bins of a number.
const NUMBERS: usize = 64;
/// The most bins of any column.
pub const MOST: usize = 256;

/// A binned column.
pub struct Bins {
    /// By row.
    pub codes: Vec<u8>,
    /// Number of bins.
    pub n: usize,
    /// Whether bins have an order.
    pub ordered: bool,
}

/// All columns of a table, rows in their canonical order.
pub struct Binned {
    columns: Vec<Bins>,
    rows: Vec<u32>,
}

impl Binned {
    /// Bins every column.
    pub fn new(table: &Table) -> Self {
        let rows = table.canonical_rows();
        let column = |v: Var| match (table.column(v), &table.variable(v).kind) {
            (Column::Reals(x), _) => numbers(&rows.iter().map(|&row| x[row as usize]).collect::<Vec<_>>()),
            (Column::Codes(c), kind) => {
                let codes: Vec<usize> = rows.iter().map(|&row| c.get(row as usize)).collect();
                let n_levels = table.variable(v).n_levels().unwrap_or(0);
                levels(&codes, n_levels, matches!(kind, Kind::Ordinal { .. }))
            }
        };
        Self { columns: (0..table.n_vars()).map(column).collect(), rows }
    }

    /// One column.
    pub fn column(&self, v: Var) -> &Bins {
        &self.columns[v]
    }

    /// Rows of the table in the order of the bins.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }
}

/// Quantile bins; equal values are never parted.
fn numbers(values: &[f64]) -> Bins {
    let n = values.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    let mut codes = vec![0; n];
    let distinct = order.windows(2).filter(|w| values[w[0] as usize] != values[w[1] as usize]).count() + 1;
    let (mut bin, mut in_bin, mut done) = (0usize, 0usize, 0usize);
    let mut start = 0;
    while start < n {
        let value = values[order[start] as usize];
        let end = start + order[start..].iter().take_while(|&&row| values[row as usize] == value).count();
        let full = distinct <= NUMBERS || in_bin * (NUMBERS - bin) >= n - done;
        if in_bin > 0 && full && bin + 1 < NUMBERS {
            done += in_bin;
            bin += 1;
            in_bin = 0;
        }
        for &row in &order[start..end] {
            codes[row as usize] = bin as u8;
        }
        in_bin += end - start;
        start = end;
    }
    Bins { codes, n: bin + 1, ordered: true }
}

/// Levels as they are; of more than fit a byte, neighbours (or the rare ones) together.
fn levels(codes: &[usize], n_levels: usize, ordered: bool) -> Bins {
    let bin: Vec<u8> = if n_levels <= MOST {
        (0..n_levels).map(|code| code as u8).collect()
    } else if ordered {
        (0..n_levels).map(|code| (code * MOST / n_levels) as u8).collect()
    } else {
        let mut counts = vec![0usize; n_levels];
        for &code in codes {
            counts[code] += 1;
        }
        let mut by_count: Vec<usize> = (0..n_levels).collect();
        by_count.sort_by_key(|&code| (std::cmp::Reverse(counts[code]), code));
        let mut bin = vec![(MOST - 1) as u8; n_levels];
        for (place, &code) in by_count.iter().take(MOST - 1).enumerate() {
            bin[code] = place as u8;
        }
        bin
    };
    Bins { codes: codes.iter().map(|&code| bin[code]).collect(), n: n_levels.clamp(1, MOST), ordered }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_numbers_hold_about_as_many_rows_each_and_part_no_equals() {
        let values: Vec<f64> = (0..6400).map(|i| f64::from((i * 37) % 6400)).collect();
        let bins = numbers(&values);
        assert_eq!(bins.n, NUMBERS);
        let mut counts = vec![0; bins.n];
        for &code in &bins.codes {
            counts[code as usize] += 1;
        }
        assert!(counts.iter().all(|&n| n == 100), "{counts:?}");
        let few = numbers(&[3.0, 1.0, 1.0, 2.0, 1.0]);
        assert_eq!((few.codes, few.n), (vec![2, 0, 0, 1, 0], 3));
    }

    #[test]
    fn many_levels_fit_a_byte() {
        let codes: Vec<usize> = (0..1000).map(|i| (i * i) % 700).collect();
        for ordered in [false, true] {
            let bins = levels(&codes, 700, ordered);
            assert!(bins.codes.iter().all(|&b| usize::from(b) < bins.n));
        }
    }
}
