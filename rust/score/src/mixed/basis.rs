//! Basis functions: non-linear dependence by regression on a basis of every column (Tetrad's basis function score).
//!
//! A number is scaled to [-1, 1] by its range; Legendre polynomials 1 to `degree` of it, orthonormalised, are its columns.
//! A variable with levels has the indicators of all its observed levels but the last. One correlation matrix of all
//! columns, kept by pairs of variables, is all the data that scores read; a ridge of `1e-6` keeps regressions sound.
//!
//! `published` sums over all the child's own columns, one by one without each other. The default is a likelihood: of a number
//! only the linear column, of levels the chain of indicators, each given those before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Bic, Fits, LN_2_PI, MOST_COLUMNS, Rule, check_width};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::model::LocalModel;
use crate::prior::GraphPrior;
use crate::regress::blocks::{Blocks, FamilyRows};
use crate::regress::cells::{dot, sum};
use crate::regress::cholesky::{backward, factor_from, forward, packed};
use crate::regress::columns::Columns;
use crate::regress::least_squares::Basis;
use crate::regress::legendre;
use crate::table::{Table, Var};
use crate::{Fit, LocalScore};

/// Parameters of the basis function score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BasisFunctions {
    /// The highest Legendre polynomial.
    pub degree: usize,
    /// The printed form.
    pub published: bool,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

impl Default for BasisFunctions {
    fn default() -> Self {
        Self { degree: 3, published: false, prior: GraphPrior::Uniform }
    }
}

const MOST_DEGREE: usize = 20;
const RIDGE: f64 = 1e-6;
/// No residual variance is less: the ridge squared is what a duplicate leaves over.
const LEAST_VARIANCE: f64 = 1e-14;

impl BasisFunctions {
    /// Prepares the score for a table: the basis of every column.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if !(1..=MOST_DEGREE).contains(&self.degree) {
            return Err(Error::parameter("degree", &self.degree, format!("must be between 1 and {MOST_DEGREE}")));
        }
        let columns = Columns::new(table);
        let bases: Vec<Vec<Direction>> = (0..table.n_vars()).map(|v| directions(&columns, v, self.degree)).collect();
        let units = bases.iter().zip(0..).map(|(basis, v)| {
            let scored = if columns.is_discrete(v) { basis.len() } else { 1 };
            basis.iter().take(scored).map(|d| d.deviation.ln()).sum::<f64>() + columns.log_scale(v)
        });
        let units = units.collect();
        let widths: Vec<usize> = (0..table.n_vars()).map(|v| width(&columns, v, self.degree)).collect();
        let make = move |v: Var, w: Var, halt: &Halt| {
            let mut block: Vec<f64> = Vec::with_capacity(bases[v].len() * bases[w].len());
            for x in &bases[v] {
                halt.check()?;
                block.extend(bases[w].iter().map(|y| dot(&x.unit, &y.unit)));
            }
            if v == w {
                // Also of a column that is nothing but its mean.
                (0..bases[v].len()).for_each(|i| block[i * bases[v].len() + i] = 1.0);
            }
            Ok(block.into())
        };
        let rule = Functions {
            table: table.clone(),
            correlations: Blocks::new(widths, Box::new(make)),
            units,
            degree: self.degree,
            published: self.published,
        };
        Ok(Box::new(Bic::new(rule, self.prior)?))
    }
}

/// A column of a basis, centred, of unit length; zero if it is constant.
struct Direction {
    unit: Vec<f64>,
    /// Its standard deviation in the columns' units, 1 if it has none.
    deviation: f64,
}

impl Direction {
    /// Of a column; where rows have weights, what is made of it is times their roots.
    fn new(mut column: Vec<f64>, weights: Option<&[f64]>) -> Self {
        let n = weights.map_or(column.len().max(1) as f64, |weights| weights.iter().sum());
        let mean = weights.map_or_else(|| sum(&column), |weights| dot(weights, &column)) / n;
        for (row, x) in column.iter_mut().enumerate() {
            *x = (*x - mean) * weights.map_or(1.0, |weights| weights[row].sqrt());
        }
        let length = dot(&column, &column).sqrt();
        if length > 1e-9 * (1.0 + mean.abs()) * n.sqrt() * 1e-3 {
            for x in &mut column {
                *x /= length;
            }
            Self { unit: column, deviation: length / n.sqrt() }
        } else {
            column.fill(0.0);
            Self { unit: column, deviation: 1.0 }
        }
    }
}

/// Number of columns of a variable, made or not.
fn width(columns: &Columns, var: Var, degree: usize) -> usize {
    if columns.is_discrete(var) { observed(columns, var).len() } else { degree }
}

/// The levels that have an indicator: all that occur but the last.
pub(super) fn observed(columns: &Columns, var: Var) -> Vec<u32> {
    let mut observed = columns.codes(var).to_vec();
    observed.sort_unstable();
    observed.dedup();
    observed.pop();
    observed
}

