//! Step 1 within a number of counted steps: all single parents, then larger sets, the most promising first.
//!
//! Every child has its share of the steps, and what some children leave is shared out among the others, round by round.
//! Steps are counted and not timed, and a child is worked on by one thread in a fixed order, so the result is the same on
//! every machine, at every load and for any number of threads. Where the steps suffice, all sets are looked at, and the
//! result is that of [`Step1::run`](super::Step1).
//!
//! Parents are put in the order of their promise: the best score that a parent reaches alone or together with the best
//! single parent. Sets of one size are numbered so that those of the first few parents come first, and are looked at
//! row by row: row `k` holds the sets whose last parent has position `k`. Sizes take turns so that each costs about the
//! same. So whenever the steps are spent, what was looked at is all sets of two among the first `k2` parents, all of
//! three among the first `k3` and so on, with `k2 >= k3 >= ...`, and every set came after its subsets.
//!
//! A family that costs more than a share of all steps is given up, and so are its supersets.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ledger::{InOrder, Kept, Outcome, Skipped, TOLD, nothing_kept};
use super::record::{Layer, finite};
use super::space::Space;
use crate::candidates::{Candidates, ChildCandidates};
use crate::constraints::Constraints;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::local::{ChildScore, LocalScore};
use crate::parents::Parents;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// How much to spend on the parent sets of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// Steps of about a nanosecond, for all children together.
    pub steps: u64,
    /// The most parents of a set.
    pub max_parents: usize,
    /// Wall time for all children together; where it ends the work, the result depends on the machine.
    pub time: Option<Duration>,
}

/// What was looked at and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// Steps that were taken.
    pub steps: u64,
    /// Sets looked at by their number of optional parents.
    pub looked_at: Vec<u64>,
    /// How many there are.
    pub permitted: Vec<f64>,
    /// Families that were given up since they cost too much, with those above them.
    pub dear: u64,
    /// Children whose sets were all looked at.
    pub complete: usize,
}

/// A family may take this share of all steps, ...
const FAMILY: u64 = 100;
/// ... and this one of its child's.
const FAMILY_OF_CHILD: u64 = 4;
/// A child may take this share of all: two ordinary cores are to be busy.
const CHILD: u64 = 3;
/// What children leave is shared out so often.
const ROUNDS: usize = 4;
/// Steps that looking at a set takes beside its score.
const LOOK: u64 = 200;
/// Single parents may take one part in so many of all steps; where they would take more, they are screened by some rows.
const SCREENING: f64 = 2.5;
/// The fewest and the most rows to screen by, and the steps of a pair of columns, without rows and for each of them.
const FEWEST_ROWS: usize = 300;
const MOST_ROWS: usize = 2000;
const PAIR: f64 = 1000.0;
const PAIR_ROW: f64 = 2.0;
/// The fewest parents that are considered after screening, and the share of its steps that a child spends on them alone.
const FEWEST_PARENTS: usize = 3;
const ALONE: f64 = 0.4;
/// If all sets are foreseen to cost less than this share of what is left, the order of parents does not matter.
const SURE: f64 = 0.25;

