//! Cuts at midpoints of ranks, each written as a number of few decimals.
//!
//! A cell of ranks is cut between the two neighbouring distinct values nearest to its middle rank, the lower of two
//! equally near; equal values are never parted, so a cell of one value has no cut. The cut itself is the number of fewest
//! decimals, in the user's units, that parts the two values; of several such numbers the nearest to their middle, the
//! higher of two. So only the order of the values decides which rows a cut parts, and only the text depends on units.
//!
//! Ranks are sums of weights where rows have some. What is left of a cell of one value below its last cut: all its rows
//! are in its first bin, and the bins above begin where the next cell does, so that they hold nothing; in the last cell
//! the rows are in the last bin instead.

use super::bins::SLACK;
use crate::table::Units;

/// Where a cut is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cut {
    /// In stored units.
    pub stored: f64,
    /// In the user's units.
    pub written: f64,
}

/// Bins by halvings of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// Where each bin but the first begins, ascending.
    cuts: Vec<Cut>,
}

/// The distinct values of a column.
pub struct Distinct {
    /// Ascending.
    pub values: Vec<f64>,
    /// The weight of all rows below each value, and of all.
    pub below: Vec<f64>,
    scale: Units,
}

/// How many cuts are between the bins of a cell that may be halved so often: `2^halvings - 1`.
fn n_cuts(halvings: u32) -> usize {
    (1 << halvings) - 1
}

impl Ranks {
    /// Of stored values, with the weights of the rows if they have some; `scale` leads to the user's units.
    pub fn of(values: &[f64], weights: Option<&[f64]>, max_splits: u32, scale: &Units) -> Self {
        let distinct = Distinct::of(values, weights, scale);
        let mut cuts = vec![Cut::default(); n_cuts(max_splits)];
        if let Some(&last) = distinct.values.last() {
            // Without any cut all rows are in the last bin.
            let low = Cut { stored: last, written: scale.to_original(last) };
            distinct.halve(0, distinct.values.len(), &mut cuts, max_splits, (low, None));
        }
        Self { cuts }
    }

    /// Where bin `bin >= 1` begins.
    pub fn cut(&self, bin: u32) -> Cut {
        self.cuts[bin as usize - 1]
    }

    /// The bin of a value.
    pub fn bin(&self, value: f64) -> u32 {
        self.cuts.partition_point(|cut| cut.stored <= value) as u32
    }
}

impl Distinct {
    /// Of stored values, with the weights of the rows if they have some; `scale` leads to the user's units.
    pub fn of(values: &[f64], weights: Option<&[f64]>, scale: &Units) -> Self {
        let mut all = Self { values: Vec::new(), below: vec![], scale: scale.clone() };
        let mut sum = 0.0;
        let mut take = |value: f64, weight: f64| {
            if all.values.last() != Some(&value) {
                all.values.push(value);
                all.below.push(sum);
            }
            sum += weight;
        };
        match weights {
            None => {
                let mut sorted = values.to_vec();
                sorted.sort_unstable_by(f64::total_cmp);
                for value in sorted {
                    take(value, 1.0);
                }
            }
            Some(weights) => {
                // Weights sum without rounding, in any order.
                let mut sorted: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
                sorted.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
                for (value, weight) in sorted {
                    take(value, weight);
                }
            }
        }
        all.below.push(sum);
        all
    }

    /// Fills in the cuts of the cell of the values `from..to`, which stands between the cuts `around`.
    fn halve(&self, from: usize, to: usize, cuts: &mut [Cut], halvings: u32, around: (Cut, Option<Cut>)) {
        if to - from == 1 {
            cuts.fill(around.1.unwrap_or(around.0));
        } else if halvings > 0 {
            let middle = self.middle(from, to);
            let cut = self.between(middle - 1);
            let (left, right) = cuts.split_at_mut(n_cuts(halvings - 1));
            right[0] = cut;
            self.halve(from, middle, left, halvings - 1, (around.0, Some(cut)));
            self.halve(middle, to, &mut right[1..], halvings - 1, (cut, around.1));
        }
    }

    /// The same without values that differ from one before by what `same` takes for rounding.
    #[must_use]
    pub fn apart(self, same: impl Fn(f64, f64) -> bool) -> Self {
        let Self { values, below, scale } = self;
        let mut kept = Self { values: Vec::new(), below: Vec::new(), scale };
        for (value, before) in values.into_iter().zip(&below) {
            if kept.values.last().is_none_or(|&last| !same(last, value)) {
                kept.values.push(value);
                kept.below.push(*before);
            }
        }
        kept.below.extend(below.last());
        kept
    }

