//! The combined search of figure 5: the graph over the variables and the decision graph of every variable grow together.
//!
//! Every node starts as a single leaf with its required parents. In each step every operator of every node is considered,
//! with all non-descendants as possible parents, and the best is applied; a split on a new parent adds its arc. An
//! arc changes nothing of what operators gain, it only forbids some: each node keeps the gains of all its splits by all
//! variables, and looks for its best operator again only when that one was used or forbidden. Nothing is ever taken back,
//! so no step closes a cycle. Ties between nodes go to the first.
//!
//! A merge may leave a node with a parent that it does not depend on. The paper lets such arcs stand; `drop_unused` takes
//! them away when no operator improves, which may free others, and goes on.

use rayon::prelude::*;

use super::ancestors::Ancestors;
use super::graph::Dag;
use super::registry::{self, Source, Task};
use crate::constraints::Constraints;
use crate::control::{Budget, Stop};
use crate::decision_graph::amounts::Tallied;
use crate::decision_graph::build::model;
use crate::decision_graph::state::{Operator, Problem, State};
use crate::decision_graph::{Prepared, region};
use crate::error::{Error, Result};
use crate::model::LocalModel;
use crate::model::decision_graph::DecisionGraph;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Joint {
    /// At most so many steps.
    pub max_steps: u64,
    /// Whether parents that a node does not depend on lose their arcs.
    pub drop_unused: bool,
}

impl Default for Joint {
    fn default() -> Self {
        Self { max_steps: u64::MAX, drop_unused: false }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The graph over the variables.
    pub dag: Dag,
    /// The decision graph of every variable; its parents are those of `dag`.
    pub graphs: Vec<DecisionGraph>,
    /// Operators applied.
    pub n_steps: u64,
    /// Arcs taken away.
    pub n_dropped: u64,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

impl registry::Search for Joint {
    fn search(&self, task: &Task<'_>) -> Result<registry::Found> {
        let prepared = match task.source {
            Source::Score(score) => score.decision_graphs().and_then(<dyn std::any::Any>::downcast_ref::<Prepared>),
            _ => None,
        };
        let problem = "this search grows decision graphs: give a DecisionGraph";
        let prepared = prepared.ok_or_else(|| Error::parameter("score", &"another", problem))?;
        let found = self.run(prepared, task.constraints, task.budget)?;
        let scores = found.graphs.iter().map(DecisionGraph::log_marginal).collect();
        let models = found.graphs.into_iter().map(LocalModel::DecisionGraph).collect();
        let told = registry::Found::new(&found.dag, scores, found.stop);
        let told = told.counted([("steps", found.n_steps), ("dropped", found.n_dropped)]);
        Ok(registry::Found { models: Some(models), ..told })
    }
}

impl Joint {
    /// Searches from no arcs but the required ones.
    ///
    /// # Errors
    /// If a column is a number, the constraints do not fit the table, or the prior cannot say; not if the budget is used
    /// up.
    pub fn run(&self, prepared: &Prepared, constraints: &Constraints, budget: Budget<'_>) -> Result<Found> {
        if prepared.table().weights().is_some() {
            return self.ended(Search::<f64>::new(prepared, constraints, budget)?, budget);
        }
        self.ended(Search::<u32>::new(prepared, constraints, budget)?, budget)
    }

    fn ended<N: Tallied>(&self, mut search: Search<'_, N>, budget: Budget<'_>) -> Result<Found> {
        let mut n_dropped = 0;
        let mut stop = None;
        loop {
            match search.grow(self.max_steps) {
                Err(Error::Interrupted) => {
                    stop = Some(budget.over().unwrap_or(Stop::Interrupted));
                    break;
                }
                other => other?,
            }
            let dropped = if self.drop_unused { search.drop_unused() } else { 0 };
            n_dropped += dropped;
            if dropped == 0 {
                break;
            }
        }
        let graphs = search.graphs()?;
        Ok(Found { dag: search.dag, graphs, n_steps: search.n_steps, n_dropped, stop })
    }
}

/// All nodes of a network while their graphs grow.
pub struct Search<'a, N: Tallied = u32> {
    constraints: &'a Constraints,
    budget: Budget<'a>,
    nodes: Vec<Node<'a, N>>,
    dag: Dag,
    ancestors: Ancestors,
    n_steps: u64,
    /// Whether the splits of the first leaves are known: looking at them is the longest single piece of work.
    looked: bool,
}

struct Node<'a, N: Tallied> {
    problem: Problem<'a, N>,
    state: State<N>,
    /// By predictor: whether it is or may become a parent.
    allowed: Vec<bool>,
    best: Option<(f64, Operator)>,
}

impl<'a, N: Tallied> Search<'a, N> {
    /// Every node a single leaf.
    ///
    /// # Errors
    /// If a column is a number, the constraints do not fit the table, or the prior cannot say.
    pub fn new(prepared: &'a Prepared, constraints: &'a Constraints, budget: Budget<'a>) -> Result<Self> {
        let n = prepared.table().n_vars();
        if constraints.n_vars() != n {
            let problem = format!("constraints on {} variables for a table of {n}", constraints.n_vars());
            return Err(Error::Shape(problem));
        }
        let required: Vec<&[Var]> = (0..n).map(|v| constraints.child(v).required.as_slice()).collect();
        let dag = Dag::from_parents(&required)?;
        let of = |v: Var| {
            let mut problem = prepared.problem_of(v, &constraints.child(v).allowed)?;
            problem.parallel = true;
            problem.budget = Some(budget);
            let state = State::unlooked(&problem)?;
            let allowed = vec![true; problem.fields.len()];
            Ok(Node { problem, state, allowed, best: None })
        };
        let nodes = (0..n).into_par_iter().try_map(of)?;
        let ancestors = Ancestors::new(&dag);
        Ok(Self { constraints, budget, nodes, dag, ancestors, n_steps: 0, looked: false })
    }

