//! A leaf that follows numeric parents along a line.
//!
//! Beyond the training rows' range within the leaf the line stays where it was at the end of that range: it is not drawn on
//! into what no row has shown.

mod words;

use serde::{Deserialize, Serialize};

use crate::predictive::{LARGEST, Line, Predictive, Value};
use crate::table::{Affine, Var, Variable};

pub use words::{Along, LineDescription, Slope};

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
            && [self.low, self.high].iter().all(|&x| self.scale.to_stored(x).abs() <= LARGEST)
    }
}

/// What the child does where the parents have these values.
pub fn at(line: &Line, inputs: &[Input], values: &[Value]) -> Predictive {
    let x: Vec<f64> = inputs.iter().zip(&line.centre).map(|(input, &centre)| input.read(values, centre)).collect();
    line.at(&x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Kind, Units};

    pub(super) fn leaf() -> (Line, Vec<Input>) {
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

    pub(super) fn variables() -> Vec<Variable> {
        let scales = [Affine { shift: 100.0, scale: 10.0 }, Affine::IDENTITY, Affine { shift: 0.0, scale: 2.0 }]
            .map(Units::from);
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
    fn parts_that_do_not_fit_are_found() {
        let (_, inputs) = leaf();
        assert!(inputs[0].is_sound(&[1, 2], &variables()));
        assert!(!Input { parent: 2, ..inputs[0] }.is_sound(&[1, 2], &variables()));
        assert!(!Input { low: 20.0, ..inputs[0] }.is_sound(&[1, 2], &variables()));
    }
}
