//! Additions to a parent set that improve on it, the rest unscored where a bound allows it.
//!
//! Searches over classes and orders ask of one child and one base for all other variables, and use only those that score more
//! than the base. Where a score knows a cheap upper bound (`addition_bound`), it is asked first, and only what may
//! improve is scored: the same additions with the same scores. What was ruled out is one bit.

use rayon::prelude::*;

use super::families::{Scored, score_of};
use crate::error::Result;
use crate::parents::Parents;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// For fewer additions to the same parents, preparing their bounds takes longer than scoring them.
const LEAST_ADDITIONS: usize = 8;

/// Parents, and what the child scores with them.
pub struct Base {
    /// Ascending.
    pub parents: Parents,
    /// The score.
    pub score: f64,
}

impl Scored<'_> {
    /// The scores of additions that score more than what they are added to, each given by a place among the bases and a
    /// variable; minus infinity for others, or what they score. Scores are remembered if `remember` says so.
    ///
    /// # Errors
    /// If one cannot be scored, or the budget is used up.
    pub fn improving(&self, child: Var, bases: &[Base], added: &[(usize, Var)], remember: bool) -> Result<Vec<f64>> {
        let n_vars = self.constraints().n_vars();
        let sets: Vec<Parents> = added.iter().map(|&(base, p)| with(&bases[base].parents, p)).collect();
        let mut out: Vec<Option<f64>> = {
            let known = self.known(child);
            sets.iter().map(|set| known.get(set)).collect()
        };
        let mut missing: Vec<usize> = (0..sets.len()).filter(|&i| out[i].is_none()).collect();
        {
            let ruled_out = self.ruled_out(child);
            missing.retain(|&i| !ruled_out.has(&bases[added[i].0].parents, added[i].1));
        }
        // All of one base in a row: what they have in common is prepared once.
        missing.sort_by_key(|&i| added[i].0);
        let mut n_of = vec![0; bases.len()];
        for &i in &missing {
            n_of[added[i].0] += 1;
        }
        let halt = self.budget.halt();
        let scored = |chunk: &[usize]| -> Result<Vec<Option<f64>>> {
            let mut scratch = self.score().child(child)?;
            scratch.heed(&halt);
            let mut scores = Vec::with_capacity(chunk.len());
            for &i in chunk {
                halt.check()?;
                let (base, p) = added[i];
                let Base { parents, score } = &bases[base];
                let many = n_of[base] >= LEAST_ADDITIONS;
                let short = many && scratch.addition_bound(parents, p) <= *score;
                scores.push(if short { None } else { Some(score_of(&mut *scratch, &sets[i], &self.refused)?) });
            }
            Ok(scores)
        };
        if missing.is_empty() {
            return Ok(out.into_iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect());
        }
        let chunk = missing.len().div_ceil(rayon::current_num_threads());
        let scores: Vec<Vec<Option<f64>>> = missing.par_chunks(chunk).try_map(scored)?;
        let scores = || missing.iter().zip(scores.iter().flatten());
        if remember {
            let mut known = self.known(child);
            for (&i, score) in scores() {
                score.inspect(|&score| known.insert(&sets[i], score, self.most));
            }
            drop(known);
            let mut ruled_out = self.ruled_out(child);
            for (&i, _) in scores().filter(|(_, score)| score.is_none()) {
                ruled_out.insert(&bases[added[i].0].parents, added[i].1, n_vars);
            }
        }
        self.count(scores().filter(|(_, score)| score.is_some()).count());
        scores().for_each(|(&i, &score)| out[i] = score);
        Ok(out.into_iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect())
    }
}

/// An ascending set with one variable more.
fn with(set: &Parents, added: Var) -> Parents {
    let at = set.partition_point(|&p| p < added);
    let mut out = Parents::with_capacity(set.len() + 1);
    out.extend_from_slice(&set[..at]);
    out.push(added);
    out.extend_from_slice(&set[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::super::boss::Boss;
    use super::super::families::Families;
    use super::super::ges::{Classed, Fges};
    use super::super::testing;
    use super::*;
    use crate::constraints::Constraints;
    use crate::control::{Budget, Control};
    use crate::local::{ChildScore, LocalScore};
    use crate::model::LocalModel;
    use crate::table::Table;
    use arbornet_model::prior::GraphPrior;
    use arbornet_score::mixed::conditional::ConditionalGaussian;

    /// A score that says no bounds.
    struct Unbounded<'a>(&'a dyn LocalScore);

    impl LocalScore for Unbounded<'_> {
        fn table(&self) -> &Table {
            self.0.table()
        }

        fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
            Ok(Box::new(OfChild(self.0.child(child)?)))
        }

        fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
            self.0.model(child, parents)
        }
    }

    struct OfChild<'a>(Box<dyn ChildScore + 'a>);

    impl ChildScore for OfChild<'_> {
        fn score(&mut self, parents: &[Var]) -> Result<f64> {
            self.0.score(parents)
        }
    }

    type Outcome = (Vec<Vec<Var>>, Vec<u64>, u64, u64);

    fn found(score: &dyn LocalScore, boss: bool) -> Outcome {
        let (constraints, control) = (Constraints::none(score.table().n_vars()), Control::default());
        let budget = Budget::new(&control, None);
        let scored = Scored::new(score, &constraints, budget);
        let run = if boss {
            Boss { restarts: 1, seed: 3 }.run(&scored, None, budget)
        } else {
            Fges { faithfulness: false }.run(&scored, None, budget)
        };
        let Classed { dag, scores, n_moves, .. } = run.unwrap();
        let families = (0..dag.n_vars()).map(|v| dag.family(v).to_vec()).collect();
        (families, scores.iter().map(|score| score.to_bits()).collect(), n_moves, scored.n_scored())
    }

    #[test]
    fn bounds_change_no_graph_no_move_and_no_bit_of_a_score() {
        let (mut with, mut without) = (0, 0);
        for seed in 0..testing::rounds(24) {
            let mut rng = testing::rng(seed);
            let n_vars = [5, 12, 25, 40][seed as usize % 4];
            let numbers = [0.5, 0.8, 0.2][seed as usize % 3];
            let table = testing::mixed(n_vars, 60 + 10 * seed as usize, numbers, &mut rng);
            let prior = [GraphPrior::Uniform, GraphPrior::Binomial { expected_parents: 1.0 }][seed as usize % 2];
            let score = ConditionalGaussian { prior, discretise: seed % 5 == 4, ..Default::default() };
            let score = score.prepare(&table).unwrap();
            for boss in [false, true] {
                let (own, literal) = (found(&*score, boss), found(&Unbounded(&*score), boss));
                assert_eq!((&own.0, &own.1, own.2), (&literal.0, &literal.1, literal.2), "seed {seed}, boss {boss}");
                with += own.3;
                without += literal.3;
            }
        }
        assert!(3 * with < 2 * without, "{with} families of {without}");
    }
}