impl Within {
    /// Scores what the steps suffice for, with the threads of the current rayon pool. With a score to screen by, which is
    /// prepared for some of the rows, only the parents are considered that do best alone by that.
    ///
    /// # Errors
    /// If asked to stop, or a child cannot be scored at all.
    pub fn run(
        &self,
        score: &dyn LocalScore,
        screen: Option<&dyn LocalScore>,
        constraints: &Constraints,
        control: &Control,
    ) -> Result<(Outcome, Spent)> {
        let table = score.table();
        let n = table.n_vars();
        let child = |v: Var| -> Result<Child<'_>> {
            let space = Space::new(constraints.child(v), self.max_parents, table.name(v))?;
            Ok(Child::new(score, screen, v, n, space))
        };
        let mut children = (0..n).map(child).collect::<Result<Vec<_>>>()?;
        control.expect(self.steps);
        let ends = self.time.and_then(|time| Instant::now().checked_add(time));
        let share = self.steps / n.max(1) as u64;
        let mut allowed = vec![share; n];
        for round in 0..ROUNDS {
            let cap = |allowed: u64| (self.steps / FAMILY).min(allowed / FAMILY_OF_CHILD).max(1);
            children.par_iter_mut().zip(&allowed).with_max_len(1).try_map(|(child, &allowed)| {
                if child.complete { Ok(()) } else { child.go(allowed, cap(allowed), ends, control) }
            })?;
            let spent: u64 = children.iter().map(|child| child.spent).sum();
            let left = self.steps.saturating_sub(spent);
            let open: Vec<Var> = (0..n).filter(|&v| !children[v].complete).collect();
            let late = ends.is_some_and(|ends| Instant::now() >= ends);
            if open.is_empty() || left < self.steps / 50 || round + 1 == ROUNDS || late {
                break;
            }
            for &v in &open {
                allowed[v] = (children[v].spent + left / open.len() as u64).min((self.steps / CHILD).max(share));
            }
        }
        outcome(score, children)
    }

    /// So many rows to screen by, if scoring all single parents on all rows would take too large a share of the steps.
    pub fn rows_to_screen(&self, score: &dyn LocalScore, constraints: &Constraints) -> Option<usize> {
        let (n, n_rows) = (score.table().n_vars(), score.table().n_rows());
        if n_rows <= FEWEST_ROWS || self.max_parents == 0 {
            return None;
        }
        let single = |child: Var| -> f64 {
            let allowed = &constraints.child(child).allowed;
            allowed.iter().map(|&p| (score.family_steps(child, &[p]) + LOOK) as f64).sum()
        };
        let singles: f64 = (0..n).into_par_iter().map(single).collect::<Vec<_>>().iter().sum();
        if singles <= self.steps as f64 / SCREENING {
            return None;
        }
        let pairs: f64 = (0..n).map(|child| constraints.child(child).allowed.len() as f64).sum();
        let rows = (self.steps as f64 / SCREENING / 2.0 / pairs.max(1.0) - PAIR) / PAIR_ROW;
        Some((rows as usize).clamp(FEWEST_ROWS, MOST_ROWS).min(n_rows))
    }
}

/// Puts the children together.
fn outcome(score: &dyn LocalScore, children: Vec<Child<'_>>) -> Result<(Outcome, Spent)> {
    let table = score.table();
    let sizes = children.iter().map(|child| child.looked_at.len()).max().unwrap_or(0);
    let mut spent = Spent { looked_at: vec![0; sizes], permitted: vec![0.0; sizes], ..Spent::default() };
    let (mut skipped, mut n_evaluated, mut n_skipped, mut kept) = (Vec::new(), 0, 0, Vec::new());
    let (mut n_in_order, mut in_order) = (0, Vec::new());
    for child in children {
        spent.steps += child.spent;
        spent.dear += child.n_dear;
        spent.complete += usize::from(child.complete);
        for (size, &n) in child.looked_at.iter().enumerate() {
            spent.looked_at[size] += n;
        }
        for (size, n) in child.permitted.iter().enumerate() {
            spent.permitted[size] += n;
        }
        n_evaluated += child.evaluated;
        n_skipped += child.n_skipped;
        n_in_order += child.n_in_order;
        in_order.extend(child.in_order);
        let sorted: ChildCandidates = child.kept.sorted();
        if sorted.is_empty() {
            return Err(nothing_kept(table.name(child.var), &child.skipped));
        }
        kept.push(sorted);
        skipped.extend(child.skipped.into_iter().take(TOLD - skipped.len()));
    }
    let names = table.variables().iter().map(|v| v.name.to_string()).collect();
    let candidates = Candidates::new(names, kept)?;
    let n_sets = spent.permitted.iter().sum::<f64>() as u64;
    Ok((Outcome { candidates, n_sets, n_evaluated, n_skipped, skipped, n_in_order, in_order }, spent))
}

