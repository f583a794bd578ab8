//! Every tier against brute force and against one another, on candidates that no data would give.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::candidates::{Candidates, ChildCandidates};
use crate::cases::factor;
use crate::control::{Budget, Control};
use crate::exact::engine::{self, Component, Limits, Opening};
use crate::exact::problem::{Loose, NEVER};

/// Random candidates: scores are not equivalent, tie often, may be positive; sets may be dominated; the empty set may
/// be missing; some variables are twins, some isolated.
fn random(n: usize, seed: u64) -> Candidates {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let grain = [1.0, 0.25, 1e-6][random.random_range(0..3)];
    let offset = [0.0, -500.0, 20.0][random.random_range(0..3)];
    let density = random.random_range(0.1..0.9);
    let empty = random.random_range(0.5..1.2);
    let mut children: Vec<Vec<(f64, Vec<u32>)>> = Vec::new();
    for v in 0..n {
        if v > 1 && random.random_range(0.0..1.0) < 0.15 {
            // A twin of the variable before: the same sets, with the two exchanged.
            let swap = |p: u32| if p as usize == v { v as u32 - 1 } else { p };
            let twin = |(score, set): &(f64, Vec<u32>)| {
                let mut set: Vec<u32> = set.iter().map(|&p| swap(p)).collect();
                set.sort_unstable();
                (*score, set)
            };
            children.push(children[v - 1].iter().map(twin).collect());
            continue;
        }
        let mut sets = Vec::new();
        if random.random_range(0.0..1.0) < empty || v == 0 {
            sets.push((offset - 8.0, vec![]));
        }
        for _ in 0..random.random_range(0..14) {
            let set: Vec<u32> = (0..n as u32)
                .filter(|&p| p as usize != v && random.random_range(0.0..1.0) < density * 3.0 / n as f64)
                .collect();
            let score: f64 = random.random_range(-10.0..2.0);
            sets.push((offset + (score / grain).round() * grain, set));
        }
        if sets.is_empty() {
            sets.push((offset - 8.0, vec![]));
        }
        children.push(sets);
    }
    let names = (0..n).map(|v| format!("{v} of seed {seed}")).collect();
    Candidates::new(names, children.into_iter().map(ChildCandidates::from_sets).collect()).expect("well formed")
}

/// The best total over all orders, from every set of placed variables to each with one more.
fn brute_force(candidates: &Candidates) -> Option<f64> {
    let n = candidates.n_vars();
    let mut best: Vec<Option<f64>> = vec![None; 1 << n];
    best[0] = Some(0.0);
    for placed in 0..1usize << n {
        let Some(here) = best[placed] else { continue };
        for v in (0..n).filter(|v| placed >> v & 1 == 0) {
            let fits = |set: &[u32]| set.iter().all(|&p| placed >> p & 1 == 1);
            if let Some((_, own)) = candidates.child(v).iter().find(|(set, _)| fits(set)) {
                let there = &mut best[placed | 1 << v];
                *there = Some(there.map_or(here + own, |t: f64| t.max(here + own)));
            }
        }
    }
    best[(1 << n) - 1]
}

/// So many, or as many times as many as a campaign asks for.
fn seeds(by_default: u64) -> u64 {
    by_default * u64::from(factor())
}

const LIMITS: Limits = Limits { columns: 40, clusters: 5, new: 3, block: 4, scarce: 2, tolerance: 1e-6 };

/// The optimum by a strategy over components; None if some component has no order. Checks bounds on the way.
fn solve(candidates: &Candidates, strategy: &dyn Fn(&mut Component, Budget)) -> Option<f64> {
    let control = Control::default();
    let budget = Budget::new(&control, None);
    let loose = Loose::from_candidates(candidates).expect("finite");
    let mut total: f64 = (0..candidates.n_vars()).map(|v| candidates.child(v).best()).sum();
    for part in loose.split() {
        let mut component = engine::component(&part);
        if !component.deadlock().is_empty() {
            return None;
        }
        strategy(&mut component, budget);
        let first = &candidates.names()[0];
        assert!(component.bound() <= component.cost(), "a bound above the incumbent, {first}");
        assert_eq!(component.bound(), component.cost(), "the search ended without a proof, {first}");
        assert!(component.cost() < NEVER);
        let (root, _) = component.certificate();
        assert!(root <= component.cost(), "the certificate claims too much, {first}");
        total -= component.scale().real(component.cost());
    }
    Some(total)
}

fn program(component: &mut Component, budget: Budget) {
    component.program(f64::INFINITY, budget).expect("not stopped");
}

/// In as little memory as can be: every block of the subsets is a slab with tables of its own.
fn frugal_program(component: &mut Component, budget: Budget) {
    assert!(component.program_size(0.0).bytes <= component.program_size(f64::INFINITY).bytes);
    component.program(0.0, budget).expect("not stopped");
}

