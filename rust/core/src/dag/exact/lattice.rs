//! States of the order search and how they are closed, bounded and expanded.
//!
//! A state is the set of variables that still have to be placed ("rest"); what it cost to place the others does not
//! matter to what follows, so states are merged by their rest. A state is closed by moves that lose nothing:
//! * a variable that has, among the placed ones, its best set of all that remain goes next;
//! * a variable that no other can still gain from goes last, and takes its best set.
//!
//! Of the strongly connected components of who can still gain from whom only one that depends on no other is branched
//! on. Both rules follow from costs alone; they need no score equivalence.

use crate::dag::exact::bits::Bits;
use crate::dag::exact::dual::Dual;
use crate::dag::exact::problem::{Columns, NEVER, Problem};

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
    problem: Problem<W>,
    clusters: Vec<Bits<W>>,
    prices: Vec<i64>,
    words: usize,
    max_live: usize,
    /// Per variable, the clusters that have it.
    having: Vec<Vec<u64>>,
    /// Per variable: the columns, by reduced cost under all prices.
    lines: Vec<Vec<Line>>,
    /// Per variable and column (in the problem's order): the clusters it satisfies.
    satisfied: Vec<Vec<u64>>,
}

struct Line {
    column: u32,
    raw: i64,
}

/// A set that a state may still use: its members in rest, its reduced cost there, its column.
#[derive(Clone, Copy)]
struct Live<const W: usize> {
    set: Bits<W>,
    /// Under the root's prices, above the least of its variable.
    base: i64,
    /// Under the state's own prices too.
    reduced: i64,
    column: u32,
}

/// Scratch of one thread.
pub struct Scratch<const W: usize> {
    ranks: Vec<u32>,
    child_ranks: Vec<u32>,
    /// Row v, column w: the best set of v once w is placed too.
    singles: Vec<u32>,
    dead: Vec<u64>,
    fresh: Vec<u64>,
    /// Live sets of all variables of rest, and where each variable's begin and end.
    live: Vec<Live<W>>,
    spans: Vec<(u32, u32)>,
    /// Per variable, the live sets of reduced cost 0.
    zero: Vec<Vec<Bits<W>>>,
    /// Per variable, the line that attains its least reduced cost, and the dead clusters of the state itself.
    support: Vec<u32>,
    base_least: Vec<i64>,
    base_dead: Vec<u64>,
    base_price: i64,
}

impl<const W: usize> Scratch<W> {
    fn of(&self, v: usize) -> &[Live<W>] {
        let (a, b) = self.spans[v];
        &self.live[a as usize..b as usize]
    }
}

impl<const W: usize> Kernel<W> {
    /// Lays out.
    pub fn new(problem: Problem<W>, dual: &Dual<W>, max_live: usize) -> Self {
        let priced: Vec<usize> = (0..dual.clusters.len()).filter(|&i| dual.prices[i] > 0).collect();
        let clusters: Vec<Bits<W>> = priced.iter().map(|&i| dual.clusters[i]).collect();
        let prices: Vec<i64> = priced.iter().map(|&i| dual.prices[i]).collect();
        let words = clusters.len().div_ceil(64);
        let mut having = vec![vec![0; words]; problem.n()];
        for (i, c) in clusters.iter().enumerate() {
            c.iter().for_each(|v| having[v][i / 64] |= 1 << (i % 64));
        }
        let (mut lines, mut satisfied) = (Vec::new(), Vec::new());
        for (v, columns) in problem.columns.iter().enumerate() {
            let mut bits = vec![0; words * columns.len()];
            let mut mine: Vec<Line> = Vec::new();
            for (j, (&set, &cost)) in columns.sets.iter().zip(&columns.costs).enumerate() {
                let mut raw = cost;
                for (i, c) in clusters.iter().enumerate() {
                    if c.has(v) && !c.meets(set) {
                        bits[j * words + i / 64] |= 1 << (i % 64);
                        raw -= prices[i];
                    }
                }
                mine.push(Line { column: j as u32, raw });
            }
            mine.sort_by_key(|l| (l.raw, l.column));
            lines.push(mine);
            satisfied.push(bits);
        }
        Self { problem, clusters, prices, words, max_live, having, lines, satisfied }
    }

