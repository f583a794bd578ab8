//! What one parent more gives a child at most, under the conditional Gaussian, in one pass over the rows.
//!
//! A search asks of one child and one base for all other variables, and hardly one in fifty of them scores more than the
//! base alone. So the rows stand in the order of the base and the child's levels, their numbers beside them with all
//! products; a variable with levels then adds one short vector a row to the sums of its cells, and a number has its products
//! with a few columns. The log-likelihood of such sums ([`super::moments`]) is right but for a rounding that is bounded: what
//! falls short with it need not be scored. What cannot be told (flat cells, too many of them) has no bound.

use crate::regress::cells::{Set, dot, sum};
use crate::regress::cholesky::packed;
use crate::regress::columns::Columns;
use crate::regress::store::CellStore;
use crate::table::Var;

use super::moments::{Likelihood, MOST, Moments};
use super::split;

/// So many entries of rows with products are held at once, 8 MB.
const MOST_ENTRIES: usize = 1 << 20;

/// The rows of a child with one base.
pub(super) struct Additions<'a> {
    store: &'a CellStore,
    child: Var,
    base: Option<Set>,
    /// Whether bounds of this base are known at all.
    able: bool,
    /// Rows by the cells of the base, within these by the child's levels.
    order: Vec<u32>,
    groups: Vec<Group>,
    /// The numbers of the base, then the child if it is one, in that order of rows, each less its mean in the base's cell.
    numbers: Vec<Vec<f64>>,
    /// One, the numbers and their products for each row, in so many places; made for the first addition with levels.
    records: Vec<f64>,
    /// Of each group; made for the first addition of a number.
    moments: Vec<Moments>,
    cells: Vec<f64>,
    merged: Vec<f64>,
    added: Vec<f64>,
}

/// Rows of one cell of the base and one level of the child.
struct Group {
    end: usize,
    /// Whether the base's cell ends with it.
    last: bool,
}

impl<'a> Additions<'a> {
    /// Of a child, no base yet.
    pub fn new(store: &'a CellStore, child: Var) -> Self {
        let (order, groups, numbers, moments) = (vec![], vec![], vec![], vec![]);
        let (records, cells, merged, added) = (vec![], vec![], vec![], vec![]);
        Self { store, child, base: None, able: false, order, groups, numbers, records, moments, cells, merged, added }
    }

    /// The log-likelihood of the child with these parents and one more is at most this, per unit of the columns.
    pub fn most(&mut self, base: &[Var], added: Var) -> Option<f64> {
        if self.base.as_deref() != Some(base) {
            self.able = self.arrange(base).is_some();
            self.base = Some(Set::from_slice(base));
        }
        if !self.able {
            return None;
        }
        let columns = self.columns();
        let (fine, coarse) = match columns.levels(added) {
            Some(levels) => {
                let few = self.groups.len() * levels <= 8 * self.order.len() + 1024;
                let codes = columns.codes(added);
                match self.numbers.len() {
                    1 if few => self.with_levels::<4>(codes, levels),
                    2 if few => self.with_levels::<6>(codes, levels),
                    3 if few => self.with_levels::<10>(codes, levels),
                    4 if few => self.with_levels::<16>(codes, levels),
                    5 if few => self.with_levels::<22>(codes, levels),
                    _ => return None,
                }
            }
            None => self.with_number(columns.reals(added))?,
        };
        let ((fine, of_fine), (coarse, of_coarse)) = (fine.value()?, coarse.value()?);
        Some(fine - coarse + of_fine + of_coarse)
    }

