//! A spline (MARS): the child is a sum of products of hinges of its parents.
//!
//! A number is predicted with normal residuals whose variance was estimated, which is Student's t. Levels have one sum each,
//! which need not be probabilities: they are cut to `[floor, 1]` and divided by their total.

mod text;
mod told;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Model, check_family};
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Var, Variable};

pub use told::{Told, ToldFactor, ToldSeen, ToldTerm};

/// One factor of a term.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// The parent, by its position among the parents.
    pub parent: usize,
    /// What is made of it.
    #[serde(flatten)]
    pub shape: Shape,
}

/// A function of one parent, in stored units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Shape {
    /// `max(0, x - cut)`.
    Above {
        /// The knot.
        cut: f64,
    },
    /// `max(0, cut - x)`.
    Below {
        /// The knot.
        cut: f64,
    },
    /// `x - origin`.
    Rising {
        /// Where it is zero.
        origin: f64,
    },
    /// `origin - x`.
    Falling {
        /// Where it is zero.
        origin: f64,
    },
    /// 1 where the parent has this level.
    Level {
        /// The level's code.
        code: u32,
    },
}

impl Shape {
    fn at(self, value: Value) -> f64 {
        match (self, value) {
            (Self::Above { cut }, Value::Real(x)) => (x - cut).max(0.0),
            (Self::Below { cut }, Value::Real(x)) => (cut - x).max(0.0),
            (Self::Rising { origin }, Value::Real(x)) => x - origin,
            (Self::Falling { origin }, Value::Real(x)) => origin - x,
            (Self::Level { code }, Value::Code(c)) => f64::from(u8::from(code == c)),
            _ => 0.0,
        }
    }

    /// Where it bends, if it does.
    fn knot(self) -> Option<f64> {
        match self {
            Self::Above { cut } | Self::Below { cut } => Some(cut),
            _ => None,
        }
    }

    fn is_finite(self) -> bool {
        match self {
            Self::Above { cut: x }
            | Self::Below { cut: x }
            | Self::Rising { origin: x }
            | Self::Falling { origin: x } => x.is_finite(),
            Self::Level { .. } => true,
        }
    }
}

/// What the sums are made into.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Response {
    /// A number: one sum.
    Number {
        /// Degrees of freedom of the residuals.
        df: f64,
        /// Their standard deviation.
        sd: f64,
    },
    /// Levels: a sum for each observed one.
    Levels {
        /// Codes of the observed levels.
        codes: Vec<u32>,
        /// Number of declared levels.
        n_levels: usize,
        /// The least that is said of any level, before dividing.
        floor: f64,
    },
}

/// A parent's values among the training rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Seen {
    /// Of a number.
    Number {
        /// The least.
        low: f64,
        /// One in the middle.
        middle: f64,
        /// The greatest.
        high: f64,
    },
    /// Of levels.
    Levels {
        /// The most frequent, by code.
        usual: u32,
    },
}

/// A fitted spline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spline {
    /// The variable it predicts.
    pub child: Var,
    /// The variables it reads, ascending.
    pub parents: Vec<Var>,
    /// Products of factors; the first is the intercept, without any.
    pub terms: Vec<Vec<Factor>>,
    /// Per sum, the coefficient of each term.
    pub coefficients: Vec<Vec<f64>>,
    /// What the sums are made into.
    pub response: Response,
    /// Per parent, its training values.
    pub seen: Vec<Seen>,
    /// Number of training rows.
    pub n_rows: usize,
    /// Residual sum of squares over all sums; of a number in the user's units.
    pub rss: f64,
    /// Generalised cross-validation, likewise; `None` for infinity, where the terms cost as much as there are rows.
    pub gcv: Option<f64>,
}

