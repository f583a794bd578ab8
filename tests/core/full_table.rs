//! Full tables against a literal oracle: every joint choice of bins, one after the other, one hash map of cells each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::support::cases::cases;
use arbornet_core::leaf::{Leaf, LeafModel, LeafPriors};
use arbornet_core::model::outline::Outline;
use arbornet_core::score::full_table::FullTable;
use arbornet_core::weights::Weights;
use arbornet_core::{Codes, Column, Kind, Level, LocalModel, LocalScore, Predictive, Table, Units, Value, Variable};
use proptest::prelude::*;

/// Rows of a mixed table: two numbers (the second with many ties), an ordinal of five levels, two categories.
type Rows = Vec<(f64, i32, u32, u32, u32)>;

fn rows() -> impl Strategy<Value = Rows> {
    let row = (-2.0..2.0_f64, -2..3_i32, 0..4_u32, 0..3_u32, 0..2_u32);
    (prop::collection::vec(row, 0..60), 1..4_u32).prop_map(|(mut rows, coarse)| {
        // Some tables hang together, some have a constant or an ordinal of which one level is all there is.
        for row in &mut rows {
            row.1 /= coarse as i32;
            row.2 /= coarse;
            row.0 += f64::from(row.2);
        }
        rows
    })
}

fn table(rows: &Rows) -> Arc<Table> {
    let levels = |k: i64| (0..k).map(Level::Int).collect();
    let number = || Kind::Continuous { scale: Units::IDENTITY };
    let kinds = [
        number(),
        number(),
        Kind::Ordinal { levels: levels(5) },
        Kind::Categorical { levels: levels(4) },
        Kind::Categorical { levels: levels(2) },
    ];
    let names = ["x", "ties", "grade", "group", "yes"];
    let variables = kinds.into_iter().zip(names).map(|(kind, name)| Variable { name: name.into(), kind }).collect();
    let codes = |of: fn(&(f64, i32, u32, u32, u32)) -> u32| {
        Column::Codes(Codes::pack(&rows.iter().map(of).collect::<Vec<_>>(), 5))
    };
    let columns = vec![
        Column::Reals(rows.iter().map(|r| r.0).collect()),
        Column::Reals(rows.iter().map(|r| f64::from(r.1)).collect()),
        codes(|r| r.2),
        codes(|r| r.3),
        codes(|r| r.4),
    ];
    Arc::new(Table::new(variables, columns).unwrap())
}

/// Bins of every row of a parent under `k` bins, by the definition; levels without order ignore `k`.
fn bins(table: &Table, parent: usize, k: usize) -> Vec<usize> {
    let cut = |values: &[f64], round: fn(f64) -> f64| -> Vec<usize> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let at = |i: usize| {
            let position = ((n * i) as f64 / k as f64 - 0.5).max(0.0).min(n as f64 - 1.0);
            let (below, above) = (position.floor() as usize, position.ceil() as usize);
            round(sorted[below] + (position - position.floor()) * (sorted[above] - sorted[below]))
        };
        let cuts: Vec<f64> = if n == 0 { vec![] } else { (1..k).map(at).collect() };
        values.iter().map(|&x| cuts.iter().filter(|&&cut| x >= cut).count()).collect()
    };
    match (table.column(parent), &table.variable(parent).kind) {
        (Column::Reals(x), _) => cut(x, |x| x),
        (Column::Codes(c), Kind::Ordinal { .. }) => cut(&c.iter().map(|c| c as f64).collect::<Vec<_>>(), f64::ceil),
        (Column::Codes(c), _) => c.iter().collect(),
    }
}

/// The log marginal of rows grouped by a key.
fn log_marginal(table: &Table, child: usize, key: impl Fn(usize) -> Vec<usize>) -> f64 {
    fn sum<L: LeafModel>(
        leaf: &L,
        n: usize,
        value: impl Fn(usize) -> L::Value,
        key: impl Fn(usize) -> Vec<usize>,
    ) -> f64 {
        let mut cells: BTreeMap<Vec<usize>, L::Stat> = BTreeMap::new();
        for row in 0..n {
            leaf.observe(cells.entry(key(row)).or_insert_with(|| leaf.empty()), value(row));
        }
        cells.values().map(|stat| leaf.log_marginal(stat)).sum()
    }
    let n = table.n_rows();
    match (LeafPriors::default().leaf(table, child, false), table.column(child)) {
        (Leaf::Categorical(leaf), Column::Codes(c)) => sum(&leaf, n, |row| c.get(row) as u32, key),
        (Leaf::Ordinal(leaf), Column::Codes(c)) => sum(&leaf, n, |row| c.get(row) as u32, key),
        (Leaf::Normal(leaf), Column::Reals(y)) => sum(&leaf, n, |row| y[row], key),
        _ => unreachable!(),
    }
}

