//! Children whose leaves are histograms, as their column says: the search is that of levels.

use std::sync::Arc;

use super::Prepared;
use super::family::{Family, Rows};
use crate::leaf::{Amount, Categorical, HistogramLeaf, LevelFit};
use crate::model::tree::Node;
use crate::table::{Column, Var};
use crate::tree::response::{Levels, Store};

impl Prepared {
    /// The search for a child whose leaves are histograms. Counts, and sums of weights, are exact in whatever order.
    pub(super) fn of_any_shape(&self, child: Var, leaf: &Arc<HistogramLeaf>) -> Box<dyn Family + '_> {
        match (self.table.weights_of(child), leaf.n_cells()) {
            (Some(weights), _) => {
                let heavy: Vec<u32> = (0..weights.len() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
                self.in_cells::<[f64; 32]>(child, leaf, &heavy, |cell, row| (cell, weights[row as usize]))
            }
            (None, 0..=16) => self.in_cells::<[u32; 16]>(child, leaf, &self.all_rows(), |cell, _| cell),
            (None, _) => self.in_cells::<[u32; 32]>(child, leaf, &self.all_rows(), |cell, _| cell),
        }
    }

    fn all_rows(&self) -> Vec<u32> {
        (0..self.table.n_rows() as u32).collect()
    }

    fn in_cells<C: Store + 'static>(
        &self,
        child: Var,
        leaf: &Arc<HistogramLeaf>,
        order: &[u32],
        row: impl Fn(u32, u32) -> <C::N as Amount>::Row,
    ) -> Box<dyn Family + '_> {
        let Column::Reals(stored) = self.table.column(child) else { unreachable!("histograms are of numbers") };
        let value = |at: u32| stored[at as usize];
        let weights = self.table.weights_of(child);
        let weight = |at: u32| weights.map_or(1.0, |weights| weights[at as usize]);
        let shared = self.shared_rows(child, order.iter().map(|&at| (value(at), weight(at))));
        let values: Vec<_> = order.iter().map(|&at| row(leaf.cell(value(at)), at)).collect();
        let rows =
            if order.len() == stored.len() { Rows::AsTheyStand } else { Rows::Ordered(Arc::new(self.ordered(order))) };
        let k = leaf.n_cells();
        let response = Levels::<C, _>::new(Arc::clone(leaf), Categorical::new(k, 0.5), true).of_rows(&values);
        let leaf = Arc::clone(leaf);
        let node = move |sum: &C| {
            let counts = &sum.counts()[..k];
            let statistic: Vec<f64> = counts.iter().map(|&n| crate::counts::Count::real(n)).collect();
            let n = statistic.iter().sum::<f64>().round() as u64;
            Node::Leaf { n, statistic, predictive: leaf.fit_of(counts) }
        };
        self.of_numbers(child, response, values, rows, node, shared.as_ref())
    }
}
