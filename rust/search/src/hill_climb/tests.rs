use rand::RngExt;

use super::super::families::{Scored, Stored};
use super::super::testing;
use super::*;
use crate::constraints::{Constraints, ParentRule};
use crate::control::Control;
use crate::local::LocalScore;
use arbornet_model::prior::GraphPrior;
use arbornet_score::classic::likelihood::{Likelihood, Penalty};

fn on_pool<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(work)
}

fn bic(n_vars: usize, n_rows: usize, seed: u64) -> Box<dyn LocalScore> {
    Likelihood { penalty: Penalty::Bic, prior: GraphPrior::Uniform }
        .prepare(&testing::levels(n_vars, n_rows, &mut testing::rng(seed)))
        .unwrap()
}

/// Every DAG one addition, deletion or reversal away.
fn neighbours(dag: &Dag) -> Vec<Dag> {
    let n = dag.n_vars();
    let mut out = vec![];
    for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let mut next = dag.clone();
        if dag.has_arc(a, b) {
            next.remove_arc(a, b);
            out.push(next.clone());
            if next.add_arc(b, a) {
                out.push(next);
            }
        } else if next.add_arc(a, b) {
            out.push(next);
        }
    }
    out
}

fn total(score: &dyn LocalScore, dag: &Dag) -> f64 {
    (0..dag.n_vars()).map(|v| score.score(v, &dag.family(v)).unwrap()).sum()
}

#[test]
fn no_single_change_improves_on_what_is_found() {
    for seed in 0..5 {
        let score = bic(8, 300, seed);
        let (control, none) = (Control::default(), Constraints::none(8));
        let budget = Budget::new(&control, None);
        for tabu in [0, 10] {
            let how = HillClimb { tabu, ..HillClimb::default() };
            let found = how.run(&Scored::new(&*score, &none, budget), None, budget).unwrap();
            assert!((found.score() - total(&*score, &found.dag)).abs() < 1e-9);
            assert!(neighbours(&found.dag).iter().all(|d| total(&*score, d) <= found.score() + 1e-8));
        }
    }
}

/// The best gain of a single change, by scoring every graph one change away in full.
fn best_change(total: &dyn Fn(&Dag) -> f64, dag: &Dag) -> f64 {
    let here = total(dag);
    neighbours(dag).iter().map(|next| total(next) - here).fold(f64::NEG_INFINITY, f64::max)
}

fn gain_of<F>(at: &Position<'_, F>, chosen: Move) -> f64 {
    match chosen {
        Move::Toggle(p, c) => at.gains[c][p],
        Move::Reverse(p, c) => at.gains[c][p] + at.gains[p][c],
    }
}

#[test]
fn wherever_a_walk_leads_the_gains_kept_are_differences_of_full_scores() {
    for seed in 0..testing::rounds(60) {
        let mut rng = testing::rng(seed);
        let n = rng.random_range(1..6);
        let table = testing::odd_levels(n, &mut rng);
        let penalty = [Penalty::Bic, Penalty::Aic][seed as usize % 2];
        let score = Likelihood { penalty, prior: GraphPrior::Uniform }.prepare(&table).unwrap();
        let (control, none) = (Control::default(), Constraints::none(n));
        let families = Scored::new(&*score, &none, Budget::new(&control, None));
        let mut at = Position::new(&families, &Dag::new(n)).unwrap();
        at.look_everywhere().unwrap();
        for _ in 0..rng.random_range(0..12) {
            at.random_move(&mut rng).unwrap();
            let literal = |dag: &Dag| total(&*score, dag);
            let here = literal(&at.dag);
            assert!((at.scores.iter().sum::<f64>() - here).abs() < 1e-8, "seed {seed}");
            for (p, c) in (0..n).flat_map(|p| (0..n).map(move |c| (p, c))).filter(|(p, c)| p != c) {
                let mut next = at.dag.clone();
                let had = next.has_arc(p, c);
                next.remove_arc(p, c);
                let legal = had || next.add_arc(p, c);
                assert_eq!(at.legal(p, c), legal, "seed {seed}: {p} -> {c}");
                if legal {
                    assert!((at.gains[c][p] - (literal(&next) - here)).abs() < 1e-8, "seed {seed}: {p} -> {c}");
                }
            }
            let best = best_change(&literal, &at.dag);
            match at.best_move(&Tabu::new(0), f64::NEG_INFINITY) {
                Some(chosen) => assert!((gain_of(&at, chosen) - best).abs() < 1e-8, "seed {seed}: {best} {chosen:?}"),
                None => assert_eq!(best, f64::NEG_INFINITY, "seed {seed}"),
            }
        }
    }
}

