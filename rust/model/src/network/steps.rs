//! What numbers of a variable look like: multiples of a step, between a first and a last one.
//!
//! Models are continuous, so what they draw lies between the values that a column holds. Where draws are learned from they
//! must be such values: a threshold of a tree between a value and the next one, or on one, would find draws on both sides of
//! it that no value tells apart. A multiple stands for the numbers that are nearest to it; a threshold in between says the
//! same of values wherever it lies, so hidden numbers are cut half way between multiples instead ([`Stepped`]), and going to
//! the nearest one never leads over a threshold.

use crate::table::Units;

/// Beyond it not every whole number is a float.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Multiples of a step in the user's units: whole numbers times `of`, divided by `per`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// With `per` the step, as two numbers that decimals are read of without rounding: 5 over 100 for 0.05.
    pub of: f64,
    /// See `of`.
    pub per: f64,
    /// The first multiple and the last one, in the user's units; infinite where there is none.
    pub range: (f64, f64),
}

impl Steps {
    /// Whether its parts are in order.
    pub fn is_sound(&self) -> bool {
        let (first, last) = self.range;
        self.of > 0.0 && self.per > 0.0 && (self.of / self.per).is_finite() && first <= last
    }
}

/// The values of a variable: multiples of its step, by their numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    steps: Steps,
    units: Units,
    first: f64,
    last: f64,
}

impl Values {
    pub fn new(steps: Steps, units: Units) -> Self {
        let number = |x: f64| if x.is_finite() { (x * steps.per / steps.of).round() } else { x };
        Self { steps, units, first: number(steps.range.0), last: number(steps.range.1) }
    }

    /// The stored value of a multiple; those in the user's units are the floats that their decimals are read as.
    fn stored(&self, number: f64) -> f64 {
        // Without the zero's sign.
        self.units.to_stored(number * self.steps.of / self.steps.per + 0.0)
    }

    /// The number of the multiple nearest to a stored value.
    fn number(&self, x: f64) -> f64 {
        let number = (self.units.to_original(x) * self.steps.per / self.steps.of).round_ties_even();
        number.clamp(self.first, self.last)
    }

    /// The nearest value; the number itself where there are no multiples between floats.
    pub fn nearest(&self, x: f64) -> f64 {
        self.nearest_of(x, (self.first, self.last))
    }

    fn nearest_of(&self, x: f64, (first, last): (f64, f64)) -> f64 {
        let number = self.number(x).clamp(first, last);
        if number.abs() < EXACT { self.stored(number) } else { x }
    }

    /// The ends of the numbers that are nearest to a value.
    pub fn around(&self, value: f64) -> (f64, f64) {
        let number = self.number(value);
        let high = self.stored(number + 0.5);
        let low = self.stored(number - 0.5);
        // What lies below 0 has no logarithm.
        (if low.is_nan() { value - (high - value) } else { low }, high)
    }

    /// The number of the first multiple that is at or above a threshold; none if all are, or none is.
    fn first_from(&self, cut: f64) -> Option<f64> {
        let mut number = self.number(cut);
        if number.is_nan() || number.abs() >= EXACT {
            return None;
        }
        while number <= self.last && self.stored(number) < cut {
            number += 1.0;
        }
        while number > self.first && self.stored(number - 1.0) >= cut {
            number -= 1.0;
        }
        (self.first < number && number <= self.last).then_some(number)
    }
}

/// The pieces of a hidden variable of such values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stepped {
    values: Values,
    /// The number of the first multiple in every piece but the first.
    firsts: Vec<f64>,
    /// The thresholds between them, half way to the multiple before.
    pub cuts: Vec<f64>,
}

impl Stepped {
    /// The same of any ascending thresholds.
    pub fn new(values: Values, cuts: &[f64]) -> Self {
        let mut firsts: Vec<f64> = cuts.iter().filter_map(|&cut| values.first_from(cut)).collect();
        firsts.dedup();
        let cuts = firsts.iter().map(|first| values.stored(first - 0.5)).collect();
        Self { values, firsts, cuts }
    }

