//! Linear leaves against numbers that dense matrices gave: the log marginal, and the log density of one more row.

use arbornet_core::Value;
use arbornet_core::leaf::{Linear, Normal};
use serde_json::Value as Json;

use super::support::places;

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn linear_leaves_are_those_of_the_dense_matrices() {
    let text = places::text(&places::golden().join("pcart/linear_leaf.json"));
    let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    assert_eq!(cases.len(), 7);
    for (i, case) in cases.iter().enumerate() {
        let number = |name: &str| case[name].as_f64().unwrap();
        let normal = Normal::new(number("mubar"), number("a"), number("nu"), number("lambda"));
        let (new, ys) = (numbers(&case["x_new"]), numbers(&case["y"]));
        let leaf = Linear::new(normal.centred(0.1), new.len(), number("k"));
        let mut stat = leaf.empty();
        for (x, y) in case["x"].as_array().unwrap().iter().zip(ys) {
            leaf.observe(&mut stat, y, &numbers(x));
        }
        let (got, want) = (leaf.log_marginal(&stat), number("log_evidence"));
        assert!((got - want).abs() < 1e-10, "case {i}: {got} {want}");
        let got = leaf.fit(&stat).at(&new).log_density(Value::Real(number("y_new")));
        assert!((got - number("log_predictive")).abs() < 1e-10, "case {i}: {got}");
    }
}
