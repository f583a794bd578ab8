//! Splines: what no golden number says. Small slow twins, invariances, and data that break least squares.

use std::sync::Arc;
use std::time::Duration;

use arbornet_core::mars::{Fit, Mars, Number, Path, Predictor, Problem, Settings, Shape, Term, fit, gcv};
use arbornet_core::score::limited::Limited;
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{
    Codes, Column, Control, Error, Kind, Level, LocalModel, LocalScore, Model, Predictive, Table, Units, Value,
    Variable,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..n).map(|_| rng.random_range(-2.0..2.0)).collect()
}

/// `y` bends in `a` and takes a product of `a` and `b`, with some noise.
fn bent(a: &[f64], b: &[f64], noise: &[f64]) -> Vec<f64> {
    let at = |i: usize| 2.0 * (a[i] - 0.3).max(0.0) + (0.5 - a[i]).max(0.0) * b[i] + 0.3 * noise[i];
    (0..a.len()).map(at).collect()
}

fn fitted(columns: &[&[f64]], y: &[f64], settings: &Settings) -> Fit {
    let predictors: Vec<Predictor> = columns.iter().map(|x| Predictor::Number(Number::new(x, None, None))).collect();
    let predictors = predictors.iter().collect();
    let responses = vec![y.to_vec()];
    fit(&Problem { predictors, responses, weights: None, n: y.len() as f64, within: 0.0 }, settings)
}

fn value(term: &Term, columns: &[&[f64]], row: usize) -> f64 {
    let factor = |f: &arbornet_core::mars::Factor| {
        let x = columns[f.predictor][row];
        match f.shape {
            Shape::Above(cut) => (x - cut).max(0.0),
            Shape::Below(cut) => (cut - x).max(0.0),
            Shape::Linear { origin, falling } => {
                if falling {
                    origin - x
                } else {
                    x - origin
                }
            }
            Shape::Holds => f64::from(u8::from(x != 0.0)),
        }
    };
    term.iter().map(factor).product()
}

fn predicted(fit: &Fit, columns: &[&[f64]], row: usize) -> f64 {
    let terms = fit.kept.iter().map(|&term| value(&fit.forward[term], columns, row));
    terms.zip(&fit.coefficients[0]).map(|(term, c)| term * c).sum()
}

#[test]
fn the_rss_is_that_of_the_terms_and_coefficients_told() {
    for (degree, seed) in [(1, 1), (2, 2), (5, 3)] {
        let (a, b, noise) = (random(150, seed), random(150, seed + 10), random(150, seed + 20));
        let y = bent(&a, &b, &noise);
        let columns = [a.as_slice(), b.as_slice()];
        let fit = fitted(&columns, &y, &Settings::of_degree(degree));
        let rss: f64 = (0..y.len()).map(|row| (y[row] - predicted(&fit, &columns, row)).powi(2)).sum();
        assert!((rss - fit.rss).abs() < 1e-9 * rss, "{rss} {}", fit.rss);
        assert!((gcv(rss, fit.n_terms(), 150.0, if degree == 1 { 2.0 } else { 3.0 }) - fit.gcv).abs() < 1e-9);
        assert!(fit.n_terms() > 2);
    }
}

#[test]
fn no_affine_change_of_predictors_or_child_changes_a_fit() {
    let n = 300;
    let (a, b, noise) = (random(n, 4), random(n, 5), random(n, 6));
    let a: Vec<f64> = a.iter().map(|x| x.exp()).collect();
    let b: Vec<f64> = b.iter().map(|x| -x.exp() + 0.1 * x).collect();
    let y = bent(&a, &b, &noise);
    for degree in [1, 3] {
        let settings = Settings::of_degree(degree);
        let base = fitted(&[&a, &b], &y, &settings);
        for (scale, shift) in [(1e-6, 0.0), (1e6, 3.0), (-2.0, 1.0), (-1e-5, 1e-3), (3.0, 1e4)] {
            let moved = |x: &[f64]| x.iter().map(|x| scale * x + shift).collect::<Vec<f64>>();
            let (c, d) = (moved(&a), moved(&b));
            let fit = fitted(&[&c, &d], &y, &settings);
            assert!((fit.rss - base.rss).abs() < 1e-7 * base.rss, "{degree} {scale}: {} {}", fit.rss, base.rss);
            assert_eq!(fit.kept, base.kept);
            let z: Vec<f64> = y.iter().map(|y| -4.0 * y).collect();
            let fit = fitted(&[&a, &b], &z, &settings);
            assert!((fit.rss - 16.0 * base.rss).abs() < 1e-7 * fit.rss);
        }
    }
}

