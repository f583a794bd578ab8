//! States of the order search and how they are closed, bounded and expanded.
//!
//! A state is the set of variables that still have to be placed ("rest"); what it cost to place the others does not
//! matter to what follows, so states are merged by their rest. A state is closed by moves that lose nothing:
//! * a variable that has, among the placed ones, its best set of all that remain goes next;
//! * a variable that no other can still gain from goes last, and takes its best set.
//!
//! Of the strongly connected components of who can still gain from whom only one that depends on no other is branched
//! on. Both rules follow from costs alone; they need no score equivalence.

use std::sync::Arc;

use crate::exact::bits::Bits;
use crate::exact::dual::Dual;
use crate::exact::live::{Live, LiveSets};
use crate::exact::pattern::Patterns;
use crate::exact::prices::{Ledger, Prices};
use crate::exact::problem::{Columns, NEVER, Problem};

/// Sets are near the least within this part of a state's slack.
const NEAR: i64 = 16;
/// More sets than this near the least are not gathered.
const MOST_NEAR: usize = 20_000;
/// All that matter are rarely less than so many times those near the least.
const MANY: usize = 8;

/// A closed state.
#[derive(Clone, Copy, Debug)]
pub struct State<const W: usize> {
    /// The variables still to be placed.
    pub rest: Bits<W>,
    /// What the others cost.
    pub cost: i64,
    /// No completion costs less.
    pub bound: i64,
}

/// The problem with the root's prices, laid out for bounding states.
pub struct Kernel<const W: usize> {
    problem: Arc<Problem<W>>,
    prices: Prices<W>,
    max_live: usize,
    patterns: Option<Patterns<W>>,
}

/// Scratch of one thread.
pub struct Scratch<const W: usize> {
    ranks: Vec<u32>,
    child_ranks: Vec<u32>,
    /// Row v, column w: the best set of v once w is placed too.
    singles: Vec<u32>,
    wanted: Vec<Bits<W>>,
    ledger: Ledger,
    live: LiveSets<W>,
}

impl<const W: usize> Scratch<W> {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.singles.capacity() * size_of::<u32>() + self.ledger.bytes() + self.live.bytes()
    }
}

impl<const W: usize> Kernel<W> {
    /// Lays out.
    pub fn new(problem: Arc<Problem<W>>, dual: &Dual<W>, max_live: usize) -> Self {
        let prices = Prices::new(&problem, dual);
        Self { problem, prices, max_live, patterns: None }
    }

    /// From now on, successors are held against these too.
    pub fn equip(&mut self, patterns: Patterns<W>) {
        self.patterns = Some(patterns);
    }

    /// What the patterns say that completing a state costs at least.
    pub fn at_least(&self, rest: Bits<W>) -> i64 {
        self.patterns.as_ref().map_or(0, |patterns| patterns.bound(rest))
    }

    /// How many bytes prices and patterns take; the problem is its owner's.
    pub fn bytes(&self) -> usize {
        self.prices.bytes() + self.patterns.as_ref().map_or(0, Patterns::bytes)
    }

    /// Scratch for one thread.
    pub fn scratch(&self) -> Scratch<W> {
        let n = self.problem.n();
        Scratch {
            ranks: vec![0; n],
            child_ranks: vec![0; n],
            singles: vec![0; n * n],
            wanted: vec![Bits::EMPTY; n],
            ledger: self.prices.ledger(),
            live: LiveSets::new(n),
        }
    }

    /// Closes a state whose ranks hold, for each variable of rest, its best set within the placed ones.
    /// `placed` is called for each variable that goes first (true) or last (false).
    pub fn close(
        &self,
        mut rest: Bits<W>,
        mut cost: i64,
        ranks: &mut [u32],
        mut placed: impl FnMut(usize, bool),
    ) -> (Bits<W>, i64) {
        loop {
            let mut gain = Bits::EMPTY;
            let mut added = Bits::EMPTY;
            for v in rest.iter() {
                let columns = &self.problem.columns[v];
                let wanted = columns.unions[ranks[v] as usize] & rest;
                if wanted.is_empty() {
                    // All sets before the rank lie within the placed variables, so the first of them is the best.
                    rest = rest.without(v);
                    cost += columns.costs[0];
                    placed(v, true);
                    added = added.with(v);
                } else {
                    gain |= wanted;
                }
            }
            if added.is_empty() {
                let last = rest.minus(gain);
                if last.is_empty() {
                    return (rest, cost);
                }
                for v in last.iter() {
                    rest = rest.without(v);
                    cost += self.problem.columns[v].costs[0];
                    placed(v, false);
                }
                continue;
            }
            for v in rest.iter() {
                let columns = &self.problem.columns[v];
                let end = ranks[v] as usize;
                if columns.unions[end].meets(added)
                    && let Some(better) = columns.best_within(!rest, end)
                {
                    ranks[v] = better as u32;
                }
            }
        }
    }

