//! The classic scores against R bnlearn 5.2.1, node by node, and MIT and the complexities against independent numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arbornet_core::score::classic::nml::ln_complexity;
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Codes, Column, Kind, Level, Table, Variable};
use serde_json::Value;

use super::support::places;

fn golden(file: &str) -> PathBuf {
    places::golden().join("scores").join(file)
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&places::text(path)).unwrap()
}

/// A table of the CSV's columns named in `levels`, in the order of `levels`.
fn table(csv: &Path, levels: &BTreeMap<String, Vec<String>>) -> Arc<Table> {
    let text = places::text(csv);
    let mut lines = text.lines().map(|line| line.split(',').map(|cell| cell.trim_matches('"')).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    let (mut variables, mut columns) = (vec![], vec![]);
    for (name, levels) in levels {
        let at = header.iter().position(|h| h == name).unwrap();
        let code = |cell: &str| levels.iter().position(|l| l == cell).unwrap() as u32;
        columns.push(Column::Codes(Codes::pack(&rows.iter().map(|r| code(r[at])).collect::<Vec<_>>(), levels.len())));
        let levels = levels.iter().map(|l| Level::Text(l.as_str().into())).collect();
        variables.push(Variable { name: name.as_str().into(), kind: Kind::Categorical { levels } });
    }
    Arc::new(Table::new(variables, columns).unwrap())
}

fn levels(value: &Value) -> BTreeMap<String, Vec<String>> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn every_node_of_every_network_scores_as_in_bnlearn() {
    let path = golden("scores.json");
    let specs = [
        ("loglik", r#"{"score":"likelihood","penalty":"none"}"#, 1e-9),
        ("aic", r#"{"score":"likelihood","penalty":"aic"}"#, 1e-9),
        ("bic", r#"{"score":"likelihood","penalty":"bic"}"#, 1e-9),
        ("k2", r#"{"score":"bd","alpha":1}"#, 1e-9),
        ("bdeu_1", r#"{"score":"bdeu","ess":1}"#, 1e-9),
        ("bdeu_4", r#"{"score":"bdeu","ess":4}"#, 1e-9),
        ("bdeu_10", r#"{"score":"bdeu","ess":10}"#, 1e-9),
        ("bdeu_16", r#"{"score":"bdeu","ess":16}"#, 1e-9),
        // bnlearn approximates the complexity above 1,000 rows or 100 levels.
        ("fnml", r#"{"score":"nml"}"#, 1e-6),
        ("qnml", r#"{"score":"qnml"}"#, 1e-4),
    ];
    let mut compared = 0;
    for network in json(&path)["networks"].as_array().unwrap() {
        let table = table(&path.with_file_name(network["csv"].as_str().unwrap()), &levels(&network["levels"]));
        for (name, spec, tolerance) in specs {
            let score = ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap();
            for (node, expected) in network["by_node"][name].as_object().unwrap() {
                let parents: Vec<String> = match &network["parents"][node] {
                    Value::String(one) => vec![one.clone()],
                    many => serde_json::from_value(many.clone()).unwrap(),
                };
                let mut parents: Vec<_> = parents.iter().map(|p| table.position(p).unwrap()).collect();
                parents.sort_unstable();
                let ours = score.score(table.position(node).unwrap(), &parents).unwrap();
                let expected = expected.as_f64().unwrap();
                let net = network["name"].as_str().unwrap();
                assert!(
                    (ours - expected).abs() <= tolerance * expected.abs(),
                    "{net} {name} {node}: {ours} {expected}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 900, "{compared}");
}

#[test]
fn mit_is_our_reading_of_the_paper() {
    let path = golden("mit.json");
    let networks = json(&golden("scores.json"));
    let mut tables: BTreeMap<String, Arc<Table>> = BTreeMap::new();
    for case in json(&path).as_array().unwrap() {
        let csv = case["csv"].as_str().unwrap();
        let table = tables.entry(csv.to_owned()).or_insert_with(|| {
            let network = networks["networks"].as_array().unwrap().iter().find(|n| n["csv"] == csv).unwrap();
            table(&path.with_file_name(csv), &levels(&network["levels"]))
        });
        let parents: Vec<String> = serde_json::from_value(case["parents"].clone()).unwrap();
        let mut parents: Vec<_> = parents.iter().map(|p| table.position(p).unwrap()).collect();
        parents.sort_unstable();
        let child = table.position(case["node"].as_str().unwrap()).unwrap();
        for alpha in ["0.9", "0.95", "0.99", "0.999"] {
            let spec = format!(r#"{{"score":"mit","alpha":{alpha}}}"#);
            let ours = ScoreSpec::parse(&spec).unwrap().prepare(table).unwrap().score(child, &parents).unwrap();
            let expected = case[format!("mit_{alpha}")].as_f64().unwrap();
            assert!((ours - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{case}: {ours}");
        }
    }
}

#[test]
fn complexities_are_exact() {
    for (rows, by_levels) in json(&golden("nml_regret.json")).as_object().unwrap() {
        for (levels, expected) in by_levels.as_object().unwrap() {
            let ours = ln_complexity(levels.parse().unwrap(), rows.parse().unwrap());
            let expected = expected.as_f64().unwrap();
            assert!((ours - expected).abs() <= 1e-10 * expected.max(1.0), "C({levels}, {rows}): {ours} {expected}");
        }
    }
}
