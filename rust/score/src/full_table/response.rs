//! The child's responses as full tables see them: sums in flat cells, and what the responses of a cell are worth.

use std::ops::AddAssign;
use std::sync::Arc;

use super::runs::Run;
use crate::leaf::{Amount, Categorical, CountSum, HistogramLeaf, Normal, Ordinal};
use crate::tree::ln::ln;

/// What cells consist of.
pub trait Number: Copy + Default + PartialEq + AddAssign {
    /// Rows of so much weight, of which nothing else is known.
    fn of_weight(weight: f64) -> Self;

    /// Their weight.
    fn weight(self) -> f64;
}

impl Number for u32 {
    fn of_weight(weight: f64) -> Self {
        weight as Self
    }

    #[inline]
    fn weight(self) -> f64 {
        f64::from(self)
    }
}

impl Number for f64 {
    fn of_weight(weight: f64) -> Self {
        weight
    }

    #[inline]
    fn weight(self) -> f64 {
        self
    }
}

impl Number for Sums {
    fn of_weight(weight: f64) -> Self {
        Self { n: weight, ..Self::default() }
    }

    #[inline]
    fn weight(self) -> f64 {
        self.n
    }
}

impl Number for CountSum {
    fn of_weight(weight: f64) -> Self {
        Self { n: weight, ..Self::default() }
    }

    #[inline]
    fn weight(self) -> f64 {
        self.n
    }
}

/// The child's responses in an order that does not depend on the order of the rows, with sums of them in flat cells.
pub trait Response {
    /// What a cell consists of.
    type Number: Number;

    /// How many numbers a cell takes.
    fn width(&self) -> usize;

    /// Takes one response into a cell.
    fn add(&self, row: usize, cell: &mut [Self::Number]);

    /// Whether a cell holds no responses.
    fn is_empty(cell: &[Self::Number]) -> bool;

    /// The log marginal of the responses in a cell.
    fn log_marginal(&self, cell: &[Self::Number]) -> f64;

    /// The log marginal of one row's response.
    fn alone(&self, row: u32) -> f64;

    /// The weight of the responses in a cell.
    fn n_rows(cell: &[Self::Number]) -> f64 {
        cell.iter().map(|n| n.weight()).sum()
    }

    /// What all rows are worth in whatever cells they are, beside these.
    fn constant(&self) -> f64 {
        0.0
    }

    /// The sums of runs of the cells of a table, one after the other. Runs from the same part on grow out of each other.
    fn sum_runs(&self, table: &[Self::Number], parts: &[u16], runs: &[Run], sums: &mut Vec<Self::Number>) {
        let width = self.width();
        sums.resize(runs.len() * width, Self::Number::default());
        let cell = |place: u32| &table[usize::from(parts[place as usize]) * width..][..width];
        let mut before = Run { first: u32::MAX, end: 0, choices: 0 };
        for (at, &run) in runs.iter().enumerate().map(|(i, run)| (i * width, run)) {
            let next = if run.first == before.first {
                sums.copy_within(at - width..at, at);
                before.end
            } else {
                sums[at..at + width].copy_from_slice(cell(run.first));
                run.first + 1
            };
            for place in next..run.end {
                sums[at..at + width].iter_mut().zip(cell(place)).for_each(|(sum, &n)| *sum += n);
            }
            before = run;
        }
    }

    /// The log marginals of several cells, one after the other.
    fn worths(&self, cells: &[Self::Number], worths: &mut Vec<f64>) {
        worths.clear();
        worths.extend(cells.chunks_exact(self.width()).map(|cell| self.log_marginal(cell)));
    }
}

/// Numbers in a cell: how many, their sum and their sum of squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    pub n: f64,
    pub sum: f64,
    pub squares: f64,
}

