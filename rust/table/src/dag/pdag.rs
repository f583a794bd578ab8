//! Graphs with arcs and links (edges without direction): equivalence classes of DAGs and what lies on the way to them.
//!
//! [`Pdag::of`] follows Chickering (1995, "A transformational characterization of equivalent Bayesian network
//! structures", section 4): the arcs are ordered once, then each is labelled compelled or reversible by its
//! neighbourhood alone. [`Pdag::close`] applies Meek's four rules (1995), which also serve graphs with background
//! knowledge. [`Pdag::extension`] is Dor and Tarsi's (1992) sink elimination.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bits::{self, BitMatrix};
use super::graph::Dag;
use crate::table::Var;

/// A graph whose edges are arcs or links.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pdag {
    /// Row v: the variables with an arc into v.
    parents: BitMatrix,
    /// Row v: the variables with an arc from v.
    children: BitMatrix,
    /// Row v: the variables linked to v.
    links: BitMatrix,
}

impl Pdag {
    /// Without edges.
    pub fn new(n_vars: usize) -> Self {
        Self { parents: BitMatrix::new(n_vars), children: BitMatrix::new(n_vars), links: BitMatrix::new(n_vars) }
    }

    /// All arcs of a DAG as arcs.
    pub fn directed(dag: &Dag) -> Self {
        let mut out = Self::new(dag.n_vars());
        for (a, b) in dag.arcs() {
            out.set_arc(a, b);
        }
        out
    }

    /// The equivalence class of a DAG: compelled arcs and reversible links.
    pub fn of(dag: &Dag) -> Self {
        let n = dag.n_vars();
        let order = dag.topological_order();
        let mut place = vec![0; n];
        for (i, &v) in order.iter().enumerate() {
            place[v] = i;
        }
        let mut out = Self::new(n);
        let mut unknown: Vec<Vec<u64>> = (0..n).map(|v| dag.parent_bits(v).to_vec()).collect();
        // By child from the front of the order, and by parent from the back (Chickering's Order-Edges).
        for &y in &order {
            let mut parents: Vec<Var> = dag.parents(y).collect();
            parents.sort_unstable_by_key(|&p| std::cmp::Reverse(place[p]));
            for x in parents {
                if !bits::contains(&unknown[y], x) {
                    continue;
                }
                let mut all_compelled = false;
                for w in ones(out.parents.row(x)) {
                    if dag.has_arc(w, y) {
                        if bits::contains(&unknown[y], w) {
                            bits::remove(&mut unknown[y], w);
                            out.set_arc(w, y);
                        }
                    } else {
                        all_compelled = true;
                        break;
                    }
                }
                all_compelled |= dag.parents(y).any(|z| z != x && !dag.has_arc(z, x));
                for z in ones(&unknown[y]) {
                    if all_compelled { out.set_arc(z, y) } else { out.set_link(z, y) }
                }
                unknown[y].fill(0);
            }
        }
        out
    }

    /// The skeleton of a DAG with only its v-structures directed.
    pub fn pattern(dag: &Dag) -> Self {
        let mut out = Self::new(dag.n_vars());
        for (a, b) in dag.arcs() {
            out.set_link(a, b);
        }
        for (a, c, b) in dag.v_structures() {
            out.set_arc(a, c);
            out.set_arc(b, c);
        }
        out
    }

    /// Number of variables.
    #[inline]
    pub fn n_vars(&self) -> usize {
        self.parents.n()
    }

