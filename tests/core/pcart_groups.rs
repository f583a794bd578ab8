//! Groups of levels in order, against the exact search and against the score of the tree itself.

use std::sync::Arc;

use arbornet_core::leaf::{Leaf, LeafModel};
use arbornet_core::model::tree::{Node, Tree};
use arbornet_core::score::pcart::{Grouping, Pcart, Prepared};
use arbornet_core::{Codes, Column, Kind, Level, LocalModel, LocalScore, Table, Units, Value, Variable};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Number,
    /// So many declared levels, of which the last so many never come.
    Nominal(u32, u32),
    Ordered(u32),
}

/// A first column that depends on the others by effects of their levels, in rows that may tie.
fn made(seed: u64, n: usize, child: Of, others: &[Of], strength: f64) -> Vec<(Of, Vec<f64>)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut effect = vec![0.0; n];
    let mut spread = vec![1.0; n];
    let mut columns = Vec::new();
    for &of in others {
        let values: Vec<f64> = match of {
            Of::Number => (0..n).map(|_| (random.random::<f64>() * 16.0).floor() / 16.0).collect(),
            Of::Nominal(k, unseen) => (0..n).map(|_| f64::from(random.random_range(0..k - unseen))).collect(),
            Of::Ordered(k) => (0..n).map(|_| f64::from(random.random_range(0..k))).collect(),
        };
        let of_level: Vec<f64> = (0..64).map(|_| strength * (random.random::<f64>() - 0.5)).collect();
        let wide: Vec<f64> = (0..64).map(|_| 0.3 + random.random::<f64>()).collect();
        for row in 0..n {
            let at = if of == Of::Number { (values[row] * 4.0) as usize } else { values[row] as usize % 64 };
            effect[row] += of_level[at];
            spread[row] *= wide[at];
        }
        columns.push((of, values));
    }
    let noisy: Vec<f64> = (0..n).map(|row| effect[row] + spread[row] * (random.random::<f64>() - 0.5)).collect();
    let of_child = match child {
        Of::Number => noisy.iter().map(|y| (y * 64.0).round() / 64.0).collect(),
        Of::Nominal(k, _) | Of::Ordered(k) => {
            let mut sorted = noisy.clone();
            sorted.sort_by(f64::total_cmp);
            let rank = |y: f64| sorted.partition_point(|&other| other < y);
            let shuffled = |at: usize| if matches!(child, Of::Nominal(..)) { (at * 7 + 3) % k as usize } else { at };
            noisy.iter().map(|&y| shuffled(rank(y) * k as usize / n) as f64).collect()
        }
    };
    [vec![(child, of_child)], columns].concat()
}

fn table(columns: &[(Of, Vec<f64>)]) -> Arc<Table> {
    let (mut variables, mut stored) = (Vec::new(), Vec::new());
    for (i, (of, values)) in columns.iter().enumerate() {
        let levels = |k: u32| (0..i64::from(k)).map(Level::Int).collect();
        let codes =
            |k: u32| Column::Codes(Codes::pack(&values.iter().map(|&x| x as u32).collect::<Vec<_>>(), k as usize));
        let (kind, column) = match *of {
            Of::Number => (Kind::Continuous { scale: Units::IDENTITY }, Column::Reals(values.clone())),
            Of::Nominal(k, _) => (Kind::Categorical { levels: levels(k) }, codes(k)),
            Of::Ordered(k) => (Kind::Ordinal { levels: levels(k) }, codes(k)),
        };
        variables.push(Variable { name: format!("v{i}").into(), kind });
        stored.push(column);
    }
    Arc::new(Table::new(variables, stored).unwrap())
}

fn prepared(table: &Arc<Table>, grouping: Grouping) -> Prepared {
    Pcart { penalised: false, max_splits: 3, grouping, ..Pcart::default() }.prepared(table).unwrap()
}

fn score(table: &Arc<Table>, grouping: Grouping) -> f64 {
    prepared(table, grouping).score(0, &(1..table.n_vars()).collect::<Vec<_>>()).unwrap()
}

fn tree(score: &Prepared, n_parents: usize) -> Tree {
    match score.model(0, &(1..=n_parents).collect::<Vec<_>>()).unwrap() {
        LocalModel::Tree(tree) => tree,
        other => panic!("{other:?} is no tree"),
    }
}

