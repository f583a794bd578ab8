//! Classic scores of every parent set of at most three among twenty variables with levels, 10,000 rows.
//!
//! The table is drawn from a made-up chain with skewed levels, so the bench needs no file.

use std::hint::black_box;
use std::sync::Arc;

use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Codes, Column, Kind, Level, Table, Variable};
use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn chain(n_vars: usize, n_rows: usize) -> Arc<Table> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(42);
    let (mut variables, mut columns) = (vec![], vec![]);
    let mut before = vec![0_u32; n_rows];
    for v in 0..n_vars {
        let k = 2 + (v % 3) as u32;
        let draw = |&b: &u32| if rng.random_bool(0.7) { b % k } else { rng.random_range(0..k) };
        before = before.iter().map(draw).collect();
        columns.push(Column::Codes(Codes::pack(&before, k as usize)));
        let levels = (0..i64::from(k)).map(Level::Int).collect();
        variables.push(Variable { name: format!("v{v}").into(), kind: Kind::Categorical { levels } });
    }
    Arc::new(Table::new(variables, columns).expect("made to fit"))
}

fn score_all(table: &Arc<Table>, spec: &str) -> f64 {
    let score = ScoreSpec::parse(spec).expect("a score").prepare(table).expect("levels only");
    let n = table.n_vars();
    let mut total = 0.0;
    for child in 0..n {
        let mut scratch = score.child(child).expect("levels only");
        let mut add = |parents: &[usize]| total += scratch.score(parents).expect("levels only");
        let others: Vec<_> = (0..n).filter(|&v| v != child).collect();
        add(&[]);
        for (i, &a) in others.iter().enumerate() {
            add(&[a]);
            for (j, &b) in others.iter().enumerate().skip(i + 1) {
                add(&[a, b]);
                others[j + 1..].iter().for_each(|&c| add(&[a, b, c]));
            }
        }
    }
    total
}

fn classic(criterion: &mut Criterion) {
    let table = chain(20, 10_000);
    let mut group = criterion.benchmark_group("20 variables, 10,000 rows, at most 3 parents");
    group.sample_size(10);
    for spec in [
        r#"{"score":"bdeu","ess":1}"#,
        r#"{"score":"bd","alpha":1}"#,
        r#"{"score":"likelihood","penalty":"bic"}"#,
        r#"{"score":"nml"}"#,
    ] {
        group.bench_function(spec, |bencher| bencher.iter(|| score_all(black_box(&table), spec)));
    }
    group.finish();
}

criterion_group!(benches, classic);
criterion_main!(benches);
