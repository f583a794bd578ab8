//! Rows completed: every missing value drawn from its conditional distribution given all that its row tells.
//!
//! The hidden ancestors of what is seen fall into components that say nothing about one another given the rest. Each is
//! drawn jointly: by walking its elimination backwards (exact, see [`super::sample`]), else by a Markov chain whose stationary
//! distribution is the conditional: Gibbs sampling, numbers by slice sampling (Neal 2003) from one of a few weighted draws.
//! Who insists on exact draws gets a single number above a model without thresholds by the inverse of its distribution
//! function ([`super::grid`]: quadrature, which takes many times as long). What is left has no seen descendants and is
//! drawn parents first.
//!
//! A row has a generator of its own, made of the seed and the row's key, so a draw depends neither on threads nor on
//! other rows, and rows keep their random numbers from one network to the next. A number may be limited to a range,
//! such as that of the observed values: the Student t distributions of small leaves have tails without end. One that has
//! steps is drawn as a value of its column ([`super::steps`]), since draws are learned from.

use std::cell::OnceCell;
use std::rc::Rc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::components::{Component, Components, Solved, Way};
use super::infer::{Settings, patterns, seen_in};
use super::mixture::{Mixture, quantile_within};
use super::plan::{Given, Problem};
use super::steps::{Steps, Values};
use super::{Evidence, Network};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::frame::{Cells, MISSING, Rows};
use crate::predictive::{Counts, Predictive, Value, is_at};
use crate::table::{Kind, Var};
use arbornet_table::spread::TryMap;

/// Rows a task completes at a time.
const BLOCK: usize = 1024;
/// Weighted draws from which a chain starts, and its sweeps over the hidden variables.
const STARTS: usize = 32;
const SWEEPS: usize = 20;
/// Steps by which a slice is widened on either side, and points tried within it, at most.
const STEPS: usize = 20;
const TRIES: usize = 60;

/// How numbers are drawn, and which random numbers a row gets.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    /// Per variable the ends of the range of its draws, in stored units; an end may be infinite.
    pub ranges: &'a [(f64, f64)],
    /// Per variable what its numbers are multiples of, if they are; empty if none has steps.
    pub steps: &'a [Option<Steps>],
    /// Per row what its random numbers depend on, beside the seed.
    pub keys: &'a [u64],
}

type Row = Vec<Option<Value>>;

/// What a component comes to in one row, which is the same for all draws of the row.
#[derive(Default)]
struct OfRow {
    solved: Option<Rc<Solved>>,
    mixture: OnceCell<Option<Mixture>>,
}

impl Network {
    /// The rows with every missing value drawn, and how many of them took a Markov chain; in stored units.
    ///
    /// # Errors
    /// As [`Network::complete_times`].
    pub fn complete(
        &self,
        rows: &Evidence<'_>,
        draws: Draws<'_>,
        settings: &Settings,
        control: &Control,
    ) -> Result<(Rows, usize)> {
        let (mut made, chained) = self.complete_times(rows, draws, 1, settings, control)?;
        Ok((made.swap_remove(0), chained))
    }

