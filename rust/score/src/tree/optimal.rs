//! The best tree: Algorithm 1 of section 4.1, exactly, by recursion over cells with a memo.
//!
//! `f(R) = max(gamma leaf(R), max over splits f(R') f(R''))`. An empty side of a halving is allowed and costs its
//! `gamma`: it is the only way to reach finer midpoints. Instead of walking through empty sides one by one, an interval
//! shrinks in one jump to the smallest that holds the cell's rows, and pays for the empty sides on the way. The jump is a
//! step of its own: when another predictor is split in between, both of its sides profit from one jump, so a jump may not
//! be left until the split that needs it. Shrinking by less never pays. Levels that no row of the cell has are dropped.
//!
//! Rows with equal predictors are merged into points. A *tight* cell, whose intervals are the smallest that hold its
//! rows, is known by its rows, that is, by the union and intersection of their keys, however it was reached. A wider cell
//! is worth at most as much, since it pays for jumps; and exactly as much if the tight cell's best tree splits none of
//! the predictors whose intervals are too wide, a single leaf above all. Only otherwise is it searched by itself.
//!
//! A cell is a range of the point array, which is partitioned in place only when a side has to be searched: first the
//! sums of both sides are taken, then upper bounds may discard the split, then the sides are looked up. Ties go to the
//! leaf, then to the earlier predictor, then to the smaller set of levels on the right.

mod by_lattice;
mod by_level;
mod tracing;

use super::key::{Field, Layout, Split};
use super::lattice::Lattice;
use super::lattice::axis::Axis;
use super::memo::{Ended, Key, Known, Memo, Patience, WIDE};
pub use super::response::Point;
use super::response::{Half, Halves, LANES, Response, Worth};
use super::trace::Choice;

/// How much a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Cells whose splits were tried.
    pub visited: u64,
    /// Those of them that were wider than their rows.
    pub wide: u64,
    /// Splits tried.
    pub splits: u64,
    /// Those of them by levels.
    pub divided: u64,
    /// Splits discarded by bounds.
    pub discarded: u64,
    /// Sides found in the memo.
    pub found: u64,
}

impl std::ops::AddAssign for Effort {
    fn add_assign(&mut self, other: Self) {
        self.visited += other.visited;
        self.wide += other.wide;
        self.splits += other.splits;
        self.divided += other.divided;
        self.discarded += other.discarded;
        self.found += other.found;
    }
}

/// Of equal scores one is larger in the last digits; a tree is only grown for more than that.
const ROUNDING: f64 = 1e-12;

/// Of what one way may hold, the other keeps this part meanwhile.
const KEPT: u64 = 8;

/// Scratch for one search after the other.
pub struct Search<R: Response> {
    /// The response.
    pub response: R,
    /// The points of the present search.
    pub points: Vec<Point<R::Sum>>,
    memo: Memo,
    lattice: Lattice,
    /// The predictors of the present search, if the lattice was taken.
    axes: Option<Vec<Axis>>,
    groups: Vec<Group<R::Sum>>,
    fields: Vec<Field>,
    levels_mask: u64,
    log_gamma: f64,
    skip_empty: bool,
    max_bytes: u64,
    ended: Option<Ended>,
    /// Who can stop it.
    pub patience: Patience,
    /// The most steps of one search.
    pub most_steps: u64,
    /// Where the present search ends.
    until: u64,
    tolerance: f64,
    /// What it has done so far.
    pub effort: Effort,
}

/// A part of a cell's points.
#[derive(Clone)]
struct Group<S> {
    sum: S,
    /// Union and intersection of the keys.
    or: u64,
    and: u64,
    n_points: usize,
    /// Its score as a leaf, once that is known.
    leaf: f64,
}

impl<S> Group<S> {
    fn key(&self) -> Key {
        [self.or, self.and]
    }
}

