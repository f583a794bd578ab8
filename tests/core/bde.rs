//! `BDe` against its definition: the prior network's joint distribution by brute force, literal gamma functions.

use std::sync::Arc;

use super::support::cases::cases;
use arbornet_core::model::cells::{Cell, Cells};
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::weights::Weights;
use arbornet_core::{
    Codes, Column, Kind, Level, LocalModel, LocalScore, Network, Predictive, Table, Units, Value, Variable,
};
use proptest::prelude::*;

const LEVELS: [usize; 4] = [2, 3, 2, 3];

fn variables() -> Vec<Variable> {
    let variable = |v: usize| Variable {
        name: format!("v{v}").into(),
        kind: Kind::Categorical { levels: (0..LEVELS[v] as i64).map(Level::Int).collect() },
    };
    (0..4).map(variable).collect()
}

fn table(rows: &[[u32; 4]], n_vars: usize) -> Arc<Table> {
    let column = |v: usize| Column::Codes(Codes::pack(&rows.iter().map(|r| r[v]).collect::<Vec<_>>(), LEVELS[v]));
    Arc::new(Table::new(variables()[..n_vars].to_vec(), (0..n_vars).map(column).collect()).unwrap())
}

/// v0 -> v1 -> v3 <- v2, with tables made of the weights.
fn network(weights: &[u32]) -> Network {
    let parents: [&[usize]; 4] = [&[], &[0], &[], &[1, 2]];
    let mut weights = weights.iter().cycle().map(|&w| f64::from(w));
    let mut shares = |k: usize| {
        let weights: Vec<f64> = weights.by_ref().take(k).collect();
        let total: f64 = weights.iter().sum();
        Predictive::Levels { probabilities: weights.iter().map(|w| w / total).collect() }
    };
    let models = (0..4).map(|v| {
        let mut configurations = vec![vec![]];
        for &p in parents[v] {
            let one_more = |c: Vec<u32>| (0..LEVELS[p] as u32).map(move |code| [c.clone(), vec![code]].concat());
            configurations = configurations.into_iter().flat_map(one_more).collect();
        }
        let cells = configurations.into_iter().map(|codes| Cell { codes, n_rows: 0, distribution: shares(LEVELS[v]) });
        let cells: Vec<_> = cells.collect();
        LocalModel::Cells(Cells::new(v, parents[v].to_vec(), cells, shares(LEVELS[v])))
    });
    Network::new(variables(), models.collect()).unwrap()
}

