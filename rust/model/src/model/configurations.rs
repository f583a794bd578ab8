//! Observed joint configurations of some parents' levels: by these tables and divided models are looked up, checked and told.

use std::ops::Range;

use super::{Outline, Values};
use crate::table::Var;

/// Configurations of `width` codes each, one after another in lexicographic order. What belongs to each is held elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Configurations<'a> {
    pub codes: &'a [u32],
    pub width: usize,
    /// How many there are, which the codes do not say of configurations of no parents.
    pub n: usize,
}

impl<'a> Configurations<'a> {
    /// The codes of one of them.
    #[inline]
    pub fn at(self, i: usize) -> &'a [u32] {
        &self.codes[i * self.width..(i + 1) * self.width]
    }

    /// The place of these codes.
    #[inline]
    pub fn find(self, codes: &[u32]) -> Option<usize> {
        let (mut low, mut high) = (0, self.n);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.at(middle) < codes { low = middle + 1 } else { high = middle }
        }
        (low < self.n && self.at(low) == codes).then_some(low)
    }

    /// What is wrong with them, if they were read from a file together with so many numbers of rows.
    pub fn problem(self, n_counts: usize) -> Option<&'static str> {
        if self.n.checked_mul(self.width) != Some(self.codes.len())
            || self.n != n_counts
            || (self.width == 0 && self.n > 1)
        {
            return Some("and their configurations differ in number");
        }
        let in_order = self.width == 0 || self.codes.chunks(self.width).is_sorted_by(|a, b| a < b);
        (!in_order).then_some("are not in lexicographic order")
    }

    /// One question per position: `parent` says whose, `values` what a code of it stands for, `leaf` what stands at the end.
    pub fn outline(
        self,
        parent: &impl Fn(usize) -> Var,
        values: &impl Fn(usize, u32) -> Values,
        leaf: &impl Fn(usize) -> Outline,
    ) -> Outline {
        self.outline_of(0, 0..self.n, parent, values, leaf)
    }

    /// Of a range that agrees on all positions before this one.
    fn outline_of(
        self,
        position: usize,
        range: Range<usize>,
        parent: &impl Fn(usize) -> Var,
        values: &impl Fn(usize, u32) -> Values,
        leaf: &impl Fn(usize) -> Outline,
    ) -> Outline {
        if position == self.width {
            return leaf(range.start);
        }
        let code = |i: usize| self.at(i)[position];
        let mut branches = Vec::new();
        let mut start = range.start;
        while start < range.end {
            let end = (start..range.end).find(|&i| code(i) != code(start)).unwrap_or(range.end);
            let below = self.outline_of(position + 1, start..end, parent, values, leaf);
            branches.push((values(position, code(start)), below));
            start = end;
        }
        Outline::Split { parent: parent(position), branches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_found_by_their_codes() {
        let three = Configurations { codes: &[0, 1, 0, 3, 2, 0], width: 2, n: 3 };
        assert_eq!([&[0, 1], &[0, 3], &[2, 0]].map(|codes| three.find(codes)), [Some(0), Some(1), Some(2)]);
        assert_eq!([&[0, 0], &[0, 2], &[2, 1], &[u32::MAX, 0]].map(|codes| three.find(codes)), [None; 4]);
        let of_none = |n| Configurations { codes: &[], width: 0, n };
        assert_eq!((of_none(1).find(&[]), of_none(0).find(&[])), (Some(0), None));
    }

    #[test]
    fn what_a_file_may_get_wrong_is_told() {
        let problem = |codes: &[u32], width, n, n_counts| Configurations { codes, width, n }.problem(n_counts);
        assert_eq!(problem(&[0, 1, 0, 3], 2, 2, 2), None);
        assert_eq!(problem(&[], 0, 1, 1), None);
        for (codes, width, n, n_counts) in [(&[0, 1, 0][..], 2, 2, 2), (&[0, 1], 1, 2, 1), (&[], 0, 2, 2)] {
            assert!(problem(codes, width, n, n_counts).unwrap().contains("differ in number"));
        }
        assert!(problem(&[], usize::MAX, 2, 2).is_some());
        for codes in [[1, 0], [1, 1]] {
            assert!(problem(&codes, 1, 2, 2).unwrap().contains("lexicographic"));
        }
    }
}
