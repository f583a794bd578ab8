//! The golden tables of trees and full tables, with their numbers.

use std::sync::Arc;

use arbornet_core::{Codes, Column, Kind, Level, Table, Units, Variable};
use serde_json::Value;

use super::places;

/// The tables of `pcart/`, each with its name and its JSON.
pub fn pcart() -> [(&'static str, Arc<Table>, Value); 4] {
    ["mixed", "narrow", "nominal", "ties"].map(load)
}

fn load(name: &'static str) -> (&'static str, Arc<Table>, Value) {
    let read = |extension| places::text(&places::golden().join(format!("pcart/{name}.{extension}")));
    let json: Value = serde_json::from_str(&read("json")).expect("golden JSON");
    let csv = read("csv");
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    let mut variables = Vec::new();
    let mut columns = Vec::new();
    for (position, &name) in names.iter().enumerate() {
        let about = &json["variables"][name];
        let n_levels = about["levels"].as_u64().expect("a number of levels") as i64;
        let levels = || (0..n_levels).map(Level::Int).collect();
        let values: Vec<f64> = rows.iter().map(|row| row[position]).collect();
        let kind = match about["kind"].as_str().expect("a kind") {
            "continuous" => Kind::Continuous { scale: Units::IDENTITY },
            "ordinal" => Kind::Ordinal { levels: levels() },
            _ => Kind::Categorical { levels: levels() },
        };
        let codes = || values.iter().map(|&x| x as u32).collect::<Vec<_>>();
        columns.push(match kind {
            Kind::Continuous { .. } => Column::Reals(values),
            _ => Column::Codes(Codes::pack(&codes(), n_levels as usize)),
        });
        variables.push(Variable { name: name.into(), kind });
    }
    (name, Arc::new(Table::new(variables, columns).expect("a golden table")), json)
}

/// Child and sorted parents of one golden entry.
pub fn family(table: &Table, entry: &Value) -> (usize, Vec<usize>) {
    let position = |name: &Value| table.position(name.as_str().expect("a name")).expect("a golden column");
    let mut parents: Vec<usize> = entry["parents"].as_array().expect("parents").iter().map(position).collect();
    parents.sort_unstable();
    (position(&entry["child"]), parents)
}
