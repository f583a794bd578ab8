//! The search for the parent sets of one child: rows become points, points become the best tree.

use std::sync::Arc;

use smallvec::SmallVec;

use super::ordered::Ordered;
use super::{Prepared, Way};
use crate::control::Halt;
use crate::error::Result;
use crate::leaf::{COUNT_SUMS, n_sums};
use crate::local::Groups;
use crate::model::tree::{Node, Tree};
use crate::table::{Kind, NumberLeaf, Var};
use crate::tree::fitted;
use crate::tree::key::{Layout, Split};
use crate::tree::lattice;
use crate::tree::lattice::axis::Axis;
use crate::tree::lattice::size::Size;
use crate::tree::memo::Ended;
use crate::tree::normaliser::{Prior, Priors};
use crate::tree::optimal::{Effort, Point, Search};
use crate::tree::response::{
    COUNT_STEPS, InOrder, NUMBER_STEPS, POINT_STEPS, categorical_steps, histogram_steps, line_steps, ordinal_steps,
    ordinal_weight,
};
use crate::tree::trace::Traced;

/// How the best tree of a family is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// All cells from small to large: [`crate::tree::lattice`].
    Lattice,
    /// The cells that are reached, by their keys: [`crate::tree::optimal`].
    Search,
}

impl Prepared {
    /// By which route a family goes, and what that costs in the steps of [`crate::LocalScore::family_steps`].
    ///
    /// It follows from the table and the parameters alone, and never from free memory, threads or a clock: both routes
    /// give the same trees, but their sums differ in the last digits.
    pub fn route(&self, child: Var, parents: &[Var]) -> (Route, u64) {
        let dividing = self.dividing(child, parents);
        let axes = self.axes(&dividing);
        let n_rows = self.table.n_rows();
        let rows = self.row_steps(&dividing);
        let size = Size::of(&axes);
        let lines = self.n_lines(child, parents);
        // Cells are dearer with lines, and bounds discard fewer of them.
        let times = 1 + lines as u64;
        let search = size.search_steps(&axes, n_rows).saturating_mul(times).saturating_add(rows);
        let k = self.table.variable(child).n_levels().unwrap_or(0);
        let (columns, cell) = match &self.table.variable(child).kind {
            Kind::Continuous { .. } if self.leaf_of(child) == Some(NumberLeaf::Counts) => {
                ([0, COUNT_SUMS], COUNT_STEPS)
            }
            Kind::Continuous { .. } if self.histograms[child].is_some() => {
                let k = self.histograms[child].as_ref().map_or(1, |leaf| leaf.n_cells());
                ([k, 0], histogram_steps(k))
            }
            Kind::Continuous { .. } if lines > 0 => ([1, n_sums(lines)], line_steps(lines)),
            Kind::Continuous { .. } => ([1, 2], NUMBER_STEPS),
            Kind::Categorical { .. } => ([k, 0], categorical_steps(k)),
            Kind::Ordinal { .. } => ([k, 0], ordinal_steps(k)),
        };
        let (columns, cell) = match self.point_of(child) {
            Some(_) => ([columns[0], columns[1] + 2], cell + POINT_STEPS),
            None => (columns, cell),
        };
        let weight =
            if matches!(self.table.variable(child).kind, Kind::Ordinal { .. }) { ordinal_weight(k) } else { cell };
        // Weights are numbers, and numbers take more room than counts.
        let columns = if self.table.weights().is_some() { [0, columns[0] + columns[1]] } else { columns };
        let lattice = size.lattice_steps(cell).saturating_add(rows);
        let parameters = &self.parameters;
        // Halves without rows are parts of a lattice like all others; and its cells are known by their occurring levels.
        let empty_forbidden = parameters.published || parameters.skip_empty;
        let possible = !(empty_forbidden && axes.iter().any(|axis| matches!(axis, Axis::Dyadic(_))))
            && (parameters.ess.is_none() || k == 0)
            && !self.leaves_rows_out(child);
        let fits = || lattice::bytes(&axes, columns) <= u128::from(parameters.memory_mb) << 20;
        if possible && size.is_cheaper(&axes, n_rows, weight, times) && fits() {
            (Route::Lattice, lattice)
        } else {
            (Route::Search, search)
        }
    }

    /// How many numbers the family's leaves may follow along a line.
    pub(super) fn n_lines(&self, child: Var, parents: &[Var]) -> usize {
        if !self.has_lines(child) {
            return 0;
        }
        parents.iter().filter(|&&p| self.table.variable(p).is_continuous()).count()
    }

    /// How many combinations of bins and declared levels some predictors have.
    fn n_corners(&self, parents: &[Var]) -> usize {
        let of_one = |&p: &Var| self.table.variable(p).n_levels().unwrap_or(1 << self.parameters.max_splits);
        parents.iter().map(of_one).try_fold(1, usize::checked_mul).unwrap_or(usize::MAX)
    }

