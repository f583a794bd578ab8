//! Networks against brute force: every joint probability enumerated, every answer summed by hand.

use std::sync::Arc;

use super::support::cases::factor;
use arbornet_core::frame::{self, Rows};
use arbornet_core::model::cells::{Cell, Cells};
use arbornet_core::model::full_table::FullTable;
use arbornet_core::network::{Evidence, Method, Network, Settings, Within};
use arbornet_core::{Affine, Control, Kind, Level, LocalModel, Predictive, Units, Value, Var, Variable};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn letters(name: &str, k: usize) -> Variable {
    let levels: Arc<[Level]> = (0..k).map(|i| Level::Int(i as i64)).collect();
    Variable { name: name.into(), kind: Kind::Categorical { levels } }
}

fn number(name: &str, shift: f64, scale: f64) -> Variable {
    Variable { name: name.into(), kind: Kind::Continuous { scale: Affine { shift, scale }.into() } }
}

fn cell(codes: Vec<u32>, distribution: Predictive) -> Cell {
    Cell { codes, n_rows: 0, distribution }
}

/// Every configuration of variables with these numbers of levels, the last one fastest.
pub(super) fn configurations(dims: &[usize]) -> Vec<Vec<u32>> {
    dims.iter().fold(vec![vec![]], |all, &k| {
        all.iter().flat_map(|c| (0..k as u32).map(move |x| [&c[..], &[x]].concat())).collect()
    })
}

fn random_levels(rng: &mut Xoshiro256PlusPlus, k: usize) -> Predictive {
    let weights: Vec<f64> = (0..k).map(|_| rng.random::<f64>() + 0.05).collect();
    shares(weights)
}

/// Now and then one level in a million million, or all alike; no level is impossible, so every row has a probability.
fn odd_levels(rng: &mut Xoshiro256PlusPlus, k: usize) -> Predictive {
    match rng.random_range(0..6) {
        0 => shares((0..k).map(|_| 10_f64.powi(-rng.random_range(0..13))).collect()),
        1 => shares(vec![1.0; k]),
        _ => random_levels(rng, k),
    }
}

fn shares(weights: Vec<f64>) -> Predictive {
    let total: f64 = weights.iter().sum();
    Predictive::Levels { probabilities: weights.into_iter().map(|w| w / total).collect() }
}

/// A random network over levels; arcs go from smaller to larger positions of a random order.
pub(super) fn random_network(rng: &mut Xoshiro256PlusPlus, n: usize) -> Network {
    let dims: Vec<usize> = (0..n).map(|_| rng.random_range(2..4)).collect();
    of_levels(rng, &dims, random_levels)
}

/// One in which a variable may have a single level, and probabilities may be tiny.
fn odd_network(rng: &mut Xoshiro256PlusPlus, n: usize) -> Network {
    let dims: Vec<usize> = (0..n).map(|_| rng.random_range(1..4)).collect();
    of_levels(rng, &dims, odd_levels)
}

fn of_levels(
    rng: &mut Xoshiro256PlusPlus,
    dims: &[usize],
    drawn: fn(&mut Xoshiro256PlusPlus, usize) -> Predictive,
) -> Network {
    let n = dims.len();
    let mut rank: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        rank.swap(i, rng.random_range(0..=i));
    }
    let models = (0..n)
        .map(|v| {
            let mut parents: Vec<Var> = (0..n).filter(|&u| rank[u] < rank[v] && rng.random::<f64>() < 0.45).collect();
            parents.truncate(3);
            let of: Vec<usize> = parents.iter().map(|&p| dims[p]).collect();
            let cells = configurations(&of).into_iter().map(|c| cell(c, drawn(rng, dims[v]))).collect();
            LocalModel::Cells(Cells::new(v, parents, cells, drawn(rng, dims[v])))
        })
        .collect();
    let names = "abcdefghij".chars();
    Network::new(names.zip(dims).map(|(c, &k)| letters(&c.to_string(), k)).collect(), models).unwrap()
}

fn dims(network: &Network) -> Vec<usize> {
    network.variables().iter().map(|v| v.n_levels().unwrap()).collect()
}

