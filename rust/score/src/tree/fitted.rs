//! From a found tree to the one that a person reads: thresholds in stored units instead of bins.

use super::key::Coded;
use super::trace::{Left, Traced};
use crate::model::tree::{Node, Tree};
use crate::table::Var;

/// The tree of a traced search; `leaf` turns a statistic into a node.
///
/// # Panics
/// Never: halvings are of continuous predictors, and those have bins.
pub fn tree<S>(child: Var, parents: &[Var], coded: &Coded, trace: &[Traced<S>], leaf: impl Fn(&S) -> Node) -> Tree {
    let node = |traced: &Traced<S>| match traced {
        Traced::Leaf(sum) => leaf(sum),
        &Traced::Split { field: parent, ref left, right } => match left {
            Left::Bins(bin) => {
                let bins = coded.bins[parents[parent]].as_ref().expect("only continuous predictors have bins");
                Node::Below { parent, threshold: bins.threshold(*bin), written: bins.written(*bin), right }
            }
            Left::Codes(level) => Node::Before { parent, level: *level, right },
            Left::Among(levels) => Node::Among { parent, levels: levels.clone(), right },
        },
    };
    Tree::new(child, parents.to_vec(), trace.iter().map(node).collect())
}