    /// The variables with an arc into `v`.
    #[inline]
    pub fn parents(&self, v: Var) -> impl Iterator<Item = Var> + '_ {
        self.parents.iter(v)
    }

    /// The variables with an arc from `v`.
    #[inline]
    pub fn children(&self, v: Var) -> impl Iterator<Item = Var> + '_ {
        self.children.iter(v)
    }

    /// The variables linked to `v`.
    #[inline]
    pub fn neighbours(&self, v: Var) -> impl Iterator<Item = Var> + '_ {
        self.links.iter(v)
    }

    /// `parents` as a bit set.
    #[inline]
    pub fn parent_bits(&self, v: Var) -> &[u64] {
        self.parents.row(v)
    }

    /// `children` as a bit set.
    #[inline]
    pub fn child_bits(&self, v: Var) -> &[u64] {
        self.children.row(v)
    }

    /// `neighbours` as a bit set.
    #[inline]
    pub fn neighbour_bits(&self, v: Var) -> &[u64] {
        self.links.row(v)
    }

    /// All variables that share an edge with `v`, as a bit set.
    pub fn adjacent_bits(&self, v: Var) -> Vec<u64> {
        let mut out = self.links.row(v).to_vec();
        bits::union_with(&mut out, self.parents.row(v));
        bits::union_with(&mut out, self.children.row(v));
        out
    }

    /// Whether there is the arc `a -> b`.
    #[inline]
    pub fn has_arc(&self, a: Var, b: Var) -> bool {
        self.parents.contains(b, a)
    }

    /// Whether there is the link `a - b`.
    #[inline]
    pub fn has_link(&self, a: Var, b: Var) -> bool {
        self.links.contains(a, b)
    }

    /// Whether there is an edge of any kind.
    #[inline]
    pub fn adjacent(&self, a: Var, b: Var) -> bool {
        self.has_link(a, b) || self.has_arc(a, b) || self.has_arc(b, a)
    }

    /// All arcs (parent, child), by child, then by parent.
    pub fn arcs(&self) -> impl Iterator<Item = (Var, Var)> + '_ {
        (0..self.n_vars()).flat_map(|child| self.parents(child).map(move |parent| (parent, child)))
    }

    /// All links (a, b) with a < b, by b, then by a.
    pub fn links(&self) -> impl Iterator<Item = (Var, Var)> + '_ {
        (0..self.n_vars()).flat_map(|b| self.neighbours(b).take_while(move |&a| a < b).map(move |a| (a, b)))
    }

    /// Makes the edge between a and b the arc `a -> b`.
    pub fn set_arc(&mut self, a: Var, b: Var) {
        self.remove(a, b);
        self.parents.insert(b, a);
        self.children.insert(a, b);
    }

    /// Makes the edge between a and b the link `a - b`.
    pub fn set_link(&mut self, a: Var, b: Var) {
        self.remove(a, b);
        self.links.insert(a, b);
        self.links.insert(b, a);
    }

    /// Takes away every edge between a and b.
    pub fn remove(&mut self, a: Var, b: Var) {
        for (x, y) in [(a, b), (b, a)] {
            self.links.remove(x, y);
            self.parents.remove(x, y);
            self.children.remove(x, y);
        }
    }

    /// Directs every link that Meek's rules R1 to R4 direct, until none does.
    pub fn close(&mut self) {
        self.close_where(|_, _, _| true);
    }

    /// As `close`, but the rules rest only on those triples x - a - y (x and y not adjacent) of which it is known that
    /// they are no v-structures.
    pub fn close_where(&mut self, no_collider: impl Fn(Var, Var, Var) -> bool) {
        let mut todo: Vec<(Var, Var)> = self.links().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        loop {
            let before = todo.len();
            todo.retain(|&(a, b)| {
                if !self.has_link(a, b) {
                    return false;
                }
                let directs = self.meek(a, b, &no_collider);
                if directs {
                    self.set_arc(a, b);
                }
                !directs
            });
            if todo.len() == before {
                return;
            }
        }
    }

    /// Whether one of Meek's rules directs the link a - b as a -> b.
    fn meek(&self, a: Var, b: Var, no_collider: impl Fn(Var, Var, Var) -> bool) -> bool {
        let apart = |x: Var, y: Var| !self.adjacent(x, y) && no_collider(x, a, y);
        // R1: c -> a, c not adjacent to b. Otherwise a new v-structure.
        let r1 = || self.parents(a).any(|c| apart(c, b));
        // R2: a -> c -> b. Otherwise a cycle.
        let r2 = || bits::intersect(self.children.row(a), self.parents.row(b));
        let linked_parents: Vec<Var> = self.neighbours(a).filter(|&c| self.has_arc(c, b)).collect();
        // R3: a - c -> b and a - d -> b, c and d not adjacent.
        let r3 = || linked_parents.iter().enumerate().any(|(i, &c)| linked_parents[..i].iter().any(|&d| apart(c, d)));
        // R4: a - d -> c -> b, a adjacent to c, d not adjacent to b.
        let r4 = || {
            self.neighbours(a)
                .any(|d| d != b && apart(d, b) && self.children(d).any(|c| self.has_arc(c, b) && self.adjacent(a, c)))
        };
        r1() || r2() || r3() || r4()
    }

    /// A DAG with this skeleton, these arcs and no further v-structure, if there is one. Sinks are eliminated from the
    /// largest variable down, so the answer is always the same.
    pub fn extension(&self) -> Option<Dag> {
        let n = self.n_vars();
        let mut dag = Dag::new(n);
        for (a, b) in self.arcs() {
            dag.set(a, b);
        }
        let mut left = bits::set_of(n, 0..n);
        let mut adjacent: Vec<Vec<u64>> = (0..n).map(|v| self.adjacent_bits(v)).collect();
        // Whether a variable is a sink changes only when a variable adjacent to it goes.
        let mut to_ask: BinaryHeap<Var> = (0..n).collect();
        while let Some(x) = to_ask.pop() {
            let is_sink = bits::contains(&left, x)
                && !bits::intersect(self.children.row(x), &left)
                && self.neighbours(x).filter(|&y| bits::contains(&left, y)).all(|y| {
                    let mut others = adjacent[x].iter().zip(&adjacent[y]).enumerate();
                    others.all(|(i, (&of_x, &of_y))| {
                        let y_itself = if y / 64 == i { 1 << (y % 64) } else { 0 };
                        of_x & !of_y & !y_itself == 0
                    })
                });
            if !is_sink {
                continue;
            }
            bits::remove(&mut left, x);
            for y in self.neighbours(x).filter(|&y| bits::contains(&left, y)) {
                dag.set(y, x);
            }
            for y in ones(&adjacent[x]) {
                bits::remove(&mut adjacent[y], x);
                to_ask.push(y);
            }
        }
        bits::is_empty(&left).then_some(dag)
    }

    /// Whether the arcs alone form a cycle.
    pub fn is_cyclic(&self) -> bool {
        Dag::from_arcs(self.n_vars(), self.arcs()).is_err()
    }

    /// A DAG with this skeleton and these arcs, and as few further v-structures as a greedy
    /// elimination of sinks makes; none where there is an extension.
    ///
    /// # Panics
    /// If the arcs form a cycle.
    pub fn nearest_dag(&self) -> Dag {
        if let Some(dag) = self.extension() {
            return dag;
        }
        let n = self.n_vars();
        let mut dag = Dag::new(n);
        for (a, b) in self.arcs() {
            dag.set(a, b);
        }
        let mut left = bits::set_of(n, 0..n);
        while !bits::is_empty(&left) {
            // New v-structures at x: pairs of its neighbours with any others that are not adjacent.
            let cost = |x: Var| {
                let around: Vec<Var> =
                    ones(&self.adjacent_bits(x)).into_iter().filter(|&y| bits::contains(&left, y)).collect();
                let linked = around.iter().filter(|&&y| self.has_link(x, y));
                linked.map(|&y| around.iter().filter(|&&z| z != y && !self.adjacent(y, z)).count()).sum::<usize>()
            };
            let free = bits::ones(&left).filter(|&x| !bits::intersect(self.children.row(x), &left));
            let sink = free.min_by_key(|&x| (cost(x), Reverse(x))).expect("arcs without a cycle leave a sink");
            for y in self.neighbours(sink).filter(|&y| bits::contains(&left, y)) {
                dag.set(y, sink);
            }
            bits::remove(&mut left, sink);
        }
        dag
    }

    /// The member of this equivalence class in which the `first` variables, a clique of links, come before all variables
    /// linked to them, in their order. The links must form chordal graphs, as those of a class do.
    pub fn member(&self, first: &[Var]) -> Dag {
        let n = self.n_vars();
        let mut dag = Dag::new(n);
        for (a, b) in self.arcs() {
            dag.set(a, b);
        }
        // Maximum cardinality search: a clique may come first, and the parents it gives always form cliques.
        let mut visited = vec![false; n];
        let mut weight = vec![0_u32; n];
        let mut queue: BinaryHeap<(u32, Reverse<Var>)> = BinaryHeap::new();
        let mut visit = |v: Var, queue: &mut BinaryHeap<(u32, Reverse<Var>)>| {
            if std::mem::replace(&mut visited[v], true) {
                return;
            }
            for w in self.neighbours(v) {
                if visited[w] {
                    dag.set(w, v);
                } else {
                    weight[w] += 1;
                    queue.push((weight[w], Reverse(w)));
                }
            }
        };
        for &v in first {
            visit(v, &mut queue);
        }
        for root in 0..=n {
            while let Some((_, Reverse(v))) = queue.pop() {
                visit(v, &mut queue);
            }
            if root < n {
                visit(root, &mut queue);
            }
        }
        dag
    }

    /// Structural Hamming distance (Tsamardinos, Brown, Aliferis 2006): the number of pairs whose edge is missing, extra
    /// or of another kind or direction.
    pub fn shd(&self, other: &Self) -> usize {
        let mark = |g: &Self, a, b| (g.has_link(a, b), g.has_arc(a, b), g.has_arc(b, a));
        let n = self.n_vars();
        (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).filter(|&(a, b)| mark(self, a, b) != mark(other, a, b)).count()
    }
}

