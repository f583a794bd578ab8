//! A quick search for a good order of the variables: the incumbent before the proof starts.
//!
//! Iterated local search: a variable is taken out and put back at its best position, by swaps of neighbours that look
//! up only what a swap can change; when no move helps, a few random moves perturb the best order. Seeded, so the same
//! candidates give the same order.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::exact::bits::Bits;
use crate::exact::problem::{NEVER, Problem};

struct Walk<'a, const W: usize> {
    problem: &'a Problem<W>,
    order: Vec<usize>,
    /// Per variable the set it takes at its place (`len` of its columns if none).
    taken: Vec<usize>,
}

impl<const W: usize> Walk<'_, W> {
    fn cost(&self, v: usize, taken: usize) -> i64 {
        self.problem.columns[v].costs.get(taken).copied().unwrap_or(NEVER)
    }

    fn best(&self, v: usize, prefix: Bits<W>, end: usize) -> usize {
        self.problem.columns[v].best_within(prefix, end).unwrap_or(end)
    }

    fn total(&self) -> i64 {
        (0..self.order.len()).map(|v| self.cost(v, self.taken[v])).sum()
    }

    fn evaluate(&mut self) {
        let mut prefix = Bits::EMPTY;
        for i in 0..self.order.len() {
            let v = self.order[i];
            self.taken[v] = self.best(v, prefix, self.problem.columns[v].len());
            prefix = prefix.with(v);
        }
    }

    /// The set v takes when `lost` leaves its predecessors, which are then `prefix`.
    fn without(&self, v: usize, lost: usize, prefix: Bits<W>) -> usize {
        let columns = &self.problem.columns[v];
        match columns.sets.get(self.taken[v]) {
            Some(set) if set.has(lost) => {
                let from = self.taken[v];
                columns.sets[from..].iter().position(|s| s.within(prefix)).map_or(columns.len(), |i| from + i)
            }
            _ => self.taken[v],
        }
    }

    /// The set v takes when its predecessors grow to `prefix` by `won`.
    fn also(&self, v: usize, won: usize, prefix: Bits<W>) -> usize {
        let end = self.taken[v];
        if self.problem.columns[v].unions[end].has(won) { self.best(v, prefix, end) } else { end }
    }

    /// Swaps places i and i + 1; returns the change of the cost.
    fn swap(&mut self, i: usize, before: Bits<W>) -> i64 {
        let (a, b) = (self.order[i], self.order[i + 1]);
        let old = self.cost(a, self.taken[a]) + self.cost(b, self.taken[b]);
        let new_b = self.without(b, a, before);
        let new_a = self.also(a, b, before.with(b));
        self.taken[a] = new_a;
        self.taken[b] = new_b;
        self.order.swap(i, i + 1);
        self.cost(a, new_a) + self.cost(b, new_b) - old
    }

    /// Moves the variable at place i to the place where the total is least; true if that is better.
    fn reinsert(&mut self, i: usize) -> bool {
        let n = self.order.len();
        let (saved_order, saved_taken) = (self.order.clone(), self.taken.clone());
        let start: Bits<W> = self.order[..i].iter().copied().collect();
        let (mut best, mut best_at) = (0, i);
        let (mut change, mut before) = (0, start);
        for j in i..n - 1 {
            change += self.swap(j, before);
            before = before.with(self.order[j]);
            if change < best {
                (best, best_at) = (change, j + 1);
            }
        }
        self.order.copy_from_slice(&saved_order);
        self.taken.copy_from_slice(&saved_taken);
        let mut before = start;
        let mut change = 0;
        for j in (0..i).rev() {
            before = before.without(self.order[j]);
            change += self.swap(j, before);
            if change < best {
                (best, best_at) = (change, j);
            }
        }
        self.order.copy_from_slice(&saved_order);
        self.taken.copy_from_slice(&saved_taken);
        let mut before = start;
        for j in i..best_at {
            self.swap(j, before);
            before = before.with(self.order[j]);
        }
        for j in (best_at..i).rev() {
            before = before.without(self.order[j]);
            self.swap(j, before);
        }
        best < 0
    }

    fn descend(&mut self, stop: &mut dyn FnMut() -> bool) {
        loop {
            let mut improved = false;
            for v in 0..self.order.len() {
                if stop() {
                    return;
                }
                let i = self.order.iter().position(|&w| w == v).expect("an order has every variable");
                improved |= self.reinsert(i);
            }
            if !improved {
                return;
            }
        }
    }
}

/// What the best sets along an order cost; `NEVER` if a variable has none.
pub fn cost<const W: usize>(problem: &Problem<W>, order: &[usize]) -> i64 {
    let mut walk = Walk { problem, order: order.to_vec(), taken: vec![0; problem.n()] };
    walk.evaluate();
    let each = || (0..order.len()).map(|v| walk.cost(v, walk.taken[v]));
    if each().any(|cost| cost >= NEVER) { NEVER } else { each().sum() }
}

/// A good order and its cost, after a number of perturbations without improvement; None if no order was admissible.
pub fn search<const W: usize>(
    problem: &Problem<W>,
    patience: usize,
    seed: u64,
    start: Option<Vec<usize>>,
    stop: &mut dyn FnMut() -> bool,
) -> Option<(i64, Vec<usize>)> {
    let n = problem.n();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let order = start.unwrap_or_else(|| admissible(problem));
    let mut walk = Walk { problem, order, taken: vec![0; n] };
    walk.evaluate();
    walk.descend(stop);
    let mut best = (walk.total(), walk.order.clone());
    let mut failures = 0;
    while failures < patience && n > 2 && !stop() {
        walk.order.clone_from(&best.1);
        for _ in 0..random.random_range(2..=4 + n / 10) {
            let (from, to) = (random.random_range(0..n), random.random_range(0..n));
            let v = walk.order.remove(from);
            walk.order.insert(to, v);
        }
        walk.evaluate();
        walk.descend(stop);
        let total = walk.total();
        failures += 1;
        if total < best.0 {
            best = (total, walk.order.clone());
            failures = 0;
        } else if total == best.0 {
            best.1.clone_from(&walk.order);
        }
    }
    (best.0 < NEVER).then_some(best)
}

/// An order along which every variable has a set: at each place the variable that gives up least.
fn admissible<const W: usize>(problem: &Problem<W>) -> Vec<usize> {
    greedy(problem, |v, i| problem.columns[v].costs[i])
}

/// The order that takes, at each place, the variable whose best set among those before costs least by some measure.
///
/// # Panics
/// Never: as long as a place is free, a variable is left.
pub fn greedy<const W: usize>(problem: &Problem<W>, price: impl Fn(usize, usize) -> i64) -> Vec<usize> {
    let mut order = Vec::with_capacity(problem.n());
    let mut prefix = Bits::EMPTY;
    while order.len() < problem.n() {
        let cost = |v: usize| {
            let columns = &problem.columns[v];
            let outside = !prefix;
            (0..columns.len()).filter(|&i| !columns.sets[i].meets(outside)).map(|i| price(v, i)).min().unwrap_or(NEVER)
        };
        let left = Bits::first(problem.n()).minus(prefix);
        let next = left.iter().min_by_key(|&v| (cost(v), v)).expect("some variable is left");
        order.push(next);
        prefix = prefix.with(next);
    }
    order
}
