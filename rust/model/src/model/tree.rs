//! The tree that a person reads and that predicts: splits in stored units and codes, a distribution in every leaf.
//!
//! Every value finds its leaf: numbers outside the training range go on to the end cells, levels that no row of a node
//! had follow the right side (nominal) or the threshold (ordinal). An empty leaf predicts with the prior.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::linear_leaf::{self, Input, LineDescription};
use super::{Model, Outline, Values, check_family, questions};
use crate::error::{Error, Result};
use crate::predictive::{Line, PointMass, Predictive, Value};
use crate::table::{Var, Variable};

/// A node of a tree. Nodes stand in preorder: the left side of a split is the next node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "node", rename_all = "snake_case")]
pub enum Node {
    /// Numbers below the threshold go left, others right.
    Below {
        /// Position in the tree's parents.
        parent: usize,
        /// In stored units.
        threshold: f64,
        /// The same in the user's units, if it was chosen as a number that is written in full.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written: Option<f64>,
        /// Where the right side stands.
        right: usize,
    },
    /// Levels before this one go left, others right.
    Before {
        /// Position in the tree's parents.
        parent: usize,
        /// The lowest code on the right.
        level: u32,
        /// Where the right side stands.
        right: usize,
    },
    /// These levels go left, all others right.
    Among {
        /// Position in the tree's parents.
        parent: usize,
        /// Ascending codes.
        levels: Vec<u32>,
        /// Where the right side stands.
        right: usize,
    },
    /// A distribution of the child.
    Leaf {
        /// Number of training rows.
        n: u64,
        /// Their counts by code, or their mean and standard deviation in stored units (empty without rows).
        statistic: Vec<f64>,
        /// What a new row here is predicted with.
        predictive: Predictive,
    },
    /// A distribution of the child that follows numeric parents.
    Line {
        /// Number of training rows.
        n: u64,
        /// The mean and standard deviation of the child in them, in stored units.
        statistic: Vec<f64>,
        /// The parents that it follows.
        inputs: Vec<Input>,
        /// What a new row here is predicted with.
        line: Line,
        /// A number that has a probability of its own; all others follow the line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<PointMass>,
    },
}

impl questions::Node for Node {
    fn predictive(&self) -> Option<&Predictive> {
        if let Self::Leaf { predictive, .. } = self { Some(predictive) } else { None }
    }

    fn is_leaf(&self) -> bool {
        matches!(self, Self::Leaf { .. } | Self::Line { .. })
    }

    fn n_parameters(&self) -> usize {
        match self {
            Self::Leaf { predictive, .. } => predictive.n_parameters(),
            // As a normal leaf, and a slope for each parent.
            Self::Line { line, point, .. } => {
                line.at(&line.centre).n_parameters() + line.slopes.len() + usize::from(point.is_some())
            }
            _ => 0,
        }
    }

    fn halves(&self) -> Option<(usize, f64)> {
        if let Self::Below { parent, threshold, .. } = self { Some((*parent, *threshold)) } else { None }
    }
}

/// A tree with a distribution in every leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    child: Var,
    parents: Vec<Var>,
    nodes: Vec<Node>,
}

impl Tree {
    /// From nodes in preorder.
    pub fn new(child: Var, parents: Vec<Var>, nodes: Vec<Node>) -> Self {
        Self { child, parents, nodes }
    }

    /// All nodes in preorder.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The same tree with further parents; those that it has are among them.
    #[must_use]
    pub fn among(mut self, parents: &[Var]) -> Self {
        let own = std::mem::replace(&mut self.parents, parents.to_vec());
        for node in &mut self.nodes {
            if let Node::Below { parent, .. } | Node::Before { parent, .. } | Node::Among { parent, .. } = node
                && let Some(place) = parents.iter().position(|&of| of == own[*parent])
            {
                *parent = place;
            }
        }
        self
    }