impl AddAssign for Sums {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.n += other.n;
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

/// Numbers, ascending.
pub struct Numbers {
    /// Distances from the leaf's centre.
    values: Vec<f64>,
    by_count: Vec<ByCount>,
    /// From the prior's mean to the centre.
    distance: f64,
    /// `nu lam`.
    spread: f64,
    alone: Vec<f64>,
}

/// What the number of responses in a cell decides about its log marginal, so that the rest takes one logarithm and no
/// division: `term - power ln(scatter (squares - sum^2 / n) + weight (mean - prior mean)^2 + nu lam)`.
#[derive(Clone, Copy)]
struct ByCount {
    term: f64,
    power: f64,
    /// `1/n`.
    per_row: f64,
    /// What the sum of squares about the mean is multiplied by: 1, or `(n-1)/n` as published.
    scatter: f64,
    /// `n a / (n + a)`.
    weight: f64,
}

impl Numbers {
    /// Sorted `values` of the column.
    pub fn new(leaf: &Normal, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let by_count = |n: usize| {
            let rows = n as f64;
            ByCount {
                term: leaf.count_term(n as u64),
                power: 0.5 * (rows + leaf.nu()),
                per_row: if n == 0 { 0.0 } else { 1.0 / rows },
                scatter: if n < 2 { 0.0 } else { leaf.scatter_factor(n as u64) },
                weight: rows * leaf.a() / (rows + leaf.a()),
            }
        };
        let mut numbers = Self {
            by_count: (0..=values.len()).map(by_count).collect(),
            values: values.into_iter().map(|y| y - leaf.centre()).collect(),
            distance: leaf.centre() - leaf.mean(),
            spread: leaf.nu() * leaf.lam(),
            alone: Vec::new(),
        };
        let alone = |&y: &f64| numbers.log_marginal(&[Sums { n: 1.0, sum: y, squares: y * y }]);
        numbers.alone = numbers.values.iter().map(alone).collect();
        numbers
    }

    /// What the logarithm is taken of.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn spread(&self, of: &ByCount, cell: &Sums) -> f64 {
        let mean = cell.sum * of.per_row;
        let scatter = (cell.squares - cell.sum * mean).max(0.0) * of.scatter;
        let distance = mean + self.distance;
        scatter + of.weight * distance * distance + self.spread
    }

    /// All at once: whether every logarithm was of a normal number, as [`ln`] wants it.
    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn fast_worths(&self, cells: &[Sums], worths: &mut [f64]) -> bool {
        let mut normal = true;
        for (worth, cell) in worths.iter_mut().zip(cells) {
            *worth = self.spread(&self.by_count[cell.n as usize], cell);
            normal &= (f64::MIN_POSITIVE..=f64::MAX).contains(worth);
        }
        for worth in worths.iter_mut() {
            *worth = ln(*worth);
        }
        for (worth, cell) in worths.iter_mut().zip(cells) {
            let of = &self.by_count[cell.n as usize];
            *worth = of.term - of.power * *worth;
        }
        normal
    }

    /// With wider registers; every operation rounds as without, so the results are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn worths_in_wide_registers(&self, cells: &[Sums], worths: &mut [f64]) -> bool {
        self.fast_worths(cells, worths)
    }
}

impl Response for Numbers {
    type Number = Sums;

    fn width(&self) -> usize {
        1
    }

    #[inline]
    fn add(&self, row: usize, cell: &mut [Sums]) {
        let y = self.values[row];
        cell[0] += Sums { n: 1.0, sum: y, squares: y * y };
    }

    #[inline]
    fn is_empty(cell: &[Sums]) -> bool {
        cell[0].n == 0.0
    }

    fn log_marginal(&self, cell: &[Sums]) -> f64 {
        let of = &self.by_count[cell[0].n as usize];
        let spread = self.spread(of, &cell[0]);
        let log = if (f64::MIN_POSITIVE..=f64::MAX).contains(&spread) { ln(spread) } else { spread.ln() };
        of.term - of.power * log
    }

