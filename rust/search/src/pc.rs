//! PC (Spirtes, Glymour, Scheines 2000) and conservative PC (Ramsey, Zhang, Spirtes 2006): graphs from independence tests.
//!
//! Two variables are adjacent if no set of neighbours of one of them separates them; sets grow by one, and neighbours
//! are those of before each size began, so the order of the variables does not matter (Colombo and Maathuis 2014). Of
//! the separating sets of one size the one of the greatest p-value counts, for the same reason.
//!
//! A triple x - z - y with x and y not adjacent is a collider if the set that separates x and y lacks z; conservatively,
//! if all sets of neighbours of x or y that separate them lack z. What is known (constraints) is directed first, colliders
//! that contradict it or stronger ones are left out, and Meek's four rules do the rest. Where a variable has more parents than
//! it may have, another member of the class is taken, and only if there is none, adjacencies are given up.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::bits::{self, BitMatrix};
use super::ges::ended;
use super::graph::Dag;
use super::knowledge::Knowledge;
use super::pdag::Pdag;
use super::registry::{Detail, Found, Search, Source, Task};
use crate::constraints::Constraints;
use crate::control::{Budget, Halt, Stop};
use crate::error::{Error, Result};
use crate::independence::{IndependenceTest, Remembered, ScoreTest};
use crate::table::Var;
use arbornet_table::spread::TryMap;

type Set = SmallVec<[Var; 4]>;

/// So many members of a class are looked at for one in which nobody has too many parents.
const MOST_MEMBERS: usize = 256;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pc {
    /// Variables are taken for independent if p is above this.
    pub alpha: f64,
    /// Whether triples are judged by all separating sets.
    pub conservative: bool,
    /// Whether triples on which separating sets disagree count as no colliders; otherwise nothing is concluded from them.
    pub ambiguous_as_noncollider: bool,
    /// Separating sets have at most so many variables.
    pub max_given: usize,
}

impl Default for Pc {
    fn default() -> Self {
        Self { alpha: 0.01, conservative: false, ambiguous_as_noncollider: false, max_given: usize::MAX }
    }
}

/// What tests say of a graph.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Arcs where the tests and what is known direct, links elsewhere.
    pub class: Pdag,
    /// A graph of that class, or where there is none, one near it.
    pub dag: Dag,
    /// Whether the graph is of that class: the tests do not contradict each other.
    pub consistent: bool,
    /// Triples (x, z, y) on which separating sets disagree.
    pub ambiguous: Vec<(Var, Var, Var)>,
    /// Adjacencies that tests suggest and constraints do not admit: arcs that close a cycle, parents beyond the limit.
    pub n_trimmed: u64,
    /// Tests made.
    pub n_tests: u64,
    /// Tests that the score refused, as the family is too large for it: these sets separate nothing.
    pub n_refused: u64,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

/// Pairs of variables, adjacent or separated.
struct Skeleton {
    adjacent: BitMatrix,
    /// Of pairs x < y that were separated: by what, and how surely.
    separated: Vec<(Var, Var, Set, f64)>,
    /// Of pairs x < y: the greatest p-value of any test, while they stay adjacent.
    weakness: Vec<f64>,
    n_tests: u64,
}

/// One pair's tests of one size.
struct Asked {
    best: Option<(f64, Set)>,
    n_tests: u64,
}

impl Skeleton {
    fn new(n: usize) -> Self {
        Self { adjacent: BitMatrix::new(n), separated: vec![], weakness: vec![0.0; n * n], n_tests: 0 }
    }

    fn separate(&mut self, x: Var, y: Var) {
        self.adjacent.remove(x, y);
        self.adjacent.remove(y, x);
    }
}

/// A v-structure x -> z <- y that tests suggest, and how surely.
struct Collider {
    p: f64,
    x: Var,
    z: Var,
    y: Var,
}

/// Of one pair: the colliders between, the triples left open, and the number of tests.
type Verdict = (Vec<Collider>, Vec<(Var, Var, Var)>, u64);

