//! Children that are counts: whole numbers from 0 up, as their column says (`Continuous(leaf="counts")`).

use std::sync::Arc;

use super::Prepared;
use super::family::{Family, Rows};
use crate::error::{Error, Result};
use crate::leaf::{CountLeaf, CountSum};
use crate::model::tree::Node;
use crate::predictive::{MOST_COUNTED, Predictive, count_of};
use crate::table::{Column, Kind, NumberLeaf, Table, Var};
use crate::tree::response::Counts;

/// That a column which says it holds counts does.
///
/// # Errors
/// If it holds another number, or is on a logarithmic scale.
pub fn check(table: &Table, var: Var) -> Result<()> {
    let (Kind::Continuous { scale }, Column::Reals(values)) = (&table.variable(var).kind, table.column(var)) else {
        return Ok(());
    };
    if scale.leaf != Some(NumberLeaf::Counts) {
        return Ok(());
    }
    let bad = |problem: String| Err(Error::column(table.name(var), problem, "choose leaf=\"normal\" or scale=\"log\""));
    if scale.log.is_some() {
        return bad("has leaves of counts, and a logarithmic scale".to_owned());
    }
    let is_bad = |&x: &f64| count_of(x).is_none_or(|y| y > MOST_COUNTED);
    let Some(x) = values.iter().map(|&x| scale.to_original(x)).find(is_bad) else { return Ok(()) };
    // What the way there and back rounds is no fraction.
    let told = if (x - x.round()).abs() < 1e-6 { x.round() } else { x };
    bad(format!("holds {told}, and leaves of counts are for whole numbers from 0 to {MOST_COUNTED}"))
}

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
        let shared = self.shared_rows(child, order.iter().map(|&row| of(row)));
        let gap = self.point_of(child).and_then(|point| count_of(scale.to_original(point.at)));
        let count = |row: u32| count_of(scale.to_original(of(row).0)).unwrap_or(0.0);
        let places = |row: u32| count(row) - f64::from(u8::from(gap.is_some_and(|gap| count(row) > gap)));
        let (mut n, mut sum) = (0.0, 0.0);
        for (place, &row) in order.iter().enumerate() {
            if shared.as_ref().is_none_or(|shared| shared.is_other(place)) {
                (n, sum) = (n + of(row).1, sum + of(row).1 * places(row));
            }
        }
        let mean = if n > 0.0 { sum / n } else { 0.0 };
        let leaf = CountLeaf::new(mean, gap, [scale.shift, scale.scale], order.len());
        // Equal rows are neighbours now, and are worked out once.
        let (mut rows, mut values): (Vec<CountSum>, Vec<u32>) = (Vec::new(), Vec::with_capacity(order.len()));
        for (i, &row) in order.iter().enumerate() {
            if i == 0 || of(order[i - 1]) != of(row) {
                rows.push(leaf.row(count(row), of(row).1));
            }
            values.push(rows.len() as u32 - 1);
        }
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
