//! Candidates under another prior over parent sets, without scoring again.
//!
//! A set was dropped because one of its subsets scores at least as high. Under a prior that asks no less of a larger set
//! than of a smaller one that stays so, and what is kept under it is among what was kept without it.

use rustc_hash::FxHashSet;

use crate::candidates::{Candidates, ChildCandidates};
use crate::error::{Error, Result};
use crate::prior::{FamilySize, GraphPrior};

/// Adds the prior to every score and drops what a subset dominates now. Sets of up to `max_parents` parents had been
/// looked at. Candidates that keep all sets (`pruned` false) go on keeping them, and any such prior suits them.
///
/// # Errors
/// If the prior looks at more than the number of parents, or sets were left out and it is kinder to some larger sets than
/// to smaller ones.
pub fn reweighed(candidates: &Candidates, prior: GraphPrior, max_parents: usize, pruned: bool) -> Result<Candidates> {
    prior.check()?;
    let n_vars = candidates.n_vars();
    if matches!(prior, GraphPrior::Ebic { .. } | GraphPrior::Parameters { .. }) {
        return Err(refused(prior, "counts free parameters, which candidates do not hold"));
    }
    let kept = (0..n_vars).flat_map(|child| candidates.child(child).iter());
    let largest = kept.map(|(set, _)| set.len()).max().unwrap_or(0);
    let max_parents = max_parents.min(n_vars.saturating_sub(1)).max(largest);
    let of_size = |n_parents| prior.log_prior(FamilySize { n_vars, n_parents, n_parameters: 0.0 });
    let by_size: Vec<f64> = (0..=max_parents).map(of_size).collect();
    if let Some(kinder) = by_size.windows(2).position(|pair| pruned && pair[1] > pair[0]) {
        let size = kinder + 1;
        let problem = format!(
            "gives sets of {size} parents more weight than sets of {kinder}, so sets that were left out may be needed"
        );
        return Err(refused(prior, &problem));
    }
    let children = (0..n_vars).map(|child| {
        let all = under(candidates.child(child), &by_size);
        if pruned { undominated(&all) } else { all }
    });
    Candidates::new(candidates.names().to_vec(), children.collect())
}

fn refused(prior: GraphPrior, problem: &str) -> Error {
    let advice = "give the prior to the score and call score_parents";
    Error::parameter("prior", &prior, format!("{problem}; {advice}"))
}

fn under(sets: &ChildCandidates, by_size: &[f64]) -> ChildCandidates {
    ChildCandidates::from_sets(sets.iter().map(|(set, score)| (score + by_size[set.len()], set.to_vec())))
}

fn undominated(all: &ChildCandidates) -> ChildCandidates {
    let mut kept = FxHashSet::default();
    let useful = all.iter().filter(|&(set, _)| {
        let useful = !any_within(&kept, set);
        if useful {
            kept.insert(set);
        }
        useful
    });
    ChildCandidates::from_sets(useful.map(|(set, score)| (score, set.to_vec())))
}

