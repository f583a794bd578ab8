//! Greedy equivalence search (Chickering 2002, "Optimal structure identification with greedy search"), in the manner of
//! fGES (Ramsey et al. 2017): operators ("arrows") are kept sorted, and after each step only those of touched variables
//! are made anew.
//!
//! A state is an equivalence class. Forward, `Insert(x, y, T)` adds `x -> y` and directs the links t - y of T as
//! `t -> y`; backward, `Delete(x, y, H)` takes an edge away. Each is applied to a DAG of the class in which the
//! neighbours that count as y's parents come first in its chain component (a maximum cardinality search), so the score
//! of the new class is the old one plus the operator's gain, and the new class is read off the new DAG.
//!
//! Under constraints a class is the set of its members that obey: links are directed by what is known and by Meek's
//! four rules, and an operator is valid only if a member that obeys results. Every step adds (backward: removes) an
//! adjacency, so the search ends whatever is required.

mod operators;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use self::operators::Arrow;
use super::bits::BitMatrix;
use super::families::{Families, Scored};
use super::graph::Dag;
use super::knowledge::Knowledge;
use super::pdag::Pdag;
use super::registry::{Found, Search, Task};
use crate::control::{Budget, Stop};
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// A step that gains no more is rounding.
pub(super) const LEAST_GAIN: f64 = 1e-6;

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fges {
    /// Only pairs are joined of which one gains by the other alone: faster, and blind to parents that only pay together.
    pub faithfulness: bool,
}

/// Where a search over equivalence classes ended.
#[derive(Clone, Debug)]
pub struct Classed {
    /// A member of the class that obeys.
    pub dag: Dag,
    /// Its class, narrowed by what is known.
    pub class: Pdag,
    /// The members' families' scores.
    pub scores: Vec<f64>,
    /// Steps made.
    pub n_moves: u64,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

impl Classed {
    /// As every search tells it, with what it took.
    pub(super) fn told(self, scored: &Scored<'_>) -> Found {
        let counts = [("moves", self.n_moves), ("scored", scored.n_scored()), ("refused", scored.n_refused())];
        Found { class: Some(self.class), ..Found::new(&self.dag, self.scores, self.stop).counted(counts) }
    }
}

impl Search for Fges {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        let scored = task.scored()?;
        Ok(self.run(&scored, task.start, task.budget)?.told(&scored))
    }
}

impl Fges {
    /// Searches from a graph, or from the required arcs alone, forward and backward, until neither finds more.
    ///
    /// # Errors
    /// If the start does not obey or cannot be scored, or the score fails.
    pub fn run(&self, scored: &Scored<'_>, start: Option<&Dag>, budget: Budget<'_>) -> Result<Classed> {
        let knowledge = Knowledge::new(scored.constraints());
        let start = checked(start, scored, &knowledge)?;
        let mut climb = Climb::new(scored, &knowledge, budget, start);
        let stop = ended(self.climb(&mut climb), budget)?;
        climb.finish(stop)
    }

    fn climb(self, climb: &mut Climb<'_, '_>) -> Result<()> {
        let mut best = f64::NEG_INFINITY;
        loop {
            let before = (climb.dag.clone(), climb.class.clone());
            climb.forward(self.faithfulness)?;
            let deleted = climb.backward()?;
            let total: f64 = climb.scored.of_graph(&climb.dag)?.iter().sum();
            if total < best {
                // Without score equivalence a round may lose.
                (climb.dag, climb.class) = before;
            }
            if deleted == 0 || total <= best + LEAST_GAIN {
                return Ok(());
            }
            best = total;
        }
    }
}

/// The graph to start from, given or of the required arcs alone, if it obeys and can be scored.
pub(super) fn checked(start: Option<&Dag>, scored: &Scored<'_>, knowledge: &Knowledge<'_>) -> Result<Dag> {
    let start = start.map_or_else(|| knowledge.required_arcs(), Dag::clone);
    if !knowledge.permits(&start) {
        return Err(Error::Shape("the starting graph breaks the constraints".to_owned()));
    }
    for v in 0..start.n_vars() {
        scored.family(v, &start.family(v))?;
    }
    Ok(start)
}

