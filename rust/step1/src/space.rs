//! The parent sets of one child: every required parent and a combination of the optional ones, by size.
//!
//! Combinations of one size are numbered in colexicographic order (`{t_1 < ... < t_k}` has the number
//! `sum_j C(t_j, j)`), so that the number of a subset with one element less follows from two running sums. Position 0
//! stands for the last optional parent: as numbers go up, the last parent changes fastest and the first ones stay, so
//! that a score can keep what it knows of them.

use crate::constraints::ParentRule;
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;

/// The parent sets of one child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    required: Vec<Var>,
    /// Descending.
    optional: Vec<Var>,
    most: usize,
    keeps_all: bool,
    /// `choose[k][t]` is `C(t, k)`, saturating.
    choose: Vec<Vec<u64>>,
}

impl Space {
    /// The sets of up to `max_parents` parents that a rule permits.
    ///
    /// # Errors
    /// If the rule requires more parents than that.
    pub fn new(rule: &ParentRule, max_parents: usize, child: &str) -> Result<Self> {
        let mut optional = rule.optional();
        optional.reverse();
        let limit = max_parents.min(rule.max_parents);
        let Some(free) = limit.checked_sub(rule.required.len()) else {
            let problem = format!("'{child}' alone has {} required parents", rule.required.len());
            return Err(Error::parameter("max_parents", &max_parents, problem));
        };
        let most = free.min(optional.len());
        let mut choose = vec![vec![1u64; optional.len() + 1]];
        for k in 1..=most {
            let mut row = vec![0u64; optional.len() + 1];
            for t in 1..=optional.len() {
                row[t] = row[t - 1].saturating_add(choose[k - 1][t - 1]);
            }
            choose.push(row);
        }
        Ok(Self { required: rule.required.clone(), optional, most, keeps_all: false, choose })
    }

    /// The same sets, numbered by another order of the optional parents: the sets of the first few of it come first.
    #[must_use]
    pub fn in_order(self, order: Vec<Var>) -> Self {
        debug_assert_eq!(order.len(), self.optional.len());
        Self { optional: order, ..self }
    }

    /// The sets of some of the optional parents.
    #[must_use]
    pub fn among(self, optional: Vec<Var>) -> Self {
        let most = self.most.min(optional.len());
        let mut choose = self.choose;
        choose.truncate(most + 1);
        Self { optional, most, choose, ..self }
    }

    /// The required parents, ascending.
    pub fn required(&self) -> &[Var] {
        &self.required
    }

    /// The optional parents by their positions.
    pub fn optional(&self) -> &[Var] {
        &self.optional
    }

    /// Number of sets with `size` of the first `parents` optional ones; saturates.
    pub fn n_among(&self, parents: usize, size: usize) -> u64 {
        self.choose[size][parents]
    }

    /// The same, with every set kept that can be scored, also those that a subset beats.
    #[must_use]
    pub fn keeping_all(self) -> Self {
        Self { keeps_all: true, ..self }
    }

    /// Whether sets are kept that a subset beats.
    pub fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// The most optional parents of a set: layers are numbered from 0 to this.
    pub fn layers(&self) -> usize {
        self.most
    }

    /// Number of required parents.
    pub fn n_required(&self) -> usize {
        self.required.len()
    }

    /// Number of sets with `size` optional parents; saturates.
    pub fn n_of_size(&self, size: usize) -> u64 {
        self.choose[size][self.optional.len()]
    }

    /// Number of sets.
    pub fn n_sets(&self) -> f64 {
        (0..=self.most).map(|size| self.n_of_size(size) as f64).sum()
    }

    /// About how many bytes its layers take while the child is under way: best scores and bounds of the last two.
    pub fn bytes(&self) -> f64 {
        let below = |less: usize| self.most.checked_sub(less).map_or(0.0, |size| self.n_of_size(size) as f64);
        16.0 * (below(1) + below(2))
    }

    /// The combination (positions among the optional parents) of a number.
    pub fn unrank(&self, size: usize, mut rank: u64) -> Vec<usize> {
        let mut set = vec![0; size];
        for k in (1..=size).rev() {
            let t = self.choose[k].partition_point(|&c| c <= rank) - 1;
            set[k - 1] = t;
            rank -= self.choose[k][t];
        }
        set
    }

    /// The number of a combination.
    pub fn rank(&self, set: &[usize]) -> u64 {
        set.iter().enumerate().map(|(j, &t)| self.choose[j + 1][t]).sum()
    }

