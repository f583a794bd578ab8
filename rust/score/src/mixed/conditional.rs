//! Conditional Gaussian (Andrews, Ramsey and Cooper 2018, section 3): a Gaussian for every configuration of the levels.
//!
//! A set `S` of variables with levels `A` and numbers `X` has a log-likelihood: of the cells of `A`, and of one Gaussian
//! over `X` within each. The score of a family is `J(child and parents) - J(parents)`, for likelihood and parameters
//! alike, so it is score equivalent and kept by set. A cell too small or too flat for a covariance of its own uses the
//! pooled one. `published` is the 2017 program: divisor `n - 1`, small cells with the covariance of all rows, means
//! not counted.
//!
//! `discretise` (the paper's section 5.2) scores a child with levels by counts, its parents' numbers in bins; `exact`
//! (its table 1) by the mixture that the approximation of the denominator stands for. Both give up equivalence.
//!
//! A set costs its cells times a small Cholesky factor: the sums within cells are shared by all sets with the same levels
//! ([`CellStore`]). All cells are factored together, one operation over all of them at a time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::additions::Additions;
use super::moments::LEAST_EIGENVALUE;
use super::{Bic, Fits, LN_2_PI, Rule, configurations, split};
use crate::classic::n_ln_n;
use crate::control::Halt;
use crate::counts::Counter;
use crate::counts::bitmaps::Bitmaps;
use crate::error::{Error, Result};
use crate::kept::KeptSets;
use crate::local::Cost;
use crate::model::LocalModel;
use crate::prior::GraphPrior;
use crate::regress::cells::{Cells, Set};
use crate::regress::cholesky::{factor_from, inverse, log_det, packed, smallest_eigenvalue, trace_of_product};
use crate::regress::columns::Columns;
use crate::regress::store::CellStore;
use crate::table::{Table, Var};
use crate::{Fit, LocalScore};

/// Parameters of the conditional Gaussian score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConditionalGaussian {
    /// Children with levels by counts, their numeric parents in bins.
    pub discretise: bool,
    /// How many bins.
    pub bins: Option<usize>,
    /// Children with levels by the exact mixture.
    pub exact: bool,
    /// The printed form.
    pub published: bool,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

impl ConditionalGaussian {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if self.discretise && self.exact {
            return Err(Error::parameter(
                "exact",
                &true,
                "is another way with children of levels than discretise=True",
            ));
        }
        let bins = self.bins.unwrap_or(3);
        super::binned::check(bins)?;
        let binned = if self.discretise { Some(super::binned::Binned::new(table, bins)?) } else { None };
        let store = CellStore::new(Arc::new(Columns::new(table)));
        let (sets, bitmaps) = (KeptSets::new(table.n_vars()), Bitmaps::new(table));
        let rule = Gaussians { table: table.clone(), store, binned, sets, bitmaps, parameters: self.clone() };
        Ok(Box::new(Bic::new(rule, self.prior)?))
    }
}

/// The score prepared for a table.
struct Gaussians {
    table: Arc<Table>,
    store: CellStore,
    binned: Option<super::binned::Binned>,
    sets: KeptSets,
    bitmaps: Bitmaps,
    parameters: ConditionalGaussian,
}

/// What is then added to the variances.
const RIDGE: f64 = 1e-6;

/// A positive definite covariance, ready for densities.
pub(crate) struct Covariance {
    /// Packed Cholesky factor.
    pub factor: Vec<f64>,
    pub log_det: f64,
}

impl Covariance {
    /// Of a packed covariance matrix, with a ridge where it is singular.
    pub fn sound(mut covariance: Vec<f64>, k: usize) -> Self {
        let mut factor = vec![0.0; packed(k)];
        let mut ridge = RIDGE;
        if !sound(&covariance, k) || !factor_from(&covariance, &mut factor, 0, k, 0.0) {
            loop {
                (0..k).for_each(|i| covariance[packed(i) + i] += ridge);
                if factor_from(&covariance, &mut factor, 0, k, 0.0) {
                    break;
                }
                ridge *= 10.0; // only where the ridge is lost in rounding
                assert!(ridge < 1e9, "columns near unit variance have a covariance near it");
            }
        }
        let log_det = log_det(&factor, 0, k);
        Self { factor, log_det }
    }
}

fn sound(covariance: &[f64], k: usize) -> bool {
    smallest_eigenvalue(covariance, k) > LEAST_EIGENVALUE
}