/// The probability of one configuration, with the parents of `set` variables cut off.
pub(super) fn joint(network: &Network, at: &[u32], set: &[Var]) -> f64 {
    (0..at.len())
        .filter(|v| !set.contains(v))
        .map(|v| {
            let parents: Vec<Value> = network.parents(v).iter().map(|&p| Value::Code(at[p])).collect();
            network.model(v).predictive(&parents).log_density(Value::Code(at[v])).exp()
        })
        .product()
}

fn agrees(at: &[u32], known: &[(Var, u32)]) -> bool {
    known.iter().all(|&(v, code)| at[v] == code)
}

fn probability(network: &Network, known: &[(Var, u32)], set: &[Var]) -> f64 {
    let all = configurations(&dims(network));
    all.iter().filter(|at| agrees(at, known)).map(|at| joint(network, at, set)).sum()
}

/// Rows with some values missing, and what is known in each.
fn random_rows(rng: &mut Xoshiro256PlusPlus, network: &Network, n: usize) -> (Rows, Vec<Vec<(Var, u32)>>) {
    let dims = dims(network);
    let known: Vec<Vec<(Var, u32)>> = (0..n)
        .map(|_| {
            let seen: Vec<Var> = (0..dims.len()).filter(|_| rng.random::<f64>() < 0.5).collect();
            seen.into_iter().map(|v| (v, rng.random_range(0..dims[v] as u32))).collect()
        })
        .collect();
    let code = |row: &Vec<(Var, u32)>, v| row.iter().find(|k| k.0 == v).map_or(u32::MAX, |k| k.1);
    let columns =
        (0..dims.len()).map(|v| frame::Cells::Codes(known.iter().map(|row| code(row, v)).collect())).collect();
    (Rows::new(n, columns), known)
}

/// Rows as evidence.
fn seen<'a>(network: &Network, rows: &'a Rows) -> Evidence<'a> {
    Evidence::new(network.variables(), rows).unwrap()
}

const AUTO: Settings = Settings { method: Method::Auto, particles: 2000, seed: 1 };

