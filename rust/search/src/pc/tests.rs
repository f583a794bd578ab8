use super::super::testing;
use super::*;
use crate::control::Control;
use crate::dags::all_dags;
use crate::independence::{DSeparation, Tested};

fn judged(how: Pc, test: &dyn IndependenceTest, constraints: &Constraints) -> Judged {
    let control = Control::default();
    how.run(test, constraints, Budget::new(&control, None)).unwrap()
}

const BOTH: [Pc; 3] = [
    Pc { alpha: 0.01, conservative: false, ambiguous_as_noncollider: false, max_given: usize::MAX },
    Pc { alpha: 0.01, conservative: true, ambiguous_as_noncollider: false, max_given: usize::MAX },
    Pc { alpha: 0.01, conservative: true, ambiguous_as_noncollider: true, max_given: usize::MAX },
];

#[test]
fn on_the_d_separations_of_any_graph_of_four_variables_its_class_is_found() {
    for dag in all_dags(4) {
        for how in BOTH {
            let found = judged(how, &DSeparation(dag.clone()), &Constraints::none(4));
            assert_eq!(found.class, dag.cpdag());
            assert_eq!(found.dag.cpdag(), found.class);
            assert!(found.consistent && found.ambiguous.is_empty());
        }
    }
}

#[test]
fn on_the_d_separations_of_random_graphs_their_classes_are_found() {
    for seed in 0..testing::rounds(40) {
        let n = 5 + seed as usize % 11;
        let dag = testing::random_dag(n, 2.5 / n as f64, &mut testing::rng(seed));
        for how in BOTH {
            let found = judged(how, &DSeparation(dag.clone()), &Constraints::none(n));
            assert_eq!(found.class, dag.cpdag(), "{seed}");
        }
    }
}

#[test]
fn true_constraints_narrow_the_class_to_the_members_that_obey() {
    for seed in 0..testing::rounds(60) {
        let mut rng = testing::rng(seed);
        let n = 5 + seed as usize % 5;
        let dag = testing::random_dag(n, 0.4, &mut rng);
        let constraints = testing::constraints(&dag, &mut rng);
        for how in BOTH {
            let found = judged(how, &DSeparation(dag.clone()), &constraints);
            let knowledge = Knowledge::new(&constraints);
            assert_eq!(found.class, knowledge.class_of(&dag), "{seed}");
            assert!(knowledge.permits(&found.dag), "{seed}");
        }
    }
}

#[test]
fn a_limit_on_parents_turns_links_before_it_costs_adjacencies() {
    // Either direction means the same, and one obeys; found by the test above at its 98th seed.
    for (parent, child) in [(0, 1), (1, 0)] {
        let mut rules: Vec<_> = (0..2).map(|v| Constraints::none(2).child(v).clone()).collect();
        rules[parent].max_parents = 0;
        let constraints = Constraints::new(rules).unwrap();
        let found = judged(BOTH[0], &DSeparation(Dag::from_arcs(2, [(0, 1)]).unwrap()), &constraints);
        assert_eq!((found.dag.arcs().collect::<Vec<_>>(), found.n_trimmed), (vec![(parent, child)], 0));
        assert!(found.class.has_link(0, 1));
    }
}

/// Answers at random, the same answer to the same question.
struct Noise(usize, u64);

impl IndependenceTest for Noise {
    fn n_vars(&self) -> usize {
        self.0
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        let key = given.iter().fold(self.1 + (x.min(y) * 64 + x.max(y)) as u64, |key, &v| key * 67 + v as u64 + 1);
        let p_value = rand::RngExt::random::<f64>(&mut testing::rng(key)) * 0.03;
        Ok(Tested { p_value, statistic: 0.0, df: 1.0 })
    }
}

#[test]
fn tests_that_contradict_each_other_still_give_a_graph_that_obeys() {
    let mut inconsistent = 0;
    for seed in 0..testing::rounds(150) {
        let mut rng = testing::rng(seed);
        let n = 7;
        let constraints = testing::constraints(&testing::random_dag(n, 0.4, &mut rng), &mut rng);
        for how in BOTH {
            let found = judged(how, &Noise(n, seed), &constraints);
            assert!(Knowledge::new(&constraints).permits(&found.dag), "{seed}");
            assert!(found.class.arcs().all(|(a, b)| found.dag.has_arc(a, b)));
            assert!(found.class.links().all(|(a, b)| found.dag.adjacent(a, b)));
            if found.consistent {
                assert_eq!(Pdag::of(&found.dag).shd(&Pdag::of(&found.class.extension().unwrap())), 0);
            }
            inconsistent += usize::from(!found.consistent);
        }
    }
    assert!(inconsistent > 0, "noise contradicts itself");
}