    /// The rows completed several times, as by seeds that follow one another: what the draws of a row have in common is
    /// planned and computed once. And in how many rows they took a Markov chain.
    ///
    /// What is seen is kept, also where the network gives it probability zero: then what hides above it is drawn as if
    /// it were not seen.
    ///
    /// # Errors
    /// If ranges or keys do not fit, no exact draw was possible where one was asked for, or interrupted.
    pub fn complete_times(
        &self,
        rows: &Evidence<'_>,
        draws: Draws<'_>,
        times: usize,
        settings: &Settings,
        control: &Control,
    ) -> Result<(Vec<Rows>, usize)> {
        let n = rows.n_rows();
        self.check_draws(n, draws)?;
        let may_miss: Vec<Var> = (0..self.n_vars()).filter(|&v| rows.may_miss(v)).collect();
        let there: Vec<bool> = (0..self.n_vars()).map(|v| rows.has(v)).collect();
        let set = self.mask(rows.set());
        let block = |block: usize| {
            let (first, len) = (block * BLOCK, BLOCK.min(n - block * BLOCK));
            let mut made: Vec<Vec<Cells>> = (0..times).map(|_| self.gaps(rows, first, len)).collect();
            let (mut chained, mut known) = (0, Components::default());
            for (pattern, members) in patterns(rows, &may_miss, first, len) {
                control.check()?;
                let mut seen = there.clone();
                may_miss.iter().zip(pattern).for_each(|(&v, is_there)| seen[v] = is_there);
                let given = Given { seen: &seen, set: &set, limits: &[] };
                let components = known.components(self, given, |v| self.values(v, draws), settings)?;
                let gaps: Vec<Var> = (0..self.n_vars()).filter(|&v| !seen[v]).collect();
                for i in members {
                    control.check()?;
                    let given: Row = (0..self.n_vars()).map(|v| rows.get(v, first + i)).collect();
                    let mut of_row: Vec<OfRow> = components.iter().map(|_| OfRow::default()).collect();
                    for (copy, made) in made.iter_mut().enumerate() {
                        let mut rng = generator(settings.seed.wrapping_add(copy as u64), draws.keys[first + i]);
                        let mut row = given.clone();
                        for (c, component) in components.iter().enumerate() {
                            let own = &mut of_row[c];
                            if !self.draw(component, own, (rows, first + i), &mut known, draws, &mut row, &mut rng) {
                                component.problem.hidden.iter().for_each(|&v| row[v] = None);
                            }
                        }
                        self.draw_the_rest(&mut row, draws, &mut rng);
                        for &v in &gaps {
                            match (&mut made[v], row[v]) {
                                (Cells::Codes(codes), Some(Value::Code(code))) => codes[i] = code,
                                (Cells::Reals(reals), Some(Value::Real(x))) => reals[i] = x,
                                _ => unreachable!("models draw values of their variable's kind"),
                            }
                        }
                    }
                    chained += usize::from(components.iter().any(|c| matches!(c.way, Way::Chain)));
                }
            }
            Ok((made, chained))
        };
        let blocks = (0..n.div_ceil(BLOCK)).into_par_iter().try_map(block)?;
        let chained = blocks.iter().map(|(_, chained)| chained).sum();
        let mut all: Vec<Vec<Cells>> = (0..times).map(|_| self.gaps(rows, 0, 0)).collect();
        for (block, _) in blocks {
            for (all, part) in all.iter_mut().flatten().zip(block.into_iter().flatten()) {
                match (all, part) {
                    (Cells::Codes(all), Cells::Codes(part)) => all.extend(part),
                    (Cells::Reals(all), Cells::Reals(part)) => all.extend(part),
                    _ => unreachable!("both have the variable's kind"),
                }
            }
        }
        let whole = |cells: Vec<Cells>| {
            let made = Rows::new(n, cells);
            made.check(self.variables())?;
            Ok(made)
        };
        Ok((all.into_iter().map(whole).collect::<Result<_>>()?, chained))
    }

    /// That there is a range for every variable and a key for every row.
    fn check_draws(&self, n: usize, draws: Draws<'_>) -> Result<()> {
        if draws.keys.len() != n {
            return Err(Error::Shape(format!("{} keys for {n} rows", draws.keys.len())));
        }
        if !draws.steps.is_empty() && draws.steps.len() != self.n_vars() {
            return Err(Error::Shape(format!("{} steps for {} variables", draws.steps.len(), self.n_vars())));
        }
        if let Some(v) = draws.steps.iter().position(|steps| steps.is_some_and(|steps| !steps.is_sound())) {
            let problem = format!("has the steps {:?}", draws.steps[v]);
            return Err(Error::column(
                &*self.variables()[v].name,
                problem,
                "give a step above 0, and its first multiple first",
            ));
        }
        self.check_ranges(draws.ranges)
    }

    /// What a number is drawn as, if it has steps.
    fn values(&self, v: Var, draws: Draws<'_>) -> Option<Values> {
        let steps = draws.steps.get(v).copied().flatten()?;
        match &self.variables()[v].kind {
            Kind::Continuous { scale } => Some(Values::new(steps, scale.clone())),
            _ => None,
        }
    }

    /// A number that was drawn as what it is drawn as.
    fn settled(&self, v: Var, value: Value, draws: Draws<'_>) -> Value {
        match (value, self.values(v, draws)) {
            (Value::Real(x), Some(values)) => Value::Real(values.nearest(x)),
            _ => value,
        }
    }

    /// Some of the rows, with a placeholder in every gap.
    fn gaps(&self, rows: &Evidence<'_>, first: usize, len: usize) -> Vec<Cells> {
        let column = |v: Var| {
            let values = (first..first + len).map(|i| rows.get(v, i));
            if self.variables()[v].is_continuous() {
                let real = |value| if let Some(Value::Real(x)) = value { x } else { f64::NAN };
                Cells::Reals(values.map(real).collect())
            } else {
                let code = |value| if let Some(Value::Code(code)) = value { code } else { MISSING };
                Cells::Codes(values.map(code).collect())
            }
        };
        (0..self.n_vars()).map(column).collect()
    }

