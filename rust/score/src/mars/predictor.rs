//! Predictors as a spline reads them: numbers on a common scale with their order, or the rows where an indicator holds.
//!
//! A number is centred, scaled to deviation one and, unless earth's ways are asked for, turned so that its third moment is
//! not negative: knots are looked for from the top down, and no affine change of a predictor, not even a reflection, then
//! changes what is found. They are made once per table and shared by all children.

use super::Shape;

/// A predictor.
#[derive(Clone, Debug)]
pub enum Predictor {
    /// Numbers.
    Number(Number),
    /// Rows where a level holds, ascending.
    Indicator(Vec<u32>),
}

/// A continuous predictor.
#[derive(Clone, Debug)]
pub struct Number {
    /// Standardised and turned, by row.
    pub(super) z: Vec<f64>,
    /// Rows by `z`, descending.
    pub(super) order: Vec<u32>,
    /// Whether values repeat.
    pub(super) tied: bool,
    /// `x = centre + unit * z`; the unit is negative if it was turned.
    centre: f64,
    pub(super) unit: f64,
    /// A linear factor is `z + offset`.
    pub(super) offset: f64,
    /// Squared unit of `x` as earth's absolute threshold sees it.
    pub(super) squared_unit: f64,
    lowest: f64,
}

impl Number {
    /// From values and their weights, if they have some. For earth: the pair (shift, scale) back to the units in which it would
    /// have read them.
    pub fn new(values: &[f64], weights: Option<&[f64]>, earth: Option<(f64, f64)>) -> Self {
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            match weights {
                None => values.iter().map(|x| of(*x)).sum(),
                Some(weights) => values.iter().zip(weights).map(|(x, w)| w * of(*x)).sum(),
            }
        };
        let n = weights.map_or(values.len().max(1) as f64, |weights| weights.iter().sum());
        let mean = sum(&|x| x) / n;
        let power = |k: i32| sum(&|x| (x - mean).powi(k));
        let deviation = (power(2) / (n - 1.0).max(1.0)).sqrt();
        let spread = values.iter().fold(0.0_f64, |m, x| m.max((x - mean).abs()));
        // Below this, differences are rounding and the column is constant.
        let constant = spread <= 1e-13 * mean.abs() || deviation == 0.0 || !deviation.is_finite();
        let deviation = if constant { 1.0 } else { deviation };
        let turned = earth.is_none() && !constant && power(3) < -1e-9 * n * deviation.powi(3);
        let unit = if turned { -deviation } else { deviation };
        let z: Vec<f64> = values.iter().map(|x| if constant { 0.0 } else { (x - mean) / unit }).collect();
        let mut order: Vec<u32> = (0..z.len() as u32).collect();
        // From the top; equal values with the later row first, as in an ascending stable order read backwards.
        order.sort_by(|&a, &b| z[b as usize].total_cmp(&z[a as usize]).then(b.cmp(&a)));
        let tied = order.windows(2).any(|w| z[w[0] as usize] == z[w[1] as usize]);
        let lowest = order.last().map_or(0.0, |&row| z[row as usize]);
        let (offset, squared_unit) = match earth {
            Some((shift, scale)) => ((shift + scale * mean) / (scale * unit), (scale * unit).powi(2)),
            None => (-lowest, 1.0),
        };
        Self { z, order, tied, centre: mean, unit, offset, squared_unit, lowest }
    }

    /// A value of `z` as given.
    pub(super) fn given(&self, z: f64) -> f64 {
        self.centre + self.unit * z
    }

    /// The shape of `(z - t)+` or, downwards, `(t - z)+`.
    pub(super) fn hinge(&self, t: f64, upwards: bool) -> Shape {
        let cut = self.given(t);
        if upwards == (self.unit > 0.0) { Shape::Above(cut) } else { Shape::Below(cut) }
    }

    /// The shape of `z + offset`.
    pub(super) fn line(&self) -> Shape {
        Shape::Linear { origin: self.given(-self.offset), falling: self.unit < 0.0 }
    }

    /// The lowest value as given: where earth says that the knot of a linear factor is.
    pub fn lowest(&self) -> f64 {
        self.given(self.lowest)
    }
}

impl Predictor {
    /// By how much a factor in the units given exceeds the one that is fitted with.
    pub(super) fn scale(&self) -> f64 {
        match self {
            Self::Number(number) => number.unit.abs(),
            Self::Indicator(_) => 1.0,
        }
    }
}
