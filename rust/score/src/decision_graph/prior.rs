//! The Dirichlet prior of a leaf and its marginal likelihood (section 3, equation 5).
//!
//! `uniform`: every pseudo-count is 1. `ess`: a leaf has `ess` times its share of all parent configurations, spread
//! evenly over the child's levels, so that a merge adds (the U-PN score). A prior network: `ess` times the probability it
//! gives to the child's level and the leaf's region. `kappa` pays for every free parameter (equation 6).

use std::sync::Arc;

use libm::lgamma;

use super::LEAST_GAIN;
use super::amounts::Tallied;
use super::beliefs::Beliefs;
use super::levels::Levels;
use super::region::Region;
use crate::error::Result;
use crate::leaf::Total;

/// A child's counts in a leaf: (code, rows), ascending, those without rows left out.
pub type Counts<N = u32> = Vec<(u32, N)>;

/// Both counts added.
pub fn added<N: Tallied>(a: &[(u32, N)], b: &[(u32, N)]) -> Counts<N> {
    let mut out = Counts::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if x.0 == y.0 => {
                out.push((x.0, sum(x.1, y.1)));
                (i, j) = (i + 1, j + 1);
            }
            (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                out.push(*x);
                i += 1;
            }
            (_, Some(y)) => {
                out.push(*y);
                j += 1;
            }
            (_, None) => unreachable!("one of them has more"),
        }
    }
    out
}

/// The first without the second, which is part of it.
pub fn taken<N: Tallied>(all: &[(u32, N)], part: &[(u32, N)], out: &mut Counts<N>) {
    out.clear();
    let mut part = part.iter().peekable();
    for &(code, n) in all {
        let mut left = n;
        left -= part.next_if(|p| p.0 == code).map_or(N::default(), |p| p.1);
        if left != N::default() {
            out.push((code, left));
        }
    }
}

/// Sum of the rows.
pub fn total<N: Tallied>(counts: &[(u32, N)]) -> N {
    counts.iter().fold(N::default(), |total, c| sum(total, c.1))
}

#[inline]
fn sum<N: Tallied>(mut a: N, b: N) -> N {
    a += b;
    a
}

/// Pseudo-counts of the child's levels in a leaf.
#[derive(Clone, Debug, PartialEq)]
pub enum Alphas {
    /// The same for every level.
    Even(f64),
    /// By code.
    Each(Arc<[f64]>),
}

/// Below it a pseudo-count would be lost in its logarithm.
const LEAST: f64 = 1e-250;

impl Alphas {
    /// Of two leaves merged, under a prior that adds.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Even(a), Self::Even(b)) => Self::Even(a + b),
            (Self::Each(a), Self::Each(b)) => Self::Each(a.iter().zip(&b[..]).map(|(a, b)| a + b).collect()),
            _ => unreachable!("leaves of one graph have one kind of prior"),
        }
    }

    /// Of a level.
    pub fn of(&self, code: u32) -> f64 {
        match self {
            Self::Even(a) => a.max(LEAST),
            Self::Each(each) => each[code as usize].max(LEAST),
        }
    }

    /// Of all `r` levels together.
    pub fn total(&self, r: usize) -> f64 {
        match self {
            Self::Even(a) => a.max(LEAST) * r as f64,
            Self::Each(each) => each.iter().map(|a| a.max(LEAST)).sum(),
        }
    }

    /// A key under which equal ones are equal.
    pub fn bits(&self) -> Vec<u64> {
        match self {
            Self::Even(a) => vec![a.to_bits()],
            Self::Each(each) => each.iter().map(|a| a.to_bits()).collect(),
        }
    }
}

/// Where pseudo-counts come from.
#[derive(Clone)]
pub enum Prior {
    /// 1 for every level of every leaf.
    Uniform,
    /// So many rows in all, by share of the configurations.
    Ess(f64),
    /// So many rows in all, by the probability that a network gives.
    Network(f64, Arc<Beliefs>),
}

impl Prior {
    /// Of a leaf.
    ///
    /// # Errors
    /// If the prior network is too dense to say.
    pub fn of(&self, context: &Context<'_>, region: &Region) -> Result<Alphas> {
        Ok(match self {
            Self::Uniform => Alphas::Even(1.0),
            Self::Ess(ess) => Alphas::Even(ess * region.share() / context.r as f64),
            Self::Network(ess, beliefs) => {
                let mut sums = vec![0.0; context.r];
                for cell in region.cells() {
                    let limits = named(context, cell.limits());
                    let masses = beliefs.masses(context.child, None, &limits)?;
                    sums.iter_mut().zip(&masses).for_each(|(sum, p)| *sum += ess * p);
                }
                Alphas::Each(sums.into())
            }
        })
    }

