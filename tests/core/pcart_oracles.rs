//! The tree search against oracles: Algorithm 1 word by word, and every tree there is.

use std::ops::Range;
use std::sync::Arc;

use super::support::cases::cases;
use arbornet_core::frame::numbers::standardising;
use arbornet_core::leaf::{Categorical, Leaf, LeafModel, Linear, Ordinal};
use arbornet_core::model::tree::Node;
use arbornet_core::score::pcart::{Cuts, NumberLeaf, Pcart, Prepared, Route};
use arbornet_core::{Codes, Column, Kind, Level, LocalModel, LocalScore, Table, Units, Value, Variable};
use proptest::prelude::*;

/// Codes of a column with levels, or numbers.
#[derive(Clone, Debug)]
enum Raw {
    Numbers(Vec<f64>),
    Levels { k: u32, ordered: bool, codes: Vec<u32> },
}

fn table(columns: &[Raw]) -> Arc<Table> {
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
    Arc::new(Table::new(variables, values).unwrap())
}

/// Columns with ties, constants, narrow ranges beside far outliers, and unobserved levels.
fn column(n: usize) -> impl Strategy<Value = Raw> {
    let numbers = |x: BoxedStrategy<f64>| prop::collection::vec(x, n).prop_map(Raw::Numbers);
    prop_oneof![
        3 => numbers((-2.0..2.0_f64).boxed()),
        2 => numbers(prop_oneof![Just(-1.0), Just(0.0), Just(0.25), Just(3.0)].boxed()),
        2 => numbers(prop_oneof![8 => 0.4..0.5_f64, 1 => Just(30.0)].boxed()),
        1 => numbers(Just(0.7).boxed()),
        6 => levels(n),
    ]
}

/// Of one to five levels, the last of which may never come.
fn levels(n: usize) -> impl Strategy<Value = Raw> {
    let observed = (1..6_u32).prop_flat_map(|k| (Just(k), 1..=k));
    (observed, any::<bool>()).prop_flat_map(move |((k, top), ordered)| {
        prop::collection::vec(0..top, n).prop_map(move |codes| Raw::Levels { k, ordered, codes })
    })
}

fn tables(n_rows: Range<usize>, n_columns: Range<usize>) -> impl Strategy<Value = Vec<Raw>> {
    odd(n_rows, n_columns, |n| column(n).boxed())
}

/// Columns after a first of the kind asked for; in some tables one is the twin of another, or differs in one row.
fn odd(
    n_rows: Range<usize>,
    n_columns: Range<usize>,
    child: fn(usize) -> BoxedStrategy<Raw>,
) -> impl Strategy<Value = Vec<Raw>> {
    let columns = (n_rows, n_columns)
        .prop_flat_map(move |(n, m)| (child(n), prop::collection::vec(column(n), m - 1)))
        .prop_map(|(child, others)| [vec![child], others].concat());
    (columns, 0..6_u32, any::<prop::sample::Index>()).prop_map(|(mut columns, oddity, row)| {
        let last = columns.len() - 1;
        if oddity < 2 && last > 1 {
            columns[last] = columns[1].clone();
            if oddity == 1 {
                columns[last].touch(row);
            }
        }
        columns
    })
}

/// What some columns hold in a row.
fn values(table: &Table, columns: &[usize], row: usize) -> Vec<Value> {
    let value = |&column: &usize| match table.column(column) {
        Column::Reals(x) => Value::Real(x[row]),
        Column::Codes(codes) => Value::Code(codes.get(row) as u32),
    };
    columns.iter().map(value).collect()
}

fn prepared(table: &Arc<Table>, parameters: &Pcart) -> Prepared {
    parameters.prepared(table).unwrap()
}

fn plain(max_splits: u32) -> Pcart {
    Pcart { penalised: false, max_splits, ..Pcart::default() }
}

