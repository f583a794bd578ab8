//! A model as its reader sees it: questions about the parents, answers in their own units and words, and what the child
//! then does. Every model that divides the parents' values into regions has an outline; text, rules and pictures are
//! made from its description.

use serde::Serialize;

use super::linear_leaf::LineDescription;
use super::ranges::{self, Range};
use super::{LocalModel, Wording};
use crate::predictive::{PointMass, Predictive, student_t};
use crate::table::{Kind, Level, NormalScores, Units, Var, Variable};

/// Some of a parent's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers `low <= x < high` in stored units; `None` is no bound.
    Range(Option<f64>, Option<f64>),
    /// Numbers `low <= x < high` in the user's units; `None` is no bound.
    Written(Option<f64>, Option<f64>),
    /// Ascending codes.
    Codes(Vec<u32>),
}

/// A region of the parents' values, or a question that divides one.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// A region with one distribution.
    Leaf {
        /// Number of training rows.
        n_rows: usize,
        /// What the child does here.
        predictive: Predictive,
    },
    /// A region where the child follows a formula of further parents.
    Regression {
        /// Number of training rows.
        n_rows: usize,
        /// What the child does where these parents are at their means.
        predictive: Predictive,
        /// The formula, in the user's units and names.
        formula: String,
    },
    /// A region where the child follows parents along a line.
    Line {
        /// Number of training rows.
        n_rows: usize,
        /// The line.
        line: LineDescription,
    },
    /// A question.
    Split {
        /// The parent asked about.
        parent: Var,
        /// Its values, and what follows for each.
        branches: Vec<(Values, Outline)>,
    },
    /// A part to which several ways lead, where it is met first.
    Named {
        /// What it is called.
        name: String,
        /// The part.
        outline: Box<Outline>,
    },
    /// A part that was met before.
    Again {
        /// What it is called.
        name: String,
    },
}

/// An outline in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The child's name.
    pub child: String,
    /// Its kind.
    pub kind: &'static str,
    /// Its levels, none for numbers.
    pub levels: Vec<Level>,
    /// The parents' names.
    pub parents: Vec<String>,
    /// The whole model.
    pub root: Described,
    /// What the child holds in place of plain numbers: `date`, `duration`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// Of a child on a logarithmic scale what is added before the logarithm is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<f64>,
    /// Of a child that is taken by its normal scores the knots of their curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<NormalScores>,
    /// What values that no branch covers predict, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Distribution>,
}

/// A node of a description.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Described {
    /// A question.
    Split {
        /// The parent's name.
        variable: String,
        /// The answers.
        branches: Vec<Branch>,
        /// What it is called, if several ways lead here.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A node that several ways lead to, on all ways but the first.
    Again {
        /// What it is called.
        again: String,
    },
    /// A distribution.
    Leaf {
        /// Number of training rows.
        n: usize,
        /// What it is called, if several ways lead here.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What the child does here; under a formula, where the parents in it are at their means (of a line, near them).
        #[serde(flatten)]
        distribution: Distribution,
        /// How it depends on further parents.
        #[serde(skip_serializing_if = "Option::is_none")]
        formula: Option<String>,
        /// The line that the formula tells of, if it is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<Box<LineDescription>>,
    },
}

/// An answer and what follows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Branch {
    /// The answer in words, to stand behind the variable's name.
    pub label: String,
    /// The answer itself.
    #[serde(flatten)]
    pub answer: Answer,
    /// What follows.
    pub node: Described,
}

/// Some of a parent's values, in the user's units and words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// `low <= x < high`.
    Range {
        /// No bound if `None`.
        low: Option<f64>,
        /// No bound if `None`.
        high: Option<f64>,
        /// Whether the bounds are said with all their digits, and not with as many as are read at a glance.
        #[serde(skip)]
        written: bool,
    },
    /// One of these levels.
    Levels {
        /// In their own order.
        levels: Vec<Level>,
        /// Whether these are more than half of all, so that naming the others is shorter.
        #[serde(skip)]
        others: Option<Vec<Level>>,
    },
}

