//! The log marginal of every joint choice of bins at once.
//!
//! For a joint choice the log marginal is a sum over cells, one bin of each parent; a bin is a run of parts. Each box of
//! bins is therefore looked at once, and its value is added up along the axes, one axis at a time. Bins that hold the
//! same rows are one run (see [`runs`]). Rows are aggregated as soon as that is cheaper than carrying them: a box of few
//! rows is split row by row, one of many becomes a small dense table over the parts of the remaining parents. Boxes of
//! one or two rows need no splitting at all (see [`few`]), and the last axis is a [`Line`].

use super::cuts::Cuttings;
use super::few;
use super::line::Line;
use super::response::{Number, Response};
use super::runs::{self, Run};
use crate::control::Halt;

/// One parent as an axis of the table.
#[derive(Clone, Copy)]
pub struct Axis<'a> {
    /// By row, in the order of the responses.
    pub codes: &'a [u16],
    pub n_parts: usize,
    pub n_choices: usize,
    cuttings: &'a Cuttings,
}

impl<'a> Axis<'a> {
    /// Of a parent with its parts by row.
    pub fn new(cuttings: &'a Cuttings, codes: &'a [u16]) -> Self {
        Self { codes, n_parts: cuttings.n_parts, n_choices: cuttings.choices.len(), cuttings }
    }

    /// The choices, as bits, that have two parts, the lower first, in one bin.
    #[inline]
    pub fn together(&self, a: u16, b: u16) -> u64 {
        self.cuttings.together(a, b)
    }

    /// The part of a row.
    #[inline]
    pub fn part(&self, row: u32) -> usize {
        usize::from(self.codes[row as usize])
    }
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
    offsets: Vec<u32>,
    parts: Vec<u16>,
    runs: Vec<Run>,
    own: Vec<N>,
    inner: Vec<N>,
    totals: Vec<f64>,
    line: Line<N>,
}

/// Memory for the sums over all joint choices.
pub struct Joint<N> {
    /// Who can stop it: then the sums are not all there.
    pub halt: Halt,
    /// What was done so far, counted in steps of about a nanosecond.
    pub steps: u64,
    levels: Vec<Level<N>>,
    all_rows: Vec<u32>,
    totals: Vec<f64>,
}

/// No dense table larger than this many bytes.
const LARGEST_TABLE: usize = 1 << 25;

