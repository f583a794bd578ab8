//! Mixed variable polynomials (Andrews, Ramsey and Cooper 2018, section 4), and logistic regression in their place.
//!
//! Within every observed configuration of the parents with levels, the child is regressed on powers of its numeric
//! parents (z-scored there) up to `degree`, 1 or `floor(ln n)` of the cell's rows. A number by least squares; levels by
//! least squares of their indicators, made probabilities by shrinking a row's values towards even shares until the least
//! is `1/n` (MVP), or by multinomial logistic regression (LR). Not score equivalent.
//!
//! A cell with no more rows than columns, or columns that span each other, gets the intercept alone. `published` leaves
//! cells without residual variance out of the likelihood and counts `c g + 1` coefficients whatever was fitted; the
//! default gives small or flat cells the pooled residual variance, and counts what was fitted, variances too.
//!
//! Where rows have weights, columns and the child are multiplied by their roots, likelihoods are weighted, and a cell has as many
//! rows as its weights sum to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Bic, Fits, LN_2_PI, Rule, check_width, split};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::model::LocalModel;
use crate::model::regression::Link;
use crate::prior::GraphPrior;
use crate::regress::cells::{Cells, dot};
use crate::regress::columns::Columns;
use crate::regress::least_squares::Basis;
use crate::regress::logistic;
use crate::regress::store::CellStore;
use crate::table::{Table, Var};
use crate::{Fit, LocalScore};

/// The highest power of the numeric parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Degree {
    /// The same everywhere.
    Fixed(u32),
    /// `floor(ln n)` of a cell's rows.
    Log,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u32),
    Word(String),
}

impl TryFrom<Written> for Degree {
    type Error = String;

    fn try_from(written: Written) -> std::result::Result<Self, String> {
        match written {
            Written::Number(degree) => Ok(Self::Fixed(degree)),
            Written::Word(word) if word == "log" => Ok(Self::Log),
            Written::Word(word) => Err(format!("a degree is a number or \"log\", not \"{word}\"")),
        }
    }
}

impl From<Degree> for Written {
    fn from(degree: Degree) -> Self {
        match degree {
            Degree::Fixed(degree) => Self::Number(degree),
            Degree::Log => Self::Word("log".to_owned()),
        }
    }
}

/// More powers than this of standardised numbers are all the same.
const MOST_DEGREE: u32 = 20;

impl Degree {
    /// For a cell of so many rows, or of rows that weigh so much.
    pub(super) fn of(self, n: f64) -> usize {
        match self {
            Self::Fixed(degree) => degree as usize,
            Self::Log => n.ln() as usize,
        }
    }

    fn check(self) -> Result<()> {
        match self {
            Self::Fixed(degree) if !(1..=MOST_DEGREE).contains(&degree) => {
                Err(Error::parameter("degree", &degree, format!("must be between 1 and {MOST_DEGREE}, or \"log\"")))
            }
            _ => Ok(()),
        }
    }
}

/// Parameters of mixed variable polynomials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MixedPolynomial {
    /// The highest power.
    pub degree: Degree,
    /// The printed form.
    pub published: bool,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

/// Parameters of logistic regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticRegression {
    /// The highest power.
    pub degree: Degree,
    /// The printed form.
    pub published: bool,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

impl Default for MixedPolynomial {
    fn default() -> Self {
        Self { degree: Degree::Fixed(1), published: false, prior: GraphPrior::Uniform }
    }
}

impl Default for LogisticRegression {
    fn default() -> Self {
        Self { degree: Degree::Fixed(1), published: false, prior: GraphPrior::Uniform }
    }
}

impl MixedPolynomial {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        prepare(table, self.degree, self.published, false, self.prior)
    }
}

impl LogisticRegression {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        prepare(table, self.degree, self.published, true, self.prior)
    }
}

fn prepare(
    table: &Arc<Table>,
    degree: Degree,
    published: bool,
    logit: bool,
    prior: GraphPrior,
) -> Result<Box<dyn LocalScore>> {
    degree.check()?;
    let store = CellStore::new(Arc::new(Columns::new(table)));
    Ok(Box::new(Bic::new(Polynomials { table: table.clone(), store, degree, published, logit }, prior)?))
}

struct Polynomials {
    table: Arc<Table>,
    store: CellStore,
    degree: Degree,
    published: bool,
    logit: bool,
}

/// A residual variance that is none.
const NO_VARIANCE: f64 = 1e-15;
/// The least residual variance of the default, in units near the column's own variance.
const LEAST_VARIANCE: f64 = 1e-9;

