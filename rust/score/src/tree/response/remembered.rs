//! Scores of leaves by their counts, kept for the next leaf with the same counts.
//!
//! A leaf of ordered levels takes an exponential for each run of levels and a logarithm for each level, and a search meets the same few
//! counts again and again: most cells hold few rows, and large cells come back with other parents. What is kept is the
//! score itself, so nothing changes by a bit.

use std::cell::Cell;

use crate::leaf::{Amount, Total};

/// Entries; a new score takes the place of the one that stood there.
const PLACES: usize = 1 << 15;
/// Levels of which counts of two bytes fit a key, and of which counts of one do.
const WIDE: usize = 8;
const NARROW: usize = 16;

/// Scores by counts.
#[derive(Default)]
pub struct Remembered(Vec<Cell<(u128, f64)>>);

impl Remembered {
    /// For scores that take longer than to look them up.
    pub fn new() -> Self {
        Self(vec![Cell::new((0, 0.0)); PLACES])
    }

    /// The score of these counts, computed if it is not known.
    #[inline]
    pub fn get<N: Amount>(&self, counts: &[N], compute: impl FnOnce() -> f64) -> f64 {
        let Some(key) = key(counts).filter(|_| !self.0.is_empty()) else { return compute() };
        let place = &self.0[slot(key)];
        let (known, score) = place.get();
        // Of no rows the key is zero, as that of an empty place.
        if known == key && key != 0 {
            return score;
        }
        let score = compute();
        place.set((key, score));
        score
    }
}

/// Counts side by side, if they fit.
#[inline]
fn key<N: Amount>(counts: &[N]) -> Option<u128> {
    if counts.len() > NARROW {
        return None;
    }
    let bits = if counts.len() <= WIDE { 16 } else { 8 };
    let (mut key, mut all) = (0_u128, 0_u64);
    for &n in counts {
        let n = n.total().place()? as u64;
        all |= n;
        key = key << bits | u128::from(n);
    }
    (all >> bits == 0).then_some(key)
}

#[inline]
fn slot(key: u128) -> usize {
    let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_computed_once_for_its_counts() {
        let known = Remembered::new();
        let asked = Cell::new(0);
        let score = |counts: &[u32]| {
            known.get(counts, || {
                asked.set(asked.get() + 1);
                f64::from(counts.iter().zip(1..).map(|(n, i)| n * i).sum::<u32>())
            })
        };
        for _ in 0..3 {
            assert_eq!([score(&[1, 0, 2]), score(&[2, 0, 1]), score(&[0, 0, 0])], [7.0, 5.0, 0.0]);
        }
        assert_eq!(asked.get(), 2 + 3, "of no rows nothing is kept");
    }

    #[test]
    fn counts_that_do_not_fit_are_computed_each_time() {
        let known = Remembered::new();
        let n = Cell::new(0.0);
        let next = |counts: &[u32]| {
            n.set(n.get() + 1.0);
            known.get(counts, || n.get())
        };
        assert_eq!([next(&[1 << 16, 1]), next(&[1 << 16, 1])], [1.0, 2.0]);
        assert_eq!([next(&[256; 9]), next(&[256; 9])], [3.0, 4.0]);
        assert_eq!([next(&[1; 17]), next(&[1; 17])], [5.0, 6.0]);
        assert_eq!([next(&[255; 9]), next(&[255; 9])], [7.0, 7.0]);
    }

    #[test]
    fn weights_are_not_kept() {
        let known = Remembered::new();
        assert_eq!([known.get(&[0.5, 1.0], || 1.0), known.get(&[0.5, 1.0], || 2.0)], [1.0, 2.0]);
    }
}
