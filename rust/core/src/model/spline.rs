//! A spline (MARS): the child is a sum of products of hinges of its parents.
//!
//! A number is predicted with normal residuals whose variance was estimated, which is Student's t. Levels have one sum each,
//! which need not be probabilities: they are cut to `[floor, 1]` and divided by their total.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::outline::as_read;
use super::text::number;
use super::{Model, check_family};
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Kind, Level, Var, Variable};

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
            let Some(&parent) = self.parents.get(factor.parent) else { return bad("speaks of no parent of it") };
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

/// A spline in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The child's name.
    pub child: String,
    /// Its observed levels, none for a number.
    pub levels: Vec<Level>,
    /// All of its levels.
    pub declared: Vec<Level>,
    /// All terms, the intercept first.
    pub terms: Vec<ToldTerm>,
    /// Number of training rows.
    pub n: usize,
    /// Residual sum of squares.
    pub rss: f64,
    /// Generalised cross-validation; `None` for infinity.
    pub gcv: Option<f64>,
    /// Standard deviation of a number's residuals.
    pub sd: Option<f64>,
    /// Per parent, its training values.
    pub seen: Vec<ToldSeen>,
}

/// A term in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToldTerm {
    /// `h(age - 52) * [sex = f]`.
    pub text: String,
    /// One coefficient, or one for each observed level of the child.
    pub coefficients: Vec<f64>,
    /// Its factors.
    pub factors: Vec<ToldFactor>,
}

/// A factor in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToldFactor {
    /// The parent's name.
    pub variable: String,
    /// "above", "below", "rising", "falling" or "level".
    pub shape: &'static str,
    /// The knot or origin.
    pub at: Option<f64>,
    /// The level.
    pub level: Option<Level>,
}

/// A parent's training values in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToldSeen {
    /// The parent's name.
    pub variable: String,
    /// Least, middle and greatest number.
    pub numbers: Option<[f64; 3]>,
    /// The most frequent level.
    pub usual: Option<Level>,
    /// All levels.
    pub levels: Vec<Level>,
}

impl ToldFactor {
    fn text(&self) -> String {
        let name = &self.variable;
        let at = |x: f64| number(x, 6);
        match (self.shape, self.at, &self.level) {
            ("above", Some(x), _) if x < 0.0 => format!("h({name} + {})", at(-x)),
            ("above", Some(x), _) => format!("h({name} - {})", at(x)),
            ("below", Some(x), _) => format!("h({} - {name})", at(x)),
            ("rising", Some(0.0), _) => name.clone(),
            ("rising", Some(x), _) if x < 0.0 => format!("({name} + {})", at(-x)),
            ("rising", Some(x), _) => format!("({name} - {})", at(x)),
            ("falling", Some(x), _) => format!("({} - {name})", at(x)),
            (_, _, Some(level)) => format!("[{name} = {level}]"),
            _ => name.clone(),
        }
    }

    /// To stand behind "for every unit", if it is a number.
    fn by(&self) -> Option<String> {
        let name = &self.variable;
        match (self.shape, self.at) {
            ("rising", Some(0.0)) => Some(format!("of {name}")),
            ("above" | "rising", Some(x)) => Some(format!("that {name} is above {}", number(x, 6))),
            ("below" | "falling", Some(x)) => Some(format!("that {name} is below {}", number(x, 6))),
            _ => None,
        }
    }
}

impl ToldTerm {
    /// `rises by 0.8 for every unit that age is above 52, where sex = f`.
    fn sentence(&self, coefficient: f64, share: bool) -> String {
        let amount = |c: f64| if share { format!("{} points", number(100.0 * c, 4)) } else { number(c, 4) };
        if self.factors.is_empty() {
            return format!(
                "is {} to begin with",
                if share { number(100.0 * coefficient, 4) + "%" } else { number(coefficient, 4) }
            );
        }
        let verb = if coefficient < 0.0 { "falls" } else { "rises" };
        let mut out = format!("{verb} by {}", amount(coefficient.abs()));
        let by: Vec<String> = self.factors.iter().filter_map(ToldFactor::by).collect();
        if !by.is_empty() {
            let _ = write!(out, " for every unit {}", by.join(", times every unit "));
        }
        let levels = self.factors.iter().filter_map(|f| f.level.as_ref().map(|l| format!("{} = {l}", f.variable)));
        let levels: Vec<String> = levels.collect();
        if !levels.is_empty() {
            let _ = write!(out, "{} where {}", if by.is_empty() { "" } else { "," }, levels.join(" and "));
        }
        out
    }
}

/// More levels of a child than this are not told one by one.
const MOST_LEVELS: usize = 12;

