//! Mutual information tests (de Campos 2006; Carvalho 2009, section 4.2.4).
//!
//! `MIT = 2 N I(child; parents) - sum_j chi2(alpha, l_j)`, with the parents by descending number of levels,
//! `l_1 = (r - 1)(r_1 - 1)`, `l_j = (r - 1)(r_j - 1) r_1 ... r_(j-1)`. 0 without parents.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{CountScore, Family, Prepared, n_ln_n};
use crate::LocalScore;
use crate::counts::Count;
use crate::error::{Error, Result};
use crate::prior::GraphPrior;
use crate::table::Table;

/// Parameters of MIT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mit {
    /// Confidence of each test, between 0 and 1; usually .9 to .999.
    pub alpha: f64,
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

impl Mit {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(Error::parameter("alpha", &self.alpha, "must be between 0 and 1, such as 0.99"));
        }
        Ok(Box::new(Prepared::new(table, Rule { alpha: self.alpha }, self.prior)?))
    }
}

struct Rule {
    alpha: f64,
}

impl CountScore for Rule {
    fn joint<N: Count>(&self, cells: &[N], _configurations: f64) -> f64 {
        cells.iter().map(|&n| n_ln_n(n)).sum()
    }

    fn given<N: Count>(&self, cells: &[N], configurations: f64, _r: usize) -> f64 {
        self.joint(cells, configurations)
    }

    fn combine(&self, family: &Family, joint: f64, given: f64) -> f64 {
        if family.parent_levels.is_empty() {
            return 0.0;
        }
        let n_ln_n_of_rows = family.n_rows * family.n_rows.max(1.0).ln();
        let information = joint - given - family.child_n_ln_n + n_ln_n_of_rows;
        let mut levels = family.parent_levels.clone();
        levels.sort_unstable_by(|a, b| b.cmp(a));
        let (mut before, mut penalty) = (1.0, 0.0);
        for k in levels {
            let df = (family.r as f64 - 1.0) * (k as f64 - 1.0) * before;
            penalty += chi_squared_quantile(df, self.alpha);
            before *= k as f64;
        }
        2.0 * information - penalty
    }

    fn pseudo_count(&self, _r: usize, _q: f64) -> f64 {
        1.0
    }

    fn equivalent(&self) -> bool {
        false
    }
}

/// The value that a chi-squared variable of `df` degrees of freedom stays below with probability `alpha`.
fn chi_squared_quantile(df: f64, alpha: f64) -> f64 {
    if df <= 0.0 {
        return 0.0;
    }
    ChiSquared::new(df).expect("df is positive").inverse_cdf(alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (df, alpha, expected) in
            [(1.0, 0.95, 3.841458820694124), (4.0, 0.99, 13.276704135987622), (100.0, 0.999, 149.4492527837983)]
        {
            let quantile = chi_squared_quantile(df, alpha);
            assert!((quantile - expected).abs() < 1e-9 * expected, "{df} {alpha} {quantile}");
        }
        assert_eq!(chi_squared_quantile(0.0, 0.95), 0.0);
    }
}
