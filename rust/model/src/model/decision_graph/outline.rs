//! A decision graph as a person reads it: where ways meet, a node is written once, and named where the others come to it.

use super::levels::Levels;
use super::{DecisionGraph, Node};
use crate::model::{Outline, Values};
use crate::table::Variable;

impl DecisionGraph {
    /// What stands at a node, which the given codes of each parent with levels can reach.
    pub(super) fn outline_of(&self, at: usize, reachable: &mut Vec<Option<Levels>>, names: &mut Names) -> Outline {
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
pub(super) struct Names {
    /// Ways to each node.
    shared: Vec<usize>,
    given: Vec<Option<String>>,
    met: Vec<bool>,
    n_leaves: usize,
    n_splits: usize,
    pub(super) whole: Vec<Option<Levels>>,
    n_levels: Vec<usize>,
}

impl Names {
    pub(super) fn new(graph: &DecisionGraph, variables: &[Variable]) -> Self {
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
