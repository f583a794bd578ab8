//! Trees against all trees: every graph in which each node has at most one parent beside the class.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::cases::cases;
use crate::constraints::Constraints;
use crate::control::{Budget, Control};
use crate::families::Scored;
use crate::graph::Dag;
use crate::local::LocalScore;
use crate::table::{Codes, Column, Kind, Level, Table, Variable};
use arbornet_score::registry::ScoreSpec;

const SPECS: [&str; 8] = [
    r#"{"score":"likelihood","penalty":"none"}"#,
    r#"{"score":"likelihood","penalty":"bic"}"#,
    r#"{"score":"bd","alpha":1.0}"#,
    r#"{"score":"bdeu","ess":2.0}"#,
    r#"{"score":"nml"}"#,
    r#"{"score":"qnml"}"#,
    r#"{"score":"mit","alpha":0.95}"#,
    r#"{"score":"bdeu","ess":2.0,"prior":{"prior":"parent_count"}}"#,
];

fn score(spec: &str, rows: &[[u32; 4]]) -> Box<dyn LocalScore> {
    let levels = [2, 3, 2, 4];
    let variables = levels.iter().enumerate().map(|(v, &k)| Variable {
        name: format!("v{v}").into(),
        kind: Kind::Categorical { levels: (0..k).map(Level::Int).collect() },
    });
    let column = |v: usize| rows.iter().map(|row| row[v]).collect::<Vec<_>>();
    let columns = (0..4).map(|v| Column::Codes(Codes::pack(&column(v), levels[v] as usize)));
    let table = Arc::new(Table::new(variables.collect(), columns.collect()).unwrap());
    ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap()
}

/// The best total over all functions from nodes to a parent or none that are the graph asked for.
fn literal(score: &dyn LocalScore, how: &TreeSearch) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for code in 0..5_usize.pow(4) {
        let above: Vec<Option<Var>> =
            (0..4).map(|v| (code / 5_usize.pow(v)) % 5).map(|p| (p < 4).then_some(p)).collect();
        let class = how.class;
        if class.is_some_and(|c| above[c].is_some() || above.contains(&Some(c))) {
            continue;
        }
        let parents: Vec<Vec<Var>> = (0..4)
            .map(|v| if Some(v) == class { vec![] } else { class.into_iter().chain(above[v]).collect() })
            .collect();
        let roots: Vec<Var> = (0..4).filter(|&v| Some(v) != class && above[v].is_none()).collect();
        let allowed = how.forest || (roots.len() == 1 && how.root.is_none_or(|r| roots == [r]));
        if allowed && Dag::from_parents(&parents).is_ok() {
            let sorted = |v: Var| {
                let mut set = parents[v].clone();
                set.sort_unstable();
                set
            };
            best = best.max((0..4).map(|v| score.score(v, &sorted(v)).unwrap()).sum());
        }
    }
    best
}

fn found(score: &dyn LocalScore, how: &TreeSearch) -> Tree {
    let (control, constraints) = (Control::default(), Constraints::none(4));
    how.run(&Scored::new(score, &constraints, Budget::new(&control, None))).unwrap()
}