#[test]
fn earth_does_not_see_predictors_of_small_scale_and_we_do() {
    let n = 200;
    let a: Vec<f64> = random(n, 7).iter().map(|x| 1e-6 * x).collect();
    let y: Vec<f64> = a.iter().zip(random(n, 8)).map(|(a, e)| 1e6 * a + 0.1 * e).collect();
    let settings = Settings { earth: true, ..Settings::of_degree(1) };
    let predictors = [Predictor::Number(Number::new(&a, None, Some((0.0, 1.0))))];
    let predictors = predictors.iter().collect();
    let problem = Problem { predictors, responses: vec![y.clone()], weights: None, n: n as f64, within: 0.0 };
    let (theirs, ours) = (fit(&problem, &settings), fitted(&[&a], &y, &Settings::of_degree(1)));
    assert!(ours.rss < theirs.rss, "{} {}", ours.rss, theirs.rss);
    assert!(theirs.forward[1..].iter().flatten().all(|factor| !matches!(factor.shape, Shape::Linear { .. })));
}

#[test]
fn cells_with_weights_are_the_same_problem_as_rows() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let n = 400;
    let codes: Vec<(usize, usize)> = (0..n).map(|_| (rng.random_range(0..4), rng.random_range(0..3))).collect();
    let y: Vec<f64> = codes
        .iter()
        .map(|&(a, b)| if a == 1 { 1.0 } else { 0.0 } + if a == 2 && b == 1 { 2.0 } else { 0.0 } + rng.random::<f64>())
        .collect();
    let indicator = |rows: &[(usize, usize)], on: &dyn Fn(&(usize, usize)) -> bool| {
        Predictor::Indicator((0..rows.len() as u32).filter(|&row| on(&rows[row as usize])).collect())
    };
    let predictors = |rows: &[(usize, usize)]| {
        let first = (1..4).map(|level| indicator(rows, &|c| c.0 == level));
        let second = (1..3).map(|level| indicator(rows, &|c| c.1 == level));
        first.chain(second).collect::<Vec<_>>()
    };
    let cells: Vec<(usize, usize)> = (0..4).flat_map(|a| (0..3).map(move |b| (a, b))).collect();
    let of = |cell: &(usize, usize)| (0..n).filter(|&row| codes[row] == *cell).map(|row| y[row]).collect::<Vec<_>>();
    let sizes: Vec<f64> = cells.iter().map(|cell| of(cell).len() as f64).collect();
    let sums = cells.iter().zip(&sizes).map(|(cell, size)| of(cell).iter().sum::<f64>() / size.sqrt());
    let sums: Vec<f64> = sums.collect();
    let within = y.iter().map(|y| y * y).sum::<f64>() - sums.iter().map(|s| s * s).sum::<f64>();
    let (by_row, by_cell) = (predictors(&codes), predictors(&cells));
    let settings = Settings::of_degree(3);
    let rows = Problem {
        predictors: by_row.iter().collect(),
        responses: vec![y.clone()],
        weights: None,
        n: n as f64,
        within: 0.0,
    };
    let weighted = Problem {
        predictors: by_cell.iter().collect(),
        responses: vec![sums],
        weights: Some(sizes.into()),
        n: n as f64,
        within,
    };
    let (rows, weighted) = (fit(&rows, &settings), fit(&weighted, &settings));
    assert_eq!(rows.forward, weighted.forward);
    assert_eq!(rows.kept, weighted.kept);
    assert!((rows.gcv - weighted.gcv).abs() < 1e-10 * rows.gcv);
    assert!(rows.n_terms() > 2);
}

#[test]
fn gcv_is_of_the_order_of_leaving_one_out() {
    for seed in 0..4 {
        let n = 60;
        let (a, b, noise) = (random(n, 30 + seed), random(n, 40 + seed), random(n, 50 + seed));
        let y = bent(&a, &b, &noise);
        for degree in [1, 2] {
            let settings = Settings::of_degree(degree);
            let whole = fitted(&[&a, &b], &y, &settings);
            let without = |x: &[f64], row: usize| {
                x.iter().enumerate().filter(|(i, _)| *i != row).map(|(_, x)| *x).collect::<Vec<f64>>()
            };
            let mut errors = 0.0;
            for row in 0..n {
                let (c, d, z) = (without(&a, row), without(&b, row), without(&y, row));
                let fit = fitted(&[&c, &d], &z, &settings);
                errors += (y[row] - predicted(&fit, &[&a, &b], row)).powi(2);
            }
            let ratio = errors / n as f64 / whole.gcv;
            assert!((0.3..3.0).contains(&ratio), "degree {degree}, seed {seed}: {ratio}");
        }
    }
}