    fn alone(&self, row: u32) -> f64 {
        self.alone[row as usize]
    }

    fn sum_runs(&self, table: &[Sums], parts: &[u16], runs: &[Run], sums: &mut Vec<Sums>) {
        sums.clear();
        let mut sum = Sums::default();
        let (mut first, mut end) = (u32::MAX, 0);
        for run in runs {
            if run.first != first {
                (first, end) = (run.first, run.first + 1);
                sum = table[usize::from(parts[first as usize])];
            }
            for &part in &parts[end as usize..run.end as usize] {
                sum += table[usize::from(part)];
            }
            end = run.end;
            sums.push(sum);
        }
    }

    fn worths(&self, cells: &[Sums], worths: &mut Vec<f64>) {
        worths.resize(cells.len(), 0.0);
        if !self.fast_worths_here(cells, worths) {
            let slowly = cells.chunks_exact(1).map(|cell| self.log_marginal(cell));
            worths.iter_mut().zip(slowly).for_each(|(worth, exact)| *worth = exact);
        }
    }
}

impl Numbers {
    #[inline]
    fn fast_worths_here(&self, cells: &[Sums], worths: &mut [f64]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked.
            #[allow(unsafe_code)]
            return unsafe { self.worths_in_wide_registers(cells, worths) };
        }
        self.fast_worths(cells, worths)
    }
}

/// A leaf of levels that can read its counts from a slice.
pub trait LevelLeaf {
    fn log_marginal_of<N: Amount>(&self, counts: &[N]) -> f64;

    /// As [`Response::constant`].
    fn constant(&self) -> f64 {
        0.0
    }
}

impl LevelLeaf for Arc<HistogramLeaf> {
    fn log_marginal_of<N: Amount>(&self, counts: &[N]) -> f64 {
        self.both(counts)[0]
    }

    fn constant(&self) -> f64 {
        self.as_ref().constant()
    }
}

impl LevelLeaf for Categorical {
    fn log_marginal_of<N: Amount>(&self, counts: &[N]) -> f64 {
        Self::log_marginal_of(self, counts)
    }
}

impl LevelLeaf for Ordinal {
    fn log_marginal_of<N: Amount>(&self, counts: &[N]) -> f64 {
        Self::log_marginal_of(self, counts)
    }
}

/// Levels, in any order: counts are exact.
pub struct Levels<L> {
    leaf: L,
    codes: Vec<u32>,
    /// Number of levels.
    width: usize,
    /// By level: the log marginal of one row.
    alone: Vec<f64>,
}

impl<L: LevelLeaf> Levels<L> {
    /// The codes of the rows, below `width`.
    pub fn new(leaf: L, codes: Vec<u32>, width: usize) -> Self {
        let mut observed = vec![false; width];
        for &code in &codes {
            observed[code as usize] = true;
        }
        let mut cell = vec![0; width];
        let mut alone = |level: usize| {
            cell[level] = 1;
            let worth = leaf.log_marginal_of(&cell);
            cell[level] = 0;
            worth
        };
        let alone = (0..width).map(|level| if observed[level] { alone(level) } else { 0.0 }).collect();
        Self { leaf, codes, width, alone }
    }
}

impl<L: LevelLeaf> Response for Levels<L> {
    type Number = u32;

    fn width(&self) -> usize {
        self.width
    }

    fn add(&self, row: usize, cell: &mut [u32]) {
        cell[self.codes[row] as usize] += 1;
    }

    fn is_empty(cell: &[u32]) -> bool {
        cell.iter().all(|&n| n == 0)
    }

    fn log_marginal(&self, cell: &[u32]) -> f64 {
        self.leaf.log_marginal_of(cell)
    }

    fn alone(&self, row: u32) -> f64 {
        self.alone[self.codes[row as usize] as usize]
    }

    fn constant(&self) -> f64 {
        self.leaf.constant()
    }
}
