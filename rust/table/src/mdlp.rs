//! Cut points of a number that tell classes apart (Fayyad and Irani 1993): entropy, and a description length to stop.
//!
//! A range is cut where the classes' entropy within the two parts is lowest, if
//! `gain > log2(n - 1)/n + [log2(3^k - 2) - (k E - k1 E1 - k2 E2)]/n`, and so on in each part. Only points where the class
//! changes can be best (Fayyad and Irani's theorem 1), so only those are weighed. Sorting costs `O(n log n)`, each depth
//! of cuts one pass over the distinct values: the sums of `n ln n` over classes follow the point as it moves.

use crate::error::{Error, Result};

/// The cuts of one column, ascending; a value equal to a cut lies below it.
///
/// Rows whose value is NaN are left out. `classes` holds one code below `n_classes` per row.
///
/// # Errors
/// If lengths differ or a value is infinite.
pub fn cuts(values: &[f64], classes: &[u32], n_classes: usize) -> Result<Vec<f64>> {
    if values.len() != classes.len() {
        return Err(Error::Shape(format!("{} values for {} classes", values.len(), classes.len())));
    }
    if let Some(row) = values.iter().position(|x| x.is_infinite()) {
        return Err(Error::Shape(format!("the value in row {row} is infinite; replace it by a number or a null")));
    }
    let mut rows: Vec<(f64, u32)> =
        values.iter().zip(classes).filter(|(x, _)| !x.is_nan()).map(|(&x, &c)| (x + 0.0, c)).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut search =
        Search { n_ln_n: NLnN::new(rows.len()), left: Counts::new(n_classes), right: Counts::new(n_classes) };
    let mut found = Vec::new();
    let mut ranges = vec![(0, rows.len())];
    while let Some((start, end)) = ranges.pop() {
        if let Some(at) = search.best_cut(&rows[start..end]) {
            let at = start + at;
            found.push(between(rows[at - 1].0, rows[at].0));
            ranges.extend([(start, at), (at, end)]);
        }
    }
    found.sort_unstable_by(f64::total_cmp);
    Ok(found)
}

/// A number from `low` on and below `high`: the middle, but for rounding.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    if middle < high { middle } else { low }
}

/// `n ln n` by count in fixed point, so that sums do not depend on the order in which a point was approached.
struct NLnN(Vec<i128>);

const FRACTION: f64 = (1_u64 << 40) as f64;

impl NLnN {
    fn new(n: usize) -> Self {
        let entry = |n: usize| if n < 2 { 0 } else { (n as f64 * (n as f64).ln() * FRACTION).round() as i128 };
        Self((0..=n).map(entry).collect())
    }
}

/// Rows by class, and what follows from them.
struct Counts {
    of: Vec<usize>,
    n: usize,
    present: usize,
    sum: i128,
}

impl Counts {
    fn new(n_classes: usize) -> Self {
        Self { of: vec![0; n_classes], n: 0, present: 0, sum: 0 }
    }

    fn add(&mut self, class: u32, n_ln_n: &NLnN) {
        let n = &mut self.of[class as usize];
        self.sum += n_ln_n.0[*n + 1] - n_ln_n.0[*n];
        self.present += usize::from(*n == 0);
        *n += 1;
        self.n += 1;
    }

    fn remove(&mut self, class: u32, n_ln_n: &NLnN) {
        let n = &mut self.of[class as usize];
        self.sum += n_ln_n.0[*n - 1] - n_ln_n.0[*n];
        self.present -= usize::from(*n == 1);
        *n -= 1;
        self.n -= 1;
    }

    /// Rows times entropy, in fixed point.
    fn spread(&self, n_ln_n: &NLnN) -> i128 {
        n_ln_n.0[self.n] - self.sum
    }

    /// Entropy in bits.
    fn entropy(&self, n_ln_n: &NLnN) -> f64 {
        self.spread(n_ln_n) as f64 / FRACTION / self.n as f64 / std::f64::consts::LN_2
    }
}

struct Search {
    n_ln_n: NLnN,
    left: Counts,
    right: Counts,
}

