//! The joint distribution of several targets by weighted draws, with averages of conditionals for what can be averaged.
//!
//! Every draw gives the distribution of some of the targets given its other values, and that is averaged rather than the
//! draws counted, which never raises the variance (Gelfand and Smith 1990). Averaged are targets with levels, and numbers
//! that nothing else depends on: their classes have masses. The others are counted.
//!
//! The standard error is that of a ratio of weighted means: `sum w^2 (q - p)^2 / (sum w)^2`, over `1 - sum w^2 / (sum w)^2`
//! as the mean is estimated from the same draws.

use smallvec::SmallVec;

use super::infer::Settings;
use super::joint::class;
use super::mixture::mass;
use super::plan::{Factor, Problem};
use super::{Network, Within};
use crate::predictive::Value;
use crate::table::Var;

/// Combinations of classes over which a draw's distribution is worked out, at most.
const MOST: usize = 64;

/// A target of which every draw gives the distribution.
struct Averaged<'p> {
    target: usize,
    at: usize,
    own: &'p Factor,
    is_number: bool,
}

/// What the draws come to, class by class.
struct Sums {
    /// `w q`, `w^2 q`, `w^2 q^2`.
    cells: Vec<[f64; 3]>,
    weight: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, cell: usize, weight: f64, q: f64) {
        let sums = &mut self.cells[cell];
        for (sum, more) in sums.iter_mut().zip([weight * q, weight * weight * q, weight * weight * q * q]) {
            *sum += more;
        }
    }

    /// The probabilities, and the largest of their standard errors: that of a coin if a single draw has all the weight.
    fn told(self) -> (Vec<f64>, f64) {
        let Self { cells, weight, squares } = self;
        let share = squares / (weight * weight);
        let probabilities: Vec<f64> = cells.iter().map(|sums| sums[0] / weight).collect();
        let variance = |(sums, p): (&[f64; 3], &f64)| sums[2] - 2.0 * p * sums[1] + p * p * squares;
        let most = cells.iter().zip(&probabilities).map(variance).fold(0.0, f64::max);
        let error = (most / (weight * weight) / (1.0 - share)).sqrt();
        (probabilities, if share < 1.0 - 1e-9 { error.min(0.5) } else { 0.5 })
    }
}

