//! Kernels of the exact search on made-up candidates: the subset program, dual ascent, a round of the linear program,
//! the order search.

use std::hint::black_box;

use arbornet_core::candidates::ChildCandidates;
use arbornet_core::control::Budget;
use arbornet_core::dag::exact::engine::{Component, Limits, Opening, component};
use arbornet_core::dag::exact::problem::Loose;
use arbornet_core::{Candidates, Control};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Candidates in which larger sets score better, with noise, as real ones do.
fn made_up(n: usize, sets: usize) -> Candidates {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut child = |v: usize| {
        let mut all = vec![(-100.0, vec![])];
        for _ in 0..sets {
            let size = random.random_range(1..=3);
            let mut set: Vec<u32> = (0..size).map(|_| random.random_range(0..n as u32)).collect();
            set.retain(|&p| p as usize != v);
            set.sort_unstable();
            set.dedup();
            all.push((-100.0 + 8.0 * set.len() as f64 + random.random_range(0.0..12.0), set));
        }
        ChildCandidates::from_sets(all)
    };
    let names = (0..n).map(|v| v.to_string()).collect();
    Candidates::new(names, (0..n).map(&mut child).collect()).expect("well formed")
}

fn opened(n: usize, sets: usize) -> Component {
    let loose = Loose::from_candidates(&made_up(n, sets)).expect("finite");
    let largest = loose.split().into_iter().max_by_key(|part| part.vars.len()).expect("not empty");
    component(&largest)
}

fn kernels(criterion: &mut Criterion) {
    let control = Control::default();
    let budget = Budget::new(&control, None);
    let limits = Limits { columns: 3000, clusters: 600, new: 100, block: 6, scarce: 10, tolerance: 1e-6 };
    let mut group = criterion.benchmark_group("search");
    group.sample_size(10);
    group.bench_function("subset program, 18 variables", |b| {
        b.iter_batched(|| opened(18, 100), |mut c| black_box(c.program(f64::INFINITY, budget)), BatchSize::LargeInput);
    });
    group.bench_function("dual ascent, 30 variables", |b| {
        b.iter_batched(|| opened(30, 300), |mut c| c.ascend(1, f64::INFINITY, budget), BatchSize::LargeInput);
    });
    let ascended = || {
        let mut c = opened(30, 300);
        c.improve(10, budget);
        c.ascend(2, f64::INFINITY, budget);
        c
    };
    group.bench_function("round of the linear program, 30 variables", |b| {
        b.iter_batched(ascended, |mut c| black_box(c.cut(&limits, f64::INFINITY, budget)), BatchSize::LargeInput);
    });
    let how = Opening { beam: 0, max_live: 2000, pattern: 0, patterned: 0, batch: 20, shallow: f64::INFINITY };
    let open = || {
        let mut c = ascended();
        c.open(&how, f64::INFINITY, budget).expect("not stopped");
        c
    };
    group.bench_function("200 states, 30 variables", |b| {
        let expand = |mut c: Component| {
            for _ in 0..10 {
                black_box(c.expand(&how, f64::INFINITY, budget)).expect("not stopped");
            }
        };
        b.iter_batched(open, expand, BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
