//! Decision graphs: growth to convergence under one node, and the combined search; the cost of a step is printed.
//!
//! On drawn columns of the sizes of splice junctions (3,190 rows, 60 predictors) and ALARM (1,000 rows, 37 variables).

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arbornet_core::control::Budget;
use arbornet_core::dag::joint::Joint;
use arbornet_core::decision_graph::grow::grown;
use arbornet_core::decision_graph::{Schedule, Settings};
use arbornet_core::{Codes, Column, Constraints, Control, Kind, Level, Table, Variable};
use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn table(columns: &[(usize, Vec<u32>)]) -> Arc<Table> {
    let levels = |k: usize| (0..k as i64).map(Level::Int).collect();
    let variables = columns
        .iter()
        .enumerate()
        .map(|(v, (k, _))| Variable { name: v.to_string().into(), kind: Kind::Categorical { levels: levels(*k) } });
    let codes = columns.iter().map(|(k, codes)| Column::Codes(Codes::pack(codes, *k))).collect();
    Arc::new(Table::new(variables.collect(), codes).expect("levels cover the codes"))
}

/// As splice junctions: a class of three, told by some of 60 bases.
fn bases(n_rows: usize) -> Arc<Table> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut columns: Vec<(usize, Vec<u32>)> =
        (0..61).map(|_| (4, (0..n_rows).map(|_| rng.random_range(0..4_u32)).collect())).collect();
    let class = (0..n_rows).map(|row| {
        let base = |v: usize| columns[v].1[row];
        let noise = rng.random::<f64>() < 0.1;
        match (base(30), base(31), base(29)) {
            _ if noise => rng.random_range(0..3_u32),
            (2, 3, b) if b != 1 => 0,
            (0, 2, _) => 1,
            (_, 1, 3) if base(33) == 2 => 0,
            (1, _, b) if base(28) == b => 1,
            _ => 2,
        }
    });
    columns[0] = (3, class.collect());
    table(&columns)
}

/// As ALARM: 37 columns with about two parents each.
fn network(n_rows: usize) -> Arc<Table> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut columns: Vec<(usize, Vec<u32>)> = vec![];
    for v in 0..37_usize {
        let k = 2 + v % 3;
        let parents = [rng.random_range(0..v.max(1)), rng.random_range(0..v.max(1))];
        let drawn = (0..n_rows).map(|row| {
            let copied = v > 0 && rng.random::<f64>() < 0.7;
            if copied {
                parents.iter().map(|&p| columns[p].1[row]).sum::<u32>() % k as u32
            } else {
                rng.random_range(0..k as u32)
            }
        });
        let drawn = drawn.collect();
        columns.push((k, drawn));
    }
    table(&columns)
}

fn node(c: &mut Criterion) {
    let table = bases(3190);
    let fields: Vec<usize> = (1..61).collect();
    for (operators, schedule) in
        [("C", Schedule::Best), ("B", Schedule::Best), ("BM", Schedule::Best), ("CBM", Schedule::Best)]
    {
        let operators_parsed = operators.to_owned().try_into().expect("letters of operators");
        let settings = Settings { operators: operators_parsed, schedule, ..Settings::default() };
        let prepared = settings.prepared(&table).expect("levels only");
        let problem = prepared.problem(0, &fields).expect("levels only");
        let began = Instant::now();
        let state = grown(&problem).expect("nothing stops it");
        let each = began.elapsed().as_secs_f64() * 1e6 / state.n_steps().max(1) as f64;
        println!("{operators}: {} steps to {} leaves, {each:.0} us a step", state.n_steps(), state.n_leaves());
        c.bench_function(&format!("decision_graph/node_3190x60_{operators}"), |b| {
            b.iter(|| grown(black_box(&problem)).expect("nothing stops it").score());
        });
    }
}

fn joint(c: &mut Criterion) {
    let table = network(1000);
    let none = Constraints::none(37);
    let control = Control::default();
    let prepared = Settings::default().prepared(&table).expect("levels only");
    let search = || Joint::default().run(&prepared, &none, Budget::new(&control, None)).expect("nothing stops it");
    let began = Instant::now();
    let found = search();
    let each = began.elapsed().as_secs_f64() * 1e6 / found.n_steps.max(1) as f64;
    println!("combined: {} steps to {} arcs, {each:.0} us a step", found.n_steps, found.dag.n_arcs());
    c.bench_function("decision_graph/combined_1000x37_CBM", |b| b.iter(search));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = node, joint
}
criterion_main!(benches);
