//! Questions to a network, rows at a time: log densities, probabilities of levels, quantiles of numbers, joints.
//!
//! Rows are taken in blocks of fixed size, so answers do not depend on the number of threads. Within a block they are
//! grouped by which of their values are missing; a group's problem is planned once, and equal evidence answered once.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::density::log_jacobian;
use super::eliminate::Elimination;
use super::mixture::{Mixture, Part};
use super::pieces::Known;
use super::plan::{Given, Problem, Scope};
use super::sample::no_room;
use super::weighting::{room_for_particles, weighted_quantile};
use super::{Evidence, Network};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory::filled;
use crate::predictive::Value;
use crate::table::{Kind, Units, Var};
use arbornet_table::spread::TryMap;

/// Rows a task answers at a time.
const BLOCK: usize = 4096;

/// Which way a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Method {
    /// Exactly where that is affordable, by sampling elsewhere.
    #[default]
    Auto,
    /// Exactly or not at all.
    Exact,
    /// By sampling.
    Sampling,
}

/// How questions are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The way.
    pub method: Method,
    /// Weighted draws per row where sampling is needed.
    pub particles: usize,
    /// Where the draws start.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: Method::Auto, particles: 2000, seed: 0 }
    }
}

impl Settings {
    /// Products an exact answer to one question may take before sampling is preferred.
    pub(super) fn limit(&self) -> f64 {
        match self.method {
            Method::Auto => f64::from(1 << 22),
            Method::Exact => f64::from(1 << 28),
            Method::Sampling => 0.0,
        }
    }
}

/// Which rows were answered by sampling, and how well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Number of rows answered by sampling; the others are exact.
    pub rows: usize,
    /// The largest standard error of a probability among them.
    pub standard_error: f64,
}

impl Sampled {
    fn join(self, other: Self) -> Self {
        let standard_error = self.standard_error.max(other.standard_error);
        Self { rows: self.rows + other.rows, standard_error }
    }
}

/// Probabilities of a target's levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Row after row, one number per level; NaN where the evidence is impossible.
    pub probabilities: Vec<f64>,
    /// What was sampled.
    pub sampled: Sampled,
}

/// Quantiles of a continuous target.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    /// Row after row, one number per probability asked for, in the user's units; NaN where the evidence is impossible.
    pub values: Vec<f64>,
    /// What was sampled.
    pub sampled: Sampled,
}

enum Way {
    Exact(Elimination),
    Grid,
    Sampling,
}

struct Plan {
    problem: Problem,
    way: Way,
    /// All the problem reads are levels, so rows with equal codes have equal answers.
    repeats: bool,
}

impl Plan {
    fn key(&self, rows: &Evidence<'_>, row: usize) -> Option<SmallVec<[u32; 12]>> {
        let code = |&v: &Var| match rows.get(v, row) {
            Some(Value::Code(code)) => code,
            _ => u32::MAX,
        };
        self.repeats.then(|| self.problem.read.iter().map(code).collect())
    }
}

/// What a problem reads in a row.
pub(super) fn seen_in<'a>(rows: &'a Evidence<'_>, row: usize) -> impl Fn(Var) -> Value + 'a {
    move |v| rows.get(v, row).expect("the problem reads what is seen")
}

/// What is asked about which rows.
struct Question<'a> {
    rows: &'a Evidence<'a>,
    scope: Scope<'a>,
}

/// Which of some variables are there, and the rows of a block (counted within it) of which that is so.
pub(super) type Pattern = (Vec<bool>, Vec<usize>);

/// The patterns of a block in the order in which they first occur.
pub(super) fn patterns(rows: &Evidence<'_>, may_miss: &[Var], first: usize, len: usize) -> Vec<Pattern> {
    if may_miss.is_empty() {
        return vec![(Vec::new(), (0..len).collect())];
    }
    let mut places: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
    let mut patterns: Vec<Pattern> = Vec::new();
    for i in 0..len {
        let there: Vec<bool> = may_miss.iter().map(|&v| rows.get(v, first + i).is_some()).collect();
        let place = *places.entry(there).or_insert_with_key(|there| {
            patterns.push((there.clone(), Vec::new()));
            patterns.len() - 1
        });
        patterns[place].1.push(i);
    }
    patterns
}

