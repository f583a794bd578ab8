//! What stands in a leaf: a distribution of the response with its parameters marginalised.
//!
//! One distribution a file: [`categorical`] (Dirichlet), [`ordinal`] (Bayesian histogram), [`normal`]
//! (Normal-inverse-gamma); Talvitie, Eggeling and Koivisto 2019, sections 2.3 to 2.5, with their errata. Beside them stands
//! [`linear`], a normal distribution about a line in further numbers. A leaf is
//! known by its sufficient statistic, which is built by observing responses one by one, or by merging two of them.
//! The searches are compiled once per distribution, so nothing here is dispatched at run time.

mod amount;
mod categorical;
mod counts;
mod histogram;
mod hyper;
mod linear;
mod normal;
mod ordinal;
mod rising;
mod rows;
mod shares;

pub use amount::{Amount, Total};
pub use categorical::Categorical;
pub use counts::{COUNT_SUMS, CountLeaf, CountSum, SIZES};
pub use histogram::{Cells, HistogramLeaf, MOST_CELLS, MOST_HALVINGS};
pub use hyper::{Leaf, LeafParameters, LeafPriors};
pub use linear::{LineSums, Linear, eliminated, n_sums, observe, observe_weighed};
pub use normal::{Moments, Normal};
pub use ordinal::Ordinal;
pub use shares::Shares;

use smallvec::SmallVec;

use self::amount::total_of;
use crate::predictive::Predictive;

/// How often each level occurred, by code.
pub type Counts = SmallVec<[u32; 8]>;

/// A leaf of levels whose responses may be counted, or weighed.
pub trait LevelFit: Clone + Send + Sync {
    /// The posterior predictive distribution, by the responses of each level.
    fn fit_of<N: Amount>(&self, counts: &[N]) -> Predictive;
}

/// A family of response distributions with a conjugate prior.
///
/// `log_marginal(stat)` is the log probability (density) of the *sequence* of observed responses; of no response it
/// is exactly zero. Statistics are plain sums: `merge` is commutative, and for levels exactly associative; for numbers
/// it is floating-point addition, so callers who want the same last bit every time merge in one canonical order.
pub trait LeafModel: Send + Sync {
    /// What one row holds: a level's code (`u32`) or a number in stored units (`f64`).
    type Value: Copy;

    /// The sufficient statistic.
    type Stat: Clone + std::fmt::Debug + PartialEq + Send + Sync;

    /// The statistic of no responses.
    fn empty(&self) -> Self::Stat;

    /// Takes one more response in.
    fn observe(&self, stat: &mut Self::Stat, value: Self::Value);

    /// Takes all responses of another statistic in.
    fn merge(&self, stat: &mut Self::Stat, other: &Self::Stat);

    /// How many responses were observed.
    fn count(&self, stat: &Self::Stat) -> u64;

    /// Log marginal likelihood of the responses, parameters marginalised; natural logarithm, higher is better.
    fn log_marginal(&self, stat: &Self::Stat) -> f64;

    /// The posterior predictive distribution of one more response: the ratio of the marginals with and without it, in
    /// closed form. Of no responses it is the prior predictive.
    fn fit(&self, stat: &Self::Stat) -> Predictive;
}

#[cfg(test)]
mod tests {
    //! One suite, run over every distribution.
    use proptest::prelude::*;

    use super::*;
    use crate::predictive::Value;

    fn observed<L: LeafModel>(leaf: &L, values: &[L::Value]) -> L::Stat {
        let mut stat = leaf.empty();
        for &v in values {
            leaf.observe(&mut stat, v);
        }
        stat
    }

    /// Order does not matter, merging equals observing together, nothing is worth nothing.
    fn conforms<L: LeafModel>(leaf: &L, values: &[L::Value], cut: usize) {
        let together = leaf.log_marginal(&observed(leaf, values));
        let backwards: Vec<_> = values.iter().rev().copied().collect();
        let (left, right) = values.split_at(cut.min(values.len()));
        let mut merged = observed(leaf, left);
        leaf.merge(&mut merged, &observed(leaf, right));
        let close =
            |other: f64| assert!((other - together).abs() < 1e-9 * (1.0 + together.abs()), "{together} {other}");
        close(leaf.log_marginal(&observed(leaf, &backwards)));
        close(leaf.log_marginal(&merged));
        assert_eq!(leaf.count(&merged), values.len() as u64);
        assert_eq!(leaf.log_marginal(&leaf.empty()), 0.0);
    }

    proptest! {
        #[test]
        fn merging_is_observing_together(codes in prop::collection::vec(0..5_u32, 0..40),
                                         reals in prop::collection::vec(-4.0..4.0_f64, 0..40), cut in 0..40_usize) {
            conforms(&Categorical::new(5, 0.5), &codes, cut);
            conforms(&Ordinal::new(5, 0.5, 0.25), &codes, cut);
            conforms(&Normal::default().centred(0.3), &reals, cut);
        }
    }

