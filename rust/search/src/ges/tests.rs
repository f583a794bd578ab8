use std::sync::Arc;

use rand::RngExt;

use super::super::boss::Boss;
use super::super::families::Scored;
use super::super::grasp::Grasp;
use super::super::testing::{self, Population};
use super::*;
use crate::constraints::Constraints;
use crate::control::Control;
use crate::dags::all_dags;
use crate::local::LocalScore;
use crate::table::{Codes, Column, Kind, Level, Table, Variable};
use arbornet_model::prior::GraphPrior;
use arbornet_score::classic::dirichlet::Bdeu;
use arbornet_score::classic::likelihood::{Likelihood, Penalty};

type Search = fn(&Scored<'_>, Budget<'_>) -> Result<Classed>;

const FGES: Search = |scored, budget| Fges { faithfulness: false }.run(scored, None, budget);
const BOSS: Search = |scored, budget| Boss { restarts: 0, seed: 0 }.run(scored, None, budget);
const GRASP: Search = |scored, budget| Grasp::default().run(scored, None, budget);
const BOSS_AGAIN: Search = |scored, budget| Boss { restarts: 4, seed: 0 }.run(scored, None, budget);
const GRASP_AGAIN: Search = |scored, budget| Grasp { restarts: 4, ..Grasp::default() }.run(scored, None, budget);

fn bic(n_vars: usize, n_rows: usize, seed: u64) -> Box<dyn LocalScore> {
    Likelihood { penalty: Penalty::Bic, prior: GraphPrior::Uniform }
        .prepare(&testing::levels(n_vars, n_rows, &mut testing::rng(seed)))
        .unwrap()
}

fn total(score: &dyn LocalScore, dag: &Dag) -> f64 {
    (0..dag.n_vars()).map(|v| score.score(v, &dag.family(v)).unwrap()).sum()
}

fn found(search: Search, score: &dyn LocalScore, constraints: &Constraints) -> Classed {
    let control = Control::default();
    let budget = Budget::new(&control, None);
    search(&Scored::new(score, constraints, budget), budget).unwrap()
}

/// The best score of any graph that obeys.
fn best_of_all(score: &dyn LocalScore, constraints: &Constraints) -> f64 {
    let n = constraints.n_vars();
    let obeys = |dag: &Dag| (0..n).all(|v| constraints.child(v).permits(&dag.family(v)));
    all_dags(n).iter().filter(|dag| obeys(dag)).map(|dag| total(score, dag)).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn on_the_score_of_a_population_every_search_finds_the_class_of_its_network() {
    for (search, name) in [(FGES, "fges"), (BOSS, "boss"), (GRASP, "grasp")] {
        for seed in 0..testing::rounds(60) {
            let mut rng = testing::rng(seed);
            let n = 4 + seed as usize % 7;
            let dag = testing::random_dag(n, 2.5 / n as f64, &mut rng);
            let score = Population::new(&dag, 1e9, &mut rng);
            let found = found(search, &score, &Constraints::none(n));
            assert_eq!(found.class, dag.cpdag(), "{name} {seed}");
            assert_eq!(found.dag.cpdag(), found.class);
        }
    }
}

/// Every graph with one arc more, or with one arc less.
fn one_arc_away(dag: &Dag, more: bool) -> Vec<Dag> {
    let n = dag.n_vars();
    let mut out = vec![];
    for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let mut next = dag.clone();
        let differs = if more {
            !dag.adjacent(a, b) && next.add_arc(a, b)
        } else {
            next.remove_arc(a, b);
            dag.has_arc(a, b)
        };
        if differs {
            out.push(next);
        }
    }
    out
}

/// Chickering's definition of the steps: classes that hold a graph with one arc more than a member of this one (or one
/// less). The best gain among them is that of the operators, and every operator's gain is what its class gains.
#[test]
fn the_operators_of_any_class_lead_to_its_neighbours_and_gain_what_these_gain() {
    for seed in 0..testing::rounds(80) {
        let mut rng = testing::rng(seed);
        let n = rng.random_range(2..5);
        let table = testing::odd_levels(n, &mut rng);
        let bdeu = Bdeu { ess: 1.5, prior: GraphPrior::Uniform }.prepare(&table);
        let bic = Likelihood { penalty: Penalty::Bic, prior: GraphPrior::Uniform }.prepare(&table);
        let score = if seed % 2 == 0 { bic } else { bdeu }.unwrap();
        let dags = testing::every_dag(n);
        let start = dags[rng.random_range(0..dags.len())].clone();
        let none = Constraints::none(n);
        let (control, knowledge) = (Control::default(), Knowledge::new(&none));
        let budget = Budget::new(&control, None);
        let scored = Scored::new(&*score, &none, budget);
        let climb = Climb::new(&scored, &knowledge, budget, start.clone());
        let (class, here) = (start.cpdag(), total(&*score, &start));
        let members: Vec<&Dag> = dags.iter().filter(|dag| dag.cpdag() == class).collect();
        let all: Vec<Var> = (0..n).collect();
        for forward in [true, false] {
            let mut literal = f64::NEG_INFINITY;
            for next in members.iter().flat_map(|member| one_arc_away(member, forward)) {
                literal = literal.max(total(&*score, &next) - here);
            }
            let mut best = f64::NEG_INFINITY;
            for y in 0..n {
                let arrows = if forward { climb.insertions(y, &all) } else { climb.deletions(y, &all) };
                for arrow in arrows.unwrap() {
                    let next = if forward { climb.inserted(y, &arrow) } else { climb.deleted(y, &arrow) };
                    if let Some((next, _)) = next {
                        let gained = total(&*score, &next) - here;
                        assert!((gained - arrow.gain).abs() < 1e-8, "seed {seed}: {arrow:?} gains {gained}");
                        assert!(next.n_arcs().abs_diff(start.n_arcs()) == 1, "seed {seed}: {arrow:?}");
                        best = best.max(arrow.gain);
                    }
                }
            }
            let found = (best - literal).abs() < 1e-8 || (literal < LEAST_GAIN + 1e-8 && best < LEAST_GAIN + 1e-8);
            assert!(found, "seed {seed}, forward {forward}: {best} of {literal}");
        }
    }
}