    /// Draws a component's hidden variables into the row; false if the network thinks that what is seen cannot be.
    #[allow(clippy::too_many_arguments)]
    fn draw(
        &self,
        component: &Component,
        own: &mut OfRow,
        (rows, at): (&Evidence<'_>, usize),
        known: &mut Components,
        draws: Draws<'_>,
        row: &mut [Option<Value>],
        rng: &mut Xoshiro256PlusPlus,
    ) -> bool {
        let problem = &component.problem;
        let seen = seen_in(rows, at);
        match &component.way {
            Way::Exact(elimination) => {
                let solved = own.solved.get_or_insert_with(|| known.solved(self, component, elimination, &seen));
                let Some(solved) = &**solved else { return false };
                self.walk_back(problem, elimination, solved, row, draws.ranges, rng);
                true
            }
            Way::Grid => {
                let v = problem.hidden[0];
                let p = rng.random::<f64>();
                let mixture = own.mixture.get_or_init(|| self.on_grid(problem, v, &seen));
                let Some(mixture) = mixture else { return false };
                let (low, high) = draws.ranges[v];
                let x = mixture.quantile(p.clamp(1e-12, 1.0 - 1e-12)).clamp(low, high);
                row[v] = Some(self.settled(v, Value::Real(x), draws));
                true
            }
            Way::Chain => self.chain(problem, &seen, draws, row, rng),
        }
    }

    /// Draws what is not there yet from its parents, in the network's order.
    fn draw_the_rest(&self, row: &mut Row, draws: Draws<'_>, rng: &mut Xoshiro256PlusPlus) {
        for &v in self.order() {
            if row[v].is_none() {
                let model = self.model(v);
                let value = drawn(&model.predictive(&self.parents_in(v, row)), draws.ranges[v], rng);
                row[v] = Some(self.settled(v, value, draws));
            }
        }
    }

    /// Gibbs sampling of a component that has no finite form.
    fn chain(
        &self,
        problem: &Problem,
        seen: &impl Fn(Var) -> Value,
        draws: Draws<'_>,
        row: &mut [Option<Value>],
        rng: &mut Xoshiro256PlusPlus,
    ) -> bool {
        let n = problem.hidden.len();
        let own = |h: usize| problem.factors.iter().find(|f| f.node == problem.hidden[h]).expect("a factor each");
        let order: Vec<usize> = self.order().iter().filter_map(|&v| problem.position(v)).collect();
        // One of a few draws from the parents, by how well each agrees with what is seen below.
        let mut starts: Vec<(f64, Vec<Value>)> = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let mut values = vec![Value::Code(0); n];
            for &h in &order {
                let parents = Problem::parents_of(own(h), &values, seen);
                let predictive = self.model(problem.hidden[h]).predictive(&parents);
                let v = problem.hidden[h];
                values[h] = self.settled(v, a_start(&predictive, draws.ranges[v], rng), draws);
            }
            let weighing = problem.factors.iter().filter(|f| problem.position(f.node).is_none());
            let log = weighing.map(|f| self.log_factor(problem, f, &values, seen)).sum();
            starts.push((log, values));
        }
        let logs: Vec<f64> = starts.iter().map(|(log, _)| *log).collect();
        let Some(start) = chosen(&logs, rng) else { return false };
        let mut values = starts.swap_remove(start).1;
        let touching: Vec<Vec<_>> =
            (0..n).map(|h| problem.factors.iter().filter(|f| f.free.contains(&h)).collect()).collect();
        for _ in 0..SWEEPS {
            for h in 0..n {
                let v = problem.hidden[h];
                if let Some(k) = self.variables()[v].n_levels() {
                    let mut log_at = |value: Value| {
                        values[h] = value;
                        touching[h].iter().map(|f| self.log_factor(problem, f, &values, seen)).sum::<f64>()
                    };
                    let logs: Vec<f64> = (0..k).map(|code| log_at(Value::Code(code as u32))).collect();
                    let code = chosen(&logs, rng).expect("the chain stands where its density is positive");
                    values[h] = Value::Code(code as u32);
                } else {
                    let parents = Problem::parents_of(own(h), &values, seen);
                    let predictive = self.model(v).predictive(&parents);
                    let steps = self.values(v, draws);
                    if let Some(point) = predictive.point() {
                        // Slices never meet a number that has a probability of its own: whether it is that one is settled by a
                        // draw from the parents, which is taken by how well it agrees with what stands below.
                        let next = self.settled(v, a_start(&predictive, draws.ranges[v], rng), draws);
                        let below = |values: &[Value]| {
                            let children = touching[h].iter().filter(|f| f.node != v);
                            children.map(|f| self.log_factor(problem, f, values, seen)).sum::<f64>()
                        };
                        let before = below(&values);
                        let old = std::mem::replace(&mut values[h], next);
                        if (1.0 - rng.random::<f64>()).ln() > below(&values) - before {
                            values[h] = old;
                        }
                        // Of counts and other values with steps it is one to which slices lead too, and from which they start.
                        let is_met = predictive.counts().is_some() || steps.is_some();
                        if !is_met && matches!(values[h], Value::Real(x) if is_at(x, point.at)) {
                            continue;
                        }
                    }
                    let width = spread(&predictive);
                    let Value::Real(now) = values[h] else { unreachable!("a number") };
                    // A value with steps stands for the numbers up to half way to the next ones, of which one is drawn and moved
                    // instead; so does a count.
                    let half = predictive.counts().filter(|_| steps.is_none()).map_or(0.0, Counts::half_step);
                    let whole = |x: f64| match (&steps, predictive.counts()) {
                        (Some(steps), _) => steps.nearest(x),
                        (None, Some(counts)) => counts.nearest(x),
                        (None, None) => x,
                    };
                    let around = steps.as_ref().map_or((now - half, now + half), |steps| steps.around(now));
                    let (low, high) = draws.ranges[v];
                    let (range, slack) = ((low - half, high + half), 0.01 * half);
                    let now =
                        if around.0 < around.1 { around.0 + (around.1 - around.0) * rng.random::<f64>() } else { now };
                    let log_at = |x: f64| {
                        let x = whole(x);
                        values[h] = Value::Real(x);
                        if half > 0.0 && !(low - slack..=high + slack).contains(&x) {
                            return f64::NEG_INFINITY;
                        }
                        touching[h].iter().map(|f| self.log_factor(problem, f, &values, seen)).sum::<f64>()
                    };
                    let next = sliced(now, width, range, log_at, rng);
                    values[h] = Value::Real(whole(next));
                }
            }
        }
        problem.hidden.iter().zip(values).for_each(|(&v, value)| row[v] = Some(value));
        true
    }
}

