//! Ordered levels: a Bayesian histogram (section 2.5), averaged over all segmentations of the levels into bins.
//!
//! `p = sum_B kappa^(b-1) / (1+kappa)^(k-1) G(A)/G(n+A) prod_j G(n_j + A_j)/G(A_j) |B_j|^(-n_j)`, by the forward
//! recursion `g(t) = sum_s g(s-1) f(s, t)` in `O(k^2)`, in log space. The printed Proposition 1 multiplies each bin by
//! a multinomial coefficient, which is the probability of the counts within a bin and not of the rows; the authors'
//! program also leaves out `kappa^-1 (1+kappa)^(1-k)`. [`Ordinal::published`] reproduces both.

use smallvec::{SmallVec, smallvec};

use super::rising::Rising;
use super::{Amount, Counts, LeafModel, LevelFit, Total, total_of};
use crate::predictive::Predictive;

/// Ordinal responses with `k` levels.
#[derive(Clone, Debug)]
pub struct Ordinal {
    k: usize,
    alpha: f64,
    kappa: f64,
    published: bool,
    log_kappa: f64,
    log_constant: f64,
    /// By width of a bin.
    bins: Vec<Bin>,
    log_factorial: Rising,
}

#[derive(Clone, Debug)]
struct Bin {
    log_width: f64,
    rising: Rising,
}

impl Ordinal {
    /// With `k >= 1` declared levels, `alpha > 0` for each, and odds `kappa > 0` of a boundary between neighbours.
    pub fn new(k: usize, alpha: f64, kappa: f64) -> Self {
        let bins = (0..=k).map(|w| w as f64).map(|w| Bin { log_width: w.ln(), rising: Rising::new(alpha * w) });
        let log_constant = -(k as f64 - 1.0) * kappa.ln_1p();
        let log_factorial = Rising::new(1.0);
        Self {
            k,
            alpha,
            kappa,
            published: false,
            log_kappa: kappa.ln(),
            log_constant,
            bins: bins.collect(),
            log_factorial,
        }
    }

    /// As the authors' program computes it.
    #[must_use]
    pub fn published(mut self) -> Self {
        self.published = true;
        self.log_constant = self.log_kappa;
        self
    }

    /// The same model with its logarithms tabulated for counts up to `n_max`.
    #[must_use]
    pub fn tabulated(mut self, n_max: usize) -> Self {
        for bin in self.bins.iter_mut().skip(1) {
            bin.rising = bin.rising.clone().tabulated(n_max);
        }
        if self.published {
            self.log_factorial = self.log_factorial.tabulated(n_max);
        }
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

    /// The prior odds of a boundary between two neighbouring levels.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// `ln f(s, t)` of a bin of `width` levels that holds `n` responses.
    fn log_bin<T: Total>(&self, width: usize, n: T) -> f64 {
        let bin = &self.bins[width];
        bin.rising.at(n) - n.number() * bin.log_width
    }

    /// Log marginal of responses whose counts stand in a slice.
    pub fn log_marginal_of<N: Amount>(&self, stat: &[N]) -> f64 {
        let n = total_of(stat);
        if n == N::Total::default() {
            return 0.0;
        }
        // ln g(t) / kappa for the first t levels; the bin that ends at t starts at s.
        let mut log_g: SmallVec<[f64; 16]> = smallvec![0.0; self.k + 1];
        let mut terms: SmallVec<[f64; 16]> = SmallVec::new();
        for t in 1..=self.k {
            let (mut in_bin, mut factorials) = (N::Total::default(), 0.0);
            terms.clear();
            for s in (0..t).rev() {
                in_bin += stat[s].total();
                let mut term = log_g[s] + self.log_bin(t - s, in_bin);
                if s > 0 {
                    term += self.log_kappa;
                }
                if self.published {
                    factorials += self.log_factorial.at(stat[s].total());
                    term += self.log_factorial.at(in_bin) - factorials;
                }
                terms.push(term);
            }
            log_g[t] = log_sum_exp(&terms);
        }
        self.log_constant + log_g[self.k] - self.bins[self.k].rising.at(n)
    }
}

impl LeafModel for Ordinal {
    type Value = u32;
    type Stat = Counts;

