//! What decision graphs do with numbers of rows, or with sums of their weights, beyond what leaves do.

use std::fmt::Debug;
use std::hash::Hash;

use crate::leaf::Amount;

/// A number of rows that is counted by level, sorted and looked up.
pub trait Tallied: Amount {
    /// Under which equal ones are equal.
    type Key: Clone + Debug + Eq + Hash + Send + Sync;
    /// What a row counts beside its codes: nothing where each counts once.
    type Extra: Copy + Debug + Send + Sync;

    /// Under which it is looked up.
    fn key(self) -> Self::Key;

    /// What is sorted with a row's codes.
    fn extra(self) -> Self::Extra;

    /// How much a row counts.
    fn of_extra(extra: Self::Extra) -> Self;

    /// A row of a level; each counts once where `Self` counts rows.
    fn row(code: u32, weight: f64) -> Self::Row;
}

impl Tallied for u32 {
    type Key = Self;
    type Extra = ();

    #[inline]
    fn key(self) -> Self {
        self
    }

    #[inline]
    fn extra(self) {}

    #[inline]
    fn of_extra((): ()) -> Self {
        1
    }

    fn row(code: u32, _weight: f64) -> u32 {
        code
    }
}

impl Tallied for f64 {
    type Key = u64;
    type Extra = Self;

    fn key(self) -> u64 {
        self.to_bits()
    }

    #[inline]
    fn extra(self) -> Self {
        self
    }

    #[inline]
    fn of_extra(extra: Self) -> Self {
        extra
    }

    fn row(code: u32, weight: f64) -> (u32, Self) {
        (code, weight)
    }
}
