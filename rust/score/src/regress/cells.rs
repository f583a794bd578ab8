//! Rows divided by the levels of some variables, and the cross-product sums of numbers within each cell.
//!
//! A division is computed once per set of variables with levels and shared by all threads; the sums of a pair of
//! numbers are added to it when first asked for. A parent more among the numbers then costs its own pairs and no pass over
//! the others. Everything is a pure function of the table and the set, so it does not matter who put it there.
//!
//! Columns by cells are kept with their division where there is room for them ([`super::store`]); otherwise a thread has
//! those of the divisions that it is at, with the sums of two of them.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::columns::Columns;
use super::lanes;
pub use super::lanes::{dot, sum};
use crate::numeric::ln_of_count;
use crate::table::Var;

/// An ascending set of variables.
pub type Set = SmallVec<[Var; 6]>;

/// The observed configurations of some variables with levels, in the order of their codes.
pub struct Cells {
    /// Another for every division that is made.
    id: u64,
    /// Rows, cell after cell; within a cell in canonical order.
    order: Vec<u32>,
    /// Where each cell starts in `order`, and its end.
    starts: Vec<u32>,
    /// The sums of the rows' weights by cell; none where each row counts once.
    sizes: Option<Vec<f64>>,
    log_shares: f64,
    /// Whether it is all rows in one cell: the division by nothing.
    pub(super) whole: bool,
    kept: RwLock<Kept>,
    /// What it takes, about.
    pub(super) bytes: AtomicUsize,
}

#[derive(Default)]
struct Kept {
    centred: FxHashMap<Var, Arc<Centred>>,
    sums: FxHashMap<Pair, Box<[f64]>>,
}

type Pair = (Var, Var);

/// Columns of numbers by the cells of a division that a thread is at, and the sums of two of them.
#[derive(Default)]
struct Bench {
    division: u64,
    columns: Vec<(Var, Vec<f64>)>,
    /// For each pair of places, in packed order, the sums of products by cell; empty where not asked for yet.
    products: Vec<Vec<f64>>,
    /// The place that the next column takes when all are taken.
    next: usize,
}

/// A thread has so many columns of a division at hand: those of a family, of which one changes from each to the next.
const AT_HAND: usize = 12;
/// Fewer of long tables: together so many numbers.
const MOST_AT_HAND: usize = 1 << 20;
const LEAST_AT_HAND: usize = 4;

/// A thread is at so many divisions: parents tried one after the other divide the rows now and then, and between them those
/// of the others come back.
const DIVISIONS_AT_HAND: usize = 6;

/// How many divisions of so many rows a thread has at hand; of long tables the last one alone.
pub(super) fn divisions_at_hand(n_rows: usize) -> usize {
    (MOST_AT_HAND / (AT_HAND * n_rows.max(1))).clamp(1, DIVISIONS_AT_HAND)
}

thread_local! {
    /// The last asked first.
    static BENCHES: RefCell<Vec<Bench>> = RefCell::default();
}

static DIVISIONS: AtomicU64 = AtomicU64::new(1);

/// A column of numbers by cells, each less its cell's mean.
pub struct Centred {
    /// In the order of the rows by cells, times the root of the row's weight: sums of products are weighted.
    pub values: Vec<f64>,
    /// One per cell.
    pub means: Vec<f64>,
}

impl Cells {
    /// Divides the rows by the codes of these variables.
    pub fn new(columns: &Columns, discrete: &[Var]) -> Self {
        let n = columns.n_rows();
        let (codes, n_codes) = joint_codes(columns, discrete);
        let mut counts = vec![0_u32; n_codes];
        for &c in &codes {
            counts[c as usize] += 1;
        }
        if discrete.is_empty() {
            counts[0] = n as u32;
        }
        let mut starts = vec![0];
        let mut end = 0;
        for count in &mut counts {
            if *count > 0 {
                let first = end;
                end += *count;
                starts.push(end);
                *count = first;
            }
        }
        let mut order = vec![0_u32; n];
        if codes.is_empty() {
            order = (0..n as u32).collect();
        } else {
            for (row, &c) in codes.iter().enumerate() {
                let place = &mut counts[c as usize];
                order[*place as usize] = row as u32;
                *place += 1;
            }
        }
        let rows = |w: &[u32]| &order[w[0] as usize..w[1] as usize];
        let sizes: Option<Vec<f64>> =
            columns.weights().map(|_| starts.windows(2).map(|w| columns.weight_of(rows(w))).collect());
        let ln_n = if n == 0 { 0.0 } else { columns.total().ln() };
        let share = |(cell, w): (usize, &[u32])| match &sizes {
            None => f64::from(w[1] - w[0]) * (ln_of_count(w[1] - w[0]) - ln_n),
            Some(sizes) => sizes[cell] * (sizes[cell].ln() - ln_n),
        };
        let log_shares = starts.windows(2).enumerate().map(share).sum();
        let id = DIVISIONS.fetch_add(1, Ordering::Relaxed);
        let bytes = AtomicUsize::new(4 * (order.len() + starts.len()) + 200);
        let whole = discrete.is_empty();
        Self { id, order, starts, sizes, log_shares, whole, kept: RwLock::default(), bytes }
    }

