//! What an order hides: a set may use parents that stand later, as long as no cycle closes; and a graph has many orders.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::ancestors::Ancestors;
use super::super::bits;
use super::super::graph::Dag;
use super::order::Order;
use crate::parents::Parents;

/// Gives variables better sets as long as the graph stays acyclic, and puts the order right. False if there was none.
pub fn improve(at: &mut Order<'_>) -> bool {
    let n = at.order().len();
    let mut dag = graph(at);
    let mut ancestors = Ancestors::new(&dag);
    let mut better = false;
    for v in at.order().to_vec() {
        let v = v as usize;
        let child = at.pool().child(v);
        let free = |&rank: &u32| child.set(rank).iter().all(|&p| !ancestors.reaches(v, p as usize));
        if let Some(rank) = (0..at.ranks()[v]).find(free) {
            let parents: Parents = child.set(rank).iter().map(|&p| p as usize).collect();
            for p in dag.family(v) {
                dag.remove_arc(p, v);
            }
            ancestors.removed(&dag, v);
            for p in parents {
                dag.set(p, v);
                ancestors.added(p, v);
            }
            better = true;
        }
    }
    if better {
        let priority: Vec<u64> = (0..n).map(|v| u64::from(at.place(v))).collect();
        at.set_order(&sorted(&dag, &priority));
    }
    better
}

/// Another order of the same graph, drawn at random; the sets within it are no worse.
pub fn resort(at: &mut Order<'_>, rng: &mut Xoshiro256PlusPlus) {
    let priority: Vec<u64> = (0..at.order().len()).map(|_| rng.random()).collect();
    let order = sorted(&graph(at), &priority);
    at.set_order(&order);
}

fn graph(at: &Order<'_>) -> Dag {
    let mut dag = Dag::new(at.order().len());
    for v in 0..at.order().len() {
        for &p in at.set(v) {
            dag.set(p as usize, v);
        }
    }
    dag
}

/// Topological, by priority among the variables that are free to come.
fn sorted(dag: &Dag, priority: &[u64]) -> Vec<u32> {
    let n = dag.n_vars();
    let mut missing: Vec<usize> = (0..n).map(|v| bits::len(dag.parent_bits(v))).collect();
    let entry = |v: usize| std::cmp::Reverse((priority[v], v));
    let mut free: std::collections::BinaryHeap<_> = (0..n).filter(|&v| missing[v] == 0).map(entry).collect();
    let mut out = Vec::with_capacity(n);
    while let Some(std::cmp::Reverse((_, v))) = free.pop() {
        out.push(v as u32);
        for child in dag.children(v) {
            missing[child] -= 1;
            if missing[child] == 0 {
                free.push(entry(child));
            }
        }
    }
    out
}
