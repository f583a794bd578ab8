//! One predictor of a lattice: the parts of its range that a cell may have, from small to large, and how each is split.
//!
//! Of levels only those that occur in the table have a place: one without rows may stand on either side of a split at no
//! cost, so it changes no score. Of a number's dyadic intervals only those that hold rows are parts; an interval with one
//! occupied bin is not split further, which would only cost. Both sides of a split have smaller numbers than the whole.

use crate::tree::key::Split;

/// The parts of one predictor's range.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// All sets of so many levels but the empty one: the number of a set is its bit mask less one.
    Subsets(u32),
    /// All runs of so many ordered levels: `low..=high` has the number `high (high + 1) / 2 + high - low`.
    Intervals(u32),
    /// Dyadic intervals that hold rows; halves stand before the whole.
    Dyadic(Dyadic),
}

/// The dyadic intervals of one column that hold rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dyadic {
    /// In the order of their numbers.
    pub nodes: Vec<Node>,
    /// By the heap number of an interval: the number of its part, [`NONE`] if no row is in it or it is not split off.
    pub by_heap: Vec<u32>,
    /// By element: the part that is it alone.
    pub bins: Vec<u32>,
}

/// Where a part's sums come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// One element's.
    Element(usize),
    /// Those of two smaller parts.
    Joined(usize, usize),
    /// Those of a smaller part.
    Same(usize),
}

/// One dyadic interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// One occupied bin, the so-many-th.
    Bin(u32),
    /// Both halves hold rows.
    Both(u32, u32),
    /// One half holds all rows.
    One(u32),
}

/// No part.
pub const NONE: u32 = u32::MAX;

impl Axis {
    /// Of a predictor whose occupied levels or bins are these, ascending; `size` is the number of halvings.
    pub fn of(split: Split, size: u32, occupied: &[u32]) -> Self {
        let m = occupied.len() as u32;
        match split {
            Split::Bipartition => Self::Subsets(m),
            Split::Threshold => Self::Intervals(m),
            Split::Halving => {
                let mut dyadic = Dyadic { by_heap: vec![NONE; 2 << size], ..Dyadic::default() };
                if !occupied.is_empty() {
                    dyadic.grow(1, size, occupied, 0);
                }
                Self::Dyadic(dyadic)
            }
        }
    }

    /// The part of one element alone: of the so-many-th occurring level, or of a bin.
    pub fn part_of(&self, element: usize) -> usize {
        match self {
            Self::Subsets(_) => (1 << element) - 1,
            Self::Intervals(_) => element * (element + 1) / 2,
            Self::Dyadic(dyadic) => dyadic.bins[element] as usize,
        }
    }

    /// The part of a run of ordered levels.
    pub fn run(low: usize, high: usize) -> usize {
        high * (high + 1) / 2 + high - low
    }

    /// The part of all elements.
    pub fn whole(&self) -> usize {
        match self {
            Self::Subsets(m) => (1 << m) - 2,
            Self::Intervals(m) => Self::run(0, *m as usize - 1),
            Self::Dyadic(dyadic) => dyadic.nodes.len() - 1,
        }
    }

    /// What each part's sums are made of, in the order of the parts.
    pub fn made_of(&self) -> Vec<Made> {
        match self {
            Self::Subsets(m) => (1..1_usize << m)
                .map(|set| match (set & (set - 1), set.trailing_zeros() as usize) {
                    (0, level) => Made::Element(level),
                    (rest, level) => Made::Joined(rest - 1, (1 << level) - 1),
                })
                .collect(),
            Self::Intervals(m) => (0..*m as usize)
                .flat_map(|high| (0..=high).rev().map(move |low| (low, high)))
                .map(|(low, high)| {
                    let rest = || Made::Joined(Self::run(low + 1, high), Self::run(low, low));
                    if low == high { Made::Element(low) } else { rest() }
                })
                .collect(),
            Self::Dyadic(dyadic) => dyadic
                .nodes
                .iter()
                .map(|&node| match node {
                    Node::Bin(element) => Made::Element(element as usize),
                    Node::Both(left, right) => Made::Joined(left as usize, right as usize),
                    Node::One(half) => Made::Same(half as usize),
                })
                .collect(),
        }
    }

    /// How many levels or bins occur.
    pub fn n_elements(&self) -> usize {
        match self {
            Self::Subsets(m) | Self::Intervals(m) => *m as usize,
            Self::Dyadic(dyadic) => dyadic.bins.len(),
        }
    }

    /// How many parts there are.
    pub fn n_parts(&self) -> u128 {
        match self {
            Self::Subsets(m) => 2_u128.saturating_pow(*m).max(2) - 1,
            Self::Intervals(m) => (u128::from(*m) * (u128::from(*m) + 1) / 2).max(1),
            Self::Dyadic(dyadic) => dyadic.nodes.len().max(1) as u128,
        }
    }

