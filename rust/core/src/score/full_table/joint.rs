//! The log marginal of every joint choice of bins at once.
//!
//! For a joint choice the log marginal is a sum over cells, one bin of each parent; a bin is an interval of parts. Each
//! box of intervals is therefore looked at once, and its value is added up along the axes, one axis at a time. Rows are
//! aggregated as soon as that is cheaper than carrying them: a box of few rows is split row by row, one of many
//! becomes a small dense table over the parts of the remaining parents. On the last axis most parts are empty: they
//! are left out, and neighbouring intervals that then hold the same are looked at once.

use super::cuts::Interval;
use crate::control::Halt;
use crate::leaf::{Categorical, Normal, Ordinal};

/// The child's responses in an order that does not depend on the order of the rows, with sums of them in flat cells.
pub trait Response {
    /// What a cell consists of.
    type Number: Copy + Default + PartialEq + std::ops::AddAssign;

    /// How many numbers a cell takes.
    fn width(&self) -> usize;

    /// Takes one response into a cell.
    fn add(&self, row: usize, cell: &mut [Self::Number]);

    /// Whether a cell holds no responses.
    fn is_empty(cell: &[Self::Number]) -> bool;

    /// The log marginal of the responses in a cell.
    fn log_marginal(&self, cell: &[Self::Number]) -> f64;
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
        Self {
            by_count: (0..=values.len()).map(by_count).collect(),
            values: values.into_iter().map(|y| y - leaf.centre()).collect(),
            distance: leaf.centre() - leaf.mean(),
            spread: leaf.nu() * leaf.lam(),
        }
    }
}

impl Response for Numbers {
    type Number = f64;

    fn width(&self) -> usize {
        3
    }

    fn add(&self, row: usize, cell: &mut [f64]) {
        let y = self.values[row];
        cell[0] += 1.0;
        cell[1] += y;
        cell[2] += y * y;
    }

    fn is_empty(cell: &[f64]) -> bool {
        cell[0] == 0.0
    }

    fn log_marginal(&self, cell: &[f64]) -> f64 {
        let &[n, sum, squares] = cell else { unreachable!("a cell of numbers has a width of three") };
        let of = &self.by_count[n as usize];
        let mean = sum * of.per_row;
        let scatter = (squares - sum * mean).max(0.0) * of.scatter;
        let distance = mean + self.distance;
        of.term - of.power * (scatter + of.weight * distance * distance + self.spread).ln()
    }
}

/// A leaf of levels that can read its counts from a slice.
pub trait LevelLeaf {
    fn log_marginal_of(&self, counts: &[u32]) -> f64;
}

impl LevelLeaf for Categorical {
    fn log_marginal_of(&self, counts: &[u32]) -> f64 {
        Self::log_marginal_of(self, counts)
    }
}

impl LevelLeaf for Ordinal {
    fn log_marginal_of(&self, counts: &[u32]) -> f64 {
        Self::log_marginal_of(self, counts)
    }
}

/// Levels, in any order: counts are exact.
pub struct Levels<L> {
    pub leaf: L,
    pub codes: Vec<u32>,
    /// Number of levels.
    pub width: usize,
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
}

/// One parent as an axis of the table.
#[derive(Clone, Copy)]
pub struct Axis<'a> {
    /// By row, in the order of the responses.
    pub codes: &'a [u16],
    pub n_parts: usize,
    pub intervals: &'a [Interval],
    pub n_choices: usize,
}