    /// Gives every line its parents, and their ranges in the training rows that reach it.
    pub fn bind(&mut self, inputs: &[Input], rows: impl Iterator<Item = Vec<Value>>) {
        for node in &mut self.nodes {
            if let Node::Line { inputs: own, .. } = node {
                *own = inputs.to_vec();
            }
        }
        if !self.nodes.iter().any(|node| matches!(node, Node::Line { .. })) {
            return;
        }
        for row in rows {
            let at = self.leaf(&row);
            if let Node::Line { inputs, .. } = &mut self.nodes[at] {
                for input in inputs {
                    if let Value::Real(x) = row[input.parent] {
                        (input.low, input.high) = (input.low.min(x), input.high.max(x));
                    }
                }
            }
        }
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        questions::n_leaves(&self.nodes)
    }

    /// The parents that no split asks about and no line follows: the child does not depend on them.
    pub fn unused(&self) -> Vec<Var> {
        let mut used = vec![false; self.parents.len()];
        for node in &self.nodes {
            match node {
                Node::Below { parent, .. } | Node::Before { parent, .. } | Node::Among { parent, .. } => {
                    used[*parent] = true;
                }
                Node::Line { inputs, .. } => inputs.iter().for_each(|input| used[input.parent] = true),
                Node::Leaf { .. } => {}
            }
        }
        self.parents.iter().zip(used).filter_map(|(&parent, used)| (!used).then_some(parent)).collect()
    }

    /// The same tree without its unused parents.
    #[must_use]
    pub fn without_unused(&self) -> Self {
        let unused = self.unused();
        let kept: Vec<Var> = self.parents.iter().copied().filter(|parent| !unused.contains(parent)).collect();
        let place = |old: usize| kept.iter().position(|&of| of == self.parents[old]).unwrap_or(old);
        let mut nodes = self.nodes.clone();
        for node in &mut nodes {
            match node {
                Node::Below { parent, .. } | Node::Before { parent, .. } | Node::Among { parent, .. } => {
                    *parent = place(*parent);
                }
                Node::Line { inputs, .. } => inputs.iter_mut().for_each(|input| input.parent = place(input.parent)),
                Node::Leaf { .. } => {}
            }
        }
        Self { child: self.child, parents: kept, nodes }
    }

    /// What stands at a node, which the given codes of each parent with levels can reach.
    fn outline_of(&self, at: usize, variables: &[Variable], reachable: &mut Vec<Vec<u32>>) -> Outline {
        let (parent, right, values) = match &self.nodes[at] {
            Node::Leaf { n, predictive, .. } => {
                return Outline::Leaf { n_rows: *n as usize, predictive: predictive.clone() };
            }
            Node::Line { n, statistic, inputs, line, point } => {
                let rows = (statistic[0], statistic[1]);
                let mut described = LineDescription::new(line, inputs, rows, self.child, &self.parents, variables);
                if let Some(point) = point {
                    described.predictive = point.beside(&described.predictive);
                }
                return Outline::Line { n_rows: *n as usize, line: described };
            }
            Node::Below { parent, written: Some(cut), right, .. } => {
                (*parent, *right, [Values::Written(None, Some(*cut)), Values::Written(Some(*cut), None)])
            }
            Node::Below { parent, threshold, right, .. } => {
                (*parent, *right, [Values::Range(None, Some(*threshold)), Values::Range(Some(*threshold), None)])
            }
            Node::Before { parent, level, right } => (*parent, *right, divided(&reachable[*parent], |c| c < *level)),
            Node::Among { parent, levels, right } => {
                (*parent, *right, divided(&reachable[*parent], |c| levels.binary_search(&c).is_ok()))
            }
        };
        let branches = values.into_iter().zip([at + 1, right]).map(|(values, next)| {
            let before = reachable[parent].clone();
            if let Values::Codes(codes) = &values {
                reachable[parent].clone_from(codes);
            }
            let below = self.outline_of(next, variables, reachable);
            reachable[parent] = before;
            (values, below)
        });
        Outline::Split { parent: self.parents[parent], branches: branches.collect() }
    }