fn directions(columns: &Columns, var: Var, degree: usize) -> Vec<Direction> {
    let n = columns.n_rows();
    if columns.is_discrete(var) {
        let codes = columns.codes(var);
        let observed = observed(columns, var);
        if observed.len() > MOST_COLUMNS {
            return Vec::new(); // no family of it is scored
        }
        let indicator =
            |c: u32| Direction::new(codes.iter().map(|&x| f64::from(u8::from(x == c))).collect(), columns.weights());
        return observed.into_iter().map(indicator).collect();
    }
    let x = columns.reals(var);
    let (low, high) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let nothing = || Direction { unit: vec![0.0; n], deviation: 1.0 };
    if low >= high || n == 0 {
        return (0..degree).map(|_| nothing()).collect();
    }
    let scaled: Vec<f64> = x.iter().map(|x| 2.0 * (x - low) / (high - low) - 1.0).collect();
    let mut basis = Basis::default();
    basis.clear(n);
    let weights = columns.weights();
    let root = |row: usize| weights.map_or(1.0, |weights| weights[row].sqrt());
    let term = |t: usize| scaled.iter().enumerate().map(move |(row, &u)| legendre(t, u) * root(row));
    let kept: Vec<bool> = (1..=degree).map(|t| basis.push(term(t))).collect();
    // Without the roots: they are put back once the mean is taken out.
    let plain = |column: &[f64]| column.iter().enumerate().map(|(row, x)| x / root(row)).collect();
    let mut columns = basis.columns();
    let mut out: Vec<Direction> = kept
        .into_iter()
        .map(|kept| if kept { Direction::new(plain(columns.next().expect("kept")), weights) } else { nothing() })
        .collect();
    // The first is the number itself, whatever its scale there.
    out[0].deviation = Direction::new(x.to_vec(), weights).deviation;
    out
}

type Make = Box<dyn Fn(Var, Var, &Halt) -> Result<Box<[f64]>> + Send + Sync>;

struct Functions {
    table: Arc<Table>,
    correlations: Blocks<Make>,
    /// Per variable, the logarithm of the units of what is scored of it.
    units: Vec<f64>,
    degree: usize,
    published: bool,
}

impl Rule for Functions {
    type Child<'a> = Child<'a>;

    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Child<'_>> {
        Ok(Child {
            rule: self,
            var: child,
            rows: FamilyRows::default(),
            factor: Vec::new(),
            work: [Vec::new(), Vec::new()],
            halt: Halt::default(),
        })
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        let width = parents.iter().chain([&child]).map(|&v| self.correlations.width(v)).sum();
        check_width(&self.table, child, parents, width)
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 1000.0, row: 0.5, continuous: 1.8, levels: 0.7 }
    }

    fn equivalent(&self) -> bool {
        false
    }

    fn model(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        self.check(child, parents)?;
        Ok(super::models::additive(&self.table, child, parents, self.degree, halt))
    }
}

/// One child's scratch: the parents' correlations with the ridge and their factor, kept while parents stay.
struct Child<'a> {
    rule: &'a Functions,
    var: Var,
    rows: FamilyRows,
    factor: Vec<f64>,
    work: [Vec<f64>; 2],
    halt: Halt,
}

impl Child<'_> {
    /// The residual variance of the next column, whose correlations with the first `m` of the factor are in `row`.
    fn residual(factor: &[f64], row: &[f64], work: &mut [Vec<f64>; 2]) -> f64 {
        let m = row.len() - 1;
        let [z, b] = work;
        z.clear();
        z.extend_from_slice(&row[..m]);
        forward(&factor[..packed(m)], z);
        b.clone_from(z);
        backward(&factor[..packed(m)], b);
        // v = R_ii - 2 b'R_Pi + b'R_PP b, and R_PP = L L' - ridge.
        (row[m] - dot(z, z) - RIDGE * dot(b, b)).max(LEAST_VARIANCE)
    }
}

impl Fits for Child<'_> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        let Self { rule, var: child, rows, factor, work, halt } = self;
        rule.check(*child, parents)?;
        let (m, own) = (rule.correlations.width_of(parents), rule.correlations.width(*child));
        let done = rows.of(&rule.correlations, parents, halt)?;
        (done..m).for_each(|i| rows.matrix[packed(i) + i] += RIDGE);
        factor.resize(packed(m), 0.0);
        factor.truncate(packed(m));
        let sound = factor_from(&rows.matrix, factor, done, m, 0.0);
        debug_assert!(sound, "a correlation matrix with a ridge is positive definite");
        rows.stand(parents);
        let n = rule.table.total_weight();
        let column = |v: f64| -n / 2.0 * (LN_2_PI + v.ln() + 1.0);
        let mut own_rows = Vec::new();
        rule.correlations.append(&mut own_rows, parents, *child, halt)?;
        let mut log_likelihood = 0.0;
        if rule.published {
            for i in 0..own {
                let start = (0..i).map(|j| m + j + 1).sum::<usize>();
                let mut row = own_rows[start..start + m].to_vec();
                row.push(own_rows[start + m + i]);
                log_likelihood += column(Self::residual(factor, &row, work));
            }
            return Ok(Fit { log_likelihood, df: (m * own) as f64 });
        }
        let scored = if rule.table.variable(*child).is_continuous() { 1 } else { own };
        let mut longer = factor.clone();
        for i in 0..scored {
            let start = (0..i).map(|j| m + j + 1).sum::<usize>();
            let row = &own_rows[start..=start + m + i];
            log_likelihood += column(Self::residual(&longer, row, work));
            // The next indicator is also given this one.
            let squares = dot(&work[0], &work[0]);
            longer.extend_from_slice(&work[0]);
            longer.push((1.0 + RIDGE - squares).max(LEAST_VARIANCE).sqrt());
        }
        log_likelihood -= n * rule.units[*child];
        let (m, q) = (m as f64, scored as f64);
        Ok(Fit { log_likelihood, df: q * m + q * (q + 1.0) / 2.0 + q })
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }
}