#[test]
fn pruning_never_misses_what_dropping_one_by_one_finds() {
    for seed in 0..6 {
        let (a, b, noise) = (random(120, 60 + seed), random(120, 70 + seed), random(120, 80 + seed));
        let y = bent(&a, &b, &noise);
        let usual = fitted(&[&a, &b], &y, &Settings::of_degree(2));
        let plain = arbornet_core::mars::Pruning::LeastContribution;
        let plain = fitted(&[&a, &b], &y, &Settings { pruning: plain, ..Settings::of_degree(2) });
        for (size, (usual, plain)) in usual.path.rss.iter().zip(&plain.path.rss).enumerate() {
            assert!(*usual <= plain * (1.0 + 1e-9), "{size}: {usual} {plain}");
        }
        assert!(usual.gcv <= plain.gcv * (1.0 + 1e-9));
    }
}

fn number(name: &str) -> Variable {
    Variable { name: name.into(), kind: Kind::Continuous { scale: Units::IDENTITY } }
}

fn letters(name: &str, k: usize) -> Variable {
    let levels: Vec<Level> = (0..k).map(|i| Level::Int(i as i64)).collect();
    Variable { name: name.into(), kind: Kind::Categorical { levels: levels.into() } }
}

fn scored(table: Table, criterion: &str, earth: bool) -> Vec<f64> {
    let table = Arc::new(table);
    let compatible = if earth { r#""earth""# } else { "null" };
    let spec = format!(r#"{{"score":"mars","criterion":"{criterion}","compatible":{compatible}}}"#);
    let score = ScoreSpec::parse(&spec).unwrap().prepare(&table).unwrap();
    let n = table.n_vars();
    let mut out = vec![];
    for child in 0..n {
        let others: Vec<usize> = (0..n).filter(|&v| v != child).collect();
        for mask in 0..1u32 << others.len() {
            let parents: Vec<usize> =
                others.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, &p)| p).collect();
            let value = score.score(child, &parents).unwrap();
            assert!(!value.is_nan() && value < f64::INFINITY, "{child} {parents:?} {value}");
            let LocalModel::Spline(model) = score.model(child, &parents).unwrap() else { panic!("no spline") };
            model.check(table.variables()).unwrap();
            let json = serde_json::to_string(&LocalModel::Spline(model.clone())).unwrap();
            assert_eq!(serde_json::from_str::<LocalModel>(&json).unwrap(), LocalModel::Spline(model.clone()));
            let given: Vec<Value> = parents
                .iter()
                .map(|&p| match table.column(p) {
                    Column::Reals(x) => Value::Real(x.first().copied().unwrap_or(0.0)),
                    Column::Codes(_) => Value::Code(0),
                })
                .collect();
            let own = if table.variable(child).is_continuous() { Value::Real(0.3) } else { Value::Code(1) };
            assert!(model.predictive(&given).log_density(own).is_finite());
            out.push(value);
        }
    }
    out
}

#[test]
fn hopeless_data_give_no_nan_and_models_that_answer() {
    for n in [0, 1, 2, 3, 5, 12, 40] {
        let a = random(n, 90);
        let double: Vec<f64> = a.iter().map(|x| 3.0 * x + 1.0).collect();
        let codes: Vec<u8> = (0..n).map(|i| u8::from(i % 3 == 0)).collect();
        for (criterion, earth) in [("gcv", false), ("gcv", true), ("bic", false), ("bic", true)] {
            let variables = vec![number("a"), number("constant"), number("double"), letters("c", 2), letters("d", 3)];
            let columns = vec![
                Column::Reals(a.clone()),
                Column::Reals(vec![2.5; n]),
                Column::Reals(double.clone()),
                Column::Codes(Codes::U8(codes.clone())),
                Column::Codes(Codes::U8(vec![2; n])),
            ];
            scored(Table::new(variables, columns).unwrap(), criterion, earth);
        }
    }
}

#[test]
fn more_slots_than_rows_and_duplicated_predictors_end_well() {
    let n = 9;
    let a = random(n, 91);
    let y: Vec<f64> = a.iter().map(|x| x.abs()).collect();
    let columns: Vec<&[f64]> = vec![&a; 12];
    let fit = fitted(&columns, &y, &Settings::of_degree(10));
    assert!(fit.gcv.is_finite() && fit.rss >= 0.0);
    assert_eq!(gcv(1.0, 9, 9.0, 3.0), f64::INFINITY);
    let (b, noise) = (random(200, 92), random(200, 93));
    let y = bent(&b, &b, &noise);
    let twice = fitted(&[&b, &b], &y, &Settings::of_degree(1));
    assert!(twice.rss.is_finite() && twice.coefficients[0].iter().all(|c| c.abs() < 1e4), "{:?}", twice.coefficients);
}