/// Scratch of one thread.
#[derive(Default)]
struct Work {
    scatters: Vec<f64>,
    factors: Vec<f64>,
    det: Vec<f64>,
    trace: Vec<f64>,
    halt: Halt,
}

impl Gaussians {
    /// `J(S)`, kept by set.
    fn joint(&self, set: &[Var], work: &mut Work, counter: &mut Counter<'_>) -> Result<f64> {
        self.sets.get_or(set, || {
            let (discrete, numbers) = split(&self.table, set);
            if numbers.is_empty() {
                let total: f64 = match self.table.weights() {
                    None => counter.count(&discrete)?.iter().map(|&n| n_ln_n(n)).sum(),
                    Some(weights) => counter.weigh(&discrete, weights.of_rows())?.iter().map(|&n| n_ln_n(n)).sum(),
                };
                return Ok(total - n_ln_n(self.table.total_weight()));
            }
            let cells = self.store.cells(&discrete);
            self.store.scatters(&cells, &numbers, &mut work.scatters);
            Ok(if self.parameters.published {
                self.published(&cells, &numbers, work)
            } else {
                complete(&cells, numbers.len(), work)
            })
        })
    }

    /// Parameters of a set.
    fn df(&self, set: &[Var]) -> f64 {
        let (discrete, numbers) = split(&self.table, set);
        let (f, k) = (configurations(&self.table, &discrete), numbers.len() as f64);
        let half = k * (k + 1.0) / 2.0;
        if self.parameters.published { f * half + f } else { f * (k + half) + f - 1.0 }
    }

    fn published(&self, cells: &Cells, numbers: &[Var], work: &mut Work) -> f64 {
        let k = numbers.len();
        factor_cells(cells, k, 1.0, work);
        let mut all = None;
        let mut total = cells.log_shares();
        for cell in 0..cells.len() {
            let n_p = cells.size(cell);
            let own = n_p > (k + 5) as f64 && work.det[cell] > 0.0;
            let log_det = if own {
                work.det[cell].ln()
            } else {
                all.get_or_insert_with(|| self.covariance_of_all(numbers)).log_det
            };
            total -= n_p / 2.0 * (log_det + k as f64 * (1.0 + LN_2_PI));
        }
        total
    }

    /// The covariance of all rows, divisor `n - 1`.
    fn covariance_of_all(&self, numbers: &[Var]) -> Covariance {
        let n = self.table.total_weight();
        let mut scatter = Vec::new();
        self.store.scatters(&self.store.cells(&[]), numbers, &mut scatter);
        for x in &mut scatter {
            *x /= n.max(2.0) - 1.0;
        }
        Covariance::sound(scatter, numbers.len())
    }

    /// The log-likelihood of a child with levels under the exact mixture.
    fn mixture(&self, child: Var, parents: &[Var], work: &mut Work) -> f64 {
        let (discrete, numbers) = split(&self.table, parents);
        let k = numbers.len();
        let mut with: Set = discrete.iter().copied().chain([child]).collect();
        with.sort_unstable();
        let (groups, cells) = (self.store.cells(&discrete), self.store.cells(&with));
        let columns = self.store.columns();
        self.store.scatters(&cells, &numbers, &mut work.scatters);
        let covariances = covariances(&cells, k, &work.scatters);
        let centred: Vec<_> = numbers.iter().map(|&v| self.store.centred(&cells, v)).collect();
        let reals: Vec<&[f64]> = numbers.iter().map(|&v| columns.reals(v)).collect();
        let cell_of = cell_of_rows(&cells);
        let mut total = 0.0;
        let mut z = vec![0.0; k];
        for group in 0..groups.len() {
            if work.halt.is_due() {
                return f64::NAN;
            }
            let rows = &groups.order()[groups.range(group)];
            let mut members: Vec<u32> = rows.iter().map(|&row| cell_of[row as usize]).collect();
            members.sort_unstable();
            members.dedup();
            let mut logs = vec![0.0; members.len()];
            for (i, &row) in rows.iter().enumerate() {
                if i % 256 == 255 && work.halt.is_due() {
                    return f64::NAN;
                }
                for (log, &cell) in logs.iter_mut().zip(&members) {
                    let cell = cell as usize;
                    let Covariance { factor, log_det } = &*covariances[cell].0;
                    for i in 0..k {
                        z[i] = reals[i][row as usize] - centred[i].means[cell];
                    }
                    crate::regress::cholesky::forward(factor, &mut z);
                    let squares: f64 = z.iter().map(|z| z * z).sum();
                    *log = cells.size(cell).ln() - 0.5 * (log_det + squares);
                }
                let own = members.binary_search(&cell_of[row as usize]).expect("a row's cell is one of its group's");
                let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let rest = logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
                total += columns.weight(row) * (logs[own] - top - rest);
            }
        }
        total
    }
}