    /// The numbers of the first and of the last multiple in a piece.
    fn ends(&self, piece: usize) -> (f64, f64) {
        let first = if piece == 0 { self.values.first } else { self.firsts[piece - 1] };
        (first, self.firsts.get(piece).map_or(self.values.last, |next| next - 1.0))
    }

    /// A value in a piece.
    pub fn representative(&self, piece: usize) -> f64 {
        let (first, last) = self.ends(piece);
        self.values.stored(if first.is_finite() { first } else { last.min(0.0) })
    }

    /// The value in a piece that is nearest to a number.
    pub fn nearest(&self, piece: usize, x: f64) -> f64 {
        self.values.nearest_of(x, self.ends(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Affine;

    fn values(of: f64, per: f64, range: (f64, f64), units: Units) -> Values {
        Values::new(Steps { of, per, range }, units)
    }

    #[test]
    fn the_nearest_value_is_stored_as_an_observed_one_is() {
        let affine = Units::from(Affine { shift: 3.1, scale: 0.7 });
        for units in [affine.clone(), Units { log: Some(0.5), ..affine }] {
            let tenths = values(1.0, 10.0, (0.0, 20.0), units.clone());
            for k in 0..=200 {
                let observed = units.to_stored(f64::from(k) / 10.0);
                for off in [-0.049, 0.0, 0.049] {
                    let near = units.to_stored((f64::from(k) / 10.0 + off).max(0.0));
                    assert_eq!(tenths.nearest(near).to_bits(), observed.to_bits(), "{k} {off}");
                }
                let (low, high) = tenths.around(observed);
                assert!(low < observed && observed < high, "{k}");
            }
            assert_eq!(tenths.nearest(units.to_stored(1e3)), units.to_stored(20.0));
        }
    }

    #[test]
    fn thresholds_say_the_same_of_values_and_no_value_leaves_its_piece() {
        let units = Units::from(Affine { shift: 2.0, scale: 1.3 });
        let whole = values(1.0, 1.0, (1.0, 6.0), units.clone());
        // On a value, beside one, between the same two as another, and beyond both ends.
        let given: Vec<f64> = [0.2, 1.0, 2.0, 2.5, 3.0, 4.7, 6.0, 6.5].iter().map(|&x| units.to_stored(x)).collect();
        let stepped = Stepped::new(whole.clone(), &given);
        let halves: Vec<f64> = stepped.cuts.iter().map(|&cut| (units.to_original(cut) * 1e6).round() / 1e6).collect();
        assert_eq!(halves, [1.5, 2.5, 4.5, 5.5]);
        let mut ends = vec![f64::NEG_INFINITY];
        ends.extend(&stepped.cuts);
        ends.push(f64::INFINITY);
        for piece in 0..=stepped.cuts.len() {
            let stands = stepped.representative(piece);
            let sides = |x: f64| given.iter().map(|&cut| x >= cut).collect::<Vec<_>>();
            let (low, high) = (ends[piece].max(-5.0), ends[piece + 1].min(5.0));
            for i in 0..=100 {
                let x = stepped.nearest(piece, low + (high - low) * f64::from(i) / 100.0);
                assert_eq!(sides(x), sides(stands), "piece {piece}: {}", units.to_original(x));
                assert_eq!(whole.nearest(x), x);
            }
        }
    }

    #[test]
    fn values_without_ends_and_those_beyond_whole_numbers_stand() {
        let everywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let whole = values(1.0, 1.0, everywhere, Units::IDENTITY);
        assert_eq!(whole.nearest(1e300), 1e300);
        assert_eq!(whole.nearest(-3.4), -3.0);
        let stepped = Stepped::new(whole.clone(), &[-7.5, 1e300]);
        assert_eq!(stepped.cuts, [-7.5]);
        assert_eq!((stepped.representative(0), stepped.representative(1)), (-8.0, -7.0));
        assert_eq!(Stepped::new(whole, &[]).representative(0), 0.0);
    }
}
