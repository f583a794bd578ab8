//! Grow-shrink trees (Andrews et al. 2023, "Fast scalable and accurate discovery of DAGs using the best order score
//! search and grow-shrink trees"): the parents of one child within any prefix of an order, without repeated scoring.
//!
//! A node is a parent set; its branches are the variables whose addition improves the score, best first. Within a prefix
//! one follows the first branch whose variable lies in it until there is none, and then takes parents away again as
//! long as that improves. All of it is made when first walked, so a prefix asked for twice costs a few comparisons. Sets
//! reached by different ways are one node.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::families::Scored;
use super::improving::Base;
use crate::error::Result;
use crate::parents::Parents;
use crate::table::Var;

/// Bytes of all trees of a search, about. A tree that outgrows its share starts anew, which changes no result.
const MOST_BYTES: usize = 96 << 20;
/// Bytes of a node with its place in the index and the room that both leave to grow, about: members and branches come on top.
const NODE: usize = 100;

/// A node that was not made yet.
const UNMADE: u32 = u32::MAX;
/// Of a node: its parents were not shrunk yet, or nothing is gained by it.
const UNKNOWN: u32 = u32::MAX;
const ITSELF: u32 = u32::MAX - 1;

/// A parent that improves, and the node it leads to.
#[derive(Clone, Copy, Debug)]
struct Branch {
    parent: u32,
    node: u32,
    score: f64,
}

#[derive(Debug)]
struct Node {
    /// Where its parents are among the tree's members, and how many.
    from: u32,
    len: u32,
    score: f64,
    grown: Option<Box<[Branch]>>,
    /// Which of the tree's smaller families is its own.
    shrunk: u32,
}

/// Parents with their score.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The parents.
    pub parents: Parents,
    /// The child's score with them.
    pub score: f64,
}

/// The grow-shrink tree of one child.
pub struct Tree<'a, 'b> {
    scored: &'a Scored<'b>,
    child: Var,
    optional: Vec<Var>,
    nodes: Vec<Node>,
    /// The parents of all nodes, one node after the other.
    members: Vec<u32>,
    /// Nodes by a hash of their parents, or by the next number where another node has that.
    index: FxHashMap<u64, u32>,
    /// Families that nodes shrink to.
    smaller: Vec<Family>,
    /// Bytes the nodes take, about, and at most.
    held: usize,
    most: usize,
}

impl<'a, 'b> Tree<'a, 'b> {
    /// With the required parents alone.
    ///
    /// # Errors
    /// If these cannot be scored.
    pub fn new(scored: &'a Scored<'b>, child: Var) -> Result<Self> {
        let rule = scored.constraints().child(child);
        let root = Parents::from_slice(&rule.required);
        let (score, _) = super::families::Families::family(scored, child, &root)?;
        let most = MOST_BYTES / scored.constraints().n_vars();
        let optional = rule.optional();
        let (nodes, members, index, smaller) = (vec![], vec![], FxHashMap::default(), vec![]);
        let mut tree = Self { scored, child, optional, nodes, members, index, smaller, held: 0, most };
        tree.node(&root, score);
        Ok(tree)
    }

    /// The child's family with no other than the required parents.
    pub fn root(&self) -> Family {
        Family { parents: self.parents(0), score: self.nodes[0].score }
    }

    /// The family within those variables.
    ///
    /// # Errors
    /// If a family cannot be scored, or the budget is used up.
    pub fn within(&mut self, inside: impl Fn(Var) -> bool) -> Result<Family> {
        self.make_room();
        let node = self.walk(0, inside)?;
        self.shrunk(node)
    }

    /// The families within those variables, without `v` and with it.
    ///
    /// # Errors
    /// As `within`.
    pub fn without_and_with(&mut self, inside: impl Fn(Var) -> bool, v: Var) -> Result<(Family, Family)> {
        self.make_room();
        let mut at = 0;
        loop {
            self.grow(at)?;
            let mut taken = None;
            for i in 0..self.branches(at).len() {
                let parent = self.branches(at)[i].parent as Var;
                if parent == v {
                    let after = self.follow(at, i);
                    let with = self.walk(after, |z| z == v || inside(z))?;
                    let without = self.walk(at, |z| z != v && inside(z))?;
                    return Ok((self.shrunk(without)?, self.shrunk(with)?));
                }
                if inside(parent) {
                    taken = Some(i);
                    break;
                }
            }
            let Some(i) = taken else { break };
            at = self.follow(at, i);
        }
        let family = self.shrunk(at)?;
        Ok((family.clone(), family))
    }

    fn make_room(&mut self) {
        if self.held > self.most {
            let Family { parents, score } = self.root();
            self.nodes.clear();
            self.members.clear();
            self.index.clear();
            self.smaller.clear();
            self.held = 0;
            self.node(&parents, score);
        }
    }