    /// Number of observed cells.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows, cell after cell.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Where the rows of a cell stand in the order.
    pub fn range(&self, cell: usize) -> std::ops::Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// Number of rows of a cell.
    pub fn n_rows(&self, cell: usize) -> usize {
        self.range(cell).len()
    }

    /// The sum of the weights of a cell's rows: their number where each counts once.
    pub fn size(&self, cell: usize) -> f64 {
        self.sizes.as_ref().map_or_else(|| self.n_rows(cell) as f64, |sizes| sizes[cell])
    }

    /// `sum n_p ln(n_p / N)`: the log-likelihood of the cells themselves.
    pub fn log_shares(&self) -> f64 {
        self.log_shares
    }

    /// A column of numbers by cells, less the cells' means; and how many bytes were newly kept.
    pub(super) fn centred(&self, columns: &Columns, var: Var) -> (Arc<Centred>, usize) {
        if let Some(known) = self.kept.read().expect("nothing panics under this lock").centred.get(&var) {
            return (known.clone(), 0);
        }
        let mut values = Vec::with_capacity(self.order.len());
        let means = self.less_means(columns, var, &mut values);
        let made = Arc::new(Centred { values, means });
        self.kept.write().expect("nothing panics under this lock").centred.insert(var, made.clone());
        (made, 8 * (self.order.len() + self.len()) + 100)
    }

    /// Appends a column of numbers by cells, each less its cell's mean, times the root of its row's weight; these means.
    fn less_means(&self, columns: &Columns, var: Var, out: &mut Vec<f64>) -> Vec<f64> {
        let first = out.len();
        let column = columns.reals(var);
        out.extend(self.order.iter().map(|&row| column[row as usize]));
        let Some(weights) = columns.weights() else { return lanes::less_means(&self.starts, &mut out[first..]) };
        let by_cell = |cell: usize| {
            let range = self.range(cell);
            let values = &mut out[first..][range.clone()];
            let weights: Vec<f64> = self.order[range].iter().map(|&row| weights[row as usize]).collect();
            let mean = dot(&weights, values) / self.size(cell);
            for (x, weight) in values.iter_mut().zip(weights) {
                *x = (*x - mean) * weight.sqrt();
            }
            mean
        };
        (0..self.len()).map(by_cell).collect()
    }