/// One child while it is under way.
struct Child<'a> {
    score: &'a dyn LocalScore,
    var: Var,
    space: Space,
    /// Prepared for some of the rows: by it parents are chosen before they are scored.
    screen: Option<&'a dyn LocalScore>,
    /// After so many steps no further single parents are scored, those after screening being less and less promising.
    singles_until: Option<u64>,
    /// Sets that there are, by size.
    permitted: Vec<f64>,
    /// Whether the order of parents is the last one.
    ordered: bool,
    /// By size, sets in the order of their numbers, as far as they were looked at.
    layers: Vec<Layer>,
    /// By size, so many rows are complete.
    rows: Vec<usize>,
    spent_on: Vec<u64>,
    looked_at: Vec<u64>,
    /// What the child costs without parents.
    without: f64,
    /// What the single parents scored, and what that cost, by position.
    singles: Vec<(f64, u64)>,
    /// Pairs with the best single parent, by the other.
    early: FxHashMap<Var, Seen>,
    kept: Kept,
    dear: FxHashSet<Parents>,
    n_dear: u64,
    /// The least that was foreseen for a family that turned out too dear, and the steps spent on such families.
    dear_from: u64,
    wasted: u64,
    spent: u64,
    evaluated: u64,
    n_skipped: u64,
    skipped: Vec<Skipped>,
    /// Families scored whose levels were grouped in order, and those of them that were kept.
    n_in_order: u64,
    in_order: Vec<InOrder>,
    complete: bool,
}

/// What is known of a set that was looked at.
#[derive(Clone, Copy)]
struct Seen {
    /// The best score among its subsets, itself included.
    best: f64,
    /// An upper bound for its supersets.
    bound: f64,
    /// Its own score, as far as it is known.
    score: f64,
    cost: u64,
}

/// A thread's scratch for a child, and the most steps of a family.
struct Desk<'a, 'b> {
    scratch: Box<dyn ChildScore + 'a>,
    allowed: u64,
    cap: u64,
    /// Whether the time is up.
    late: bool,
    control: &'b Control,
}

impl<'a> Child<'a> {
    fn new(
        score: &'a dyn LocalScore,
        screen: Option<&'a dyn LocalScore>,
        child: Var,
        n_vars: usize,
        space: Space,
    ) -> Self {
        // Should the steps not even suffice for the single parents, each pair of columns is tried one way round or the other.
        let mut order = space.optional().to_vec();
        order.sort_unstable_by_key(|&p| (p + n_vars - child) % n_vars);
        let space = space.in_order(order);
        let sizes = space.layers() + 1;
        Self {
            score,
            var: child,
            permitted: (0..sizes).map(|size| space.n_of_size(size) as f64).collect(),
            space,
            screen,
            singles_until: None,
            ordered: false,
            layers: vec![Layer::default(); sizes],
            rows: vec![0; sizes],
            spent_on: vec![0; sizes],
            looked_at: vec![0; sizes],
            without: 1.0,
            singles: Vec::new(),
            early: FxHashMap::default(),
            kept: Kept::new(),
            dear: FxHashSet::default(),
            n_dear: 0,
            dear_from: u64::MAX,
            wasted: 0,
            spent: 0,
            evaluated: 0,
            n_skipped: 0,
            skipped: Vec::new(),
            n_in_order: 0,
            in_order: Vec::new(),
            complete: false,
        }
    }

    /// Goes on until so many steps are spent in all.
    fn go(&mut self, allowed: u64, cap: u64, ends: Option<Instant>, control: &Control) -> Result<()> {
        let mut desk = Desk { scratch: self.score.child(self.var)?, allowed, cap, late: false, control };
        desk.scratch.heed(&control.halt());
        if self.looked_at[0] == 0 {
            // A child without parents is what every network may fall back on: it has no cap.
            let seen = self.look(&mut desk, 0, &[], (f64::NEG_INFINITY, f64::INFINITY))?;
            let Some(seen) = seen else { return Err(Error::Interrupted) };
            self.without = seen.cost as f64;
            self.enter(0, seen);
        }
        if let Some(ends) = ends {
            desk.scratch.heed(&control.halt().within(ends.saturating_duration_since(Instant::now())));
            desk.late = Instant::now() >= ends;
        }
        desk.scratch.cap(cap);
        self.screened(&mut desk, ends)?;
        while self.spent < allowed && !desk.late {
            if self.space.layers() > 0 && !self.ordered && self.rows[1] == self.space.optional().len() {
                self.order(&mut desk, allowed)?;
            }
            let Some(size) = self.next_size() else {
                self.finish();
                return Ok(());
            };
            self.row(&mut desk, size, allowed)?;
            let scored = self.rows.get(1).copied().unwrap_or(0);
            if scored >= FEWEST_PARENTS && self.singles_until.is_some_and(|until| self.spent >= until) {
                self.singles_until = None;
                if !self.ordered && scored < self.space.optional().len() {
                    self.take_first(self.space.optional()[..scored].to_vec());
                }
            }
            desk.late = desk.late || ends.is_some_and(|ends| Instant::now() >= ends);
        }
        if self.next_size().is_none() {
            self.finish();
        }
        Ok(())
    }

