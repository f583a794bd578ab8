//! From a graph as it was grown to the model: every question and leaf once, in an order that closes no cycle.

use super::amounts::Tallied;
use super::levels::Levels;
use super::predictors::Ways;
use super::region;
use super::splits::Cut;
use super::state::{Problem, Shape, State};
use crate::error::Result;
use crate::model::decision_graph::{DecisionGraph, Node};
use crate::predictive::Predictive;

/// The model of a graph as it was grown. The problem's predictors are its parents.
///
/// # Errors
/// If a predictor cannot be read, which growing it has found before.
pub fn model<N: Tallied>(problem: &Problem<'_, N>, state: &State<N>) -> Result<DecisionGraph> {
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
    Ok(DecisionGraph::new(problem.child, problem.fields.clone(), nodes, unused, log_marginal))
}

struct Builder<'a, N: Tallied> {
    problem: &'a Problem<'a, N>,
    state: &'a State<N>,
    /// By shape: its node.
    made: Vec<usize>,
    /// What is led to before what leads there.
    nodes: Vec<Node>,
}

impl<N: Tallied> Builder<'_, N> {
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
        let mut weights = vec![0.0; r];
        leaf.counts.iter().for_each(|&(code, n)| weights[code as usize] = n.real());
        let total = leaf.n.real() + leaf.alphas.total(r);
        let probability = |(code, &n): (u32, &f64)| (n + leaf.alphas.of(code)) / total;
        let probabilities = (0..).zip(&weights).map(probability).collect();
        // Numbers of rows are told, and sums of weights rounded.
        let counts = weights.iter().map(|n| n.round() as u64).collect();
        Node::Leaf { n: leaf.n.real().round() as u64, counts, predictive: Predictive::Levels { probabilities } }
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