/// An interruption is an end, not an error.
pub(super) fn ended(outcome: Result<()>, budget: Budget<'_>) -> Result<Option<Stop>> {
    match outcome {
        Err(Error::Interrupted) => Ok(Some(budget.over().unwrap_or(Stop::Interrupted))),
        other => other.map(|()| None),
    }
}

/// The head of one variable's arrows; the greatest gain first, then the smallest y.
struct Head {
    gain: f64,
    y: Var,
    at: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.y.cmp(&self.y))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

/// A class on its way up.
pub(super) struct Climb<'a, 'b> {
    scored: &'a Scored<'b>,
    knowledge: &'a Knowledge<'a>,
    budget: Budget<'a>,
    pub(super) dag: Dag,
    pub(super) class: Pdag,
    /// Per variable y, the operators on edges into y that gain, best first.
    arrows: Vec<Vec<Arrow>>,
    /// The variables whose insertions are not known, or not as they are after the deletions since.
    stale: Vec<bool>,
    /// With faithfulness: the pairs with an effect.
    effects: Option<BitMatrix>,
    pub(super) n_moves: u64,
}

/// The operators of y that have to be made anew: all, or those from some x.
enum Touched {
    All(Var),
    From(Var, Vec<Var>),
}

impl Touched {
    fn y(&self) -> Var {
        match self {
            Self::All(y) | Self::From(y, _) => *y,
        }
    }
}

impl<'a, 'b> Climb<'a, 'b> {
    pub(super) fn new(scored: &'a Scored<'b>, knowledge: &'a Knowledge<'a>, budget: Budget<'a>, start: Dag) -> Self {
        let class = knowledge.class_of(&start);
        let (arrows, stale) = (vec![vec![]; start.n_vars()], vec![true; start.n_vars()]);
        Self { scored, knowledge, budget, dag: start, class, arrows, stale, effects: None, n_moves: 0 }
    }

    /// What was found.
    pub(super) fn finish(self, stop: Option<Stop>) -> Result<Classed> {
        let scores = self.scored.of_graph(&self.dag)?;
        Ok(Classed { dag: self.dag, class: self.class, scores, n_moves: self.n_moves, stop })
    }

    fn n(&self) -> usize {
        self.dag.n_vars()
    }

    fn forward(&mut self, faithfulness: bool) -> Result<()> {
        if faithfulness && self.effects.is_none() {
            self.effects = Some(self.pairs_with_effect()?);
        }
        let stale: Vec<Touched> = (0..self.n()).filter(|&y| self.stale[y]).map(Touched::All).collect();
        self.renew(&stale, Self::insertions)?;
        self.stale.fill(false);
        while let Some((y, arrow, dag, class)) = self.best(Self::inserted) {
            let touched = self.step(dag, class, arrow.x, y, true);
            self.renew(&touched, Self::insertions)?;
        }
        Ok(())
    }

    /// Deletes as long as that gains; the number of edges deleted.
    pub(super) fn backward(&mut self) -> Result<u64> {
        let before = self.n_moves;
        let all: Vec<Touched> = (0..self.n()).map(Touched::All).collect();
        // Where nothing is deleted nearby, insertions stay what they are.
        let none = vec![vec![]; self.n()];
        let insertions = std::mem::replace(&mut self.arrows, none);
        self.renew(&all, Self::deletions)?;
        while let Some((y, arrow, dag, class)) = self.best(Self::deleted) {
            let touched = self.step(dag, class, arrow.x, y, false);
            for touched in &touched {
                self.stale[touched.y()] = true;
            }
            self.renew(&touched, Self::deletions)?;
        }
        self.arrows = insertions;
        Ok(self.n_moves - before)
    }

