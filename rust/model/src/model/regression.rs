//! Regressions within cells: per configuration of the parents that divide, a linear combination of terms of the others.
//!
//! The combination is the mean of a number, around which the child is Student t distributed; or one value per level: its
//! probability (then shrunk towards even shares until the least is positive), or its log-odds.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::divided::Divided;
use super::outline::Outline;
use super::text::number;
use super::{Model, check_family};
use crate::error::{Error, Result};
use crate::numeric::legendre;
use crate::predictive::{Predictive, Value};
use crate::table::{Affine, Kind, Level, Var, Variable};

/// What the combinations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The mean of a number.
    Mean,
    /// Probabilities of levels.
    Shares,
    /// Log-odds of levels.
    Logit,
}

/// A function of one parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "term", rename_all = "snake_case")]
pub enum Term {
    /// A power, or a Legendre polynomial, of `(x - centre) / scale` in stored units, `x` held within its range.
    Number {
        /// Position among the parents.
        parent: usize,
        /// Power or degree.
        degree: usize,
        /// Whether it is a Legendre polynomial.
        legendre: bool,
        /// What is subtracted.
        centre: f64,
        /// What is divided by.
        scale: f64,
        /// The ends of what was observed; none where the term is a straight line.
        range: Option<(f64, f64)>,
    },
    /// One if a parent has this code, else zero.
    Level {
        /// Position among the parents.
        parent: usize,
        /// The code.
        code: u32,
    },
}

impl Term {
    /// Position of its parent.
    pub fn parent_position(&self) -> usize {
        match self {
            Self::Number { parent, .. } | Self::Level { parent, .. } => *parent,
        }
    }

    /// Its value where the parent has this one.
    pub fn at(&self, value: Value) -> f64 {
        match (self, value) {
            (&Self::Number { degree, legendre: bent, centre, scale, range, .. }, Value::Real(x)) => {
                let x = range.map_or(x, |(low, high)| x.clamp(low, high));
                let z = (x - centre) / scale;
                if bent { legendre(degree, z) } else { z.powi(degree as i32) }
            }
            (Self::Level { code, .. }, Value::Code(c)) => f64::from(u8::from(*code == c)),
            _ => 0.0,
        }
    }

    /// Its coefficients in powers of the parent in the user's units, constant first.
    fn polynomial(&self, units: Affine) -> Vec<f64> {
        let Self::Number { degree, legendre: bent, centre, scale, .. } = *self else { return vec![0.0] };
        let slope = 1.0 / (units.scale * scale);
        let line = [-(units.shift + units.scale * centre) * slope, slope];
        let times = |p: &[f64], q: &[f64]| {
            let mut out = vec![0.0; p.len() + q.len() - 1];
            for (i, a) in p.iter().enumerate() {
                q.iter().enumerate().for_each(|(j, b)| out[i + j] += a * b);
            }
            out
        };
        if !bent {
            return (0..degree).fold(vec![1.0], |p, _| times(&p, &line));
        }
        let (mut before, mut now) = (vec![1.0], line.to_vec());
        for t in 1..degree {
            let t = t as f64;
            let mut next = times(&line, &now);
            for x in &mut next {
                *x *= (2.0 * t + 1.0) / (t + 1.0);
            }
            before.iter().enumerate().for_each(|(i, b)| next[i] -= t / (t + 1.0) * b);
            (before, now) = (now, next);
        }
        now
    }
}

/// One regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// Rows it was fitted with.
    pub n_rows: usize,
    /// The terms; combinations have a constant before them.
    pub terms: Vec<Term>,
    /// One combination for a number, one per level for levels.
    pub coefficients: Vec<Vec<f64>>,
    /// The parents' values that a reader is shown the child at: their means.
    pub centre: Vec<f64>,
    /// Scale and degrees of freedom around the mean of a number.
    pub spread: Option<(f64, f64)>,
}

impl Piece {
    /// A combination at values of the parents.
    fn value(&self, which: usize, parents: &[Value]) -> f64 {
        let b = &self.coefficients[which];
        let terms = self.terms.iter().zip(&b[1..]);
        b[0] + terms.map(|(term, b)| b * parents.get(term.parent_position()).map_or(0.0, |&v| term.at(v))).sum::<f64>()
    }

