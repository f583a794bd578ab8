//! Columns of numbers: what is in them, their standardisation, their bins.

use rustc_hash::FxHashMap;

use super::step::Step;
use crate::table::Affine;

/// Distinct values are counted up to this many.
pub const DISTINCT_CAP: usize = 256;

/// What one pass over a column of numbers tells.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Rows without a value.
    pub n_null: u64,
    /// Rows that are not a number.
    pub n_nan: u64,
    /// First row that is infinite.
    pub infinite_row: Option<u64>,
    /// Smallest value, infinity if there is none.
    pub minimum: f64,
    /// Largest value, minus infinity if there is none.
    pub maximum: f64,
    /// True if every value is a whole number.
    pub whole: bool,
    /// Distinct values with their counts, sorted; `None` beyond the cap.
    pub distinct: Option<Vec<(f64, u64)>>,
    /// The largest number that all values are whole multiples of, if few decimals write them.
    pub step: Option<f64>,
    counts: FxHashMap<u64, u64>,
    counting: bool,
    rows: u64,
    /// True while every row is its predecessor plus one.
    steps: bool,
    last: f64,
    shared: Step,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            n_null: 0,
            n_nan: 0,
            infinite_row: None,
            minimum: f64::INFINITY,
            maximum: f64::NEG_INFINITY,
            whole: true,
            distinct: None,
            step: None,
            counts: FxHashMap::default(),
            counting: true,
            rows: 0,
            steps: true,
            last: f64::NAN,
            shared: Step::default(),
        }
    }
}

impl Profile {
    /// Of numbers that come in single precision.
    pub fn of_single() -> Self {
        Self { shared: Step::of_single(), ..Self::default() }
    }

    /// Takes in the value of the next row.
    pub fn observe(&mut self, value: Option<f64>) {
        let row = self.rows;
        self.rows += 1;
        let Some(value) = value else {
            self.n_null += 1;
            return;
        };
        if value.is_nan() {
            self.n_nan += 1;
            return;
        }
        self.minimum = self.minimum.min(value);
        self.maximum = self.maximum.max(value);
        if value.is_infinite() {
            self.infinite_row.get_or_insert(row);
            return;
        }
        self.whole &= value.trunc() == value;
        self.steps &= row == 0 || value == self.last + 1.0;
        self.last = value;
        self.shared.observe(value);
        if self.counting {
            *self.counts.entry(super::number_key(value)).or_insert(0) += 1;
            self.counting = self.counts.len() <= DISTINCT_CAP;
        }
    }

    /// Takes in the values of the next rows. Once there are too many distinct values to count, whole blocks of finite
    /// numbers are taken in at once.
    pub fn observe_all(&mut self, values: &[f64]) {
        for block in values.chunks(1024) {
            let (minimum, maximum, zero) = extent(block);
            if self.counting || self.steps || self.whole || zero != 0.0 {
                for &x in block {
                    self.observe(Some(x));
                }
            } else {
                self.rows += block.len() as u64;
                self.minimum = self.minimum.min(minimum);
                self.maximum = self.maximum.max(maximum);
                self.shared.observe_all(block);
            }
        }
    }

    /// Ends the pass.
    pub fn finish(&mut self) {
        if self.counting {
            let mut distinct: Vec<_> = self.counts.drain().map(|(bits, n)| (f64::from_bits(bits), n)).collect();
            distinct.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.distinct = Some(distinct);
        }
        self.counts = FxHashMap::default();
        let n_distinct = self.distinct.as_ref().map(Vec::len);
        self.step = self.shared.known(self.maximum.max(-self.minimum), n_distinct);
    }

    /// Number of rows with a number.
    pub fn n_values(&self) -> u64 {
        self.rows - self.n_null - self.n_nan
    }

    /// True if the rows count 0, 1, 2, ... or 1, 2, 3, ...
    pub fn is_counter_in_order(&self) -> bool {
        self.steps && self.spans_the_rows()
    }

    /// True if the values may be 0..n-1 or 1..n in some order: whole, complete and of that range.
    pub fn spans_the_rows(&self) -> bool {
        self.rows > 1
            && self.n_values() == self.rows
            && self.whole
            && (self.minimum == 0.0 || self.minimum == 1.0)
            && self.maximum - self.minimum + 1.0 == self.rows as f64
    }
}

