//! A fitted decision graph: questions about the parents whose ways may meet again, a distribution in every leaf.
//!
//! Nodes stand parents first, so that a file cannot close a cycle. Every value finds its leaf: levels that no branch
//! names follow the last one. A node to which several ways lead is written once and named where the others come to it.

pub mod levels;
mod node;
mod outline;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Model, Outline, check_family, questions};
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Var, Variable};

pub use node::Node;

use outline::Names;

/// A fitted decision graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionGraph {
    child: Var,
    parents: Vec<Var>,
    nodes: Vec<Node>,
    /// Positions of parents that no value of the child depends on.
    unused: Vec<usize>,
    /// The sum over the leaves of their log marginal likelihoods.
    log_marginal: f64,
}

impl DecisionGraph {
    /// From nodes, the root first and each before those it leads to; `unused` are positions of parents.
    pub fn new(child: Var, parents: Vec<Var>, nodes: Vec<Node>, unused: Vec<usize>, log_marginal: f64) -> Self {
        Self { child, parents, nodes, unused, log_marginal }
    }

    /// All nodes, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        questions::n_leaves(&self.nodes)
    }

    /// The sum over the leaves of their log marginal likelihoods and costs.
    pub fn log_marginal(&self) -> f64 {
        self.log_marginal
    }

    /// The parents that the child does not depend on, whatever the others are.
    pub fn unused(&self) -> Vec<Var> {
        self.unused.iter().map(|&position| self.parents[position]).collect()
    }

    /// The same graph without its unused parents and without questions about them.
    #[must_use]
    pub fn without_unused(&self) -> Self {
        let used = |position: &usize| !self.unused.contains(position);
        let kept: Vec<Var> = (0..self.parents.len()).filter(used).map(|position| self.parents[position]).collect();
        self.with_parents(&kept)
    }

    /// The same graph with these of its parents, the others passed by as if each had its first level: they are meant to
    /// be unused.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // questions about the others were passed by
    pub fn with_parents(&self, parents: &[Var]) -> Self {
        let kept: Vec<usize> = (0..self.parents.len()).filter(|&p| parents.contains(&self.parents[p])).collect();
        let gone = |position: &usize| kept.binary_search(position).is_err();
        // From the back: where each node leads if every unused parent has its first level, which is as good as any.
        let mut place: Vec<usize> = (0..self.nodes.len()).collect();
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            if node.parent().is_some_and(|parent| gone(&parent)) {
                place[at] = place[node.to()[node.way_of_first()]];
            } else if let Some((&first, rest)) = node.to().split_first()
                && rest.iter().all(|&to| place[to] == place[first])
            {
                place[at] = place[first];
            }
        }
        let mut reached = vec![false; self.nodes.len()];
        let mut stack = vec![place[0]];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                stack.extend(self.nodes[at].to().iter().map(|&to| place[to]));
            }
        }
        let mut number = vec![0; self.nodes.len()];
        let left: Vec<usize> = (0..self.nodes.len()).filter(|&at| reached[at]).collect();
        left.iter().enumerate().for_each(|(new, &old)| number[old] = new);
        let node = |&at: &usize| {
            let mut node = self.nodes[at].clone();
            node.to_mut().iter_mut().for_each(|to| *to = number[place[*to]]);
            if let Some(parent) = node.parent_mut() {
                *parent = kept.binary_search(parent).expect("questions about unused parents were passed by");
            }
            node
        };
        Self {
            child: self.child,
            parents: kept.iter().map(|&position| self.parents[position]).collect(),
            nodes: left.iter().map(node).collect(),
            unused: self.unused.iter().filter_map(|position| kept.binary_search(position).ok()).collect(),
            log_marginal: self.log_marginal,
        }
    }

    /// Position among the nodes of the leaf that these values of the parents lead to.
    pub fn leaf(&self, values: &[Value]) -> usize {
        let mut at = 0;
        loop {
            at = match &self.nodes[at] {
                Node::Each { parent, levels, to } => {
                    let found = match values[*parent] {
                        Value::Code(code) => levels.binary_search(&code).ok(),
                        Value::Real(_) => None,
                    };
                    to[found.unwrap_or(to.len() - 1)]
                }
                Node::Level { parent, level, to } => to[usize::from(values[*parent] != Value::Code(*level))],
                Node::Before { parent, level, to } => {
                    to[usize::from(!matches!(values[*parent], Value::Code(code) if code < *level))]
                }
                Node::Below { parent, threshold, to } => {
                    to[usize::from(!matches!(values[*parent], Value::Real(x) if x < *threshold))]
                }
                Node::Leaf { .. } => return at,
            };
        }
    }
}

impl Model for DecisionGraph {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        let Node::Leaf { predictive, .. } = &self.nodes[self.leaf(parents)] else {
            unreachable!("the way down ends in a leaf")
        };
        Cow::Borrowed(predictive)
    }

    fn n_parameters(&self) -> usize {
        questions::n_parameters(&self.nodes)
    }

    fn thresholds(&self, position: usize) -> Option<Vec<f64>> {
        Some(questions::thresholds(&self.nodes, position))
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let mut names = Names::new(self, variables);
        let mut reachable = names.whole.clone();
        Some((self.outline_of(0, &mut reachable, &mut names), None))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        let bad = |at: usize, problem: &str| {
            Err(Error::Shape(format!("node {at} of the decision graph of '{}' {problem}", child.name)))
        };
        if self.nodes.is_empty() {
            return bad(0, "is missing");
        }
        if self.unused.iter().any(|&position| position >= self.parents.len()) {
            return bad(0, "has an unused parent that the graph does not have");
        }
        let mut reached = vec![false; self.nodes.len()];
        reached[0] = true;
        for (at, node) in self.nodes.iter().enumerate() {
            if !reached[at] {
                return bad(at, "is reached from nowhere");
            }
            if let Node::Leaf { predictive, .. } = node {
                predictive.check(child)?;
            }
            if let Some(parent) = node.parent() {
                let Some(variable) = self.parents.get(parent).map(|&p| &variables[p]) else {
                    return bad(at, "asks about a parent that the graph does not have");
                };
                if variable.is_continuous() != matches!(node, Node::Below { .. }) {
                    return bad(at, "asks about a parent of another kind");
                }
            }
            if let Node::Each { levels, to, .. } = node {
                let ascending = levels.windows(2).all(|w| w[0] < w[1]);
                if levels.is_empty() || levels.len() != to.len() || !ascending {
                    return bad(at, "has levels that do not fit its ways");
                }
            }
            let n_levels = node.parent().and_then(|p| variables[self.parents[p]].n_levels()).unwrap_or(0);
            let highest = match node {
                Node::Each { levels, .. } => levels.last().copied(),
                Node::Level { level, .. } | Node::Before { level, .. } => Some(*level),
                _ => None,
            };
            if highest.is_some_and(|level| level as usize >= n_levels) {
                return bad(at, "asks about a level that the parent does not have");
            }
            for &to in node.to() {
                if to <= at || to >= self.nodes.len() {
                    return bad(at, "leads to a node that does not stand behind it");
                }
                reached[to] = true;
            }
        }
        Ok(())
    }
}
