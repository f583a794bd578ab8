//! Children that are counts, as their column says.

use std::sync::Arc;

use super::Prepared;
use super::family::{Family, Rows};
use crate::leaf::{CountLeaf, CountSum};
use crate::model::tree::Node;
use crate::predictive::Predictive;
use crate::said::CountRows;
use crate::table::{Column, Kind, Var};
use crate::tree::response::Counts;

impl Prepared {
    /// The search for a child of counts, whose rows are taken by count and weight: then no order of rows matters.
    pub(super) fn of_whole_numbers(&self, child: Var) -> Box<dyn Family + '_> {
        let (Kind::Continuous { scale }, Column::Reals(stored)) =
            (&self.table.variable(child).kind, self.table.column(child))
        else {
            unreachable!("counts are numbers")
        };
        let weights = self.table.weights_of(child);
        let of = |row: u32| (stored[row as usize], weights.map_or(1.0, |weights| weights[row as usize]));
        let mut order: Vec<u32> = (0..stored.len() as u32).filter(|&row| of(row).1 > 0.0).collect();
        order.sort_unstable_by(|&i, &j| {
            let ((x, u), (y, v)) = (of(i), of(j));
            x.total_cmp(&y).then(u.total_cmp(&v)).then(i.cmp(&j))
        });
        let held: Vec<(f64, f64)> = order.iter().map(|&row| of(row)).collect();
        let shared = self.shared_rows(child, held.iter().copied());
        let CountRows { leaf, rows, values } = CountRows::new(&held, scale, self.point_of(child).as_ref());
        let codes = Rows::Ordered(Arc::new(self.ordered(&order)));
        let response = Counts::new(leaf.clone(), rows);
        let node = move |sum: &CountSum| count_node(&leaf, sum);
        self.of_numbers(child, response, values, codes, node, shared.as_ref())
    }
}

fn count_node(leaf: &CountLeaf, sum: &CountSum) -> Node {
    let counts = leaf.fit(sum);
    let statistic = match counts.mean() {
        Some(mean) if sum.n > 0.0 => vec![mean, counts.spread_count() / counts.scale],
        _ => Vec::new(),
    };
    Node::Leaf { n: sum.n.round() as u64, statistic, predictive: Predictive::Counts { counts, point: None } }
}
