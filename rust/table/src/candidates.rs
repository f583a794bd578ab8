//! Candidate parent sets with their scores: what Step 1 hands to every DAG search.
//!
//! Per child the sets stand best first, in flat arrays, so that a thousand variables with a million sets cost three
//! allocations a child. The order is total (higher score, then fewer parents, then lexicographically smaller), so it
//! does not depend on who found which set first.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::table::Var;

/// A finite score lies within this of zero, so that the scores of all variables can be added up.
pub const LARGEST: f64 = 1e300;

/// The candidate parent sets of one child, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChildCandidates {
    offsets: Vec<u32>,
    members: Vec<u32>,
    scores: Vec<f64>,
}

/// Best first: higher score, then fewer parents, then lexicographically smaller.
pub fn better_first(a: (f64, &[u32]), b: (f64, &[u32])) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(b.1))
}

impl ChildCandidates {
    /// Sorts the given sets best first. Members must be sorted within each set.
    pub fn from_sets(sets: impl IntoIterator<Item = (f64, Vec<u32>)>) -> Self {
        let mut sets: Vec<_> = sets.into_iter().collect();
        sets.sort_by(|a, b| better_first((a.0, &a.1), (b.0, &b.1)));
        let mut out = Self { offsets: vec![0], ..Self::default() };
        for (score, members) in sets {
            out.members.extend_from_slice(&members);
            out.offsets.push(out.members.len() as u32);
            out.scores.push(score);
        }
        out
    }

    /// Sorts sets given in flat arrays best first: set `i` is `members[offsets[i]..offsets[i + 1]]`, ascending.
    pub fn from_flat(offsets: &[u32], members: &[u32], scores: &[f64]) -> Self {
        let set = |i: u32| &members[offsets[i as usize] as usize..offsets[i as usize + 1] as usize];
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| better_first((scores[a as usize], set(a)), (scores[b as usize], set(b))));
        let mut out = Self { offsets: Vec::with_capacity(offsets.len()), ..Self::default() };
        out.offsets.push(0);
        out.members.reserve_exact(members.len());
        for &i in &order {
            out.members.extend_from_slice(set(i));
            out.offsets.push(out.members.len() as u32);
        }
        out.scores = order.iter().map(|&i| scores[i as usize]).collect();
        out
    }

    /// Number of sets.
    #[inline]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// True without any set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The parents of the set at a rank, ascending.
    #[inline]
    pub fn parents(&self, rank: usize) -> &[u32] {
        &self.members[self.offsets[rank] as usize..self.offsets[rank + 1] as usize]
    }

    /// The score of the set at a rank.
    #[inline]
    pub fn score(&self, rank: usize) -> f64 {
        self.scores[rank]
    }

    /// The best score; minus infinity without any set.
    #[inline]
    pub fn best(&self) -> f64 {
        self.scores.first().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// All sets with their scores, best first.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u32], f64)> + '_ {
        (0..self.len()).map(|rank| (self.parents(rank), self.scores[rank]))
    }
}

/// Candidate parent sets of every variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    names: Vec<String>,
    children: Vec<ChildCandidates>,
}

impl Candidates {
    /// Puts the variables' candidates together.
    ///
    /// # Errors
    /// If a name comes twice; if a set has a member that is no variable, its own child, or out of order; if a score is NaN
    /// or too large to be added up.
    pub fn new(names: Vec<String>, children: Vec<ChildCandidates>) -> Result<Self> {
        if names.len() != children.len() {
            return Err(Error::Shape(format!("{} names for {} variables", names.len(), children.len())));
        }
        let mut known = FxHashSet::default();
        if let Some(name) = names.iter().find(|name| !known.insert(name.as_str())) {
            return Err(Error::Shape(format!("two variables are named '{name}'")));
        }
        for (v, child) in children.iter().enumerate() {
            for (parents, score) in child.iter() {
                let bad = |problem: String| Err(Error::Shape(format!("candidate of '{}': {problem}", names[v])));
                if score.is_nan() {
                    return bad("its score is not a number".to_owned());
                }
                if score.is_finite() && score.abs() > LARGEST {
                    return bad(format!("its score {score:e} is not within {LARGEST:e} of zero"));
                }
                if let Some(&p) = parents.iter().find(|&&p| p as usize >= names.len() || p as usize == v) {
                    return bad(format!("variable {p} cannot be its parent"));
                }
                if parents.windows(2).any(|w| w[0] >= w[1]) {
                    return bad(format!("parents {parents:?} are not in ascending order"));
                }
            }
        }
        Ok(Self { names, children })
    }

    /// Number of variables.
    #[inline]
    pub fn n_vars(&self) -> usize {
        self.names.len()
    }

    /// The variables' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The candidates of one variable.
    #[inline]
    pub fn child(&self, child: Var) -> &ChildCandidates {
        &self.children[child]
    }

    /// Along an order, the best set of each variable within those before it: parents and scores by variable.
    ///
    /// # Errors
    /// If a variable has no such set.
    pub fn best_along(&self, order: &[u32]) -> Result<(Vec<Vec<u32>>, Vec<f64>)> {
        let n = self.n_vars();
        let (mut parents, mut scores, mut before) = (vec![Vec::new(); n], vec![f64::NEG_INFINITY; n], vec![false; n]);
        for &v in order {
            let best = self.child(v as usize).iter().find(|(set, _)| set.iter().all(|&p| before[p as usize]));
            let (set, score) = best.ok_or_else(|| Error::Shape(format!("variable {v} has no set within the order")))?;
            parents[v as usize] = set.to_vec();
            scores[v as usize] = score;
            before[v as usize] = true;
        }
        Ok((parents, scores))
    }

    /// Number of sets over all variables.
    pub fn n_sets(&self) -> usize {
        self.children.iter().map(ChildCandidates::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_stand_best_first_and_ties_go_to_the_smaller_set() {
        let sets = [(1.0, vec![1, 2]), (1.0, vec![3]), (2.0, vec![1, 3]), (1.0, vec![2])];
        let child = ChildCandidates::from_sets(sets);
        let order: Vec<_> = child.iter().map(|(p, _)| p.to_vec()).collect();
        assert_eq!(order, [vec![1, 3], vec![2], vec![3], vec![1, 2]]);
    }

    #[test]
    fn along_an_order_each_variable_has_its_best_set_among_those_before_it() {
        let of = |sets: &[(f64, &[u32])]| ChildCandidates::from_sets(sets.iter().map(|(s, set)| (*s, set.to_vec())));
        let children = vec![of(&[(2.0, &[1]), (0.5, &[])]), of(&[(3.0, &[0, 2]), (1.0, &[2])]), of(&[(0.0, &[])])];
        let candidates = Candidates::new(["a", "b", "c"].map(String::from).to_vec(), children).unwrap();
        let (parents, scores) = candidates.best_along(&[2, 1, 0]).unwrap();
        assert_eq!((parents, scores), (vec![vec![1], vec![2], vec![]], vec![2.0, 1.0, 0.0]));
        assert!(candidates.best_along(&[1, 2, 0]).is_err());
    }

    #[test]
    fn a_child_among_its_own_parents_is_refused() {
        let child = ChildCandidates::from_sets([(0.0, vec![0])]);
        assert!(Candidates::new(vec!["a".into()], vec![child]).is_err());
    }
}