    fn empty(&self) -> Counts {
        smallvec![0; self.k]
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

impl LevelFit for Ordinal {
    /// One more response at level `y` multiplies every segmentation's term by `(n_j + A_j) / (n + A) / |B_j|`, where `j`
    /// is the bin that holds `y`. What all segmentations with a bin from `s` to `t` weigh together is
    /// `g(s) f(s, t) h(t)`, with `h` the recursion from the other end: `O(k^2)` for all levels. The published variant
    /// predicts the same, as its own ratios are not probabilities.
    fn fit_of<N: Amount>(&self, counts: &[N]) -> Predictive {
        let k = self.k;
        let mut below = vec![N::Total::default(); k + 1];
        for (t, &n) in counts.iter().enumerate() {
            below[t + 1] = below[t];
            below[t + 1] += n.total();
        }
        let between = |s: usize, t: usize| {
            let mut n = below[t];
            n -= below[s];
            n
        };
        let log_bin = |s: usize, t: usize| self.log_bin(t - s, between(s, t));
        // Every bin but the first costs kappa: those from the left pay it at their start, those from the right do too.
        let boundary = |s: usize| if s == 0 { 0.0 } else { self.log_kappa };
        let (mut log_g, mut log_h) = (vec![0.0; k + 1], vec![0.0; k + 1]);
        let mut terms = Vec::with_capacity(k);
        for t in 1..=k {
            terms.clear();
            terms.extend((0..t).map(|s| log_g[s] + boundary(s) + log_bin(s, t)));
            log_g[t] = log_sum_exp(&terms);
        }
        for s in (1..k).rev() {
            terms.clear();
            terms.extend((s + 1..=k).map(|t| boundary(s) + log_bin(s, t) + log_h[t]));
            log_h[s] = log_sum_exp(&terms);
        }
        let mut probabilities = vec![0.0; k];
        let total = below[k].number() + self.alpha * k as f64;
        for s in 0..k {
            // Bins that start here: a level between s and t is in all that end beyond it.
            let mut in_longer = 0.0;
            for t in (s + 1..=k).rev() {
                let weight = (log_g[s] + boundary(s) + log_bin(s, t) + log_h[t] - log_g[k]).exp();
                let width = (t - s) as f64;
                in_longer += weight * (between(s, t).number() / width + self.alpha) / total;
                probabilities[t - 1] += in_longer;
            }
        }
        Predictive::Levels { probabilities }
    }
}

fn log_sum_exp(terms: &[f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use libm::lgamma;

    use super::*;

    /// The whole formula with every segmentation written out.
    fn enumerated(counts: &[u32], alpha: f64, kappa: f64) -> f64 {
        let k = counts.len();
        let total_alpha = alpha * k as f64;
        let n: u32 = counts.iter().sum();
        let mut sum = 0.0;
        for cuts in 0..1_u32 << (k - 1) {
            let mut log_term = f64::from(cuts.count_ones()) * kappa.ln();
            let mut start = 0;
            for t in 1..=k {
                if t == k || cuts >> (t - 1) & 1 == 1 {
                    let (width, n_j) = ((t - start) as f64, f64::from(counts[start..t].iter().sum::<u32>()));
                    log_term += lgamma(n_j + width * alpha) - lgamma(width * alpha) - n_j * width.ln();
                    start = t;
                }
            }
            sum += log_term.exp();
        }
        sum.ln() - (k as f64 - 1.0) * kappa.ln_1p() + lgamma(total_alpha) - lgamma(f64::from(n) + total_alpha)
    }

    #[test]
    fn the_recursion_is_the_sum_over_all_segmentations() {
        for counts in [&[3, 0, 1, 7, 2][..], &[0, 0, 0, 9], &[1], &[0, 2], &[1, 1, 1, 1, 1, 1]] {
            let leaf = Ordinal::new(counts.len(), 0.5, 0.25).tabulated(8);
            let got = leaf.log_marginal(&Counts::from_slice(counts));
            assert!((got - enumerated(counts, 0.5, 0.25)).abs() < 1e-12, "{counts:?}");
        }
    }

    #[test]
    fn only_neighbours_may_share_a_bin() {
        let leaf = Ordinal::new(4, 0.5, 0.25);
        let smooth = leaf.log_marginal(&Counts::from_slice(&[5, 5, 0, 0]));
        assert!(smooth > leaf.log_marginal(&Counts::from_slice(&[5, 0, 5, 0])));
    }
}
