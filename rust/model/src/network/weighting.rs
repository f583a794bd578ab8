//! Likelihood weighting (Fung and Chang 1990; Shachter and Peot 1990) for questions that exact methods leave open.
//!
//! Hidden variables are drawn parents first from their predictive distributions, and each particle weighs the density
//! of the seen values below. The target's own probabilities are averaged rather than its draws counted (each
//! particle gives the target's distribution given all other values), which never raises the variance. Every row starts
//! from the same seed: its answer depends neither on its neighbours nor on threads.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use smallvec::SmallVec;

use super::infer::Settings;
use super::mixture::{mass, quantile_within};
use super::plan::{Factor, Problem};
use super::ranges::{both, drawn_within};
use super::{Network, Within};
use crate::error::{Error, Result};
use crate::memory::affordable;
use crate::predictive::{Predictive, Value};
use crate::table::Var;

/// Weighted draws of the hidden variables of one problem.
pub(super) struct Particles {
    /// One value per hidden variable, particle after particle.
    values: Vec<Value>,
    n_hidden: usize,
    /// Not normalised; the largest is one.
    pub weights: Vec<f64>,
    /// Logarithm of the mean weight before that: an estimate of the log density of the evidence in the problem.
    pub log_evidence: f64,
}

impl Particles {
    pub fn of(&self, particle: usize) -> &[Value] {
        &self.values[particle * self.n_hidden..(particle + 1) * self.n_hidden]
    }

    /// How many unweighted draws the weighted ones are worth.
    pub fn effective_size(&self) -> f64 {
        let sum: f64 = self.weights.iter().sum();
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        if squares > 0.0 { sum * sum / squares } else { 0.0 }
    }
}

/// Whether so many weighted draws, and for each a number per level of a target, would find room.
pub(super) fn room_for_particles(problem: &Problem, k: usize, settings: &Settings) -> Result<()> {
    let each = problem.hidden.len() * size_of::<Value>() + (2 + k) * size_of::<f64>();
    let n = settings.particles;
    affordable((n as u64).saturating_mul(each as u64), |bytes| Error::Allocation {
        what: format!("an answer by {n} weighted samples"),
        bytes,
        advice: "give fewer particles".to_owned(),
    })
}

impl Network {
    pub(super) fn particles(&self, problem: &Problem, seen: &impl Fn(Var) -> Value, settings: &Settings) -> Particles {
        self.particles_within(problem, seen, None, settings)
    }

