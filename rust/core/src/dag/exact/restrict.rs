//! Candidates under structural constraints that may not have been known when they were scored.
//!
//! Forbidden parents and limits only take sets away: if a permitted set was left out because a subset scores as well,
//! that subset is permitted too. A required parent is different: the subset may lack it. So where a variable's sets do
//! not all hold its required parents, every set that could hold them has to be there.

use crate::candidates::{Candidates, ChildCandidates};
use crate::constraints::Constraints;
use crate::error::{Error, Result};

/// The candidates that obey the constraints.
///
/// # Errors
/// If a variable is left without a set, or sets may be missing because they were scored without a required parent.
pub fn restricted(candidates: &Candidates, constraints: &Constraints) -> Result<Candidates> {
    let names = candidates.names();
    let children = (0..candidates.n_vars()).map(|v| {
        let rule = constraints.child(v);
        let child = candidates.child(v);
        let wide = |set: &[u32]| set.iter().map(|&p| p as usize).collect::<Vec<_>>();
        let kept: Vec<(f64, Vec<u32>)> = child
            .iter()
            .filter(|(set, _)| rule.permits(&wide(set)))
            .map(|(set, score)| (score, set.to_vec()))
            .collect();
        let holds = |set: &[u32]| rule.required.iter().all(|&p| set.contains(&(p as u32)));
        let aware = child.iter().all(|(set, _)| holds(set));
        if !aware && !complete(child, &kept, &rule.required) || kept.is_empty() {
            let required = rule.required.iter().map(|&p| format!("'{}'", names[p])).collect::<Vec<_>>().join(", ");
            let why = if rule.required.is_empty() {
                "has no candidate parent set that the constraints permit".to_owned()
            } else {
                format!("must have {required} among its parents, but sets with them were left out when it was scored")
            };
            return Err(Error::Shape(format!(
                "'{}' {why}; give the same constraints to score_parents and search its candidates",
                names[v]
            )));
        }
        Ok(ChildCandidates::from_sets(kept))
    });
    Candidates::new(names.to_vec(), children.collect::<Result<Vec<_>>>()?)
}

/// Whether all sets that hold the required parents, up to the size of the largest set, are there.
fn complete(child: &ChildCandidates, kept: &[(f64, Vec<u32>)], required: &[usize]) -> bool {
    let mut members: Vec<u32> = kept.iter().flat_map(|(_, set)| set.iter().copied()).collect();
    members.sort_unstable();
    members.dedup();
    let optional = members.iter().filter(|&&p| !required.contains(&(p as usize))).count();
    let largest = child.iter().map(|(set, _)| set.len()).max().unwrap_or(0);
    let (mut expected, mut choose) = (0.0, 1.0);
    for k in 0..=largest.saturating_sub(required.len()) {
        expected += choose;
        choose *= (optional as f64 - k as f64).max(0.0) / (k as f64 + 1.0);
    }
    kept.len() as f64 >= expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::ParentRule;

    fn rules(required: Vec<usize>, allowed: Vec<usize>) -> Constraints {
        let free =
            |v: usize| ParentRule { required: vec![], allowed: (0..3).filter(|&p| p != v).collect(), max_parents: 2 };
        Constraints::new(vec![ParentRule { required, allowed, max_parents: 2 }, free(1), free(2)]).expect("consistent")
    }

    fn candidates(of_first: &[&[u32]]) -> Candidates {
        let child = |sets: &[&[u32]]| ChildCandidates::from_sets(sets.iter().map(|s| (-1.0, s.to_vec())));
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        Candidates::new(names, vec![child(of_first), child(&[&[]]), child(&[&[]])]).expect("valid")
    }

    #[test]
    fn forbidden_parents_take_sets_away() {
        let left = restricted(&candidates(&[&[], &[1], &[1, 2]]), &rules(vec![], vec![2])).expect("possible");
        assert_eq!((left.child(0).len(), left.child(0).parents(0)), (1, &[][..]));
    }

    #[test]
    fn a_required_parent_needs_sets_that_were_scored_with_it() {
        let rules = rules(vec![1], vec![1, 2]);
        assert!(restricted(&candidates(&[&[1]]), &rules).is_ok());
        assert!(restricted(&candidates(&[&[], &[1], &[2], &[1, 2]]), &rules).is_ok());
        let message = restricted(&candidates(&[&[], &[2], &[1, 2]]), &rules).expect_err("incomplete").to_string();
        assert!(message.contains("'a' must have 'b' among its parents"), "{message}");
    }

    #[test]
    fn a_variable_without_a_permitted_set_is_named() {
        let message = restricted(&candidates(&[&[1], &[2]]), &rules(vec![], vec![])).expect_err("none").to_string();
        assert!(message.contains("'a' has no candidate parent set that the constraints permit"), "{message}");
    }
}
