//! Networks and their graphs grown at once.

use std::time::Duration;

use arbornet_core::control::{Budget, Stop};
use arbornet_core::dag::joint::{Joint, Search};
use arbornet_core::decision_graph::grow::greedy;
use arbornet_core::decision_graph::state::State;
use arbornet_core::decision_graph::{Prepared, PriorChoice};
use arbornet_core::model::decision_graph::DecisionGraph;
use arbornet_core::{Constraints, Control, Model, ParentRule};

use super::tables::{network_table, settings};

fn found(
    prepared: &Prepared,
    constraints: &Constraints,
    threads: usize,
    how: Joint,
) -> (Vec<DecisionGraph>, Vec<Vec<usize>>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let control = Control::default();
    let found = pool.install(|| how.run(prepared, constraints, Budget::new(&control, None))).unwrap();
    assert_eq!(found.stop, None);
    let parents = (0..found.dag.n_vars()).map(|v| found.dag.parents(v).collect()).collect();
    (found.graphs, parents)
}

#[test]
fn acyclicity_holds_after_every_step_and_every_step_improves() {
    let table = network_table();
    let n = table.n_vars();
    for operators in ["C", "B", "CM", "CBM"] {
        let prepared = settings(operators, PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
        let (constraints, control) = (Constraints::none(n), Control::default());
        let mut search = Search::<u32>::new(&prepared, &constraints, Budget::new(&control, None)).unwrap();
        let mut score = search.score();
        while search.step().unwrap() {
            let families: Vec<_> = (0..n).map(|v| search.dag().family(v)).collect();
            arbornet_core::Dag::from_parents(&families).unwrap();
            assert!(search.score() > score);
            score = search.score();
            for (v, graph) in search.graphs().unwrap().iter().enumerate() {
                assert_eq!(graph.parents(), &families[v][..]);
            }
        }
        // No operator is left that would improve a node with its own parents.
        for v in 0..n {
            let problem = prepared.problem(v, &search.dag().family(v)).unwrap();
            let mut alone = State::new(&problem).unwrap();
            greedy(&problem, &mut alone).unwrap();
            assert!(alone.score().is_finite());
        }
        assert!(search.dag().n_arcs() > 3);
    }
}

#[test]
fn threads_change_nothing() {
    let table = network_table();
    let none = Constraints::none(table.n_vars());
    for operators in ["B", "CBM"] {
        let prepared = settings(operators, PriorChoice::Ess(5.0), 0.9, true).prepared(&table).unwrap();
        let one = found(&prepared, &none, 1, Joint::default());
        let four = found(&prepared, &none, 4, Joint::default());
        assert_eq!(serde_json::to_string(&one.0).unwrap(), serde_json::to_string(&four.0).unwrap());
        assert_eq!(one.1, four.1);
    }
}

#[test]
fn constraints_are_obeyed_and_required_parents_stay() {
    let table = network_table();
    let n = table.n_vars();
    let rule = |v: usize| ParentRule {
        required: if v == 4 { vec![8] } else { vec![] },
        allowed: (0..n).filter(|&p| p != v && p != 2).collect(),
        max_parents: 2,
    };
    let constraints = Constraints::new((0..n).map(rule).collect()).unwrap();
    let prepared = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    for how in [Joint::default(), Joint { drop_unused: true, ..Joint::default() }] {
        let (graphs, parents) = found(&prepared, &constraints, 2, how);
        assert!(parents[4].contains(&8));
        assert!(parents.iter().all(|p| p.len() <= 2 && !p.contains(&2)));
        for (v, graph) in graphs.iter().enumerate() {
            assert_eq!(graph.parents(), parents[v]);
            if how.drop_unused {
                assert!(graph.unused().iter().all(|&p| constraints.child(v).requires(p)));
            }
        }
        arbornet_core::Dag::from_parents(&parents).unwrap();
    }
}

#[test]
fn a_search_out_of_time_shows_what_it_has() {
    let table = network_table();
    let none = Constraints::none(table.n_vars());
    let prepared = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    let control = Control::default();
    let budget = Budget::new(&control, Some(Duration::ZERO));
    let found = Joint::default().run(&prepared, &none, budget).unwrap();
    assert_eq!(found.stop, Some(Stop::Time));
    let limited =
        Joint { max_steps: 3, ..Joint::default() }.run(&prepared, &none, Budget::new(&control, None)).unwrap();
    assert_eq!((limited.n_steps, limited.stop), (3, None));
}