fn either() -> impl Strategy<Value = Cuts> {
    prop_oneof![Just(Cuts::Range), Just(Cuts::Quantile)]
}

/// The bin of every row by halvings of the ranks: of all places where neighbours in a cell differ, the first that is
/// nearest to its middle.
fn by_rank(x: &[f64], max_splits: u32) -> Vec<u32> {
    fn halve(rows: &[usize], x: &[f64], halvings: u32, bins: &mut [u32]) {
        let places = (1..rows.len()).filter(|&at| x[rows[at - 1]] < x[rows[at]]);
        let nearest = places.min_by_key(|&at| (2 * at).abs_diff(rows.len()));
        let (Some(at), 1..) = (nearest, halvings) else { return };
        let (left, right) = rows.split_at(at);
        for &row in right {
            bins[row] += 1 << (halvings - 1);
        }
        halve(left, x, halvings - 1, bins);
        halve(right, x, halvings - 1, bins);
    }
    let mut rows: Vec<usize> = (0..x.len()).collect();
    rows.sort_by(|&i, &j| x[i].total_cmp(&x[j]));
    let mut bins = vec![0; x.len()];
    halve(&rows, x, max_splits, &mut bins);
    bins
}

/// A cell of the predictor space: an interval of bins, or a set of levels.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Part {
    Bins(u32, u32),
    Nominal(Vec<u32>),
    Ordered(Vec<u32>),
}

impl Part {
    fn holds(&self, code: u32) -> bool {
        match self {
            Self::Bins(low, high) => (*low..*high).contains(&code),
            Self::Nominal(levels) | Self::Ordered(levels) => levels.contains(&code),
        }
    }

    fn width(&self) -> f64 {
        match self {
            Self::Bins(low, high) => f64::from(high - low),
            Self::Nominal(levels) | Self::Ordered(levels) => levels.len() as f64,
        }
    }

    fn splits(&self) -> Vec<(Self, Self)> {
        match self {
            Self::Bins(low, high) if high - low > 1 => {
                let middle = u32::midpoint(*low, *high);
                vec![(Self::Bins(*low, middle), Self::Bins(middle, *high))]
            }
            Self::Bins(..) => vec![],
            Self::Ordered(levels) => (1..levels.len())
                .map(|i| (Self::Ordered(levels[..i].to_vec()), Self::Ordered(levels[i..].to_vec())))
                .collect(),
            Self::Nominal(levels) => (0..(1_u32 << levels.len().saturating_sub(1)) - 1)
                .map(|side| {
                    let goes = |i: &usize| *i == 0 || side >> (*i - 1) & 1 == 1;
                    let part = |left: bool| {
                        (0..levels.len()).filter(|i| goes(i) == left).map(|i| levels[i]).collect::<Vec<_>>()
                    };
                    (Self::Nominal(part(true)), Self::Nominal(part(false)))
                })
                .collect(),
        }
    }
}

/// Algorithm 1 without a memo or any shortcut: every tree of every cell, empty sides and all.
struct Oracle<'a> {
    codes: Vec<Vec<u32>>,
    /// Of some rows in a cell that is this share of the predictor space.
    leaf: &'a dyn Fn(&[usize], f64) -> f64,
    root: Vec<Part>,
    log_gamma: f64,
    known: std::collections::HashMap<Vec<Part>, f64>,
    skip_empty: bool,
}