    /// The scatters of some numbers within every cell; how many bytes were newly kept. Their columns by cells are kept
    /// too if `keep` says so.
    pub(super) fn scatters(&self, columns: &Columns, numbers: &[Var], keep: bool, out: &mut Vec<f64>) -> usize {
        let n_cells = self.len();
        let n_pairs = super::cholesky::packed(numbers.len());
        let pairs = || (0..numbers.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        out.clear();
        out.resize(n_pairs * n_cells, 0.0);
        let mut missing: SmallVec<[(usize, usize, usize); 16]> = SmallVec::new();
        {
            let kept = self.kept.read().expect("nothing panics under this lock");
            for (at, (i, j)) in pairs().enumerate() {
                match kept.sums.get(&(numbers[j], numbers[i])) {
                    Some(known) => out[at * n_cells..(at + 1) * n_cells].copy_from_slice(known),
                    None => missing.push((at, i, j)),
                }
            }
        }
        if missing.is_empty() {
            return 0;
        }
        let mut made: SmallVec<[(Pair, Box<[f64]>); 4]> = SmallVec::new();
        let mut bytes = 0;
        // Beside a column's own, sums are hardly asked for twice where there are too many columns to keep.
        let mut add = |i: usize, j: usize, own: &[f64]| {
            if keep || i == j {
                bytes += 8 * n_cells + 48;
                made.push(((numbers[j], numbers[i]), own.into()));
            }
        };
        // Most divisions of a search are asked for once: what only their first sums need is not kept for them.
        if keep && missing.len() < n_pairs {
            let centred: SmallVec<[(Arc<Centred>, usize); 6]> =
                numbers.iter().map(|&v| self.centred(columns, v)).collect();
            for &(at, i, j) in &missing {
                let own = &mut out[at * n_cells..(at + 1) * n_cells];
                self.products(&centred[i].0.values, &centred[j].0.values, own);
                add(i, j, own);
            }
            bytes += centred.iter().map(|(_, more)| more).sum::<usize>();
        } else {
            BENCHES.with_borrow_mut(|benches| {
                let bench = Bench::at(benches, self);
                for &(at, i, j) in &missing {
                    let own = &mut out[at * n_cells..(at + 1) * n_cells];
                    own.copy_from_slice(bench.products(self, columns, numbers[i], numbers[j]));
                    add(i, j, own);
                }
            });
        }
        if !made.is_empty() {
            self.kept.write().expect("nothing panics under this lock").sums.extend(made);
        }
        bytes
    }

    /// The sums of products within every cell of two columns by cells.
    fn products(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        lanes::products(&self.starts, x, y, out);
    }
}

impl Bench {
    /// The bench of a division, the first from now on; without one, that which was not asked for longest is emptied.
    fn at<'a>(benches: &'a mut Vec<Self>, cells: &Cells) -> &'a mut Self {
        let n_rows = cells.order.len();
        benches.resize_with(divisions_at_hand(n_rows), Self::default);
        let at = benches.iter().position(|bench| bench.division == cells.id).unwrap_or(benches.len() - 1);
        benches[..=at].rotate_right(1);
        let bench = &mut benches[0];
        if bench.division != cells.id {
            // Places stay, with their memory; what they hold does not.
            let at_hand = (MOST_AT_HAND / n_rows.max(1)).clamp(LEAST_AT_HAND, AT_HAND);
            bench.columns.resize_with(at_hand, Default::default);
            bench.columns.iter_mut().for_each(|column| column.0 = Var::MAX);
            bench.products.resize_with(super::cholesky::packed(at_hand), Default::default);
            bench.products.iter_mut().for_each(Vec::clear);
            (bench.division, bench.next) = (cells.id, 0);
        }
        bench
    }

    /// The sums of products of two columns within every cell.
    fn products(&mut self, cells: &Cells, columns: &Columns, x: Var, y: Var) -> &[f64] {
        let a = self.place(cells, columns, x, None);
        let b = self.place(cells, columns, y, Some(a));
        let own = &mut self.products[super::cholesky::packed(a.max(b)) + a.min(b)];
        if own.is_empty() {
            own.resize(cells.len(), 0.0);
            cells.products(&self.columns[a].1, &self.columns[b].1, own);
        }
        own
    }

    /// Where a column stands, made if it is not there; not in the place of the one `beside` it.
    fn place(&mut self, cells: &Cells, columns: &Columns, var: Var, beside: Option<usize>) -> usize {
        if let Some(at) = self.columns.iter().position(|column| column.0 == var) {
            return at;
        }
        let after = |at: usize| (at + 1) % self.columns.len();
        let at = if beside == Some(self.next) { after(self.next) } else { self.next };
        self.next = after(at);
        for other in 0..self.columns.len() {
            self.products[super::cholesky::packed(at.max(other)) + at.min(other)].clear();
        }
        let (own, values) = &mut self.columns[at];
        *own = var;
        values.clear();
        cells.less_means(columns, var, values);
        at
    }
}

/// Mixed-radix codes of the rows, ranked among those that occur where there would be too many; none without members.
fn joint_codes(columns: &Columns, discrete: &[Var]) -> (Vec<u32>, usize) {
    let Some((&first, rest)) = discrete.split_first() else { return (Vec::new(), 1) };
    let most = 2 * columns.n_rows() + 1024;
    let mut codes = columns.codes(first).to_vec();
    let mut n_codes = columns.levels(first).unwrap_or(1);
    if n_codes > most {
        n_codes = ranked(&mut codes, &columns.codes(first).iter().map(|&c| u64::from(c)).collect::<Vec<_>>());
    }
    for &var in rest {
        let levels = columns.levels(var).unwrap_or(1);
        let column = columns.codes(var);
        if n_codes * levels <= most {
            codes.iter_mut().zip(column).for_each(|(code, &c)| *code = *code * levels as u32 + c);
            n_codes *= levels;
        } else {
            let wide = |(&code, &c): (&u32, &u32)| u64::from(code) * levels as u64 + u64::from(c);
            let wide: Vec<u64> = codes.iter().zip(column).map(wide).collect();
            n_codes = ranked(&mut codes, &wide);
        }
    }
    (codes, n_codes)
}