    fn predictive(&self, link: Link, parents: &[Value]) -> Predictive {
        if let Some((scale, df)) = self.spread {
            // Within what a density can be asked for, however far the parents are from what was seen.
            let location = self.value(0, parents).clamp(-1e150, 1e150);
            return Predictive::StudentT { df, location, scale };
        }
        let k = self.coefficients.len();
        let mut shares: Vec<f64> = (0..k).map(|level| self.value(level, parents)).collect();
        if link == Link::Logit {
            let top = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for x in &mut shares {
                *x = (*x - top).exp();
            }
        }
        repair(&mut shares, self.n_rows);
        Predictive::Levels { probabilities: shares }
    }
}

/// Makes values that sum to about one, or are positive, probabilities of which the least is `1 / (n + K)` or more.
pub fn repair(shares: &mut [f64], n_rows: usize) {
    let k = shares.len() as f64;
    let total: f64 = shares.iter().sum();
    if !(total.is_finite() && total > 0.0) {
        shares.fill(1.0 / k);
        return;
    }
    for p in shares.iter_mut() {
        *p /= total;
    }
    let least = 1.0 / (n_rows as f64 + k);
    let lowest = shares.iter().copied().fold(f64::INFINITY, f64::min);
    if lowest < least && k > 1.0 {
        let alpha = (least - 1.0 / k) / (lowest - 1.0 / k);
        for p in shares.iter_mut() {
            *p = alpha * *p + (1.0 - alpha) / k;
        }
    }
    // What rounding left over.
    let total: f64 = shares.iter().sum();
    for p in shares.iter_mut() {
        *p = (*p / total).clamp(0.0, 1.0);
    }
}

/// Regressions by configurations of some parents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    child: Var,
    parents: Vec<Var>,
    link: Link,
    pieces: Divided<Piece>,
}

impl Regression {
    /// Puts regressions together.
    pub fn new(child: Var, parents: Vec<Var>, link: Link, pieces: Divided<Piece>) -> Self {
        Self { child, parents, link, pieces }
    }

    /// The regressions.
    pub fn pieces(&self) -> &Divided<Piece> {
        &self.pieces
    }

    fn leaf(&self, piece: &Piece, n_rows: usize, variables: &[Variable]) -> Outline {
        let at = |(i, &p): (usize, &Var)| {
            if variables[p].is_continuous() { Value::Real(piece.centre[i]) } else { Value::Code(u32::MAX) }
        };
        let centre: Vec<Value> = self.parents.iter().enumerate().map(at).collect();
        let predictive = piece.predictive(self.link, &centre);
        let formula = self.formula(piece, variables);
        Outline::Regression { n_rows, predictive, formula }
    }

    /// What is combined, in the user's units and names.
    fn formula(&self, piece: &Piece, variables: &[Variable]) -> String {
        let child = &variables[self.child];
        match &child.kind {
            Kind::Continuous { scale } => {
                let of = if scale.is_bent() { format!(" {}", child.affine_name()) } else { String::new() };
                format!("mean{of} = {}", self.combination(piece, &piece.coefficients[0], scale.affine(), variables))
            }
            Kind::Categorical { levels } | Kind::Ordinal { levels } => {
                let zero = |b: &Vec<f64>| b.iter().all(|b| *b == 0.0);
                let reference = levels.iter().zip(&piece.coefficients).find(|(_, b)| zero(b)).map(|(level, _)| level);
                let one = |(level, b): (&Level, &Vec<f64>)| {
                    let of = self.combination(piece, b, Affine::IDENTITY, variables);
                    match (self.link, reference) {
                        (Link::Logit, Some(reference)) => {
                            (level != reference).then(|| format!("log odds {level} to {reference} = {of}"))
                        }
                        _ => Some(format!("share {level} = {of}")),
                    }
                };
                levels.iter().zip(&piece.coefficients).filter_map(one).collect::<Vec<_>>().join("; ")
            }
        }
    }

