//! The fitted models that the scores for mixed data speak of.
//!
//! Numbers are predicted by Student's t around a regression, of as many degrees of freedom as its residuals have; a cell too
//! small or too flat for a residual variance of its own uses the pooled one, as in the scores. Levels get no probability
//! below `1 / (n + K)`. Configurations of levels that were not observed are answered by a fit to all rows.

use std::sync::Arc;

use smallvec::SmallVec;

use super::conditional::{self, Covariance};
use super::{Vars, split};
use crate::model::LocalModel;
use crate::model::cells;
use crate::model::discriminant::{Class, Discriminant, Group};
use crate::model::divided::Divided;
use crate::model::regression::{Link, Piece, Regression, Term};
use crate::predictive::Predictive;
use crate::regress::cells::{CellStore, Cells, dot, sum};
use crate::regress::cholesky::{backward, packed};
use crate::regress::columns::Columns;
use crate::regress::least_squares::Basis;
use crate::regress::{legendre, logistic};
use crate::table::{Table, Var};

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
                counts[y[row as usize] as usize] += 1.0;
            }
            let total = (rows.len() + k) as f64;
            Predictive::Levels { probabilities: counts.into_iter().map(|c| c / total).collect() }
        };
        let one = |cell: usize| {
            let rows = &divided.order()[divided.range(cell)];
            cell_of(codes(columns, &divided, cell, parents), rows.len(), of(rows))
        };
        let made = (0..divided.len()).map(one).collect();
        return LocalModel::Cells(cells::Cells::new(child, parents.to_vec(), made, of(all.order())));
    }
    let units = columns.scaling(child);
    let (own, overall) = (store.centred(&divided, child), store.centred(&all, child));
    let squares = |x: &[f64]| dot(x, x);
    let pooled = (squares(&own.values), own.values.len() as f64 - divided.len() as f64);
    let student = |mean: f64, (squares, df): (f64, f64)| {
        let (scale, df) = spread(columns, child, squares, df);
        Predictive::StudentT { df, location: units.shift + units.scale * mean, scale }
    };
    let one = |cell: usize| {
        let x = &own.values[divided.range(cell)];
        let n = x.len() as f64;
        let sound = n >= 3.0 && squares(x) > LEAST_VARIANCE * n;
        let around = if sound { (squares(x), n - 1.0) } else { pooled };
        cell_of(codes(columns, &divided, cell, parents), x.len(), student(own.means[cell], around))
    };
    let made = (0..divided.len()).map(one).collect();
    let n = overall.values.len() as f64;
    let unseen = student(overall.means.first().copied().unwrap_or(0.0), (squares(&overall.values), n - 1.0));
    LocalModel::Cells(cells::Cells::new(child, parents.to_vec(), made, unseen))
}

/// The model of the conditional Gaussian score.
pub(super) fn gaussians(store: &CellStore, child: Var, parents: &[Var]) -> LocalModel {
    let columns = store.columns();
    let (discrete, numbers) = split(columns.table(), parents);
    if numbers.is_empty() || columns.n_rows() == 0 {
        return without_numbers_or_rows(store, child, parents);
    }
    if columns.is_discrete(child) {
        return LocalModel::Discriminant(discriminant(store, child, parents, &discrete, &numbers));
    }
    let fit = |division: &Cells, all: bool| -> Vec<(Vec<u32>, usize, Piece)> {
        let mut order: Vars = numbers.clone();
        order.push(child);
        let k = order.len();
        let mut scatters = Vec::new();
        store.scatters(division, &order, &mut scatters);
        let covariances = conditional::covariances(division, k, &scatters);
        let means: Vec<_> = order.iter().map(|&v| store.centred(division, v)).collect();
        let n = columns.n_rows() as f64;
        let one = |cell: usize| {
            let rows = division.n_rows(cell);
            let (covariance, own) = &covariances[cell];
            let b = slopes(&covariance.factor, k - 1);
            let residual = covariance.factor[packed(k - 1) + k - 1].powi(2);
            let (weight, df) = if *own {
                (rows as f64, rows as f64 - k as f64)
            } else {
                (n, n - division.len() as f64 - (k as f64 - 1.0))
            };
            let at: Vec<f64> = means.iter().map(|m| m.means[cell]).collect();
            let piece =
                linear(columns, child, parents, &numbers, &at, &b, spread(columns, child, weight * residual, df), rows);
            let codes = if all { Vec::new() } else { codes(columns, division, cell, &discrete) };
            (codes, rows, piece)
        };
        (0..division.len()).map(one).collect()
    };
    let pieces = fit(&store.cells(&discrete), false);
    let otherwise = fit(&store.cells(&[]), true).pop().expect("there are rows").2;
    let divided = Divided::new(positions(parents, &discrete), pieces, otherwise);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), Link::Mean, divided))
}

