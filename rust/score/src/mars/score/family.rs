//! A child and its parents as a problem for a spline: columns of responses, predictors, and cells in place of rows where
//! all parents have levels.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{Criterion, Input, Prepared};
use crate::control::Halt;
use crate::error::Result;
use crate::mars::{self, Fit, Predictor, Problem, Pruning, Settings};
use crate::model::spline::{Factor, Response, Seen, Shape, Spline};
use crate::predictive::Value;
use crate::table::{Kind, Var};

/// The smallest share of the variance that residuals are said to have.
const LEAST_VARIANCE: f64 = 1e-12;

/// Columns that are equal in all rows tie but for rounding, which weights would decide: shares of the variance.
const TIE: f64 = 1e-8;

/// A score without the last sixteen bits, which are rounding: a parent that a spline does not read then gains nothing.
fn settled(score: f64) -> f64 {
    if score.is_finite() { f64::from_bits((score.to_bits() + 0x8000) & !0xffff) } else { score }
}

/// The scratch of one child.
pub struct Family<'a> {
    score: &'a Prepared,
    child: Var,
    /// Per response, its values by row.
    responses: Vec<Vec<f64>>,
    /// Sums of squares are of so many such columns: of two levels one column says it all.
    copies: f64,
    /// What a number was divided by.
    unit: f64,
    mean: f64,
    settings: Settings,
    /// What long fits ask now and then.
    pub halt: Halt,
}

/// A fitted family, with what its predictors stand for.
struct Fitted {
    fit: Fit,
    /// Per predictor: the parent's position, and the level's code.
    meaning: Vec<(usize, Option<u32>)>,
}

/// Rows with equal levels of all parents.
struct Cells {
    of_row: Vec<u32>,
    /// Number of rows of each, or the sum of their weights.
    sizes: Vec<f64>,
    /// A row of each.
    first: Vec<u32>,
}

