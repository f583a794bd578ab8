//! A line as its reader sees it: `Sales = 7.1 - 0.54 per 10 of Price, give or take 1.2 (7.1 at 116; flat beyond 24 to 191)`.
//!
//! The constant is what the child is where the parents are near their means in the leaf, at round numbers: what it were where
//! they are 0 would often lie far from every row. The slope is by a power of ten about as long as the parent's standard
//! deviation, so that it is about what the parent usually brings.
//!
//! A parent on a logarithmic scale counts by doublings, or by tenths where it varies little; a child on one is multiplied:
//! `income = 24000 * 1.08 per 10 of age, within a factor of 1.6 (24000 at 40; flat beyond 18 to 80)`.
//!
//! Normal scores are no unit that anybody counts in. Of a parent that is taken by them two values are told, and of a child its medians:
//! `y = 7.1 + 0.5 for x 31 instead of 24, ...` and `y = 12; 14 for 10 more of age, 80% between 9 and 17 (12 at 40; ...)`.

use std::fmt::Write;

use serde::Serialize;

use super::super::Wording;
use super::super::outline::{AroundMedian, deciles, short_of, units};
use super::super::text::{number, times};
use super::Input;
use crate::predictive::{Line, Predictive};
use crate::table::{NormalScores, Units, Var, Variable};

/// A line in the user's units; of a child on a logarithmic scale in logarithms, of one by normal scores in these.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineDescription {
    /// By parent; none of those that all rows of the leaf agree in.
    pub slopes: Vec<Slope>,
    /// The line along the parent that moves it most, the others at their `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub along: Option<Along>,
    /// What the child does where every parent is at its `at`, in stored units.
    #[serde(skip)]
    pub predictive: Predictive,
    /// Its location there.
    #[serde(skip)]
    pub location: f64,
    /// Its standard deviation there; with two degrees of freedom or less, which have none, its scale.
    #[serde(skip)]
    pub spread: f64,
    /// The child's mean in the training rows of the leaf.
    pub mean: f64,
    /// Its standard deviation in them.
    pub sd: f64,
    /// Of a child on a logarithmic scale what is added before the logarithm is taken.
    #[serde(skip)]
    pub log: Option<f64>,
    /// Of a child that is taken by its normal scores their curve.
    #[serde(skip)]
    pub scores: Option<NormalScores>,
    /// Degrees of freedom.
    #[serde(skip)]
    df: f64,
}

/// A parent of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// The parent's name.
    pub variable: String,
    /// By how much the child rises for each one of it, or of its logarithm or normal score.
    pub slope: f64,
    /// On a logarithmic scale what is added before the logarithm is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<f64>,
    /// The knots of its normal scores, if it is taken by these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<NormalScores>,
    /// A round number near its mean.
    pub at: f64,
    /// The least that a training row of the leaf held: below it the line is flat.
    pub low: f64,
    /// And the most.
    pub high: f64,
    /// A power of ten not above its standard deviation over all rows; of logarithms those of 2 or of 1.1.
    #[serde(skip)]
    unit: f64,
    /// By how much the child rises for each `unit`.
    #[serde(skip)]
    per_unit: f64,
    /// By normal scores another number, which the child is told of, too: then `per_unit` is by how much it differs there.
    #[serde(skip)]
    other: Option<f64>,
}

/// A line to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Along {
    /// The parent's name.
    pub variable: String,
    /// The parent's value, or its logarithm; the child's location and its scale, from the least to the most that was seen.
    pub points: Vec<[f64; 3]>,
}

const POINTS: usize = 9;

/// Deviations of logarithms from here on are counted in doublings.
const DOUBLES: f64 = 0.35;

/// What a parent's slope is told by, if its deviation is this long.
fn unit_of(parent: &Units, length: f64) -> f64 {
    match parent.log {
        None => ten_below(length),
        Some(_) => (if length < DOUBLES { 1.1_f64 } else { 2.0 }).ln(),
    }
}

/// The greatest power of ten that is not above a length.
fn ten_below(length: f64) -> f64 {
    // From text, so that it is the nearest number to that power.
    format!("1e{}", length.log10().floor()).parse().ok().filter(|unit: &f64| *unit > 0.0).unwrap_or(length)
}

