//! A regression on blocks of features: parents and child each in a scale of their own, as the score of the same name has them.
//!
//! A number is read by its normal score, as it is, or by its logarithm, and beside that by Legendre polynomials of its share
//! of the rows; ordered levels by powers of their normal scores, categories by indicators. A number's prediction comes
//! back through the same scale: its median is what stands at the regression's value, its spread half of what lies
//! between one standard deviation below and above.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::outline::Outline;
use super::regression::repair;
use super::text::number;
use super::{Model, check_family};
use crate::error::{Error, Result};
use crate::numeric::ranks::share_below;
use crate::numeric::{Log, legendre};
use crate::predictive::{Predictive, Value};
use crate::table::{Kind, Level, Var, Variable};

/// Values of a number, ascending, and the normal score of each; a line between two of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knots {
    /// In stored units.
    pub values: Vec<f64>,
    /// Ascending too.
    pub scores: Vec<f64>,
}

impl Knots {
    /// The score of a value, which is held within what was seen.
    fn score(&self, x: f64) -> f64 {
        between(&self.values, &self.scores, x.clamp(self.values[0], self.values[self.values.len() - 1]))
    }

    fn is_sound(&self) -> bool {
        let ascending = |x: &[f64]| x.iter().all(|x| x.is_finite()) && x.is_sorted_by(|a, b| a < b);
        !self.values.is_empty()
            && self.values.len() == self.scores.len()
            && ascending(&self.values)
            && ascending(&self.scores)
    }
}

/// The line through knots at `x`; beyond the ends the outermost goes on.
fn between(at: &[f64], height: &[f64], x: f64) -> f64 {
    let last = at.len() - 1;
    if last == 0 {
        return height[0];
    }
    let i = at.partition_point(|knot| *knot <= x).clamp(1, last);
    let share = (x - at[i - 1]) / (at[i] - at[i - 1]);
    height[i - 1] + share * (height[i] - height[i - 1])
}

/// How a number is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "warp", rename_all = "snake_case")]
pub enum Warp {
    /// By its normal score.
    Ranks {
        /// The scores.
        knots: Knots,
    },
    /// As it is: `(x - shift) / scale`.
    Straight {
        /// In stored units.
        shift: f64,
        /// In stored units.
        scale: f64,
    },
    /// By its logarithm.
    Log {
        /// Which.
        log: Log,
    },
}

impl Warp {
    /// A value in this scale.
    pub fn score(&self, x: f64) -> f64 {
        match self {
            Self::Ranks { knots } => knots.score(x),
            Self::Straight { shift, scale } => (x - shift) / scale,
            Self::Log { log } => log.at(x),
        }
    }

    /// The value, in stored units, at a score.
    fn back(&self, score: f64) -> f64 {
        match self {
            Self::Ranks { knots } => between(&knots.scores, &knots.values, score),
            Self::Straight { shift, scale } => shift + scale * score,
            Self::Log { log } => log.back(score),
        }
    }

    fn said(&self, variable: &Variable) -> String {
        let name = &variable.name;
        match self {
            Self::Ranks { .. } => format!("score({name})"),
            Self::Straight { .. } => format!("z({})", variable.affine_name()),
            Self::Log { log } => {
                if log.one_more {
                    format!("ln(1 + {name})")
                } else {
                    format!("ln({name})")
                }
            }
        }
    }

    fn is_sound(&self) -> bool {
        match self {
            Self::Ranks { knots } => knots.is_sound(),
            Self::Straight { shift, scale } => shift.is_finite() && scale.is_finite() && *scale > 0.0,
            Self::Log { log } => log.units.is_sound(),
        }
    }
}

/// How a parent is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reading", rename_all = "snake_case")]
pub enum Reading {
    /// A number.
    Number {
        /// For its first feature.
        first: Warp,
        /// For the others.
        ranks: Knots,
    },
    /// Levels.
    Levels {
        /// The normal score of each code.
        scores: Vec<f64>,
    },
}