/// The rows sent through the tree one by one, its leaves scored by the plain formulas: without Z.
fn by_rows(table: &Table, tree: &Tree, log_gamma: f64) -> f64 {
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes().len()];
    for row in 0..table.n_rows() {
        let value = |v: usize| match table.column(v) {
            Column::Reals(x) => Value::Real(x[row]),
            Column::Codes(codes) => Value::Code(codes.get(row) as u32),
        };
        rows[tree.leaf(&(1..table.n_vars()).map(value).collect::<Vec<_>>())].push(row);
    }
    let leaf = Pcart::default().priors.leaf(table, 0, false);
    let marginal = |rows: &[usize]| match (&leaf, table.column(0)) {
        (Leaf::Normal(leaf), Column::Reals(y)) => {
            let mut stat = leaf.empty();
            for &row in rows {
                leaf.observe(&mut stat, y[row]);
            }
            leaf.log_marginal(&stat)
        }
        (Leaf::Categorical(leaf), Column::Codes(y)) => {
            let mut stat = leaf.empty();
            for &row in rows {
                leaf.observe(&mut stat, y.get(row) as u32);
            }
            leaf.log_marginal(&stat)
        }
        (Leaf::Ordinal(leaf), Column::Codes(y)) => {
            let mut stat = leaf.empty();
            for &row in rows {
                leaf.observe(&mut stat, y.get(row) as u32);
            }
            leaf.log_marginal(&stat)
        }
        _ => panic!("a leaf of another kind"),
    };
    let leaves = tree.nodes().iter().zip(&rows).filter(|(node, _)| matches!(node, Node::Leaf { .. }));
    leaves.map(|(_, rows)| log_gamma + marginal(rows)).sum()
}

fn close(one: f64, two: f64) -> bool {
    (one - two).abs() <= 1e-9 * (1.0 + one.abs())
}

const CHILDREN: [Of; 4] = [Of::Nominal(2, 0), Of::Number, Of::Ordered(4), Of::Nominal(4, 0)];

#[test]
fn with_two_classes_and_one_parent_the_order_of_shares_loses_nothing() {
    for seed in 0..100 {
        let (k, n) = (3 + seed as u32 % 7, 20 + 7 * seed as usize);
        let table = table(&made(seed, n, Of::Nominal(2, 0), &[Of::Nominal(k, seed as u32 % 2)], 1.5));
        let [exact, ordered] = [Grouping::Exact, Grouping::Ordered].map(|grouping| score(&table, grouping));
        assert!(close(exact, ordered), "seed {seed}: {exact} {ordered}");
        // So it is not told to be a lower bound.
        assert_eq!(prepared(&table, Grouping::Ordered).in_order(0, &[1]).unwrap(), None);
    }
}

/// Of every kind of child, one to three parents of every kind.
fn families() -> Vec<(u64, Arc<Table>)> {
    let others: [&[Of]; 6] = [
        &[Of::Nominal(8, 0)],
        &[Of::Nominal(6, 1), Of::Nominal(5, 0)],
        &[Of::Nominal(7, 0), Of::Number],
        &[Of::Ordered(4), Of::Nominal(6, 0)],
        &[Of::Nominal(5, 0), Of::Number, Of::Nominal(4, 1)],
        &[Of::Number, Of::Nominal(5, 2), Of::Ordered(3)],
    ];
    let made = |seed: u64| {
        let i = seed as usize;
        let strength = [0.2, 0.8, 2.0][i / 24 % 3];
        table(&made(seed, 20 + 7 * (i % 30), CHILDREN[i % 4], others[i / 4 % 6], strength))
    };
    (0..144).map(|seed| (seed, made(seed))).collect()
}

#[test]
fn scores_in_order_are_lower_bounds_and_most_lose_nothing() {
    let mut losses = Vec::new();
    for (seed, table) in families() {
        let [exact, ordered] = [Grouping::Exact, Grouping::Ordered].map(|grouping| score(&table, grouping));
        assert!(ordered <= exact + 1e-9 * (1.0 + exact.abs()), "seed {seed}: {exact} {ordered}");
        losses.push(exact - ordered);
    }
    losses.sort_by(f64::total_cmp);
    let [median, most] = [0.5, 0.95].map(|part| losses[(part * losses.len() as f64) as usize]);
    assert!(median < 1e-9 && most < 0.5, "median {median}, 95% within {most}, largest {:?}", losses.last());
}

