//! Numbers: normal distribution, Normal-inverse-gamma prior.
//!
//! `sigma^2 ~ IG(nu/2, nu lam/2)`, `mu | sigma^2 ~ N(mean, sigma^2/a)`; then with `s` the sum of squares about the
//! sample mean and `t = n a/(n+a) (sample mean - mean)^2`,
//! `ln p = -n/2 ln pi + nu/2 ln(nu lam) + 1/2 ln(a/(n+a)) + ln G((n+nu)/2) - ln G(nu/2) - (n+nu)/2 ln(s + t + nu lam)`.
//! Everything but the last term depends on the count alone and is tabulated. Sums are kept about a `centre`, so that
//! numbers far from zero keep their digits.

use libm::lgamma;
use serde::{Deserialize, Serialize};

use super::LeafModel;
use crate::predictive::Predictive;

/// Count, sum and sum of squares of the responses' distances from the model's centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Number of responses.
    pub n: u64,
    /// Sum of `y - centre`.
    pub sum: f64,
    /// Sum of `(y - centre)^2`.
    pub squares: f64,
}

/// Normal responses.
#[derive(Clone, Debug)]
pub struct Normal {
    mean: f64,
    a: f64,
    nu: f64,
    lam: f64,
    centre: f64,
    published: bool,
    by_count: Vec<f64>,
}

impl Default for Normal {
    fn default() -> Self {
        Self::new(0.0, 1.0, 1.0, 1.0)
    }
}

impl Normal {
    /// With prior mean `mean`, weight `a > 0`, degrees of freedom `nu > 0` and scale `lam > 0`, in stored units.
    pub fn new(mean: f64, a: f64, nu: f64, lam: f64) -> Self {
        Self { mean, a, nu, lam, centre: 0.0, published: false, by_count: Vec::new() }
    }

    /// The same model with its sums about `centre` (the column's mean, say). Only rounding depends on it.
    #[must_use]
    pub fn centred(mut self, centre: f64) -> Self {
        self.centre = centre;
        self
    }

    /// As the authors' program computes it: `s` is multiplied by `(n-1)/n`.
    #[must_use]
    pub fn published(mut self) -> Self {
        self.published = true;
        self
    }

    /// The same model with its logarithms tabulated for counts up to `n_max`.
    #[must_use]
    pub fn tabulated(mut self, n_max: usize) -> Self {
        self.by_count = (0..=n_max).map(|n| self.computed(n as f64)).collect();
        self
    }

    fn computed(&self, n: f64) -> f64 {
        let (a, nu) = (self.a, self.nu);
        -0.5 * n * std::f64::consts::PI.ln() + 0.5 * nu * (nu * self.lam).ln() - 0.5 * (n / a).ln_1p()
            + lgamma(0.5 * (n + nu))
            - lgamma(0.5 * nu)
    }

    /// Everything but the last term: what the count alone decides.
    pub fn count_term(&self, n: u64) -> f64 {
        self.by_count.get(n as usize).copied().unwrap_or_else(|| self.computed(n as f64))
    }

    /// The same of a sum of weights.
    pub fn weight_term(&self, n: f64) -> f64 {
        let place = n as usize;
        match self.by_count.get(place) {
            Some(&known) if place as f64 == n => known,
            _ => self.computed(n),
        }
    }

    /// The posterior predictive distribution by a sum of weights, and the weighted sums of distances from the centre and
    /// of their squares.
    pub fn fit_weighed(&self, n: f64, sum: f64, squares: f64) -> Predictive {
        let df = n + self.nu;
        let weight = n + self.a;
        let (mut spread, own) = (self.nu * self.lam, if n > 0.0 { sum / n } else { 0.0 });
        if n > 0.0 {
            let distance = own + (self.centre - self.mean);
            spread += (squares - sum * own).max(0.0) + n * self.a / weight * distance * distance;
        }
        let location = (self.a * self.mean + n * self.centre + sum) / weight;
        Predictive::StudentT { df, location, scale: (spread / df * (weight + 1.0) / weight).sqrt() }
    }

    /// What sums are taken about.
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// The prior's mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The prior's weight in observations.
    pub fn a(&self) -> f64 {
        self.a
    }

    /// The prior's degrees of freedom.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// True for the authors' program's form.
    pub fn is_published(&self) -> bool {
        self.published
    }

    /// The prior's scale.
    pub fn lam(&self) -> f64 {
        self.lam
    }