    /// Of a leaf by level of a predictor with `k` levels; a side of several levels has their sum.
    ///
    /// # Errors
    /// If the prior network is too dense to say.
    pub fn by_level(&self, context: &Context<'_>, region: &Region, field: usize, k: usize) -> Result<ByLevel> {
        Ok(match self {
            Self::Uniform => ByLevel::Same,
            Self::Ess(ess) => {
                let mut shares = region.shares(field, k);
                for share in &mut shares {
                    *share *= ess / context.r as f64;
                }
                ByLevel::Even(shares)
            }
            Self::Network(ess, beliefs) => {
                let mut sums = vec![vec![0.0; context.r]; k];
                for cell in region.cells() {
                    let limits = named(context, cell.limits());
                    let masses = beliefs.masses(context.child, Some(context.fields[field]), &limits)?;
                    for (level, sums) in sums.iter_mut().enumerate() {
                        for (code, sum) in sums.iter_mut().enumerate() {
                            *sum += ess * masses[code * k + level];
                        }
                    }
                }
                ByLevel::Each(sums)
            }
        })
    }

    /// Of two leaves merged.
    pub fn merged(&self, a: &Alphas, b: &Alphas) -> Alphas {
        if matches!(self, Self::Uniform) { Alphas::Even(1.0) } else { a.plus(b) }
    }

    /// Whether it is the same for every leaf.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform)
    }
}

/// What the prior has to know of a child.
pub struct Context<'a> {
    /// The child's position.
    pub child: usize,
    /// How many levels it has.
    pub r: usize,
    /// The predictors' positions.
    pub fields: &'a [usize],
}

fn named<'a>(context: &Context<'_>, limits: impl Iterator<Item = (usize, &'a Levels)>) -> Vec<(usize, &'a Levels)> {
    limits.map(|(field, levels)| (context.fields[field], levels)).collect()
}

/// Pseudo-counts by level of a predictor.
pub enum ByLevel {
    /// The uniform prior: 1 whatever the side.
    Same,
    /// By level, the same for all of the child's.
    Even(Vec<f64>),
    /// By level, then by the child's.
    Each(Vec<Vec<f64>>),
}

impl ByLevel {
    /// Of the side with these levels.
    pub fn of(&self, levels: impl Iterator<Item = u32>) -> Alphas {
        match self {
            Self::Same => Alphas::Even(1.0),
            Self::Even(by_level) => Alphas::Even(levels.map(|l| by_level[l as usize]).sum()),
            Self::Each(by_level) => {
                let mut out = vec![0.0; by_level[0].len()];
                for level in levels {
                    out.iter_mut().zip(&by_level[level as usize]).for_each(|(sum, a)| *sum += a);
                }
                Alphas::Each(out.into())
            }
        }
    }
}

/// What a sum of scores is rounded by, as a part of it.
const ROUNDING: f64 = 4e-15;

/// Marginal likelihoods of leaves of one child.
pub struct Marginal {
    r: usize,
    /// What a leaf costs: `(r - 1) ln kappa`.
    per_leaf: f64,
    /// `ln n!`, up to all rows and levels; of weights beyond [`MOST_TABULATED`] only so far.
    ln_factorial: Vec<f64>,
    /// What sums of scores of so many rows are rounded by.
    rounding: f64,
}

/// Sums of weights may be beyond any number of rows.
const MOST_TABULATED: f64 = 1e6;

impl Marginal {
    /// For a child of `r` levels in rows that weigh so much together.
    pub fn of_weights(r: usize, total: f64, kappa: f64) -> Self {
        let known = Self::new(r, total.min(MOST_TABULATED) as usize, kappa);
        Self { rounding: known.rounding.max(ROUNDING * lgamma(total + 1.0)), ..known }
    }

    /// For a child of `r` levels in so many rows.
    pub fn new(r: usize, n_rows: usize, kappa: f64) -> Self {
        let (mut sum, mut lost) = (0.0_f64, 0.0);
        let mut ln_factorial = Vec::with_capacity(n_rows + r + 1);
        ln_factorial.push(0.0);
        for n in 1..=n_rows + r {
            // Kahan's sum: the error of each addition is carried along.
            let term = (n as f64).ln() - lost;
            let next = sum + term;
            lost = (next - sum) - term;
            sum = next;
            ln_factorial.push(sum);
        }
        let rounding = ROUNDING * ln_factorial.last().copied().unwrap_or(0.0);
        Self { r, per_leaf: r.saturating_sub(1) as f64 * kappa.ln(), ln_factorial, rounding }
    }

    /// `ln n!`.
    #[inline]
    pub fn ln_factorial<N: Tallied>(&self, n: N) -> f64 {
        self.ln_factorial_above(n, 0)
    }

