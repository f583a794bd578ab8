//! Where a greedy search gets its family scores: a local score asked on demand, or the candidates of Step 1.
//!
//! A move toggles one parent of one child, so the question is always the same: what would this child score with each
//! of these parents toggled? A local score answers from its cache, and evaluates what is missing in parallel;
//! candidates answer all additions and removals in one pass over the child's sets, best first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::bits;
use super::cache::{Known, RuledOut};
use super::exact::restrict::{self, Scored as Scoring};
use super::graph::Dag;
use crate::candidates::Candidates;
use crate::constraints::Constraints;
use crate::control::{Budget, Halt};
use crate::error::{Error, Result};
use crate::local::{ChildScore, LocalScore};
use crate::parents::Parents;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// Family scores under constraints; minus infinity stands for what is not permitted.
pub trait Families: Sync {
    /// Number of variables.
    fn n_vars(&self) -> usize;

    /// A graph that obeys and whose every family can be scored.
    ///
    /// # Errors
    /// If there is none.
    fn start(&self) -> Result<Dag>;

    /// The best score of the child within these parents, and the parents that reach it.
    ///
    /// # Errors
    /// If a family cannot be scored, or the budget is used up.
    fn family(&self, child: Var, parents: &Parents) -> Result<(f64, Parents)>;

    /// The score of the child with each of the variables added to these parents, or taken away if it is one of them;
    /// minus infinity for the child itself, and where nothing is gained by an addition to candidates.
    ///
    /// # Errors
    /// As `family`.
    fn toggled(&self, child: Var, parents: &Parents) -> Result<Vec<f64>>;

    /// Number of families scored so far.
    fn n_scored(&self) -> u64;
}

/// The parents with one added, or taken away if it is there.
pub fn toggle(parents: &Parents, parent: Var) -> Parents {
    let mut out = parents.clone();
    match out.binary_search(&parent) {
        Ok(at) => {
            out.remove(at);
        }
        Err(at) => out.insert(at, parent),
    }
    out
}

/// So many scores are remembered, at about 25 bytes each.
const MOST_KNOWN: usize = 1 << 22;

/// So many of each child: as many as two hash tables hold before they double.
fn most_known(n_vars: usize) -> usize {
    let share = MOST_KNOWN / n_vars.max(1);
    (1 << share.max(8).ilog2()) / 8 * 7
}

/// Whether there is room for so many times all additions to a set of each child.
fn remembers_all(n_vars: usize) -> bool {
    const TIMES: usize = 32;
    n_vars * n_vars <= MOST_KNOWN / TIMES
}

/// A local score, asked on demand; every family is scored once, as far as memory goes. A family that cannot be scored
/// (too large, say) counts as not permitted.
pub struct Scored<'a> {
    score: &'a dyn LocalScore,
    constraints: &'a Constraints,
    pub(super) budget: Budget<'a>,
    known: Vec<Mutex<Known>>,
    /// How many scores of a child are remembered, and whether all additions to a set are among them.
    pub(super) most: usize,
    all: bool,
    count: AtomicU64,
    pub(super) refused: AtomicU64,
    ruled_out: Vec<Mutex<RuledOut>>,
}

impl<'a> Scored<'a> {
    /// With an empty cache.
    pub fn new(score: &'a dyn LocalScore, constraints: &'a Constraints, budget: Budget<'a>) -> Self {
        let n = constraints.n_vars();
        let (known, ruled_out) =
            ((0..n).map(|_| Mutex::default()).collect(), (0..n).map(|_| Mutex::default()).collect());
        let (count, refused) = (AtomicU64::new(0), AtomicU64::new(0));
        let (most, all) = (most_known(n), remembers_all(n));
        Self { score, constraints, budget, known, most, all, count, refused, ruled_out }
    }

