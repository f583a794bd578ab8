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
mod parted;
mod tops;
mod tracing;

use self::parted::parted;
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

/// A cell while its splits are tried.
struct Cell<S> {
    lo: usize,
    hi: usize,
    all: Group<S>,
    /// Of each number whose halvings can part its points, the bit that the next one goes by.
    tops: u64,
    /// Whether some interval is not the smallest that holds its points.
    wide: bool,
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

/// What a side is known by, and what it is worth as a leaf.
#[derive(Clone, Copy)]
struct Outline {
    key: Key,
    leaf: f64,
}

impl<S> Group<S> {
    fn outline(&self) -> Outline {
        Outline { key: [self.or, self.and], leaf: self.leaf }
    }
}

/// A side of a split while its score is sought: exact, or an upper bound.
#[derive(Clone, Copy)]
struct Side {
    score: f64,
    exact: bool,
    used: u32,
}

impl Side {
    #[inline]
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
            let tops = self.tops_of(layout.root);
            let rows = (0, self.points.len());
            self.resolve(rows, [all.or, all.and], tops, f64::NEG_INFINITY, Found::Nothing, || all.clone()).score
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
        let (bulk, beside) = (self.response.bulk(), self.response.beside());
        (130 + 10 * bulk + beside.visit) * self.effort.visited
            + (20 + 2 * bulk + beside.split) * self.effort.splits
            + (Self::DIVIDED + bulk) * self.effort.divided
            + (4 + bulk + beside.point) * self.patience.points
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
    fn look_up(&self, key: Key, tops: u64) -> Found {
        let Some(tight) = self.memo.get(key) else { return Found::Nothing };
        if tight.used == 0 || !self.is_wide(key, tops, tight.used) {
            return Found::Exact(tight);
        }
        self.memo.get([self.wide_key(key, tops), WIDE]).map_or(Found::Tight(tight), Found::Exact)
    }

    /// The score of a cell of at least two points that is in the memo at most as a tight one; an upper bound if that is at
    /// most `floor`.
    #[inline]
    fn resolve(
        &mut self,
        (lo, hi): (usize, usize),
        key: Key,
        tops: u64,
        floor: f64,
        found: Found,
        group: impl Fn() -> Group<R::Sum>,
    ) -> Side {
        let tight = match found {
            Found::Exact(known) => return Side::known(known),
            Found::Tight(known) => known,
            Found::Nothing => {
                let known = self.visit(lo, hi, group(), None).0;
                self.remember(key, known);
                known
            }
        };
        if tight.used == 0 || !self.is_wide(key, tops, tight.used) {
            return Side::known(tight);
        }
        if tight.score <= floor {
            return Side { exact: false, ..Side::known(tight) };
        }
        let known = self.visit(lo, hi, group(), Some(tops)).0;
        self.remember([self.wide_key(key, tops), WIDE], known);
        Side::known(known)
    }

    fn remember(&mut self, key: Key, known: Known) {
        if let Err(full) = self.memo.insert(key, known) {
            self.ended = Some(Ended::Full(full));
        }
    }