/// The coefficients of the last variable on the first `c`, from the factor of their covariance.
fn slopes(factor: &[f64], c: usize) -> Vec<f64> {
    let mut b = factor[packed(c)..packed(c) + c].to_vec();
    backward(&factor[..packed(c)], &mut b);
    b
}

/// Straight lines through the means, in stored units.
#[allow(clippy::too_many_arguments)] // one piece, as its parts come
fn linear(
    columns: &Columns,
    child: Var,
    parents: &[Var],
    numbers: &[Var],
    means: &[f64],
    slopes: &[f64],
    spread: (f64, f64),
    n_rows: usize,
) -> Piece {
    let own = columns.scaling(child);
    let term = |(&v, mean): (&Var, &f64)| {
        let units = columns.scaling(v);
        let parent = parents.binary_search(&v).expect("one of the parents");
        Term::Number {
            parent,
            degree: 1,
            legendre: false,
            centre: units.shift + units.scale * mean,
            scale: units.scale,
            range: None,
        }
    };
    let terms: Vec<Term> = numbers.iter().zip(means).map(term).collect();
    let constant = own.shift + own.scale * means[numbers.len()];
    let b = std::iter::once(constant).chain(slopes.iter().map(|b| own.scale * b)).collect();
    let centre = centre(parents, &terms);
    Piece { n_rows, terms, coefficients: vec![b], centre, spread: Some(spread) }
}

/// The parents' means, from the centres of their terms.
fn centre(parents: &[Var], terms: &[Term]) -> Vec<f64> {
    let mut out = vec![0.0; parents.len()];
    for term in terms {
        if let Term::Number { parent, centre, legendre: false, .. } = term {
            out[*parent] = *centre;
        }
    }
    out
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
        Predictive::StudentT { df, location, scale } => (vec![vec![location]], Some((scale, df)), Link::Mean),
    };
    let piece = Piece { n_rows: 0, terms: Vec::new(), coefficients, centre: vec![0.0; parents.len()], spread };
    let divided = Divided::new(positions(parents, &discrete), Vec::new(), piece);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), link, divided))
}

