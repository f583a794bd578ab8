//! What the tree search needs to know of a response: sums over rows, a leaf's score, and a bound on every way to split.
//!
//! The formulas are those of [`crate::leaf`], arranged for the search: everything that a count decides is tabulated, so
//! that a leaf of numbers costs one logarithm and a leaf of levels none.

use std::marker::PhantomData;

use crate::leaf::{Categorical, Moments, Normal, Ordinal};

/// One kind of response.
pub trait Response {
    /// What one row holds.
    type Value: Copy;

    /// An additive statistic of some rows.
    type Sum: Clone;

    /// Of no rows.
    fn zero(&self) -> Self::Sum;

    /// Adds one row.
    fn observe(&self, sum: &mut Self::Sum, value: Self::Value);

    /// Adds another statistic.
    fn add(&self, sum: &mut Self::Sum, other: &Self::Sum);

    /// Adds another statistic if `take`, without a branch where that is possible.
    fn add_if(&self, sum: &mut Self::Sum, other: &Self::Sum, take: bool) {
        if take {
            self.add(sum, other);
        }
    }

    /// Log marginal likelihood of a leaf with these rows.
    fn log_marginal(&self, sum: &Self::Sum) -> f64;

    /// To be called with the structure prior's `ln gamma` before `split_bound`.
    fn prepare(&mut self, log_gamma: f64);

    /// An upper bound on `leaves * ln gamma` plus the log marginals over every partition of these rows into at least
    /// two leaves.
    fn split_bound(&self, sum: &Self::Sum) -> f64;
}

/// Numbers.
pub struct Numbers {
    by_count: Vec<CountTerms>,
    /// Prior weight, `nu lam`, and the distance of the sums' centre from the prior mean.
    a: f64,
    nu_lam: f64,
    offset: f64,
    published: bool,
    log_gamma: f64,
    /// By count.
    tight_split: Vec<f64>,
}

#[derive(Clone, Copy)]
struct CountTerms {
    constant: f64,
    half_df: f64,
    /// `1 / (n + a)`.
    inverse: f64,
}

/// Beyond this count the bound without spread is never below a leaf's score in practice.
const BOUNDED: usize = 96;

impl Numbers {
    /// Up to `n_rows` rows.
    pub fn new(leaf: &Normal, n_rows: usize) -> Self {
        let terms = |n: usize| CountTerms {
            constant: leaf.count_term(n as u64),
            half_df: 0.5 * (n as f64 + leaf.nu()),
            inverse: 1.0 / (n as f64 + leaf.a()),
        };
        Self {
            by_count: (0..=n_rows).map(terms).collect(),
            a: leaf.a(),
            nu_lam: leaf.nu() * leaf.lam(),
            offset: leaf.centre() - leaf.mean(),
            published: leaf.is_published(),
            log_gamma: f64::NAN,
            tight_split: Vec::new(),
        }
    }
}

impl Response for Numbers {
    type Value = f64;
    type Sum = Moments;

    fn zero(&self) -> Moments {
        Moments::default()
    }

    /// A number, its centre already subtracted.
    #[inline]
    fn observe(&self, sum: &mut Moments, value: f64) {
        self.add(sum, &Moments { n: 1, sum: value, squares: value * value });
    }

    #[inline]
    fn add(&self, sum: &mut Moments, other: &Moments) {
        sum.n += other.n;
        sum.sum += other.sum;
        sum.squares += other.squares;
    }

    #[inline]
    fn add_if(&self, sum: &mut Moments, other: &Moments, take: bool) {
        let mask = u64::from(take).wrapping_neg();
        sum.n += other.n & mask;
        sum.sum += f64::from_bits(other.sum.to_bits() & mask);
        sum.squares += f64::from_bits(other.squares.to_bits() & mask);
    }

    #[inline]
    fn log_marginal(&self, sum: &Moments) -> f64 {
        let terms = &self.by_count[sum.n as usize];
        if sum.n == 0 {
            return 0.0;
        }
        let n = sum.n as f64;
        // s + t in one: the squares about the centre, less what the mean explains, plus the prior mean's distance.
        let distance = self.offset * (2.0 * sum.sum + n * self.offset);
        let mut spread = sum.squares + (self.a * distance - sum.sum * sum.sum) * terms.inverse;
        if self.published {
            spread -= (sum.squares - sum.sum * sum.sum / n).max(0.0) / n;
        }
        terms.constant - terms.half_df * (self.nu_lam + spread.max(0.0)).ln()
    }