impl Oracle<'_> {
    fn best(&mut self, cell: &[Part]) -> f64 {
        if let Some(&known) = self.known.get(cell) {
            return known;
        }
        let n = self.codes[0].len();
        let rows: Vec<usize> =
            (0..n).filter(|&r| cell.iter().zip(&self.codes).all(|(part, codes)| part.holds(codes[r]))).collect();
        let share = cell.iter().zip(&self.root).map(|(part, all)| part.width() / all.width()).product();
        let mut best = self.log_gamma + (self.leaf)(&rows, share);
        for (i, part) in cell.iter().enumerate() {
            for (left, right) in part.splits() {
                let left_rows = rows.iter().filter(|&&r| left.holds(self.codes[i][r])).count();
                if self.skip_empty && (left_rows == 0 || left_rows == rows.len()) && matches!(part, Part::Bins(..)) {
                    continue;
                }
                // A side without rows is a leaf: further splits of it only cost.
                let mut side = |part: Part, n: usize| {
                    let mut other = cell.to_vec();
                    other[i] = part;
                    if n == 0 { self.log_gamma } else { self.best(&other) }
                };
                let score = side(left, left_rows) + side(right, rows.len() - left_rows);
                best = best.max(score);
            }
        }
        self.known.insert(cell.to_vec(), best);
        best
    }
}

/// The numbers among the parents, with mean 0 and standard deviation 1.
fn standardised(table: &Table, parents: &[usize]) -> Vec<Vec<f64>> {
    let numbers = parents.iter().filter_map(|&p| if let Column::Reals(x) = table.column(p) { Some(x) } else { None });
    // The map is that of every table: how it rounds is tested where it is made.
    let standardise = |x: &Vec<f64>| {
        let map = standardising(x);
        x.iter().map(|&one| map.to_stored(one)).collect()
    };
    numbers.map(standardise).collect()
}

fn oracle(table: &Table, parameters: &Pcart, child: usize, parents: &[usize]) -> f64 {
    let s = parameters.max_splits;
    let leaf = parameters.priors.leaf(table, child, parameters.published);
    let k = table.variable(child).n_levels();
    let bdeu = |share: f64| Some((parameters.ess? * share / k? as f64, k?));
    let x = if parameters.leaf == NumberLeaf::Linear { standardised(table, parents) } else { vec![] };
    let log_marginal = |rows: &[usize], share: f64| match (&leaf, table.column(child)) {
        (Leaf::Normal(leaf), Column::Reals(y)) => {
            let mut stat = leaf.empty();
            for &r in rows {
                leaf.observe(&mut stat, y[r]);
            }
            if x.is_empty() {
                return leaf.log_marginal(&stat);
            }
            let linear = Linear::new(leaf.clone(), x.len(), 1.0);
            let mut sums = linear.empty();
            for &r in rows {
                linear.observe(&mut sums, y[r], &x.iter().map(|x| x[r]).collect::<Vec<_>>());
            }
            leaf.log_marginal(&stat).max(linear.log_marginal(&sums))
        }
        (Leaf::Categorical(leaf), Column::Codes(y)) => {
            let leaf = bdeu(share).map_or_else(|| leaf.clone(), |(alpha, k)| Categorical::new(k, alpha));
            let mut stat = leaf.empty();
            for &r in rows {
                leaf.observe(&mut stat, y.get(r) as u32);
            }
            leaf.log_marginal(&stat)
        }
        (Leaf::Ordinal(leaf), Column::Codes(y)) => {
            let leaf = bdeu(share).map_or_else(|| leaf.clone(), |(alpha, k)| Ordinal::new(k, alpha, leaf.kappa()));
            let mut stat = leaf.empty();
            for &r in rows {
                leaf.observe(&mut stat, y.get(r) as u32);
            }
            leaf.log_marginal(&stat)
        }
        _ => panic!("a leaf of another kind"),
    };
    let (mut codes, mut cell, mut n_splits) = (Vec::new(), Vec::new(), 0.0);
    for &parent in parents {
        match (table.column(parent), &table.variable(parent).kind) {
            (Column::Reals(x), _) if parameters.cuts == Cuts::Quantile => {
                codes.push(by_rank(x, s));
                cell.push(Part::Bins(0, 1 << s));
                n_splits += 1.0;
            }
            (Column::Reals(x), _) => {
                let low = x.iter().copied().fold(f64::INFINITY, f64::min);
                let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let bins = 1_u32 << s;
                // Values less than 2^-42 of the range below a midpoint count as on it.
                let threshold = |b: u32| low + (high - low) * (f64::from(b) / f64::from(bins) - (-42_f64).exp2());
                let bin =
                    |x: f64| if low == high { 0 } else { (1..bins).filter(|&b| x >= threshold(b)).count() as u32 };
                codes.push(x.iter().map(|&x| bin(x)).collect());
                cell.push(Part::Bins(0, bins));
                n_splits += 1.0;
            }
            (Column::Codes(c), Kind::Ordinal { levels }) => {
                codes.push(c.iter().map(|c| c as u32).collect());
                cell.push(Part::Ordered((0..levels.len() as u32).collect()));
                n_splits += levels.len() as f64 - 1.0;
            }
            (Column::Codes(c), kind) => {
                let Kind::Categorical { levels } = kind else { panic!("levels") };
                codes.push(c.iter().map(|c| c as u32).collect());
                cell.push(Part::Nominal((0..levels.len() as u32).collect()));
                n_splits += (levels.len() as f64 - 1.0).exp2() - 1.0;
            }
        }
    }
    let log_gamma = if n_splits == 0.0 { 0.0 } else { -(4.0 * n_splits).ln() };
    // A leaf may be normal or linear.
    let log_gamma = if x.is_empty() { log_gamma } else { log_gamma - 2.0_f64.ln() };
    let known = std::collections::HashMap::new();
    let skip_empty = parameters.published;
    if parents.is_empty() {
        return log_marginal(&(0..table.n_rows()).collect::<Vec<_>>(), 1.0);
    }
    Oracle { codes, leaf: &log_marginal, root: cell.clone(), log_gamma, known, skip_empty }.best(&cell)
}