    /// Scratch for one thread.
    pub fn scratch(&self) -> Scratch<W> {
        let n = self.problem.n();
        Scratch {
            ranks: vec![0; n],
            child_ranks: vec![0; n],
            singles: vec![0; n * n],
            dead: vec![0; self.words],
            fresh: vec![0; self.words],
            live: Vec::new(),
            spans: vec![(0, 0); n],
            zero: vec![Vec::new(); n],
            support: vec![0; n],
            base_least: vec![0; n],
            base_dead: vec![0; self.words],
            base_price: 0,
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

    /// What completing a state costs at least, under the prices of the clusters that lie in its rest.
    fn bound(&self, rest: Bits<W>, scratch: &mut Scratch<W>) -> i64 {
        let Scratch { ranks, base_dead, base_least, base_price, support, .. } = scratch;
        base_dead.fill(0);
        for u in Bits::first(self.problem.n()).minus(rest).iter() {
            for (d, h) in base_dead.iter_mut().zip(&self.having[u]) {
                *d |= h;
            }
        }
        *base_price = 0;
        for (i, &price) in self.prices.iter().enumerate() {
            if base_dead[i / 64] >> (i % 64) & 1 == 0 {
                *base_price += price;
            }
        }
        let mut total = *base_price;
        for v in rest.iter() {
            (base_least[v], support[v]) = self.least(v, ranks[v], base_dead);
            total += base_least[v];
        }
        total
    }

    /// The same for a state reached by placing more; only what lost a cluster is looked at again.
    fn child_bound(&self, rest: Bits<W>, placed: Bits<W>, sharp: bool, scratch: &mut Scratch<W>) -> i64 {
        let Scratch { child_ranks, dead, fresh, base_dead, base_least, base_price, support, live, spans, .. } = scratch;
        fresh.fill(0);
        for u in placed.iter() {
            for (f, h) in fresh.iter_mut().zip(&self.having[u]) {
                *f |= h;
            }
        }
        let mut total = *base_price;
        for (k, ((f, d), b)) in fresh.iter_mut().zip(dead.iter_mut()).zip(base_dead.iter()).enumerate() {
            *f &= !b;
            *d = *b | *f;
            let mut lost = *f;
            while lost != 0 {
                total -= self.prices[k * 64 + lost.trailing_zeros() as usize];
                lost &= lost - 1;
            }
        }
        for v in rest.iter() {
            let satisfied = &self.satisfied[v];
            let back = |column: u32| -> i64 {
                let at = column as usize * self.words;
                let mut value = 0;
                for (k, (&s, &f)) in satisfied[at..at + self.words].iter().zip(fresh.iter()).enumerate() {
                    let mut lost = s & f;
                    while lost != 0 {
                        value += self.prices[k * 64 + lost.trailing_zeros() as usize];
                        lost &= lost - 1;
                    }
                }
                value
            };
            total += if sharp {
                let (a, b) = spans[v];
                let mut best = NEVER;
                for l in &live[a as usize..b as usize] {
                    if l.base >= best {
                        break;
                    }
                    if l.column <= child_ranks[v] {
                        best = best.min(l.base + back(l.column));
                    }
                }
                base_least[v] + best
            } else if support[v] <= child_ranks[v] && back(support[v]) == 0 {
                // Its other sets only became dearer or dominated.
                base_least[v]
            } else {
                self.least(v, child_ranks[v], dead).0
            };
        }
        total
    }

    /// The least reduced cost of a variable's sets up to a rank, and the column that attains it.
    #[inline]
    fn least(&self, v: usize, rank: u32, dead: &[u64]) -> (i64, u32) {
        let (mut best, mut column) = (NEVER, 0);
        for line in &self.lines[v] {
            if line.raw >= best {
                break;
            }
            if line.column <= rank {
                let value = self.residual(v, line, dead);
                if value < best {
                    (best, column) = (value, line.column);
                }
            }
        }
        (best, column)
    }

    /// The reduced cost of a column under the prices of the clusters that are not dead.
    #[inline]
    fn residual(&self, v: usize, line: &Line, dead: &[u64]) -> i64 {
        let at = line.column as usize * self.words;
        let mut value = line.raw;
        for (k, (&s, &d)) in self.satisfied[v][at..at + self.words].iter().zip(dead).enumerate() {
            let mut back = s & d;
            while back != 0 {
                value += self.prices[k * 64 + back.trailing_zeros() as usize];
                back &= back - 1;
            }
        }
        value
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

    /// Collects the sets that a completion of total cost below `limit + least` may use, by variable and reduced cost;
    /// false if they are too many.
    fn collect(&self, rest: Bits<W>, slack: i64, scratch: &mut Scratch<W>) -> bool {
        let Scratch { ranks, base_dead, base_least, live, spans, .. } = scratch;
        live.clear();
        for v in rest.iter() {
            let start = live.len();
            let limit = base_least[v] + slack;
            let mut alive = 0;
            for (k, (&h, &d)) in self.having[v].iter().zip(base_dead.iter()).enumerate() {
                let mut left = h & !d;
                while left != 0 {
                    alive += self.prices[k * 64 + left.trailing_zeros() as usize];
                    left &= left - 1;
                }
            }
            let columns = &self.problem.columns[v];
            for line in &self.lines[v] {
                if line.raw >= limit {
                    break;
                }
                let column = line.column as usize;
                if line.column > ranks[v] || columns.costs[column] - alive >= limit {
                    continue;
                }
                let residual = self.residual(v, line, base_dead);
                if residual < limit {
                    let reduced = residual - base_least[v];
                    live.push(Live { set: columns.sets[column] & rest, base: reduced, reduced, column: line.column });
                    if live.len() > self.max_live {
                        return false;
                    }
                }
            }
            live[start..].sort_unstable_by_key(|l| (l.base, l.column));
            spans[v] = (start as u32, live.len() as u32);
        }
        true
    }

    /// All variables of rest that sets of reduced cost 0 can place after `prefix`.
    #[inline]
    fn reach(zero: &[Vec<Bits<W>>], rest: Bits<W>, mut prefix: Bits<W>) -> Bits<W> {
        loop {
            let before = prefix;
            for v in rest.minus(prefix).iter() {
                if zero[v].iter().any(|set| set.within(prefix)) {
                    prefix = prefix.with(v);
                }
            }
            if prefix == before {
                return prefix;
            }
        }
    }

    /// Dual ascent on the live sets; returns what it adds to the bound, at most about `enough`.
    fn ascend(rest: Bits<W>, enough: i64, scratch: &mut Scratch<W>) -> i64 {
        let Scratch { live, spans, zero, .. } = scratch;
        for v in rest.iter() {
            let (a, b) = spans[v];
            zero[v].clear();
            zero[v].extend(live[a as usize..b as usize].iter().filter(|l| l.reduced == 0).map(|l| l.set));
        }
        let mut gained = 0;
        while gained < enough {
            let mut prefix = Self::reach(zero, rest, Bits::EMPTY);
            if prefix == rest {
                break;
            }
            for v in rest.minus(prefix).iter() {
                if !prefix.has(v) {
                    let more = Self::reach(zero, rest, prefix.with(v));
                    if more != rest {
                        prefix = more;
                    }
                }
            }
            let cluster = rest.minus(prefix);
            let mut least = NEVER;
            for v in cluster.iter() {
                let (a, b) = spans[v];
                for l in &live[a as usize..b as usize] {
                    if l.reduced < least && !l.set.meets(cluster) {
                        least = l.reduced;
                    }
                }
            }
            gained += least;
            if least == NEVER {
                break;
            }
            for v in cluster.iter() {
                let (a, b) = spans[v];
                for l in &mut live[a as usize..b as usize] {
                    if !l.set.meets(cluster) {
                        l.reduced -= least;
                        if l.reduced == 0 {
                            zero[v].push(l.set);
                        }
                    }
                }
            }
        }
        gained
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
        let inherited = self.bound(rest, scratch);
        let mut bound = state.cost + inherited;
        if bound >= below {
            return bound;
        }
        let sharp = self.collect(rest, below - bound, scratch);
        if sharp {
            bound += Self::ascend(rest, below - bound, scratch);
            if bound >= below {
                return bound;
            }
        }
        let slack = below - bound;
        // Sets above the slack are of no use below this state.
        let mut wanted = vec![Bits::EMPTY; n];
        for v in rest.iter() {
            let rank = scratch.ranks[v];
            if sharp {
                for l in scratch.of(v) {
                    if l.reduced < slack && l.column < rank {
                        wanted[v] |= l.set;
                    }
                }
            } else {
                wanted[v] = self.problem.columns[v].unions[rank as usize] & rest;
            }
        }
        let source = Self::source(rest, |v| wanted[v]);
        let state_bound = bound.max(state.bound);
        for w in source.iter() {
            let rank = scratch.ranks[w];
            let Some(&price) = self.problem.columns[w].costs.get(rank as usize) else { continue };
            let taken = if sharp { scratch.of(w).iter().find(|l| l.column == rank) } else { None };
            if sharp && taken.is_none_or(|l| l.reduced >= slack) {
                continue;
            }
            let at_least = state_bound.max(taken.map_or(bound, |l| bound + l.reduced));
            let cost = state.cost + price;
            for v in rest.iter() {
                scratch.child_ranks[v] = scratch.ranks[v].min(scratch.singles[v * n + w]);
            }
            let (child, cost) = self.close(rest.without(w), cost, &mut scratch.child_ranks, |_, _| ());
            let its = cost + self.child_bound(child, rest.minus(child), sharp, scratch);
            let its = its.max(at_least);
            if its < below {
                out(w, State { rest: child, cost, bound: its });
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

    /// The clusters in use.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }
}
