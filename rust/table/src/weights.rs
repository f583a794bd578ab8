//! Weights of rows: how often each counts. A row of weight 2 is worth two equal rows, one of weight 0 none.
//!
//! Statistics become sums of weights. Frequencies are used as they are. Weights of a survey say how many people a row stands
//! for, and that many were not asked: they are scaled to Kish's effective size, `(sum w)^2 / sum w^2` (Kish 1965).
//!
//! Weights are rounded to multiples of a power of two, `2^-53` to `2^-52` of their sum: so any of them sum without rounding, in
//! any order of the rows. Whole weights stay as they are.
//!
//! Inside the core a row may weigh differently for each child: what a row says of one variable may not count where it
//! counts for another.

use crate::error::{Error, Result};

/// Weights beyond this sum are counts that 64 bits no longer hold exactly.
pub const MOST: f64 = (1_u64 << 53) as f64;

/// The most rows that are made of rows with weights, where a computation has to repeat them.
pub const MOST_REPEATED: f64 = 1e6;

/// The weights of a table's rows, as they are used.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    of_rows: Vec<f64>,
    /// Where a child has weights of its own; shorter than the variables where no later child has.
    of_children: Vec<Option<Vec<f64>>>,
    total: f64,
    /// The weight of every row, where all weigh the same for every child.
    each: Option<f64>,
}

impl Weights {
    /// Of rows that all count.
    ///
    /// # Errors
    /// If a weight is not a number above 0, or they sum to more than 2^53.
    pub fn new(of_rows: Vec<f64>) -> Result<Self> {
        check(&of_rows)?;
        let of_rows = rounded(of_rows);
        let total = sum(&of_rows);
        if let Some(row) = of_rows.iter().position(|&w| w == 0.0) {
            return Err(Error::parameter("weights", &0.0, format!("in row {row}: leave such rows out")));
        }
        if total > MOST {
            return Err(Error::parameter("weights", &total, "is their sum, which is beyond 2^53; divide them"));
        }
        let each = equal(&of_rows);
        Ok(Self { of_rows, of_children: Vec::new(), total, each })
    }

    /// With weights of its own for a child, where 0 leaves a row out for it alone.
    ///
    /// # Errors
    /// If a weight is negative or not finite, or their number differs.
    pub fn for_child(mut self, child: usize, weights: Vec<f64>) -> Result<Self> {
        check(&weights)?;
        if weights.len() != self.of_rows.len() {
            let problem = format!("{} weights for {} rows", weights.len(), self.of_rows.len());
            return Err(Error::Shape(problem));
        }
        self.of_children.resize(self.of_children.len().max(child + 1), None);
        self.of_children[child] = Some(rounded(weights));
        self.each = None;
        Ok(self)
    }

    /// Row by row.
    pub fn of_rows(&self) -> &[f64] {
        &self.of_rows
    }

    /// Row by row, for a child.
    pub fn of_child(&self, child: usize) -> &[f64] {
        self.own_of(child).unwrap_or(&self.of_rows)
    }

    /// A child's own, if it has some.
    pub fn own_of(&self, child: usize) -> Option<&[f64]> {
        self.of_children.get(child).and_then(|own| own.as_deref())
    }

    /// Whether some child has weights of its own.
    pub fn differ_by_child(&self) -> bool {
        self.of_children.iter().any(Option::is_some)
    }

    /// The weight of every row, where all weigh the same for every child: then rows can be counted.
    pub fn each(&self) -> Option<f64> {
        self.each
    }

