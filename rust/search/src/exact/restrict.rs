//! Candidates under structural constraints that may not have been known when they were scored.
//!
//! A set is left out at scoring where a subset scores at least as high. Forbidden parents and limits only take sets away:
//! if a permitted set was left out, the subset that beat it is permitted too. A required parent is different: the subset
//! may lack it. So a required parent asks, for every kept set Q without it, what became of Q with it, P. If some kept set
//! that holds the required parents lies within P and scores no less than Q, nothing was lost: whatever lies around Q and
//! holds the required parents is no better than that set. (The best kept set within a set left out scores no less than it;
//! if it lacks a required parent, take it for Q.) Otherwise P may have been left out because of Q, its score is not known,
//! and no search over these candidates can promise anything.

use crate::candidates::{Candidates, ChildCandidates};
use crate::constraints::{Constraints, ParentRule};
use crate::error::{Error, Result};
use crate::table::Var;

/// What is known of the scoring behind candidates: which sets were looked at, and whether any were left out for a subset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The constraints they were scored under; None for unknown or none.
    pub constraints: Option<Constraints>,
    /// The most parents that were looked at; None if that is not known.
    pub max_parents: Option<usize>,
    /// Sets that a subset beats or equals were left out.
    pub pruned: bool,
}

impl Default for Scored {
    /// Nothing is known, so whatever can have been left out may have been.
    fn default() -> Self {
        Self { constraints: None, max_parents: None, pruned: true }
    }
}

/// The candidates that obey the constraints.
///
/// # Errors
/// If a variable is left without a set, or sets may be missing because they were scored without a required parent.
pub fn restricted(candidates: &Candidates, constraints: &Constraints, scored: &Scored) -> Result<Candidates> {
    if constraints.n_vars() != candidates.n_vars() {
        let (rules, sets) = (constraints.n_vars(), candidates.n_vars());
        return Err(Error::Shape(format!("constraints on {rules} variables do not fit candidates of {sets}")));
    }
    nothing_lost(candidates, constraints, scored)?;
    let names = candidates.names();
    let children = (0..candidates.n_vars()).map(|v| {
        let rule = constraints.child(v);
        let permitted = candidates.child(v).iter().filter(|(set, _)| rule.permits(&wide(set)));
        let kept: Vec<(f64, Vec<u32>)> = permitted.map(|(set, score)| (score, set.to_vec())).collect();
        if kept.is_empty() {
            let holding = if rule.required.is_empty() {
                String::new()
            } else {
                format!(" ({} required)", quoted(names, &rule.required))
            };
            return Err(Error::Shape(format!(
                "'{}' has no candidate parent set that the constraints permit{holding}; give the same constraints to \
                 score_parents and search its candidates",
                names[v]
            )));
        }
        Ok(ChildCandidates::from_sets(kept))
    });
    Candidates::new(names.to_vec(), children.collect::<Result<Vec<_>>>()?)
}

/// Whether every set that constraints ask for is there, or a subset that obeys them and scores no less.
///
/// # Errors
/// If sets may be missing because they were scored without a required parent; it names the arc and such a set.
pub fn nothing_lost(candidates: &Candidates, constraints: &Constraints, scored: &Scored) -> Result<()> {
    if !scored.pruned {
        return Ok(());
    }
    let names = candidates.names();
    for v in 0..candidates.n_vars() {
        let rule = constraints.child(v);
        let known = scored.constraints.as_ref().map(|constraints| constraints.child(v));
        if rule.required.iter().all(|&p| known.is_some_and(|known| known.requires(p))) {
            continue;
        }
        if let Some(lost) = lost(candidates.child(v), rule, known, scored.max_parents) {
            let missing = rule.required.iter().copied().find(|&p| !known.is_some_and(|known| known.requires(p)));
            let (child, arc) = (&names[v], missing.map_or("", |p| names[p].as_str()));
            return Err(Error::Shape(format!(
                "'{child}' must have {} among its parents, but its sets were scored without the required arc '{arc}' -> \
                 '{child}', and those that a subset without it beats were left out, maybe {{{}}}; give the same constraints \
                 to score_parents (constraints=...) and search its candidates, or let it keep all sets (prune=False)",
                quoted(names, &rule.required),
                quoted(names, &lost),
            )));
        }
    }
    Ok(())
}