    /// The graph over the variables.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// The sum over all nodes.
    pub fn score(&self) -> f64 {
        self.nodes.iter().map(|node| node.state.score()).sum()
    }

    /// Steps until none improves.
    ///
    /// # Errors
    /// `Error::Interrupted` if the budget is used up; the search is then as after the last whole step.
    pub fn grow(&mut self, max_steps: u64) -> Result<()> {
        while self.n_steps < max_steps && self.step()? {
            self.budget.check()?;
        }
        Ok(())
    }

    /// Applies the best operator of all nodes, if one improves.
    ///
    /// # Errors
    /// As `grow`.
    pub fn step(&mut self) -> Result<bool> {
        if !self.looked {
            let look = |node: &Node<'_, N>| State::new(&node.problem);
            let states = self.nodes.par_iter().try_map(look)?;
            self.nodes.iter_mut().zip(states).for_each(|(node, state)| node.state = state);
            self.looked = true;
            self.look_everywhere();
        }
        let gain = |node: &Node<'_, N>| node.best.map_or(f64::NEG_INFINITY, |best| best.0);
        let top = self.nodes.iter().map(gain).fold(f64::NEG_INFINITY, f64::max);
        let chosen =
            self.nodes.iter().position(|node| node.best.is_some() && gain(node) >= top - node.problem.marginal.least());
        let Some(child) = chosen else { return Ok(false) };
        let node = &mut self.nodes[child];
        let Some((_, operator)) = node.best else { return Ok(false) };
        node.state.apply(&node.problem, operator)?;
        self.n_steps += 1;
        self.budget.control().advance(1);
        node.best = None;
        let new = match operator {
            Operator::Split { field, .. } => Some(node.problem.fields[field]).filter(|&p| !self.dag.has_arc(p, child)),
            Operator::Merge(..) => None,
        };
        if let Some(parent) = new {
            let added = self.dag.add_arc(parent, child);
            debug_assert!(added, "only variables that close no cycle are allowed");
            self.ancestors.added(parent, child);
            self.allow();
        }
        let node = &mut self.nodes[child];
        node.best = node.state.best(&node.problem, Some(&node.allowed));
        Ok(true)
    }

    /// Finds out which predictors are allowed, and looks again at nodes whose best operator no longer is.
    fn allow(&mut self) {
        let Self { nodes, dag, ancestors, constraints, .. } = self;
        let (dag, ancestors): (&Dag, &Ancestors) = (dag, ancestors);
        nodes.par_iter_mut().enumerate().for_each(|(child, node)| {
            let full = dag.parents(child).count() >= constraints.child(child).max_parents;
            for (allowed, &parent) in node.allowed.iter_mut().zip(&node.problem.fields) {
                *allowed = dag.has_arc(parent, child) || !full && ancestors.may_add(parent, child);
            }
            if let Some((_, Operator::Split { field, .. })) = node.best
                && !node.allowed[field]
            {
                node.best = node.state.best(&node.problem, Some(&node.allowed));
            }
        });
    }

    fn look_everywhere(&mut self) {
        self.allow();
        self.nodes.par_iter_mut().for_each(|node| {
            node.best = node.state.best(&node.problem, Some(&node.allowed));
        });
    }

    /// Takes away the arcs, none of them required, from parents that their child does not depend on.
    fn drop_unused(&mut self) -> u64 {
        let mut dropped = 0;
        for child in 0..self.nodes.len() {
            for parent in self.unused(child) {
                if !self.constraints.child(child).requires(parent) {
                    self.dag.remove_arc(parent, child);
                    dropped += 1;
                }
            }
        }
        if dropped > 0 {
            self.ancestors = Ancestors::new(&self.dag);
            self.look_everywhere();
        }
        dropped
    }

    fn unused(&self, child: Var) -> Vec<Var> {
        let Node { problem, state, .. } = &self.nodes[child];
        let regions: Vec<_> = state.leaves().map(|(_, leaf)| &leaf.region).collect();
        let asked = state.asked(problem.fields.len());
        let matters = region::relevant(&regions, &asked);
        let unused = |&(field, &parent): &(usize, &Var)| self.dag.has_arc(parent, child) && !matters[field];
        problem.fields.iter().enumerate().filter(unused).map(|(_, &parent)| parent).collect()
    }

    /// The decision graphs as they stand.
    ///
    /// # Errors
    /// Never for what this search has grown.
    pub fn graphs(&self) -> Result<Vec<DecisionGraph>> {
        let of = |(child, node): (Var, &Node<'_, N>)| {
            let parents: Vec<Var> = self.dag.parents(child).collect();
            Ok(model(&node.problem, &node.state)?.with_parents(&parents))
        };
        self.nodes.par_iter().enumerate().try_map(of)
    }
}