    fn fits<L: LeafModel>(leaf: &L, seen: &[L::Value], next: L::Value, value: Value) {
        let with = leaf.log_marginal(&observed(leaf, &[seen, &[next]].concat()));
        let ratio = with - leaf.log_marginal(&observed(leaf, seen));
        let fitted = leaf.fit(&observed(leaf, seen)).log_density(value);
        assert!((fitted - ratio).abs() < 1e-10 * (1.0 + with.abs()), "{value:?}: {fitted} {ratio}");
    }

    proptest! {
        #[test]
        fn the_predictive_is_the_ratio_of_marginals_with_and_without(
            codes in prop::collection::vec(0..5_u32, 0..40), alpha in 0.05..3.0_f64, kappa in 0.01..9.0_f64,
            reals in prop::collection::vec(-4.0..4.0_f64, 0..40), next in -9.0..9.0_f64, nu in 0.2..5.0_f64,
        ) {
            for y in 0..5 {
                fits(&Categorical::new(5, alpha), &codes, y, Value::Code(y));
                fits(&Ordinal::new(5, alpha, kappa), &codes, y, Value::Code(y));
            }
            fits(&Normal::new(0.7, alpha, nu, kappa).centred(-0.2), &reals, next, Value::Real(next));
        }

        #[test]
        fn fitted_probabilities_sum_to_one(codes in prop::collection::vec(0..9_u32, 0..2000)) {
            let total = |p: Predictive| p.cdf(Value::Code(7)) + p.log_density(Value::Code(8)).exp();
            let (categorical, ordinal) = (Categorical::new(9, 0.5), Ordinal::new(9, 0.5, 0.25));
            prop_assert!((total(categorical.fit(&observed(&categorical, &codes))) - 1.0).abs() < 1e-10);
            prop_assert!((total(ordinal.fit(&observed(&ordinal, &codes))) - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn the_predictive_of_nothing_is_the_prior() {
        let uniform =
            |p: Predictive, k| (0..k).all(|c| (p.log_density(Value::Code(c)).exp() * f64::from(k) - 1.0).abs() < 1e-14);
        let categorical = Categorical::new(3, 0.5);
        assert!(uniform(categorical.fit(&categorical.empty()), 3));
        let ordinal = Ordinal::new(4, 0.5, 0.25);
        assert!(uniform(ordinal.fit(&ordinal.empty()), 4));
        let normal = Normal::new(3.0, 1.0, 1.0, 2.0);
        let prior = Predictive::StudentT { df: 1.0, location: 3.0, scale: 2.0 };
        assert_eq!(normal.fit(&normal.empty()), prior);
    }

    #[test]
    fn published_leaves_still_predict_with_probabilities() {
        let leaf = Ordinal::new(4, 0.5, 0.25);
        let seen = observed(&leaf, &[0, 0, 1, 3]);
        assert_eq!(leaf.clone().published().fit(&seen), leaf.fit(&seen));
    }

    /// `p(a) p(b | a)` summed over the next level is `p(a)`: the marginal is one of sequences.
    #[test]
    fn predictive_ratios_of_levels_sum_to_one() {
        fn total<L: LeafModel<Value = u32>>(leaf: &L, seen: &[u32]) -> f64 {
            let before = leaf.log_marginal(&observed(leaf, seen));
            (0..4).map(|y| (leaf.log_marginal(&observed(leaf, &[seen, &[y]].concat())) - before).exp()).sum()
        }
        let seen = [0, 0, 1, 3];
        assert!((total(&Categorical::new(4, 0.5), &seen) - 1.0).abs() < 1e-12);
        assert!((total(&Ordinal::new(4, 0.5, 0.25), &seen) - 1.0).abs() < 1e-12);
        // The print's multinomial coefficients make it a probability of counts within bins, which is not one of rows.
        assert!((total(&Ordinal::new(4, 0.5, 0.25).published(), &seen) - 2.78).abs() < 0.005);
    }

    #[test]
    fn predictive_ratios_of_numbers_integrate_to_one() {
        let leaf = Normal::default();
        let seen = [0.5, -1.0, 2.0];
        let before = leaf.log_marginal(&observed(&leaf, &seen));
        // Substituting y = tan(u) makes the heavy tails finite.
        let steps = 20_000;
        let width = std::f64::consts::PI / f64::from(steps);
        let density = |y: f64| (leaf.log_marginal(&observed(&leaf, &[&seen[..], &[y]].concat())) - before).exp();
        let total: f64 = (0..steps)
            .map(|i| ((f64::from(i) + 0.5) * width - std::f64::consts::FRAC_PI_2).tan())
            .map(|y| density(y) * (1.0 + y * y) * width)
            .sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}
