//! Random instances and brute force, for the tests of the searches.

use std::sync::{Arc, OnceLock};

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::graph::Dag;
use crate::candidates::{Candidates, ChildCandidates};
use crate::cases::factor;
use crate::constraints::{Constraints, ParentRule};
use crate::dags::all_dags;
use crate::error::Result;
use crate::local::{ChildScore, LocalScore};
use crate::model::LocalModel;
use crate::table::{Codes, Column, Kind, Level, Table, Units, Var, Variable};

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

/// Every DAG over so many variables, at most five.
pub fn every_dag(n: usize) -> &'static [Dag] {
    static KNOWN: [OnceLock<Vec<Dag>>; 6] = [const { OnceLock::new() }; 6];
    KNOWN[n].get_or_init(|| all_dags(n))
}

/// Every DAG made of candidates with its score, best first; at most five variables.
pub fn ranked(candidates: &Candidates) -> Vec<(f64, &'static Dag)> {
    let scored = |dag: &'static Dag| Some((total(candidates, dag)?, dag));
    let mut all: Vec<_> = every_dag(candidates.n_vars()).iter().filter_map(scored).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

/// So many rounds of a test, or as many times as many as a campaign asks for.
pub fn rounds(by_default: u64) -> u64 {
    by_default * u64::from(factor())
}

/// A table of levels as in `levels`, in which now and then a column is constant, another's twin, lacks levels, or there
/// is but one row.
pub fn odd_levels(n_vars: usize, rng: &mut Xoshiro256PlusPlus) -> Arc<Table> {
    let n_rows = if rng.random::<f64>() < 0.05 { 1 } else { rng.random_range(2..120) };
    let plain = levels(n_vars, n_rows, rng);
    let mut columns: Vec<Vec<u32>> =
        (0..n_vars).map(|v| plain.codes(v, "").unwrap().iter().map(|c| c as u32).collect()).collect();
    for v in 0..n_vars {
        let arity = 2 + (v % 3) as u32;
        let twin = columns[rng.random_range(0..n_vars)].clone();
        match rng.random_range(0..8) {
            0 => columns[v].fill(arity - 1),
            1 => columns[v] = twin.into_iter().map(|c| c.min(arity - 1)).collect(),
            2 => columns[v].iter_mut().for_each(|c| *c = (*c).min(arity - 2)),
            3 => columns[v] = twin.into_iter().map(|c| arity - 1 - c.min(arity - 1)).collect(),
            _ => {}
        }
    }
    let columns = columns.iter().enumerate().map(|(v, c)| Column::Codes(Codes::pack(c, 2 + v % 3)));
    Arc::new(Table::new(plain.variables().to_vec(), columns.collect()).unwrap())
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

/// A table of numbers and levels, as often a number as `numbers` says, of which most depend on one or two before them;
/// numbers also by a slope of their own for every level.
pub fn mixed(n_vars: usize, n_rows: usize, numbers: f64, rng: &mut Xoshiro256PlusPlus) -> Arc<Table> {
    let mut reals: Vec<Vec<f64>> = vec![];
    let (mut variables, mut columns) = (vec![], vec![]);
    for v in 0..n_vars {
        let parents: Vec<usize> = (0..rng.random_range(0..3).min(v)).map(|_| rng.random_range(0..v)).collect();
        let mut noise = || (0..6).map(|_| rng.random_range(-1.0..1.0)).sum::<f64>();
        let slope = noise();
        let mut values: Vec<f64> =
            (0..n_rows).map(|row| noise() + parents.iter().map(|&p| slope * reals[p][row]).product::<f64>()).collect();
        let name = format!("x{v}").into();
        if rng.random::<f64>() < numbers {
            variables.push(Variable { name, kind: Kind::Continuous { scale: Units::IDENTITY } });
            columns.push(Column::Reals(values.clone()));
        } else {
            let k = rng.random_range(2..7);
            let codes: Vec<u32> =
                values.iter().map(|x| (x + k as f64 / 2.0).clamp(0.0, k as f64 - 1.0) as u32).collect();
            values = codes.iter().map(|&code| f64::from(code) - k as f64 / 2.0).collect();
            let levels = (0..k as i64).map(Level::Int).collect();
            variables.push(Variable { name, kind: Kind::Categorical { levels } });
            columns.push(Column::Codes(Codes::pack(&codes, k)));
        }
        reals.push(values);
    }
    Arc::new(Table::new(variables, columns).unwrap())
}

/// The BIC that infinitely many rows of a linear Gaussian network would tend to, at so many rows: its best class is
/// that of the network, and it is locally consistent (Chickering 2002), so greedy equivalence search must find it.
pub struct Population {
    table: Arc<Table>,
    covariance: Vec<Vec<f64>>,
    n_rows: f64,
}

impl Population {
    /// Of a network with random coefficients away from zero.
    pub fn new(dag: &Dag, n_rows: f64, rng: &mut Xoshiro256PlusPlus) -> Self {
        let n = dag.n_vars();
        // Row v: v as a sum of independent noises.
        let mut loads = vec![vec![0.0; n]; n];
        for v in dag.topological_order() {
            loads[v][v] = rng.random_range(0.8..1.2);
            for p in dag.family(v) {
                let sign = if rng.random() { 1.0 } else { -1.0 };
                let coefficient = sign * rng.random_range(0.5..1.5);
                let of_p = loads[p].clone();
                loads[v].iter_mut().zip(of_p).for_each(|(own, of_p)| *own += coefficient * of_p);
            }
        }
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum();
        let covariance = loads.iter().map(|a| loads.iter().map(|b| product(a, b)).collect()).collect();
        Self { table: levels(n, 4, rng), covariance, n_rows }
    }

    /// ln of the determinant of a covariance, by Cholesky's decomposition.
    fn ln_determinant(&self, vars: &[Var]) -> f64 {
        let mut l = vec![vec![0.0; vars.len()]; vars.len()];
        let mut out = 0.0;
        for i in 0..vars.len() {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                let rest = self.covariance[vars[i]][vars[j]] - sum;
                l[i][j] = if i == j { f64::sqrt(rest) } else { rest / l[j][j] };
            }
            out += 2.0 * f64::ln(l[i][i]);
        }
        out
    }
}

impl LocalScore for Population {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(OfChild(self, child)))
    }

    fn model(&self, _: Var, _: &[Var]) -> Result<LocalModel> {
        unimplemented!("no search asks for models")
    }
}