/// A cell while its splits are tried.
struct Cell<S> {
    lo: usize,
    hi: usize,
    all: Group<S>,
    /// Its intervals; none if they are the smallest that hold its points.
    wide: Option<u64>,
    best: f64,
    choice: Option<Choice>,
    used: u32,
}

/// What the memo knows of a cell: its score, that of the smallest cell that holds its rows, or nothing.
#[derive(Clone, Copy)]
enum Found {
    Exact(Known),
    Tight(Known),
    Nothing,
}

/// A side of a split while its score is sought: exact, or an upper bound.
#[derive(Clone, Copy)]
struct Side {
    score: f64,
    exact: bool,
    used: u32,
}

impl Side {
    fn of(worth: Worth, n_points: usize) -> Self {
        let leaf = n_points == 1 || worth.split <= worth.leaf;
        Self { score: if leaf { worth.leaf } else { worth.split }, exact: leaf, used: 0 }
    }

    fn known(known: Known) -> Self {
        Self { score: known.score, exact: true, used: known.used }
    }
}

impl<R: Response> Search<R> {
    /// `skip_empty` forbids empty sides, as the authors' program does.
    pub fn new(response: R, max_bytes: u64, skip_empty: bool) -> Self {
        Self {
            response,
            points: Vec::new(),
            memo: Memo::new(max_bytes),
            lattice: Lattice::default(),
            axes: None,
            groups: Vec::new(),
            fields: Vec::new(),
            levels_mask: 0,
            log_gamma: 0.0,
            skip_empty,
            max_bytes,
            ended: None,
            patience: Patience::default(),
            most_steps: u64::MAX,
            until: u64::MAX,
            tolerance: 0.0,
            effort: Effort::default(),
        }
    }

    /// The best tree's log score on `points`, `gamma` per leaf included and Z not, by the keys of the cells reached.
    ///
    /// # Errors
    /// If the memo would outgrow its limit, or it was stopped.
    pub fn best(&mut self, layout: &Layout, log_gamma: f64) -> Result<f64, Ended> {
        self.memo.clear();
        self.lattice.keep(self.max_bytes / KEPT);
        let (all, root) = self.begin(layout, log_gamma);
        let score = if root.exact {
            root.score
        } else {
            let intervals = layout.root & !layout.levels_mask;
            self.resolve((0, self.points.len()), &all, intervals, f64::NEG_INFINITY, Found::Nothing).score
        };
        self.ended.map_or(Ok(score), Err)
    }

    /// Takes up a family: its points together, and what is known of them at once.
    fn begin(&mut self, layout: &Layout, log_gamma: f64) -> (Group<R::Sum>, Side) {
        self.ended = None;
        self.axes = None;
        self.until = self.steps().saturating_add(self.most_steps);
        self.fields.clone_from(&layout.fields);
        self.levels_mask = layout.levels_mask;
        self.log_gamma = log_gamma;
        self.response.prepare(log_gamma);
        let mut all = self.total(0, self.points.len());
        let worth = self.response.worth(&all.sum);
        all.leaf = worth.leaf;
        let root = Side::of(worth, self.points.len().max(1));
        (all, root)
    }

    /// Steps of a split by levels beside others', whose sides are summed one by one.
    const DIVIDED: u64 = 10 * size_of::<R::Sum>() as u64;

    /// What the searches so far cost, in steps of about a nanosecond.
    pub fn steps(&self) -> u64 {
        // A visited cell takes the logarithms of all counts of a response with many levels, a split adds them up.
        let bulk = self.response.bulk();
        (130 + 10 * bulk) * self.effort.visited
            + (20 + 2 * bulk) * self.effort.splits
            + (Self::DIVIDED + bulk) * self.effort.divided
            + (4 + bulk) * self.patience.points
            + self.lattice.steps
    }

    fn nothing(&self) -> Group<R::Sum> {
        Group { sum: self.response.zero(), or: 0, and: u64::MAX, n_points: 0, leaf: f64::NAN }
    }