/// Smallest value, largest value, and a number that is 0 if all values are finite and NaN otherwise.
fn extent(values: &[f64]) -> (f64, f64, f64) {
    let (mut low, mut high, mut zero) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8], [0.0; 8]);
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder();
    let mut take = |chunk: &[f64]| {
        for (((low, high), zero), &x) in low.iter_mut().zip(&mut high).zip(&mut zero).zip(chunk) {
            *low = if x < *low { x } else { *low };
            *high = if x > *high { x } else { *high };
            *zero += x * 0.0;
        }
    };
    chunks.for_each(&mut take);
    take(rest);
    let minimum = low.into_iter().fold(f64::INFINITY, f64::min);
    let maximum = high.into_iter().fold(f64::NEG_INFINITY, f64::max);
    (minimum, maximum, zero.iter().sum())
}

/// The mean of `of(x)`, none of which is beyond `most` (a normal number). Summed as whole numbers of a unit of about `2^-61 most`,
/// so that it is the same in any order of the rows: additions of whole numbers do not round.
fn mean(values: &[f64], most: f64, of: impl Fn(f64) -> f64) -> f64 {
    let exponent = (most.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    // A power of two: scaling is exact.
    let scale = f64::from_bits(((61 - exponent + 1023) as u64) << 52);
    let total: i128 = values.iter().map(|&x| i128::from((of(x) * scale) as i64)).sum();
    total as f64 / values.len() as f64 / scale
}

/// As [`mean`], of values that count as often as their weights say. Whole weights are multiplied as they are, others as whole
/// numbers of a unit of about `2^-40` of the largest: again sums that do not round, and those of repeated values.
fn weighted_mean(values: &[f64], weights: &[f64], most: f64, of: impl Fn(f64) -> f64) -> f64 {
    let exponent = (most.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    let scale = f64::from_bits(((61 - exponent + 1023) as u64) << 52);
    let whole = weights.iter().all(|w| w.fract() == 0.0);
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let unit = if whole { 1.0 } else { (40.0 - largest.log2().floor()).exp2() };
    let (mut total, mut weight) = (0_i128, 0_i128);
    for (&x, &w) in values.iter().zip(weights) {
        let w = i128::from((w * unit).round() as i64);
        total += w * i128::from((of(x) * scale) as i64);
        weight += w;
    }
    total as f64 / weight as f64 / scale
}

/// The largest number that is standardised, and the smallest spread. Beyond, draws of heavy tails and widths of bins would
/// leave the floating range; and numbers too small to be normal hold too few digits.
pub const LARGEST: f64 = 1e290;
/// See [`LARGEST`].
pub const SMALLEST: f64 = 1e-290;

/// That the numbers of a column, and what lies between them, keep within the floating range.
///
/// # Errors
/// What is wrong with them, and what to do.
pub fn check_size(values: &[f64]) -> Result<(), (String, &'static str)> {
    let (minimum, maximum, _) = extent(values);
    let (most, spread) = (maximum.max(-minimum), maximum - minimum);
    if values.is_empty() {
        return Ok(());
    }
    if most > LARGEST {
        let of = if maximum == most { maximum } else { minimum };
        return Err((format!("holds {of:e}, and numbers are taken up to {LARGEST:e}"), "divide it by a power of ten"));
    }
    if spread > 0.0 && spread < SMALLEST {
        let problem = format!("holds {minimum:e} to {maximum:e}, a spread below {SMALLEST:e}");
        return Err((problem, "multiply it by a power of ten"));
    }
    Ok(())
}

/// The map to mean 0 and population standard deviation 1. A constant column keeps the scale 1.
pub fn standardising(values: &[f64]) -> Affine {
    standardising_of(Means { values, weights: None })
}

/// As [`standardising`], of values that count as often as their weights say: all above 0, and summing to 2^53 at most.
pub fn standardising_weighted(values: &[f64], weights: &[f64]) -> Affine {
    standardising_of(Means { values, weights: Some(weights) })
}

/// Values, and how often each counts.
#[derive(Clone, Copy)]
struct Means<'a> {
    values: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl Means<'_> {
    fn of(&self, most: f64, of: impl Fn(f64) -> f64) -> f64 {
        match self.weights {
            None => mean(self.values, most, of),
            Some(weights) => weighted_mean(self.values, weights, most, of),
        }
    }
}

fn standardising_of(means: Means<'_>) -> Affine {
    let values = means.values;
    let (minimum, maximum, _) = extent(values);
    if values.is_empty() {
        return Affine::IDENTITY;
    }
    if minimum == maximum {
        return Affine { shift: minimum, scale: 1.0 };
    }
    // Values near the ends of the floating range would overflow or vanish when squared: bring them to order 1 first.
    let common = 1e-140..1e140;
    let unit = maximum.abs().max(minimum.abs());
    let shift = if common.contains(&unit) { means.of(unit, |x| x) } else { means.of(1.0, |x| x / unit) * unit };
    let deviation = (maximum - shift).max(shift - minimum);
    let scale = if common.contains(&deviation) {
        means.of(deviation * deviation, |x| (x - shift) * (x - shift)).sqrt()
    } else {
        means.of(1.0, |x| ((x - shift) / deviation) * ((x - shift) / deviation)).sqrt() * deviation
    };
    Affine { shift, scale: if scale > 0.0 { scale } else { 1.0 } }
}

/// Standardises in place.
pub fn standardise(values: &mut [f64], weights: Option<&[f64]>) -> Affine {
    let map = weights.map_or_else(|| standardising(values), |weights| standardising_weighted(values, weights));
    apply(map, values);
    map
}

/// Brings values into stored units.
pub fn apply(map: Affine, values: &mut [f64]) {
    if map != Affine::IDENTITY {
        for x in values {
            *x = map.to_stored(*x);
        }
    }
}

/// Upper ends of at most `k` bins, the last bin left open: each with about as many values, or each as wide.
/// A value falls into the first bin whose end it does not exceed.
pub fn cuts(values: &mut [f64], k: usize, equal_width: bool) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (values.first(), values.last()) else { return Vec::new() };
    let n = values.len();
    let mut cuts: Vec<f64> = (1..k)
        .map(|i| {
            if equal_width {
                low + (high - low) * (i as f64 / k as f64)
            } else {
                values[(n * i).div_ceil(k).max(1) - 1]
            }
        })
        .filter(|&cut| cut < high)
        .collect();
    cuts.dedup();
    cuts
}