#[test]
fn probabilities_of_levels_are_those_of_the_enumerated_joint() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for n in [2, 4, 6] {
        for round in 0..12 * factor() {
            let network = if round % 2 == 0 { odd_network(&mut rng, n) } else { random_network(&mut rng, n) };
            let (rows, known) = random_rows(&mut rng, &network, 25);
            for target in 0..n {
                let k = dims(&network)[target];
                let answer = network.levels(&seen(&network, &rows), target, &AUTO, &Control::default()).unwrap();
                assert_eq!(answer.sampled.rows, 0);
                for (row, known) in known.iter().enumerate() {
                    let mut known = known.clone();
                    known.retain(|x| x.0 != target);
                    let total = probability(&network, &known, &[]);
                    for code in 0..k {
                        let with = [&known[..], &[(target, code as u32)]].concat();
                        let hand = probability(&network, &with, &[]) / total;
                        assert!((answer.probabilities[row * k + code] - hand).abs() < 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn the_likelihood_of_a_row_with_gaps_sums_over_what_is_missing() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    for round in 0..20 * factor() {
        let network = if round % 2 == 0 { odd_network(&mut rng, 6) } else { random_network(&mut rng, 6) };
        let (rows, known) = random_rows(&mut rng, &network, 25);
        let (answer, sampled) = network.log_likelihood(&seen(&network, &rows), &AUTO, &Control::default()).unwrap();
        assert_eq!(sampled.rows, 0);
        for (got, known) in answer.iter().zip(&known) {
            let hand = probability(&network, known, &[]).ln();
            assert!((got - hand).abs() < 1e-12 * (1.0 + hand.abs()), "{got} {hand}");
        }
    }
}

#[test]
fn joints_follow_given_and_set_values() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..40 * factor() {
        let network = random_network(&mut rng, 6);
        let known = [(4, 1), (2, 0)];
        let values: Vec<_> = known.iter().map(|&(v, c)| (v, Value::Code(c))).collect();
        let rows = Rows::of_values(network.n_vars(), &values);
        for set in [&[][..], &[4], &[4, 2]] {
            let answer =
                network.joint(&seen(&network, &rows).with_set(set), &[(5, vec![]), (0, vec![])], &AUTO).unwrap();
            let total = probability(&network, &known, set);
            for (at, got) in configurations(&answer.dims).iter().zip(&answer.probabilities) {
                let with = [&known[..], &[(5, at[0]), (0, at[1])]].concat();
                assert!((got - probability(&network, &with, set) / total).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn weighted_draws_agree_within_their_standard_errors() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let settings = Settings { method: Method::Sampling, particles: 20_000, seed: 3 };
    for _ in 0..5 {
        let network = random_network(&mut rng, 6);
        let (rows, _) = random_rows(&mut rng, &network, 10);
        let exact = network.levels(&seen(&network, &rows), 3, &AUTO, &Control::default()).unwrap();
        let sampled = network.levels(&seen(&network, &rows), 3, &settings, &Control::default()).unwrap();
        assert_eq!(sampled.sampled.rows, 10);
        for (a, b) in exact.probabilities.iter().zip(&sampled.probabilities) {
            assert!((a - b).abs() <= 5.0 * sampled.sampled.standard_error + 1e-12, "{a} {b} {:?}", sampled.sampled);
        }
    }
}

/// Pearson's statistic of draws against the joint probabilities given what is known.
fn chi_square(network: &Network, draws: &Rows, known: &[(Var, u32)], set: &[Var]) -> (f64, usize) {
    let total = probability(network, known, set);
    let all: Vec<_> = configurations(&dims(network)).into_iter().filter(|at| agrees(at, known)).collect();
    let mut counts = std::collections::BTreeMap::new();
    for row in 0..draws.n_rows() {
        let at: Vec<u32> = (0..network.n_vars())
            .map(|v| if let Some(Value::Code(c)) = draws.get(v, row) { c } else { panic!("a gap in draws") })
            .collect();
        assert!(agrees(&at, known));
        *counts.entry(at).or_insert(0.0) += 1.0;
    }
    let statistic = |at: &Vec<u32>| {
        let expected = joint(network, at, set) / total * draws.n_rows() as f64;
        (counts.get(at).copied().unwrap_or(0.0) - expected).powi(2) / expected
    };
    (all.iter().map(statistic).sum(), all.len() - 1)
}

#[test]
fn draws_give_the_network_back() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    for seed in 0..6 {
        let network = random_network(&mut rng, 4);
        let settings = Settings { seed, ..AUTO };
        // Conditional draws with hidden ancestors, interventions, and both.
        for (known, set) in
            [(vec![], vec![]), (vec![(3, 1)], vec![]), (vec![(3, 1)], vec![3]), (vec![(0, 1), (2, 0)], vec![2])]
        {
            let values: Vec<_> = known.iter().map(|&(v, c)| (v, Value::Code(c))).collect();
            let rows = Rows::of_values(network.n_vars(), &values);
            let (draws, sampled) =
                network.sample(30_000, &seen(&network, &rows).with_set(&set), &settings, &Control::default()).unwrap();
            assert_eq!(sampled.rows, 0);
            let (statistic, df) = chi_square(&network, &draws, &known, &set);
            // Wilson and Hilferty: a normal deviate, 4 is exceeded three times in a hundred thousand.
            let df = df as f64;
            let z = ((statistic / df).cbrt() - (1.0 - 2.0 / (9.0 * df))) / (2.0 / (9.0 * df)).sqrt();
            assert!(z < 4.0, "{known:?} {set:?}: {statistic} on {df}");
        }
    }
}

#[test]
fn densities_are_in_the_units_of_the_user() {
    let t = |location| Predictive::StudentT { df: 5.0, location, scale: 0.5 };
    let coin = Predictive::Levels { probabilities: vec![0.25, 0.75] };
    let cells = vec![cell(vec![0], t(-1.0)), cell(vec![1], t(1.0))];
    let models = vec![
        LocalModel::Cells(Cells::new(0, vec![], vec![cell(vec![], coin.clone())], coin)),
        LocalModel::Cells(Cells::new(1, vec![0], cells, t(0.0))),
    ];
    let network = Network::new(vec![letters("sex", 2), number("height", 170.0, 10.0)], models).unwrap();
    let columns = vec![frame::Cells::Codes(vec![1, u32::MAX]), frame::Cells::Reals(vec![0.7, 0.7])];
    let rows = Rows::new(2, columns);
    let (answer, _) = network.log_likelihood(&seen(&network, &rows), &AUTO, &Control::default()).unwrap();
    let density = |location| t(location).log_density(Value::Real(0.7)).exp() / 10.0;
    assert!((answer[0] - (0.75 * density(1.0)).ln()).abs() < 1e-12);
    assert!((answer[1] - (0.25 * density(-1.0) + 0.75 * density(1.0)).ln()).abs() < 1e-12);
    // The median of the mixture, in centimetres: as much mass below as above.
    let quantiles = network.quantiles(&seen(&network, &rows), 1, &[0.5], &AUTO, &Control::default()).unwrap();
    let stored = (quantiles.values[1] - 170.0) / 10.0;
    let below = 0.25 * t(-1.0).cdf(Value::Real(stored)) + 0.75 * t(1.0).cdf(Value::Real(stored));
    assert!((quantiles.values[0] - 180.0).abs() < 1e-9);
    assert!((below - 0.5).abs() < 1e-9);
}

#[test]
fn densities_of_a_logarithm_have_its_jacobian() {
    let wage = |log| Variable {
        name: "wage".into(),
        kind: Kind::Continuous { scale: Units { shift: 2.0, scale: 0.5, log, ..Units::IDENTITY } },
    };
    let leaf = Predictive::StudentT { df: 4.0, location: 0.3, scale: 0.8 };
    let model = LocalModel::Cells(Cells::new(0, vec![], vec![cell(vec![], leaf.clone())], leaf));
    let made = |log| Network::new(vec![wage(log)], vec![model.clone()]);
    let stored = vec![-1.0, 0.0, 2.5];
    let rows = Rows::new(3, vec![frame::Cells::Reals(stored.clone())]);
    let of = |network: &Network| {
        let (answer, _) = network.log_likelihood(&seen(network, &rows), &AUTO, &Control::default()).unwrap();
        let by_node = network.log_densities(&seen(network, &rows), &Control::default()).unwrap();
        assert_eq!(by_node[0], answer);
        answer
    };
    let (plain, logs) = (made(None).unwrap(), made(Some(0.25)).unwrap());
    for ((x, plain), log) in stored.iter().zip(of(&plain)).zip(of(&logs)) {
        assert!((log - (plain - (2.0 + 0.5 * x))).abs() < 1e-14);
    }
    let medians = logs.quantiles(&seen(&logs, &rows), 0, &[0.5], &AUTO, &Control::default()).unwrap();
    assert!((medians.values[0] - ((2.0_f64 + 0.5 * 0.3).exp() - 0.25)).abs() < 1e-9);
    assert_eq!(Network::from_json(&logs.to_json()).unwrap(), logs);
    assert!(logs.to_json().contains(r#""log":0.25"#) && !plain.to_json().contains("log"));
    assert!(made(Some(-1.0)).is_err() && made(Some(f64::NAN)).is_err());
}

/// sex -> height -> (team, weight): two children of a number, each a table of bins.
pub(super) fn mixed_network() -> Network {
    let t = |df, location, scale| Predictive::StudentT { df, location, scale };
    let levels = |p: [f64; 3]| Predictive::Levels { probabilities: p.to_vec() };
    let coin = Predictive::Levels { probabilities: vec![0.4, 0.6] };
    let binned = |cuts: Vec<f64>, cells, unseen| {
        let child = if cuts.len() == 2 { 2 } else { 3 };
        LocalModel::FullTable(FullTable::new(vec![Some(cuts)], Cells::new(child, vec![1], cells, unseen)))
    };
    let team = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]];
    let team = team.iter().zip(0..).map(|(p, c)| cell(vec![c], levels(*p))).collect();
    let weight = vec![cell(vec![0], t(7.0, -0.6, 0.7)), cell(vec![1], t(7.0, 0.8, 0.5))];
    let models = vec![
        LocalModel::Cells(Cells::new(0, vec![], vec![cell(vec![], coin.clone())], coin)),
        LocalModel::Cells(Cells::new(
            1,
            vec![0],
            vec![cell(vec![0], t(4.0, -0.5, 0.8)), cell(vec![1], t(6.0, 0.7, 0.9))],
            t(1.0, 0.0, 1.0),
        )),
        binned(vec![-0.4, 0.9], team, levels([0.3, 0.3, 0.4])),
        binned(vec![0.25], weight, t(1.0, 0.0, 1.0)),
    ];
    let variables =
        vec![letters("sex", 2), number("height", 170.0, 10.0), letters("team", 3), number("weight", 70.0, 12.0)];
    Network::new(variables, models).unwrap()
}

/// The unnormalised joint density of (sex, height, team, weight), numbers in stored units.
pub(super) fn mixed_density(network: &Network, sex: u32, height: f64, team: u32, weight: f64) -> f64 {
    let of = |v: Var, parents: &[Value], value| network.model(v).predictive(parents).log_density(value).exp();
    of(0, &[], Value::Code(sex))
        * of(1, &[Value::Code(sex)], Value::Real(height))
        * of(2, &[Value::Real(height)], Value::Code(team))
        * of(3, &[Value::Real(height)], Value::Real(weight))
}

/// Integrates over heights below `end` by x = tan(u), piece by piece between the jumps.
pub(super) fn integrate(end: f64, f: impl Fn(f64) -> f64) -> f64 {
    let half = std::f64::consts::FRAC_PI_2;
    let mut ends: Vec<f64> = [-0.4, 0.25, 0.9].into_iter().filter(|c| *c < end).map(f64::atan).collect();
    ends.insert(0, -half);
    ends.push(end.atan());
    let n = 4000;
    let piece = |a: f64, b: f64| {
        let h = (b - a) / f64::from(n);
        (0..n).map(|i| a + (f64::from(i) + 0.5) * h).map(|u| f(u.tan()) / u.cos().powi(2)).sum::<f64>() * h
    };
    ends.windows(2).map(|w| piece(w[0], w[1])).sum()
}

#[test]
fn hidden_numbers_are_integrated_out_exactly() {
    let network = mixed_network();
    let missing = f64::NAN;
    let columns = vec![
        frame::Cells::Codes(vec![u32::MAX; 3]),
        frame::Cells::Reals(vec![missing; 3]),
        frame::Cells::Codes(vec![2, 0, u32::MAX]),
        frame::Cells::Reals(vec![0.6, missing, -1.1]),
    ];
    let rows = Rows::new(3, columns);
    let control = Control::default();
    let exact = Settings { method: Method::Exact, ..AUTO };
    let density = |row: usize, sex: u32, height: f64| match row {
        0 => mixed_density(&network, sex, height, 2, 0.6),
        // An unseen leaf integrates to one: leave its factor out.
        1 => {
            mixed_density(&network, sex, height, 0, 0.6) / {
                let weight = network.model(3).predictive(&[Value::Real(height)]).log_density(Value::Real(0.6));
                weight.exp()
            }
        }
        _ => (0..3).map(|team| mixed_density(&network, sex, height, team, -1.1)).sum(),
    };
    let levels = network.levels(&seen(&network, &rows), 0, &exact, &control).unwrap();
    let heights = network.quantiles(&seen(&network, &rows), 1, &[0.05, 0.5, 0.8], &exact, &control).unwrap();
    let (likelihood, _) = network.log_likelihood(&seen(&network, &rows), &exact, &control).unwrap();
    for (row, likelihood) in likelihood.into_iter().enumerate() {
        let of_sex = [0, 1].map(|sex| integrate(1e9, |x| density(row, sex, x)));
        let total: f64 = of_sex.iter().sum();
        assert!((levels.probabilities[2 * row] - of_sex[0] / total).abs() < 1e-6);
        let jacobian = if row == 1 { 0.0 } else { 12.0_f64.ln() };
        assert!((likelihood - (total.ln() - jacobian)).abs() < 1e-6);
        for (i, p) in [0.05, 0.5, 0.8].into_iter().enumerate() {
            let stored = (heights.values[3 * row + i] - 170.0) / 10.0;
            let below = integrate(stored, |x| density(row, 0, x) + density(row, 1, x));
            assert!((below / total - p).abs() < 1e-6, "{row} {p} {}", below / total);
        }
    }
}

#[test]
fn levels_that_may_be_count_like_the_sum_over_them_each_by_its_share() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    let sampling = Settings { method: Method::Sampling, particles: 60_000, seed: 3 };
    for round in 0..30 * factor() {
        let network = random_network(&mut rng, 6);
        let dims = dims(&network);
        let known = [(4, 1)];
        let rows = Rows::of_values(network.n_vars(), &[(4, Value::Code(1))]);
        // Not the last level of 2, not the first of 5 and the others in part, and the target itself is not its first.
        let share = |v: Var, code: u32| match v {
            2 => f64::from(u8::from(code as usize + 1 < dims[2])),
            0 => f64::from(u8::from(code > 0)),
            5 => f64::from(code) / dims[5] as f64,
            _ => 1.0,
        };
        let limits = [0, 2, 5].map(|v| (v, Within::Levels((0..dims[v] as u32).map(|c| share(v, c)).collect())));
        let limited = seen(&network, &rows).limited(network.variables(), limits.to_vec()).unwrap();
        for set in [&[][..], &[4]] {
            let given = limited.clone().with_set(set);
            let agreeing: Vec<_> = configurations(&dims)
                .into_iter()
                .filter(|at| agrees(at, &known) && at.iter().enumerate().all(|(v, &c)| share(v, c) > 0.0))
                .collect();
            let joint = |at: &[u32]| {
                joint(&network, at, set) * at.iter().enumerate().map(|(v, &c)| share(v, c)).product::<f64>()
            };
            let total: f64 = agreeing.iter().map(|at| joint(at)).sum();
            let answer = network.joint(&given, &[(0, vec![]), (3, vec![])], &AUTO).unwrap();
            for (at, got) in configurations(&answer.dims).iter().zip(&answer.probabilities) {
                let of = agreeing.iter().filter(|c| c[0] == at[0] && c[3] == at[1]);
                let p = of.map(|c| joint(c)).sum::<f64>() / total;
                assert!((got - p).abs() < 1e-12);
            }
            if round < 4 {
                let drawn = network.joint(&given, &[(0, vec![]), (3, vec![])], &sampling).unwrap();
                for (a, b) in drawn.probabilities.iter().zip(&answer.probabilities) {
                    assert!((a - b).abs() < 6.0 * drawn.sampled.standard_error, "{a} {b} {:?}", drawn.sampled);
                }
                let (draws, _) = network.sample(20_000, &given, &AUTO, &Control::default()).unwrap();
                let row = |i| (0..6).map(|v| if let Some(Value::Code(c)) = draws.get(v, i) { c } else { 9 }).collect();
                let counted: Vec<Vec<u32>> = (0..20_000).map(row).collect();
                for at in &agreeing {
                    let p = joint(at) / total;
                    let drawn = counted.iter().filter(|c| *c == at).count() as f64 / 20_000.0;
                    assert!((drawn - p).abs() < 5.0 * (p * (1.0 - p) / 20_000.0).sqrt() + 1e-4);
                }
                assert!(counted.iter().all(|c| agreeing.contains(c)));
            }
        }
    }
}

#[test]
fn intervals_of_numbers_count_like_integrals_over_them() {
    let network = mixed_network();
    let known = Rows::of_values(network.n_vars(), &[(3, Value::Real(0.6))]);
    let limits = vec![(1, Within::Between(-0.1, 1.3))];
    let known = seen(&network, &known).limited(network.variables(), limits).unwrap();
    let density = |sex, team, x| mixed_density(&network, sex, x, team, 0.6);
    let within = |f: &dyn Fn(f64) -> f64| integrate(1.3, f) - integrate(-0.1, f);
    let total = within(&|x| (0..6).map(|i| density(i / 3, i % 3, x)).sum());
    let answer = network.joint(&known, &[(0, vec![]), (2, vec![])], &AUTO).unwrap();
    for (at, p) in configurations(&[2, 3]).iter().zip(&answer.probabilities) {
        assert!((p - within(&|x| density(at[0], at[1], x)) / total).abs() < 1e-6);
    }
    // The number itself stays within, drawn or asked for.
    let (draws, sampled) = network.sample(5000, &known, &AUTO, &Control::default()).unwrap();
    assert_eq!(sampled.rows, 0);
    assert!((0..5000).all(|row| matches!(draws.get(1, row), Some(Value::Real(x)) if (-0.1..1.3).contains(&x))));
    for method in [Method::Exact, Method::Sampling] {
        let settings = Settings { method, particles: 50_000, seed: 5 };
        let heights = network.quantiles(&known, 1, &[0.1, 0.5, 0.9], &settings, &Control::default()).unwrap();
        for (p, height) in [0.1, 0.5, 0.9].into_iter().zip(heights.values) {
            let stored = (height - 170.0) / 10.0;
            let all = |x| (0..6).map(|i| density(i / 3, i % 3, x)).sum::<f64>();
            let below = (integrate(stored, all) - integrate(-0.1, all)) / total;
            let tolerance = if method == Method::Exact { 1e-6 } else { 5.0 * heights.sampled.standard_error };
            assert!((below - p).abs() < tolerance, "{method:?} {p} {below}");
        }
    }
}

#[test]
fn limits_that_leave_nothing_are_refused() {
    let network = mixed_network();
    let rows = Rows::of_values(network.n_vars(), &[(3, Value::Real(0.6))]);
    for limit in [
        (0, Within::Levels(vec![0.0, 0.0])),
        (0, Within::Levels(vec![1.0])),
        (0, Within::Levels(vec![1.0, -0.5])),
        (0, Within::Levels(vec![1.0, f64::NAN])),
        (0, Within::Between(0.0, 1.0)),
        (1, Within::Between(1.0, 1.0)),
        (1, Within::Between(f64::NAN, 1.0)),
        (3, Within::Between(0.0, 1.0)),
    ] {
        assert!(seen(&network, &rows).limited(network.variables(), vec![limit.clone()]).is_err(), "{limit:?}");
    }
}

#[test]
fn draws_given_a_child_of_a_hidden_number_follow_its_posterior() {
    let network = mixed_network();
    let known = Rows::of_values(network.n_vars(), &[(2, Value::Code(2)), (3, Value::Real(0.6))]);
    let n = 40_000;
    let (draws, sampled) = network.sample(n, &seen(&network, &known), &AUTO, &Control::default()).unwrap();
    assert_eq!(sampled.rows, 0);
    let total = integrate(1e9, |x| mixed_density(&network, 0, x, 2, 0.6) + mixed_density(&network, 1, x, 2, 0.6));
    for end in [-0.4, 0.1, 0.5, 1.2, 2.0] {
        for sex in [0, 1] {
            let p = integrate(end, |x| mixed_density(&network, sex, x, 2, 0.6)) / total;
            let below = |row: &usize| {
                draws.get(0, *row) == Some(Value::Code(sex))
                    && matches!(draws.get(1, *row), Some(Value::Real(x)) if x < end)
            };
            let share = (0..n).filter(below).count() as f64 / n as f64;
            assert!((share - p).abs() < 4.5 * (p * (1.0 - p) / n as f64).sqrt() + 1e-4, "{end} {sex}: {share} {p}");
        }
    }
}

#[test]
fn a_joint_with_numbers_in_classes_adds_up() {
    let network = mixed_network();
    let known = Rows::of_values(network.n_vars(), &[(3, Value::Real(0.6))]);
    let answer = network.joint(&seen(&network, &known), &[(1, vec![0.0, 1.0]), (0, vec![])], &AUTO).unwrap();
    let density = |sex, x| (0..3).map(|team| mixed_density(&network, sex, x, team, 0.6)).sum::<f64>();
    let total = integrate(1e9, |x| density(0, x) + density(1, x));
    for sex in [0, 1] {
        let below = [0.0, 1.0, 1e9].map(|end| integrate(end, |x| density(sex, x)) / total);
        let classes = [below[0], below[1] - below[0], below[2] - below[1]];
        for (class, p) in classes.into_iter().enumerate() {
            assert!((answer.probabilities[2 * class + sex as usize] - p).abs() < 1e-6);
        }
    }
}

#[test]
fn answers_are_the_same_bits_at_any_number_of_threads() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(10);
    let network = random_network(&mut rng, 6);
    let (rows, _) = random_rows(&mut rng, &network, 9000);
    let on = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let sampling = Settings { method: Method::Sampling, particles: 20, seed: 3 };
            let levels = network.levels(&seen(&network, &rows), 1, &sampling, &Control::default()).unwrap();
            let nothing = Rows::of_values(network.n_vars(), &[(2, Value::Code(1))]);
            let draws = network.sample(5000, &seen(&network, &nothing), &AUTO, &Control::default()).unwrap();
            (levels, network.log_likelihood(&seen(&network, &rows), &AUTO, &Control::default()).unwrap(), draws)
        })
    };
    assert_eq!(on(1), on(8));
}

#[test]
fn json_brings_back_the_same_network() {
    let network = random_network(&mut Xoshiro256PlusPlus::seed_from_u64(11), 6);
    assert_eq!(Network::from_json(&network.to_json()).unwrap(), network);
}

/// Spoils the parents or the probabilities of one variable.
type Edit = fn(&mut (Vec<Var>, Vec<f64>));

#[test]
fn tables_in_the_order_of_configurations_make_the_network() {
    let network = random_network(&mut Xoshiro256PlusPlus::seed_from_u64(14), 6);
    let dims = dims(&network);
    let table = |v: Var| {
        let of: Vec<usize> = network.parents(v).iter().map(|&p| dims[p]).collect();
        let cells = configurations(&of).into_iter().map(|at| {
            let given: Vec<Value> = at.into_iter().map(Value::Code).collect();
            (0..dims[v] as u32).map(|c| network.model(v).predictive(&given).log_density(Value::Code(c)).exp()).collect()
        });
        (network.parents(v).to_vec(), cells.collect::<Vec<Vec<f64>>>().concat())
    };
    let tables: Vec<_> = (0..6).map(table).collect();
    let made = Network::from_tables(network.variables().to_vec(), tables.clone()).unwrap();
    for at in configurations(&dims) {
        assert!((joint(&made, &at, &[]) - joint(&network, &at, &[])).abs() < 1e-12);
    }
    let edits: [Edit; 4] = [|t| t.0.push(9), |t| t.1.truncate(1), |t| t.1.clear(), |t| t.0.insert(0, 5)];
    for edit in edits {
        let mut tables = tables.clone();
        edit(&mut tables[5]);
        assert!(Network::from_tables(network.variables().to_vec(), tables).is_err());
    }
}

#[test]
fn a_file_that_is_no_network_is_refused() {
    let network = random_network(&mut Xoshiro256PlusPlus::seed_from_u64(12), 3);
    let json: serde_json::Value = serde_json::from_str(&network.to_json()).unwrap();
    let edits: [fn(&mut serde_json::Value); 5] = [
        |j| j["models"][0]["child"] = 7.into(),
        |j| j["models"][2]["parents"] = vec![9].into(),
        |j| j["variables"][0]["name"] = j["variables"][1]["name"].clone(),
        |j| j["models"][1]["distributions"] = vec![0; 0].into(),
        |j| j["models"][0]["unseen"]["probabilities"][0] = 2.into(),
    ];
    for edit in edits {
        let mut json = json.clone();
        edit(&mut json);
        assert!(Network::from_json(&json.to_string()).is_err(), "{json}");
    }
}

#[test]
fn what_is_handed_out_of_a_network_or_a_table_holds_no_copy_of_the_variables() {
    let text = "network x {}\nvariable a { type discrete [ 2 ] { u, v }; }\nprobability ( a ) { table 0.5, 0.5; }\n";
    let network = arbornet_core::bif::read(text, "x.bif").expect("a network");
    assert!(std::sync::Arc::ptr_eq(&network.shared_variables(), &network.shared_variables()));
    let table = network.empty_table().expect("a table");
    assert!(std::sync::Arc::ptr_eq(&table.shared_variables(), &table.shared_variables()));
    assert_eq!(*network.shared_variables(), *table.variables());
}