    /// The size whose next row comes next: of those that may, the one that cost least so far.
    fn next_size(&self) -> Option<usize> {
        let n = self.space.optional().len();
        let may = |&size: &usize| self.rows[size] < n && (size == 1 || self.rows[size - 1] > self.rows[size]);
        let sizes = 1..=self.space.layers();
        if self.rows.get(1).is_some_and(|&rows| rows < n) {
            return Some(1);
        }
        sizes.filter(may).min_by_key(|&size| self.spent_on[size])
    }

    fn finish(&mut self) {
        self.complete = true;
        self.layers = Vec::new();
        self.early = FxHashMap::default();
        self.dear = FxHashSet::default();
    }

    /// Looks at the next row of a size, as far as the steps go.
    fn row(&mut self, desk: &mut Desk<'_, '_>, size: usize, allowed: u64) -> Result<()> {
        let row = self.rows[size];
        let end = self.space.n_among(row + 1, size);
        let mut rank = self.layers[size].best.len() as u64;
        let mut set = if rank < end { self.space.unrank(size, rank) } else { Vec::new() };
        while rank < end {
            if self.spent >= allowed || desk.late {
                return Ok(());
            }
            let before = self.spent;
            let around = self.layers[size - 1].around(&self.space, &set);
            let known = if size == 2 && set[0] == 0 { self.early.remove(&self.space.optional()[set[1]]) } else { None };
            let seen = match known {
                Some(seen) => seen,
                None => match self.look(desk, size, &set, around)? {
                    Some(seen) => seen,
                    None => return Ok(()),
                },
            };
            if size == 1 {
                self.singles.push((seen.score, seen.cost));
            }
            self.enter(size, seen);
            self.spent_on[size] += self.spent - before;
            Space::advance(&mut set);
            rank += 1;
        }
        self.rows[size] = row + 1;
        Ok(())
    }

    fn enter(&mut self, size: usize, seen: Seen) {
        let layer = &mut self.layers[size];
        layer.best.push(seen.best);
        layer.bounds.push(seen.bound);
    }

    /// The parents of a set of positions, ascending, with the required ones.
    fn parents(&self, set: &[usize]) -> Parents {
        let optional = set.iter().map(|&t| self.space.optional()[t]);
        let mut parents: Parents = self.space.required().iter().copied().chain(optional).collect();
        parents.sort_unstable();
        parents
    }

