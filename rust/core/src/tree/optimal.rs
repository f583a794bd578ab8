//! The best tree: Algorithm 1 of section 4.1, exactly, by recursion over cells with a memo.
//!
//! `f(R) = max(gamma leaf(R), max over splits f(R') f(R''))`. An empty side of a halving is allowed and costs its
//! `gamma`: it is the only way to reach finer midpoints. Instead of walking through empty sides one by one, a halving
//! jumps straight to the first midpoint that separates the cell's rows and pays for the `j` empty sides on the way;
//! a jump that no split follows never pays. Levels that no row of the cell has are dropped from its key.
//!
//! Rows with equal predictors are merged into points. A cell is one key and a range of the point array, which is
//! partitioned in place only when a side has to be searched: first the sums of both sides are taken, then cheap upper
//! bounds may discard the split, then the sides are looked up. Ties go to the leaf, then to the earlier predictor, then
//! to the smaller set of levels on the right.

use super::key::{Field, Layout, Split, ones};
use super::memo::{Full, Memo};
use super::response::Response;
use super::trace::{Choice, Left, Trace, Traced};

/// Rows with one combination of predictor bins and levels.
#[derive(Clone, Debug)]
pub struct Point<S> {
    /// Row key.
    pub key: u64,
    /// Statistic of their responses.
    pub sum: S,
}

/// How much a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Cells whose splits were tried.
    pub visited: u64,
    /// Cells with two points, in closed form.
    pub pairs: u64,
    /// Splits tried.
    pub splits: u64,
    /// Splits discarded by bounds.
    pub discarded: u64,
    /// Sides found in the memo.
    pub found: u64,
}

/// Of equal scores one is larger in the last digits; a tree is only grown for more than that.
const ROUNDING: f64 = 1e-12;

/// Scratch for one search after the other.
pub struct Search<R: Response> {
    /// The response.
    pub response: R,
    /// The points of the present search.
    pub points: Vec<Point<R::Sum>>,
    memo: Memo,
    groups: Vec<Group<R::Sum>>,
    fields: Vec<Field>,
    levels_mask: u64,
    log_gamma: f64,
    skip_empty: bool,
    full: Option<Full>,
    tolerance: f64,
    /// What it has done so far.
    pub effort: Effort,
}

/// A part of a cell's rows.
#[derive(Clone)]
struct Group<S> {
    sum: S,
    /// Union of the keys.
    or: u64,
    n_points: usize,
}

/// One side of a split.
struct Side {
    key: u64,
    n_points: usize,
    /// Exact if known, else an upper bound.
    score: f64,
    known: bool,
}

impl<R: Response> Search<R> {
    /// `skip_empty` forbids empty sides, as the authors' program does.
    pub fn new(response: R, max_bytes: u64, skip_empty: bool) -> Self {
        Self {
            response,
            points: Vec::new(),
            memo: Memo::new(max_bytes),
            groups: Vec::new(),
            fields: Vec::new(),
            levels_mask: 0,
            log_gamma: 0.0,
            skip_empty,
            full: None,
            tolerance: 0.0,
            effort: Effort::default(),
        }
    }

    /// The best tree's log score on `points`, `gamma` per leaf included and Z not.
    ///
    /// # Errors
    /// If the memo would outgrow its limit.
    pub fn best(&mut self, layout: &Layout, log_gamma: f64) -> Result<f64, Full> {
        self.memo.clear();
        self.full = None;
        self.fields.clone_from(&layout.fields);
        self.levels_mask = layout.levels_mask;
        self.log_gamma = log_gamma;
        self.response.prepare(log_gamma);
        let all = self.total(0, self.points.len());
        let root = (layout.root & !layout.levels_mask) | (all.or & layout.levels_mask);
        let score = if self.points.len() < 2 {
            log_gamma + self.response.log_marginal(&all.sum)
        } else {
            self.search(0, self.points.len(), root, &all.sum)
        };
        self.full.map_or(Ok(score), Err)
    }

    /// Sum and union over a range of points.
    fn total(&self, lo: usize, hi: usize) -> Group<R::Sum> {
        let mut all = Group { sum: self.response.zero(), or: 0, n_points: hi - lo };
        for point in &self.points[lo..hi] {
            self.response.add(&mut all.sum, &point.sum);
            all.or |= point.key;
        }
        all
    }

