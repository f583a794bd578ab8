//! Tables drawn at random, and what the tests say of them.

use std::sync::Arc;

use arbornet_core::decision_graph::{PriorChoice, Settings};
use arbornet_core::model::cells::{Cell, Cells};
use arbornet_core::{Codes, Column, Kind, Level, LocalModel, Network, Predictive, Table, Value, Variable};

pub fn levels(k: usize) -> Arc<[Level]> {
    (0..k as i64).map(Level::Int).collect()
}

/// Columns of codes with so many levels each.
pub fn table(columns: &[(usize, Vec<u32>)]) -> Arc<Table> {
    let variable = |(i, (k, _)): (usize, &(usize, Vec<u32>))| {
        let kind =
            if i % 3 == 2 { Kind::Ordinal { levels: levels(*k) } } else { Kind::Categorical { levels: levels(*k) } };
        Variable { name: format!("v{i}").into(), kind }
    };
    let variables = columns.iter().enumerate().map(variable).collect();
    let codes = columns.iter().map(|(k, codes)| Column::Codes(Codes::pack(codes, *k))).collect();
    Arc::new(Table::new(variables, codes).unwrap())
}

/// A generator that needs no seed beyond a number.
pub struct Draws(pub u64);

impl Draws {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Drawn columns, of which in half of the tables one is constant, lacks its last level, or is another's twin.
pub fn odd(seed: u64, n_rows: usize, arities: &[usize]) -> Arc<Table> {
    let plain = drawn(seed, n_rows, arities);
    let mut columns: Vec<_> = arities.iter().enumerate().map(|(v, &k)| (k, codes(&plain, v))).collect();
    let mut draws = Draws(!seed);
    let at = draws.below(columns.len());
    let other = columns[(at + 1) % columns.len()].1.clone();
    let top = columns[at].0 as u32 - 1;
    for (code, other) in columns[at].1.iter_mut().zip(other) {
        *code = match seed % 6 {
            0 => top,
            1 => (*code).min(top.saturating_sub(1)),
            2 => other.min(top),
            _ => *code,
        };
    }
    table(&columns)
}

/// The first column depends on the next two.
pub fn drawn(seed: u64, n_rows: usize, arities: &[usize]) -> Arc<Table> {
    let mut draws = Draws(seed);
    let mut columns: Vec<(usize, Vec<u32>)> =
        arities.iter().map(|&k| (k, (0..n_rows).map(|_| draws.below(k) as u32).collect())).collect();
    for row in 0..n_rows {
        if draws.below(4) > 0 && columns.len() > 2 {
            columns[0].1[row] = (columns[1].1[row] * columns[2].1[row]) % arities[0] as u32;
        }
    }
    table(&columns)
}

pub fn settings(operators: &str, prior: PriorChoice, kappa: f64, thresholds: bool) -> Settings {
    let operators = operators.to_owned().try_into().unwrap();
    Settings { operators, prior, kappa, thresholds, ..Settings::default() }
}

/// A network of independent uneven variables, one of them depending on the next.
pub fn beliefs(table: &Table) -> Arc<Network> {
    let variables = table.variables().to_vec();
    let models = (0..variables.len()).map(|v| {
        let k = variables[v].n_levels().unwrap();
        let weights = |shift: usize| -> Vec<f64> {
            let raw: Vec<f64> = (0..k).map(|c| 1.0 + ((c + v + shift) % 3) as f64).collect();
            let sum: f64 = raw.iter().sum();
            raw.into_iter().map(|w| w / sum).collect()
        };
        let parents: Vec<usize> = if v + 1 < variables.len() { vec![v + 1] } else { vec![] };
        let n_configurations = parents.first().map_or(1, |&p| variables[p].n_levels().unwrap());
        let cell = |c: usize| Cell {
            codes: parents.iter().map(|_| c as u32).collect(),
            n_rows: 0,
            distribution: Predictive::Levels { probabilities: weights(c) },
        };
        let unseen = Predictive::Levels { probabilities: weights(0) };
        LocalModel::Cells(Cells::new(v, parents.clone(), (0..n_configurations).map(cell).collect(), unseen))
    });
    let models = models.collect();
    Arc::new(Network::new(variables, models).unwrap())
}

pub fn codes(table: &Table, var: usize) -> Vec<u32> {
    table.codes(var, "").unwrap().iter().map(|c| c as u32).collect()
}

/// Every configuration of the parents.
pub fn configurations(table: &Table, parents: &[usize]) -> Vec<Vec<u32>> {
    parents.iter().fold(vec![vec![]], |all, &p| {
        let k = table.variable(p).n_levels().unwrap() as u32;
        all.into_iter().flat_map(|c| (0..k).map(move |l| [c.clone(), vec![l]].concat())).collect()
    })
}

pub fn values(codes: &[u32]) -> Vec<Value> {
    codes.iter().map(|&c| Value::Code(c)).collect()
}

/// Nine variables, each drawn from two before it.
pub fn network_table() -> Arc<Table> {
    let mut draws = Draws(8);
    let n = 500;
    let mut columns: Vec<(usize, Vec<u32>)> = Vec::new();
    for v in 0..9_usize {
        let k = 2 + v % 3;
        let (a, b) = (draws.below(v), draws.below(v));
        let column = (0..n).map(|row| {
            if v > 0 && draws.below(10) < 7 {
                (columns[a].1[row] + columns[b].1[row]) % k as u32
            } else {
                draws.below(k) as u32
            }
        });
        let column = column.collect();
        columns.push((k, column));
    }
    table(&columns)
}
