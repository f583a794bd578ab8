//! Descriptions of models as text: a tree drawn with lines, and rules in sentences.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::Wording;
use super::linear_leaf::LineDescription;
use super::outline::{Answer, AroundMedian, Branch, Described, Description, Distribution};
use super::ranges::Range;
use crate::table::Level;

/// A number with so many significant digits, without trailing zeros.
pub(super) fn number(x: f64, digits: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{}", x + 0.0);
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-5..15).contains(&exponent) {
        return format!("{:.*e}", digits.max(1) as usize - 1, x);
    }
    let text = format!("{:.*}", (digits - 1 - exponent).max(0) as usize, x);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number with all its digits.
fn exactly(x: f64) -> String {
    let plain = x == 0.0 || (1e-5..1e15).contains(&x.abs());
    if plain { format!("{}", x + 0.0) } else { format!("{x:e}") }
}

/// The factor of a leaf with next to no rows is beyond all sense, or beyond all numbers.
const MOST_TIMES: f64 = 1e6;

/// A factor: `1.65`, `over 1000000`.
pub(super) fn times(factor: f64) -> String {
    if factor > MOST_TIMES { format!("over {MOST_TIMES}") } else { number(factor, 3) }
}

fn percent(p: f64) -> String {
    match p * 100.0 {
        p if p > 0.0 && p < 0.5 => "<1%".to_owned(),
        p if (99.5..100.0).contains(&p) => ">99%".to_owned(),
        p => format!("{p:.0}%"),
    }
}

/// Levels as `= a`, or `in {a, b}`; more than this many are cut short.
const MOST_LEVELS: usize = 12;

fn set(levels: &[Level]) -> String {
    let shown: Vec<String> = levels.iter().take(MOST_LEVELS).map(Level::to_string).collect();
    let rest = levels.len() - shown.len();
    let more = if rest > 0 { format!(", ... {rest} more") } else { String::new() };
    format!("{{{}{more}}}", shown.join(", "))
}

impl Answer {
    /// To stand behind the variable's name: `< 55`, `= II`, `in {I, II}`.
    pub(super) fn label(&self, variable: &str, words: &dyn Wording) -> String {
        let in_full = matches!(self, Self::Range { written: true, .. });
        let end = |x: f64| {
            if in_full {
                return words.cut(variable, x).unwrap_or_else(|| exactly(x));
            }
            words.threshold(variable, x).unwrap_or_else(|| number(x, 6))
        };
        match self {
            Self::Range { low: None, high: None, .. } => "is anything".to_owned(),
            Self::Range { low: Some(low), high: None, .. } => format!(">= {}", end(*low)),
            Self::Range { low: None, high: Some(high), .. } => format!("< {}", end(*high)),
            Self::Range { low: Some(low), high: Some(high), .. } => format!("in [{}, {})", end(*low), end(*high)),
            Self::Levels { levels, others: None } if levels.len() == 1 => format!("= {}", levels[0]),
            Self::Levels { others: Some(others), .. } if others.len() == 1 => format!("!= {}", others[0]),
            Self::Levels { others: Some(others), .. } => format!("not in {}", set(others)),
            Self::Levels { levels, others: None } => format!("in {}", set(levels)),
        }
    }
}

/// A description, and how its numbers are said.
struct Teller<'a> {
    description: &'a Description,
    words: &'a dyn Wording,
}

impl Description {
    /// The model drawn as a tree, one line a question's answer; a leaf stands behind its last answer.
    pub fn text(&self, words: &dyn Wording) -> String {
        Teller { description: self, words }.text()
    }

    /// One sentence a leaf: `if age >= 52.3 and stage in {II, III} then y: yes 81%  no 19%  (n=52)`. A leaf to which
    /// several ways lead has one sentence with all of them, up to a dozen.
    pub fn rules(&self, words: &dyn Wording) -> Vec<String> {
        Teller { description: self, words }.rules()
    }

