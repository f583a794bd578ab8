//! A fitted decision graph: questions about the parents whose ways may meet again, a distribution in every leaf.
//!
//! Nodes stand parents first, so that a file cannot close a cycle. Every value finds its leaf: levels that no branch
//! names follow the last one. A node to which several ways lead is written once and named where the others come to it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Model, Outline, Values, check_family};
use crate::decision_graph::levels::Levels;
use crate::decision_graph::predictors::Ways;
use crate::decision_graph::region;
use crate::decision_graph::splits::Cut;
use crate::decision_graph::state::{Problem, Shape, State};
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Var, Variable};

/// A node of a decision graph. Whatever it leads to stands behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "node", rename_all = "snake_case")]
pub enum Node {
    /// One way a level.
    Each {
        /// Position in the graph's parents.
        parent: usize,
        /// Ascending codes.
        levels: Vec<u32>,
        /// Where each leads.
        to: Vec<usize>,
    },
    /// One level, and the others.
    Level {
        /// Position in the graph's parents.
        parent: usize,
        /// The level.
        level: u32,
        /// Where it leads, and where the others lead.
        to: [usize; 2],
    },
    /// Levels before this one, and the others.
    Before {
        /// Position in the graph's parents.
        parent: usize,
        /// The lowest of the others.
        level: u32,
        /// Where those before lead, and where the others lead.
        to: [usize; 2],
    },
    /// Numbers below a threshold, and the others.
    Below {
        /// Position in the graph's parents.
        parent: usize,
        /// In stored units.
        threshold: f64,
        /// Where those below lead, and where the others lead.
        to: [usize; 2],
    },
    /// A distribution of the child.
    Leaf {
        /// Number of training rows.
        n: u64,
        /// Their counts by code.
        counts: Vec<u64>,
        /// What a new row here is predicted with.
        predictive: Predictive,
    },
}

impl Node {
    fn to(&self) -> &[usize] {
        match self {
            Self::Each { to, .. } => to,
            Self::Level { to, .. } | Self::Before { to, .. } | Self::Below { to, .. } => to,
            Self::Leaf { .. } => &[],
        }
    }

    fn to_mut(&mut self) -> &mut [usize] {
        match self {
            Self::Each { to, .. } => to,
            Self::Level { to, .. } | Self::Before { to, .. } | Self::Below { to, .. } => to,
            Self::Leaf { .. } => &mut [],
        }
    }

    /// Which way the first level goes, or the lowest number.
    fn way_of_first(&self) -> usize {
        match self {
            Self::Each { levels, .. } => levels.binary_search(&0).unwrap_or(levels.len() - 1),
            Self::Level { level, .. } => usize::from(*level != 0),
            Self::Before { .. } | Self::Below { .. } | Self::Leaf { .. } => 0,
        }
    }

    fn parent(&self) -> Option<usize> {
        match self {
            Self::Each { parent, .. }
            | Self::Level { parent, .. }
            | Self::Before { parent, .. }
            | Self::Below { parent, .. } => Some(*parent),
            Self::Leaf { .. } => None,
        }
    }