    /// Row y: the x that gain alone, either way.
    fn pairs_with_effect(&self) -> Result<BitMatrix> {
        let n = self.n();
        let of = |y: Var| -> Result<Vec<Var>> {
            let xs: Vec<Var> = (0..n).filter(|&x| x != y && self.knowledge.allows(x, y)).collect();
            let sets = std::iter::once(Parents::new()).chain(xs.iter().map(|&x| Parents::from_slice(&[x])));
            let scores = self.scored.scores(y, &sets.collect::<Vec<_>>())?;
            Ok(xs.into_iter().zip(&scores[1..]).filter(|&(_, s)| s - scores[0] > LEAST_GAIN).map(|(x, _)| x).collect())
        };
        let rows: Vec<Vec<Var>> = (0..n).into_par_iter().try_map(of)?;
        let mut out = BitMatrix::new(n);
        for (y, row) in rows.iter().enumerate() {
            for &x in row {
                out.insert(y, x);
                out.insert(x, y);
            }
        }
        Ok(out)
    }

    /// Makes operators anew, those of different variables in parallel.
    fn renew(&mut self, touched: &[Touched], make: fn(&Self, Var, &[Var]) -> Result<Vec<Arrow>>) -> Result<()> {
        let made = |t: &Touched| match t {
            Touched::All(y) => make(self, *y, &(0..self.n()).collect::<Vec<_>>()),
            Touched::From(y, xs) => make(self, *y, xs),
        };
        let made: Vec<Vec<Arrow>> = if rayon::current_num_threads() == 1 {
            touched.iter().map(made).collect::<Result<_>>()?
        } else {
            touched.par_iter().try_map(made)?
        };
        for (t, new) in touched.iter().zip(made) {
            let arrows = &mut self.arrows[t.y()];
            match t {
                Touched::All(_) => *arrows = new,
                Touched::From(_, xs) => {
                    arrows.retain(|arrow| !xs.contains(&arrow.x));
                    arrows.extend(new);
                }
            }
            // Ties go to fewer neighbours made parents, then to the smaller variable.
            arrows.sort_by(|a, b| {
                let ties = || (a.clique.len(), a.x, &a.clique).cmp(&(b.clique.len(), b.x, &b.clique));
                b.gain.total_cmp(&a.gain).then_with(ties)
            });
        }
        Ok(())
    }

    /// The best operator that is valid now, and where it leads.
    fn best(
        &self,
        apply: impl Fn(&Self, Var, &Arrow) -> Option<(Dag, Option<Pdag>)>,
    ) -> Option<(Var, Arrow, Dag, Option<Pdag>)> {
        let head = |y: Var, at: usize| self.arrows[y].get(at).map(|arrow| Head { gain: arrow.gain, y, at });
        let mut heads: BinaryHeap<Head> = (0..self.n()).filter_map(|y| head(y, 0)).collect();
        while let Some(Head { y, at, .. }) = heads.pop() {
            let arrow = &self.arrows[y][at];
            if let Some((dag, class)) = apply(self, y, arrow) {
                return Some((y, arrow.clone(), dag, class));
            }
            heads.extend(head(y, at + 1));
        }
        None
    }

    /// Goes to a new graph in which the edge between x and y was added or removed, and tells what that touched.
    fn step(&mut self, dag: Dag, class: Option<Pdag>, x: Var, y: Var, inserting: bool) -> Vec<Touched> {
        self.n_moves += 1;
        self.budget.control().advance(1);
        let class = class.unwrap_or_else(|| self.knowledge.class_of(&dag));
        let n = self.n();
        let before = std::mem::replace(&mut self.class, class);
        self.dag = dag;
        let changed = |v: Var| {
            before.parent_bits(v) != self.class.parent_bits(v)
                || before.neighbour_bits(v) != self.class.neighbour_bits(v)
        };
        let mut touched = Vec::new();
        for z in 0..n {
            let linked = |w: Var| self.class.has_link(w, z);
            // x and y being adjacent matters to cliques among z's neighbours and to which of them are adjacent to x, y.
            if changed(z) || linked(x) && linked(y) || !inserting && (linked(x) || linked(y)) {
                touched.push(Touched::All(z));
            } else if z == x || linked(x) {
                touched.push(Touched::From(z, vec![y]));
            } else if z == y || linked(y) {
                touched.push(Touched::From(z, vec![x]));
            }
        }
        touched
    }
}

#[cfg(test)]
mod tests;