/// The elements, copied out so that the set may change meanwhile.
fn ones(set: &[u64]) -> Vec<Var> {
    bits::ones(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dags::all_dags;
    use std::collections::BTreeMap;

    /// By definition: DAGs with one skeleton and one set of v-structures (Verma and Pearl 1990).
    fn classes(n: usize) -> Vec<Vec<Dag>> {
        let mut classes: BTreeMap<_, Vec<Dag>> = BTreeMap::new();
        for dag in all_dags(n) {
            let skeleton: Vec<Vec<Var>> = (0..n).map(|v| dag.skeleton().iter(v).collect()).collect();
            classes.entry((skeleton, dag.v_structures())).or_default().push(dag);
        }
        classes.into_values().collect()
    }

    #[test]
    fn the_cpdag_holds_the_arcs_all_members_of_the_class_share() {
        for (n, n_classes) in [(2, 2), (3, 11), (4, 185), (5, 8_782)] {
            let classes = classes(n);
            assert_eq!(classes.len(), n_classes);
            for class in classes {
                let mut expected = Pdag::new(n);
                for (a, b) in class[0].arcs() {
                    match class.iter().filter(|dag| dag.has_arc(a, b)).count() {
                        count if count == class.len() => expected.set_arc(a, b),
                        _ => expected.set_link(a, b),
                    }
                }
                assert!(class.iter().all(|dag| dag.cpdag() == expected));
            }
        }
    }

    #[test]
    fn v_structures_closed_by_meeks_rules_are_chickerings_cpdag() {
        for dag in all_dags(5) {
            let mut pattern = Pdag::pattern(&dag);
            pattern.close();
            assert_eq!(pattern, dag.cpdag());
        }
    }

    #[test]
    fn an_extension_is_a_member_of_the_class() {
        for dag in all_dags(5) {
            let extension = dag.cpdag().extension().expect("a class has members");
            assert_eq!(extension.cpdag(), dag.cpdag());
            assert_eq!(Pdag::pattern(&dag).extension().map(|e| e.cpdag()), Some(dag.cpdag()));
        }
    }

    #[test]
    fn meeks_rules_find_what_all_extensions_of_background_knowledge_share() {
        // Of a class, direct one more link, and compare with the members that have that arc.
        for class in classes(4) {
            let cpdag = class[0].cpdag();
            for (a, b) in cpdag.links().flat_map(|(a, b)| [(a, b), (b, a)]) {
                let members: Vec<_> = class.iter().filter(|dag| dag.has_arc(a, b)).collect();
                let mut closed = cpdag.clone();
                closed.set_arc(a, b);
                closed.close();
                for (x, y) in members[0].arcs() {
                    let shared = members.iter().all(|dag| dag.has_arc(x, y));
                    assert_eq!(closed.has_arc(x, y), shared, "{closed:?}");
                }
            }
        }
    }

    #[test]
    fn a_link_cycle_without_chord_has_no_extension() {
        let mut square = Pdag::new(4);
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
            square.set_link(a, b);
        }
        assert_eq!(square.extension(), None);
        square.set_link(0, 2);
        assert!(square.extension().is_some());
    }

    #[test]
    fn the_hamming_distance_counts_pairs_once() {
        let dag = |arcs: &[(Var, Var)]| Pdag::directed(&Dag::from_arcs(4, arcs.iter().copied()).unwrap());
        let (a, b) = (dag(&[(0, 1), (1, 2), (2, 3)]), dag(&[(1, 0), (1, 2), (0, 3)]));
        assert_eq!(a.shd(&b), 3);
        assert_eq!(a.shd(&a), 0);
        let class = Dag::from_arcs(4, [(0, 1), (1, 2), (2, 3)]).unwrap().cpdag();
        assert_eq!(class.shd(&a), 3);
    }
}