impl<N: Number> Joint<N> {
    pub fn new(n_rows: usize) -> Self {
        Self {
            halt: Halt::default(),
            steps: 0,
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
            self.steps += self.all_rows.len() as u64;
        } else {
            let patience = &mut Patience { halt: self.halt.clone(), done: 0, over: false, steps: 0 };
            add_up(response, axes, Inside::Rows(&self.all_rows), &mut self.levels, &mut self.totals, patience);
            self.steps += patience.steps;
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
    steps: u64,
}

impl Patience {
    fn is_over(&mut self, steps: usize) -> bool {
        self.steps += steps as u64;
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
    let steps = match inside {
        Inside::Rows(&[row]) => return totals.fill(response.alone(row)),
        Inside::Rows(&[a, b]) => return few::add_up_pair(response, axes, [a, b], totals),
        Inside::Rows(rows) => 64 + 8 * rows.len(),
        Inside::Table(table) => 64 + 3 * table.len(),
    };
    if patience.is_over(steps) {
        return;
    }
    let (level, deeper) = levels.split_first_mut().expect("one level per axis");
    let (axis, inner_axes) = axes.split_first().expect("the last axis is summed as a line");
    let Level { rows, offsets, parts, runs, own, inner, totals: inner_totals, line } = level;
    if inner_axes.is_empty() {
        return match inside {
            Inside::Rows(rows) => line.of_rows(response, axis, rows, totals),
            Inside::Table(table) => line.of_table(response, axis, table, totals),
        };
    }
    let inside = match inside {
        Inside::Rows(rows) if pays_as_table(axes, rows.len(), response.width() * size_of::<R::Number>()) => {
            fill_table(response, axes, rows, own);
            Inside::Table(own)
        }
        other => other,
    };
    totals.fill(0.0);
    inner_totals.resize(totals.len() / axis.n_choices, 0.0);
    let add = |run: &Run, inner_totals: &[f64], totals: &mut [f64]| {
        run.each_choice(|choice| {
            let to = &mut totals[choice * inner_totals.len()..][..inner_totals.len()];
            to.iter_mut().zip(inner_totals).for_each(|(t, v)| *t += v);
        });
    };
    match inside {
        Inside::Rows(all) => {
            sort_by_part(axis, all, rows, offsets);
            parts.clear();
            parts.extend((0..axis.n_parts).filter(|&p| offsets[p] < offsets[p + 1]).map(|p| p as u16));
            runs::collect(axis, parts, runs);
            for run in &*runs {
                let from = offsets[usize::from(parts[run.first as usize])];
                let to = offsets[usize::from(parts[run.end as usize - 1]) + 1];
                let run_rows = Inside::Rows(&rows[from as usize..to as usize]);
                add_up(response, inner_axes, run_rows, deeper, inner_totals, patience);
                add(run, inner_totals, totals);
            }
        }
        Inside::Table(table) => {
            let size = table.len() / axis.n_parts;
            let slab = |part: u32| &table[part as usize * size..][..size];
            parts.clear();
            parts.extend(0..axis.n_parts as u16);
            runs::collect(axis, parts, runs);
            let mut summed = 0..0;
            for run in &*runs {
                if run.end == run.first + 1 {
                    add_up(response, inner_axes, Inside::Table(slab(run.first)), deeper, inner_totals, patience);
                } else {
                    // Runs from the same part on grow out of each other.
                    if summed.start != run.first || summed.end <= run.first {
                        inner.clear();
                        inner.extend_from_slice(slab(run.first));
                        summed = run.first..run.first + 1;
                    }
                    for part in summed.end..run.end {
                        inner.iter_mut().zip(slab(part)).for_each(|(sum, &n)| *sum += n);
                    }
                    summed.end = run.end;
                    add_up(response, inner_axes, Inside::Table(inner), deeper, inner_totals, patience);
                }
                add(run, inner_totals, totals);
            }
        }
    }
}

/// Whether to aggregate so many rows, in cells of so many bytes: each would be visited once per joint choice of all axes
/// but the last, each cell of the table about as often as its axes have bins, most of which hold the same few rows.
fn pays_as_table(axes: &[Axis<'_>], n_rows: usize, size: usize) -> bool {
    let Some((_, outer)) = axes.split_last() else { return false };
    let cells: usize = axes.iter().map(|a| a.n_parts).product();
    let visits = outer.iter().fold(n_rows, |v, a| v.saturating_mul(a.n_choices));
    visits >= 4 * cells && cells * size <= LARGEST_TABLE
}

fn fill_table<R: Response>(response: &R, axes: &[Axis<'_>], rows: &[u32], table: &mut Vec<R::Number>) {
    let width = response.width();
    table.clear();
    table.resize(axes.iter().map(|a| a.n_parts).product::<usize>() * width, R::Number::default());
    for &row in rows {
        let cell = axes.iter().fold(0, |cell, a| cell * a.n_parts + a.part(row));
        response.add(row as usize, &mut table[cell * width..][..width]);
    }
}

/// Sorts rows by their part, ascending within it; part `p` is then at `offsets[p]..offsets[p + 1]`.
fn sort_by_part(axis: &Axis<'_>, rows: &[u32], sorted: &mut Vec<u32>, offsets: &mut Vec<u32>) {
    offsets.clear();
    offsets.resize(axis.n_parts + 2, 0);
    for &row in rows {
        offsets[axis.part(row) + 2] += 1;
    }
    for p in 2..offsets.len() {
        offsets[p] += offsets[p - 1];
    }
    sorted.resize(rows.len(), 0);
    for &row in rows {
        let at = &mut offsets[axis.part(row) + 1];
        sorted[*at as usize] = row;
        *at += 1;
    }
}