    /// Halves the values up to `halvings` times, but no cell of less weight than `least`: by which value each of the upper
    /// cells begins, and at which halving, 1 the first; ascending.
    pub fn halvings(&self, halvings: u32, least: f64) -> Vec<(usize, u32)> {
        let mut cuts = Vec::new();
        if !self.values.is_empty() {
            self.cut(0, self.values.len(), [1, halvings], least, &mut cuts);
        }
        cuts
    }

    fn cut(&self, from: usize, to: usize, [depth, most]: [u32; 2], least: f64, cuts: &mut Vec<(usize, u32)>) {
        if to - from == 1 || depth > most || self.below[to] - self.below[from] < least {
            return;
        }
        let middle = self.middle(from, to);
        self.cut(from, middle, [depth + 1, most], least, cuts);
        cuts.push((middle, depth));
        self.cut(middle, to, [depth + 1, most], least, cuts);
    }

    /// The first value above the cut of a cell of two values or more.
    fn middle(&self, from: usize, to: usize) -> usize {
        // Doubled, so that nothing is rounded: weights are multiples of one unit.
        let twice = self.below[from] + self.below[to];
        let upper = from + 1 + self.below[from + 1..to].partition_point(|below| 2.0 * below < twice);
        let distance = |at: usize| (2.0 * self.below[at] - twice).abs();
        match upper {
            _ if upper == from + 1 => upper,
            _ if upper == to => to - 1,
            // Tenths that add up to about as much as other tenths are as near.
            _ if distance(upper - 1) <= distance(upper) + SLACK * self.below[self.values.len()] => upper - 1,
            _ => upper,
        }
    }

    /// The cut between a value and the next.
    fn between(&self, at: usize) -> Cut {
        let (low, high) = (self.values[at], self.values[at + 1]);
        let parts = |written: f64| {
            let stored = self.scale.to_stored(written);
            (low < stored && stored <= high).then_some(Cut { stored, written })
        };
        let (a, b) = (self.scale.to_original(low), self.scale.to_original(high));
        let middle = a.midpoint(b);
        let top = a.abs().max(b.abs());
        // With fewer decimals there is only 0.
        let first = (-top.log10().floor() - 1.0).clamp(0.0, 400.0) as usize;
        let few = |decimals: usize| {
            let rounded = |x: f64| format!("{x:.decimals$}").parse().map_or(x, |x: f64| x + 0.0);
            let step: f64 = format!("1e-{decimals}").parse().unwrap_or(0.0);
            let near = rounded(middle);
            let (lower, upper) =
                if near > middle { (rounded(near - step), near) } else { (near, rounded(near + step)) };
            // As good as halfway is halfway: which it is exactly depends on how the column is standardised.
            let up = upper - middle <= middle - lower + 1e-9 * (b - a);
            let order = if up { [upper, lower] } else { [lower, upper] };
            order.into_iter().find_map(parts)
        };
        let found = parts(0.0).or_else(|| (first..first + DIGITS).find_map(few));
        found.unwrap_or(Cut { stored: high, written: b })
    }
}

