//! Constraints as a search over equivalence classes needs them: what they say about one pair of variables, and the
//! classes they narrow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bits::{self, BitMatrix};
use super::graph::Dag;
use super::pdag::Pdag;
use crate::constraints::Constraints;
use crate::table::Var;

/// What constraints say about pairs.
#[derive(Clone, Debug)]
pub struct Knowledge<'a> {
    constraints: &'a Constraints,
    /// Row v: the parents v may have.
    allowed: BitMatrix,
    /// Row v: the parents v must have.
    required: BitMatrix,
    says_something: bool,
}

impl<'a> Knowledge<'a> {
    /// Of constraints.
    pub fn new(constraints: &'a Constraints) -> Self {
        let n = constraints.n_vars();
        let (mut allowed, mut required) = (BitMatrix::new(n), BitMatrix::new(n));
        for v in 0..n {
            for &p in &constraints.child(v).allowed {
                allowed.insert(v, p);
            }
            for &p in &constraints.child(v).required {
                required.insert(v, p);
            }
        }
        let says_something = allowed.len() < n * n.saturating_sub(1) || !required.is_empty();
        Self { constraints, allowed, required, says_something }
    }

    /// Whether it tells any two graphs of one class apart; a limit on the number of parents may still do so if not.
    pub fn says_something(&self) -> bool {
        self.says_something
    }

    /// Number of variables.
    pub fn n_vars(&self) -> usize {
        self.required.n()
    }

    /// The order in which every required arc points forward and that otherwise follows the given one.
    pub fn sorted(&self, order: &[Var]) -> Vec<Var> {
        let mut missing: Vec<usize> = (0..order.len()).map(|v| self.required.iter(v).count()).collect();
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..order.len()).filter(|&i| missing[order[i]] == 0).map(Reverse).collect();
        let mut out = Vec::with_capacity(order.len());
        while let Some(Reverse(i)) = ready.pop() {
            out.push(order[i]);
            for (j, &child) in order.iter().enumerate() {
                if self.requires(order[i], child) {
                    missing[child] -= 1;
                    if missing[child] == 0 {
                        ready.push(Reverse(j));
                    }
                }
            }
        }
        out
    }

    /// The most parents of a variable.
    pub fn max_parents(&self, v: Var) -> usize {
        self.constraints.child(v).max_parents
    }

    /// Whether `a -> b` may be there.
    pub fn allows(&self, a: Var, b: Var) -> bool {
        self.allowed.contains(b, a) && !self.required.contains(a, b)
    }

    /// Whether `a -> b` must be there.
    pub fn requires(&self, a: Var, b: Var) -> bool {
        self.required.contains(b, a)
    }

    /// Whether an edge may be there, whichever way.
    pub fn allows_edge(&self, a: Var, b: Var) -> bool {
        self.allows(a, b) || self.allows(b, a)
    }

    /// The required arcs alone.
    ///
    /// # Panics
    /// Never: constraints whose required arcs form a cycle cannot be made.
    pub fn required_arcs(&self) -> Dag {
        let arcs = (0..self.required.n()).flat_map(|v| self.required.iter(v).map(move |p| (p, v)));
        Dag::from_arcs(self.required.n(), arcs).expect("required arcs form no cycle")
    }

    /// Whether a graph obeys.
    pub fn permits(&self, dag: &Dag) -> bool {
        (0..dag.n_vars()).all(|v| {
            let parents = dag.parent_bits(v);
            bits::len(parents) <= self.max_parents(v)
                && bits::is_subset(parents, self.allowed.row(v))
                && bits::is_subset(self.required.row(v), parents)
        })
    }

    /// Directs the links that may point one way only, and what follows by Meek's rules.
    pub fn direct(&self, class: &mut Pdag) {
        if !self.says_something {
            return;
        }
        let links: Vec<(Var, Var)> = class.links().collect();
        for (a, b) in links {
            match (self.allows(a, b), self.allows(b, a)) {
                (true, false) => class.set_arc(a, b),
                (false, true) => class.set_arc(b, a),
                _ => {}
            }
        }
        class.close();
    }

    /// The arcs shared by all graphs that are equivalent to this one and obey, the other edges as links.
    pub fn class_of(&self, dag: &Dag) -> Pdag {
        let mut class = dag.cpdag();
        self.direct(&mut class);
        class
    }
}
