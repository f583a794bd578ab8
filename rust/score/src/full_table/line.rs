//! The last parent: the log marginals of one box for each of its choices of bins.

use super::joint::Axis;
use super::response::{Number, Response};
use super::runs::{self, Run};

/// Memory of the last axis.
#[derive(Default)]
pub struct Line<N> {
    /// A cell for every part; those of parts without rows have no meaning.
    table: Vec<N>,
    /// The parts that hold rows.
    parts: Vec<u16>,
    sorted: Vec<u32>,
    runs: Vec<Run>,
    /// By run, one cell after the other.
    sums: Vec<N>,
    worths: Vec<f64>,
}

impl<N: Number> Line<N> {
    /// The log marginals of the rows, ascending, for every choice of the axis.
    pub fn of_rows<R: Response<Number = N>>(
        &mut self,
        response: &R,
        axis: &Axis<'_>,
        rows: &[u32],
        totals: &mut [f64],
    ) {
        let width = response.width();
        if axis.n_choices == 1 && rows.len() < axis.n_parts {
            return self.of_sorted_rows(response, axis, rows, totals);
        }
        let mut table = std::mem::take(&mut self.table);
        if axis.n_parts <= 64 {
            table.resize(table.len().max(axis.n_parts * width), N::default());
            let mut occupied = 0_u64;
            for &row in rows {
                let part = axis.part(row);
                let cell = &mut table[part * width..][..width];
                if occupied >> part & 1 == 0 {
                    cell.fill(N::default());
                    occupied |= 1 << part;
                }
                response.add(row as usize, cell);
            }
            self.parts.clear();
            while occupied != 0 {
                self.parts.push(occupied.trailing_zeros() as u16);
                occupied &= occupied - 1;
            }
            self.add_up(response, axis, &table, totals);
        } else {
            table.clear();
            table.resize(axis.n_parts * width, N::default());
            for &row in rows {
                response.add(row as usize, &mut table[axis.part(row) * width..][..width]);
            }
            self.of_table(response, axis, &table, totals);
        }
        self.table = table;
    }

    /// The same of a cell for every part.
    pub fn of_table<R: Response<Number = N>>(
        &mut self,
        response: &R,
        axis: &Axis<'_>,
        table: &[N],
        totals: &mut [f64],
    ) {
        let cells = table.chunks_exact(response.width());
        self.parts.clear();
        self.parts.extend(cells.enumerate().filter(|(_, cell)| !R::is_empty(cell)).map(|(part, _)| part as u16));
        self.add_up(response, axis, table, totals);
    }

    /// Adds up the bins of every choice, ascending.
    fn add_up<R: Response<Number = N>>(&mut self, response: &R, axis: &Axis<'_>, table: &[N], totals: &mut [f64]) {
        let width = response.width();
        let Self { parts, runs, sums, worths, .. } = self;
        if let [] | [_] = parts[..] {
            // Nothing, or the same cell under every choice.
            let of = |&part: &u16| response.log_marginal(&table[usize::from(part) * width..][..width]);
            return totals.fill(parts.first().map_or(0.0, of));
        }
        runs::collect(axis, parts, runs);
        response.sum_runs(table, parts, runs, sums);
        response.worths(sums, worths);
        totals.fill(0.0);
        for (run, &worth) in runs.iter().zip(&*worths) {
            run.each_choice(|choice| totals[choice] += worth);
        }
    }

    /// Without a choice (the bins are the parts), with fewer rows than parts.
    fn of_sorted_rows<R: Response<Number = N>>(
        &mut self,
        response: &R,
        axis: &Axis<'_>,
        rows: &[u32],
        totals: &mut [f64],
    ) {
        let Self { sorted, sums, .. } = self;
        sorted.clear();
        sorted.extend_from_slice(rows);
        sorted.sort_unstable_by_key(|&row| (axis.part(row), row));
        totals[0] = 0.0;
        for same in sorted.chunk_by(|&a, &b| axis.part(a) == axis.part(b)) {
            sums.clear();
            sums.resize(response.width(), N::default());
            for &row in same {
                response.add(row as usize, sums);
            }
            totals[0] += response.log_marginal(sums);
        }
    }
}
