//! Where knots may be: how many rows lie between two, and how many at the ends stay without (Friedman 1991, section 3.8).
//! Rows with weights are as many as they weigh.

/// Distances in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spans {
    /// Rows at the low end without a knot.
    pub end: usize,
    /// Rows from the top to the first knot.
    pub start: usize,
    /// Rows between two knots.
    pub between: usize,
}

impl Spans {
    /// For a term of a degree on so many rows, so many of them active, with so many predictors.
    pub fn new(n_rows: usize, n_active: usize, n_predictors: usize, degree: usize) -> Self {
        // Equation 45: 3 + log2(20 p), and twice as much again for products.
        let p = n_predictors as f64;
        let mut end = (7.32193 + p.log2()) as usize;
        if degree >= 2 {
            end += (2.0 * end as f64 + 0.5) as usize;
        }
        let end = end.min((n_rows / 2).saturating_sub(1)).max(1);
        // Equation 43 for a run of 0.05.
        let between = ((2.9702 + (p * n_active as f64).ln()) / 1.7329).max(1.0) as usize;
        let available = n_rows.saturating_sub(2 * end);
        let start = match available {
            a if a <= between => a / 2,
            a if a % between == 0 => between / 2,
            a => (a % between) / 2,
        };
        Self { end, start: (end + start).max(1), between }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_still_have_a_knot_in_the_middle() {
        assert_eq!(Spans::new(31, 31, 2, 1), Spans { end: 8, start: 9, between: 4 });
        assert_eq!(Spans::new(4, 4, 1, 1), Spans { end: 1, start: 2, between: 2 });
        assert_eq!(Spans::new(1, 1, 1, 2).end, 1);
    }
}
