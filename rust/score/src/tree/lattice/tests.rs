//! The lattice against the search by keys, on families of all kinds: the same scores but for rounding, the same trees.

use std::sync::Arc;

use proptest::prelude::*;

use super::axis::Axis;
use super::size::Size;
use crate::control::Control;
use crate::leaf::{Categorical, Cells, CountLeaf, HistogramLeaf, Normal, Ordinal, Shares, n_sums};
use crate::table::{Codes, Column, Kind, Level, Table, Units, Variable};
use crate::tree::bins::Cuts;
use crate::tree::key::{Coded, Layout};
use crate::tree::memo::Ended;
use crate::tree::normaliser::Priors;
use crate::tree::optimal::{Point, Search};
use crate::tree::response::{
    Counts, Held, Levels, LevelsLeaf, LineRows, Lines, Numbers, Pointed, Response, WeighedLines,
};
use crate::tree::trace::Traced;

/// Codes of a column with levels, or numbers.
#[derive(Clone, Debug)]
enum Raw {
    Numbers(Vec<f64>),
    Levels { k: u32, ordered: bool, codes: Vec<u32> },
}

/// Columns with ties, constants, far outliers, and levels that never come.
fn column(n: usize) -> BoxedStrategy<Raw> {
    let numbers = |x: BoxedStrategy<f64>| prop::collection::vec(x, n).prop_map(Raw::Numbers);
    let levels = (1..8_u32, any::<bool>()).prop_flat_map(move |(k, ordered)| {
        // Any of the levels may lack, also the first and those in the middle.
        prop::collection::vec(0..k, 1..=k as usize).prop_flat_map(move |occurring| {
            prop::collection::vec(prop::sample::select(occurring), n).prop_map(move |codes| Raw::Levels {
                k,
                ordered,
                codes,
            })
        })
    });
    prop_oneof![
        2 => numbers((-2.0..2.0_f64).boxed()),
        1 => numbers(prop_oneof![Just(-1.0), Just(0.0), Just(0.25), Just(3.0)].boxed()),
        1 => numbers(prop_oneof![8 => 0.4..0.5_f64, 1 => Just(30.0)].boxed()),
        1 => numbers(Just(0.7).boxed()),
        6 => levels,
    ]
    .boxed()
}

/// The response first; sometimes the last column is the twin of the second, sometimes all responses are alike.
fn columns() -> impl Strategy<Value = Vec<Raw>> {
    let n_rows = prop_oneof![1 => 1..4_usize, 5 => 2..60_usize];
    let columns = (n_rows, 2..6_usize).prop_flat_map(|(n, m)| prop::collection::vec(column(n), m));
    (columns, 0..8_u32).prop_map(|(mut columns, oddity)| {
        let last = columns.len() - 1;
        if oddity == 0 && last > 1 {
            columns[last] = columns[1].clone();
        }
        if oddity == 1 {
            match &mut columns[0] {
                Raw::Numbers(x) => x.fill(1.5),
                Raw::Levels { codes, .. } => codes.fill(0),
            }
        }
        columns
    })
}

fn table(columns: &[Raw]) -> Table {
    let (mut variables, mut values) = (Vec::new(), Vec::new());
    for (i, raw) in columns.iter().enumerate() {
        let (kind, column) = match raw {
            Raw::Numbers(x) => (Kind::Continuous { scale: Units::IDENTITY }, Column::Reals(x.clone())),
            Raw::Levels { k, ordered, codes } => {
                let levels = (0..i64::from(*k)).map(Level::Int).collect();
                let kind = if *ordered { Kind::Ordinal { levels } } else { Kind::Categorical { levels } };
                (kind, Column::Codes(Codes::pack(codes, *k as usize)))
            }
        };
        variables.push(Variable { name: format!("v{i}").into(), kind });
        values.push(column);
    }
    Table::new(variables, values).unwrap()
}

/// A family by both ways: scores, and trees without the digits of their leaves' sums.
struct Both {
    scores: [f64; 2],
    trees: [Vec<Option<Traced<()>>>; 2],
}

/// How often, and where, numbers are halved.
type How = (u32, Cuts);