fn ranked(codes: &mut [u32], wide: &[u64]) -> usize {
    let mut distinct = wide.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    for (code, wide) in codes.iter_mut().zip(wide) {
        *code = distinct.binary_search(wide).expect("every code is among the distinct ones") as u32;
    }
    distinct.len()
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::table::{Codes, Column, Kind, Level, Table, Units, Variable};

    pub type Row = (u32, u32, u32, f64, f64);

    pub fn columns(rows: &[Row]) -> Columns {
        let levels = |k: i64| Kind::Categorical { levels: (0..k).map(Level::Int).collect() };
        let number = || Kind::Continuous { scale: Units::IDENTITY };
        let kinds = [levels(3), levels(70_000), levels(40_000), number(), number()];
        let variables = kinds.into_iter().zip(["a", "b", "c", "x", "y"]);
        let variables = variables.map(|(kind, name)| Variable { name: name.into(), kind }).collect();
        let codes = |k, of: fn(&Row) -> u32| Column::Codes(Codes::pack(&rows.iter().map(of).collect::<Vec<_>>(), k));
        let reals = |of: fn(&Row) -> f64| Column::Reals(rows.iter().map(of).collect());
        let columns =
            vec![codes(3, |r| r.0), codes(70_000, |r| r.1), codes(40_000, |r| r.2), reals(|r| r.3), reals(|r| r.4)];
        Columns::new(&Arc::new(Table::new(variables, columns).unwrap()))
    }

    proptest! {
        #[test]
        fn cells_and_their_sums_are_those_of_a_map(
            rows in prop::collection::vec((0..3_u32, 0..70_000_u32, 0..40_000_u32, -2.0..2.0_f64, -2.0..2.0_f64), 1..60),
            discrete in prop::collection::btree_set(0..3_usize, 0..4), keep: bool) {
            let columns = columns(&rows);
            let discrete: Vec<Var> = discrete.into_iter().collect();
            let cells = Cells::new(&columns, &discrete);
            let mut map: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
            for row in 0..rows.len() {
                map.entry(discrete.iter().map(|&v| columns.codes(v)[row]).collect()).or_default().push(row);
            }
            prop_assert_eq!(cells.len(), map.len());
            let mut scatters = Vec::new();
            cells.scatters(&columns, &[3, 4], keep, &mut scatters);
            let mut again = Vec::new();
            prop_assert_eq!(cells.scatters(&columns, &[3, 4], keep, &mut again), 0);
            prop_assert_eq!(&again, &scatters);
            for (cell, members) in map.values().enumerate() {
                let here: Vec<usize> = cells.order()[cells.range(cell)].iter().map(|&row| row as usize).collect();
                prop_assert_eq!(&here, members);
                let mean = |v: Var| members.iter().map(|&r| columns.reals(v)[r]).sum::<f64>() / members.len() as f64;
                for (at, (v, w)) in [(3, 3), (4, 3), (4, 4)].into_iter().enumerate() {
                    let product = |&r: &usize| (columns.reals(v)[r] - mean(v)) * (columns.reals(w)[r] - mean(w));
                    let expected: f64 = members.iter().map(product).sum();
                    prop_assert!((scatters[at * cells.len() + cell] - expected).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn what_a_thread_has_at_hand_is_what_it_would_make_anew() {
        let rows: Vec<Row> = (0..200_u32)
            .map(|i| {
                (i % 3, i * i % 7, i * 31 % 5, f64::from(i * 7919 % 101) / 7.0, f64::from(i * 104_729 % 103) / 9.0)
            })
            .collect();
        let columns = columns(&rows);
        let sets: [&[Var]; 8] = [&[], &[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
        assert!(sets.len() > DIVISIONS_AT_HAND);
        let divisions = sets.map(|set| Cells::new(&columns, set));
        let sums = |cells: &Cells, numbers: &[Var]| {
            let mut out = Vec::new();
            cells.scatters(&columns, numbers, false, &mut out);
            out.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        for step in 0..200 {
            // Some come back while they are at hand, others when they no longer are; pairs after their members, and before.
            let at = step * step % 11 % sets.len();
            let numbers: &[Var] = [&[3, 4][..], &[4], &[3]][step % 3];
            assert_eq!(sums(&divisions[at], numbers), sums(&Cells::new(&columns, sets[at]), numbers), "step {step}");
        }
    }
}
