//! An order with every variable's best set among its predecessors, and the best place to move a variable to.
//!
//! If v moves left over x, only x may gain (a better set that uses v); if it moves right over x, only an x whose set
//! uses v loses, and falls back to its next set without v. Neither depends on what else v passes. So the change at every
//! place is a running sum over the children that can use v, plus v's own best set there, read off one pass over v's
//! sets: the best place costs O(n + sets looked at), where swapping step by step costs a scan at every step.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::pool::{Child, Pool};
use super::shuffle;

/// An order and the best sets within it.
pub struct Order<'a> {
    pool: &'a Pool,
    variables: Vec<u32>,
    place: Vec<u32>,
    rank: Vec<u32>,
    /// Variables whose best place may have changed.
    touched: Vec<bool>,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    /// By place: what the variable there gains (left of v) or loses (right of v).
    change: Vec<f64>,
    /// By variable: its rank once v has passed.
    next_rank: Vec<u32>,
    /// v's sets by falling last place: (last place of a parent plus 1, rank).
    steps: Vec<(u32, u32)>,
}

impl<'a> Order<'a> {
    /// From any order of all variables.
    pub fn new(pool: &'a Pool, order: &[u32]) -> Self {
        let n = order.len();
        let scratch = Scratch { change: vec![0.0; n], next_rank: vec![0; n], steps: vec![] };
        let mut out =
            Self { pool, variables: vec![], place: vec![0; n], rank: vec![0; n], touched: vec![true; n], scratch };
        out.set_order(order);
        out
    }

