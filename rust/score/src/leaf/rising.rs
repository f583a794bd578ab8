//! `ln Gamma(x + n) - ln Gamma(x)`, the log rising factorial, tabulated by count.

use libm::lgamma;

use super::amount::Total;

/// The log rising factorial of one `x`: counts within the table are one load, beyond it they are computed.
#[derive(Clone, Debug)]
pub struct Rising {
    x: f64,
    log_gamma: f64,
    table: Vec<f64>,
}

impl Rising {
    /// Of `x > 0`, without a table.
    pub fn new(x: f64) -> Self {
        Self { x, log_gamma: lgamma(x), table: Vec::new() }
    }

    /// With all counts up to `n_max` tabulated. The values are the same with and without.
    #[must_use]
    pub fn tabulated(mut self, n_max: usize) -> Self {
        self.table = (0..=n_max).map(|n| self.computed(n as f64)).collect();
        self
    }

    fn computed(&self, n: f64) -> f64 {
        if n == 0.0 { 0.0 } else { lgamma(n + self.x) - self.log_gamma }
    }

    /// At a count, or a sum of weights.
    #[inline]
    pub fn at<T: Total>(&self, n: T) -> f64 {
        n.place().and_then(|at| self.table.get(at)).copied().unwrap_or_else(|| self.computed(n.number()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_of_the_factors_logarithms() {
        let rising = Rising::new(0.5).tabulated(3);
        for n in 0..8_u32 {
            let product: f64 = (0..n).map(|i| (0.5 + f64::from(i)).ln()).sum();
            assert!((rising.at(u64::from(n)) - product).abs() < 1e-13);
        }
    }
}
