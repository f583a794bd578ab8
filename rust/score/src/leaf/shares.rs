//! How many rows of a leaf hold a number that many rows share: a Bernoulli variable whose probability has a Beta prior.

use libm::lgamma;

/// What the shares of a column's leaves are worth.
#[derive(Clone, Debug)]
pub struct Shares {
    alpha: f64,
    /// Of a row that holds the shared number.
    log_density: f64,
    /// `ln G(n + alpha) - ln G(alpha)` and `ln G(n + 2 alpha) - ln G(2 alpha)` by count.
    by_count: Vec<[f64; 2]>,
}

impl Shares {
    /// With a prior of `alpha` rows of each kind, of up to `n_rows` rows; the shared number stands for a length of numbers of this
    /// logarithm.
    pub fn new(alpha: f64, log_width: f64, n_rows: usize) -> Self {
        let mut of = Self { alpha, log_density: -log_width, by_count: Vec::new() };
        of.by_count = (0..=n_rows).map(|n| of.rising(n as f64)).collect();
        of
    }

    fn rising(&self, n: f64) -> [f64; 2] {
        let of = |prior: f64| if n == 0.0 { 0.0 } else { lgamma(n + prior) - lgamma(prior) };
        [of(self.alpha), of(2.0 * self.alpha)]
    }

    /// Of weights a count need not be whole.
    #[inline]
    fn of_count(&self, n: f64) -> [f64; 2] {
        let place = n as usize;
        match self.by_count.get(place) {
            Some(known) if place as f64 == n => *known,
            _ => self.rising(n.max(0.0)),
        }
    }

    /// The log probability of which rows hold the shared number, and their density.
    #[inline]
    pub fn log_marginal(&self, shared: f64, others: f64) -> f64 {
        self.log_density * shared + self.of_count(shared)[0] + self.of_count(others)[0]
            - self.of_count(shared + others)[1]
    }

    /// At most that of any partition, without the density: each side pure.
    #[inline]
    pub fn pure(&self, n: f64) -> f64 {
        let [one, both] = self.of_count(n);
        one - both
    }

    /// The probability of the shared number in a leaf.
    pub fn share(&self, shared: f64, others: f64) -> f64 {
        (shared + self.alpha) / (shared + others + 2.0 * self.alpha)
    }

    /// The log density of a row that holds the shared number, apart from its probability.
    pub fn log_density(&self) -> f64 {
        self.log_density
    }

    /// The prior, in rows of each kind.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}
