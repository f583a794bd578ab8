//! A line as its reader sees it: `Sales = 7.1 - 0.54 per 10 of Price, give or take 1.2 (7.1 at 116; flat beyond 24 to 191)`.
//!
//! The constant is what the child is where the parents are near their means in the leaf, at round numbers: what it were where
//! they are 0 would often lie far from every row. The slope is by a power of ten about as long as the parent's standard
//! deviation, so that it is about what the parent usually brings.

use std::fmt::Write;

use serde::Serialize;

use super::super::Wording;
use super::super::text::number;
use super::Input;
use crate::predictive::{Line, Predictive};
use crate::table::{Affine, Kind, Var, Variable};

/// A line in the user's units.
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
}

/// A parent of a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// The parent's name.
    pub variable: String,
    /// By how much the child rises for each one of it.
    pub slope: f64,
    /// A round number near its mean.
    pub at: f64,
    /// The least that a training row of the leaf held: below it the line is flat.
    pub low: f64,
    /// And the most.
    pub high: f64,
    /// A power of ten not above its standard deviation over all rows.
    #[serde(skip)]
    unit: f64,
    /// By how much the child rises for each `unit`.
    #[serde(skip)]
    per_unit: f64,
}

/// A line to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Along {
    /// The parent's name.
    pub variable: String,
    /// The parent's value, the child's location and its scale, from the least to the most that was seen.
    pub points: Vec<[f64; 3]>,
}

const POINTS: usize = 9;

fn units(variable: &Variable) -> Affine {
    if let Kind::Continuous { scale } = variable.kind { scale } else { Affine::IDENTITY }
}

/// The greatest power of ten that is not above a length.
fn ten_below(length: f64) -> f64 {
    // From text, so that it is the nearest number to that power.
    format!("1e{}", length.log10().floor()).parse().ok().filter(|unit: &f64| *unit > 0.0).unwrap_or(length)
}

/// A number in the user's units as it was before it was standardised, if that has few decimals for its scale.
fn neat(units: Affine, stored: f64) -> f64 {
    let x = units.to_original(stored);
    let digits = (x.abs().log10().floor() - units.scale.log10().floor() + 6.0).clamp(0.0, 16.0) as usize;
    let short = format!("{x:.digits$e}").parse().unwrap_or(x);
    if (x - short).abs() < 1e-12 * units.scale.max(x.abs()) { short } else { x }
}

/// Where a line's parents are near their means, at round numbers: in stored units.
fn round_centre(line: &Line, inputs: &[Input], parents: &[Var], variables: &[Variable]) -> Vec<f64> {
    let near = |(input, centre): (&Input, &f64)| {
        let of_parent = units(&variables[parents[input.parent]]);
        let grain = ten_below(input.scale.scale * of_parent.scale) / 10.0;
        let x = of_parent.to_original(input.scale.to_original(*centre));
        let round = (x / grain).round() * grain;
        of_parent.to_stored(if round.is_finite() { round } else { x }).clamp(input.low, input.high)
    };
    inputs.iter().zip(&line.centre).map(near).collect()
}

/// A Student t in a child's units.
fn told(predictive: &Predictive, units: Affine) -> (f64, f64, f64) {
    let &Predictive::StudentT { df, location, scale } = predictive else { unreachable!("lines are of numbers") };
    (units.to_original(location), scale * units.scale, df)
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
            let unit = ten_below(length);
            let of_one_sd = line.slopes[i] * of_child.scale;
            Slope {
                variable: variable(i).name.to_string(),
                slope: of_one_sd / length,
                at: neat(of_parent, centre[i]),
                low: neat(of_parent, input.low),
                high: neat(of_parent, input.high),
                unit,
                per_unit: of_one_sd * (unit / length),
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
                [neat(of_parent, stored[i]), location, scale]
            };
            Along { variable: variable(i).name.to_string(), points: (0..POINTS).map(point).collect() }
        });
        Self {
            slopes: moving().map(slope).collect(),
            along,
            predictive,
            location,
            spread,
            mean: of_child.to_original(rows.0),
            sd: rows.1 * of_child.scale,
        }
    }

    /// The line in words.
    pub fn text(&self, child: &str, words: &dyn Wording) -> String {
        let spread = self.spread;
        // As many digits as the spread makes sense of.
        let digits = |x: f64| (x.abs() / spread).log10().floor().clamp(0.0, 8.0) as i32 + 2;
        let difference = |x: f64| words.difference(child, x).unwrap_or_else(|| number(x, digits(x)));
        let location = words.centre(child, self.location, spread);
        let location = location.unwrap_or_else(|| number(self.location, digits(self.location)));
        let mut out = format!("{child} = {location}");
        for of in &self.slopes {
            let name = &of.variable;
            let (unit, size) = words
                .unit(name, of.high - of.low)
                .unwrap_or_else(|| (words.difference(name, of.unit).unwrap_or_else(|| number(of.unit, 6)), of.unit));
            let by = of.per_unit * (size / of.unit);
            let sign = if by < 0.0 { "-" } else { "+" };
            let _ = write!(out, " {sign} {} per {unit} of {name}", difference(by.abs()));
        }
        let _ = write!(out, ", give or take {}", difference(spread));
        // To a hundredth of the unit.
        let value = |of: &Slope, x: f64| {
            let digits = (x.abs() / of.unit).log10().floor().clamp(-2.0, 12.0) as i32 + 3;
            words.value(&of.variable, x).unwrap_or_else(|| number(x, digits))
        };
        let list = |of: &dyn Fn(&Slope) -> String| self.slopes.iter().map(of).collect::<Vec<_>>().join(", ");
        // Of one parent it is clear whose values these are.
        let named = |of: &Slope| if self.slopes.len() == 1 { String::new() } else { format!("{} ", of.variable) };
        let at = list(&|of| format!("{}{}", named(of), value(of, of.at)));
        let ends = list(&|of| {
            let [low, high] = [of.low, of.high].map(|x| value(of, x));
            format!("{}{low} to {high}", named(of))
        });
        if !self.slopes.is_empty() {
            let _ = write!(out, " ({location} at {at}; flat beyond {ends})");
        }
        out
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