impl Rule for Polynomials {
    type Child<'a> = Child<'a>;

    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Child<'_>> {
        Ok(Child { rule: self, var: child, basis: Basis::default(), work: Vec::new() })
    }

    /// Newton's method factors a matrix of levels times columns.
    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        let numbers = parents.iter().filter(|&&p| self.table.variable(p).is_continuous()).count();
        match self.table.variable(child).n_levels() {
            Some(k) if self.logit && numbers > 0 => {
                let columns = numbers * self.degree.of(self.table.total_weight()) + 1;
                check_width(&self.table, child, parents, k.saturating_sub(1) * columns)
            }
            _ => Ok(()),
        }
    }

    fn cost(&self) -> Cost {
        let (fixed, row) = if self.logit { (5000.0, 30.0) } else { (2000.0, 6.0) };
        Cost { fixed, row, continuous: 2.0, levels: 0.4 }
    }

    fn equivalent(&self) -> bool {
        false
    }

    fn model(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        self.check(child, parents)?;
        let link = if self.logit { Link::Logit } else { Link::Shares };
        Ok(super::models::polynomials(&self.store, child, parents, |n| self.degree.of(n), link, halt))
    }
}

/// One child's scratch.
struct Child<'a> {
    rule: &'a Polynomials,
    var: Var,
    basis: Basis,
    work: Vec<f64>,
}

/// Rows of one cell.
#[derive(Clone, Copy)]
struct Here<'a> {
    n_rows: usize,
    /// Their number, or the sum of their weights.
    size: f64,
    /// The roots of their weights; none where each counts once.
    roots: Option<&'a [f64]>,
}

impl Here<'_> {
    /// Adds the intercept to a basis.
    fn push_intercept(self, basis: &mut Basis) -> bool {
        match self.roots {
            None => basis.push(std::iter::repeat_n(1.0, self.n_rows)),
            Some(roots) => basis.push(roots.iter().copied()),
        }
    }

    /// Adds a power of a column, which is already times the roots.
    fn push_power(self, basis: &mut Basis, x: &[f64], scale: f64, power: i32) -> bool {
        match self.roots {
            None => basis.push(x.iter().map(|x| (x / scale).powi(power))),
            Some(roots) => basis.push(x.iter().zip(roots).map(|(x, root)| (x / root / scale).powi(power) * root)),
        }
    }
}

/// Fills a basis with the intercept and the powers of z-scored columns in one cell; false if one has no direction of its
/// own.
fn design(basis: &mut Basis, columns: &[&[f64]], here: Here<'_>, degree: usize) -> bool {
    basis.clear(here.n_rows);
    let mut sound = here.push_intercept(basis);
    let scales: Vec<f64> = columns.iter().map(|x| (dot(x, x) / (here.size.max(2.0) - 1.0)).sqrt()).collect();
    for power in 1..=degree as i32 {
        for (x, &scale) in columns.iter().zip(&scales) {
            // Columns are centred within the cell; what is left of a constant is rounding.
            sound = sound && scale > 1e-12 && here.push_power(basis, x, scale, power);
        }
    }
    sound
}