fn is_cut(table: &Table, parent: usize) -> bool {
    !matches!(table.variable(parent).kind, Kind::Categorical { .. })
}

/// The best log marginal over all joint choices, less the prior over them.
fn oracle(table: &Table, child: usize, parents: &[usize], max_bins: usize) -> f64 {
    let mut best = f64::NEG_INFINITY;
    let mut choice = vec![2; parents.len()];
    loop {
        let codes: Vec<_> = parents.iter().zip(&choice).map(|(&p, &k)| bins(table, p, k)).collect();
        best = best.max(log_marginal(table, child, |row| codes.iter().map(|c| c[row]).collect()));
        let Some(next) = (0..parents.len()).find(|&i| choice[i] < max_bins) else { break };
        choice[next] += 1;
        choice[..next].fill(2);
    }
    let n_cut = parents.iter().filter(|&&p| is_cut(table, p)).count();
    best - n_cut as f64 * (max_bins as f64 - 1.0).ln()
}

fn prepared(table: &Arc<Table>, max_bins: usize) -> Box<dyn LocalScore> {
    FullTable { penalised: false, max_bins, ..FullTable::default() }.prepare(table).unwrap()
}

/// A child and up to four parents, by a bit mask.
fn family(child: usize, mask: u32) -> Vec<usize> {
    (0..5).filter(|&p| p != child && mask >> p & 1 == 1).collect()
}

fn values(table: &Table, parents: &[usize], row: usize) -> Vec<Value> {
    let value = |&p: &usize| match table.column(p) {
        Column::Reals(x) => Value::Real(x[row]),
        Column::Codes(c) => Value::Code(c.get(row) as u32),
    };
    parents.iter().map(value).collect()
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_score_is_the_best_over_all_joint_choices(rows in rows(), child in 0..5_usize, mask in 0..32_u32, max_bins in 2..7_usize) {
        let (table, parents) = (table(&rows), family(child, mask));
        let score = prepared(&table, max_bins).score(child, &parents).unwrap();
        let expected = oracle(&table, child, &parents, max_bins);
        prop_assert!((score - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{} {}", score, expected);
    }

    #[test]
    fn the_order_of_rows_does_not_change_a_bit(rows in rows(), child in 0..5_usize, mask in 0..32_u32, seed in 0..1000_usize) {
        let parents = family(child, mask);
        let mut shuffled = rows.clone();
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, (seed * 7919 + i * i) % (i + 1));
        }
        let (here, there) = (table(&rows), table(&shuffled));
        let (here, there) = (prepared(&here, 7), prepared(&there, 7));
        let bits = |score: &dyn LocalScore| score.score(child, &parents).unwrap().to_bits();
        prop_assert_eq!(bits(&*here), bits(&*there));
        let json = |score: &dyn LocalScore| serde_json::to_string(&score.model(child, &parents).unwrap()).unwrap();
        prop_assert_eq!(json(&*here), json(&*there));
    }

    #[test]
    fn the_scratch_of_a_child_remembers_nothing(rows in rows(), child in 0..5_usize, masks in prop::collection::vec(0..32_u32, 1..6)) {
        let score = prepared(&table(&rows), 5);
        let mut scratch = score.child(child).unwrap();
        for mask in masks {
            let parents = family(child, mask);
            let again = score.score(child, &parents).unwrap();
            prop_assert_eq!(scratch.score(&parents).unwrap().to_bits(), again.to_bits());
        }
    }

    /// The model's cells hold the training rows, predict with their posterior, and give back the score.
    #[test]
    fn the_model_is_what_was_scored(rows in rows(), child in 0..5_usize, mask in 0..32_u32) {
        let (table, parents) = (table(&rows), family(child, mask));
        let score = prepared(&table, 7);
        let model = score.model(child, &parents).unwrap();
        prop_assert!(model.check(table.variables()).is_ok());
        let LocalModel::FullTable(full) = &model else { unreachable!() };
        let bin = |row: usize| -> Vec<usize> {
            let code = |(value, cuts): (Value, &Option<Vec<f64>>)| match (value, cuts) {
                (Value::Real(x), Some(cuts)) => cuts.iter().filter(|&&cut| x >= cut).count(),
                (Value::Code(c), Some(cuts)) => cuts.iter().filter(|&&cut| f64::from(c) >= cut).count(),
                (Value::Code(c), None) => c as usize,
                (Value::Real(_), None) => unreachable!(),
            };
            values(&table, &parents, row).into_iter().zip(full.cuts()).map(code).collect()
        };
        let n_cut = parents.iter().filter(|&&p| is_cut(&table, p)).count() as f64;
        let again = log_marginal(&table, child, bin) - n_cut * 6.0_f64.ln();
        let scored = score.score(child, &parents).unwrap();
        prop_assert!((again - scored).abs() < 1e-9 * (1.0 + scored.abs()), "{} {}", again, scored);

        prop_assert_eq!(full.cells().iter().map(|(_, n, _)| n).sum::<usize>(), table.n_rows());
        for row in 0..table.n_rows() {
            let leaf_of_row = model.predictive(&values(&table, &parents, row)).into_owned();
            let codes: Vec<u32> = bin(row).into_iter().map(|b| b as u32).collect();
            let (_, _, cell) = full.cells().iter().find(|(c, _, _)| *c == codes).expect("an observed cell");
            prop_assert_eq!(&leaf_of_row, cell);
        }
        let (outline, _) = model.outline(table.variables()).expect("a table has regions");
        prop_assert_eq!(rows_below(&outline), table.n_rows());
    }
}

