//! The best tree by the lattice of all cells, and its splits, looked for in the lattice's scores.

use super::super::key::{Layout, Split, ones};
use super::super::lattice::axis::{Axis, NONE};
use super::super::lattice::rank;
use super::super::memo::Ended;
use super::super::response::Response;
use super::super::trace::Choice;
use super::{Group, KEPT, Search};

impl<R: Response> Search<R> {
    /// As `best`, by scoring all cells: `axes` are the occurring levels and bins of each predictor. Every level and bin
    /// in them must be in the key of a point.
    ///
    /// # Errors
    /// If it was stopped.
    pub fn best_in_lattice(&mut self, layout: &Layout, axes: &[&Axis], log_gamma: f64) -> Result<f64, Ended> {
        self.memo.keep(self.max_bytes / KEPT);
        let (_, root) = self.begin(layout, log_gamma);
        self.axes = Some(axes.iter().map(|&axis| axis.clone()).collect());
        if root.exact {
            // Nothing can be better than one leaf.
            self.lattice.forget();
            return Ok(root.score);
        }
        let Self { lattice, response, points, fields, patience, .. } = self;
        lattice.best(response, points, fields, axes, log_gamma, patience).ok_or_else(|| {
            self.ended = Some(Ended::Halted);
            Ended::Halted
        })
    }

    /// How the best tree splits a cell of at least two points. Splits are tried in the order of the search by keys, so
    /// of trees that score alike it is the same.
    pub(super) fn choice_in_lattice(&self, axes: &[Axis], all: &Group<R::Sum>, intervals: u64) -> Option<Choice> {
        if self.lattice.is_empty() {
            return None;
        }
        let differ = all.or ^ all.and;
        let occurring = self.points.iter().fold(0, |or, point| or | point.key);
        let mut parts: Vec<usize> = vec![0; axes.len()];
        let ranks = |mask: u64| Ranks { occurring: occurring & mask, here: all.or & mask };
        for (index, axis) in axes.iter().enumerate().filter(|(_, axis)| axis.n_pairs() > 0) {
            let field = &self.fields[index];
            parts[index] = match axis {
                Axis::Subsets(_) => ranks(field.mask).set(all.or & field.mask) - 1,
                Axis::Intervals(_) => Axis::run(ranks(field.mask).lowest(), ranks(field.mask).highest()),
                Axis::Dyadic(dyadic) => dyadic.at((intervals >> field.shift & ones(field.size + 1)) as usize),
            };
        }
        let mut best = (all.leaf, None);
        let mut settle = |score: f64, choice: Choice| {
            if score > best.0 + self.tolerance {
                best = (score, Some(choice));
            }
        };
        for (index, axis) in axes.iter().enumerate() {
            let field = self.fields[index];
            let levels = all.or & field.mask;
            if differ & field.mask == 0 {
                continue;
            }
            let mut side = |part: usize| {
                let whole = std::mem::replace(&mut parts[index], part);
                let score = self.lattice.worth(&parts);
                parts[index] = whole;
                score
            };
            match axis {
                Axis::Subsets(_) => {
                    let ranks = ranks(field.mask);
                    let others = levels & (levels - 1);
                    let mut right = 0_u64;
                    while right != others {
                        right = right.wrapping_sub(others) & others;
                        let score = side(ranks.set(levels ^ right) - 1) + side(ranks.set(right) - 1);
                        settle(score, Choice { field: index, right, jumps: 0 });
                    }
                }
                Axis::Intervals(_) => {
                    let ranks = ranks(field.mask);
                    let mut right = levels & (levels - 1);
                    while right != 0 {
                        let cut = rank(ranks.occurring, right & right.wrapping_neg());
                        let score = side(Axis::run(ranks.lowest(), cut - 1)) + side(Axis::run(cut, ranks.highest()));
                        settle(score, Choice { field: index, right, jumps: 0 });
                        right &= right - 1;
                    }
                }
                Axis::Dyadic(dyadic) => {
                    debug_assert_eq!(field.split, Split::Halving);
                    let interval = (intervals >> field.shift & ones(field.size + 1)) as usize;
                    let bit = field.shift + field.size - 1 - interval.ilog2();
                    let mut half = |heap: usize| match dyadic.by_heap[heap] {
                        NONE => self.log_gamma,
                        part => side(part as usize),
                    };
                    let score = half(2 * interval) + half(2 * interval + 1);
                    let jumps = u32::from(differ >> bit & 1 == 0);
                    settle(score, Choice { field: index, right: 1 << bit, jumps });
                }
            }
        }
        best.1
    }
}

/// A predictor's levels: those of all rows, and those of a cell.
#[derive(Clone, Copy)]
struct Ranks {
    occurring: u64,
    here: u64,
}

impl Ranks {
    /// Some of the occurring levels as a set of their ranks.
    fn set(self, levels: u64) -> usize {
        let (mut set, mut rest) = (0, levels);
        while rest != 0 {
            set |= 1 << rank(self.occurring, rest & rest.wrapping_neg());
            rest &= rest - 1;
        }
        set
    }

    fn lowest(self) -> usize {
        rank(self.occurring, self.here & self.here.wrapping_neg())
    }

    fn highest(self) -> usize {
        rank(self.occurring, 1 << self.here.ilog2())
    }
}
