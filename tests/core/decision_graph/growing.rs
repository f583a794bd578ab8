//! How graphs are grown: looking ahead, schedules, very many levels.

use std::sync::Arc;

use arbornet_core::decision_graph::grow::grown;
use arbornet_core::decision_graph::state::{Operator, State};
use arbornet_core::decision_graph::{PriorChoice, Schedule, Settings};
use arbornet_core::model::Plain;
use arbornet_core::weights::Weights;
use arbornet_core::{LocalModel, LocalScore, Table};

use super::tables::{Draws, drawn, settings, table};

#[test]
fn two_parents_that_only_matter_together_are_found_by_looking_ahead() {
    let mut draws = Draws(3);
    let (a, b): (Vec<u32>, Vec<u32>) = (0..400).map(|_| (draws.below(2) as u32, draws.below(2) as u32)).unzip();
    let y = a.iter().zip(&b).map(|(a, b)| if draws.below(10) == 0 { *a } else { a ^ b }).collect();
    let table = table(&[(2, y), (2, a), (2, b)]);
    let of = |lookahead, restarts| {
        let settings = Settings { lookahead, restarts, ..Settings::default() };
        let prepared = settings.prepared(&table).unwrap();
        let problem = prepared.problem(0, &[1, 2]).unwrap();
        grown(&problem).unwrap().score()
    };
    let plain = of(0, 0);
    assert!(of(4, 0) > plain + 50.0 && of(0, 20) > plain + 50.0, "{plain} {} {}", of(4, 0), of(0, 20));
    assert_eq!(of(0, 20).to_bits(), of(0, 20).to_bits());
}

#[test]
fn splits_first_merges_only_when_no_split_improves() {
    let table = drawn(11, 400, &[3, 4, 4, 4]);
    let settings = Settings { schedule: Schedule::SplitsFirst, ..Settings::default() };
    let prepared = settings.prepared(&table).unwrap();
    let problem = prepared.problem(0, &[1, 2, 3]).unwrap();
    let mut state = State::new(&problem).unwrap();
    let mut merged = false;
    while let Some((_, operator)) = state.best(&problem, None) {
        if matches!(operator, Operator::Merge(..)) {
            merged = true;
            let best = |leaf: &arbornet_core::decision_graph::state::GrownLeaf| {
                leaf.gains.iter().map(|g| g.complete.max(g.binary)).fold(f64::NEG_INFINITY, f64::max)
            };
            assert!(state.leaves().all(|(_, leaf)| best(leaf) <= 1e-9));
        }
        state.apply(&problem, operator).unwrap();
    }
    assert!(merged);
}

#[test]
fn a_row_that_weighs_nothing_for_a_child_is_no_row_for_it() {
    let whole = drawn(7, 300, &[3, 4, 3, 2]);
    let weights: Vec<f64> = (0..300).map(|row| f64::from(row * 13 % 4)).collect();
    let columns = (0..4).map(|v| whole.column(v).clone()).collect();
    let own = Weights::new(vec![1.0; 300]).unwrap().for_child(0, weights.clone()).unwrap();
    let weighed = Arc::new(Table::new(whole.variables().to_vec(), columns).unwrap().with_weights(own));
    let times = |row: usize| std::iter::repeat_n(row, weights[row] as usize);
    let repeated = Arc::new(whole.take(&(0..300).flat_map(times).collect::<Vec<_>>()));
    for prior in [PriorChoice::Uniform, PriorChoice::Ess(5.0)] {
        let settings = settings("CBM", prior, 1.0, true);
        let [one, other] = [&weighed, &repeated].map(|table| settings.prepared(table).unwrap());
        for parents in [&[1, 2, 3][..], &[2], &[]] {
            let [x, y] = [&one, &other].map(|score| LocalScore::score(score, 0, parents).unwrap());
            assert_eq!(x.to_bits(), y.to_bits(), "{parents:?}");
            assert_eq!(LocalScore::model(&one, 0, parents).unwrap(), LocalScore::model(&other, 0, parents).unwrap());
        }
    }
}

#[test]
fn thousands_of_levels_are_split_and_merged() {
    let (k, n) = (5000, 15_000);
    let mut draws = Draws(1);
    let id: Vec<u32> = (0..n).map(|_| draws.below(k) as u32).collect();
    let y: Vec<u32> = id.iter().map(|&i| if draws.below(20) == 0 { 0 } else { i * 7919 % 3 }).collect();
    let table = table(&[(3, y), (k, id)]);
    for prior in [PriorChoice::Uniform, PriorChoice::Ess(5.0)] {
        let score = settings("CBM", prior, 1.0, false).prepared(&table).unwrap();
        let model = LocalScore::model(&score, 0, &[1]).unwrap();
        let LocalModel::DecisionGraph(graph) = &model else { panic!() };
        // Of the levels, some 250 have no rows; under the uniform prior nothing is gained by merging empty leaves.
        assert!((2..400).contains(&graph.n_leaves()), "{} leaves", graph.n_leaves());
        assert!(model.describe(table.variables(), &Plain).unwrap().text(&Plain).contains("leaf"));
        assert!(graph.unused().is_empty());
    }
    // The child itself may have as many.
    let score = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    assert!(LocalScore::score(&score, 1, &[0]).unwrap().is_finite());
}

#[test]
fn of_merges_that_gain_alike_the_oldest_leaves_are_merged_first() {
    // The first two levels lean one way, the other two as much the other: both pairs gain the same.
    let code: Vec<u32> = (0..40).map(|i| i / 10).collect();
    let child = code.iter().enumerate().map(|(i, &x)| u32::from((i % 10 == 0) == (x < 2))).collect();
    let table = table(&[(2, child), (4, code)]);
    let prepared = settings("CM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    let problem = prepared.problem(0, &[1]).unwrap();
    let mut state = State::new(&problem).unwrap();
    let (_, split) = state.best(&problem, None).unwrap();
    state.apply(&problem, split).unwrap();
    assert_eq!(state.leaves().map(|(id, _)| id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let (gain, merge) = state.best(&problem, None).unwrap();
    assert_eq!(merge, Operator::Merge(1, 2));
    state.apply(&problem, merge).unwrap();
    let (next, merge) = state.best(&problem, None).unwrap();
    assert_eq!((next.to_bits(), merge), (gain.to_bits(), Operator::Merge(3, 4)));
}