    /// The score that is asked.
    pub fn score(&self) -> &'a dyn LocalScore {
        self.score
    }

    /// The constraints.
    pub fn constraints(&self) -> &'a Constraints {
        self.constraints
    }

    /// Number of families that could not be scored.
    pub fn n_refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The scores of a whole graph's families, also when the budget is used up: a search that is stopped shows what it
    /// has.
    ///
    /// # Errors
    /// If a family cannot be scored, or the caller asked to stop.
    pub fn of_graph(&self, dag: &Dag) -> Result<Vec<f64>> {
        let scored = |v| self.scores_until(v, &[dag.family(v)], &Halt::default()).map(|scores| scores[0]);
        (0..dag.n_vars()).into_par_iter().try_map(scored)
    }

    /// The scores of many parent sets of a child.
    ///
    /// # Errors
    /// If one cannot be scored, or the budget is used up.
    pub fn scores(&self, child: Var, sets: &[Parents]) -> Result<Vec<f64>> {
        self.scores_until(child, sets, &self.budget.halt())
    }

    /// The scores of a child that are remembered.
    pub(super) fn known(&self, child: Var) -> MutexGuard<'_, Known> {
        self.known[child].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The additions to a child's parents that do not improve.
    pub(super) fn ruled_out(&self, child: Var) -> MutexGuard<'_, RuledOut> {
        self.ruled_out[child].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for the scores of all additions to many sets, which are hardly asked for again.
    pub fn remembers_all(&self) -> bool {
        self.all
    }

    /// So many families more were scored.
    pub(super) fn count(&self, n_families: usize) {
        self.count.fetch_add(n_families as u64, Ordering::Relaxed);
    }

    fn scores_until(&self, child: Var, sets: &[Parents], halt: &Halt) -> Result<Vec<f64>> {
        let mut out: Vec<Option<f64>> = {
            let known = self.known(child);
            sets.iter().map(|set| known.get(set)).collect()
        };
        let missing: Vec<usize> = (0..sets.len()).filter(|&i| out[i].is_none()).collect();
        if !missing.is_empty() {
            let scored = |chunk: &[usize]| -> Result<Vec<f64>> {
                let mut scratch = self.score.child(child)?;
                scratch.heed(halt);
                let mut scored = Vec::with_capacity(chunk.len());
                for &i in chunk {
                    halt.check()?;
                    scored.push(score_of(&mut *scratch, &sets[i], &self.refused)?);
                }
                Ok(scored)
            };
            let chunk = missing.len().div_ceil(rayon::current_num_threads());
            let scores: Vec<Vec<f64>> = missing.par_chunks(chunk).try_map(scored)?;
            for (&i, &score) in missing.iter().zip(scores.iter().flatten()) {
                out[i] = Some(score);
            }
            let mut known = self.known(child);
            for (&i, &score) in missing.iter().zip(scores.iter().flatten()) {
                known.insert(&sets[i], score, self.most);
            }
            self.count(missing.len());
        }
        Ok(out.into_iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect())
    }
}

/// A family's score; minus infinity if it has none, which is counted where that is because of its size.
pub(super) fn score_of(scratch: &mut dyn ChildScore, parents: &Parents, refused: &AtomicU64) -> Result<f64> {
    match scratch.score(parents) {
        Ok(score) if score.is_nan() => Ok(f64::NEG_INFINITY),
        Err(Error::Family { .. } | Error::Memory { .. }) => {
            refused.fetch_add(1, Ordering::Relaxed);
            Ok(f64::NEG_INFINITY)
        }
        other => other,
    }
}