/// A function of one parent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "feature", rename_all = "snake_case")]
pub enum Feature {
    /// A number in its scale, or from degree 2 on a Legendre polynomial of its share of the rows.
    Number {
        /// Position among the parents.
        parent: usize,
        /// Of the polynomial.
        degree: usize,
    },
    /// A power of an ordered level's normal score.
    Order {
        /// Position among the parents.
        parent: usize,
        /// The power.
        power: usize,
    },
    /// One if a parent has this code, else zero.
    Level {
        /// Position among the parents.
        parent: usize,
        /// The code.
        code: u32,
    },
}

impl Feature {
    /// Position of its parent.
    pub fn parent(&self) -> usize {
        match self {
            Self::Number { parent, .. } | Self::Order { parent, .. } | Self::Level { parent, .. } => *parent,
        }
    }

    /// Its value where the parent, read so, has this one.
    pub fn of(&self, reading: &Reading, value: Value) -> f64 {
        match (self, reading, value) {
            (&Self::Number { degree, .. }, Reading::Number { first, ranks }, Value::Real(x)) => {
                let x = x.clamp(ranks.values[0], ranks.values[ranks.values.len() - 1]);
                if degree == 1 { first.score(x) } else { legendre(degree, 2.0 * share_below(ranks.score(x)) - 1.0) }
            }
            (&Self::Order { power, .. }, Reading::Levels { scores }, Value::Code(code)) => {
                scores.get(code as usize).map_or(0.0, |z| z.powi(power as i32))
            }
            (Self::Level { code, .. }, _, Value::Code(c)) => f64::from(u8::from(*code == c)),
            _ => 0.0,
        }
    }
}

/// A regression of a child, in its scale, on features of its parents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blocks {
    child: Var,
    parents: Vec<Var>,
    n_rows: usize,
    readings: Vec<Reading>,
    /// Of a number.
    warp: Option<Warp>,
    features: Vec<Feature>,
    /// One combination for a number, one per level for levels; constant first.
    coefficients: Vec<Vec<f64>>,
    /// The features' means, where a reader is shown the child.
    means: Vec<f64>,
    /// Scale and degrees of freedom around a number's score.
    spread: Option<(f64, f64)>,
}

impl Blocks {
    /// Puts a regression together.
    #[allow(clippy::too_many_arguments)] // its parts, as they come
    pub fn new(
        child: Var,
        parents: Vec<Var>,
        n_rows: usize,
        readings: Vec<Reading>,
        warp: Option<Warp>,
        features: Vec<Feature>,
        coefficients: Vec<Vec<f64>>,
        means: Vec<f64>,
        spread: Option<(f64, f64)>,
    ) -> Self {
        Self { child, parents, n_rows, readings, warp, features, coefficients, means, spread }
    }

    fn at(&self, features: &[f64]) -> Predictive {
        let combination = |b: &Vec<f64>| b[0] + features.iter().zip(&b[1..]).map(|(x, b)| x * b).sum::<f64>();
        if let (Some(warp), Some((spread, df))) = (&self.warp, self.spread) {
            let score = combination(&self.coefficients[0]);
            let [low, middle, high] = [-spread, 0.0, spread].map(|by| warp.back(score + by).clamp(-1e150, 1e150));
            return Predictive::StudentT { df, location: middle, scale: ((high - low) / 2.0).clamp(1e-140, 1e140) };
        }
        let mut shares: Vec<f64> = self.coefficients.iter().map(combination).collect();
        repair(&mut shares, self.n_rows);
        Predictive::Levels { probabilities: shares }
    }

    fn formula(&self, variables: &[Variable]) -> String {
        let child = &variables[self.child];
        match (&self.warp, &child.kind) {
            (Some(warp), _) => {
                format!("{} = {}", warp.said(child), self.combination(&self.coefficients[0], variables))
            }
            (None, Kind::Categorical { levels } | Kind::Ordinal { levels }) => {
                let one =
                    |(level, b): (&Level, &Vec<f64>)| format!("share {level} = {}", self.combination(b, variables));
                levels.iter().zip(&self.coefficients).map(one).collect::<Vec<_>>().join("; ")
            }
            (None, Kind::Continuous { .. }) => String::new(),
        }
    }