/// The nearest multiple of a grain.
fn rounded(x: f64, grain: f64) -> f64 {
    let round = (x / grain).round() * grain;
    if round.is_finite() { round } else { x }
}

/// Of a parent by normal scores a round number about a deviation above a stored value, or below it where none is seen above, and how
/// far its score is from there.
fn another(units: &Units, input: &Input, centre: f64) -> Option<(f64, f64)> {
    let of = units.scores.as_ref()?;
    let at = units.to_original(centre);
    let score = |x: f64| of.to_score(x) - of.to_score(at);
    [1.0, -1.0].into_iter().find_map(|way| {
        let far = (centre + way * input.scale.scale).clamp(input.low, input.high);
        let x = units.to_original(far);
        let grain = ten_below((x - at).abs()) / 10.0;
        // No farther than that.
        let round = rounded(x, grain);
        let round = if (round - x) * way > 0.0 { round - way * grain } else { round };
        (far != centre).then(|| (round, score(round))).filter(|of| of.1 != 0.0)
    })
}

/// A number in the user's units as it was before it was standardised, if that has few decimals for its scale.
fn neat(units: &Units, stored: f64) -> f64 {
    let x = units.to_original(stored);
    if units.is_bent() {
        return short_of(x, 9, 1e-12 * units.slope(stored));
    }
    let digits = (x.abs().log10().floor() - units.scale.log10().floor() + 6.0).clamp(0.0, 16.0) as usize;
    let short = format!("{x:.digits$e}").parse().unwrap_or(x);
    if (x - short).abs() < 1e-12 * units.scale.max(x.abs()) { short } else { x }
}

/// Where a line's parents are near their means, at round numbers: in stored units.
fn round_centre(line: &Line, inputs: &[Input], parents: &[Var], variables: &[Variable]) -> Vec<f64> {
    let near = |(input, centre): (&Input, &f64)| {
        let of_parent = units(&variables[parents[input.parent]]);
        let length = input.scale.scale * of_parent.scale;
        let x = of_parent.to_original(input.scale.to_original(*centre));
        // A factor of a tenth of the deviation is about that share of the number.
        let around = match (&of_parent.scores, of_parent.log) {
            (Some(_), _) => length * of_parent.slope(input.scale.to_original(*centre)),
            (None, Some(_)) => length.min(1.0) * x,
            (None, None) => length,
        };
        let stored = of_parent.to_stored(rounded(x, ten_below(around) / 10.0));
        if stored.is_nan() { input.scale.to_original(*centre) } else { stored }.clamp(input.low, input.high)
    };
    inputs.iter().zip(&line.centre).map(near).collect()
}

/// A Student t in a child's units, or their logarithms.
fn told(predictive: &Predictive, units: &Units) -> (f64, f64, f64) {
    let Predictive::StudentT { df, location, scale } = predictive.others() else {
        unreachable!("lines are of numbers")
    };
    (units.affine().to_original(location), scale * units.scale, df)
}

impl Slope {
    /// What it is told by, and how long that is.
    fn counted(&self, words: &dyn Wording) -> (String, f64) {
        let name = &self.variable;
        if self.log.is_some() {
            return (if self.unit < DOUBLES { "10% more" } else { "doubling" }.to_owned(), self.unit);
        }
        words
            .unit(name, self.high - self.low)
            .unwrap_or_else(|| (words.difference(name, self.unit).unwrap_or_else(|| number(self.unit, 6)), self.unit))
    }

    /// What it adds to the child, and for what: ` per 10 of age`, or ` for age 40 instead of 30`.
    fn step(&self, words: &dyn Wording) -> (f64, String) {
        if let Some(told) = self.instead(words) {
            return (self.per_unit, told);
        }
        let (unit, size) = self.counted(words);
        (self.per_unit * (size / self.unit), format!("per {unit} of {}", self.variable))
    }

    /// For what a child is another number: `for age 40 instead of 30`, `for 10 more of age`, `for a doubling of income`.
    fn change(&self, words: &dyn Wording) -> (f64, String) {
        if let Some(told) = self.instead(words) {
            return (self.per_unit, told);
        }
        let (unit, size) = self.counted(words);
        let told = match self.log {
            None => format!("{unit} more"),
            Some(_) if self.unit < DOUBLES => unit,
            Some(_) => format!("a {unit}"),
        };
        (self.per_unit * (size / self.unit), format!("for {told} of {}", self.variable))
    }

