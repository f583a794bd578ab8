//! A leaf that follows numeric parents along a line.
//!
//! Beyond the training rows' range within the leaf the line stays where it was at the end of that range: it is not drawn on
//! into what no row has shown.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::text::number;
use crate::predictive::{Line, Predictive, Value};
use crate::table::{Affine, Kind, Var, Variable};

/// A numeric parent of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Position among the parents.
    pub parent: usize,
    /// What the line's own units are, in stored units.
    pub scale: Affine,
    /// The least that a training row of the leaf held, in stored units.
    pub low: f64,
    /// And the most.
    pub high: f64,
}

impl Input {
    fn read(&self, values: &[Value], centre: f64) -> f64 {
        match values.get(self.parent) {
            Some(Value::Real(x)) => self.scale.to_stored(x.clamp(self.low, self.high)),
            _ => centre,
        }
    }

    /// Whether its parts are in order, for one of `parents`.
    pub fn is_sound(&self, parents: &[Var], variables: &[Variable]) -> bool {
        parents.get(self.parent).is_some_and(|&p| variables[p].is_continuous())
            && self.low <= self.high
            && self.low.is_finite()
            && self.high.is_finite()
            && self.scale.shift.is_finite()
            && self.scale.scale.is_finite()
            && self.scale.scale > 0.0
    }
}

/// What the child does where the parents have these values.
pub fn at(line: &Line, inputs: &[Input], values: &[Value]) -> Predictive {
    let x: Vec<f64> = inputs.iter().zip(&line.centre).map(|(input, &centre)| input.read(values, centre)).collect();
    line.at(&x)
}

/// The line in the user's units and names, as `mean = 7.1 - 0.54 Price`.
pub fn formula(line: &Line, inputs: &[Input], child: Var, parents: &[Var], variables: &[Variable]) -> String {
    let units = |var: Var| match &variables[var].kind {
        Kind::Continuous { scale } => *scale,
        _ => Affine::IDENTITY,
    };
    let of_child = units(child);
    let mut constant = of_child.to_original(line.location);
    let mut terms = String::new();
    for ((input, slope), centre) in inputs.iter().zip(&line.slopes).zip(&line.centre) {
        let parent = parents[input.parent];
        let of_parent = units(parent);
        let slope = slope * of_child.scale / input.scale.scale / of_parent.scale;
        constant -= slope * of_parent.to_original(input.scale.to_original(*centre));
        let sign = if slope < 0.0 { "-" } else { "+" };
        let _ = write!(terms, " {sign} {} {}", number(slope.abs(), 4), variables[parent].name);
    }
    format!("mean = {}{terms}", number(constant, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf() -> (Line, Vec<Input>) {
        let line = Line {
            df: 9.0,
            location: 1.0,
            scale: 0.5,
            weight: 10.0,
            centre: vec![0.5],
            slopes: vec![2.0],
            factor: vec![3.0],
        };
        let scale = Affine { shift: 10.0, scale: 4.0 };
        (line, vec![Input { parent: 1, scale, low: 8.0, high: 16.0 }])
    }

    fn variables() -> Vec<Variable> {
        let scales = [Affine { shift: 100.0, scale: 10.0 }, Affine::IDENTITY, Affine { shift: 0.0, scale: 2.0 }];
        scales
            .into_iter()
            .zip(["y", "g", "price"])
            .map(|(scale, name)| Variable { name: name.into(), kind: Kind::Continuous { scale } })
            .collect()
    }

    #[test]
    fn beyond_what_was_seen_the_line_stays_where_it_was() {
        let (line, inputs) = leaf();
        let read = |x: f64| at(&line, &inputs, &[Value::Code(0), Value::Real(x)]);
        assert_eq!(read(1e300), read(16.0));
        assert_eq!(read(-1e300), read(8.0));
        assert_ne!(read(15.0), read(16.0));
        let Predictive::StudentT { location, .. } = read(12.0) else { panic!("numbers") };
        assert!((location - 1.0).abs() < 1e-15);
    }

    #[test]
    fn it_is_said_in_the_users_units() {
        let (line, inputs) = leaf();
        // In stored units y = 1 + 2 ((p - 10) / 4 - 1/2) = p / 2 - 5; so (y' - 100) / 10 = p' / 4 - 5.
        assert_eq!(formula(&line, &inputs, 0, &[1, 2], &variables()), "mean = 50 + 2.5 price");
    }

    #[test]
    fn parts_that_do_not_fit_are_found() {
        let (_, inputs) = leaf();
        assert!(inputs[0].is_sound(&[1, 2], &variables()));
        assert!(!Input { parent: 2, ..inputs[0] }.is_sound(&[1, 2], &variables()));
        assert!(!Input { low: 20.0, ..inputs[0] }.is_sound(&[1, 2], &variables()));
    }
}
