//! The dense lattice: every cell of a family has a number, and all are scored from small to large in one array.
//!
//! `V[R] = max(gamma m(R), max over splits V[R'] + V[R''])`, Algorithm 1 of Talvitie, Eggeling and Koivisto 2019 to the
//! letter. A cell is one part of each predictor's range ([`axis`]); its number is made of theirs, the innermost
//! predictor's running fastest. A cell's sums are those of two smaller cells together ([`sums`]), never a visit of rows;
//! a split along an outer predictor is an addition of whole rows of cells ([`rows`]). A cell without rows gets `gamma` by
//! the same formula, so empty sides and levels that do not occur in a cell need no rule of their own. Nothing is stored
//! of the tree: it is traced afterwards by looking for the splits that attain the scores. What a lattice takes is known
//! beforehand ([`size`]).

pub mod axis;
mod rows;
pub mod size;
mod sums;
#[cfg(test)]
mod tests;

use smallvec::SmallVec;

use self::axis::Axis;
use self::rows::Row;
use self::sums::Sums;
pub use self::sums::{Columns, room};
use super::key::Field;
use super::memo::Patience;
use super::response::{Point, Response};

/// One predictor of a lattice.
#[derive(Clone, Debug)]
struct Along {
    /// Its position in the family; none of the outermost where there is only one predictor.
    field: Option<usize>,
    axis: Axis,
    /// How far apart its parts stand.
    stride: usize,
}

/// Scratch for one lattice after the other.
#[derive(Debug, Default)]
pub struct Lattice {
    scores: Vec<f64>,
    sums: Sums,
    /// From the outermost to the innermost.
    along: Vec<Along>,
    cells: usize,
    log_gamma: f64,
    /// Counted work so far: [`size::Size::lattice_steps`] of each.
    pub steps: u64,
}

/// Cells whose leaves are scored between two looks at whether to stop: a few milliseconds at most.
const LEAVES: usize = 1 << 13;

/// In which order the predictors of some axes stand, from the outermost to the innermost. A split along an outer one
/// costs two additions and a quarter of one for each cell of its row, one along the innermost an addition; the dearer a
/// predictor, the shorter the rows that its splits go back to, and the sooner they are at hand.
fn order(axes: &[(usize, &Axis)]) -> SmallVec<[usize; 8]> {
    let splits = |i: usize| axes[i].1.n_pairs() * 1000 / axes[i].1.n_parts();
    let mut by_splits: SmallVec<[usize; 8]> = (0..axes.len()).collect();
    by_splits.sort_by_key(|&i| splits(i));
    let cost = |inner: usize| {
        let mut length = axes[inner].1.n_parts();
        let mut cost = 4 * splits(inner) * 1000;
        for &i in by_splits.iter().rev().filter(|&&i| i != inner) {
            cost += splits(i) * (8000 + 1000 * length) / length;
            length *= axes[i].1.n_parts();
        }
        cost
    };
    let inner = by_splits.iter().copied().min_by_key(|&i| cost(i)).expect("a lattice has a predictor");
    by_splits.retain(|i| *i != inner);
    by_splits.push(inner);
    by_splits
}

