//! All the ways to cut one parent into quantile bins, and what they have in common.
//!
//! Cut `i` of `k` is the order statistic at position `max(N i/k - 1/2, 0)`, interpolated (Hazen; R type 5), rounded up
//! for ordinal parents; a value at a cut goes up. That is the mean of the values within half a row of `N i/k`, and so it is
//! where rows have weights, with `N` their sum. The cuts of all `k` together split the values into a few *parts*
//! (at most 18 for up to 7 bins), and every bin of every `k` is a run of parts. A row is coded by its part once and for
//! all; ways to cut that split the data alike are one choice. Sets of choices are bit masks.

use crate::table::{Codes, Column, Kind, Table, Var};
use crate::weights::Weights;

/// One parent, cut in every way.
#[derive(Clone, Debug)]
pub struct Cuttings {
    /// By row: its part.
    pub codes: Vec<u16>,
    pub n_parts: usize,
    /// By part: the choices, as bits, that have a bin begin there.
    begins: Vec<u64>,
    /// For every two parts the choices that have them in one bin; empty if the parts are too many to keep that.
    together: Vec<u64>,
    /// Per choice: its cuts, ascending and distinct (none for levels without order).
    pub choices: Vec<Vec<f64>>,
    /// Whether the number of bins was a choice at all: what the prior over choices is charged for.
    pub is_cut: bool,
}

impl Cuttings {
    /// Of one variable, with 2 to `max_bins` bins.
    pub fn new(table: &Table, var: Var, max_bins: usize) -> Self {
        let weights = table.weights().map(Weights::of_rows);
        match (table.column(var), &table.variable(var).kind) {
            (Column::Reals(values), _) => Self::quantiles(values, weights, max_bins, |cut| cut),
            (Column::Codes(codes), Kind::Ordinal { .. }) => {
                let values: Vec<f64> = codes.iter().map(|c| c as f64).collect();
                Self::quantiles(&values, weights, max_bins, f64::ceil)
            }
            (Column::Codes(codes), _) => Self::levels(codes),
        }
    }

    fn levels(codes: &Codes) -> Self {
        let mut observed: Vec<usize> = codes.iter().collect();
        observed.sort_unstable();
        observed.dedup();
        let part = |code: usize| observed.partition_point(|&o| o < code) as u16;
        let begins = vec![1; observed.len()];
        Self {
            codes: codes.iter().map(part).collect(),
            n_parts: observed.len(),
            together: pairs(&begins, 1),
            begins,
            choices: vec![Vec::new()],
            is_cut: false,
        }
    }

    fn quantiles(values: &[f64], weights: Option<&[f64]>, max_bins: usize, round: impl Fn(f64) -> f64) -> Self {
        let sorted = Sorted::of(values, weights);
        let cuts_of = |k: usize| -> Vec<f64> {
            let mut cuts: Vec<f64> = (1..k).filter_map(|i| sorted.quantile(i, k)).map(&round).collect();
            cuts.dedup();
            cuts
        };
        let mut choices: Vec<Vec<f64>> = (2..=max_bins).map(cuts_of).collect();
        let mut all: Vec<f64> = choices.concat();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();

        // Parts that hold no row would only make the tables larger.
        let raw_part = |x: f64| all.partition_point(|&cut| cut <= x);
        let mut occupied: Vec<usize> = values.iter().map(|&x| raw_part(x)).collect();
        let raw_codes = occupied.clone();
        occupied.sort_unstable();
        occupied.dedup();
        let part_at = |raw: usize| occupied.partition_point(|&o| o < raw);
        let codes = raw_codes.into_iter().map(|raw| part_at(raw) as u16).collect();
        let n_parts = occupied.len();

        // A choice is the set of parts where its bins begin; the first k of those that split alike stands for all.
        let begins_of = |cuts: &[f64]| -> Vec<usize> {
            let mut begins: Vec<usize> = cuts.iter().map(|&cut| part_at(raw_part(cut))).collect();
            begins.retain(|&b| b > 0 && b < n_parts);
            begins.dedup();
            begins
        };
        let mut distinct: Vec<Vec<usize>> = Vec::new();
        choices.retain(|cuts| {
            let begins = begins_of(cuts);
            let new = !distinct.contains(&begins);
            if new {
                distinct.push(begins);
            }
            new
        });
        let mut begins = vec![0; n_parts];
        for (choice, own) in distinct.iter().enumerate() {
            for &part in own {
                begins[part] |= 1 << choice;
            }
        }
        Self { codes, n_parts, together: pairs(&begins, choices.len()), begins, choices, is_cut: true }
    }

