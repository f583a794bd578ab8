//! Graph priors: what a parent set costs before any data are seen.

/// `-ln binom(n_vars - 1, n_parents)`: every number of parents is as probable as any other (a constant left out), and
/// every set of that many is.
pub fn parent_count(n_vars: usize, n_parents: usize) -> f64 {
    let others = n_vars.saturating_sub(1);
    (0..n_parents).map(|i| ((i + 1) as f64 / others.saturating_sub(i) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_the_sets() {
        assert_eq!(parent_count(9, 0), 0.0);
        assert!((parent_count(9, 3) + 56.0_f64.ln()).abs() < 1e-14);
        assert!((parent_count(9, 8)).abs() < 1e-14);
    }
}
