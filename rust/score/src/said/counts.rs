//! Columns of counts: whole numbers from 0 up (`Continuous(leaf="counts")`).

use crate::error::{Error, Result};
use crate::leaf::{CountLeaf, CountSum};
use crate::predictive::{MOST_COUNTED, PointMass, count_of, is_at};
use crate::table::{Column, Kind, NumberLeaf, Table, Units, Var};

/// That a column which says it holds counts does.
///
/// # Errors
/// If it holds another number, or is on a scale of logarithms or normal scores.
pub fn check_counts(table: &Table, var: Var) -> Result<()> {
    let (Kind::Continuous { scale }, Column::Reals(values)) = (&table.variable(var).kind, table.column(var)) else {
        return Ok(());
    };
    if scale.leaf != Some(NumberLeaf::Counts) {
        return Ok(());
    }
    let bad = |problem: String| Err(Error::column(table.name(var), problem, "choose leaf=\"normal\" or scale=\"log\""));
    if scale.is_bent() {
        return bad("has leaves of counts, and a scale of logarithms or normal scores".to_owned());
    }
    let is_bad = |&x: &f64| count_of(x).is_none_or(|y| y > MOST_COUNTED);
    let Some(x) = values.iter().map(|&x| scale.to_original(x)).find(is_bad) else { return Ok(()) };
    // What the way there and back rounds is no fraction.
    let told = if (x - x.round()).abs() < 1e-6 { x.round() } else { x };
    bad(format!("holds {told}, and leaves of counts are for whole numbers from 0 to {MOST_COUNTED}"))
}

/// The rows of a column of counts.
pub struct CountRows {
    /// Of their mean.
    pub leaf: CountLeaf,
    /// What different rows hold.
    pub rows: Vec<CountSum>,
    /// Which of these each row is.
    pub values: Vec<u32>,
}

impl CountRows {
    /// Of stored numbers and weights, sorted by both; without those at a point mass, if there is one.
    pub fn new(of: &[(f64, f64)], scale: &Units, point: Option<&PointMass>) -> Self {
        let gap = point.and_then(|point| count_of(scale.to_original(point.at)));
        let count = |x: f64| count_of(scale.to_original(x)).unwrap_or(0.0);
        let place = |x: f64| count(x) - f64::from(u8::from(gap.is_some_and(|gap| count(x) > gap)));
        let (mut n, mut sum) = (0.0, 0.0);
        for &(x, weight) in of {
            if point.is_none_or(|point| !is_at(x, point.at)) {
                (n, sum) = (n + weight, sum + weight * place(x));
            }
        }
        let mean = if n > 0.0 { sum / n } else { 0.0 };
        let leaf = CountLeaf::new(mean, gap, [scale.shift, scale.scale], of.len());
        // Equal rows are neighbours, and are worked out once.
        let (mut rows, mut values): (Vec<CountSum>, Vec<u32>) = (Vec::new(), Vec::with_capacity(of.len()));
        for (i, &(x, weight)) in of.iter().enumerate() {
            if i == 0 || of[i - 1] != of[i] {
                rows.push(leaf.row(count(x), weight));
            }
            values.push(rows.len() as u32 - 1);
        }
        Self { leaf, rows, values }
    }
}