    /// The choices, as bits, that have two parts, the lower first, in one bin.
    #[inline]
    pub fn together(&self, a: u16, b: u16) -> u64 {
        let (a, b) = (usize::from(a), usize::from(b));
        match self.together.get(a * self.n_parts + b) {
            Some(&choices) => choices,
            None if a < b && self.choices.len() == 1 => 0,
            None => together(&self.begins[a + 1..=b], self.choices.len()),
        }
    }
}

/// More parts than this are compared as they come up.
const MOST_PAIRED: usize = 64;

/// The choices, as bits, of which no bin begins at these parts.
fn together(begins: &[u64], n_choices: usize) -> u64 {
    let parted = begins.iter().fold(0, |parted, &begins| parted | begins);
    !parted & (u64::MAX >> (64 - n_choices))
}

/// That of every two parts, the lower first.
fn pairs(begins: &[u64], n_choices: usize) -> Vec<u64> {
    let n = begins.len();
    if n > MOST_PAIRED {
        return Vec::new();
    }
    let of = |a: usize, b: usize| if a <= b { together(&begins[a + 1..=b], n_choices) } else { 0 };
    (0..n * n).map(|pair| of(pair / n, pair % n)).collect()
}

/// Standardised values are rounded by less than this part of theirs.
const SLACK: f64 = 1.0 / (1_u64 << 42) as f64;

/// Numbers in order.
enum Sorted {
    /// Each counts once.
    Rows(Vec<f64>),
    /// Distinct ones, the weight of all below each, and that of all.
    Weighed { values: Vec<f64>, below: Vec<f64>, total: f64 },
}

impl Sorted {
    fn of(values: &[f64], weights: Option<&[f64]>) -> Self {
        let Some(weights) = weights else {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            return Self::Rows(sorted);
        };
        let mut rows: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut values, mut below, mut total) = (Vec::new(), Vec::new(), 0.0);
        for (value, weight) in rows {
            if values.last() != Some(&value) {
                values.push(value);
                below.push(total);
            }
            total += weight; // without rounding, in any order
        }
        Self::Weighed { values, below, total }
    }

    /// The order statistic at `max(N i/k - 1/2, 0)`, interpolated; `None` without values. Between two values it is lowered by a
    /// very little, so that a new value on it goes up whatever the column was standardised with.
    fn quantile(&self, i: usize, k: usize) -> Option<f64> {
        let (x, y, cut) = match self {
            Self::Rows(sorted) => {
                let last = sorted.len().checked_sub(1)?;
                let position = ((sorted.len() * i) as f64 / k as f64 - 0.5).clamp(0.0, last as f64);
                let below = position.floor();
                let (x, y) = (sorted[below as usize], sorted[(below as usize + 1).min(last)]);
                (x, y, x + (position - below) * (y - x))
            }
            Self::Weighed { values, below, total } => weighed_quantile(values, below, *total, i as f64, k as f64)?,
        };
        let lower = cut - (x.abs() + y.abs()) * SLACK;
        Some(if x < lower { lower } else { cut })
    }
}

