//! The joint distribution of several variables given others, numbers in the user's classes.
//!
//! The classes' cuts join the thresholds of the models below, so the pieces of a number are finer than its classes and
//! the answer is as exact as any other.

use super::eliminate::rescale;
use super::infer::{Method, Sampled, Settings, seen_in};
use super::pieces::Known;
use super::plan::{Given, Scope};
use super::weighting::room_for_particles;
use super::{Evidence, Network};
use crate::error::{Error, Result};
use crate::predictive::Value;
use crate::table::Var;

/// A joint distribution of several targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Number of classes of each target.
    pub dims: Vec<usize>,
    /// One number per combination, the last target's class varying fastest; NaN if the evidence is impossible.
    pub probabilities: Vec<f64>,
    /// What was sampled.
    pub sampled: Sampled,
}

/// The class of a value of a target with cuts.
pub(super) fn class(cuts: &[f64], value: Value) -> usize {
    match value {
        Value::Real(x) => cuts.partition_point(|&c| c <= x),
        Value::Code(code) => code as usize,
    }
}

impl Network {
    /// The joint distribution of targets given known values (of one row). A target with levels has
    /// its levels as classes; a continuous one the intervals between the cuts given with it, in stored units.
    ///
    /// # Errors
    /// If a target is known already or named twice, the joint would be too large, or no exact answer was possible
    /// where one was asked for.
    pub fn joint(&self, known: &Evidence<'_>, targets: &[(Var, Vec<f64>)], settings: &Settings) -> Result<Joint> {
        for (i, (target, _)) in targets.iter().enumerate() {
            let name = &*self.variables[*target].name;
            if known.get(*target, 0).is_some() {
                return Err(Error::column(name, "is both a target and given", "leave it out of one of the two"));
            }
            if targets[..i].iter().any(|(t, _)| t == target) {
                return Err(Error::column(name, "is a target twice", "name every target once"));
            }
        }
        let dims: Vec<usize> =
            targets.iter().map(|(t, cuts)| self.variables[*t].n_levels().unwrap_or(cuts.len() + 1)).collect();
        let size: f64 = dims.iter().map(|&d| d as f64).product();
        if size > 1e7 {
            let problem = format!("the joint distribution has {size:.1e} combinations; give fewer targets at once");
            return Err(Error::Shape(problem));
        }
        let mut probabilities = vec![0.0; size as usize];
        let seen: Vec<bool> = (0..self.n_vars()).map(|v| known.get(v, 0).is_some()).collect();
        let is_set = self.mask(known.set());
        let asked: Vec<Var> = targets.iter().map(|(t, _)| *t).collect();
        let all_cuts: Vec<(Var, f64)> = targets.iter().flat_map(|(t, cuts)| cuts.iter().map(|&c| (*t, c))).collect();
        let evidence = Given { seen: &seen, set: &is_set, limits: known.limits() };
        let problem = self.problem(evidence, Scope::About(&asked), &all_cuts);
        let keep: Vec<usize> = asked.iter().filter_map(|&t| problem.position(t)).collect();
        let value = seen_in(known, 0);
        let sampled = match problem.eliminate(&keep, settings.limit()) {
            Ok(elimination) => {
                let weights = problem.solve(self, &elimination, &value, &Known::default());
                let fine: Vec<usize> = keep.iter().map(|&h| problem.states_of(h).len()).collect();
                for (i, p) in weights.into_iter().enumerate() {
                    let (mut rest, mut entry, mut step) = (i, 0, 1);
                    for t in (0..targets.len()).rev() {
                        let state = rest % fine[t];
                        rest /= fine[t];
                        entry += step * class(&targets[t].1, problem.states_of(keep[t]).representative(state));
                        step *= dims[t];
                    }
                    probabilities[entry] += p;
                }
                Sampled::default()
            }
            Err(cost) if settings.method == Method::Exact => return Err(self.not_exact(&problem, cost)),
            Err(_) => {
                room_for_particles(&problem, 0, settings)?;
                let found = self.weighted_joint(&problem, targets, &dims, &value, settings);
                let (of_draws, standard_error) = found.unwrap_or_else(|| (vec![f64::NAN; probabilities.len()], 0.5));
                probabilities = of_draws;
                Sampled { rows: 1, standard_error }
            }
        };
        rescale(&mut probabilities);
        let total: f64 = probabilities.iter().sum();
        for p in &mut probabilities {
            *p /= total;
        }
        Ok(Joint { dims, probabilities, sampled })
    }
}