impl Families for Scored<'_> {
    fn n_vars(&self) -> usize {
        self.constraints.n_vars()
    }

    fn start(&self) -> Result<Dag> {
        let required: Vec<&[Var]> = (0..self.n_vars()).map(|v| self.constraints.child(v).required.as_slice()).collect();
        Dag::from_parents(&required)
    }

    fn family(&self, child: Var, parents: &Parents) -> Result<(f64, Parents)> {
        if !self.constraints.child(child).permits(parents) {
            return Ok((f64::NEG_INFINITY, parents.clone()));
        }
        // A search asks this of its first structure; were the time up already, it would have nothing to show.
        let halt = self.budget.control().halt();
        let score = self.scores_until(child, std::slice::from_ref(parents), &halt)?[0];
        if score == f64::NEG_INFINITY {
            // Why it has no score is the user's to know.
            let mut scratch = self.score.child(child)?;
            scratch.heed(&halt);
            scratch.score(parents)?;
        }
        Ok((score, parents.clone()))
    }

    fn toggled(&self, child: Var, parents: &Parents) -> Result<Vec<f64>> {
        let rule = self.constraints.child(child);
        let full = parents.len() >= rule.max_parents;
        let permitted = |&p: &Var| if parents.contains(&p) { !rule.requires(p) } else { !full };
        let toggles: Vec<Var> = rule.allowed.iter().copied().filter(permitted).collect();
        let sets: Vec<Parents> = toggles.iter().map(|&p| toggle(parents, p)).collect();
        let mut out = vec![f64::NEG_INFINITY; self.n_vars()];
        for (p, score) in toggles.into_iter().zip(self.scores(child, &sets)?) {
            out[p] = score;
        }
        Ok(out)
    }

    fn n_scored(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// The candidates of Step 1. A set that is not among them counts as its best subset that is, as pruning meant.
pub struct Stored<'a> {
    candidates: &'a Candidates,
    /// Per child, the ranks of the sets that obey the constraints.
    permitted: Vec<Vec<u32>>,
}

impl<'a> Stored<'a> {
    /// The candidates that obey the constraints.
    ///
    /// # Errors
    /// If none of a child's candidates obeys, or some that do may be missing: see [`restrict`].
    pub fn new(candidates: &'a Candidates, constraints: &Constraints) -> Result<Self> {
        let free = constraints.is_empty();
        restrict::nothing_lost(candidates, constraints, &Scoring::default())?;
        let permitted: Vec<Vec<u32>> = (0..candidates.n_vars())
            .map(|v| {
                let (sets, rule) = (candidates.child(v), constraints.child(v));
                let obeys = |&rank: &u32| {
                    let parents: Parents = sets.parents(rank as usize).iter().map(|&p| p as Var).collect();
                    sets.score(rank as usize) > f64::NEG_INFINITY && (free || rule.permits(&parents))
                };
                (0..sets.len() as u32).filter(obeys).collect()
            })
            .collect();
        if let Some(v) = permitted.iter().position(Vec::is_empty) {
            let name = &candidates.names()[v];
            let advice = "give the same constraints to score_parents, or relax them";
            return Err(Error::Shape(format!("no candidate parent set of '{name}' obeys the constraints; {advice}")));
        }
        Ok(Self { candidates, permitted })
    }

    /// Permitted sets of a child with their scores, best first.
    pub fn sets(&self, child: Var) -> impl ExactSizeIterator<Item = (&[u32], f64)> + '_ {
        let sets = self.candidates.child(child);
        self.permitted[child].iter().map(move |&r| (sets.parents(r as usize), sets.score(r as usize)))
    }

    /// The parents and the score of a child's permitted set, by its place in `sets`.
    pub fn set(&self, child: Var, rank: u32) -> (Parents, f64) {
        let (sets, rank) = (self.candidates.child(child), self.permitted[child][rank as usize] as usize);
        (sets.parents(rank).iter().map(|&p| p as Var).collect(), sets.score(rank))
    }

    /// No graph scores more: the best permitted set of every child, cycles or not.
    pub fn bound(&self) -> f64 {
        (0..self.permitted.len()).map(|v| self.candidates.child(v).score(self.permitted[v][0] as usize)).sum()
    }

    fn best_within(&self, child: Var, within: &[u64]) -> Option<(f64, Parents)> {
        self.sets(child)
            .find(|(set, _)| set.iter().all(|&p| bits::contains(within, p as usize)))
            .map(|(set, score)| (score, set.iter().map(|&p| p as Var).collect()))
    }
}