fn branch(component: &mut Component, budget: Budget, rounds: usize, max_live: usize, batch: usize, deepest: bool) {
    component.improve(0, budget);
    if rounds > 0 {
        component.ascend(2, f64::INFINITY, budget);
    }
    for _ in 0..rounds {
        if component.bound() < component.cost() {
            component.cut(&LIMITS, f64::INFINITY, budget);
        }
    }
    // Blocks of all sizes, and none; beams of some widths, and none.
    let (beam, pattern) = ([0, 0, 3][component.n_sets() % 3], component.n_sets() % 9);
    let shallow = if deepest { -1.0 } else { f64::INFINITY };
    let how = Opening { beam, max_live, pattern, patterned: 256, batch, shallow };
    if component.bound() < component.cost() {
        component.open(&how, f64::INFINITY, budget).expect("not stopped");
    }
    while component.bound() < component.cost() - component.slack() {
        let before = component.bound();
        if !component.expand(&how, f64::INFINITY, budget).expect("not stopped") {
            break;
        }
        assert!(component.bound() >= before, "a bound fell");
    }
}

fn agree(n: usize, seed: u64, found: Option<f64>, best: Option<f64>, what: &str) {
    match (found, best) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-7, "{what}, {n} variables, seed {seed}: {a}, not {b}"),
        (a, b) => assert_eq!(a, b, "{what}, {n} variables, seed {seed}"),
    }
}

#[test]
fn the_program_finds_what_brute_force_finds() {
    for seed in 0..seeds(3000) {
        let n = 1 + seed as usize % 8;
        let candidates = random(n, seed);
        agree(n, seed, solve(&candidates, &program), brute_force(&candidates), "subset program");
    }
}

#[test]
fn branch_and_bound_finds_what_brute_force_finds() {
    for seed in 0..seeds(6000) {
        let n = 1 + seed as usize % 8;
        let candidates = random(n, seed + 10_000);
        let (rounds, max_live) = ([0, 1, 3][seed as usize % 3], [0, 1000, 4][seed as usize / 3 % 3]);
        let batch = [1, 7, 1000][seed as usize / 9 % 3];
        let found = solve(&candidates, &|c, b| branch(c, b, rounds, max_live, batch, seed % 5 == 0));
        agree(n, seed, found, brute_force(&candidates), "branch and bound");
    }
}

#[test]
fn branch_and_bound_finds_what_the_program_finds_up_to_fourteen_variables() {
    for seed in 0..seeds(1500) {
        let n = 9 + seed as usize % 6;
        let candidates = random(n, seed + 50_000);
        let found =
            solve(&candidates, &|c, b| branch(c, b, seed as usize % 4, [500, 0][seed as usize % 2], 16, seed % 7 == 0));
        agree(n, seed, found, solve(&candidates, &program), "branch and bound");
    }
}

#[test]
fn the_program_finds_the_same_in_little_memory() {
    for seed in 0..seeds(60) {
        let n = 12 + seed as usize % 5;
        let candidates = random(n, seed + 60_000);
        agree(n, seed, solve(&candidates, &frugal_program), solve(&candidates, &program), "subset program in slabs");
    }
}

/// Divides until a part is solved by its cuts, or cannot be divided and is solved by the program.
fn halve(component: &mut Component, budget: Budget, depth: usize) {
    const KEEN: Limits = Limits { columns: 1000, clusters: 100, new: 50, block: 5, scarce: 50, tolerance: 1e-6 };
    component.improve(0, budget);
    for _ in 0..3 {
        if component.bound() < component.cost() {
            component.cut(&KEEN, f64::INFINITY, budget);
        }
    }
    if component.bound() >= component.cost() {
        return;
    }
    match component.branch() {
        Some((mut one, mut other)) if depth < 6 => {
            assert!(one.bound().min(other.bound()) >= component.bound(), "a half has a lower bound than the whole");
            for half in [&mut one, &mut other] {
                halve(half, budget, depth + 1);
                component.learn(half.cost(), &half.order().expect("solved"), 0);
            }
            component.prove(one.bound().min(other.bound()));
        }
        _ => program(component, budget),
    }
}

#[test]
fn halves_and_blocks_find_what_the_program_finds() {
    for seed in 0..seeds(2000) {
        let n = 3 + seed as usize % 10;
        let candidates = random(n, seed + 120_000);
        let found = solve(&candidates, &|c, b| halve(c, b, 0));
        agree(n, seed, found, solve(&candidates, &program), "halves");
    }
}

#[test]
fn a_tolerance_is_never_exceeded() {
    let control = Control::default();
    let budget = Budget::new(&control, None);
    for seed in 0..seeds(500) {
        let n = 5 + seed as usize % 5;
        let candidates = random(n, seed + 90_000);
        let loose = Loose::from_candidates(&candidates).expect("finite");
        for part in loose.split() {
            let (mut exact, mut near) = (engine::component(&part), engine::component(&part));
            if !exact.deadlock().is_empty() {
                continue;
            }
            program(&mut exact, budget);
            let slack = exact.cost() / 10;
            near.tolerate(slack);
            branch(&mut near, budget, 1, 100, 8, false);
            assert!(near.bound() <= exact.cost() && exact.cost() <= near.cost(), "seed {seed}");
            assert!(near.cost() - near.bound() <= slack, "seed {seed}");
        }
    }
}