impl Search {
    /// Where to cut sorted rows, if that pays: the number of rows below. Of equal cuts the lowest.
    fn best_cut(&mut self, rows: &[(f64, u32)]) -> Option<usize> {
        let Self { n_ln_n, left, right } = self;
        *left = Counts::new(left.of.len());
        *right = Counts::new(right.of.len());
        for &(_, class) in rows {
            right.add(class, n_ln_n);
        }
        let (n, k, whole) = (right.n as f64, right.present as f64, right.entropy(n_ln_n));
        let mut best: Option<(i128, usize)> = None;
        let mut start = 0;
        // The class of all rows of the value before, if they are of one.
        let mut before = None;
        for group in rows.chunk_by(|a, b| a.0 == b.0) {
            let own = group.iter().all(|row| row.1 == group[0].1).then_some(group[0].1);
            if start > 0 && (own.is_none() || own != before) {
                let spread = left.spread(n_ln_n) + right.spread(n_ln_n);
                if best.is_none_or(|(least, _)| spread < least) {
                    best = Some((spread, start));
                }
            }
            for &(_, class) in group {
                right.remove(class, n_ln_n);
                left.add(class, n_ln_n);
            }
            before = own;
            start += group.len();
        }
        let at = best?.1;
        for &(_, class) in &rows[at..] {
            left.remove(class, n_ln_n);
            right.add(class, n_ln_n);
        }
        let (e1, e2) = (left.entropy(n_ln_n), right.entropy(n_ln_n));
        let gain = whole - (left.n as f64 * e1 + right.n as f64 * e2) / n;
        let (k1, k2) = (left.present as f64, right.present as f64);
        // 3^k - 2, in bits; the 2 is lost in 3^k before 3^k overflows.
        let choices = if k < 40.0 { (3_f64.powf(k) - 2.0).log2() } else { k * 3_f64.log2() };
        let cost = (n - 1.0).log2() + choices - (k * whole - k1 * e1 - k2 * e2);
        (gain > cost / n).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entropy(classes: &[u32]) -> (f64, f64) {
        let mut counts = std::collections::BTreeMap::new();
        for c in classes {
            *counts.entry(c).or_insert(0.0) += 1.0;
        }
        let n = classes.len() as f64;
        (counts.values().map(|m: &f64| -m / n * (m / n).log2()).sum(), counts.len() as f64)
    }

    /// Every value that occurs, every part looked at anew.
    fn literal(mut rows: Vec<(f64, u32)>) -> Vec<f64> {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let classes = |rows: &[(f64, u32)]| rows.iter().map(|r| r.1).collect::<Vec<_>>();
        let (n, (e, k)) = (rows.len() as f64, entropy(&classes(&rows)));
        let within = |at: usize| {
            let (below, above) = (entropy(&classes(&rows[..at])), entropy(&classes(&rows[at..])));
            (at as f64 * below.0 + (n - at as f64) * above.0, below, above)
        };
        let points = (1..rows.len()).filter(|&at| rows[at - 1].0 < rows[at].0);
        let Some(at) = points.min_by(|&a, &b| {
            // Equal but for rounding: the lower.
            let (a, b) = (within(a).0, within(b).0);
            if (a - b).abs() < 1e-9 { std::cmp::Ordering::Equal } else { a.total_cmp(&b) }
        }) else {
            return vec![];
        };
        let (sum, (e1, k1), (e2, k2)) = within(at);
        let cost = (n - 1.0).log2() + (3_f64.powf(k) - 2.0).log2() - (k * e - k1 * e1 - k2 * e2);
        if e - sum / n <= cost / n {
            return vec![];
        }
        let middle = f64::midpoint(rows[at - 1].0, rows[at].0);
        [literal(rows[..at].to_vec()), vec![middle], literal(rows[at..].to_vec())].concat()
    }

    proptest! {
        #[test]
        fn cuts_are_those_of_trying_every_value(rows in prop::collection::vec((0..40_i32, 0..3_u32, 0..10_u32), 0..80)) {
            // Most rows have the class that their value suggests.
            let class = |&(x, c, noise): &(i32, u32, u32)| if noise < 8 { (x / 14) as u32 } else { c };
            let (values, classes): (Vec<f64>, Vec<u32>) = rows.iter().map(|r| (f64::from(r.0) / 4.0, class(r))).unzip();
            let expected = literal(values.iter().copied().zip(classes.iter().copied()).collect());
            prop_assert_eq!(cuts(&values, &classes, 3).unwrap(), expected);
        }

        #[test]
        fn the_order_of_rows_and_the_names_of_classes_change_nothing(rows in prop::collection::vec((0..9_i32, 0..4_u32), 2..60)) {
            let (values, classes): (Vec<f64>, Vec<u32>) = rows.iter().map(|r| (f64::from(r.0), r.1)).unzip();
            let (backwards, renamed): (Vec<f64>, Vec<u32>) = rows.iter().rev().map(|r| (f64::from(r.0), 3 - r.1)).unzip();
            prop_assert_eq!(cuts(&values, &classes, 4).unwrap(), cuts(&backwards, &renamed, 4).unwrap());
        }
    }

    #[test]
    fn a_clear_border_is_cut_in_its_middle_and_noise_is_not() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let classes: Vec<u32> = (0..40).map(|i| u32::from(i >= 25)).collect();
        assert_eq!(cuts(&values, &classes, 2).unwrap(), [24.5]);
        let noise: Vec<u32> = (0..40).map(|i| i % 2).collect();
        assert!(cuts(&values, &noise, 2).unwrap().is_empty());
        assert!(cuts(&[], &[], 2).unwrap().is_empty() && cuts(&[1.0], &[0], 1).unwrap().is_empty());
    }

    #[test]
    fn missing_values_are_left_out_and_infinite_ones_refused() {
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        let mut classes: Vec<u32> = (0..40).map(|i| u32::from(i >= 25)).collect();
        values.push(f64::NAN);
        classes.push(0);
        assert_eq!(cuts(&values, &classes, 2).unwrap(), [24.5]);
        values[3] = f64::INFINITY;
        assert!(cuts(&values, &classes, 2).unwrap_err().to_string().contains("row 3"));
    }

    #[test]
    fn neighbouring_numbers_are_parted_by_the_lower() {
        let (low, high) = (1.0_f64, 1.0_f64.next_up());
        assert_eq!(between(low, high), low);
        let values: Vec<f64> = (0..40).map(|i| if i < 20 { low } else { high }).collect();
        let classes: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
        assert_eq!(cuts(&values, &classes, 2).unwrap(), [low]);
    }

    #[test]
    fn of_cuts_that_part_as_well_the_lowest_is_made_first() {
        let rows: Vec<(f64, u32)> = (0..60).map(|i| (f64::from(i), u32::from((20..40).contains(&i)))).collect();
        let mut search = Search { n_ln_n: NLnN::new(60), left: Counts::new(2), right: Counts::new(2) };
        assert_eq!(search.best_cut(&rows), Some(20));
    }
}