    /// Of a parent by normal scores: `for age 40 instead of 30`.
    fn instead(&self, words: &dyn Wording) -> Option<String> {
        let other = self.other?;
        Some(format!("for {} {} instead of {}", self.variable, self.value(other, words), self.value(self.at, words)))
    }

    /// A value of it, to a hundredth of the unit.
    fn value(&self, x: f64, words: &dyn Wording) -> String {
        let unit = match (self.other, self.log) {
            (Some(other), _) => (other - self.at).abs(),
            (None, Some(_)) => x.abs() * self.unit,
            (None, None) => self.unit,
        };
        let digits = (x.abs() / unit).log10().floor().clamp(-2.0, 12.0) as i32 + 3;
        words.value(&self.variable, x).unwrap_or_else(|| number(x, digits))
    }
}

impl LineDescription {
    /// Of a line and the `(mean, sd)` of its rows in stored units.
    pub fn new(
        line: &Line,
        inputs: &[Input],
        rows: (f64, f64),
        child: Var,
        parents: &[Var],
        variables: &[Variable],
    ) -> Self {
        let of_child = units(&variables[child]);
        let centre = round_centre(line, inputs, parents, variables);
        let at = |stored: &[f64]| {
            let x: Vec<f64> = inputs.iter().zip(stored).map(|(input, x)| input.scale.to_stored(*x)).collect();
            line.at(&x)
        };
        let predictive = at(&centre);
        let (location, scale, df) = told(&predictive, of_child);
        let spread = if df > 2.0 { scale * (df / (df - 2.0)).sqrt() } else { scale };
        let moving = || (0..inputs.len()).filter(|&i| inputs[i].low < inputs[i].high);
        let variable = |i: usize| &variables[parents[inputs[i].parent]];
        let slope = |i: usize| {
            let (input, of_parent) = (inputs[i], units(variable(i)));
            let length = input.scale.scale * of_parent.scale;
            let of_one_sd = line.slopes[i] * of_child.scale;
            let other = another(of_parent, &input, centre[i]);
            let unit = other.map_or_else(|| unit_of(of_parent, length), |of| of.1);
            Slope {
                variable: variable(i).name.to_string(),
                slope: of_one_sd / length,
                log: of_parent.log,
                scores: of_parent.scores.clone(),
                at: neat(of_parent, centre[i]),
                low: neat(of_parent, input.low),
                high: neat(of_parent, input.high),
                unit,
                per_unit: of_one_sd * (unit / length),
                other: other.map(|of| of.0),
            }
        };
        let moves = |i: usize| (line.slopes[i] * (inputs[i].high - inputs[i].low) / inputs[i].scale.scale).abs();
        // Of equals the first.
        let most = moving().reduce(|best, i| if moves(i) > moves(best) { i } else { best });
        let along = most.map(|i| {
            let (input, of_parent) = (inputs[i], units(variable(i)));
            let point = |step: usize| {
                let share = step as f64 / (POINTS - 1) as f64;
                let mut stored = centre.clone();
                stored[i] = input.low * (1.0 - share) + input.high * share;
                let (location, scale, _) = told(&at(&stored), of_child);
                [neat(&of_parent.affine().into(), stored[i]), location, scale]
            };
            Along { variable: variable(i).name.to_string(), points: (0..POINTS).map(point).collect() }
        });
        Self {
            slopes: moving().map(slope).collect(),
            along,
            predictive,
            location,
            spread,
            mean: of_child.affine().to_original(rows.0),
            sd: rows.1 * of_child.scale,
            log: of_child.log,
            scores: of_child.scores.clone(),
            df,
        }
    }

