//! A distribution that follows other numbers along a line: what a linear leaf predicts with.
//!
//! With `d = x - centre`, `M = L L'` (`factor`) and `w` (`weight`), a new number given `x` is Student t distributed about
//! `location + slopes d`, with squared scale `scale^2 (1 + 1/w + d' M^-1 d)`: the farther from what was seen, the wider.

use serde::{Deserialize, Serialize};

use super::Predictive;

/// No number that a line is held against, no slope and no part of its matrix is larger: then no sum of them overflows.
pub const LARGEST: f64 = 1e100;

/// A line and how sure it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Degrees of freedom.
    pub df: f64,
    /// Where the line is at `centre`.
    pub location: f64,
    /// The scale that is left about a line known for certain.
    pub scale: f64,
    /// How many rows, those of the prior included, fix the location.
    pub weight: f64,
    /// What the numbers are held against.
    pub centre: Vec<f64>,
    /// By how much the location rises for each one of a number.
    pub slopes: Vec<f64>,
    /// `L`, row after row up to the diagonal.
    pub factor: Vec<f64>,
}

impl Line {
    /// The distribution where the numbers are these, one for each slope.
    pub fn at(&self, x: &[f64]) -> Predictive {
        let p = self.slopes.len();
        debug_assert_eq!(x.len(), p);
        let (mut location, mut unsure) = (self.location, 1.0 / self.weight);
        // z = L^-1 d, a number at a time.
        let mut z = Vec::with_capacity(p);
        for i in 0..p {
            let d = x[i] - self.centre[i];
            location += self.slopes[i] * d;
            let row = &self.factor[i * (i + 1) / 2..][..=i];
            let known: f64 = row.iter().zip(&z).map(|(l, z)| l * z).sum();
            let own = (d - known) / row[i];
            unsure += own * own;
            z.push(own);
        }
        // Within what a density can be asked for, whatever a file holds.
        let scale = (self.scale * (1.0 + unsure.min(1e100)).sqrt()).clamp(1e-150, 1e150);
        Predictive::StudentT { df: self.df, location: location.clamp(-1e150, 1e150), scale }
    }

    /// Whether its parts fit together: what a file from elsewhere must pass.
    pub fn is_sound(&self) -> bool {
        let p = self.slopes.len();
        let small = |all: &[f64]| all.iter().all(|x| x.abs() <= LARGEST);
        self.centre.len() == p
            && self.factor.len() == p * (p + 1) / 2
            && (1e-3..=1e15).contains(&self.df)
            && (1e-150..=1e150).contains(&self.scale)
            && (1e-150..=1e150).contains(&self.weight)
            && self.location.abs() <= 1e150
            && small(&self.centre)
            && small(&self.slopes)
            && small(&self.factor)
            && (0..p).all(|i| self.factor[i * (i + 3) / 2] > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            df: 7.0,
            location: 2.0,
            scale: 0.5,
            weight: 4.0,
            centre: vec![1.0, -1.0],
            slopes: vec![3.0, 0.5],
            factor: vec![2.0, 1.0, 3.0],
        }
    }

    #[test]
    fn it_is_surest_at_its_centre() {
        let expected = Predictive::StudentT { df: 7.0, location: 2.0, scale: 0.5 * 1.25_f64.sqrt() };
        assert_eq!(line().at(&[1.0, -1.0]), expected);
    }

    #[test]
    fn away_from_it_the_inverse_of_the_matrix_widens_it() {
        // M = [[4, 2], [2, 10]], M^-1 = [[10, -2], [-2, 4]] / 36; d = (2, 1): (40 - 8 + 4) / 36 = 1.
        let Predictive::StudentT { location, scale, .. } = line().at(&[3.0, 0.0]) else { panic!("numbers") };
        assert!((location - 8.5).abs() < 1e-15 && (scale - 0.5 * 2.25_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn what_it_says_has_a_density_however_badly_it_is_known() {
        let line = Line { factor: vec![1e-100, 1e100, 1e-100], slopes: vec![1e100, 1e100], ..line() };
        assert!(line.is_sound());
        let Predictive::StudentT { location, scale, .. } = line.at(&[1e100, -1e100]) else { panic!("numbers") };
        assert!(location.abs() <= 1e150 && (1e-150..=1e150).contains(&scale));
    }

    #[test]
    fn parts_that_do_not_fit_are_found() {
        assert!(line().is_sound());
        assert!(!Line { centre: vec![1.0], ..line() }.is_sound());
        assert!(!Line { factor: vec![2.0, 1.0, 0.0], ..line() }.is_sound());
        assert!(!Line { scale: f64::NAN, ..line() }.is_sound());
        assert!(!Line { slopes: vec![3.0, 1e200], ..line() }.is_sound());
    }
}
