use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::control::Control;
use crate::table::{Codes, Column, Kind, Level, Units, Variable};

const HOW: Hybrid = Hybrid { restarts: Some(2), seed: 0, interactions: false };

fn number(name: &str, values: Vec<f64>) -> (Variable, Column) {
    (Variable { name: name.into(), kind: Kind::Continuous { scale: Units::IDENTITY } }, Column::Reals(values))
}

fn levels(name: &str, codes: &[u32]) -> (Variable, Column) {
    let k = codes.iter().max().map_or(1, |c| *c as usize + 1);
    let all: Arc<[Level]> = (0..k as i64).map(Level::Int).collect();
    (Variable { name: name.into(), kind: Kind::Categorical { levels: all } }, Column::Codes(Codes::pack(codes, k)))
}

fn table(columns: Vec<(Variable, Column)>) -> Arc<Table> {
    let (variables, columns) = columns.into_iter().unzip();
    Arc::new(Table::new(variables, columns).unwrap())
}

fn found(how: &Hybrid, table: &Arc<Table>, constraints: &Constraints) -> Found {
    let control = Control::default();
    how.run(table, constraints, Budget::new(&control, None)).unwrap()
}

struct Noise(Xoshiro256PlusPlus);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.0.random::<f64>()).sum::<f64>() - 6.0
    }

    fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }
}

/// Two causes of a bent, log-normal third, of which levels depend.
fn collider(n: usize) -> Arc<Table> {
    let mut noise = Noise::new(1);
    let (a, b) = (noise.normals(n), noise.normals(n));
    let c: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a * a + b + 0.3 * noise.normal()).exp()).collect();
    let d: Vec<u32> = c.iter().map(|c| u32::from(c.ln() + 0.5 * noise.normal() > 1.0)).collect();
    table(vec![number("a", a), number("b", b), number("c", c), levels("d", &d)])
}

#[test]
fn a_collider_of_curves_is_directed_and_what_follows_from_it() {
    let table = collider(500);
    let found = found(&HOW, &table, &Constraints::none(4));
    assert!(found.winner.bends(), "{:?}", found.judged);
    let mut arcs: Vec<_> = found.class.arcs().collect();
    arcs.sort_unstable();
    assert_eq!((arcs, found.class.links().count()), (vec![(0, 2), (1, 2), (2, 3)], 0));
    assert_eq!(found.strengths.len(), 3);
    assert!(found.strengths.iter().all(|s| *s > 5.0), "{:?}", found.strengths);
    let judged: Vec<Winner> = found.judged.iter().map(|j| j.0).collect();
    // Every scale is that of ranks here, so there is nothing to search twice.
    assert_eq!(judged, [Winner::Lines, Winner::Curves, Winner::Bends, Winner::Cells], "{:?}", found.scales);
}

#[test]
fn constraints_are_kept_through_every_step() {
    let table = collider(300);
    for interactions in [false, true] {
        let mut rules: Vec<ParentRule> = (0..4).map(|v| Constraints::none(4).child(v).clone()).collect();
        rules[0].required = vec![3];
        rules[2].allowed = vec![1];
        rules[1].max_parents = 0;
        let constraints = Constraints::new(rules).unwrap();
        let found = found(&Hybrid { interactions, ..HOW }, &table, &constraints);
        assert!(Knowledge::new(&constraints).permits(&found.dag), "{:?}", found.dag.arcs().collect::<Vec<_>>());
        assert!(found.dag.has_arc(3, 0));
    }
}

