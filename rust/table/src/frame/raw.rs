//! What is asked of a raw column: whoever reads frames shows it so.

use super::levels::Levels;
use super::numbers::Profile;

/// A column of a frame as it came. It is looked at as distinct values with their codes, or as numbers, as its coding needs.
pub trait RawValues {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// The distinct values with their codes.
    fn levels(&self) -> &Levels;
    /// What one pass told, if these are numbers.
    fn profile(&self) -> Option<&Profile>;
    /// Appends all values, if they are floats without gaps; false, with nothing appended, if they are not.
    fn copy_numbers(&self, values: &mut Vec<f64>) -> bool;
    /// Calls `f` with every value as a number, `None` where there is none. Never with NaN.
    fn for_each_number(&self, f: &mut impl FnMut(Option<f64>));
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::super::{MISSING, RawCodes};
    use super::*;
    use crate::table::Level;

    /// Numbers with gaps, or codes, that count how often somebody walks through them.
    pub struct Told {
        numbers: Vec<Option<f64>>,
        levels: Levels,
        profile: Option<Profile>,
        n_looks: Cell<usize>,
    }

    impl Told {
        pub fn new(numbers: &[Option<f64>]) -> Self {
            let mut profile = Profile::default();
            for &x in numbers {
                profile.observe(x);
            }
            profile.finish();
            Self { numbers: numbers.to_vec(), profile: Some(profile), ..ranked(&[], 0) }
        }

        pub fn n_looks(&self) -> usize {
            self.n_looks.get()
        }
    }

    /// Codes of `n` values that are their own ranks.
    pub fn ranked(codes: &[u32], n: i64) -> Told {
        let mut raw = RawCodes::with_capacity(codes.len());
        raw.extend(codes.iter().copied());
        let levels = Levels::declared(raw, (0..n).map(Level::Int).collect());
        let numbers = codes.iter().map(|&code| (code != MISSING).then_some(f64::from(code))).collect();
        Told { numbers, levels, profile: None, n_looks: Cell::new(0) }
    }

    impl RawValues for Told {
        fn n_rows(&self) -> usize {
            self.numbers.len()
        }

        fn levels(&self) -> &Levels {
            &self.levels
        }

        fn profile(&self) -> Option<&Profile> {
            self.profile.as_ref()
        }

        fn copy_numbers(&self, values: &mut Vec<f64>) -> bool {
            let all: Option<Vec<f64>> = self.numbers.iter().copied().collect();
            all.map(|all| values.extend(all)).is_some()
        }

        fn for_each_number(&self, f: &mut impl FnMut(Option<f64>)) {
            self.n_looks.set(self.n_looks.get() + 1);
            self.numbers.iter().for_each(|&x| f(x));
        }
    }
}