#[test]
fn a_long_fit_ends_when_it_is_asked_to() {
    let (a, b, noise) = (random(200, 94), random(200, 95), random(200, 96));
    let columns = vec![Column::Reals(bent(&a, &b, &noise)), Column::Reals(a), Column::Reals(b)];
    let table = Arc::new(Table::new(vec![number("y"), number("a"), number("b")], columns).unwrap());
    let score: Arc<dyn LocalScore> = ScoreSpec::parse(r#"{"score":"mars"}"#).unwrap().prepare(&table).unwrap().into();
    let limited: Arc<dyn LocalScore> = Arc::new(Limited::new(score.clone(), Duration::from_secs(3600)));
    let control = Control::default();
    for score in [score, limited] {
        let mut scratch = score.child(0).unwrap();
        assert!(scratch.score(&[1, 2]).is_ok());
        control.stop();
        scratch.heed(&control.halt());
        assert!(matches!(scratch.score(&[1, 2]), Err(Error::Interrupted)));
        assert!(matches!(score.model_until(0, &[1, 2], &control.halt()), Err(Error::Interrupted)));
        assert!(score.model(0, &[1, 2]).is_ok());
    }
}

#[test]
fn of_subsets_with_equal_gcv_the_smallest_is_kept() {
    let path = |gcv: [f64; 4]| Path {
        subsets: vec![vec![0], vec![0, 2], vec![0, 1, 2], vec![0, 1, 2, 3]],
        rss: vec![],
        gcv: gcv.to_vec(),
    };
    assert_eq!(path([3.0, 1.0, 1.0, 2.0]).best(), [0, 2]);
    assert_eq!(path([1.0, 1.0, 1.0, 1.0]).best(), [0]);
    assert_eq!(path([f64::INFINITY, 2.0, 1.5, 1.0]).best(), [0, 1, 2, 3]);
}

#[test]
fn a_number_is_predicted_with_what_its_terms_leave_of_the_degrees_of_freedom() {
    let n = 80;
    let (a, noise) = (random(n, 97), random(n, 98));
    let y: Vec<f64> = a.iter().zip(&noise).map(|(a, e)| 2.0 * (a - 0.3).max(0.0) + 0.3 * e).collect();
    let table = Table::new(vec![number("y"), number("a")], vec![Column::Reals(y.clone()), Column::Reals(a.clone())]);
    let score = ScoreSpec::parse(r#"{"score":"mars"}"#).unwrap().prepare(&Arc::new(table.unwrap())).unwrap();
    let model = score.model(0, &[1]).unwrap();
    let n_terms = serde_json::to_value(&model).unwrap()["terms"].as_array().unwrap().len();
    let at = |x: f64| match *model.predictive(&[Value::Real(x)]) {
        Predictive::StudentT { df, location, scale } => (df, location, scale),
        _ => panic!("a number has no levels"),
    };
    let rss: f64 = a.iter().zip(&y).map(|(&a, y)| (y - at(a).1).powi(2)).sum();
    let (df, _, scale) = at(0.0);
    assert!(n_terms > 1);
    assert_eq!(df, (n - n_terms) as f64);
    assert!((scale - (rss / df).sqrt()).abs() < 1e-9 * scale, "{scale} {}", (rss / df).sqrt());
}

#[test]
fn rows_that_weigh_are_fitted_as_repeated_rows() {
    let n = 80;
    for seed in 0..3 {
        let (a, b, noise) = (random(n, 100 + seed), random(n, 110 + seed), random(n, 120 + seed));
        let codes: Vec<u8> = a.iter().map(|a| u8::from(*a > 0.5)).collect();
        let weights: Vec<f64> = (0..n).map(|i| ((i * 7919 + seed as usize) % 9 + 1) as f64).collect();
        let columns = vec![
            Column::Reals(bent(&a, &b, &noise)),
            Column::Reals(a),
            Column::Reals(b),
            Column::Codes(Codes::U8(codes)),
        ];
        let variables = vec![number("y"), number("a"), number("b"), letters("c", 2)];
        let table = Arc::new(Table::new(variables, columns).unwrap().weighted(weights).unwrap());
        let repeated = table.repeated(("score", "mars"), "").unwrap();
        for criterion in ["gcv", "bic"] {
            let mars: Mars = serde_json::from_str(&format!(r#"{{"degree":2,"criterion":"{criterion}"}}"#)).unwrap();
            let [one, other] = [&table, &repeated].map(|table| mars.prepare(table).unwrap());
            for (child, parents) in [(0, &[1, 2][..]), (3, &[1, 2]), (0, &[3]), (1, &[0, 2, 3]), (2, &[])] {
                let [x, y] = [&one, &other].map(|score| score.score(child, parents).unwrap());
                assert!((x - y).abs() < 1e-9 * y.abs(), "{child} {parents:?} {x} {y}");
                let [x, y] = [&one, &other].map(|score| match score.model(child, parents).unwrap() {
                    LocalModel::Spline(model) => (model.terms, model.n_rows, model.seen),
                    _ => panic!("no spline"),
                });
                assert_eq!((x.0.len(), x.1), (y.0.len(), y.1));
                assert_eq!(x.2, y.2);
            }
        }
    }
}
