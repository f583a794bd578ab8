//! Draws from a network, with some variables given and some set by an intervention.
//!
//! Without hidden ancestors of what is given, values are drawn parents first. Otherwise the hidden ancestors are drawn
//! jointly and exactly: their problem is eliminated once, and every draw walks the elimination backwards (a state per
//! variable, then the number within its piece). If that is not affordable they are resampled from weighted draws,
//! which is approximate. Every block of rows has its own generator, so draws do not depend on the number of threads.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use smallvec::SmallVec;

use super::eliminate::Elimination;
use super::infer::{Method, Sampled, Settings, seen_in};
use super::mixture::quantile_within;
use super::pieces::Known;
use super::plan::{Given, Problem, Scope};
use super::ranges::{both, drawn_within};
use super::weighting::room_for_particles;
use super::{Evidence, Network};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::frame::{Cells, Rows};
use crate::memory::reserved;
use crate::predictive::Value;
use crate::table::Var;
use arbornet_table::spread::TryMap;

/// Rows drawn from one generator.
const BLOCK: usize = 1024;

/// Blocks drawn before they are put together.
const BATCH: usize = 256;

/// Weighted draws from which a block of rows is resampled.
fn enough_for(len: usize, settings: &Settings) -> Settings {
    Settings { particles: settings.particles.max(8 * len), ..*settings }
}

/// The error for rows whose answers find no room.
pub(super) fn no_room(bytes: u64) -> Error {
    let advice = "give fewer rows at once".to_owned();
    Error::Allocation { what: "the answers for all rows".to_owned(), bytes, advice }
}

/// Where the hidden ancestors of what is given come from.
enum Source {
    /// There are none.
    Free,
    /// Walking an elimination backwards over its tables.
    Exact(Elimination, Vec<Vec<f64>>),
    /// Resampling weighted draws.
    Weighted,
}

impl Network {
    /// Draws rows given known values (one row of them), in stored units.
    ///
    /// # Errors
    /// If what is given is impossible, no exact way was affordable where one was asked for, or interrupted.
    pub fn sample(
        &self,
        n_rows: usize,
        known: &Evidence<'_>,
        settings: &Settings,
        control: &Control,
    ) -> Result<(Rows, Sampled)> {
        let everywhere = vec![(f64::NEG_INFINITY, f64::INFINITY); self.n_vars()];
        self.sample_within(n_rows, known, &everywhere, settings, control)
    }

    /// The same with every number that is neither given nor limited to an interval beyond its range drawn within it.
    ///
    /// # Errors
    /// As for [`Network::sample`], or if the ranges do not fit.
    pub fn sample_within(
        &self,
        n_rows: usize,
        known: &Evidence<'_>,
        ranges: &[(f64, f64)],
        settings: &Settings,
        control: &Control,
    ) -> Result<(Rows, Sampled)> {
        self.check_ranges(ranges)?;
        let seen: Vec<bool> = (0..self.n_vars()).map(|v| known.get(v, 0).is_some()).collect();
        let is_set = self.mask(known.set());
        let value = seen_in(known, 0);
        let evidence = Given { seen: &seen, set: &is_set, limits: known.limits() };
        let problem = self.problem(evidence, Scope::Everything, &[]);
        let source = if problem.hidden.is_empty() {
            Source::Free
        } else {
            match problem.eliminate(&[], settings.limit()) {
                Ok(elimination) => {
                    let (mut tables, _) = problem.tables(self, &value, &Known::default());
                    if elimination.run(&mut tables) == f64::NEG_INFINITY {
                        return Err(Error::Shape("the evidence has probability zero".to_owned()));
                    }
                    Source::Exact(elimination, tables)
                }
                Err(cost) if settings.method == Method::Exact => return Err(self.not_exact(&problem, cost)),
                Err(_) => Source::Weighted,
            }
        };
        if matches!(source, Source::Weighted) {
            room_for_particles(&problem, 0, &enough_for(BLOCK, settings))?;
        }
        let rows = if matches!(source, Source::Weighted) { n_rows } else { 0 };
        let mut columns = self.empty_columns(n_rows)?;
        let mut standard_error: f64 = 0.0;
        let n_blocks = n_rows.div_ceil(BLOCK);
        // Batch after batch, so that hardly more than the rows themselves is held.
        for first in (0..n_blocks).step_by(BATCH) {
            let blocks = (first..n_blocks.min(first + BATCH)).into_par_iter().try_map(|block| {
                control.check()?;
                let len = BLOCK.min(n_rows - block * BLOCK);
                self.block((block, len), known, &problem, &source, ranges, settings)
            })?;
            for (block, error) in blocks {
                standard_error = standard_error.max(error);
                for (all, part) in columns.iter_mut().zip(block) {
                    match (all, part) {
                        (Cells::Codes(all), Cells::Codes(part)) => all.extend(part),
                        (Cells::Reals(all), Cells::Reals(part)) => all.extend(part),
                        _ => unreachable!("both have the variable's kind"),
                    }
                }
            }
        }
        let drawn = Rows::new(n_rows, columns);
        drawn.check(self.variables())?;
        Ok((drawn, Sampled { rows, standard_error }))
    }