impl Spline {
    /// The sums for one row.
    pub fn sums(&self, parents: &[Value]) -> Vec<f64> {
        let mut sums = vec![0.0; self.coefficients.len()];
        for (j, term) in self.terms.iter().enumerate() {
            let mut product = 1.0;
            for factor in term {
                product *= factor.shape.at(parents[factor.parent]);
                if product == 0.0 {
                    break;
                }
            }
            if product != 0.0 {
                for (sum, coefficients) in sums.iter_mut().zip(&self.coefficients) {
                    *sum += coefficients[j] * product;
                }
            }
        }
        sums
    }

    /// Number of distinct knots.
    pub fn n_knots(&self) -> usize {
        let mut knots: Vec<(usize, u64)> = self
            .terms
            .iter()
            .flatten()
            .filter_map(|factor| factor.shape.knot().map(|cut| (factor.parent, cut.to_bits())))
            .collect();
        knots.sort_unstable();
        knots.dedup();
        knots.len()
    }
}

/// Cuts what is said of each level to `[floor, 1]` and divides by the total.
fn repaired(sums: &[f64], codes: &[u32], n_levels: usize, floor: f64) -> Vec<f64> {
    let mut probabilities = vec![floor; n_levels];
    for (&sum, &code) in sums.iter().zip(codes) {
        probabilities[code as usize] = sum.max(floor).min(1.0);
    }
    let total: f64 = probabilities.iter().sum();
    for p in &mut probabilities {
        *p /= total;
    }
    probabilities
}

impl Model for Spline {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        let sums = self.sums(parents);
        Cow::Owned(match &self.response {
            Response::Number { df, sd } => Predictive::StudentT { df: *df, location: sums[0], scale: *sd },
            Response::Levels { codes, n_levels, floor } => {
                Predictive::Levels { probabilities: repaired(&sums, codes, *n_levels, *floor) }
            }
        })
    }

    fn n_parameters(&self) -> usize {
        let own = match &self.response {
            Response::Number { .. } => self.terms.len() + 1,
            Response::Levels { n_levels, .. } => self.terms.len() * n_levels.saturating_sub(1),
        };
        own + self.n_knots()
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        let bad = |problem: &str| Err(Error::Shape(format!("the spline of '{}' {problem}", child.name)));
        let n_sums = match (&self.response, child.n_levels()) {
            (Response::Number { df, sd }, None) if *df > 0.0 && df.is_finite() && *sd > 0.0 && sd.is_finite() => 1,
            (Response::Levels { codes, n_levels, floor }, Some(k))
                if *n_levels == k
                    && codes.windows(2).all(|w| w[0] < w[1])
                    && codes.last().is_none_or(|&c| (c as usize) < k)
                    && *floor > 0.0
                    && *floor <= 1.0 =>
            {
                codes.len()
            }
            _ => return bad("is made for another kind of variable"),
        };
        if self.coefficients.len() != n_sums
            || self.coefficients.iter().any(|of| of.len() != self.terms.len() || of.iter().any(|c| !c.is_finite()))
        {
            return bad("has not one finite coefficient a term");
        }
        if self.seen.len() != self.parents.len() {
            return bad("does not say what values each parent had");
        }
        for factor in self.terms.iter().flatten() {
            let Some(&parent) = self.parents.get(factor.parent) else {
                return bad("names a variable that is not a parent");
            };
            let fits = match (factor.shape, variables[parent].n_levels()) {
                (Shape::Level { code }, Some(k)) => (code as usize) < k,
                (Shape::Level { .. }, None) | (_, Some(_)) => false,
                (shape, None) => shape.is_finite(),
            };
            if !fits {
                return bad("has a factor that does not fit its parent");
            }
        }
        let fits = |(seen, &parent): (&Seen, &Var)| match (seen, variables[parent].n_levels()) {
            (Seen::Number { low, middle, high }, None) => [low, middle, high].iter().all(|x| x.is_finite()),
            (Seen::Levels { usual }, Some(k)) => (*usual as usize) < k,
            _ => false,
        };
        if !self.seen.iter().zip(&self.parents).all(fits) {
            return bad("has seen values that do not fit its parents");
        }
        Ok(())
    }
}