    /// `ln (n + more)!`: a whole sum of weights is looked up as a count is.
    #[inline]
    fn ln_factorial_above<N: Tallied>(&self, n: N, more: usize) -> f64 {
        let known = n.total().place().and_then(|place| self.ln_factorial.get(place + more));
        known.copied().unwrap_or_else(|| lgamma(n.real() + more as f64 + 1.0))
    }

    /// Gains closer than this are a tie, and a gain of no more is none: 1e-9, or what the rounding of so many rows is.
    pub fn least(&self) -> f64 {
        LEAST_GAIN.max(self.rounding)
    }

    /// What every leaf pays.
    pub fn per_leaf(&self) -> f64 {
        self.per_leaf
    }

    /// What the total of a leaf contributes where every pseudo-count is 1.
    pub fn of_total<N: Tallied>(&self, n: N) -> f64 {
        let more = self.r.saturating_sub(1);
        self.ln_factorial[more] - self.ln_factorial_above(n, more)
    }

    /// As `score`, of two leaves' counts together.
    pub fn score_of_both<N: Tallied>(&self, a: &[(u32, N)], b: &[(u32, N)], alphas: &Alphas) -> f64 {
        let Alphas::Even(1.0) = alphas else { return self.score(&added(a, b), alphas) };
        let (mut cells, mut n) = (0.0, N::default());
        let (mut i, mut j) = (0, 0);
        loop {
            let count = match (a.get(i), b.get(j)) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    (i, j) = (i + 1, j + 1);
                    sum(x.1, y.1)
                }
                (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    i += 1;
                    x.1
                }
                (_, Some(y)) => {
                    j += 1;
                    y.1
                }
                (_, None) => break,
            };
            cells += self.ln_factorial(count);
            n += count;
        }
        cells + self.of_total(n) + self.per_leaf
    }

    /// The logarithm of the marginal likelihood of a leaf and its cost.
    pub fn score<N: Tallied>(&self, counts: &[(u32, N)], alphas: &Alphas) -> f64 {
        if let Alphas::Even(1.0) = alphas {
            let cells: f64 = counts.iter().map(|&(_, n)| self.ln_factorial(n)).sum();
            return cells + self.of_total(total(counts)) + self.per_leaf;
        }
        let sum = alphas.total(self.r);
        let cells: f64 = counts
            .iter()
            .map(|&(code, n)| {
                let a = alphas.of(code);
                lgamma(a + n.real()) - lgamma(a)
            })
            .sum();
        let n = total(counts);
        let all = if n == N::default() { 0.0 } else { lgamma(sum) - lgamma(sum + n.real()) };
        cells + all + self.per_leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_of_uniform_prior_is_one_over_the_number_of_sequences_and_of_compositions() {
        // 2 and 1 rows of two levels: 2! 1! 1! / 4!.
        let marginal = Marginal::new(2, 10, 1.0);
        let expected = (2.0_f64 / 24.0).ln();
        assert!((marginal.score::<u32>(&[(0, 2), (1, 1)], &Alphas::Even(1.0)) - expected).abs() < 1e-14);
        let one = Alphas::Each([1.0, 1.0].into());
        assert!((marginal.score::<u32>(&[(0, 2), (1, 1)], &one) - expected).abs() < 1e-14);
        assert_eq!(marginal.score::<u32>(&[], &Alphas::Even(0.25)), 0.0);
    }

    #[test]
    fn a_whole_sum_of_weights_scores_as_a_count_and_others_lie_between() {
        for marginal in [Marginal::new(2, 10, 1.0), Marginal::of_weights(2, 10.0, 1.0)] {
            for alphas in [Alphas::Even(1.0), Alphas::Even(0.3)] {
                let score = |n: f64| marginal.score(&[(0, n), (1, 1.0)], &alphas);
                assert_eq!(score(2.0), marginal.score(&[(0, 2_u32), (1, 1)], &alphas));
                assert!(score(3.0) < score(2.5) && score(2.5) < score(2.0));
            }
        }
    }

    #[test]
    fn kappa_pays_for_every_free_parameter() {
        let (free, paid) = (Marginal::new(3, 10, 1.0), Marginal::new(3, 10, 0.1));
        let counts = [(0, 4_u32), (2, 6)];
        for alphas in [Alphas::Even(1.0), Alphas::Even(0.3)] {
            let difference = paid.score(&counts, &alphas) - free.score(&counts, &alphas);
            assert!((difference - 2.0 * 0.1_f64.ln()).abs() < 1e-12);
        }
    }

    #[test]
    fn counts_add_and_are_taken_away() {
        let (a, b): (Counts, Counts) = (vec![(0, 2), (3, 1)], vec![(1, 5), (3, 4)]);
        let both = added(&a, &b);
        assert_eq!(both, [(0, 2), (1, 5), (3, 5)]);
        let mut left = Counts::new();
        taken(&both, &a, &mut left);
        assert_eq!(left, b);
        assert_eq!(added(&b, &a), both);
    }
}