    /// The line in words.
    pub fn text(&self, child: &str, words: &dyn Wording) -> String {
        let (location, mut out) = match &self.scores {
            Some(scores) => self.medians(scores, child, words),
            None => self.equation(child, words),
        };
        let list = |of: &dyn Fn(&Slope) -> String| self.slopes.iter().map(of).collect::<Vec<_>>().join(", ");
        // Of one parent it is clear whose values these are.
        let named = |of: &Slope| if self.slopes.len() == 1 { String::new() } else { format!("{} ", of.variable) };
        let at = list(&|of| format!("{}{}", named(of), of.value(of.at, words)));
        let ends = list(&|of| {
            let [low, high] = [of.low, of.high].map(|x| of.value(x, words));
            format!("{}{low} to {high}", named(of))
        });
        if !self.slopes.is_empty() {
            let _ = write!(out, " ({location} at {at}; flat beyond {ends})");
        }
        out
    }

    /// What the child is where the parents are at their `at`, and what it is elsewhere: `y = 12; 14 for 10 more of age, 80% between 9 and 17`.
    fn medians(&self, scores: &NormalScores, child: &str, words: &dyn Wording) -> (String, String) {
        // The Student t's scale, which its standard deviation was made of.
        let scale = if self.df > 2.0 { self.spread * ((self.df - 2.0) / self.df).sqrt() } else { self.spread };
        let [low, middle, high] = deciles(scores, self.location, scale, self.df);
        let say = |x: f64| {
            let spread = (high - low) / 2.0;
            let digits = (x.abs() / spread).log10().floor().clamp(0.0, 8.0) as i32 + 3;
            words.centre(child, x, spread).unwrap_or_else(|| number(x, digits))
        };
        let mut out = format!("{child} = {}", say(middle));
        for of in &self.slopes {
            let (by, told) = of.change(words);
            let _ = write!(out, "; {} {told}", say(scores.to_number(self.location + by)));
        }
        let _ = write!(out, ", 80% between {} and {}", say(low), say(high));
        (say(middle), out)
    }