#[test]
fn over_candidates_no_single_change_improves_and_the_optimum_bounds_it() {
    let mut rng = testing::rng(1);
    for round in 0..testing::rounds(60) {
        let candidates = testing::candidates(5, 200, round % 2 == 0, &mut rng);
        let (control, none) = (Control::default(), Constraints::none(5));
        let budget = Budget::new(&control, None);
        let families = Stored::new(&candidates, &none).unwrap();
        let found = HillClimb { restarts: 50, ..HillClimb::default() }.run(&families, None, budget).unwrap();
        assert_eq!(testing::total(&candidates, &found.dag), Some(found.score()));
        let best_near =
            neighbours(&found.dag).iter().filter_map(|d| testing::total(&candidates, d)).fold(-1e9, f64::max);
        assert!(best_near <= found.score());
        assert!(found.score() <= testing::ranked(&candidates)[0].0);
    }
}

#[test]
fn with_restarts_the_best_of_all_graphs_over_five_variables_is_found() {
    let all = crate::dags::all_dags(5);
    for seed in 0..5 {
        let score = bic(5, 150, seed);
        let (control, none) = (Control::default(), Constraints::none(5));
        let budget = Budget::new(&control, None);
        let families = Scored::new(&*score, &none, budget);
        let scored = |dag: &Dag| (0..5).map(|v| families.family(v, &dag.family(v)).unwrap().0).sum();
        let optimum = all.iter().map(scored).fold(f64::NEG_INFINITY, f64::max);
        let found = HillClimb { restarts: 50, ..HillClimb::default() }.run(&families, None, budget).unwrap();
        assert!((found.score() - optimum).abs() < 1e-9, "seed {seed}: {} of {optimum}", found.score());
        assert!(families.n_scored() <= 5 * 16, "every family is scored once");
    }
}

#[test]
fn toggled_is_the_family_score_of_each_toggle() {
    let mut rng = testing::rng(2);
    for _ in 0..testing::rounds(20) {
        let candidates = testing::candidates(9, 30, true, &mut rng);
        let families = Stored::new(&candidates, &Constraints::none(9)).unwrap();
        for child in 0..9 {
            let random: Parents = (0..9).filter(|&p| p != child && rng.random::<f64>() < 0.3).collect();
            let (score, parents) = families.family(child, &random).unwrap();
            let column = families.toggled(child, &parents).unwrap();
            for p in (0..9).filter(|&p| p != child) {
                let (expected, set) = families.family(child, &toggle(&parents, p)).unwrap();
                let gains = set.contains(&p) || parents.contains(&p);
                assert_eq!(column[p], if gains { expected } else { f64::NEG_INFINITY });
                assert!(gains || expected == score);
            }
        }
    }
}