impl Told {
    /// One sentence a term, and of a child with levels for each of them.
    pub fn sentences(&self) -> Vec<String> {
        if self.levels.is_empty() {
            let own = |term: &ToldTerm| format!("{} {}", self.child, term.sentence(term.coefficients[0], false));
            return self.terms.iter().map(own).collect();
        }
        let of = |(k, level): (usize, &Level)| {
            let subject = format!("the share of {} = {level}", self.child);
            let told = move |term: &ToldTerm| format!("{subject} {}", term.sentence(term.coefficients[k], true));
            self.terms.iter().filter(move |t| t.factors.is_empty() || t.coefficients[k] != 0.0).map(told)
        };
        self.levels.iter().enumerate().flat_map(of).collect()
    }

    /// Everything, line by line.
    pub fn text(&self, parents: &str) -> String {
        let mut out = self.child.clone();
        if !parents.is_empty() {
            let _ = write!(out, " given {parents}");
        }
        let n_levels = self.levels.len();
        if self.levels.is_empty() {
            for term in &self.terms {
                let _ = write!(out, "\n  {}", term.sentence(term.coefficients[0], false));
            }
        } else {
            // Of two levels one says it all.
            let shown = if n_levels == 2 { 1..2 } else { 0..n_levels.min(MOST_LEVELS) };
            for k in shown.clone() {
                let _ = write!(out, "\n  the share of {}", self.levels[k]);
                for term in self.terms.iter().filter(|t| t.factors.is_empty() || t.coefficients[k] != 0.0) {
                    let _ = write!(out, "\n    {}", term.sentence(term.coefficients[k], true));
                }
            }
            if n_levels > shown.end {
                let _ = write!(out, "\n  ... {} more levels", n_levels - shown.end);
            }
        }
        let sd = self.sd.map_or_else(String::new, |sd| format!(", residual sd {}", number(sd, 3)));
        let (rss, gcv) = (number(self.rss, 6), self.gcv.map_or_else(|| "infinite".to_owned(), |gcv| number(gcv, 6)));
        let terms = if self.terms.len() == 1 { "1 term".to_owned() } else { format!("{} terms", self.terms.len()) };
        let _ = write!(out, "\n  {terms}, {} rows{sd}, RSS {rss}, GCV {gcv}", self.n);
        out
    }
}

impl Spline {
    /// The spline in the user's units and words.
    pub fn told(&self, variables: &[Variable]) -> Told {
        let units = |v: Var| if let Kind::Continuous { scale } = variables[v].kind { Some(scale) } else { None };
        let levels = |v: Var| match &variables[v].kind {
            Kind::Categorical { levels } | Kind::Ordinal { levels } => levels.to_vec(),
            Kind::Continuous { .. } => vec![],
        };
        let child = units(self.child);
        let factor = |factor: &Factor| {
            let parent = self.parents[factor.parent];
            let at = |x: f64| units(parent).map(|scale| as_read(scale, x));
            let (shape, at, level) = match factor.shape {
                Shape::Above { cut } => ("above", at(cut), None),
                Shape::Below { cut } => ("below", at(cut), None),
                Shape::Rising { origin } => ("rising", at(origin), None),
                Shape::Falling { origin } => ("falling", at(origin), None),
                Shape::Level { code } => ("level", None, levels(parent).get(code as usize).cloned()),
            };
            ToldFactor { variable: variables[parent].name.to_string(), shape, at, level }
        };
        let term = |(j, term): (usize, &Vec<Factor>)| {
            let unit: f64 =
                term.iter().filter_map(|f| units(self.parents[f.parent])).map(|scale| scale.scale.abs()).product();
            let own = |coefficients: &Vec<f64>| match child {
                Some(scale) if term.is_empty() => scale.to_original(coefficients[j]),
                Some(scale) => coefficients[j] * scale.scale / unit,
                None => coefficients[j] / unit,
            };
            let factors: Vec<ToldFactor> = term.iter().map(factor).collect();
            let text = if factors.is_empty() {
                "1".to_owned()
            } else {
                factors.iter().map(ToldFactor::text).collect::<Vec<_>>().join(" * ")
            };
            ToldTerm { text, coefficients: self.coefficients.iter().map(own).collect(), factors }
        };
        let seen = |(seen, &parent): (&Seen, &Var)| {
            let (numbers, usual) = match *seen {
                Seen::Number { low, middle, high } => {
                    (units(parent).map(|scale| [low, middle, high].map(|x| as_read(scale, x))), None)
                }
                Seen::Levels { usual } => (None, levels(parent).get(usual as usize).cloned()),
            };
            ToldSeen { variable: variables[parent].name.to_string(), numbers, usual, levels: levels(parent) }
        };
        let (observed, sd) = match &self.response {
            Response::Number { sd, .. } => (vec![], child.map(|scale| sd * scale.scale)),
            Response::Levels { codes, .. } => {
                (codes.iter().map(|&c| levels(self.child)[c as usize].clone()).collect(), None)
            }
        };
        Told {
            child: variables[self.child].name.to_string(),
            levels: observed,
            declared: levels(self.child),
            terms: self.terms.iter().enumerate().map(term).collect(),
            n: self.n_rows,
            rss: self.rss,
            gcv: self.gcv,
            sd,
            seen: self.seen.iter().zip(&self.parents).map(seen).collect(),
        }
    }
}
