//! What Step 1 itself costs: numbering, looking up subsets, pruning, records; the score is a handful of instructions.
//!
//! `cargo bench --bench step1`; divide by the number of sets printed in the names.

use std::hint::black_box;
use std::sync::Arc;

use arbornet_core::step1::Step1;
use arbornet_core::{
    ChildScore, Column, Constraints, Control, Kind, LocalModel, LocalScore, Result, Table, Units, Var, Variable,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// A hash of the family, less so much per parent.
struct Cheap {
    table: Arc<Table>,
    per_parent: f64,
}

struct Child<'a>(&'a Cheap, Var);

impl LocalScore for Cheap {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Child(self, child)))
    }

    fn model(&self, _child: Var, _parents: &[Var]) -> Result<LocalModel> {
        unreachable!("nothing is fitted here")
    }
}

impl ChildScore for Child<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let mix = |h: u64, &p: &Var| (h ^ p as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let hash = parents.iter().fold(self.1 as u64 + 1, mix);
        Ok((hash >> 40) as f64 / 1e6 - self.0.per_parent * parents.len() as f64)
    }
}

fn table(n: usize) -> Arc<Table> {
    let variable = |v| Variable { name: format!("v{v}").into(), kind: Kind::Continuous { scale: Units::IDENTITY } };
    Arc::new(Table::new((0..n).map(variable).collect(), vec![Column::Reals(vec![0.0; 4096]); n]).expect("a table"))
}

fn step1(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step1");
    group.sample_size(10);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for (n, most) in [(40, 3), (24, 4), (1000, 1)] {
        let table = table(n);
        let step = Arc::new(Step1::new(&table, most, &Constraints::none(n), Some(1024), None).expect("few sets"));
        let n_sets = step.spaces().iter().map(arbornet_core::step1::Space::n_sets).sum::<f64>() as u64;
        group.throughput(Throughput::Elements(n_sets));
        for (name, per_parent) in [("most kept", -20.0), ("few kept", 20.0)] {
            let score = Cheap { table: table.clone(), per_parent };
            let id = BenchmarkId::new(name, format!("{n} variables, D={most}, {n_sets} sets"));
            group.bench_function(id, |bench| {
                bench.iter(|| pool.install(|| step.run(black_box(&score), &Control::default(), None)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, step1);
criterion_main!(benches);
