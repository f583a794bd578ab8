//! What the conditional Gaussian score fits: a number's regression in every cell, levels by Bayes' rule between Gaussians.

use super::super::conditional::{self, Covariance};
use super::super::{Vars, split};
use super::{codes, positions, spread, told, without_numbers_or_rows};
use crate::control::Halt;
use crate::model::LocalModel;
use crate::model::discriminant::{Class, Discriminant, Group};
use crate::model::divided::Divided;
use crate::model::regression::{Link, Piece, Regression, Term};
use crate::regress::cells::Cells;
use crate::regress::cholesky::{backward, packed};
use crate::regress::columns::Columns;
use crate::regress::store::CellStore;
use crate::table::Var;

/// The model of the conditional Gaussian score.
pub(in super::super) fn gaussians(store: &CellStore, child: Var, parents: &[Var], halt: &Halt) -> LocalModel {
    let columns = store.columns();
    let (discrete, numbers) = split(columns.table(), parents);
    if numbers.is_empty() || columns.n_rows() == 0 {
        return without_numbers_or_rows(store, child, parents);
    }
    if columns.is_discrete(child) {
        return LocalModel::Discriminant(discriminant((store, halt), child, parents, &discrete, &numbers));
    }
    let fit = |division: &Cells, all: bool| -> Vec<(Vec<u32>, usize, Piece)> {
        let mut order: Vars = numbers.clone();
        order.push(child);
        let k = order.len();
        let mut scatters = Vec::new();
        store.scatters(division, &order, &mut scatters);
        let covariances = conditional::covariances(division, k, &scatters);
        let means: Vec<_> = order.iter().map(|&v| store.centred(division, v)).collect();
        let n = columns.total();
        let one = |cell: usize| {
            let rows = division.size(cell);
            let (covariance, own) = &covariances[cell];
            let b = slopes(&covariance.factor, k - 1);
            let residual = covariance.factor[packed(k - 1) + k - 1].powi(2);
            let (weight, df) =
                if *own { (rows, rows - k as f64) } else { (n, n - division.len() as f64 - (k as f64 - 1.0)) };
            let at: Vec<f64> = means.iter().map(|m| m.means[cell]).collect();
            let piece = linear(
                columns,
                child,
                parents,
                &numbers,
                &at,
                &b,
                spread(columns, child, weight * residual, df),
                told(rows),
            );
            let codes = if all { Vec::new() } else { codes(columns, division, cell, &discrete) };
            (codes, told(rows), piece)
        };
        (0..division.len()).take_while(|&cell| cell == 0 || !halt.is_due()).map(one).collect()
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

fn discriminant(
    (store, halt): (&CellStore, &Halt),
    child: Var,
    parents: &[Var],
    discrete: &[Var],
    numbers: &[Var],
) -> Discriminant {
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
            let size = groups.size(group);
            let total = size + n_levels as f64;
            let class = |cell: &Option<usize>| {
                let n = cell.map_or(0.0, |cell| cells.size(cell));
                let at = |i: usize| cell.map_or_else(|| overall[i].means[group], |cell| means[i].means[cell]);
                let covariance: &Covariance = cell.map_or(&shared, |cell| &covariances[cell].0);
                in_units(columns, numbers, ((n + 1.0) / total).ln(), &(0..k).map(at).collect::<Vec<_>>(), covariance)
            };
            let classes = cell_of_level.iter().map(class).collect();
            let stored = |(i, &v): (usize, &Var)| {
                let units = columns.scaling(v);
                units.shift + units.scale * overall[i].means[group]
            };
            let centre = numbers.iter().enumerate().map(stored).collect();
            (codes(columns, &groups, group, by), told(size), Group { n_rows: told(size), classes, centre })
        };
        (0..groups.len()).take_while(|&group| group == 0 || !halt.is_due()).map(one).collect()
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
