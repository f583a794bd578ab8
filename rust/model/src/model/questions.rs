//! What models of questions and leaves have in common, whether or not their ways meet again.

use crate::predictive::Predictive;

/// A node: a question, or a leaf.
pub(super) trait Node {
    /// A leaf's distribution.
    fn predictive(&self) -> Option<&Predictive>;

    /// Whether it is a leaf.
    fn is_leaf(&self) -> bool {
        self.predictive().is_some()
    }

    /// Free parameters of a leaf.
    fn n_parameters(&self) -> usize {
        self.predictive().map_or(0, Predictive::n_parameters)
    }

    /// If it halves the numbers of a parent: the parent's position, and where.
    fn halves(&self) -> Option<(usize, f64)>;
}

/// Number of leaves.
pub(super) fn n_leaves(nodes: &[impl Node]) -> usize {
    nodes.iter().filter(|node| node.is_leaf()).count()
}

/// Number of free parameters of all leaves.
pub(super) fn n_parameters(nodes: &[impl Node]) -> usize {
    nodes.iter().map(Node::n_parameters).sum()
}

/// Every value at which a parent's numbers are halved, ascending.
pub(super) fn thresholds(nodes: &[impl Node], position: usize) -> Vec<f64> {
    let halvings = nodes.iter().filter_map(Node::halves);
    let mut all: Vec<f64> = halvings.filter(|&(parent, _)| parent == position).map(|(_, at)| at).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}