    /// Every leaf with what leads there: one condition a variable, in the order of the questions.
    pub fn leaves<'a>(&'a self, words: &'a dyn Wording) -> Vec<LeafDescription<'a>> {
        let mut walk = Walk::new(words);
        walk.name(&self.root);
        walk.collect(&self.root, &[]);
        walk.leaves
    }
}

impl Teller<'_> {
    /// `12% 0, else ` of a number that has a probability of its own; nothing where none of the leaf's rows holds it, and the
    /// probability is that of the prior.
    fn says_shared(&self, distribution: &Distribution, n: usize) -> String {
        let (Distribution::StudentT { point: Some(point), .. }
        | Distribution::LogStudentT { point: Some(point), .. }
        | Distribution::ScoredStudentT { point: Some(point), .. }
        | Distribution::Counts { point: Some(point), .. }
        | Distribution::Histogram { point: Some(point), .. }) = distribution
        else {
            return String::new();
        };
        if point.probability * (n as f64 + 1.0) < 1.0 {
            return String::new();
        }
        let value = self.words.value(&self.description.child, point.value);
        format!("{} {}, else ", percent(point.probability), value.unwrap_or_else(|| number(point.value, 6)))
    }

    /// `mean 3.2  sd 0.4`, or `yes 81%  no 19%`.
    fn says(&self, distribution: &Distribution) -> String {
        let child = &self.description.child;
        match distribution {
            Distribution::StudentT { location, scale, df, .. } => {
                // Few degrees of freedom have no standard deviation: then the spread is that of the middle of the curve.
                let spread = if *df > 2.0 { scale * (df / (df - 2.0)).sqrt() } else { *scale };
                let (mean, sd) = if *df > 2.0 { ("mean", "sd") } else { ("centre", "scale") };
                // As many decimals for the mean as the spread makes sense of.
                let digits = (location.abs() / spread).log10().floor().clamp(0.0, 8.0) as i32 + 3;
                let middle = self.words.centre(child, *location, spread).unwrap_or_else(|| number(*location, digits));
                let width = self.words.difference(child, spread).unwrap_or_else(|| number(spread, 3));
                format!("{mean} {middle}  {sd} {width}")
            }
            Distribution::Counts { mean, sd, .. } => format!("mean {}  sd {}", number(*mean, 3), number(*sd, 3)),
            Distribution::Histogram { ranges, mean, sd, .. } => {
                let told: Vec<String> = ranges.iter().map(|range| self.range(range, *mean, *sd)).collect();
                told.join(", ")
            }
            &Distribution::LogStudentT { location, scale, df, log, .. } => {
                let AroundMedian { median, factor, spread } = AroundMedian::new(location, scale, df, log);
                let digits = (1.0 / spread).log10().floor().clamp(0.0, 8.0) as i32 + 3;
                let middle = self.words.centre(child, median, median * spread);
                format!("median {}  factor {}", middle.unwrap_or_else(|| number(median, digits)), times(factor))
            }
            &Distribution::ScoredStudentT { deciles: [low, middle, high], .. } => {
                let spread = (high - low) / 2.0;
                let say = |x: f64| {
                    let digits = (x.abs() / spread).log10().floor().clamp(0.0, 8.0) as i32 + 3;
                    self.words.centre(child, x, spread).unwrap_or_else(|| number(x, digits))
                };
                format!("median {}  80% between {} and {}", say(middle), say(low), say(high))
            }
            Distribution::Levels { probabilities } => {
                let levels = &self.description.levels;
                let mut shown: Vec<usize> = (0..levels.len()).collect();
                if levels.len() > 6 {
                    shown.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
                    shown.truncate(5);
                }
                let rest = levels.len() - shown.len();
                let mut parts: Vec<String> =
                    shown.iter().map(|&c| format!("{} {}", levels[c], percent(probabilities[c]))).collect();
                if rest > 0 {
                    parts.push(format!("{rest} others"));
                }
                parts.join("  ")
            }
        }
    }

    /// `57% between 2.1 and 5.4`; of whole numbers `57% from 3 to 5`, or `57% 3`.
    fn range(&self, range: &Range, mean: f64, sd: f64) -> String {
        let digits = (mean.abs() / sd).log10().floor().clamp(0.0, 8.0) as i32 + 3;
        let say = |x: f64| {
            let own = self.words.centre(&self.description.child, x, sd);
            own.unwrap_or_else(|| if range.is_whole { number(x, 15) } else { number(x, digits) })
        };
        let (share, low, high) = (percent(range.probability), say(range.low), say(range.high));
        match range.is_whole {
            true if low == high => format!("{share} {low}"),
            true => format!("{share} from {low} to {high}"),
            false => format!("{share} between {low} and {high}"),
        }
    }

    fn with_rows(&self, distribution: &Distribution, n: usize) -> String {
        match distribution {
            Distribution::StudentT { .. }
            | Distribution::LogStudentT { .. }
            | Distribution::ScoredStudentT { .. }
            | Distribution::Counts { .. }
            | Distribution::Histogram { .. } => {
                format!("n={n}  {}{}", self.says_shared(distribution, n), self.says(distribution))
            }
            Distribution::Levels { .. } => format!("{}  (n={n})", self.says(distribution)),
        }
    }

    fn text(&self) -> String {
        let Description { child, parents, root, otherwise, .. } = self.description;
        let given = if parents.is_empty() { String::new() } else { format!(" given {}", parents.join(", ")) };
        let mut out = format!("{child}{given}");
        match root {
            Described::Split { variable, branches, .. } => self.draw(variable, branches, "", &mut out),
            leaf => out.push_str(&self.leaf_text(leaf)),
        }
        if let Some(otherwise) = otherwise {
            let _ = write!(out, "\notherwise: {}  (no rows)", self.says(otherwise));
        }
        out
    }

    fn draw(&self, variable: &str, branches: &[Branch], indent: &str, out: &mut String) {
        for (i, branch) in branches.iter().enumerate() {
            let last = i + 1 == branches.len();
            let (corner, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let _ = write!(out, "\n{indent}{corner}{variable} {}", branch.label);
            match &branch.node {
                Described::Split { variable, branches, name } => {
                    if let Some(name) = name {
                        let _ = write!(out, ": [{name}]");
                    }
                    self.draw(variable, branches, &format!("{indent}{below}"), out);
                }
                leaf => out.push_str(&self.leaf_text(leaf)),
            }
        }
    }

    /// What stands behind a last answer: a distribution, with its name if it is shared, or only that name.
    fn leaf_text(&self, node: &Described) -> String {
        match node {
            Described::Leaf { n, line: Some(_), formula: Some(formula), distribution, .. } => {
                format!(": n={n}  {}{formula}", self.says_shared(distribution, *n))
            }
            Described::Leaf { n, distribution, name, formula, .. } => {
                let name = name.as_ref().map_or_else(String::new, |name| format!("[{name}] "));
                format!(": {name}{}{}", self.with_rows(distribution, *n), with(formula.as_deref()))
            }
            Described::Again { again } => format!(" -> {again} (shared)"),
            Described::Split { .. } => String::new(),
        }
    }

    fn rules(&self) -> Vec<String> {
        let Description { child, otherwise, .. } = self.description;
        let mut rules: Vec<String> = self
            .description
            .leaves(self.words)
            .into_iter()
            .map(|leaf| {
                let outcome = match (leaf.line, leaf.formula) {
                    (Some(_), Some(formula)) => {
                        format!("{}{formula}  (n={})", self.says_shared(leaf.distribution, leaf.n), leaf.n)
                    }
                    _ => format!("{child}: {}{}", self.with_rows(leaf.distribution, leaf.n), with(leaf.formula)),
                };
                if leaf.conditions.is_empty() {
                    return outcome;
                }
                let way = |conditions: &Vec<Condition<'_>>| {
                    let each: Vec<String> = conditions.iter().map(|c| format!("{} {}", c.variable, c.label)).collect();
                    each.join(" and ")
                };
                let all = [&leaf.conditions].into_iter().chain(&leaf.also);
                let mut ways: Vec<String> = all.take(MOST_WAYS).map(way).collect();
                let more = (leaf.also.len() + 1).saturating_sub(MOST_WAYS);
                if more > 0 {
                    ways.push(format!("in {more} other {}", if more == 1 { "way" } else { "ways" }));
                }
                format!("if {} then {outcome}", ways.join(", or if "))
            })
            .collect();
        if let Some(otherwise) = otherwise {
            rules.push(format!("otherwise {child}: {}  (no rows)", self.says(otherwise)));
        }
        rules
    }
}