    /// How many splits all parts have together.
    pub fn n_pairs(&self) -> u128 {
        match self {
            Self::Subsets(m) => 3_u128.checked_pow(*m).map_or(u128::MAX, |power| power.div_ceil(2) - (1 << m)),
            Self::Intervals(m) => {
                let m = u128::from(*m);
                (m * m * m - m) / 6
            }
            Self::Dyadic(dyadic) => dyadic.nodes.iter().filter(|node| !matches!(node, Node::Bin(_))).count() as u128,
        }
    }

    /// How many splits a part has.
    pub fn n_splits(&self, part: usize) -> usize {
        match self {
            Self::Subsets(_) => (1 << ((part + 1).count_ones() - 1)) - 1,
            Self::Intervals(_) => {
                let high = ((8 * part + 1).isqrt() - 1) / 2;
                part - high * (high + 1) / 2
            }
            Self::Dyadic(dyadic) => usize::from(!matches!(dyadic.nodes[part], Node::Bin(_))),
        }
    }
}

impl Dyadic {
    /// The part of an interval, or of the occupied bin alone in an interval around it.
    pub fn at(&self, heap: usize) -> usize {
        let mut heap = heap;
        while self.by_heap[heap] == NONE {
            heap >>= 1;
        }
        self.by_heap[heap] as usize
    }

    /// Which of the occupied bins this is, by its heap number: a bin alone in an interval stands as that interval.
    pub fn element(&self, heap: usize) -> usize {
        match self.nodes[self.at(heap)] {
            Node::Bin(element) => element as usize,
            other => unreachable!("rows stand in bins that are known to be occupied, not in {other:?}"),
        }
    }

    /// Adds an interval with these occupied bins, and what it is made of; `open` halvings are left. Returns its number.
    fn grow(&mut self, heap: u32, open: u32, bins: &[u32], first: u32) -> u32 {
        let node = if bins.len() == 1 {
            self.bins.push(self.nodes.len() as u32);
            Node::Bin(first)
        } else {
            // The heap number's digits below the leading one are those of the bins within.
            let depth = heap.ilog2();
            let middle = (2 * (heap ^ 1 << depth) + 1) << (open - 1);
            let n_left = bins.partition_point(|&bin| bin < middle);
            let (left, right) = bins.split_at(n_left);
            match (left.is_empty(), right.is_empty()) {
                (false, false) => {
                    let one = self.grow(2 * heap, open - 1, left, first);
                    Node::Both(one, self.grow(2 * heap + 1, open - 1, right, first + n_left as u32))
                }
                (false, true) => Node::One(self.grow(2 * heap, open - 1, left, first)),
                _ => Node::One(self.grow(2 * heap + 1, open - 1, right, first)),
            }
        };
        self.nodes.push(node);
        let part = self.nodes.len() as u32 - 1;
        self.by_heap[heap as usize] = part;
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_splits_are_counted_as_they_are_listed() {
        for m in 0..7_u32 {
            let occupied: Vec<u32> = (0..m).collect();
            let axis = Axis::of(Split::Bipartition, m, &occupied);
            let subsets: Vec<u32> = (1..1_u32 << m).collect();
            // Splits of a set: its subsets that lack its lowest level, less the empty one.
            let pairs: u32 = subsets.iter().map(|set| (1 << (set.count_ones() - 1)) - 1).sum();
            assert_eq!((axis.n_parts(), axis.n_pairs()), (subsets.len().max(1) as u128, u128::from(pairs)));
            let axis = Axis::of(Split::Threshold, m, &occupied);
            let runs: Vec<u32> = (0..m).flat_map(|low| (low..m).map(move |high| high - low)).collect();
            assert_eq!(
                (axis.n_parts(), axis.n_pairs()),
                (runs.len().max(1) as u128, u128::from(runs.iter().sum::<u32>()))
            );
            assert_eq!(axis.n_elements(), m as usize);
        }
        assert_eq!(Axis::Subsets(90).n_pairs(), u128::MAX);
    }

    #[test]
    fn intervals_without_rows_are_no_parts() {
        use Node::{Bin, Both, One};
        // Of eight bins: 0 and 1 in one quarter, 5 alone in a half.
        let Axis::Dyadic(dyadic) = Axis::of(Split::Halving, 3, &[0, 1, 5]) else { panic!("dyadic") };
        assert_eq!(dyadic.nodes, [Bin(0), Bin(1), Both(0, 1), One(2), Bin(2), Both(3, 4)]);
        assert_eq!(dyadic.by_heap[1..9], [5, 3, 4, 2, NONE, NONE, NONE, 0]);
        let all = Axis::of(Split::Halving, 5, &(0..32).collect::<Vec<_>>());
        assert_eq!((all.n_parts(), all.n_pairs(), all.n_elements()), (63, 31, 32));
        let constant = Axis::of(Split::Halving, 5, &[7]);
        assert_eq!((constant.n_parts(), constant.n_pairs(), constant.n_elements()), (1, 0, 1));
        let empty = Axis::of(Split::Halving, 5, &[]);
        assert_eq!((empty.n_parts(), empty.n_pairs(), empty.n_elements()), (1, 0, 0));
    }
}
