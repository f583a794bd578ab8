//! Degenerate Gaussian (Andrews, Ramsey and Cooper 2019): indicators of levels are numbers too, and all are Gaussian.
//!
//! Every variable with levels is embedded as the indicators of all its observed levels but the last; one covariance over
//! numbers and indicators then scores every family: the likelihood of a child is that of its columns given its
//! parents' columns, `-N/2 (ln |S_(child, parents)| - ln |S_parents| + q (1 + ln 2 pi))`. All pairs share one matrix of
//! cross-products, so a score is one small Cholesky factor, parents first: its last pivots are the child's.
//!
//! The default adds `1e-13` to all variances, so that a duplicate of a parent or a constant has a logarithm, and counts
//! means and variances. `published` divides by `N - 1`, counts `q m + q (q - 1) / 2`, and tests by mean residual variances.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Bic, Fits, LN_2_PI, Rule, check_width};
use crate::control::Halt;
use crate::error::Result;
use crate::local::Cost;
use crate::local::Tested;
use crate::model::LocalModel;
use crate::prior::GraphPrior;
use crate::regress::blocks::{Blocks, FamilyRows};
use crate::regress::cells::{Set, dot, sum};
use crate::regress::cholesky::{factor_from, packed};
use crate::regress::columns::Columns;
use crate::table::{Table, Var};
use crate::{Fit, LocalScore};

/// Parameters of the degenerate Gaussian score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DegenerateGaussian {
    /// The printed form.
    pub published: bool,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

impl DegenerateGaussian {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        let embedded = Arc::new(Embedded::new(table));
        let rule = Degenerate {
            table: table.clone(),
            covariance: covariance(&embedded, self.published),
            embedded,
            published: self.published,
        };
        Ok(Box::new(Bic::new(rule, self.prior)?))
    }
}

/// A table with its levels as indicators.
struct Embedded {
    columns: Columns,
    /// Of variables with levels: the indicator's position of each code; the last observed level and those that do not
    /// occur have none.
    indicators: Vec<Vec<Option<u32>>>,
    widths: Vec<usize>,
}

impl Embedded {
    fn new(table: &Arc<Table>) -> Self {
        let columns = Columns::new(table);
        let (mut indicators, mut widths) = (Vec::new(), Vec::new());
        for var in 0..table.n_vars() {
            let Some(k) = columns.levels(var) else {
                indicators.push(Vec::new());
                widths.push(1);
                continue;
            };
            let mut observed = vec![false; k];
            columns.codes(var).iter().for_each(|&c| observed[c as usize] = true);
            if let Some(last) = observed.iter().rposition(|o| *o) {
                observed[last] = false;
            }
            let mut width = 0;
            let place = |o: bool| {
                width += u32::from(o);
                o.then(|| width - 1)
            };
            indicators.push(observed.into_iter().map(place).collect());
            widths.push(width as usize);
        }
        Self { columns, indicators, widths }
    }

    /// The cross-products of the columns of two variables, each less its mean.
    fn cross_products(&self, v: Var, w: Var) -> Vec<f64> {
        let n = self.total();
        let columns = &self.columns;
        match (columns.is_discrete(v), columns.is_discrete(w)) {
            (false, false) => {
                let (x, y) = (columns.reals(v), columns.reals(w));
                let Some(weights) = columns.weights() else { return vec![dot(x, y) - sum(x) * sum(y) / n] };
                let weighted: Vec<f64> = x.iter().zip(weights).map(|(x, w)| x * w).collect();
                vec![dot(&weighted, y) - sum(&weighted) * dot(weights, y) / n]
            }
            (true, false) => self.sums_by_level(v, w),
            (false, true) => self.sums_by_level(w, v),
            (true, true) => {
                let (a, b) = (&self.indicators[v], &self.indicators[w]);
                let width = self.widths[w];
                let mut counts = vec![0.0; self.widths[v] * width];
                for ((&x, &y), row) in columns.codes(v).iter().zip(columns.codes(w)).zip(0..) {
                    if let (Some(i), Some(j)) = (a[x as usize], b[y as usize]) {
                        counts[i as usize * width + j as usize] += columns.weight(row);
                    }
                }
                let (own, other) = (self.counts(v), self.counts(w));
                for (i, x) in own.iter().enumerate() {
                    for (j, y) in other.iter().enumerate() {
                        counts[i * width + j] -= x * y / n;
                    }
                }
                counts
            }
        }
    }

