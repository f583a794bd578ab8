//! Neighbouring groups of levels merged one after the other, those that lose least first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Groups in rows, of which neighbours are merged.
pub struct Merging<'a, S> {
    rows: Vec<Chain<S>>,
    /// The pairs; those of groups that were changed since they were entered are passed over.
    pairs: BinaryHeap<Reverse<Pair>>,
    add: &'a dyn Fn(&mut S, &S),
    loss: &'a dyn Fn(&S, &S) -> f64,
}

/// The groups of a row as a list, known by their first positions.
struct Chain<S> {
    groups: Vec<Option<(usize, S)>>,
    next: Vec<usize>,
    before: Vec<usize>,
    /// How often the pair of a group and the next one was changed.
    changes: Vec<u32>,
    left: usize,
}

/// A group and the one after it. Ties go to the first row, and in it to the first group.
struct Pair {
    loss: f64,
    row: usize,
    at: usize,
    change: u32,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.loss.total_cmp(&other.loss).then((self.row, self.at).cmp(&(other.row, other.at)))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pair {}

impl<'a, S> Merging<'a, S> {
    /// Of rows of groups: where each begins, and its sum. Those of a row that is not `open` stay as they are.
    pub fn new(
        rows: Vec<(bool, Vec<(usize, S)>)>,
        add: &'a dyn Fn(&mut S, &S),
        loss: &'a dyn Fn(&S, &S) -> f64,
    ) -> Self {
        let mut made = Self { rows: Vec::new(), pairs: BinaryHeap::new(), add, loss };
        for (row, (open, groups)) in rows.into_iter().enumerate() {
            let n = groups.len();
            made.rows.push(Chain {
                groups: groups.into_iter().map(Some).collect(),
                next: (1..=n).collect(),
                before: (0..n).map(|at| at.wrapping_sub(1)).collect(),
                changes: vec![0; n],
                left: n,
            });
            if open {
                (0..n.saturating_sub(1)).for_each(|at| made.enter(row, at));
            }
        }
        made
    }

    /// The number of groups of a row.
    pub fn n_groups(&self, row: usize) -> usize {
        self.rows[row].left
    }

    /// Merges the two that lose least; false if every open row has two groups only.
    pub fn merge(&mut self) -> bool {
        while let Some(Reverse(Pair { row, at, change, .. })) = self.pairs.pop() {
            let chain = &mut self.rows[row];
            if chain.left <= 2 || chain.changes[at] != change || chain.groups[at].is_none() {
                continue;
            }
            let gone = chain.next[at];
            let Some((_, sum)) = chain.groups[gone].take() else { continue };
            if let Some((_, own)) = &mut chain.groups[at] {
                (self.add)(own, &sum);
            }
            let after = chain.next[gone];
            chain.next[at] = after;
            if after < chain.groups.len() {
                chain.before[after] = at;
            }
            chain.left -= 1;
            let before = chain.before[at];
            self.enter(row, at);
            if before != usize::MAX {
                self.enter(row, before);
            }
            return true;
        }
        false
    }

    /// Enters the pair of a group and the next one, if there is one, as it is now.
    fn enter(&mut self, row: usize, at: usize) {
        let chain = &mut self.rows[row];
        chain.changes[at] += 1;
        let next = chain.groups.get(chain.next[at]).and_then(Option::as_ref);
        if let (Some((_, one)), Some((_, two))) = (&chain.groups[at], next) {
            // Adding zero makes one zero of two, which are as good.
            let loss = (self.loss)(one, two) + 0.0;
            self.pairs.push(Reverse(Pair { loss, row, at, change: chain.changes[at] }));
        }
    }

    /// The groups that are left, row by row.
    pub fn finish(self) -> Vec<Vec<(usize, S)>> {
        self.rows.into_iter().map(|chain| chain.groups.into_iter().flatten().collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the definition says: the least of all pairs is looked for again after every merger.
    fn literal(mut rows: Vec<(bool, Vec<(usize, i64)>)>, mergers: usize) -> Vec<Vec<(usize, i64)>> {
        for _ in 0..mergers {
            let mut least: Option<(f64, usize, usize)> = None;
            for (row, (open, groups)) in rows.iter().enumerate() {
                if !open || groups.len() <= 2 {
                    continue;
                }
                for at in 0..groups.len() - 1 {
                    let loss = lost(&groups[at].1, &groups[at + 1].1);
                    if least.is_none_or(|(known, ..)| loss < known) {
                        least = Some((loss, row, at));
                    }
                }
            }
            let Some((_, row, at)) = least else { break };
            let (_, gone) = rows[row].1.remove(at + 1);
            rows[row].1[at].1 += gone;
        }
        rows.into_iter().map(|(_, groups)| groups).collect()
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // as sums are passed
    fn lost(one: &i64, two: &i64) -> f64 {
        ((one - two).abs() / 3) as f64
    }

    proptest! {
        #[test]
        fn pairs_are_merged_as_by_looking_at_all_of_them(
            rows in prop::collection::vec((any::<bool>(), prop::collection::vec(0..40_i64, 0..12)), 1..4),
            mergers in 0..30_usize,
        ) {
            let rows: Vec<(bool, Vec<(usize, i64)>)> =
                rows.into_iter().map(|(open, sums)| (open, sums.into_iter().enumerate().collect())).collect();
            let add = |one: &mut i64, two: &i64| *one += two;
            let mut merging = Merging::new(rows.clone(), &add, &lost);
            for _ in 0..mergers {
                let groups: usize = (0..rows.len()).map(|row| merging.n_groups(row)).sum();
                let merged = merging.merge();
                let left: usize = (0..rows.len()).map(|row| merging.n_groups(row)).sum();
                prop_assert_eq!(left, groups - usize::from(merged));
            }
            prop_assert_eq!(merging.finish(), literal(rows, mergers));
        }
    }
}
