//! Normalised maximum likelihood: factorised (Carvalho 2009, section 4.2.3) and quotient (Silander et al. 2018).
//!
//! NML subtracts from the log-likelihood the parametric complexity of every row of the table,
//! `sum_j ln C(r, N_j)`; QNML `ln C(r q, N) - ln C(q, N)`, which makes it score equivalent.
//!
//! The complexity is computed by the single sum of Mononen and Myllymaki (2008),
//! `C(r, m) = sum_k m^(k falling) (r-1)^(k rising) / (m^k k!)`: all terms are positive, they rise to one peak and fall
//! from it, and about `sqrt(r m)` of them matter, whatever r is. The recursion over r that the papers give would take `r q`
//! steps for QNML; the tests use it as the oracle.
//!
//! Of counts that are not whole, as rows with weights have, `ln C` is that on the line between the two whole counts beside.

use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{CountScore, Family, Prepared, n_ln_n};
use crate::LocalScore;
use crate::counts::Count;
use crate::error::Result;
use crate::prior::GraphPrior;
use crate::table::Table;

/// Factorised NML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nml {
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

/// Quotient NML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qnml {
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

impl Nml {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If the prior's parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        Ok(Box::new(Prepared::new(table, Factorised::default(), self.prior)?))
    }
}

impl Qnml {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If the prior's parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        Ok(Box::new(Prepared::new(table, Quotient, self.prior)?))
    }
}

/// `ln C(r, m)`: the log of the sum of maximum likelihoods over all sequences of `m` values of `r` levels.
pub fn ln_complexity(r: f64, m: f64) -> f64 {
    if r <= 1.0 || m <= 0.0 {
        return 0.0;
    }
    // term and sum are scaled down by exp(ln_scale) whenever they grow large.
    let (mut term, mut sum, mut ln_scale) = (1.0, 1.0, 0.0_f64);
    let mut k = 0.0;
    while k < m {
        let ratio = (m - k) / m * ((r - 1.0 + k) / (k + 1.0));
        term *= ratio;
        sum += term;
        k += 1.0;
        if sum > 1e250 {
            term *= 1e-250;
            sum *= 1e-250;
            ln_scale += 250.0 * std::f64::consts::LN_10;
        }
        // Ratios fall with k, so what is left is less than a geometric series.
        if ratio < 1.0 && term * ratio < 1e-17 * sum * (1.0 - ratio) {
            break;
        }
    }
    ln_scale + sum.ln()
}

/// A function of whole counts at any count: linear between two of them.
fn between(m: f64, of_whole: impl Fn(f64) -> f64) -> f64 {
    let part = m.fract();
    if part == 0.0 {
        return of_whole(m);
    }
    (1.0 - part) * of_whole(m.floor()) + part * of_whole(m.ceil())
}

/// Complexities by (levels, rows), shared by all threads.
#[derive(Default)]
struct Factorised {
    known: RwLock<FxHashMap<(usize, u32), f64>>,
}

impl Factorised {
    /// Between two whole counts on the line between theirs.
    fn ln_complexity_of<N: Count>(&self, r: usize, m: N) -> f64 {
        match m.whole() {
            Some(m) => self.ln_complexity(r, m),
            None => between(m.real(), |m| self.ln_complexity(r, m as u32)),
        }
    }

    fn ln_complexity(&self, r: usize, m: u32) -> f64 {
        match m {
            0 => 0.0,
            1 => (r as f64).ln(),
            _ => {
                if let Some(&known) = self.known.read().expect("nothing panics under this lock").get(&(r, m)) {
                    return known;
                }
                let value = ln_complexity(r as f64, f64::from(m));
                self.known.write().expect("nothing panics under this lock").insert((r, m), value);
                value
            }
        }
    }
}

impl CountScore for Factorised {
    fn joint<N: Count>(&self, cells: &[N], _configurations: f64) -> f64 {
        cells.iter().map(|&n| n_ln_n(n)).sum()
    }

    fn given<N: Count>(&self, cells: &[N], _configurations: f64, r: usize) -> f64 {
        cells.iter().map(|&n| n_ln_n(n) + self.ln_complexity_of(r, n)).sum()
    }

    fn given_depends_on_child(&self) -> bool {
        true
    }

    fn pseudo_count(&self, _r: usize, _q: f64) -> f64 {
        1.0
    }

    fn equivalent(&self) -> bool {
        false
    }
}

struct Quotient;

impl CountScore for Quotient {
    fn joint<N: Count>(&self, cells: &[N], configurations: f64) -> f64 {
        let n: f64 = cells.iter().map(|&n| n.real()).sum();
        cells.iter().map(|&n| n_ln_n(n)).sum::<f64>() - between(n, |n| ln_complexity(configurations, n))
    }

    fn given<N: Count>(&self, cells: &[N], configurations: f64, _r: usize) -> f64 {
        self.joint(cells, configurations)
    }

    fn combine(&self, _family: &Family, joint: f64, given: f64) -> f64 {
        joint - given
    }

    fn pseudo_count(&self, _r: usize, _q: f64) -> f64 {
        1.0
    }

    fn equivalent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition for two levels, and the recursion over levels.
    fn by_recursion(r: usize, m: u32) -> f64 {
        let mf = f64::from(m);
        let mut binomial = 1.0;
        let mut two = 0.0;
        for h in 0..=m {
            let p = f64::from(h) / mf;
            two += binomial * p.powi(h as i32) * (1.0 - p).powi((m - h) as i32);
            binomial = binomial * f64::from(m - h) / f64::from(h + 1);
        }
        let mut c = vec![0.0, 1.0, two];
        for l in 3..=r {
            c.push(c[l - 1] + mf / (l as f64 - 2.0) * c[l - 2]);
        }
        c[r].ln()
    }

    #[test]
    fn the_single_sum_is_the_recursion() {
        for r in 1..30 {
            for m in [1, 2, 3, 7, 20, 100, 400] {
                let (sum, recursion) = (ln_complexity(r as f64, f64::from(m)), by_recursion(r, m));
                assert!((sum - recursion).abs() < 1e-12 * (1.0 + recursion), "{r} {m}: {sum} {recursion}");
            }
        }
    }

    #[test]
    fn between_whole_counts_the_complexity_is_on_the_line_between_theirs() {
        let at = |m: f64| Factorised::default().ln_complexity_of(3, m);
        assert_eq!(at(4.0), ln_complexity(3.0, 4.0));
        assert!((at(4.25) - (0.75 * ln_complexity(3.0, 4.0) + 0.25 * ln_complexity(3.0, 5.0))).abs() < 1e-15);
        assert!((at(0.5) - 0.5 * 3.0_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn one_row_costs_the_logarithm_of_its_levels_and_no_row_nothing() {
        assert!((ln_complexity(1e12, 1.0) - 1e12_f64.ln()).abs() < 1e-12);
        assert_eq!(ln_complexity(5.0, 0.0), 0.0);
        assert_eq!(ln_complexity(1.0, 50.0), 0.0);
    }

    #[test]
    fn a_wide_table_does_not_overflow() {
        // r levels and few rows: nearly all sequences have all values different, C is close to r^m m! / m^m.
        let m = 50.0;
        let expected = m * 1e15_f64.ln() - m * m.ln();
        assert!((ln_complexity(1e15, m) - expected).abs() < 1e-6 * expected);
        assert!(ln_complexity(600.0, 3000.0) > 700.0);
    }
}
