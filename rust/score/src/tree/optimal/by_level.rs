//! Splits of predictors with levels.

use super::super::key::ones;
use super::super::response::Response;
use super::super::trace::Choice;
use super::{Cell, Group, Search, Side};

impl<R: Response> Search<R> {
    /// Per level of a field, what its points add up to; returns where they stand in `groups`.
    fn by_level(&mut self, cell: &Cell<R::Sum>, levels: u64) -> usize {
        let base = self.groups.len();
        let none = self.nothing();
        self.groups.resize(base + levels.count_ones() as usize, none);
        for point in &self.points[cell.lo..cell.hi] {
            let bit = point.key & levels;
            let group = &mut self.groups[base + (levels & (bit - 1)).count_ones() as usize];
            self.response.add(&mut group.sum, &point.sum);
            group.or |= point.key;
            group.and &= point.key;
            group.n_points += 1;
        }
        base
    }

    fn joined(&self, one: &Group<R::Sum>, two: &Group<R::Sum>) -> Group<R::Sum> {
        let mut both = one.clone();
        self.response.add(&mut both.sum, &two.sum);
        both.or |= two.or;
        both.and &= two.and;
        both.n_points += two.n_points;
        both
    }

    pub(super) fn bipartition(&mut self, cell: &mut Cell<R::Sum>, index: usize) {
        let levels = cell.all.or & self.fields[index].mask;
        let base = self.by_level(cell, levels);
        let m = levels.count_ones() - 1;
        // Subsets of all levels but the lowest, each from a smaller one; beyond this they are summed one by one.
        let tabulated = m <= 12;
        let table = self.groups.len();
        if tabulated {
            self.groups.push(self.nothing());
            for subset in 1..1_usize << m {
                let rest = &self.groups[table + (subset & (subset - 1))];
                let level = &self.groups[base + 1 + subset.trailing_zeros() as usize];
                let both = self.joined(rest, level);
                self.groups.push(both);
            }
        }
        let all = ones(m);
        for subset in 1..=all {
            let sum_of = |subset: u64| {
                if tabulated {
                    return self.groups[table + subset as usize].clone();
                }
                let mut sum = self.nothing();
                let mut rest = subset;
                while rest != 0 {
                    sum = self.joined(&sum, &self.groups[base + 1 + rest.trailing_zeros() as usize]);
                    rest &= rest - 1;
                }
                sum
            };
            let right = sum_of(subset);
            let left = self.joined(&self.groups[base], &sum_of(all ^ subset));
            self.divide(cell, index, [left, right]);
            if self.is_over(0) {
                break;
            }
        }
        self.groups.truncate(base);
    }

    pub(super) fn thresholds(&mut self, cell: &mut Cell<R::Sum>, index: usize) {
        let base = self.by_level(cell, cell.all.or & self.fields[index].mask);
        let m = self.groups.len() - base;
        // From the top: what stands at i becomes the sum over i and above; single levels are kept behind.
        self.groups.extend_from_within(base..);
        for i in (0..m - 1).rev() {
            self.groups[base + i] = self.joined(&self.groups[base + i], &self.groups[base + i + 1]);
        }
        let mut left = self.nothing();
        for i in 1..m {
            left = self.joined(&left, &self.groups[base + m + i - 1]);
            let right = self.groups[base + i].clone();
            self.divide(cell, index, [left.clone(), right]);
        }
        self.groups.truncate(base);
    }

    /// Tries one split of a predictor with levels.
    fn divide(&mut self, cell: &mut Cell<R::Sum>, index: usize, mut groups: [Group<R::Sum>; 2]) {
        self.effort.splits += 1;
        self.effort.divided += 1;
        let sides = groups.each_mut().map(|group| {
            let worth = self.response.worth(&group.sum);
            group.leaf = worth.leaf;
            Side::of(worth, group.n_points)
        });
        if self.hopeless(cell, 0, sides) {
            self.effort.discarded += 1;
            return;
        }
        let choice = Choice { field: index, right: groups[1].or & self.fields[index].mask, jumps: 0 };
        self.attempt(cell, choice, groups.each_ref().map(Group::outline), sides, |side| groups[side].clone());
    }
}