    /// The sum of the weights, or 1 without rows.
    fn total(&self) -> f64 {
        if self.columns.n_rows() == 0 { 1.0 } else { self.columns.total() }
    }

    fn counts(&self, var: Var) -> Vec<f64> {
        let mut counts = vec![0.0; self.widths[var]];
        let places = &self.indicators[var];
        for (&code, row) in self.columns.codes(var).iter().zip(0..) {
            if let Some(i) = places[code as usize] {
                counts[i as usize] += self.columns.weight(row);
            }
        }
        counts
    }

    fn sums_by_level(&self, discrete: Var, number: Var) -> Vec<f64> {
        let n = self.total();
        let x = self.columns.reals(number);
        let mut sums = vec![0.0; self.widths[discrete]];
        let places = &self.indicators[discrete];
        for ((&code, x), row) in self.columns.codes(discrete).iter().zip(x).zip(0..) {
            if let Some(i) = places[code as usize] {
                sums[i as usize] += self.columns.weight(row) * x;
            }
        }
        let mean = self.columns.weights().map_or_else(|| sum(x), |weights| dot(weights, x)) / n;
        sums.iter_mut().zip(self.counts(discrete)).for_each(|(s, count)| *s -= count * mean);
        sums
    }
}

type Make = Box<dyn Fn(Var, Var, &Halt) -> Result<Box<[f64]>> + Send + Sync>;

fn covariance(embedded: &Arc<Embedded>, published: bool) -> Blocks<Make> {
    let widths = embedded.widths.clone();
    let n = embedded.total();
    let divisor = if published { n.max(2.0) - 1.0 } else { n };
    let embedded = embedded.clone();
    let make = move |v: Var, w: Var, halt: &Halt| {
        halt.check()?;
        Ok(embedded.cross_products(v, w).into_iter().map(|x| x / divisor).collect())
    };
    Blocks::new(widths, Box::new(make))
}

/// The score prepared for a table.
struct Degenerate {
    table: Arc<Table>,
    embedded: Arc<Embedded>,
    covariance: Blocks<Make>,
    published: bool,
}

/// What the default adds to variances: above rounding, far below what any score shows.
const RIDGE: f64 = 1e-13;

impl Degenerate {
    /// As printed there is none, until a factor fails.
    fn ridge(&self) -> f64 {
        if self.published { 0.0 } else { RIDGE }
    }

    /// Columns that a declared variable has, observed or not.
    fn declared(&self, var: Var) -> f64 {
        self.table.variable(var).n_levels().map_or(1.0, |k| k.saturating_sub(1) as f64)
    }

    /// The residual variances of the columns of `child` given those of `parents`: each by itself.
    fn residual_variances(&self, child: Var, parents: &[Var]) -> Result<Vec<f64>> {
        let halt = &Halt::default();
        let (m, q) = (self.covariance.width_of(parents), self.covariance.width(child));
        let mut given = Vec::new();
        for (i, &p) in parents.iter().enumerate() {
            self.covariance.append(&mut given, &parents[..i], p, halt)?;
        }
        let mut factor = vec![0.0; packed(m)];
        factor_ridged(&mut given, &mut factor, 0, m, self.ridge());
        let mut rows = Vec::new();
        self.covariance.append(&mut rows, parents, child, halt)?;
        let mut start = 0;
        let residual = |row: usize| {
            let mut b = rows[start..start + m].to_vec();
            let variance = rows[start + m + row];
            start += m + row + 1;
            crate::regress::cholesky::forward(&factor, &mut b);
            (variance - b.iter().map(|x| x * x).sum::<f64>()).max(0.0)
        };
        Ok((0..q).map(residual).collect())
    }
}

