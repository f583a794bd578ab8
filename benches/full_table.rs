//! Full tables: every child with every parent set of the papers' tables, on one thread.

use arbornet_benches::uci;
use arbornet_core::score::full_table::FullTable;
use criterion::{Criterion, criterion_group, criterion_main};

fn full_table(c: &mut Criterion) {
    let mut group = c.benchmark_group("full_table");
    group.sample_size(10);
    for (name, most) in [("wine", 2), ("abalone", 2), ("concrete-compressive-strength", 3)] {
        let table = uci::table(name);
        let score = FullTable::default().prepare(&table).expect("a score for this table");
        group.bench_function(format!("{name} D={most}"), |b| {
            b.iter(|| {
                let mut sum = 0.0;
                for child in 0..table.n_vars() {
                    let mut scorer = score.child(child).expect("a child this score explains");
                    for parents in uci::parent_sets(table.n_vars(), child, most) {
                        sum += scorer.score(&parents).expect("a score");
                    }
                }
                sum
            });
        });
    }
    group.finish();
}

criterion_group!(benches, full_table);
criterion_main!(benches);
