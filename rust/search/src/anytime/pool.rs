//! Candidates as the order search reads them: by child, best first, and by the parent they use.

use super::super::families::{Families, Stored};
use crate::table::Var;

/// One child's sets, best first.
#[derive(Debug)]
pub struct Child {
    offsets: Vec<u32>,
    members: Vec<u32>,
    /// Relative to the best: zero and less.
    losses: Vec<f64>,
    scores: Vec<f64>,
}

impl Child {
    /// The set at a rank.
    pub fn set(&self, rank: u32) -> &[u32] {
        &self.members[self.offsets[rank as usize] as usize..self.offsets[rank as usize + 1] as usize]
    }

    /// The score at a rank less the child's best.
    pub fn loss(&self, rank: u32) -> f64 {
        self.losses[rank as usize]
    }

    /// Number of sets.
    pub fn len(&self) -> u32 {
        self.losses.len() as u32
    }
}

/// A child that can use some parent, with the ranks of its sets that do, ascending.
#[derive(Debug)]
pub struct User {
    pub child: u32,
    pub ranks: Vec<u32>,
}

/// The sets of all children.
#[derive(Debug)]
pub struct Pool {
    children: Vec<Child>,
    users: Vec<Vec<User>>,
    /// What counts as an improvement among scores that differ by one and more.
    least: f64,
}

/// The least improvement for scores that differ by one and more, for others a share of what they differ by.
const LEAST: f64 = 1e-9;
/// What sums of losses may round by, as a share of them.
const ROUNDING: f64 = 1e-14;

impl Pool {
    /// Of the stored sets. A child without the empty set gets one that costs more than all else together: an order in
    /// which it has no predecessors is then merely bad, and no graph with a true choice for everybody ever loses to it.
    pub fn new(stored: &Stored<'_>) -> Self {
        let n = stored.n_vars();
        let range = |v: Var| {
            let mut scores = stored.sets(v).map(|(_, score)| score);
            let best = scores.next().unwrap_or(0.0);
            best - scores.last().unwrap_or(best)
        };
        let penalty = 2.0 * (1.0 + (0..n).map(range).sum::<f64>());
        let mut users: Vec<Vec<User>> = (0..n).map(|_| vec![]).collect();
        let mut by_parent: Vec<Vec<u32>> = vec![vec![]; n];
        let mut children = Vec::with_capacity(n);
        for v in 0..n {
            let mut child = Child { offsets: vec![0], members: vec![], losses: vec![], scores: vec![] };
            let mut best = 0.0;
            for (set, score) in stored.sets(v) {
                if child.losses.is_empty() {
                    best = score;
                }
                for &p in set {
                    by_parent[p as usize].push(child.len());
                }
                child.push(set, score, score - best);
                if set.is_empty() {
                    break; // whatever scores less than the empty set is never chosen
                }
            }
            if !child.set(child.len() - 1).is_empty() {
                child.push(&[], best - penalty, -penalty);
            }
            for (p, ranks) in by_parent.iter_mut().enumerate().filter(|(_, ranks)| !ranks.is_empty()) {
                users[p].push(User { child: v as u32, ranks: std::mem::take(ranks) });
            }
            children.push(child);
        }
        let widest = (0..n).map(range).fold(0.0, f64::max);
        Self { children, users, least: LEAST * widest.min(1.0) }
    }

    /// What counts as an improvement rather than rounding, where losses of this size in all are added up.
    pub fn least(&self, size: f64) -> f64 {
        self.least.max(ROUNDING * size.abs())
    }

    /// Number of variables.
    pub fn n_vars(&self) -> usize {
        self.children.len()
    }

    /// One child's sets.
    pub fn child(&self, v: Var) -> &Child {
        &self.children[v]
    }

    /// The children that can use a parent.
    pub fn users(&self, parent: Var) -> &[User] {
        &self.users[parent]
    }

    /// The score of a child's set.
    pub fn score(&self, v: Var, rank: u32) -> f64 {
        self.children[v].scores[rank as usize]
    }

    /// Whether every child has a set as good as its best.
    pub fn all_best(&self, ranks: &[u32]) -> bool {
        ranks.iter().zip(&self.children).all(|(&rank, child)| child.scores[rank as usize] >= child.scores[0])
    }

    /// The total score of one set per child.
    pub fn total(&self, ranks: &[u32]) -> f64 {
        ranks.iter().enumerate().map(|(v, &rank)| self.score(v, rank)).sum()
    }
}

impl Child {
    fn push(&mut self, set: &[u32], score: f64, loss: f64) {
        self.members.extend_from_slice(set);
        self.offsets.push(self.members.len() as u32);
        self.losses.push(loss);
        self.scores.push(score);
    }
}