struct Work<'a> {
    how: Pc,
    test: &'a dyn IndependenceTest,
    knowledge: Knowledge<'a>,
    budget: Budget<'a>,
    /// The same, for a test that is long by itself.
    halt: Halt,
    n_refused: AtomicU64,
}

impl Search for Pc {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        let found = match task.source {
            Source::Score(score) => {
                self.run(&Remembered::new(ScoreTest(score.clone())), task.constraints, task.budget)?
            }
            Source::Test(test) => self.run(test, task.constraints, task.budget)?,
            Source::Candidates(_) | Source::Table(_) => {
                return Err(Error::Shape("this search asks tests: give a table and a score, or a test".to_owned()));
            }
        };
        let counts = [("tests", found.n_tests), ("trimmed", found.n_trimmed), ("refused", found.n_refused)];
        let told = Found::new(&found.dag, vec![], found.stop).counted(counts);
        let told = told.with("consistent", Detail::Whether(found.consistent));
        Ok(Found { class: Some(found.class), ..told.with("ambiguous", Detail::Triples(found.ambiguous)) })
    }
}

impl Pc {
    /// Searches.
    ///
    /// # Errors
    /// If a test fails.
    pub fn run(&self, test: &dyn IndependenceTest, constraints: &Constraints, budget: Budget<'_>) -> Result<Judged> {
        let n = constraints.n_vars();
        let (knowledge, halt) = (Knowledge::new(constraints), budget.halt());
        let work = Work { how: *self, test, knowledge, budget, halt, n_refused: AtomicU64::new(0) };
        let mut skeleton = Skeleton::new(n);
        let mut stop = ended(work.adjacencies(&mut skeleton), budget)?;
        let mut colliders = vec![];
        let mut ambiguous = vec![];
        if stop.is_none() {
            stop = ended(work.colliders(&mut skeleton, &mut colliders, &mut ambiguous), budget)?;
        }
        colliders.sort_by(|a, b| b.p.total_cmp(&a.p).then_with(|| (a.z, a.x, a.y).cmp(&(b.z, b.x, b.y))));
        let mut n_trimmed = 0;
        loop {
            n_trimmed += work.drop_impossible(&mut skeleton);
            let class = work.directed(&skeleton, &colliders, &ambiguous);
            let extension = class.extension();
            let consistent = extension.is_some();
            let dag = extension.unwrap_or_else(|| class.nearest_dag());
            let mut members = MOST_MEMBERS;
            let dag = work.obeying(&class, &mut members).unwrap_or(dag);
            if let Some((p, v)) = work.too_many(&skeleton, &dag) {
                skeleton.separate(p, v);
                n_trimmed += 1;
                continue;
            }
            let n_tests = skeleton.n_tests;
            let n_refused = work.n_refused.into_inner();
            return Ok(Judged { class, dag, consistent, ambiguous, n_trimmed, n_tests, n_refused, stop });
        }
    }
}