/// The score of every tree over a cell, one by one, without a memo and without a maximum on the way.
fn every_tree(cell: &[Part], codes: &[Vec<u32>], log_gamma: f64, leaf: &dyn Fn(&[usize]) -> f64) -> Vec<f64> {
    let rows: Vec<usize> =
        (0..codes[0].len()).filter(|&row| cell.iter().zip(codes).all(|(part, codes)| part.holds(codes[row]))).collect();
    let mut scores = vec![log_gamma + leaf(&rows)];
    for (i, part) in cell.iter().enumerate() {
        for (left, right) in part.splits() {
            let side = |part: Part| {
                let mut side = cell.to_vec();
                side[i] = part;
                every_tree(&side, codes, log_gamma, leaf)
            };
            let (left, right) = (side(left), side(right));
            scores.extend(left.iter().flat_map(|l| right.iter().map(move |r| l + r)));
        }
    }
    scores
}

/// Four ordered levels and three levels: every tree over the whole space.
#[test]
fn no_tree_of_all_trees_is_better_and_one_is_as_good() {
    let mut seed = 1_u64;
    let mut next = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    for round in 0..20 {
        let n = 4 + next(8) as usize;
        let ordered = round % 2 == 0;
        let y: Vec<u32> = (0..n).map(|_| next(3) as u32).collect();
        let x: Vec<u32> = (0..n).map(|_| next(4) as u32).collect();
        let g: Vec<u32> = (0..n).map(|_| next(3) as u32).collect();
        let columns = [
            Raw::Levels { k: 3, ordered: false, codes: y.clone() },
            Raw::Levels { k: 4, ordered: true, codes: x.clone() },
            Raw::Levels { k: 3, ordered, codes: g.clone() },
        ];
        let table = table(&columns);
        let score = prepared(&table, &plain(2));
        let (got, _) = score.scratch(0).unwrap().best(&[1, 2]).unwrap();
        let levels = vec![0, 1, 2];
        let cell =
            [Part::Ordered(vec![0, 1, 2, 3]), if ordered { Part::Ordered(levels) } else { Part::Nominal(levels) }];
        let n_splits = 3.0 + if ordered { 2.0 } else { 3.0 };
        let leaf = Categorical::new(3, 0.5);
        let marginal = |rows: &[usize]| {
            let mut stat = leaf.empty();
            for &row in rows {
                leaf.observe(&mut stat, y[row]);
            }
            leaf.log_marginal(&stat)
        };
        let scores = every_tree(&cell, &[x, g], -f64::ln(4.0 * n_splits), &marginal);
        let want = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(scores.len() > 100 && close(got, want), "{got} {want} of {}", scores.len());
    }
}