    fn total(&self, lo: usize, hi: usize) -> Group<R::Sum> {
        let mut all = self.nothing();
        all.n_points = hi - lo;
        for point in &self.points[lo..hi] {
            self.response.add(&mut all.sum, &point.sum);
            all.or |= point.key;
            all.and &= point.key;
        }
        all
    }

    /// What the memo knows of a cell.
    #[inline]
    fn look_up(&self, group: &Group<R::Sum>, intervals: impl Fn() -> u64) -> Found {
        let Some(tight) = self.memo.get(group.key()) else { return Found::Nothing };
        if tight.used == 0 {
            return Found::Exact(tight);
        }
        let intervals = intervals();
        if !self.is_wide(group, intervals, tight.used) {
            return Found::Exact(tight);
        }
        self.memo.get([self.wide_key(group, intervals), WIDE]).map_or(Found::Tight(tight), Found::Exact)
    }

    /// The score of a cell of at least two points that is in the memo at most as a tight one; an upper bound if that is at
    /// most `floor`.
    fn resolve(
        &mut self,
        cell: (usize, usize),
        group: &Group<R::Sum>,
        intervals: u64,
        floor: f64,
        found: Found,
    ) -> Side {
        let tight = match found {
            Found::Exact(known) => return Side::known(known),
            Found::Tight(known) => known,
            Found::Nothing => {
                let known = self.visit(cell.0, cell.1, group, None).0;
                self.remember(group.key(), known);
                known
            }
        };
        if tight.used == 0 || !self.is_wide(group, intervals, tight.used) {
            return Side::known(tight);
        }
        if tight.score <= floor {
            return Side { exact: false, ..Side::known(tight) };
        }
        let known = self.visit(cell.0, cell.1, group, Some(intervals)).0;
        self.remember([self.wide_key(group, intervals), WIDE], known);
        Side::known(known)
    }

    fn remember(&mut self, key: Key, known: Known) {
        if let Err(full) = self.memo.insert(key, known) {
            self.ended = Some(Ended::Full(full));
        }
    }

    /// Whether one of the `used` predictors would have to jump.
    fn is_wide(&self, group: &Group<R::Sum>, intervals: u64, used: u32) -> bool {
        let differ = (group.or ^ group.and) & !self.levels_mask;
        self.fields.iter().enumerate().any(|(index, field)| {
            let bits = differ & field.mask;
            used >> index & 1 == 1 && bits != 0 && field.jumps(intervals, bits) > 0
        })
    }

    /// The key of a cell with these intervals; one that cannot separate its points is made as small as it can be.
    fn wide_key(&self, group: &Group<R::Sum>, intervals: u64) -> u64 {
        let mut key = group.or & self.levels_mask;
        for field in self.fields.iter().filter(|field| field.split == Split::Halving) {
            let separates = (group.or ^ group.and) & field.mask != 0;
            key |= if separates { intervals & field.cell_mask() } else { field.interval(group.and, 0) << field.shift };
        }
        key
    }

    /// The smallest intervals that hold a cell's points.
    fn tight_intervals(&self, group: &Group<R::Sum>) -> u64 {
        let mut key = 0;
        for field in self.fields.iter().filter(|field| field.split == Split::Halving) {
            let differ = (group.or ^ group.and) & field.mask;
            let open = if differ == 0 { 0 } else { differ.ilog2() + 1 - field.shift };
            key |= field.interval(group.and, open) << field.shift;
        }
        key
    }

    /// The intervals of one side of a split of a cell.
    fn side_intervals(&self, cell: &Cell<R::Sum>, choice: Choice, side: &Group<R::Sum>) -> u64 {
        let intervals = cell.wide.unwrap_or_else(|| self.tight_intervals(&cell.all));
        let field = &self.fields[choice.field];
        if field.split != Split::Halving {
            return intervals;
        }
        let open = choice.right.trailing_zeros() - field.shift;
        intervals & !field.cell_mask() | field.interval(side.and, open) << field.shift
    }

