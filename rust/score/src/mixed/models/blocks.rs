//! What the Gaussian over blocks says of a family: a regression of the child, in its scale, on the parents' features.

use std::sync::Arc;

use super::{LEAST_VARIANCE, spread, without_numbers_or_rows};
use crate::control::Halt;
use crate::model::LocalModel;
use crate::model::blocks::{Blocks, Feature, Knots, Reading, Warp};
use crate::numeric::Log;
use crate::predictive::Value;
use crate::regress::cells::{CellStore, dot, sum};
use crate::regress::columns::Columns;
use crate::regress::features::Scale;
use crate::regress::least_squares::Basis;
use crate::regress::ranks::{normal_score, shares, shares_of_codes};
use crate::table::{Column, Kind, Table, Var};

/// The model; `scales` says how each number is read. To be thrown away once `halt` is due.
pub(in super::super) fn blocks(
    table: &Arc<Table>,
    child: Var,
    parents: &[Var],
    degree: usize,
    (scales, halt): (&[Option<Scale>], &Halt),
) -> LocalModel {
    let columns = Arc::new(Columns::new(table));
    if columns.n_rows() == 0 || (parents.is_empty() && columns.is_discrete(child)) {
        return without_numbers_or_rows(&CellStore::new(columns), child, parents);
    }
    let order = table.canonical_rows();
    let readings: Vec<Reading> = parents.iter().map(|&p| reading(table, p, scales[p])).collect();
    let mut features = Vec::new();
    for (parent, &v) in parents.iter().enumerate() {
        match &table.variable(v).kind {
            Kind::Continuous { .. } => features.extend((1..=degree).map(|degree| Feature::Number { parent, degree })),
            Kind::Ordinal { levels } => {
                let most = degree.min(levels.len().saturating_sub(1));
                features.extend((1..=most).map(|power| Feature::Order { parent, power }));
            }
            Kind::Categorical { levels } => {
                features.extend((1..levels.len() as u32).map(|code| Feature::Level { parent, code }));
            }
        }
    }
    let mut basis = Basis::default();
    basis.clear(order.len());
    basis.push(std::iter::repeat_n(1.0, order.len()));
    let mut kept = Vec::new();
    let mut means = Vec::new();
    for feature in features {
        // A number of rows more than of features, so that residuals say something.
        if basis.rank() + 2 > order.len() || halt.is_due() {
            break;
        }
        let parent = feature.parent();
        let x: Vec<f64> =
            order.iter().map(|&row| feature.of(&readings[parent], value(table, parents[parent], row))).collect();
        if basis.push(x.iter().copied()) {
            means.push(sum(&x) / x.len() as f64);
            kept.push(feature);
        }
    }
    // The columns that were left out have no coefficient.
    let select = |b: Vec<f64>| -> Vec<f64> { basis.positions().map(|at| b[at]).collect() };
    if let Some(k) = columns.levels(child) {
        let own = |level: u32| {
            let y: Vec<f64> = columns.codes(child).iter().map(|&c| f64::from(u8::from(c == level))).collect();
            select(basis.coefficients(&y))
        };
        let coefficients = (0..k as u32).map(own).collect();
        let model = Blocks::new(child, parents.to_vec(), order.len(), readings, None, kept, coefficients, means, None);
        return LocalModel::Blocks(model);
    }
    let warp = warp(table, child, scales[child]);
    let y: Vec<f64> = order.iter().map(|&row| warp.score(real(table, child, row))).collect();
    let coefficients = vec![select(basis.coefficients(&y))];
    let mut rest = y;
    basis.residuals(&mut rest);
    let df = (order.len() - basis.rank()) as f64;
    let around = match warp {
        // In stored units: no spread of the warped child.
        Warp::Straight { .. } => {
            let (scale, df) = spread(&columns, child, 0.0, df);
            let least = scale / columns.scaling(child).scale;
            ((dot(&rest, &rest) / df).sqrt().max(least), df)
        }
        _ => ((dot(&rest, &rest) / df.max(1.0)).max(LEAST_VARIANCE).sqrt(), df.max(1.0)),
    };
    let (n, child_warp) = (order.len(), Some(warp));
    let model = Blocks::new(child, parents.to_vec(), n, readings, child_warp, kept, coefficients, means, Some(around));
    LocalModel::Blocks(model)
}

fn value(table: &Table, v: Var, row: u32) -> Value {
    match table.column(v) {
        Column::Reals(x) => Value::Real(x[row as usize]),
        Column::Codes(codes) => Value::Code(codes.get(row as usize) as u32),
    }
}

fn real(table: &Table, v: Var, row: u32) -> f64 {
    match table.column(v) {
        Column::Reals(x) => x[row as usize],
        Column::Codes(_) => unreachable!("a number"),
    }
}

fn reading(table: &Table, v: Var, scale: Option<Scale>) -> Reading {
    match table.column(v) {
        Column::Reals(x) => Reading::Number { first: warp(table, v, scale), ranks: knots(x) },
        Column::Codes(codes) => {
            let k = table.variable(v).n_levels().unwrap_or(0);
            let mut counts = vec![0.0; k];
            codes.iter().for_each(|code| counts[code] += 1.0);
            Reading::Levels { scores: shares_of_codes(&counts).into_iter().map(normal_score).collect() }
        }
    }
}

/// How a number is read.
fn warp(table: &Table, v: Var, scale: Option<Scale>) -> Warp {
    let Column::Reals(x) = table.column(v) else { unreachable!("a number") };
    let distinct = x.iter().any(|value| *value != x[0]);
    match scale {
        Some(Scale::Log) if distinct => match Log::of(table, v) {
            Some(log) => Warp::Log { log },
            None => Warp::Ranks { knots: knots(x) },
        },
        Some(Scale::NormalScores | Scale::Auto) if distinct => Warp::Ranks { knots: knots(x) },
        _ => {
            let largest = x.iter().fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()));
            let mut sorted: Vec<f64> = x.iter().map(|x| x / largest).collect();
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len().max(1) as f64;
            let mean = sum(&sorted) / n;
            let squares: f64 = sorted.iter().map(|x| (x - mean).powi(2)).sum();
            let sd = (squares / n).sqrt() * largest;
            Warp::Straight { shift: mean * largest, scale: if distinct && sd > 1e-140 { sd } else { 1.0 } }
        }
    }
}

/// A number's values and their normal scores: all of them, or so many from the lowest to the highest.
fn knots(x: &[f64]) -> Knots {
    const MOST: usize = 65;
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(shares(x).into_iter().map(normal_score)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows = pairs.len();
    let mut distinct = pairs.clone();
    distinct.dedup_by(|a, b| a.0 == b.0);
    if distinct.len() > MOST {
        distinct = (0..MOST).map(|i| pairs[i * (rows - 1) / (MOST - 1)]).collect();
        distinct.dedup_by(|a, b| a.0 == b.0);
    }
    let (values, scores) = distinct.into_iter().unzip();
    Knots { values, scores }
}
