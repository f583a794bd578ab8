//! The best tree over few cells: all of them, from the smallest to the largest, in one array.
//!
//! With some predictors with few levels, and at most one that is continuous, the cells are few, most of them hold rows,
//! and nearly all are reached by the search. Then it is cheaper to address them directly: a cell's index concatenates,
//! per predictor, the set of its (occurring) levels or its dyadic interval, so that both sides of a split have smaller
//! indices than the whole. Sums and best scores then need one pass, without keys, partitions or look-ups.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::key::{Field, Split, ones};
use super::response::{Point, Response};

/// More cells than this are left to the search.
const MOST_BITS: u32 = 14;
/// So are more cells per point.
const CELLS_PER_POINT: usize = 64;

/// Scratch for one family after the other.
pub struct Dense<S> {
    sums: Vec<S>,
    best: Vec<f64>,
    known: FxHashMap<(Split, u32), Rc<Parts>>,
    /// Cells and splits looked at so far.
    pub looked_at: u64,
}

/// One predictor's part of the index.
struct Axis {
    offset: u32,
    mask: usize,
    parts: Rc<Parts>,
    field: Field,
    /// Of predictors with levels: those that occur.
    levels: u64,
}

/// What the values of an axis mean: which of them exist, and how each may be split.
struct Parts {
    starts: Vec<u32>,
    /// Left, right.
    pairs: Vec<(u32, u32)>,
    exists: Vec<bool>,
}

impl Parts {
    fn of(split: Split, size: u32) -> Self {
        let n_values = 1_u32 << if split == Split::Halving { size + 1 } else { size };
        let mut parts = Self { starts: vec![0], pairs: Vec::new(), exists: Vec::new() };
        for value in 0..n_values {
            let contiguous = |v: u32| v != 0 && (v >> v.trailing_zeros()).trailing_ones() == v.count_ones();
            let exists = match split {
                Split::Halving => value < n_values - 1,
                Split::Bipartition => value != 0,
                Split::Threshold => contiguous(value),
            };
            parts.exists.push(exists);
            if exists {
                parts.split(split, value, n_values - 1);
            }
            parts.starts.push(parts.pairs.len() as u32);
        }
        parts
    }

    fn split(&mut self, split: Split, value: u32, last: u32) {
        let rest = value & value.wrapping_sub(1);
        match split {
            // An interval stands as its heap number counted from the end: halves are smaller than the whole.
            Split::Halving => {
                let heap = last - value;
                if 2 * heap < last {
                    self.pairs.push((last - 2 * heap, last - 2 * heap - 1));
                }
            }
            Split::Bipartition => {
                let mut right = 0_u32;
                while right != rest {
                    right = right.wrapping_sub(rest) & rest;
                    self.pairs.push((value ^ right, right));
                }
            }
            Split::Threshold => {
                let mut right = rest;
                while right != 0 {
                    self.pairs.push((value ^ right, right));
                    right &= right - 1;
                }
            }
        }
    }

    fn splits(&self, value: usize) -> &[(u32, u32)] {
        &self.pairs[self.starts[value] as usize..self.starts[value + 1] as usize]
    }
}

impl<S: Clone> Default for Dense<S> {
    fn default() -> Self {
        Self { sums: Vec::new(), best: Vec::new(), known: FxHashMap::default(), looked_at: 0 }
    }
}

impl<S: Clone> Dense<S> {
    /// The best tree's log score, `gamma` per leaf included; `None` if there are too many cells.
    pub fn best<R: Response<Sum = S>>(
        &mut self,
        response: &R,
        points: &[Point<S>],
        fields: &[Field],
        log_gamma: f64,
    ) -> Option<f64> {
        let axes = self.axes(points, fields)?;
        let n_cells = axes.last().map_or(1, |axis| (axis.mask + 1) << axis.offset);
        self.sums.clear();
        self.sums.resize(n_cells, response.zero());
        self.best.clear();
        self.best.resize(n_cells, log_gamma);
        for point in points {
            let index = axes.iter().map(|axis| axis.row(point.key) << axis.offset).sum::<usize>();
            self.sums[index] = point.sum.clone();
        }
        for cell in 0..n_cells {
            if axes.iter().all(|axis| axis.parts.exists[axis.value(cell)]) {
                self.cell(response, &axes, cell);
            }
        }
        let root = axes.iter().map(|axis| axis.root() << axis.offset).sum::<usize>();
        Some(self.best[root])
    }

    fn axes(&mut self, points: &[Point<S>], fields: &[Field]) -> Option<Vec<Axis>> {
        let (or, and) = points.iter().fold((0, u64::MAX), |(or, and), point| (or | point.key, and & point.key));
        let (mut axes, mut offset, mut n_cells, mut halvings) = (Vec::new(), 0, 1, 0);
        for field in fields.iter().filter(|field| (or ^ and) & field.mask != 0) {
            let levels = or & field.mask;
            let halving = field.split == Split::Halving;
            halvings += usize::from(halving);
            let size = if halving { field.size } else { levels.count_ones() };
            let width = size + u32::from(halving);
            if halvings > 1 || offset + width > MOST_BITS {
                return None;
            }
            n_cells *= if halving { 2 << size } else { (1_usize << size) - 1 };
            let parts = self.known.entry((field.split, size)).or_insert_with(|| Rc::new(Parts::of(field.split, size)));
            axes.push(Axis { offset, mask: (1 << width) - 1, parts: parts.clone(), field: *field, levels });
            offset += width;
        }
        (n_cells <= CELLS_PER_POINT * points.len()).then_some(axes)
    }

    fn cell<R: Response<Sum = S>>(&mut self, response: &R, axes: &[Axis], cell: usize) {
        let mut divisible = axes.iter().filter_map(|axis| {
            let pair = axis.parts.splits(axis.value(cell)).first()?;
            Some((axis.with(cell, pair.0), axis.with(cell, pair.1)))
        });
        if let Some((left, right)) = divisible.next() {
            let mut sum = self.sums[left].clone();
            response.add(&mut sum, &self.sums[right]);
            self.sums[cell] = sum;
        }
        if response.is_empty(&self.sums[cell]) {
            return;
        }
        self.looked_at += 1;
        let worth = response.worth(&self.sums[cell]);
        let mut best = worth.leaf;
        if worth.split > best {
            for axis in axes {
                let rest = cell & !(axis.mask << axis.offset);
                let splits = axis.parts.splits(axis.value(cell));
                self.looked_at += splits.len() as u64;
                for &(left, right) in splits {
                    let score = self.best[rest | (left as usize) << axis.offset]
                        + self.best[rest | (right as usize) << axis.offset];
                    best = best.max(score);
                }
            }
        }
        self.best[cell] = best;
    }
}

impl Axis {
    fn value(&self, cell: usize) -> usize {
        cell >> self.offset & self.mask
    }

    fn with(&self, cell: usize, value: u32) -> usize {
        cell & !(self.mask << self.offset) | (value as usize) << self.offset
    }

    /// Of the smallest part that holds a row.
    fn row(&self, key: u64) -> usize {
        if self.field.split == Split::Halving {
            let bin = (key & self.field.mask) >> self.field.shift;
            return self.mask - (bin as usize | 1 << self.field.size);
        }
        let bit = key & self.levels;
        1 << (self.levels & (bit - 1)).count_ones()
    }

    /// Of the whole range, or of all levels.
    fn root(&self) -> usize {
        if self.field.split == Split::Halving { self.mask - 1 } else { ones(self.levels.count_ones()) as usize }
    }
}
