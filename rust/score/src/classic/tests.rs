//! What holds for every classic score.

use proptest::prelude::*;

use crate::cases::cases;
use crate::registry::ScoreSpec;
use crate::table::{Column, Kind, Level, Table, Variable};

use super::*;

const SPECS: [(&str, bool); 8] = [
    (r#"{"score":"likelihood","penalty":"none"}"#, true),
    (r#"{"score":"likelihood","penalty":"aic"}"#, true),
    (r#"{"score":"likelihood","penalty":"bic"}"#, true),
    (r#"{"score":"bd","alpha":1.0}"#, false),
    (r#"{"score":"bdeu","ess":3.0}"#, true),
    (r#"{"score":"nml"}"#, false),
    (r#"{"score":"qnml"}"#, true),
    (r#"{"score":"mit","alpha":0.99}"#, false),
];

fn table(rows: &[(u32, u32, u32)]) -> Arc<Table> {
    let levels = [2, 3, 4];
    let variables = levels.iter().enumerate().map(|(i, &k)| Variable {
        name: format!("v{i}").into(),
        kind: Kind::Categorical { levels: (0..k).map(Level::Int).collect() },
    });
    let column = |i: usize| rows.iter().map(|r| [r.0, r.1, r.2][i]).collect::<Vec<_>>();
    let columns = (0..3).map(|i| Column::Codes(Codes::pack(&column(i), levels[i] as usize)));
    Arc::new(Table::new(variables.collect(), columns.collect()).unwrap())
}

/// Counts by cell of the parents, every configuration of declared levels in order.
fn literal_counts(rows: &[(u32, u32, u32)], child: usize, parents: &[usize]) -> Vec<Vec<u32>> {
    let levels = [2, 3, 4_usize];
    let q: usize = parents.iter().map(|&p| levels[p]).product();
    let mut counts = vec![vec![0; levels[child]]; q];
    for r in rows {
        let row = [r.0, r.1, r.2];
        let cell = parents.iter().fold(0, |cell, &p| cell * levels[p] + row[p] as usize);
        counts[cell][row[child] as usize] += 1;
    }
    counts
}

fn literal_bd(counts: &[Vec<u32>], a: f64) -> f64 {
    let lg = libm::lgamma;
    let row = |cell: &Vec<u32>| {
        let (n, total) = (f64::from(cell.iter().sum::<u32>()), a * cell.len() as f64);
        lg(total) - lg(n + total) + cell.iter().map(|&n| lg(f64::from(n) + a) - lg(a)).sum::<f64>()
    };
    counts.iter().map(row).sum()
}

/// Some tables have levels that never come, constant columns, or a column that is another's twin.
fn rows() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    let row = (0..2_u32, 0..3_u32, 0..4_u32);
    let n = prop_oneof![1 => 1..2_usize, 9 => 1..60_usize];
    let rows = n.prop_flat_map(move |n| prop::collection::vec(row.clone(), n));
    (rows, 0..8_u32).prop_map(|(mut rows, oddity)| {
        for row in &mut rows {
            *row = match oddity {
                0 => (0, row.1, row.2),
                1 => (row.0, row.0, row.2),
                2 => (row.0, row.1, row.1 + u32::from(row.1 > 0)),
                3 => (1, 2, 3),
                4 => (row.0, row.1.min(1), row.2.min(2)),
                _ => *row,
            };
        }
        rows
    })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn bd_bdeu_and_likelihood_are_their_literal_formulas(rows in rows()) {
        let table = table(&rows);
        for (child, parents) in [(0, vec![]), (0, vec![1]), (1, vec![0, 2]), (2, vec![0, 1]), (1, vec![2])] {
            let counts = literal_counts(&rows, child, &parents);
            let (q, r) = (counts.len() as f64, counts[0].len() as f64);
            let score = |spec: &str| ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap().score(child, &parents).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + a.abs());
            let (bd, bdeu) = (score(r#"{"score":"bd","alpha":0.7}"#), score(r#"{"score":"bdeu","ess":3.0}"#));
            prop_assert!(close(bd, literal_bd(&counts, 0.7)));
            prop_assert!(close(bdeu, literal_bd(&counts, 3.0 / (q * r))));
            let ll: f64 = counts.iter().map(|cell| {
                let n: u32 = cell.iter().sum();
                cell.iter().filter(|&&m| m > 0).map(|&m| f64::from(m) * (f64::from(m) / f64::from(n)).ln()).sum::<f64>()
            }).sum();
            prop_assert!(close(score(SPECS[0].0), ll));
            let bic = ll - 0.5 * (rows.len() as f64).ln() * (r - 1.0) * q;
            prop_assert!(close(score(SPECS[2].0), bic));
            prop_assert!(close(score(SPECS[1].0), ll - (r - 1.0) * q));
            let nml = ll - counts.iter().map(|c| nml::ln_complexity(r, f64::from(c.iter().sum::<u32>()))).sum::<f64>();
            prop_assert!(close(score(SPECS[5].0), nml));
            // The quotient of two one-dimensional NMLs: of the whole family as one variable, and of its parents as one.
            let n = rows.len() as f64;
            let part = |m: u32| if m == 0 { 0.0 } else { f64::from(m) * (f64::from(m) / n).ln() };
            let whole: f64 = counts.iter().flatten().map(|&m| part(m)).sum();
            let given: f64 = counts.iter().map(|cell| part(cell.iter().sum())).sum();
            let qnml = whole - nml::ln_complexity(q * r, n) - given + nml::ln_complexity(q, n);
            prop_assert!(close(score(SPECS[6].0), qnml), "{} {}", score(SPECS[6].0), qnml);
        }
    }

    #[test]
    fn equivalent_scores_do_not_see_the_direction_of_an_arc(rows in rows()) {
        let table = table(&rows);
        for (spec, equivalent) in SPECS {
            let score = ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap();
            let forward = score.score(0, &[]).unwrap() + score.score(2, &[0]).unwrap();
            let backward = score.score(2, &[]).unwrap() + score.score(0, &[2]).unwrap();
            if equivalent {
                prop_assert!((forward - backward).abs() < 1e-9 * (1.0 + forward.abs()), "{spec}: {forward} {backward}");
            }
        }
    }
}

/// The regularised lower incomplete gamma function by its series: the distribution of half a chi-squared variable.
fn below(df: f64, x: f64) -> f64 {
    let (a, x) = (df / 2.0, x / 2.0);
    let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
    while term > 1e-17 * sum {
        k += 1.0;
        term *= x / k;
        sum += term;
    }
    sum * (a * x.ln() - x - libm::lgamma(a)).exp()
}

/// By halving.
fn quantile(df: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 10.0 * df + 100.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if below(df, middle) < p { low = middle } else { high = middle }
    }
    low
}

/// De Campos 2006: mutual information, less the quantiles by the parents' numbers of levels, largest first.
fn literal_mit(counts: &[Vec<u32>], parent_levels: &[usize], alpha: f64) -> f64 {
    let n: f64 = counts.iter().flatten().map(|&m| f64::from(m)).sum();
    let r = counts[0].len();
    let of_child: Vec<f64> = (0..r).map(|k| counts.iter().map(|cell| f64::from(cell[k])).sum()).collect();
    let mut information = 0.0;
    for cell in counts {
        let given: f64 = cell.iter().map(|&m| f64::from(m)).sum();
        for (&m, of_child) in cell.iter().zip(&of_child).filter(|(m, _)| **m > 0) {
            information += f64::from(m) * (f64::from(m) * n / (given * of_child)).ln();
        }
    }
    let mut levels = parent_levels.to_vec();
    levels.sort_unstable();
    let mut penalty = 0.0;
    while let Some(k) = levels.pop() {
        let larger: usize = parent_levels.iter().product::<usize>() / levels.iter().product::<usize>() / k;
        let df = ((r - 1) * (k - 1) * larger) as f64;
        penalty += quantile(df, alpha);
    }
    2.0 * information - penalty
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn mit_is_its_literal_formula(rows in rows(), alpha in prop::sample::select(vec![0.5, 0.9, 0.99, 0.9999])) {
        let table = table(&rows);
        let spec = format!(r#"{{"score":"mit","alpha":{alpha}}}"#);
        let score = ScoreSpec::parse(&spec).unwrap().prepare(&table).unwrap();
        for (child, parents) in [(0, vec![]), (0, vec![1]), (1, vec![0, 2]), (2, vec![0, 1]), (1, vec![2]), (0, vec![1, 2])] {
            let levels: Vec<usize> = parents.iter().map(|&p| [2, 3, 4][p]).collect();
            let expected = literal_mit(&literal_counts(&rows, child, &parents), &levels, alpha);
            let got = score.score(child, &parents).unwrap();
            prop_assert!((got - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{child} {parents:?}: {got} {expected}");
        }
    }
}

#[test]
fn the_others_do_see_it() {
    let rows: Vec<_> = (0..40).map(|i| (u32::from(i % 5 == 0), 0, if i % 3 == 0 { i % 4 } else { 0 })).collect();
    let table = table(&rows);
    for (spec, equivalent) in SPECS {
        let score = ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap();
        let forward = score.score(0, &[]).unwrap() + score.score(2, &[0]).unwrap();
        let backward = score.score(2, &[]).unwrap() + score.score(0, &[2]).unwrap();
        let mit = spec.contains("mit");
        if !equivalent && !mit {
            assert!((forward - backward).abs() > 1e-6, "{spec}: {forward} {backward}");
        }
    }
    // MIT sees it only with several parents, by the order of their levels: x0 -> x2 <- x1 alone is symmetric per arc.
    let score = ScoreSpec::parse(SPECS[7].0).unwrap().prepare(&table).unwrap();
    let chain = score.score(2, &[0]).unwrap() + score.score(1, &[0, 2]).unwrap();
    let other = score.score(0, &[1]).unwrap() + score.score(2, &[0, 1]).unwrap();
    assert!((chain - other).abs() > 1e-6, "{chain} {other}");
}

#[test]
fn relabelled_levels_score_alike() {
    let rows: Vec<_> = (0..50_u32).map(|i| (i % 2, i * 7 % 3, i * i % 4)).collect();
    let relabelled: Vec<_> = rows.iter().map(|&(a, b, c)| (1 - a, (b + 1) % 3, 3 - c)).collect();
    for (spec, _) in SPECS {
        let on = |rows: &[_]| ScoreSpec::parse(spec).unwrap().prepare(&table(rows)).unwrap().score(2, &[0, 1]).unwrap();
        assert!((on(&rows) - on(&relabelled)).abs() < 1e-10, "{spec}");
    }
}

#[test]
fn the_model_counts_what_the_score_counted() {
    use crate::predictive::Value;
    let table = table(&[(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 1, 0), (1, 1, 0)]);
    let score = ScoreSpec::parse(SPECS[0].0).unwrap().prepare(&table).unwrap();
    let model = score.model(1, &[0]).unwrap();
    let p = model.predictive(&[Value::Code(1)]).log_density(Value::Code(1)).exp();
    assert!((p - 4.0 / 6.0).abs() < 1e-12);
}

#[test]
fn a_continuous_column_is_refused_with_the_way_out() {
    let x = Variable { name: "dose".into(), kind: Kind::Continuous { scale: crate::table::Units::IDENTITY } };
    let table = Arc::new(Table::new(vec![x], vec![Column::Reals(vec![0.5, 1.5])]).unwrap());
    let score = ScoreSpec::parse(SPECS[2].0).unwrap().prepare(&table).unwrap();
    let error = score.score(0, &[]).unwrap_err().to_string();
    assert!(error.contains("'dose'") && error.contains("Binned"), "{error}");
}

#[test]
fn an_unknown_score_or_parameter_is_refused() {
    assert!(ScoreSpec::parse(r#"{"score":"likelyhood"}"#).is_err());
    assert!(ScoreSpec::parse(r#"{"score":"likelihood","penalty":"bic","gamma":1}"#).is_err());
}

#[test]
fn smoothing_changes_the_model_and_not_the_score() {
    use super::smoothed::{Smoothed, Smoothing};
    use crate::predictive::Value;
    let table = table(&[(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 1, 0), (1, 1, 0)]);
    let score: Arc<dyn LocalScore> = ScoreSpec::parse(SPECS[0].0).unwrap().prepare(&table).unwrap().into();
    let p = |smoothing| {
        let smoothed = Smoothed::new(score.clone(), smoothing).unwrap();
        assert_eq!(smoothed.score(1, &[0]), score.score(1, &[0]));
        smoothed.model(1, &[0]).unwrap().predictive(&[Value::Code(1)]).log_density(Value::Code(1)).exp()
    };
    assert!((p(Smoothing::PerLevel(0.5)) - 3.5 / 4.5).abs() < 1e-12);
    assert!((p(Smoothing::PerConfiguration(1.0)) - (3.0 + 1.0 / 3.0) / 4.0).abs() < 1e-12);
    assert!(Smoothed::new(score.clone(), Smoothing::PerLevel(0.0)).is_err());
}
