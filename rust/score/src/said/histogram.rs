//! Columns whose leaves are histograms (`Continuous(leaf="histogram")`).
//!
//! The cells are the column's, found once from its rows and weights: halvings of its ranks, where equal values are never parted.
//! They end midway between neighbouring values, and the outermost as far beyond the ends as half of the least distance of two
//! values: between whole numbers, and with whole widths.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::leaf::{Cells, HistogramLeaf, MOST_HALVINGS};
use crate::predictive::is_at;
use crate::table::{Column, Kind, NumberLeaf, Table, Units, Var};
use crate::tree::ranks::Distinct;

/// Cells of fewer rows are not halved.
const LEAST_ROWS: f64 = 8.0;

/// The leaves of a table's columns that say so.
///
/// # Errors
/// If one is on a scale of logarithms or normal scores.
pub fn histograms(table: &Table) -> Result<Vec<Option<Arc<HistogramLeaf>>>> {
    let of = |child: Var| {
        let (Kind::Continuous { scale }, Column::Reals(values)) = (&table.variable(child).kind, table.column(child))
        else {
            return Ok(None);
        };
        if scale.leaf != Some(NumberLeaf::Histogram) {
            return Ok(None);
        }
        if scale.is_bent() {
            let problem = "has leaves that are histograms, and a scale of logarithms or normal scores";
            let advice = "take one of both: the cells of a histogram are those of the ranks, which no scale changes";
            return Err(Error::column(table.name(child), problem, advice));
        }
        let point = scale.point.map(|point| scale.to_stored(point.at));
        let cells = cells(values, table.weights_of(child), point);
        Ok(Some(Arc::new(HistogramLeaf::new(&cells))))
    };
    (0..table.n_vars()).map(of).collect()
}

/// The cells of stored values, with the weights of the rows if they have some, without those of a number with a probability of its own.
fn cells(values: &[f64], weights: Option<&[f64]>, point: Option<f64>) -> Cells {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let taken = |&row: &usize| weight(row) > 0.0 && point.is_none_or(|point| !is_at(values[row], point));
    let rows: Vec<usize> = (0..values.len()).filter(taken).collect();
    let values: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
    let weights: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&row| weights[row]).collect());
    let distinct = Distinct::of(&values, weights.as_deref(), &Units::IDENTITY).apart(is_at);
    let Distinct { values, below, .. } = &distinct;
    let cuts = distinct.halvings(MOST_HALVINGS, LEAST_ROWS);
    let between = |low: f64, high: f64| {
        let middle = low.midpoint(high);
        if middle > low { middle } else { high }
    };
    let half_step = values.windows(2).map(|pair| (pair[1] - pair[0]) / 2.0).reduce(f64::min).unwrap_or(0.5);
    let (low, high) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let mut edges = vec![low - half_step];
    edges.extend(cuts.iter().map(|&(at, _)| between(values[at - 1], values[at])));
    edges.push(high + half_step);
    let begins: Vec<usize> = [0].into_iter().chain(cuts.iter().map(|cut| cut.0)).chain([values.len()]).collect();
    let totals = begins.windows(2).map(|ends| below.get(ends[1]).map_or(0.0, |to| to - below[ends[0]])).collect();
    Cells { edges, depths: cuts.iter().map(|cut| cut.1).collect(), totals }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_halves_of_the_ranks_and_end_between_values() {
        let values: Vec<f64> = (0..16).map(f64::from).collect();
        let of = cells(&values, None, None);
        assert_eq!(of.edges, [-0.5, 3.5, 7.5, 11.5, 15.5]);
        assert_eq!((of.depths, of.totals), (vec![2, 1, 2], vec![4.0; 4]));
    }

    #[test]
    fn equal_values_are_never_parted_and_few_rows_not_halved() {
        let mut values = vec![3.0; 20];
        values.extend([4.0, 4.0, 5.0, 9.0]);
        let of = cells(&values, None, None);
        assert_eq!((of.edges, of.totals), (vec![2.5, 3.5, 9.5], vec![20.0, 4.0]));
        let few = cells(&[1.0, 2.0, 3.0, 9.0, 5.0, 7.0, 8.0], None, None);
        assert_eq!((few.edges, few.totals), (vec![0.5, 9.5], vec![7.0]));
    }

    #[test]
    fn one_value_and_none_have_a_cell_each() {
        assert_eq!(cells(&[2.0; 9], None, None).edges, [1.5, 2.5]);
        let none = cells(&[2.0; 9], None, Some(2.0));
        assert_eq!((none.edges, none.totals), (vec![-0.5, 0.5], vec![0.0]));
    }

    #[test]
    fn weights_count_as_rows_do() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * i % 17)).collect();
        let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
        let repeated: Vec<f64> =
            values.iter().zip(&weights).flat_map(|(&x, &n)| std::iter::repeat_n(x, n as usize)).collect();
        assert_eq!(cells(&values, Some(&weights), Some(4.0)), cells(&repeated, None, Some(4.0)));
    }

    #[test]
    fn what_rounding_parts_is_one_value() {
        let mut values = vec![1.0; 10];
        values.extend([1.0 + 1e-14; 10]);
        assert_eq!(cells(&values, None, None).totals, [20.0]);
    }
}