    /// What a successor comes to at least; only what lost a cluster is looked at again, and first among the sets gathered
    /// for the state, which is enough where the bound comes to `enough`, or where these are all that matter.
    fn child_bound(
        &self,
        child: &State<W>,
        placed: Bits<W>,
        (reach, sharp): (i64, bool),
        enough: i64,
        scratch: &mut Scratch<W>,
    ) -> i64 {
        let Scratch { child_ranks, ledger, live, .. } = scratch;
        let mut total = child.cost + self.prices.turn(placed, ledger);
        let mut beyond: Bits<W> = Bits::EMPTY;
        for v in child.rest.iter() {
            let mut best = reach;
            for l in live.of(v) {
                if l.base >= best {
                    break;
                }
                if l.column <= child_ranks[v] {
                    best = best.min(l.base + self.prices.back(v, l.column, ledger));
                }
            }
            if best == reach && sharp {
                return NEVER;
            }
            if best == reach {
                beyond = beyond.with(v);
            }
            total += Prices::<W>::least(v, ledger) + best;
        }
        for v in beyond.iter() {
            if total >= enough {
                break;
            }
            total += self.prices.least_in_successor(v, child_ranks[v], ledger) - Prices::<W>::least(v, ledger) - reach;
        }
        total
    }

    /// The variables of a component of rest that depends on no other component.
    fn source(rest: Bits<W>, wanted: impl Fn(usize) -> Bits<W>) -> Bits<W> {
        // A variable upstream whose own upstream is smaller is a better start.
        let upstream = |v: usize| {
            let mut seen = Bits::one(v);
            let mut todo = seen;
            while let Some(u) = todo.lowest() {
                todo = todo.without(u);
                let new = wanted(u).minus(seen);
                seen |= new;
                todo |= new;
            }
            seen
        };
        let mut best = upstream(rest.lowest().expect("a closed state with nothing left is a goal"));
        let mut unchecked = best;
        while let Some(v) = unchecked.lowest() {
            let its = upstream(v);
            if its.len() < best.len() {
                best = its;
                unchecked = its;
            }
            unchecked = unchecked.without(v);
        }
        best
    }

    /// Finds, for each variable of rest, its best set within the placed ones, and within these and one more.
    fn rank(&self, rest: Bits<W>, scratch: &mut Scratch<W>) {
        let n = self.problem.n();
        for v in rest.iter() {
            let columns = &self.problem.columns[v];
            let singles = &mut scratch.singles[v * n..(v + 1) * n];
            singles.fill(u32::MAX);
            let mut rank = columns.len();
            for (i, &set) in columns.sets.iter().enumerate() {
                let missing = set & rest;
                if missing.at_most_one() {
                    let Some(w) = missing.lowest() else {
                        rank = i;
                        break;
                    };
                    singles[w] = singles[w].min(i as u32);
                }
            }
            scratch.ranks[v] = rank as u32;
        }
    }

    /// Collects the sets whose reduced cost is less than `reach` above their variable's least; false, and none, if they
    /// are more than `most`.
    fn collect(&self, rest: Bits<W>, reach: i64, most: usize, scratch: &mut Scratch<W>) -> bool {
        let Scratch { ranks, ledger, live, .. } = scratch;
        live.clear();
        for v in rest.iter() {
            let (start, sets) = (live.count(), &self.problem.columns[v].sets);
            let few = self.prices.within(v, ranks[v], reach, ledger, |column, reduced| {
                live.push(Live { set: sets[column as usize] & rest, base: reduced, reduced, column });
                live.count() <= most
            });
            if !few {
                live.clear();
                return false;
            }
            live.end(v, start);
        }
        true
    }