fn rows() -> impl Strategy<Value = Vec<[u32; 4]>> {
    let row = (0..2_u32, 0..3_u32, 0..2_u32, 0..4_u32, 0..3_u32);
    // The last number makes columns depend on one another.
    let dependent =
        |r: (u32, u32, u32, u32, u32)| if r.4 > 0 { [r.0, r.0 + r.2, r.2, r.0 * 3] } else { [r.0, r.1, r.2, r.3] };
    (prop::collection::vec(row, 1..40), 0..6_u32).prop_map(move |(rows, oddity)| {
        let odd = |[a, b, c, d]: [u32; 4]| match oddity {
            0 => [a, b, a, d],     // twins: every tree through them ties
            1 => [1, b, c, d],     // a constant
            2 => [a, b, c, b],     // twins but for a level that never comes
            3 => [a, a, 1 - a, a], // everything says the same
            _ => [a, b, c, d],
        };
        rows.into_iter().map(dependent).map(odd).collect()
    })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn it_is_the_best_of_all_trees(rows in rows(), spec in 0..SPECS.len(), class in 0..5_usize, root in 0..5_usize,
                                   forest: bool) {
        let score = score(SPECS[spec], &rows);
        let class = (class < 4).then_some(class);
        let root = (root < 4 && !forest && Some(root) != class).then_some(root);
        // Any score may be searched with directions; those that know none may be searched without.
        for directed in [true, !score.equivalent()] {
            let how = TreeSearch { class, root, forest, directed: Some(directed) };
            let tree = found(&*score, &how);
            let (total, best) = (tree.scores.iter().sum::<f64>(), literal(&*score, &how));
            prop_assert!((total - best).abs() < 1e-9 * (1.0 + best.abs()), "{how:?} {tree:?} {total} {best}");
            for v in 0..4 {
                prop_assert_eq!(tree.scores[v], score.score(v, &tree.parents[v]).unwrap());
            }
            prop_assert!(Dag::from_parents(&tree.parents).is_ok());
        }
    }
}

#[test]
fn a_score_that_sees_directions_needs_them() {
    // K2 over these rows: the best undirected reading of its weights is not the best tree.
    let rows: Vec<[u32; 4]> =
        (0..30).map(|i| [u32::from(i % 5 == 0), i % 3, u32::from(i % 7 < 2), (i * i) % 4]).collect();
    let score = score(SPECS[2], &rows);
    let total = |directed| {
        found(&*score, &TreeSearch { directed: Some(directed), ..TreeSearch::default() }).scores.iter().sum::<f64>()
    };
    assert!(total(true) > total(false) + 1e-6, "{} {}", total(true), total(false));
}

#[test]
fn equal_edges_are_taken_in_order_and_a_forest_leaves_out_what_does_not_pay() {
    assert_eq!(maximum_spanning_edges(4, |_, _| 1.0, f64::NEG_INFINITY), [(0, 1), (0, 2), (0, 3)]);
    assert!(maximum_spanning_edges(4, |_, _| 0.0, 0.0).is_empty());
    let sign = |u: usize, v: usize| if u + v == 3 { 1.0 } else { -1.0 };
    assert_eq!(maximum_spanning_edges(4, sign, 0.0), [(0, 3), (1, 2)]);
    assert_eq!(away_from_roots(4, &[(0, 3), (1, 2)], Some(2)), [None, Some(2), None, Some(0)]);
}

#[test]
fn forbidden_arcs_stay_out_and_what_is_left_may_be_no_tree() {
    let rows: Vec<[u32; 4]> = (0..24).map(|i| [i % 2, i % 3, i % 2, i % 4]).collect();
    let score = score(SPECS[1], &rows);
    let mut rules: Vec<_> = (0..4).map(|v| Constraints::none(4).child(v).clone()).collect();
    rules[2].allowed = vec![1];
    let control = Control::default();
    let run = |rules: &[crate::constraints::ParentRule], forest| {
        let constraints = Constraints::new(rules.to_vec()).unwrap();
        let families = Scored::new(&*score, &constraints, Budget::new(&control, None));
        TreeSearch { directed: Some(true), forest, ..TreeSearch::default() }.run(&families)
    };
    let tree = run(&rules, false).unwrap();
    assert!(tree.parents[2].is_empty() || tree.parents[2][..] == [1], "{tree:?}");
    rules[0].allowed = vec![];
    rules[1].allowed = vec![];
    assert!(run(&rules, false).unwrap_err().to_string().contains("no tree spans all variables"));
    assert!(run(&rules, true).unwrap().parents[0].is_empty());
    rules[3].required = vec![0];
    assert!(run(&rules, true).unwrap_err().to_string().contains("be a root"));
}