fn close(got: f64, want: f64) -> bool {
    (got - want).abs() <= 1e-9 * (1.0 + want.abs())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_best_tree_is_that_of_algorithm_1_word_by_word(
        columns in tables(0..30, 2..5), s in 1..4_u32, published in any::<bool>(), cuts in either(),
    ) {
        let table = table(&columns);
        let parameters = Pcart { published: published && cuts == Cuts::Range, cuts, ..plain(s) };
        let score = prepared(&table, &parameters);
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let (got, _) = score.scratch(0).unwrap().best(&parents).unwrap();
        let want = oracle(&table, &parameters, 0, &parents);
        prop_assert!(close(got, want), "{got} {want}");
    }

    #[test]
    fn trees_with_lines_in_their_leaves_follow_algorithm_1_too(
        columns in odd(0..30, 2..5, |n| prop::collection::vec(-2.0..2.0_f64, n).prop_map(Raw::Numbers).boxed()),
        s in 1..4_u32, slope in -2.0..2.0_f64, cuts in either(),
    ) {
        let mut columns = columns;
        if let [Raw::Numbers(y), Raw::Numbers(x), ..] = &mut columns[..] {
            y.iter_mut().zip(x).for_each(|(y, x)| *y = 0.2 * *y + slope * *x);
        }
        let table = table(&columns);
        let parameters = Pcart { leaf: NumberLeaf::Linear, cuts, ..plain(s) };
        let score = prepared(&table, &parameters);
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let (got, _) = score.scratch(0).unwrap().best(&parents).unwrap();
        let want = oracle(&table, &parameters, 0, &parents);
        prop_assert!(close(got, want), "{got} {want}");
    }

    /// `BDeu` leaves see how much of the space their cell is, so levels and halves without rows change the score.
    #[test]
    fn bdeu_leaves_follow_algorithm_1_too(
        columns in odd(0..30, 2..4, |n| levels(n).boxed()), s in 1..4_u32, ess in 0.5..20.0_f64, cuts in either(),
    ) {
        let table = table(&columns);
        let parameters = Pcart { ess: Some(ess), cuts, ..plain(s) };
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let (got, _) = prepared(&table, &parameters).scratch(0).unwrap().best(&parents).unwrap();
        let want = oracle(&table, &parameters, 0, &parents);
        prop_assert!(close(got, want), "{got} {want}");
    }

    /// With many ties, many points and few distinct values, the same rows are reached through many different cells.
    #[test]
    fn larger_tables_with_deep_trees_agree_too(
        columns in tables(60..250, 3..4), s in 3..6_u32, cuts in either(),
    ) {
        let table = table(&columns);
        let parameters = Pcart { cuts, ..plain(s) };
        let score = prepared(&table, &parameters);
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let (got, _) = score.scratch(0).unwrap().best(&parents).unwrap();
        let want = oracle(&table, &parameters, 0, &parents);
        prop_assert!(close(got, want), "{got} {want}");
    }

    /// Trees see ranks only: their scores are the same to the last bit, and so are the rows in their leaves.
    #[test]
    fn cuts_of_ranks_heed_the_order_of_a_parents_values_alone(
        columns in tables(2..60, 2..5), base in 1.01..6.0_f64,
    ) {
        let moved: Vec<Raw> = (columns.iter().enumerate())
            .map(|(i, raw)| match raw {
                Raw::Numbers(x) if i > 0 => {
                    let below = |y: &f64| x.iter().filter(|x| *x < y).count() as i32;
                    Raw::Numbers(x.iter().map(|y| base.powi(below(y))).collect())
                }
                raw => raw.clone(),
            })
            .collect();
        let parameters = Pcart { cuts: Cuts::Quantile, ..plain(4) };
        let parents: Vec<usize> = (1..columns.len()).collect();
        let [(score, leaves), (other, there)] = [&columns, &moved].map(|columns| {
            let table = table(columns);
            let prepared = prepared(&table, &parameters);
            let LocalModel::Tree(tree) = prepared.model(0, &parents).unwrap() else { panic!("no tree") };
            let leaves: Vec<usize> = (0..table.n_rows()).map(|row| tree.leaf(&values(&table, &parents, row))).collect();
            (prepared.score(0, &parents).unwrap(), leaves)
        });
        prop_assert_eq!(score.to_bits(), other.to_bits());
        prop_assert_eq!(leaves, there);
    }

    /// The tree that is read has the score that was reported, and its leaves hold the rows that it sends there.
    #[test]
    fn the_traced_tree_earns_the_score(columns in tables(1..40, 2..5), s in 1..6_u32, cuts in either()) {
        let table = table(&columns);
        let parameters = Pcart { cuts, ..plain(s) };
        let score = prepared(&table, &parameters);
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let (best, prior) = score.scratch(0).unwrap().best(&parents).unwrap();
        let LocalModel::Tree(tree) = score.model(0, &parents).unwrap() else { panic!("no tree") };
        let mut rows = vec![Vec::new(); tree.nodes().len()];
        for row in 0..table.n_rows() {
            rows[tree.leaf(&values(&table, &parents, row))].push(row);
        }
        let mut earned = 0.0;
        for (node, rows) in tree.nodes().iter().zip(rows) {
            if let Node::Leaf { n, .. } = node {
                prop_assert_eq!(*n, rows.len() as u64);
                let some = columns[0].rows(&rows);
                let alone = Arc::new(Table::new(vec![table.variable(0).clone()], vec![some]).unwrap());
                earned += prior.log_gamma + prepared(&alone, &parameters).score(0, &[]).unwrap();
            }
        }
        prop_assert!(close(earned, best), "{earned} {best}");
    }

    #[test]
    fn the_order_of_rows_does_not_change_a_bit(columns in tables(2..60, 2..5), turn in 1..50_usize, cuts in either()) {
        let turned: Vec<Raw> = columns.iter().map(|column| column.turned(turn)).collect();
        let (one, two) = (table(&columns), table(&turned));
        let parents: Vec<usize> = (1..one.n_vars()).collect();
        let parameters = Pcart { cuts, ..Pcart::default() };
        let score = |table: &Arc<Table>| prepared(table, &parameters).score(0, &parents).unwrap();
        prop_assert_eq!(score(&one).to_bits(), score(&two).to_bits());
    }

    /// A lattice visits all its cells, unless it is seen at once that no split can be better than one leaf.
    #[test]
    fn a_lattice_takes_the_steps_that_were_told_before(columns in tables(2..60, 2..5), s in 1..5_u32) {
        let table = table(&columns);
        let score = prepared(&table, &plain(s));
        let mut family = score.scratch(0).unwrap();
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let (route, told) = score.route(0, &parents);
        prop_assert_eq!(told, score.family_steps(0, &parents));
        family.best(&parents).unwrap();
        let taken = family.steps().unwrap();
        if route == Route::Lattice && taken != told {
            let rows = table.n_rows() as u64 * (2 * parents.len() as u64 + 16);
            prop_assert!(taken <= rows, "{} of {}", taken, told);
        }
    }

    #[test]
    fn one_scratch_scores_many_parent_sets_as_fresh_ones_do(columns in tables(5..40, 4..5)) {
        let table = table(&columns);
        let score = prepared(&table, &Pcart::default());
        let mut shared = score.child(0).unwrap();
        for parents in [&[1, 2, 3][..], &[2], &[], &[1, 3], &[1, 2, 3], &[3]] {
            prop_assert_eq!(shared.score(parents).unwrap().to_bits(), score.score(0, parents).unwrap().to_bits());
        }
    }
}

