//! Every gain and every score, against their literal recomputation.

use std::collections::BTreeMap;

use arbornet_core::decision_graph::build::model;
use arbornet_core::decision_graph::levels::Levels;
use arbornet_core::decision_graph::splits::Cut;
use arbornet_core::decision_graph::state::{Operator, Problem, State};
use arbornet_core::decision_graph::{PriorChoice, Settings};
use arbornet_core::model::decision_graph::DecisionGraph;
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Kind, Model, Network, Table, Value};
use libm::lgamma;
use proptest::prelude::*;

use super::super::support::cases::cases;
use super::tables::{Draws, beliefs, codes, configurations, drawn, odd, settings, values};

/// All legal operators of a state, told from its leaves' rows and regions.
pub fn legal(problem: &Problem<'_>, state: &State, table: &Table) -> Vec<Operator> {
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

pub fn graph(problem: &Problem<'_>, state: &State) -> DecisionGraph {
    model(problem, state).unwrap()
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn every_gain_is_the_difference_of_full_scores(
        seed in any::<u64>(), n_rows in 1_usize..60, steps in 0_usize..6, thresholds in any::<bool>(),
        kappa in prop::sample::select(vec![1.0, 0.3]), which in 0_usize..3,
        operators in prop::sample::select(vec!["CBM", "BM", "CM", "B", "CB"]),
    ) {
        let table = odd(seed, n_rows, &[3, 2, 4, 3]);
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
        let table = odd(seed, n_rows, &[3, 3, 4]);
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