    fn columns(&self) -> &'a Columns {
        self.store.columns()
    }

    fn is_number(&self) -> bool {
        !self.columns().is_discrete(self.child)
    }

    fn arrange(&mut self, base: &[Var]) -> Option<()> {
        let columns = self.columns();
        let (discrete, mut numbers) = split(columns.table(), base);
        if base.is_empty() || columns.weights().is_some() || columns.n_rows() == 0 {
            return None;
        }
        numbers.extend(self.is_number().then_some(self.child));
        let cells = self.store.cells(&discrete);
        self.order.clear();
        self.groups.clear();
        self.records.clear();
        self.moments.clear();
        let levels = columns.levels(self.child);
        if cells.len() * levels.unwrap_or(1) > 8 * columns.n_rows() + 1024 {
            return None;
        }
        let mut by_level: Vec<Vec<u32>> = vec![vec![]; levels.unwrap_or(0)];
        let mut ends = Vec::with_capacity(cells.len());
        for cell in 0..cells.len() {
            let rows = &cells.order()[cells.range(cell)];
            if levels.is_some() {
                let codes = columns.codes(self.child);
                for &row in rows {
                    by_level[codes[row as usize] as usize].push(row);
                }
                for rows in by_level.iter_mut().filter(|rows| !rows.is_empty()) {
                    self.order.append(rows);
                    self.groups.push(Group { end: self.order.len(), last: false });
                }
            } else {
                self.order.extend_from_slice(rows);
                self.groups.push(Group { end: self.order.len(), last: false });
            }
            if let Some(group) = self.groups.last_mut() {
                group.last = true;
            }
            ends.push(self.order.len());
        }
        let order = &self.order;
        let arranged = |&v: &Var| {
            let column = columns.reals(v);
            let mut values: Vec<f64> = order.iter().map(|&row| column[row as usize]).collect();
            let mut from = 0;
            for &end in &ends {
                let mean = sum(&values[from..end]) / (end - from) as f64;
                values[from..end].iter_mut().for_each(|x| *x -= mean);
                from = end;
            }
            values
        };
        self.numbers = numbers.iter().map(arranged).collect();
        Some(())
    }

    /// With levels more: the child's family and its base are divided by them.
    fn with_levels<const W: usize>(&mut self, codes: &[u32], levels: usize) -> (Likelihood, Likelihood) {
        let (k, is_number) = (self.numbers.len(), self.is_number());
        let (mut fine, mut coarse) = (Likelihood::new(k), Likelihood::new(if is_number { k - 1 } else { k }));
        if self.order.len() * W > MOST_ENTRIES {
            return (Likelihood::unknown(), coarse);
        }
        if self.records.is_empty() {
            self.record(W);
        }
        let records = self.records.as_chunks::<W>().0;
        for (of_levels, each) in [(&mut self.cells, 2), (&mut self.merged, 1)] {
            of_levels.clear();
            of_levels.resize(levels * W * each, 0.0);
        }
        let cells = self.cells.as_chunks_mut::<W>().0.as_chunks_mut::<2>().0;
        let merged = self.merged.as_chunks_mut::<W>().0;
        let mut from = 0;
        for group in &self.groups {
            if !fine.is_sound() {
                break;
            }
            // Rows in turn to two sums of each level: one need not wait for the other.
            let (rows, records) = (&self.order[from..group.end], &records[from..group.end]);
            let (of_two, rest) = rows.as_chunks::<2>();
            let (records, last) = records.as_chunks::<2>();
            for ([row, other], [record, beside]) in of_two.iter().zip(records) {
                plus(&mut cells[codes[*row as usize] as usize][0], record);
                plus(&mut cells[codes[*other as usize] as usize][1], beside);
            }
            for (row, record) in rest.iter().zip(last) {
                plus(&mut cells[codes[*row as usize] as usize][0], record);
            }
            from = group.end;
            for ([cell, other], merged) in cells.iter_mut().zip(&mut *merged) {
                plus(cell, other);
                if cell[0] > 0.0 {
                    fine.add(cell[0], &cell[1..=k], &cell[k + 1..]);
                    if is_number {
                        coarse.add(cell[0], &cell[1..=k], &cell[k + 1..]);
                    } else {
                        plus(merged, cell);
                    }
                    (*cell, *other) = ([0.0; W], [0.0; W]);
                }
                if group.last && !is_number && merged[0] > 0.0 {
                    coarse.add(merged[0], &merged[1..=k], &merged[k + 1..]);
                    *merged = [0.0; W];
                }
            }
        }
        (fine, coarse)
    }

    fn record(&mut self, width: usize) {
        self.records.resize(self.order.len() * width, 0.0);
        for (row, record) in self.records.chunks_exact_mut(width).enumerate() {
            record[0] = 1.0;
            let k = self.numbers.len();
            for (i, x) in self.numbers.iter().enumerate() {
                record[1 + i] = x[row];
                for (j, y) in self.numbers[..=i].iter().enumerate() {
                    record[1 + k + packed(i) + j] = x[row] * y[row];
                }
            }
        }
    }

    /// With a number more: the cells stay, and every one has a further column.
    fn with_number(&mut self, column: &[f64]) -> Option<(Likelihood, Likelihood)> {
        let is_number = self.is_number();
        let (k, before) = (self.numbers.len() + 1, self.numbers.len() - usize::from(is_number));
        // Of numbers alone the sums are kept by pairs, which is faster.
        if k > MOST || is_number && self.groups.len() == 1 {
            return None;
        }
        if self.moments.is_empty() {
            self.sum_up();
        }
        self.added.clear();
        self.added.extend(self.order.iter().map(|&row| column[row as usize]));
        let (mut fine, mut coarse) = (Likelihood::new(k), Likelihood::new(if is_number { k - 1 } else { k }));
        let mut merged = Moments::default();
        let mut from = 0;
        for (group, known) in self.groups.iter().zip(&self.moments) {
            let rows = from..group.end;
            from = group.end;
            let values = &self.added[rows.clone()];
            // The base's numbers, the one that is added, then the child if it is a number.
            let mut all = *known;
            all.sums[before] = sum(values);
            let row = packed(before);
            for (at, own) in self.numbers.iter().enumerate() {
                let product = dot(values, &own[rows.clone()]);
                all.products[if at < before { row + at } else { packed(before + 1) + before }] = product;
            }
            all.products[row + before] = dot(values, values);
            if is_number {
                all.sums[before + 1] = known.sums[before];
                let below = packed(before + 1);
                all.products[below..below + before].copy_from_slice(&known.products[row..row + before]);
                all.products[below + before + 1] = known.products[row + before];
                coarse.add(all.n, &all.sums, &all.products);
            } else {
                merged.add(&all);
                if group.last {
                    coarse.add(merged.n, &merged.sums, &merged.products);
                    merged = Moments::default();
                }
            }
            fine.add(all.n, &all.sums, &all.products);
        }
        Some((fine, coarse))
    }

    fn sum_up(&mut self) {
        let mut from = 0;
        for group in &self.groups {
            let rows = from..group.end;
            let mut own = Moments { n: rows.len() as f64, ..Moments::default() };
            for (i, x) in self.numbers.iter().enumerate() {
                own.sums[i] = sum(&x[rows.clone()]);
                for (j, y) in self.numbers[..=i].iter().enumerate() {
                    own.products[packed(i) + j] = dot(&x[rows.clone()], &y[rows.clone()]);
                }
            }
            self.moments.push(own);
            from = group.end;
        }
    }
}

/// Adds one row of sums to another, at once where registers hold several.
#[inline]
fn plus<const W: usize>(own: &mut [f64; W], other: &[f64; W]) {
    let mut sums = *own;
    for at in 0..W {
        sums[at] += other[at];
    }
    *own = sums;
}
