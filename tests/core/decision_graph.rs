//! Decision graphs against literal recomputation: every gain, every score, every region, and the combined search.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arbornet_core::control::{Budget, Stop};
use arbornet_core::decision_graph::grow::{greedy, grown};
use arbornet_core::decision_graph::joint::{Joint, Search};
use arbornet_core::decision_graph::levels::Levels;
use arbornet_core::decision_graph::splits::Cut;
use arbornet_core::decision_graph::state::{Operator, Problem, State};
use arbornet_core::decision_graph::{Prepared, PriorChoice, Schedule, Settings};
use arbornet_core::model::cells::{Cell, Cells};
use arbornet_core::model::decision_graph::{DecisionGraph, Node};
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{
    Affine, Codes, Column, Constraints, Control, Kind, Level, LocalModel, LocalScore, Model, Network, ParentRule,
    Predictive, Table, Value, Variable,
};
use libm::lgamma;
use proptest::prelude::*;

fn levels(k: usize) -> Arc<[Level]> {
    (0..k as i64).map(Level::Int).collect()
}

/// Columns of codes with so many levels each.
fn table(columns: &[(usize, Vec<u32>)]) -> Arc<Table> {
    let variable = |(i, (k, _)): (usize, &(usize, Vec<u32>))| {
        let kind =
            if i % 3 == 2 { Kind::Ordinal { levels: levels(*k) } } else { Kind::Categorical { levels: levels(*k) } };
        Variable { name: format!("v{i}").into(), kind }
    };
    let variables = columns.iter().enumerate().map(variable).collect();
    let codes = columns.iter().map(|(k, codes)| Column::Codes(Codes::pack(codes, *k))).collect();
    Arc::new(Table::new(variables, codes).unwrap())
}

/// A generator that needs no seed beyond a number.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// The first column depends on the next two.
fn drawn(seed: u64, n_rows: usize, arities: &[usize]) -> Arc<Table> {
    let mut draws = Draws(seed);
    let mut columns: Vec<(usize, Vec<u32>)> =
        arities.iter().map(|&k| (k, (0..n_rows).map(|_| draws.below(k) as u32).collect())).collect();
    for row in 0..n_rows {
        if draws.below(4) > 0 && columns.len() > 2 {
            columns[0].1[row] = (columns[1].1[row] * columns[2].1[row]) % arities[0] as u32;
        }
    }
    table(&columns)
}

fn settings(operators: &str, prior: PriorChoice, kappa: f64, thresholds: bool) -> Settings {
    let operators = operators.to_owned().try_into().unwrap();
    Settings { operators, prior, kappa, thresholds, ..Settings::default() }
}

/// A network of independent uneven variables, one of them depending on the next.
fn beliefs(table: &Table) -> Arc<Network> {
    let variables = table.variables().to_vec();
    let models = (0..variables.len()).map(|v| {
        let k = variables[v].n_levels().unwrap();
        let weights = |shift: usize| -> Vec<f64> {
            let raw: Vec<f64> = (0..k).map(|c| 1.0 + ((c + v + shift) % 3) as f64).collect();
            let sum: f64 = raw.iter().sum();
            raw.into_iter().map(|w| w / sum).collect()
        };
        let parents: Vec<usize> = if v + 1 < variables.len() { vec![v + 1] } else { vec![] };
        let n_configurations = parents.first().map_or(1, |&p| variables[p].n_levels().unwrap());
        let cell = |c: usize| Cell {
            codes: parents.iter().map(|_| c as u32).collect(),
            n_rows: 0,
            distribution: Predictive::Levels { probabilities: weights(c) },
        };
        let unseen = Predictive::Levels { probabilities: weights(0) };
        LocalModel::Cells(Cells::new(v, parents.clone(), (0..n_configurations).map(cell).collect(), unseen))
    });
    let models = models.collect();
    Arc::new(Network::new(variables, models).unwrap())
}