    /// Columns with room for so many rows.
    fn empty_columns(&self, n_rows: usize) -> Result<Vec<Cells>> {
        let is_number = |v: Var| self.variables()[v].is_continuous();
        let of_row: u64 = (0..self.n_vars()).map(|v| if is_number(v) { 8 } else { 4 }).sum();
        let refused = |_| Error::Allocation {
            what: format!("drawing {n_rows} rows"),
            bytes: (n_rows as u64).saturating_mul(of_row),
            advice: "draw them in parts, each with its own seed".to_owned(),
        };
        let empty = |v: Var| {
            Ok(if is_number(v) {
                Cells::Reals(reserved(n_rows, refused)?)
            } else {
                Cells::Codes(reserved(n_rows, refused)?)
            })
        };
        (0..self.n_vars()).map(empty).collect()
    }

    fn block(
        &self,
        (block, len): (usize, usize),
        known: &Evidence<'_>,
        problem: &Problem,
        source: &Source,
        ranges: &[(f64, f64)],
        settings: &Settings,
    ) -> Result<(Vec<Cells>, f64)> {
        // Blocks far apart in seed space: an odd constant (2^64 over the golden ratio) times the block's number.
        let seed = settings.seed.wrapping_add((block as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let value = seen_in(known, 0);
        let particles = matches!(source, Source::Weighted).then(|| {
            self.particles_within(problem, &value, Some(ranges), &Settings { seed, ..enough_for(len, settings) })
        });
        if let Some(particles) = &particles
            && particles.log_evidence == f64::NEG_INFINITY
        {
            let problem = "no weighted draw agrees with what is given; give less, or raise particles";
            return Err(Error::Shape(problem.to_owned()));
        }
        let total: f64 = particles.as_ref().map_or(0.0, |p| p.weights.iter().sum());
        let (mut next, mut passed, offset) = (0, 0.0, rng.random::<f64>());
        let mut columns = self.empty_columns(len)?;
        let mut row: Vec<Option<Value>> = vec![None; self.n_vars()];
        for i in 0..len {
            for (v, slot) in row.iter_mut().enumerate() {
                *slot = known.get(v, 0);
            }
            match (source, &particles) {
                (Source::Exact(elimination, tables), _) => {
                    self.walk_back(problem, elimination, tables, &mut row, ranges, &mut rng);
                }
                (_, Some(particles)) => {
                    // Systematic resampling: one particle per equal share of the weight.
                    let wanted = (i as f64 + offset) / len as f64 * total;
                    while next + 1 < particles.weights.len() && passed + particles.weights[next] < wanted {
                        passed += particles.weights[next];
                        next += 1;
                    }
                    for (&v, &x) in problem.hidden.iter().zip(particles.of(next)) {
                        row[v] = Some(x);
                    }
                }
                _ => {}
            }
            for &v in self.order() {
                if row[v].is_none() {
                    let predictive = self.model(v).predictive(&self.parents_in(v, &row));
                    row[v] = Some(drawn_within(&predictive, ranges[v], &mut rng));
                }
            }
            for (column, value) in columns.iter_mut().zip(&row) {
                match (column, value) {
                    (Cells::Codes(codes), Some(Value::Code(code))) => codes.push(*code),
                    (Cells::Reals(reals), Some(Value::Real(x))) => reals.push(*x),
                    _ => unreachable!("models draw values of their variable's kind"),
                }
            }
        }
        Ok((columns, particles.map_or(0.0, |p| 0.5 / p.effective_size().sqrt())))
    }

    pub(super) fn parents_in(&self, var: Var, row: &[Option<Value>]) -> SmallVec<[Value; 8]> {
        self.parents(var).iter().map(|&p| row[p].expect("parents are drawn first")).collect()
    }

    /// Draws the hidden variables of an eliminated problem, numbers within their pieces and these ranges; those with a step
    /// as values in their pieces.
    pub(super) fn walk_back(
        &self,
        problem: &Problem,
        elimination: &Elimination,
        tables: &[Vec<f64>],
        row: &mut [Option<Value>],
        ranges: &[(f64, f64)],
        rng: &mut Xoshiro256PlusPlus,
    ) {
        let mut states = vec![0; problem.hidden.len()];
        let mut weights = Vec::new();
        for step in elimination.steps.iter().rev() {
            let Some(var) = step.var else { continue };
            step.conditional(tables, &states, &mut weights);
            let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
            let last = weights.iter().rposition(|w| *w > 0.0).unwrap_or(0);
            states[var] = weights[..last]
                .iter()
                .position(|w| {
                    left -= w;
                    left < 0.0
                })
                .unwrap_or(last);
        }
        for (h, &v) in problem.hidden.iter().enumerate() {
            row[v] = Some(problem.states_of(h).representative(states[h]));
        }
        // The number within its piece; which number it is matters to no model below, only the piece does.
        for &v in self.order() {
            if let Some(h) = problem.position(v)
                && self.variables()[v].is_continuous()
            {
                let (piece, own) = (states[h], problem.states_of(h));
                let (low, high) = own.bounds(piece);
                let model = self.model(v);
                let predictive = model.predictive(&self.parents_in(v, row));
                let (low, high) = both((low, high), ranges[v]);
                let x = quantile_within(&predictive, low, high, rng.random::<f64>());
                row[v] = Some(Value::Real(own.nearest(piece, x)));
            }
        }
    }
}
