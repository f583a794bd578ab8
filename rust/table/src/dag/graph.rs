//! A directed acyclic graph over the variables, parents and children as bit sets.
//!
//! A path is looked for by a search over bit sets (each variable entered once), so a change costs at most
//! O(n^2 / 64) word operations; a search that makes many changes keeps its own
//! [`Ancestors`](super::ancestors::Ancestors), which answer in O(1).

use super::bits::{self, BitMatrix};
use super::pdag::Pdag;
use crate::error::{Error, Result};
use crate::parents::Parents;
use crate::table::Var;

/// A directed acyclic graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dag {
    parents: BitMatrix,
    children: BitMatrix,
}

impl Dag {
    /// Without arcs.
    pub fn new(n_vars: usize) -> Self {
        Self { parents: BitMatrix::new(n_vars), children: BitMatrix::new(n_vars) }
    }

    /// From the parents of each variable.
    ///
    /// # Errors
    /// If a parent is no variable, or the arcs close a cycle; the message walks along one.
    pub fn from_parents<P: AsRef<[Var]>>(families: &[P]) -> Result<Self> {
        let arcs = families.iter().enumerate().flat_map(|(v, p)| p.as_ref().iter().map(move |&p| (p, v)));
        Self::from_arcs(families.len(), arcs)
    }

    /// From arcs (parent, child).
    ///
    /// # Errors
    /// As for `from_parents`.
    pub fn from_arcs(n_vars: usize, arcs: impl IntoIterator<Item = (Var, Var)>) -> Result<Self> {
        let mut dag = Self::new(n_vars);
        for (parent, child) in arcs {
            if parent >= n_vars || child >= n_vars {
                return Err(Error::Shape(format!("arc {parent} -> {child} leaves the {n_vars} variables")));
            }
            dag.set(parent, child);
        }
        if dag.order().is_some() {
            return Ok(dag);
        }
        let walk: Vec<_> = dag.a_cycle().iter().map(ToString::to_string).collect();
        Err(Error::Shape(format!("the arcs close a cycle: {}", walk.join(" -> "))))
    }

    /// Number of variables.
    #[inline]
    pub fn n_vars(&self) -> usize {
        self.parents.n()
    }

    /// Number of arcs.
    pub fn n_arcs(&self) -> usize {
        self.parents.len()
    }

