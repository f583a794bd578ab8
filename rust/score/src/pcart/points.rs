//! Children with a number that many rows share: their leaves give it a probability of its own, and are as ever for all others.

use super::cell_prior::Cells;
use super::family::{Family, OfKind, Rows};
use super::{NumberLeaf, Prepared};
use crate::model::tree::Node;
use crate::predictive::PointMass;
use crate::said::{self, SharedRows};
use crate::table::Var;
use crate::tree::response::{Held, InOrder, Pointed, PointedSum};

impl Prepared {
    /// The number that many rows of a child share, its probability not known yet.
    pub(super) fn point_of(&self, child: Var) -> Option<PointMass> {
        if self.parameters.published { None } else { said::point_of(&self.table, child) }
    }

    /// Which rows hold it, of stored numbers and weights in the order of the rows.
    pub(super) fn shared_rows(&self, child: Var, rows: impl Iterator<Item = (f64, f64)>) -> Option<SharedRows> {
        let alpha = self.parameters.priors.of(&self.table, child).alpha;
        self.point_of(child).map(|point| SharedRows::new(point, alpha, rows))
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
        let Some(shared) = shared else {
            return self.searched(child, response, values, rows, node);
        };
        let pair = |(value, held): (R::Value, &Option<f64>)| held.map_or(Held::Other(value), Held::Shared);
        let values: Vec<_> = values.into_iter().zip(&shared.held).map(pair).collect();
        let response = Pointed::new(response, shared.shares.clone());
        let (point, shares) = (shared.point, shared.shares.clone());
        let node = move |sum: &PointedSum<R::Sum>| {
            let others = R::n_rows(&sum.others);
            let point = PointMass { share: shares.share(sum.shared, others), ..point };
            with_point(node(&sum.others), point, (sum.shared + others).round() as u64)
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