    /// Steps of merging rows into points.
    pub(super) fn row_steps(&self, parents: &[Var]) -> u64 {
        let n_rows = self.table.n_rows() as u64;
        let counted = n_rows * (parents.len() as u64 + 2);
        let few = self.n_corners(parents) <= CELLS_PER_ROW * self.table.n_rows();
        2 * if few { counted } else { counted + n_rows * u64::from(n_rows.max(1).ilog2()) }
    }

    /// What occurs of some predictors.
    fn axes(&self, parents: &[Var]) -> SmallVec<[&Axis; 8]> {
        parents.iter().map(|&parent| &self.coded.axes[parent]).collect()
    }
}

/// The search for one child, whatever its kind.
pub trait Family {
    /// Log score of the best tree without Z, and the structure prior.
    ///
    /// # Errors
    /// If the family is too large.
    fn best(&mut self, parents: &[Var]) -> Result<(f64, Prior)>;

    /// The best tree.
    ///
    /// # Errors
    /// As `best`.
    fn tree(&mut self, parents: &[Var]) -> Result<Tree>;

    /// Further parents of the families from now on, by which no tree is split.
    fn beside(&mut self, _parents: &[Var]) {}

    /// Who can stop it.
    fn heed(&mut self, halt: &Halt);

    /// As [`crate::ChildScore::cap`].
    fn cap(&mut self, _steps: u64) {}

    /// As [`crate::ChildScore::steps`].
    fn steps(&self) -> Option<u64> {
        None
    }

    /// As [`crate::ChildScore::in_order`].
    fn in_order(&self) -> Option<&[Groups]> {
        None
    }

    /// What the searches so far did.
    fn effort(&self) -> Effort {
        Effort::default()
    }
}

/// In which order the rows of the predictors are taken.
pub enum Rows {
    /// As the table has them.
    AsTheyStand,
    /// Codes by variable, in the order of the response's values.
    Ordered(Arc<Vec<Vec<u16>>>),
}

impl Rows {
    /// Codes by variable.
    pub fn codes<'a>(&'a self, prepared: &'a Prepared) -> &'a [Vec<u16>] {
        match self {
            Self::AsTheyStand => &prepared.coded.codes,
            Self::Ordered(codes) => codes,
        }
    }
}

/// The search for a child of one kind.
pub struct OfKind<'a, R: InOrder, F> {
    prepared: &'a Prepared,
    child: Var,
    search: Search<R>,
    values: Vec<R::Value>,
    rows: Rows,
    node: F,
    priors: Priors,
    /// Parents by which no tree is split.
    beside: Vec<Var>,
    keys: Vec<(u64, u32)>,
    index: Vec<u32>,
    slots: Vec<u32>,
    /// Steps of merging rows so far.
    row_steps: u64,
    /// How the last family was searched, if not exactly.
    in_order: Option<Vec<Groups>>,
}

/// The score without Z, the prior, and the tree if it is asked for.
type Found<S> = (f64, Prior, Option<Vec<Traced<S>>>);

/// With more combinations of bins and levels than this, rows are sorted instead.
const CELLS_PER_ROW: usize = 32;

impl<'a, R: InOrder, F: Fn(&R::Sum) -> Node> OfKind<'a, R, F> {
    /// `node` fits a leaf to its rows.
    pub fn new(prepared: &'a Prepared, child: Var, response: R, values: Vec<R::Value>, rows: Rows, node: F) -> Self {
        let parameters = &prepared.parameters;
        let search = Search::new(response, parameters.memory_mb << 20, parameters.published || parameters.skip_empty);
        Self {
            prepared,
            child,
            search,
            values,
            rows,
            node,
            priors: Priors::default(),
            beside: Vec::new(),
            keys: Vec::new(),
            index: Vec::new(),
            slots: Vec::new(),
            row_steps: 0,
            in_order: None,
        }
    }

    /// All parents, with those by which no tree is split.
    fn all(&self, parents: &[Var]) -> Vec<Var> {
        let mut all = [parents, &self.beside].concat();
        all.sort_unstable();
        all
    }

    fn found(&mut self, parents: &[Var], with_tree: bool) -> Result<Found<R::Sum>> {
        self.in_order = None;
        match self.prepared.way(self.child, parents)? {
            Way::Exact(layout) => self.found_exactly(parents, &layout, with_tree),
            Way::InOrder(in_order) => self.found_in_order(parents, &in_order),
        }
    }

    fn found_in_order(&mut self, parents: &[Var], in_order: &[bool]) -> Result<Found<R::Sum>> {
        let all = self.all(parents);
        let codes = self.rows.codes(self.prepared);
        let n_rows = self.values.len() as u64;
        self.row_steps += 2 * n_rows * (parents.len() as u64 + 1) * u64::from(n_rows.max(2).ilog2());
        let prior = self.prepared.prior(parents);
        let (prepared, search) = (self.prepared, &mut self.search);
        search.response.read(&all);
        let log_gamma = prior.log_gamma + search.response.choice();
        let search = Ordered::new(prepared, search, parents, in_order, codes, &self.values, log_gamma);
        let found = search.best().map_err(|ended| prepared.ended(self.child, parents, ended))?;
        let (best, trace, groups) = found;
        self.in_order = groups;
        Ok((best, prior, Some(trace)))
    }