#[test]
fn the_best_class_of_five_variables_is_that_of_brute_force() {
    let none = |n| Constraints::none(n);
    let check = |search: Search, score: &dyn LocalScore, n: usize, name: &str| {
        let found = found(search, score, &none(n));
        let own: f64 = found.scores.iter().sum();
        assert!((own - total(score, &found.dag)).abs() < 1e-9 * own.abs());
        let best = best_of_all(score, &none(n));
        assert!((own - best).abs() < 1e-12 * best.abs() + 1e-6, "{name}: {own} of {best}");
    };
    for seed in 0..12 {
        let n = 4 + seed as usize % 2;
        let mut rng = testing::rng(seed);
        let population = Population::new(&testing::random_dag(n, 0.5, &mut rng), 1e6, &mut rng);
        check(FGES, &population, n, "fges");
        // Sums modulo a number of levels: parents that only pay together, which greedy steps from nothing may miss.
        let sample = bic(n, 4000, seed);
        check(BOSS_AGAIN, &*sample, n, "boss");
        check(GRASP_AGAIN, &*sample, n, "grasp");
    }
}

#[test]
fn every_search_obeys_whatever_is_required_forbidden_or_limited() {
    for (search, name) in [(FGES, "fges"), (BOSS, "boss"), (GRASP, "grasp")] {
        for seed in 0..testing::rounds(40) {
            let mut rng = testing::rng(100 + seed);
            let n = 7;
            let dag = testing::random_dag(n, 0.4, &mut rng);
            let constraints = testing::constraints(&dag, &mut rng);
            // What is required has nothing to do with what the data say.
            let score = Population::new(&testing::random_dag(n, 0.4, &mut rng), 1e4, &mut rng);
            let found = found(search, &score, &constraints);
            let knowledge = Knowledge::new(&constraints);
            assert!(knowledge.permits(&found.dag), "{name} {seed}");
            assert_eq!(found.class, knowledge.class_of(&found.dag));
            for (a, b) in found.class.arcs() {
                assert!(knowledge.allows(a, b));
            }
            for (a, b) in found.class.links() {
                assert!(knowledge.allows(a, b) && knowledge.allows(b, a));
            }
        }
    }
}

#[test]
fn under_constraints_the_best_of_four_variables_is_that_of_brute_force() {
    // Greedy steps have no guarantee there: the search over classes may miss one in ten.
    for (search, name, may_miss) in [(FGES, "fges", 4), (BOSS_AGAIN, "boss", 0)] {
        let mut missed = 0;
        for seed in 0..40 {
            let mut rng = testing::rng(200 + seed);
            let dag = testing::random_dag(4, 0.5, &mut rng);
            let constraints = testing::constraints(&dag, &mut rng);
            // The network obeys, so it is the best.
            let score = Population::new(&dag, 1e9, &mut rng);
            let found: f64 = found(search, &score, &constraints).scores.iter().sum();
            let best = best_of_all(&score, &constraints);
            assert!(found < best + 1e-6);
            missed += usize::from(found < best - 1e-6);
        }
        assert!(missed <= may_miss, "{name} missed {missed}");
    }
}

#[test]
fn threads_change_nothing() {
    for search in [FGES, BOSS, GRASP] {
        let score = bic(10, 500, 3);
        let run = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| found(search, &*score, &Constraints::none(10)))
        };
        let (one, four) = (run(1), run(4));
        assert_eq!((one.dag, one.scores, one.n_moves), (four.dag, four.scores, four.n_moves));
    }
}

#[test]
fn a_stopped_search_returns_what_it_has() {
    for search in [FGES, BOSS, GRASP] {
        let score = bic(6, 100, 1);
        let (control, none) = (Control::default(), Constraints::none(6));
        let budget = Budget::new(&control, Some(std::time::Duration::ZERO));
        let found = search(&Scored::new(&*score, &none, budget), budget).unwrap();
        assert_eq!(found.stop, Some(Stop::Time));
        assert_eq!(found.dag.n_arcs(), 0);
        assert!((found.scores.iter().sum::<f64>() - total(&*score, &found.dag)).abs() < 1e-9);
    }
}

