//! Logarithms of numbers in the user's units.

use serde::{Deserialize, Serialize};

use crate::table::{Column, Kind, Table, Units, Var};

/// The logarithm of a number in the user's units, or of one more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// Whether one is added first.
    pub one_more: bool,
    /// The way from stored units to the user's.
    pub units: Units,
}

impl Log {
    /// Of a column without values below zero.
    pub fn of(table: &Table, v: Var) -> Option<Self> {
        let (Column::Reals(stored), Kind::Continuous { scale: units }) = (table.column(v), &table.variable(v).kind)
        else {
            return None;
        };
        // Standardised and back, zero is what rounding leaves of it.
        let rounding = |x: f64| match units.log {
            None if units.is_bent() => 1e-12 * units.slope(x),
            None => 1e-15 * (units.shift.abs() + (units.scale * x).abs()),
            Some(log) => 1e-12 * log,
        };
        let least = |x: &f64| units.to_original(*x) + rounding(*x);
        let none_below = stored.iter().all(|x| least(x) >= 0.0);
        let zero = |x: &f64| units.to_original(*x).abs() <= rounding(*x);
        none_below.then(|| Self { one_more: stored.iter().any(zero), units: units.clone() })
    }

    /// The logarithm of a stored value.
    #[inline]
    pub fn at(&self, stored: f64) -> f64 {
        let x = self.units.to_original(stored);
        if self.one_more { x.max(0.0).ln_1p() } else { x.max(f64::MIN_POSITIVE).ln() }
    }

    /// The stored value of a logarithm.
    #[inline]
    pub fn back(&self, log: f64) -> f64 {
        let log = log.min(600.0);
        self.units.to_stored(if self.one_more { log.exp_m1() } else { log.exp() })
    }
}