impl Network {
    /// True for the given variables.
    pub(super) fn mask(&self, vars: &[Var]) -> Vec<bool> {
        let mut mask = vec![false; self.n_vars()];
        for &v in vars {
            mask[v] = true;
        }
        mask
    }

    fn plan(&self, evidence: Given<'_>, scope: Scope<'_>, settings: &Settings) -> Result<Plan> {
        let problem = self.problem(evidence, scope, &[]);
        let keep: Vec<usize> = match scope {
            Scope::Everything => Vec::new(),
            Scope::About(targets) => {
                let target = targets[0];
                let own = problem.factors.iter().find(|f| f.node == target).expect("a target has a factor");
                // A number's distribution needs the leaf it comes from, so its hidden parents are kept beside it.
                if self.variables[target].is_continuous() {
                    own.free.clone()
                } else {
                    problem.position(target).into_iter().collect()
                }
            }
        };
        let way = match problem.eliminate(&keep, settings.limit()) {
            Ok(elimination) => Way::Exact(elimination),
            Err(_) if settings.method == Method::Sampling => Way::Sampling,
            Err(_)
                if !problem.is_finite()
                    && problem.hidden.len() == 1
                    && problem.limits[0].is_none()
                    && matches!(scope, Scope::About(_)) =>
            {
                Way::Grid
            }
            Err(cost) if settings.method == Method::Exact => return Err(self.not_exact(&problem, cost)),
            Err(_) => Way::Sampling,
        };
        if matches!(way, Way::Sampling) {
            let k = match scope {
                Scope::Everything => 0,
                Scope::About(targets) => self.variables[targets[0]].n_levels().unwrap_or(2),
            };
            room_for_particles(&problem, k, settings)?;
        }
        let repeats = problem.read.iter().all(|&v| !self.variables[v].is_continuous());
        Ok(Plan { problem, way, repeats })
    }

    pub(super) fn not_exact(&self, problem: &Problem, cost: f64) -> Error {
        let bends = problem.hidden.iter().zip(&problem.states).find(|(_, s)| s.is_none());
        Error::Shape(match bends {
            Some((&v, _)) => format!(
                "no exact answer: '{}' is hidden and a model below it has no thresholds; use method='sampling'",
                self.variables[v].name
            ),
            None => format!("an exact answer needs {cost:.1e} products; use method='sampling'"),
        })
    }

