//! The step of a column of numbers: the largest one that all of them are whole multiples of.
//!
//! Numbers are written with few decimals: `m / 10^d`, rounded to the nearest float, gives back every one of them for the
//! fewest decimals `d` of the column. The step is the greatest common divisor of these `m`, over `10^d`: 1 for counts, 0.5
//! for ratings in halves, 100 for incomes in hundreds. One pass; it ends early for measurements with many digits.

/// Decimals at most: numbers with more are told by no step.
const MOST_DECIMALS: usize = 6;
const POWERS: [f64; MOST_DECIMALS + 1] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
/// From so many units of the last decimal on all floats are such multiples, which tells nothing; and all single ones.
const LARGEST: f64 = (1_u64 << 50) as f64;
const LARGEST_SINGLE: f64 = (1_u64 << 21) as f64;
/// Fewer distinct values may share a divisor by chance.
const DISTINCT: usize = 10;

/// What is known of the step of the numbers so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// Beyond [`MOST_DECIMALS`] once there is no step.
    decimals: usize,
    /// Of the numbers times `10^decimals`; 0 before the first other than 0.
    divisor: u64,
    /// Whether they were given in single precision.
    single: bool,
}

impl Step {
    /// Of numbers that were given in single precision.
    pub fn of_single() -> Self {
        Self { single: true, ..Self::default() }
    }

    /// Takes in a finite number.
    #[inline]
    pub fn observe(&mut self, value: f64) {
        if self.decimals <= MOST_DECIMALS {
            self.take(value.abs());
        }
    }

    /// Takes in finite numbers.
    pub fn observe_all(&mut self, values: &[f64]) {
        for &x in values {
            if self.decimals > MOST_DECIMALS {
                return;
            }
            self.take(x.abs());
        }
    }

    fn take(&mut self, size: f64) {
        while let Some(&power) = POWERS.get(self.decimals) {
            // Whole numbers near 2^53 would be rounded by the half.
            let units = if self.decimals == 0 { size } else { size * power + 0.5 } as u64;
            let written = units as f64 / power;
            if written == size || self.single && written as f32 == size as f32 {
                if self.divisor != 1 {
                    self.divisor = common_divisor(self.divisor, units);
                }
                return;
            }
            self.decimals += 1;
            self.divisor = self.divisor.saturating_mul(10);
        }
    }

    /// The step of numbers of at most this size, of which so many differ (`None` for many).
    pub fn known(&self, largest: f64, n_distinct: Option<usize>) -> Option<f64> {
        let power = *POWERS.get(self.decimals)?;
        let limit = if self.single { LARGEST_SINGLE } else { LARGEST };
        if self.divisor == 0 || self.decimals > 0 && largest * power >= limit {
            return None;
        }
        let shared = if n_distinct.is_none_or(|n| n >= DISTINCT) { self.divisor } else { 1 };
        Some(shared as f64 / power)
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step_of(values: &[f64]) -> Option<f64> {
        let mut step = Step::default();
        step.observe_all(values);
        told(step, values)
    }

    fn told(step: Step, values: &[f64]) -> Option<f64> {
        let mut distinct = values.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        step.known(values.iter().fold(0.0, |most, x| most.max(x.abs())), Some(distinct.len()))
    }

    fn multiples(step: f64, of: std::ops::Range<i32>) -> Vec<f64> {
        of.map(|i| f64::from(i) * step).collect()
    }

    #[test]
    fn a_step_is_what_all_numbers_are_multiples_of() {
        let hundredths: Vec<f64> = (-30..30).map(|i| f64::from(i) / 100.0).collect();
        for (values, step) in [
            (multiples(1.0, -5..20), Some(1.0)),
            (multiples(100.0, 0..20), Some(100.0)),
            (multiples(0.25, -8..9), Some(0.25)),
            (hundredths, Some(0.01)),
            (multiples(1.0 / 3.0, 1..20), None),
            (vec![0.1, 12.25, 1e7], Some(0.01)),
            (vec![1e-6, 2.0], Some(1e-6)),
            (vec![1e-7, 2.0], None),
            (vec![0.5, 1e15], None), // floats of this size have no more digits
            (vec![4_503_599_627_370_497.0, 3.0], Some(1.0)),
            (vec![0.0, 0.0], None),
            (vec![], None),
        ] {
            assert_eq!(step_of(&values), step, "{values:?}");
        }
    }

    #[test]
    fn few_values_may_share_a_divisor_by_chance() {
        assert_eq!(step_of(&[0.0, 50.0, 100.0, 250.0]), Some(1.0));
        assert_eq!(step_of(&[0.5, 1.5, 4.5]), Some(0.1));
    }

    #[test]
    fn single_precision_has_the_decimals_that_were_written() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i as f32 * 7.0 / 10.0)).collect();
        assert_eq!(step_of(&values), None);
        let mut step = Step::of_single();
        step.observe_all(&values);
        assert_eq!(told(step, &values), Some(0.7));
        // Single numbers of this size have hardly any more digits.
        let mut step = Step::of_single();
        step.observe_all(&[1e6, 1e6 + 0.5]);
        assert_eq!(told(step, &[1e6, 1e6 + 0.5]), None);
    }

    proptest! {
        #[test]
        fn the_order_of_numbers_does_not_matter(mut values in prop::collection::vec((-3000..3000_i32, 0..8_u32), 1..40)) {
            let number = |&(m, d): &(i32, u32)| f64::from(m) / 10_f64.powi(d as i32);
            let first = step_of(&values.iter().map(number).collect::<Vec<_>>());
            values.reverse();
            prop_assert_eq!(step_of(&values.iter().map(number).collect::<Vec<_>>()), first);
            if let Some(step) = first {
                for x in values.iter().map(number) {
                    prop_assert!((x / step - (x / step).round()).abs() < 1e-6, "{} is no multiple of {}", x, step);
                }
            }
        }
    }
}
