//! Joints by weighted draws: what they are off by from seed to seed, against the standard error that they tell.

use super::network::{mixed_network, random_network};
use arbornet_core::frame::Rows;
use arbornet_core::network::{Evidence, Method, Network, Settings};
use arbornet_core::{Value, Var};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const SEEDS: u64 = 30;

type Targets<'a> = &'a [(Var, Vec<f64>)];

/// Over the seeds: the mean of each class, the largest standard deviation among the classes, and the mean error told.
fn over_seeds(
    network: &Network,
    known: &[(Var, Value)],
    targets: Targets<'_>,
    particles: usize,
) -> (Vec<f64>, f64, f64) {
    let rows = Rows::of_values(network.n_vars(), known);
    let given = Evidence::new(network.variables(), &rows).unwrap();
    let answer = |seed| {
        let settings = Settings { method: Method::Sampling, particles, seed };
        network.joint(&given, targets, &settings).unwrap()
    };
    let answers: Vec<_> = (0..SEEDS).map(answer).collect();
    let n = SEEDS as f64;
    let told = answers.iter().map(|a| a.sampled.standard_error).sum::<f64>() / n;
    let of_class = |c: usize| {
        let mean = answers.iter().map(|a| a.probabilities[c]).sum::<f64>() / n;
        let variance = answers.iter().map(|a| (a.probabilities[c] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance.sqrt())
    };
    let classes: Vec<(f64, f64)> = (0..answers[0].probabilities.len()).map(of_class).collect();
    (classes.iter().map(|c| c.0).collect(), classes.iter().map(|c| c.1).fold(0.0, f64::max), told)
}

fn agrees(network: &Network, known: &[(Var, Value)], targets: Targets<'_>) {
    let rows = Rows::of_values(network.n_vars(), known);
    let given = Evidence::new(network.variables(), &rows).unwrap();
    let exact = network.joint(&given, targets, &Settings { method: Method::Exact, particles: 1, seed: 0 }).unwrap();
    let (means, spread, told) = over_seeds(network, known, targets, 1000);
    for (mean, p) in means.iter().zip(&exact.probabilities) {
        let room = 5.0 * told / (SEEDS as f64).sqrt() + 1e-12;
        assert!((mean - p).abs() <= room, "{known:?} {targets:?}: {mean} for {p}, {told} told");
    }
    if spread < 1e-9 {
        assert!(told < 1e-9, "{known:?} {targets:?}: all seeds agree, {told} told");
    } else {
        let ratio = told / spread;
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{known:?} {targets:?}: spread {spread}, {told} told");
    }
}

#[test]
fn seeds_differ_by_about_the_standard_error_that_is_told() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    for _ in 0..4 {
        let network = random_network(&mut rng, 7);
        let known = [(4, Value::Code(1)), (1, Value::Code(0))];
        agrees(&network, &known, &[(0, vec![])]);
        agrees(&network, &known, &[(0, vec![]), (3, vec![])]);
        agrees(&network, &known, &[(5, vec![]), (0, vec![]), (6, vec![]), (2, vec![])]);
    }
}

#[test]
fn numbers_are_averaged_where_nothing_depends_on_them_and_counted_elsewhere() {
    let network = mixed_network();
    let weight = (3, Value::Real(0.6));
    // Height has a child that is seen, weight has none: there the draws of height alone are random.
    agrees(&network, &[weight], &[(1, vec![0.0, 1.0]), (0, vec![])]);
    agrees(&network, &[(2, Value::Code(2))], &[(3, vec![-0.5, 0.0, 0.7]), (0, vec![])]);
    agrees(&network, &[weight], &[(2, vec![])]);
    let (_, _, counted) = over_seeds(&network, &[weight], &[(1, vec![0.0])], 1000);
    let (_, _, averaged) = over_seeds(&network, &[(1, Value::Real(0.3))], &[(3, vec![0.0]), (2, vec![])], 1000);
    assert!(counted > 1e-3 && averaged < 1e-9, "{counted} {averaged}");
}

#[test]
fn many_classes_are_counted_as_well_as_few_are_averaged() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(32);
    let network = random_network(&mut rng, 9);
    let all: Vec<(Var, Vec<f64>)> = (0..8).map(|v| (v, vec![])).collect();
    agrees(&network, &[(8, Value::Code(0))], &all);
}