    fn combination(&self, piece: &Piece, b: &[f64], units: Affine, variables: &[Variable]) -> String {
        let mut constant = units.to_original(b[0]);
        let mut out = String::new();
        let mut add = |coefficient: f64, of: &str| {
            if coefficient != 0.0 {
                let sign = if coefficient < 0.0 { "-" } else { "+" };
                let _ = write!(out, " {sign} {} {of}", number(coefficient.abs(), 4));
            }
        };
        for position in 0..self.parents.len() {
            let variable = &variables[self.parents[position]];
            let own = || piece.terms.iter().zip(&b[1..]).filter(|(t, _)| t.parent_position() == position);
            match &variable.kind {
                Kind::Continuous { scale } => {
                    let name = variable.affine_name();
                    let mut powers: Vec<f64> = vec![0.0];
                    for (term, b) in own() {
                        let more = term.polynomial(scale.affine());
                        powers.resize(powers.len().max(more.len()), 0.0);
                        powers.iter_mut().zip(more).for_each(|(p, m)| *p += units.scale * b * m);
                    }
                    if powers.iter().any(|p| !p.is_finite()) {
                        // Units so small or large that their powers are no numbers: the terms as they were fitted.
                        for (term, b) in own() {
                            if let Term::Number { degree, legendre, .. } = term {
                                let of = if *legendre { "P" } else { "z" };
                                add(units.scale * b, &format!("{of}{degree}({name})"));
                            }
                        }
                        continue;
                    }
                    constant += powers[0];
                    for (power, p) in powers.iter().enumerate().skip(1) {
                        let of = if power == 1 { name.to_string() } else { format!("{name}^{power}") };
                        add(*p, &of);
                    }
                }
                Kind::Categorical { levels } | Kind::Ordinal { levels } => {
                    for (term, b) in own() {
                        if let Term::Level { code, .. } = term {
                            add(units.scale * b, &format!("[{} = {}]", variable.name, levels[*code as usize]));
                        }
                    }
                }
            }
        }
        format!("{}{out}", number(constant, 4))
    }

    fn sound(&self, piece: &Piece, variables: &[Variable]) -> bool {
        let child = &variables[self.child];
        let term = |term: &Term| {
            let Some(&parent) = self.parents.get(term.parent_position()) else { return false };
            let variable = &variables[parent];
            match *term {
                Term::Number { degree, centre, scale, range, .. } => {
                    variable.is_continuous()
                        && (1..=64).contains(&degree)
                        && centre.is_finite()
                        && scale.is_finite()
                        && scale > 0.0
                        && range.is_none_or(|(low, high)| low.is_finite() && high.is_finite() && low <= high)
                }
                Term::Level { code, .. } => variable.n_levels().is_some_and(|k| (code as usize) < k),
            }
        };
        let combination = |b: &Vec<f64>| b.len() == piece.terms.len() + 1 && b.iter().all(|x| x.is_finite());
        let outputs = child.n_levels().unwrap_or(1);
        let spread = |&(scale, df): &(f64, f64)| (1e-150..=1e150).contains(&scale) && (1e-3..=1e15).contains(&df);
        piece.terms.iter().all(term)
            && piece.coefficients.len() == outputs
            && outputs > 0
            && piece.coefficients.iter().all(combination)
            && piece.centre.len() == self.parents.len()
            && piece.centre.iter().all(|x| x.is_finite())
            && piece.spread.is_some() == child.is_continuous()
            && piece.spread.as_ref().is_none_or(spread)
    }
}

impl Model for Regression {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        Cow::Owned(self.pieces.find(parents).predictive(self.link, parents))
    }

    fn n_parameters(&self) -> usize {
        let of = |piece: &Piece| {
            let free = if piece.spread.is_some() { 1 } else { piece.coefficients.len().saturating_sub(1) };
            free * (piece.terms.len() + 1) + usize::from(piece.spread.is_some())
        };
        self.pieces.observed().iter().map(of).sum()
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let leaf = |piece: &Piece, n_rows: usize| self.leaf(piece, n_rows, variables);
        let (outline, more) = self.pieces.outline(&self.parents, variables, &leaf);
        let otherwise = more.then(|| match self.leaf(self.pieces.otherwise(), 0, variables) {
            Outline::Regression { predictive, .. } => predictive,
            _ => unreachable!("a leaf is a regression"),
        });
        Some((outline, otherwise))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        self.pieces.check(child, &self.parents, variables)?;
        if (self.link == Link::Mean) != child.is_continuous() || !self.pieces.iter().all(|p| self.sound(p, variables)) {
            return Err(Error::Shape(format!("a regression of '{}' does not fit its variables", child.name)));
        }
        Ok(())
    }
}