    /// The same with numbers drawn within ranges, unless they are limited to an interval.
    pub(super) fn particles_within(
        &self,
        problem: &Problem,
        seen: &impl Fn(Var) -> Value,
        ranges: Option<&[(f64, f64)]>,
        settings: &Settings,
    ) -> Particles {
        let n_hidden = problem.hidden.len();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        let factor_of = |v: Var| problem.factors.iter().find(|f| f.node == v);
        // Hidden variables parents first, then the seen nodes whose density is the weight.
        let drawn: Vec<(usize, &Factor)> =
            self.order().iter().filter_map(|&v| Some((problem.position(v)?, factor_of(v)?))).collect();
        let weighing: Vec<&Factor> = problem.factors.iter().filter(|f| problem.position(f.node).is_none()).collect();
        let mut values = Vec::with_capacity(n_hidden * settings.particles);
        let mut logs = Vec::with_capacity(settings.particles);
        let mut current = vec![Value::Code(0); n_hidden];
        for _ in 0..settings.particles {
            let mut log_limits = 0.0;
            for &(position, factor) in &drawn {
                let parents = Problem::parents_of(factor, &current, seen);
                let predictive = self.model(factor.node).predictive(&parents);
                if let Some(within) = problem.limit_of(factor) {
                    let share;
                    let range = ranges.map_or((f64::NEG_INFINITY, f64::INFINITY), |ranges| ranges[factor.node]);
                    (current[position], share) = sample_within(&predictive, within, range, &mut rng);
                    log_limits += share.ln();
                } else if let Some(ranges) = ranges {
                    current[position] = drawn_within(&predictive, ranges[factor.node], &mut rng);
                } else {
                    current[position] = predictive.sample(&mut rng);
                }
            }
            logs.push(log_limits + weighing.iter().map(|f| self.log_factor(problem, f, &current, seen)).sum::<f64>());
            values.extend_from_slice(&current);
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> =
            logs.iter().map(|log| if top > f64::NEG_INFINITY { (log - top).exp() } else { 0.0 }).collect();
        let log_evidence = top + (weights.iter().sum::<f64>() / settings.particles as f64).ln();
        Particles { values, n_hidden, weights, log_evidence }
    }

    pub(super) fn log_factor(
        &self,
        problem: &Problem,
        factor: &Factor,
        values: &[Value],
        seen: &impl Fn(Var) -> Value,
    ) -> f64 {
        let parents = Problem::parents_of(factor, values, seen);
        let own = problem.position(factor.node).map_or_else(|| seen(factor.node), |at| values[at]);
        self.model(factor.node).predictive(&parents).log_density(own)
    }

    /// The target's probabilities and the largest of their standard errors; `None` if no particle has any weight.
    pub(super) fn weighted_levels(
        &self,
        problem: &Problem,
        target: Var,
        seen: &impl Fn(Var) -> Value,
        settings: &Settings,
    ) -> Option<(Vec<f64>, f64)> {
        let particles = self.particles(problem, seen, settings);
        let at = problem.position(target).expect("the target is hidden");
        let k = self.variables()[target].n_levels().expect("the target has levels");
        let touching: Vec<&Factor> = problem.factors.iter().filter(|f| f.free.contains(&at)).collect();
        let mut each = Vec::with_capacity(k * settings.particles);
        for i in 0..settings.particles {
            let mut values: SmallVec<[Value; 16]> = particles.of(i).into();
            let mut logs: SmallVec<[f64; 16]> = SmallVec::new();
            for code in 0..k {
                values[at] = Value::Code(code as u32);
                let share = problem.limits[at].as_ref().map_or(1.0, |within| within.share(values[at]));
                if share == 0.0 {
                    logs.push(f64::NEG_INFINITY);
                    continue;
                }
                let rest: f64 = touching.iter().map(|f| self.log_factor(problem, f, &values, seen)).sum();
                logs.push(share.ln() + rest);
            }
            let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| (log - top).exp()).sum();
            // A particle of weight zero may contradict the evidence whatever the target is.
            each.extend(logs.iter().map(|log| if top > f64::NEG_INFINITY { (log - top).exp() / sum } else { 0.0 }));
        }
        let total: f64 = particles.weights.iter().sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let mut probabilities = vec![0.0; k];
        for (w, row) in particles.weights.iter().zip(each.chunks(k)) {
            probabilities.iter_mut().zip(row).for_each(|(sum, p)| *sum += w / total * p);
        }
        let mut variances = vec![0.0; k];
        for (w, row) in particles.weights.iter().zip(each.chunks(k)) {
            let off = |(p, mean): (&f64, &f64)| (w / total * (p - mean)).powi(2);
            variances.iter_mut().zip(row.iter().zip(&probabilities)).for_each(|(sum, pair)| *sum += off(pair));
        }
        let error = variances.into_iter().fold(0.0, f64::max).sqrt();
        Some((probabilities, error))
    }

    /// The target's values in ascending order, each with its share of the weight, and the standard error that a
    /// probability read off them has at most; `None` if no particle has any weight.
    pub(super) fn weighted_values(
        &self,
        problem: &Problem,
        target: Var,
        seen: &impl Fn(Var) -> Value,
        settings: &Settings,
    ) -> Option<(Vec<(f64, f64)>, f64)> {
        let particles = self.particles(problem, seen, settings);
        let at = problem.position(target).expect("the target is hidden");
        let total: f64 = particles.weights.iter().sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let real = |value: Value| if let Value::Real(x) = value { x } else { f64::NAN };
        let mut values: Vec<(f64, f64)> =
            particles.weights.iter().enumerate().map(|(i, w)| (real(particles.of(i)[at]), w / total)).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Some((values, 0.5 / particles.effective_size().sqrt()))
    }
}

/// A draw from the part of a distribution within a limit and its range, and the probability of what is within the limit.
fn sample_within(
    predictive: &Predictive,
    within: &Within,
    range: (f64, f64),
    rng: &mut Xoshiro256PlusPlus,
) -> (Value, f64) {
    match (within, predictive) {
        (&Within::Between(low, high), _) => {
            let (first, last) = both((low, high), range);
            let x = quantile_within(predictive, first, last, rng.random::<f64>());
            (Value::Real(x), mass(predictive, low, high))
        }
        (Within::Levels(shares), Predictive::Levels { probabilities }) => {
            let of = |code: usize| shares[code] * probabilities[code];
            let total: f64 = (0..shares.len()).map(of).sum();
            let mut left = rng.random::<f64>() * total;
            let last = (0..shares.len()).rev().find(|&code| of(code) > 0.0).unwrap_or(0);
            let drawn = (0..last).find(|&code| {
                left -= of(code);
                left < 0.0
            });
            (Value::Code(drawn.unwrap_or(last) as u32), total)
        }
        (Within::Levels(_), _) => unreachable!("limits have their variable's kind"),
    }
}

/// The value below which a share `p` of the weight lies.
pub(super) fn weighted_quantile(values: &[(f64, f64)], p: f64) -> f64 {
    let mut sum = 0.0;
    for &(x, weight) in values {
        sum += weight;
        if sum >= p {
            return x;
        }
    }
    values.last().map_or(f64::NAN, |v| v.0)
}