    /// `s`: the sum of squares about the sample mean, never negative.
    pub fn scatter(&self, stat: &Moments) -> f64 {
        if stat.n < 2 {
            return 0.0;
        }
        self.scatter_of(stat.n as f64, stat.sum, stat.squares) * self.scatter_factor(stat.n)
    }

    /// The same of a sum of weights, and never as published.
    pub fn scatter_of(&self, n: f64, sum: f64, squares: f64) -> f64 {
        if n == 0.0 { 0.0 } else { (squares - sum * sum / n).max(0.0) }
    }

    /// What the sum of squares about the mean of `n` responses counts for: all of it, or `(n-1)/n` as published.
    pub fn scatter_factor(&self, n: u64) -> f64 {
        if self.published { (n as f64 - 1.0) / n as f64 } else { 1.0 }
    }

    /// `t`: what the sample mean's distance from the prior's mean costs.
    pub fn shift(&self, stat: &Moments) -> f64 {
        self.shift_of(stat.n as f64, stat.sum)
    }

    /// The same of a sum of weights.
    pub fn shift_of(&self, n: f64, sum: f64) -> f64 {
        if n == 0.0 {
            return 0.0;
        }
        let distance = sum / n + (self.centre - self.mean);
        n * self.a / (n + self.a) * distance * distance
    }
}

impl LeafModel for Normal {
    type Value = f64;
    type Stat = Moments;

    fn empty(&self) -> Moments {
        Moments::default()
    }

    fn observe(&self, stat: &mut Moments, value: f64) {
        let y = value - self.centre;
        self.merge(stat, &Moments { n: 1, sum: y, squares: y * y });
    }

    fn merge(&self, stat: &mut Moments, other: &Moments) {
        stat.n += other.n;
        stat.sum += other.sum;
        stat.squares += other.squares;
    }

    fn count(&self, stat: &Moments) -> u64 {
        stat.n
    }

    fn log_marginal(&self, stat: &Moments) -> f64 {
        if stat.n == 0 {
            return 0.0;
        }
        let spread = self.scatter(stat) + self.shift(stat) + self.nu * self.lam;
        self.count_term(stat.n) - 0.5 * (stat.n as f64 + self.nu) * spread.ln()
    }

    fn fit(&self, stat: &Moments) -> Predictive {
        let n = stat.n as f64;
        let df = n + self.nu;
        let weight = n + self.a;
        let spread = self.scatter(stat) + self.shift(stat) + self.nu * self.lam;
        let location = (self.a * self.mean + n * self.centre + stat.sum) / weight;
        Predictive::StudentT { df, location, scale: (spread / df * (weight + 1.0) / weight).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(leaf: &Normal, values: &[f64]) -> Moments {
        let mut stat = leaf.empty();
        for &y in values {
            leaf.observe(&mut stat, y);
        }
        stat
    }

    #[test]
    fn one_number_under_the_default_prior_is_a_cauchy() {
        // nu = 1: a t with one degree of freedom, squared scale lam (1 + 1/a) = 2.
        let leaf = Normal::default();
        let (y, scale) = (1.5_f64, 2.0_f64.sqrt());
        let cauchy = -(std::f64::consts::PI * scale * (1.0 + (y / scale).powi(2))).ln();
        assert!((leaf.log_marginal(&moments(&leaf, &[y])) - cauchy).abs() < 1e-14);
    }

    #[test]
    fn the_centre_changes_nothing_but_keeps_the_digits_of_far_numbers() {
        let values = [1e8 + 0.25, 1e8 - 0.5, 1e8 + 1.0];
        let near = Normal::new(0.0, 1.0, 1.0, 1.0);
        let centred = Normal::new(-1e8, 1.0, 1.0, 1.0).centred(0.0);
        let small: Vec<_> = values.iter().map(|y| y - 1e8).collect();
        let far = near.clone().centred(1e8);
        let difference = far.log_marginal(&moments(&far, &values)) - centred.log_marginal(&moments(&centred, &small));
        assert!(difference.abs() < 1e-9, "{difference}");
        let scatter = far.scatter(&moments(&far, &values));
        assert!((scatter - (0.25 * 0.25 + 0.25 + 1.0 - 0.75 * 0.75 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn equal_numbers_have_no_scatter() {
        let leaf = Normal::default();
        assert!(leaf.scatter(&moments(&leaf, &[0.1; 7])) < 1e-15);
    }
}