/// A set with all required parents that may have been left out because a set without them scores no less, if there is one.
fn lost(
    child: &ChildCandidates,
    rule: &ParentRule,
    known: Option<&ParentRule>,
    max_parents: Option<usize>,
) -> Option<Vec<Var>> {
    let most = max_parents.unwrap_or(usize::MAX);
    let all: Vec<(Vec<Var>, f64)> = child.iter().map(|(set, score)| (wide(set), score)).collect();
    let (holding, lacking): (Vec<_>, Vec<_>) =
        all.iter().partition(|(set, _)| rule.required.iter().all(|p| set.binary_search(p).is_ok()));
    lacking.into_iter().filter(|(_, score)| *score > f64::NEG_INFINITY).find_map(|(set, score)| {
        let mut with: Vec<Var> = [set.as_slice(), rule.required.as_slice()].concat();
        with.sort_unstable();
        with.dedup();
        let looked_at = with.len() <= most && known.is_none_or(|known| known.permits(&with));
        let covered = || {
            let within = holding.iter().find(|(own, _)| own.iter().all(|p| with.binary_search(p).is_ok()));
            within.is_some_and(|(_, own)| own >= score)
        };
        (rule.permits(&with) && looked_at && !covered()).then_some(with)
    })
}

fn wide(set: &[u32]) -> Vec<Var> {
    set.iter().map(|&p| p as Var).collect()
}