impl Raw {
    /// Another value in one row.
    fn touch(&mut self, row: prop::sample::Index) {
        match self {
            Self::Numbers(x) if !x.is_empty() => {
                let row = row.index(x.len());
                x[row] = x[row].next_up();
            }
            Self::Levels { k, codes, .. } if !codes.is_empty() => {
                let row = row.index(codes.len());
                codes[row] = (codes[row] + 1) % *k;
            }
            _ => {}
        }
    }

    fn rows(&self, rows: &[usize]) -> Column {
        match self {
            Self::Numbers(x) => Column::Reals(rows.iter().map(|&r| x[r]).collect()),
            Self::Levels { k, codes, .. } => {
                Column::Codes(Codes::pack(&rows.iter().map(|&r| codes[r]).collect::<Vec<_>>(), *k as usize))
            }
        }
    }

    /// The same rows in another order.
    fn turned(&self, by: usize) -> Self {
        fn turn<T: Copy>(x: &[T], by: usize) -> Vec<T> {
            let mut x: Vec<T> = x.iter().rev().copied().collect();
            let by = by % x.len();
            x.rotate_left(by);
            x
        }
        match self {
            Self::Numbers(x) => Self::Numbers(turn(x, by)),
            Self::Levels { k, ordered, codes } => Self::Levels { k: *k, ordered: *ordered, codes: turn(codes, by) },
        }
    }
}