/// The rows of a box, in one of two forms.
#[derive(Clone, Copy)]
enum Inside<'a, N> {
    /// Ascending.
    Rows(&'a [u32]),
    /// A cell for every combination of the remaining axes' parts.
    Table(&'a [N]),
}

/// Memory of one axis, kept from one parent set to the next.
#[derive(Default)]
struct Level<N> {
    rows: Vec<u32>,
    offsets: Vec<usize>,
    own: Vec<N>,
    inner: Vec<N>,
    totals: Vec<f64>,
    line: Line<N>,
}

/// Memory of the last axis.
#[derive(Default)]
struct Line<N> {
    /// The parts that are not empty, one cell after the other.
    cells: Vec<N>,
    /// How many of them lie before each part.
    rank: Vec<usize>,
    /// Of a run of them.
    sum: Vec<N>,
}

/// Memory for the sums over all joint choices.
pub struct Joint<N> {
    /// Who can stop it: then the sums are not all there.
    pub halt: Halt,
    /// Cells and rows looked at so far.
    pub looked_at: u64,
    levels: Vec<Level<N>>,
    all_rows: Vec<u32>,
    totals: Vec<f64>,
}

/// No dense table larger than this many numbers.
const LARGEST_TABLE: usize = 1 << 22;

impl<N: Copy + Default + PartialEq + std::ops::AddAssign> Joint<N> {
    pub fn new(n_rows: usize) -> Self {
        Self {
            halt: Halt::default(),
            looked_at: 0,
            levels: Vec::new(),
            all_rows: (0..n_rows as u32).collect(),
            totals: Vec::new(),
        }
    }

    /// The log marginal of every joint choice, the last axis changing fastest.
    pub fn log_marginals<R: Response<Number = N>>(&mut self, response: &R, axes: &[Axis<'_>]) -> &[f64] {
        while self.levels.len() < axes.len().max(1) {
            self.levels.push(Level::default());
        }
        self.totals.clear();
        self.totals.resize(axes.iter().map(|a| a.n_choices).product(), 0.0);
        if self.all_rows.is_empty() {
            return &self.totals;
        }
        if axes.is_empty() {
            let mut cell = vec![N::default(); response.width()];
            self.all_rows.iter().for_each(|&row| response.add(row as usize, &mut cell));
            self.totals[0] = response.log_marginal(&cell);
            self.looked_at += self.all_rows.len() as u64;
        } else {
            let patience = &mut Patience { halt: self.halt.clone(), done: 0, over: false, looked_at: 0 };
            add_up(response, axes, Inside::Rows(&self.all_rows), &mut self.levels, &mut self.totals, patience);
            self.looked_at += patience.looked_at;
        }
        &self.totals
    }
}

/// Boxes between two questions whether to stop.
const STRIDE: u32 = 1 << 12;

/// Asks whether to stop, now and then.
struct Patience {
    halt: Halt,
    done: u32,
    over: bool,
    looked_at: u64,
}

impl Patience {
    fn is_over(&mut self, inside: usize) -> bool {
        self.looked_at += inside as u64;
        self.done += 1;
        if self.done == STRIDE {
            self.done = 0;
            self.over = self.over || self.halt.is_due();
        }
        self.over
    }
}

/// Writes the log marginals of the rows inside for every joint choice of the axes to `totals`.
fn add_up<R: Response>(
    response: &R,
    axes: &[Axis<'_>],
    inside: Inside<'_, R::Number>,
    levels: &mut [Level<R::Number>],
    totals: &mut [f64],
    patience: &mut Patience,
) {
    let looked_at = match inside {
        Inside::Rows(rows) => rows.len(),
        Inside::Table(table) => table.len(),
    };
    if patience.is_over(looked_at + 8) {
        return;
    }
    let (level, deeper) = levels.split_first_mut().expect("one level per axis");
    let (axis, inner_axes) = axes.split_first().expect("the last axis is summed as a line");
    let Level { rows, offsets, own, inner, totals: inner_totals, line } = level;
    if let (Inside::Rows(all), []) = (inside, inner_axes)
        && axis.n_choices == 1
        && all.len() < axis.n_parts
    {
        return add_up_sparse_line(response, axis, all, rows, &mut line.sum, totals);
    }
    let inside = match inside {
        Inside::Rows(rows) if pays_as_table(axes, rows.len(), response.width()) => {
            fill_table(response, axes, rows, own);
            Inside::Table(own)
        }
        other => other,
    };
    if let (Inside::Table(table), []) = (inside, inner_axes) {
        return add_up_line(response, axis, table, line, totals);
    }
    totals.fill(0.0);
    inner_totals.resize(totals.len() / axis.n_choices, 0.0);
    let add = |interval: &Interval, inner_totals: &[f64], totals: &mut [f64]| {
        for &choice in &interval.choices {
            let to = &mut totals[choice * inner_totals.len()..][..inner_totals.len()];
            to.iter_mut().zip(inner_totals).for_each(|(t, v)| *t += v);
        }
    };
    match inside {
        Inside::Rows(all) => {
            sort_by_part(axis, all, rows, offsets);
            let mut last = 0..0;
            for interval in axis.intervals {
                let range = offsets[interval.first]..offsets[interval.end];
                if range.is_empty() {
                    continue;
                }
                if range != last {
                    add_up(response, inner_axes, Inside::Rows(&rows[range.clone()]), deeper, inner_totals, patience);
                    last = range;
                }
                add(interval, inner_totals, totals);
            }
        }
        Inside::Table(table) => {
            let size = table.len() / axis.n_parts;
            let slab = |part: usize| &table[part * size..(part + 1) * size];
            let mut summed = 0..0;
            for interval in axis.intervals {
                if interval.end == interval.first + 1 {
                    add_up(response, inner_axes, Inside::Table(slab(interval.first)), deeper, inner_totals, patience);
                } else {
                    // Intervals from the same part on grow out of each other.
                    if summed.start != interval.first || summed.end <= interval.first {
                        inner.clear();
                        inner.extend_from_slice(slab(interval.first));
                        summed = interval.first..interval.first + 1;
                    }
                    for part in summed.end..interval.end {
                        inner.iter_mut().zip(slab(part)).for_each(|(sum, &n)| *sum += n);
                    }
                    summed.end = interval.end;
                    add_up(response, inner_axes, Inside::Table(inner), deeper, inner_totals, patience);
                }
                add(interval, inner_totals, totals);
            }
        }
    }
}

/// Whether to aggregate so many rows: each would be visited once per joint choice of all axes but the last, each cell
/// of the table about as often as its axes have intervals.
fn pays_as_table(axes: &[Axis<'_>], n_rows: usize, width: usize) -> bool {
    let Some((_, outer)) = axes.split_last() else { return false };
    let cells: usize = axes.iter().map(|a| a.n_parts).product();
    let visits = outer.iter().fold(n_rows, |v, a| v.saturating_mul(a.n_choices));
    outer.is_empty() || (visits >= cells && cells * width <= LARGEST_TABLE)
}

fn fill_table<R: Response>(response: &R, axes: &[Axis<'_>], rows: &[u32], table: &mut Vec<R::Number>) {
    let width = response.width();
    table.clear();
    table.resize(axes.iter().map(|a| a.n_parts).product::<usize>() * width, R::Number::default());
    for &row in rows {
        let row = row as usize;
        let cell = axes.iter().fold(0, |cell, a| cell * a.n_parts + usize::from(a.codes[row]));
        response.add(row, &mut table[cell * width..][..width]);
    }
}

/// Sorts rows by their part, ascending within it; part `p` is then at `offsets[p]..offsets[p + 1]`.
fn sort_by_part(axis: &Axis<'_>, rows: &[u32], sorted: &mut Vec<u32>, offsets: &mut Vec<usize>) {
    let part = |row: u32| usize::from(axis.codes[row as usize]);
    offsets.clear();
    offsets.resize(axis.n_parts + 2, 0);
    for &row in rows {
        offsets[part(row) + 2] += 1;
    }
    for p in 2..offsets.len() {
        offsets[p] += offsets[p - 1];
    }
    sorted.resize(rows.len(), 0);
    for &row in rows {
        let at = &mut offsets[part(row) + 1];
        sorted[*at] = row;
        *at += 1;
    }
}

/// The last axis, with the parts that are empty left out.
fn add_up_line<R: Response>(
    response: &R,
    axis: &Axis<'_>,
    table: &[R::Number],
    line: &mut Line<R::Number>,
    totals: &mut [f64],
) {
    let width = response.width();
    let Line { cells, rank, sum } = line;
    cells.clear();
    rank.clear();
    rank.push(0);
    for cell in table.chunks_exact(width) {
        if !R::is_empty(cell) {
            cells.extend_from_slice(cell);
        }
        rank.push(cells.len() / width);
    }
    let n = cells.len() / width;
    if n <= 1 {
        // Nothing, or the same cell under every choice.
        totals.fill(if n == 0 { 0.0 } else { response.log_marginal(cells) });
        return;
    }
    totals.fill(0.0);
    let (mut run, mut value) = (0..0, 0.0);
    for interval in axis.intervals {
        let (first, end) = (rank[interval.first], rank[interval.end]);
        if first == end {
            continue;
        }
        if run != (first..end) {
            // Intervals from the same part on grow out of each other.
            if run.start != first || run.end > end || run.is_empty() {
                sum.clear();
                sum.extend_from_slice(&cells[first * width..(first + 1) * width]);
                run = first..first + 1;
            }
            for cell in cells[run.end * width..end * width].chunks_exact(width) {
                sum.iter_mut().zip(cell).for_each(|(s, &c)| *s += c);
            }
            run.end = end;
            value = response.log_marginal(sum);
        }
        for &choice in &interval.choices {
            totals[choice] += value;
        }
    }
}

/// The last axis without a choice (its intervals are its parts), with fewer rows than parts.
fn add_up_sparse_line<R: Response>(
    response: &R,
    axis: &Axis<'_>,
    all: &[u32],
    rows: &mut Vec<u32>,
    cell: &mut Vec<R::Number>,
    totals: &mut [f64],
) {
    let part = |row: u32| axis.codes[row as usize];
    rows.clear();
    rows.extend_from_slice(all);
    rows.sort_unstable_by_key(|&row| (part(row), row));
    totals[0] = 0.0;
    for same in rows.chunk_by(|&a, &b| part(a) == part(b)) {
        cell.clear();
        cell.resize(response.width(), R::Number::default());
        for &row in same {
            response.add(row as usize, cell);
        }
        totals[0] += response.log_marginal(cell);
    }
}
