//! Levels without an order: categorical distribution, symmetric Dirichlet prior with parameter `alpha` per level.
//!
//! `ln p = ln G(A) - ln G(n + A) + sum_x [ln G(n_x + alpha) - ln G(alpha)]`, `A = k alpha`. With [`within`] the
//! prior's weight is the leaf's share of the predictor space, as `BDeu` wants it.
//!
//! [`within`]: Categorical::within

use super::rising::Rising;
use super::{Amount, Counts, LeafModel, LevelFit, Total, total_of};
use crate::predictive::Predictive;

/// Dirichlet-categorical responses with `k` levels.
#[derive(Clone, Debug)]
pub struct Categorical {
    k: usize,
    alpha: f64,
    level: Rising,
    total: Rising,
}

impl Categorical {
    /// With `k >= 1` declared levels and `alpha > 0` for each.
    pub fn new(k: usize, alpha: f64) -> Self {
        Self { k, alpha, level: Rising::new(alpha), total: Rising::new(alpha * k as f64) }
    }

    /// `BDeu`: an equivalent sample size `ess`, of which a leaf gets its `share` of the predictor space.
    pub fn within(k: usize, ess: f64, share: f64) -> Self {
        Self::new(k, ess * share / k as f64)
    }

    /// The same model with its logarithms tabulated for counts up to `n_max`.
    #[must_use]
    pub fn tabulated(mut self, n_max: usize) -> Self {
        self.level = self.level.tabulated(n_max);
        self.total = self.total.tabulated(n_max);
        self
    }

    /// Number of declared levels.
    pub fn n_levels(&self) -> usize {
        self.k
    }

    /// The prior's parameter of each level.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Log marginal of responses with these counts, one per level; further zeros change nothing.
    #[inline]
    pub fn log_marginal_of<N: Amount>(&self, counts: &[N]) -> f64 {
        let (mut log_p, mut n) = (0.0, N::Total::default());
        for &n_x in counts {
            log_p += self.level.at(n_x.total());
            n += n_x.total();
        }
        log_p - self.total.at(n)
    }

    /// Log marginal of `n` responses that are all of the same level.
    pub fn log_pure<T: Total>(&self, n: T) -> f64 {
        self.level.at(n) - self.total.at(n)
    }
}

impl LeafModel for Categorical {
    type Value = u32;
    type Stat = Counts;

    fn empty(&self) -> Counts {
        smallvec::smallvec![0; self.k]
    }

    fn observe(&self, stat: &mut Counts, value: u32) {
        stat[value as usize] += 1;
    }

    fn merge(&self, stat: &mut Counts, other: &Counts) {
        stat.iter_mut().zip(other).for_each(|(n, m)| *n += m);
    }

    fn count(&self, stat: &Counts) -> u64 {
        total_of(stat)
    }

    fn log_marginal(&self, stat: &Counts) -> f64 {
        self.log_marginal_of(stat)
    }

    fn fit(&self, stat: &Counts) -> Predictive {
        self.fit_of(stat)
    }
}

impl LevelFit for Categorical {
    fn fit_of<N: Amount>(&self, counts: &[N]) -> Predictive {
        let total = total_of(counts).number() + self.alpha * self.k as f64;
        Predictive::Levels { probabilities: counts.iter().map(|&n| (n.real() + self.alpha) / total).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_by_hand() {
        // Jeffreys: p(head) = 1/2, p(head | head) = 3/4, p(tail | head, head) = 1/6.
        let leaf = Categorical::new(2, 0.5).tabulated(2);
        let counts = Counts::from_slice(&[2, 1]);
        assert!((leaf.log_marginal(&counts) - (0.5_f64 * 0.75 / 6.0).ln()).abs() < 1e-14);
    }

    #[test]
    fn one_declared_level_is_certain() {
        assert_eq!(Categorical::new(1, 0.5).log_marginal(&Counts::from_slice(&[7])), 0.0);
    }

    #[test]
    fn shares_of_the_space_split_the_prior() {
        let half = Categorical::within(4, 10.0, 0.5);
        assert_eq!(half.alpha(), 10.0 * 0.5 / 4.0);
    }
}