    /// Runs `answer` for every row, `width` numbers a row. Within a block, rows that miss the same values share a plan
    /// (made, used and dropped, so that memory does not grow with the number of patterns), and equal evidence is
    /// answered once.
    fn each_row(
        &self,
        question: &Question<'_>,
        width: usize,
        settings: &Settings,
        control: &Control,
        answer: impl Fn(&Plan, usize, &mut [f64], &Known) -> Sampled + Sync,
    ) -> Result<(Vec<f64>, Sampled)> {
        let rows = question.rows;
        let set = self.mask(rows.set());
        let may_miss: Vec<Var> = (0..self.n_vars()).filter(|&v| rows.may_miss(v)).collect();
        let seen: Vec<bool> = (0..self.n_vars()).map(|v| rows.has(v)).collect();
        let limits = rows.limits();
        let plan = |seen: &[bool]| self.plan(Given { seen, set: &set, limits }, question.scope, settings);
        let common = if may_miss.is_empty() { Some(plan(&seen)?) } else { None };
        let mut out = filled(f64::NAN, rows.n_rows().saturating_mul(width), no_room)?;
        let block = |(block, out): (usize, &mut [f64])| {
            let first = block * BLOCK;
            let mut sampled = Sampled::default();
            for (pattern, members) in patterns(rows, &may_miss, first, out.len() / width) {
                control.check()?;
                let own = if common.is_none() {
                    let mut seen = seen.clone();
                    may_miss.iter().zip(pattern).for_each(|(&v, there)| seen[v] = there);
                    Some(plan(&seen)?)
                } else {
                    None
                };
                let plan = own.as_ref().or(common.as_ref()).expect("there is a plan for every pattern");
                let mut answered: FxHashMap<SmallVec<[u32; 12]>, (usize, Sampled)> = FxHashMap::default();
                let known = Known::default();
                for i in members {
                    control.check()?;
                    let key = plan.key(rows, first + i);
                    if let Some(&(earlier, how)) = key.as_ref().and_then(|key| answered.get(key)) {
                        out.copy_within(earlier * width..(earlier + 1) * width, i * width);
                        sampled = sampled.join(how);
                        continue;
                    }
                    let how = answer(plan, first + i, &mut out[i * width..(i + 1) * width], &known);
                    sampled = sampled.join(how);
                    if let Some(key) = key {
                        answered.insert(key, (i, how));
                    }
                }
            }
            Ok(sampled)
        };
        let sampled = out.par_chunks_mut(BLOCK * width).enumerate().try_map(block)?;
        Ok((out, sampled.into_iter().fold(Sampled::default(), Sampled::join)))
    }

    /// Probabilities of the levels of a target given everything else a row tells; the target's own column is no
    /// evidence.
    ///
    /// # Errors
    /// If the target is continuous, no exact answer was possible where one was asked for, or interrupted.
    pub fn levels(
        &self,
        evidence: &Evidence<'_>,
        target: Var,
        settings: &Settings,
        control: &Control,
    ) -> Result<Levels> {
        let Some(k) = self.variables[target].n_levels() else {
            let advice = "its quantiles can be predicted";
            return Err(Error::column(&*self.variables[target].name, "is continuous and has no levels", advice));
        };
        let rows = &self.about(evidence, target)?;
        let question = Question { rows, scope: Scope::About(&[target]) };
        let (probabilities, sampled) = self.each_row(&question, k, settings, control, |plan, row, out, known| {
            let seen = seen_in(rows, row);
            if let Way::Exact(elimination) = &plan.way {
                let weights = plan.problem.solve(self, elimination, &seen, known);
                let total: f64 = weights.iter().sum();
                for (slot, weight) in out.iter_mut().zip(weights) {
                    *slot = weight / total;
                }
                return Sampled::default();
            }
            let answer = self.weighted_levels(&plan.problem, target, &seen, settings);
            if let Some((probabilities, standard_error)) = answer {
                out.copy_from_slice(&probabilities);
                return Sampled { rows: 1, standard_error };
            }
            Sampled { rows: 1, standard_error: 0.0 }
        })?;
        Ok(Levels { probabilities, sampled })
    }