/// What leads to a leaf: one variable and its values.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Condition<'a> {
    /// The variable's name.
    pub variable: &'a str,
    /// Its values in words, to stand behind the name.
    pub label: String,
    /// Its values.
    #[serde(flatten)]
    pub answer: Answer,
}

/// A leaf and the conditions that lead to it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LeafDescription<'a> {
    /// Each variable once.
    pub conditions: Vec<Condition<'a>>,
    /// Other ways that lead here, where ways meet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Vec<Condition<'a>>>,
    /// Number of training rows.
    pub n: usize,
    /// What the child does here.
    #[serde(flatten)]
    pub distribution: &'a Distribution,
    /// How it depends on further parents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<&'a str>,
    /// The line that the formula tells of, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<&'a LineDescription>,
}

fn with(formula: Option<&str>) -> String {
    formula.map_or_else(String::new, |formula| format!("  with {formula}"))
}

/// The number of steps after which no more ways to shared nodes are looked for: there can be very many.
const MOST_STEPS: usize = 20_000;
/// Ways to one leaf that a sentence tells.
const MOST_WAYS: usize = 12;

/// All ways through a description.
struct Walk<'a> {
    words: &'a dyn Wording,
    /// Shared nodes by name.
    named: FxHashMap<&'a str, &'a Described>,
    leaves: Vec<LeafDescription<'a>>,
    /// Where a leaf met before stands among the leaves, by its address.
    known: FxHashMap<*const Described, usize>,
    n_steps: usize,
}