    /// Tries every split of a cell of at least two points, in its own intervals or in the smallest.
    fn visit(&mut self, lo: usize, hi: usize, all: &Group<R::Sum>, wide: Option<u64>) -> (Known, Option<Choice>) {
        if self.is_over(hi - lo) {
            return (Known { score: f64::NEG_INFINITY, used: 0 }, None);
        }
        self.effort.visited += 1;
        self.effort.wide += u64::from(wide.is_some());
        let mut cell = Cell { lo, hi, all: all.clone(), wide, best: all.leaf, choice: None, used: 0 };
        let differ = all.or ^ all.and;
        let mut index = 0;
        while index < self.fields.len() {
            let field = self.fields[index];
            match field.split {
                _ if differ & field.mask == 0 => index += 1,
                Split::Halving if self.jumps(&cell, index) > 0 => {
                    self.shrink(&mut cell, index);
                    index += 1;
                }
                Split::Halving => index = self.halvings(&mut cell, index),
                Split::Bipartition => {
                    self.bipartition(&mut cell, index);
                    index += 1;
                }
                Split::Threshold => {
                    self.thresholds(&mut cell, index);
                    index += 1;
                }
            }
        }
        (Known { score: cell.best, used: cell.used }, cell.choice)
    }

    /// Whether to leave off, after looking at so many points.
    fn is_over(&mut self, points: usize) -> bool {
        if self.ended.is_none() {
            if self.patience.is_over(points) {
                self.ended = Some(Ended::Halted);
            } else if self.steps() > self.until {
                self.ended = Some(Ended::Dear(self.most_steps));
            }
        }
        self.ended.is_some()
    }

    /// Halvings with an empty side before one that separates the cell's rows.
    fn jumps(&self, cell: &Cell<R::Sum>, index: usize) -> u32 {
        let field = &self.fields[index];
        let bits = (cell.all.or ^ cell.all.and) & field.mask;
        cell.wide.map_or(0, |intervals| if bits == 0 { 0 } else { field.jumps(intervals, bits) })
    }

    /// Tries to make one interval of a wide cell the smallest that holds its rows, all others as they are.
    fn shrink(&mut self, cell: &mut Cell<R::Sum>, index: usize) {
        if self.skip_empty {
            return;
        }
        self.effort.splits += 1;
        let choice = Choice { field: index, right: 0, jumps: self.jumps(cell, index) };
        let intervals = cell.wide.expect("only a wide cell can shrink");
        let mask = self.fields[index].cell_mask();
        let shrunk = intervals & !mask | self.tight_intervals(&cell.all) & mask;
        let nothing = Side { score: 0.0, exact: true, used: 0 };
        let floor = cell.best - f64::from(choice.jumps) * self.log_gamma;
        let all = cell.all.clone();
        let found = self.look_up(&all, || shrunk);
        let side = self.resolve((cell.lo, cell.hi), &all, shrunk, floor, found);
        self.settle(cell, choice, [side, nothing]);
    }

    /// Tries the next few halvings, from field `first` on; returns the first field that was left out.
    fn halvings(&mut self, cell: &mut Cell<R::Sum>, first: usize) -> usize {
        let (mut indices, mut bits, mut n) = ([0; LANES], [0; LANES], 0);
        let mut index = first;
        while index < self.fields.len()
            && n < LANES
            && self.fields[index].split == Split::Halving
            && self.jumps(cell, index) == 0
        {
            let differ = (cell.all.or ^ cell.all.and) & self.fields[index].mask;
            if differ != 0 {
                (indices[n], bits[n]) = (index, differ.ilog2());
                n += 1;
            }
            index += 1;
        }
        let points = &self.points[cell.lo..cell.hi];
        let halves = self.response.halves(points, &cell.all.sum, &bits[..n]);
        for lane in 0..n {
            self.halve(cell, indices[lane], bits[lane], &halves, lane);
        }
        index
    }