/// A distribution in the user's units.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Distribution {
    /// By level.
    Levels {
        /// In the levels' order.
        probabilities: Vec<f64>,
    },
    /// Student's t.
    StudentT {
        /// Its centre.
        location: f64,
        /// Its scale.
        scale: f64,
        /// Degrees of freedom.
        df: f64,
        /// A number that has a probability of its own; all others are so distributed.
        #[serde(skip_serializing_if = "Option::is_none")]
        point: Option<Shared>,
    },
    /// Of a number `x` on a logarithmic scale: Student's t of `ln(x + log)`.
    LogStudentT {
        /// Its centre, as a logarithm.
        location: f64,
        /// Its scale, in logarithms.
        scale: f64,
        /// Degrees of freedom.
        df: f64,
        /// What is added before the logarithm is taken.
        log: f64,
        /// As of a Student t.
        #[serde(skip_serializing_if = "Option::is_none")]
        point: Option<Shared>,
    },
    /// Of a number that is taken by its normal score: Student's t of that.
    ScoredStudentT {
        /// Its centre, as a score.
        location: f64,
        /// Its scale, in scores.
        scale: f64,
        /// Degrees of freedom.
        df: f64,
        /// The curve from scores to numbers.
        scores: NormalScores,
        /// Below these are 10%, 50% and 90% of the numbers.
        deciles: [f64; 3],
        /// As of a Student t.
        #[serde(skip_serializing_if = "Option::is_none")]
        point: Option<Shared>,
    },
    /// Of whole numbers from 0 up.
    Counts {
        /// Their mean.
        mean: f64,
        /// Their standard deviation about it.
        sd: f64,
        /// The size of a negative binomial distribution; of none the rate is that of a gamma variable, of one the
        /// probability that of a beta variable.
        size: Option<f64>,
        /// The gamma variable's rate, or the beta variable's first parameter.
        a: f64,
        /// The gamma variable's shape, or the beta variable's second parameter.
        b: f64,
        /// As of a Student t.
        #[serde(skip_serializing_if = "Option::is_none")]
        point: Option<Shared>,
    },
    /// Of a number of any shape.
    Histogram {
        /// Where its cells begin, and where the last ends.
        edges: Vec<f64>,
        /// The probability of each cell; what is left over lies beyond the ends, half on either side.
        shares: Vec<f64>,
        /// Where most numbers are.
        ranges: Vec<Range>,
        /// The scales of the tails: below, above.
        tails: [f64; 2],
        /// The mean.
        mean: f64,
        /// The standard deviation.
        sd: f64,
        /// As of a Student t.
        #[serde(skip_serializing_if = "Option::is_none")]
        point: Option<Shared>,
    },
}

impl Shared {
    fn new(point: PointMass, child: &Variable) -> Self {
        let units = units(child);
        // The way there and back rounds.
        let value = units.point.map_or_else(|| as_read(units, point.at), |point| point.at);
        Self { value, probability: point.share }
    }
}

/// A number that has a probability of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shared {
    /// The number.
    pub value: f64,
    /// Its probability.
    pub probability: f64,
}

/// A Student t of a number on a logarithmic scale, in the user's units.
pub(super) struct AroundMedian {
    /// Half of all values are above it.
    pub median: f64,
    /// One standard deviation of the logarithm, as a factor of the median; with two degrees of freedom or less, which have
    /// none, one scale.
    pub factor: f64,
    /// The logarithm's standard deviation, or scale.
    pub spread: f64,
}

impl AroundMedian {
    pub fn new(location: f64, scale: f64, df: f64, log: f64) -> Self {
        let spread = if df > 2.0 { scale * (df / (df - 2.0)).sqrt() } else { scale };
        Self::of_spread(location, spread, log)
    }

    /// With a known standard deviation of the logarithm.
    pub fn of_spread(location: f64, spread: f64, log: f64) -> Self {
        let units = Units { log: Some(log), ..Units::IDENTITY };
        Self { median: units.to_original(location), factor: spread.exp(), spread }
    }
}

impl LocalModel {
    /// The model in the user's units and words; `None` for a kind that does not divide the parents' values into regions.
    pub fn describe(&self, variables: &[Variable], words: &dyn Wording) -> Option<Description> {
        let (outline, otherwise) = self.outline(variables)?;
        let child = &variables[self.child()];
        let (kind, levels) = match &child.kind {
            Kind::Continuous { .. } => ("continuous", Vec::new()),
            Kind::Categorical { levels } => ("categorical", levels.to_vec()),
            Kind::Ordinal { levels } => ("ordinal", levels.to_vec()),
        };
        Some(Description {
            child: child.name.to_string(),
            kind,
            levels,
            parents: self.parents().iter().map(|&p| variables[p].name.to_string()).collect(),
            root: described(&outline, child, variables, words),
            values: words.class(&child.name),
            log: units(child).log,
            scores: units(child).scores.clone(),
            otherwise: otherwise.map(|p| Distribution::new(&p, child)),
        })
    }

    /// A distribution of the child, in the user's units.
    pub fn in_units(&self, predictive: &Predictive, variables: &[Variable]) -> Distribution {
        Distribution::new(predictive, &variables[self.child()])
    }
}