#[test]
fn orders_are_complete_and_cost_what_they_claim() {
    let control = Control::default();
    let budget = Budget::new(&control, None);
    for seed in 0..seeds(300) {
        let n = 3 + seed as usize % 9;
        let loose = Loose::from_candidates(&random(n, seed + 70_000)).expect("finite");
        for part in loose.split() {
            let mut component = engine::component(&part);
            if !component.deadlock().is_empty() {
                continue;
            }
            branch(&mut component, budget, 0, 100, 8, false);
            let order = component.order().expect("solved");
            let local: Vec<usize> =
                order.iter().map(|v| part.vars.iter().position(|w| w == v).expect("its own")).collect();
            let mut sorted = local.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..part.vars.len()).collect::<Vec<_>>());
            assert_eq!(part.pack::<1>(component.scale()).follow(&local).0, component.cost(), "seed {seed}");
        }
    }
}

#[test]
fn wider_words_change_nothing() {
    // 70 variables in one component: a ring of pairs, each wanting its neighbour.
    let n = 70;
    let child = |v: usize| {
        let next = ((v + 1) % n) as u32;
        ChildCandidates::from_sets([(-1.0 - (v % 7) as f64 / 8.0, vec![next]), (-3.0 - (v % 5) as f64 / 4.0, vec![])])
    };
    let names = (0..n).map(|v| v.to_string()).collect();
    let ring = Candidates::new(names, (0..n).map(child).collect()).expect("well formed");
    let all: f64 = (0..n).map(|v| -1.0 - (v % 7) as f64 / 8.0).sum();
    let cut = (0..n).map(|v| (2.0 + (v % 5) as f64 / 4.0) - (v % 7) as f64 / 8.0).fold(f64::INFINITY, f64::min);
    let found = solve(&ring, &|c, b| branch(c, b, 2, 1000, 64, false)).expect("a ring can be cut");
    assert!((found - (all - cut)).abs() < 1e-9, "{found}");
}

#[test]
fn of_orders_that_cost_alike_the_program_takes_the_one_that_ends_in_the_smallest_variables() {
    // Each wants any other, whoever comes first goes without.
    let others = |v: u32| (0..4).filter(move |&u| u != v).map(|u| (0.0, vec![u])).chain([(-1.0, vec![])]);
    let children = (0..4).map(|v| ChildCandidates::from_sets(others(v))).collect();
    let alike = Candidates::new((0..4).map(|v: u32| v.to_string()).collect(), children).expect("well formed");
    let loose = Loose::from_candidates(&alike).expect("finite");
    let mut component = engine::component(&loose.split()[0]);
    let control = Control::default();
    program(&mut component, Budget::new(&control, None));
    assert_eq!(component.order().expect("solved"), [3, 2, 1, 0]);
}

/// Where a bound leaves out the set that a variable may have at once, hardly any instance tells: this one does.
#[test]
fn a_successors_bound_counts_what_its_variables_have_at_once() {
    let candidates = random(13, 54_762);
    let found = solve(&candidates, &|c, b| branch(c, b, 2, 500, 16, false));
    agree(13, 54_762, found, solve(&candidates, &program), "branch and bound");
}

#[test]
fn what_a_component_holds_grows_by_what_is_opened_and_is_given_back() {
    let loose = Loose::from_candidates(&random(12, 3)).expect("finite");
    let mut component = engine::component(&loose.split().into_iter().max_by_key(|part| part.vars.len()).expect("one"));
    let control = Control::default();
    let budget = Budget::new(&control, None);
    component.improve(0, budget);
    let first = component.held();
    // Two bit sets, a cost, a rank and a reduced cost for each set; the sets as they were are the same ones.
    let sets = component.n_sets() * 36;
    assert!(sets <= first && first < 2 * sets + 2000, "{first} for {sets}");
    component.ascend(1, f64::INFINITY, budget);
    let how = Opening { beam: 0, max_live: 100, pattern: 0, patterned: 256, batch: 8, shallow: 0.5 };
    let before = component.held();
    let opens = |component: &mut Component, more: usize| {
        component.open(&how, (before + more) as f64, budget).expect("not stopped")
    };
    let needed = (0..).step_by(100).find(|&more| opens(&mut component, more)).expect("some memory is enough");
    assert!(needed > 0, "nothing would be needed");
    assert!(component.held() >= before + needed / 4 && component.held() <= before + needed + 20_000);
    component.close(true);
    assert!(component.held() <= before);
}

#[test]
fn what_does_not_fit_is_left_out() {
    let loose = Loose::from_candidates(&random(12, 3)).expect("finite");
    let mut component = engine::component(&loose.split().into_iter().max_by_key(|part| part.vars.len()).expect("one"));
    let control = Control::default();
    let budget = Budget::new(&control, None);
    component.improve(0, budget);
    let (held, bound) = (component.held() as f64, component.bound());
    component.ascend(2, held, budget);
    assert!(!component.cut(&LIMITS, held, budget));
    assert_eq!(component.bound(), bound, "an ascent or a round was made");
    component.ascend(2, f64::INFINITY, budget);
    assert!(component.bound() > bound, "an ascent raises the bound where there is room");
}
