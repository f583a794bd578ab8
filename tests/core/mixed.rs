//! The scores for mixed data on awkward tables, and what equivalence promises.

use std::sync::Arc;

use super::support::cases::cases;
use arbornet_core::model::{LocalModel, Plain};
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Codes, Column, Kind, Level, LocalScore, Table, Units, Value, Var, Variable};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const EQUIVALENT: [&str; 8] = [
    r#"{"score":"conditional_gaussian"}"#,
    r#"{"score":"conditional_gaussian","published":true}"#,
    r#"{"score":"degenerate_gaussian"}"#,
    r#"{"score":"degenerate_gaussian","published":true}"#,
    r#"{"score":"multinomial","bins":4}"#,
    r#"{"score":"block_gaussian"}"#,
    r#"{"score":"block_gaussian","degree":1,"scale":"raw"}"#,
    r#"{"score":"block_gaussian","degree":4,"scale":"auto"}"#,
];
const OTHERS: [&str; 12] = [
    r#"{"score":"conditional_gaussian","discretise":true}"#,
    r#"{"score":"conditional_gaussian","discretise":true,"published":true}"#,
    r#"{"score":"conditional_gaussian","exact":true}"#,
    r#"{"score":"conditional_gaussian","exact":true,"published":true}"#,
    r#"{"score":"basis_functions"}"#,
    r#"{"score":"basis_functions","published":true}"#,
    r#"{"score":"mixed_polynomial"}"#,
    r#"{"score":"mixed_polynomial","degree":"log"}"#,
    r#"{"score":"mixed_polynomial","degree":3,"published":true}"#,
    r#"{"score":"logistic_regression"}"#,
    r#"{"score":"logistic_regression","degree":"log"}"#,
    r#"{"score":"logistic_regression","degree":2,"published":true}"#,
];

fn number(name: &str, values: Vec<f64>) -> (Variable, Column) {
    (Variable { name: name.into(), kind: Kind::Continuous { scale: Units::IDENTITY } }, Column::Reals(values))
}

fn levels(name: &str, k: usize, codes: &[u32]) -> (Variable, Column) {
    let all = (0..k as i64).map(Level::Int).collect();
    (Variable { name: name.into(), kind: Kind::Categorical { levels: all } }, Column::Codes(Codes::pack(codes, k)))
}

fn table(columns: Vec<(Variable, Column)>) -> Arc<Table> {
    let (variables, columns) = columns.into_iter().unzip();
    Arc::new(Table::new(variables, columns).unwrap())
}

/// Few rows, ties, a constant, a duplicate, levels that do not occur, a column of one level, huge and tiny units.
fn awkward(rows: &[(f64, i8, u32, u32)]) -> Arc<Table> {
    let x: Vec<f64> = rows.iter().map(|r| r.0).collect();
    let of = |f: fn(&(f64, i8, u32, u32)) -> f64| rows.iter().map(f).collect::<Vec<f64>>();
    let a: Vec<u32> = rows.iter().map(|r| r.2).collect();
    let b: Vec<u32> = rows.iter().map(|r| r.3).collect();
    table(vec![
        number("x", x.clone()),
        number("tied", of(|r| f64::from(r.1))),
        number("twice", x.iter().map(|x| 2.0 * x).collect()),
        number("constant", vec![3.5; rows.len()]),
        number("far", of(|r| 1e9 + f64::from(r.1) * 1e-3 + r.0)),
        number("tiny", of(|r| 1e-200 * r.0)),
        levels("a", 5, &a),
        levels("b", 3, &b),
        levels("same", 7, &a),
        levels("one", 1, &vec![0; rows.len()]),
    ])
}

fn rows() -> impl Strategy<Value = Vec<(f64, i8, u32, u32)>> {
    prop::collection::vec((-2.0..2.0_f64, -1..2_i8, 0..4_u32, 0..2_u32), 1..40)
}

fn prepared(spec: &str, table: &Arc<Table>) -> Box<dyn LocalScore> {
    ScoreSpec::parse(spec).unwrap().prepare(table).unwrap()
}

