//! Divisions of the rows by levels ([`Cells`]), shared by all threads within a limit of memory.
//!
//! What was not asked for while the store filled by half is dropped, so that what a search goes back to stays. Columns of
//! numbers by cells, sums of two of them, and divisions by several variables are kept only where the columns by the cells of
//! all single variables would fit: otherwise each is asked for once, or by one thread many times in a row. Those of all rows in
//! one cell are kept in any case: a pair is one number.

use std::cell::RefCell;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::cells::{Cells, Centred, Set, divisions_at_hand};
use super::columns::Columns;
use crate::table::Var;

thread_local! {
    /// The divisions that a thread asked for last, the last first, and of which store.
    static LAST: RefCell<Vec<(u64, Set, Arc<Cells>)>> = const { RefCell::new(Vec::new()) };
}

static STORES: AtomicU64 = AtomicU64::new(0);

/// Divisions by set.
pub struct CellStore {
    id: u64,
    columns: Arc<Columns>,
    shards: Vec<Mutex<Shard>>,
    /// What was put in or asked for since the others grew old.
    bytes: AtomicUsize,
    limit: usize,
    /// Whether the columns of numbers by the cells of every variable would fit.
    keep: bool,
    /// Whether the columns of numbers in one cell of all rows fit: their sums cost one number a pair.
    keep_whole: bool,
}

type Divisions = FxHashMap<Set, Arc<Cells>>;

#[derive(Default)]
struct Shard {
    young: Divisions,
    /// Dropped when the young grow old, but for what was asked for.
    old: Divisions,
}

const SHARDS: usize = 64;
const LIMIT: usize = 256 << 20;

impl CellStore {
    /// An empty store of a table's columns.
    pub fn new(columns: Arc<Columns>) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        let table = columns.table();
        let discrete = (0..table.n_vars()).filter(|&v| columns.is_discrete(v)).count();
        let of_one = 8 * table.n_rows() * (table.n_vars() - discrete);
        let keep = of_one.saturating_mul(discrete + 1) <= LIMIT / 2;
        let keep_whole = of_one <= LIMIT / 4;
        let id = STORES.fetch_add(1, Ordering::Relaxed);
        Self { id, columns, shards, bytes: AtomicUsize::new(0), limit: LIMIT, keep, keep_whole }
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
        if !self.keep && discrete.len() > 1 {
            return self.made_or_last(discrete);
        }
        let shard = &self.shards[FxBuildHasher.hash_one(discrete) as usize >> 20 & (SHARDS - 1)];
        let lock = || shard.lock().expect("nothing panics while a shard is locked");
        let aged = {
            let mut shard = lock();
            if let Some(known) = shard.young.get(discrete) {
                return known.clone();
            }
            let aged = shard.old.remove_entry(discrete);
            aged.map(|(set, cells)| shard.young.entry(set).or_insert(cells).clone())
        };
        if let Some(cells) = aged {
            self.grow(cells.bytes.load(Ordering::Relaxed));
            return cells;
        }
        let made = Arc::new(Cells::new(&self.columns, discrete));
        let cells = lock().young.entry(Set::from_slice(discrete)).or_insert(made).clone();
        self.grow(cells.bytes.load(Ordering::Relaxed));
        cells
    }

    /// A division that this thread asked for a short time ago, or another that is not kept for others.
    fn made_or_last(&self, discrete: &[Var]) -> Arc<Cells> {
        LAST.with_borrow_mut(|last| {
            if let Some(at) = last.iter().position(|(id, set, _)| *id == self.id && set[..] == *discrete) {
                last[..=at].rotate_right(1);
                return last[0].2.clone();
            }
            let made = Arc::new(Cells::new(&self.columns, discrete));
            last.truncate(divisions_at_hand(self.columns.n_rows()) - 1);
            last.insert(0, (self.id, Set::from_slice(discrete), made.clone()));
            made
        })
    }

    /// A column of numbers by cells, less the cells' means.
    ///
    /// # Panics
    /// For a variable with levels.
    pub fn centred(&self, cells: &Cells, var: Var) -> Arc<Centred> {
        let (column, bytes) = cells.centred(&self.columns, var);
        self.grow_with(cells, bytes);
        column
    }

    /// The scatters of some numbers within every cell: for each pair of positions `(i, j <= i)`, in packed order, one sum
    /// of products per cell.
    ///
    /// # Panics
    /// If a member has levels.
    pub fn scatters(&self, cells: &Cells, numbers: &[Var], out: &mut Vec<f64>) {
        let keep = self.keep || cells.whole && self.keep_whole;
        self.grow_with(cells, cells.scatters(&self.columns, numbers, keep, out));
    }

    fn grow_with(&self, cells: &Cells, bytes: usize) {
        if bytes > 0 {
            cells.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.grow(bytes);
        }
    }

    /// Notes that so much more was put in or asked for; where that is half of what may be held, the old is dropped and
    /// the young grows old.
    fn grow(&self, bytes: usize) {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit / 2 {
            self.bytes.store(0, Ordering::Relaxed);
            for shard in &self.shards {
                let dropped = {
                    let mut shard = shard.lock().expect("nothing panics while a shard is locked");
                    let young = std::mem::take(&mut shard.young);
                    std::mem::replace(&mut shard.old, young)
                };
                drop(dropped);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::tests::{Row, columns};
    use super::*;

    fn store(limit: usize) -> CellStore {
        let rows: Vec<Row> = (0..50).map(|i| (i % 3, i % 7, i % 5, f64::from(i), f64::from(i * i % 11))).collect();
        CellStore { limit, ..CellStore::new(Arc::new(columns(&rows))) }
    }

    #[test]
    fn a_full_store_drops_what_is_old_and_answers_as_before() {
        let store = store(1000);
        let first = store.cells(&[0, 1]);
        for _ in 0..5 {
            for set in [&[0][..], &[1], &[0, 2], &[1, 2], &[0, 1, 2]] {
                drop(store.cells(set));
            }
        }
        let again = store.cells(&[0, 1]);
        assert_eq!(again.order(), first.order());
        assert!(!Arc::ptr_eq(&again, &first));
        assert!(store.bytes.load(Ordering::Relaxed) <= 2000);
    }

    #[test]
    fn what_is_asked_for_all_the_time_stays() {
        let store = store(4000);
        let (first, other) = (store.cells(&[0]), store.cells(&[2]));
        for _ in 0..5 {
            for set in [&[1][..], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
                drop(store.cells(set));
                assert!(Arc::ptr_eq(&store.cells(&[0]), &first));
            }
        }
        assert!(!Arc::ptr_eq(&store.cells(&[2]), &other));
    }

    #[test]
    fn a_store_that_keeps_little_says_the_same() {
        let (rich, poor) = (store(LIMIT), CellStore { keep: false, ..store(LIMIT) });
        let other = CellStore { keep: false, ..store(LIMIT) };
        let (mut of_rich, mut of_poor) = (Vec::new(), Vec::new());
        for numbers in [&[3][..], &[3, 4], &[4], &[3, 4]] {
            for set in [&[0][..], &[1, 2], &[1, 2], &[0, 1, 2], &[0, 1], &[]] {
                rich.scatters(&rich.cells(set), numbers, &mut of_rich);
                for poor in [&poor, &poor, &other] {
                    poor.scatters(&poor.cells(set), numbers, &mut of_poor);
                    assert_eq!(of_rich, of_poor, "{set:?} {numbers:?}");
                }
            }
        }
    }
}
