//! The posterior of one hidden number when all around it is seen but a child's model bends without thresholds.
//!
//! Deterministic quadrature on the number's own predictive distribution: cells between its quantiles (and whatever
//! thresholds there are), the children's likelihood taken at the middle of each cell's mass. Cells are split until none
//! holds more than 1/512 of the posterior, so an interval's probability is off by the curvature of the likelihood
//! within such cells: below 1e-4 for likelihoods as smooth as normal densities.

use super::Network;
use super::mixture::{Mixture, Part, mass, quantile_within};
use super::plan::Problem;
use crate::predictive::{Predictive, Value};
use crate::table::Var;

const FIRST_CELLS: u32 = 256;
const LARGEST_SHARE: f64 = 1.0 / 512.0;
const ROUNDS: usize = 8;

#[derive(Clone, Copy)]
struct Cell {
    low: f64,
    high: f64,
    mass: f64,
    log_likelihood: f64,
}

impl Network {
    /// The posterior of the only hidden variable of a problem; `None` if the evidence is impossible.
    pub(super) fn on_grid(&self, problem: &Problem, target: Var, seen: &impl Fn(Var) -> Value) -> Option<Mixture> {
        let own: Vec<Value> = self.parents(target).iter().map(|&p| seen(p)).collect();
        let predictive = self.model(target).predictive(&own).into_owned();
        let children: Vec<Var> = problem.factors.iter().map(|f| f.node).filter(|&v| v != target).collect();
        let log_likelihood = |y: f64| -> f64 {
            let value = |&p: &Var| if p == target { Value::Real(y) } else { seen(p) };
            let of = |&c: &Var| {
                let parents: Vec<Value> = self.parents(c).iter().map(value).collect();
                self.model(c).predictive(&parents).log_density(seen(c))
            };
            children.iter().map(of).sum()
        };
        let cell = |low: f64, high: f64| Cell {
            low,
            high,
            mass: mass(&predictive, low, high),
            log_likelihood: log_likelihood(quantile_within(&predictive, low, high, 0.5)),
        };
        let mut cuts: Vec<f64> = (1..FIRST_CELLS)
            .map(|i| quantile(&predictive, f64::from(i) / f64::from(FIRST_CELLS)))
            .chain(children.iter().flat_map(|&c| {
                let place = self.parents(c).binary_search(&target).expect("a child lists its parent");
                self.model(c).thresholds(place).unwrap_or_default()
            }))
            .chain([f64::NEG_INFINITY, f64::INFINITY])
            .collect();
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
        let mut cells: Vec<Cell> = cuts.windows(2).map(|w| cell(w[0], w[1])).collect();
        for _ in 0..ROUNDS {
            let weights = weights(&cells);
            let total: f64 = weights.iter().sum();
            if total.is_nan() || total <= 0.0 || weights.iter().all(|w| *w <= LARGEST_SHARE * total) {
                break;
            }
            let mut finer = Vec::with_capacity(2 * cells.len());
            for (old, weight) in cells.iter().zip(&weights) {
                let parts = ((weight / total / LARGEST_SHARE).ceil() as u32 * 2).min(64);
                if *weight <= LARGEST_SHARE * total {
                    finer.push(*old);
                    continue;
                }
                let at = |i: u32| match i {
                    0 => old.low,
                    i if i == parts => old.high,
                    i => quantile_within(&predictive, old.low, old.high, f64::from(i) / f64::from(parts)),
                };
                finer.extend((0..parts).filter(|&i| at(i) < at(i + 1)).map(|i| cell(at(i), at(i + 1))));
            }
            if finer.len() == cells.len() {
                break;
            }
            cells = finer;
        }
        let weights = weights(&cells);
        let part = |(cell, weight): (&Cell, f64)| Part {
            weight,
            low: cell.low,
            high: cell.high,
            predictive: predictive.clone(),
            mass: cell.mass,
        };
        Mixture::new(cells.iter().zip(weights).map(part).collect())
    }
}

fn quantile(predictive: &Predictive, p: f64) -> f64 {
    match predictive.quantile(p) {
        Value::Real(x) => x,
        Value::Code(code) => f64::from(code),
    }
}

fn weights(cells: &[Cell]) -> Vec<f64> {
    let top = cells.iter().filter(|c| c.mass > 0.0).map(|c| c.log_likelihood).fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return vec![0.0; cells.len()];
    }
    cells.iter().map(|c| if c.mass > 0.0 { c.mass * (c.log_likelihood - top).exp() } else { 0.0 }).collect()
}
