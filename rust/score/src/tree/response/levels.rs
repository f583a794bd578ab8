//! Responses with levels: counts, and a bound from what each level would be worth by itself.

use std::marker::PhantomData;

use smallvec::SmallVec;

use super::remembered::Remembered;
use super::{Beside, Half, Halves, LANES, Point, Response, Worth};
use crate::leaf::{Amount, Categorical, Ordinal, Total};
use crate::tree::lattice::Columns;

/// Levels, ordered or not; `C` stores their counts.
pub struct Levels<C, L> {
    leaf: L,
    k: usize,
    pure: Categorical,
    bounded: bool,
    log_gamma: f64,
    /// Of ordered levels.
    known: Remembered,
    /// Whether rows weigh parts of a row.
    has_parts: bool,
    store: PhantomData<C>,
}

/// Room for the counts of a known number of levels.
pub trait Store: Clone {
    /// What is counted, or weighed.
    type N: Stored;
    /// All zero.
    fn zeros(n_levels: usize) -> Self;
    /// At least as many as there are levels; further ones stay zero.
    fn counts(&self) -> &[Self::N];
    /// To change.
    fn counts_mut(&mut self) -> &mut [Self::N];
}

impl<N: Stored, const K: usize> Store for [N; K] {
    type N = N;

    fn zeros(n_levels: usize) -> Self {
        debug_assert!(n_levels <= K);
        [N::default(); K]
    }

    #[inline]
    fn counts(&self) -> &[N] {
        self
    }

    #[inline]
    fn counts_mut(&mut self) -> &mut [N] {
        self
    }
}

impl<N: Stored> Store for Vec<N> {
    type N = N;

    fn zeros(n_levels: usize) -> Self {
        vec![N::default(); n_levels]
    }

    fn counts(&self) -> &[N] {
        self
    }

    fn counts_mut(&mut self) -> &mut [N] {
        self
    }
}

/// An amount with a place among the sums of a lattice.
pub trait Stored: Amount {
    /// Columns of a lattice for so many levels: counts, and numbers.
    fn columns(n_levels: usize) -> [usize; 2];

    /// The columns that hold it.
    fn of(columns: Columns<'_>) -> &[Self];

    /// The same to be written.
    fn of_mut<'a>(counts: &'a mut [u32], numbers: &'a mut [f64]) -> &'a mut [Self];
}

impl Stored for u32 {
    fn columns(n_levels: usize) -> [usize; 2] {
        [n_levels, 0]
    }

    #[inline]
    fn of(columns: Columns<'_>) -> &[Self] {
        columns.counts
    }

    #[inline]
    fn of_mut<'a>(counts: &'a mut [u32], _numbers: &'a mut [f64]) -> &'a mut [Self] {
        counts
    }
}

impl Stored for f64 {
    fn columns(n_levels: usize) -> [usize; 2] {
        [0, n_levels]
    }

    #[inline]
    fn of(columns: Columns<'_>) -> &[Self] {
        columns.numbers
    }

    #[inline]
    fn of_mut<'a>(_counts: &'a mut [u32], numbers: &'a mut [f64]) -> &'a mut [Self] {
        numbers
    }
}

/// A leaf of levels, by its counts.
pub trait LevelsLeaf {
    /// Whether the levels have an order.
    const ORDERED: bool;

    /// Log marginal of these counts; zeros beyond the declared levels change nothing. `known` are those that were asked for before, for
    /// leaves that take long.
    fn of_counts<N: Amount>(&self, counts: &[N], known: &Remembered) -> f64;

    /// The same, and what no partition of these rows is worth more than; `pure` scores leaves whose responses are all equal.
    #[inline]
    fn leaf_and_apart<N: Amount>(&self, counts: &[N], pure: &Categorical, known: &Remembered) -> [f64; 2] {
        let leaf = self.of_counts(counts, known);
        [leaf, counts.iter().map(|n| pure.log_pure(n.total())).sum()]
    }

    /// As [`Response::constant`].
    fn constant(&self) -> f64 {
        0.0
    }