/// Both sides of a split of one predictor go on to split the other, whose interval is wider than its values: one jump
/// over its empty part, before the first split, serves both. Left to the splits that need it, it is paid twice, which
/// costs a factor gamma = 1/8 here.
#[test]
fn one_jump_before_another_split_serves_both_of_its_sides() {
    let rows = [
        (0.4, -1.9972898672645902, -1.0, 1),
        (0.4, 0.0, -1.0, 72),
        (0.4, 0.0, 0.0, 11),
        (0.4, 0.0, 0.25, 4),
        (0.4, 0.0, 3.0, 9),
        (0.4, 0.999309041681489, 0.25, 1),
        (0.4, 1.057379771806086, -1.0, 1),
        (0.4, 1.261306940194783, 0.0, 1),
        (0.4, 1.2805859623047657, -1.0, 1),
        (0.4, 1.7518677709424282, -1.0, 1),
        (0.4, 1.8930401757050876, 0.25, 1),
        (0.4, 1.9945315688617704, -1.0, 1),
        (30.0, 0.0, 0.25, 2),
        (30.0, 0.9982385232179448, 0.0, 1),
    ];
    agrees(&rows, 5);
}

/// A side wider than its rows is searched by itself only where it may still be worth what the split needs of it; held
/// against one more than that, it is taken for lost here although its tree is the best by 0.3.
#[test]
fn a_wide_side_is_searched_where_it_may_be_just_enough() {
    let rows = [
        (0.4, -1.9046539539935865, 0.0, 1),
        (0.4, -1.7905719000120852, 0.0, 1),
        (0.4, -1.6945928033850737, 0.01977901669257346, 1),
        (0.4, -1.5796297447906014, 0.05812862735105126, 1),
        (0.4, -1.364805583322608, 1.5617335492788702, 1),
        (0.4, -1.3590045321747828, 0.711146245164815, 1),
        (0.4, -0.05223506656118455, 0.0, 1),
        (0.4, -0.016348298093540267, 0.37735008614462917, 1),
        (0.4, 0.0, 0.0, 21),
        (0.4, 0.0, 1.9786034192176076, 1),
        (0.44150824539485783, 0.0, 0.0, 1),
        (0.44170070920512533, 0.0, 0.0, 1),
        (0.4464671016501172, 0.0, 0.0, 1),
        (0.4464690379778731, 0.0, 0.0, 1),
        (0.4530887633092221, 0.0, 0.0, 1),
        (0.4630296179484148, 0.0, 0.0, 1),
        (0.46358906959052826, 0.0, 0.0, 1),
        (0.46639971095178756, 0.0, 0.0, 1),
        (0.4678686723505349, 0.0, 0.0, 1),
        (0.46944890926393573, 0.0, 0.0, 1),
        (0.4697094569631865, 0.0, 0.0, 1),
        (0.474598394096576, 0.0, 0.0, 1),
        (0.4754555833841898, 0.0, 0.0, 1),
        (0.48120558573226946, 0.0, 0.0, 1),
        (0.4817869494434261, 0.0, 0.0, 1),
        (0.48632092448920294, 1.9817505203891181, 0.0, 1),
        (0.4879088304493161, 0.0, 0.0, 1),
        (0.48960870756847286, 0.0, 0.0, 1),
        (0.49015265933190094, 0.0, -1.961314538371006, 1),
        (0.49253381384800266, 0.0, 0.0, 1),
        (0.49334440911569155, 0.0, 0.0, 1),
        (0.4949610678635324, 0.0, 0.0, 1),
        (0.49522292438977894, 0.0, 0.0, 1),
        (0.49676503384869075, 0.0, 0.0, 1),
        (0.4981343569407251, 0.0, 0.0, 1),
        (0.4997215309334441, 0.0, 0.0, 1),
        (30.0, -1.9945060808080908, 1.779080787282915, 1),
        (30.0, -0.4512588269492603, 0.31995758998622287, 1),
        (30.0, 0.0, 0.0, 2),
    ];
    agrees(&rows, 4);
}

