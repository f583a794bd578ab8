use super::super::graph::Dag;
use super::super::testing;
use super::*;
use crate::candidates::{Candidates, ChildCandidates};
use crate::constraints::Constraints;
use crate::control::Control;

const ALL: KBest = KBest { k: usize::MAX, margin: f64::INFINITY, memory: 1e9 };

fn best(candidates: &Candidates, how: KBest) -> Vec<Ranked> {
    let stored = Stored::new(candidates, &Constraints::none(candidates.n_vars())).unwrap();
    how.run(&stored, Budget::new(&Control::default(), None)).unwrap()
}

fn scores(ranked: &[Ranked]) -> Vec<f64> {
    ranked.iter().map(Ranked::score).collect()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9)
}

/// Distinct, acyclic, made of candidates, and with the score they are said to have.
fn check(candidates: &Candidates, ranked: &[Ranked]) {
    let mut seen = std::collections::BTreeSet::new();
    for graph in ranked {
        let dag = Dag::from_parents(&graph.parents).unwrap();
        assert_eq!(testing::total(candidates, &dag), Some(graph.score()));
        assert!(seen.insert(graph.parents.clone()), "twice: {graph:?}");
    }
}

#[test]
fn the_list_is_that_of_all_graphs_ranked() {
    let mut rng = testing::rng(1);
    for round in 0..testing::rounds(120) as usize {
        let candidates = testing::candidates(1 + round % 5, 2 + round % 14, round % 3 == 0, &mut rng);
        let all: Vec<f64> = testing::ranked(&candidates).iter().map(|g| g.0).collect();
        for k in [1, 2, 5, 40, 1000] {
            let found = best(&candidates, KBest { k, ..ALL });
            check(&candidates, &found);
            assert!(close(&scores(&found), &all[..k.min(all.len())]), "k={k}");
        }
    }
}

#[test]
fn a_margin_gives_every_graph_within_it_up_to_the_limit() {
    let mut rng = testing::rng(2);
    for round in 0..testing::rounds(40) {
        let candidates = testing::candidates(5, 12, round % 2 == 0, &mut rng);
        let all: Vec<f64> = testing::ranked(&candidates).iter().map(|g| g.0).collect();
        for margin in [0.0, 1.0, 7.5] {
            let within = all.iter().filter(|&&s| s >= all[0] - margin - 1e-9).count();
            assert_eq!(best(&candidates, KBest { margin, k: 100_000, ..ALL }).len(), within);
            assert_eq!(best(&candidates, KBest { k: 3, margin, ..ALL }).len(), within.min(3));
        }
    }
}

#[test]
fn components_combine_to_the_best_sums() {
    // Two pairs that cannot reach each other, and a variable below both.
    let set = |members: &[u32], score: f64| (score, members.to_vec());
    let children = vec![
        ChildCandidates::from_sets([set(&[1], 3.0), set(&[], 0.0)]),
        ChildCandidates::from_sets([set(&[0], 2.5), set(&[], 0.0)]),
        ChildCandidates::from_sets([set(&[3], 1.0), set(&[], 0.0)]),
        ChildCandidates::from_sets([set(&[2], 2.0), set(&[], 0.0)]),
        ChildCandidates::from_sets([set(&[0, 2], 1.0), set(&[3], 0.75), set(&[], 0.0)]),
    ];
    let candidates = Candidates::new((0..5).map(|v| v.to_string()).collect(), children).unwrap();
    assert_eq!(
        components(&Stored::new(&candidates, &Constraints::none(5)).unwrap()),
        [vec![0, 1], vec![2, 3], vec![4]]
    );
    let all: Vec<f64> = testing::ranked(&candidates).iter().map(|g| g.0).collect();
    assert_eq!(all.len(), 27);
    for k in [1, 4, 9, 27, 40] {
        let found = best(&candidates, KBest { k, ..ALL });
        check(&candidates, &found);
        assert!(close(&scores(&found), &all[..k.min(27)]));
    }
}

#[test]
fn the_first_is_the_optimum_and_a_longer_list_begins_with_the_shorter() {
    let mut rng = testing::rng(3);
    for _ in 0..5 {
        let candidates = testing::candidates(12, 60, false, &mut rng);
        let (ten, hundred) = (best(&candidates, KBest { k: 10, ..ALL }), best(&candidates, KBest { k: 100, ..ALL }));
        check(&candidates, &hundred);
        assert_eq!(ten[..], hundred[..10]);
        let optimum = super::super::anytime::Anytime::default();
        let stored = Stored::new(&candidates, &Constraints::none(12)).unwrap();
        let optimum = optimum.run(&stored, Budget::new(&Control::default(), None)).unwrap();
        assert!(optimum.proven && (optimum.scores.iter().sum::<f64>() - ten[0].score()).abs() < 1e-9);
    }
}

#[test]
fn what_is_too_large_is_refused_with_what_would_fit() {
    let candidates = testing::candidates(20, 100, false, &mut testing::rng(4));
    let stored = Stored::new(&candidates, &Constraints::none(20)).unwrap();
    let error = KBest { k: 5, memory: 1e6, ..ALL }.run(&stored, Budget::new(&Control::default(), None)).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }));
    assert!(error.to_string().contains("about 14 such variables fit"), "{error}");
    let control = Control::default();
    control.stop();
    assert_eq!(KBest { k: 5, ..ALL }.run(&stored, Budget::new(&control, None)), Err(Error::Interrupted));
}
