use super::super::testing;
use super::*;
use crate::candidates::Candidates;
use crate::constraints::{Constraints, ParentRule};
use crate::control::Control;
use crate::exact::restrict::{Scored, restricted};
use crate::places;
use arbornet_table::jkl;

fn search(candidates: &Candidates, how: Anytime) -> Ordered {
    let control = Control::default();
    let stored = Stored::new(candidates, &Constraints::none(candidates.n_vars())).unwrap();
    how.run(&stored, Budget::new(&control, None)).unwrap()
}

/// Best set in each place, straight from the definition.
fn by_definition(pool: &Pool, order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (i, &v) in order.iter().enumerate() {
        let fits = |&r: &u32| pool.child(v as usize).set(r).iter().all(|p| order[..i].contains(p));
        ranks[v as usize] = (0..pool.child(v as usize).len()).find(fits).unwrap();
    }
    ranks
}

#[test]
fn a_move_is_the_best_place_and_leaves_the_best_sets() {
    let mut rng = testing::rng(1);
    for _ in 0..testing::rounds(40) {
        let candidates = testing::candidates(9, 40, true, &mut rng);
        let stored = Stored::new(&candidates, &Constraints::none(9)).unwrap();
        let pool = Pool::new(&stored);
        let mut order: Vec<u32> = (0..9).collect();
        shuffle(&mut order, &mut rng);
        for from in 0..9 {
            let mut at = Order::new(&pool, &order);
            let before = at.score();
            let moved = |to| {
                let mut other = order.clone();
                let v = other.remove(from);
                other.insert(to, v);
                let ranks = by_definition(&pool, &other);
                (ranks.iter().enumerate().map(|(v, &r)| pool.child(v).loss(r)).sum::<f64>(), other, ranks)
            };
            for to in 0..9 {
                let mut there = Order::new(&pool, &order);
                there.insert(from, to);
                let (_, other, ranks) = moved(to);
                assert_eq!((there.order(), there.ranks()), (&other[..], &ranks[..]));
            }
            let best = (0..9).map(|to| moved(to).0).fold(f64::NEG_INFINITY, f64::max);
            let improved = at.move_to_best(order[from] as usize);
            assert_eq!(improved, best > before + pool.least(before));
            assert!((at.score() - best.max(before)).abs() < 1e-9);
        }
    }
}

#[test]
fn a_window_over_everything_finds_the_best_of_all_graphs() {
    let mut rng = testing::rng(2);
    for round in 0..testing::rounds(60) as usize {
        let candidates = testing::candidates(1 + round % 5, 8, round % 3 == 0, &mut rng);
        let found = search(&candidates, Anytime::default());
        assert!(found.proven);
        let optimum = testing::ranked(&candidates)[0].0;
        assert!((found.scores.iter().sum::<f64>() - optimum).abs() < 1e-9);
    }
}

#[test]
fn small_windows_never_exceed_and_nearly_always_reach_the_optimum() {
    let mut rng = testing::rng(3);
    let mut n_optimal = 0;
    for round in 0..60 {
        let candidates = testing::candidates(10, 30, round % 2 == 0, &mut rng);
        let optimum: f64 = search(&candidates, Anytime { window: 10, ..Anytime::default() }).scores.iter().sum();
        let found = search(&candidates, Anytime { rounds: 100, window: 4, chains: 2, seed: round });
        let score: f64 = found.scores.iter().sum();
        let dag = Dag::from_parents(&found.parents).unwrap();
        assert_eq!(testing::total(&candidates, &dag), Some(score));
        assert!(score <= optimum + 1e-9);
        n_optimal += usize::from(score > optimum - 1e-9);
    }
    assert!(n_optimal >= 58, "{n_optimal} of 60");
}

#[test]
fn one_thread_and_many_find_the_same_in_a_budget_of_rounds() {
    let candidates = testing::candidates(40, 150, false, &mut testing::rng(4));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let how = Anytime { rounds: 20, seed: 5, ..Anytime::default() };
        let found = pool.install(|| search(&candidates, how));
        (found.parents, found.scores, found.order, found.n_rounds)
    };
    let one = run(1);
    assert!([2, 7].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn constraints_are_obeyed_and_missing_empty_sets_are_no_obstacle() {
    let candidates = testing::candidates(16, 300, false, &mut testing::rng(6));
    let rule = |v: Var| ParentRule {
        required: if v == 3 { vec![7] } else { vec![] },
        allowed: (0..16).filter(|&p| p != v && v != 7 && (p, v) != (0, 1)).collect(),
        max_parents: 2,
    };
    let constraints = Constraints::new((0..16).map(rule).collect()).unwrap();
    let every = Scored { pruned: false, ..Scored::default() };
    let candidates = restricted(&candidates, &constraints, &every).unwrap();
    let control = Control::default();
    let how = Anytime { rounds: 10, window: 6, ..Anytime::default() };
    let found = how.run(&Stored::new(&candidates, &constraints).unwrap(), Budget::new(&control, None)).unwrap();
    let dag = Dag::from_parents(&found.parents).unwrap();
    assert!((0..16).all(|v| constraints.child(v).permits(&dag.family(v))));
    assert_eq!(testing::total(&candidates, &dag), Some(found.scores.iter().sum()));
}

#[test]
fn a_stop_returns_a_graph_with_its_score() {
    let candidates = testing::candidates(60, 200, false, &mut testing::rng(7));
    let stored = Stored::new(&candidates, &Constraints::none(60)).unwrap();
    let control = Control::default();
    let budget = Budget::new(&control, Some(std::time::Duration::from_millis(30)));
    let found = Anytime::default().run(&stored, budget).unwrap();
    assert_eq!(found.stop, Some(Stop::Time));
    assert!(found.improvements.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 < w[1].1));
    control.stop();
    let found = Anytime::default().run(&stored, Budget::new(&control, None)).unwrap();
    assert_eq!(found.stop, Some(Stop::Interrupted));
    let dag = Dag::from_parents(&found.parents).unwrap();
    assert_eq!(testing::total(&candidates, &dag), Some(found.scores.iter().sum()));
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let candidates = testing::candidates(3, 2, false, &mut testing::rng(8));
    let stored = Stored::new(&candidates, &Constraints::none(3)).unwrap();
    let control = Control::default();
    for how in [Anytime { window: 21, ..Anytime::default() }, Anytime { chains: 0, ..Anytime::default() }] {
        assert!(how.run(&stored, Budget::new(&control, None)).is_err());
    }
}

#[test]
fn instances_with_known_optima_reach_them_in_a_budget_of_rounds() {
    for (file, optimum, rounds) in [
        ("asia.num.jkl", -22466.39654649, 1),
        ("wine.BIC.3.jkl", -1258.44590861, 5),
        ("child5000.num.jkl", -71542.801, 20),
        ("insurance1000_bic.jkl", -14350.47136143, 150),
        ("autos_bic.jkl", -1585.75974095, 800),
        ("soybean_bic.jkl", -3122.06379938, 800),
        ("wdbc_bic.jkl", -6602.11809, 150),
        ("alarm1000_bic.jkl", -11783.05241228, 150),
        ("carpo100_bic.jkl", -2000.21316531, 150),
    ] {
        let text = places::text(&places::data().join("instances").join(file));
        let found = search(&jkl::read(&text, file).unwrap(), Anytime { rounds, ..Anytime::default() });
        let score: f64 = found.scores.iter().sum();
        assert!((score - optimum).abs() < 2e-3, "{file}: {score} of {optimum}");
    }
}