/// Every cell's covariance as the likelihood uses it, and whether it is the cell's own or the pooled one.
pub(super) fn covariances(cells: &Cells, k: usize, scatters: &[f64]) -> Vec<(Arc<Covariance>, bool)> {
    let n_cells = cells.len();
    let shared = Arc::new(pooled_covariance(cells, k, scatters));
    let own = |cell: usize| {
        let n_p = cells.size(cell);
        let covariance: Vec<f64> = (0..packed(k)).map(|pair| scatters[pair * n_cells + cell] / n_p).collect();
        let own = n_p >= (k + 2) as f64 && sound(&covariance, k);
        (if own { Arc::new(Covariance::sound(covariance, k)) } else { shared.clone() }, own)
    };
    (0..n_cells).map(own).collect()
}

/// The pooled covariance within cells, ready for densities.
pub(super) fn pooled_covariance(cells: &Cells, k: usize, scatters: &[f64]) -> Covariance {
    Covariance::sound(pooled(cells, k, scatters), k)
}

/// The cell of every row.
pub(super) fn cell_of_rows(cells: &Cells) -> Vec<u32> {
    let mut out = vec![0; cells.order().len()];
    for cell in 0..cells.len() {
        cells.order()[cells.range(cell)].iter().for_each(|&row| out[row as usize] = cell as u32);
    }
    out
}

/// The pooled covariance within cells.
fn pooled(cells: &Cells, k: usize, scatters: &[f64]) -> Vec<f64> {
    let n_cells = cells.len();
    let n = if cells.is_empty() { 1.0 } else { (0..n_cells).map(|cell| cells.size(cell)).sum() };
    (0..packed(k)).map(|pair| scatters[pair * n_cells..(pair + 1) * n_cells].iter().sum::<f64>() / n).collect()
}

/// Factors every cell's covariance, of divisor `n_p - spare`: its determinant (not a number or negative where there is
/// none) and its trace.
fn factor_cells(cells: &Cells, k: usize, spare: f64, work: &mut Work) {
    let n_cells = cells.len();
    let Work { scatters, factors, det, trace, .. } = work;
    factors.clear();
    factors.extend_from_slice(scatters);
    for cell in 0..n_cells {
        let inverse = 1.0 / (cells.size(cell) - spare);
        for pair in 0..packed(k) {
            factors[pair * n_cells + cell] *= inverse;
        }
    }
    det.clear();
    det.resize(n_cells, 1.0);
    trace.clear();
    trace.resize(n_cells, 0.0);
    for i in 0..k {
        for j in 0..=i {
            let at = (packed(i) + j) * n_cells;
            if i == j {
                trace.iter_mut().zip(&factors[at..at + n_cells]).for_each(|(t, a)| *t += a);
            }
            for t in 0..j {
                let (before, own) = factors.split_at_mut(at);
                let x = &before[(packed(i) + t) * n_cells..][..n_cells];
                if i == j {
                    own[..n_cells].iter_mut().zip(x).for_each(|(a, x)| *a -= x * x);
                } else {
                    let y = &before[(packed(j) + t) * n_cells..][..n_cells];
                    own[..n_cells].iter_mut().zip(x).zip(y).for_each(|((a, x), y)| *a -= x * y);
                }
            }
            if i == j {
                let own = &mut factors[at..at + n_cells];
                det.iter_mut().zip(&*own).for_each(|(d, a)| *d *= a);
                for a in own.iter_mut() {
                    *a = a.sqrt();
                }
            } else {
                let (before, own) = factors.split_at_mut(at);
                let pivot = &before[(packed(j) + j) * n_cells..][..n_cells];
                own[..n_cells].iter_mut().zip(pivot).for_each(|(a, l)| *a /= l);
            }
        }
    }
}

