//! The scores and tests for mixed data against independent numbers.

use std::sync::Arc;

use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Codes, Column, Kind, Level, Table, Units, Var, Variable};
use serde_json::Value;

use super::support::places;

fn tables() -> [(&'static str, Arc<Table>, Value); 2] {
    let load = |name: &'static str| {
        let read = |extension| places::text(&places::golden().join(format!("mixed/{name}.{extension}")));
        let json: Value = serde_json::from_str(&read("json")).unwrap();
        let csv = read("csv");
        let mut lines = csv.lines();
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect();
        let (mut variables, mut columns) = (vec![], vec![]);
        for (at, &name) in names.iter().enumerate() {
            let values: Vec<f64> = rows.iter().map(|row| row[at]).collect();
            let k = json["levels"][name].as_u64().unwrap() as usize;
            let levels = (0..k as i64).map(Level::Int).collect();
            let (kind, column) = if k == 0 {
                (Kind::Continuous { scale: Units::IDENTITY }, Column::Reals(values))
            } else {
                let codes: Vec<u32> = values.iter().map(|&x| x as u32).collect();
                (Kind::Categorical { levels }, Column::Codes(Codes::pack(&codes, k)))
            };
            variables.push(Variable { name: name.into(), kind });
            columns.push(column);
        }
        (name, Arc::new(Table::new(variables, columns).unwrap()), json)
    };
    ["cg10_n200", "cg20_n1000"].map(load)
}

fn position(table: &Table, name: &Value) -> Var {
    table.position(name.as_str().unwrap()).unwrap()
}

fn positions(table: &Table, names: &Value) -> Vec<Var> {
    let mut out: Vec<Var> = names.as_array().unwrap().iter().map(|name| position(table, name)).collect();
    out.sort_unstable();
    out
}

#[test]
fn every_family_scores_as_it_should() {
    let specs = [
        ("cg", r#"{"score":"conditional_gaussian"}"#),
        ("cgd", r#"{"score":"conditional_gaussian","discretise":true}"#),
        ("published cg", r#"{"score":"conditional_gaussian","published":true}"#),
        ("published cgd", r#"{"score":"conditional_gaussian","discretise":true,"published":true}"#),
        ("published dg", r#"{"score":"degenerate_gaussian","published":true}"#),
        ("published mvp1", r#"{"score":"mixed_polynomial","published":true}"#),
        ("published mvplog", r#"{"score":"mixed_polynomial","degree":"log","published":true}"#),
        ("published bf3", r#"{"score":"basis_functions","published":true}"#),
    ];
    for (name, table, json) in tables() {
        for (column, spec) in specs {
            let score = ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap();
            let entries = json["scores"].as_array().unwrap();
            assert_eq!(entries.len(), 50);
            for entry in entries {
                let expected = match column.strip_prefix("published ") {
                    Some(column) => &entry["published"][column],
                    None => &entry[column],
                };
                let expected = expected.as_f64().unwrap();
                let ours =
                    score.score(position(&table, &entry["child"]), &positions(&table, &entry["parents"])).unwrap();
                assert!((ours - expected).abs() <= 1e-9 * expected.abs(), "{name} {column} {entry}: {ours}");
            }
        }
    }
}

#[test]
fn every_test_finds_what_it_should() {
    let specs = [
        ("dg_p", r#"{"score":"degenerate_gaussian","published":true}"#),
        ("mvp1_p", r#"{"score":"mixed_polynomial","published":true}"#),
        ("mvplog_p", r#"{"score":"mixed_polynomial","degree":"log","published":true}"#),
    ];
    for (name, table, json) in tables() {
        for (column, spec) in specs {
            let score = ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap();
            for entry in json["tests"].as_array().unwrap() {
                let expected = entry[column].as_f64().unwrap();
                let (x, y) = (position(&table, &entry["x"]), position(&table, &entry["y"]));
                let ours = score.test(x, y, &positions(&table, &entry["given"])).unwrap();
                // The Java program prints one minus a cdf, so its small values are only good to 1e-15.
                let tolerance = 1e-9 * expected + if column == "dg_p" { 1e-14 } else { 0.0 };
                assert!((ours.p_value - expected).abs() <= tolerance, "{name} {column} {entry}: {ours:?}");
            }
        }
    }
}