impl Work<'_> {
    fn n(&self) -> usize {
        self.knowledge.n_vars()
    }

    /// Pairs that no set separates. When interrupted, pairs that were not tested yet are left out.
    fn adjacencies(&self, skeleton: &mut Skeleton) -> Result<()> {
        let n = self.n();
        for (x, y) in (0..n).flat_map(|y| (0..y).map(move |x| (x, y))) {
            if self.requires(x, y) {
                skeleton.adjacent.insert(x, y);
                skeleton.adjacent.insert(y, x);
            }
        }
        let mut pairs: Vec<(Var, Var)> = (0..n)
            .flat_map(|y| (0..y).map(move |x| (x, y)))
            .filter(|&(x, y)| self.knowledge.allows_edge(x, y) && !self.requires(x, y))
            .collect();
        for size in 0..=self.how.max_given.min(n.saturating_sub(2)) {
            self.budget.control().expect(pairs.len() as u64);
            let neighbours = self.neighbours(skeleton);
            let small = |v: Var, w: Var| neighbours[v].iter().filter(|&&u| u != w).count() < size;
            if pairs.iter().all(|&(x, y)| small(x, y) && small(y, x)) {
                break;
            }
            let ask = |&(x, y): &(Var, Var)| self.separation(x, y, &neighbours, size);
            let asked: Vec<Asked> = pairs.par_iter().try_map(ask)?;
            let mut left = Vec::with_capacity(pairs.len());
            for ((x, y), Asked { best, n_tests }) in pairs.into_iter().zip(asked) {
                skeleton.n_tests += n_tests;
                let p = best.as_ref().map_or(0.0, |(p, _)| *p);
                if p > self.how.alpha {
                    skeleton.separate(x, y);
                    skeleton.separated.extend(best.map(|(p, set)| (x, y, set, p)));
                } else {
                    skeleton.adjacent.insert(x, y);
                    skeleton.adjacent.insert(y, x);
                    let weakness = &mut skeleton.weakness[x * n + y];
                    *weakness = weakness.max(p);
                    left.push((x, y));
                }
            }
            pairs = left;
        }
        self.forbidden_pairs(skeleton)
    }

    /// Pairs that may not be adjacent have triples all the same: what separates them is sought once the others are known.
    fn forbidden_pairs(&self, skeleton: &mut Skeleton) -> Result<()> {
        let n = self.n();
        let around = self.neighbours(skeleton);
        let pairs = (0..n).flat_map(|y| (0..y).map(move |x| (x, y))).filter(|&(x, y)| {
            !self.knowledge.allows_edge(x, y) && bits::intersect(skeleton.adjacent.row(x), skeleton.adjacent.row(y))
        });
        let sought = |(x, y): (Var, Var)| -> Result<(Var, Var, Asked)> {
            let mut found = Asked { best: None, n_tests: 0 };
            for size in 0..=around[x].len().max(around[y].len()).min(self.how.max_given) {
                let Asked { best, n_tests } = self.separation(x, y, &around, size)?;
                found.n_tests += n_tests;
                let p = |best: &Option<(f64, Set)>| best.as_ref().map_or(f64::NEG_INFINITY, |(p, _)| *p);
                if p(&best) > p(&found.best) {
                    found.best = best;
                }
                if p(&found.best) > self.how.alpha {
                    break;
                }
            }
            Ok((x, y, found))
        };
        let found: Vec<_> = pairs.collect::<Vec<_>>().into_par_iter().try_map(sought)?;
        for (x, y, Asked { best, n_tests }) in found {
            skeleton.n_tests += n_tests;
            skeleton.separated.extend(best.map(|(p, set)| (x, y, set, p)));
        }
        Ok(())
    }

    /// Each variable's neighbours that may be its parents: sets of these separate what can be separated.
    fn neighbours(&self, skeleton: &Skeleton) -> Vec<Vec<Var>> {
        let of = |v| skeleton.adjacent.iter(v).filter(|&w| self.knowledge.allows(w, v)).collect();
        (0..self.n()).map(of).collect()
    }

    fn requires(&self, x: Var, y: Var) -> bool {
        self.knowledge.requires(x, y) || self.knowledge.requires(y, x)
    }

    /// The set of this size among the neighbours of x, or of y, with the greatest p-value.
    fn separation(&self, x: Var, y: Var, neighbours: &[Vec<Var>], size: usize) -> Result<Asked> {
        let mut out = Asked { best: None, n_tests: 0 };
        self.each_set(x, y, neighbours, size, |set, p| {
            out.n_tests += 1;
            if out.best.as_ref().is_none_or(|(best, _)| p > *best) {
                out.best = Some((p, set.into()));
            }
        })?;
        self.budget.control().advance(1);
        Ok(out)
    }

    fn each_set(
        &self,
        x: Var,
        y: Var,
        neighbours: &[Vec<Var>],
        size: usize,
        mut hear: impl FnMut(&[Var], f64),
    ) -> Result<()> {
        let of_x: Vec<Var> = neighbours[x].iter().copied().filter(|&v| v != y).collect();
        let of_y: Vec<Var> = neighbours[y].iter().copied().filter(|&v| v != x).collect();
        for (i, from) in [&of_x, &of_y].into_iter().enumerate() {
            let mut at: Vec<usize> = (0..size).collect();
            let mut set = vec![0; size];
            while at.last().is_none_or(|&last| last < from.len()) {
                for (member, &i) in set.iter_mut().zip(&at) {
                    *member = from[i];
                }
                // What lies among the neighbours of both was asked already.
                if i == 0 || !set.iter().all(|v| of_x.contains(v)) {
                    self.budget.check()?;
                    match self.test.test_until(x, y, &set, &self.halt) {
                        Ok(tested) => hear(&set, tested.p_value),
                        // What cannot be tested for its size separates nothing, as far as anybody can tell.
                        Err(Error::Family { .. } | Error::Memory { .. }) if !set.is_empty() => {
                            self.n_refused.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => return Err(error),
                    }
                }
                if !next(&mut at, from.len()) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Which triples are colliders, and on which the separating sets disagree.
    fn colliders(
        &self,
        skeleton: &mut Skeleton,
        colliders: &mut Vec<Collider>,
        ambiguous: &mut Vec<(Var, Var, Var)>,
    ) -> Result<()> {
        let n = self.n();
        let neighbours: Vec<Vec<Var>> = (0..n).map(|v| skeleton.adjacent.iter(v).collect()).collect();
        let around = self.neighbours(skeleton);
        let judge = |(x, y, first, p): &(Var, Var, Set, f64)| -> Result<Verdict> {
            let (x, y) = (*x, *y);
            let middle: Vec<Var> = neighbours[x].iter().copied().filter(|v| neighbours[y].contains(v)).collect();
            let (mut with, mut without) = (vec![false; middle.len()], vec![false; middle.len()]);
            let (mut sure, mut n_tests) = (*p, 0);
            let mut hear = |set: &[Var]| {
                for (i, z) in middle.iter().enumerate() {
                    *if set.contains(z) { &mut with[i] } else { &mut without[i] } = true;
                }
            };
            hear(first);
            if self.how.conservative && !middle.is_empty() {
                let most = around[x].len().max(around[y].len()).min(self.how.max_given);
                for size in 0..=most {
                    self.each_set(x, y, &around, size, |set, p| {
                        n_tests += 1;
                        if p > self.how.alpha {
                            sure = f64::max(sure, p);
                            hear(set);
                        }
                    })?;
                }
            }
            let (mut found, mut open) = (vec![], vec![]);
            for (i, &z) in middle.iter().enumerate() {
                match (with[i], without[i]) {
                    (true, true) => open.push((x, z, y)),
                    (false, true) => found.push(Collider { p: sure, x, z, y }),
                    _ => {}
                }
            }
            self.budget.control().advance(1);
            Ok((found, open, n_tests))
        };
        let judged: Vec<_> = skeleton.separated.par_iter().try_map(judge)?;
        for (found, open, n_tests) in judged {
            colliders.extend(found);
            ambiguous.extend(open);
            skeleton.n_tests += n_tests;
        }
        ambiguous.sort_unstable_by_key(|&(x, z, y)| (z, x, y));
        Ok(())
    }

    /// Gives up adjacencies that may point one way only and would close a cycle so, the weakest first; their number.
    fn drop_impossible(&self, skeleton: &mut Skeleton) -> u64 {
        let n = self.n();
        let mut arcs: Vec<(bool, f64, Var, Var)> = vec![];
        for b in 0..n {
            for a in skeleton.adjacent.iter(b).filter(|&a| self.knowledge.allows(a, b) && !self.knowledge.allows(b, a))
            {
                let weakness = skeleton.weakness[a.min(b) * n + a.max(b)];
                arcs.push((!self.knowledge.requires(a, b), weakness, a, b));
            }
        }
        arcs.sort_by(|p, q| (p.0.cmp(&q.0)).then(p.1.total_cmp(&q.1)).then_with(|| (p.2, p.3).cmp(&(q.2, q.3))));
        let mut dag = Dag::new(n);
        let mut n_dropped = 0;
        for (_, _, a, b) in arcs {
            if !dag.add_arc(a, b) {
                skeleton.separate(a, b);
                n_dropped += 1;
            }
        }
        n_dropped
    }

    /// The skeleton, directed by what is known, by colliders, surest first, and by Meek's rules.
    fn directed(&self, skeleton: &Skeleton, colliders: &[Collider], ambiguous: &[(Var, Var, Var)]) -> Pdag {
        let n = self.n();
        let mut class = Pdag::new(n);
        for y in 0..n {
            for x in skeleton.adjacent.iter(y).filter(|&x| x < y) {
                match (self.knowledge.allows(x, y), self.knowledge.allows(y, x)) {
                    (true, false) => class.set_arc(x, y),
                    (false, true) => class.set_arc(y, x),
                    _ => class.set_link(x, y),
                }
            }
        }
        for &Collider { x, z, y, .. } in colliders {
            // An adjacency that was given up later leaves no triple; a turned arc or a cycle would contradict.
            if !(class.adjacent(x, z) && class.adjacent(y, z)) || class.has_arc(z, x) || class.has_arc(z, y) {
                continue;
            }
            let mut with = class.clone();
            with.set_arc(x, z);
            with.set_arc(y, z);
            if !with.is_cyclic() {
                class = with;
            }
        }
        let known = class.clone();
        let open: FxHashSet<(Var, Var, Var)> =
            if self.how.ambiguous_as_noncollider { FxHashSet::default() } else { ambiguous.iter().copied().collect() };
        class.close_where(|x, z, y| !open.contains(&(x.min(y), z, x.max(y))));
        // Rules that run into a cycle rest on tests that contradict each other: nothing is concluded from them.
        if class.is_cyclic() { known } else { class }
    }

    /// A member of a class without a variable that has more parents than it may have: of the links that point to such a
    /// one, some must be turned. `None` if there is none, or none was found among so many members looked at.
    fn obeying(&self, class: &Pdag, left: &mut usize) -> Option<Dag> {
        *left = left.checked_sub(1)?;
        let dag = class.extension()?;
        let full = |&v: &Var| bits::len(dag.parent_bits(v)) > self.knowledge.max_parents(v);
        let Some(v) = (0..self.n()).find(full) else { return Some(dag) };
        let turned = |p: Var| {
            let mut turned = class.clone();
            turned.set_arc(v, p);
            turned
        };
        dag.parents(v).filter(|&p| class.has_link(p, v)).find_map(|p| self.obeying(&turned(p), left))
    }

    /// The weakest adjacency of a variable with more parents than it may have.
    fn too_many(&self, skeleton: &Skeleton, dag: &Dag) -> Option<(Var, Var)> {
        let n = self.n();
        let weakness = |p: Var, v: Var| skeleton.weakness[p.min(v) * n + p.max(v)];
        (0..n).find_map(|v| {
            if bits::len(dag.parent_bits(v)) <= self.knowledge.max_parents(v) {
                return None;
            }
            let optional = dag.parents(v).filter(|&p| !self.knowledge.requires(p, v));
            optional.max_by(|&a, &b| weakness(a, v).total_cmp(&weakness(b, v)).then(b.cmp(&a))).map(|p| (p, v))
        })
    }
}

/// The next combination of as many of the first `n` numbers, in lexicographic order.
fn next(at: &mut [usize], n: usize) -> bool {
    let size = at.len();
    let Some(i) = (0..size).rev().find(|&i| at[i] < n - size + i) else { return false };
    at[i] += 1;
    for j in i + 1..size {
        at[j] = at[j - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests;
