//! Multivariate adaptive regression splines (Friedman 1991; Fast MARS, Friedman 1993): sums of products of hinges.
//!
//! A forward pass adds pairs of terms, a parent term times `(x - t)+` and `(t - x)+`, where they lower the residual sum of
//! squares (RSS) most; pruning then keeps the subset of terms of least generalised cross-validation
//! `GCV = RSS / (N (1 - C/N)^2)` with `C = M + penalty (M - 1) / 2` for `M` terms. Several responses share one basis,
//! their RSS are summed.
//!
//! What a candidate (parent term, predictor) knows of its knots, it keeps from step to step: what of each hinge the basis
//! does not explain, and the hinge's product with the residuals. A step then costs one pass over the rows per new column of
//! the basis, not one per column ([`candidate`]). Rows with equal parents may be given once with a weight; for parents
//! with levels alone that is all the data there is. Columns are then multiplied by the roots of the weights, so that every
//! sum of products is weighted, and distances between knots are sums of weights.
//!
//! ```text
//! Predictor ─┐
//! Response ──┴─> forward (candidate, places, queue, spans) ──> triangle, terms ──> prune ──> Fit
//! ```

mod candidate;
mod forward;
mod linear;
mod places;
mod predictor;
mod prune;
mod queue;
mod score;
mod spans;

pub use predictor::{Number, Predictor};
pub use prune::{Path, Pruning};
pub use score::Mars;

use std::borrow::Cow;

use crate::control::Halt;
use crate::error::Result;
use forward::Forward;

/// One factor of a term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The predictor's position.
    pub predictor: usize,
    /// What is made of it.
    pub shape: Shape,
}

/// A function of one predictor, in the units it was given in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// `max(0, x - cut)`.
    Above(f64),
    /// `max(0, cut - x)`.
    Below(f64),
    /// `x - origin`, of a predictor that enters without a knot; negated if `falling`.
    Linear {
        /// Where it is zero.
        origin: f64,
        /// Whether it is `origin - x`.
        falling: bool,
    },
    /// 1 where an indicator holds, else 0.
    Holds,
}

/// A product of factors; the intercept has none.
pub type Term = Vec<Factor>;

/// How a spline is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The most factors of a term.
    pub degree: usize,
    /// What a knot costs in the GCV.
    pub penalty: f64,
    /// The most slots for terms, the intercept's included; by default by the number of predictors.
    pub slots: Option<usize>,
    /// The forward pass ends where a pair gains less than this share of the variance.
    pub threshold: f64,
    /// How many parent terms are looked at in a step.
    pub fast: usize,
    /// How fast parent terms that were not looked at move down.
    pub ageing: f64,
    /// How terms are pruned.
    pub pruning: Pruning,
    /// Whether to do as R's earth does, thresholds and queue included.
    pub earth: bool,
    /// Gains and losses that differ by no more than this share of the variance are a tie, which goes to the first.
    pub tie: f64,
}

impl Settings {
    /// The usual settings for a degree: penalty 2 without products, 3 with them.
    pub fn of_degree(degree: usize) -> Self {
        Self {
            degree,
            penalty: if degree > 1 { 3.0 } else { 2.0 },
            slots: None,
            threshold: 0.001,
            fast: 20,
            ageing: 1.0,
            pruning: Pruning::Usual,
            earth: false,
            tie: 0.0,
        }
    }

    /// Slots for terms with so many predictors.
    pub fn n_slots(&self, n_predictors: usize) -> usize {
        self.slots.unwrap_or_else(|| (2 * n_predictors).clamp(20, 200) + 1)
    }
}

/// What is explained, and by what.
pub struct Problem<'a> {
    /// Candidates for factors.
    pub predictors: Vec<&'a Predictor>,
    /// Per response, a value per row, times the root of the row's weight.
    pub responses: Vec<Vec<f64>>,
    /// The weight of every row; `None` for weights of one.
    pub weights: Option<Cow<'a, [f64]>>,
    /// Sum of the weights.
    pub n: f64,
    /// The part of the responses' sum of squares within rows given once for many.
    pub within: f64,
}

/// A fitted spline.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Terms of the forward pass, the intercept first.
    pub forward: Vec<Term>,
    /// What pruning went through.
    pub path: Path,
    /// Positions of the kept terms in `forward`.
    pub kept: Vec<usize>,
    /// Per response, the coefficient of each kept term.
    pub coefficients: Vec<Vec<f64>>,
    /// Residual sum of squares over all responses.
    pub rss: f64,
    /// Generalised cross-validation of the whole.
    pub gcv: f64,
}

impl Fit {
    /// Number of terms kept, the intercept included.
    pub fn n_terms(&self) -> usize {
        self.kept.len()
    }
}

/// Generalised cross-validation; infinity where the terms cost as much as there are rows.
pub fn gcv(rss: f64, n_terms: usize, n: f64, penalty: f64) -> f64 {
    let share = (n_terms as f64 + penalty * (n_terms as f64 - 1.0) / 2.0) / n;
    if share >= 1.0 { f64::INFINITY } else { rss / (n * (1.0 - share).powi(2)) }
}

/// Fits a spline.
///
/// # Panics
/// Never: nobody asks it to stop.
pub fn fit(problem: &Problem<'_>, settings: &Settings) -> Fit {
    fit_until(problem, settings, &Halt::default()).expect("nobody asks it to stop")
}

/// Fits a spline, unless asked to stop.
///
/// # Errors
/// `Error::Interrupted` if so.
pub fn fit_until(problem: &Problem<'_>, settings: &Settings, halt: &Halt) -> Result<Fit> {
    if problem.responses.first().is_none_or(Vec::is_empty) {
        return Ok(nothing(problem));
    }
    let mut forward = Forward::new(problem, settings, halt);
    forward.run()?;
    let (terms, triangle) = forward.finish();
    let path = prune::path(&triangle, settings, problem.n);
    let kept = path.best().to_vec();
    let (coefficients, rss) = triangle.solve(&kept);
    let gcv = gcv(rss, kept.len(), problem.n, settings.penalty);
    let coefficients = coefficients.into_iter().map(|of| {
        let unscaled = of.iter().zip(&kept).map(|(c, &term)| c / terms[term].1);
        unscaled.collect()
    });
    let coefficients = coefficients.collect();
    Ok(Fit { forward: terms.into_iter().map(|(term, _)| term).collect(), path, kept, coefficients, rss, gcv })
}

/// Of no rows or no responses: an intercept of zero.
fn nothing(problem: &Problem<'_>) -> Fit {
    let path = Path { subsets: vec![vec![0]], rss: vec![0.0], gcv: vec![f64::INFINITY] };
    let coefficients = vec![vec![0.0]; problem.responses.len()];
    Fit { forward: vec![vec![]], path, kept: vec![0], coefficients, rss: 0.0, gcv: f64::INFINITY }
}