    /// Collects all sets that a completion within `slack` of the bound may use. Where they are too many, only those near
    /// the least: enough for bounding most successors. Returns how far it reached, and whether that is all.
    fn gather(&self, rest: Bits<W>, slack: i64, scratch: &mut Scratch<W>) -> (i64, bool) {
        let near = slack / NEAR;
        let gathered = |reached: bool| if reached { near } else { 0 };
        if self.problem.n_columns() > self.max_live {
            let reached = self.collect(rest, near, MOST_NEAR, scratch);
            if !reached || MANY * scratch.live.count() > self.max_live {
                return (gathered(reached), false);
            }
        }
        if self.collect(rest, slack, self.max_live, scratch) {
            return (slack, true);
        }
        (gathered(self.collect(rest, near, MOST_NEAR, scratch)), false)
    }

    /// All closed successors that may complete below a cost, with their bounds. Returns the state's own bound.
    pub fn expand(
        &self,
        state: &State<W>,
        below: i64,
        scratch: &mut Scratch<W>,
        mut out: impl FnMut(usize, State<W>),
    ) -> i64 {
        let n = self.problem.n();
        let rest = state.rest;
        self.rank(rest, scratch);
        let inherited = self.prices.open(rest, &scratch.ranks, &mut scratch.ledger);
        let mut bound = state.cost + inherited;
        if bound >= below {
            return bound;
        }
        let (reach, sharp) = self.gather(rest, below - bound, scratch);
        if sharp {
            bound += scratch.live.ascend(rest, below - bound);
            if bound >= below {
                return bound;
            }
        }
        let slack = below - bound;
        // Sets above the slack are of no use below this state.
        for v in rest.iter() {
            let rank = scratch.ranks[v];
            scratch.wanted[v] = if sharp {
                let useful = scratch.live.of(v).iter().filter(|l| l.reduced < slack && l.column < rank);
                useful.fold(Bits::EMPTY, |union, l| union | l.set)
            } else {
                self.problem.columns[v].unions[rank as usize] & rest
            };
        }
        let source = Self::source(rest, |v| scratch.wanted[v]);
        let state_bound = bound.max(state.bound);
        for w in source.iter() {
            let rank = scratch.ranks[w];
            let Some(&price) = self.problem.columns[w].costs.get(rank as usize) else { continue };
            let taken = if sharp { scratch.live.of(w).iter().find(|l| l.column == rank) } else { None };
            if sharp && taken.is_none_or(|l| l.reduced >= slack) {
                continue;
            }
            let at_least = state_bound.max(taken.map_or(bound, |l| bound + l.reduced));
            let cost = state.cost + price;
            for v in rest.iter() {
                scratch.child_ranks[v] = scratch.ranks[v].min(scratch.singles[v * n + w]);
            }
            let (child, cost) = self.close(rest.without(w), cost, &mut scratch.child_ranks, |_, _| ());
            let mut child = State { rest: child, cost, bound: at_least };
            child.bound = at_least.max(child.cost + self.at_least(child.rest));
            if child.bound < below {
                let priced = self.child_bound(&child, rest.minus(child.rest), (reach, sharp), below, scratch);
                child.bound = child.bound.max(priced);
            }
            if child.bound < below {
                out(w, child);
            }
        }
        state_bound
    }

    /// Number of variables.
    pub fn n(&self) -> usize {
        self.problem.n()
    }

    /// The closed state in which nothing is placed by choice.
    pub fn root(&self, placed: impl FnMut(usize, bool)) -> (Bits<W>, i64) {
        let mut ranks = self.ranks(Bits::EMPTY);
        self.close(Bits::first(self.n()), 0, &mut ranks, placed)
    }

    fn ranks(&self, prefix: Bits<W>) -> Vec<u32> {
        let rank = |c: &Columns<W>| c.best_within(prefix, c.len()).unwrap_or(c.len()) as u32;
        self.problem.columns.iter().map(rank).collect()
    }

    /// The order of all variables when these are placed by choice, one after the other.
    pub fn replay(&self, chosen: &[usize]) -> Vec<usize> {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        let mut note = |v: usize, goes_first: bool| if goes_first { first.push(v) } else { last.push(v) };
        let (mut rest, _) = self.root(&mut note);
        for &v in chosen {
            note(v, true);
            rest = rest.without(v);
            let mut ranks = self.ranks(!rest);
            rest = self.close(rest, 0, &mut ranks, &mut note).0;
        }
        last.reverse();
        first.extend(last);
        first
    }
}