fn discriminant(store: &CellStore, child: Var, parents: &[Var], discrete: &[Var], numbers: &[Var]) -> Discriminant {
    let columns = store.columns();
    let n_levels = columns.levels(child).expect("the child has levels");
    let group_of = |by: &[Var]| -> Vec<(Vec<u32>, usize, Group)> {
        let mut with: Vec<Var> = by.iter().copied().chain([child]).collect();
        with.sort_unstable();
        let (groups, cells) = (store.cells(by), store.cells(&with));
        let k = numbers.len();
        let mut scatters = Vec::new();
        store.scatters(&cells, numbers, &mut scatters);
        let covariances = conditional::covariances(&cells, k, &scatters);
        let shared = conditional::pooled_covariance(&cells, k, &scatters);
        let means: Vec<_> = numbers.iter().map(|&v| store.centred(&cells, v)).collect();
        let overall: Vec<_> = numbers.iter().map(|&v| store.centred(&groups, v)).collect();
        let cell_of = conditional::cell_of_rows(&cells);
        let y = columns.codes(child);
        let one = |group: usize| {
            let rows = &groups.order()[groups.range(group)];
            let mut cell_of_level = vec![None; n_levels];
            for &row in rows {
                cell_of_level[y[row as usize] as usize] = Some(cell_of[row as usize] as usize);
            }
            let total = (rows.len() + n_levels) as f64;
            let class = |cell: &Option<usize>| {
                let n = cell.map_or(0, |cell| cells.n_rows(cell));
                let at = |i: usize| cell.map_or_else(|| overall[i].means[group], |cell| means[i].means[cell]);
                let covariance: &Covariance = cell.map_or(&shared, |cell| &covariances[cell].0);
                in_units(
                    columns,
                    numbers,
                    ((n as f64 + 1.0) / total).ln(),
                    &(0..k).map(at).collect::<Vec<_>>(),
                    covariance,
                )
            };
            let classes = cell_of_level.iter().map(class).collect();
            let stored = |(i, &v): (usize, &Var)| {
                let units = columns.scaling(v);
                units.shift + units.scale * overall[i].means[group]
            };
            let centre = numbers.iter().enumerate().map(stored).collect();
            (codes(columns, &groups, group, by), rows.len(), Group { n_rows: rows.len(), classes, centre })
        };
        (0..groups.len()).map(one).collect()
    };
    let otherwise = group_of(&[]).pop().expect("there are rows").2;
    let divided = Divided::new(positions(parents, discrete), group_of(discrete), otherwise);
    Discriminant::new(child, parents.to_vec(), positions(parents, numbers), divided)
}

fn in_units(columns: &Columns, numbers: &[Var], log_share: f64, mean: &[f64], covariance: &Covariance) -> Class {
    let units: Vec<_> = numbers.iter().map(|&v| columns.scaling(v)).collect();
    let mean = mean.iter().zip(&units).map(|(m, u)| u.shift + u.scale * m).collect();
    let mut factor = covariance.factor.clone();
    for (i, units) in units.iter().enumerate() {
        factor[packed(i)..=packed(i) + i].iter_mut().for_each(|l| *l *= units.scale);
    }
    Class { log_share, mean, factor }
}

/// The model of mixed polynomials, or of logistic regressions.
pub(super) fn polynomials(
    store: &CellStore,
    child: Var,
    parents: &[Var],
    degree: impl Fn(usize) -> usize + Copy,
    link: Link,
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
            let terms = powers(columns, parents, &numbers, rows, degree(rows.len()));
            let fitted = Fitted::new(columns, child, parents, rows, terms, link, true);
            (codes(columns, &division, cell, by), rows.len(), fitted)
        };
        settled(columns, child, (0..division.len()).map(one).collect())
    };
    let otherwise = fit(&[]).pop().expect("there are rows").2;
    let divided = Divided::new(positions(parents, &discrete), fit(&discrete), otherwise);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), link, divided))
}

/// One regression on terms of all parents: levels as indicators, numbers as Legendre polynomials, or lines.
pub(super) fn additive(table: &Arc<Table>, child: Var, parents: &[Var], degree: usize) -> LocalModel {
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
            let observed = super::basis::observed(columns, v);
            terms.extend(observed.into_iter().map(|code| Term::Level { parent: position, code }));
        } else if degree == 1 {
            terms.extend(powers(columns, parents, &[v], rows, 1));
        } else {
            terms.extend(legendres(columns, v, position, degree));
        }
    }
    let link = if columns.is_discrete(child) { Link::Shares } else { Link::Mean };
    let fitted = Fitted::new(columns, child, parents, rows, terms, link, false);
    let (codes, n, piece) = settled(columns, child, vec![(Vec::new(), rows.len(), fitted)]).pop().expect("one piece");
    let otherwise = piece.clone();
    let divided = Divided::new(Vec::new(), vec![(codes, n, piece)], otherwise);
    LocalModel::Regression(Regression::new(child, parents.to_vec(), link, divided))
}