fn prepared(table: &Arc<Table>, network: &Network, ess: f64) -> Box<dyn LocalScore> {
    let spec = format!(r#"{{"score":"bde","ess":{ess},"network":{}}}"#, network.to_json());
    ScoreSpec::parse(&spec).unwrap().prepare(table).unwrap()
}

fn all_rows() -> Vec<[u32; 4]> {
    let k = LEVELS.map(|k| k as u32);
    (0..k.iter().product::<u32>()).map(|i| [i % k[0], i / k[0] % k[1], i / k[0] / k[1] % k[2], i / 12]).collect()
}

/// The probability of a configuration of some variables, summed over every configuration of all.
fn probability(network: &Network, set: &[usize], codes: &[u32]) -> f64 {
    let density = |row: &[u32; 4]| {
        let of = |v: usize| {
            let given: Vec<_> = network.parents(v).iter().map(|&p| Value::Code(row[p])).collect();
            network.model(v).predictive(&given).log_density(Value::Code(row[v])).exp()
        };
        (0..4).map(of).product::<f64>()
    };
    all_rows().iter().filter(|row| set.iter().zip(codes).all(|(&v, &c)| row[v] == c)).map(density).sum()
}

fn literal(rows: &[[u32; 4]], network: &Network, ess: f64, child: usize, parents: &[usize]) -> f64 {
    let lg = libm::lgamma;
    let of_set = |set: &[usize]| -> f64 {
        let mut seen: Vec<Vec<u32>> = rows.iter().map(|row| set.iter().map(|&v| row[v]).collect()).collect();
        seen.sort();
        let cell = |same: &[Vec<u32>]| {
            let a = ess * probability(network, set, &same[0]);
            lg(same.len() as f64 + a) - lg(a)
        };
        seen.chunk_by(|a, b| a == b).map(cell).sum()
    };
    of_set(&[parents, &[child]].concat()) - of_set(parents)
}

fn rows() -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec((0..2_u32, 0..3_u32, 0..2_u32, 0..3_u32), 1..80)
        .prop_map(|rows| rows.into_iter().map(|r| [r.0, r.1, r.2, r.3]).collect())
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * (1.0 + a.abs())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn it_is_its_definition(rows in rows(), weights in prop::collection::vec(1..9_u32, 11), ess in 0.2..20.0_f64) {
        let network = network(&weights);
        let table = table(&rows, 4);
        let score = prepared(&table, &network, ess);
        for (child, parents) in [(0, vec![]), (1, vec![3]), (3, vec![0, 1]), (2, vec![0, 1, 3])] {
            let (ours, expected) = (score.score(child, &parents).unwrap(), literal(&rows, &network, ess, child, &parents));
            prop_assert!(close(ours, expected), "{child} {parents:?}: {ours} {expected}");
        }
    }

    #[test]
    fn graphs_that_mean_the_same_score_alike(rows in rows(), weights in prop::collection::vec(1..9_u32, 11)) {
        let score = prepared(&table(&rows, 4), &network(&weights), 3.0);
        let total = |graph: &[(usize, &[usize])]| graph.iter().map(|(v, p)| score.score(*v, p).unwrap()).sum::<f64>();
        let chain = total(&[(0, &[]), (1, &[0]), (3, &[1]), (2, &[3])]);
        let fork = total(&[(3, &[]), (2, &[3]), (1, &[3]), (0, &[1])]);
        let complete = total(&[(0, &[]), (1, &[0]), (2, &[0, 1]), (3, &[0, 1, 2])]);
        let other = total(&[(3, &[]), (2, &[3]), (1, &[2, 3]), (0, &[1, 2, 3])]);
        prop_assert!(close(chain, fork) && close(complete, other), "{chain} {fork} {complete} {other}");
        // It is a distribution over data, so another graph scores otherwise.
        prop_assert!(rows.len() < 5 || (chain - complete).abs() > 1e-9);
    }

    #[test]
    fn a_network_that_holds_all_alike_gives_bdeu(rows in rows(), ess in 0.1..50.0_f64) {
        let table = table(&rows, 3);
        let score = prepared(&table, &network(&[1]), ess);
        let bdeu = ScoreSpec::parse(&format!(r#"{{"score":"bdeu","ess":{ess}}}"#)).unwrap().prepare(&table).unwrap();
        for (child, parents) in [(0, vec![]), (1, vec![0]), (2, vec![0, 1])] {
            prop_assert!(close(score.score(child, &parents).unwrap(), bdeu.score(child, &parents).unwrap()));
            let (ours, theirs) = (score.model(child, &parents).unwrap(), bdeu.model(child, &parents).unwrap());
            for row in &rows {
                let given: Vec<_> = parents.iter().map(|&p| Value::Code(row[p])).collect();
                let of = |m: &LocalModel| m.predictive(&given).log_density(Value::Code(row[child]));
                prop_assert!(close(of(&ours), of(&theirs)));
            }
        }
    }

    #[test]
    fn the_model_predicts_with_the_pseudo_counts(rows in rows(), weights in prop::collection::vec(1..9_u32, 11)) {
        let (network, ess) = (network(&weights), 4.0);
        let model = prepared(&table(&rows, 4), &network, ess).model(3, &[0, 2]).unwrap();
        for row in all_rows() {
            let alike = |r: &&[u32; 4]| r[0] == row[0] && r[2] == row[2];
            let n = rows.iter().filter(alike).count() as f64 + ess * probability(&network, &[0, 2], &[row[0], row[2]]);
            let m = rows.iter().filter(alike).filter(|r| r[3] == row[3]).count() as f64
                + ess * probability(&network, &[0, 2, 3], &[row[0], row[2], row[3]]);
            let ours = model.predictive(&[Value::Code(row[0]), Value::Code(row[2])]).log_density(Value::Code(row[3]));
            prop_assert!(close(ours.exp(), m / n), "{row:?}");
        }
    }
}

#[test]
fn what_the_prior_network_calls_impossible_scores_minus_infinity() {
    let without = |at: usize| network(&(0..60).map(|i| u32::from(i != at)).collect::<Vec<_>>());
    // v1 = 0 never happens with v0 = 0, though either is possible.
    let network = without(4);
    let score = prepared(&table(&[[0, 0, 0, 0], [1, 1, 0, 0]], 4), &network, 1.0);
    assert_eq!(score.score(1, &[0]).unwrap(), f64::NEG_INFINITY);
    assert_eq!(score.score(2, &[0, 1]).unwrap(), f64::NEG_INFINITY);
    assert!(score.score(1, &[]).unwrap().is_finite());
    let error = prepared(&table(&[[0, 0, 0, 0]], 4), &without(0), 1.0).score(0, &[]).unwrap_err().to_string();
    assert!(error.contains("'v0'") && error.contains("impossible"), "{error}");
}

#[test]
fn a_table_that_the_network_does_not_know_is_refused_by_name() {
    let refused = |variable: Variable, column: Column| {
        let table = Arc::new(Table::new(vec![variable], vec![column]).unwrap());
        let spec = format!(r#"{{"score":"bde","ess":1,"network":{}}}"#, network(&[1]).to_json());
        let score = ScoreSpec::parse(&spec).unwrap().prepare(&table);
        score.and_then(|score| score.score(0, &[])).unwrap_err().to_string()
    };
    let levels =
        |levels: &[&str]| Kind::Categorical { levels: levels.iter().map(|l| Level::Text((*l).into())).collect() };
    let codes = || Column::Codes(Codes::pack(&[0, 1], 2));
    let error = refused(Variable { name: "z".into(), kind: levels(&["0", "1"]) }, codes());
    assert!(error.contains("'z' is not a variable of the prior network") && error.contains("'v0'"), "{error}");
    let error = refused(Variable { name: "v0".into(), kind: levels(&["0", "x"]) }, codes());
    assert!(error.contains("'v0' has the level 'x'"), "{error}");
    let kind = Kind::Continuous { scale: Units::IDENTITY };
    let error = refused(Variable { name: "v0".into(), kind }, Column::Reals(vec![0.0, 1.0]));
    assert!(error.contains("'v0' is continuous") && error.contains("with_types({'v0': an.Binned(5)})"), "{error}");
}

#[test]
fn a_level_that_only_the_network_knows_counts_as_one_that_never_happened() {
    let full = table(&[[0, 0, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]], 4);
    let mut variables = variables();
    variables[3].kind = Kind::Categorical { levels: [1, 0].map(Level::Int).into() };
    let mut columns: Vec<_> = (0..4).map(|v| full.column(v).clone()).collect();
    columns[3] = Column::Codes(Codes::pack(&[1, 0, 0], 2));
    let fewer = Arc::new(Table::new(variables, columns).unwrap());
    let network = network(&[3, 1, 4, 1, 5, 9, 2, 6]);
    let of = |table: &Arc<Table>| prepared(table, &network, 2.0).score(3, &[0, 1]).unwrap();
    assert!(close(of(&full), of(&fewer)));
}

#[test]
fn a_family_beyond_reason_is_refused_before_it_is_scored() {
    let k = 1001;
    let variable = |name: &str| Variable {
        name: name.into(),
        kind: Kind::Categorical { levels: (0..k).map(Level::Int).collect() },
    };
    let flat = Predictive::Levels { probabilities: vec![1.0 / k as f64; k as usize] };
    let model = |v: usize| LocalModel::Cells(Cells::new(v, vec![], vec![], flat.clone()));
    let network = Network::new(vec![variable("a"), variable("b")], vec![model(0), model(1)]).unwrap();
    let column = || Column::Codes(Codes::pack(&[0, 1], k as usize));
    let table = Arc::new(Table::new(vec![variable("a"), variable("b")], vec![column(), column()]).unwrap());
    let score = prepared(&table, &network, 1.0);
    assert!(score.check(0, &[1]).unwrap_err().to_string().contains("1002001 joint configurations"));
    assert!(score.score(0, &[1]).is_err() && score.score(0, &[]).is_ok());
}

#[test]
fn scores_whose_children_share_sums_refuse_weights_that_differ_by_child() {
    let rows = all_rows();
    let weights = |by_child: bool| {
        let own = Weights::new(vec![1.5; rows.len()]).unwrap();
        if by_child { own.for_child(1, (0..rows.len()).map(|row| (row % 3) as f64).collect()).unwrap() } else { own }
    };
    let bde = format!(r#"{{"score":"bde","ess":1.0,"network":{}}}"#, network(&[1, 2, 3]).to_json());
    let gaussian = ["conditional_gaussian", "degenerate_gaussian", "basis_functions", "block_gaussian"];
    let others = gaussian.into_iter().chain(["mixed_polynomial", "logistic_regression", "multinomial", "mars"]);
    let specs = others.map(|name| format!(r#"{{"score":"{name}"}}"#)).chain([bde]);
    for spec in specs {
        let prepare = |by_child: bool| {
            let plain = table(&rows, 4);
            let table = Table::new(variables(), (0..4).map(|v| plain.column(v).clone()).collect()).unwrap();
            ScoreSpec::parse(&spec).unwrap().prepare(&Arc::new(table.with_weights(weights(by_child))))
        };
        assert!(prepare(false).unwrap().score(1, &[0]).unwrap().is_finite());
        let told = prepare(true).err().expect("weights by child").to_string();
        assert!(told.contains("a row weighs differently for each variable"), "{told}");
    }
}
