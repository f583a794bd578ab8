//! The ancestors of every variable of a graph that changes arc by arc.

use super::bits::{self, BitMatrix};
use super::graph::Dag;
use crate::table::Var;

/// Every variable's ancestors, kept up to date: whether a change closes a cycle is one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestors(BitMatrix);

impl Ancestors {
    /// Of every variable of a graph.
    pub fn new(dag: &Dag) -> Self {
        let mut out = Self(BitMatrix::new(dag.n_vars()));
        for v in dag.topological_order() {
            out.refresh(dag, v);
        }
        out
    }

    /// The ancestors of a variable, itself not among them.
    #[inline]
    pub fn of(&self, v: Var) -> &[u64] {
        self.0.row(v)
    }

    /// Whether a directed path leads from `from` to a different `to`.
    #[inline]
    pub fn reaches(&self, from: Var, to: Var) -> bool {
        self.0.contains(to, from)
    }

    /// Whether `parent -> child` may be added.
    #[inline]
    pub fn may_add(&self, parent: Var, child: Var) -> bool {
        parent != child && !self.reaches(child, parent)
    }

    /// Whether the arc `parent -> child` may be turned: no other path leads from `parent` to `child`.
    #[inline]
    pub fn may_reverse(&self, dag: &Dag, parent: Var, child: Var) -> bool {
        !bits::intersect(dag.child_bits(parent), self.of(child))
    }

    /// To be called when `parent -> child` has been added.
    #[inline]
    pub fn added(&mut self, parent: Var, child: Var) {
        for v in 0..self.0.n() {
            if v == child || self.reaches(child, v) {
                self.0.union_rows(v, parent);
                self.0.insert(v, parent);
            }
        }
    }

    /// To be called when parents of `child` may have been taken away.
    pub fn removed(&mut self, dag: &Dag, child: Var) {
        let n = self.0.n();
        let affected = bits::set_of(n, (0..n).filter(|&v| v == child || self.reaches(child, v)));
        let mut waiting = affected.clone();
        let mut stack = vec![child];
        // Depth first through the affected parents, so that each row is rebuilt after those it needs.
        for v in bits::ones(&affected) {
            stack.push(v);
            while let Some(&top) = stack.last() {
                if !bits::contains(&waiting, top) {
                    stack.pop();
                } else if let Some(parent) = dag.parents(top).find(|&p| bits::contains(&waiting, p)) {
                    stack.push(parent);
                } else {
                    self.refresh(dag, top);
                    bits::remove(&mut waiting, top);
                }
            }
        }
    }

    fn refresh(&mut self, dag: &Dag, v: Var) {
        self.0.row_mut(v).fill(0);
        for parent in dag.parents(v) {
            self.0.union_rows(v, parent);
            self.0.insert(v, parent);
        }
    }
}