    fn found_exactly(&mut self, parents: &[Var], layout: &Layout, with_tree: bool) -> Result<Found<R::Sum>> {
        let all = self.all(parents);
        let codes = self.rows.codes(self.prepared);
        let (route, steps) = self.prepared.route(self.child, &all);
        if route == Route::Lattice && steps > self.search.most_steps {
            return Err(self.prepared.ended(self.child, parents, Ended::Dear(self.search.most_steps)));
        }
        let n_rows = self.values.len();
        let sizes = layout.fields.iter().map(|field| match field.split {
            Split::Halving => 1_usize << field.size,
            _ => field.size as usize,
        });
        let n_cells = self.prepared.n_corners(parents);
        let search = &mut self.search;
        search.points.clear();
        search.response.read(&all);
        self.row_steps += self.prepared.row_steps(parents);
        if n_cells <= CELLS_PER_ROW * n_rows {
            // Few combinations: rows are counted straight into them.
            self.index.clear();
            self.index.resize(n_rows, 0);
            let mut stride = 1;
            for (&parent, size) in parents.iter().zip(sizes) {
                for (index, &code) in self.index.iter_mut().zip(&codes[parent]) {
                    *index += u32::from(code) * stride;
                }
                stride *= size as u32;
            }
            self.slots.clear();
            self.slots.resize(n_cells, 0);
            for (row, (&index, &value)) in self.index.iter().zip(&self.values).enumerate() {
                let slot = &mut self.slots[index as usize];
                if *slot == 0 {
                    let key = layout.fields.iter().zip(parents).map(|(field, &p)| field.row(codes[p][row])).sum();
                    search.points.push(Point { key, sum: search.response.zero() });
                    *slot = search.points.len() as u32;
                }
                search.response.observe(&mut search.points[*slot as usize - 1].sum, value);
            }
            // Where they were first met depends on the order of rows.
            search.points.sort_unstable_by_key(|point| point.key);
        } else {
            merge(&mut self.keys, layout, parents, codes, n_rows);
            for run in self.keys.chunk_by(|one, two| one.0 == two.0) {
                let mut sum = search.response.zero();
                for &(_, row) in run {
                    search.response.observe(&mut sum, self.values[row as usize]);
                }
                search.points.push(Point { key: run[0].0, sum });
            }
        }
        let prior = self.priors.of(layout);
        let log_gamma = prior.log_gamma + search.response.choice();
        let ended = |ended| self.prepared.ended(self.child, parents, ended);
        let best = match route {
            Route::Lattice => search.best_in_lattice(layout, &self.prepared.axes(parents), log_gamma),
            Route::Search => search.best(layout, log_gamma),
        };
        let best = best.map_err(ended)?;
        let trace = with_tree.then(|| search.trace(layout)).transpose().map_err(ended)?;
        Ok((best, prior, trace))
    }
}

/// Rows with their keys, equal keys together, in the order of the rows within them.
pub fn merge(keys: &mut Vec<(u64, u32)>, layout: &Layout, parents: &[Var], codes: &[Vec<u16>], n_rows: usize) {
    keys.clear();
    keys.extend((0..n_rows as u32).map(|row| (0, row)));
    for (field, &parent) in layout.fields.iter().zip(parents) {
        for ((key, _), &code) in keys.iter_mut().zip(&codes[parent]) {
            *key |= field.row(code);
        }
    }
    keys.sort_unstable();
}

impl<R: InOrder, F: Fn(&R::Sum) -> Node> Family for OfKind<'_, R, F> {
    fn best(&mut self, parents: &[Var]) -> Result<(f64, Prior)> {
        let (best, prior, _) = self.found(parents, false)?;
        Ok((best + self.search.response.constant(), prior))
    }

    fn tree(&mut self, parents: &[Var]) -> Result<Tree> {
        let (_, _, trace) = self.found(parents, true)?;
        let trace = trace.expect("it was asked for");
        Ok(fitted::tree(self.child, parents, &self.prepared.coded, &trace, &self.node))
    }

    fn beside(&mut self, parents: &[Var]) {
        self.beside = parents.to_vec();
    }

    fn heed(&mut self, halt: &Halt) {
        self.search.patience.halt = halt.clone();
    }

    fn cap(&mut self, steps: u64) {
        self.search.most_steps = steps;
    }

    fn steps(&self) -> Option<u64> {
        Some(self.search.steps() + self.row_steps)
    }

    fn in_order(&self) -> Option<&[Groups]> {
        self.in_order.as_deref()
    }

    fn effort(&self) -> Effort {
        self.search.effort
    }
}
