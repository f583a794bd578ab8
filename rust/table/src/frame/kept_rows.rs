//! Which rows of a frame are learned from, and how often each of them counts.

use std::sync::Arc;

use super::numbers;
use super::raw::RawValues;
use crate::error::{Error, Result};
use crate::units;
use crate::weights;

/// The rows that have a value of every variable, and weigh something. Cheap to clone.
#[derive(Clone, Debug)]
pub struct KeptRows {
    /// None if all rows are kept.
    mask: Option<Arc<Vec<bool>>>,
    n_kept: usize,
    n_weightless: usize,
    weights: Option<Arc<Vec<f64>>>,
    given_weight: Option<f64>,
}

impl KeptRows {
    /// Those of `complete`, which is true for rows with all values. Weights are one for each row of the frame; those of a
    /// survey are scaled to the effective size of the kept rows.
    ///
    /// # Errors
    /// If there are more or fewer weights than rows, or some that are none.
    pub fn new(complete: Vec<bool>, weights: Option<&[f64]>, survey: bool) -> Result<Self> {
        let (n_rows, mut mask) = (complete.len(), complete);
        let n_complete = mask.iter().filter(|&&keep| keep).count();
        let (mut n_kept, mut used, mut given_weight) = (n_complete, None, None);
        if let Some(weights) = weights {
            if weights.len() != n_rows {
                let problem = format!("{} weights for {n_rows} rows; give one for each row", weights.len());
                return Err(Error::Shape(problem));
            }
            weights::check(weights)?;
            mask.iter_mut().zip(weights).for_each(|(keep, &w)| *keep &= w > 0.0);
            let kept: Vec<f64> = weights.iter().zip(&mask).filter(|(_, keep)| **keep).map(|(&w, _)| w).collect();
            (n_kept, given_weight) = (kept.len(), Some(weights::sum(&kept)));
            let kept = if survey { weights::scaled_to_effective_size(&kept) } else { kept };
            used = Some(Arc::new(weights::rounded(kept)));
        }
        let mask = (n_kept < n_rows).then(|| Arc::new(mask));
        Ok(Self { mask, n_kept, n_weightless: n_complete - n_kept, weights: used, given_weight })
    }

    /// How many are kept.
    pub fn n_kept(&self) -> usize {
        self.n_kept
    }

    /// Rows with all values that weigh nothing: they are not kept.
    pub fn n_weightless(&self) -> usize {
        self.n_weightless
    }

    /// For each row of the frame whether it is kept; none if all are.
    pub fn mask(&self) -> Option<&[bool]> {
        self.mask.as_deref().map(Vec::as_slice)
    }

    /// Of the kept rows, as they are used.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref().map(Vec::as_slice)
    }

    /// What the weights of the kept rows sum to as they were given, if there are some.
    pub fn given_weight(&self) -> Option<f64> {
        self.given_weight
    }

    /// Upper ends of at most `k` bins of a column's numbers.
    pub fn cuts(&self, raw: &impl RawValues, k: usize, equal_width: bool) -> Vec<f64> {
        let mut values = self.numbers(raw);
        match self.weights() {
            None => numbers::cuts(&mut values, k, equal_width),
            Some(weights) => numbers::weighted_cuts(&values, weights, k, equal_width),
        }
    }

    /// What a logarithmic scale has to add to a column's numbers.
    pub fn log_shift(&self, raw: &impl RawValues) -> f64 {
        units::log_shift(self.numbers(raw).into_iter())
    }

    /// A column's numbers.
    pub(super) fn numbers(&self, raw: &impl RawValues) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.n_kept);
        if self.mask.is_some() || !raw.copy_numbers(&mut values) {
            self.for_each_number(raw, &mut |x| values.push(x));
        }
        values
    }

    /// Calls `f` with every number of [`Self::numbers`].
    pub(super) fn for_each_number(&self, raw: &impl RawValues, f: &mut impl FnMut(f64)) {
        let mut row = 0;
        raw.for_each_number(&mut |x| {
            if let Some(x) = x
                && self.mask.as_ref().is_none_or(|mask| mask[row])
            {
                f(x);
            }
            row += 1;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::raw::tests::Told;
    use super::*;

    #[test]
    fn all_rows_are_kept_without_a_mask() {
        let kept = KeptRows::new(vec![true; 3], None, false).unwrap();
        assert_eq!((kept.n_kept(), kept.n_weightless(), kept.mask()), (3, 0, None));
        assert_eq!((kept.weights(), kept.given_weight()), (None, None));
        let weighted = KeptRows::new(vec![true; 3], Some(&[1.0, 2.0, 0.5]), false).unwrap();
        assert_eq!((weighted.mask(), weighted.weights()), (None, Some(&[1.0, 2.0, 0.5][..])));
    }

    #[test]
    fn rows_that_weigh_nothing_are_left_out_and_counted_apart() {
        let kept = KeptRows::new(vec![true, false, true, true], Some(&[2.0, 5.0, 0.0, 1.0]), false).unwrap();
        assert_eq!((kept.n_kept(), kept.n_weightless()), (2, 1));
        assert_eq!(kept.mask().unwrap(), [true, false, false, true]);
        assert_eq!((kept.weights().unwrap(), kept.given_weight()), (&[2.0, 1.0][..], Some(3.0)));
    }

    #[test]
    fn weights_of_a_survey_are_scaled_among_the_kept_rows() {
        let kept = KeptRows::new(vec![true, false, true], Some(&[40.0, 7.0, 40.0]), true).unwrap();
        assert_eq!((kept.weights().unwrap(), kept.given_weight()), (&[1.0, 1.0][..], Some(80.0)));
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        let told = |weights: &[f64]| KeptRows::new(vec![true; 2], Some(weights), false).unwrap_err().to_string();
        assert!(told(&[1.0]).contains("1 weights for 2 rows"));
        assert!(told(&[1.0, -3.0]).contains("weights=-3: in row 1"));
        assert!(told(&[0.0, 0.0]).contains("in every row"));
    }

    #[test]
    fn bins_and_logarithms_follow_from_the_kept_rows_alone() {
        let raw = Told::new(&[Some(0.0), Some(1.0), Some(2.0), Some(3.0), None, Some(4.0)]);
        let (complete, all) = (vec![false, true, true, true, false, true], vec![true; 6]);
        let kept = KeptRows::new(complete.clone(), None, false).unwrap();
        assert_eq!(kept.cuts(&raw, 2, false), [2.0]);
        assert_eq!(kept.cuts(&raw, 2, true), [2.5]);
        assert_eq!(kept.log_shift(&raw), 0.0);
        assert_eq!(KeptRows::new(all, None, false).unwrap().log_shift(&raw), 0.5);
        let weights = [9.0, 1.0, 1.0, 1.0, 9.0, 5.0];
        let heavy = KeptRows::new(complete, Some(&weights), false).unwrap();
        assert_eq!(heavy.cuts(&raw, 2, false), [] as [f64; 0], "the bin up to the largest is the last");
    }
}
