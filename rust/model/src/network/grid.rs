//! The posterior of one hidden number when all around it is seen but a child's model bends without thresholds.
//!
//! Deterministic quadrature on the number's own predictive distribution: cells between its quantiles (and whatever
//! thresholds there are), the children's likelihood taken at the middle of each cell's mass. Cells that hold more than
//! 1/512 of the posterior are split, and those beside them, until none does. What remains is the curvature of the
//! likelihood within such cells: probabilities off by less than 1e-4 for normal likelihoods in the tests.
//!
//! Most of the time goes into quantiles, and those of a Student t are its location and so many times its scale: how many
//! is remembered by the degrees of freedom and the probability, which are the same for all rows of a leaf.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::Network;
use super::mixture::{Mixture, Part, mass, quantile_within};
use super::plan::Problem;
use crate::predictive::{Predictive, Value};
use crate::table::Var;

const FIRST_CELLS: u32 = 256;
const LARGEST_SHARE: f64 = 1.0 / 512.0;
const ROUNDS: usize = 8;
/// Quantiles that a thread remembers, of 24 bytes each.
const MOST_KNOWN: usize = 1 << 17;
/// Cells of less are found by the tails of the distribution, which are more precise than a probability near one.
const NARROW: f64 = 1e-9;

thread_local! {
    /// Quantiles of the standard Student t, by the bits of its degrees of freedom and of the probability.
    static KNOWN: RefCell<FxHashMap<(u64, u64), f64>> = RefCell::default();
}

#[derive(Clone, Copy)]
struct Cell {
    low: f64,
    high: f64,
    mass: f64,
    log_likelihood: f64,
    /// Between two quantiles of a Student t, the probabilities of less than them.
    between: Option<(f64, f64)>,
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
        let jumps = children.iter().flat_map(|&c| {
            let place = self.parents(c).binary_search(&target).expect("a child lists its parent");
            self.model(c).thresholds(place).unwrap_or_default()
        });
        posterior(&predictive, jumps, log_likelihood)
    }
}

/// What is known of a number after a likelihood that may jump at some places; `None` if it is zero everywhere.
fn posterior(
    predictive: &Predictive,
    jumps: impl Iterator<Item = f64>,
    log_likelihood: impl Fn(f64) -> f64,
) -> Option<Mixture> {
    let cell = |low: f64, high: f64, between: Option<(f64, f64)>| {
        let (mass, middle) = match between {
            Some((p, q)) => (q - p, quantile(predictive, f64::midpoint(p, q)).clamp(low, high)),
            None => (mass(predictive, low, high), quantile_within(predictive, low, high, 0.5)),
        };
        Cell { low, high, mass, log_likelihood: log_likelihood(middle), between }
    };
    let is_smooth = matches!(predictive, Predictive::StudentT { .. });
    let mut cuts: Vec<(f64, Option<f64>)> = (1..FIRST_CELLS)
        .map(|i| f64::from(i) / f64::from(FIRST_CELLS))
        .map(|p| (quantile(predictive, p), is_smooth.then_some(p)))
        .chain(jumps.map(|at| (at, None)))
        // A number with a probability of its own is a cell of its own.
        .chain(predictive.point().into_iter().flat_map(|point| [(point.at, None), (point.at.next_up(), None)]))
        .chain([(f64::NEG_INFINITY, None), (f64::INFINITY, None)])
        .collect();
    cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
    cuts.dedup_by_key(|cut| cut.0);
    let mut cells: Vec<Cell> = cuts.windows(2).map(|w| cell(w[0].0, w[1].0, w[0].1.zip(w[1].1))).collect();
    for _ in 0..ROUNDS {
        let weights = weights(&cells);
        let total: f64 = weights.iter().sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let heavy: Vec<bool> = weights.iter().map(|weight| *weight > LARGEST_SHARE * total).collect();
        let mut finer = Vec::with_capacity(2 * cells.len());
        for (i, old) in cells.iter().enumerate() {
            // A wide cell beside a heavy one may hold more than its middle tells.
            let beside = (i > 0 && heavy[i - 1]) || heavy.get(i + 1) == Some(&true);
            let parts = if heavy[i] {
                ((weights[i] / total / LARGEST_SHARE).ceil() as u32 * 2).min(64)
            } else if beside {
                8
            } else {
                finer.push(*old);
                continue;
            };
            let between = old.between.filter(|(p, q)| q - p > NARROW);
            let end = |i: u32| {
                let share = f64::from(i) / f64::from(parts);
                let p = between.map(|(p, q)| p + share * (q - p));
                let x = match (i, p) {
                    (0, _) => old.low,
                    (i, _) if i == parts => old.high,
                    (_, Some(p)) => quantile(predictive, p).clamp(old.low, old.high),
                    (_, None) => quantile_within(predictive, old.low, old.high, share),
                };
                (x, p)
            };
            let ends: Vec<(f64, Option<f64>)> = (0..=parts).map(end).collect();
            finer.extend(ends.windows(2).filter(|w| w[0].0 < w[1].0).map(|w| cell(w[0].0, w[1].0, w[0].1.zip(w[1].1))));
        }
        let settled = finer.len() == cells.len();
        cells = finer;
        if settled {
            break;
        }
    }
    let weights = weights(&cells);
    let part = |(cell, weight): (&Cell, f64)| Part {
        weight,
        low: cell.low,
        high: cell.high,
        predictive: predictive.clone(),
        mass: cell.mass,
        before: None,
    };
    Mixture::new(cells.iter().zip(weights).map(part).collect())
}

