//! The operators of greedy equivalence search: which of them gain, which are valid, and where they lead.
//!
//! `Insert(x, y, T)` is valid if T and the neighbours of y adjacent to x are a clique that blocks every semi-directed
//! path from y to x, `Delete(x, y, H)` if those neighbours without H are a clique (Chickering 2002, theorems 15 and 17);
//! under constraints also only if a member that obeys results.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::super::bits;
use super::super::graph::Dag;
use super::super::improving::Base;
use super::super::pdag::Pdag;
use super::{Climb, LEAST_GAIN};
use crate::error::Result;
use crate::parents::Parents;
use crate::table::Var;

/// So many sets T or H are looked at for one pair; only graphs far from sparse have more.
const MOST_SETS: usize = 4096;

/// Some neighbours of a variable, ascending.
pub(super) type Clique = SmallVec<[Var; 4]>;

/// An operator on the edge from x to a given y: the clique of y's neighbours that count as its parents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arrow {
    pub gain: f64,
    pub x: Var,
    pub clique: Clique,
}

impl Climb<'_, '_> {
    /// Operators `Insert(x, y, T)` that gain.
    pub(super) fn insertions(&self, y: Var, xs: &[Var]) -> Result<Vec<Arrow>> {
        let adjacent = self.class.adjacent_bits(y);
        let most = self.knowledge.max_parents(y);
        let fixed: Parents = self.class.parents(y).collect();
        let neighbours: Clique = self.class.neighbours(y).collect();
        let mut bases: Vec<Parents> = Vec::new();
        let mut places: FxHashMap<Parents, usize> = FxHashMap::default();
        let mut made: Vec<(Var, Clique)> = Vec::with_capacity(xs.len());
        let mut added: Vec<(usize, Var)> = Vec::with_capacity(xs.len());
        for &x in xs {
            let possible = x != y && !bits::contains(&adjacent, x) && self.knowledge.allows(x, y);
            if !possible || self.effects.as_ref().is_some_and(|effects| !effects.contains(y, x)) {
                continue;
            }
            let (na, others): (Clique, Clique) = neighbours.iter().copied().partition(|&w| self.class.adjacent(w, x));
            if !self.is_clique(&na) {
                continue;
            }
            let Some(room) = most.checked_sub(fixed.len() + na.len() + 1) else { continue };
            for t in self.cliques(&others, &na, room) {
                let mut clique: Clique = na.iter().chain(&t).copied().collect();
                clique.sort_unstable();
                let base = with(&fixed, &clique);
                let place = *places.entry(base).or_insert_with_key(|base| {
                    bases.push(base.clone());
                    bases.len() - 1
                });
                added.push((place, x));
                made.push((x, clique));
            }
        }
        let of_bases = self.scored.scores(y, &bases)?;
        let bases = bases.into_iter().zip(&of_bases).map(|(parents, &score)| Base { parents, score });
        let bases: Vec<Base> = bases.collect();
        let scores = self.scored.improving(y, &bases, &added, true)?;
        let mut arrows = Vec::new();
        for (((x, clique), (base, _)), score) in made.into_iter().zip(added).zip(scores) {
            let gain = score - bases[base].score;
            if gain > LEAST_GAIN {
                arrows.push(Arrow { gain, x, clique });
            }
        }
        Ok(arrows)
    }

    /// Operators `Delete(x, y, H)` that gain; the clique is what stays of the neighbours adjacent to x.
    pub(super) fn deletions(&self, y: Var, xs: &[Var]) -> Result<Vec<Arrow>> {
        let adjacent: Vec<Var> = self.class.parents(y).chain(self.class.neighbours(y)).collect();
        let mut sets: Vec<Parents> = Vec::new();
        let mut made: Vec<(Var, Clique, usize, usize)> = Vec::new();
        for &x in xs {
            if !adjacent.contains(&x) || self.knowledge.requires(x, y) || self.knowledge.requires(y, x) {
                continue;
            }
            let na: Vec<Var> = self.class.neighbours(y).filter(|&w| w != x && self.class.adjacent(w, x)).collect();
            for kept in self.cliques(&na, &[], usize::MAX) {
                let mut base: Parents = self.class.parents(y).filter(|&p| p != x).chain(kept.iter().copied()).collect();
                base.sort_unstable();
                let mut with = base.clone();
                with.insert(with.partition_point(|&p| p < x), x);
                sets.push(with);
                sets.push(base);
                made.push((x, kept, sets.len() - 2, sets.len() - 1));
            }
        }
        let scores = self.scored.scores(y, &sets)?;
        let arrow = |(x, clique, from, to): (Var, _, usize, usize)| {
            let gain = scores[to] - scores[from];
            (gain > LEAST_GAIN).then_some(Arrow { gain, x, clique })
        };
        // Collected where they are made, a handful of arrows would hold on to the room of all pairs.
        let mut arrows = Vec::new();
        arrows.extend(made.into_iter().filter_map(arrow));
        Ok(arrows)
    }

    fn is_clique(&self, vars: &[Var]) -> bool {
        vars.iter().enumerate().all(|(i, &a)| vars[..i].iter().all(|&b| self.class.adjacent(a, b)))
    }

