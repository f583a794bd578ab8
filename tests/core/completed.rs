//! Rows completed by draws, against the conditional distribution enumerated or integrated.

use std::collections::BTreeMap;

use super::network::{configurations, integrate, joint, mixed_density, mixed_network, random_network};
use arbornet_core::frame::{Cells, Rows};
use arbornet_core::network::{Draws, Evidence, Method, Network, Settings, Steps};
use arbornet_core::{Control, Value};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn settings(method: Method, seed: u64) -> Settings {
    Settings { method, particles: 1, seed }
}

fn completed(network: &Network, rows: &Rows, ranges: &[(f64, f64)], settings: &Settings) -> (Rows, usize) {
    let keys: Vec<u64> = (0..rows.n_rows() as u64).collect();
    let evidence = Evidence::new(network.variables(), rows).unwrap();
    network.complete(&evidence, Draws { ranges, steps: &[], keys: &keys }, settings, &Control::default()).unwrap()
}

/// The same row of levels many times, unknown where it is `None`.
fn repeated(row: &[Option<u32>], n: usize) -> Rows {
    let column = |code: &Option<u32>| Cells::Codes(vec![code.unwrap_or(u32::MAX); n]);
    Rows::new(n, row.iter().map(column).collect())
}

#[test]
fn what_is_missing_follows_the_enumerated_conditional() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
    for seed in 0..2 {
        let network = random_network(&mut rng, 5);
        let dims: Vec<usize> = network.variables().iter().map(|v| v.n_levels().unwrap()).collect();
        for row in [[None; 5], [Some(1), None, None, None, Some(0)], [None, None, Some(1), Some(0), None]] {
            let agrees = |at: &Vec<u32>| at.iter().zip(&row).all(|(code, seen)| seen.is_none_or(|s| s == *code));
            let all: Vec<_> = configurations(&dims).into_iter().filter(agrees).collect();
            let total: f64 = all.iter().map(|at| joint(&network, at, &[])).sum();
            // `Sampling` leaves every component to a Markov chain.
            for (method, n) in [(Method::Exact, 20_000), (Method::Sampling, 8000)] {
                let rows = repeated(&row, n);
                let (made, chained) = completed(&network, &rows, &[EVERYWHERE; 5], &settings(method, seed));
                let hides_above = row.iter().any(Option::is_some) && method == Method::Sampling;
                assert!(hides_above || chained == 0);
                let mut counts = BTreeMap::new();
                for i in 0..n {
                    let code = |v| if let Some(Value::Code(c)) = made.get(v, i) { c } else { panic!("a gap is left") };
                    *counts.entry((0..5).map(code).collect::<Vec<u32>>()).or_insert(0.0) += 1.0;
                }
                assert!(counts.keys().all(agrees));
                for at in &all {
                    let p = joint(&network, at, &[]) / total;
                    let share = counts.get(at).copied().unwrap_or(0.0) / n as f64;
                    let room = 5.0 * (p * (1.0 - p) / n as f64).sqrt() + 1e-4;
                    assert!((share - p).abs() < room, "{method:?} {row:?} {at:?}: {share} for {p}");
                }
            }
        }
    }
}

#[test]
fn a_missing_number_follows_its_posterior_exactly_and_by_the_chain() {
    let network = mixed_network();
    let n = 20_000;
    let columns = vec![
        Cells::Codes(vec![u32::MAX; n]),
        Cells::Reals(vec![f64::NAN; n]),
        Cells::Codes(vec![2; n]),
        Cells::Reals(vec![0.6; n]),
    ];
    let rows = Rows::new(n, columns);
    let density = |sex, x| mixed_density(&network, sex, x, 2, 0.6);
    let total = integrate(1e9, |x| density(0, x) + density(1, x));
    for method in [Method::Exact, Method::Sampling] {
        let (made, _) = completed(&network, &rows, &[EVERYWHERE; 4], &settings(method, 3));
        for end in [-0.4, 0.1, 0.5, 1.2, 2.0] {
            for sex in [0, 1] {
                let p = integrate(end, |x| density(sex, x)) / total;
                let below = |i: &usize| {
                    made.get(0, *i) == Some(Value::Code(sex))
                        && matches!(made.get(1, *i), Some(Value::Real(x)) if x < end)
                };
                let share = (0..n).filter(below).count() as f64 / n as f64;
                let room = 5.0 * (p * (1.0 - p) / n as f64).sqrt() + 1e-4;
                assert!((share - p).abs() < room, "{method:?} {end} {sex}: {share} for {p}");
            }
        }
    }
}

#[test]
fn numbers_are_drawn_within_their_range() {
    let network = mixed_network();
    let nothing = Rows::new(3000, vec![Cells::Absent; 4]);
    let ranges = [EVERYWHERE, (-0.5, 0.75), EVERYWHERE, (0.0, 0.5)];
    let (made, _) = completed(&network, &nothing, &ranges, &settings(Method::Auto, 0));
    for v in [1, 3] {
        let within = |i| matches!(made.get(v, i), Some(Value::Real(x)) if ranges[v].0 <= x && x <= ranges[v].1);
        assert!((0..3000).all(within));
    }
}