/// As [`cuts`], of values that count as often as their weights say: a quantile is the lowest value up to which at least its
/// share of the weights lies.
pub fn weighted_cuts(values: &[f64], weights: &[f64], k: usize, equal_width: bool) -> Vec<f64> {
    if equal_width {
        return cuts(&mut values.to_vec(), k, true);
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(weights[a].total_cmp(&weights[b])));
    let (total, mut up_to, mut i) = (crate::weights::sum(weights), 0.0, 1);
    let mut cuts = Vec::new();
    for &row in &order {
        up_to += weights[row];
        // Sums of whole weights and their multiples are exact.
        while i < k && up_to * k as f64 >= total * i as f64 {
            cuts.push(values[row]);
            i += 1;
        }
    }
    let high = order.last().map_or(f64::NEG_INFINITY, |&row| values[row]);
    cuts.retain(|&cut| cut < high);
    cuts.dedup();
    cuts
}

/// The bin of a value.
pub fn bin(cuts: &[f64], value: f64) -> u32 {
    cuts.partition_point(|&cut| cut < value) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn profile(values: &[Option<f64>]) -> Profile {
        let mut profile = Profile::default();
        for &x in values {
            profile.observe(x);
        }
        profile.finish();
        profile
    }

    proptest! {
        #[test]
        fn standardised_values_have_mean_0_and_deviation_1(mut values in prop::collection::vec(-1e6..1e6_f64, 2..100)) {
            let before = values.clone();
            let map = standardise(&mut values, None);
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            prop_assume!(map.scale > 1e-3);
            prop_assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-6, "{mean} {variance}");
            for (stored, original) in values.iter().zip(before) {
                prop_assert!((map.to_original(*stored) - original).abs() < 1e-8);
            }
        }

        #[test]
        fn the_order_of_rows_changes_no_bit(values in prop::collection::vec(
            prop_oneof![-1e6..1e6_f64, -1e-3..1e-3_f64, Just(1e12)], 2..200)) {
            let map = standardising(&values);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(standardising(&sorted), map);
            sorted.reverse();
            prop_assert_eq!(standardising(&sorted), map);
        }

        #[test]
        fn whole_weights_are_repeated_values(
            values in prop::collection::vec((-5..5_i32, 1..5_u8, -1e3..1e3_f64), 1..60), k in 1..6_usize,
        ) {
            let few: Vec<f64> = values.iter().map(|v| f64::from(v.0)).collect();
            let many: Vec<f64> = values.iter().map(|v| v.2).collect();
            let weights: Vec<f64> = values.iter().map(|v| f64::from(v.1)).collect();
            for column in [few, many] {
                let each = column.iter().zip(&weights);
                let mut repeated: Vec<f64> = each.flat_map(|(&x, &w)| std::iter::repeat_n(x, w as usize)).collect();
                prop_assert_eq!(standardising_weighted(&column, &weights), standardising(&repeated));
                prop_assert_eq!(weighted_cuts(&column, &weights, k, false), cuts(&mut repeated, k, false));
                // Other weights in the same proportions: the same map, but for rounding.
                let parts: Vec<f64> = weights.iter().map(|w| w * 0.1).collect();
                let (whole, part) = (standardising(&repeated), standardising_weighted(&column, &parts));
                prop_assert!((whole.shift - part.shift).abs() < 1e-8 && (whole.scale - part.scale).abs() < 1e-8);
            }
        }

        #[test]
        fn bins_keep_the_order_and_are_all_used(values in prop::collection::vec(-5..5_i32, 1..60), k in 1..6_usize) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let cuts = cuts(&mut values.clone(), k, false);
            let mut used: Vec<u32> = values.iter().map(|&x| bin(&cuts, x)).collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used, (0..=cuts.len() as u32).collect::<Vec<_>>());
            prop_assert!(cuts.len() < k);
        }
    }

    #[test]
    fn extreme_values_are_standardised_too() {
        for unit in [1e308, 1e-300, 5e-310] {
            let mut values = [unit, 0.0, -unit];
            let map = standardise(&mut values, None);
            assert!(values.iter().all(|x| x.is_finite()), "{map:?} {values:?}");
        }
    }

    #[test]
    fn numbers_at_the_ends_of_the_floating_range_are_refused_in_words() {
        for (values, told) in [
            ([1e308, -1e300, 0.0], "holds 1e308, and numbers are taken up to 1e290"),
            ([0.0, -1.5e291, 3.0], "holds -1.5e291"),
            ([1e-308, 3e-308, 2e-308], "holds 1e-308 to 3e-308, a spread below"),
        ] {
            assert!(check_size(&values).unwrap_err().0.contains(told), "{values:?}");
        }
        for values in [[1e290, -1e290, 0.0], [0.0, 2e-290, 0.0], [1e-320, 1e-320, 1e-320]] {
            assert!(check_size(&values).is_ok());
            let map = standardise(&mut values.clone(), None);
            assert!(map.scale.is_normal() && map.scale < 1e291, "{map:?}");
        }
        assert!(check_size(&[]).is_ok());
    }

    #[test]
    fn a_constant_keeps_its_scale() {
        let mut values = [0.1; 7];
        assert_eq!(standardise(&mut values, None), Affine { shift: 0.1, scale: 1.0 });
        assert_eq!(values, [0.0; 7]);
    }

    #[test]
    fn a_profile_tells_nulls_from_nans_and_finds_the_first_infinity() {
        let seen = profile(&[Some(1.0), None, Some(f64::NAN), Some(f64::INFINITY), Some(2.5)]);
        assert_eq!((seen.n_null, seen.n_nan, seen.infinite_row, seen.whole), (1, 1, Some(3), false));
        assert_eq!(seen.distinct, Some(vec![(1.0, 1), (2.5, 1)]));
    }

    #[test]
    fn taking_in_blocks_tells_the_same_as_row_by_row() {
        let spoiled = [None, Some(f64::NAN), Some(f64::INFINITY)].into_iter();
        for (spoiled, part) in spoiled.flat_map(|x| [3.0, 4.0, 1.0].map(|part| (x, part))) {
            let mut values: Vec<f64> = (0..5000).map(|i| f64::from(i % 1777) / part - 50.0).collect();
            if let Some(x) = spoiled {
                values[4321] = x;
            }
            let by_row = profile(&values.iter().map(|&x| Some(x)).collect::<Vec<_>>());
            let mut by_block = Profile::default();
            by_block.observe_all(&values[..100]);
            by_block.observe_all(&values[100..]);
            by_block.finish();
            let told = |p: &Profile| (p.n_nan, p.infinite_row, p.minimum, p.maximum, p.whole, p.n_values(), p.step);
            assert_eq!(told(&by_row), told(&by_block));
            let step = (part != 3.0).then_some(1.0 / part);
            assert!(by_row.step == step || by_row.infinite_row.is_some(), "{:?}", by_row.step);
        }
    }

    #[test]
    fn a_counter_counts_every_row() {
        let ordered: Vec<_> = (1..=9).map(|i| Some(f64::from(i))).collect();
        assert!(profile(&ordered).is_counter_in_order());
        let shuffled: Vec<_> = [3, 1, 2].map(|i| Some(f64::from(i))).to_vec();
        assert!(!profile(&shuffled).is_counter_in_order() && profile(&shuffled).spans_the_rows());
        assert!(!profile(&[Some(2.0), Some(3.0)]).spans_the_rows());
    }
}