    /// Steps to the next combination of the same size.
    pub fn advance(set: &mut [usize]) {
        for i in 0..set.len() {
            if i + 1 == set.len() || set[i] + 1 < set[i + 1] {
                set[i] += 1;
                for (j, slot) in set[..i].iter_mut().enumerate() {
                    *slot = j;
                }
                return;
            }
        }
    }

    /// Calls with the number of every combination that lacks one element of this one.
    pub fn each_below(&self, set: &[usize], mut see: impl FnMut(usize)) {
        let mut after: u64 = set.iter().enumerate().skip(1).map(|(j, &t)| self.choose[j][t]).sum();
        let mut before = 0;
        for (i, &t) in set.iter().enumerate() {
            see((before + after) as usize);
            before += self.choose[i + 1][t];
            if let Some(&next) = set.get(i + 1) {
                after -= self.choose[i + 1][next];
            }
        }
    }

    /// The parent set of a combination, ascending, with the required parents.
    pub fn parents(&self, set: &[usize], out: &mut Parents) {
        out.clear();
        let mut required = self.required.iter().copied().peekable();
        for parent in set.iter().rev().map(|&t| self.optional[t]) {
            while let Some(r) = required.next_if(|&r| r < parent) {
                out.push(r);
            }
            out.push(parent);
        }
        out.extend(required);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(required: &[Var], allowed: &[Var], max_parents: usize) -> Space {
        let rule = ParentRule { required: required.to_vec(), allowed: allowed.to_vec(), max_parents: 99 };
        Space::new(&rule, max_parents, "y").unwrap()
    }

    #[test]
    fn numbers_and_combinations_correspond_in_order() {
        let space = space(&[], &[1, 2, 3, 5, 7, 8], 4);
        for size in 0..=4 {
            let mut set = space.unrank(size, 0);
            for rank in 0..space.n_of_size(size) {
                assert_eq!(space.rank(&set), rank);
                assert_eq!(space.unrank(size, rank), set);
                let mut below = vec![];
                space.each_below(&set, |r| below.push(r as u64));
                let expected: Vec<u64> = (0..size)
                    .map(|i| space.rank(&set.iter().enumerate().filter(|e| e.0 != i).map(|e| *e.1).collect::<Vec<_>>()))
                    .collect();
                assert_eq!(below, expected);
                Space::advance(&mut set);
            }
        }
        assert_eq!(space.n_sets(), 1.0 + 6.0 + 15.0 + 20.0 + 15.0);
    }

    #[test]
    fn required_parents_are_in_every_set_in_their_place() {
        let space = space(&[2, 9], &[1, 2, 5, 9], 3);
        assert_eq!((space.layers(), space.n_sets()), (1, 3.0));
        let mut out = Parents::new();
        space.parents(&[0], &mut out);
        assert_eq!(out.as_slice(), [2, 5, 9]);
        space.parents(&[1], &mut out);
        assert_eq!(out.as_slice(), [1, 2, 9]);
        space.parents(&[], &mut out);
        assert_eq!(out.as_slice(), [2, 9]);
    }

    #[test]
    fn the_last_parent_changes_fastest() {
        let space = space(&[], &[0, 1, 2, 3], 2);
        let mut set = space.unrank(2, 0);
        let mut seen = vec![];
        for _ in 0..space.n_of_size(2) {
            let mut parents = Parents::new();
            space.parents(&set, &mut parents);
            seen.push(parents.to_vec());
            Space::advance(&mut set);
        }
        assert_eq!(seen, [[2, 3], [1, 3], [1, 2], [0, 3], [0, 2], [0, 1]]);
    }

    #[test]
    fn no_parents_and_more_than_there_are_parents_are_both_legal() {
        assert_eq!(space(&[], &[0, 1], 0).n_sets(), 1.0);
        assert_eq!(space(&[], &[0, 1], 10).n_sets(), 4.0);
        assert_eq!(space(&[], &[], 3).n_sets(), 1.0);
    }

    #[test]
    fn more_required_parents_than_allowed_by_the_call_are_told() {
        let rule = ParentRule { required: vec![0, 1], allowed: vec![0, 1], max_parents: 5 };
        assert!(Space::new(&rule, 1, "y").unwrap_err().to_string().contains("'y' alone has 2 required parents"));
    }
}
