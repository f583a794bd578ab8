//! Cells with a column's own leaves, against a product of predictives under every joint choice of bins, one after the other.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::leaf::CountLeaf;
use crate::predictive::{Predictive, Value};
use crate::table::{Level, Point, Variable};
use crate::weights::Weights;

/// A child of small whole numbers of which 0 may be shared, a number, and a category.
fn table(rows: &[(u32, f64, u32, u32)], leaf: Option<NumberLeaf>, shared: bool, weighed: bool) -> Arc<Table> {
    let point = shared.then_some(Point { at: 0.0, width: 1.0 });
    let own = Kind::Continuous { scale: Units { leaf, point, shift: 2.0, scale: 3.0, ..Units::IDENTITY } };
    let kinds = [
        own,
        Kind::Continuous { scale: Units::IDENTITY },
        Kind::Categorical { levels: (0..3).map(Level::Int).collect() },
    ];
    let name = |(i, kind): (usize, Kind)| Variable { name: format!("v{i}").into(), kind };
    let columns = vec![
        Column::Reals(rows.iter().map(|row| (f64::from(row.0) - 2.0) / 3.0).collect()),
        Column::Reals(rows.iter().map(|row| row.1).collect()),
        Column::Codes(Codes::pack(&rows.iter().map(|row| row.2).collect::<Vec<_>>(), 3)),
    ];
    let table = Table::new(kinds.into_iter().enumerate().map(name).collect(), columns).unwrap();
    let weights = rows.iter().map(|row| f64::from(row.3)).collect();
    Arc::new(if weighed { table.with_weights(Weights::new(weights).unwrap()) } else { table })
}

/// The log marginal of some rows of the child, each as often as it counts: of counts from their sums, as the size is the best of
/// all rows; of all else the product of the predictives.
fn literal(score: &Prepared, order: &[u32], cell: &[usize]) -> f64 {
    let leaf = score.cell_leaf(0, order);
    let shared = score.shared(0, score.numbers(0, order));
    let column = score.table.column(0);
    let Column::Reals(values) = column else { unreachable!() };
    let times = |row: usize| score.table.weights_of(0).map_or(1, |weights| weights[row] as usize);
    let repeated: Vec<usize> = cell.iter().flat_map(|&row| std::iter::repeat_n(row, times(row))).collect();
    let rows = Rows { column, weights: None };
    let mut log = 0.0;
    for i in 0..repeated.len() {
        let Predictive::Counts { point, .. } = rows.fitted(&leaf, shared.as_ref(), &repeated[..i]).1 else {
            let next = rows.fitted(&leaf, shared.as_ref(), &repeated[..i]).1;
            log += next.log_density(Value::Real(values[repeated[i]]));
            continue;
        };
        if let Some(point) = point {
            let is_held = crate::predictive::is_at(values[repeated[i]], point.at);
            log += if is_held { point.share.ln() - point.log_width } else { (1.0 - point.share).ln() };
        }
    }
    let CellLeaf::Counts(of, scale) = leaf else { return log };
    let mut sum = of.empty();
    let other = |row: &&usize| shared.as_ref().is_none_or(|s| !crate::predictive::is_at(values[**row], s.point.at));
    for &row in repeated.iter().filter(other) {
        sum += of.row(scale.to_original(values[row]).round(), 1.0);
    }
    let choice = if sum.n > 0.0 { CountLeaf::log_choice() } else { 0.0 };
    log + of.log_marginal(sum.n, sum.sum, &sum.constants) + choice
}

proptest! {
    #[test]
    fn cells_are_worth_what_their_rows_are_under_the_best_joint_choice(
        rows in prop::collection::vec((prop_oneof![Just(0_u32), 0..9_u32], -2.0..2.0_f64, 0..3_u32, 1..3_u32), 1..40),
        leaf in prop_oneof![Just(None), Just(Some(NumberLeaf::Counts)), Just(Some(NumberLeaf::Histogram))],
        shared in any::<bool>(),
        weighed in any::<bool>(),
        parents in prop_oneof![Just(vec![]), Just(vec![2]), Just(vec![1]), Just(vec![1, 2])],
    ) {
        let table = table(&rows, leaf, shared, weighed);
        let cuttings = (0..3).map(|v| Cuttings::new(&table, v, 3)).collect();
        let parameters = FullTable { penalised: false, normalised: false, max_bins: 3, ..FullTable::default() };
        let histograms = said::histograms(&table).unwrap();
        let score = Prepared { table: table.clone(), parameters, cuttings, histograms };
        let (got, _) = score.family(0).best(&parents);
        let order = score.row_order(0).unwrap();
        let Column::Reals(x) = table.column(1) else { unreachable!() };
        let mut best = f64::NEG_INFINITY;
        for cuts in &score.cuttings[1].choices {
            let mut cells: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
            for &row in &order {
                let row = row as usize;
                let one = if parents.contains(&1) { bin(cuts, x[row]) } else { 0 };
                let two = if parents.contains(&2) { rows[row].2 } else { 0 };
                cells.entry([one, two]).or_default().push(row);
            }
            best = best.max(cells.values().map(|cell| literal(&score, &order, cell)).sum::<f64>());
        }
        prop_assert!((got - best).abs() < 1e-9 * (1.0 + best.abs()), "{got} {best}");
    }
}

#[test]
fn lines_are_refused_by_name() {
    let table = table(&[(1, 0.5, 0, 1), (2, 0.1, 1, 1)], Some(NumberLeaf::Linear), false, false);
    let told = FullTable::default().prepare(&table).err().expect("refused").to_string();
    assert!(told.contains("'v0'") && told.contains("leaf=\"normal\""), "{told}");
    assert!(FullTable { published: true, ..FullTable::default() }.prepare(&table).is_ok());
}
