//! A bound is never below what it bounds: every partition of a few rows, by enumeration.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::leaf::LeafModel;
use crate::leaf::{
    Categorical, Cells, CountLeaf, HistogramLeaf, Linear, Normal, Ordinal, Shares, n_sums, observe_weighed,
};

#[test]
fn without_rows_lines_are_chosen_between_too() {
    let rows = LineRows { x: vec![None, Some(vec![]), None], ..LineRows::default() };
    let mut response = Lines::<{ n_sums(2) }>::new(&Normal::default(), Arc::new(rows));
    response.read(&[1, 2]);
    assert_eq!(response.choice(), -std::f64::consts::LN_2);
    response.read(&[2]);
    assert_eq!(response.choice(), 0.0);
}

/// The best sum of `worth(block)` over all partitions of `0..n` into at least two blocks.
fn best_partition(n: usize, worth: &dyn Fn(&[usize]) -> f64) -> f64 {
    fn place(row: usize, n: usize, blocks: &mut Vec<Vec<usize>>, worth: &dyn Fn(&[usize]) -> f64, best: &mut f64) {
        if row == n {
            if blocks.len() > 1 {
                *best = best.max(blocks.iter().map(|block| worth(block)).sum());
            }
            return;
        }
        for i in 0..blocks.len() {
            blocks[i].push(row);
            place(row + 1, n, blocks, worth, best);
            blocks[i].pop();
        }
        blocks.push(vec![row]);
        place(row + 1, n, blocks, worth, best);
        blocks.pop();
    }
    let mut best = f64::NEG_INFINITY;
    place(0, n, &mut Vec::new(), worth, &mut best);
    best
}

fn sum_of<R: Response>(response: &R, values: impl Iterator<Item = R::Value>) -> R::Sum {
    let mut sum = response.zero();
    values.for_each(|value| response.observe(&mut sum, value));
    sum
}

fn levels_are_bounded<L: LevelsLeaf + LeafModel<Value = u32> + Clone>(leaf: &L, codes: &[u32], log_gamma: f64) {
    let mut response: Levels<[u32; 4], L> = Levels::new(leaf.clone(), Categorical::new(4, 0.5).tabulated(8), true);
    response.prepare(log_gamma);
    let worth = |block: &[usize]| response.worth(&sum_of(&response, block.iter().map(|&i| codes[i]))).leaf;
    let best = best_partition(codes.len(), &worth);
    let all = response.worth(&sum_of(&response, codes.iter().copied()));
    // What the bound decides is whether splitting can beat the leaf: a pure cell is told to be a leaf at once.
    let bound = all.split.max(all.leaf);
    assert!(bound >= best - 1e-9, "{codes:?}: {bound} bounds {best}");
}

/// What some rows are worth beside a shared number, and the best partition of them.
fn bounded<R: InOrder<Value = u32>>(
    others: R,
    [alpha, log_width, log_gamma]: [f64; 3],
    n: usize,
    value: &dyn Fn(usize) -> Held<u32>,
) -> (Worth, f64) {
    let mut response = Pointed::new(others, Shares::new(alpha, log_width, n));
    response.read(&[1]);
    response.prepare(log_gamma);
    let of = |rows: &mut dyn Iterator<Item = usize>| sum_of(&response, rows.map(value));
    let best = best_partition(n, &|block| response.worth(&of(&mut block.iter().copied())).leaf);
    (response.worth(&of(&mut (0..n))), best)
}