fn quantile(predictive: &Predictive, p: f64) -> f64 {
    let real = |value| match value {
        Value::Real(x) => x,
        Value::Code(code) => f64::from(code),
    };
    let &Predictive::StudentT { df, location, scale } = predictive else { return real(predictive.quantile(p)) };
    let standard = Predictive::StudentT { df, location: 0.0, scale: 1.0 };
    let z = KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        *known.entry((df.to_bits(), p.to_bits())).or_insert_with(|| real(standard.quantile(p)))
    });
    location + scale * z
}

fn weights(cells: &[Cell]) -> Vec<f64> {
    let top = cells.iter().filter(|c| c.mass > 0.0).map(|c| c.log_likelihood).fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return vec![0.0; cells.len()];
    }
    cells.iter().map(|c| if c.mass > 0.0 { c.mass * (c.log_likelihood - top).exp() } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::posterior;
    use crate::predictive::{Predictive, Value};

    const PROBABILITIES: [f64; 5] = [0.025, 0.25, 0.5, 0.75, 0.975];

    #[test]
    fn a_normal_prior_and_likelihood_give_the_normal_posterior() {
        // So many degrees of freedom make a Student t normal for every digit looked at.
        let normal = |location, scale| Predictive::StudentT { df: 1e12, location, scale };
        for (seen, noise) in [(0.3_f64, 1.0_f64), (2.5, 0.1), (-4.0, 0.02)] {
            let precision = 1.0 + noise.powi(-2);
            let expected = normal(seen * noise.powi(-2) / precision, precision.sqrt().recip());
            let log_likelihood = |x: f64| normal(x, noise).log_density(Value::Real(seen));
            let got = posterior(&normal(0.0, 1.0), std::iter::empty(), log_likelihood).unwrap();
            for p in PROBABILITIES {
                let below = expected.cdf(Value::Real(got.quantile(p)));
                assert!((below - p).abs() < 1e-4, "{seen} {noise} {p} {below}");
            }
        }
    }

    #[test]
    fn a_likelihood_that_jumps_is_exact() {
        let prior = Predictive::StudentT { df: 5.0, location: 0.0, scale: 1.0 };
        let log_likelihood = |x: f64| if x < 0.7 { 0.2_f64.ln() } else { 0.8_f64.ln() };
        let got = posterior(&prior, [0.7].into_iter(), log_likelihood).unwrap();
        let below = prior.cdf(Value::Real(0.7));
        let share = 0.2 * below / (0.2 * below + 0.8 * (1.0 - below));
        assert!((got.quantile(share) - 0.7).abs() < 1e-9);
    }

    #[test]
    fn an_impossible_likelihood_has_no_posterior() {
        let prior = Predictive::StudentT { df: 5.0, location: 0.0, scale: 1.0 };
        assert!(posterior(&prior, std::iter::empty(), |_| f64::NEG_INFINITY).is_none());
    }
}