fn codes(table: &Table, var: usize) -> Vec<u32> {
    table.codes(var, "").unwrap().iter().map(|c| c as u32).collect()
}

/// All legal operators of a state, told from its leaves' rows and regions.
fn legal(problem: &Problem<'_>, state: &State, table: &Table) -> Vec<Operator> {
    let mut out = Vec::new();
    let operators = problem.settings.operators;
    for (leaf, of) in state.leaves() {
        for (field, &var) in problem.fields.iter().enumerate() {
            let k = problem.n_levels(field);
            let possible = of.region.possible(field).unwrap_or_else(|| Levels::all(k));
            let column = codes(table, var);
            let observed = Levels::of(k, of.rows.iter().map(|&row| column[row as usize]));
            if observed.len() < 2 {
                continue;
            }
            if operators.complete {
                out.push(Operator::Split { leaf, field, cut: Cut::Each });
            }
            if operators.binary && !(operators.complete && possible.len() == 2) {
                out.extend(observed.iter().map(|l| Operator::Split { leaf, field, cut: Cut::Level(l) }));
                let ordered = matches!(table.variable(var).kind, Kind::Ordinal { .. });
                if ordered && problem.settings.thresholds && possible.len() > 2 {
                    let (low, high) = (observed.iter().next().unwrap(), observed.iter().last().unwrap());
                    let cuts = possible.iter().filter(|&l| l > low && l <= high);
                    out.extend(cuts.map(|l| Operator::Split { leaf, field, cut: Cut::Below(l) }));
                }
            }
        }
    }
    if operators.merge {
        let ids: Vec<usize> = state.leaves().map(|(id, _)| id).collect();
        for (i, &a) in ids.iter().enumerate() {
            out.extend(ids[i + 1..].iter().map(|&b| Operator::Merge(a, b)));
        }
    }
    out
}

/// Every configuration of the parents.
fn configurations(table: &Table, parents: &[usize]) -> Vec<Vec<u32>> {
    parents.iter().fold(vec![vec![]], |all, &p| {
        let k = table.variable(p).n_levels().unwrap() as u32;
        all.into_iter().flat_map(|c| (0..k).map(move |l| [c.clone(), vec![l]].concat())).collect()
    })
}

fn values(codes: &[u32]) -> Vec<Value> {
    codes.iter().map(|&c| Value::Code(c)).collect()
}

/// The score of a graph from nothing but where it sends rows and configurations: equation 5, literally.
fn literal(graph: &DecisionGraph, table: &Table, settings: &Settings) -> f64 {
    let (child, parents) = (graph.child(), graph.parents().to_vec());
    let r = table.variable(child).n_levels().unwrap();
    let mut leaves: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let configurations = configurations(table, &parents);
    for configuration in &configurations {
        let leaf = leaves.entry(graph.leaf(&values(configuration))).or_insert((vec![0.0; r], vec![0.0; r]));
        for code in 0..r {
            leaf.1[code] += match &settings.prior {
                PriorChoice::Uniform => 0.0,
                PriorChoice::Ess(ess) => ess / (configurations.len() * r) as f64,
                PriorChoice::Network { ess, network } => {
                    let mut known: Vec<(usize, Value)> =
                        parents.iter().zip(configuration).map(|(&p, &c)| (p, Value::Code(c))).collect();
                    known.push((child, Value::Code(code as u32)));
                    ess * probability(network, &known)
                }
            };
        }
    }
    if settings.prior == PriorChoice::Uniform {
        for leaf in leaves.values_mut() {
            leaf.1.fill(1.0);
        }
    }
    let columns: Vec<Vec<u32>> = parents.iter().map(|&p| codes(table, p)).collect();
    let response = codes(table, child);
    for row in 0..table.n_rows() {
        let configuration: Vec<u32> = columns.iter().map(|c| c[row]).collect();
        leaves.get_mut(&graph.leaf(&values(&configuration))).unwrap().0[response[row] as usize] += 1.0;
    }
    let of_leaf = |(counts, alphas): &(Vec<f64>, Vec<f64>)| {
        let (n, a): (f64, f64) = (counts.iter().sum(), alphas.iter().sum());
        let cells: f64 = counts.iter().zip(alphas).map(|(n, a)| lgamma(n + a) - lgamma(*a)).sum();
        cells + lgamma(a) - lgamma(n + a)
    };
    leaves.values().map(of_leaf).sum::<f64>() + leaves.len() as f64 * (r as f64 - 1.0) * settings.kappa.ln()
}