#[test]
fn the_order_of_the_variables_does_not_matter() {
    // A test that depends on names, not on positions.
    struct Named<'a>(&'a [usize], Noise);
    impl IndependenceTest for Named<'_> {
        fn n_vars(&self) -> usize {
            self.0.len()
        }
        fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
            let mut given: Vec<Var> = given.iter().map(|&v| self.0[v]).collect();
            given.sort_unstable();
            self.1.test(self.0[x], self.0[y], &given)
        }
    }
    for seed in 0..testing::rounds(30) {
        let n = 8;
        let order = [3, 7, 0, 5, 1, 6, 2, 4];
        let plain: Vec<usize> = (0..n).collect();
        for how in BOTH {
            let one = judged(how, &Named(&plain, Noise(n, seed)), &Constraints::none(n)).class;
            let other = judged(how, &Named(&order, Noise(n, seed)), &Constraints::none(n)).class;
            let mut renamed = Pdag::new(n);
            other.arcs().for_each(|(a, b)| renamed.set_arc(order[a], order[b]));
            other.links().for_each(|(a, b)| renamed.set_link(order[a], order[b]));
            assert_eq!(renamed, one, "{seed}");
        }
    }
}

#[test]
fn threads_change_nothing_and_a_stop_leaves_a_graph() {
    let dag = testing::random_dag(12, 0.2, &mut testing::rng(1));
    let run = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| judged(BOTH[1], &Noise(12, 5), &Constraints::none(12)))
    };
    let (one, four) = (run(1), run(4));
    assert_eq!((one.class, one.dag, one.n_tests), (four.class, four.dag, four.n_tests));
    let control = Control::default();
    let budget = Budget::new(&control, Some(std::time::Duration::ZERO));
    let stopped = BOTH[0].run(&DSeparation(dag), &Constraints::none(12), budget).unwrap();
    assert_eq!((stopped.stop, stopped.dag.n_arcs()), (Some(Stop::Time), 0));
}

#[test]
fn a_disagreement_of_separating_sets_leaves_the_triple_open() {
    // x - z - y, where both nothing and z separate x from y.
    struct Both;
    impl IndependenceTest for Both {
        fn n_vars(&self) -> usize {
            3
        }
        fn test(&self, x: Var, y: Var, _: &[Var]) -> Result<Tested> {
            let p_value = if x.min(y) == 0 && x.max(y) == 1 { 0.5 } else { 0.0 };
            Ok(Tested { p_value, statistic: 0.0, df: 1.0 })
        }
    }
    let none = Constraints::none(3);
    let plain = judged(BOTH[0], &Both, &none);
    assert!(plain.class.has_arc(0, 2) && plain.class.has_arc(1, 2));
    let careful = judged(BOTH[1], &Both, &none);
    assert_eq!(careful.ambiguous, [(0, 2, 1)]);
    assert_eq!(careful.class.links().count(), 2);
}

/// Independent without anything given, with these p-values; whatever is given, all others depend.
struct Listed(Vec<(Var, Var, f64)>);

impl IndependenceTest for Listed {
    fn n_vars(&self) -> usize {
        4
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        let listed = self.0.iter().find(|&&(a, b, _)| given.is_empty() && (a, b) == (x.min(y), x.max(y)));
        Ok(Tested { p_value: listed.map_or(0.0, |of| of.2), statistic: 1.0, df: 1.0 })
    }
}

#[test]
fn of_colliders_that_contradict_each_other_the_surer_is_kept() {
    // Along 0 - 1 - 2 - 3 both 1 and 2 look like colliders, which wants the edge between them both ways.
    let control = Control::default();
    for (first, second, kept) in [(0.9, 0.5, (2, 1)), (0.5, 0.9, (1, 2))] {
        let test = Listed(vec![(0, 2, first), (1, 3, second), (0, 3, 0.99)]);
        let found = Pc::default().run(&test, &Constraints::none(4), Budget::new(&control, None)).unwrap();
        assert!(found.class.has_arc(kept.0, kept.1), "{:?}", found.class);
    }
}

#[test]
fn of_sets_that_separate_as_surely_the_first_counts() {
    struct Even;
    impl IndependenceTest for Even {
        fn n_vars(&self) -> usize {
            5
        }

        fn test(&self, _x: Var, _y: Var, _given: &[Var]) -> Result<Tested> {
            Ok(Tested { p_value: 0.5, statistic: 1.0, df: 1.0 })
        }
    }
    let (control, none) = (Control::default(), Constraints::none(5));
    let budget = Budget::new(&control, None);
    let (knowledge, halt, n_refused) = (Knowledge::new(&none), budget.halt(), AtomicU64::new(0));
    let work = Work { how: Pc::default(), test: &Even, knowledge, budget, halt, n_refused };
    let neighbours = vec![vec![1, 2, 3], vec![0, 4], vec![], vec![], vec![]];
    let asked = work.separation(0, 1, &neighbours, 1).unwrap();
    assert_eq!(asked.n_tests, 3);
    assert_eq!(asked.best.unwrap().1.as_slice(), [2]);
}
