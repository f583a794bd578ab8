//! The root bound: dual ascent for a first pool of clusters, then rounds of linear program, pricing and separation.
//!
//! The program holds the columns that were ever close to being chosen; the prices it returns are tried on all columns,
//! and columns that undercut those of the program join it. Between the best prices known and the program's latest ones
//! lies often a better point than either ("in-out"), so the segment is searched.

use rustc_hash::FxHashMap;

use crate::exact::bits::Bits;
use crate::exact::cut::Cut;
use crate::exact::dual::Dual;
use crate::exact::engine::Limits;
use crate::exact::interior::{self, Column};
use crate::exact::problem::Problem;
use crate::exact::{local, separate};

/// The linear program as it grows.
#[derive(Clone, Debug)]
pub struct Relaxation<const W: usize> {
    /// Cuts of the program.
    pub pool: Vec<Cut<W>>,
    /// Per variable and candidate rank, whether the column is in the program.
    active: Vec<Vec<bool>>,
    /// By v and p, how much of the last program's choice for v has p.
    uses: Vec<f64>,
}

/// How a round of the linear program went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Columns that joined.
    pub priced: usize,
    /// New cuts found.
    pub found: usize,
    /// Bound of the program over its columns: what the prices may reach when no column is missing.
    pub program: i64,
}

impl<const W: usize> Relaxation<W> {
    /// Starts from the dearest of clusters seen in dual ascents, the columns of least reduced cost in the best of them.
    pub fn new(
        problem: &Problem<W>,
        dual: &Dual<W>,
        seen: &FxHashMap<Bits<W>, i64>,
        max_columns: usize,
        max_clusters: usize,
    ) -> Self {
        let mut by_price: Vec<(i64, Bits<W>)> = seen.iter().map(|(cluster, price)| (-price, *cluster)).collect();
        by_price.sort_unstable();
        let pool = by_price.into_iter().take(max_clusters).map(|(_, cluster)| Cut::cluster(cluster)).collect();
        let mut costs: Vec<i64> = dual.reduced.iter().flatten().copied().collect();
        let cut = if costs.len() > max_columns { *costs.select_nth_unstable(max_columns).1 } else { i64::MAX };
        let active = problem.columns.iter().zip(&dual.reduced).map(|(columns, reduced)| {
            let mut active = vec![false; columns.ranks.iter().max().map_or(0, |r| *r as usize + 1)];
            for (&rank, &r) in columns.ranks.iter().zip(reduced) {
                active[rank as usize] = r <= cut;
            }
            active
        });
        Self { pool, active: active.collect(), uses: Vec::new() }
    }

    /// How many bytes it takes between rounds.
    pub fn bytes(&self) -> usize {
        self.pool.iter().map(Cut::bytes).sum::<usize>()
            + self.active.iter().map(Vec::capacity).sum::<usize>()
            + self.uses.capacity() * size_of::<f64>()
    }

    /// About how many bytes a round takes beside: the program's columns and its matrix of rows times rows, and prices
    /// tried on all sets.
    pub fn round_bytes(problem: &Problem<W>, cuts: usize, limits: &Limits) -> usize {
        let columns = problem.n_columns().min(4 * limits.columns);
        let rows = problem.n() + cuts + limits.new;
        // A column is paid for by a part of the cuts; there are some vectors of the columns' length.
        let program = columns * (size_of::<Column>() + 16 * (cuts / 4).min(64) + 20 * size_of::<f64>());
        program + 2 * rows * rows * size_of::<f64>() + 4 * problem.n_columns() * size_of::<i64>()
    }