/// More digits than a number has.
const DIGITS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: f64 = 0.5;

    fn ranks(values: &[f64], max_splits: u32) -> Ranks {
        Ranks::of(values, None, max_splits, &Units::IDENTITY)
    }

    fn written(ranks: &Ranks) -> Vec<f64> {
        ranks.cuts.iter().map(|cut| cut.written).collect()
    }

    #[test]
    fn a_cut_is_nearest_to_the_middle_rank_and_the_lower_of_two() {
        // Of five values the middle is 2.5 ranks up: two below is as near as three.
        assert_eq!(written(&ranks(&[10.0, 20.0, 30.0, 40.0, 50.0], 1)), [25.0]);
        assert_eq!(written(&ranks(&[50.0, 10.0, 40.0, 20.0, 30.0, 60.0], 1)), [35.0]);
        // Equal values are never parted: the cut is below the seven, since above them it is as near.
        assert_eq!(written(&ranks(&[1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0], 1)), [3.0]);
        assert_eq!(written(&ranks(&[5.0, 5.0, 5.0, 5.0, 9.0], 1)), [7.0]);
        assert_eq!(written(&ranks(&[1.0, 5.0, 5.0, 5.0, 5.0], 1)), [3.0]);
    }

    #[test]
    fn a_cell_of_one_value_has_no_cut_and_its_other_bins_hold_nothing() {
        let two = ranks(&[0.0, 0.0, 0.0, 8.0], 3);
        assert_eq!(written(&two), [4.0; 7]);
        assert_eq!([-1.0, 0.0, 3.9, 4.0, 8.0, 9.0].map(|x| two.bin(x)), [0, 0, 0, 7, 7, 7]);
        let three = ranks(&[1.0, 2.0, 3.0], 3);
        assert_eq!(written(&three), [2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0]);
        assert_eq!([1.0, 2.0, 3.0].map(|x| three.bin(x)), [0, 4, 7]);
        let constant = ranks(&[2.5, 2.5], 2);
        assert_eq!([2.5, 1.0, 3.0].map(|x| constant.bin(x)), [3, 0, 3]);
        assert_eq!(ranks(&[], 2).bin(1.0), 3);
    }

    #[test]
    fn halves_are_halved_again() {
        let values: Vec<f64> = (0..64).map(f64::from).collect();
        let all = ranks(&values, 5);
        assert_eq!(written(&all), (1..32).map(|i| f64::from(2 * i)).collect::<Vec<_>>());
        for (i, &x) in values.iter().enumerate() {
            assert_eq!(all.bin(x), i as u32 / 2);
        }
    }

    #[test]
    fn a_cut_has_the_fewest_decimals_that_part_the_two_values() {
        let cut = |low: f64, high: f64| ranks(&[low, high], 1).cut(1).written;
        for (low, high, want) in [
            (2.0, 3.0, 3.0),
            (1.0, 2.0, 2.0),
            (3.17, 3.24, 3.2),
            (0.6, 1.0, 1.0),
            (1.0, 1.4, 1.2),
            (12_000.0, 13_500.0, 12_750.0),
            (-0.3, 0.2, 0.0),
            (-7.0, -2.0, -4.0),
            (0.999, 1.001, 1.0),
            (1e-285, 4e-285, 3e-285),
            (1e285, 4e285, 2.5e285),
            (-1e308, 1.2e308, 0.0),
            (1e16, 1e16 + 2.0, 1e16 + 2.0),
        ] {
            assert_eq!(cut(low, high), want, "{low} {high}");
        }
        let next = 0.1_f64.next_up();
        assert_eq!(cut(0.1, next), next);
    }

    #[test]
    fn a_written_cut_parts_the_values_as_they_are_stored() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for scale in [1.0, 3e-285, 7e-9, 1.7e4, 9e285] {
            let user: Vec<f64> = (0..200).map(|_| ((next() - HALF) * 100.0).round() / 10.0 * scale).collect();
            let of_logarithms = Units { shift: scale.ln(), scale: 1.3, log: Some(HALF * scale), ..Units::IDENTITY };
            for units in [Units { shift: 0.3 * scale, scale: 0.7 * scale, log: None, ..Units::IDENTITY }, of_logarithms]
            {
                // Logarithms are of numbers that are not negative.
                let user: Vec<f64> = user.iter().map(|&x| if units.log.is_some() { x.abs() } else { x }).collect();
                let stored: Vec<f64> = user.iter().map(|&x| units.to_stored(x)).collect();
                let ranks = Ranks::of(&stored, None, 5, &units);
                for (bin, cut) in (1..).zip(&ranks.cuts) {
                    for (&x, &y) in user.iter().zip(&stored) {
                        assert_eq!(x < cut.written, ranks.bin(y) < bin, "{x} {cut:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_weights_are_repeated_rows_and_ten_tenths_are_one() {
        let (values, times) = ([3.0, 1.0, 7.0, 2.0, 9.0], [1.0, 4.0, 2.0, 3.0, 1.0]);
        let repeated: Vec<f64> =
            values.iter().zip(times).flat_map(|(&x, n)| std::iter::repeat_n(x, n as usize)).collect();
        let weighted = Ranks::of(&values, Some(&times), 3, &Units::IDENTITY);
        assert_eq!(weighted, ranks(&repeated, 3));
        assert_ne!(weighted, ranks(&values, 3));
        // Three values of the same weight: both places are as near, though ten tenths add up to a little less than one.
        let values: Vec<f64> = [vec![1.0; 10], vec![2.0, 3.0]].concat();
        let weights: Vec<f64> = [vec![0.1; 10], vec![1.0; 2]].concat();
        assert!(weights[..10].iter().sum::<f64>() < 1.0);
        assert_eq!(Ranks::of(&values, Some(&weights), 1, &Units::IDENTITY).cut(1).written, 2.0);
    }
}
