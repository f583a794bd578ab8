//! How far the intervals of a cell reach, as one bit for each number: the one that its next halving goes by.
//!
//! All rows of a cell agree in the bits above it, so that with the rows it says the interval; and a number has jumps if the rows do
//! not differ in it, but below.

use super::super::key::{Field, Split, ones};
use super::super::memo::Key;
use super::super::response::Response;
use super::super::trace::Choice;
use super::{Cell, Search};

impl<R: Response> Search<R> {
    fn halved(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.split == Split::Halving)
    }

    /// Those of the intervals in a cell's key.
    pub(super) fn tops_of(&self, key: u64) -> u64 {
        let top = |field: &Field| {
            let depth = (key >> field.shift & ones(field.size + 1)).ilog2();
            if depth < field.size { 1 << (field.shift + field.size - 1 - depth) } else { 0 }
        };
        self.halved().map(top).sum()
    }

    /// Those of the smallest intervals that hold rows which differ in these bits. Levels have some too, which nobody reads.
    #[inline]
    pub(super) fn tight_tops(&self, differ: u64) -> u64 {
        let mut tops = 0;
        for field in &self.fields {
            let bits = differ & field.mask;
            // None of no bits.
            tops |= 1 << (bits | 1).ilog2() & bits;
        }
        tops
    }

    /// Those of either side of a split.
    #[inline]
    pub(super) fn side_tops(&self, tops: u64, choice: Choice) -> u64 {
        let field = &self.fields[choice.field];
        if field.split == Split::Halving { tops & !field.mask | choice.right >> 1 & field.mask } else { tops }
    }

    /// Halvings with an empty side before one that separates the cell's rows.
    #[inline]
    pub(super) fn jumps(&self, cell: &Cell<R::Sum>, index: usize) -> u32 {
        let mask = self.fields[index].mask;
        let bits = (cell.all.or ^ cell.all.and) & mask;
        if bits == 0 { 0 } else { (cell.tops & mask).ilog2() - bits.ilog2() }
    }

    /// Whether one of the `used` predictors would have to jump.
    #[allow(clippy::needless_bitwise_bool)] // without branches, which nothing could predict
    #[inline]
    pub(super) fn is_wide(&self, [or, and]: Key, tops: u64, used: u32) -> bool {
        let differ = (or ^ and) & !self.levels_mask;
        self.fields.iter().enumerate().fold(false, |wide, (index, field)| {
            let bits = differ & field.mask;
            wide | (used >> index & 1 == 1) & (bits != 0) & (bits & tops == 0)
        })
    }

    /// The key of a cell with these intervals; one that cannot separate its points is made as small as it can be.
    pub(super) fn wide_key(&self, [or, and]: Key, tops: u64) -> u64 {
        let mut key = or & self.levels_mask;
        for field in self.halved() {
            let separates = (or ^ and) & field.mask != 0;
            let open = if separates { (tops & field.mask).ilog2() + 1 - field.shift } else { 0 };
            key |= field.interval(and, open) << field.shift;
        }
        key
    }
}
