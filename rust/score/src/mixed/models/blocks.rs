//! What the Gaussian over blocks says of a family: a regression of the child, in its scale, on the parents' features.

use std::sync::Arc;

use super::{LEAST_VARIANCE, spread, told, without_numbers_or_rows};
use crate::control::Halt;
use crate::model::LocalModel;
use crate::model::blocks::{Blocks, Feature, Knots, Reading, Warp};
use crate::numeric::Log;
use crate::predictive::Value;
use crate::regress::cells::{dot, sum};
use crate::regress::columns::Columns;
use crate::regress::features::Scale;
use crate::regress::least_squares::Basis;
use crate::regress::ranks::{normal_score, shares_of_codes, weighted_shares};
use crate::regress::store::CellStore;
use crate::table::{Column, Kind, Table, Var};
use crate::weights::Weights;

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
    // Weighted least squares: everything times the root of the row's weight.
    let weights: Option<Vec<f64>> =
        table.weights().map(|own| order.iter().map(|&row| own.of_rows()[row as usize]).collect());
    let weigh = |mut x: Vec<f64>| -> Vec<f64> {
        if let Some(weights) = &weights {
            x.iter_mut().zip(weights).for_each(|(x, w)| *x *= w.sqrt());
        }
        x
    };
    let size = table.total_weight();
    basis.push(weigh(vec![1.0; order.len()]).into_iter());
    let mut kept = Vec::new();
    let mut means = Vec::new();
    for feature in features {
        // A number of rows more than of features, so that residuals say something.
        if (basis.rank() + 2) as f64 > size || halt.is_due() {
            break;
        }
        let parent = feature.parent();
        let x: Vec<f64> =
            order.iter().map(|&row| feature.of(&readings[parent], value(table, parents[parent], row))).collect();
        if basis.push(weigh(x.clone()).into_iter()) {
            means.push(weights.as_ref().map_or_else(|| sum(&x), |weights| dot(weights, &x)) / size);
            kept.push(feature);
        }
    }
    // The columns that were left out have no coefficient.
    let select = |b: Vec<f64>| -> Vec<f64> { basis.positions().map(|at| b[at]).collect() };
    if let Some(k) = columns.levels(child) {
        let own = |level: u32| {
            let y: Vec<f64> = columns.codes(child).iter().map(|&c| f64::from(u8::from(c == level))).collect();
            select(basis.coefficients(&weigh(y)))
        };
        let coefficients = (0..k as u32).map(own).collect();
        let model = Blocks::new(child, parents.to_vec(), told(size), readings, None, kept, coefficients, means, None);
        return LocalModel::Blocks(model);
    }
    let warp = warp(table, child, scales[child]);
    let y = weigh(order.iter().map(|&row| warp.score(real(table, child, row))).collect());
    let coefficients = vec![select(basis.coefficients(&y))];
    let mut rest = y;
    basis.residuals(&mut rest);
    let df = size - basis.rank() as f64;
    let around = match warp {
        // In stored units: no spread of the warped child.
        Warp::Straight { .. } => {
            let (scale, df) = spread(&columns, child, 0.0, df);
            let least = scale / columns.scaling(child).scale;
            ((dot(&rest, &rest) / df).sqrt().max(least), df)
        }
        _ => ((dot(&rest, &rest) / df.max(1.0)).max(LEAST_VARIANCE).sqrt(), df.max(1.0)),
    };
    let (n, child_warp) = (told(size), Some(warp));
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
        Column::Reals(x) => Reading::Number { first: warp(table, v, scale), ranks: knots(x, own(table)) },
        Column::Codes(codes) => {
            let k = table.variable(v).n_levels().unwrap_or(0);
            let mut counts = vec![0.0; k];
            for (row, code) in codes.iter().enumerate() {
                counts[code] += own(table).map_or(1.0, |weights| weights[row]);
            }
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
            None => Warp::Ranks { knots: knots(x, own(table)) },
        },
        Some(Scale::NormalScores | Scale::Auto) if distinct => Warp::Ranks { knots: knots(x, own(table)) },
        _ => {
            let largest = x.iter().fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()));
            let weight = |row: usize| own(table).map_or(1.0, |weights| weights[row]);
            let mut sorted: Vec<(f64, f64)> = x.iter().enumerate().map(|(row, x)| (x / largest, weight(row))).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let n = if x.is_empty() { 1.0 } else { table.total_weight() };
            let mean = sum(&sorted.iter().map(|(x, w)| w * x).collect::<Vec<_>>()) / n;
            let squares: f64 = sorted.iter().map(|(x, w)| w * (x - mean).powi(2)).sum();
            let sd = (squares / n).sqrt() * largest;
            Warp::Straight { shift: mean * largest, scale: if distinct && sd > 1e-140 { sd } else { 1.0 } }
        }
    }
}

fn own(table: &Table) -> Option<&[f64]> {
    table.weights().map(Weights::of_rows)
}

/// A number's values and their normal scores: all of them, or so many from the lowest to the highest.
fn knots(x: &[f64], weights: Option<&[f64]>) -> Knots {
    const MOST: usize = 65;
    let shares = weighted_shares(x, weights);
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    // Value, normal score and weight.
    let mut rows: Vec<(f64, f64, f64)> =
        x.iter().zip(shares).enumerate().map(|(row, (&x, share))| (x, normal_score(share), weight(row))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut distinct: Vec<(f64, f64)> = rows.iter().map(|row| (row.0, row.1)).collect();
    distinct.dedup_by(|a, b| a.0 == b.0);
    if distinct.len() > MOST {
        let total: f64 = rows.iter().map(|row| row.2).sum();
        let mut past = 0.0;
        let ends: Vec<f64> = rows
            .iter()
            .map(|row| {
                past += row.2;
                past
            })
            .collect();
        let at = |i: usize| {
            let place = (i as f64 * (total - 1.0).max(0.0) / (MOST - 1) as f64).floor();
            let row = &rows[ends.partition_point(|&end| end <= place).min(rows.len() - 1)];
            (row.0, row.1)
        };
        distinct = (0..MOST).map(at).collect();
        distinct.dedup_by(|a, b| a.0 == b.0);
    }
    let (values, scores) = distinct.into_iter().unzip();
    Knots { values, scores }
}
