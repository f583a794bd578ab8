//! The best tree whose arcs point away from one root, or the best forest of them (Chu and Liu 1965, Edmonds 1967).
//!
//! Dense, `O(n^2)`: a path grows against the arcs, each node choosing its best way in; where it bites its tail, the cycle
//! becomes one node, and every way into it is counted against the arc of the cycle it would replace. Each contraction
//! costs `n` times the length of the cycle, and those lengths sum to less than `2 n`. Expanding the nodes in reverse order
//! gives the arcs.
//!
//! Roots are arcs from one extra node. A tree has to do with a single one, so weights are pairs (arcs from the
//! extra node, weight), compared in that order: no large constant spoils the last digits.

use std::cmp::Ordering;

/// The weight of an arc or of a way in.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    /// Roots it adds, counted only where there may be just one.
    roots: i32,
    value: f64,
}

impl Weight {
    const NEVER: Self = Self { roots: i32::MAX, value: f64::NEG_INFINITY };

    fn minus(self, other: Self) -> Self {
        if self == Self::NEVER {
            return self;
        }
        Self { roots: self.roots - other.roots, value: self.value - other.value }
    }

    /// Fewer roots, then more weight.
    fn better(self, other: Self) -> bool {
        other.roots.cmp(&self.roots).then(self.value.partial_cmp(&other.value).unwrap_or(Ordering::Equal))
            == Ordering::Greater
    }
}

/// What may stand at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// One root, any node: a spanning tree.
    OneRoot,
    /// This node.
    Root(usize),
    /// As many roots as pay: a node takes its best arc only if that adds weight.
    Forest,
}

/// The parent of each node in the branching of maximum total weight; `weight(u, v)` is that of the arc `u -> v`.
///
/// Weights must not be NaN; negative infinity forbids an arc. Ties go to the smaller source. `None` if forbidden arcs
/// leave no such tree.
pub fn maximum_branching(n: usize, weight: impl Fn(usize, usize) -> f64, top: Top) -> Option<Vec<Option<usize>>> {
    if n == 0 {
        return Some(Vec::new());
    }
    let mut growth = Growth::new(n, weight, top);
    for start in 0..n {
        growth.grow(start)?;
    }
    let parents = growth.expand();
    // Only forbidden arcs can force a second root.
    let n_roots = parents.iter().filter(|p| p.is_none()).count();
    (top != Top::OneRoot || n_roots == 1).then_some(parents)
}

/// The extra node stands last among the original ones, at index `n`.
struct Growth {
    n: usize,
    /// All nodes made so far; a contracted cycle is a new one. Twice `n` at the most.
    alive: Vec<bool>,
    /// `ways[v][u]`: the best arc from node `u` into node `v`, with its original ends.
    ways: Vec<Vec<(Weight, (usize, usize))>>,
    /// The arc chosen into each node.
    chosen: Vec<Option<(Weight, (usize, usize))>>,
    /// The contracted node that swallowed it.
    inside: Vec<Option<usize>>,
    /// Whether its chain of chosen arcs ends at the top.
    settled: Vec<bool>,
}

impl Growth {
    fn new(n: usize, weight: impl Fn(usize, usize) -> f64, top: Top) -> Self {
        let arc = |u: usize, v: usize| {
            let weight = if u == v || v == n {
                Weight::NEVER
            } else if u < n {
                match weight(u, v) {
                    f64::NEG_INFINITY => Weight::NEVER,
                    value => Weight { roots: 0, value },
                }
            } else {
                match top {
                    Top::OneRoot => Weight { roots: 1, value: 0.0 },
                    Top::Root(r) if r == v => Weight { roots: 0, value: 0.0 },
                    Top::Root(_) => Weight::NEVER,
                    Top::Forest => Weight { roots: 0, value: 0.0 },
                }
            };
            // The chosen root takes no arc but the one from the top.
            let weight = if top == Top::Root(v) && u < n { Weight::NEVER } else { weight };
            (weight, (u, v))
        };
        let mut settled = vec![false; n + 1];
        settled[n] = true;
        Self {
            n,
            alive: vec![true; n + 1],
            ways: (0..=n).map(|v| (0..=n).map(|u| arc(u, v)).collect()).collect(),
            chosen: vec![None; n + 1],
            inside: vec![None; n + 1],
            settled,
        }
    }

    fn outermost(&self, mut node: usize) -> usize {
        while let Some(outer) = self.inside[node] {
            node = outer;
        }
        node
    }

    fn grow(&mut self, start: usize) -> Option<()> {
        let mut path = vec![self.outermost(start)];
        while let Some(&node) = path.last() {
            if self.settled[node] {
                break;
            }
            // The extra node comes first, so that of equal weights a root wins over an arc, and then the smaller source.
            let sources = std::iter::once(self.n).chain((0..self.alive.len()).filter(|&u| u != self.n));
            let mut best = (Weight::NEVER, node);
            for u in sources.filter(|&u| u != node && self.alive[u]) {
                if self.ways[node][u].0.better(best.0) {
                    best = (self.ways[node][u].0, u);
                }
            }
            if best.0 == Weight::NEVER {
                return None;
            }
            self.chosen[node] = Some(self.ways[node][best.1]);
            if self.settled[best.1] {
                break;
            }
            match path.iter().position(|&p| p == best.1) {
                Some(tail) => {
                    let cycle = path.split_off(tail);
                    path.push(self.contract(&cycle));
                }
                None => path.push(best.1),
            }
        }
        for node in path {
            self.settled[node] = true;
        }
        Some(())
    }