impl Network {
    /// The probability of every combination of the targets' classes, the last target's varying fastest, and the largest
    /// of their standard errors; `None` if no draw has any weight.
    pub(super) fn weighted_joint(
        &self,
        problem: &Problem,
        targets: &[(Var, Vec<f64>)],
        dims: &[usize],
        seen: &impl Fn(Var) -> Value,
        settings: &Settings,
    ) -> Option<(Vec<f64>, f64)> {
        let particles = self.particles(problem, seen, settings);
        let weight: f64 = particles.weights.iter().sum();
        if weight.is_nan() || weight <= 0.0 {
            return None;
        }
        let averaged = self.averaged(problem, targets, dims);
        let levels: Vec<&Averaged<'_>> = averaged.iter().filter(|a| !a.is_number).collect();
        let numbers: Vec<&Averaged<'_>> = averaged.iter().filter(|a| a.is_number).collect();
        // The factors that differ between the levels' combinations; those of the numbers are their masses.
        let touching: Vec<&Factor> = problem
            .factors
            .iter()
            .filter(|f| levels.iter().any(|a| f.free.contains(&a.at)))
            .filter(|f| numbers.iter().all(|a| a.own.node != f.node))
            .collect();
        let mut steps = vec![1; dims.len()];
        (1..dims.len()).rev().for_each(|t| steps[t - 1] = steps[t] * dims[t]);
        let counted: Vec<usize> = (0..dims.len()).filter(|&t| averaged.iter().all(|a| a.target != t)).collect();
        let position = |t: usize| problem.position(targets[t].0).expect("targets are hidden");
        let squares = particles.weights.iter().map(|w| w * w).sum();
        let mut sums = Sums { cells: vec![[0.0; 3]; dims.iter().product()], weight, squares };
        let mut found: Vec<(usize, f64)> = Vec::with_capacity(MOST);
        for (i, &w) in particles.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let mut values: SmallVec<[Value; 16]> = particles.of(i).into();
            let first: usize = counted.iter().map(|&t| steps[t] * class(&targets[t].1, values[position(t)])).sum();
            let n: usize = levels.iter().map(|a| dims[a.target]).product();
            let mut logs: SmallVec<[f64; MOST]> = SmallVec::new();
            let mut cells: SmallVec<[usize; MOST]> = SmallVec::new();
            for combination in 0..n {
                let cell = first + arranged(combination, &levels, dims, &steps, &mut values);
                let share: f64 = levels.iter().map(|a| share(problem, a.at, values[a.at])).product();
                let of = |f: &&Factor| self.log_factor(problem, f, &values, seen);
                let log = if share > 0.0 { share.ln() + touching.iter().map(of).sum::<f64>() } else { share.ln() };
                logs.push(log);
                cells.push(cell);
            }
            let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            found.clear();
            for combination in 0..n {
                arranged(combination, &levels, dims, &steps, &mut values);
                let p = (logs[combination] - top).exp();
                let start = found.len();
                found.push((cells[combination], p));
                for a in &numbers {
                    let masses = self.masses(problem, a, &targets[a.target].1, &values, seen);
                    for at in start..found.len() {
                        let (cell, p) = found[at];
                        let more = masses.iter().enumerate().skip(1).map(|(c, m)| (cell + c * steps[a.target], p * m));
                        found.extend(more.collect::<Vec<_>>());
                        found[at].1 = p * masses[0];
                    }
                }
            }
            let total: f64 = found.iter().map(|(_, p)| p).sum();
            for &(cell, p) in found.iter().filter(|(_, p)| *p > 0.0) {
                sums.add(cell, w, p / total);
            }
        }
        Some(sums.told())
    }

    /// The targets to average, while their combinations are few.
    fn averaged<'p>(&self, problem: &'p Problem, targets: &[(Var, Vec<f64>)], dims: &[usize]) -> Vec<Averaged<'p>> {
        let mut averaged = Vec::new();
        let mut n = 1;
        for (target, &(var, _)) in targets.iter().enumerate() {
            let at = problem.position(var).expect("targets are hidden");
            let is_number = self.variables[var].is_continuous();
            let alone = problem.factors.iter().filter(|f| f.free.contains(&at)).count() == 1;
            if n * dims[target] <= MOST && (alone || !is_number) {
                n *= dims[target];
                let own = problem.factors.iter().find(|f| f.node == var).expect("a hidden variable has a factor");
                averaged.push(Averaged { target, at, own, is_number });
            }
        }
        averaged
    }

    /// How probable each class of a number is given its parents, within its limit.
    fn masses(
        &self,
        problem: &Problem,
        number: &Averaged<'_>,
        cuts: &[f64],
        values: &[Value],
        seen: &impl Fn(Var) -> Value,
    ) -> SmallVec<[f64; 16]> {
        let parents = Problem::parents_of(number.own, values, seen);
        let predictive = self.model(number.own.node).predictive(&parents);
        let (least, most) = match problem.limits[number.at] {
            Some(Within::Between(low, high)) => (low, high),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let class = |c: usize| {
            let low = if c == 0 { least } else { cuts[c - 1].max(least) };
            let high = cuts.get(c).map_or(most, |&cut| cut.min(most));
            if low < high { mass(&predictive, low, high) } else { 0.0 }
        };
        (0..=cuts.len()).map(class).collect()
    }
}

/// Gives the targets with levels those of a combination; what that adds to the number of the cell.
fn arranged(
    combination: usize,
    levels: &[&Averaged<'_>],
    dims: &[usize],
    steps: &[usize],
    values: &mut [Value],
) -> usize {
    let (mut rest, mut cell) = (combination, 0);
    for a in levels {
        let code = rest % dims[a.target];
        rest /= dims[a.target];
        values[a.at] = Value::Code(code as u32);
        cell += code * steps[a.target];
    }
    cell
}

fn share(problem: &Problem, at: usize, value: Value) -> f64 {
    problem.limits[at].as_ref().map_or(1.0, |within| within.share(value))
}