    fn parent_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Each { parent, .. }
            | Self::Level { parent, .. }
            | Self::Before { parent, .. }
            | Self::Below { parent, .. } => Some(parent),
            Self::Leaf { .. } => None,
        }
    }
}

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
    /// From a graph as it was grown. The problem's predictors are its parents.
    ///
    /// # Errors
    /// If a predictor cannot be read, which growing it has found before.
    pub fn from_state(problem: &Problem<'_>, state: &State) -> Result<Self> {
        let mut builder = Builder { problem, state, made: vec![0; state.shapes().len()], nodes: Vec::new() };
        // What a node leads to was made after it.
        for shape in (0..state.shapes().len()).rev() {
            builder.made[shape] = builder.placed(shape)?;
        }
        let mut nodes = builder.nodes;
        nodes.reverse();
        let last = nodes.len() - 1;
        for node in &mut nodes {
            node.to_mut().iter_mut().for_each(|to| *to = last - *to);
        }
        let n = problem.fields.len();
        let mut asked = vec![false; n];
        nodes.iter().filter_map(Node::parent).for_each(|parent| asked[parent] = true);
        let regions: Vec<_> = state.leaves().map(|(_, leaf)| &leaf.region).collect();
        // Two leaves are two sets of parameters, so a parent matters if it can tell them apart.
        let matters = region::relevant(&regions, &asked);
        let unused = (0..n).filter(|&field| !matters[field]).collect();
        let log_marginal = state.score();
        Ok(Self { child: problem.child, parents: problem.fields.clone(), nodes, unused, log_marginal })
    }

    /// All nodes, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Node::Leaf { .. })).count()
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

    /// What stands at a node, which the given codes of each parent with levels can reach.
    fn outline_of(&self, at: usize, reachable: &mut Vec<Option<Levels>>, names: &mut Names) -> Outline {
        let name = names.of(self, at);
        if let Some(name) = &name
            && !names.first(at)
        {
            return Outline::Again { name: name.clone() };
        }
        let outline = self.below(at, reachable, names);
        match name {
            Some(name) => Outline::Named { name, outline: Box::new(outline) },
            None => outline,
        }
    }

    fn below(&self, at: usize, reachable: &mut Vec<Option<Levels>>, names: &mut Names) -> Outline {
        let node = &self.nodes[at];
        let (parent, values): (usize, Vec<Values>) = match node {
            Node::Leaf { n, predictive, .. } => {
                return Outline::Leaf { n_rows: *n as usize, predictive: predictive.clone() };
            }
            Node::Below { parent, threshold, .. } => {
                (*parent, vec![Values::Range(None, Some(*threshold)), Values::Range(Some(*threshold), None)])
            }
            Node::Each { parent, levels, .. } => (*parent, levels.iter().map(|&l| Values::Codes(vec![l])).collect()),
            Node::Level { parent, level, .. } => (*parent, divided(reachable[*parent].as_ref(), |c| c == *level)),
            Node::Before { parent, level, .. } => (*parent, divided(reachable[*parent].as_ref(), |c| c < *level)),
        };
        let mut branches = Vec::new();
        let mut next = values.into_iter().zip(node.to().iter().copied()).collect::<std::collections::VecDeque<_>>();
        while let Some((values, to)) = next.pop_front() {
            let before = reachable.clone();
            // Where ways meet, what one of them has excluded the other may not have: a shared node speaks of all levels.
            if names.shared[to] > 1 {
                reachable.clone_from(&names.whole);
            } else if let (Values::Codes(codes), Some(levels)) = (&values, &mut reachable[parent]) {
                *levels = levels.and(&Levels::of(names.n_levels[parent], codes.iter().copied()));
            }
            // One level after the other of the same parent is one question with many answers.
            if let Node::Level { parent: same, level, to: ways } = &self.nodes[to]
                && *same == parent
                && names.shared[to] == 1
            {
                let sides = divided(reachable[parent].as_ref(), |c| c == *level);
                next.extend(sides.into_iter().zip(ways.iter().copied()));
            } else {
                branches.push((values, self.outline_of(to, reachable, names)));
            }
            *reachable = before;
        }
        Outline::Split { parent: self.parents[parent], branches }
    }
}

/// Codes on the one side, and the others.
fn divided(codes: Option<&Levels>, first: impl Fn(u32) -> bool) -> Vec<Values> {
    let all: Vec<u32> = codes.map(|codes| codes.iter().collect()).unwrap_or_default();
    let (one, others): (Vec<u32>, Vec<u32>) = all.into_iter().partition(|&code| first(code));
    vec![Values::Codes(one), Values::Codes(others)]
}

/// The names of nodes to which several ways lead, given as they are first met.
struct Names {
    /// Ways to each node.
    shared: Vec<usize>,
    given: Vec<Option<String>>,
    met: Vec<bool>,
    n_leaves: usize,
    n_splits: usize,
    whole: Vec<Option<Levels>>,
    n_levels: Vec<usize>,
}