struct OfChild<'a>(&'a Population, Var);

impl ChildScore for OfChild<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let family: Vec<Var> = parents.iter().copied().chain([self.1]).collect();
        let ln_variance = self.0.ln_determinant(&family) - self.0.ln_determinant(parents);
        Ok(-0.5 * self.0.n_rows * ln_variance - 0.5 * parents.len() as f64 * self.0.n_rows.ln())
    }
}

/// A random graph: every pair with this probability, along a random order.
pub fn random_dag(n: usize, density: f64, rng: &mut Xoshiro256PlusPlus) -> Dag {
    let mut order: Vec<Var> = (0..n).collect();
    order.shuffle(rng);
    let pairs: Vec<(Var, Var)> = (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let chosen: Vec<_> = pairs.into_iter().filter(|_| rng.random::<f64>() < density).collect();
    Dag::from_arcs(n, chosen.into_iter().map(|(a, b)| (order[a], order[b]))).unwrap()
}

/// Random constraints that a random graph obeys: some of its arcs required, some arcs and the limit forbidden.
pub fn constraints(dag: &Dag, rng: &mut Xoshiro256PlusPlus) -> Constraints {
    let n = dag.n_vars();
    let rules = (0..n).map(|v| {
        let required: Vec<Var> = dag.parents(v).filter(|_| rng.random::<f64>() < 0.3).collect();
        let allowed = (0..n).filter(|&p| p != v && (dag.has_arc(p, v) || rng.random::<f64>() < 0.6)).collect();
        ParentRule { required, allowed, max_parents: dag.family(v).len().max(2) }
    });
    Constraints::new(rules.collect()).unwrap()
}