proptest! {
    #[test]
    fn no_partition_of_counts_beats_their_bound(
        rows in prop::collection::vec((prop_oneof![0..4_u32, 0..60_u32, Just(5000)], 0.2..3.0_f64), 2..8),
        log_gamma in -6.0..-1.4_f64,
        mean in 0.1..40.0_f64,
        zeros_apart in any::<bool>(),
    ) {
        let leaf = CountLeaf::new(mean, zeros_apart.then_some(0.0), [3.0, 2.0], 4);
        let count = |y: u32| f64::from(y.max(u32::from(zeros_apart)));
        let held: Vec<_> = rows.iter().map(|&(y, weight)| leaf.row(count(y), weight)).collect();
        let mut response = Counts::new(leaf, held);
        response.prepare(log_gamma);
        let of = |rows: &mut dyn Iterator<Item = usize>| sum_of(&response, rows.map(|i| i as u32));
        let best = best_partition(rows.len(), &|block| response.worth(&of(&mut block.iter().copied())).leaf);
        let all = response.worth(&of(&mut (0..rows.len())));
        prop_assert!(all.split >= best - 1e-9, "{} bounds {best}", all.split);
    }

    #[test]
    fn no_partition_of_cells_beats_their_bound(
        rows in prop::collection::vec((prop_oneof![Just(0_u32), 0..6_u32], prop_oneof![Just(1.0), 0.2..3.0_f64]), 2..8),
        log_gamma in -6.0..-0.2_f64,
        weighed in any::<bool>(),
        every in 2..5_usize,
    ) {
        let leaf = Arc::new(HistogramLeaf::new(&Cells {
            edges: (0..=6).map(f64::from).collect(),
            depths: vec![3, 2, 1, 2, 3],
            totals: vec![5.0; 6],
        }));
        let pure = Categorical::new(6, 0.5);
        let cell = |i: usize| rows[i].0;
        if weighed {
            let mut response = Levels::<[f64; 8], _>::new(leaf, pure, true);
            response.prepare(log_gamma);
            let of = |block: &mut dyn Iterator<Item = usize>| sum_of(&response, block.map(|i| rows[i]));
            let best = best_partition(rows.len(), &|block| response.worth(&of(&mut block.iter().copied())).leaf);
            let all = response.worth(&of(&mut (0..rows.len())));
            prop_assert!(all.split.max(all.leaf) >= best - 1e-9, "{all:?} bounds {best}");
        } else {
            let response = || Levels::<[u32; 8], _>::new(leaf.clone(), pure.clone(), true);
            let mut alone = response();
            alone.prepare(log_gamma);
            let of = |block: &mut dyn Iterator<Item = usize>| sum_of(&alone, block.map(cell));
            let best = best_partition(rows.len(), &|block| alone.worth(&of(&mut block.iter().copied())).leaf);
            let all = alone.worth(&of(&mut (0..rows.len())));
            prop_assert!(all.split.max(all.leaf) >= best - 1e-9, "{all:?} bounds {best}");
            // Beside a number that has a probability of its own.
            let held = |i: usize| if i.is_multiple_of(every) { Held::Shared(1.0) } else { Held::Other(cell(i)) };
            let (all, best) = bounded(response(), [0.5, -2.0, log_gamma], rows.len(), &held);
            prop_assert!(all.split.max(all.leaf) >= best - 1e-9, "{all:?} bounds {best}");
        }
    }

    #[test]
    fn no_partition_of_numbers_beats_their_bound(
        values in prop::collection::vec(prop_oneof![Just(0.0), Just(0.4), -3.0..3.0_f64, Just(30.0)], 2..8),
        log_gamma in -6.0..-1.4_f64,
        centre in -1.0..1.0_f64,
        published in any::<bool>(),
    ) {
        let leaf = Normal::default().centred(centre);
        let leaf = if published { leaf.published() } else { leaf };
        let mut response = Numbers::new(&leaf, values.len());
        response.prepare(log_gamma);
        let of = |rows: &mut dyn Iterator<Item = usize>| sum_of(&response, rows.map(|i| values[i] - centre));
        let best = best_partition(values.len(), &|block| response.worth(&of(&mut block.iter().copied())).leaf);
        let all = response.worth(&of(&mut (0..values.len())));
        prop_assert!(all.split >= best - 1e-9, "{} bounds {best}", all.split);
        // And a leaf is worth what the distribution says.
        let mut stat = leaf.empty();
        for &y in &values {
            leaf.observe(&mut stat, y);
        }
        prop_assert!((all.leaf - log_gamma - leaf.log_marginal(&stat)).abs() < 1e-9 * (1.0 + all.leaf.abs()));
    }

    #[test]
    fn no_partition_of_numbers_along_lines_beats_their_bound(
        rows in prop::collection::vec(
            (prop_oneof![Just(0.0), Just(0.4), -3.0..3.0_f64, Just(30.0)], -2.0..2.0_f64, prop_oneof![Just(0.0), -1.0..1.0_f64]),
            2..8,
        ),
        log_gamma in -6.0..-1.4_f64,
        centre in -1.0..1.0_f64,
        a in 0.3..3.0_f64,
    ) {
        let leaf = Normal::new(0.2, a, 1.0, 1.0).centred(centre);
        let y: Vec<f64> = rows.iter().map(|(y, ..)| y - centre).collect();
        let numbers = |of: fn(&(f64, f64, f64)) -> f64| Some(rows.iter().map(of).collect());
        let x = vec![None, numbers(|row| row.1), numbers(|row| row.2)];
        let mut response = Lines::<{ n_sums(2) }>::new(&leaf, Arc::new(LineRows { y, x, ..LineRows::default() }));
        response.read(&[1, 2]);
        response.prepare(log_gamma);
        let of = |rows: &mut dyn Iterator<Item = usize>| sum_of(&response, rows.map(|i| i as u32));
        let best = best_partition(rows.len(), &|block| response.worth(&of(&mut block.iter().copied())).leaf);
        let all = response.worth(&of(&mut (0..rows.len())));
        prop_assert!(all.split >= best - 1e-9, "{} bounds {best}", all.split);
        // And a leaf is worth the better of the two.
        let linear = Linear::new(leaf.clone(), 2, 1.0);
        let (mut stat, mut moments) = (linear.empty(), leaf.empty());
        for (y, one, two) in &rows {
            linear.observe(&mut stat, *y, &[*one, *two]);
            leaf.observe(&mut moments, *y);
        }
        let want = leaf.log_marginal(&moments).max(linear.log_marginal(&stat));
        prop_assert!((all.leaf - log_gamma - want).abs() < 1e-9 * (1.0 + want.abs()));
    }

    #[test]
    fn no_partition_of_weighed_numbers_beats_their_bound(
        rows in prop::collection::vec(
            (prop_oneof![Just(0.0), Just(0.4), -3.0..3.0_f64, Just(30.0)], prop_oneof![0.01..4.0_f64, Just(1.0)]), 2..8),
        log_gamma in -6.0..-1.4_f64,
        centre in -1.0..1.0_f64,
    ) {
        let leaf = Normal::default().centred(centre);
        let mut response = Weighed::new(&leaf);
        response.prepare(log_gamma);
        let of = |of: &mut dyn Iterator<Item = usize>| sum_of(&response, of.map(|i| (rows[i].0 - centre, rows[i].1)));
        let best = best_partition(rows.len(), &|block| response.worth(&of(&mut block.iter().copied())).leaf);
        let all = response.worth(&of(&mut (0..rows.len())));
        prop_assert!(all.split >= best - 1e-9, "{} bounds {best}", all.split);
    }

    #[test]
    fn no_partition_of_weighed_numbers_along_lines_beats_their_bound(
        rows in prop::collection::vec(
            (
                prop_oneof![Just(0.0), Just(0.4), -3.0..3.0_f64, Just(30.0)],
                -2.0..2.0_f64,
                prop_oneof![Just(0.0), -1.0..1.0_f64],
                prop_oneof![0.01..4.0_f64, Just(1.0)],
            ),
            2..8,
        ),
        log_gamma in -6.0..-1.4_f64,
        centre in -1.0..1.0_f64,
        a in 0.3..3.0_f64,
    ) {
        let leaf = Normal::new(0.2, a, 1.0, 1.0).centred(centre);
        let y: Vec<f64> = rows.iter().map(|row| row.0 - centre).collect();
        let numbers = |of: fn(&(f64, f64, f64, f64)) -> f64| Some(rows.iter().map(of).collect());
        let x = vec![None, numbers(|row| row.1), numbers(|row| row.2)];
        let weights = rows.iter().map(|row| row.3).collect();
        let mut response = WeighedLines::<{ n_sums(2) }>::new(&leaf, 1.0, Arc::new(LineRows { y, x, weights }));
        response.read(&[1, 2]);
        response.prepare(log_gamma);
        let of = |rows: &mut dyn Iterator<Item = usize>| sum_of(&response, rows.map(|i| i as u32));
        let best = best_partition(rows.len(), &|block| response.worth(&of(&mut block.iter().copied())).leaf);
        let all = response.worth(&of(&mut (0..rows.len())));
        prop_assert!(all.split >= best - 1e-9, "{} bounds {best}", all.split);
    }

    #[test]
    fn no_partition_with_a_shared_number_beats_its_bound(
        rows in prop::collection::vec(
            (prop_oneof![Just(None), Just(None), (-3.0..3.0_f64).prop_map(Some), Just(Some(30.0))], -2.0..2.0_f64, 0.01..4.0_f64),
            2..8,
        ),
        log_gamma in -6.0..-1.4_f64,
        alpha in 0.1..3.0_f64,
        log_width in -5.0..1.0_f64,
        weighed in any::<bool>(),
    ) {
        let leaf = Normal::new(0.2, 0.7, 1.0, 1.0);
        let y: Vec<f64> = rows.iter().map(|row| row.0.unwrap_or(0.0)).collect();
        let x = vec![None, Some(rows.iter().map(|row| row.1).collect())];
        let weights: Vec<f64> = rows.iter().map(|row| if weighed { row.2 } else { 1.0 }).collect();
        let of = Arc::new(LineRows { y: y.clone(), x, weights: weights.clone() });
        let value = |i: usize| rows[i].0.map_or(Held::Shared(weights[i]), |_| Held::Other(i as u32));
        let n = rows.len();
        let (all, best) = if weighed {
            bounded(WeighedLines::<{ n_sums(1) }>::new(&leaf, 1.0, of), [alpha, log_width, log_gamma], n, &value)
        } else {
            bounded(Lines::<{ n_sums(1) }>::new(&leaf, of), [alpha, log_width, log_gamma], n, &value)
        };
        prop_assert!(all.split >= best - 1e-9, "{} bounds {best}", all.split);
        // And a leaf is worth the number's share and what the others are as a leaf.
        let linear = Linear::new(leaf.clone(), 1, 1.0);
        let (mut stat, mut shared, mut others) = (linear.empty(), 0.0, 0.0);
        for (i, row) in rows.iter().enumerate() {
            if row.0.is_none() {
                shared += weights[i];
            } else {
                others += weights[i];
                stat.n += weights[i];
                observe_weighed(&mut stat.sums, y[i], &[row.1], weights[i]);
            }
        }
        let beta = |a: f64, b: f64| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let of_share = beta(shared + alpha, others + alpha) - beta(alpha, alpha) - shared * log_width;
        let of_others = linear.log_marginal(&stat).max(linear.log_marginal_without(&stat));
        let want = log_gamma + of_share + of_others;
        prop_assert!((all.leaf - want).abs() < 1e-9 * (1.0 + want.abs()), "{} {want}", all.leaf);
    }

    #[test]
    fn lines_of_weight_one_are_worth_what_lines_are(
        rows in prop::collection::vec((-3.0..3.0_f64, -2.0..2.0_f64), 1..9), log_gamma in -6.0..-1.4_f64,
    ) {
        let leaf = Normal::new(0.3, 0.7, 2.0, 1.3).centred(0.1);
        let y = rows.iter().map(|row| row.0).collect();
        let x = vec![Some(rows.iter().map(|row| row.1).collect())];
        let of = Arc::new(LineRows { y, x, weights: vec![1.0; rows.len()] });
        let mut plain = Lines::<{ n_sums(1) }>::new(&leaf, of.clone());
        let mut weighed = WeighedLines::<{ n_sums(1) }>::new(&leaf, 1.0, of);
        plain.read(&[0]);
        weighed.read(&[0]);
        plain.prepare(log_gamma);
        weighed.prepare(log_gamma);
        let all = || 0..rows.len() as u32;
        let (one, other) = (plain.worth(&sum_of(&plain, all())).leaf, weighed.worth(&sum_of(&weighed, all())).leaf);
        prop_assert!((one - other).abs() < 1e-12 * (1.0 + one.abs()), "{one} {other}");
    }

    #[test]
    fn numbers_of_weight_one_are_worth_what_numbers_are(
        values in prop::collection::vec(-3.0..3.0_f64, 1..9), log_gamma in -6.0..-1.4_f64,
    ) {
        let leaf = Normal::new(0.3, 0.7, 2.0, 1.3).centred(0.1).tabulated(9);
        let (mut plain, mut weighed) = (Numbers::new(&leaf, 9), Weighed::new(&leaf));
        plain.prepare(log_gamma);
        weighed.prepare(log_gamma);
        let one = plain.worth(&sum_of(&plain, values.iter().copied())).leaf;
        let other = weighed.worth(&sum_of(&weighed, values.iter().map(|&y| (y, 1.0)))).leaf;
        prop_assert!((one - other).abs() < 1e-12 * (1.0 + one.abs()), "{one} {other}");
    }

    #[test]
    fn no_partition_of_weighed_levels_beats_their_bound(
        rows in prop::collection::vec((0..4_u32, 0.01..3.0_f64), 2..8), log_gamma in -6.0..-1.4_f64,
    ) {
        let leaf = Categorical::new(4, 0.5).tabulated(8);
        let mut response: Levels<[f64; 4], Categorical> = Levels::new(leaf.clone(), leaf, true);
        response.prepare(log_gamma);
        let worth = |block: &[usize]| response.worth(&sum_of(&response, block.iter().map(|&i| rows[i]))).leaf;
        let best = best_partition(rows.len(), &worth);
        let all = response.worth(&sum_of(&response, rows.iter().copied()));
        prop_assert!(all.split.max(all.leaf) >= best - 1e-9, "{} bounds {best}", all.split);
    }

    #[test]
    fn no_partition_of_levels_beats_their_bound(
        codes in prop::collection::vec(0..4_u32, 2..8), log_gamma in -6.0..-1.4_f64,
    ) {
        levels_are_bounded(&Categorical::new(4, 0.5).tabulated(8), &codes, log_gamma);
        levels_are_bounded(&Ordinal::new(4, 0.5, 0.25).tabulated(8), &codes, log_gamma);
    }
}