/// The probability of some values, by summing over everything else.
fn probability(network: &Network, known: &[(usize, Value)]) -> f64 {
    let all: Vec<usize> = (0..network.n_vars()).collect();
    let table = network.empty_table().unwrap();
    let mut total = 0.0;
    for configuration in configurations(&table, &all) {
        let agrees = known.iter().all(|&(v, value)| value == Value::Code(configuration[v]));
        if agrees {
            let of = |v: usize| {
                let parents: Vec<Value> = network.parents(v).iter().map(|&p| Value::Code(configuration[p])).collect();
                network.model(v).predictive(&parents).log_density(Value::Code(configuration[v]))
            };
            total += all.iter().map(|&v| of(v)).sum::<f64>().exp();
        }
    }
    total
}

fn priors(table: &Table) -> [PriorChoice; 3] {
    [PriorChoice::Uniform, PriorChoice::Ess(3.0), PriorChoice::Network { ess: 2.5, network: beliefs(table) }]
}

fn graph(problem: &Problem<'_>, state: &State) -> DecisionGraph {
    DecisionGraph::from_state(problem, state).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_gain_is_the_difference_of_full_scores(
        seed in any::<u64>(), n_rows in 1_usize..60, steps in 0_usize..6, thresholds in any::<bool>(),
        kappa in prop::sample::select(vec![1.0, 0.3]), which in 0_usize..3,
        operators in prop::sample::select(vec!["CBM", "BM", "CM", "B", "CB"]),
    ) {
        let table = drawn(seed, n_rows, &[3, 2, 4, 3]);
        let settings = settings(operators, priors(&table)[which].clone(), kappa, thresholds);
        let prepared = settings.prepared(&table).unwrap();
        let problem = prepared.problem(0, &[1, 2, 3]).unwrap();
        let mut state = State::new(&problem).unwrap();
        let mut draws = Draws(seed.wrapping_add(77));
        for _ in 0..=steps {
            let here = literal(&graph(&problem, &state), &table, &settings);
            prop_assert!((here - state.score()).abs() < 1e-8, "{here} {}", state.score());
            let legal = legal(&problem, &state, &table);
            let mut best = f64::NEG_INFINITY;
            for &operator in &legal {
                let mut next = state.clone();
                next.apply(&problem, operator).unwrap();
                let there = literal(&graph(&problem, &next), &table, &settings);
                prop_assert!((there - next.score()).abs() < 1e-8, "{operator:?}: {there} {}", next.score());
                best = best.max(there - here);
            }
            match state.best(&problem, None) {
                Some((gain, operator)) => {
                    prop_assert!(legal.contains(&operator), "{operator:?}");
                    prop_assert!((gain - best).abs() < 1e-8, "{gain} {best}");
                }
                None => prop_assert!(best < 1e-8, "{best}"),
            }
            // The gains kept are of the best split by each predictor.
            for (id, leaf) in state.leaves() {
                for (field, gains) in leaf.gains.iter().enumerate() {
                    if gains.binary > f64::NEG_INFINITY {
                        let mut next = state.clone();
                        next.apply(&problem, Operator::Split { leaf: id, field, cut: gains.cut }).unwrap();
                        prop_assert!((next.score() - state.score() - gains.binary).abs() < 1e-9);
                    }
                    if gains.complete > f64::NEG_INFINITY {
                        let mut next = state.clone();
                        next.apply(&problem, Operator::Split { leaf: id, field, cut: Cut::Each }).unwrap();
                        prop_assert!((next.score() - state.score() - gains.complete).abs() < 1e-9);
                    }
                }
            }
            if legal.is_empty() {
                break;
            }
            state.apply(&problem, legal[draws.below(legal.len())]).unwrap();
        }
    }

    #[test]
    fn merging_is_symmetric_and_a_graph_scores_the_sum_over_its_leaves(
        seed in any::<u64>(), n_rows in 4_usize..80, which in 0_usize..3,
    ) {
        let table = drawn(seed, n_rows, &[3, 3, 4]);
        let settings = settings("CB", priors(&table)[which].clone(), 1.0, false);
        let merging = Settings { operators: "CBM".to_owned().try_into().unwrap(), ..settings };
        let prepared = merging.prepared(&table).unwrap();
        let problem = prepared.problem(0, &[1, 2]).unwrap();
        let mut state = State::new(&problem).unwrap();
        for field in [0, 1] {
            let ids: Vec<usize> = state.leaves().map(|(id, _)| id).collect();
            for leaf in ids {
                if state.leaf(leaf).gains[field].complete > f64::NEG_INFINITY {
                    state.apply(&problem, Operator::Split { leaf, field, cut: Cut::Each }).unwrap();
                }
            }
        }
        let sum: f64 = state.leaves().map(|(_, leaf)| leaf.score).sum();
        prop_assert_eq!(sum, state.score());
        let ids: Vec<usize> = state.leaves().map(|(id, _)| id).collect();
        for &a in &ids {
            for &b in ids.iter().filter(|&&b| b != a) {
                let (mut one, mut other) = (state.clone(), state.clone());
                one.apply(&problem, Operator::Merge(a, b)).unwrap();
                other.apply(&problem, Operator::Merge(b, a)).unwrap();
                prop_assert!((one.score() - other.score()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn unused_parents_are_those_no_configuration_depends_on(seed in any::<u64>(), steps in 0_usize..9) {
        let table = drawn(seed, 50, &[2, 3, 2, 3]);
        let prepared = settings("CBM", PriorChoice::Ess(4.0), 1.0, true).prepared(&table).unwrap();
        let problem = prepared.problem(0, &[1, 2, 3]).unwrap();
        let mut state = State::new(&problem).unwrap();
        let mut draws = Draws(seed);
        for _ in 0..steps {
            let mut legal = legal(&problem, &state, &table);
            if draws.below(2) == 0 {
                legal.retain(|operator| matches!(operator, Operator::Merge(..)));
            }
            if let Some(&operator) = legal.get(draws.below(legal.len())) {
                state.apply(&problem, operator).unwrap();
            }
        }
        let whole = graph(&problem, &state);
        let unused = whole.unused();
        let all = configurations(&table, &[1, 2, 3]);
        for (position, var) in [1, 2, 3].into_iter().enumerate() {
            let depends = all.iter().any(|c| {
                let mut other = c.clone();
                other[position] = 0;
                whole.leaf(&values(c)) != whole.leaf(&values(&other))
            });
            prop_assert_eq!(unused.contains(&var), !depends);
        }
        let fewer = whole.without_unused();
        prop_assert_eq!(fewer.n_leaves(), whole.n_leaves());
        prop_assert!(fewer.unused().is_empty());
        fewer.check(table.variables()).unwrap();
        whole.check(table.variables()).unwrap();
        for c in &all {
            let kept: Vec<u32> = fewer.parents().iter().map(|&p| c[p - 1]).collect();
            prop_assert_eq!(fewer.predictive(&values(&kept)), whole.predictive(&values(c)));
        }
    }

    #[test]
    fn the_text_and_the_rules_name_every_leaf_once(seed in any::<u64>(), n_rows in 10_usize..200) {
        let table = drawn(seed, n_rows, &[3, 4, 4, 3]);
        let score = settings("CBM", PriorChoice::Ess(1.0), 1.0, false).prepared(&table).unwrap();
        let model = LocalScore::model(&score, 0, &[1, 2, 3]).unwrap();
        let LocalModel::DecisionGraph(graph) = &model else { panic!("a decision graph") };
        let description = model.describe(table.variables()).unwrap();
        let leaves = description.leaves();
        prop_assert_eq!(leaves.len(), graph.n_leaves());
        prop_assert_eq!(description.rules().len(), graph.n_leaves());
        let n: usize = leaves.iter().map(|leaf| leaf.n).sum();
        prop_assert_eq!(n, n_rows);
        // As many ways as the text shows, shared questions aside: each further way to a leaf is an arrow.
        let back: LocalModel = serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
        prop_assert_eq!(back, model);
    }
}

#[test]
fn a_graph_of_all_complete_splits_scores_as_the_full_table() {
    let table = drawn(5, 300, &[3, 2, 4, 2]);
    let network = beliefs(&table);
    let network_json = serde_json::to_string(&*network).unwrap();
    for (prior, full) in [
        (PriorChoice::Uniform, r#"{"score":"bd","alpha":1}"#.to_owned()),
        (PriorChoice::Ess(7.0), r#"{"score":"bdeu","ess":7}"#.to_owned()),
        (PriorChoice::Network { ess: 7.0, network }, format!(r#"{{"score":"bde","ess":7,"network":{network_json}}}"#)),
    ] {
        let prepared = settings("C", prior, 1.0, false).prepared(&table).unwrap();
        let problem = prepared.problem(0, &[1, 2, 3]).unwrap();
        let mut state = State::new(&problem).unwrap();
        for field in 0..3 {
            let ids: Vec<usize> = state.leaves().map(|(id, _)| id).collect();
            for leaf in ids {
                state.apply(&problem, Operator::Split { leaf, field, cut: Cut::Each }).unwrap();
            }
        }
        let expected = ScoreSpec::parse(&full).unwrap().prepare(&table).unwrap().score(0, &[1, 2, 3]).unwrap();
        assert!((state.score() - expected).abs() < 1e-8, "{full}: {} {expected}", state.score());
        assert!(problem.fields == [1, 2, 3] && state.n_leaves() == 16);
    }
}

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
            let best = |leaf: &arbornet_core::decision_graph::state::Leaf| {
                leaf.gains.iter().map(|g| g.complete.max(g.binary)).fold(f64::NEG_INFINITY, f64::max)
            };
            assert!(state.leaves().all(|(_, leaf)| best(leaf) <= 1e-9));
        }
        state.apply(&problem, operator).unwrap();
    }
    assert!(merged);
}

#[test]
fn numbers_are_halved_and_sent_where_their_rows_went() {
    let mut draws = Draws(9);
    let x: Vec<f64> = (0..300).map(|_| draws.below(1000) as f64 / 10.0).collect();
    let y: Vec<u32> = x.iter().map(|&x| u32::from(x > 12.0 && x < 40.0)).collect();
    let variables = vec![
        Variable { name: "y".into(), kind: Kind::Categorical { levels: levels(2) } },
        Variable { name: "x".into(), kind: Kind::Continuous { scale: Affine::IDENTITY } },
    ];
    let columns = vec![Column::Codes(Codes::pack(&y, 2)), Column::Reals(x.clone())];
    let table = Arc::new(Table::new(variables, columns).unwrap());
    let score = settings("BM", PriorChoice::Uniform, 1.0, true).prepared(&table).unwrap();
    let LocalModel::DecisionGraph(graph) = LocalScore::model(&score, 0, &[1]).unwrap() else { panic!() };
    assert!(graph.n_leaves() >= 2 && !graph.thresholds(0).unwrap().is_empty());
    graph.check(table.variables()).unwrap();
    let mut counts = BTreeMap::<usize, u64>::new();
    for &x in &x {
        *counts.entry(graph.leaf(&[Value::Real(x)])).or_default() += 1;
    }
    for (at, node) in graph.nodes().iter().enumerate() {
        if let Node::Leaf { n, .. } = node {
            assert_eq!(counts.get(&at).copied().unwrap_or(0), *n);
        }
    }
    let refused = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    let error = LocalScore::score(&refused, 0, &[1]).unwrap_err().to_string();
    assert!(error.contains("'x'") && error.contains("thresholds"), "{error}");
    assert!(LocalScore::score(&score, 1, &[0]).unwrap_err().to_string().contains("'x'"));
}

#[test]
fn degenerate_tables_are_answered() {
    let one_level = table(&[(1, vec![0; 5]), (3, vec![0, 1, 2, 0, 1])]);
    let no_rows = table(&[(2, vec![]), (3, vec![])]);
    let one_row = table(&[(2, vec![1]), (3, vec![2])]);
    let constant = table(&[(2, vec![0; 9]), (3, vec![1; 9])]);
    for table in [one_level, no_rows, one_row, constant] {
        for prior in [PriorChoice::Uniform, PriorChoice::Ess(1.0)] {
            let score = settings("CBM", prior, 1.0, true).prepared(&table).unwrap();
            for parents in [&[][..], &[1]] {
                assert!(LocalScore::score(&score, 0, parents).unwrap().is_finite());
                let model = LocalScore::model(&score, 0, parents).unwrap();
                let values = values(&vec![2; parents.len()]);
                let Predictive::Levels { probabilities } = &*model.predictive(&values) else { panic!() };
                assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                model.check(table.variables()).unwrap();
            }
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
        assert!(model.describe(table.variables()).unwrap().text().contains("leaf"));
        assert!(graph.unused().is_empty());
    }
    // The child itself may have as many.
    let score = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    assert!(LocalScore::score(&score, 1, &[0]).unwrap().is_finite());
}

fn network_table() -> Arc<Table> {
    let mut draws = Draws(8);
    let n = 500;
    let mut columns: Vec<(usize, Vec<u32>)> = Vec::new();
    for v in 0..9_usize {
        let k = 2 + v % 3;
        let (a, b) = (draws.below(v), draws.below(v));
        let column = (0..n).map(|row| {
            if v > 0 && draws.below(10) < 7 {
                (columns[a].1[row] + columns[b].1[row]) % k as u32
            } else {
                draws.below(k) as u32
            }
        });
        let column = column.collect();
        columns.push((k, column));
    }
    table(&columns)
}

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
        let mut search = Search::new(&prepared, &constraints, Budget::new(&control, None)).unwrap();
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

#[test]
fn a_file_that_would_lead_astray_is_refused() {
    let table = network_table();
    let score = settings("CBM", PriorChoice::Uniform, 1.0, false).prepared(&table).unwrap();
    let grown = |v: usize| LocalScore::model(&score, v, &(0..9).filter(|&p| p != v).collect::<Vec<_>>()).unwrap();
    let large = |model: &LocalModel| matches!(model, LocalModel::DecisionGraph(graph) if graph.n_leaves() > 2);
    let model = (0..9).map(grown).find(large).expect("some variable depends on others");
    let sound = serde_json::to_value(&model).unwrap();
    let changes: [fn(&mut serde_json::Value); 5] = [
        |m| m["nodes"] = serde_json::json!([]),
        |m| m["nodes"][0]["to"][0] = 0.into(),
        |m| m["nodes"][0]["to"][0] = 100_000.into(),
        |m| m["nodes"][0]["parent"] = 77.into(),
        |m| m["unused"] = serde_json::json!([9]),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut document = sound.clone();
        change(&mut document);
        let model: LocalModel = serde_json::from_value(document).unwrap();
        assert!(model.check(table.variables()).is_err(), "change {i}");
    }
}
