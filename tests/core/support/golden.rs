//! Golden tables and numbers kept beside the project, in `../shared/golden`.

use std::path::PathBuf;
use std::sync::Arc;

use arbornet_core::{Affine, Codes, Column, Kind, Level, Table, Variable};
use serde_json::Value;

/// The tables of `pcart/`, each with its JSON; says so and gives none where the folder is missing.
pub fn pcart() -> Vec<(String, Arc<Table>, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/pcart");
    if !folder.is_dir() {
        eprintln!("no golden numbers at {}: nothing is compared", folder.display());
        return Vec::new();
    }
    ["mixed", "narrow", "nominal", "ties"].map(|name| load(&folder, name)).into()
}

fn load(folder: &std::path::Path, name: &str) -> (String, Arc<Table>, Value) {
    let read = |extension| std::fs::read_to_string(folder.join(format!("{name}.{extension}"))).expect("a golden file");
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
            "continuous" => Kind::Continuous { scale: Affine::IDENTITY },
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
    (name.to_owned(), Arc::new(Table::new(variables, columns).expect("a golden table")), json)
}

/// Child and sorted parents of one golden entry.
pub fn family(table: &Table, entry: &Value) -> (usize, Vec<usize>) {
    let position = |name: &Value| table.position(name.as_str().expect("a name")).expect("a golden column");
    let mut parents: Vec<usize> = entry["parents"].as_array().expect("parents").iter().map(position).collect();
    parents.sort_unstable();
    (position(&entry["child"]), parents)
}
