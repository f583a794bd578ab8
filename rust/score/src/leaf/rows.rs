//! A leaf of any kind fitted to some rows of its column, which may weigh.

use super::{Leaf, LeafModel, LevelFit, Normal};
use crate::predictive::Predictive;
use crate::table::{Codes, Column};

impl Leaf {
    /// How many rows these are, or the sum of their weights rounded, and what they predict. Sums run in the order given.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn fit_rows(
        &self,
        column: &Column,
        weights: Option<&[f64]>,
        rows: impl Iterator<Item = usize>,
    ) -> (usize, Predictive) {
        match (self, column) {
            (Self::Categorical(leaf), Column::Codes(codes)) => levels(leaf, leaf.n_levels(), (codes, weights), rows),
            (Self::Ordinal(leaf), Column::Codes(codes)) => levels(leaf, leaf.n_levels(), (codes, weights), rows),
            (Self::Normal(leaf), Column::Reals(reals)) => numbers(leaf, (reals, weights), rows),
            _ => panic!("leaves are of their column's kind"),
        }
    }
}

fn levels<L: LeafModel<Value = u32> + LevelFit>(
    leaf: &L,
    n_levels: usize,
    (codes, weights): (&Codes, Option<&[f64]>),
    rows: impl Iterator<Item = usize>,
) -> (usize, Predictive) {
    let Some(weights) = weights else {
        return observed(leaf, rows.map(|row| codes.get(row) as u32));
    };
    let mut counts = vec![0.0; n_levels];
    rows.for_each(|row| counts[codes.get(row)] += weights[row]);
    (counts.iter().sum::<f64>().round() as usize, leaf.fit_of(&counts))
}

fn numbers(
    leaf: &Normal,
    (reals, weights): (&[f64], Option<&[f64]>),
    rows: impl Iterator<Item = usize>,
) -> (usize, Predictive) {
    let Some(weights) = weights else {
        return observed(leaf, rows.map(|row| reals[row]));
    };
    let [mut n, mut sum, mut squares] = [0.0; 3];
    for row in rows {
        let (y, weight) = (reals[row] - leaf.centre(), weights[row]);
        n += weight;
        sum += weight * y;
        squares += weight * y * y;
    }
    (n.round() as usize, leaf.fit_weighed(n, sum, squares))
}

fn observed<L: LeafModel>(leaf: &L, values: impl Iterator<Item = L::Value>) -> (usize, Predictive) {
    let mut stat = leaf.empty();
    values.for_each(|value| leaf.observe(&mut stat, value));
    (leaf.count(&stat) as usize, leaf.fit(&stat))
}