    fn prepare(&mut self, log_gamma: f64) {
        if log_gamma == self.log_gamma {
            return;
        }
        self.log_gamma = log_gamma;
        // The best that any number of leaves can do is to hold equal responses at the prior mean.
        let tight = |n: usize| {
            let terms = &self.by_count[n];
            log_gamma + terms.constant - terms.half_df * self.nu_lam.ln()
        };
        let top = BOUNDED.min(self.by_count.len() - 1);
        let (mut any, mut split) = (vec![0.0_f64; top + 1], vec![f64::NEG_INFINITY; top + 1]);
        for n in 1..=top {
            for part in 1..=n / 2 {
                split[n] = split[n].max(any[part] + any[n - part]);
            }
            any[n] = split[n].max(tight(n));
        }
        self.tight_split = split;
    }

    #[inline]
    fn split_bound(&self, sum: &Moments) -> f64 {
        self.tight_split.get(sum.n as usize).copied().unwrap_or(f64::INFINITY)
    }
}

/// Levels, ordered or not; `C` stores their counts.
pub struct Levels<C, L> {
    leaf: L,
    k: usize,
    pure: Categorical,
    bounded: bool,
    log_gamma: f64,
    store: PhantomData<C>,
}

/// Room for the counts of a known number of levels.
pub trait Store: Clone {
    /// All zero.
    fn zeros(n_levels: usize) -> Self;
    /// At least as many as there are levels; further ones stay zero.
    fn counts(&self) -> &[u32];
    /// To change.
    fn counts_mut(&mut self) -> &mut [u32];
}

impl<const K: usize> Store for [u32; K] {
    fn zeros(n_levels: usize) -> Self {
        debug_assert!(n_levels <= K);
        [0; K]
    }

    #[inline]
    fn counts(&self) -> &[u32] {
        self
    }

    #[inline]
    fn counts_mut(&mut self) -> &mut [u32] {
        self
    }
}

impl Store for Vec<u32> {
    fn zeros(n_levels: usize) -> Self {
        vec![0; n_levels]
    }

    fn counts(&self) -> &[u32] {
        self
    }

    fn counts_mut(&mut self) -> &mut [u32] {
        self
    }
}

/// A leaf of levels, by its counts.
pub trait LevelsLeaf {
    /// Log marginal of these counts; zeros beyond the declared levels change nothing.
    fn of_counts(&self, counts: &[u32]) -> f64;
}

impl LevelsLeaf for Categorical {
    #[inline]
    fn of_counts(&self, counts: &[u32]) -> f64 {
        self.log_marginal_of(counts)
    }
}

impl LevelsLeaf for Ordinal {
    fn of_counts(&self, counts: &[u32]) -> f64 {
        self.log_marginal_of(&counts[..self.n_levels()])
    }
}

impl<C: Store, L: LevelsLeaf> Levels<C, L> {
    /// `pure` scores leaves whose responses are all equal, which bounds every other leaf; `bounded` says whether it does.
    pub fn new(leaf: L, pure: Categorical, bounded: bool) -> Self {
        Self { leaf, k: pure.n_levels(), pure, bounded, log_gamma: f64::NAN, store: PhantomData }
    }
}

impl<C: Store, L: LevelsLeaf> Response for Levels<C, L> {
    type Value = u32;
    type Sum = C;

    fn zero(&self) -> C {
        C::zeros(self.k)
    }

    #[inline]
    fn observe(&self, sum: &mut C, value: u32) {
        sum.counts_mut()[value as usize] += 1;
    }

    #[inline]
    fn add(&self, sum: &mut C, other: &C) {
        for (n, m) in sum.counts_mut().iter_mut().zip(other.counts()) {
            *n += m;
        }
    }

    #[inline]
    fn add_if(&self, sum: &mut C, other: &C, take: bool) {
        let mask = u32::from(take).wrapping_neg();
        for (n, m) in sum.counts_mut().iter_mut().zip(other.counts()) {
            *n += m & mask;
        }
    }

    #[inline]
    fn log_marginal(&self, sum: &C) -> f64 {
        self.leaf.of_counts(sum.counts())
    }

    fn prepare(&mut self, log_gamma: f64) {
        self.log_gamma = log_gamma;
    }

    /// Every leaf is at most what its levels would be worth in leaves of their own, whatever those cost beyond two.
    #[inline]
    fn split_bound(&self, sum: &C) -> f64 {
        if !self.bounded {
            return f64::INFINITY;
        }
        let counts = sum.counts();
        if counts.iter().filter(|&&n| n > 0).count() < 2 {
            return f64::NEG_INFINITY;
        }
        2.0 * self.log_gamma + counts.iter().map(|&n| self.pure.log_pure(u64::from(n))).sum::<f64>()
    }
}