#[test]
fn a_member_of_a_class_begins_with_any_clique() {
    for dag in all_dags(5) {
        let class = dag.cpdag();
        for (a, b) in class.links().flat_map(|(a, b)| [(a, b), (b, a)]) {
            let member = class.member(&[a, b]);
            assert_eq!(member.cpdag(), class);
            assert!(member.has_arc(a, b));
            assert!(class.neighbours(a).all(|w| member.has_arc(a, w)));
        }
    }
}

#[test]
fn of_operators_that_gain_alike_the_smaller_variable_comes_first() {
    // The last three columns are one column thrice.
    let rows: Vec<u32> = (0..60).map(|i| i % 3).collect();
    let noisy: Vec<u32> = rows.iter().enumerate().map(|(i, &x)| if i % 7 == 0 { (x + 1) % 3 } else { x }).collect();
    let columns = [noisy, rows.clone(), rows.clone(), rows];
    let variables = ["y", "a", "b", "c"].map(|name| Variable {
        name: name.into(),
        kind: Kind::Categorical { levels: (0..3).map(Level::Int).collect() },
    });
    let columns = columns.map(|column| Column::Codes(Codes::pack(&column, 3)));
    let table = Arc::new(Table::new(variables.into(), columns.into()).unwrap());
    let score = Likelihood { penalty: Penalty::Bic, prior: GraphPrior::Uniform }.prepare(&table).unwrap();
    let none = Constraints::none(4);
    let (control, knowledge) = (Control::default(), Knowledge::new(&none));
    let budget = Budget::new(&control, None);
    let scored = Scored::new(&*score, &none, budget);
    let mut climb = Climb::new(&scored, &knowledge, budget, Dag::new(4));
    climb.renew(&[Touched::All(0)], Climb::insertions).unwrap();
    let arrows = &climb.arrows[0];
    assert!(arrows.windows(2).all(|w| w[0].gain.to_bits() == w[1].gain.to_bits()));
    assert_eq!(arrows.iter().map(|arrow| arrow.x).collect::<Vec<_>>(), [1, 2, 3]);
}

/// The operators of every variable, all made anew.
fn made_anew<'a, 'b>(
    climb: &Climb<'a, 'b>,
    make: fn(&Climb<'a, 'b>, Var, &[Var]) -> Result<Vec<Arrow>>,
) -> Vec<Vec<Arrow>> {
    let mut anew = Climb {
        class: climb.class.clone(),
        ..Climb::new(climb.scored, climb.knowledge, climb.budget, climb.dag.clone())
    };
    let all: Vec<Touched> = (0..climb.n()).map(Touched::All).collect();
    anew.renew(&all, make).unwrap();
    anew.arrows
}

#[test]
fn operators_kept_from_step_to_step_are_those_made_anew() {
    let mut deletions = 0;
    for seed in 0..testing::rounds(60) {
        let mut rng = testing::rng(seed);
        let n = rng.random_range(3..9);
        let score = Population::new(&testing::random_dag(n, 0.5, &mut rng), 200.0, &mut rng);
        let constraints = match seed % 3 {
            0 => testing::constraints(&testing::random_dag(n, 0.5, &mut rng), &mut rng),
            _ => Constraints::none(n),
        };
        let (control, knowledge) = (Control::default(), Knowledge::new(&constraints));
        let budget = Budget::new(&control, None);
        let scored = Scored::new(&score, &constraints, budget);
        let mut climb = Climb::new(&scored, &knowledge, budget, knowledge.required_arcs());
        for _ in 0..2 {
            let stale: Vec<Touched> = (0..n).filter(|&y| climb.stale[y]).map(Touched::All).collect();
            climb.renew(&stale, Climb::insertions).unwrap();
            climb.stale.fill(false);
            assert_eq!(climb.arrows, made_anew(&climb, Climb::insertions), "seed {seed}");
            while let Some((y, arrow, dag, class)) = climb.best(Climb::inserted) {
                let touched = climb.step(dag, class, arrow.x, y, true);
                climb.renew(&touched, Climb::insertions).unwrap();
                assert_eq!(climb.arrows, made_anew(&climb, Climb::insertions), "seed {seed}");
            }
            let kept = std::mem::take(&mut climb.arrows);
            climb.arrows = made_anew(&climb, Climb::deletions);
            while let Some((y, arrow, dag, class)) = climb.best(Climb::deleted) {
                deletions += 1;
                let touched = climb.step(dag, class, arrow.x, y, false);
                for touched in &touched {
                    climb.stale[touched.y()] = true;
                }
                climb.renew(&touched, Climb::deletions).unwrap();
                assert_eq!(climb.arrows, made_anew(&climb, Climb::deletions), "seed {seed}");
            }
            climb.arrows = kept;
        }
    }
    assert!(deletions > 10, "{deletions}");
}