    /// By how much one more row of each level would raise it, to first order; one a level.
    fn slope<N: Amount>(&self, counts: &[N]) -> Vec<f64>;

    /// `log_gamma` and the log marginals of some cells of a lattice with a column for each of the declared levels.
    fn of_columns<N: Stored>(
        &self,
        columns: Columns<'_>,
        from: usize,
        log_gamma: f64,
        leaves: &mut [f64],
        known: &Remembered,
    );

    /// Steps of a cell of a lattice: its sums and its leaf.
    fn cell_steps(&self) -> u64;

    /// As [`Response::beside`].
    fn beside(&self) -> Beside {
        Beside::default()
    }
}

/// Steps of a cell of a lattice whose response has `k` levels without an order: an addition and a look-up each.
pub fn categorical_steps(k: usize) -> u64 {
    k as u64 + 2
}

/// The same of ordered levels: an exponential for each run of them, and a logarithm for each level. Of 300 and 1,000 rows
/// and two parents of as many levels, a cell of 4, 5, 7 and 10 levels took 237, 275, 417 and 665 nanoseconds.
pub fn ordinal_steps(k: usize) -> u64 {
    let squared = (k * k) as u64;
    (20 * squared + 2).min(5 * squared + 150)
}

/// What stands for them where the lattice is compared with the search by keys, which does not count what its leaves cost.
pub fn ordinal_weight(k: usize) -> u64 {
    20 * (k * k) as u64 + 2
}

impl LevelsLeaf for Categorical {
    const ORDERED: bool = false;

    fn slope<N: Amount>(&self, counts: &[N]) -> Vec<f64> {
        let n: f64 = counts.iter().map(|&n| n.real()).sum();
        let log_all = (n + self.alpha() * counts.len() as f64).ln();
        counts.iter().map(|&n| (n.real() + self.alpha()).ln() - log_all).collect()
    }

    #[inline]
    fn of_counts<N: Amount>(&self, counts: &[N], _known: &Remembered) -> f64 {
        self.log_marginal_of(counts)
    }

    fn cell_steps(&self) -> u64 {
        categorical_steps(self.n_levels())
    }

    fn of_columns<N: Stored>(
        &self,
        columns: Columns<'_>,
        from: usize,
        log_gamma: f64,
        leaves: &mut [f64],
        _known: &Remembered,
    ) {
        match self.n_levels() {
            2 => gathered::<N, 2>(columns, from, leaves, |counts| log_gamma + self.log_marginal_of(counts)),
            3 => gathered::<N, 3>(columns, from, leaves, |counts| log_gamma + self.log_marginal_of(counts)),
            4 => gathered::<N, 4>(columns, from, leaves, |counts| log_gamma + self.log_marginal_of(counts)),
            5 => gathered::<N, 5>(columns, from, leaves, |counts| log_gamma + self.log_marginal_of(counts)),
            k => collected::<N>(k, columns, from, leaves, |counts| log_gamma + self.log_marginal_of(counts)),
        }
    }
}

/// Scores cells by their counts, of which there are so many.
#[inline]
fn gathered<N: Stored, const K: usize>(
    columns: Columns<'_>,
    from: usize,
    leaves: &mut [f64],
    score: impl Fn(&[N; K]) -> f64,
) {
    let of_level: [&[N]; K] = std::array::from_fn(|x| &N::of(columns)[x * columns.cells + from..][..leaves.len()]);
    for (i, leaf) in leaves.iter_mut().enumerate() {
        *leaf = score(&of_level.map(|counts| counts[i]));
    }
}

/// The same of any number of levels.
pub(super) fn collected<N: Stored>(
    k: usize,
    columns: Columns<'_>,
    from: usize,
    leaves: &mut [f64],
    mut score: impl FnMut(&[N]) -> f64,
) {
    let mut counts: SmallVec<[N; 16]> = SmallVec::from_elem(N::default(), k);
    for (i, leaf) in leaves.iter_mut().enumerate() {
        for (x, count) in counts.iter_mut().enumerate() {
            *count = N::of(columns)[x * columns.cells + from + i];
        }
        *leaf = score(&counts);
    }
}

/// With more ordered levels the slope is that of their shares, which takes one pass.
const SMOOTHED_BEYOND: usize = 64;
/// Steps of a log-gamma that is computed, of about a nanosecond; many leaves hold rows of few levels, whose others cost none.
const LOG_GAMMA: u64 = 20;
/// Counts of more levels are what a search takes most of its time for.
const FEW: usize = 64;

impl LevelsLeaf for Ordinal {
    const ORDERED: bool = true;