    fn halve(&mut self, cell: &mut Cell<R::Sum>, index: usize, bit: u32, halves: &R::Halves, lane: usize) {
        self.effort.splits += 1;
        let n_right = halves.n_right(lane);
        let n_points = [cell.hi - cell.lo - n_right, n_right];
        let worth = halves.worth(lane);
        let sides = [Side::of(worth[0], n_points[0]), Side::of(worth[1], n_points[1])];
        if self.hopeless(cell, 0, sides) {
            self.effort.discarded += 1;
            return;
        }
        let choice = Choice { field: index, right: 1 << bit, jumps: 0 };
        if sides[0].exact && sides[1].exact {
            return self.settle(cell, choice, sides);
        }
        let group = |side: usize| {
            let Half { sum, or, and } = halves.half(lane, side);
            Group { sum, or, and, n_points: n_points[side], leaf: worth[side].leaf }
        };
        self.attempt(cell, choice, &[group(0), group(1)], sides);
    }

    fn score(&self, jumps: u32, sides: [Side; 2]) -> f64 {
        f64::from(jumps) * self.log_gamma + sides[0].score + sides[1].score
    }

    /// Whether a split cannot beat what the cell has.
    fn hopeless(&self, cell: &Cell<R::Sum>, jumps: u32, sides: [Side; 2]) -> bool {
        self.score(jumps, sides) <= cell.best + self.tolerance
    }

    /// Takes a split whose score is exact, if it is better.
    fn settle(&self, cell: &mut Cell<R::Sum>, choice: Choice, sides: [Side; 2]) {
        if sides[0].exact && sides[1].exact && !self.hopeless(cell, choice.jumps, sides) {
            cell.best = self.score(choice.jumps, sides);
            cell.choice = Some(choice);
            cell.used = 1 << choice.field | sides[0].used | sides[1].used;
        }
    }

    /// Looks up or searches the sides of a split, as long as it may be better than what the cell has.
    fn attempt(&mut self, cell: &mut Cell<R::Sum>, choice: Choice, groups: &[Group<R::Sum>; 2], mut sides: [Side; 2]) {
        let mut found = [Found::Nothing; 2];
        for i in 0..2 {
            if !sides[i].exact {
                found[i] = self.look_up(&groups[i], || self.side_intervals(cell, choice, &groups[i]));
                match found[i] {
                    Found::Exact(known) => {
                        self.effort.found += 1;
                        sides[i] = Side::known(known);
                    }
                    Found::Tight(known) => sides[i].score = sides[i].score.min(known.score),
                    Found::Nothing => {}
                }
            }
        }
        if !(sides[0].exact && sides[1].exact || self.hopeless(cell, choice.jumps, sides)) {
            let middle = self.partition(cell.lo, cell.hi, choice.right);
            let ranges = [(cell.lo, middle), (middle, cell.hi)];
            // The side with the looser bound first: its score may make the other side needless.
            let slack = |i: usize| if sides[i].exact { f64::NEG_INFINITY } else { sides[i].score - groups[i].leaf };
            let first = usize::from(slack(1) > slack(0));
            for i in [first, 1 - first] {
                if self.hopeless(cell, choice.jumps, sides) {
                    return;
                }
                if !sides[i].exact {
                    let intervals = self.side_intervals(cell, choice, &groups[i]);
                    let floor = cell.best - (self.score(choice.jumps, sides) - sides[i].score);
                    sides[i] = self.resolve(ranges[i], &groups[i], intervals, floor, found[i]);
                }
            }
        }
        self.settle(cell, choice, sides);
    }

    /// Puts the points that share no bit with `right` first; returns where the others begin.
    fn partition(&mut self, lo: usize, hi: usize, right: u64) -> usize {
        let points = &mut self.points[lo..hi];
        let mut n_left = 0;
        // Without branches, which nothing could predict: between the left ones and `i` are those that go right.
        for i in 0..points.len() {
            let goes_left = points[i].key & right == 0;
            points.swap(n_left, i);
            n_left += usize::from(goes_left);
        }
        lo + n_left
    }
}