impl Names {
    fn new(graph: &DecisionGraph, variables: &[Variable]) -> Self {
        let n = graph.nodes.len();
        let mut shared = vec![0; n];
        graph.nodes.iter().flat_map(Node::to).for_each(|&to| shared[to] += 1);
        let n_levels: Vec<usize> = graph.parents.iter().map(|&p| variables[p].n_levels().unwrap_or(0)).collect();
        let whole = n_levels.iter().map(|&k| (k > 0).then(|| Levels::all(k))).collect();
        Self { shared, given: vec![None; n], met: vec![false; n], n_leaves: 0, n_splits: 0, whole, n_levels }
    }

    fn of(&mut self, graph: &DecisionGraph, at: usize) -> Option<String> {
        if self.given[at].is_none() {
            if matches!(graph.nodes[at], Node::Leaf { .. }) {
                self.n_leaves += 1;
                self.given[at] = (self.shared[at] > 1).then(|| format!("leaf {}", self.n_leaves));
            } else if self.shared[at] > 1 {
                self.n_splits += 1;
                self.given[at] = Some(format!("question {}", self.n_splits));
            }
        }
        self.given[at].clone()
    }

    fn first(&mut self, at: usize) -> bool {
        !std::mem::replace(&mut self.met[at], true)
    }
}

struct Builder<'a> {
    problem: &'a Problem<'a>,
    state: &'a State,
    /// By shape: its node.
    made: Vec<usize>,
    /// What is led to before what leads there.
    nodes: Vec<Node>,
}

impl Builder<'_> {
    /// Where a shape stands; a question whose every answer leads to one node is not asked.
    fn placed(&mut self, shape: usize) -> Result<usize> {
        let node = match &self.state.shapes()[shape] {
            Shape::Same(other) => return Ok(self.made[*other]),
            Shape::Leaf(id) => self.leaf(*id),
            Shape::Split { field, cut, sides } => {
                let to: Vec<usize> = sides.iter().map(|side| self.made[side.1]).collect();
                if to.iter().all(|&t| t == to[0]) {
                    return Ok(to[0]);
                }
                self.question(*field, *cut, sides, &to)?
            }
        };
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn leaf(&self, id: usize) -> Node {
        let (leaf, r) = (self.state.leaf(id), self.problem.r);
        let mut counts = vec![0; r];
        leaf.counts.iter().for_each(|&(code, n)| counts[code as usize] = u64::from(n));
        let total = leaf.rows.len() as f64 + leaf.alphas.total(r);
        let probability = |(code, &n): (u32, &u64)| (n as f64 + leaf.alphas.of(code)) / total;
        let probabilities = (0..).zip(&counts).map(probability).collect();
        Node::Leaf { n: leaf.rows.len() as u64, counts, predictive: Predictive::Levels { probabilities } }
    }

    fn question(&self, parent: usize, cut: Cut, sides: &[(Levels, usize)], to: &[usize]) -> Result<Node> {
        let var = self.problem.fields[parent];
        let two = || [to[0], to[1]];
        Ok(match cut {
            Cut::Each => {
                let levels = sides.iter().flat_map(|side| side.0.iter()).collect();
                Node::Each { parent, levels, to: to.to_vec() }
            }
            Cut::Level(level) => Node::Level { parent, level, to: two() },
            Cut::Below(level) if self.problem.predictors.get(var)?.ways == Ways::Halvings => {
                Node::Below { parent, threshold: self.problem.predictors.threshold(var, level), to: two() }
            }
            Cut::Below(level) => Node::Before { parent, level, to: two() },
        })
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
        let of_leaf =
            |node: &Node| if let Node::Leaf { predictive, .. } = node { predictive.n_parameters() } else { 0 };
        self.nodes.iter().map(of_leaf).sum()
    }

    fn thresholds(&self, position: usize) -> Option<Vec<f64>> {
        let of_node = |node: &Node| match node {
            Node::Below { parent, threshold, .. } if *parent == position => Some(*threshold),
            _ => None,
        };
        let mut all: Vec<_> = self.nodes.iter().filter_map(of_node).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        Some(all)
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