    /// Tries every split of a cell of at least two points, in its own intervals or in the smallest.
    fn visit(&mut self, lo: usize, hi: usize, all: Group<R::Sum>, wide: Option<u64>) -> (Known, Option<Choice>) {
        if self.is_over(hi - lo) {
            return (Known { score: f64::NEG_INFINITY, used: 0 }, None);
        }
        self.effort.visited += 1;
        self.effort.wide += u64::from(wide.is_some());
        let differ = all.or ^ all.and;
        let tops = wide.unwrap_or_else(|| self.tight_tops(differ));
        let best = all.leaf;
        let mut cell = Cell { lo, hi, all, tops, wide: wide.is_some(), best, choice: None, used: 0 };
        let mut index = 0;
        while index < self.fields.len() {
            let field = self.fields[index];
            match field.split {
                Split::Halving if cell.wide && self.jumps(&cell, index) > 0 => {
                    self.shrink(&mut cell, index);
                    index += 1;
                }
                Split::Halving => index = self.halvings(&mut cell, index),
                _ if differ & field.mask == 0 => index += 1,
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

    /// Tries to make one interval of a wide cell the smallest that holds its rows, all others as they are.
    fn shrink(&mut self, cell: &mut Cell<R::Sum>, index: usize) {
        if self.skip_empty {
            return;
        }
        self.effort.splits += 1;
        let choice = Choice { field: index, right: 0, jumps: self.jumps(cell, index) };
        let all = &cell.all;
        let key = [all.or, all.and];
        let mask = self.fields[index].mask;
        let tops = cell.tops & !mask | self.tight_tops(all.or ^ all.and) & mask;
        let nothing = Side { score: 0.0, exact: true, used: 0 };
        let floor = cell.best - f64::from(choice.jumps) * self.log_gamma;
        let found = self.look_up(key, tops);
        let side = self.resolve((cell.lo, cell.hi), key, tops, floor, found, || all.clone());
        self.settle(cell, choice, [side, nothing]);
    }

    /// Tries the next few halvings, from field `first` on; returns the first field that was left out.
    fn halvings(&mut self, cell: &mut Cell<R::Sum>, first: usize) -> usize {
        let (mut indices, mut bits, mut n) = ([0; LANES], [0; LANES], 0);
        let mut index = first;
        while index < self.fields.len()
            && n < LANES
            && self.fields[index].split == Split::Halving
            && !(cell.wide && self.jumps(cell, index) > 0)
        {
            // Without branches: which numbers differ in a cell is hard to predict.
            let differ = (cell.all.or ^ cell.all.and) & self.fields[index].mask;
            (indices[n], bits[n]) = (index, (differ | 1).ilog2());
            n += usize::from(differ != 0);
            index += 1;
        }
        if n == 0 {
            return index;
        }
        let points = &self.points[cell.lo..cell.hi];
        let halves = self.response.halves(points, &cell.all.sum, &bits[..n]);
        for lane in 0..n {
            self.memo.fetch(halves.key(lane, 0));
            self.memo.fetch(halves.key(lane, 1));
        }
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
        let outline = |side: usize| Outline { key: halves.key(lane, side), leaf: worth[side].leaf };
        self.attempt(cell, choice, [outline(0), outline(1)], sides, |side| {
            let Half { sum, or, and } = halves.half(lane, side);
            Group { sum, or, and, n_points: n_points[side], leaf: worth[side].leaf }
        });
    }

    #[inline]
    fn score(&self, jumps: u32, sides: [Side; 2]) -> f64 {
        f64::from(jumps) * self.log_gamma + sides[0].score + sides[1].score
    }

    /// Whether a split cannot beat what the cell has.
    #[inline]
    fn hopeless(&self, cell: &Cell<R::Sum>, jumps: u32, sides: [Side; 2]) -> bool {
        self.score(jumps, sides) <= cell.best + self.tolerance
    }

    /// Takes a split whose score is exact, if it is better.
    #[inline]
    fn settle(&self, cell: &mut Cell<R::Sum>, choice: Choice, sides: [Side; 2]) {
        if sides[0].exact && sides[1].exact && !self.hopeless(cell, choice.jumps, sides) {
            cell.best = self.score(choice.jumps, sides);
            cell.choice = Some(choice);
            cell.used = 1 << choice.field | sides[0].used | sides[1].used;
        }
    }

    /// Looks up or searches the sides of a split, as long as it may be better than what the cell has.
    #[inline]
    fn attempt(
        &mut self,
        cell: &mut Cell<R::Sum>,
        choice: Choice,
        outlines: [Outline; 2],
        mut sides: [Side; 2],
        group: impl Fn(usize) -> Group<R::Sum>,
    ) {
        let tops = self.side_tops(cell.tops, choice);
        let mut found = [Found::Nothing; 2];
        for i in 0..2 {
            if !sides[i].exact {
                found[i] = self.look_up(outlines[i].key, tops);
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
            let slack = |i: usize| if sides[i].exact { f64::NEG_INFINITY } else { sides[i].score - outlines[i].leaf };
            let first = usize::from(slack(1) > slack(0));
            for i in [first, 1 - first] {
                if self.hopeless(cell, choice.jumps, sides) {
                    return;
                }
                if !sides[i].exact {
                    let floor = cell.best - (self.score(choice.jumps, sides) - sides[i].score);
                    sides[i] = self.resolve(ranges[i], outlines[i].key, tops, floor, found[i], || group(i));
                }
            }
        }
        self.settle(cell, choice, sides);
    }

    /// Puts the points that share no bit with `right` first; returns where the others begin.
    fn partition(&mut self, lo: usize, hi: usize, right: u64) -> usize {
        lo + parted::<R>(&mut self.points[lo..hi], right)
    }
}