/// Values of the parents in a row, or some that never occurred.
fn values(table: &Table, parents: &[Var], row: usize) -> Vec<Value> {
    let value = |&p: &Var| match table.column(p) {
        Column::Reals(x) => Value::Real(if row < x.len() { x[row] } else { 77.0 }),
        Column::Codes(c) => Value::Code(if row < c.len() { c.get(row) as u32 } else { 0 }),
    };
    parents.iter().map(value).collect()
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn no_table_and_no_family_gives_anything_but_numbers(rows in rows(), child in 0..10_usize,
                                                         sets in prop::collection::vec(0..1024_usize, 4)) {
        let table = awkward(&rows);
        for spec in EQUIVALENT.iter().chain(&OTHERS) {
            let score = prepared(spec, &table);
            let mut scratch = score.child(child).unwrap();
            for set in &sets {
                let parents: Vec<Var> = (0..10).filter(|&v| v != child && set >> v & 1 == 1).take(5).collect();
                let value = scratch.score(&parents).unwrap();
                prop_assert!(value.is_finite(), "{spec} {child} {parents:?}: {value}");
                // A scratch that was used before and one that was not agree in every bit.
                prop_assert_eq!(value.to_bits(), prepared(spec, &table).score(child, &parents).unwrap().to_bits());
                let fit = scratch.likelihood(&parents).unwrap();
                prop_assert!(fit.log_likelihood.is_finite() && fit.df >= 0.0, "{spec} {fit:?}");
            }
        }
    }

    #[test]
    fn the_order_of_rows_changes_no_bit(rows in rows(), child in 0..10_usize, set in 0..1024_usize, seed in 0..99_u64) {
        let mut shuffled = rows.clone();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (1..shuffled.len()).for_each(|i| shuffled.swap(i, rng.random_range(0..=i)));
        let (one, other) = (awkward(&rows), awkward(&shuffled));
        let parents: Vec<Var> = (0..10).filter(|&v| v != child && set >> v & 1 == 1).take(4).collect();
        for spec in EQUIVALENT.iter().chain(&OTHERS) {
            let (a, b) = (prepared(spec, &one), prepared(spec, &other));
            prop_assert_eq!(a.score(child, &parents).unwrap().to_bits(), b.score(child, &parents).unwrap().to_bits(), "{}", spec);
        }
    }

    #[test]
    fn every_model_answers_for_any_row_and_comes_back_from_json(rows in rows(), child in 0..10_usize,
                                                                set in 0..1024_usize) {
        let table = awkward(&rows);
        let parents: Vec<Var> = (0..10).filter(|&v| v != child && set >> v & 1 == 1).take(4).collect();
        for spec in EQUIVALENT.iter().chain(&OTHERS) {
            let model = prepared(spec, &table).model(child, &parents).unwrap();
            model.check(table.variables()).unwrap();
            prop_assert_eq!(model.parents(), &parents[..]);
            for row in [0, rows.len() - 1, usize::MAX] {
                let predictive = model.predictive(&values(&table, &parents, row));
                predictive.check(table.variable(child)).unwrap();
                if row < rows.len() {
                    let own = values(&table, &[child], row)[0];
                    prop_assert!(predictive.log_density(own).is_finite(), "{spec} {child} {parents:?} {predictive:?}");
                }
            }
            let text = model.describe(table.variables(), &Plain).unwrap().text(&Plain);
            prop_assert!(text.starts_with(&*table.variable(child).name) && !text.contains("NaN"), "{text}");
            let json = serde_json::to_string(&model).unwrap();
            let back: LocalModel = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(back, model);
        }
    }

    #[test]
    fn tests_are_symmetric_and_give_probabilities(rows in rows(), x in 0..10_usize, y in 0..10_usize,
                                                  set in 0..1024_usize) {
        prop_assume!(x != y);
        let table = awkward(&rows);
        let given: Vec<Var> = (0..10).filter(|&v| v != x && v != y && set >> v & 1 == 1).take(3).collect();
        for spec in EQUIVALENT.iter().chain(&OTHERS) {
            let score = prepared(spec, &table);
            let test = score.test(x, y, &given).unwrap();
            prop_assert!((0.0..=1.0).contains(&test.p_value), "{spec} {test:?}");
            // As printed, the test of the degenerate Gaussian is that of one direction.
            if !spec.contains(r#"degenerate_gaussian","pub"#) {
                prop_assert_eq!(test, score.test(y, x, &given).unwrap());
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn an_addition_scores_no_more_than_its_bound(rows in rows(), child in 0..10_usize, set in 0..1024_usize) {
        let table = awkward(&rows);
        let base: Vec<Var> = (0..10).filter(|&v| v != child && set >> v & 1 == 1).take(4).collect();
        for spec in EQUIVALENT.iter().chain(&OTHERS) {
            let score = prepared(spec, &table);
            let mut scratch = score.child(child).unwrap();
            for added in (0..10).filter(|v| *v != child && !base.contains(v)) {
                let bound = scratch.addition_bound(&base, added);
                let mut parents: Vec<Var> = base.iter().copied().chain([added]).collect();
                parents.sort_unstable();
                let own = scratch.score(&parents).unwrap();
                prop_assert!(own <= bound, "{spec} {child} {base:?} + {added}: {own} above {bound}");
            }
        }
    }
}

#[test]
fn the_bound_of_an_addition_is_its_score_but_for_rounding() {
    for n in [100, 1000] {
        let table = related(11, n);
        let score = prepared(EQUIVALENT[0], &table);
        let (mut known, mut all) = (0, 0);
        for child in 0..table.n_vars() {
            let mut scratch = score.child(child).unwrap();
            for set in 1..1_usize << table.n_vars() {
                let base: Vec<Var> = (0..table.n_vars()).filter(|&v| v != child && set >> v & 1 == 1).collect();
                for added in (0..table.n_vars()).filter(|v| *v != child && !base.contains(v)) {
                    let mut parents: Vec<Var> = base.iter().copied().chain([added]).collect();
                    parents.sort_unstable();
                    let (own, bound) = (scratch.score(&parents).unwrap(), scratch.addition_bound(&base, added));
                    assert!(own <= bound, "{child} {base:?} + {added}: {own} above {bound}");
                    all += 1;
                    if bound < f64::INFINITY {
                        known += 1;
                        assert!(bound - own < 0.01, "{child} {base:?} + {added}: {own}, {bound}");
                    }
                }
            }
        }
        assert!(2 * known > all, "{known} of {all} have a bound");
    }
}

/// A chain of numbers and levels that depend on each other, not linearly throughout.
fn related(seed: u64, n: usize) -> Arc<Table> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut gaussian = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let x: Vec<f64> = (0..n).map(|_| gaussian()).collect();
    let y: Vec<f64> = x.iter().map(|x| 0.8 * x + 0.6 * gaussian()).collect();
    let z: Vec<f64> = x.iter().map(|x| x * x - 1.0 + 0.5 * gaussian()).collect();
    let a: Vec<u32> = y.iter().map(|y| u32::from(y + gaussian() > 0.0)).collect();
    let b: Vec<u32> = a.iter().map(|&a| (a + u32::from(gaussian() > 0.5)) % 3).collect();
    let w: Vec<f64> = b.iter().zip(&z).map(|(&b, z)| f64::from(b) - 0.4 * z + gaussian()).collect();
    table(vec![number("x", x), number("y", y), number("z", z), number("w", w), levels("a", 2, &a), levels("b", 3, &b)])
}

/// Parents of every variable; arcs go from smaller to larger positions of a random order.
fn random_dag(rng: &mut Xoshiro256PlusPlus, n: usize) -> Vec<Vec<Var>> {
    let mut order: Vec<Var> = (0..n).collect();
    (1..n).for_each(|i| order.swap(i, rng.random_range(0..=i)));
    let mut parents = vec![Vec::new(); n];
    for (i, &child) in order.iter().enumerate() {
        parents[child] = order[..i].iter().copied().filter(|_| rng.random_bool(0.45)).collect();
        parents[child].sort_unstable();
    }
    parents
}

/// Every graph that reverses one covered arc of this one: all of them mean the same (Chickering 1995).
fn neighbours(parents: &[Vec<Var>]) -> Vec<Vec<Vec<Var>>> {
    let mut out = Vec::new();
    for y in 0..parents.len() {
        for &x in &parents[y] {
            let others: Vec<Var> = parents[y].iter().copied().filter(|&v| v != x).collect();
            if others == parents[x] {
                let mut reversed = parents.to_vec();
                reversed[y] = others;
                reversed[x].push(y);
                reversed[x].sort_unstable();
                out.push(reversed);
            }
        }
    }
    out
}

/// The largest difference of total scores between equivalent graphs, and how many were compared.
fn disagreement(spec: &str) -> (f64, usize) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut worst, mut compared) = (0.0_f64, 0);
    for seed in 0..4 {
        let table = related(seed, 300);
        let score = prepared(spec, &table);
        let total =
            |parents: &[Vec<Var>]| parents.iter().enumerate().map(|(v, p)| score.score(v, p).unwrap()).sum::<f64>();
        for _ in 0..25 {
            let dag = random_dag(&mut rng, 6);
            for other in neighbours(&dag) {
                worst = worst.max((total(&dag) - total(&other)).abs());
                compared += 1;
            }
        }
    }
    (worst, compared)
}