impl Families for Stored<'_> {
    fn n_vars(&self) -> usize {
        self.candidates.n_vars()
    }

    /// Appends to an order whichever variable has a set inside it, so that it fails only where there is no DAG at all.
    fn start(&self) -> Result<Dag> {
        let n = self.n_vars();
        let mut dag = Dag::new(n);
        let mut placed = vec![0; bits::n_words(n)];
        let mut left: Vec<Var> = (0..n).collect();
        while !left.is_empty() {
            let before = left.len();
            let now = placed.clone();
            left.retain(|&v| {
                let Some((_, parents)) = self.best_within(v, &now) else { return true };
                for p in parents {
                    dag.set(p, v);
                }
                bits::insert(&mut placed, v);
                false
            });
            if left.len() == before {
                let names: Vec<_> = left.iter().map(|&v| format!("'{}'", self.candidates.names()[v])).collect();
                let names = names.join(", ");
                let advice = "keep the empty set among the candidates, or relax the constraints";
                return Err(Error::Shape(format!("every choice of parent sets for {names} closes a cycle; {advice}")));
            }
        }
        Ok(dag)
    }

    fn family(&self, child: Var, parents: &Parents) -> Result<(f64, Parents)> {
        let within = bits::set_of(self.n_vars(), parents.iter().copied());
        Ok(self.best_within(child, &within).unwrap_or_else(|| (f64::NEG_INFINITY, parents.clone())))
    }

    fn toggled(&self, child: Var, parents: &Parents) -> Result<Vec<f64>> {
        let within = bits::set_of(self.n_vars(), parents.iter().copied());
        let mut out = vec![f64::NEG_INFINITY; self.n_vars()];
        let mut removals: Parents = parents.clone();
        let mut adding = true;
        for (set, score) in self.sets(child) {
            let mut outside = set.iter().filter(|&&p| !bits::contains(&within, p as usize));
            match (outside.next(), outside.next()) {
                (None, _) => {
                    // What comes later scores no more than these parents: no addition of it pays.
                    adding = false;
                    removals.retain(|p| {
                        let survives = !set.contains(&(*p as u32));
                        if survives {
                            out[*p] = score;
                        }
                        !survives
                    });
                }
                (Some(&p), None) if adding && out[p as usize] == f64::NEG_INFINITY => out[p as usize] = score,
                _ => {}
            }
            if !adding && removals.is_empty() {
                break;
            }
        }
        Ok(out)
    }

    fn n_scored(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::boss::Boss;
    use super::super::testing::{self, Population};
    use super::*;
    use crate::control::Control;

    #[test]
    fn all_variables_together_remember_what_they_have_room_for() {
        for n in [1, 2, 10, 100, 362, 363, 1000, 70_000] {
            let (most, room) = (most_known(n), MOST_KNOWN.max(8 * n));
            assert!(most >= 7 && n * most <= room, "{n} variables: {most}");
            // A table of so many does not double.
            assert!(most % 7 == 0 && (most / 7).is_power_of_two());
            assert!(!remembers_all(n) || most >= 16 * n, "{n} variables: {most}");
        }
    }

    #[test]
    fn what_is_not_remembered_changes_no_result() {
        let mut forgotten = 0;
        for seed in 0..testing::rounds(20) {
            let mut rng = testing::rng(seed);
            let score = Population::new(&testing::random_dag(9, 0.4, &mut rng), 300.0, &mut rng);
            let constraints = testing::constraints(&testing::random_dag(9, 0.6, &mut rng), &mut rng);
            let control = Control::default();
            let budget = Budget::new(&control, None);
            let found = |most: usize, all: bool| {
                let scored = Scored { most, all, ..Scored::new(&score, &constraints, budget) };
                let found = Boss { restarts: 2, seed }.run(&scored, None, budget).unwrap();
                let bits: Vec<u64> = found.scores.iter().map(|score| score.to_bits()).collect();
                (found.dag, found.class, bits, scored.n_scored())
            };
            let (plain, poor) = (found(most_known(9), true), found(7, false));
            assert_eq!((&plain.0, &plain.1, &plain.2), (&poor.0, &poor.1, &poor.2), "seed {seed}");
            forgotten += poor.3 - plain.3;
        }
        assert!(forgotten > 0);
    }
}
