//! Rows divided by the levels of some variables, and the cross-product sums of numbers within each cell.
//!
//! A division is computed once per set of variables with levels and shared by all threads; the sums of a pair of
//! numbers are added to it when first asked for. A parent more among the numbers then costs its own pairs and no pass over
//! the others. Everything is a pure function of the table and the set, so it does not matter who put it there. When the
//! store outgrows its limit it is emptied: memory stays bounded, and what a search works on now comes back first.

use std::cell::RefCell;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::columns::Columns;
use crate::table::Var;

/// An ascending set of variables.
pub type Set = SmallVec<[Var; 6]>;

/// The observed configurations of some variables with levels, in the order of their codes.
pub struct Cells {
    /// Rows, cell after cell; within a cell in canonical order.
    order: Vec<u32>,
    /// Where each cell starts in `order`, and its end.
    starts: Vec<u32>,
    /// The sums of the rows' weights by cell; none where each row counts once.
    sizes: Option<Vec<f64>>,
    log_shares: f64,
    kept: RwLock<Kept>,
}

#[derive(Default)]
struct Kept {
    centred: FxHashMap<Var, Arc<Centred>>,
    sums: FxHashMap<Pair, Box<[f64]>>,
}

type Pair = (Var, Var);

thread_local! {
    /// Columns of numbers by the cells of a division that is asked for the first time.
    static FIRST: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

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
        let share = |(cell, w): (usize, &[u32])| {
            let n_p = sizes.as_ref().map_or(f64::from(w[1] - w[0]), |sizes| sizes[cell]);
            n_p * (n_p.ln() - ln_n)
        };
        let log_shares = starts.windows(2).enumerate().map(share).sum();
        Self { order, starts, sizes, log_shares, kept: RwLock::default() }
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
    fn centred(&self, columns: &Columns, var: Var) -> (Arc<Centred>, usize) {
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
        let by_cell = |cell: usize| {
            let range = self.range(cell);
            let values = &mut out[first..][range.clone()];
            let Some(weights) = columns.weights() else {
                let mean = sum(values) / values.len() as f64;
                for x in values.iter_mut() {
                    *x -= mean;
                }
                return mean;
            };
            let weights: Vec<f64> = self.order[range].iter().map(|&row| weights[row as usize]).collect();
            let mean = dot(&weights, values) / self.size(cell);
            for (x, weight) in values.iter_mut().zip(weights) {
                *x = (*x - mean) * weight.sqrt();
            }
            mean
        };
        (0..self.len()).map(by_cell).collect()
    }

    /// The scatters of some numbers within every cell; how many bytes were newly kept.
    fn scatters(&self, columns: &Columns, numbers: &[Var], out: &mut Vec<f64>) -> usize {
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
        let mut made: Vec<(Pair, Box<[f64]>)> = Vec::with_capacity(missing.len());
        let mut bytes = 0;
        let mut add = |at: usize, i: usize, j: usize, x: &[f64], y: &[f64]| {
            let own = &mut out[at * n_cells..(at + 1) * n_cells];
            for (cell, slot) in own.iter_mut().enumerate() {
                let range = self.range(cell);
                *slot = dot(&x[range.clone()], &y[range]);
            }
            bytes += 8 * n_cells + 48;
            made.push(((numbers[j], numbers[i]), (&*own).into()));
        };
        if missing.len() == n_pairs {
            // Most divisions of a search are asked for once: what only the sums need is not kept for them.
            FIRST.with_borrow_mut(|values| {
                values.clear();
                for &v in numbers {
                    self.less_means(columns, v, values);
                }
                let column = |i: usize| &values[i * self.order.len()..(i + 1) * self.order.len()];
                for &(at, i, j) in &missing {
                    add(at, i, j, column(i), column(j));
                }
            });
        } else {
            let centred: SmallVec<[(Arc<Centred>, usize); 6]> =
                numbers.iter().map(|&v| self.centred(columns, v)).collect();
            for &(at, i, j) in &missing {
                add(at, i, j, &centred[i].0.values, &centred[j].0.values);
            }
            bytes += centred.iter().map(|(_, more)| more).sum::<usize>();
        }
        let mut kept = self.kept.write().expect("nothing panics under this lock");
        kept.sums.extend(made);
        bytes
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

const LANES: usize = 8;

/// The sum, in lanes that a compiler makes vectors of; the order of additions depends on nothing but the length.
pub fn sum(x: &[f64]) -> f64 {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// The sum of products, in lanes.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// Divisions by set, shared by all threads, within a limit of memory.
pub struct CellStore {
    columns: Arc<Columns>,
    shards: Vec<Mutex<FxHashMap<Set, Arc<Cells>>>>,
    bytes: AtomicUsize,
    limit: usize,
}

const SHARDS: usize = 64;
const LIMIT: usize = 256 << 20;

impl CellStore {
    /// An empty store of a table's columns.
    pub fn new(columns: Arc<Columns>) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { columns, shards, bytes: AtomicUsize::new(0), limit: LIMIT }
    }

    /// The columns it divides.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// The division by an ascending set of variables with levels.
    ///
    /// # Panics
    /// If a member is a number.
    pub fn cells(&self, discrete: &[Var]) -> Arc<Cells> {
        let shard = &self.shards[FxBuildHasher.hash_one(discrete) as usize >> 20 & (SHARDS - 1)];
        let lock = || shard.lock().expect("nothing panics while a shard is locked");
        if let Some(known) = lock().get(discrete) {
            return known.clone();
        }
        let made = Arc::new(Cells::new(&self.columns, discrete));
        self.grow(4 * (made.order.len() + made.starts.len()) + 200);
        lock().entry(Set::from_slice(discrete)).or_insert(made).clone()
    }

    /// A column of numbers by cells, less the cells' means.
    ///
    /// # Panics
    /// For a variable with levels.
    pub fn centred(&self, cells: &Cells, var: Var) -> Arc<Centred> {
        let (column, bytes) = cells.centred(&self.columns, var);
        self.grow(bytes);
        column
    }

    /// The scatters of some numbers within every cell: for each pair of positions `(i, j <= i)`, in packed order, one sum
    /// of products per cell.
    ///
    /// # Panics
    /// If a member has levels.
    pub fn scatters(&self, cells: &Cells, numbers: &[Var], out: &mut Vec<f64>) {
        self.grow(cells.scatters(&self.columns, numbers, out));
    }

    /// Notes that so much more is held; empties the store where that is too much.
    fn grow(&self, bytes: usize) {
        if bytes > 0 && self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit {
            self.bytes.store(0, Ordering::Relaxed);
            for shard in &self.shards {
                shard.lock().expect("nothing panics while a shard is locked").clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::table::{Codes, Column, Kind, Level, Table, Units, Variable};

    type Row = (u32, u32, u32, f64, f64);

    fn columns(rows: &[Row]) -> Columns {
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
            discrete in prop::collection::btree_set(0..3_usize, 0..4)) {
            let columns = columns(&rows);
            let discrete: Vec<Var> = discrete.into_iter().collect();
            let cells = Cells::new(&columns, &discrete);
            let mut map: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
            for row in 0..rows.len() {
                map.entry(discrete.iter().map(|&v| columns.codes(v)[row]).collect()).or_default().push(row);
            }
            prop_assert_eq!(cells.len(), map.len());
            let mut scatters = Vec::new();
            cells.scatters(&columns, &[3, 4], &mut scatters);
            let mut again = Vec::new();
            prop_assert_eq!(cells.scatters(&columns, &[3, 4], &mut again), 0);
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
    fn a_full_store_is_emptied_and_answers_as_before() {
        let rows: Vec<Row> = (0..50).map(|i| (i % 3, i % 7, i % 5, f64::from(i), f64::from(i * i % 11))).collect();
        let mut store = CellStore::new(Arc::new(columns(&rows)));
        store.limit = 1000;
        let first = store.cells(&[0, 1]);
        for _ in 0..5 {
            for set in [&[0][..], &[1], &[0, 2], &[1, 2], &[0, 1, 2]] {
                drop(store.cells(set));
            }
        }
        assert_eq!(store.cells(&[0, 1]).order(), first.order());
        assert!(store.bytes.load(Ordering::Relaxed) <= 2000);
    }
}