/// `None` if the lattice has too many cells for a test.
fn both<R: Response>(response: impl Fn() -> R, values: &[R::Value], table: &Table, how: How) -> Option<Both> {
    let (max_splits, cuts) = how;
    let parents: Vec<usize> = (1..table.n_vars()).collect();
    let coded = Coded::new(table, max_splits, cuts);
    let layout = Layout::new(table, 0, &parents, max_splits).unwrap();
    let axes: Vec<&Axis> = parents.iter().map(|&parent| &coded.axes[parent]).collect();
    if Size::of(&axes).cells > 100_000 {
        return None;
    }
    let log_gamma = Priors::default().of(&layout).log_gamma;
    let [mut search, mut lattice] = [(); 2].map(|()| Search::new(response(), 1 << 30, false));
    let mut points: Vec<Point<R::Sum>> = Vec::new();
    for (row, &value) in values.iter().enumerate() {
        let key = layout.fields.iter().zip(&parents).map(|(field, &p)| field.row(coded.codes[p][row])).sum();
        let at = points.iter().position(|point| point.key == key).unwrap_or_else(|| {
            points.push(Point { key, sum: search.response.zero() });
            points.len() - 1
        });
        search.response.observe(&mut points[at].sum, value);
    }
    search.points.clone_from(&points);
    lattice.points = points;
    let scores =
        [search.best(&layout, log_gamma).unwrap(), lattice.best_in_lattice(&layout, &axes, log_gamma).unwrap()];
    let trees = [search.trace(&layout).unwrap(), lattice.trace(&layout).unwrap()].map(|nodes| {
        let node = |node: Traced<R::Sum>| match node {
            Traced::Leaf(_) => None,
            Traced::Split { field, left, right } => Some(Traced::Split { field, left, right }),
        };
        nodes.into_iter().map(node).collect()
    });
    Some(Both { scores, trees })
}

fn both_of_levels<L: LevelsLeaf + Clone>(leaf: &L, k: usize, codes: &Codes, table: &Table, s: How) -> Option<Both> {
    let pure = Categorical::new(k, 0.5).tabulated(codes.len());
    let values: Vec<u32> = codes.iter().map(|code| code as u32).collect();
    both(|| Levels::<Vec<u32>, L>::new(leaf.clone(), pure.clone(), true), &values, table, s)
}

fn both_of_lines(y: &[f64], table: &Table, s: How, weighed: bool) -> Option<Both> {
    let numbers = |var: usize| match table.column(var) {
        Column::Reals(x) if var > 0 => Some(x.clone()),
        _ => None,
    };
    let x = (0..table.n_vars()).map(numbers).collect();
    let weights = (0..y.len()).map(|row| 0.3 + (row * 7 % 5) as f64 / 2.0).collect();
    let rows = Arc::new(LineRows { y: y.to_vec(), x, weights });
    let parents: Vec<usize> = (1..table.n_vars()).collect();
    let leaf = Normal::default().centred(0.1);
    let values: Vec<u32> = (0..y.len() as u32).collect();
    if weighed {
        let response = || {
            let mut response = WeighedLines::<{ n_sums(4) }>::new(&leaf, 1.0, rows.clone());
            response.read(&parents);
            response
        };
        return both(response, &values, table, s);
    }
    let response = || {
        let mut response = Lines::<{ n_sums(4) }>::new(&leaf, rows.clone());
        response.read(&parents);
        response
    };
    both(response, &values, table, s)
}