/// Powers of z-scored numbers within some rows.
fn powers(columns: &Columns, parents: &[Var], numbers: &[Var], rows: &[u32], degree: usize) -> Vec<Term> {
    let mut terms = Vec::new();
    let about = |&v: &Var| {
        let x: Vec<f64> = rows.iter().map(|&row| columns.reals(v)[row as usize]).collect();
        let mean = sum(&x) / x.len() as f64;
        let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
        let (low, high) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        let units = columns.scaling(v);
        let stored = |x: f64| units.shift + units.scale * x;
        let sd = (squares / (x.len().max(2) - 1) as f64).sqrt();
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

/// A regression before its spread is settled.
struct Fitted {
    piece: Piece,
    squares: f64,
    rank: usize,
}

impl Fitted {
    /// Fits a child to terms in some rows; to the intercept alone where there are too few rows, or where terms that span
    /// each other are `strict`ly refused.
    fn new(
        columns: &Columns,
        child: Var,
        parents: &[Var],
        rows: &[u32],
        mut terms: Vec<Term>,
        link: Link,
        strict: bool,
    ) -> Self {
        let n = rows.len();
        let k = columns.levels(child);
        let centre = means(columns, parents, rows);
        let mut basis = Basis::default();
        basis.clear(n);
        basis.push(std::iter::repeat_n(1.0, n));
        let mut kept = Vec::new();
        let fits = terms.len() + 1 < n && k.is_none_or(|k| k < n);
        for term in &terms {
            if !fits {
                break;
            }
            let v = parents[term.parent_position()];
            if basis.push(values(columns, v, term, rows).into_iter()) {
                kept.push(term.clone());
            } else if strict {
                kept.clear();
                break;
            }
        }
        if kept.is_empty() || !fits {
            basis.truncate(1);
            kept.clear();
        }
        let positions: Vec<usize> = (0..terms.len()).filter(|&i| kept.contains(&terms[i])).map(|i| i + 1).collect();
        terms = kept;
        let select = |b: Vec<f64>| -> Vec<f64> {
            std::iter::once(b[0]).chain(positions.iter().map(|&i| b.get(i).copied().unwrap_or(0.0))).collect()
        };
        let (mut squares, mut coefficients) = (0.0, Vec::new());
        if let Some(k) = k {
            let y: Vec<u32> = rows.iter().map(|&row| columns.codes(child)[row as usize]).collect();
            if link == Link::Logit {
                coefficients = log_odds(&basis, &y, k).into_iter().map(select).collect();
            } else {
                for level in 0..k as u32 {
                    let target: Vec<f64> = y.iter().map(|&c| f64::from(u8::from(c == level))).collect();
                    coefficients.push(select(basis.coefficients(&target)));
                }
            }
        } else {
            let units = columns.scaling(child);
            let y: Vec<f64> = rows.iter().map(|&row| columns.reals(child)[row as usize]).collect();
            let mut b = select(basis.coefficients(&y));
            for b in &mut b {
                *b *= units.scale;
            }
            b[0] += units.shift;
            coefficients.push(b);
            let mut rest = y;
            basis.residuals(&mut rest);
            squares = dot(&rest, &rest);
        }
        let piece = Piece { n_rows: n, terms, coefficients, centre, spread: None };
        Self { piece, squares, rank: basis.rank() }
    }
}

/// Spreads of numbers: a piece's own, or the pooled one.
fn settled(columns: &Columns, child: Var, fitted: Vec<(Vec<u32>, usize, Fitted)>) -> Vec<(Vec<u32>, usize, Piece)> {
    let squares: f64 = fitted.iter().map(|(_, _, f)| f.squares).sum();
    let df: f64 = fitted.iter().map(|(_, n, f)| *n as f64 - f.rank as f64).sum();
    let one = |(codes, n, fitted): (Vec<u32>, usize, Fitted)| {
        let Fitted { mut piece, squares: own, rank } = fitted;
        if !columns.is_discrete(child) {
            let sound = n >= rank + 2 && own > LEAST_VARIANCE * n as f64;
            let (squares, df) = if sound { (own, n as f64 - rank as f64) } else { (squares, df) };
            piece.spread = Some(spread(columns, child, squares, df));
        }
        (codes, n, piece)
    };
    fitted.into_iter().map(one).collect()
}

fn means(columns: &Columns, parents: &[Var], rows: &[u32]) -> Vec<f64> {
    let mean = |&v: &Var| {
        if columns.is_discrete(v) {
            return 0.0;
        }
        let units = columns.scaling(v);
        let total: f64 = rows.iter().map(|&row| columns.reals(v)[row as usize]).sum();
        units.shift + units.scale * total / rows.len().max(1) as f64
    };
    parents.iter().map(mean).collect()
}

/// A term's values in some rows.
fn values(columns: &Columns, var: Var, term: &Term, rows: &[u32]) -> Vec<f64> {
    match *term {
        Term::Level { code, .. } => {
            rows.iter().map(|&row| f64::from(u8::from(columns.codes(var)[row as usize] == code))).collect()
        }
        Term::Number { degree, legendre: bent, centre, scale, .. } => {
            let units = columns.scaling(var);
            let z = |&row: &u32| (units.shift + units.scale * columns.reals(var)[row as usize] - centre) / scale;
            let of = |z: f64| if bent { legendre(degree, z) } else { z.powi(degree as i32) };
            rows.iter().map(z).map(of).collect()
        }
    }
}

/// Log-odds of a level that does not occur in a cell.
const NEVER: f64 = -50.0;

/// Coefficients of every level's log-odds to the first that occurs, on the columns of a basis.
fn log_odds(basis: &Basis, y: &[u32], k: usize) -> Vec<Vec<f64>> {
    let occurring: Vec<u32> = (0..k as u32).filter(|c| y.contains(c)).collect();
    let place = |c: &u32| occurring.binary_search(c).expect("it occurs") as u32;
    let constant = |b: f64| {
        let mut out = basis.in_columns(vec![0.0; basis.rank()]);
        out[0] = b;
        out
    };
    let fitted = if occurring.len() > 1 {
        let y: Vec<u32> = y.iter().map(place).collect();
        logistic::fit(basis, &y, occurring.len()).coefficients
    } else {
        Vec::new()
    };
    let root = (y.len() as f64).sqrt();
    let one = |level: u32| match occurring.binary_search(&level) {
        Err(_) => constant(NEVER),
        Ok(0) => constant(0.0),
        Ok(place) => basis.in_columns(fitted[place - 1].iter().map(|b| b * root).collect()),
    };
    (0..k as u32).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::cholesky::{factor_from, forward};

    #[test]
    fn slopes_are_those_of_the_normal_equations() {
        // S = [[2, 1, 3], [1, 4, 2], [3, 2, 9]]: b solves S_xx b = S_xy.
        let s = [2.0, 1.0, 4.0, 3.0, 2.0, 9.0];
        let mut factor = vec![0.0; 6];
        assert!(factor_from(&s, &mut factor, 0, 3, 0.0));
        let b = slopes(&factor, 2);
        assert!((2.0 * b[0] + b[1] - 3.0).abs() < 1e-12 && (b[0] + 4.0 * b[1] - 2.0).abs() < 1e-12);
        let mut x = vec![3.0, 2.0];
        forward(&factor[..3], &mut x);
        backward(&factor[..3], &mut x);
        assert!((x[0] - b[0]).abs() < 1e-12);
    }
}