#[test]
fn equivalent_graphs_score_alike() {
    for spec in EQUIVALENT {
        let (worst, compared) = disagreement(spec);
        assert!(worst < 1e-6 && compared > 50, "{spec}: {worst} over {compared}");
        assert!(prepared(spec, &related(1, 50)).equivalent());
    }
}

#[test]
fn polynomials_and_the_options_of_conditional_gaussians_give_that_up() {
    for spec in OTHERS {
        let (worst, _) = disagreement(spec);
        assert!(worst > 0.1, "{spec}: {worst}");
        assert!(!prepared(spec, &related(1, 50)).equivalent());
    }
}

#[test]
fn priors_are_added_once_and_per_parameter() {
    let table = related(1, 200);
    for name in [
        "conditional_gaussian",
        "degenerate_gaussian",
        "block_gaussian",
        "mixed_polynomial",
        "logistic_regression",
        "multinomial",
    ] {
        let plain = prepared(&format!(r#"{{"score":"{name}"}}"#), &table);
        let binomial =
            prepared(&format!(r#"{{"score":"{name}","prior":{{"prior":"binomial","expected_parents":1}}}}"#), &table);
        let ebic = prepared(&format!(r#"{{"score":"{name}","prior":{{"prior":"ebic","gamma":0.5}}}}"#), &table);
        let (child, parents) = (3, [0, 5]);
        let base = plain.score(child, &parents).unwrap();
        let p = 1.0 / 5.0_f64;
        let expected = base + 2.0 * p.ln() + 3.0 * (1.0 - p).ln();
        assert!((binomial.score(child, &parents).unwrap() - expected).abs() < 1e-9, "{name}");
        let df = plain.child(child).unwrap().likelihood(&parents).unwrap().df;
        let expected = base - df * 0.5 * 6.0_f64.ln();
        assert!((ebic.score(child, &parents).unwrap() - expected).abs() < 1e-9, "{name}");
    }
}

#[test]
fn a_table_without_rows_has_scores_and_models() {
    let table = awkward(&[]);
    for spec in EQUIVALENT.iter().chain(&OTHERS) {
        let score = prepared(spec, &table);
        for (child, parents) in [(0, vec![]), (0, vec![1, 6]), (6, vec![0, 7]), (6, vec![])] {
            assert!(score.score(child, &parents).unwrap().is_finite(), "{spec} {child} {parents:?}");
            score.model(child, &parents).unwrap().check(table.variables()).unwrap();
        }
    }
}

#[test]
fn units_move_a_score_by_the_logarithm_of_the_unit_alone() {
    let table = related(2, 150);
    let scaled = |unit: f64| {
        let columns = (0..table.n_vars()).map(|v| match table.column(v) {
            Column::Reals(x) => Column::Reals(x.iter().map(|x| 5.0 + unit * x).collect()),
            codes @ Column::Codes(_) => codes.clone(),
        });
        Arc::new(Table::new(table.variables().to_vec(), columns.collect()).unwrap())
    };
    for spec in EQUIVALENT.iter().chain(&OTHERS).filter(|s| {
        !s.contains("multinomial") && !s.contains("block_gaussian") && !s.contains("basis_functions\",\"pub")
    }) {
        for (child, parents, numbers) in [(3, vec![0, 2, 5], 150.0), (4, vec![1, 2], 0.0)] {
            let (one, other) = (prepared(spec, &table), prepared(spec, &scaled(1e4)));
            let expected = one.score(child, &parents).unwrap() - numbers * 1e4_f64.ln();
            let got = other.score(child, &parents).unwrap();
            assert!((got - expected).abs() < 1e-6 * expected.abs(), "{spec} {child}: {got} {expected}");
        }
    }
}

/// A cell needs two rows more than its regression has terms for a variance of its own; one with fewer borrows that of all.
#[test]
fn a_cell_of_too_few_rows_borrows_the_variance_of_all() {
    let y = [0.0, 1.0, 3.0, 2.0, 4.0, 8.0, 5.0];
    let cell = [0, 0, 0, 0, 0, 1, 1];
    let table = table(vec![number("y", y.to_vec()), levels("cell", 2, &cell)]);
    let squares = |own: u32| -> (f64, f64) {
        let values: Vec<f64> = y.iter().zip(cell).filter(|(_, c)| *c == own).map(|(y, _)| *y).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.len() as f64, values.iter().map(|y| (y - mean).powi(2)).sum())
    };
    let ((n, own), (few, rest)) = (squares(0), squares(1));
    let ln_2_pi = (2.0 * std::f64::consts::PI).ln();
    let pooled = (own + rest) / 7.0;
    let expected = -n / 2.0 * (ln_2_pi + (own / n).ln() + 1.0)
        - few / 2.0 * (ln_2_pi + pooled.ln())
        - rest / (2.0 * pooled)
        - 4.0 * 7.0_f64.ln() / 2.0;
    let score = prepared(r#"{"score":"mixed_polynomial"}"#, &table).score(0, &[1]).unwrap();
    assert!((score - expected).abs() < 1e-9, "{score} {expected}");
}

#[test]
fn a_family_under_way_when_a_stop_is_due_has_no_score_and_no_model() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (variables, columns): (Vec<_>, Vec<_>) = (0..6)
        .map(|v| {
            let codes: Vec<u32> = (0..200).map(|_| random.random_range(0..3)).collect();
            let reals = codes.iter().map(|&c| f64::from(c) + random.random::<f64>()).collect();
            if v % 2 == 0 { levels(&format!("l{v}"), 3, &codes) } else { number(&format!("x{v}"), reals) }
        })
        .unzip();
    let table = Arc::new(Table::new(variables, columns).unwrap());
    for spec in EQUIVALENT.into_iter().chain(OTHERS) {
        let score = prepared(spec, &table);
        for child in 0..2 {
            let control = arbornet_core::Control::default();
            let mut scratch = score.child(child).unwrap();
            scratch.heed(&control.halt());
            assert!(scratch.score(&[2, 3]).is_ok());
            control.stop();
            let stopped = Err(arbornet_core::Error::Interrupted);
            assert_eq!(scratch.score(&[2, 3, 4, 5]), stopped, "{spec} {child}");
            assert!(score.model_until(child, &[2, 3, 4, 5], &control.halt()).is_err(), "{spec} {child}");
        }
    }
}
