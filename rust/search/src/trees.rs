//! The best tree (Chow and Liu 1968), forest, or tree over the attributes of a classifier (Friedman, Geiger and
//! Goldszmidt 1997), for any decomposable score (Carvalho 2009, algorithms 2 to 7).
//!
//! The weight of the arc `u -> v` is what `v`'s score gains by the parent `u`, beside the class if there is one. Where
//! equivalent graphs score alike, the weight is that of the edge, and a maximum spanning tree, directed away from a root,
//! is the best of all; elsewhere it takes a maximum branching ([`super::branching`]). Both are proved: no other tree of
//! the kind asked for scores more. `n^2` families are scored; the tree itself costs `O(n^2 log n)`.

use rayon::prelude::*;

use super::branching::{Top, maximum_branching};
use super::families::Families;
use super::registry::{Detail, Found, Search, Source, Task, over_families};
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// Which tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TreeSearch {
    /// The parent of every other variable; the tree is one over those others.
    #[serde(rename = "class_")]
    pub class: Option<Var>,
    /// The root of the tree; without it the first variable of an undirected tree, the best one of a directed one.
    pub root: Option<Var>,
    /// Leave out every arc that does not pay: as many trees as that makes.
    pub forest: bool,
    /// Weights depend on the direction: to be said of every score that does not score equivalent graphs alike. Left out,
    /// `run` takes it for no, and a search looks what it is given.
    pub directed: Option<bool>,
}

/// The best tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The parents of every variable.
    pub parents: Vec<Parents>,
    /// Their families' scores.
    pub scores: Vec<f64>,
}

impl Search for TreeSearch {
    fn search(&self, task: &Task<'_>) -> Result<Found> {
        // Constraints and candidates may tell directions apart even where the score does not.
        let alike = matches!(task.source, Source::Score(score) if task.constraints.is_empty() && score.equivalent());
        let directed = self.directed.unwrap_or(!alike);
        let how = Self { directed: Some(directed), ..*self };
        let (tree, _, n_scored) = over_families(task, |f| how.run(f), |f| how.run(f))?;
        let parents = tree.parents.iter().map(|set| set.to_vec()).collect();
        let told = Found::of_parents(parents, tree.scores, None).counted([("scored", n_scored)]);
        Ok(told.with("directed", Detail::Whether(directed)))
    }

    fn can_be_stopped(&self) -> bool {
        false
    }
}

impl TreeSearch {
    /// The tree of the highest total score.
    ///
    /// # Errors
    /// If a family cannot be scored, constraints leave no such tree, or the budget is used up.
    pub fn run<F: Families>(&self, families: &F) -> Result<Tree> {
        let nodes: Vec<Var> = (0..families.n_vars()).filter(|v| Some(*v) != self.class).collect();
        let alone: Parents = self.class.into_iter().collect();
        let row = |&v: &Var| -> Result<Vec<f64>> {
            let (base, parents) = families.family(v, &alone)?;
            if base == f64::NEG_INFINITY || parents != alone {
                let advice = "a tree search can forbid arcs, but not require them";
                return Err(Error::Shape(format!("the constraints do not let variable {v} be a root; {advice}")));
            }
            let with = families.toggled(v, &alone)?;
            Ok(nodes.iter().map(|&u| if u == v { f64::NEG_INFINITY } else { with[u] - base }).collect())
        };
        // ways[v][u] is the weight of u -> v, by position among the nodes.
        let ways: Vec<Vec<f64>> = nodes.par_iter().try_map(row)?;
        let root = self.root.and_then(|root| nodes.iter().position(|&v| v == root));
        if let (Some(given), None) = (self.root, root) {
            return Err(Error::parameter("root", &given, "must be a variable other than the class"));
        }
        let above =
            if self.directed == Some(true) { self.branching(&ways, root) } else { Some(self.spanning(&ways, root)) };
        let Some(above) = above else {
            let problem = "no tree spans all variables: too many arcs are forbidden; ask for a forest";
            return Err(Error::Shape(problem.to_owned()));
        };
        let mut wanted = vec![Parents::new(); families.n_vars()];
        for (&v, above) in nodes.iter().zip(above) {
            wanted[v] = alone.iter().copied().chain(above.map(|u| nodes[u])).collect();
            wanted[v].sort_unstable();
        }
        let scored = wanted.iter().enumerate().map(|(v, parents)| families.family(v, parents));
        let (scores, parents) = scored.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Tree { parents, scores })
    }

    fn branching(&self, ways: &[Vec<f64>], root: Option<usize>) -> Option<Vec<Option<usize>>> {
        let top = match root {
            _ if self.forest => Top::Forest,
            Some(root) => Top::Root(root),
            None => Top::OneRoot,
        };
        maximum_branching(ways.len(), |u, v| ways[v][u], top)
    }

    fn spanning(&self, ways: &[Vec<f64>], root: Option<usize>) -> Vec<Option<usize>> {
        let least = if self.forest { 0.0 } else { f64::NEG_INFINITY };
        let edges = maximum_spanning_edges(ways.len(), |u, v| ways[v][u], least);
        away_from_roots(ways.len(), &edges, root)
    }
}

/// The edges, each of a weight above `least`, that join as many nodes as such edges can at the highest total weight
/// (Kruskal 1956). `weight` is asked for the smaller node first. Ties go to the lexicographically smaller edge.
pub fn maximum_spanning_edges(n: usize, weight: impl Fn(usize, usize) -> f64, least: f64) -> Vec<(usize, usize)> {
    let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
    let mut edges: Vec<(f64, usize, usize)> =
        pairs.map(|(u, v)| (weight(u, v), u, v)).filter(|edge| edge.0 > least).collect();
    edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut inside: Vec<usize> = (0..n).collect();
    let mut joined = Vec::with_capacity(n.saturating_sub(1));
    for (_, u, v) in edges {
        let (a, b) = (outermost(&mut inside, u), outermost(&mut inside, v));
        if a != b {
            inside[a.max(b)] = a.min(b);
            joined.push((u, v));
        }
    }
    joined
}

fn outermost(inside: &mut [usize], mut node: usize) -> usize {
    while inside[node] != node {
        inside[node] = inside[inside[node]];
        node = inside[node];
    }
    node
}

/// The parent of each node when the edges of a forest point away from `root` in its tree, from the smallest node in others.
fn away_from_roots(n: usize, edges: &[(usize, usize)], root: Option<usize>) -> Vec<Option<usize>> {
    let mut near = vec![Vec::new(); n];
    for &(u, v) in edges {
        near[u].push(v);
        near[v].push(u);
    }
    let mut parent = vec![None; n];
    let mut reached = vec![false; n];
    for start in root.into_iter().chain(0..n) {
        let mut stack = if std::mem::replace(&mut reached[start], true) { vec![] } else { vec![start] };
        while let Some(node) = stack.pop() {
            for &next in &near[node] {
                if !std::mem::replace(&mut reached[next], true) {
                    parent[next] = Some(node);
                    stack.push(next);
                }
            }
        }
    }
    parent
}

#[cfg(test)]
mod tests;
