//! The tests of scores: likelihood ratios and Bayes factors.
//!
//! A score with a likelihood tests `x` and `y` given `Z` by `2 (l(x | y, Z) - l(x | Z))` against a chi-squared
//! distribution of as many degrees of freedom as the arc adds parameters (Andrews, Ramsey and Cooper 2018, section 5.3).
//! Scores that are not score equivalent may disagree with the other direction: both are computed and the smaller p-value
//! counts.
//!
//! Trees and tables choose among so many models that no degrees of freedom describe them, but their scores are probabilities
//! of the child's column. A Bayes factor exceeds `1/p` with probability `p` at most if there is nothing to find (it has
//! expectation 1 then, and Markov's inequality does the rest), so its inverse is a p-value, and a cautious one.

use smallvec::SmallVec;
use statrs::function::gamma::checked_gamma_ur;

use super::{ChildScore, LocalScore};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::table::Var;

/// What a test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// How probable a statistic at least as large is if x and y are independent; 1 where nothing speaks against it.
    pub p_value: f64,
    /// The statistic.
    pub statistic: f64,
    /// Its degrees of freedom; NaN of a Bayes factor, which has none.
    pub df: f64,
}

impl Tested {
    /// A statistic with its p-value. No degrees of freedom, no evidence: p is 1.
    pub fn chi_squared(statistic: f64, df: f64) -> Self {
        Self { p_value: chi_squared_tail(statistic, df), statistic, df }
    }

    /// A Bayes factor, given by its logarithm: the statistic is twice that, as of a likelihood ratio.
    pub fn bayes_factor(log: f64) -> Self {
        Self { p_value: (-log).exp().min(1.0), statistic: 2.0 * log, df: f64::NAN }
    }
}

/// The probability that a chi-squared variable of `df` degrees of freedom exceeds `x`.
pub fn chi_squared_tail(x: f64, df: f64) -> f64 {
    if df <= 0.0 || x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    checked_gamma_ur(df / 2.0, x / 2.0).map_or(1.0, |p| p.clamp(0.0, 1.0))
}

/// The test of a score in both directions, the one of the smaller p-value (the first under ties).
///
/// # Errors
/// If the score has no likelihood, marginal or maximised, the question is none, a family cannot be scored, or `halt` is
/// due.
pub fn ratio<S: LocalScore + ?Sized>(score: &S, x: Var, y: Var, given: &[Var], halt: &Halt) -> Result<Tested> {
    check(score, x, y, given)?;
    let (low, high) = (x.min(y), x.max(y));
    let direction = |child: Var, parent: Var| {
        let mut scratch = score.child(child)?;
        scratch.heed(halt);
        one_direction(&mut *scratch, parent, given)
    };
    let (one, other) = (direction(low, high)?, direction(high, low)?);
    Ok(if other.p_value < one.p_value { other } else { one })
}

/// Whether `x`, `y` and `given` are different variables of the score's table.
///
/// # Errors
/// If not.
pub fn check<S: LocalScore + ?Sized>(score: &S, x: Var, y: Var, given: &[Var]) -> Result<()> {
    let table = score.table();
    let sorted = given.windows(2).all(|w| w[0] < w[1]);
    if x == y || given.contains(&x) || given.contains(&y) || !sorted {
        return Err(Error::Shape("a test needs two variables and others to condition on, each named once".to_owned()));
    }
    match [x, y].iter().chain(given).find(|&&v| v >= table.n_vars()) {
        Some(v) => Err(Error::Shape(format!("there is no column {v}"))),
        None => Ok(()),
    }
}

fn one_direction(child: &mut dyn ChildScore, parent: Var, given: &[Var]) -> Result<Tested> {
    let mut more: SmallVec<[Var; 8]> = SmallVec::from_slice(given);
    more.insert(given.partition_point(|&v| v < parent), parent);
    if let (Some(without), Some(with)) = (child.log_marginal(given)?, child.log_marginal(&more)?) {
        return Ok(Tested::bayes_factor(with - without));
    }
    let (without, with) = (child.likelihood(given)?, child.likelihood(&more)?);
    Ok(Tested::chi_squared(2.0 * (with.log_likelihood - without.log_likelihood), with.df - without.df))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        // scipy.stats.chi2.sf
        for (x, df, expected) in [
            (3.841458820694124, 1.0, 0.05),
            (13.276704135987622, 4.0, 0.01),
            (250.0, 3.0, 6.543750030967994e-54),
            (1e-3, 7.0, 0.9999999999997597),
            (700.0, 500.0, 7.728992111216604e-9),
            (1400.0, 2.0, 9.85967654375939e-305),
            (60.0, 40.5, 0.024757777838557014),
            (2000.0, 1500.0, 5.809910989761926e-17),
            (30.0, 1e5, 1.0),
        ] {
            let p = chi_squared_tail(x, df);
            assert!((p - expected).abs() <= 1e-9 * expected, "{x} {df}: {p} {expected}");
        }
        assert_eq!(chi_squared_tail(5.0, 0.0), 1.0);
        assert_eq!(chi_squared_tail(-1e-12, 3.0), 1.0);
        assert_eq!(chi_squared_tail(f64::INFINITY, 3.0), 0.0);
    }

    #[test]
    fn a_bayes_factor_speaks_against_independence_by_its_inverse_or_not_at_all() {
        let found = Tested::bayes_factor(100.0_f64.ln());
        assert!((found.p_value - 0.01).abs() < 1e-12 && found.df.is_nan());
        assert_eq!(found.statistic, 2.0 * 100.0_f64.ln());
        for log in [0.0, -3.0, f64::NEG_INFINITY] {
            assert_eq!(Tested::bayes_factor(log).p_value, 1.0);
        }
    }
}