fn how() -> impl Strategy<Value = How> {
    (1..5_u32, prop_oneof![Just(Cuts::Range), Just(Cuts::Quantile)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn so_they_do_with_lines_in_the_leaves(columns in columns(), s in how(), weighed in any::<bool>()) {
        let table = table(&columns);
        let Column::Reals(y) = table.column(0) else { return Ok(()) };
        let values: Vec<f64> = y.iter().map(|y| y - 0.1).collect();
        let Some(Both { scores: [search, lattice], .. }) = both_of_lines(&values, &table, s, weighed) else { return Ok(()) };
        prop_assert!((search - lattice).abs() <= 1e-9 * (1.0 + search.abs()), "{search} {lattice}");
    }

    #[test]
    fn so_they_do_with_a_number_that_many_rows_share(columns in columns(), s in how(), every in 1..6_usize) {
        let table = table(&columns);
        let Column::Reals(y) = table.column(0) else { return Ok(()) };
        let held = |(row, y): (usize, &f64)| if row % every == 0 { Held::Shared(1.0) } else { Held::Other(y - 0.1) };
        let values: Vec<_> = y.iter().enumerate().map(held).collect();
        let leaf = Normal::default().centred(0.1);
        let response = || Pointed::new(Numbers::new(&leaf, y.len()), Shares::new(0.5, -2.0, y.len()));
        let Some(Both { scores: [search, lattice], .. }) = both(response, &values, &table, s) else { return Ok(()) };
        prop_assert!((search - lattice).abs() <= 1e-9 * (1.0 + search.abs()), "{search} {lattice}");
    }

    #[test]
    fn so_they_do_with_counts(columns in columns(), s in how(), weighed in any::<bool>()) {
        let table = table(&columns);
        let Column::Reals(y) = table.column(0) else { return Ok(()) };
        let leaf = CountLeaf::new(2.0, None, [0.0, 1.0], y.len());
        let weight = |row: usize| if weighed { 0.3 + (row * 7 % 5) as f64 / 2.0 } else { 1.0 };
        let rows: Vec<_> =
            y.iter().enumerate().map(|(row, y)| leaf.row((3.0 * y.abs()).round().min(1e5), weight(row))).collect();
        let values: Vec<u32> = (0..y.len() as u32).collect();
        let both = both(|| Counts::new(leaf.clone(), rows.clone()), &values, &table, s);
        let Some(Both { scores: [search, lattice], .. }) = both else { return Ok(()) };
        prop_assert!((search - lattice).abs() <= 1e-9 * (1.0 + search.abs()), "{search} {lattice}");
    }

    #[test]
    fn so_they_do_with_histograms(columns in columns(), s in how(), weighed in any::<bool>()) {
        let table = table(&columns);
        let Column::Reals(y) = table.column(0) else { return Ok(()) };
        let edges = vec![-9.0, -0.5, 0.1, 0.3, 0.45, 99.0];
        let leaf = Arc::new(HistogramLeaf::new(&Cells { edges, depths: vec![2, 1, 2, 3], totals: vec![9.0; 5] }));
        let pure = Categorical::new(5, 0.5);
        let cells = y.iter().map(|&y| leaf.cell(y));
        let both = if weighed {
            let values: Vec<_> = cells.zip(0..).map(|(cell, row)| (cell, 0.3 + f64::from(row * 7 % 5) / 2.0)).collect();
            both(|| Levels::<[f64; 8], _>::new(leaf.clone(), pure.clone(), true), &values, &table, s)
        } else {
            both(|| Levels::<[u32; 8], _>::new(leaf.clone(), pure.clone(), true), &cells.collect::<Vec<_>>(), &table, s)
        };
        let Some(Both { scores: [search, lattice], .. }) = both else { return Ok(()) };
        prop_assert!((search - lattice).abs() <= 1e-9 * (1.0 + search.abs()), "{search} {lattice}");
    }

    #[test]
    fn the_lattice_and_the_search_by_keys_find_the_same_trees(columns in columns(), s in how()) {
        let table = table(&columns);
        let n = table.n_rows();
        let both = match (table.column(0), &table.variable(0).kind) {
            (Column::Reals(y), _) => {
                let leaf = Normal::default().centred(0.1);
                let values: Vec<f64> = y.iter().map(|y| y - 0.1).collect();
                both(|| Numbers::new(&leaf, n), &values, &table, s)
            }
            (Column::Codes(codes), Kind::Ordinal { levels }) => {
                let k = levels.len();
                both_of_levels(&Ordinal::new(k, 0.5, 0.25).tabulated(n), k, codes, &table, s)
            }
            (Column::Codes(codes), kind) => {
                let Kind::Categorical { levels } = kind else { unreachable!("codes have levels") };
                let k = levels.len();
                both_of_levels(&Categorical::new(k, 0.5).tabulated(n), k, codes, &table, s)
            }
        };
        let Some(Both { scores: [search, lattice], trees: [by_search, by_lattice] }) = both else { return Ok(()) };
        prop_assert!((search - lattice).abs() <= 1e-9 * (1.0 + search.abs()), "{search} {lattice}");
        prop_assert_eq!(by_search, by_lattice);
    }
}

/// Two categories of ten levels, which no search by keys would end in a test's time: one splits in two, the other not.
#[test]
fn a_large_lattice_finds_the_split_that_made_the_data_and_can_be_stopped() {
    let n = 3000_u32;
    let one: Vec<u32> = (0..n).map(|i| i * 7 % 10).collect();
    let two: Vec<u32> = (0..n).map(|i| (i / 10) * 3 % 10).collect();
    let child = one.iter().map(|&code| u32::from([1, 4, 5].contains(&code))).collect();
    let columns = [child, one, two].map(|codes| Raw::Levels { k: 10, ordered: false, codes });
    let table = table(&columns);
    let coded = Coded::new(&table, 5, Cuts::Range);
    let layout = Layout::new(&table, 0, &[1, 2], 5).unwrap();
    let axes = [&coded.axes[1], &coded.axes[2]];
    let leaf = Categorical::new(10, 0.5).tabulated(n as usize);
    // Without its bound, which would see at once that two pure leaves are as good as can be.
    let response = Levels::<Vec<u32>, Categorical>::new(leaf.clone(), leaf, false);
    let mut search = Search::new(response, 1 << 30, false);
    let Column::Codes(codes) = table.column(0) else { unreachable!("levels are stored as codes") };
    for code in 0..100_u16 {
        let key = layout.fields[0].row(code % 10) | layout.fields[1].row(code / 10);
        search.points.push(Point { key, sum: search.response.zero() });
    }
    for (row, code) in codes.iter().enumerate() {
        let at = usize::from(coded.codes[1][row]) + 10 * usize::from(coded.codes[2][row]);
        search.response.observe(&mut search.points[at].sum, code as u32);
    }
    let control = Control::default();
    control.stop();
    search.patience.halt = control.halt();
    let log_gamma = Priors::default().of(&layout).log_gamma;
    assert_eq!(search.best_in_lattice(&layout, &axes, log_gamma), Err(Ended::Halted));
    search.patience.halt = Control::default().halt();
    search.best_in_lattice(&layout, &axes, log_gamma).unwrap();
    let tree = search.trace(&layout).unwrap();
    let Traced::Split { field: 0, left: crate::tree::trace::Left::Among(left), right: 2 } = &tree[0] else {
        panic!("{tree:?}")
    };
    assert_eq!((&left[..], tree.len()), (&[0, 2, 3, 6, 7, 8, 9][..], 3));
}