#[test]
fn numbers_with_steps_are_drawn_as_values_and_as_often_as_what_is_near_them_says() {
    let network = mixed_network();
    let n = 20_000;
    let columns = vec![
        Cells::Codes(vec![u32::MAX; n]),
        Cells::Reals(vec![f64::NAN; n]),
        Cells::Codes(vec![2; n]),
        Cells::Reals(vec![0.6; n]),
    ];
    let rows = Rows::new(n, columns);
    let keys: Vec<u64> = (0..n as u64).collect();
    let evidence = Evidence::new(network.variables(), &rows).unwrap();
    let stored = |height: u32| (f64::from(height) - 170.0) / 10.0;
    // Thresholds stand at 166, 172.5 and 179: of fives and of threes some on, some beside the middle between two.
    for step in [3, 5] {
        let heights: Vec<u32> = (150..=195).filter(|height| height % step == 0).collect();
        let (first, last) = (heights[0], heights[heights.len() - 1]);
        let own = Steps { of: f64::from(step), per: 1.0, range: (f64::from(first), f64::from(last)) };
        let half = f64::from(step) / 20.0;
        let range = (stored(first) - half, stored(last) + half);
        // The mass of what is nearest to a value, times how probable the rest is under that value.
        let weight = |sex: u32, height: u32| {
            let x = stored(height);
            let alone = network.model(1).predictive(&[Value::Code(sex)]);
            let of_rest = mixed_density(&network, sex, x, 2, 0.6) / alone.log_density(Value::Real(x)).exp();
            (alone.below(x + half) - alone.below(x - half)) * of_rest
        };
        let total: f64 = heights.iter().map(|&height| weight(0, height) + weight(1, height)).sum();
        for (method, off) in [(Method::Exact, 0.003), (Method::Sampling, 0.01)] {
            let ranges = [EVERYWHERE, range, EVERYWHERE, EVERYWHERE];
            let draws = Draws { ranges: &ranges, steps: &[None, Some(own), None, None], keys: &keys };
            let (made, chained) =
                network.complete(&evidence, draws, &settings(method, 3), &Control::default()).unwrap();
            assert_eq!(chained > 0, method == Method::Sampling);
            let mut found: BTreeMap<(u32, u64), f64> = BTreeMap::new();
            for i in 0..n {
                let (Some(Value::Code(sex)), Some(Value::Real(x))) = (made.get(0, i), made.get(1, i)) else { panic!() };
                *found.entry((sex, x.to_bits())).or_default() += 1.0 / n as f64;
            }
            for &height in &heights {
                for sex in [0, 1] {
                    // To the bit as it is stored, so that what is left over is drawn as no value.
                    let share = found.remove(&(sex, stored(height).to_bits())).unwrap_or_default();
                    let p = weight(sex, height) / total;
                    let room = 5.0 * (p * (1.0 - p) / n as f64).sqrt() + off;
                    assert!((share - p).abs() < room, "{method:?} {step} {sex} {height}: {share} for {p}");
                }
            }
            assert!(found.is_empty(), "{method:?} {step}: {found:?}");
        }
    }
}

#[test]
fn a_draw_depends_on_its_own_row_and_key_alone() {
    let network = mixed_network();
    let columns = |n: usize| {
        let code = |i: usize| if i.is_multiple_of(3) { u32::MAX } else { (i % 2) as u32 };
        vec![
            Cells::Codes((0..n).map(code).collect()),
            Cells::Absent,
            Cells::Codes((0..n).map(|i| if i.is_multiple_of(2) { u32::MAX } else { 1 }).collect()),
            Cells::Reals((0..n).map(|i| if i.is_multiple_of(5) { f64::NAN } else { 0.01 * i as f64 }).collect()),
        ]
    };
    let of = |n: usize, threads: usize| {
        let rows = Rows::new(n, columns(n));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| completed(&network, &rows, &[EVERYWHERE; 4], &settings(Method::Auto, 8)).0)
    };
    let (many, few) = (of(2000, 1), of(700, 1));
    assert_eq!(many, of(2000, 8));
    assert!((0..700).all(|i| (0..4).all(|v| many.get(v, i) == few.get(v, i))));
    assert_ne!(many.get(1, 0), many.get(1, 15), "rows alike get draws of their own");
}

#[test]
fn ranges_keys_and_steps_that_do_not_fit_are_refused() {
    let network = mixed_network();
    let rows = Rows::new(2, vec![Cells::Absent; 4]);
    let evidence = Evidence::new(network.variables(), &rows).unwrap();
    for (ranges, keys) in [
        (vec![EVERYWHERE; 3], vec![0, 1]),
        (vec![EVERYWHERE; 4], vec![0]),
        (vec![EVERYWHERE, (1.0, 0.0), EVERYWHERE, EVERYWHERE], vec![0, 1]),
        (vec![EVERYWHERE, (f64::NAN, 0.0), EVERYWHERE, EVERYWHERE], vec![0, 1]),
    ] {
        let draws = Draws { ranges: &ranges, steps: &[], keys: &keys };
        assert!(network.complete(&evidence, draws, &settings(Method::Auto, 0), &Control::default()).is_err());
    }
    let step = |of: f64, range: (f64, f64)| Some(Steps { of, per: 1.0, range });
    for steps in [vec![None; 3], vec![step(0.0, EVERYWHERE); 4], vec![step(1.0, (1.0, 0.0)); 4]] {
        let draws = Draws { ranges: &[EVERYWHERE; 4], steps: &steps, keys: &[0, 1] };
        assert!(network.complete(&evidence, draws, &settings(Method::Auto, 0), &Control::default()).is_err());
    }
}
