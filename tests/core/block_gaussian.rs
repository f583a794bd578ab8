//! The Gaussian over blocks of features: golden numbers, units, ties, and more columns than rows.

use std::sync::Arc;

use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Codes, Column, Kind, Level, LocalScore, Table, Units, Var, Variable};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::support::places;

fn number(name: &str, values: Vec<f64>) -> (Variable, Column) {
    (Variable { name: name.into(), kind: Kind::Continuous { scale: Units::IDENTITY } }, Column::Reals(values))
}

fn levels(name: &str, k: usize, codes: &[u32], ordered: bool) -> (Variable, Column) {
    let levels: Arc<[Level]> = (0..k as i64).map(Level::Int).collect();
    let kind = if ordered { Kind::Ordinal { levels } } else { Kind::Categorical { levels } };
    (Variable { name: name.into(), kind }, Column::Codes(Codes::pack(codes, k)))
}

fn table(columns: Vec<(Variable, Column)>) -> Arc<Table> {
    let (variables, columns) = columns.into_iter().unzip();
    Arc::new(Table::new(variables, columns).unwrap())
}

fn prepared(degree: usize, scale: &str, table: &Arc<Table>) -> Box<dyn LocalScore> {
    let spec = format!(r#"{{"score":"block_gaussian","degree":{degree},"scale":"{scale}"}}"#);
    ScoreSpec::parse(&spec).unwrap().prepare(table).unwrap()
}

fn golden() -> (Arc<Table>, Value) {
    let read = |extension| places::text(&places::golden().join(format!("structure/blocks.{extension}")));
    let json: Value = serde_json::from_str(&read("json")).unwrap();
    let csv = read("csv");
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |(at, &name): (usize, &&str)| {
        let kind = json["kinds"][name].as_str().unwrap();
        if kind == "continuous" {
            return number(name, rows.iter().map(|row| row[at].parse().unwrap()).collect());
        }
        let all = json["levels"][name].as_array().unwrap();
        let said = |level: &Value| level.as_str().map_or_else(|| level.to_string(), str::to_owned);
        let code = |row: &Vec<&str>| all.iter().position(|level| said(level) == row[at]).unwrap() as u32;
        levels(name, all.len(), &rows.iter().map(code).collect::<Vec<_>>(), kind == "ordinal")
    };
    (table(names.iter().enumerate().map(column).collect()), json)
}

#[test]
fn every_golden_family_gains_what_it_should() {
    let (table, json) = golden();
    let families = json["families"].as_array().unwrap();
    assert_eq!(families.len(), 540);
    for degree in 1..=3 {
        for scale in ["normal_scores", "raw"] {
            let score = prepared(degree, scale, &table);
            for family in families.iter().filter(|f| f["degree"] == degree && f["scale"] == scale) {
                let position = |name: &Value| table.position(name.as_str().unwrap()).unwrap();
                let mut parents: Vec<Var> = family["parents"].as_array().unwrap().iter().map(position).collect();
                parents.sort_unstable();
                let ours = score.score(position(&family["child"]), &parents).unwrap();
                let expected = family["gain"].as_f64().unwrap();
                assert!((ours - expected).abs() < 1e-7, "{family}: {ours}");
            }
        }
    }
}

/// Numbers, an order and categories that depend on each other along curves.
fn related(seed: u64, n: usize) -> Vec<(Variable, Column)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut noise = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let x: Vec<f64> = (0..n).map(|_| noise()).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x + 0.4 * noise()).collect();
    let z: Vec<f64> = y.iter().map(|y| (0.5 * y + 0.2 * noise()).exp()).collect();
    let grade: Vec<u32> = x.iter().map(|x| (x + 0.5 * noise() + 2.0).clamp(0.0, 3.9) as u32).collect();
    let site: Vec<u32> = z.iter().map(|z| u32::from(*z > 1.5) + u32::from(noise() > 0.5)).collect();
    vec![
        number("x", x),
        number("y", y),
        number("z", z),
        levels("grade", 4, &grade, true),
        levels("site", 3, &site, false),
    ]
}

fn changed(columns: &[(Variable, Column)], by: impl Fn(usize, f64) -> f64) -> Arc<Table> {
    let one = |(at, (variable, column)): (usize, &(Variable, Column))| match column {
        Column::Reals(x) => (variable.clone(), Column::Reals(x.iter().map(|&x| by(at, x)).collect())),
        codes @ Column::Codes(_) => (variable.clone(), codes.clone()),
    };
    table(columns.iter().enumerate().map(one).collect())
}

const FAMILIES: [(Var, &[Var]); 6] = [(0, &[1]), (1, &[0, 3]), (2, &[1]), (3, &[0, 2]), (4, &[0, 1, 2, 3]), (2, &[])];