    /// Their sum.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Those of some rows.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let taken = |weights: &[f64]| rows.iter().map(|&row| weights[row]).collect::<Vec<f64>>();
        let of_rows = taken(&self.of_rows);
        let of_children = self.of_children.iter().map(|own| own.as_deref().map(taken)).collect();
        let each = if self.differ_by_child() { None } else { equal(&of_rows) };
        Self { total: sum(&of_rows), of_rows, of_children, each }
    }

    /// For each row its number, as often as its weight says.
    ///
    /// # Errors
    /// In words, if weights are not whole, or more than a million rows would be made.
    pub fn repeated(&self) -> std::result::Result<Vec<usize>, String> {
        if self.differ_by_child() {
            return Err("a row weighs differently for each variable".to_owned());
        }
        if let Some(row) = self.of_rows.iter().position(|&w| w.fract() != 0.0) {
            return Err(format!("the weight of row {row} is {}", self.of_rows[row]));
        }
        if self.total > MOST_REPEATED {
            return Err(format!("they sum to {}", self.total));
        }
        let rows = self.of_rows.iter().enumerate();
        Ok(rows.flat_map(|(row, &w)| std::iter::repeat_n(row, w as usize)).collect())
    }
}

impl Weights {
    /// For each row its number, as often as its weight says where weights are whole, and otherwise nearly so: a systematic
    /// sample, in which the first k rows stand as often as their weights sum to, rounded. Weights that sum to more than a
    /// million are taken as shares of a million; where a row weighs differently for some variable, that is not looked at.
    #[must_use]
    pub fn in_proportion(&self) -> Vec<usize> {
        let scale = (MOST_REPEATED / self.total).min(1.0);
        let (mut sum, mut taken) = (0.0, 0);
        let mut rows = Vec::with_capacity((self.total * scale) as usize + 1);
        for (row, w) in self.of_rows.iter().enumerate() {
            sum += w;
            let until = (sum * scale).round() as usize;
            rows.extend(std::iter::repeat_n(row, until - taken));
            taken = until;
        }
        rows
    }
}

/// The weight that all rows have, if they do.
fn equal(weights: &[f64]) -> Option<f64> {
    weights.first().copied().filter(|first| weights.iter().all(|w| w == first))
}

/// That weights are finite and not negative, and one is above 0.
///
/// # Errors
/// If not, with the row and the value.
pub fn check(weights: &[f64]) -> Result<()> {
    if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let problem = format!("in row {row}: weights are finite numbers from 0 up, and 0 leaves a row out");
        return Err(Error::parameter("weights", &weights[row], problem));
    }
    if !weights.is_empty() && weights.iter().all(|&w| w == 0.0) {
        return Err(Error::parameter("weights", &0.0, "in every row: some row needs a weight above 0"));
    }
    Ok(())
}

/// Weights of a survey, scaled to their effective size. Equal weights become 1.
#[must_use]
pub fn scaled_to_effective_size(weights: &[f64]) -> Vec<f64> {
    let most = weights.iter().copied().fold(0.0, f64::max);
    // Of the largest, so that no square overflows.
    let parts: Vec<f64> = weights.iter().map(|w| w / most).collect();
    let squares: Vec<f64> = parts.iter().map(|part| part * part).collect();
    let factor = sum(&parts) / sum(&squares);
    parts.iter().map(|part| part * factor).collect()
}

/// Weights as multiples of a power of two, so that sums of them are exact: those below `2^-54` of all become 0.
#[must_use]
pub fn rounded(mut weights: Vec<f64>) -> Vec<f64> {
    let total = sum(&weights);
    if total < MOST && weights.iter().any(|w| w.fract() != 0.0) {
        let unit = (total.log2().ceil() - 52.0).exp2();
        for w in &mut weights {
            *w = (*w / unit).round() * unit;
        }
    }
    weights
}

