//! The gain of merging any two leaves, kept up to date.
//!
//! Leaves with the same counts and pseudo-counts gain alike, so they form one group (thousands of small leaves are few
//! groups). Each group keeps its best partner among older groups. A new group is compared with all once; when a partner
//! is gone the kept gain stays as an upper bound, and the row is looked through again only if that bound comes to the top.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::amounts::Tallied;
use super::prior::{Alphas, Counts, Marginal, Prior};
use super::state::GrownLeaf;

#[derive(Clone, Debug)]
struct Group<N> {
    counts: Counts<N>,
    alphas: Alphas,
    score: f64,
    members: BTreeSet<usize>,
    /// Gain of merging two members.
    within: f64,
    /// Upper bound of the gain with an older group, exact while that group is alive.
    best: f64,
    partner: usize,
}

type Key<N> = (Vec<(u32, <N as Tallied>::Key)>, Vec<u64>);

fn key<N: Tallied>(leaf: &GrownLeaf<N>) -> Key<N> {
    (leaf.counts.iter().map(|&(code, n)| (code, n.key())).collect(), leaf.alphas.bits())
}

/// All groups of leaves.
#[derive(Clone, Debug)]
pub struct Merges<N: Tallied = u32> {
    groups: Vec<Option<Group<N>>>,
    /// Positions of the groups that have members, ascending.
    alive: Vec<usize>,
    of: FxHashMap<Key<N>, usize>,
}

impl<N: Tallied> Default for Merges<N> {
    fn default() -> Self {
        Self { groups: Vec::new(), alive: Vec::new(), of: FxHashMap::default() }
    }
}

impl<N: Tallied> Merges<N> {
    /// Adds a leaf under its number.
    pub fn insert(&mut self, id: usize, leaf: &GrownLeaf<N>, marginal: &Marginal, prior: &Prior) {
        let key = key(leaf);
        if let Some(&at) = self.of.get(&key) {
            // A second member first: without it there is nothing to merge within.
            if self.group(at).within == f64::NEG_INFINITY {
                self.group_mut(at).within = gain(self.group(at), self.group(at), marginal, prior);
            }
            self.group_mut(at).members.insert(id);
            return;
        }
        let (counts, alphas, score) = (leaf.counts.clone(), leaf.alphas.clone(), leaf.score);
        let members = BTreeSet::from([id]);
        let (within, best) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let group = Group { counts, alphas, score, members, within, best, partner: usize::MAX };
        let at = self.groups.len();
        self.groups.push(Some(group));
        self.of.insert(key, at);
        self.look_through(at, marginal, prior);
        self.alive.push(at);
    }

    /// Takes a leaf away.
    pub fn remove(&mut self, id: usize, leaf: &GrownLeaf<N>) {
        let key = key(leaf);
        let at = self.of[&key];
        let group = self.group_mut(at);
        group.members.remove(&id);
        if group.members.is_empty() {
            self.groups[at] = None;
            self.of.remove(&key);
            self.alive.retain(|&g| g != at);
        }
    }

    /// The highest gain of a merge; minus infinity with fewer than two leaves.
    pub fn top(&mut self, marginal: &Marginal, prior: &Prior) -> f64 {
        loop {
            let bound = |group: &Group<N>| group.best.max(group.own());
            let top = self.alive.iter().map(|&at| bound(self.group(at))).fold(f64::NEG_INFINITY, f64::max);
            let stale = |&&at: &&usize| {
                let group = self.group(at);
                group.best > f64::NEG_INFINITY
                    && group.best >= top - marginal.least()
                    && self.groups[group.partner].is_none()
            };
            let stale: Vec<usize> = self.alive.iter().filter(stale).copied().collect();
            if stale.is_empty() {
                return top;
            }
            for at in stale {
                self.look_through(at, marginal, prior);
            }
        }
    }

    /// The pair of leaves of the highest gain `top`: of those tied, the one with the oldest, then the second oldest.
    pub fn pair(&self, top: f64, marginal: &Marginal, prior: &Prior) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        let mut offer = |a: usize, b: usize| {
            let pair = (a.min(b), a.max(b));
            best = Some(best.map_or(pair, |known| known.min(pair)));
        };
        for (i, &at) in self.alive.iter().enumerate() {
            let group = self.group(at);
            if group.own() >= top - marginal.least() {
                let mut members = group.members.iter();
                if let (Some(&a), Some(&b)) = (members.next(), members.next()) {
                    offer(a, b);
                }
            }
            if group.best >= top - marginal.least() {
                for &other in &self.alive[..i] {
                    let other = self.group(other);
                    if gain(group, other, marginal, prior) >= top - marginal.least()
                        && let (Some(&a), Some(&b)) = (group.members.first(), other.members.first())
                    {
                        offer(a, b);
                    }
                }
            }
        }
        best
    }

    fn group(&self, at: usize) -> &Group<N> {
        self.groups[at].as_ref().expect("positions in use have groups")
    }

    fn group_mut(&mut self, at: usize) -> &mut Group<N> {
        self.groups[at].as_mut().expect("positions in use have groups")
    }

    /// Finds the best older partner of a group.
    fn look_through(&mut self, at: usize, marginal: &Marginal, prior: &Prior) {
        let group = self.group(at);
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        for &other in self.alive.iter().take_while(|&&other| other < at) {
            let gain = gain(group, self.group(other), marginal, prior);
            if gain > best.0 {
                best = (gain, other);
            }
        }
        let group = self.group_mut(at);
        (group.best, group.partner) = best;
    }
}

impl<N> Group<N> {
    /// Gain of merging two members, if there are two.
    fn own(&self) -> f64 {
        if self.members.len() > 1 { self.within } else { f64::NEG_INFINITY }
    }
}

fn gain<N: Tallied>(a: &Group<N>, b: &Group<N>, marginal: &Marginal, prior: &Prior) -> f64 {
    marginal.score_of_both(&a.counts, &b.counts, &prior.merged(&a.alphas, &b.alphas)) - a.score - b.score
}