    /// The score of a cell of at least two points that is not in the memo; puts it there.
    fn search(&mut self, lo: usize, hi: usize, key: u64, sum: &R::Sum) -> f64 {
        if self.full.is_some() {
            return f64::NEG_INFINITY;
        }
        let score = if hi - lo == 2 { self.pair(lo, key, sum) } else { self.visit(lo, hi, key, sum).0 };
        if let Err(full) = self.memo.insert(key, score) {
            self.full = Some(full);
        }
        score
    }

    /// Two points stay together or part at the cheapest separating split.
    fn pair(&mut self, lo: usize, key: u64, sum: &R::Sum) -> f64 {
        self.effort.pairs += 1;
        let (one, two) = (&self.points[lo], &self.points[lo + 1]);
        let differ = one.key ^ two.key;
        let mut jumps = u32::MAX;
        if differ & self.levels_mask != 0 {
            jumps = 0;
        } else {
            for field in &self.fields {
                let bits = differ & field.mask;
                if bits != 0 {
                    jumps = jumps.min(field.jumps(key, bits));
                }
            }
        }
        let together = self.log_gamma + self.response.log_marginal(sum);
        if jumps > 0 && self.skip_empty {
            return together;
        }
        let each = self.response.log_marginal(&one.sum) + self.response.log_marginal(&two.sum);
        together.max(f64::from(jumps + 2) * self.log_gamma + each)
    }

    /// Tries every split of a cell of at least two points.
    fn visit(&mut self, lo: usize, hi: usize, key: u64, sum: &R::Sum) -> (f64, Option<Choice>) {
        self.effort.visited += 1;
        let (mut or, mut and) = (0, u64::MAX);
        for point in &self.points[lo..hi] {
            or |= point.key;
            and &= point.key;
        }
        let mut best = (self.log_gamma + self.response.log_marginal(sum), None);
        if self.response.split_bound(sum) <= best.0 {
            return best;
        }
        for index in 0..self.fields.len() {
            let field = self.fields[index];
            let differ = (or ^ and) & field.mask;
            if differ == 0 {
                continue;
            }
            match field.split {
                Split::Halving => self.halve(lo, hi, key, and, index, differ, &mut best),
                Split::Bipartition => self.bipartition(lo, hi, key, or, index, &mut best),
                Split::Threshold => self.thresholds(lo, hi, key, or, index, &mut best),
            }
        }
        best
    }

    #[allow(clippy::too_many_arguments)] // the cell, the field, and the best so far
    fn halve(
        &mut self,
        lo: usize,
        hi: usize,
        key: u64,
        and: u64,
        index: usize,
        differ: u64,
        best: &mut (f64, Option<Choice>),
    ) {
        let field = self.fields[index];
        let jumps = field.jumps(key, differ);
        if jumps > 0 && self.skip_empty {
            return;
        }
        let bit = differ.ilog2();
        let mut left = Group { sum: self.response.zero(), or: 0, n_points: 0 };
        let mut right = left.clone();
        for point in &self.points[lo..hi] {
            let goes_right = point.key >> bit & 1 == 1;
            self.response.add_if(&mut left.sum, &point.sum, !goes_right);
            self.response.add_if(&mut right.sum, &point.sum, goes_right);
            let mask = u64::from(goes_right).wrapping_neg();
            left.or |= point.key & !mask;
            right.or |= point.key & mask;
            right.n_points += usize::from(goes_right);
        }
        left.n_points = hi - lo - right.n_points;
        // Both sides' intervals follow from the bits above the separating one.
        let position = bit - field.shift;
        let parent = 1 << (field.size - 1 - position) | (and & field.mask) >> field.shift >> (position + 1);
        let rest = key & !(ones(field.size + 1) << field.shift) & !self.levels_mask;
        let sides = [(2 * parent, &left), (2 * parent + 1, &right)]
            .map(|(interval, side)| rest | interval << field.shift | side.or & self.levels_mask);
        let choice = Choice { field: index, right: 1 << bit, jumps };
        self.attempt(lo, hi, choice, [(&left, sides[0]), (&right, sides[1])], best);
    }

