//! Columns with a number that many rows share (`Continuous(point=)`).

use crate::leaf::Shares;
use crate::predictive::{PointMass, is_at};
use crate::table::{Kind, Table, Var};

/// The number that many rows of a child share, its probability not known yet.
pub fn point_of(table: &Table, child: Var) -> Option<PointMass> {
    let Kind::Continuous { scale } = &table.variable(child).kind else { return None };
    let point = scale.point?;
    let at = scale.to_stored(point.at);
    let log_width = point.width.ln() + scale.log_jacobian(at);
    Some(PointMass { at, log_width, share: 0.0 }).filter(PointMass::is_sound)
}

/// Which rows of a child hold its shared number.
#[derive(Clone)]
pub struct SharedRows {
    /// The number.
    pub point: PointMass,
    /// What shares are worth.
    pub shares: Shares,
    /// By row: how often it counts if it holds the number.
    pub held: Vec<Option<f64>>,
}

impl SharedRows {
    /// Of stored numbers and weights in the order of the rows, with a prior of `alpha` rows of each kind.
    pub fn new(point: PointMass, alpha: f64, rows: impl Iterator<Item = (f64, f64)>) -> Self {
        let held: Vec<_> = rows.map(|(y, weight)| is_at(y, point.at).then_some(weight)).collect();
        Self { point, shares: Shares::new(alpha, point.log_width, held.len()), held }
    }

    /// Whether a row, by its place in the order of the response's values, holds another number.
    pub fn is_other(&self, place: usize) -> bool {
        self.held[place].is_none()
    }
}
