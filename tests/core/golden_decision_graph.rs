//! Table 1 of Chickering, Heckerman and Meek (1997): promoters, the class given 57 bases.

use std::collections::BTreeSet;
use std::sync::Arc;

use arbornet_core::decision_graph::grow::grown;
use arbornet_core::decision_graph::{PriorChoice, Schedule, Settings};
use arbornet_core::{Codes, Column, Kind, Level, Table, Variable};

use super::support::places;

fn promoters() -> Arc<Table> {
    let text = places::text(&places::data().join("chickering/promoters.csv.gz"));
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    let (mut variables, mut columns) = (vec![], vec![]);
    for (at, name) in header.iter().enumerate() {
        let levels: Vec<&str> = rows.iter().map(|r| r[at]).collect::<BTreeSet<_>>().into_iter().collect();
        let codes: Vec<u32> = rows.iter().map(|r| levels.iter().position(|l| *l == r[at]).unwrap() as u32).collect();
        columns.push(Column::Codes(Codes::pack(&codes, levels.len())));
        let levels = levels.into_iter().map(|l| Level::Text(l.into())).collect();
        variables.push(Variable { name: (*name).into(), kind: Kind::Categorical { levels } });
    }
    Arc::new(Table::new(variables, columns).unwrap())
}

fn score(table: &Arc<Table>, operators: &str, prior: PriorChoice, schedule: Schedule) -> f64 {
    let operators = operators.to_owned().try_into().unwrap();
    let settings = Settings { operators, prior, schedule, ..Settings::default() };
    let prepared = settings.prepared(table).unwrap();
    let fields: Vec<usize> = (1..table.n_vars()).collect();
    grown(&prepared.problem(0, &fields).unwrap()).unwrap().score()
}

#[test]
fn the_uniform_row_is_the_papers() {
    let table = promoters();
    let of = |operators, schedule| score(&table, operators, PriorChoice::Uniform, schedule);
    let complete = of("C", Schedule::Best);
    assert!((complete + 34.09).abs() < 0.005, "{complete}");
    for (operators, schedule, printed) in [
        ("B", Schedule::Best, 13.62),
        ("CB", Schedule::Best, 6.07),
        ("CM", Schedule::Best, 22.13),
        ("BM", Schedule::Best, 26.12),
        ("CBM", Schedule::Best, 22.13),
        ("CBM", Schedule::SplitsFirst, 26.12),
    ] {
        let relative = of(operators, schedule) - complete;
        println!("{operators} {schedule:?} {relative:.3} {printed}");
        assert!((relative - printed).abs() < 0.005, "{operators} {schedule:?}: {relative}, not {printed}");
    }
    let best = of("BM", Schedule::Best);
    assert!((best + 2.0 * 54.0_f64.ln()).abs() < 1e-9, "{best}");
}

#[test]
#[allow(clippy::approx_constant)] // 3.14 is a difference of scores
fn the_rows_of_the_uniform_prior_network_are_the_papers() {
    let table = promoters();
    for (ess, binary, both) in
        [(10.0, 6.11, 4.20), (20.0, 5.10, 3.35), (30.0, 4.62, 2.97), (40.0, 3.14, 1.26), (50.0, 2.99, 1.13)]
    {
        let of = |operators| score(&table, operators, PriorChoice::Ess(ess), Schedule::Best);
        let complete = of("C");
        let (b, cb) = (of("B") - complete, of("CB") - complete);
        println!("{ess} {b:.3} {binary} {cb:.3} {both}");
        assert!((b - binary).abs() < 0.02 && (cb - both).abs() < 0.02, "ess {ess}: {b} {cb}, not {binary} {both}");
    }
}