    /// Quantiles of a continuous target given everything else a row tells, as for [`Network::levels`].
    ///
    /// # Errors
    /// If the target has levels, no exact answer was possible where one was asked for, or interrupted.
    pub fn quantiles(
        &self,
        evidence: &Evidence<'_>,
        target: Var,
        probabilities: &[f64],
        settings: &Settings,
        control: &Control,
    ) -> Result<Quantiles> {
        let Kind::Continuous { scale } = &self.variables[target].kind else {
            let advice = "the probabilities of its levels can be predicted";
            return Err(Error::column(&*self.variables[target].name, "has levels", advice));
        };
        if let Some(p) = probabilities.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
            return Err(Error::parameter("probability", p, "must lie between 0 and 1"));
        }
        let rows = &self.about(evidence, target)?;
        if probabilities.is_empty() {
            return Err(Error::Shape("no probability was given for a quantile".to_owned()));
        }
        let question = Question { rows, scope: Scope::About(&[target]) };
        let width = probabilities.len();
        let (values, sampled) = self.each_row(&question, width, settings, control, |plan, row, out, known| {
            let seen = seen_in(rows, row);
            if matches!(plan.way, Way::Sampling) {
                let answer = self.weighted_values(&plan.problem, target, &seen, settings);
                let Some((values, standard_error)) = answer else {
                    return Sampled { rows: 1, standard_error: 0.0 };
                };
                for (slot, &p) in out.iter_mut().zip(probabilities) {
                    *slot = scale.to_original(weighted_quantile(&values, p));
                }
                return Sampled { rows: 1, standard_error };
            }
            if let Some(mixture) = self.mixture(plan, target, &seen, known) {
                for (slot, &p) in out.iter_mut().zip(probabilities) {
                    *slot = scale.to_original(mixture.quantile(p));
                }
            }
            Sampled::default()
        })?;
        Ok(Quantiles { values, sampled })
    }

    fn mixture(&self, plan: &Plan, target: Var, seen: &impl Fn(Var) -> Value, known: &Known) -> Option<Mixture> {
        let problem = &plan.problem;
        let Way::Exact(elimination) = &plan.way else { return self.on_grid(problem, target, seen) };
        let weights = problem.solve(self, elimination, seen, known);
        let own = problem.factors.iter().find(|f| f.node == target).expect("a target has a factor");
        let position = problem.position(target).expect("the target is hidden");
        let states = problem.states_of(position);
        let mut parts = Vec::with_capacity(weights.len());
        problem.each_configuration(self, own, seen, |_, predictive| {
            let pieces = known.pieces(position, predictive, states);
            for (s, (&mass, &before)) in pieces.masses.iter().zip(&pieces.before).enumerate() {
                let weight = weights[parts.len()];
                let (low, high) = states.bounds(s);
                parts.push(Part { weight, low, high, predictive: predictive.clone(), mass, before: Some(before) });
            }
        });
        Mixture::new(parts)
    }

    fn about<'a>(&self, evidence: &Evidence<'a>, target: Var) -> Result<Evidence<'a>> {
        if evidence.set().contains(&target) {
            let advice = "query another variable";
            return Err(Error::column(&*self.variables[target].name, "is set by an intervention (do)", advice));
        }
        Ok(evidence.clone().without(target))
    }

    /// Log density of the seen part of every row in the user's units, missing values marginalised.
    ///
    /// # Errors
    /// If no exact answer was possible where one was asked for, or interrupted.
    pub fn log_likelihood(
        &self,
        rows: &Evidence<'_>,
        settings: &Settings,
        control: &Control,
    ) -> Result<(Vec<f64>, Sampled)> {
        let question = Question { rows, scope: Scope::Everything };
        let scales: Vec<&Units> = (0..self.n_vars()).map(|v| self.scale(v)).collect();
        let (mut hidden, sampled) = self.each_row(&question, 1, settings, control, |plan, row, out, known| {
            if plan.problem.hidden.is_empty() {
                out[0] = 0.0;
                return Sampled::default();
            }
            let seen = seen_in(rows, row);
            if let Way::Exact(elimination) = &plan.way {
                let (mut tables, log_scale) = plan.problem.tables(self, &seen, known);
                let rest = elimination.run(&mut tables);
                out[0] = log_scale + rest;
                return Sampled::default();
            }
            let particles = self.particles(&plan.problem, &seen, settings);
            out[0] = particles.log_evidence;
            Sampled { rows: 1, standard_error: 1.0 / particles.effective_size().max(1.0).sqrt() }
        })?;
        hidden.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, out)| {
            control.check()?;
            for (i, slot) in out.iter_mut().enumerate() {
                let row = block * BLOCK + i;
                for (v, scale) in scales.iter().enumerate() {
                    let value = rows.get(v, row);
                    if value.is_some() {
                        *slot += log_jacobian(scale, value) + self.log_density_at(v, rows, row).unwrap_or(0.0);
                    }
                }
            }
            Ok(())
        })?;
        Ok((hidden, sampled))
    }
}
