//! Bayesian Dirichlet scores: K2 and BD with the same alpha in every cell, `BDeu` with one equivalent sample size.
//!
//! `sum_j [lgamma(A_j) - lgamma(N_j + A_j)] + sum_jk [lgamma(N_jk + a) - lgamma(a)]`, `A_j = r a`; BD: a = alpha (K2: 1),
//! `BDeu`: `a = ess / (r q)`, which makes it a function of the set of child and parents, and score equivalent (the paper
//! says otherwise, by a slip).

use std::sync::{Arc, RwLock};

use libm::lgamma;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{CountScore, Prepared};
use crate::counts::Count;
use crate::error::{Error, Result};
use crate::prior::GraphPrior;
use crate::table::Table;
use crate::{LocalScore, Tables};

/// BD: the same alpha in every cell; K2 is alpha = 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bd {
    /// Above 0.
    pub alpha: f64,
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

/// `BDeu`: `ess` equivalent rows, spread evenly over the cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bdeu {
    /// Equivalent sample size, above 0.
    pub ess: f64,
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

/// Refuses what is no number above 0.
pub(super) fn positive(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(name, &value, "must be a number above 0"))
}

impl Bd {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        positive("alpha", self.alpha)?;
        let rule = Dirichlet { cell: Cell::Alpha(self.alpha), rising: RisingTables::new(table.total_weight()) };
        Ok(Box::new(Prepared::new(table, rule, self.prior)?))
    }
}

impl Bdeu {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        positive("ess", self.ess)?;
        let rule = Dirichlet { cell: Cell::Ess(self.ess), rising: RisingTables::new(table.total_weight()) };
        Ok(Box::new(Prepared::new(table, rule, self.prior)?))
    }
}

#[derive(Clone, Copy)]
enum Cell {
    Alpha(f64),
    Ess(f64),
}

struct Dirichlet {
    cell: Cell,
    rising: RisingTables,
}

impl CountScore for Dirichlet {
    fn joint<N: Count>(&self, cells: &[N], configurations: f64) -> f64 {
        match self.cell {
            Cell::Alpha(alpha) => self.rising.sum(alpha, cells),
            Cell::Ess(ess) => self.rising.sum(ess / configurations, cells),
        }
    }

    fn given<N: Count>(&self, cells: &[N], configurations: f64, r: usize) -> f64 {
        match self.cell {
            Cell::Alpha(alpha) => self.rising.sum(alpha * r as f64, cells),
            Cell::Ess(ess) => self.rising.sum(ess / configurations, cells),
        }
    }

    fn given_depends_on_child(&self) -> bool {
        matches!(self.cell, Cell::Alpha(_))
    }

    fn pseudo_count(&self, r: usize, q: f64) -> f64 {
        match self.cell {
            Cell::Alpha(alpha) => alpha,
            Cell::Ess(ess) => ess / (r as f64 * q),
        }
    }

    fn tables(&self) -> Tables {
        Tables::Smoothed
    }

    fn equivalent(&self) -> bool {
        matches!(self.cell, Cell::Ess(_))
    }
}

/// `lgamma(a + n) - lgamma(a)` by count, one table for each `a` that is met: as many as there are different numbers of
/// configurations.
struct RisingTables {
    tabulated: usize,
    tables: RwLock<FxHashMap<u64, Arc<Vec<f64>>>>,
}

/// Counts beyond it are computed; a cell that large is rare enough.
const MAX_TABULATED: usize = 1 << 14;
const MAX_TABLES: usize = 1 << 9;

impl RisingTables {
    fn new(n_rows: f64) -> Self {
        Self { tabulated: (n_rows as usize).min(MAX_TABULATED) + 1, tables: RwLock::default() }
    }

    fn table(&self, a: f64) -> Option<Arc<Vec<f64>>> {
        let key = a.to_bits();
        if let Some(table) = self.tables.read().expect("nothing panics under this lock").get(&key) {
            return Some(table.clone());
        }
        let mut tables = self.tables.write().expect("nothing panics under this lock");
        if tables.len() >= MAX_TABLES {
            return None;
        }
        let fill = || Arc::new(rising_table(a, self.tabulated));
        Some(tables.entry(key).or_insert_with(fill).clone())
    }

    fn sum<N: Count>(&self, a: f64, cells: &[N]) -> f64 {
        match self.table(a) {
            Some(table) => {
                let known = |n: N| table.get(n.whole()? as usize).copied();
                let at = |&n: &N| known(n).unwrap_or_else(|| rising(a, n));
                cells.iter().map(at).sum()
            }
            None => cells.iter().map(|&n| rising(a, n)).sum(),
        }
    }
}

/// The running sum of `ln(a + i)`, with the rounding error of each addition carried along.
fn rising_table(a: f64, len: usize) -> Vec<f64> {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    let mut table = Vec::with_capacity(len);
    for n in 0..len {
        table.push(sum);
        let term = (a + n as f64).ln() - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    table
}

fn rising<N: Count>(a: f64, n: N) -> f64 {
    if n.real() == 0.0 { 0.0 } else { lgamma(n.real() + a) - lgamma(a) }
}
