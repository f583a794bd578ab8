//! `BDeu` leaves: the prior's weight in a leaf is the cell's share of the predictor space times `ess`.
//!
//! Splitting off a part of the space without rows changes a leaf's score here, so the search is the literal one.

use rustc_hash::FxHashMap;

use super::Prepared;
use super::children::level_node;
use super::family::{Family, merge};
use crate::control::Halt;
use crate::error::Result;
use crate::leaf::{Categorical, Ordinal};
use crate::model::tree::{Node, Tree};
use crate::table::{Codes, Kind, Var};
use crate::tree::fitted;
use crate::tree::key::Layout;
use crate::tree::literal::Literal;
use crate::tree::normaliser::{Prior, Priors};
use crate::tree::optimal::Point;
use crate::tree::trace::Traced;

/// The search for one child with levels.
pub struct Shares<'a> {
    prepared: &'a Prepared,
    child: Var,
    values: Vec<usize>,
    ess: f64,
    priors: Priors,
    halt: Halt,
    /// By the bits of the share.
    leaves: FxHashMap<u64, OfShare>,
}

/// A leaf that holds some share of the space.
enum OfShare {
    Categorical(Categorical),
    Ordinal(Ordinal),
}

/// What a search found, and the tree if it was asked for.
type Found = (f64, Prior, Vec<Traced<(Vec<u32>, f64)>>);

impl<'a> Shares<'a> {
    /// For a child with these codes.
    pub fn new(prepared: &'a Prepared, child: Var, codes: &Codes, ess: f64) -> Self {
        let (priors, leaves) = (Priors::default(), FxHashMap::default());
        Self { prepared, child, values: codes.iter().collect(), ess, priors, halt: Halt::default(), leaves }
    }

    fn n_levels(&self) -> usize {
        self.prepared.table.variable(self.child).n_levels().expect("a child with codes has levels")
    }

    fn leaf(&self, share: f64) -> OfShare {
        let (table, parameters) = (&self.prepared.table, &self.prepared.parameters);
        let k = self.n_levels();
        let n = table.n_rows();
        if matches!(table.variable(self.child).kind, Kind::Ordinal { .. }) {
            let kappa = parameters.priors.of(table, self.child).kappa;
            let leaf = Ordinal::new(k, self.ess * share / k as f64, kappa);
            let leaf = if parameters.published { leaf.published() } else { leaf };
            return OfShare::Ordinal(leaf.tabulated(n));
        }
        OfShare::Categorical(Categorical::within(k, self.ess, share).tabulated(n))
    }

    fn found(&mut self, parents: &[Var], with_tree: bool) -> Result<Found> {
        let layout = self.prepared.layout(self.child, parents)?;
        let prior = self.priors.of(&layout);
        let points = self.points(&layout, parents);
        let k = self.n_levels();
        let add = |points: &[Point<Vec<u32>>]| {
            let mut sum = vec![0; k];
            for point in points {
                sum.iter_mut().zip(&point.sum).for_each(|(n, m)| *n += m);
            }
            sum
        };
        let mut known = std::mem::take(&mut self.leaves);
        let score =
            |counts: &Vec<u32>, share: f64| match known.entry(share.to_bits()).or_insert_with(|| self.leaf(share)) {
                OfShare::Categorical(leaf) => leaf.log_marginal_of(counts),
                OfShare::Ordinal(leaf) => leaf.log_marginal_of(counts),
            };
        let parameters = &self.prepared.parameters;
        let bytes = parameters.memory_mb << 20;
        let skip_empty = parameters.published || parameters.skip_empty;
        let search = Literal::new(&layout, prior.log_gamma, skip_empty, points, bytes, score, add);
        let mut search = search.heeding(&self.halt);
        let best = search.best();
        let trace = if with_tree && best.is_ok() { search.trace() } else { Vec::new() };
        drop(search);
        self.leaves = known;
        let best = best.map_err(|ended| self.prepared.ended(self.child, parents, ended))?;
        Ok((best, prior, trace))
    }

    fn points(&self, layout: &Layout, parents: &[Var]) -> Vec<Point<Vec<u32>>> {
        let mut keys = Vec::new();
        merge(&mut keys, layout, parents, &self.prepared.coded.codes, self.values.len());
        let of_run = |run: &[(u64, u32)]| {
            let mut sum = vec![0; self.n_levels()];
            for &(_, row) in run {
                sum[self.values[row as usize]] += 1;
            }
            Point { key: run[0].0, sum }
        };
        keys.chunk_by(|one, two| one.0 == two.0).map(of_run).collect()
    }

    fn node(&self, counts: &[u32], share: f64) -> Node {
        match self.leaf(share) {
            OfShare::Categorical(leaf) => level_node(&leaf, counts),
            OfShare::Ordinal(leaf) => level_node(&leaf, counts),
        }
    }
}

impl Family for Shares<'_> {
    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }

    fn best(&mut self, parents: &[Var]) -> Result<(f64, Prior)> {
        self.found(parents, false).map(|(best, prior, _)| (best, prior))
    }

    fn tree(&mut self, parents: &[Var]) -> Result<Tree> {
        let (_, _, trace) = self.found(parents, true)?;
        let node = |(counts, share): &(Vec<u32>, f64)| self.node(counts, *share);
        Ok(fitted::tree(self.child, parents, &self.prepared.coded, &trace, node))
    }
}
