//! Ranks as shares of the rows, and the normal scores that belong to them.
//!
//! The share of a row is `(rank - 1/2) / n`, equal values with the mean of their ranks; its normal score is the quantile of
//! the standard normal distribution at that share. Neither sees anything of a column but the order of its values.

pub use arbornet_table::normal_scores::{normal_score, share_below};

/// The share of every row.
pub fn shares(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    let mut out = vec![0.0; n];
    let mut start = 0;
    for run in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
        let share = share(start, run.len(), n);
        for &row in run {
            out[row as usize] = share;
        }
        start += run.len();
    }
    out
}

/// The share of every row where rows have weights: a row of weight 2 is as two equal rows.
pub fn weighted_shares(values: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
    let Some(weights) = weights else { return shares(values) };
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    let n: f64 = weights.iter().sum();
    let mut out = vec![0.0; values.len()];
    let mut before = 0.0;
    for run in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
        let own: f64 = run.iter().map(|&row| weights[row as usize]).sum();
        for &row in run {
            out[row as usize] = (before + own / 2.0) / n;
        }
        before += own;
    }
    out
}

/// The share of every code, from how often each occurs; of one that does not occur, that of its place among the others.
pub fn shares_of_codes(counts: &[f64]) -> Vec<f64> {
    let n = counts.iter().sum::<f64>().max(1.0);
    let mut before = 0.0;
    let one = |count: &f64| {
        let share = (before + count / 2.0) / n;
        before += count;
        share.clamp(0.5 / n, 1.0 - 0.5 / n)
    };
    counts.iter().map(one).collect()
}

/// The share of `run` equal values after `before` smaller ones.
fn share(before: usize, run: usize, n: usize) -> f64 {
    (before as f64 + run as f64 / 2.0) / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(shares(&[3.0, -1.0, 3.0, 9.0]), [0.5, 0.125, 0.5, 0.875]);
        assert_eq!(shares(&[2.0; 3]), [0.5; 3]);
        assert!(shares(&[]).is_empty());
    }

    #[test]
    fn rows_with_weights_have_the_shares_of_repeated_rows() {
        let repeated = shares(&[3.0, 3.0, -1.0, 3.0, 9.0, 9.0, 9.0]);
        let weighted = weighted_shares(&[3.0, -1.0, 3.0, 9.0], Some(&[2.0, 1.0, 1.0, 3.0]));
        assert_eq!(weighted, [repeated[0], repeated[2], repeated[3], repeated[4]]);
    }

    #[test]
    fn codes_have_the_shares_of_their_rows() {
        let codes = [0.0, 2.0, 2.0, 0.0, 2.0, 3.0];
        let of_codes = shares_of_codes(&[2.0, 0.0, 3.0, 1.0]);
        let rows = shares(&codes);
        assert!(codes.iter().zip(rows).all(|(&c, share)| (of_codes[c as usize] - share).abs() < 1e-15));
        assert!(of_codes.iter().all(|share| *share > 0.0 && *share < 1.0));
    }

    #[test]
    fn scores_are_quantiles_on_both_sides() {
        // scipy.stats.norm.ppf
        for (share, score) in [(0.5, 0.0), (0.975, 1.959963984540054), (1e-9, -5.997807015007686)] {
            assert!((normal_score(share) - score).abs() < 1e-9, "{share}: {}", normal_score(share));
            assert!((share_below(score) / share - 1.0).abs() < 1e-8);
        }
        assert_eq!(normal_score(0.25), -normal_score(0.75));
    }
}
