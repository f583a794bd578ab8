//! Fitted decision graphs: what they depend on, what they say, and files of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arbornet_core::decision_graph::PriorChoice;
use arbornet_core::decision_graph::state::{Operator, State};
use arbornet_core::model::Plain;
use arbornet_core::model::decision_graph::Node;
use arbornet_core::{Codes, Column, Kind, LocalModel, LocalScore, Model, Predictive, Table, Units, Value, Variable};
use proptest::prelude::*;

use super::super::support::cases::cases;
use super::scores::{graph, legal};
use super::tables::{Draws, configurations, levels, network_table, odd, settings, table, values};

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn unused_parents_are_those_no_configuration_depends_on(seed in any::<u64>(), steps in 0_usize..9) {
        let table = odd(seed, 50, &[2, 3, 2, 3]);
        let prepared = settings("CBM", PriorChoice::Ess(4.0), 1.0, true).prepared(&table).unwrap();
        let problem = prepared.problem(0, &[1, 2, 3]).unwrap();
        let mut state = State::new(&problem).unwrap();
        let mut draws = Draws(seed);
        for _ in 0..steps {
            let mut legal = legal(&problem, &state, &table);
            if draws.below(2) == 0 {
                legal.retain(|operator| matches!(operator, Operator::Merge(..)));
            }
            if let Some(&operator) = legal.get(draws.below(legal.len())) {
                state.apply(&problem, operator).unwrap();
            }
        }
        let whole = graph(&problem, &state);
        let unused = whole.unused();
        let all = configurations(&table, &[1, 2, 3]);
        for (position, var) in [1, 2, 3].into_iter().enumerate() {
            let depends = all.iter().any(|c| {
                let mut other = c.clone();
                other[position] = 0;
                whole.leaf(&values(c)) != whole.leaf(&values(&other))
            });
            prop_assert_eq!(unused.contains(&var), !depends);
        }
        let fewer = whole.without_unused();
        prop_assert_eq!(fewer.n_leaves(), whole.n_leaves());
        prop_assert!(fewer.unused().is_empty());
        fewer.check(table.variables()).unwrap();
        whole.check(table.variables()).unwrap();
        for c in &all {
            let kept: Vec<u32> = fewer.parents().iter().map(|&p| c[p - 1]).collect();
            prop_assert_eq!(fewer.predictive(&values(&kept)), whole.predictive(&values(c)));
        }
    }

    #[test]
    fn the_text_and_the_rules_name_every_leaf_once(seed in any::<u64>(), n_rows in 10_usize..200) {
        let table = odd(seed, n_rows, &[3, 4, 4, 3]);
        let score = settings("CBM", PriorChoice::Ess(1.0), 1.0, false).prepared(&table).unwrap();
        let model = LocalScore::model(&score, 0, &[1, 2, 3]).unwrap();
        let LocalModel::DecisionGraph(graph) = &model else { panic!("a decision graph") };
        let description = model.describe(table.variables(), &Plain).unwrap();
        let leaves = description.leaves(&Plain);
        prop_assert_eq!(leaves.len(), graph.n_leaves());
        prop_assert_eq!(description.rules(&Plain).len(), graph.n_leaves());
        let n: usize = leaves.iter().map(|leaf| leaf.n).sum();
        prop_assert_eq!(n, n_rows);
        // As many ways as the text shows, shared questions aside: each further way to a leaf is an arrow.
        let back: LocalModel = serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
        prop_assert_eq!(back, model);
    }
}

#[test]
fn numbers_are_halved_and_sent_where_their_rows_went() {
    let mut draws = Draws(9);
    let x: Vec<f64> = (0..300).map(|_| draws.below(1000) as f64 / 10.0).collect();
    let y: Vec<u32> = x.iter().map(|&x| u32::from(x > 12.0 && x < 40.0)).collect();
    let variables = vec![
        Variable { name: "y".into(), kind: Kind::Categorical { levels: levels(2) } },
        Variable { name: "x".into(), kind: Kind::Continuous { scale: Units::IDENTITY } },
    ];
    let columns = vec![Column::Codes(Codes::pack(&y, 2)), Column::Reals(x.clone())];
    let table = Arc::new(Table::new(variables, columns).unwrap());
    let score = settings("BM", PriorChoice::Uniform, 1.0, true).prepared(&table).unwrap();
    let LocalModel::DecisionGraph(graph) = LocalScore::model(&score, 0, &[1]).unwrap() else { panic!() };
    assert!(graph.n_leaves() >= 2 && !graph.thresholds(0).unwrap().is_empty());
    graph.check(table.variables()).unwrap();
    let mut counts = BTreeMap::<usize, u64>::new();
    for &x in &x {
        *counts.entry(graph.leaf(&[Value::Real(x)])).or_default() += 1;
    }
    for (at, node) in graph.nodes().iter().enumerate() {
        if let Node::Leaf { n, .. } = node {
            assert_eq!(counts.get(&at).copied().unwrap_or(0), *n);
        }
    }
    let refused = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    let error = LocalScore::score(&refused, 0, &[1]).unwrap_err().to_string();
    assert!(error.contains("'x'") && error.contains("thresholds"), "{error}");
    assert!(LocalScore::score(&score, 1, &[0]).unwrap_err().to_string().contains("'x'"));
}

#[test]
fn degenerate_tables_are_answered() {
    let one_level = table(&[(1, vec![0; 5]), (3, vec![0, 1, 2, 0, 1])]);
    let no_rows = table(&[(2, vec![]), (3, vec![])]);
    let one_row = table(&[(2, vec![1]), (3, vec![2])]);
    let constant = table(&[(2, vec![0; 9]), (3, vec![1; 9])]);
    for table in [one_level, no_rows, one_row, constant] {
        for prior in [PriorChoice::Uniform, PriorChoice::Ess(1.0)] {
            let score = settings("CBM", prior, 1.0, true).prepared(&table).unwrap();
            for parents in [&[][..], &[1]] {
                assert!(LocalScore::score(&score, 0, parents).unwrap().is_finite());
                let model = LocalScore::model(&score, 0, parents).unwrap();
                let values = values(&vec![2; parents.len()]);
                let Predictive::Levels { probabilities } = &*model.predictive(&values) else { panic!() };
                assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                model.check(table.variables()).unwrap();
            }
        }
    }
}

#[test]
fn a_file_that_would_lead_astray_is_refused() {
    let table = network_table();
    let score = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    let grown = |v: usize| LocalScore::model(&score, v, &(0..9).filter(|&p| p != v).collect::<Vec<_>>()).unwrap();
    let large = |model: &LocalModel| matches!(model, LocalModel::DecisionGraph(graph) if graph.n_leaves() > 2);
    let model = (0..9).map(grown).find(large).expect("some variable depends on others");
    let sound = serde_json::to_value(&model).unwrap();
    let changes: [fn(&mut serde_json::Value); 5] = [
        |m| m["nodes"] = serde_json::json!([]),
        |m| m["nodes"][0]["to"][0] = 0.into(),
        |m| m["nodes"][0]["to"][0] = 100_000.into(),
        |m| m["nodes"][0]["parent"] = 77.into(),
        |m| m["unused"] = serde_json::json!([9]),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut document = sound.clone();
        change(&mut document);
        let model: LocalModel = serde_json::from_value(document).unwrap();
        assert!(model.check(table.variables()).is_err(), "change {i}");
    }
}