/// A row's generator: seed and key mixed (the finaliser of `SplitMix64`), so that neighbours have nothing in common.
fn generator(seed: u64, key: u64) -> Xoshiro256PlusPlus {
    let mut mixed = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    Xoshiro256PlusPlus::seed_from_u64(seed ^ mixed ^ (mixed >> 31))
}

/// A draw from a distribution, of a number within its range, by the inverse of the distribution function.
fn drawn(predictive: &Predictive, (low, high): (f64, f64), rng: &mut Xoshiro256PlusPlus) -> Value {
    match predictive {
        Predictive::Levels { .. } => predictive.sample(rng),
        _ => Value::Real(quantile_within(predictive, low, high, rng.random::<f64>())),
    }
}

/// A draw to start a chain from: no inverse of a distribution function, which takes a hundred times as long.
fn a_start(predictive: &Predictive, (low, high): (f64, f64), rng: &mut Xoshiro256PlusPlus) -> Value {
    for _ in 0..TRIES {
        match predictive.sample(rng) {
            Value::Real(x) if !(low..=high).contains(&x) => {}
            value => return value,
        }
    }
    drawn(predictive, (low, high), rng)
}

/// The position of one of several logarithms of weights, drawn by its weight; `None` if all are zero.
fn chosen(logs: &[f64], rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return None;
    }
    let mut left = rng.random::<f64>() * logs.iter().map(|log| (log - top).exp()).sum::<f64>();
    let last = logs.iter().rposition(|log| *log > f64::NEG_INFINITY)?;
    let first = logs[..last].iter().position(|log| {
        left -= (log - top).exp();
        left < 0.0
    });
    Some(first.unwrap_or(last))
}

fn spread(predictive: &Predictive) -> f64 {
    match *predictive {
        Predictive::StudentT { scale, .. } | Predictive::Point { scale, .. } => 2.0 * scale,
        Predictive::Histogram { ref histogram, .. } => histogram.spread(),
        Predictive::Counts { counts, .. } => 2.0 * counts.spread_count().max(1.0) / counts.scale,
        Predictive::Levels { .. } => 1.0,
    }
}

/// One step of slice sampling: a level below the density where the chain stands, an interval around it stepped out
/// until both ends lie below that level, and points tried in it, each of which that lies below shrinks it.
fn sliced(
    now: f64,
    width: f64,
    (low, high): (f64, f64),
    mut log_at: impl FnMut(f64) -> f64,
    rng: &mut Xoshiro256PlusPlus,
) -> f64 {
    let level = log_at(now) + (1.0 - rng.random::<f64>()).ln();
    let mut left = now - width * rng.random::<f64>();
    let mut right = left + width;
    // The steps are shared out between both sides beforehand, which keeps the chain's distribution.
    let of_left = (rng.random::<f64>() * STEPS as f64) as usize;
    for _ in 0..of_left {
        if left <= low || log_at(left) <= level {
            break;
        }
        left -= width;
    }
    for _ in of_left..STEPS {
        if right >= high || log_at(right) <= level {
            break;
        }
        right += width;
    }
    (left, right) = (left.max(low), right.min(high));
    for _ in 0..TRIES {
        let x = left + (right - left) * rng.random::<f64>();
        if log_at(x) > level {
            return x;
        }
        if x < now { left = x } else { right = x }
    }
    now
}