fn described(outline: &Outline, child: &Variable, variables: &[Variable], words: &dyn Wording) -> Described {
    match outline {
        Outline::Leaf { n_rows, predictive } => Described::Leaf {
            n: *n_rows,
            name: None,
            distribution: Distribution::new(predictive, child),
            formula: None,
            line: None,
        },
        Outline::Regression { n_rows, predictive, formula } => Described::Leaf {
            n: *n_rows,
            name: None,
            distribution: Distribution::new(predictive, child),
            formula: Some(formula.clone()),
            line: None,
        },
        Outline::Line { n_rows, line } => Described::Leaf {
            n: *n_rows,
            name: None,
            distribution: Distribution::new(&line.predictive, child),
            formula: Some(line.text(&child.name, words)),
            line: Some(Box::new(line.clone())),
        },
        Outline::Named { name: called, outline } => {
            let mut node = described(outline, child, variables, words);
            if let Described::Leaf { name, .. } | Described::Split { name, .. } = &mut node {
                *name = Some(called.clone());
            }
            node
        }
        Outline::Again { name } => Described::Again { again: name.clone() },
        Outline::Split { parent, branches } => {
            let variable = &variables[*parent];
            let branch = |(values, inner): &(Values, Outline)| {
                let answer = Answer::new(values, variable);
                let label = answer.label(&variable.name, words);
                Branch { label, answer, node: described(inner, child, variables, words) }
            };
            let branches = branches.iter().map(branch).collect();
            Described::Split { variable: variable.name.to_string(), branches, name: None }
        }
    }
}

impl Distribution {
    fn new(predictive: &Predictive, child: &Variable) -> Self {
        let units = units(child);
        let point = predictive.point().map(|point| Shared::new(point, child));
        let (df, location, scale) = match predictive {
            Predictive::Levels { probabilities } => return Self::Levels { probabilities: probabilities.clone() },
            Predictive::Counts { counts, .. } => {
                let mean = counts.mean_count().unwrap_or(counts.b);
                return Self::Counts {
                    mean,
                    sd: counts.spread_count(),
                    size: counts.size,
                    a: counts.a,
                    b: counts.b,
                    point,
                };
            }
            Predictive::Histogram { histogram, .. } => {
                let edges: Vec<f64> = histogram.edges.iter().map(|&edge| as_read(units, edge)).collect();
                let shares: Vec<f64> = histogram.shares.iter().map(|share| histogram.inside() * share).collect();
                return Self::Histogram {
                    ranges: ranges::heaviest(&edges, &shares),
                    edges,
                    shares,
                    tails: histogram.tails.map(|tail| tail * units.scale),
                    mean: units.to_original(histogram.mean()),
                    sd: histogram.sd() * units.scale,
                    point,
                };
            }
            &Predictive::StudentT { df, location, scale } | &Predictive::Point { df, location, scale, .. } => {
                (df, location, scale)
            }
        };
        let (location, scale) = (units.affine().to_original(location), scale * units.scale);
        match (&units.scores, units.log) {
            (Some(of), _) => {
                let deciles = deciles(of, location, scale, df);
                Self::ScoredStudentT { location, scale, df, scores: of.clone(), deciles, point }
            }
            (None, Some(log)) => Self::LogStudentT { location, scale, df, log, point },
            (None, None) => Self::StudentT { location, scale, df, point },
        }
    }
}

impl Answer {
    /// Of stored values, in the user's terms. Ranges of an ordinal parent are its levels.
    fn new(values: &Values, variable: &Variable) -> Self {
        match (values, &variable.kind) {
            (&Values::Range(low, high), Kind::Continuous { scale }) => {
                let read = |bound: Option<f64>| bound.map(|x| as_read(scale, x));
                Self::Range { low: read(low), high: read(high), written: false }
            }
            (&Values::Written(low, high), _) => Self::Range { low, high, written: true },
            (&Values::Range(low, high), Kind::Categorical { levels } | Kind::Ordinal { levels }) => {
                let inside = |code: f64| low.is_none_or(|l| code >= l) && high.is_none_or(|h| code < h);
                let codes = (0..levels.len() as u32).filter(|&c| inside(f64::from(c))).collect();
                Self::new(&Values::Codes(codes), variable)
            }
            (Values::Codes(codes), Kind::Categorical { levels } | Kind::Ordinal { levels }) => {
                let chosen = |c: &usize| codes.binary_search(&(*c as u32)).is_ok();
                let of = |codes: &mut dyn Iterator<Item = usize>| codes.map(|c| levels[c].clone()).collect::<Vec<_>>();
                let others = of(&mut (0..levels.len()).filter(|c| !chosen(c)));
                let mentioned = !others.is_empty() && others.len() * 3 < levels.len() && levels.len() > 6;
                let levels = of(&mut (0..levels.len()).filter(chosen));
                Self::Levels { levels, others: mentioned.then_some(others) }
            }
            (Values::Codes(codes), Kind::Continuous { .. }) => {
                unreachable!("codes {codes:?} of the continuous parent '{}'", variable.name)
            }
        }
    }
}

