//! How long a family takes, as a score states it: `max_parents="auto"` must choose the same on every machine.

use crate::table::{Table, Var};

/// `fixed + rows * row * product of the parents' growths` nanoseconds. A parent's growth is `continuous`, or its number of
/// levels to the power `levels`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of any family.
    pub fixed: f64,
    /// Of each row without parents.
    pub row: f64,
    /// By how much a parent of numbers makes a row dearer.
    pub continuous: f64,
    /// By which power of its levels another parent does.
    pub levels: f64,
}

impl Default for Cost {
    /// A score of counts or densities.
    fn default() -> Self {
        Self { fixed: 2000.0, row: 10.0, continuous: 2.0, levels: 0.2 }
    }
}

impl Cost {
    /// Seconds of an average family with so many parents.
    pub fn seconds(&self, table: &Table, n_parents: usize) -> f64 {
        let growths: f64 = (0..table.n_vars()).map(|v| self.growth(table, v)).sum();
        let mean = growths / table.n_vars().max(1) as f64;
        1e-9 * (self.fixed + table.n_rows() as f64 * self.row * mean.powf(n_parents as f64))
    }

    /// Nanoseconds of a family with these parents.
    pub fn steps(&self, table: &Table, parents: &[Var]) -> u64 {
        let growth: f64 = parents.iter().map(|&p| self.growth(table, p)).product();
        // Beyond what fits, `as` gives the largest number.
        (self.fixed + table.n_rows() as f64 * self.row * growth).ceil() as u64
    }

    fn growth(&self, table: &Table, v: Var) -> f64 {
        match table.variable(v).n_levels() {
            None => self.continuous,
            Some(levels) => (levels.max(1) as f64).powf(self.levels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Codes, Column, Kind, Level, Units, Variable};

    #[test]
    fn a_family_costs_its_rows_times_the_mean_growth_of_each_parent() {
        let levels = (0..9).map(Level::Int).collect();
        let variables = vec![
            Variable { name: "y".into(), kind: Kind::Continuous { scale: Units::IDENTITY } },
            Variable { name: "x".into(), kind: Kind::Categorical { levels } },
        ];
        let columns = vec![Column::Reals(vec![0.0, 1.0]), Column::Codes(Codes::pack(&[0, 8], 9))];
        let table = Table::new(variables, columns).unwrap();
        let cost = Cost { fixed: 7.0, row: 10.0, continuous: 5.0, levels: 0.5 };
        // The growths are 5 and the root of 9, 4 on average.
        let nanoseconds: Vec<f64> = (0..3).map(|n| 1e9 * cost.seconds(&table, n)).collect();
        let by_hand = [27.0, 87.0, 327.0];
        assert!(nanoseconds.iter().zip(by_hand).all(|(a, b)| (a - b).abs() < 1e-9), "{nanoseconds:?}");
        // By name the numbers have 5 and the levels 3.
        assert_eq!([&[][..], &[0], &[1], &[0, 1]].map(|parents| cost.steps(&table, parents)), [27, 107, 67, 307]);
    }
}