    /// The cliques among `of`, the empty one first, of at most `room` variables, all adjacent to all of `with`.
    fn cliques(&self, of: &[Var], with: &[Var], room: usize) -> SmallVec<[Clique; 2]> {
        if of.is_empty() {
            return smallvec![Clique::new()];
        }
        let fits: Vec<Var> = of.iter().copied().filter(|&a| with.iter().all(|&b| self.class.adjacent(a, b))).collect();
        let mut out: SmallVec<[Clique; 2]> = smallvec![Clique::new()];
        let mut next = 0;
        while next < out.len() && out.len() < MOST_SETS {
            let clique = out[next].clone();
            next += 1;
            if clique.len() >= room {
                continue;
            }
            let after = clique.last().map_or(0, |&last| last + 1);
            for &v in fits.iter().filter(|&&v| v >= after) {
                if clique.iter().all(|&w| self.class.adjacent(v, w)) {
                    let mut grown = clique.clone();
                    grown.push(v);
                    out.push(grown);
                }
            }
        }
        out
    }

    /// The graph after an insertion, and its class where that is known already, if the operator is valid.
    pub(super) fn inserted(&self, y: Var, arrow: &Arrow) -> Option<(Dag, Option<Pdag>)> {
        let Arrow { x, clique, .. } = arrow;
        if reaches_around(&self.class, y, *x, clique) {
            return None;
        }
        let mut dag = self.member(clique, None, y)?;
        if !dag.add_arc(*x, y) {
            return None;
        }
        self.obeying(dag)
    }

    /// The graph after a deletion.
    pub(super) fn deleted(&self, y: Var, arrow: &Arrow) -> Option<(Dag, Option<Pdag>)> {
        let linked = self.class.has_link(arrow.x, y).then_some(arrow.x);
        let mut dag = self.member(&arrow.clique, linked, y)?;
        dag.remove_arc(arrow.x, y);
        self.obeying(dag)
    }

    fn obeying(&self, dag: Dag) -> Option<(Dag, Option<Pdag>)> {
        if self.knowledge.permits(&dag) {
            return Some((dag, None));
        }
        // Another member may obey: one with fewer parents where there may be but so many.
        let class = self.knowledge.class_of(&dag);
        let other = class.extension()?;
        self.knowledge.permits(&other).then_some((other, Some(class)))
    }

    /// A member of the class in which of y's neighbours the clique (and `x`, if linked) are parents, the others children.
    fn member(&self, clique: &[Var], x: Option<Var>, y: Var) -> Option<Dag> {
        if !self.knowledge.says_something() {
            let first: SmallVec<[Var; 8]> = clique.iter().copied().chain(x).chain([y]).collect();
            return Some(self.class.member(&first));
        }
        let mut class = self.class.clone();
        for w in self.class.neighbours(y) {
            if clique.contains(&w) || Some(w) == x {
                class.set_arc(w, y);
            } else {
                class.set_arc(y, w);
            }
        }
        class.close();
        class.extension()
    }
}

/// Whether a path of arcs and links leads from `from` to `to` without any of `around`.
///
/// Looked for from both ends, always where less waits to be looked at: what comes before `to` is often little where what
/// comes after `from` is half of the graph.
fn reaches_around(class: &Pdag, from: Var, to: Var, around: &[Var]) -> bool {
    let n = class.n_vars();
    let around = bits::set_of(n, around.iter().copied());
    let mut reached = [bits::set_of(n, [from]), bits::set_of(n, [to])];
    let mut waiting = [vec![from], vec![to]];
    loop {
        let side = usize::from(waiting[1].len() < waiting[0].len());
        let Some(v) = waiting[side].pop() else { return false };
        let arcs = if side == 0 { class.child_bits(v) } else { class.parent_bits(v) };
        for (i, (&arcs, &links)) in arcs.iter().zip(class.neighbour_bits(v)).enumerate() {
            let mut new = (arcs | links) & !around[i] & !reached[side][i];
            if new & reached[1 - side][i] != 0 {
                return true;
            }
            reached[side][i] |= new;
            while new != 0 {
                waiting[side].push(i * 64 + new.trailing_zeros() as usize);
                new &= new - 1;
            }
        }
    }
}

/// An ascending set with another, of which none is in it.
fn with(set: &[Var], more: &[Var]) -> Parents {
    let mut out = Parents::with_capacity(set.len() + more.len());
    let mut from = 0;
    for &v in more {
        let to = from + set[from..].partition_point(|&p| p < v);
        out.extend_from_slice(&set[from..to]);
        out.push(v);
        from = to;
    }
    out.extend_from_slice(&set[from..]);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By following every path.
    fn follows(class: &Pdag, at: Var, to: Var, seen: &mut Vec<Var>) -> bool {
        at == to
            || class.children(at).chain(class.neighbours(at)).collect::<Vec<_>>().into_iter().any(|next| {
                !seen.contains(&next) && {
                    seen.push(next);
                    follows(class, next, to, seen)
                }
            })
    }

    proptest! {
        #[test]
        fn a_path_is_found_from_both_ends_where_one_leads_there(
            edges in prop::collection::vec((0..9_usize, 0..9_usize, any::<bool>()), 0..16),
            around in prop::collection::vec(2..9_usize, 0..4),
        ) {
            let mut class = Pdag::new(9);
            for (a, b, linked) in edges {
                if a != b && !class.adjacent(a, b) {
                    if linked { class.set_link(a, b) } else { class.set_arc(a, b) }
                }
            }
            let mut seen = around.clone();
            seen.push(0);
            prop_assert_eq!(reaches_around(&class, 0, 1, &around), follows(&class, 0, 1, &mut seen));
        }
    }
}