    /// One round: solves the program, takes the prices if the bound is better, adds the columns that undercut it and,
    /// if there are few of them, the clusters that the solution violates.
    pub fn round(
        &mut self,
        problem: &Problem<W>,
        dual: &mut Dual<W>,
        limits: &Limits,
        stop: &dyn Fn() -> bool,
    ) -> Round {
        let mut columns = Vec::new();
        let mut origin = Vec::new();
        for (v, c) in problem.columns.iter().enumerate() {
            let mine: Vec<(u32, &Cut<W>)> = (0..).zip(&self.pool).filter(|(_, c)| c.members().has(v)).collect();
            for i in 0..c.len() {
                if self.active[v][c.ranks[i] as usize] {
                    let worth = mine.iter().map(|(r, cut)| (*r, cut.worth(v, c.sets[i]) as f64));
                    let rows = worth.filter(|(_, worth)| *worth > 0.0).collect();
                    columns.push(Column { group: v as u32, cost: c.costs[i] as f64, rows });
                    origin.push((v, i));
                }
            }
        }
        let unit = columns.iter().map(|c| c.cost).fold(1.0, f64::max) / 1000.0;
        for c in &mut columns {
            c.cost /= unit;
        }
        let price_of: FxHashMap<&Cut<W>, i64> = dual.cuts.iter().zip(dual.prices.iter().copied()).collect();
        let start: Vec<f64> = self.pool.iter().map(|c| price_of.get(c).copied().unwrap_or(0) as f64 / unit).collect();
        let needs: Vec<f64> = self.pool.iter().map(|c| c.need() as f64).collect();
        let optimum = interior::solve(&columns, problem.n(), &needs, &start, limits.tolerance, stop);
        let mut out = Round { program: (optimum.dual * unit).clamp(-1e18, 1e18) as i64, ..Round::default() };
        if !optimum.dual.is_finite() {
            return out;
        }
        // Without a better DAG the program may be infeasible and its prices grow without end.
        let needed: i64 = self.pool.iter().map(Cut::need).sum();
        let dearest = (1 << 60) / ((needed + 1) * (problem.n() as i64 + 1));
        let prices: Vec<i64> = optimum.prices.iter().map(|p| ((p * unit) as i64).min(dearest)).collect();
        let next = Dual::new(problem, self.pool.clone(), prices);
        out.priced = self.price(problem, &next);
        // The best prices may have clusters that the program lacks, and be above it.
        let behind = next.bound < out.program - (out.program - dual.bound).abs() / 4;
        if out.priced > 0 {
            let mut middle = dual.mix(&next, problem);
            self.price(problem, &middle);
            std::mem::swap(dual, &mut middle);
            if middle.bound > dual.bound {
                std::mem::swap(dual, &mut middle);
            }
        }
        if next.bound > dual.bound {
            *dual = next;
        }
        if behind {
            return out;
        }
        let mut support: separate::Support<W> = vec![Vec::new(); problem.n()];
        for (&(v, i), &x) in origin.iter().zip(&optimum.x) {
            if x > 1e-4 {
                support[v].push((problem.columns[v].sets[i], x));
            }
        }
        self.uses = uses(&support);
        let mut new = separate::violated(&support, limits.new, &self.pool);
        if new.len() < limits.scarce {
            new.extend(local::violated(&support, limits.block, limits.new - new.len(), &self.pool, stop));
        }
        out.found = new.len();
        // Clusters without a price in a tight program are not needed; new ones get their chance.
        let worth = optimum.prices.iter().copied().fold(0.0, f64::max) * 1e-5;
        let mut at = 0;
        self.pool.retain(|_| {
            at += 1;
            optimum.prices[at - 1] > worth
        });
        self.pool.extend(new);
        out
    }

    /// The two variables that the last program would most have as parents of each other, among those of which each can
    /// still be the other's.
    pub fn contested(&self, problem: &Problem<W>) -> Option<(usize, usize)> {
        let n = problem.n();
        if self.uses.is_empty() {
            return None;
        }
        let parents: Vec<Bits<W>> = problem.columns.iter().map(|c| c.unions[c.len()]).collect();
        let pairs = (0..n).flat_map(|v| parents[v].iter().take_while(move |&p| p < v).map(move |p| (v, p)));
        let worth = |&(v, p): &(usize, usize)| {
            let (one, other) = (self.uses[v * n + p], self.uses[p * n + v]);
            (one.min(other), one.max(other))
        };
        let order = |a: &(usize, usize), b: &(usize, usize)| {
            let (x, y) = (worth(a), worth(b));
            x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)).then(b.cmp(a))
        };
        pairs.filter(|&(v, p)| parents[p].has(v)).max_by(order)
    }

    /// Adds the columns that undercut, under given prices, every column of their variable in the program.
    fn price(&mut self, problem: &Problem<W>, dual: &Dual<W>) -> usize {
        let mut added = 0;
        for (v, columns) in problem.columns.iter().enumerate() {
            let (active, reduced) = (&mut self.active[v], &dual.reduced[v]);
            let inside = (0..columns.len()).filter(|&i| active[columns.ranks[i] as usize]).map(|i| reduced[i]).min();
            let inside = inside.unwrap_or(i64::MAX);
            let mut outside: Vec<usize> =
                (0..columns.len()).filter(|&i| !active[columns.ranks[i] as usize] && reduced[i] < inside).collect();
            outside.sort_by_key(|&i| (reduced[i], i));
            for i in outside.into_iter().take(60) {
                active[columns.ranks[i] as usize] = true;
                added += 1;
            }
        }
        added
    }
}

fn uses<const W: usize>(support: &separate::Support<W>) -> Vec<f64> {
    let n = support.len();
    let mut uses = vec![0.0; n * n];
    for (v, sets) in support.iter().enumerate() {
        for (set, x) in sets {
            for p in set.iter() {
                uses[v * n + p] += x;
            }
        }
    }
    uses
}

impl<const W: usize> Dual<W> {
    /// The better of two points between this solution and another.
    fn mix(&self, other: &Self, problem: &Problem<W>) -> Self {
        let mut cuts = self.cuts.clone();
        let mut here = self.prices.clone();
        let mut there = vec![0; cuts.len()];
        let mut index: FxHashMap<Cut<W>, usize> = cuts.iter().cloned().zip(0..).collect();
        for (c, p) in other.cuts.iter().zip(&other.prices) {
            let i = *index.entry(c.clone()).or_insert_with(|| {
                cuts.push(c.clone());
                here.push(0);
                there.push(0);
                cuts.len() - 1
            });
            there[i] = *p;
        }
        let at = |share: f64| {
            let prices = here.iter().zip(&there).map(|(a, b)| a + ((b - a) as f64 * share) as i64);
            Self::new(problem, cuts.clone(), prices.collect())
        };
        let (near, far) = (at(0.3), at(0.7));
        if near.bound > far.bound { near } else { far }
    }
}
