//! Every score, tree and prediction of the golden tables, which a slow literal reference computed; `published` comes
//! from the authors' own program.

use std::sync::Arc;

use arbornet_core::model::tree::Node;
use arbornet_core::score::pcart::Pcart;
use arbornet_core::{Codes, Column, Kind, Level, LocalModel, LocalScore, Table, Units, Value, Variable};
use serde_json::Value as Json;

use super::support::places;

struct Golden {
    table: Arc<Table>,
    scores: Vec<Json>,
}

fn golden(name: &str) -> Golden {
    let read = |ending: &str| places::text(&places::golden().join(format!("pcart/{name}.{ending}")));
    let json: Json = serde_json::from_str(&read("json")).unwrap();
    let csv = read("csv");
    let mut lines = csv.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    let (mut variables, mut columns) = (Vec::new(), Vec::new());
    for (i, &name) in header.iter().enumerate() {
        let info = &json["variables"][name];
        let k = info["levels"].as_u64().unwrap();
        let levels = (0..k as i64).map(Level::Int).collect();
        let kind = match info["kind"].as_str().unwrap() {
            "continuous" => Kind::Continuous { scale: Units::IDENTITY },
            "categorical" => Kind::Categorical { levels },
            "ordinal" => Kind::Ordinal { levels },
            other => panic!("{other}"),
        };
        let values: Vec<f64> = rows.iter().map(|row| row[i]).collect();
        columns.push(if k == 0 {
            Column::Reals(values)
        } else {
            Column::Codes(Codes::pack(&values.iter().map(|&x| x as u32).collect::<Vec<_>>(), k as usize))
        });
        variables.push(Variable { name: name.into(), kind });
    }
    let table = Arc::new(Table::new(variables, columns).unwrap());
    Golden { table, scores: json["scores"].as_array().unwrap().clone() }
}

impl Golden {
    fn family(&self, entry: &Json) -> (usize, Vec<usize>) {
        let position = |name: &Json| self.table.position(name.as_str().unwrap()).unwrap();
        let mut parents: Vec<_> = entry["parents"].as_array().unwrap().iter().map(position).collect();
        parents.sort_unstable();
        (position(&entry["child"]), parents)
    }

    fn value(&self, var: usize, row: usize) -> Value {
        match self.table.column(var) {
            Column::Reals(x) => Value::Real(x[row]),
            Column::Codes(c) => Value::Code(c.get(row) as u32),
        }
    }

    fn score(&self, parameters: &Pcart) -> Box<dyn LocalScore> {
        parameters.prepare(&self.table).unwrap()
    }
}

const TABLES: [&str; 4] = ["mixed", "narrow", "nominal", "ties"];

fn plain() -> Pcart {
    Pcart { penalised: false, ..Pcart::default() }
}

#[test]
fn scores_are_those_of_the_literal_reference() {
    for name in TABLES {
        let golden = golden(name);
        let score = golden.score(&plain());
        for entry in &golden.scores {
            let (child, parents) = golden.family(entry);
            let (got, want) = (score.score(child, &parents).unwrap(), entry["pcart"].as_f64().unwrap());
            assert!((got - want).abs() < 1e-8, "{name} {child} {parents:?}: {got} {want}");
        }
    }
}

/// The authors' program forbids halvings with an empty side; nothing else is as in that program here.
#[test]
fn without_empty_sides_scores_are_those_of_the_reference_without_them() {
    let (mut compared, mut lower) = (0, 0);
    for name in TABLES {
        let golden = golden(name);
        let score = golden.score(&Pcart { skip_empty: true, ..plain() });
        for entry in &golden.scores {
            let Some(want) = entry["skip_empty"].as_f64() else { continue };
            let (child, parents) = golden.family(entry);
            let got = score.score(child, &parents).unwrap();
            assert!((got - want).abs() < 1e-8, "{name} {child} {parents:?}: {got} {want}");
            compared += 1;
            lower += i32::from(want < entry["pcart"].as_f64().unwrap() - 1e-6);
        }
    }
    assert!(compared > 20 && lower > 0, "{compared} {lower}");
}

#[test]
fn trees_have_the_reference_leaves_and_route_every_row_to_its_own() {
    for name in TABLES {
        let golden = golden(name);
        let score = golden.score(&plain());
        for entry in &golden.scores {
            let (child, parents) = golden.family(entry);
            let LocalModel::Tree(tree) = score.model(child, &parents).unwrap() else { panic!("no tree") };
            let size = |node: &Node| if let Node::Leaf { n, .. } = node { Some(*n) } else { None };
            let mut sizes: Vec<_> = tree.nodes().iter().filter_map(size).collect();
            let mut routed = vec![0; tree.nodes().len()];
            for row in 0..golden.table.n_rows() {
                let values: Vec<_> = parents.iter().map(|&p| golden.value(p, row)).collect();
                routed[tree.leaf(&values)] += 1;
            }
            for (node, routed) in tree.nodes().iter().zip(routed) {
                assert_eq!(size(node).unwrap_or(0), routed);
            }
            sizes.sort_unstable();
            let want: Vec<_> = entry["leaf_sizes"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
            assert_eq!(sizes, want, "{name} {child} {parents:?}");
        }
    }
}

#[test]
fn predictions_are_those_of_the_literal_reference() {
    let mut compared = 0;
    for name in TABLES {
        let golden = golden(name);
        let score = golden.score(&plain());
        for entry in &golden.scores {
            let Some(rows) = entry.get("log_predictive_at_row").and_then(Json::as_object) else { continue };
            let (child, parents) = golden.family(entry);
            let model = score.model(child, &parents).unwrap();
            for (row, want) in rows {
                let row = row.parse().unwrap();
                let values: Vec<_> = parents.iter().map(|&p| golden.value(p, row)).collect();
                let got = model.predictive(&values).log_density(golden.value(child, row));
                assert!((got - want.as_f64().unwrap()).abs() < 1e-8, "{name} {child} {parents:?} {row}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 1290);
}

#[test]
fn published_is_the_authors_program() {
    let mut compared = 0;
    for name in TABLES {
        let golden = golden(name);
        let score = golden.score(&Pcart { published: true, ..plain() });
        for entry in &golden.scores {
            let Some(want) = entry["published"]["pcart"].as_f64() else { continue };
            let (child, parents) = golden.family(entry);
            let got = score.score(child, &parents).unwrap();
            assert!((got - want).abs() < 1e-8, "{name} {child} {parents:?}: {got} {want}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}
