//! The searches without proof: hill climbing, the anytime order search, equivalence classes.

use std::hint::black_box;
use std::sync::Arc;

use arbornet_benches::places;
use arbornet_core::control::Budget;
use arbornet_core::dag::anytime::Anytime;
use arbornet_core::dag::families::{Scored, Stored};
use arbornet_core::dag::hill_climb::HillClimb;
use arbornet_core::prior::GraphPrior;
use arbornet_core::score::classic::likelihood::{Likelihood, Penalty};
use arbornet_core::{Candidates, Codes, Column, Constraints, Control, Dag, Kind, Level, Table, Variable, jkl};
use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn instance(name: &str) -> Candidates {
    let text = places::text(&places::data().join("instances").join(name));
    jkl::read(&text, name).expect("the instances are well formed")
}

/// Levels with about two parents each, 37 columns as in ALARM.
fn table(n_rows: usize) -> Arc<Table> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut columns: Vec<Vec<u32>> = vec![];
    for v in 0..37_usize {
        let arity = 2 + (v % 3) as u32;
        let parents = [rng.random_range(0..v.max(1)), rng.random_range(0..v.max(1))];
        let drawn = (0..n_rows).map(|row| {
            let copied = v > 0 && rng.random::<f64>() < 0.7;
            if copied {
                parents.iter().map(|&p| columns[p][row]).sum::<u32>() % arity
            } else {
                rng.random_range(0..arity)
            }
        });
        let drawn = drawn.collect();
        columns.push(drawn);
    }
    let arity = |v: usize| 2 + v % 3;
    let levels = |v: usize| (0..arity(v) as i64).map(Level::Int).collect();
    let variables =
        (0..37).map(|v| Variable { name: v.to_string().into(), kind: Kind::Categorical { levels: levels(v) } });
    let codes = columns.iter().enumerate().map(|(v, c)| Column::Codes(Codes::pack(c, arity(v))));
    Arc::new(Table::new(variables.collect(), codes.collect()).expect("levels cover the codes"))
}

fn hill_climb(c: &mut Criterion) {
    let score = Likelihood { penalty: Penalty::Bic, prior: GraphPrior::default() }
        .prepare(&table(10_000))
        .expect("levels only");
    let none = Constraints::none(37);
    let control = Control::default();
    let budget = Budget::new(&control, None);
    c.bench_function("hill_climb/bic_10000x37", |b| {
        b.iter(|| HillClimb::default().run(&Scored::new(&*score, &none, budget), None, budget));
    });
    let alarm = instance("alarm1000_bic.jkl");
    let stored = Stored::new(&alarm, &none).expect("no constraints");
    let how = HillClimb { restarts: 100, ..HillClimb::default() };
    c.bench_function("hill_climb/alarm1000_100_restarts", |b| b.iter(|| how.run(&stored, None, budget)));
}

fn anytime(c: &mut Criterion) {
    let control = Control::default();
    for name in ["soybean_bic.jkl", "wdbc_bic.jkl", "carpo100_bic.jkl"] {
        let candidates = instance(name);
        let stored = Stored::new(&candidates, &Constraints::none(candidates.n_vars())).expect("no constraints");
        let how = Anytime { rounds: 16, chains: 1, ..Anytime::default() };
        c.bench_function(&format!("anytime/{name}_16_rounds"), |b| {
            b.iter(|| how.run(&stored, Budget::new(&control, None)));
        });
    }
}

fn classes(c: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let arcs = (1..200).flat_map(|v| [(rng.random_range(0..v), v), (rng.random_range(0..v), v)]).collect::<Vec<_>>();
    let dag = Dag::from_arcs(200, arcs).expect("arcs point up");
    c.bench_function("cpdag/200_variables", |b| b.iter(|| black_box(&dag).cpdag()));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = hill_climb, anytime, classes
}
criterion_main!(benches);