fn rows_below(outline: &Outline) -> usize {
    match outline {
        Outline::Leaf { n_rows, .. } | Outline::Regression { n_rows, .. } | Outline::Line { n_rows, .. } => *n_rows,
        Outline::Split { branches, .. } => branches.iter().map(|(_, inner)| rows_below(inner)).sum(),
        Outline::Named { outline, .. } => rows_below(outline),
        Outline::Again { .. } => 0,
    }
}

/// Enough rows that boxes become dense tables on the way, over one, two and three axes.
#[test]
fn many_rows_score_as_few_do() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let row = |_| {
        let (a, b, c, d) = (next(), next(), next(), next());
        let x = f64::from(a % 1000) / 100.0;
        (x, (b % 40) as i32, c % 5, d % 4, u32::from(x + f64::from(b % 40) / 4.0 > 10.0))
    };
    let table = table(&(0..3000).map(row).collect());
    for (child, parents) in [(4, vec![0, 1, 2]), (0, vec![1, 2, 4]), (2, vec![0, 1, 3]), (1, vec![0])] {
        let score = prepared(&table, 5).score(child, &parents).unwrap();
        let expected = oracle(&table, child, &parents, 5);
        assert!((score - expected).abs() < 1e-9 * expected.abs(), "{child} {parents:?} {score} {expected}");
    }
}

/// More parts than the choices that separate two of them are tabulated for.
#[test]
fn many_bins_score_as_few_do() {
    let row = |i: i32| {
        let [a, b] = [7919, 104_729].map(|step| i * step % 211);
        (f64::from(a), b, (a % 5) as u32, (b % 4) as u32, u32::from(a > b))
    };
    let table = table(&(0..200).map(row).collect());
    for (child, parents, max_bins) in [(4, vec![0, 1], 24), (0, vec![1, 4], 24), (1, vec![0], 64), (2, vec![0], 64)] {
        let score = prepared(&table, max_bins).score(child, &parents).unwrap();
        let expected = oracle(&table, child, &parents, max_bins);
        assert!((score - expected).abs() < 1e-9 * expected.abs(), "{child} {parents:?} {score} {expected}");
    }
}

#[test]
fn a_row_that_weighs_nothing_for_a_child_is_no_row_for_it() {
    let rows: Rows = (0..60_u32)
        .map(|i| (f64::from(i * 7919 % 101) / 9.0, (i % 7) as i32, i % 4, i * i % 3, i * 31 % 5 % 2))
        .collect();
    let whole = table(&rows);
    for child in [0, 2, 4] {
        let weights: Vec<f64> = (0..60).map(|row| f64::from(row * 13 % 3)).collect();
        let columns = (0..5).map(|v| whole.column(v).clone()).collect();
        let own = Weights::new(vec![1.5; 60]).unwrap().for_child(child, weights.clone()).unwrap();
        let weighed = Table::new(whole.variables().to_vec(), columns).unwrap().with_weights(own);
        let times = |row: usize| std::iter::repeat_n(row, weights[row] as usize);
        let repeated = whole.take(&(0..60).flat_map(times).collect::<Vec<_>>());
        let (weighed, repeated) = (prepared(&Arc::new(weighed), 5), prepared(&Arc::new(repeated), 5));
        // Parents without bins, which are cut by the weights of the rows.
        let parents: Vec<usize> = [3, 4].into_iter().filter(|&p| p != child).collect();
        let [one, other] = [&weighed, &repeated].map(|score| score.score(child, &parents).unwrap());
        assert!((one - other).abs() < 1e-9 * other.abs(), "{child} {one} {other}");
        let LocalModel::FullTable(model) = weighed.model(child, &parents).unwrap() else { panic!("no table") };
        assert_eq!(model.cells().iter().map(|(_, n, _)| n).sum::<usize>(), weights.iter().sum::<f64>() as usize);
    }
}