/// The mean of a row's weight of values, half a row on either side of `i/k` of all; after its lowest and its highest value.
fn weighed_quantile(values: &[f64], below: &[f64], total: f64, i: f64, k: f64) -> Option<(f64, f64, f64)> {
    let &(mut highest) = values.first()?;
    let position = (total * i / k - 0.5).min(total - 1.0).max(0.0);
    let first = below.partition_point(|&below| below <= position) - 1;
    let lowest = values[first];
    let mut above = 0.0;
    for at in first..values.len() {
        // A row's weight beyond the position, so written that whole weights give the digits of repeated rows.
        let reach = position - (below[at] - 1.0);
        if reach <= 0.0 {
            break;
        }
        highest = values[at];
        let own = below.get(at + 1).unwrap_or(&total) - below[at];
        above += own.min(reach) * (values[at] - lowest);
    }
    Some((lowest, highest, lowest + above / total.min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hazen_quantiles_by_hand() {
        let x = [0.0, 10.0, 20.0, 30.0];
        let quantile = |i, k| Sorted::of(&x, None).quantile(i, k).unwrap();
        assert!((quantile(1, 2) - 15.0).abs() < 1e-10);
        assert!((quantile(1, 4) - 5.0).abs() < 1e-10);
        // Position 4/3 - 1/2 = 5/6.
        assert!((quantile(1, 3) - 25.0 / 3.0).abs() < 1e-10);
        assert_eq!(quantile(3, 8), 10.0);
        assert_eq!(Sorted::of(&[7.0], None).quantile(6, 7), Some(7.0));
        assert_eq!(Sorted::of(&[], None).quantile(1, 2), None);
        assert_eq!(Sorted::of(&[], Some(&[])).quantile(1, 2), None);
    }

    #[test]
    fn a_weighed_quantile_is_the_mean_of_a_row_about_it() {
        // Up to .25 of 1 the first, then up to 1 the second, then .5 of the third: half a row about the middle .875.
        let sorted = Sorted::of(&[3.0, 1.0, 2.0], Some(&[0.75, 0.25, 0.75]));
        let middle = sorted.quantile(1, 2).unwrap();
        assert!((middle - (2.0 * 0.625 + 3.0 * 0.375)).abs() < 1e-10, "{middle}");
        // Less than a row in all: their mean.
        let few = Sorted::of(&[3.0, 1.0], Some(&[0.125, 0.375]));
        assert!((few.quantile(2, 3).unwrap() - 1.5).abs() < 1e-10);
    }

    proptest! {
        /// Bins by the definition, one `k` at a time, hold the same rows as those of the choice they became.
        #[test]
        fn every_choice_is_a_partition_by_its_cuts(values in prop::collection::vec(-3_i32..4, 1..30), max_bins in 2..9_usize) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let cuttings = Cuttings::quantiles(&values, None, max_bins, |cut| cut);
            for (choice, cuts) in cuttings.choices.iter().enumerate() {
                let bin = |x: f64| cuts.iter().filter(|&&cut| cut <= x).count();
                for (i, &x) in values.iter().enumerate() {
                    for (j, &y) in values.iter().enumerate() {
                        let [p, q] = [i, j].map(|row| cuttings.codes[row]);
                        let together = cuttings.together(p.min(q), p.max(q));
                        prop_assert_eq!(bin(x) == bin(y), together >> choice & 1 == 1);
                    }
                }
            }
        }

        /// To the bit, and halves of equal rows are as the whole.
        #[test]
        fn whole_weights_cut_where_repeated_rows_do(
            rows in prop::collection::vec((-3_i32..4, 1..5_u8), 1..30), max_bins in 2..9_usize, tenths: bool,
        ) {
            let unit = if tenths { 0.1 } else { 1.0 };
            let values: Vec<f64> = rows.iter().map(|row| f64::from(row.0) * unit).collect();
            let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            let repeated: Vec<f64> =
                values.iter().zip(&rows).flat_map(|(&x, row)| std::iter::repeat_n(x, usize::from(row.1))).collect();
            let plain = Cuttings::quantiles(&repeated, None, max_bins, |cut| cut);
            prop_assert_eq!(&plain.choices, &Cuttings::quantiles(&values, Some(&weights), max_bins, |cut| cut).choices);
            let halves: Vec<f64> = weights.iter().chain(&weights).map(|w| w / 2.0).collect();
            let twice = Cuttings::quantiles(&[&values[..], &values[..]].concat(), Some(&halves), max_bins, |cut| cut);
            prop_assert_eq!(&plain.choices, &twice.choices);
        }
    }
}