    fn node(&mut self, parents: &Parents, score: f64) -> u32 {
        let mut key = FxBuildHasher.hash_one(parents);
        while let Some(&known) = self.index.get(&key) {
            if self.members(known).iter().map(|&p| p as Var).eq(parents.iter().copied()) {
                return known;
            }
            key = key.wrapping_add(1);
        }
        let made = self.nodes.len() as u32;
        self.index.insert(key, made);
        let (from, len) = (self.members.len() as u32, parents.len() as u32);
        self.members.extend(parents.iter().map(|&p| p as u32));
        self.nodes.push(Node { from, len, score, grown: None, shrunk: UNKNOWN });
        self.held += NODE + 6 * parents.len();
        made
    }

    fn members(&self, node: u32) -> &[u32] {
        let Node { from, len, .. } = self.nodes[node as usize];
        &self.members[from as usize..][..len as usize]
    }

    fn parents(&self, node: u32) -> Parents {
        self.members(node).iter().map(|&p| p as Var).collect()
    }

    fn branches(&self, node: u32) -> &[Branch] {
        self.nodes[node as usize].grown.as_deref().unwrap_or(&[])
    }

    /// The node at the end of a branch.
    fn follow(&mut self, node: u32, branch: usize) -> u32 {
        let Branch { parent, node: to, score } = self.branches(node)[branch];
        if to != UNMADE {
            return to;
        }
        let mut parents = self.parents(node);
        parents.insert(parents.partition_point(|&p| p < parent as Var), parent as Var);
        let made = self.node(&parents, score);
        if let Some(branches) = &mut self.nodes[node as usize].grown {
            branches[branch].node = made;
        }
        made
    }

    fn walk(&mut self, from: u32, inside: impl Fn(Var) -> bool) -> Result<u32> {
        let mut at = from;
        loop {
            self.grow(at)?;
            let Some(i) = self.branches(at).iter().position(|branch| inside(branch.parent as Var)) else {
                return Ok(at);
            };
            at = self.follow(at, i);
        }
    }

