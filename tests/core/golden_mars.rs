//! The splines of R's earth 5.3.2: forward pass, pruning and fit, number for number.

use std::path::{Path, PathBuf};

use arbornet_core::mars::{Fit, Number, Predictor, Problem, Pruning, Settings, Shape, fit};
use serde_json::Value;

use super::support::places;

fn golden() -> PathBuf {
    places::golden().join("mars")
}

/// A CSV of quoted texts and numbers, by column.
fn columns(path: &Path) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(path).unwrap();
    let cells = |line: &str| line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect::<Vec<_>>();
    let mut lines = text.lines();
    let mut out: Vec<(String, Vec<String>)> = cells(lines.next().unwrap()).into_iter().map(|n| (n, vec![])).collect();
    for line in lines {
        for ((_, column), cell) in out.iter_mut().zip(cells(line)) {
            column.push(cell);
        }
    }
    out
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        _ => value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect(),
    }
}

fn reals(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .map_or_else(|| vec![value.as_f64().unwrap()], |list| list.iter().map(|v| v.as_f64().unwrap()).collect())
}

struct Case {
    name: String,
    document: Value,
    predictors: Vec<Predictor>,
    responses: Vec<Vec<f64>>,
    settings: Settings,
}

impl Case {
    fn read(path: &Path) -> Self {
        let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let columns = columns(&golden().join(document["csv"].as_str().unwrap()));
        let numbers = |of: &[String]| of.iter().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
        let column = |name: &str| columns.iter().find(|(n, _)| n == name).map(|(_, of)| of.as_slice());
        let predictor = |name: &String| {
            if let Some(of) = column(name) {
                Predictor::Number(Number::new(&numbers(of), None, Some((0.0, 1.0))))
            } else {
                let (factor, of) = columns.iter().find(|(n, _)| name.starts_with(n.as_str())).unwrap();
                let level = &name[factor.len()..];
                Predictor::Indicator((0..of.len() as u32).filter(|&row| of[row as usize] == level).collect())
            }
        };
        let response = column(document["response"].as_str().unwrap()).unwrap();
        let names = texts(&document["response_columns"]);
        let holds = |level: &String| response.iter().map(|r| f64::from(r == level)).collect::<Vec<f64>>();
        let responses = if response[0].parse::<f64>().is_ok() {
            vec![numbers(response)]
        } else {
            names.iter().map(holds).collect()
        };
        let options = &document["options"];
        let degree = options["degree"].as_u64().unwrap_or(1) as usize;
        let mut settings = Settings { earth: true, ..Settings::of_degree(degree) };
        assert_eq!(settings.penalty, document["penalty"].as_f64().unwrap());
        if options["Force.xtx.prune"].as_bool() == Some(true) {
            settings.pruning = Pruning::LeastContribution;
        }
        if options["fast.k"].as_u64() == Some(0) {
            settings.fast = usize::MAX;
        }
        let name = document["name"].as_str().unwrap().to_owned();
        let predictors = texts(&document["predictor_columns"]).iter().map(predictor).collect();
        Self { name, document, predictors, responses, settings }
    }

    fn fit(&self) -> Fit {
        let n = self.responses[0].len() as f64;
        let predictors = self.predictors.iter().collect();
        // As earth does, the forward pass sees one response scaled; nothing in it depends on that but rounding.
        let problem = Problem { predictors, responses: self.responses.clone(), weights: None, n, within: 0.0 };
        fit(&problem, &self.settings)
    }
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cases: Vec<Case> = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .map(|path| Case::read(path))
        .collect();
    assert_eq!(cases.len(), 25);
    cases
}

fn close(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-6 * expected.abs().max(1e-9), "{what}: {got}, expected {expected}");
}

#[test]
fn forward_passes_take_the_same_terms_with_the_same_knots() {
    for case in cases() {
        let fit = case.fit();
        let (dirs, cuts) = (&case.document["forward"]["dirs"], &case.document["forward"]["cuts"]);
        let told: Vec<String> = fit.forward.iter().map(|term| format!("{term:?}")).collect();
        assert_eq!(fit.forward.len(), dirs.as_array().unwrap().len(), "{}: {told:#?}", case.name);
        for (i, term) in fit.forward.iter().enumerate() {
            let (dirs, cuts) = (reals(&dirs[i]), reals(&cuts[i]));
            for p in 0..case.predictors.len() {
                let (dir, cut) = match term.iter().find(|factor| factor.predictor == p).map(|factor| factor.shape) {
                    None => (0.0, 0.0),
                    Some(Shape::Above(cut)) => (1.0, cut),
                    Some(Shape::Below(cut)) => (-1.0, cut),
                    Some(Shape::Holds) => (2.0, 0.0),
                    Some(Shape::Linear { .. }) => match &case.predictors[p] {
                        Predictor::Number(number) => (2.0, number.lowest()),
                        Predictor::Indicator(_) => unreachable!(),
                    },
                };
                assert_eq!(dir, dirs[p], "{}: term {i}, predictor {p}: {told:#?}", case.name);
                assert!((cut - cuts[p]).abs() <= 1e-9 * cuts[p].abs().max(1.0), "{}: term {i}: {told:#?}", case.name);
            }
        }
    }
}

#[test]
fn pruning_finds_the_same_subsets_rss_and_gcv() {
    for case in cases() {
        let fit = case.fit();
        let pruning = &case.document["pruning"];
        for (size, (rss, gcv)) in
            reals(&pruning["rss_per_subset"]).iter().zip(reals(&pruning["gcv_per_subset"])).enumerate()
        {
            close(fit.path.rss[size], *rss, &format!("{}, RSS of {} terms", case.name, size + 1));
            close(fit.path.gcv[size], gcv, &format!("{}, GCV of {} terms", case.name, size + 1));
        }
        let selected = reals(&case.document["final"]["selected_terms_1based"]);
        let kept: Vec<f64> = fit.kept.iter().map(|&term| term as f64 + 1.0).collect();
        assert_eq!(kept, selected, "{}", case.name);
    }
}

#[test]
fn fits_have_the_same_coefficients_rss_and_gcv() {
    for case in cases() {
        let fit = case.fit();
        let last = &case.document["final"];
        close(fit.rss, last["rss"].as_f64().unwrap(), &format!("{}, RSS", case.name));
        close(fit.gcv, last["gcv"].as_f64().unwrap(), &format!("{}, GCV", case.name));
        for (j, expected) in last["coefficients"].as_array().unwrap().iter().enumerate() {
            for (k, expected) in reals(expected).into_iter().enumerate() {
                let got = fit.coefficients[k][j];
                assert!((got - expected).abs() < 1e-6 * expected.abs().max(1.0), "{}: {got} {expected}", case.name);
            }
        }
    }
}
