//! How many responses there are: a number of rows, or the sum of their weights.
//!
//! Leaves are compiled once for each, so that counts of rows stay integers. A whole sum of weights is looked up where a
//! count would be, so it gives the same bits.

use std::ops::{AddAssign, SubAssign};

use crate::counts::Count;

/// A number of responses of one level.
pub trait Amount:
    Count + Default + PartialEq + AddAssign + SubAssign + std::fmt::Debug + Send + Sync + 'static
{
    /// Of all levels together.
    type Total: Total;
    /// What a row holds: its level, and how much it counts where that is not one.
    type Row: Copy + Send + Sync;

    /// One response.
    const ONE: Self;

    /// As a part of a total.
    fn total(self) -> Self::Total;

    /// Itself if all bits of the mask are set, nothing if none is.
    #[must_use]
    fn masked(self, mask: u32) -> Self;

    /// The level of a row, and how much it counts.
    fn of_row(row: Self::Row) -> (u32, Self);
}

/// A sum over levels.
pub trait Total: Copy + Default + PartialEq + AddAssign + SubAssign {
    /// As a number.
    fn number(self) -> f64;

    /// Its place in a table of counts, if it is whole.
    fn place(self) -> Option<usize>;
}

impl Total for u64 {
    #[inline]
    fn number(self) -> f64 {
        self as f64
    }

    #[inline]
    fn place(self) -> Option<usize> {
        Some(self as usize)
    }
}

impl Total for f64 {
    #[inline]
    fn number(self) -> f64 {
        self
    }

    #[inline]
    fn place(self) -> Option<usize> {
        let place = self as usize;
        (place as Self == self).then_some(place)
    }
}

impl Amount for u32 {
    type Total = u64;
    type Row = u32;
    const ONE: Self = 1;

    #[inline]
    fn total(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn masked(self, mask: u32) -> Self {
        self & mask
    }

    #[inline]
    fn of_row(row: u32) -> (u32, Self) {
        (row, 1)
    }
}

impl Amount for f64 {
    type Total = Self;
    type Row = (u32, Self);
    const ONE: Self = 1.0;

    #[inline]
    fn total(self) -> Self {
        self
    }

    #[inline]
    fn masked(self, mask: u32) -> Self {
        if mask == 0 { 0.0 } else { self }
    }

    #[inline]
    fn of_row(row: (u32, Self)) -> (u32, Self) {
        row
    }
}

/// How many responses these are in all.
#[inline]
pub fn total_of<N: Amount>(counts: &[N]) -> N::Total {
    let mut total = N::Total::default();
    for &n in counts {
        total += n.total();
    }
    total
}