impl<'a> Family<'a> {
    pub fn new(score: &'a Prepared, child: Var) -> Self {
        let earth = score.earth();
        let tie = if score.weights.is_some() { TIE } else { 0.0 };
        let mut settings = Settings { earth, tie, ..Settings::of_degree(score.parameters.degree) };
        if let Some(penalty) = score.parameters.penalty {
            settings.penalty = penalty;
        }
        let (mut copies, mut unit, mut mean) = (1.0, 1.0, 0.0);
        let responses = match score.input(child) {
            Input::Number { values, .. } => {
                let n = score.n();
                let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
                    match &score.weights {
                        None => values.iter().map(|y| of(*y)).sum(),
                        Some(weights) => values.iter().zip(weights).map(|(y, w)| w * of(*y)).sum(),
                    }
                };
                let n = if n == 0.0 { 1.0 } else { n };
                mean = sum(&|y| y) / n;
                let square = sum(&|y| (y - mean).powi(2));
                let spread = values.iter().fold(0.0_f64, |m, y| m.max((y - mean).abs()));
                unit = (square / n).sqrt();
                if spread <= 1e-13 * mean.abs() || !(unit > 0.0 && unit.is_finite()) {
                    // Constant but for rounding.
                    unit = 1.0;
                    vec![vec![0.0; values.len()]]
                } else {
                    vec![values.iter().map(|y| (y - mean) / unit).collect()]
                }
            }
            Input::Levels { codes, observed, .. } => {
                let holds = |k: u32| codes.iter().map(|&code| f64::from(u8::from(code == k))).collect();
                if observed.len() == 2 {
                    if !earth {
                        copies = 2.0;
                        settings.pruning = Pruning::LeastContribution;
                    }
                    vec![holds(1)]
                } else {
                    (0..observed.len() as u32).map(holds).collect()
                }
            }
        };
        Self { score, child, responses, copies, unit, mean, settings, halt: Halt::default() }
    }

    fn n_rows(&self) -> usize {
        self.score.rows.len()
    }

    /// The score of a parent set.
    ///
    /// # Errors
    /// If asked to stop.
    pub fn value(&self, parents: &[Var]) -> Result<f64> {
        let fitted = self.fit(parents)?;
        Ok(settled(match self.score.parameters.criterion {
            // Zero, not minus zero, for a constant child.
            Criterion::Gcv => 0.0 - self.copies * fitted.fit.gcv,
            // What costs as much as there are rows is out of the question for both.
            Criterion::Bic if fitted.fit.gcv.is_infinite() => f64::NEG_INFINITY,
            Criterion::Bic => self.bic(parents, &fitted),
        }))
    }

    fn fit(&self, parents: &[Var]) -> Result<Fitted> {
        let mut meaning = vec![];
        let mut all_levels = true;
        for (position, &parent) in parents.iter().enumerate() {
            match self.score.input(parent) {
                Input::Number { .. } => {
                    meaning.push((position, None));
                    all_levels = false;
                }
                Input::Levels { observed, .. } => {
                    meaning.extend(observed.iter().skip(1).map(|&code| (position, Some(code))));
                }
            }
        }
        let fit = if all_levels && !self.score.earth() { self.fit_cells(parents) } else { self.fit_rows(parents) }?;
        Ok(Fitted { fit, meaning })
    }

    fn fit_rows(&self, parents: &[Var]) -> Result<Fit> {
        let mut predictors: Vec<&Predictor> = vec![];
        for &parent in parents {
            match self.score.input(parent) {
                Input::Number { predictor, .. } => predictors.push(predictor),
                Input::Levels { indicators, .. } => predictors.extend(indicators),
            }
        }
        let weights = self.score.weights.as_deref();
        let responses = match weights {
            None => self.responses.clone(),
            Some(weights) => {
                let times_roots = |y: &Vec<f64>| y.iter().zip(weights).map(|(y, w)| y * w.sqrt()).collect();
                self.responses.iter().map(times_roots).collect()
            }
        };
        let weights = weights.map(Cow::Borrowed);
        let problem = Problem { predictors, responses, weights, n: self.score.n(), within: 0.0 };
        mars::fit_until(&problem, &self.settings, &self.halt)
    }

    fn fit_cells(&self, parents: &[Var]) -> Result<Fit> {
        let cells = self.cells(parents);
        let roots: Vec<f64> = cells.sizes.iter().map(|n| n.sqrt()).collect();
        let mut within = 0.0;
        let mut responses = Vec::with_capacity(self.responses.len());
        for y in &self.responses {
            let mut sums = vec![0.0; roots.len()];
            let mut square = 0.0;
            match &self.score.weights {
                None => {
                    for (&cell, &y) in cells.of_row.iter().zip(y) {
                        sums[cell as usize] += y;
                        square += y * y;
                    }
                }
                Some(weights) => {
                    for ((&cell, &y), &w) in cells.of_row.iter().zip(y).zip(weights) {
                        sums[cell as usize] += w * y;
                        square += w * y * y;
                    }
                }
            }
            for (sum, root) in sums.iter_mut().zip(&roots) {
                *sum /= root;
                square -= *sum * *sum;
            }
            within += square.max(0.0);
            responses.push(sums);
        }
        let mut own: Vec<Predictor> = vec![];
        for &parent in parents {
            let Input::Levels { codes, observed, .. } = self.score.input(parent) else {
                unreachable!("all parents have levels")
            };
            let mut holds: Vec<Vec<u32>> = vec![vec![]; observed.len()];
            for (cell, &row) in cells.first.iter().enumerate() {
                holds[codes[row as usize] as usize].push(cell as u32);
            }
            own.extend(holds.into_iter().skip(1).map(Predictor::Indicator));
        }
        let weights = Some(Cow::Owned(cells.sizes));
        let problem = Problem { predictors: own.iter().collect(), responses, weights, n: self.score.n(), within };
        mars::fit_until(&problem, &self.settings, &self.halt)
    }

    /// Rows by the levels of all parents; cells in the order of their first rows.
    fn cells(&self, parents: &[Var]) -> Cells {
        let n = self.n_rows();
        let mut of_row = vec![0u32; n];
        let mut n_cells = u64::from(n > 0);
        for &parent in parents {
            let Input::Levels { codes, observed, .. } = self.score.input(parent) else {
                unreachable!("all parents have levels")
            };
            let width = observed.len().max(1) as u64;
            let key = |cell: u32, code: u32| u64::from(cell) * width + u64::from(code);
            let mut next = 0u32;
            let mut number = |slot: &mut u32| {
                if *slot == u32::MAX {
                    *slot = next;
                    next += 1;
                }
                *slot
            };
            let size = n_cells * width;
            if size <= 4 * n as u64 + 1024 {
                let mut numbers = vec![u32::MAX; size as usize];
                for (cell, &code) in of_row.iter_mut().zip(codes) {
                    *cell = number(&mut numbers[key(*cell, code) as usize]);
                }
            } else {
                let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
                for (cell, &code) in of_row.iter_mut().zip(codes) {
                    *cell = number(numbers.entry(key(*cell, code)).or_insert(u32::MAX));
                }
            }
            n_cells = u64::from(next);
        }
        let mut sizes = vec![0.0; n_cells as usize];
        let mut first = vec![u32::MAX; n_cells as usize];
        for (row, &cell) in of_row.iter().enumerate() {
            sizes[cell as usize] += self.score.weight(row);
            if first[cell as usize] == u32::MAX {
                first[cell as usize] = row as u32;
            }
        }
        Cells { of_row, sizes, first }
    }

    fn bic(&self, parents: &[Var], fitted: &Fitted) -> f64 {
        let n = self.score.n();
        let model = self.told(parents, fitted);
        let log_likelihood = match &model.response {
            Response::Number { .. } => {
                let variance = (fitted.fit.rss / n).max(LEAST_VARIANCE) * self.unit * self.unit;
                -0.5 * n * ((2.0 * std::f64::consts::PI * variance).ln() + 1.0)
            }
            Response::Levels { .. } => self.log_likelihood(parents, &model),
        };
        log_likelihood - 0.5 * crate::model::Model::n_parameters(&model) as f64 * n.ln()
    }

    fn log_likelihood(&self, parents: &[Var], model: &Spline) -> f64 {
        use crate::model::Model;
        let Input::Levels { codes, observed, .. } = self.score.input(self.child) else {
            unreachable!("a child with levels")
        };
        let value = |parent: Var, row: usize| match self.score.input(parent) {
            Input::Number { values, .. } => Value::Real(values[row]),
            Input::Levels { codes, observed, .. } => Value::Code(observed[codes[row] as usize]),
        };
        let own = |row: usize| Value::Code(observed[codes[row] as usize]);
        let given = |row: usize| parents.iter().map(|&p| value(p, row)).collect::<Vec<_>>();
        if parents.iter().all(|&p| matches!(self.score.input(p), Input::Levels { .. })) {
            let cells = self.cells(parents);
            let predictives: Vec<_> =
                cells.first.iter().map(|&row| model.predictive(&given(row as usize)).into_owned()).collect();
            // By cell and level, so that equal terms are added at once.
            let k = observed.len();
            let mut counts = vec![0.0; k * predictives.len()];
            for (row, (&cell, &code)) in cells.of_row.iter().zip(codes).enumerate() {
                counts[cell as usize * k + code as usize] += self.score.weight(row);
            }
            let each = |(i, &count): (usize, &f64)| {
                if count > 0.0 { count * predictives[i / k].log_density(Value::Code(observed[i % k])) } else { 0.0 }
            };
            return counts.iter().enumerate().map(each).sum();
        }
        let of_row = |row: usize| self.score.weight(row) * model.predictive(&given(row)).log_density(own(row));
        (0..self.n_rows()).map(of_row).sum()
    }

    /// The fitted model of a parent set.
    ///
    /// # Errors
    /// If asked to stop.
    pub fn model(&self, parents: &[Var]) -> Result<Spline> {
        Ok(self.told(parents, &self.fit(parents)?))
    }

    fn told(&self, parents: &[Var], Fitted { fit, meaning }: &Fitted) -> Spline {
        let n = self.score.n();
        let factor = |factor: &mars::Factor| {
            let (parent, code) = meaning[factor.predictor];
            let shape = match factor.shape {
                mars::Shape::Above(cut) => Shape::Above { cut },
                mars::Shape::Below(cut) => Shape::Below { cut },
                mars::Shape::Linear { origin, falling: false } => Shape::Rising { origin },
                mars::Shape::Linear { origin, falling: true } => Shape::Falling { origin },
                mars::Shape::Holds => Shape::Level { code: code.expect("an indicator stands for a level") },
            };
            Factor { parent, shape }
        };
        let terms: Vec<Vec<Factor>> =
            fit.kept.iter().map(|&term| fit.forward[term].iter().map(factor).collect()).collect();
        let m = terms.len() as f64;
        let mut coefficients = fit.coefficients.clone();
        let mut scale = 1.0;
        let response = match (self.score.input(self.child), &self.score.table.variable(self.child).kind) {
            (Input::Levels { observed, .. }, kind) => {
                if observed.len() == 2 {
                    let first = coefficients[0].iter().enumerate().map(|(j, c)| f64::from(u8::from(j == 0)) - c);
                    let first = first.collect();
                    coefficients.insert(0, first);
                }
                let n_levels = match kind {
                    Kind::Categorical { levels } | Kind::Ordinal { levels } => levels.len(),
                    Kind::Continuous { .. } => unreachable!("levels belong to a variable with levels"),
                };
                Response::Levels { codes: observed.clone(), n_levels, floor: 0.5 / n.max(1.0) }
            }
            (Input::Number { .. }, kind) => {
                for (j, c) in coefficients[0].iter_mut().enumerate() {
                    *c = *c * self.unit + if j == 0 { self.mean } else { 0.0 };
                }
                let df = (n - m).max(1.0);
                let variance = (fit.rss / df).max(LEAST_VARIANCE);
                if let Kind::Continuous { scale: units } = kind {
                    scale = (self.unit * units.scale).powi(2);
                }
                Response::Number { df, sd: variance.sqrt() * self.unit }
            }
        };
        let seen = |&parent: &Var| match self.score.input(parent) {
            Input::Number { values, .. } => {
                let mut sorted: Vec<(f64, f64)> =
                    (0..).zip(values).map(|(row, &x)| (x, self.score.weight(row))).collect();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                let at = |i: usize| sorted.get(i).map_or(0.0, |row| row.0);
                let mut below = 0.0;
                let mut before = |&(_, weight): &(f64, f64)| {
                    below += weight;
                    below <= n / 2.0
                };
                let middle = sorted.iter().take_while(|&row| before(row)).count();
                Seen::Number { low: at(0), middle: at(middle), high: at(sorted.len().saturating_sub(1)) }
            }
            Input::Levels { codes, observed, .. } => {
                let mut counts = vec![0.0_f64; observed.len()];
                for (row, &code) in codes.iter().enumerate() {
                    counts[code as usize] += self.score.weight(row);
                }
                let by_count = |a: &usize, b: &usize| counts[*a].total_cmp(&counts[*b]);
                let usual = (0..counts.len()).rev().max_by(by_count).map_or(0, |k| observed[k]);
                Seen::Levels { usual }
            }
        };
        Spline {
            child: self.child,
            parents: parents.to_vec(),
            terms,
            coefficients,
            response,
            seen: parents.iter().map(seen).collect(),
            n_rows: n.round() as usize,
            rss: fit.rss * self.copies * scale,
            gcv: Some(fit.gcv * self.copies * scale).filter(|gcv| gcv.is_finite()),
        }
    }
}