#[test]
fn the_score_is_that_of_the_tree_found_and_its_groups_are_sets_of_levels() {
    let mut n_groups = 0;
    for (seed, table) in families().into_iter().filter(|(seed, _)| seed % 3 == 0) {
        let parents: Vec<usize> = (1..table.n_vars()).collect();
        let ordered = prepared(&table, Grouping::Ordered);
        let (got, prior) = ordered.scratch(0).unwrap().best(&parents).unwrap();
        let (_, exact) = prepared(&table, Grouping::Exact).scratch(0).unwrap().best(&parents).unwrap();
        assert_eq!(prior, exact, "the prior is that of the nominal parent");
        let tree = tree(&ordered, parents.len());
        assert!(close(got, by_rows(&table, &tree, prior.log_gamma)), "seed {seed}");
        for node in tree.nodes() {
            match node {
                Node::Among { levels, .. } => n_groups += usize::from(!levels.is_empty()),
                Node::Before { parent, .. } => {
                    assert!(matches!(table.variable(parents[*parent]).kind, Kind::Ordinal { .. }));
                }
                _ => {}
            }
        }
    }
    assert!(n_groups > 10, "{n_groups}");
}

#[test]
fn hundreds_of_levels_and_declared_ones_that_never_come_are_no_error() {
    let cases: [(&[Of], usize); 6] = [
        (&[Of::Nominal(37, 0)], 1),
        (&[Of::Nominal(300, 0)], 1),
        (&[Of::Nominal(90, 0), Of::Nominal(70, 3)], 2),
        (&[Of::Ordered(130), Of::Nominal(40, 0)], 2),
        (&[Of::Nominal(300, 290)], 1),
        (&[Of::Nominal(70, 65), Of::Ordered(6)], 2),
    ];
    for (seed, (others, n_parents)) in cases.into_iter().enumerate() {
        for child in CHILDREN {
            let table = table(&made(seed as u64, 400, child, others, 3.0));
            let score = prepared(&table, Grouping::Auto);
            let parents: Vec<usize> = (1..=n_parents).collect();
            let (got, prior) = score.scratch(0).unwrap().best(&parents).unwrap();
            assert!(prior.log_z.is_finite() && prior.log_z >= prior.log_gamma);
            assert!(close(got, by_rows(&table, &tree(&score, n_parents), prior.log_gamma)), "{child:?} {others:?}");
            let fits = matches!(others[0], Of::Nominal(k, unseen) if k - unseen <= 10);
            let told = score.in_order(0, &parents).unwrap();
            if fits {
                assert_eq!(told, None, "few levels occur, so all their groups were tried");
            }
            if child == Of::Number && !fits {
                assert!(told.is_some(), "{others:?}");
            }
            assert!(prepared(&table, Grouping::Exact).check(0, &parents).is_err());
        }
    }
}

#[test]
fn levels_that_never_come_change_the_prior_and_nothing_else() {
    for child in CHILDREN {
        let columns = made(5, 400, child, &[Of::Nominal(30, 0)], 2.0);
        let mut wider = columns.clone();
        wider[1].0 = Of::Nominal(32, 2);
        let [narrow, wide] = [columns, wider].map(|columns| {
            let score = prepared(&table(&columns), Grouping::Ordered);
            score.in_order(0, &[1]).unwrap().map(|groups| groups[0].levels)
        });
        assert_eq!(narrow, wide);
    }
}

#[test]
fn rows_in_any_order_give_the_same_bits_and_the_same_tree() {
    for (seed, child) in CHILDREN.into_iter().enumerate() {
        let columns = made(seed as u64, 500, child, &[Of::Nominal(40, 0), Of::Number], 2.0);
        let mut order: Vec<usize> = (0..500).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for i in 0..order.len() {
            let j = random.random_range(i..order.len());
            order.swap(i, j);
        }
        let shuffled: Vec<_> =
            columns.iter().map(|(of, values)| (*of, order.iter().map(|&row| values[row]).collect())).collect();
        let [one, two] = [columns, shuffled].map(|columns| {
            let score = prepared(&table(&columns), Grouping::Auto);
            (score.score(0, &[1, 2]).unwrap().to_bits(), tree(&score, 2))
        });
        assert_eq!(one, two, "{child:?}");
    }
}

#[test]
fn neighbours_are_merged_only_where_a_key_or_the_cap_asks_for_it() {
    let groups = |others: &[Of]| {
        let table = table(&made(3, 2000, Of::Number, others, 3.0));
        prepared(&table, Grouping::Auto).in_order(0, &(1..=others.len()).collect::<Vec<_>>()).unwrap().unwrap()
    };
    let one = groups(&[Of::Nominal(50, 0)]);
    assert_eq!((one[0].levels, one[0].groups), (50, 50));
    let many = groups(&[Of::Nominal(300, 0)]);
    assert!(many[0].levels == 300 && (30..=64).contains(&many[0].groups), "{many:?}");
    let two = groups(&[Of::Nominal(300, 0), Of::Nominal(200, 0)]);
    assert!(two.len() == 2 && two.iter().map(|of| of.groups).sum::<u32>() <= 64, "{two:?}");
}