/// Compares the best tree of a number over two numbers with the oracle's; rows come as often as their last entry says.
fn agrees(rows: &[(f64, f64, f64, usize)], max_splits: u32) {
    let column = |value: fn(&(f64, f64, f64, usize)) -> f64| {
        Raw::Numbers(rows.iter().flat_map(|row| std::iter::repeat_n(value(row), row.3)).collect())
    };
    let table = table(&[column(|row| row.0), column(|row| row.1), column(|row| row.2)]);
    let (got, _) = prepared(&table, &plain(max_splits)).scratch(0).unwrap().best(&[1, 2]).unwrap();
    let want = oracle(&table, &plain(max_splits), 0, &[1, 2]);
    assert!(close(got, want), "{got} {want}");
}

/// Of two predictors that say the same the first is asked, and of levels that do as well on either side few go right.
#[test]
fn of_trees_that_score_alike_the_one_with_the_earlier_predictor_and_fewer_levels_on_the_right_is_grown() {
    let codes: Vec<u32> = (0..60).map(|i| i % 3).collect();
    let child = Raw::Levels { k: 2, ordered: false, codes: codes.iter().map(|&c| u32::from(c == 1)).collect() };
    let numbers = Raw::Numbers(codes.iter().map(|&c| f64::from(c == 1)).collect());
    let nominal = Raw::Levels { k: 3, ordered: false, codes };
    for twin in [numbers, nominal] {
        let table = table(&[child.clone(), twin.clone(), twin]);
        let LocalModel::Tree(tree) = prepared(&table, &plain(4)).model(0, &[1, 2]).unwrap() else { panic!("no tree") };
        match &tree.nodes()[0] {
            Node::Below { parent, .. } => assert_eq!(*parent, 0),
            Node::Among { parent, levels, .. } => assert_eq!((*parent, &levels[..]), (0, &[0, 2][..])),
            other => panic!("{other:?}"),
        }
        assert_eq!(tree.nodes().len(), 3);
    }
}