#[test]
fn one_thread_and_many_find_the_same() {
    let score = bic(12, 500, 7);
    let run = |threads| {
        on_pool(threads, || {
            let (control, none) = (Control::default(), Constraints::none(12));
            let budget = Budget::new(&control, None);
            let how = HillClimb { restarts: 5, seed: 3, ..HillClimb::default() };
            let found = how.run(&Scored::new(&*score, &none, budget), None, budget).unwrap();
            (found.dag, found.scores, found.n_moves)
        })
    };
    let one = run(1);
    assert!([2, 8].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn constraints_hold_at_the_end() {
    let score = bic(8, 400, 5);
    let rule = |v: Var| ParentRule {
        required: if v == 3 { vec![7] } else { vec![] },
        allowed: (0..8).filter(|&p| p != v && v != 7 && (p, v) != (0, 1)).collect(),
        max_parents: 2,
    };
    let constraints = Constraints::new((0..8).map(rule).collect()).unwrap();
    let control = Control::default();
    let budget = Budget::new(&control, None);
    let how = HillClimb { restarts: 10, ..HillClimb::default() };
    let found = how.run(&Scored::new(&*score, &constraints, budget), None, budget).unwrap();
    assert!((0..8).all(|v| constraints.child(v).permits(&found.dag.family(v))), "{:?}", found.dag);
    let wrong = Dag::from_arcs(8, [(0, 1), (7, 3)]).unwrap();
    assert!(how.run(&Scored::new(&*score, &constraints, budget), Some(&wrong), budget).is_err());
}

#[test]
fn missing_empty_sets_and_impossible_choices_are_told_apart() {
    let one = |set: Vec<u32>| crate::candidates::ChildCandidates::from_sets([(1.0, set)]);
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let control = Control::default();
    let budget = Budget::new(&control, None);
    let none = Constraints::none(2);
    let possible = crate::candidates::Candidates::new(names(), vec![one(vec![1]), one(vec![])]).unwrap();
    let found = HillClimb::default().run(&Stored::new(&possible, &none).unwrap(), None, budget).unwrap();
    assert_eq!(found.dag.arcs().collect::<Vec<_>>(), [(1, 0)]);
    let cyclic = crate::candidates::Candidates::new(names(), vec![one(vec![1]), one(vec![0])]).unwrap();
    let error = HillClimb::default().run(&Stored::new(&cyclic, &none).unwrap(), None, budget).unwrap_err();
    assert!(error.to_string().contains("'a', 'b' closes a cycle"), "{error}");
}

#[test]
fn stopping_returns_the_incumbent() {
    let candidates = testing::candidates(30, 200, false, &mut testing::rng(4));
    let none = Constraints::none(30);
    let families = Stored::new(&candidates, &none).unwrap();
    let control = Control::default();
    control.stop();
    let found = HillClimb::default().run(&families, None, Budget::new(&control, None)).unwrap();
    assert_eq!((found.stop, found.n_moves), (Some(Stop::Interrupted), 0));
    let control = Control::default();
    let budget = Budget::new(&control, Some(std::time::Duration::from_millis(20)));
    let endless = HillClimb { restarts: usize::MAX, ..HillClimb::default() };
    let found = endless.run(&families, None, budget).unwrap();
    assert_eq!(found.stop, Some(Stop::Time));
    assert_eq!(testing::total(&candidates, &found.dag), Some(found.score()));
}

#[test]
fn so_many_structures_last_visited_are_known_and_no_more() {
    let mut tabu = Tabu::new(3);
    for hash in [10, 20, 20, 30, 40] {
        tabu.visit(hash);
    }
    assert_eq!([10, 20, 30, 40].map(|hash| tabu.holds(hash)), [false, true, true, true]);
    let mut none = Tabu::new(0);
    none.visit(10);
    assert!(!none.holds(10));
}

#[test]
fn as_many_moves_in_a_row_may_fail_as_there_is_patience() {
    let score = bic(8, 300, 0);
    let (control, none) = (Control::default(), Constraints::none(8));
    let budget = Budget::new(&control, None);
    let families = Scored::new(&*score, &none, budget);
    let best = HillClimb::default().run(&families, None, budget).unwrap();
    for patience in [1, 3, 7] {
        let how = HillClimb { tabu: 100, patience, ..HillClimb::default() };
        let again = how.run(&families, Some(&best.dag), budget).unwrap();
        assert_eq!((again.score(), again.n_moves), (best.score(), patience as u64));
    }
}
