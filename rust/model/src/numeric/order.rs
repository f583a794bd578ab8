//! Rows in the order of a column's values.

/// The rows by value (as `f64::total_cmp` orders them), those of equal values by number.
///
/// Keys beside their rows are sorted, not rows that look up their values: on 300,000 rows that takes a third of the time.
pub fn by_value(values: &[f64]) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = values.iter().zip(0..).map(|(&value, row)| (key(value), row)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// A whole number that is larger for a larger value: a negative one's bits count backwards.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    bits ^ if bits >> 63 == 1 { u64::MAX } else { 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ordered_as_by_comparing_their_values() {
        let odd =
            [0.0, -0.0, 1.5, f64::INFINITY, -2.0, f64::NEG_INFINITY, 1e-310, -1e-310, f64::NAN, -f64::NAN, 1.5, -2.0];
        for n in 0..=odd.len() {
            for turn in 0..odd.len() {
                let mut values = odd.to_vec();
                values.rotate_left(turn);
                values.truncate(n);
                let mut expected: Vec<u32> = (0..n as u32).collect();
                expected.sort_by(|&i, &j| values[i as usize].total_cmp(&values[j as usize]).then(i.cmp(&j)));
                assert_eq!(by_value(&values), expected, "{values:?}");
            }
        }
    }
}
