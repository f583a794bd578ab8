//! The sums of a lattice, one block after the other: all cells that have the same part of the outermost predictor.
//!
//! A block is made from another by adding one element's, so only the elements' blocks and a few more are held at a time:
//! one for each level of a category, one for ordered levels, one for each halving of a number. Within an element's block
//! the sums grow along one inner predictor after the other, one addition a cell and column; no row is visited again.

use super::axis::{Axis, Made};

/// Blocks of sums, each with its columns of counts and of numbers one after the other.
#[derive(Debug, Default)]
pub struct Sums {
    counts: Vec<u32>,
    numbers: Vec<f64>,
    /// Columns of each.
    columns: [usize; 2],
    /// Cells of a block.
    cells: usize,
    n_elements: usize,
    /// The block in which each set with this lowest level, or each open half, stands.
    places: Vec<usize>,
}

/// Some cells' sums: column after column.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Columns of counts.
    pub counts: &'a [u32],
    /// Columns of numbers.
    pub numbers: &'a [f64],
    /// Cells in a column.
    pub cells: usize,
}

impl Sums {
    /// Blocks that are held at a time.
    fn n_blocks(outer: &Axis) -> usize {
        let more = match outer {
            Axis::Subsets(m) => *m as usize,
            Axis::Intervals(_) => 1,
            Axis::Dyadic(dyadic) => dyadic.by_heap.len().ilog2() as usize,
        };
        outer.n_elements() + more
    }

    /// Bytes of all blocks.
    pub fn bytes(outer: &Axis, cells: u128, columns: [usize; 2]) -> u128 {
        cells.saturating_mul(
            (Self::n_blocks(outer) * (columns[0] * size_of::<u32>() + columns[1] * size_of::<f64>())) as u128,
        )
    }

    /// Bytes that are held.
    pub fn held(&self) -> u64 {
        (self.counts.len() * size_of::<u32>() + self.numbers.len() * size_of::<f64>()) as u64
    }

    /// Empties the blocks of all elements.
    pub fn clear(&mut self, outer: &Axis, cells: usize, columns: [usize; 2]) {
        self.columns = columns;
        self.cells = cells;
        self.n_elements = outer.n_elements();
        let zero = self.n_elements * cells;
        let all = Self::n_blocks(outer) * cells;
        room(&mut self.counts, all * columns[0]);
        room(&mut self.numbers, all * columns[1]);
        self.counts[..zero * columns[0]].fill(0);
        self.numbers[..zero * columns[1]].fill(0.0);
        self.places.clear();
        if let Axis::Subsets(m) = outer {
            self.places.resize(*m as usize, 0);
        }
    }

    /// Where one cell of an element's block has its counts and numbers, and how far apart its columns stand.
    pub fn cell(&mut self, element: usize, cell: usize) -> (&mut [u32], &mut [f64], usize) {
        let [counts, numbers] = self.columns.map(|columns| element * columns * self.cells + cell);
        // Without columns of a kind there is nothing to point at.
        let counts = if self.columns[0] == 0 { &mut [][..] } else { &mut self.counts[counts..] };
        let numbers = if self.columns[1] == 0 { &mut [][..] } else { &mut self.numbers[numbers..] };
        (counts, numbers, self.cells)
    }

    /// Within all elements' blocks: sums along a predictor whose parts stand `stride` cells apart.
    pub fn along(&mut self, made: &[Made], stride: usize) {
        let [counts, numbers] = self.columns.map(|columns| self.n_elements * columns * self.cells);
        along(&mut self.counts[..counts], made, stride);
        along(&mut self.numbers[..numbers], made, stride);
    }