/// The axes that have anything to split.
fn divisible<'a>(axes: &[&'a Axis]) -> SmallVec<[(usize, &'a Axis); 8]> {
    axes.iter().copied().enumerate().filter(|(_, axis)| axis.n_pairs() > 0).collect()
}

/// No machine holds more; and the products that the order of predictors rests on stay within their type.
const MOST_CELLS: u128 = 1 << 60;

/// Bytes of the arrays of a lattice, with so many columns of counts and of numbers.
pub fn bytes(axes: &[&Axis], columns: [usize; 2]) -> u128 {
    let axes = divisible(axes);
    let cells = axes.iter().fold(1_u128, |cells, (_, axis)| cells.saturating_mul(axis.n_parts()));
    if cells > MOST_CELLS {
        return u128::MAX;
    }
    let scores = cells * size_of::<f64>() as u128;
    let of_sums = match &axes[..] {
        [] => 0,
        [_] => Sums::bytes(&Axis::Subsets(1), cells, columns),
        _ => {
            let outer = axes[order(&axes)[0]].1;
            Sums::bytes(outer, cells / outer.n_parts(), columns)
        }
    };
    scores.saturating_add(of_sums)
}

impl Lattice {
    /// The best tree's log score, `gamma` per leaf included, by the occurring levels and bins of each predictor; `None`
    /// if it was stopped.
    pub fn best<R: Response>(
        &mut self,
        response: &R,
        points: &[Point<R::Sum>],
        fields: &[Field],
        axes: &[&Axis],
        log_gamma: f64,
        patience: &mut Patience,
    ) -> Option<f64> {
        self.lay(axes);
        self.log_gamma = log_gamma;
        let columns = response.columns();
        let outer = self.along[0].axis.clone();
        let block = self.along[0].stride;
        self.sums.clear(&outer, block, columns);
        self.place(response, points, fields);
        for along in &self.along[1..] {
            self.sums.along(&along.axis.made_of(), along.stride);
        }
        room(&mut self.scores, self.cells);
        let mut scores = std::mem::take(&mut self.scores);
        let mut going = true;
        for (part, made) in outer.made_of().into_iter().enumerate() {
            let place = self.sums.block(&outer, made);
            let (done, now) = scores.split_at_mut(part * block);
            let now = &mut now[..block];
            for (i, leaves) in now.chunks_mut(LEAVES).enumerate() {
                response.leaves(self.sums.columns(place), i * LEAVES, leaves);
                going = going && !patience.is_tired(leaves.len() << 5);
            }
            going = going && self.raise(0, part, done, now, patience) && self.fill(1, now, patience);
            if !going {
                break;
            }
        }
        self.steps += self.cells as u64 * response.cell_steps();
        let whole: usize = self.along.iter().map(|along| along.axis.whole() * along.stride).sum();
        let best = scores[whole];
        self.scores = scores;
        going.then_some(best)
    }

    /// Puts the predictors in their order.
    fn lay(&mut self, axes: &[&Axis]) {
        let divisible = divisible(axes);
        self.along.clear();
        if divisible.len() == 1 {
            self.along.push(Along { field: None, axis: Axis::Subsets(1), stride: 0 });
        }
        for i in order(&divisible) {
            let (field, axis) = divisible[i];
            self.along.push(Along { field: Some(field), axis: axis.clone(), stride: 0 });
        }
        self.cells = 1;
        for along in self.along.iter_mut().rev() {
            along.stride = self.cells;
            self.cells *= along.axis.n_parts() as usize;
        }
    }

    /// Puts the points where they belong.
    fn place<R: Response>(&mut self, response: &R, points: &[Point<R::Sum>], fields: &[Field]) {
        let all = points.iter().fold(0, |all, point| all | point.key);
        let element = |along: &Along, key: u64| {
            let Some(field) = along.field.map(|field| &fields[field]) else { return 0 };
            match &along.axis {
                Axis::Dyadic(dyadic) => dyadic.element(field.interval(key, 0) as usize),
                _ => rank(all & field.mask, key & field.mask),
            }
        };
        for point in points {
            let outer = element(&self.along[0], point.key);
            let cells = self.along[1..].iter();
            let cell = cells.map(|along| along.axis.part_of(element(along, point.key)) * along.stride).sum();
            let (counts, numbers, apart) = self.sums.cell(outer, cell);
            response.put(&point.sum, counts, numbers, apart);
        }
    }

    /// Scores all cells of a block, or of a part of one, from the predictor at `level` inwards; false if it was stopped.
    fn fill(&mut self, level: usize, scores: &mut [f64], patience: &mut Patience) -> bool {
        let stride = self.along[level].stride;
        if level + 1 == self.along.len() {
            let axis = &self.along[level].axis;
            rows::within(axis, scores, self.log_gamma);
            let splits = axis.n_pairs() as usize;
            self.steps += splits as u64;
            return !patience.is_tired(splits);
        }
        for part in 0..scores.len() / stride {
            let (done, now) = scores.split_at_mut(part * stride);
            let now = &mut now[..stride];
            if !(self.raise(level, part, done, now, patience) && self.fill(level + 1, now, patience)) {
                return false;
            }
        }
        true
    }

    /// Raises all cells of a part to their best splits along the predictor at `level`.
    fn raise(&mut self, level: usize, part: usize, done: &[f64], now: &mut [f64], patience: &mut Patience) -> bool {
        let axis = &self.along[level].axis;
        let splits = axis.n_splits(part) * now.len();
        rows::along(axis, part, Row { done, now }, self.log_gamma);
        self.steps += splits as u64;
        !patience.is_tired(splits)
    }

    /// Gives back arrays of more than so many bytes, with all scores.
    pub fn keep(&mut self, max_bytes: u64) {
        if (self.scores.len() * size_of::<f64>()) as u64 + self.sums.held() > max_bytes {
            (self.scores, self.sums) = (Vec::new(), Sums::default());
            self.forget();
        }
    }

    /// Without scores, where one leaf was known to be best.
    pub fn forget(&mut self) {
        self.along.clear();
    }

    /// True without scores.
    pub fn is_empty(&self) -> bool {
        self.along.is_empty()
    }

    /// What a cell is worth, after `best`: its part of each predictor of the family by position; those that cannot be
    /// split are not looked at.
    pub fn worth(&self, parts: &[usize]) -> f64 {
        let at = |along: &Along| along.field.map_or(0, |field| parts[field] * along.stride);
        self.scores[self.along.iter().map(at).sum::<usize>()]
    }
}

/// Which of some levels this one is.
pub fn rank(levels: u64, level: u64) -> usize {
    (levels & (level - 1)).count_ones() as usize
}