    /// The sets it chooses from.
    pub fn pool(&self) -> &'a Pool {
        self.pool
    }

    /// The variables in order.
    pub fn order(&self) -> &[u32] {
        &self.variables
    }

    /// The place of a variable.
    pub fn place(&self, v: usize) -> u32 {
        self.place[v]
    }

    /// The rank of each variable's best set.
    pub fn ranks(&self) -> &[u32] {
        &self.rank
    }

    /// The set of a variable.
    pub fn set(&self, v: usize) -> &'a [u32] {
        self.pool.child(v).set(self.rank[v])
    }

    /// Total score less the bests of all variables: zero and less.
    pub fn score(&self) -> f64 {
        self.rank.iter().enumerate().map(|(v, &rank)| self.pool.child(v).loss(rank)).sum()
    }

    /// Another order.
    pub fn set_order(&mut self, order: &[u32]) {
        self.variables.clear();
        self.variables.extend_from_slice(order);
        for (i, &v) in order.iter().enumerate() {
            self.place[v as usize] = i as u32;
        }
        for v in 0..order.len() {
            let rank = first_within(self.pool.child(v), &self.place, 0, self.place[v]);
            self.set_rank(v, rank);
        }
    }

    fn set_rank(&mut self, v: usize, rank: u32) {
        if self.rank[v] != rank {
            for r in [self.rank[v], rank] {
                for &p in self.pool.child(v).set(r) {
                    self.touched[p as usize] = true;
                }
            }
            self.touched[v] = true;
            self.rank[v] = rank;
        }
    }

    /// Every variable will be looked at again.
    pub fn touch_all(&mut self) {
        self.touched.fill(true);
    }

    /// Rewrites part of the order, with the ranks its variables get there; the variables must be those standing there.
    pub fn arrange(&mut self, start: usize, variables: &[u32], ranks: &[u32]) {
        for (i, (&v, &rank)) in variables.iter().zip(ranks).enumerate() {
            self.variables[start + i] = v;
            self.place[v as usize] = (start + i) as u32;
            self.set_rank(v as usize, rank);
        }
    }

    /// Moves touched variables to their best places until none improves.
    pub fn descend(&mut self, rng: &mut Xoshiro256PlusPlus, over: impl Fn() -> bool) {
        let mut queue: Vec<u32> = vec![];
        loop {
            queue.clear();
            queue.extend((0..self.variables.len() as u32).filter(|&v| self.touched[v as usize]));
            if queue.is_empty() {
                return;
            }
            shuffle(&mut queue, rng);
            for (i, &v) in queue.iter().enumerate() {
                if i % 16 == 0 && over() {
                    return;
                }
                self.touched[v as usize] = false;
                self.move_to_best(v as usize);
            }
        }
    }

    /// Moves the variable at a place to another place, whatever it costs.
    pub fn insert(&mut self, from: usize, to: usize) {
        let v = self.variables[from] as usize;
        self.weigh(v);
        self.apply(v, to);
    }

    /// Moves a variable to its best place, if that improves.
    pub fn move_to_best(&mut self, v: usize) -> bool {
        self.weigh(v);
        let child = self.pool.child(v);
        let (here, steps) = (self.place[v] as usize, &self.scratch.steps);
        let now = child.loss(self.rank[v]);
        let at_rank = steps.partition_point(|&(end, _)| end as usize > here);
        // Sums of large terms round by more than the least that is asked for anyway.
        let least = self.pool.least(self.scratch.change.iter().map(|x| x.abs()).sum::<f64>() - now);
        let mut best = (least, here);
        let (mut sum, mut step) = (0.0, at_rank);
        for to in (0..here).rev() {
            sum += self.scratch.change[to];
            while steps[step].0 as usize > to {
                step += 1;
            }
            let gain = sum + child.loss(steps[step].1) - now;
            if gain > best.0 {
                best = (gain, to);
            }
        }
        (sum, step) = (0.0, at_rank);
        for to in here + 1..self.variables.len() {
            sum += self.scratch.change[to];
            while step > 0 && steps[step - 1].0 as usize <= to + 1 {
                step -= 1;
            }
            let gain = sum + child.loss(steps[step].1) - now;
            if gain > best.0 {
                best = (gain, to);
            }
        }
        let moves = best.1 != here;
        if moves {
            self.apply(v, best.1);
        } else {
            self.forget(v);
        }
        moves
    }

    /// Fills the scratch for one variable.
    fn weigh(&mut self, v: usize) {
        let Scratch { change, next_rank, steps } = &mut self.scratch;
        let here = self.place[v];
        for user in self.pool.users(v) {
            let x = user.child as usize;
            let (child, at, rank) = (self.pool.child(x), self.place[x], self.rank[x]);
            next_rank[x] = rank;
            if at < here {
                let fits = |&&r: &&u32| child.set(r).iter().all(|&p| p as usize == v || self.place[p as usize] < at);
                if let Some(&better) = user.ranks.iter().take_while(|&&r| r < rank).find(fits) {
                    next_rank[x] = better;
                    change[at as usize] = child.loss(better) - child.loss(rank);
                }
            } else if child.set(rank).contains(&(v as u32)) {
                let fits = |&r: &u32| child.set(r).iter().all(|&p| p as usize != v && self.place[p as usize] < at);
                let worse = (rank + 1..child.len()).find(fits).expect("the empty set is the last");
                next_rank[x] = worse;
                change[at as usize] = child.loss(worse) - child.loss(rank);
            }
        }
        steps.clear();
        let child = self.pool.child(v);
        for rank in 0..child.len() {
            let end = child.set(rank).iter().map(|&p| self.place[p as usize] + 1).max().unwrap_or(0);
            if steps.last().is_none_or(|&(lowest, _)| end < lowest) {
                steps.push((end, rank));
                if end == 0 {
                    break;
                }
            }
        }
    }

    /// Moves a weighed variable.
    fn apply(&mut self, v: usize, to: usize) {
        let here = self.place[v] as usize;
        let passed = if to < here { to..here } else { here + 1..to + 1 };
        for user in self.pool.users(v) {
            let x = user.child as usize;
            if passed.contains(&(self.place[x] as usize)) {
                self.set_rank(x, self.scratch.next_rank[x]);
            }
        }
        // To the right the places seen are those before the shift, v's own among them.
        let end = if to < here { to } else { to + 1 };
        let steps = &self.scratch.steps;
        let rank = steps[steps.partition_point(|&(last, _)| last as usize > end)].1;
        self.forget(v);
        self.set_rank(v, rank);
        if to < here {
            self.variables[to..=here].rotate_right(1);
        } else {
            self.variables[here..=to].rotate_left(1);
        }
        for i in to.min(here)..=to.max(here) {
            self.place[self.variables[i] as usize] = i as u32;
        }
    }

    fn forget(&mut self, v: usize) {
        for user in self.pool.users(v) {
            self.scratch.change[self.place[user.child as usize] as usize] = 0.0;
        }
    }
}

/// The first rank from `from` on whose parents all stand before `end`.
fn first_within(child: &Child, place: &[u32], from: u32, end: u32) -> u32 {
    (from..child.len())
        .find(|&rank| child.set(rank).iter().all(|&p| place[p as usize] < end))
        .expect("the empty set is the last")
}
