//! Children with a number that many rows share: their leaves give it a probability of its own, and are as ever for all others.

use super::cell_prior::Cells;
use super::family::{Family, OfKind, Rows};
use super::{NumberLeaf, Prepared};
use crate::model::tree::Node;
use crate::predictive::{PointMass, is_at};
use crate::table::{Kind, Var};
use crate::tree::response::{Held, InOrder, Pointed, PointedSum};

/// Which rows of a child hold its shared number.
#[derive(Clone)]
pub(super) struct SharedRows {
    point: PointMass,
    /// The prior, in rows of each kind.
    alpha: f64,
    /// By row: how often it counts if it holds the number.
    held: Vec<Option<f64>>,
}

impl SharedRows {
    /// Whether a row, by its place in the order of the response's values, holds another number.
    pub fn is_other(&self, place: usize) -> bool {
        self.held[place].is_none()
    }
}

impl Prepared {
    /// The number that many rows of a child share, its probability not known yet.
    pub(super) fn point_of(&self, child: Var) -> Option<PointMass> {
        let Kind::Continuous { scale } = self.table.variable(child).kind else { return None };
        let point = scale.point.filter(|_| !self.parameters.published)?;
        let at = scale.to_stored(point.at);
        let log_width = point.width.ln() + scale.log_jacobian(at);
        Some(PointMass { at, log_width, share: 0.0 }).filter(PointMass::is_sound)
    }

    /// Which rows hold it, of stored numbers and weights in the order of the rows.
    pub(super) fn shared_rows(&self, child: Var, rows: impl Iterator<Item = (f64, f64)>) -> Option<SharedRows> {
        let point = self.point_of(child)?;
        let alpha = self.parameters.priors.of(&self.table, child).alpha;
        let held = rows.map(|(y, weight)| is_at(y, point.at).then_some(weight)).collect();
        Some(SharedRows { point, alpha, held })
    }

    /// The search for a child of numbers: `node` fits a leaf to its rows, `n_rows` tells how many they are.
    pub(super) fn of_numbers<'a, R, F>(
        &'a self,
        child: Var,
        response: R,
        values: Vec<R::Value>,
        rows: Rows,
        node: F,
        shared: Option<&SharedRows>,
    ) -> Box<dyn Family + 'a>
    where
        R: InOrder + 'a,
        F: Fn(&R::Sum) -> Node + 'a,
    {
        let Some(SharedRows { point, alpha, held }) = shared else {
            return self.searched(child, response, values, rows, node);
        };
        let (point, alpha) = (*point, *alpha);
        let pair = |(value, held): (R::Value, &Option<f64>)| held.map_or(Held::Other(value), Held::Shared);
        let values: Vec<_> = values.into_iter().zip(held).map(pair).collect();
        let response = Pointed::new(response, alpha, point.log_width, values.len());
        let node = move |sum: &PointedSum<R::Sum>| {
            let all = sum.shared + R::n_rows(&sum.others);
            let point = PointMass { share: (sum.shared + alpha) / (all + 2.0 * alpha), ..point };
            with_point(node(&sum.others), point, all.round() as u64)
        };
        self.searched(child, response, values, rows, node)
    }

    fn searched<'a, R, F>(
        &'a self,
        child: Var,
        response: R,
        values: Vec<R::Value>,
        rows: Rows,
        node: F,
    ) -> Box<dyn Family + 'a>
    where
        R: InOrder + 'a,
        F: Fn(&R::Sum) -> Node + 'a,
    {
        if self.by_the_cell() {
            debug_assert_eq!(self.parameters.leaf, NumberLeaf::Normal);
            return Box::new(Cells::new(self, child, response, values, rows, node));
        }
        Box::new(OfKind::new(self, child, response, values, rows, node))
    }
}

/// A leaf of the other numbers, beside the shared one; `rows` is the number of all.
fn with_point(of: Node, point: PointMass, rows: u64) -> Node {
    match of {
        Node::Leaf { statistic, predictive, .. } => {
            Node::Leaf { n: rows, statistic, predictive: point.beside(&predictive) }
        }
        Node::Line { statistic, inputs, line, .. } => {
            Node::Line { n: rows, statistic, inputs, line, point: Some(point) }
        }
        split => split,
    }
}