/// A number of so many digits, or 0, if that is no farther from one than rounding leads.
pub(super) fn short_of(x: f64, digits: usize, rounding: f64) -> f64 {
    let short = format!("{x:.digits$e}").parse().unwrap_or(x);
    if x.abs() < rounding {
        0.0
    } else if (x - short).abs() < rounding {
        short
    } else {
        x
    }
}

/// The numbers below which 10%, 50% and 90% are, if their scores are a Student t.
pub(super) fn deciles(of: &NormalScores, location: f64, scale: f64, df: f64) -> [f64; 3] {
    let away = scale * student_t::quantile(df, 0.9);
    [location - away, location, location + away].map(|score| of.to_number(score))
}

/// A number's way back to the user's units; of a variable with levels the one that changes nothing.
pub(super) fn units(variable: &Variable) -> &Units {
    if let Kind::Continuous { scale } = &variable.kind { scale } else { &Units::IDENTITY }
}

/// A threshold in the user's units. Thresholds lie a very little below the number that is meant, and the way back rounds: if
/// there is a number of few decimals right there, that is it.
pub(super) fn as_read(scale: &Units, threshold: f64) -> f64 {
    let x = scale.to_original(threshold);
    if scale.is_bent() {
        return short_of(x, 8, 1e-11 * scale.slope(threshold));
    }
    let ten = 10_f64.powi((-scale.scale.log10().floor()).clamp(-290.0, 290.0) as i32);
    let rounded = |digits: f64| (x * ten * digits).round() / digits / ten;
    let short = rounded(1e6);
    if ((x - short) * ten).abs() < 5e-11 { short } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(kind: Kind) -> Variable {
        Variable { name: "x".into(), kind }
    }

    #[test]
    fn ranges_come_in_the_users_units() {
        let number = variable(Kind::Continuous { scale: Units { shift: 50.0, scale: 10.0, ..Units::IDENTITY } });
        let answer = Answer::new(&Values::Range(Some(-1.0), Some(0.5)), &number);
        assert_eq!(answer, Answer::Range { low: Some(40.0), high: Some(55.0), written: false });
    }

    #[test]
    fn thresholds_just_below_a_number_of_few_decimals_are_read_as_that() {
        let scale = Units { shift: 9.137, scale: 4.9, ..Units::IDENTITY };
        for x in [9.0, 0.225, -130.5, 2016.0] {
            assert_eq!(as_read(&scale, scale.to_stored(x) - 1e-12), x);
        }
        let x = 10.0 / 3.0;
        assert_eq!(as_read(&scale, scale.to_stored(x)), scale.to_original(scale.to_stored(x)));
        let large = Units { shift: 3e7, scale: 2e9, ..Units::IDENTITY };
        assert_eq!(as_read(&large, large.to_stored(5e9) - 1e-12), 5e9);
        for log in [0.0, 0.5] {
            let wages = Units { shift: 9.6, scale: 1.2, log: Some(log), ..Units::IDENTITY };
            assert_eq!(as_read(&wages, wages.to_stored(24_000.0) - 1e-13), 24_000.0);
            assert_eq!(as_read(&wages, wages.to_stored(0.375) - 1e-13), 0.375);
        }
        let delays: Vec<f64> = (-400..=400).map(|i| (f64::from(i) / 90.0).sinh()).collect();
        let scores = Some(NormalScores::of(&delays, None, None));
        let late = Units { shift: 0.1, scale: 0.9, scores, ..Units::IDENTITY };
        for x in [0.0, -12.0, 0.375, 31.5] {
            assert_eq!(as_read(&late, late.to_stored(x) - 1e-13), x);
        }
    }

    #[test]
    fn ranges_of_an_ordinal_parent_are_levels() {
        let levels = ["I", "II", "III", "IV"].map(|t| Level::Text(t.into()));
        let stage = variable(Kind::Ordinal { levels: levels.as_slice().into() });
        let answer = Answer::new(&Values::Range(Some(1.0), Some(3.0)), &stage);
        assert_eq!(answer, Answer::Levels { levels: levels[1..3].to_vec(), others: None });
    }
}