    fn combination(&self, b: &[f64], variables: &[Variable]) -> String {
        let mut out = number(b[0], 4);
        for (feature, b) in self.features.iter().zip(&b[1..]).filter(|(_, b)| **b != 0.0) {
            let variable = &variables[self.parents[feature.parent()]];
            let name = &variable.name;
            let of = match (feature, &self.readings[feature.parent()], &variable.kind) {
                (Feature::Number { degree: 1, .. }, Reading::Number { first, .. }, _) => first.said(variable),
                (Feature::Number { degree, .. }, ..) => format!("P{degree}({name})"),
                (Feature::Order { power: 1, .. }, ..) => format!("score({name})"),
                (Feature::Order { power, .. }, ..) => format!("score({name})^{power}"),
                (Feature::Level { code, .. }, _, Kind::Categorical { levels } | Kind::Ordinal { levels }) => {
                    format!("[{name} = {}]", levels[*code as usize])
                }
                (Feature::Level { code, .. }, ..) => format!("[{name} = {code}]"),
            };
            let _ = write!(out, " {} {} {of}", if *b < 0.0 { "-" } else { "+" }, number(b.abs(), 4));
        }
        out
    }

    fn is_sound(&self, variables: &[Variable]) -> bool {
        let child = &variables[self.child];
        let reading = |(reading, &p): (&Reading, &Var)| match (reading, variables[p].n_levels()) {
            (Reading::Number { first, ranks }, None) => first.is_sound() && ranks.is_sound(),
            (Reading::Levels { scores }, Some(k)) => scores.len() == k && scores.iter().all(|z| z.is_finite()),
            _ => false,
        };
        let feature = |feature: &Feature| {
            let Some(&p) = self.parents.get(feature.parent()) else { return false };
            match (*feature, variables[p].n_levels()) {
                (Feature::Number { degree, .. }, None) => (1..=64).contains(&degree),
                (Feature::Order { power, .. }, Some(_)) => (1..=64).contains(&power),
                (Feature::Level { code, .. }, Some(k)) => (code as usize) < k,
                _ => false,
            }
        };
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let combination = |b: &Vec<f64>| b.len() == self.features.len() + 1 && finite(b);
        let spread = |&(scale, df): &(f64, f64)| (1e-150..=1e150).contains(&scale) && (1e-3..=1e15).contains(&df);
        self.readings.len() == self.parents.len()
            && self.readings.iter().zip(&self.parents).all(reading)
            && self.features.iter().all(feature)
            && self.coefficients.len() == child.n_levels().unwrap_or(1)
            && !self.coefficients.is_empty()
            && self.coefficients.iter().all(combination)
            && self.means.len() == self.features.len()
            && finite(&self.means)
            && self.warp.is_some() == child.is_continuous()
            && self.warp.as_ref().is_none_or(Warp::is_sound)
            && self.spread.is_some() == child.is_continuous()
            && self.spread.as_ref().is_none_or(spread)
    }
}

impl Model for Blocks {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        let of = |feature: &Feature| {
            let at = feature.parent();
            parents.get(at).map_or(0.0, |&value| feature.of(&self.readings[at], value))
        };
        Cow::Owned(self.at(&self.features.iter().map(of).collect::<Vec<_>>()))
    }

    fn n_parameters(&self) -> usize {
        let free = if self.spread.is_some() { 1 } else { self.coefficients.len() - 1 };
        free * (self.features.len() + 1) + usize::from(self.spread.is_some())
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let (n_rows, predictive, formula) = (self.n_rows, self.at(&self.means), self.formula(variables));
        Some((Outline::Regression { n_rows, predictive, formula }, None))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child, &self.parents, variables)?;
        if self.is_sound(variables) {
            return Ok(());
        }
        let name = &variables[self.child].name;
        Err(Error::Shape(format!("the regression on features of '{name}' does not fit its variables")))
    }
}
