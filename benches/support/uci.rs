//! Tables of the papers as the papers prepare them: rows with missing values dropped, numbers standardised, at most five
//! levels (the rarest merged into one), ordered levels taken as categories.

use std::collections::BTreeMap;
use std::sync::Arc;

use arbornet_core::{Affine, Codes, Column, Kind, Level, Table, Variable};

use crate::places;

/// One table of `benches/data/uci`.
pub fn table(name: &str) -> Arc<Table> {
    let read = |path: &str| places::text(&places::data().join(path));
    let types: serde_json::Value = serde_json::from_str(&read("types.json")).expect("JSON");
    let csv = read(&format!("uci/{name}.csv.gz"));
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).filter(|r: &Vec<&str>| !r.contains(&"")).collect();
    let mut variables = Vec::new();
    let mut columns = Vec::new();
    for (position, &column) in names.iter().enumerate() {
        let texts: Vec<&str> = rows.iter().map(|r| r[position]).collect();
        let (kind, values) =
            if types[name][column] == "continuous" { standardised(&texts) } else { merged_levels(&texts) };
        variables.push(Variable { name: column.into(), kind });
        columns.push(values);
    }
    Arc::new(Table::new(variables, columns).expect("a table"))
}

fn standardised(texts: &[&str]) -> (Kind, Column) {
    let x: Vec<f64> = texts.iter().map(|t| t.parse().expect("a number")).collect();
    let n = x.len() as f64;
    let shift = x.iter().sum::<f64>() / n;
    let sd = (x.iter().map(|v| (v - shift).powi(2)).sum::<f64>() / n).sqrt();
    let scale = if sd > 0.0 { sd } else { 1.0 };
    let values = x.iter().map(|v| (v - shift) / scale).collect();
    (Kind::Continuous { scale: Affine { shift, scale }.into() }, Column::Reals(values))
}

fn merged_levels(texts: &[&str]) -> (Kind, Column) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for &t in texts {
        *counts.entry(t).or_default() += 1;
    }
    let mut levels: Vec<(&str, usize)> = counts.into_iter().collect();
    levels.sort_by_key(|&(text, n)| (std::cmp::Reverse(n), text));
    let code = |t: &str| levels.iter().position(|&(l, _)| l == t).expect("an observed level").min(4) as u32;
    let codes: Vec<u32> = texts.iter().map(|t| code(t)).collect();
    let k = levels.len().min(5);
    let names = levels[..k].iter().map(|&(l, _)| Level::Text(l.into())).collect();
    (Kind::Categorical { levels: names }, Column::Codes(Codes::pack(&codes, k)))
}

/// All parent sets of a child with up to `most` members, smaller first, then lexicographically.
pub fn parent_sets(n_vars: usize, child: usize, most: usize) -> Vec<Vec<usize>> {
    let mut sets = vec![vec![]];
    let mut start = 0;
    for _ in 0..most {
        let end = sets.len();
        for i in start..end {
            let from = sets[i].last().map_or(0, |&p: &usize| p + 1);
            for parent in (from..n_vars).filter(|&p| p != child) {
                let mut larger = sets[i].clone();
                larger.push(parent);
                sets.push(larger);
            }
        }
        start = end;
    }
    sets
}
