//! Seconds per score of the scores for mixed data, over random sets of up to four parents among 100 variables.
//!
//! Every round prepares the score anew, so that nothing is remembered from the round before; within a
//! round every set is scored once, as a search with a cache of its own would.

use std::hint::black_box;
use std::sync::Arc;

use arbornet_benches::places;
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Codes, Column, Kind, Level, Table, Units, Var, Variable};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn simulated() -> Arc<Table> {
    let read = |ending: &str| places::text(&places::data().join(format!("simulated/cg100_d2_n1000_s1.{ending}")));
    let (csv, about) = (read("csv.gz"), read("json"));
    let about: serde_json::Value = serde_json::from_str(&about).expect("JSON");
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    let (mut variables, mut columns) = (vec![], vec![]);
    for (at, &name) in names.iter().enumerate() {
        let k = about["levels"][name].as_u64().expect("a number of levels") as usize;
        let values: Vec<f64> = rows.iter().map(|row| row[at]).collect();
        let levels = (0..k as i64).map(Level::Int).collect();
        let kind = if k == 0 { Kind::Continuous { scale: Units::IDENTITY } } else { Kind::Categorical { levels } };
        columns.push(match k {
            0 => Column::Reals(values),
            k => Column::Codes(Codes::pack(&values.iter().map(|&x| x as u32).collect::<Vec<_>>(), k)),
        });
        variables.push(Variable { name: name.into(), kind });
    }
    Arc::new(Table::new(variables, columns).expect("a table"))
}

/// Random children with 0 to 4 random parents.
fn families(n_vars: usize, n: usize) -> Vec<(Var, Vec<Var>)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut family = || {
        let child = rng.random_range(0..n_vars);
        let mut parents: Vec<Var> = (0..rng.random_range(0..5)).map(|_| rng.random_range(0..n_vars)).collect();
        parents.retain(|&p| p != child);
        parents.sort_unstable();
        parents.dedup();
        (child, parents)
    };
    let mut families: Vec<_> = (0..n).map(|_| family()).collect();
    families.sort_by_key(|(child, _)| *child);
    families
}

fn mixed(criterion: &mut Criterion) {
    let table = simulated();
    let families = families(table.n_vars(), 4000);
    let mut group = criterion.benchmark_group("100 variables, 1,000 rows, 4,000 random families");
    group.sample_size(10).throughput(Throughput::Elements(families.len() as u64));
    for spec in [
        r#"{"score":"degenerate_gaussian"}"#,
        r#"{"score":"block_gaussian"}"#,
        r#"{"score":"block_gaussian","degree":1}"#,
        r#"{"score":"conditional_gaussian"}"#,
        r#"{"score":"conditional_gaussian","discretise":true}"#,
        r#"{"score":"conditional_gaussian","published":true}"#,
    ] {
        let spec = ScoreSpec::parse(spec).expect("a score");
        let name = serde_json::to_string(&spec).expect("a spec");
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let score = spec.prepare(black_box(&table)).expect("a mixed table");
                let mut total = 0.0;
                for same in families.chunk_by(|a, b| a.0 == b.0) {
                    let mut scratch = score.child(same[0].0).expect("any child");
                    for (_, parents) in same {
                        total += scratch.score(parents).expect("any parents");
                    }
                }
                total
            });
        });
    }
    group.finish();
}

criterion_group!(benches, mixed);
criterion_main!(benches);