    /// Per level of a field, what its points add up to; returns where they stand in `groups`.
    fn by_level(&mut self, lo: usize, hi: usize, levels: u64) -> usize {
        let base = self.groups.len();
        let none = Group { sum: self.response.zero(), or: 0, n_points: 0 };
        self.groups.resize(base + levels.count_ones() as usize, none);
        for point in &self.points[lo..hi] {
            let bit = point.key & levels;
            let group = &mut self.groups[base + (levels & (bit - 1)).count_ones() as usize];
            self.response.add(&mut group.sum, &point.sum);
            group.or |= point.key;
            group.n_points += 1;
        }
        base
    }

    fn joined(&self, one: &Group<R::Sum>, two: &Group<R::Sum>) -> Group<R::Sum> {
        let mut both = one.clone();
        self.response.add(&mut both.sum, &two.sum);
        both.or |= two.or;
        both.n_points += two.n_points;
        both
    }

    fn bipartition(&mut self, lo: usize, hi: usize, key: u64, or: u64, index: usize, best: &mut (f64, Option<Choice>)) {
        let field = self.fields[index];
        let levels = or & field.mask;
        let base = self.by_level(lo, hi, levels);
        let others = levels & (levels - 1);
        let m = others.count_ones();
        // Subsets of all levels but the lowest, each from a smaller one; beyond this they are summed one by one.
        let tabulated = m <= 12;
        let table = self.groups.len();
        if tabulated {
            self.groups.push(Group { sum: self.response.zero(), or: 0, n_points: 0 });
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
                let mut sum = Group { sum: self.response.zero(), or: 0, n_points: 0 };
                let mut rest = subset;
                while rest != 0 {
                    sum = self.joined(&sum, &self.groups[base + 1 + rest.trailing_zeros() as usize]);
                    rest &= rest - 1;
                }
                sum
            };
            let right = sum_of(subset);
            let left = self.joined(&self.groups[base], &sum_of(all ^ subset));
            let rest = key & !self.levels_mask;
            let keys = [&left, &right].map(|side| rest | side.or & self.levels_mask);
            let choice = Choice { field: index, right: right.or & field.mask, jumps: 0 };
            self.attempt(lo, hi, choice, [(&left, keys[0]), (&right, keys[1])], best);
            if self.full.is_some() {
                break;
            }
        }
        self.groups.truncate(base);
    }

    fn thresholds(&mut self, lo: usize, hi: usize, key: u64, or: u64, index: usize, best: &mut (f64, Option<Choice>)) {
        let field = self.fields[index];
        let base = self.by_level(lo, hi, or & field.mask);
        let m = self.groups.len() - base;
        // From the top: what stands at i becomes the sum over i and above; what stands below is kept beside.
        for i in 0..m {
            self.groups.push(self.groups[base + i].clone());
        }
        for i in (0..m - 1).rev() {
            self.groups[base + i] = self.joined(&self.groups[base + i], &self.groups[base + i + 1]);
        }
        let mut left = Group { sum: self.response.zero(), or: 0, n_points: 0 };
        for i in 1..m {
            left = self.joined(&left, &self.groups[base + m + i - 1]);
            let right = self.groups[base + i].clone();
            let rest = key & !self.levels_mask;
            let keys = [&left, &right].map(|side| rest | side.or & self.levels_mask);
            let choice = Choice { field: index, right: right.or & field.mask, jumps: 0 };
            self.attempt(lo, hi, choice, [(&left, keys[0]), (&right, keys[1])], best);
        }
        self.groups.truncate(base);
    }

    /// One side's score if it is at hand, an upper bound otherwise.
    fn side(&self, group: &Group<R::Sum>, key: u64) -> Side {
        let leaf = self.log_gamma + self.response.log_marginal(&group.sum);
        let side = |score, known| Side { key, n_points: group.n_points, score, known };
        if group.n_points == 1 {
            return side(leaf, true);
        }
        let split = self.response.split_bound(&group.sum);
        if split <= leaf { side(leaf, true) } else { side(split, false) }
    }

    /// Scores one split, unless bounds show that it cannot beat the best.
    fn attempt(
        &mut self,
        lo: usize,
        hi: usize,
        choice: Choice,
        sides: [(&Group<R::Sum>, u64); 2],
        best: &mut (f64, Option<Choice>),
    ) {
        self.effort.splits += 1;
        let jumps = f64::from(choice.jumps) * self.log_gamma;
        let [mut left, mut right] = sides.map(|(group, key)| self.side(group, key));
        if jumps + left.score + right.score <= best.0 {
            self.effort.discarded += 1;
            return;
        }
        for side in [&mut left, &mut right] {
            if !side.known
                && let Some(score) = self.memo.get(side.key)
            {
                self.effort.found += 1;
                (side.score, side.known) = (score, true);
            }
        }
        if jumps + left.score + right.score <= best.0 {
            return;
        }
        if !(left.known && right.known) {
            let middle = self.partition(lo, hi, choice.right);
            debug_assert_eq!(middle - lo, left.n_points);
            if !left.known {
                left.score = self.search(lo, middle, left.key, &sides[0].0.sum);
            }
            if jumps + left.score + right.score <= best.0 {
                return;
            }
            if !right.known {
                right.score = self.search(middle, hi, right.key, &sides[1].0.sum);
            }
        }
        let score = jumps + left.score + right.score;
        if score > best.0 + self.tolerance {
            *best = (score, Some(choice));
        }
    }

    /// Puts the points that share no bit with `right` first; returns where the others begin.
    fn partition(&mut self, lo: usize, hi: usize, right: u64) -> usize {
        let (mut i, mut j) = (lo, hi);
        while i < j {
            if self.points[i].key & right == 0 {
                i += 1;
            } else {
                j -= 1;
                self.points.swap(i, j);
            }
        }
        i
    }
}