    /// The score of a set and what follows from it; nothing if the time ended within it.
    fn look(
        &mut self,
        desk: &mut Desk<'_, '_>,
        size: usize,
        set: &[usize],
        around: (f64, f64),
    ) -> Result<Option<Seen>> {
        desk.control.check()?;
        let (floor, mut bound) = around;
        let mut seen = Seen { best: floor, bound, score: f64::NEG_INFINITY, cost: LOOK };
        if bound > floor {
            let parents = self.parents(set);
            if self.holds_dear(&parents, size) {
                self.give_up(parents, "a subset of these parents takes too many steps");
            } else if self.score.family_steps(self.var, &parents) >= self.too_dear(desk.allowed) {
                self.give_up(parents, "it is foreseen to take too many steps, as others did");
            } else {
                let steps = |desk: &Desk<'_, '_>| desk.scratch.steps();
                let before = steps(desk);
                // The order of parents rests on what single ones score, also below the floor.
                let found = if size == 1 {
                    desk.scratch.score(&parents).map(Some)
                } else {
                    desk.scratch.score_above(&parents, floor)
                };
                let taken = match (before, steps(desk)) {
                    (Some(before), Some(after)) => after - before,
                    _ => self.score.cost().steps(self.score.table(), &parents),
                };
                seen.cost += taken;
                match found {
                    Ok(found) => {
                        self.evaluated += 1;
                        let groups = desk.scratch.in_order();
                        self.n_in_order += u64::from(groups.is_some());
                        if let Some(found) = found {
                            finite(self.score, self.var, &parents, found)?;
                            seen.score = found;
                            if found > floor {
                                self.kept.push(&parents, found)?;
                                self.in_order.extend(groups.map(|groups| InOrder {
                                    child: self.var,
                                    parents: parents.clone(),
                                    groups: groups.to_vec(),
                                }));
                                seen.best = found;
                            }
                        }
                        if size < self.space.layers() {
                            bound = bound.min(desk.scratch.superset_bound(&parents));
                        }
                    }
                    Err(Error::Family { .. })
                        if taken > desk.cap || self.score.family_steps(self.var, &parents) > desk.cap =>
                    {
                        self.wasted += taken;
                        let foreseen = self.score.family_steps(self.var, &parents);
                        self.dear_from = self.dear_from.min(foreseen);
                        self.give_up(parents, "its best tree takes too many steps");
                    }
                    Err(error @ (Error::Family { .. } | Error::Memory { .. })) => {
                        self.skip(parents, error.to_string());
                    }
                    Err(Error::Interrupted) if !desk.control.stopped() => {
                        desk.late = true;
                        return Ok(None);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        seen.bound = bound;
        self.looked_at[size] += 1;
        self.spent += seen.cost;
        desk.control.advance(seen.cost);
        Ok(Some(seen))
    }

    /// Whether a set lies above one that was given up.
    fn holds_dear(&self, parents: &Parents, size: usize) -> bool {
        size > 1
            && !self.dear.is_empty()
            && (0..parents.len()).any(|i| {
                let mut less = parents.clone();
                less.remove(i);
                self.dear.contains(&less)
            })
    }

    /// What may cost this is not tried: the more was spent in vain, the less is tried. What is known of a family beforehand
    /// may be far above what it takes, so nothing is given up before one was tried.
    fn too_dear(&self, allowed: u64) -> u64 {
        if self.wasted == 0 {
            return u64::MAX;
        }
        (2.0 * self.dear_from as f64 * (-16.0 * self.wasted as f64 / allowed.max(1) as f64).exp2()) as u64
    }

    fn give_up(&mut self, parents: Parents, why: &str) {
        self.n_dear += 1;
        let reason = if self.skipped.len() < TOLD {
            let table = self.score.table();
            let error = Error::Family {
                child: table.name(self.var).to_owned(),
                parents: parents.iter().map(|&p| table.name(p).to_owned()).collect(),
                problem: why.to_owned(),
                advice: "merge rare levels, declare levels that have an order as ordinal, or give more effort"
                    .to_owned(),
            };
            error.to_string()
        } else {
            String::new()
        };
        self.dear.insert(parents.clone());
        self.skip(parents, reason);
    }

    fn skip(&mut self, parents: Parents, reason: String) {
        self.n_skipped += 1;
        if self.skipped.len() < TOLD {
            self.skipped.push(Skipped { child: self.var, parents, reason });
        }
    }

    /// Chooses the parents that do best alone by the rows to screen by, as many as a share of the steps scores on all rows.
    fn screened(&mut self, desk: &mut Desk<'_, '_>, ends: Option<Instant>) -> Result<()> {
        let Some(screen) = self.screen.take().filter(|_| self.space.layers() > 0) else { return Ok(()) };
        let mut scratch = screen.child(self.var)?;
        scratch.heed(&desk.control.halt());
        scratch.cap(desk.cap);
        let limit = self.spent + (desk.allowed - desk.allowed.min(self.spent)) / 2;
        let mut tried: Vec<(f64, Var)> = Vec::new();
        for position in 0..self.space.optional().len() {
            desk.control.check()?;
            if self.spent >= limit || ends.is_some_and(|ends| Instant::now() >= ends) {
                break;
            }
            let parents = self.parents(&[position]);
            let before = scratch.steps();
            let found = match scratch.score(&parents) {
                Ok(found) => found,
                Err(Error::Family { .. } | Error::Memory { .. }) => f64::NEG_INFINITY,
                Err(error) => return Err(error),
            };
            let taken = match (before, scratch.steps()) {
                (Some(before), Some(after)) => after - before,
                _ => screen.family_steps(self.var, &parents),
            };
            self.spent += taken + LOOK;
            tried.push((found, self.space.optional()[position]));
        }
        tried.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.singles_until = Some(self.spent + (ALONE * (desk.allowed - desk.allowed.min(self.spent)) as f64) as u64);
        self.take_first(tried.into_iter().map(|(_, parent)| parent).collect());
        Ok(())
    }

    /// Leaves the other parents.
    fn take_first(&mut self, parents: Vec<Var>) {
        self.space = self.space.clone().among(parents);
        let sizes = self.space.layers() + 1;
        self.layers.truncate(sizes);
        self.rows.truncate(sizes);
    }

    /// Once all single parents are scored: the order in which parents are taken into larger sets.
    fn order(&mut self, desk: &mut Desk<'_, '_>, allowed: u64) -> Result<()> {
        let n = self.space.optional().len();
        if self.early.is_empty() && self.foreseen() <= SURE * (allowed - self.spent) as f64 {
            // All sets will be looked at: in an order that suits the scores, neighbours sharing their first parents.
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_unstable_by_key(|&t| std::cmp::Reverse(self.space.optional()[t]));
            self.reorder(&order);
            return Ok(());
        }
        let by_score = |a: f64, b: f64| b.total_cmp(&a);
        let first = (0..n).min_by(|&a, &b| by_score(self.singles[a].0, self.singles[b].0)).unwrap_or(0);
        let mut together = vec![f64::NEG_INFINITY; n];
        if self.space.layers() > 1 {
            for t in (0..n).filter(|&t| t != first) {
                let Some(&known) = self.early.get(&self.space.optional()[t]) else {
                    if self.spent >= allowed || desk.late {
                        return Ok(()); // and go on here with what may be left by others
                    }
                    let set = [first.min(t), first.max(t)];
                    let around = self.layers[1].around(&self.space, &set);
                    let before = self.spent;
                    let Some(seen) = self.look(desk, 2, &set, around)? else { return Ok(()) };
                    self.spent_on[2] += self.spent - before;
                    self.early.insert(self.space.optional()[t], seen);
                    together[t] = seen.score;
                    continue;
                };
                together[t] = known.score;
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| {
            let promise = |t: usize| if t == first { f64::INFINITY } else { together[t].max(self.singles[t].0) };
            by_score(promise(a), promise(b))
                .then(by_score(self.singles[a].0, self.singles[b].0))
                .then(self.space.optional()[a].cmp(&self.space.optional()[b]))
        });
        self.reorder(&order);
        Ok(())
    }

    /// Steps that all larger sets would take, if each parent made a family dearer as it does alone.
    fn foreseen(&self) -> f64 {
        // Elementary symmetric sums of the growths.
        let mut sums = vec![0.0_f64; self.space.layers() + 1];
        sums[0] = self.without;
        for &(_, cost) in &self.singles {
            for size in (1..sums.len()).rev() {
                sums[size] += sums[size - 1] * (cost as f64 / self.without).max(1.0);
            }
        }
        sums.iter().skip(2).sum()
    }

    fn reorder(&mut self, order: &[usize]) {
        let take = |values: &[f64]| order.iter().map(|&t| values[t]).collect::<Vec<_>>();
        let layer = &self.layers[1];
        let layer = Layer { best: take(&layer.best), bounds: take(&layer.bounds) };
        let parents = order.iter().map(|&t| self.space.optional()[t]).collect();
        self.singles = order.iter().map(|&t| self.singles[t]).collect();
        self.layers[1] = layer;
        self.space = self.space.clone().in_order(parents);
        self.ordered = true;
    }
}