/// Adds the ridge to rows `done..k` and factors them; a larger one to all rows
/// where that is lost in rounding. False if there had to be more, so that the first rows changed.
fn factor_ridged(a: &mut [f64], l: &mut [f64], done: usize, k: usize, least: f64) -> bool {
    let mut ridge = least;
    let mut first = done;
    loop {
        (first..k).for_each(|i| a[packed(i) + i] += ridge);
        if factor_from(a, l, first, k, 0.0) {
            return ridge == least;
        }
        ridge = (ridge * 10.0).max(RIDGE);
        first = 0;
        assert!(ridge < 1e9, "columns near unit variance have a covariance near it");
    }
}

impl Rule for Degenerate {
    type Child<'a> = Child<'a>;

    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Child<'_>> {
        Ok(Child { rule: self, var: child, rows: FamilyRows::default(), factor: Vec::new(), halt: Halt::default() })
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        check_width(&self.table, child, parents, self.covariance.width_of(parents) + self.covariance.width(child))
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 1000.0, row: 0.5, continuous: 1.6, levels: 0.7 }
    }

    fn equivalent(&self) -> bool {
        true
    }

    fn model(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        self.check(child, parents)?;
        Ok(super::models::additive(&self.table, child, parents, 1, halt))
    }

    /// Published: the mean residual variance of `x`'s columns, without `y` and with it.
    fn own_test(&self, x: Var, y: Var, given: &[Var]) -> Result<Option<Tested>> {
        if !self.published {
            return Ok(None);
        }
        let mut with: Set = Set::from_slice(given);
        with.push(y);
        self.check(x, &with)?;
        let mean = |parents: &[Var]| -> Result<f64> {
            let variances = self.residual_variances(x, parents)?;
            Ok(variances.iter().sum::<f64>() / variances.len().max(1) as f64)
        };
        let statistic = self.table.total_weight() * (mean(given)? / mean(&with)?).ln();
        let statistic = if statistic.is_nan() { 0.0 } else { statistic };
        Ok(Some(Tested::chi_squared(statistic, self.covariance.width(y) as f64)))
    }
}

/// One child's scratch: the covariance of the last parents and its factor, whose first rows stay while parents do.
struct Child<'a> {
    rule: &'a Degenerate,
    var: Var,
    rows: FamilyRows,
    factor: Vec<f64>,
    halt: Halt,
}

impl Fits for Child<'_> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        let Self { rule, var: child, rows, factor, halt } = self;
        rule.check(*child, parents)?;
        let done = rows.of(&rule.covariance, parents, halt)?;
        rule.covariance.append(&mut rows.matrix, parents, *child, halt)?;
        let m = rule.covariance.width_of(parents);
        let q = rule.covariance.width(*child);
        factor.resize(packed(m + q), 0.0);
        if factor_ridged(&mut rows.matrix, factor, done, m + q, rule.ridge()) {
            rows.stand(parents);
        }
        let pivots: f64 = (m..m + q).map(|i| factor[packed(i) + i]).product();
        let log_det = 2.0 * pivots.ln();
        let n = rule.table.total_weight();
        let units = n * rule.embedded.columns.log_scale(*child);
        let log_likelihood = -n / 2.0 * (log_det + q as f64 * (1.0 + LN_2_PI)) - units;
        let q = rule.declared(*child);
        let m: f64 = parents.iter().map(|&p| rule.declared(p)).sum();
        let own = if rule.published { q * (q - 1.0) / 2.0 } else { q * (q + 1.0) / 2.0 + q };
        Ok(Fit { log_likelihood, df: q * m + own })
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }
}
