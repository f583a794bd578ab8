//! Random instances and brute force, for the tests of the searches.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::graph::Dag;
use super::graph::tests::all_dags;
use crate::candidates::{Candidates, ChildCandidates};
use crate::table::{Codes, Column, Kind, Level, Table, Var, Variable};

/// A generator of its own for every test.
pub fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Candidates without score equivalence: the empty set and up to `per_child` random ones; `ties` rounds the scores.
pub fn candidates(n: usize, per_child: usize, ties: bool, rng: &mut Xoshiro256PlusPlus) -> Candidates {
    let children = (0..n).map(|v| {
        let mut sets: Vec<(f64, Vec<u32>)> = vec![];
        for i in 0..=per_child {
            let size = if i == 0 { 0 } else { rng.random_range(1..=4.min(n.max(2) - 1)) };
            let mut set: Vec<u32> = (0..size).map(|_| rng.random_range(0..n) as u32).collect();
            set.sort_unstable();
            set.dedup();
            set.retain(|&p| p as usize != v);
            let score = rng.random_range(-20.0..0.0) + 4.0 * set.len() as f64;
            if sets.iter().all(|(_, s)| *s != set) {
                sets.push((if ties { score.round() } else { score }, set));
            }
        }
        ChildCandidates::from_sets(sets)
    });
    let children = children.collect();
    Candidates::new((0..n).map(|v| v.to_string()).collect(), children).unwrap()
}

/// The score of exactly these parents, if they are a candidate.
pub fn stored(candidates: &Candidates, child: Var, parents: &[Var]) -> Option<f64> {
    candidates.child(child).iter().find(|(s, _)| s.iter().map(|&p| p as Var).eq(parents.iter().copied())).map(|f| f.1)
}

/// The score of a DAG, if every family is a candidate.
pub fn total(candidates: &Candidates, dag: &Dag) -> Option<f64> {
    (0..dag.n_vars()).map(|v| stored(candidates, v, &dag.family(v))).sum()
}

/// Every DAG made of candidates with its score, best first; at most five variables.
pub fn ranked(candidates: &Candidates) -> Vec<(f64, Dag)> {
    let mut all: Vec<_> =
        all_dags(candidates.n_vars()).into_iter().filter_map(|d| Some((total(candidates, &d)?, d))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

/// A table of levels sampled from a random chain of dependences.
pub fn levels(n_vars: usize, n_rows: usize, rng: &mut Xoshiro256PlusPlus) -> Arc<Table> {
    let mut columns: Vec<Vec<u32>> = vec![];
    for v in 0..n_vars {
        let arity = 2 + (v % 3) as u32;
        let column = (0..n_rows).map(|row| {
            let copied = v > 0 && rng.random::<f64>() < 0.6;
            if copied { (columns[v / 2][row] + columns[v - 1][row]) % arity } else { rng.random_range(0..arity) }
        });
        let column = column.collect();
        columns.push(column);
    }
    let variables = (0..n_vars).map(|v| Variable {
        name: format!("x{v}").into(),
        kind: Kind::Categorical { levels: (0..2 + (v % 3) as i64).map(Level::Int).collect() },
    });
    let columns = columns.iter().enumerate().map(|(v, c)| Column::Codes(Codes::pack(c, 2 + v % 3)));
    let (variables, columns) = (variables.collect(), columns.collect());
    Arc::new(Table::new(variables, columns).unwrap())
}