impl<'a> Walk<'a> {
    fn new(words: &'a dyn Wording) -> Self {
        Self { words, named: FxHashMap::default(), leaves: Vec::new(), known: FxHashMap::default(), n_steps: 0 }
    }

    fn name(&mut self, node: &'a Described) {
        if let Described::Split { name: Some(name), .. } | Described::Leaf { name: Some(name), .. } = node {
            self.named.insert(name, node);
        }
        if let Described::Split { branches, .. } = node {
            for branch in branches {
                self.name(&branch.node);
            }
        }
    }

    fn collect(&mut self, node: &'a Described, path: &[(&'a str, Answer)]) {
        self.n_steps += 1;
        match node {
            Described::Leaf { n, distribution, formula, line, .. } => {
                let condition = |(variable, answer): &(&'a str, Answer)| Condition {
                    variable,
                    label: answer.label(variable, self.words),
                    answer: answer.clone(),
                };
                let conditions = path.iter().map(condition).collect();
                if let Some(&at) = self.known.get(&std::ptr::from_ref(node)) {
                    self.leaves[at].also.push(conditions);
                    return;
                }
                self.known.insert(node, self.leaves.len());
                let formula = formula.as_deref();
                let line = line.as_deref();
                self.leaves.push(LeafDescription { conditions, also: Vec::new(), n: *n, distribution, formula, line });
            }
            Described::Again { again } => {
                if self.n_steps < MOST_STEPS
                    && let Some(&node) = self.named.get(&**again)
                {
                    self.collect(node, path);
                }
            }
            Described::Split { variable, branches, .. } => {
                for branch in branches {
                    let mut longer = path.to_vec();
                    if let Some(known) = longer.iter_mut().find(|(name, _)| name == variable) {
                        known.1 = known.1.and(&branch.answer);
                        if known.1.is_nothing() {
                            continue;
                        }
                    } else {
                        longer.push((variable, branch.answer.clone()));
                    }
                    self.collect(&branch.node, &longer);
                }
            }
        }
    }
}

