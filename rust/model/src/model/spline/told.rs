//! A spline in the user's units and words, as data.

use serde::Serialize;

use super::{Factor, Response, Seen, Shape, Spline};
use crate::model::Wording;
use crate::model::outline::as_read;
use crate::table::{Kind, Level, NormalScores, Units, Variable};

/// A spline in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The child's name; `ln(y)` on a logarithmic scale, whose terms add up to that.
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
    /// As the term reads it: `ln(x)` on a logarithmic scale, `score(x)` by normal scores.
    #[serde(skip)]
    pub name: String,
    /// What is added to its numbers before their logarithms are taken, on such a scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<f64>,
    /// The knots of its normal scores, if it is taken by these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<NormalScores>,
    /// "above", "below", "rising", "falling" or "level".
    pub shape: &'static str,
    /// The knot or origin, on a logarithmic scale as a logarithm, by normal scores as a score.
    pub at: Option<f64>,
    /// The level.
    pub level: Option<Level>,
    /// `h(age - 52)`, `h(joined - 2021-03-04)` or `[sex = f]`.
    pub text: String,
    /// The knot or origin as it is said, if it is no plain number.
    #[serde(skip)]
    pub said: Option<String>,
    /// What distances from it are counted in, if not in the parent's unit: name and size.
    #[serde(skip)]
    pub unit: Option<(String, f64)>,
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

/// A spline, its variables, and how their numbers are written.
struct Teller<'a> {
    spline: &'a Spline,
    variables: &'a [Variable],
    words: &'a dyn Wording,
}

impl Spline {
    /// The spline in the user's units and words.
    pub fn told(&self, variables: &[Variable], words: &dyn Wording) -> Told {
        let teller = Teller { spline: self, variables, words };
        let child = &variables[self.child];
        let (levels, sd) = match &self.response {
            Response::Number { sd, .. } => (vec![], units(child).map(|scale| sd * scale.scale)),
            Response::Levels { codes, .. } => {
                (codes.iter().map(|&c| levels_of(child)[c as usize].clone()).collect(), None)
            }
        };
        Told {
            child: child.affine_name().into_owned(),
            levels,
            declared: levels_of(child).to_vec(),
            terms: (0..self.terms.len()).map(|term| teller.term(term)).collect(),
            n: self.n_rows,
            rss: self.rss,
            gcv: self.gcv,
            sd,
            seen: (0..self.parents.len()).map(|position| teller.seen(position)).collect(),
        }
    }
}

impl Teller<'_> {
    fn parent(&self, position: usize) -> &Variable {
        &self.variables[self.spline.parents[position]]
    }

    fn term(&self, place: usize) -> ToldTerm {
        let term = &self.spline.terms[place];
        let unit: f64 =
            term.iter().filter_map(|f| units(self.parent(f.parent))).map(|scale| scale.scale.abs()).product();
        let own = |coefficients: &Vec<f64>| match units(&self.variables[self.spline.child]) {
            Some(scale) if term.is_empty() => scale.affine().to_original(coefficients[place]),
            Some(scale) => coefficients[place] * scale.scale / unit,
            None => coefficients[place] / unit,
        };
        let factors: Vec<ToldFactor> = term.iter().map(|factor| self.factor(factor)).collect();
        let text = if factors.is_empty() {
            "1".to_owned()
        } else {
            factors.iter().map(|factor| factor.text.as_str()).collect::<Vec<_>>().join(" * ")
        };
        ToldTerm { text, coefficients: self.spline.coefficients.iter().map(own).collect(), factors }
    }

    fn factor(&self, factor: &Factor) -> ToldFactor {
        let parent = self.parent(factor.parent);
        let (log, scores) = units(parent).map_or((None, None), |scale| (scale.log, scale.scores.clone()));
        let is_bent = log.is_some() || scores.is_some();
        let at = |x: f64| units(parent).map(|scale| as_read(&scale.affine().into(), x));
        let (shape, at, level) = match factor.shape {
            Shape::Above { cut } => ("above", at(cut), None),
            Shape::Below { cut } => ("below", at(cut), None),
            Shape::Rising { origin } => ("rising", at(origin), None),
            Shape::Falling { origin } => ("falling", at(origin), None),
            Shape::Level { code } => ("level", None, levels_of(parent).get(code as usize).cloned()),
        };
        let spread = self.seen(factor.parent).numbers.map(|[low, _, high]| high - low);
        let mut told = ToldFactor {
            variable: parent.name.to_string(),
            name: parent.affine_name().into_owned(),
            log,
            scores,
            shape,
            at,
            level,
            text: String::new(),
            said: at.filter(|_| !is_bent).and_then(|x| self.words.value(&parent.name, x)),
            unit: spread.filter(|_| !is_bent).and_then(|spread| self.words.unit(&parent.name, spread)),
        };
        told.text = told.product();
        told
    }

    fn seen(&self, position: usize) -> ToldSeen {
        let parent = self.parent(position);
        let levels = levels_of(parent);
        let (numbers, usual) = match self.spline.seen[position] {
            Seen::Number { low, middle, high } => {
                (units(parent).map(|scale| [low, middle, high].map(|x| as_read(scale, x))), None)
            }
            Seen::Levels { usual } => (None, levels.get(usual as usize).cloned()),
        };
        ToldSeen { variable: parent.name.to_string(), numbers, usual, levels: levels.to_vec() }
    }
}

fn units(variable: &Variable) -> Option<&Units> {
    if let Kind::Continuous { scale } = &variable.kind { Some(scale) } else { None }
}

fn levels_of(variable: &Variable) -> &[Level] {
    match &variable.kind {
        Kind::Categorical { levels } | Kind::Ordinal { levels } => levels,
        Kind::Continuous { .. } => &[],
    }
}