#[test]
fn threads_change_no_bit() {
    let table = collider(200);
    let on = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let found = pool.install(|| found(&Hybrid { interactions: true, ..HOW }, &table, &Constraints::none(4)));
        let bits: Vec<u64> = found.scores.iter().chain(&found.strengths).map(|x| x.to_bits()).collect();
        (found.dag.arcs().collect::<Vec<_>>(), bits, found.judged.iter().map(|j| j.1.to_bits()).collect::<Vec<_>>())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn interactions_without_main_effects_are_found_when_asked_for() {
    let mut noise = Noise::new(4);
    let n = 600;
    let (a, b, c) = (noise.normals(n), noise.normals(n), noise.normals(n));
    let xor: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a * b).signum() + 0.4 * noise.normal()).collect();
    let flips: Vec<u32> = (0..n).map(|_| u32::from(noise.normal() > 0.0)).collect();
    let slope: Vec<f64> =
        c.iter().zip(&flips).map(|(c, f)| if *f == 1 { *c } else { -c } + 0.4 * noise.normal()).collect();
    let w = noise.normals(n);
    let wave: Vec<f64> = w.iter().map(|w| (6.0 * w).sin() + 0.3 * noise.normal()).collect();
    let columns = vec![
        number("a", a),
        number("b", b),
        number("xor", xor),
        number("c", c),
        levels("flips", &flips),
        number("slope", slope),
        number("w", w),
        number("wave", wave),
    ];
    let table = table(columns);
    let none = Constraints::none(8);
    let joined = |found: &Found| -> Vec<(Var, Var)> {
        let mut arcs: Vec<_> = found.dag.arcs().map(|(a, b)| (a.min(b), a.max(b))).collect();
        arcs.sort_unstable();
        arcs
    };
    let plain = joined(&found(&HOW, &table, &none));
    let more = joined(&found(&Hybrid { interactions: true, ..HOW }, &table, &none));
    let waves = (6, 7);
    assert!(more.contains(&waves) && !plain.contains(&waves), "{more:?} {plain:?}");
    // Of three columns that tell nothing of each other in pairs, any one may be the child of the others.
    for three in [[0, 1, 2], [3, 4, 5]] {
        let inside = |arcs: &[(Var, Var)]| arcs.iter().filter(|(a, b)| three.contains(a) && three.contains(b)).count();
        assert!(inside(&more) >= 2 && inside(&plain) < 2, "{three:?}: {more:?} {plain:?}");
    }
}

#[test]
fn levels_alone_are_also_searched_by_counts() {
    let mut noise = Noise::new(2);
    let a: Vec<u32> = (0..400).map(|_| u32::from(noise.normal() > 0.0)).collect();
    let b: Vec<u32> = a.iter().map(|a| (a + u32::from(noise.normal() > 1.0)) % 3).collect();
    let table = table(vec![levels("a", &a), levels("b", &b)]);
    let found = found(&HOW, &table, &Constraints::none(2));
    let judged: Vec<Winner> = found.judged.iter().map(|j| j.0).collect();
    assert_eq!(judged, [Winner::Lines, Winner::Counts, Winner::Cells]);
    assert_eq!(found.class.links().count(), 1);
}

#[test]
fn equivalent_graphs_are_judged_alike() {
    let table = collider(400);
    let none = Constraints::none(4);
    let control = Control::default();
    let (budget, halt) = (Budget::new(&control, None), Halt::default());
    let features = Features::new(&table, DEGREE, Scale::Auto);
    let prepared = Prepared::new(&table, features, None).unwrap();
    let search = Search::new(&HOW, &prepared, &none, budget);
    // The levels of `d` are a curve over `c`; turned round, each judge sees something else.
    let members = [vec![(1, 2), (2, 3)], vec![(3, 2), (2, 1)], vec![(2, 1), (2, 3)]];
    let judged = |of: &dyn Fn(&Dag) -> Result<f64>| -> Vec<f64> {
        members.iter().map(|arcs| of(&Dag::from_arcs(4, arcs.iter().copied()).unwrap()).unwrap()).collect()
    };
    let alone = judged(&|dag| search.prepared.judge.total(dag, &halt));
    assert!(alone.iter().any(|total| (total - alone[0]).abs() > 1.0), "{alone:?}");
    let classes = judged(&|dag| search.prepared.judge.of_class(dag, &search.knowledge, &halt));
    let best = alone.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(classes.iter().all(|total| (total - best).abs() < 1e-6), "{classes:?} {alone:?}");
}

#[test]
fn two_columns_that_tell_nothing_of_each_other_are_not_joined() {
    let mut noise = Noise::new(6);
    let table = table(vec![number("x", noise.normals(300)), number("y", noise.normals(300))]);
    assert_eq!(found(&HOW, &table, &Constraints::none(2)).dag.n_arcs(), 0);
}

#[test]
fn without_time_or_rows_or_columns_there_is_a_graph() {
    let control = Control::default();
    let table_of = collider(100);
    let none = Constraints::none(4);
    let found = HOW.run(&table_of, &none, Budget::new(&control, Some(std::time::Duration::ZERO))).unwrap();
    assert_eq!(found.stop, Some(Stop::Time));
    for n in [0, 1, 2] {
        let table = table(vec![number("x", vec![1.5; n]), number("y", (0..n).map(|i| i as f64).collect())]);
        let found = HOW.run(&table, &Constraints::none(2), Budget::new(&control, None)).unwrap();
        assert_eq!(found.dag.n_arcs(), 0);
    }
    let empty = Arc::new(Table::new(vec![], vec![]).unwrap());
    assert_eq!(HOW.run(&empty, &Constraints::none(0), Budget::new(&control, None)).unwrap().dag.n_vars(), 0);
    control.stop();
    assert!(matches!(HOW.run(&table_of, &none, Budget::new(&control, None)), Err(Error::Interrupted)));
}
