//! The structure prior of predictors with hundreds or thousands of levels, by the limit that its sum goes to.
//!
//! With C splits in all and `gamma = 1 / (4 C)`, let `r = Z / gamma` of a cell: `r = 1 + sum over splits of r' r'' / (4 C)`,
//! between 1 and 2. Nearly all of the `2^m - 1` ways to divide `m + 1` levels leave about half of them on each side, and
//! these halves have next to no share of C any more. So a category of many levels has two states, whole and divided:
//! `r(whole) = 1 + w r(divided)^2 / 4 + ...`, w its share of C. One such predictor alone has r = 1.25. What this leaves out
//! of `ln Z` is less than `(3/4)^m / 4` (the mean of `2^-m 2^part` over all parts, in both sides), 5e-5 for 31 levels and
//! 6e-9 for 63. C itself is kept as a logarithm, since it overflows.
//!
//! Ordered levels would take `m^2 / 2` terms for each combination of the others. Where that is too many they are
//! coarsened to g splits of the same share of C together, which moves `ln Z` by less than `1 / (8 g)`.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::key::Split;
use super::normaliser::{CellType, Prior, log_binomial};

/// A category with more levels than this has two states.
const WHOLE: u32 = 30;
/// About how many terms the sum may have.
const TERMS: f64 = 3e5;

/// What can be split, what each split weighs, and how much is left of it.
#[derive(Clone, Copy, Debug)]
struct Axis {
    split: Split,
    /// Splits of the whole; 1 for a category of two states.
    left: u32,
    /// Weight of one split: `gamma` times the splits that it stands for.
    weight: f64,
    two_states: bool,
}

/// `ln gamma` and `ln Z`.
pub(super) fn prior(kinds: &CellType) -> Prior {
    let log_splits = |&(split, m): &(Split, u32)| match split {
        Split::Halving => 0.0,
        Split::Bipartition => f64::from(m) * std::f64::consts::LN_2 + (-(-f64::from(m)).exp2()).ln_1p(),
        Split::Threshold => f64::from(m).ln(),
    };
    let each: Vec<f64> = kinds.iter().map(log_splits).collect();
    let top = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_all = top + each.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
    let log_gamma = -(4.0_f64.ln() + log_all);
    let mut axes: SmallVec<[Axis; 8]> = SmallVec::new();
    for (&(split, m), log) in kinds.iter().zip(each) {
        let two_states = split == Split::Bipartition && m > WHOLE;
        let weight = if two_states { (log_gamma + log).exp() } else { log_gamma.exp() };
        axes.push(Axis { split, left: if two_states { 1 } else { m }, weight, two_states });
    }
    while terms(&axes) > TERMS {
        let Some(longest) = axes.iter_mut().filter(|axis| axis.split == Split::Threshold).max_by_key(|axis| axis.left)
        else {
            break;
        };
        if longest.left < 4 {
            break;
        }
        let before = longest.left;
        longest.left = before.div_ceil(2);
        longest.weight *= f64::from(before) / f64::from(longest.left);
    }
    let left = axes.iter().map(|axis| axis.left).collect();
    Prior { log_gamma, log_z: log_gamma + ratio(&axes, &left, &mut FxHashMap::default()).ln() }
}

fn terms(axes: &[Axis]) -> f64 {
    let states: f64 = axes.iter().map(|axis| f64::from(axis.left) + 1.0).product();
    states * axes.iter().map(|axis| if axis.split == Split::Halving { 1.0 } else { f64::from(axis.left) }).sum::<f64>()
}

type Left = SmallVec<[u32; 8]>;

/// `Z / gamma` of a cell.
fn ratio(axes: &[Axis], left: &Left, known: &mut FxHashMap<Left, f64>) -> f64 {
    if let Some(&ratio) = known.get(left) {
        return ratio;
    }
    let mut sum = 1.0;
    for (i, axis) in axes.iter().enumerate() {
        let mut with = |part: u32| {
            let mut other = left.clone();
            other[i] = part;
            ratio(axes, &other, known)
        };
        let m = left[i];
        sum += axis.weight
            * match axis.split {
                _ if m == 0 => 0.0,
                Split::Halving => with(m - 1).powi(2),
                Split::Bipartition if axis.two_states => with(0).powi(2),
                Split::Bipartition => (1..=m).map(|a| log_binomial(m, a).exp() * with(a - 1) * with(m - a)).sum(),
                Split::Threshold => (1..=m).map(|a| with(a - 1) * with(m - a)).sum(),
            };
    }
    known.insert(left.clone(), sum);
    sum
}

#[cfg(test)]
mod tests {
    use super::super::normaliser;
    use super::*;
    use Split::{Bipartition as B, Halving as H, Threshold as T};

    fn both(kinds: &[(Split, u32)]) -> [Prior; 2] {
        let kinds = CellType::from_slice(kinds);
        [prior(&kinds), normaliser::prior(&kinds)]
    }

    #[test]
    fn the_limit_differs_from_the_sum_by_less_than_stated() {
        let cases: &[(&[(Split, u32)], u32)] = &[
            (&[(B, 31)], 31),
            (&[(B, 62)], 62),
            (&[(B, 33), (T, 5)], 33),
            (&[(B, 31), (B, 31)], 31),
            (&[(H, 5), (B, 40)], 40),
        ];
        for (kinds, m) in cases {
            let [limit, sum] = both(kinds);
            assert!((limit.log_gamma - sum.log_gamma).abs() < 1e-12, "{kinds:?}");
            let error = (limit.log_z - sum.log_z).abs();
            assert!(error < 0.75_f64.powi(*m as i32) / 4.0 + 1e-13, "{kinds:?}: {error:e}");
        }
    }

    #[test]
    fn few_levels_are_summed_exactly() {
        for kinds in [&[(B, 6), (T, 9)][..], &[(T, 40)], &[(H, 3), (H, 2), (B, 5)]] {
            let [limit, sum] = both(kinds);
            assert!((limit.log_z - sum.log_z).abs() < 1e-12, "{kinds:?}");
        }
    }

    #[test]
    fn coarse_ordered_levels_move_the_sum_by_less_than_stated() {
        // 1,200 splits are coarsened to 300; the sum itself by the plain recursion over one predictor.
        let m = 1200;
        let mut whole = vec![1.0_f64];
        for left in 1..=m {
            let terms: f64 = (1..=left).map(|a| whole[a - 1] * whole[left - a]).sum();
            whole.push(1.0 + terms / (4.0 * m as f64));
        }
        let coarse = prior(&CellType::from_slice(&[(T, m as u32)]));
        let error = (coarse.log_z - coarse.log_gamma - whole[m].ln()).abs();
        assert!(error > 0.0 && error < 1.0 / (8.0 * 300.0), "{error:e}");
    }

    #[test]
    fn thousands_of_levels_neither_overflow_nor_take_long() {
        let one = prior(&CellType::from_slice(&[(B, 3999)]));
        assert!((one.log_gamma + 3999.0 * std::f64::consts::LN_2 + 4.0_f64.ln()).abs() < 1e-9);
        assert!((one.log_z - one.log_gamma - 1.25_f64.ln()).abs() < 1e-12);
        let several = prior(&CellType::from_slice(&[(H, 5), (B, 299), (B, 299), (T, 3999)]));
        assert!((several.log_z - several.log_gamma - 1.316_406_25_f64.ln()).abs() < 1e-9);
    }
}