#[test]
fn a_cell_without_rows_predicts_with_the_prior() {
    let table = table(&vec![(0.0, 0, 0, 0, 0), (1.0, 1, 1, 1, 1)]);
    let model = prepared(&table, 2).model(4, &[3]).unwrap();
    let unseen = model.predictive(&[Value::Code(2)]).into_owned();
    assert_eq!(unseen, Predictive::Levels { probabilities: vec![0.5; 2] });
}

#[test]
fn the_penalty_counts_the_sets_of_the_same_size() {
    let table = table(&vec![(0.0, 0, 0, 0, 0), (1.0, 1, 1, 1, 1), (0.5, 2, 1, 0, 1)]);
    let with = FullTable::default().prepare(&table).unwrap();
    let without = FullTable { penalised: false, ..FullTable::default() }.prepare(&table).unwrap();
    let difference = with.score(0, &[1, 3]).unwrap() - without.score(0, &[1, 3]).unwrap();
    assert!((difference + 6.0_f64.ln()).abs() < 1e-12);
}

#[test]
fn a_wide_family_costs_its_rows_and_not_its_table() {
    // 2,000 levels each: four million cells for two hundred rows.
    let levels: Arc<[Level]> = (0..2000).map(Level::Int).collect();
    let wide = |name: &str| Variable { name: name.into(), kind: Kind::Categorical { levels: levels.clone() } };
    let codes = |step: u32| Column::Codes(Codes::pack(&(0..200).map(|i| i * step % 2000).collect::<Vec<_>>(), 2000));
    let table = Table::new(vec![wide("a"), wide("b"), wide("c")], vec![codes(7), codes(11), codes(1)]).unwrap();
    let score = FullTable { penalised: false, ..FullTable::default() }.prepare(&Arc::new(table)).unwrap();
    let mut child = score.child(2).unwrap();
    // No two rows share a cell: each is worth one in 2,000 by itself.
    assert!((child.score(&[0, 1]).unwrap() + 200.0 * 2000.0_f64.ln()).abs() < 1e-9);
    let steps = child.steps().expect("it counts them");
    assert!(steps < 200 * 100, "{steps}");
}

#[test]
fn parameters_out_of_range_are_told() {
    let table = table(&vec![(0.0, 0, 0, 0, 0)]);
    let told = |parameters: FullTable| parameters.prepare(&table).err().expect("a refusal").to_string();
    assert!(
        told(FullTable { max_bins: 1, ..FullTable::default() }).starts_with("max_bins=1: must be between 2 and 64")
    );
    let mut priors = LeafPriors::default();
    priors.per_variable.insert("nobody".into(), priors.common);
    assert!(told(FullTable { priors, ..FullTable::default() }).starts_with("per_variable=nobody"));
}

#[test]
fn of_choices_that_score_alike_the_fewest_bins_are_kept() {
    // One level says nothing of the parents: every choice of their bins is as good.
    let rows: Rows = (0..40).map(|i| (f64::from(i), i, 0, 0, 0)).collect();
    let one = Variable { name: "one".into(), kind: Kind::Categorical { levels: [Level::Int(0)].into() } };
    let (of, names) = (table(&rows), ["x", "ties"]);
    let variables = names.iter().enumerate().map(|(v, _)| of.variable(v).clone()).chain([one]).collect();
    let columns = vec![of.column(0).clone(), of.column(1).clone(), Column::Codes(Codes::pack(&[0; 40], 1))];
    let table = Arc::new(Table::new(variables, columns).unwrap());
    let LocalModel::FullTable(model) = prepared(&table, 7).model(2, &[0, 1]).unwrap() else { panic!("no table") };
    assert_eq!(model.cuts().iter().map(|cuts| cuts.as_ref().map_or(0, Vec::len)).collect::<Vec<_>>(), [1, 1]);
}