impl Field {
    /// Halvings of the cell's interval with an empty side before the one that separates rows that differ in `bits`.
    fn jumps(&self, key: u64, bits: u64) -> u32 {
        let position = bits.ilog2() - self.shift;
        let interval = key >> self.shift & ones(self.size + 1);
        let depth = interval.ilog2();
        self.size - 1 - position - depth
    }
}

impl<R: Response> Search<R> {
    /// The best tree in preorder, after `best`.
    pub fn trace(&mut self, layout: &Layout) -> Vec<Traced<R::Sum>> {
        let mut trace = Trace::default();
        self.tolerance = ROUNDING * (1.0 + self.log_gamma.abs() + self.points.len() as f64);
        self.trace_cell(0, self.points.len(), layout.root, &mut trace);
        self.tolerance = 0.0;
        trace.finish()
    }

    fn trace_cell(&mut self, lo: usize, hi: usize, key: u64, trace: &mut Trace<R::Sum>) {
        let all = self.total(lo, hi);
        let levels = all.or & self.levels_mask;
        let key = key & !self.levels_mask | levels;
        let choice = if hi - lo < 2 { None } else { self.visit(lo, hi, key, &all.sum).1 };
        let Some(choice) = choice else {
            trace.leaf(all.sum);
            return;
        };
        let field = self.fields[choice.field];
        if choice.jumps > 0 {
            // All rows are on one side of the midpoint; the other side is a leaf without rows.
            let interval = key >> field.shift & ones(field.size + 1);
            let bit = field.shift + field.size - 1 - interval.ilog2();
            let side = self.points[lo].key >> bit & 1;
            let inner = (key & !(ones(field.size + 1) << field.shift)) | (2 * interval + side) << field.shift;
            let jump = Choice { right: 1 << bit, ..choice };
            let split = trace.split(choice.field, Left::of(&field, jump, key, levels));
            if side == 1 {
                trace.leaf(self.response.zero());
                trace.turn_right(split);
            }
            self.trace_cell(lo, hi, inner, trace);
            if side == 0 {
                trace.turn_right(split);
                trace.leaf(self.response.zero());
            }
            return;
        }
        let split = trace.split(choice.field, Left::of(&field, choice, key, levels));
        let middle = self.partition(lo, hi, choice.right);
        let [left, right] = halves(&field, key);
        self.trace_cell(lo, middle, left, trace);
        trace.turn_right(split);
        self.trace_cell(middle, hi, right, trace);
    }
}

/// The keys of both halves of an interval; of levels, which follow from the rows, the key itself.
fn halves(field: &Field, key: u64) -> [u64; 2] {
    if field.split != Split::Halving {
        return [key; 2];
    }
    let mask = ones(field.size + 1) << field.shift;
    let interval = (key & mask) >> field.shift;
    [2 * interval, 2 * interval + 1].map(|half| key & !mask | half << field.shift)
}