    fn slope<N: Amount>(&self, counts: &[N]) -> Vec<f64> {
        if counts.len() > SMOOTHED_BEYOND {
            return Categorical::new(counts.len(), self.alpha()).slope(counts);
        }
        let before = self.log_marginal_of(counts);
        let mut more = counts.to_vec();
        (0..counts.len())
            .map(|y| {
                more[y] += N::ONE;
                let after = self.log_marginal_of(&more);
                more[y] -= N::ONE;
                after - before
            })
            .collect()
    }

    #[inline]
    fn of_counts<N: Amount>(&self, counts: &[N], known: &Remembered) -> f64 {
        let counts = &counts[..self.n_levels()];
        known.get(counts, || self.log_marginal_of(counts))
    }

    fn cell_steps(&self) -> u64 {
        ordinal_steps(self.n_levels())
    }

    fn of_columns<N: Stored>(
        &self,
        columns: Columns<'_>,
        from: usize,
        log_gamma: f64,
        leaves: &mut [f64],
        known: &Remembered,
    ) {
        collected::<N>(self.n_levels(), columns, from, leaves, |counts| log_gamma + self.of_counts(counts, known));
    }
}

impl<C: Store, L: LevelsLeaf> Levels<C, L> {
    /// `pure` scores leaves whose responses are all equal, which bounds every other leaf; `bounded` says whether it does.
    pub fn new(leaf: L, pure: Categorical, bounded: bool) -> Self {
        let known = if L::ORDERED { Remembered::new() } else { Remembered::default() };
        Self {
            leaf,
            k: pure.n_levels(),
            pure,
            bounded,
            log_gamma: f64::NAN,
            known,
            has_parts: false,
            store: PhantomData,
        }
    }

    /// Of these rows, which may weigh parts of a row each.
    #[must_use]
    pub fn of_rows(mut self, rows: &[<C::N as Amount>::Row]) -> Self {
        self.has_parts = rows.iter().any(|&row| C::N::of_row(row).1.total().place().is_none());
        self
    }

    /// Steps of a leaf's log-gammas where weights are no whole numbers, which stand in no table.
    fn parts_steps(&self) -> u64 {
        let k = self.k as u64;
        let runs = if L::ORDERED { k * (k + 1) / 2 } else { k };
        if self.has_parts { LOG_GAMMA * (runs + k + 1) } else { 0 }
    }

    pub(super) fn leaf(&self) -> &L {
        &self.leaf
    }

    pub(super) fn n_levels(&self) -> usize {
        self.k
    }
}

impl<C: Store, L: LevelsLeaf> Response for Levels<C, L> {
    type Value = <C::N as Amount>::Row;
    type Sum = C;

    fn constant(&self) -> f64 {
        self.leaf.constant()
    }

    fn bulk(&self) -> u64 {
        if self.k > FEW { self.k as u64 } else { 0 }
    }

    fn beside(&self) -> Beside {
        let of_leaf = self.leaf.beside();
        Beside { split: of_leaf.split + 2 * self.parts_steps(), ..of_leaf }
    }

    fn zero(&self) -> C {
        C::zeros(self.k)
    }

    #[inline]
    fn is_empty(&self, sum: &C) -> bool {
        sum.counts().iter().all(|&n| n == C::N::default())
    }