    /// Position among the nodes of the leaf that these values of the parents lead to.
    pub fn leaf(&self, values: &[Value]) -> usize {
        let mut at = 0;
        loop {
            let (goes_left, right) = match &self.nodes[at] {
                Node::Below { parent, threshold, right, .. } => {
                    (matches!(values[*parent], Value::Real(x) if x < *threshold), *right)
                }
                Node::Before { parent, level, right } => {
                    (matches!(values[*parent], Value::Code(c) if c < *level), *right)
                }
                Node::Among { parent, levels, right } => {
                    (matches!(values[*parent], Value::Code(c) if levels.binary_search(&c).is_ok()), *right)
                }
                Node::Leaf { .. } | Node::Line { .. } => return at,
            };
            at = if goes_left { at + 1 } else { right };
        }
    }
}

/// Codes that go left, and the others.
fn divided(codes: &[u32], goes_left: impl Fn(u32) -> bool) -> [Values; 2] {
    let (left, right) = codes.iter().partition(|&&code| goes_left(code));
    [Values::Codes(left), Values::Codes(right)]
}

impl Model for Tree {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        match &self.nodes[self.leaf(parents)] {
            Node::Leaf { predictive, .. } => Cow::Borrowed(predictive),
            Node::Line { inputs, line, point, .. } => {
                let others = linear_leaf::at(line, inputs, parents);
                Cow::Owned(if let Some(point) = point { point.beside(&others) } else { others })
            }
            _ => unreachable!("the way down ends in a leaf"),
        }
    }

    fn n_parameters(&self) -> usize {
        questions::n_parameters(&self.nodes)
    }

    fn thresholds(&self, position: usize) -> Option<Vec<f64>> {
        let follows = |node: &Node| match node {
            Node::Line { inputs, .. } => inputs.iter().any(|input| input.parent == position),
            _ => false,
        };
        (!self.nodes.iter().any(follows)).then(|| questions::thresholds(&self.nodes, position))
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let codes = |&p: &Var| (0..variables[p].n_levels().unwrap_or(0) as u32).collect();
        let mut reachable = self.parents.iter().map(codes).collect();
        Some((self.outline_of(0, variables, &mut reachable), None))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        let bad = |at: usize, problem: &str| {
            Err(Error::Shape(format!("node {at} of the tree of '{}' {problem}", child.name)))
        };
        if self.nodes.is_empty() {
            return bad(0, "is missing");
        }
        // Preorder: a stack of the right sides still to come must be met one after the other, and be empty at the end.
        let mut pending = Vec::new();
        let mut due = true;
        for (at, node) in self.nodes.iter().enumerate() {
            if !due && pending.pop() != Some(at) {
                return bad(at, "belongs to no split");
            }
            let (parent, right) = match node {
                Node::Leaf { predictive, .. } => {
                    predictive.check(child)?;
                    due = false;
                    continue;
                }
                Node::Line { statistic, inputs, line, point, .. } => {
                    let rows = statistic.len() == 2 && statistic.iter().all(|x| x.is_finite());
                    let sound = line.is_sound() && point.is_none_or(|point| point.is_sound());
                    let fits = rows && child.is_continuous() && inputs.len() == line.slopes.len() && sound;
                    if !fits || !inputs.iter().all(|input| input.is_sound(&self.parents, variables)) {
                        return bad(at, "has a line that does not fit its parents");
                    }
                    due = false;
                    continue;
                }
                Node::Below { parent, right, .. }
                | Node::Before { parent, right, .. }
                | Node::Among { parent, right, .. } => (*parent, *right),
            };
            let Some(variable) = self.parents.get(parent).map(|&p| &variables[p]) else {
                return bad(at, "splits a parent that the tree does not have");
            };
            if variable.is_continuous() != matches!(node, Node::Below { .. }) {
                return bad(at, "splits a parent of another kind");
            }
            if matches!(node, Node::Among { levels, .. } if !levels.is_sorted()) {
                return bad(at, "has its levels out of order");
            }
            pending.push(right);
            due = true;
        }
        if due || !pending.is_empty() {
            return bad(self.nodes.len() - 1, "has sides that are missing");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Kind, Level, Units};

    fn leaf(p: f64) -> Node {
        let predictive = Predictive::Levels { probabilities: vec![1.0 - p, p] };
        Node::Leaf { n: 1, statistic: vec![0.0, 1.0], predictive }
    }

    fn tree() -> Tree {
        let nodes = vec![
            Node::Below { parent: 0, threshold: 0.5, written: None, right: 4 },
            Node::Among { parent: 1, levels: vec![0, 2], right: 3 },
            leaf(0.1),
            leaf(0.2),
            Node::Before { parent: 2, level: 2, right: 6 },
            leaf(0.3),
            leaf(0.4),
        ];
        Tree::new(3, vec![0, 1, 2], nodes)
    }

    fn variables() -> Vec<Variable> {
        let levels = |k: i64| (0..k).map(Level::Int).collect();
        let kinds = [
            Kind::Continuous { scale: Units::IDENTITY },
            Kind::Categorical { levels: levels(4) },
            Kind::Ordinal { levels: levels(4) },
            Kind::Categorical { levels: levels(2) },
        ];
        kinds.into_iter().zip(["x", "g", "o", "y"]).map(|(kind, name)| Variable { name: name.into(), kind }).collect()
    }

    #[test]
    fn every_value_finds_its_leaf() {
        let tree = tree();
        let at = |x, g, o| tree.leaf(&[Value::Real(x), Value::Code(g), Value::Code(o)]);
        assert_eq!([at(-1e300, 2, 0), at(0.4, 1, 0), at(0.4, 7, 0)], [2, 3, 3]);
        assert_eq!([at(0.5, 0, 1), at(0.5, 0, 2), at(1e300, 0, 9)], [5, 6, 6]);
    }

    #[test]
    fn without_its_unused_parents_it_finds_the_same_leaves() {
        let tree = tree().among(&[4, 0, 1, 5, 2]);
        assert_eq!((tree.unused(), tree.without_unused()), (vec![4, 5], self::tree()));
        assert!(self::tree().unused().is_empty());
    }

    #[test]
    fn it_survives_json_and_its_own_check() {
        let tree = tree();
        assert!(tree.check(&variables()).is_ok());
        let back: Tree = serde_json::from_str(&serde_json::to_string(&tree).unwrap()).unwrap();
        assert_eq!(back, tree);
        assert_eq!(tree.thresholds(0), Some(vec![0.5]));
    }

    #[test]
    fn its_outline_asks_only_about_levels_that_get_there() {
        let (outline, otherwise) = tree().outline(&variables()).unwrap();
        assert_eq!(otherwise, None);
        let Outline::Split { parent: 0, branches } = outline else { panic!("the root asks about x") };
        assert_eq!(branches[0].0, Values::Range(None, Some(0.5)));
        let Outline::Split { parent: 1, branches } = &branches[0].1 else { panic!("then about g") };
        assert_eq!(branches[0].0, Values::Codes(vec![0, 2]));
        assert_eq!(branches[1].0, Values::Codes(vec![1, 3]));
    }

    #[test]
    fn a_file_that_would_lead_astray_is_refused() {
        let sound = tree();
        for (at, node) in [
            (0, Node::Below { parent: 0, threshold: 0.5, written: None, right: 0 }),
            (0, Node::Below { parent: 5, threshold: 0.5, written: None, right: 4 }),
            (0, Node::Below { parent: 1, threshold: 0.5, written: None, right: 4 }),
            (1, Node::Among { parent: 1, levels: vec![2, 0], right: 3 }),
            (4, Node::Before { parent: 2, level: 2, right: 17 }),
            (6, Node::Before { parent: 2, level: 2, right: 7 }),
        ] {
            let mut nodes = sound.nodes.clone();
            nodes[at] = node;
            assert!(Tree::new(3, vec![0, 1, 2], nodes).check(&variables()).is_err(), "{at}");
        }
        assert!(Tree::new(3, vec![0], vec![]).check(&variables()).is_err());
    }
}