/// The log-likelihood of cells and their numbers, every cell with a covariance of its own or the pooled one.
fn complete(cells: &Cells, k: usize, work: &mut Work) -> f64 {
    factor_cells(cells, k, 0.0, work);
    let n_cells = cells.len();
    let per_row = k as f64 * LN_2_PI;
    let mut shared: Option<(f64, Vec<f64>)> = None;
    let mut total = cells.log_shares();
    for cell in 0..n_cells {
        let n_p = cells.size(cell);
        // The smallest eigenvalue is at least the determinant by the largest product the others can have.
        let least = work.det[cell] * ((k as f64 - 1.0) / work.trace[cell]).powi(k as i32 - 1);
        let of = |pair: usize| work.scatters[pair * n_cells + cell];
        let own = n_p >= (k + 2) as f64
            && (least > LEAST_EIGENVALUE || {
                let covariance: Vec<f64> = (0..packed(k)).map(|pair| of(pair) / n_p).collect();
                sound(&covariance, k) && work.det[cell] > 0.0
            });
        total -= if own {
            n_p / 2.0 * (work.det[cell].ln() + per_row + k as f64)
        } else {
            let (log_det, inverse) = shared.get_or_insert_with(|| {
                let covariance = Covariance::sound(pooled(cells, k, &work.scatters), k);
                (covariance.log_det, inverse(&covariance.factor, k))
            });
            let scatter: Vec<f64> = (0..packed(k)).map(of).collect();
            n_p / 2.0 * (*log_det + per_row) + 0.5 * trace_of_product(inverse, &scatter, k)
        };
    }
    total
}

impl Rule for Gaussians {
    type Child<'a> = Child<'a>;

    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Child<'_>> {
        let is_discrete = self.store.columns().is_discrete(child);
        let counts = match &self.binned {
            Some(binned) if is_discrete => Some(binned.child(child)?),
            _ => None,
        };
        let counter = Counter::with_bitmaps(&self.table, "", &self.bitmaps);
        let additions = Additions::new(&self.store, child);
        Ok(Child { rule: self, var: child, counts, counter, work: Work::default(), set: Set::new(), additions })
    }

    fn model(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        match &self.binned {
            Some(binned) if self.store.columns().is_discrete(child) => Ok(binned.model(child, parents)),
            _ => Ok(super::models::gaussians(&self.store, child, parents, halt)),
        }
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 2000.0, row: 2.0, continuous: 1.4, levels: 0.3 }
    }

    fn equivalent(&self) -> bool {
        !self.parameters.discretise && !self.parameters.exact
    }
}

/// One child's scratch.
struct Child<'a> {
    rule: &'a Gaussians,
    var: Var,
    /// The counts of a child with levels, where numbers are binned for it.
    counts: Option<Box<dyn super::ChildScore + 'a>>,
    counter: Counter<'a>,
    work: Work,
    set: Set,
    additions: Additions<'a>,
}

impl Child<'_> {
    /// The child and these parents, in `set`; how many parameters the family has.
    fn with_child(&mut self, parents: &[Var]) -> f64 {
        self.set.clear();
        self.set.extend_from_slice(parents);
        self.set.insert(parents.partition_point(|&p| p < self.var), self.var);
        self.rule.df(&self.set) - self.rule.df(parents)
    }

    /// From the units of the columns to those of the table.
    fn units(&self) -> f64 {
        self.rule.table.total_weight() * self.rule.store.columns().log_scale(self.var)
    }
}

impl Fits for Child<'_> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        if let Some(counts) = &mut self.counts {
            return counts.likelihood(parents);
        }
        let (df, units) = (self.with_child(parents), self.units());
        let Self { rule, var: child, counter, work, set, .. } = self;
        let columns = rule.store.columns();
        if rule.parameters.exact && columns.is_discrete(*child) && parents.iter().any(|&p| !columns.is_discrete(p)) {
            return Ok(Fit { log_likelihood: rule.mixture(*child, parents, work), df });
        }
        let log_likelihood = rule.joint(set, work, counter)? - rule.joint(parents, work, counter)? - units;
        Ok(Fit { log_likelihood, df })
    }

    fn most(&mut self, base: &[Var], added: Var, parents: &[Var]) -> Option<Fit> {
        let rule = self.rule;
        let mixture = rule.parameters.exact && rule.store.columns().is_discrete(self.var);
        if rule.parameters.published || self.counts.is_some() || mixture {
            return None;
        }
        let most = self.additions.most(base, added)?;
        let df = self.with_child(parents);
        Some(Fit { log_likelihood: most - self.units(), df })
    }

    fn heed(&mut self, halt: &Halt) {
        self.work.halt = halt.clone();
        self.counter.heed(halt);
        if let Some(counts) = &mut self.counts {
            counts.heed(halt);
        }
    }
}