    /// The block of the next part of the outermost predictor; parts must come in their order.
    pub fn block(&mut self, outer: &Axis, made: Made) -> usize {
        match (outer, made) {
            (Axis::Subsets(_), Made::Element(level)) => {
                self.places[level] = level;
                level
            }
            (Axis::Subsets(_), Made::Joined(rest, one)) => {
                let level = (one + 1).trailing_zeros() as usize;
                let place = self.n_elements + level;
                let from = self.places[(rest + 1).trailing_zeros() as usize];
                self.join(place, from, level);
                self.places[level] = place;
                place
            }
            (Axis::Intervals(_), Made::Element(level)) => {
                self.places.clear();
                self.places.push(level);
                level
            }
            (Axis::Intervals(_), Made::Joined(_, one)) => {
                let from = self.places[0];
                // Single levels are the triangular numbers.
                let level = ((8 * one + 1).isqrt() - 1) / 2;
                self.join(self.n_elements, from, level);
                self.places[0] = self.n_elements;
                self.n_elements
            }
            (Axis::Dyadic(_), Made::Element(bin)) => {
                self.places.push(bin);
                bin
            }
            (_, Made::Joined(..)) => {
                let right = self.places.pop().expect("halves come before the whole");
                let left = self.places.pop().expect("halves come before the whole");
                let place = self.n_elements + self.places.len();
                self.join(place, left, right);
                self.places.push(place);
                place
            }
            (_, Made::Same(_)) => *self.places.last().expect("a half comes before the whole"),
        }
    }

    /// Writes the sums of two blocks into a third, which may be one of them.
    fn join(&mut self, place: usize, one: usize, two: usize) {
        let [counts, numbers] = self.columns.map(|columns| columns * self.cells);
        join(&mut self.counts, counts, place, one, two);
        join(&mut self.numbers, numbers, place, one, two);
    }

    /// A block's columns.
    pub fn columns(&self, block: usize) -> Columns<'_> {
        let [counts, numbers] = self.columns.map(|columns| columns * self.cells);
        Columns {
            counts: &self.counts[block * counts..][..counts],
            numbers: &self.numbers[block * numbers..][..numbers],
            cells: self.cells,
        }
    }
}

/// Room for so many; far more than is needed is given back.
pub fn room<T: Copy + Default>(values: &mut Vec<T>, n: usize) {
    const LARGE: usize = 1 << 20;
    if values.len() > LARGE && n < values.len() / 64 {
        *values = Vec::new();
    }
    if values.len() < n {
        // Nothing of what stands there is needed: it is given back before, and not copied.
        *values = Vec::new();
        *values = vec![T::default(); n];
    }
}

fn join<T: Copy + std::ops::Add<Output = T>>(blocks: &mut [T], size: usize, place: usize, one: usize, two: usize) {
    if size == 0 {
        return;
    }
    if place == one {
        let (to, from) = pair(blocks, place * size, two * size, size);
        for (to, from) in to.iter_mut().zip(from) {
            *to = *to + *from;
        }
        return;
    }
    // What is written stands behind what both are read from, or on its place.
    let (to, from) = pair(blocks, place * size, one * size, size);
    to.copy_from_slice(from);
    let (to, from) = pair(blocks, place * size, two * size, size);
    for (to, from) in to.iter_mut().zip(from) {
        *to = *to + *from;
    }
}

/// A range to write and another to read.
fn pair<T>(values: &mut [T], to: usize, from: usize, n: usize) -> (&mut [T], &[T]) {
    if from < to {
        let (before, behind) = values.split_at_mut(to);
        (&mut behind[..n], &before[from..from + n])
    } else {
        let (before, behind) = values.split_at_mut(from);
        (&mut before[to..to + n], &behind[..n])
    }
}

fn along<T: Copy + std::ops::Add<Output = T>>(columns: &mut [T], made: &[Made], stride: usize) {
    for cells in columns.chunks_exact_mut(made.len() * stride) {
        for (part, made) in made.iter().enumerate() {
            let (done, now) = cells.split_at_mut(part * stride);
            let now = &mut now[..stride];
            match *made {
                Made::Element(_) => {}
                Made::Same(from) => now.copy_from_slice(&done[from * stride..][..stride]),
                Made::Joined(one, two) => {
                    let (one, two) = (&done[one * stride..][..stride], &done[two * stride..][..stride]);
                    for ((to, one), two) in now.iter_mut().zip(one).zip(two) {
                        *to = *one + *two;
                    }
                }
            }
        }
    }
}