impl Child<'_> {
    /// The basis of a cell, the intercept alone where more cannot be fitted; whether it had to be.
    fn cell_basis(&mut self, columns: &[&[f64]], here: Here<'_>, degree: usize, levels: usize) -> bool {
        let wide = (columns.len() * degree + 1).max(levels) as f64 >= here.size;
        if !columns.is_empty() && !wide && design(&mut self.basis, columns, here, degree) {
            return true;
        }
        self.basis.clear(here.n_rows);
        here.push_intercept(&mut self.basis);
        false
    }

    /// The roots of the weights of a cell's rows; none where each counts once.
    fn roots(&self, cells: &Cells, cell: usize) -> Option<Vec<f64>> {
        let weights = self.rule.store.columns().weights()?;
        Some(cells.order()[cells.range(cell)].iter().map(|&row| weights[row as usize].sqrt()).collect())
    }

    fn numbers(&mut self, cells: &Cells, columns: &[&[f64]]) -> Fit {
        let rule = self.rule;
        let own = rule.store.centred(cells, self.var);
        let units = rule.store.columns().log_scale(self.var);
        let (mut log_likelihood, mut df) = (0.0, 0.0);
        let mut borrowed: Vec<(f64, f64)> = Vec::new();
        let mut all = 0.0;
        for cell in 0..cells.len() {
            if self.basis.halt().is_due() {
                break;
            }
            let range = cells.range(cell);
            let n = cells.size(cell);
            let roots = self.roots(cells, cell);
            let here = Here { n_rows: range.len(), size: n, roots: roots.as_deref() };
            let columns: Vec<&[f64]> = columns.iter().map(|x| &x[range.clone()]).collect();
            let degree = rule.degree.of(n);
            self.cell_basis(&columns, here, degree, 0);
            self.work.clear();
            self.work.extend_from_slice(&own.values[range.clone()]);
            self.basis.residuals(&mut self.work);
            let squares = dot(&self.work, &self.work);
            let variance = squares / n;
            let of = |variance: f64| -n / 2.0 * (LN_2_PI + variance.ln()) - n * units;
            if rule.published {
                df += (columns.len() * degree + 1) as f64;
                if n > 1.0 && variance > NO_VARIANCE {
                    log_likelihood += of(variance) - n / 2.0;
                }
            } else {
                df += self.basis.rank() as f64 + 1.0;
                all += squares;
                if n >= (self.basis.rank() + 2) as f64 && variance > LEAST_VARIANCE {
                    log_likelihood += of(variance) - n / 2.0;
                } else {
                    borrowed.push((n, squares));
                }
            }
        }
        let n_rows = if rule.table.n_rows() == 0 { 1.0 } else { rule.table.total_weight() };
        let pooled = (all / n_rows).max(LEAST_VARIANCE);
        for (n, squares) in borrowed {
            log_likelihood -= n / 2.0 * (LN_2_PI + pooled.ln()) + squares / (2.0 * pooled) + n * units;
        }
        Fit { log_likelihood, df }
    }

    fn levels(&mut self, cells: &Cells, columns: &[&[f64]], k: usize) -> Fit {
        let rule = self.rule;
        let codes = rule.store.columns().codes(self.var);
        let (mut log_likelihood, mut df) = (0.0, 0.0);
        for cell in 0..cells.len() {
            if self.basis.halt().is_due() {
                break;
            }
            let range = cells.range(cell);
            let n = cells.size(cell);
            let rows = &cells.order()[range.clone()];
            let levels: Vec<u32> = rows.iter().map(|&row| codes[row as usize]).collect();
            let mut counts = vec![0.0; k];
            for (&y, &row) in levels.iter().zip(rows) {
                counts[y as usize] += rule.store.columns().weight(row);
            }
            let roots = self.roots(cells, cell);
            let here = Here { n_rows: range.len(), size: n, roots: roots.as_deref() };
            let columns: Vec<&[f64]> = columns.iter().map(|x| &x[range.clone()]).collect();
            let degree = rule.degree.of(n);
            let regressed = self.cell_basis(&columns, here, degree, k);
            let fitted = if rule.published { columns.len() * degree + 1 } else { self.basis.rank() };
            df += (k as f64 - 1.0) * fitted as f64;
            log_likelihood += match (regressed, rule.logit) {
                (false, _) => logistic::of_shares(&counts),
                (true, false) => self.repaired(&levels, here, k),
                (true, true) => self.logistic(&levels, here, &counts),
            };
        }
        Fit { log_likelihood, df }
    }

    /// The log-likelihood of indicators regressed, repaired row by row.
    fn repaired(&mut self, levels: &[u32], here: Here<'_>, k: usize) -> f64 {
        let n = levels.len();
        let shares = &mut self.work;
        shares.clear();
        shares.resize(n * k, 0.0);
        for level in 0..k {
            if self.basis.halt().is_due() {
                return f64::NAN;
            }
            let own = &mut shares[level * n..(level + 1) * n];
            for q in self.basis.columns() {
                let held = levels.iter().zip(q).enumerate().filter(|(_, (y, _))| **y as usize == level);
                let share: f64 = match here.roots {
                    None => held.map(|(_, (_, q))| q).sum(),
                    Some(roots) => held.map(|(row, (_, q))| roots[row] * q).sum(),
                };
                own.iter_mut().zip(q).for_each(|(p, q)| *p += share * q);
            }
            if let Some(roots) = here.roots {
                own.iter_mut().zip(roots).for_each(|(p, root)| *p /= root);
            }
        }
        let (least, even) = (1.0 / here.size, 1.0 / k as f64);
        let mut total = 0.0;
        for (row, &y) in levels.iter().enumerate() {
            let lowest = (0..k).map(|level| shares[level * n + row]).fold(f64::INFINITY, f64::min);
            let own = shares[y as usize * n + row];
            let p = if lowest < least {
                let alpha = (least - even) / (lowest - even);
                alpha * own + (1.0 - alpha) * even
            } else {
                own
            };
            total += here.roots.map_or(1.0, |roots| roots[row] * roots[row]) * p.ln();
        }
        total
    }

    /// The log-likelihood of the levels that occur here under logistic regression.
    fn logistic(&self, levels: &[u32], here: Here<'_>, counts: &[f64]) -> f64 {
        let mut place = Vec::with_capacity(counts.len());
        let mut occurring = 0;
        for count in counts {
            place.push(occurring);
            occurring += u32::from(*count > 0.0);
        }
        if occurring <= 1 {
            return 0.0;
        }
        let levels: Vec<u32> = levels.iter().map(|&y| place[y as usize]).collect();
        logistic::fit(&self.basis, (&levels, here.roots), occurring as usize).log_likelihood
    }
}

impl Fits for Child<'_> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        let rule = self.rule;
        rule.check(self.var, parents)?;
        let (discrete, numbers) = split(&rule.table, parents);
        let cells = rule.store.cells(&discrete);
        let columns = rule.store.columns();
        let centred: Vec<_> = numbers.iter().map(|&v| rule.store.centred(&cells, v)).collect();
        let slices: Vec<&[f64]> = centred.iter().map(|c| &c.values[..]).collect();
        Ok(match columns.levels(self.var) {
            None => self.numbers(&cells, &slices),
            Some(k) => self.levels(&cells, &slices, k),
        })
    }

    fn heed(&mut self, halt: &Halt) {
        self.basis.heed(halt);
    }
}