    #[inline]
    fn observe(&self, sum: &mut C, row: <C::N as Amount>::Row) {
        let (level, amount) = C::N::of_row(row);
        sum.counts_mut()[level as usize] += amount;
    }

    #[inline]
    fn add(&self, sum: &mut C, other: &C) {
        for (n, &m) in sum.counts_mut().iter_mut().zip(other.counts()) {
            *n += m;
        }
    }

    #[inline]
    fn subtract(&self, sum: &mut C, part: &C) {
        for (n, &m) in sum.counts_mut().iter_mut().zip(part.counts()) {
            *n -= m;
        }
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
    }

    /// Every leaf is at most what its levels would be worth in leaves of their own, whatever those cost beyond two.
    #[inline]
    fn worth(&self, sum: &C) -> Worth {
        let counts = sum.counts();
        if !self.bounded {
            let leaf = self.log_gamma + self.leaf.of_counts(counts, &self.known);
            return Worth { leaf, split: f64::INFINITY };
        }
        let observed: usize = counts.iter().map(|&n| usize::from(n != C::N::default())).sum();
        let [leaf, apart] = self.leaf.leaf_and_apart(counts, &self.pure, &self.known);
        let split = if observed < 2 { f64::NEG_INFINITY } else { 2.0 * self.log_gamma + apart };
        Worth { leaf: self.log_gamma + leaf, split }
    }

    fn columns(&self) -> [usize; 2] {
        C::N::columns(self.k)
    }

    fn cell_steps(&self) -> u64 {
        self.leaf.cell_steps() + self.parts_steps()
    }

    fn put(&self, sum: &C, counts: &mut [u32], numbers: &mut [f64], apart: usize) {
        let places = C::N::of_mut(counts, numbers);
        for (x, &n) in sum.counts()[..self.k].iter().enumerate() {
            places[x * apart] = n;
        }
    }

    fn leaves(&self, columns: Columns<'_>, from: usize, leaves: &mut [f64]) {
        self.leaf.of_columns::<C::N>(columns, from, self.log_gamma, leaves, &self.known);
    }

    type Halves = LevelHalves<C>;

    fn halves(&self, points: &[Point<C>], total: &C, bits: &[u32]) -> LevelHalves<C> {
        let mut lanes = SmallVec::new();
        for &bit in bits {
            let mut n_right = 0;
            let half = || Half { sum: self.zero(), or: 0, and: u64::MAX };
            let [mut left, mut right] = [half(), half()];
            for point in points {
                let goes_right = point.key >> bit & 1;
                n_right += goes_right as usize;
                let mask = (goes_right as u32).wrapping_neg();
                for (n, &m) in right.sum.counts_mut().iter_mut().zip(point.sum.counts()) {
                    *n += m.masked(mask);
                }
                let mask = goes_right.wrapping_neg();
                left.or |= point.key & !mask;
                right.or |= point.key & mask;
                left.and &= point.key | mask;
                right.and &= point.key | !mask;
            }
            left.sum.clone_from(total);
            self.subtract(&mut left.sum, &right.sum);
            let worth = [self.worth(&left.sum), self.worth(&right.sum)];
            lanes.push((n_right, worth, [left, right]));
        }
        LevelHalves { lanes }
    }
}

/// Points on the right, worth of both sides, both sides.
type Lane<C> = (usize, [Worth; 2], [Half<C>; 2]);

/// Halvings of levels.
pub struct LevelHalves<C> {
    lanes: SmallVec<[Lane<C>; LANES]>,
}

impl<C: Clone> Halves<C> for LevelHalves<C> {
    fn n_right(&self, lane: usize) -> usize {
        self.lanes[lane].0
    }

    fn worth(&self, lane: usize) -> [Worth; 2] {
        self.lanes[lane].1
    }

    fn key(&self, lane: usize, side: usize) -> [u64; 2] {
        let half = &self.lanes[lane].2[side];
        [half.or, half.and]
    }

    fn half(&self, lane: usize, side: usize) -> Half<C> {
        self.lanes[lane].2[side].clone()
    }
}