    /// What the child is where the parents are at their `at`, and what it is in general: `y = 7 + 2 per 10 of age, give or take 3`.
    fn equation(&self, child: &str, words: &dyn Wording) -> (String, String) {
        let spread = self.spread;
        // As many digits as the spread makes sense of.
        let digits = |x: f64| (x.abs() / spread).log10().floor().clamp(0.0, 8.0) as i32 + 2;
        let difference = |x: f64| words.difference(child, x).unwrap_or_else(|| number(x, digits(x)));
        let factors = self.log.map(|log| AroundMedian::of_spread(self.location, spread, log));
        let location = match &factors {
            None => words
                .centre(child, self.location, spread)
                .unwrap_or_else(|| number(self.location, digits(self.location))),
            Some(of) => {
                let middle = words.centre(child, of.median, of.median * spread);
                middle.unwrap_or_else(|| number(of.median, digits(1.0).max(3)))
            }
        };
        let mut out = format!("{child} = {location}");
        for of in &self.slopes {
            let (by, told) = of.step(words);
            if factors.is_some() {
                let _ = write!(out, " * {} {told}", number(by.exp(), 4));
            } else {
                let sign = if by < 0.0 { "-" } else { "+" };
                let _ = write!(out, " {sign} {} {told}", difference(by.abs()));
            }
            if let Some(log) = of.log.filter(|log| *log > 0.0) {
                let _ = write!(out, " + {}", number(log, 4));
            }
        }
        let _ = match &factors {
            None => write!(out, ", give or take {}", difference(spread)),
            Some(of) => write!(out, ", within a factor of {}", times(of.factor)),
        };
        (location, out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{leaf, variables};
    use super::*;
    use crate::model::Plain;

    fn described(line: &Line, inputs: &[Input]) -> LineDescription {
        LineDescription::new(line, inputs, (0.5, 0.8), 0, &[1, 2], &variables())
    }

    #[test]
    fn it_is_said_in_the_users_units() {
        let (line, inputs) = leaf();
        // In stored units y = 1 + 2 ((p - 10) / 4 - 1/2), so y' = 100 + 10 y = 110 + 2.5 (p' - 24) with p' = 2 p.
        let line = described(&line, &inputs);
        assert_eq!(line.slopes[0].slope, 2.5);
        assert_eq!([line.slopes[0].low, line.slopes[0].at, line.slopes[0].high], [16.0, 24.0, 32.0]);
        assert_eq!((line.location, line.mean, line.sd), (110.0, 105.0, 8.0));
        let told = "y = 110 + 2.5 per 1 of price, give or take 5.9 (110 at 24; flat beyond 16 to 32)";
        assert_eq!(line.text("y", &Plain), told);
    }

    /// The variables with some of them on a logarithmic scale: `y`, and `price`.
    fn logarithmic(child: Option<f64>, parent: Option<f64>) -> Vec<Variable> {
        let scale = |shift, scale, log| crate::table::Kind::Continuous {
            scale: Units { shift, scale, log, ..Units::IDENTITY },
        };
        let kinds = [scale(2.0, 0.5, child), scale(0.0, 1.0, None), scale(-1.0, 0.25, parent)];
        let named = kinds.into_iter().zip(["y", "g", "price"]);
        named.map(|(kind, name)| Variable { name: name.into(), kind }).collect()
    }

    #[test]
    fn a_child_on_a_logarithmic_scale_is_multiplied() {
        let (line, inputs) = leaf();
        // ln y = 2 + 0.5 (1 + 2 ((p - 10) / 4 - 1/2)) and p = 4 (price + 1): e^(price + 0.5) at price = 2.
        let made = LineDescription::new(&line, &inputs, (0.5, 0.8), 0, &[1, 2], &logarithmic(Some(0.0), None));
        assert_eq!((made.log, made.slopes[0].log, made.slopes[0].slope), (Some(0.0), None, 1.0));
        let told = "y = 12.2 * 2.718 per 1 of price, within a factor of 1.35 (12.2 at 2; flat beyond 1 to 3)";
        assert_eq!(made.text("y", &Plain), told);
    }

    #[test]
    fn a_parent_on_a_logarithmic_scale_counts_by_doublings() {
        let (line, inputs) = leaf();
        let of = |log| LineDescription::new(&line, &inputs, (0.5, 0.8), 0, &[1, 2], &logarithmic(None, Some(log)));
        let made = of(0.0);
        assert_eq!((made.log, made.slopes[0].log), (None, Some(0.0)));
        assert!((made.slopes[0].low - 1_f64.exp()).abs() < 1e-9 && (made.slopes[0].high - 3_f64.exp()).abs() < 1e-8);
        let text = made.text("y", &Plain);
        assert!(text.contains(" + 0.69 per doubling of price, give or take 0.3 (2.5 at 7.4;"), "{text}");
        assert!(text.ends_with("; flat beyond 2.72 to 20.1)"), "{text}");
        assert!(of(0.5).text("y", &Plain).contains("per doubling of price + 0.5, give"));
    }

    #[test]
    fn slopes_are_by_a_power_of_ten_about_as_long_as_the_parents_deviation() {
        for (length, unit) in
            [(8.0, 1.0), (10.0, 10.0), (23.0, 10.0), (8e3, 1e3), (0.02, 0.01), (3e300, 1e300), (2e-308, 1e-308)]
        {
            assert_eq!(ten_below(length), unit, "{length}");
        }
        assert_eq!(ten_below(5e-324), 5e-324);
    }

    #[test]
    fn what_all_rows_agree_in_is_not_said() {
        let (line, mut inputs) = leaf();
        inputs[0].low = inputs[0].high;
        let line = described(&line, &inputs);
        assert!(line.slopes.is_empty() && line.along.is_none());
        // The line has moved there: p' = 32.
        assert_eq!(line.location, 130.0);
        assert!(line.text("y", &Plain).starts_with("y = 130, give or take "));
    }

    #[test]
    fn it_is_drawn_from_the_least_to_the_most_that_was_seen() {
        let (line, inputs) = leaf();
        let along = described(&line, &inputs).along.unwrap();
        assert_eq!(along.variable, "price");
        assert_eq!(
            along.points.iter().map(|[x, ..]| *x).collect::<Vec<_>>(),
            (0..9).map(|i| f64::from(16 + 2 * i)).collect::<Vec<_>>()
        );
        assert!(along.points.iter().all(|[x, y, _]| (y - (110.0 + 2.5 * (x - 24.0))).abs() < 1e-12));
        assert!(along.points[0][2] > along.points[4][2]);
    }
}