fn quoted(names: &[String], of: &[Var]) -> String {
    of.iter().map(|&p| format!("'{}'", names[p])).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn rules(required: Vec<usize>, allowed: Vec<usize>) -> Constraints {
        let free =
            |v: usize| ParentRule { required: vec![], allowed: (0..3).filter(|&p| p != v).collect(), max_parents: 2 };
        Constraints::new(vec![ParentRule { required, allowed, max_parents: 2 }, free(1), free(2)]).expect("consistent")
    }

    fn candidates(of_first: &[(&[u32], f64)]) -> Candidates {
        let child =
            |sets: &[(&[u32], f64)]| ChildCandidates::from_sets(sets.iter().map(|(s, score)| (*score, s.to_vec())));
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        Candidates::new(names, vec![child(of_first), child(&[(&[], -1.0)]), child(&[(&[], -1.0)])]).expect("valid")
    }

    fn told(of_first: &[(&[u32], f64)], rules: &Constraints, scored: &Scored) -> String {
        restricted(&candidates(of_first), rules, scored).expect_err("sets may be missing").to_string()
    }

    #[test]
    fn forbidden_parents_take_sets_away() {
        let sets: &[(&[u32], f64)] = &[(&[], -3.0), (&[1], -2.0), (&[1, 2], -1.0)];
        let left = restricted(&candidates(sets), &rules(vec![], vec![2]), &Scored::default()).expect("possible");
        assert_eq!((left.child(0).len(), left.child(0).parents(0)), (1, &[][..]));
    }

    #[test]
    fn a_required_parent_needs_sets_that_were_scored_with_it() {
        let (rules, unknown) = (rules(vec![1], vec![1, 2]), Scored::default());
        let fine = |sets: &[(&[u32], f64)]| restricted(&candidates(sets), &rules, &unknown).is_ok();
        assert!(fine(&[(&[1], -1.0)]));
        assert!(fine(&[(&[], -1.0), (&[1], -1.0), (&[2], -1.0), (&[1, 2], -1.0)]));
        // What holds c and b cannot beat b alone, as the best set within it is {b}.
        assert!(fine(&[(&[], -3.0), (&[1], -1.0), (&[2], -2.0)]));
        // It may beat b alone where c alone does.
        let message = told(&[(&[], -3.0), (&[1], -2.0), (&[2], -1.0)], &rules, &unknown);
        assert!(message.contains("'a' must have 'b' among its parents"), "{message}");
        assert!(message.contains("'b' -> 'a'") && message.contains("maybe {'b', 'c'}"), "{message}");
        assert!(told(&[(&[], -1.0), (&[2], -1.0)], &rules, &unknown).contains("maybe {'b'}"));
    }

    #[test]
    fn what_was_never_looked_at_was_not_left_out_and_unpruned_sets_are_all_there() {
        let rules = rules(vec![1], vec![1, 2]);
        let sets: &[(&[u32], f64)] = &[(&[], -3.0), (&[1], -2.0), (&[2], -1.0)];
        let single = Scored { max_parents: Some(1), ..Scored::default() };
        assert!(restricted(&candidates(sets), &rules, &single).is_ok());
        assert!(restricted(&candidates(sets), &rules, &Scored { pruned: false, ..Scored::default() }).is_ok());
        let under = Scored { constraints: Some(rules.clone()), ..Scored::default() };
        assert!(restricted(&candidates(&sets[1..2]), &rules, &under).is_ok());
    }

    #[test]
    fn a_variable_without_a_permitted_set_is_named() {
        let sets: &[(&[u32], f64)] = &[(&[1], -1.0), (&[2], -1.0)];
        let message = told(sets, &rules(vec![], vec![]), &Scored::default());
        assert!(message.contains("'a' has no candidate parent set that the constraints permit"), "{message}");
    }

    type Sets = Vec<(f64, Vec<u32>)>;

    /// All sets of one child among five variables, and those that no subset beats or equals.
    fn scored_sets(random: &mut Xoshiro256PlusPlus, most: usize) -> (Sets, Sets) {
        let all: Sets = (0..16_u32)
            .map(|bits| (1..5).filter(|p| bits >> (p - 1) & 1 == 1).collect::<Vec<u32>>())
            .filter(|set| set.len() <= most)
            .map(|set| (f64::from(random.random_range(-6..6)), set))
            .collect();
        let within = |small: &[u32], set: &[u32]| small.len() < set.len() && small.iter().all(|p| set.contains(p));
        let kept = all.iter().filter(|(score, set)| !all.iter().any(|(s, small)| within(small, set) && s >= score));
        let kept = kept.cloned().collect();
        (all, kept)
    }

    #[test]
    fn what_passes_has_the_best_permitted_set_within_every_prefix_and_some_do_not_pass() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut passed = [0, 0];
        for round in 0..3000 {
            let most = 1 + round % 4;
            let (all, kept) = scored_sets(&mut random, most);
            let required: Vec<Var> = (1..5).filter(|_| random.random_range(0..4) == 0).take(most).collect();
            let allowed: Vec<Var> = (1..5).filter(|p| required.contains(p) || random.random_range(0..5) > 0).collect();
            let rule = ParentRule { required, allowed, max_parents: most };
            let children = std::iter::once(rule.clone()).chain((1..5).map(|_| Constraints::none(1).child(0).clone()));
            let rules = Constraints::new(children.collect()).expect("one variable alone has parents");
            let empty = || ChildCandidates::from_sets([(0.0, vec![])]);
            let of = |sets: &[(f64, Vec<u32>)]| {
                let first = ChildCandidates::from_sets(sets.iter().cloned());
                let children = std::iter::once(first).chain((1..5).map(|_| empty())).collect();
                Candidates::new((0..5).map(|v| v.to_string()).collect(), children).expect("valid")
            };
            let how = Scored { max_parents: Some(most), ..Scored::default() };
            let Ok(left) = restricted(&of(&kept), &rules, &how) else {
                passed[0] += 1;
                continue;
            };
            passed[1] += 1;
            let obeying: Vec<&(f64, Vec<u32>)> = all.iter().filter(|(_, set)| rule.permits(&wide(set))).collect();
            for prefix in 0..16_u32 {
                let fits = |set: &[u32]| set.iter().all(|p| prefix >> (p - 1) & 1 == 1);
                let best = obeying.iter().filter(|(_, set)| fits(set)).map(|s| s.0).reduce(f64::max);
                assert_eq!(left.child(0).iter().find(|(set, _)| fits(set)).map(|s| s.1), best, "round {round}");
            }
        }
        assert!(passed.iter().all(|&n| n > 300), "{passed:?}");
    }
}