    fn grow(&mut self, node: u32) -> Result<()> {
        let Node { score, ref grown, .. } = self.nodes[node as usize];
        if grown.is_some() {
            return Ok(());
        }
        let parents = self.parents(node);
        let mut branches = Vec::new();
        if parents.len() < self.scored.constraints().child(self.child).max_parents {
            let added: Vec<Var> = self.optional.iter().copied().filter(|p| parents.binary_search(p).is_err()).collect();
            let pairs: Vec<(usize, Var)> = added.iter().map(|&p| (0, p)).collect();
            let remember = self.scored.remembers_all();
            let scores = self.scored.improving(self.child, &[Base { parents, score }], &pairs, remember)?;
            for (&p, &grown) in added.iter().zip(&scores) {
                if grown > score {
                    branches.push(Branch { parent: p as u32, node: UNMADE, score: grown });
                }
            }
            branches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.parent.cmp(&b.parent)));
        }
        self.held += branches.len() * size_of::<Branch>();
        self.nodes[node as usize].grown = Some(branches.into());
        Ok(())
    }

    fn shrunk(&mut self, node: u32) -> Result<Family> {
        let Node { score, shrunk, .. } = self.nodes[node as usize];
        if let Some(family) = self.smaller.get(shrunk as usize) {
            return Ok(family.clone());
        }
        let mut best = Family { parents: self.parents(node), score };
        if shrunk == ITSELF {
            return Ok(best);
        }
        let required = &self.scored.constraints().child(self.child).required;
        loop {
            let without = |p: &Var| -> Parents { best.parents.iter().copied().filter(|q| q != p).collect() };
            let optional = best.parents.iter().filter(|p| required.binary_search(p).is_err());
            let sets: Vec<Parents> = optional.map(without).collect();
            let scores = self.scored.scores(self.child, &sets)?;
            let better = scores.into_iter().zip(sets).filter(|(score, _)| *score > best.score);
            // Of equals the first, which lacks the smallest parent.
            let Some((score, parents)) = better.reduce(|a, b| if b.0 > a.0 { b } else { a }) else { break };
            best = Family { parents, score };
        }
        self.nodes[node as usize].shrunk = if best.parents.len() == self.members(node).len() {
            ITSELF
        } else {
            self.smaller.push(best.clone());
            self.held += 2 * size_of::<Family>();
            self.smaller.len() as u32 - 1
        };
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::testing::{self, Population};
    use super::*;
    use crate::constraints::Constraints;
    use crate::control::{Budget, Control};
    use crate::local::LocalScore;
    use arbornet_model::prior::GraphPrior;
    use arbornet_score::classic::likelihood::{Likelihood, Penalty};

    /// The procedure as it is told: the best addition as long as one improves, then the best removal.
    fn literal(score: &dyn LocalScore, child: Var, inside: &[Var]) -> Family {
        let of = |parents: &Parents| Family { parents: parents.clone(), score: score.score(child, parents).unwrap() };
        let best = |sets: Vec<Parents>, than: &Family| {
            let better = sets.iter().map(&of).filter(|family| family.score > than.score);
            better.reduce(|a, b| if b.score > a.score { b } else { a })
        };
        let mut family = of(&Parents::new());
        loop {
            let sets = inside.iter().filter(|p| !family.parents.contains(p)).map(|&p| {
                let mut set = family.parents.clone();
                set.push(p);
                set.sort_unstable();
                set
            });
            let Some(grown) = best(sets.collect(), &family) else { break };
            family = grown;
        }
        loop {
            let sets = family.parents.iter().map(|p| family.parents.iter().copied().filter(|q| q != p).collect());
            let Some(shrunk) = best(sets.collect(), &family) else { return family };
            family = shrunk;
        }
    }

    #[test]
    fn a_tree_gives_what_growing_and_shrinking_within_any_prefix_gives() {
        for seed in 0..testing::rounds(60) {
            let mut rng = testing::rng(seed);
            let n = rng.random_range(1..7);
            let table = testing::odd_levels(n, &mut rng);
            let penalty = [Penalty::Bic, Penalty::Aic, Penalty::None][seed as usize % 3];
            let score = Likelihood { penalty, prior: GraphPrior::Uniform }.prepare(&table).unwrap();
            let (control, none) = (Control::default(), Constraints::none(n));
            let scored = Scored::new(&*score, &none, Budget::new(&control, None));
            let child = rng.random_range(0..n);
            let mut tree = Tree::new(&scored, child).unwrap();
            for _ in 0..12 {
                let inside: Vec<Var> = (0..n).filter(|&v| v != child && rng.random::<f64>() < 0.6).collect();
                let expected = literal(&*score, child, &inside);
                assert_eq!(tree.within(|v| inside.contains(&v)).unwrap(), expected, "seed {seed}, {inside:?}");
                if n > 1 {
                    let v = (child + rng.random_range(1..n)) % n;
                    let (without, with) = tree.without_and_with(|p| inside.contains(&p), v).unwrap();
                    let mut other: Vec<Var> = inside.iter().copied().filter(|&p| p != v).collect();
                    assert_eq!(without, literal(&*score, child, &other), "seed {seed}, {inside:?} without {v}");
                    other.push(v);
                    other.sort_unstable();
                    assert_eq!(with, literal(&*score, child, &other), "seed {seed}, {inside:?} with {v}");
                }
            }
        }
    }

    #[test]
    fn a_tree_that_always_starts_anew_gives_the_same_families_in_less_memory() {
        let mut random = testing::rng(1);
        let score = Population::new(&testing::random_dag(9, 0.6, &mut random), 1e6, &mut random);
        let (constraints, control) = (Constraints::none(9), Control::default());
        let scored = Scored::new(&score, &constraints, Budget::new(&control, None));
        let mut large = Tree::new(&scored, 4).unwrap();
        let mut small = Tree { most: 0, ..Tree::new(&scored, 4).unwrap() };
        let mut most = 0;
        for _ in 0..300 {
            let prefix: Vec<bool> = (0..9).map(|_| random.random_bool(0.7)).collect();
            let v = random.random_range(0..9);
            assert_eq!(large.within(|z| prefix[z]).unwrap(), small.within(|z| prefix[z]).unwrap());
            if v != 4 {
                let both = |tree: &mut Tree<'_, '_>| tree.without_and_with(|z| prefix[z], v).unwrap();
                assert_eq!(both(&mut large), both(&mut small));
            }
            most = most.max(small.nodes.len());
        }
        assert!(2 * most < large.nodes.len(), "{most} of {} nodes", large.nodes.len());
    }

    /// A child that scores what is listed for its parents, and nothing for all other sets.
    struct Listed(std::sync::Arc<crate::table::Table>, Vec<(Vec<Var>, f64)>);

    impl LocalScore for Listed {
        fn table(&self) -> &crate::table::Table {
            &self.0
        }

        fn child(&self, _child: Var) -> Result<Box<dyn crate::local::ChildScore + '_>> {
            Ok(Box::new(Of(self)))
        }

        fn model(&self, _child: Var, _parents: &[Var]) -> Result<crate::model::LocalModel> {
            unreachable!("nothing is fitted")
        }
    }

    struct Of<'a>(&'a Listed);

    impl crate::local::ChildScore for Of<'_> {
        fn score(&mut self, parents: &[Var]) -> Result<f64> {
            Ok(self.0.1.iter().find(|listed| listed.0 == parents).map_or(0.0, |listed| listed.1))
        }
    }

    #[test]
    fn of_parents_whose_loss_gains_alike_the_smallest_goes() {
        let listed = [
            (&[1][..], 1.0),
            (&[1, 2], 2.0),
            (&[1, 2, 3], 3.0),
            (&[1, 2, 3, 4], 4.0),
            (&[2, 3, 4], 9.0),
            (&[1, 3, 4], 9.0),
        ];
        let listed = listed.map(|(set, score)| (set.to_vec(), score)).to_vec();
        let score = Listed(testing::levels(5, 4, &mut testing::rng(1)), listed);
        let (control, none) = (Control::default(), Constraints::none(5));
        let scored = Scored::new(&score, &none, Budget::new(&control, None));
        let family = Tree::new(&scored, 0).unwrap().within(|_| true).unwrap();
        assert_eq!((&family.parents[..], family.score), (&[2, 3, 4][..], 9.0));
    }
}