    /// The parents of a variable, ascending.
    #[inline]
    pub fn parents(&self, child: Var) -> impl Iterator<Item = Var> + '_ {
        self.parents.iter(child)
    }

    /// The parents of a variable as a family's key.
    #[inline]
    pub fn family(&self, child: Var) -> Parents {
        self.parents(child).collect()
    }

    /// The children of a variable, ascending.
    #[inline]
    pub fn children(&self, parent: Var) -> impl Iterator<Item = Var> + '_ {
        self.children.iter(parent)
    }

    /// The parents of a variable as a bit set.
    #[inline]
    pub fn parent_bits(&self, child: Var) -> &[u64] {
        self.parents.row(child)
    }

    /// The children of a variable as a bit set.
    #[inline]
    pub fn child_bits(&self, parent: Var) -> &[u64] {
        self.children.row(parent)
    }

    /// Whether there is an arc from `parent` to `child`.
    #[inline]
    pub fn has_arc(&self, parent: Var, child: Var) -> bool {
        self.parents.contains(child, parent)
    }

    /// Whether there is an arc either way.
    #[inline]
    pub fn adjacent(&self, a: Var, b: Var) -> bool {
        self.has_arc(a, b) || self.has_arc(b, a)
    }

    /// All arcs (parent, child), by child, then by parent.
    #[inline]
    pub fn arcs(&self) -> impl Iterator<Item = (Var, Var)> + '_ {
        (0..self.n_vars()).flat_map(|child| self.parents(child).map(move |parent| (parent, child)))
    }

    /// Whether a directed path leads from `from` to `to`; every variable reaches itself.
    pub fn reaches(&self, from: Var, to: Var) -> bool {
        let mut seen = bits::set_of(self.n_vars(), [from]);
        let mut stack = vec![from];
        while let Some(v) = stack.pop() {
            if v == to {
                return true;
            }
            for child in self.children(v) {
                if !bits::contains(&seen, child) {
                    bits::insert(&mut seen, child);
                    stack.push(child);
                }
            }
        }
        false
    }

    /// Adds an arc; `false`, and nothing done, if it would close a cycle.
    pub fn add_arc(&mut self, parent: Var, child: Var) -> bool {
        let legal = !self.reaches(child, parent);
        if legal {
            self.set(parent, child);
        }
        legal
    }

    /// Takes an arc away, if it is there.
    #[inline]
    pub fn remove_arc(&mut self, parent: Var, child: Var) {
        self.parents.remove(child, parent);
        self.children.remove(parent, child);
    }

    /// Gives a variable other parents; `false`, and nothing done, if they would close a cycle.
    pub fn set_parents(&mut self, child: Var, parents: &[Var]) -> bool {
        if parents.iter().any(|&p| self.reaches(child, p)) {
            return false;
        }
        for parent in self.family(child) {
            self.remove_arc(parent, child);
        }
        for &parent in parents {
            self.set(parent, child);
        }
        true
    }

    /// Adds an arc that is known to close no cycle; where that is not known, [`Dag::add_arc`] looks.
    #[inline]
    pub fn set(&mut self, parent: Var, child: Var) {
        self.parents.insert(child, parent);
        self.children.insert(parent, child);
    }

    /// The variables, parents before children; among those free to come, the smallest first.
    #[allow(clippy::missing_panics_doc)] // a Dag is acyclic by construction
    pub fn topological_order(&self) -> Vec<Var> {
        self.order().expect("a Dag is acyclic by construction")
    }

    fn order(&self) -> Option<Vec<Var>> {
        let n = self.n_vars();
        let mut missing: Vec<usize> = (0..n).map(|v| bits::len(self.parents.row(v))).collect();
        let mut free = bits::set_of(n, (0..n).filter(|&v| missing[v] == 0));
        let mut order = Vec::with_capacity(n);
        loop {
            let Some(v) = bits::ones(&free).next() else { break };
            bits::remove(&mut free, v);
            order.push(v);
            for child in self.children(v) {
                missing[child] -= 1;
                if missing[child] == 0 {
                    bits::insert(&mut free, child);
                }
            }
        }
        (order.len() == n).then_some(order)
    }

    /// Walks along parents that have parents for ever, until a variable comes again; called on a cyclic graph only.
    fn a_cycle(&self) -> Vec<Var> {
        let n = self.n_vars();
        let mut in_cycle: Vec<u64> = bits::set_of(n, 0..n);
        let is_root = |left: &[u64], v| bits::contains(left, v) && !bits::intersect(self.parents.row(v), left);
        while let Some(root) = (0..n).find(|&v| is_root(&in_cycle, v)) {
            bits::remove(&mut in_cycle, root);
        }
        let mut walk = vec![bits::ones(&in_cycle).next().expect("a cyclic graph keeps variables with parents")];
        loop {
            let last = walk[walk.len() - 1];
            let parent = self.parents(last).find(|&p| bits::contains(&in_cycle, p)).expect("each has a parent left");
            if let Some(start) = walk.iter().position(|&v| v == parent) {
                let mut cycle = walk.split_off(start);
                cycle.push(parent);
                cycle.reverse();
                return cycle;
            }
            walk.push(parent);
        }
    }

    /// Row v: the variables adjacent to v.
    pub fn skeleton(&self) -> BitMatrix {
        let mut out = self.parents.clone();
        for v in 0..self.n_vars() {
            bits::union_with(out.row_mut(v), self.children.row(v));
        }
        out
    }

    /// The moral graph: the skeleton, and the parents of each variable married.
    pub fn moral(&self) -> BitMatrix {
        let mut out = self.skeleton();
        for v in 0..self.n_vars() {
            for parent in self.parents(v) {
                let row = out.row_mut(parent);
                bits::union_with(row, self.parents.row(v));
                bits::remove(row, parent);
            }
        }
        out
    }

    /// All `a -> c <- b` with a < b not adjacent, as (a, c, b), by c, a, b.
    pub fn v_structures(&self) -> Vec<(Var, Var, Var)> {
        let mut out = Vec::new();
        for c in 0..self.n_vars() {
            let parents = self.family(c);
            for (i, &a) in parents.iter().enumerate() {
                out.extend(parents[i + 1..].iter().filter(|&&b| !self.adjacent(a, b)).map(|&b| (a, c, b)));
            }
        }
        out
    }

    /// Whether `given` blocks every path between x and y (Pearl's d-separation, by the reachability of Koller and
    /// Friedman 2009, algorithm 3.1).
    pub fn d_separated(&self, x: Var, y: Var, given: &[Var]) -> bool {
        let n = self.n_vars();
        let observed = bits::set_of(n, given.iter().copied());
        let mut opening = observed.clone();
        let mut stack = given.to_vec();
        while let Some(v) = stack.pop() {
            for parent in self.parents(v) {
                if !bits::contains(&opening, parent) {
                    bits::insert(&mut opening, parent);
                    stack.push(parent);
                }
            }
        }
        // A trail arrives at v from one of its children (going up) or from one of its parents (going down).
        let mut seen = [vec![0; bits::n_words(n)], vec![0; bits::n_words(n)]];
        let mut trails = vec![(x, true)];
        while let Some((v, up)) = trails.pop() {
            let seen = &mut seen[usize::from(up)];
            if bits::contains(seen, v) {
                continue;
            }
            bits::insert(seen, v);
            let blocked = bits::contains(&observed, v);
            if v == y && !blocked {
                return false;
            }
            if up && !blocked || !up && bits::contains(&opening, v) {
                trails.extend(self.parents(v).map(|p| (p, true)));
            }
            if !blocked {
                trails.extend(self.children(v).map(|c| (c, false)));
            }
        }
        true
    }

    /// The equivalence class: the graph of the arcs all Markov equivalent graphs share, the others without direction.
    pub fn cpdag(&self) -> Pdag {
        Pdag::of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ancestors::Ancestors;
    use super::*;
    use crate::dags::all_dags;

    #[test]
    fn the_number_of_dags_is_robinsons() {
        for (n, expected) in [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29_281)] {
            assert_eq!(all_dags(n).len(), expected);
        }
    }

    #[test]
    fn a_cycle_is_walked_in_the_message() {
        let error = Dag::from_arcs(5, [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]).unwrap_err();
        assert_eq!(error.to_string(), "the arcs close a cycle: 1 -> 2 -> 3 -> 1");
    }

    #[test]
    fn ancestors_kept_up_to_date_are_those_of_the_graph() {
        for dag in all_dags(4) {
            let kept = Ancestors::new(&dag);
            for a in 0..4 {
                for b in (0..4).filter(|&b| b != a) {
                    assert_eq!(kept.reaches(a, b), dag.reaches(a, b));
                    let (mut changed, mut ancestors) = (dag.clone(), kept.clone());
                    if dag.has_arc(a, b) {
                        changed.remove_arc(a, b);
                        ancestors.removed(&changed, b);
                        assert_eq!(kept.may_reverse(&dag, a, b), !changed.reaches(a, b));
                    } else {
                        assert_eq!(kept.may_add(a, b), changed.add_arc(a, b));
                        if changed.has_arc(a, b) {
                            ancestors.added(a, b);
                        }
                    }
                    assert_eq!(ancestors, Ancestors::new(&changed));
                }
            }
        }
    }

    /// d-separation by the moralised ancestral graph (Lauritzen 1990), an independent definition.
    fn separated_in_ancestral_moral_graph(dag: &Dag, x: Var, y: Var, given: &[Var]) -> bool {
        let n = dag.n_vars();
        let targets: Vec<_> = given.iter().copied().chain([x, y]).collect();
        let kept: Vec<bool> = (0..n).map(|v| targets.iter().any(|&t| dag.reaches(v, t))).collect();
        let arcs: Vec<_> = dag.arcs().filter(|&(a, b)| kept[a] && kept[b]).collect();
        let moral = Dag::from_arcs(n, arcs).unwrap().moral();
        let mut seen = vec![x];
        let mut next = 0;
        while next < seen.len() {
            for w in moral.iter(seen[next]) {
                if !given.contains(&w) && !seen.contains(&w) {
                    seen.push(w);
                }
            }
            next += 1;
        }
        !seen.contains(&y)
    }

    #[test]
    fn d_separation_agrees_with_the_moral_ancestral_graph() {
        for dag in all_dags(4) {
            for (x, y) in [(0, 1), (3, 1), (2, 3)] {
                let rest: Vec<_> = (0..4).filter(|v| ![x, y].contains(v)).collect();
                for given in [vec![], vec![rest[0]], vec![rest[1]], rest.clone()] {
                    let expected = separated_in_ancestral_moral_graph(&dag, x, y, &given);
                    assert_eq!(dag.d_separated(x, y, &given), expected, "{dag:?} {x} {y} {given:?}");
                }
            }
        }
    }

    #[test]
    fn the_order_is_topological_and_smallest_first() {
        let dag = Dag::from_arcs(5, [(3, 0), (4, 1), (1, 2)]).unwrap();
        assert_eq!(dag.topological_order(), [3, 0, 4, 1, 2]);
        assert_eq!(dag.v_structures(), []);
        assert_eq!(Dag::from_arcs(3, [(2, 0), (1, 0)]).unwrap().v_structures(), [(1, 0, 2)]);
    }
}
