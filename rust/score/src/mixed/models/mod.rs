//! The fitted models of the scores for mixed data.
//!
//! Numbers are predicted by Student's t around a regression, of as many degrees of freedom as its residuals have; a cell too
//! small or too flat for a residual variance of its own uses the pooled one, as in the scores. Levels get no probability
//! below `1 / (n + K)`. Configurations of levels that were not observed are answered by a fit to all rows.

mod blocks;
mod fitted;
mod gaussian;
mod regressions;

pub(super) use self::blocks::blocks;
pub(super) use self::gaussian::gaussians;
pub(super) use self::regressions::{additive, polynomials};
use crate::model::LocalModel;
use crate::model::cells;
use crate::model::divided::Divided;
use crate::model::regression::{Link, Piece, Regression};
use crate::predictive::Predictive;
use crate::regress::cells::{Cells, dot};
use crate::regress::columns::Columns;
use crate::regress::store::CellStore;
use crate::table::Var;

/// A residual variance below this share of the column's own is none.
const LEAST_VARIANCE: f64 = 1e-9;

/// Where the dividing parents stand among all, and the others.
fn positions(parents: &[Var], of: &[Var]) -> Vec<usize> {
    of.iter().map(|v| parents.binary_search(v).expect("one of the parents")).collect()
}

/// The codes of a cell.
fn codes(columns: &Columns, cells: &Cells, cell: usize, discrete: &[Var]) -> Vec<u32> {
    let row = cells.order()[cells.range(cell).start] as usize;
    discrete.iter().map(|&v| columns.codes(v)[row]).collect()
}

/// What is told as a number of rows: the sum of their weights, rounded.
fn told(size: f64) -> usize {
    size.round() as usize
}

/// Scale and degrees of freedom of residuals, in stored units; kept within what densities can be asked for.
fn spread(columns: &Columns, child: Var, squares: f64, df: f64) -> (f64, f64) {
    let df = df.max(1.0);
    let scale = (squares / df).max(LEAST_VARIANCE).sqrt() * columns.scaling(child).scale;
    (scale.clamp(1e-140, 1e140), df)
}

/// Cells without numeric parents: shares with one added to every count, or one mean a cell.
fn without_numbers(store: &CellStore, child: Var, parents: &[Var]) -> LocalModel {
    let columns = store.columns();
    let divided = store.cells(parents);
    let all = store.cells(&[]);
    let cell_of = |codes: Vec<u32>, n_rows: usize, distribution| cells::Cell { codes, n_rows, distribution };
    if let Some(k) = columns.levels(child) {
        let y = columns.codes(child);
        let of = |rows: &[u32]| {
            let mut counts = vec![1.0; k];
            for &row in rows {
                counts[y[row as usize] as usize] += columns.weight(row);
            }
            let total = columns.weight_of(rows) + k as f64;
            Predictive::Levels { probabilities: counts.into_iter().map(|c| c / total).collect() }
        };
        let one = |cell: usize| {
            let rows = &divided.order()[divided.range(cell)];
            cell_of(codes(columns, &divided, cell, parents), told(divided.size(cell)), of(rows))
        };
        let made = (0..divided.len()).map(one).collect();
        return LocalModel::Cells(cells::Cells::new(child, parents.to_vec(), made, of(all.order())));
    }
    let units = columns.scaling(child);
    let (own, overall) = (store.centred(&divided, child), store.centred(&all, child));
    let squares = |x: &[f64]| dot(x, x);
    let pooled = (squares(&own.values), columns.total() - divided.len() as f64);
    let student = |mean: f64, (squares, df): (f64, f64)| {
        let (scale, df) = spread(columns, child, squares, df);
        Predictive::StudentT { df, location: units.shift + units.scale * mean, scale }
    };
    let one = |cell: usize| {
        let x = &own.values[divided.range(cell)];
        let n = divided.size(cell);
        let sound = n >= 3.0 && squares(x) > LEAST_VARIANCE * n;
        let around = if sound { (squares(x), n - 1.0) } else { pooled };
        cell_of(codes(columns, &divided, cell, parents), told(n), student(own.means[cell], around))
    };
    let made = (0..divided.len()).map(one).collect();
    let n = columns.total();
    let unseen = student(overall.means.first().copied().unwrap_or(0.0), (squares(&overall.values), n - 1.0));
    LocalModel::Cells(cells::Cells::new(child, parents.to_vec(), made, unseen))
}

fn without_numbers_or_rows(store: &CellStore, child: Var, parents: &[Var]) -> LocalModel {
    let columns = store.columns();
    if columns.n_rows() > 0 {
        return without_numbers(store, child, parents);
    }
    // Without rows nothing is known: even shares, a standard normal as wide as can be.
    let unseen = match columns.levels(child) {
        Some(k) => Predictive::Levels { probabilities: vec![1.0 / k as f64; k] },
        None => Predictive::StudentT { df: 1.0, location: 0.0, scale: 1.0 },
    };
    let discrete: Vec<Var> = parents.iter().copied().filter(|&p| columns.is_discrete(p)).collect();
    if discrete.len() == parents.len() {
        return LocalModel::Cells(cells::Cells::new(child, parents.to_vec(), Vec::new(), unseen));
    }
    let (coefficients, spread, link) = match unseen {
        Predictive::Levels { probabilities } => {
            (probabilities.into_iter().map(|p| vec![p]).collect(), None, Link::Shares)
        }
        Predictive::StudentT { df, location, scale } | Predictive::Point { df, location, scale, .. } => {
            (vec![vec![location]], Some((scale, df)), Link::Mean)
        }
        Predictive::Counts { .. } | Predictive::Histogram { .. } => unreachable!("only trees have these"),
    };
    let piece = Piece { n_rows: 0, terms: Vec::new(), coefficients, centre: vec![0.0; parents.len()], spread };
    let divided = Divided::new(positions(parents, &discrete), Vec::new(), piece);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), link, divided))
}
