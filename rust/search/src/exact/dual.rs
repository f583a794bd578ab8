//! The cluster bound: prices of clusters under which even a cyclic choice of sets cannot be cheap.
//!
//! In a DAG some member of every set C of variables takes a parent set outside C (Jaakkola et al. 2010). With a price
//! p(C) >= 0 for doing so, `sum of prices + sum over v of min over S of (cost(v, S) - prices of the clusters of v that
//! S avoids)` bounds every DAG's cost from below, whatever the prices: integers, so the bound is exact.
//!
//! The same holds for other cuts (`cut.rs`), with what a set is worth and what is needed in the place of 1.
//!
//! `ascend` raises prices one cluster at a time: variables are placed as long as one has a set of reduced cost 0 among
//! those placed; what remains is a violated cluster, made minimal by placing further variables free of charge, and
//! priced by the least reduced cost that could satisfy it.

use crate::control::Budget;
use crate::exact::bits::Bits;
use crate::exact::cut::Cut;
use crate::exact::problem::Problem;

/// Priced cuts, the reduced costs under them, and the bound.
#[derive(Clone, Debug)]
pub struct Dual<const W: usize> {
    /// The cuts.
    pub cuts: Vec<Cut<W>>,
    /// Their prices, none negative.
    pub prices: Vec<i64>,
    /// Per variable and set, the reduced cost; the least of each variable is 0.
    pub reduced: Vec<Vec<i64>>,
    /// No DAG costs less.
    pub bound: i64,
}

impl<const W: usize> Dual<W> {
    /// The bound and reduced costs under given prices.
    pub fn new(problem: &Problem<W>, cuts: Vec<Cut<W>>, prices: Vec<i64>) -> Self {
        let mut bound: i64 = cuts.iter().zip(&prices).map(|(c, p)| c.need() * p).sum();
        let mut reduced = Vec::with_capacity(problem.n());
        for (v, columns) in problem.columns.iter().enumerate() {
            let mine: Vec<(&Cut<W>, i64)> =
                cuts.iter().zip(&prices).filter(|(c, p)| c.members().has(v) && **p > 0).map(|(c, p)| (c, *p)).collect();
            let of =
                |(&set, &cost): (&Bits<W>, &i64)| cost - mine.iter().map(|(c, p)| c.worth(v, set) * p).sum::<i64>();
            let mut row: Vec<i64> = columns.sets.iter().zip(&columns.costs).map(of).collect();
            let least = row.iter().copied().min().unwrap_or(0);
            for r in &mut row {
                *r -= least;
            }
            bound += least;
            reduced.push(row);
        }
        Self { cuts, prices, reduced, bound }
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.reduced.iter().map(|row| row.capacity() * size_of::<i64>()).sum::<usize>()
            + self.cuts.iter().map(|cut| cut.bytes() + size_of::<i64>()).sum::<usize>()
    }

    /// The same prices and bound without the reduced costs, which follow from them.
    #[must_use]
    pub fn without_reduced(&self) -> Self {
        Self { cuts: self.cuts.clone(), prices: self.prices.clone(), reduced: Vec::new(), bound: self.bound }
    }

    /// All variables that can be placed, one after the other, each by a set of reduced cost 0 among those before.
    fn close(zero: &[Vec<Bits<W>>], mut prefix: Bits<W>, all: Bits<W>) -> Bits<W> {
        loop {
            let before = prefix;
            for v in all.minus(prefix).iter() {
                let outside = !prefix;
                if zero[v].iter().any(|s| !s.meets(outside)) {
                    prefix = prefix.with(v);
                }
            }
            if before == prefix {
                return prefix;
            }
        }
    }

    /// A minimal violated cluster: variables are tried for leaving it in the given order. None if there is none, or the
    /// budget is used up.
    fn violated(zero: &[Vec<Bits<W>>], all: Bits<W>, order: &[usize], budget: Budget) -> Option<Bits<W>> {
        let mut prefix = Self::close(zero, Bits::EMPTY, all);
        if prefix == all {
            return None;
        }
        for &v in order {
            if budget.over().is_some() {
                return None;
            }
            if !prefix.has(v) {
                let more = Self::close(zero, prefix.with(v), all);
                if more != all {
                    prefix = more;
                }
            }
        }
        Some(all.minus(prefix))
    }

    /// Raises prices until the sets of reduced cost 0 contain a DAG, or the bound reaches `enough`, or the budget is
    /// used up: the prices hold whenever it stops.
    pub fn ascend(
        &mut self,
        problem: &Problem<W>,
        enough: i64,
        budget: Budget,
        order: &mut dyn FnMut(&[usize]) -> Vec<usize>,
    ) {
        let all = Bits::first(problem.n());
        let zeros = |sets: &[Bits<W>], reduced: &[i64]| -> Vec<Bits<W>> {
            sets.iter().zip(reduced).filter(|(_, r)| **r == 0).map(|(s, _)| *s).collect()
        };
        let mut zero: Vec<Vec<Bits<W>>> =
            (0..problem.n()).map(|v| zeros(&problem.columns[v].sets, &self.reduced[v])).collect();
        let plain: Vec<usize> = (0..problem.n()).collect();
        while self.bound < enough {
            let Some(cluster) = Self::violated(&zero, all, &order(&plain), budget) else { return };
            let mut least = i64::MAX;
            for v in cluster.iter() {
                for (set, &r) in problem.columns[v].sets.iter().zip(&self.reduced[v]) {
                    if r < least && !set.meets(cluster) {
                        least = r;
                    }
                }
            }
            if least == i64::MAX {
                // Nothing satisfies the cluster: no DAG costs less than anything.
                self.bound = i64::MAX / 2;
                return;
            }
            self.bound += least;
            for v in cluster.iter() {
                for (set, r) in problem.columns[v].sets.iter().zip(&mut self.reduced[v]) {
                    if !set.meets(cluster) {
                        *r -= least;
                        if *r == 0 {
                            zero[v].push(*set);
                        }
                    }
                }
            }
            let cluster = Cut::cluster(cluster);
            if let Some(i) = self.cuts.iter().position(|c| *c == cluster) {
                self.prices[i] += least;
            } else {
                self.cuts.push(cluster);
                self.prices.push(least);
            }
        }
    }

    /// Drops every set that no DAG cheaper than `below` can use. Returns how many went.
    pub fn fix(&mut self, problem: &mut Problem<W>, below: i64) -> usize {
        let slack = below - self.bound;
        let mut dropped = 0;
        for (columns, reduced) in problem.columns.iter_mut().zip(&mut self.reduced) {
            let row = std::mem::take(reduced);
            dropped += columns.retain(|i| row[i] < slack);
            *reduced = row.into_iter().filter(|&r| r < slack).collect();
        }
        dropped
    }
}
