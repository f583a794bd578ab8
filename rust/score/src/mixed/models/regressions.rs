//! What the regression scores fit: terms of the parents, per cell of levels (mixed polynomials, logistic regressions) or with
//! indicators for levels among the terms (degenerate Gaussian, basis functions).

use std::sync::Arc;

use smallvec::SmallVec;

use super::super::{basis, split};
use super::fitted::{Fitted, settled};
use super::{codes, positions, without_numbers_or_rows};
use crate::control::Halt;
use crate::model::LocalModel;
use crate::model::divided::Divided;
use crate::model::regression::{Link, Piece, Regression, Term};
use crate::regress::cells::sum;
use crate::regress::columns::Columns;
use crate::regress::store::CellStore;
use crate::table::{Table, Var};

/// The model of mixed polynomials, or of logistic regressions.
pub(in super::super) fn polynomials(
    store: &CellStore,
    child: Var,
    parents: &[Var],
    degree: impl Fn(f64) -> usize + Copy,
    link: Link,
    halt: &Halt,
) -> LocalModel {
    let columns = store.columns();
    let (discrete, numbers) = split(columns.table(), parents);
    if numbers.is_empty() || columns.n_rows() == 0 {
        return without_numbers_or_rows(store, child, parents);
    }
    let link = if columns.is_discrete(child) { link } else { Link::Mean };
    let fit = |by: &[Var]| -> Vec<(Vec<u32>, usize, Piece)> {
        let division = store.cells(by);
        let one = |cell: usize| {
            let rows = &division.order()[division.range(cell)];
            let terms = powers(columns, parents, &numbers, rows, degree(columns.weight_of(rows)));
            let fitted = Fitted::new((columns, halt), child, parents, rows, terms, link, true);
            (codes(columns, &division, cell, by), division.size(cell), fitted)
        };
        // One at least, for what is asked about other cells.
        let cells = (0..division.len()).take_while(|&cell| cell == 0 || !halt.is_due());
        settled(columns, child, cells.map(one).collect())
    };
    let otherwise = fit(&[]).pop().expect("there are rows").2;
    let divided = Divided::new(positions(parents, &discrete), fit(&discrete), otherwise);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), link, divided))
}

/// One regression on terms of all parents: levels as indicators, numbers as Legendre polynomials, or lines.
pub(in super::super) fn additive(
    table: &Arc<Table>,
    child: Var,
    parents: &[Var],
    degree: usize,
    halt: &Halt,
) -> LocalModel {
    let store = &CellStore::new(Arc::new(Columns::new(table)));
    let columns = store.columns();
    if parents.is_empty() || columns.n_rows() == 0 {
        return without_numbers_or_rows(store, child, parents);
    }
    let all = store.cells(&[]);
    let rows = all.order();
    let mut terms = Vec::new();
    for (position, &v) in parents.iter().enumerate() {
        if columns.is_discrete(v) {
            let observed = basis::observed(columns, v);
            terms.extend(observed.into_iter().map(|code| Term::Level { parent: position, code }));
        } else if degree == 1 {
            terms.extend(powers(columns, parents, &[v], rows, 1));
        } else {
            terms.extend(legendres(columns, v, position, degree));
        }
    }
    let link = if columns.is_discrete(child) { Link::Shares } else { Link::Mean };
    let fitted = Fitted::new((columns, halt), child, parents, rows, terms, link, false);
    let (codes, n, piece) =
        settled(columns, child, vec![(Vec::new(), columns.total(), fitted)]).pop().expect("one piece");
    let otherwise = piece.clone();
    let divided = Divided::new(Vec::new(), vec![(codes, n, piece)], otherwise);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), link, divided))
}

/// Powers of z-scored numbers within some rows.
fn powers(columns: &Columns, parents: &[Var], numbers: &[Var], rows: &[u32], degree: usize) -> Vec<Term> {
    let mut terms = Vec::new();
    let about = |&v: &Var| {
        let x: Vec<f64> = rows.iter().map(|&row| columns.reals(v)[row as usize]).collect();
        let n = columns.weight_of(rows);
        let weighted = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            x.iter().zip(rows).map(|(&x, &row)| columns.weight(row) * of(x)).collect()
        };
        let mean = sum(&weighted(&|x| x)) / n;
        let squares: f64 = weighted(&|x| (x - mean).powi(2)).iter().sum();
        let (low, high) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        let units = columns.scaling(v);
        let stored = |x: f64| units.shift + units.scale * x;
        let sd = (squares / (n.max(2.0) - 1.0)).sqrt();
        let scale = if sd > 1e-12 { sd * units.scale } else { units.scale };
        let parent = parents.binary_search(&v).expect("one of the parents");
        (parent, stored(mean), scale, (stored(low), stored(high)))
    };
    let about: SmallVec<[_; 4]> = numbers.iter().map(about).collect();
    for degree in 1..=degree {
        for &(parent, centre, scale, range) in &about {
            let range = (degree > 1).then_some(range);
            terms.push(Term::Number { parent, degree, legendre: false, centre, scale, range });
        }
    }
    terms
}

fn legendres(columns: &Columns, var: Var, parent: usize, degree: usize) -> Vec<Term> {
    let units = columns.scaling(var);
    let x = columns.reals(var);
    let (low, high) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let (low, high) = (units.shift + units.scale * low, units.shift + units.scale * high);
    let scale = if high > low { (high - low) / 2.0 } else { units.scale };
    let centre = f64::midpoint(low, high);
    (1..=degree)
        .map(|degree| Term::Number { parent, degree, legendre: true, centre, scale, range: Some((low, high)) })
        .collect()
}
