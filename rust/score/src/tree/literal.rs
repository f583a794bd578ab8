//! Algorithm 1 word by word: every split of every cell, empty sides one at a time, levels without rows kept.
//!
//! Needed where a leaf's score depends on the cell itself and not on its rows alone (`BDeu` leaves: the prior's weight
//! is the cell's share of the predictor space), since then neither levels nor intervals may be shrunk to the rows. It is
//! not an oracle of [`super::optimal`]: the tests have their own.

use super::key::{Layout, Split, ones};
use super::memo::{Ended, Known, Memo, Patience, WIDE};
use super::optimal::Point;
use super::trace::{Choice, Left, Trace, Traced};
use crate::control::Halt;

/// One search; `leaf` scores rows and the cell's share of the space, without `gamma`.
pub struct Literal<'a, S, F, A> {
    layout: &'a Layout,
    log_gamma: f64,
    /// Forbids empty sides, as the authors' program does.
    skip_empty: bool,
    points: Vec<Point<S>>,
    memo: Memo,
    leaf: F,
    sum: A,
    ended: Option<Ended>,
    patience: Patience,
}

impl<'a, S: Clone, F: FnMut(&S, f64) -> f64, A: Fn(&[Point<S>]) -> S> Literal<'a, S, F, A> {
    /// `sum` adds up points.
    pub fn new(
        layout: &'a Layout,
        log_gamma: f64,
        skip_empty: bool,
        points: Vec<Point<S>>,
        max_bytes: u64,
        leaf: F,
        sum: A,
    ) -> Self {
        Self {
            layout,
            log_gamma,
            skip_empty,
            points,
            memo: Memo::new(max_bytes),
            leaf,
            sum,
            ended: None,
            patience: Patience::default(),
        }
    }

    /// To be stopped by this.
    #[must_use]
    pub fn heeding(mut self, halt: &Halt) -> Self {
        self.patience.halt = halt.clone();
        self
    }

    /// The best tree's log score, `gamma` per leaf included and Z not.
    ///
    /// # Errors
    /// If the memo would outgrow its limit, or it was stopped.
    pub fn best(&mut self) -> Result<f64, Ended> {
        let score = self.cell(0, self.points.len(), self.layout.root);
        self.ended.map_or(Ok(score), Err)
    }

    /// The best tree in preorder, after `best`; leaves know their cell's share of the space.
    pub fn trace(&mut self) -> Vec<Traced<(S, f64)>> {
        let mut trace = Trace::default();
        self.trace_cell(0, self.points.len(), self.layout.root, &mut trace);
        trace.finish()
    }

    fn cell(&mut self, lo: usize, hi: usize, key: u64) -> f64 {
        if lo == hi || self.ended.is_some() {
            return self.log_gamma;
        }
        if self.patience.is_over(hi - lo) {
            self.ended = Some(Ended::Halted);
        }
        if let Some(known) = self.memo.get([key, WIDE]) {
            return known.score;
        }
        let score = self.visit(lo, hi, key).0;
        // Without predictors the key is zero, and there is only this cell.
        if key != 0 {
            let full = self.memo.insert([key, WIDE], Known { score, used: 0 }).err();
            self.ended = self.ended.or(full.map(Ended::Full));
        }
        score
    }

    fn visit(&mut self, lo: usize, hi: usize, key: u64) -> (f64, Option<Choice>) {
        let sum = (self.sum)(&self.points[lo..hi]);
        let share = self.share(key);
        let mut best = (self.log_gamma + (self.leaf)(&sum, share), None);
        for index in 0..self.layout.fields.len() {
            let field = self.layout.fields[index];
            let levels = key & field.mask;
            match field.split {
                Split::Halving => {
                    let interval = key >> field.shift & ones(field.size + 1);
                    let depth = interval.ilog2();
                    if depth < field.size {
                        let right = 1 << (field.shift + field.size - 1 - depth);
                        self.attempt(lo, hi, key, Choice { field: index, right, jumps: 0 }, &mut best);
                    }
                }
                Split::Bipartition if levels != 0 => {
                    let others = levels & (levels - 1);
                    let mut right = 0_u64;
                    while right != others {
                        right = right.wrapping_sub(others) & others;
                        self.attempt(lo, hi, key, Choice { field: index, right, jumps: 0 }, &mut best);
                    }
                }
                Split::Threshold if levels != 0 => {
                    let mut right = levels & (levels - 1);
                    while right != 0 {
                        self.attempt(lo, hi, key, Choice { field: index, right, jumps: 0 }, &mut best);
                        right &= right - 1;
                    }
                }
                _ => {}
            }
        }
        best
    }

    fn attempt(&mut self, lo: usize, hi: usize, key: u64, choice: Choice, best: &mut (f64, Option<Choice>)) {
        let middle = self.partition(lo, hi, choice.right);
        if self.skip_empty && (middle == lo || middle == hi) {
            return;
        }
        let [left, right] = self.halves(key, choice);
        let score = self.cell(lo, middle, left) + self.cell(middle, hi, right);
        if score > best.0 {
            *best = (score, Some(choice));
        }
    }

    /// The cell's share of the predictor space.
    fn share(&self, key: u64) -> f64 {
        let one = |field: &super::key::Field| match field.split {
            Split::Halving => {
                let interval = key >> field.shift & ones(field.size + 1);
                (-f64::from(interval.ilog2())).exp2()
            }
            _ => f64::from((key & field.mask).count_ones()) / f64::from(field.size),
        };
        self.layout.fields.iter().map(one).product()
    }

    fn halves(&self, key: u64, choice: Choice) -> [u64; 2] {
        let field = self.layout.fields[choice.field];
        if field.split == Split::Halving {
            let mask = ones(field.size + 1) << field.shift;
            let interval = (key & mask) >> field.shift;
            let rest = key & !mask;
            return [rest | (2 * interval) << field.shift, rest | (2 * interval + 1) << field.shift];
        }
        [key & !choice.right, key & !(field.mask & !choice.right)]
    }

    fn partition(&mut self, lo: usize, hi: usize, right: u64) -> usize {
        self.points[lo..hi].sort_by_key(|point| point.key & right != 0);
        lo + self.points[lo..hi].partition_point(|point| point.key & right == 0)
    }

    fn trace_cell(&mut self, lo: usize, hi: usize, key: u64, trace: &mut Trace<(S, f64)>) {
        let choice = if lo == hi { None } else { self.visit(lo, hi, key).1 };
        let Some(choice) = choice else {
            let share = self.share(key);
            trace.leaf(((self.sum)(&self.points[lo..hi]), share));
            return;
        };
        let left = Left::of(&self.layout.fields[choice.field], choice, key, key & self.layout.levels_mask);
        let split = trace.split(choice.field, left);
        let middle = self.partition(lo, hi, choice.right);
        let [left, right] = self.halves(key, choice);
        self.trace_cell(lo, middle, left, trace);
        trace.turn_right(split);
        self.trace_cell(middle, hi, right, trace);
    }
}