impl Answer {
    /// Whether no value is left.
    fn is_nothing(&self) -> bool {
        match self {
            Self::Range { low, high, .. } => matches!((low, high), (Some(low), Some(high)) if low >= high),
            Self::Levels { levels, .. } => levels.is_empty(),
        }
    }

    /// The values in both.
    fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Range { low, high, written }, Self::Range { low: l, high: h, written: also }) => {
                let stricter = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| match (a, b) {
                    (Some(a), Some(b)) => Some(pick(a, b)),
                    (a, b) => a.or(b),
                };
                Self::Range {
                    low: stricter(*low, *l, f64::max),
                    high: stricter(*high, *h, f64::min),
                    written: *written && *also,
                }
            }
            (Self::Levels { levels, .. }, Self::Levels { levels: also, .. }) => {
                Self::Levels { levels: levels.iter().filter(|l| also.contains(l)).cloned().collect(), others: None }
            }
            (_, other) => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Plain;

    fn leaf(location: f64) -> Described {
        let distribution = Distribution::StudentT { location, scale: 0.4, df: 48.0, point: None };
        Described::Leaf { n: 47, name: None, distribution, formula: None, line: None }
    }

    fn branch(answer: Answer, node: Described) -> Branch {
        Branch { label: answer.label("x", &Plain), answer, node }
    }

    fn range(low: Option<f64>, high: Option<f64>) -> Answer {
        Answer::Range { low, high, written: false }
    }

    fn split(variable: &str, branches: Vec<Branch>) -> Described {
        Described::Split { variable: variable.to_owned(), branches, name: None }
    }

    fn description() -> Description {
        let level = |t: &str| Level::Text(t.into());
        let inner = split(
            "age",
            vec![branch(range(None, Some(70.25)), leaf(3.2)), branch(range(Some(70.25), None), leaf(-1.5))],
        );
        let stages = Answer::Levels { levels: vec![level("II"), level("III")], others: None };
        let stage = split(
            "stage",
            vec![branch(stages, inner), branch(Answer::Levels { levels: vec![level("I")], others: None }, leaf(0.0))],
        );
        let root =
            split("age", vec![branch(range(Some(52.3), None), stage), branch(range(None, Some(52.3)), leaf(1e4))]);
        let parents = vec!["age".to_owned(), "stage".to_owned()];
        Description {
            child: "y".to_owned(),
            kind: "continuous",
            levels: vec![],
            parents,
            root,
            values: None,
            log: None,
            scores: None,
            otherwise: None,
        }
    }

    #[test]
    fn a_tree_is_drawn_with_its_answers() {
        let expected = "\
y given age, stage
├─ age >= 52.3
│  ├─ stage in {II, III}
│  │  ├─ age < 70.25: n=47  mean 3.2  sd 0.409
│  │  └─ age >= 70.25: n=47  mean -1.5  sd 0.409
│  └─ stage = I: n=47  mean 0  sd 0.409
└─ age < 52.3: n=47  mean 10000  sd 0.409";
        assert_eq!(description().text(&Plain), expected);
    }

    #[test]
    fn a_number_on_a_logarithmic_scale_is_told_by_its_median_and_a_factor() {
        let distribution =
            Distribution::LogStudentT { location: 1000_f64.ln(), scale: 0.5, df: 1e9, log: 0.0, point: None };
        let leaf = Described::Leaf { n: 7, name: None, distribution, formula: None, line: None };
        let made = Description { root: leaf, ..description() };
        assert_eq!(made.text(&Plain), "y given age, stage: n=7  median 1000  factor 1.65");
    }

    #[test]
    fn rules_name_each_variable_once() {
        let rules = description().rules(&Plain);
        assert_eq!(rules[0], "if age in [52.3, 70.25) and stage in {II, III} then y: n=47  mean 3.2  sd 0.409");
        assert_eq!(rules[2], "if age >= 52.3 and stage = I then y: n=47  mean 0  sd 0.409");
        assert_eq!(rules.len(), 4);
    }

    /// Numbers of `age` are so many years after 1900, those of `y` weeks.
    struct Years;

    impl Wording for Years {
        fn class(&self, variable: &str) -> Option<String> {
            (variable == "y").then(|| "weeks".to_owned())
        }

        fn value(&self, _variable: &str, _x: f64) -> Option<String> {
            None
        }

        fn threshold(&self, variable: &str, x: f64) -> Option<String> {
            (variable == "age").then(|| format!("{}", 1900.0 + x.ceil()))
        }

        fn centre(&self, variable: &str, x: f64, spread: f64) -> Option<String> {
            (variable == "y").then(|| format!("week {x:.0} of {spread:.1}"))
        }

        fn difference(&self, variable: &str, x: f64) -> Option<String> {
            (variable == "y").then(|| format!("{x:.2} weeks"))
        }

        fn unit(&self, _variable: &str, _spread: f64) -> Option<(String, f64)> {
            None
        }
    }

    #[test]
    fn numbers_are_said_as_their_wording_has_them() {
        let description = description();
        let rules = description.rules(&Years);
        assert_eq!(
            rules[0],
            "if age in [1953, 1971) and stage in {II, III} then y: n=47  mean week 3 of 0.4  sd 0.41 weeks"
        );
        assert!(description.text(&Years).contains("stage in {II, III}\n"));
        assert_eq!(description.leaves(&Years)[0].conditions[0].label, "in [1953, 1971)");
    }

    #[test]
    fn levels_stand_with_their_shares() {
        let levels: Vec<Level> = ["yes", "no"].map(|t| Level::Text(t.into())).into();
        let coin = Distribution::Levels { probabilities: vec![0.811, 0.189] };
        let over = |levels: Vec<Level>| Description { levels, ..description() };
        let two = over(levels);
        let teller = Teller { description: &two, words: &Plain };
        assert_eq!(teller.with_rows(&coin, 52), "yes 81%  no 19%  (n=52)");
        let many: Vec<Level> = (0..8).map(Level::Int).collect();
        let shares = Distribution::Levels { probabilities: vec![0.0, 0.001, 0.5, 0.1, 0.1, 0.1, 0.1, 0.099] };
        let eight = over(many);
        let teller = Teller { description: &eight, words: &Plain };
        assert_eq!(teller.says(&shares), "2 50%  3 10%  4 10%  5 10%  6 10%  3 others");
        assert_eq!((percent(0.001), percent(0.999), percent(0.0)), ("<1%".into(), ">99%".into(), "0%".into()));
    }

    #[test]
    fn a_bound_that_was_chosen_to_be_written_keeps_all_its_digits() {
        let label = |low, high, written| Answer::Range { low, high, written }.label("x", &Plain);
        assert_eq!(label(None, Some(1234.5678), true), "< 1234.5678");
        assert_eq!(label(None, Some(1234.5678), false), "< 1234.57");
        assert_eq!(label(Some(20_200_131.5), None, true), ">= 20200131.5");
        assert_eq!(label(Some(-3e-285), Some(0.0), true), "in [-3e-285, 0)");
        assert_eq!(label(Some(1.25e300), None, true), ">= 1.25e300");
        assert_eq!(label(Some(3.0), None, true), ">= 3");
    }

    #[test]
    fn numbers_keep_significant_digits() {
        let six = |x| number(x, 6);
        assert_eq!(six(1065.5), "1065.5");
        assert_eq!(six(0.1 + 0.2), "0.3");
        assert_eq!(six(-0.00012345678), "-0.000123457");
        assert_eq!(six(1234567.0), "1234567");
        assert_eq!(six(-0.0), "0");
        assert_eq!(six(1.5e20), "1.50000e20");
    }
}