/// Whether one of the known sets lies within this one: its subsets are looked up where they are fewer.
fn any_within(known: &FxHashSet<&[u32]>, set: &[u32]) -> bool {
    if set.len() >= 24 || known.len() >> set.len() == 0 {
        return known.iter().any(|small| small.iter().all(|member| set.binary_search(member).is_ok()));
    }
    let mut subset = Vec::with_capacity(set.len());
    (0..1_u32 << set.len()).any(|chosen| {
        subset.clear();
        subset.extend((0..set.len()).filter(|i| chosen >> i & 1 == 1).map(|i| set[i]));
        known.contains(&subset.as_slice())
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// All sets of one child with their scores.
    type Sets = Vec<(f64, Vec<u32>)>;

    /// All sets over `n_vars` variables of up to `max_parents` with random scores, without what a subset dominates.
    fn random(n_vars: usize, max_parents: usize, seed: u64) -> (Vec<Sets>, Candidates) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let all: Vec<Sets> = (0..n_vars)
            .map(|child| {
                let subset = |bits: u32| (0..n_vars as u32).filter(move |v| bits >> v & 1 == 1);
                (0..1_u32 << n_vars)
                    .map(|bits| subset(bits).collect::<Vec<_>>())
                    .filter(|set| set.len() <= max_parents && !set.contains(&(child as u32)))
                    .map(|set| (f64::from(random.random_range(0..12)) + 2.0 * set.len() as f64, set))
                    .collect()
            })
            .collect();
        let kept = kept(&all, |_| 0.0);
        (all, kept)
    }

    /// By the definition: every set with its prior, unless a proper subset does as well.
    fn kept(all: &[Sets], prior: impl Fn(usize) -> f64) -> Candidates {
        let under: Vec<Vec<(f64, &Vec<u32>)>> =
            all.iter().map(|sets| sets.iter().map(|(s, set)| (s + prior(set.len()), set)).collect()).collect();
        let children = under.iter().map(|sets| {
            let beaten = |&&(score, set): &&(f64, &Vec<u32>)| {
                sets.iter().any(|&(s, sub)| sub.len() < set.len() && s >= score && sub.iter().all(|m| set.contains(m)))
            };
            let useful = sets.iter().filter(|family| !beaten(family));
            ChildCandidates::from_sets(useful.map(|&(score, set)| (score, set.clone())))
        });
        Candidates::new((0..all.len()).map(|v| format!("v{v}")).collect(), children.collect()).unwrap()
    }

    #[test]
    fn what_is_kept_is_what_scoring_anew_would_keep() {
        for seed in 0..60 {
            let (n_vars, max_parents) = (4 + seed as usize % 4, 1 + seed as usize % 3);
            let (all, candidates) = random(n_vars, max_parents, seed);
            for prior in [GraphPrior::Uniform, GraphPrior::ParentCount, GraphPrior::Binomial { expected_parents: 1.0 }]
            {
                let of = |n_parents| prior.log_prior(FamilySize { n_vars, n_parents, n_parameters: 0.0 });
                if (1..=max_parents).any(|size| of(size) > of(size - 1)) {
                    continue; // refused, which the next test looks at
                }
                assert_eq!(
                    reweighed(&candidates, prior, max_parents, true).unwrap(),
                    kept(&all, of),
                    "{prior:?}, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn a_prior_under_which_a_dropped_set_may_be_needed_is_refused() {
        let (_, candidates) = random(5, 2, 1);
        let (_, larger) = random(5, 4, 1);
        let told = |prior, most| reweighed(&candidates, prior, most, true).unwrap_err().to_string();
        assert!(told(GraphPrior::ParentCount, 4).contains("sets of 3 parents more weight than sets of 2"));
        assert!(told(GraphPrior::ParentCount, usize::MAX).contains("sets of 3 parents more weight"));
        assert!(reweighed(&candidates, GraphPrior::ParentCount, 2, true).is_ok());
        assert!(reweighed(&larger, GraphPrior::ParentCount, 2, true).is_err(), "it holds sets of more than it says");
        assert!(told(GraphPrior::Binomial { expected_parents: 3.0 }, 2).contains("sets of 1 parents more weight"));
        assert!(told(GraphPrior::Ebic { gamma: 1.0 }, 2).contains("free parameters"));
    }

    #[test]
    fn candidates_that_keep_all_sets_go_on_keeping_them_under_any_prior() {
        let (all, _) = random(5, 4, 3);
        let children = all.iter().map(|sets| ChildCandidates::from_sets(sets.iter().cloned()));
        let whole = Candidates::new((0..5).map(|v| v.to_string()).collect(), children.collect()).unwrap();
        let under = reweighed(&whole, GraphPrior::ParentCount, 4, false).unwrap();
        assert_eq!(under.n_sets(), whole.n_sets());
        let of = |n_parents| GraphPrior::ParentCount.log_prior(FamilySize { n_vars: 5, n_parents, n_parameters: 0.0 });
        for (score, set) in &all[2] {
            assert!(under.child(2).iter().any(|(own, with)| own == set.as_slice() && with == score + of(set.len())));
        }
    }

    #[test]
    fn both_ways_to_look_for_a_subset_agree() {
        let known: FxHashSet<&[u32]> = [&[1, 2][..], &[5], &[7, 8, 9]].into_iter().collect();
        let crowd: Vec<Vec<u32>> = (100..140).map(|v| vec![v]).collect();
        let more: FxHashSet<&[u32]> = known.iter().copied().chain(crowd.iter().map(Vec::as_slice)).collect();
        for (set, expected) in
            [(&[0, 1, 2][..], true), (&[1, 7, 8], false), (&[4, 5], true), (&[7, 8, 9], true), (&[], false)]
        {
            assert_eq!((any_within(&known, set), any_within(&more, set)), (expected, expected), "{set:?}");
        }
    }
}