/// Their sum, the same in any order; exact for whole numbers.
pub fn sum(weights: &[f64]) -> f64 {
    if weights.iter().all(|w| w.fract() == 0.0) {
        return weights.iter().sum();
    }
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for w in sorted {
        let next = sum + w;
        lost += (sum - next) + w;
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_of_a_survey_are_one_and_others_sum_to_the_effective_size() {
        assert_eq!(scaled_to_effective_size(&[250.0; 7]), [1.0; 7]);
        let scaled = scaled_to_effective_size(&[1.0, 3.0]);
        // (1 + 3)^2 / (1 + 9)
        assert!((sum(&scaled) - 1.6).abs() < 1e-15 && (scaled[1] / scaled[0] - 3.0).abs() < 1e-15);
        assert!(scaled_to_effective_size(&[1e308, 1e308]).iter().all(|w| *w == 1.0));
    }

    #[test]
    fn a_bad_weight_is_told_with_its_row_and_its_value() {
        for (bad, told) in [(-2.5, "-2.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            let text = check(&[1.0, bad]).unwrap_err().to_string();
            assert!(text.starts_with(&format!("weights={told}: in row 1")), "{text}");
        }
        assert!(check(&[0.0, 0.0]).unwrap_err().to_string().contains("in every row"));
        assert!(check(&[0.0, 1e-300]).is_ok());
    }

    #[test]
    fn whole_weights_repeat_rows_and_others_say_why_not() {
        assert_eq!(Weights::new(vec![2.0, 1.0, 3.0]).unwrap().repeated().unwrap(), [0, 0, 1, 2, 2, 2]);
        let told = |weights: Vec<f64>| Weights::new(weights).unwrap().repeated().unwrap_err();
        assert!(told(vec![1.0, 0.5]).contains("row 1 is 0.5"));
        assert!(told(vec![1e7, 1.0]).contains("sum to 10000001"));
        let of_child = Weights::new(vec![1.0, 1.0]).unwrap().for_child(0, vec![0.0, 1.0]).unwrap();
        assert!(of_child.repeated().is_err());
    }

    #[test]
    fn rows_in_proportion_are_repeated_as_whole_weights_say_and_nearly_as_others_do() {
        let whole = Weights::new(vec![2.0, 1.0, 3.0]).unwrap();
        assert_eq!(whole.in_proportion(), whole.repeated().unwrap());
        let given: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 97 + 1) / 29.0).collect();
        let weights = Weights::new(given.clone()).unwrap();
        let rows = weights.in_proportion();
        assert!((rows.len() as f64 - weights.total()).abs() <= 0.5);
        let mut counts = vec![0.0_f64; given.len()];
        for row in rows {
            counts[row] += 1.0;
        }
        assert!(counts.iter().zip(&given).all(|(count, w)| (count - w).abs() <= 1.0));
        let many = Weights::new(vec![3e7, 1e7]).unwrap().in_proportion();
        assert_eq!((many.len(), many.iter().filter(|&&row| row == 0).count()), (1_000_000, 750_000));
    }

    #[test]
    fn rounded_weights_sum_exactly_in_any_order_and_hardly_differ() {
        let given: Vec<f64> = (1..5000).map(|i| 1.0 / f64::from(i * 7919 % 5003 + 1)).collect();
        let weights = rounded(given.clone());
        assert!(given.iter().zip(&weights).all(|(a, b)| (a - b).abs() < 1e-10 * a));
        assert_eq!(rounded(weights.clone()), weights);
        let mut in_order = weights.clone();
        in_order.sort_by(f64::total_cmp);
        let [one, two, three] = [&weights, &in_order, &weights.iter().rev().copied().collect()]
            .map(|weights: &Vec<f64>| weights.iter().fold(0.0, |sum, w| sum + w));
        assert_eq!((one, two), (two, three));
        let less = in_order[..700].iter().rev().fold(one, |sum, w| sum - w);
        assert_eq!(less, in_order[700..].iter().sum::<f64>());
        assert_eq!(rounded(vec![3.0, 1e9, 7.0]), [3.0, 1e9, 7.0]);
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let weights: Vec<f64> = (1..500).map(|i| 1.0 / f64::from(i * i % 97 + 1)).collect();
        let backwards: Vec<f64> = weights.iter().rev().copied().collect();
        assert_eq!(sum(&weights), sum(&backwards));
    }
}
