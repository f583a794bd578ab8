//! The mass of a number's predictive distribution in each of its pieces, worked out once for all rows that reach a leaf.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::mixture::{below, centre, mirrored};
use super::plan::States;
use crate::predictive::Predictive;

/// The most distributions that are remembered: a model whose every row has its own gains nothing from more.
pub(super) const MOST: usize = 1024;

/// By piece.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The probability of the piece, as [`super::mixture::mass`] has it.
    pub masses: Vec<f64>,
    /// The probability of what lies before it: below, or above it where the piece lies above the centre.
    pub before: Vec<f64>,
}

impl Pieces {
    /// The pieces between ascending thresholds: one evaluation of the distribution for each of these.
    fn of(predictive: &Predictive, cuts: &[f64]) -> Self {
        let (mirror, centre) = (mirrored(predictive), centre(predictive));
        let from_below = cuts.iter().take_while(|&&cut| mirror.is_none() || cut <= centre).count() + 1;
        let (mut masses, mut before) = (Vec::with_capacity(cuts.len() + 1), Vec::with_capacity(cuts.len() + 1));
        let mut low = 0.0;
        for piece in 0..from_below {
            let high = cuts.get(piece).map_or(1.0, |&cut| below(predictive, cut));
            masses.push((high - low).max(0.0));
            before.push(low);
            low = high;
        }
        if let (Some(mirror), Some(&first)) = (&mirror, cuts.get(from_below - 1)) {
            let mut low = below(mirror, -first);
            for piece in from_below..=cuts.len() {
                let high = cuts.get(piece).map_or(0.0, |&cut| below(mirror, -cut));
                masses.push((low - high).max(0.0));
                before.push(high);
                low = high;
            }
        }
        Self { masses, before }
    }
}

/// A hidden variable, and the bits of its distribution's degrees of freedom, location and scale, and of the number that is shared and
/// its share; of counts those of size and parameters.
type Key = (usize, [u64; 6]);

/// What one thread knows of the distributions of a problem's hidden numbers.
#[derive(Debug, Default)]
pub(super) struct Known(RefCell<FxHashMap<Key, Rc<Pieces>>>);

impl Known {
    /// The pieces of a hidden variable under one of its predictive distributions.
    pub fn pieces(&self, hidden: usize, predictive: &Predictive, states: &States) -> Rc<Pieces> {
        let cuts = states.cuts();
        let key = match predictive {
            &Predictive::StudentT { df, location, scale } => [df, location, scale, 0.0, 0.0, 0.0],
            &Predictive::Point { point, df, location, scale } => [df, location, scale, point.at, point.share, 0.0],
            &Predictive::Counts { counts, point } => {
                let [at, share] = point.map_or([0.0, 0.0], |point| [point.at, point.share]);
                [counts.a, counts.b, counts.size.unwrap_or(f64::INFINITY), at, share, 1.0 + counts.gap.unwrap_or(-1.0)]
            }
            Predictive::Levels { .. } | Predictive::Histogram { .. } => return Rc::new(Pieces::of(predictive, cuts)),
        };
        let key = (hidden, key.map(f64::to_bits));
        if let Some(known) = self.0.borrow().get(&key) {
            return Rc::clone(known);
        }
        let made = Rc::new(Pieces::of(predictive, cuts));
        let mut known = self.0.borrow_mut();
        if known.len() < MOST {
            known.insert(key, Rc::clone(&made));
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::super::mixture::mass;
    use super::*;

    #[test]
    fn masses_are_to_the_bit_those_of_each_piece_alone() {
        let cuts = [-4.0, -0.5, 0.3, 0.31, 2.0, 40.0];
        for location in [-100.0, -0.5, 0.0, 0.305, 1.0, 100.0] {
            for n_cuts in 0..=cuts.len() {
                let predictive = Predictive::StudentT { df: 3.5, location, scale: 0.7 };
                let states = States::Pieces(cuts[..n_cuts].to_vec());
                let pieces = Known::default().pieces(0, &predictive, &states);
                let alone = |s: usize| {
                    let (low, high) = states.bounds(s);
                    mass(&predictive, low, high)
                };
                assert_eq!(pieces.masses, (0..=n_cuts).map(alone).collect::<Vec<_>>());
                assert_eq!(pieces.before.len(), n_cuts + 1);
            }
        }
    }
}