    fn contract(&mut self, cycle: &[usize]) -> usize {
        let new = self.alive.len();
        for &c in cycle {
            self.alive[c] = false;
            self.inside[c] = Some(new);
        }
        self.alive.push(true);
        self.chosen.push(None);
        self.inside.push(None);
        self.settled.push(false);
        let nothing = (Weight::NEVER, (new, new));
        let mut into = vec![nothing; new + 1];
        for (u, best) in into.iter_mut().enumerate().take(new) {
            let mut out = nothing;
            let members = if self.alive[u] { cycle } else { &[] };
            for &c in members {
                let replaced = self.chosen[c].expect("every node of a cycle chose its way in").0;
                let (weight, ends) = self.ways[c][u];
                let gain = weight.minus(replaced);
                if gain.better(best.0) {
                    *best = (gain, ends);
                }
                if self.ways[u][c].0.better(out.0) {
                    out = self.ways[u][c];
                }
            }
            self.ways[u].push(out);
        }
        self.ways.push(into);
        new
    }

    /// From the last contraction to the first: the arc into a cycle replaces that of the node it enters.
    fn expand(mut self) -> Vec<Option<usize>> {
        for node in (self.n + 1..self.alive.len()).rev() {
            let arc = self.chosen[node];
            if let Some((_, (_, end))) = arc {
                let mut entered = end;
                while self.inside[entered] != Some(node) {
                    entered = self.inside[entered].expect("the arc ends inside the node");
                }
                self.chosen[entered] = arc;
            }
        }
        let source = |v: usize| self.chosen[v].map(|(_, (u, _))| u).filter(|&u| u < self.n);
        (0..self.n).map(source).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The best of all functions from nodes to parents that have no cycle and as many roots as allowed.
    fn literal(n: usize, weights: &[Vec<f64>], top: Top) -> f64 {
        let mut best = f64::NEG_INFINITY;
        for code in 0..(n + 1).pow(n as u32) {
            let parent: Vec<usize> = (0..n).map(|v| code / (n + 1).pow(v as u32) % (n + 1)).collect();
            let roots: Vec<usize> = (0..n).filter(|&v| parent[v] == n).collect();
            let allowed = match top {
                Top::OneRoot => roots.len() == 1,
                Top::Root(r) => roots == [r],
                Top::Forest => !roots.is_empty(),
            };
            let ends =
                |start: usize| (0..=n).try_fold(start, |v, _| if v == n { Err(()) } else { Ok(parent[v]) }).is_err();
            if allowed && (0..n).all(ends) {
                let total = (0..n).filter(|&v| parent[v] < n).map(|v| weights[parent[v]][v]).sum();
                best = f64::max(best, total);
            }
        }
        best
    }

    fn total(parents: &[Option<usize>], weights: &[Vec<f64>]) -> f64 {
        parents.iter().enumerate().filter_map(|(v, p)| p.map(|u| weights[u][v])).sum()
    }

    proptest! {
        #[test]
        fn it_is_the_best_of_all(n in 1..5_usize, numbers in prop::collection::vec(-6..7_i32, 25), which in 0..6_usize) {
            let weights: Vec<Vec<f64>> = (0..n).map(|u| (0..n).map(|v| f64::from(numbers[u * 5 + v])).collect()).collect();
            let top = match which { 0 | 1 => Top::OneRoot, 2 | 3 => Top::Forest, r => Top::Root((r - 4) % n) };
            let parents = maximum_branching(n, |u, v| weights[u][v], top).unwrap();
            prop_assert_eq!(total(&parents, &weights), literal(n, &weights, top), "{:?} {:?}", parents, weights);
            let roots = parents.iter().filter(|p| p.is_none()).count();
            prop_assert!(top == Top::Forest || roots == 1);
        }

        #[test]
        fn forbidden_arcs_are_never_taken(numbers in prop::collection::vec(0..8_i32, 25)) {
            let forbidden = |x: i32| if x < 4 { f64::NEG_INFINITY } else { f64::from(x) };
            let weights: Vec<Vec<f64>> = (0..5).map(|u| (0..5).map(|v| forbidden(numbers[u * 5 + v])).collect()).collect();
            let best = literal(5, &weights, Top::OneRoot);
            let found = maximum_branching(5, |u, v| weights[u][v], Top::OneRoot);
            prop_assert_eq!(found.map_or(f64::NEG_INFINITY, |parents| total(&parents, &weights)), best);
        }
    }

    #[test]
    fn equal_weights_give_the_same_tree_every_time() {
        assert_eq!(maximum_branching(3, |_, _| 1.0, Top::Root(1)).unwrap(), [Some(1), None, Some(0)]);
        assert_eq!(maximum_branching(1, |_, _| 1.0, Top::OneRoot).unwrap(), [None]);
        assert!(maximum_branching(0, |_, _| 1.0, Top::Forest).unwrap().is_empty());
    }
}