#[test]
fn monotone_changes_of_numbers_change_no_score_of_ranks() {
    let columns = related(1, 400);
    let plain = table(columns.clone());
    let increasing = changed(&columns, |at, x| if at == 1 { x.exp() } else { x.cbrt() * 1e3 - 7.0 });
    let decreasing = changed(&columns, |_, x| -x);
    for degree in 1..=3 {
        let [one, up, down] = [&plain, &increasing, &decreasing].map(|t| prepared(degree, "normal_scores", t));
        for (child, parents) in FAMILIES {
            let score = one.score(child, parents).unwrap();
            assert_eq!(score.to_bits(), up.score(child, parents).unwrap().to_bits());
            assert!((score - down.score(child, parents).unwrap()).abs() < 1e-8);
        }
    }
}

#[test]
fn units_change_no_score_in_any_scale() {
    let columns = related(2, 300);
    let plain = table(columns.clone());
    let scaled = changed(&columns, |_, x| 1e4 * x);
    for scale in ["normal_scores", "raw", "log", "auto"] {
        let (one, other) = (prepared(3, scale, &plain), prepared(3, scale, &scaled));
        for (child, parents) in FAMILIES {
            let (a, b) = (one.score(child, parents).unwrap(), other.score(child, parents).unwrap());
            assert!((a - b).abs() < 1e-7, "{scale} {child} {parents:?}: {a} {b}");
        }
    }
}

#[test]
fn both_directions_of_a_pair_score_alike_and_test_alike() {
    let table = table(related(3, 250));
    for (degree, scale) in [(1, "raw"), (3, "normal_scores"), (5, "auto"), (2, "log")] {
        let score = prepared(degree, scale, &table);
        for v in 0..5 {
            assert_eq!(score.score(v, &[]).unwrap(), 0.0);
            for w in (0..5).filter(|&w| w != v) {
                let (there, back) = (score.score(v, &[w]).unwrap(), score.score(w, &[v]).unwrap());
                assert!((there - back).abs() < 1e-9, "{degree} {scale} {v} {w}: {there} {back}");
                let others: Vec<Var> = (0..5).filter(|&u| u != v && u != w).take(2).collect();
                assert_eq!(score.test(v, w, &others).unwrap(), score.test(w, v, &others).unwrap());
            }
        }
    }
}

#[test]
fn a_curve_that_no_line_sees_is_seen_from_degree_two_on() {
    let table = table(related(4, 400)[..2].to_vec());
    let gain = |degree| prepared(degree, "normal_scores", &table).score(1, &[0]).unwrap();
    assert!(gain(1) < 5.0 && gain(2) > 50.0 && gain(3) > 50.0, "{} {}", gain(1), gain(2));
}

#[test]
fn more_features_than_rows_and_blocks_that_are_empty_have_finite_scores() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut columns: Vec<(Variable, Column)> =
        (0..30).map(|i| number(&format!("x{i}"), (0..5).map(|_| rng.random::<f64>()).collect())).collect();
    columns.push(number("constant", vec![4.5; 5]));
    columns.push(levels("all different", 9, &[0, 8, 3, 4, 1], false));
    columns.push(levels("two", 2, &[0, 1, 1, 0, 1], true));
    columns.push(levels("one", 3, &[2; 5], false));
    let table = table(columns);
    for scale in ["normal_scores", "raw", "auto"] {
        let score = prepared(20, scale, &table);
        let all: Vec<Var> = (1..34).collect();
        assert!(score.score(0, &all).unwrap().is_finite());
        assert!(score.score(31, &(0..31).collect::<Vec<_>>()).unwrap().is_finite());
        // Blocks without features explain nothing and cost nothing.
        for empty in [30, 33] {
            assert_eq!(score.score(empty, &[0, 1, 32]).unwrap(), 0.0);
            assert_eq!(score.score(0, &[empty]).unwrap(), 0.0);
            score.model(empty, &[0]).unwrap().check(table.variables()).unwrap();
        }
        let fit = score.child(31).unwrap().likelihood(&[0, 32]).unwrap();
        assert_eq!(
            fit.df,
            4.0 * 5.0,
            "four contrasts of five levels, four features of five numbers, one of two levels"
        );
    }
}

#[test]
fn parameters_outside_their_range_are_told() {
    let table = table(related(1, 20));
    for (spec, told) in [
        (r#"{"score":"block_gaussian","degree":0}"#, "degree=0"),
        (r#"{"score":"block_gaussian","degree":21}"#, "between 1 and 20"),
        (r#"{"score":"block_gaussian","scale":"ranks"}"#, "ranks"),
    ] {
        let error = ScoreSpec::parse(spec).and_then(|spec| spec.prepare(&table).map(|_| ())).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}
