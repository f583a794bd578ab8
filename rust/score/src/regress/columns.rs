//! A table's columns as regressions want them: rows in a canonical order, numbers centred and near unit size.
//!
//! Rows are sorted by all their values, so that sums do not see the order in which they came. Their weights, if they have
//! some, stand beside them. Numbers are centred and
//! divided by the power of two nearest to their standard deviation: exact in binary, so that a column that is already
//! standardised keeps its bits, and thresholds for singular matrices mean the same for every unit.

use std::sync::Arc;

use crate::table::{Column, Table, Var};

/// Columns in canonical order. Levels as codes, numbers as `(stored - shift) / scale`.
pub struct Columns {
    table: Arc<Table>,
    members: Vec<Member>,
    weights: Option<Vec<f64>>,
}

enum Member {
    Codes(Vec<u32>),
    Reals { values: Vec<f64>, shift: f64, scale: f64 },
}

/// Where a number stands between the table's stored units and the columns' own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// What was subtracted.
    pub shift: f64,
    /// What was divided by, a power of two.
    pub scale: f64,
}

impl Columns {
    /// Sorts and scales a table.
    pub fn new(table: &Arc<Table>) -> Self {
        let order = table.canonical_rows();
        let weights: Option<Vec<f64>> =
            table.weights().map(|own| order.iter().map(|&row| own.of_rows()[row as usize]).collect());
        let member = |var: Var| match table.column(var) {
            Column::Codes(codes) => Member::Codes(order.iter().map(|&row| codes.get(row as usize) as u32).collect()),
            Column::Reals(stored) => {
                let mut values: Vec<f64> = order.iter().map(|&row| stored[row as usize]).collect();
                let Scaling { shift, scale } = scaling(&values, weights.as_deref());
                for x in &mut values {
                    *x = (*x - shift) / scale;
                }
                Member::Reals { values, shift, scale }
            }
        };
        let members = (0..table.n_vars()).map(member).collect();
        Self { table: table.clone(), members, weights }
    }

    /// The table they came from.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.table.n_rows()
    }

    /// How often each row counts; none where each counts once.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// How often a row counts.
    pub fn weight(&self, row: u32) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row as usize])
    }

    /// How often some rows count together.
    pub fn weight_of(&self, rows: &[u32]) -> f64 {
        self.weights.as_ref().map_or(rows.len() as f64, |own| rows.iter().map(|&row| own[row as usize]).sum())
    }

    /// The sum of all weights: the number of rows where each counts once.
    pub fn total(&self) -> f64 {
        self.table.total_weight()
    }

    /// Declared levels; `None` for numbers.
    pub fn levels(&self, var: Var) -> Option<usize> {
        self.table.variable(var).n_levels()
    }

    /// Whether a variable has levels.
    pub fn is_discrete(&self, var: Var) -> bool {
        matches!(self.members[var], Member::Codes(_))
    }

    /// The codes of a variable with levels.
    ///
    /// # Panics
    /// For numbers.
    pub fn codes(&self, var: Var) -> &[u32] {
        match &self.members[var] {
            Member::Codes(codes) => codes,
            Member::Reals { .. } => panic!("variable {var} has no codes"),
        }
    }

    /// The values of numbers.
    ///
    /// # Panics
    /// For a variable with levels.
    pub fn reals(&self, var: Var) -> &[f64] {
        match &self.members[var] {
            Member::Reals { values, .. } => values,
            Member::Codes(_) => panic!("variable {var} has no numbers"),
        }
    }

    /// How numbers were moved and scaled; the identity for levels.
    pub fn scaling(&self, var: Var) -> Scaling {
        match self.members[var] {
            Member::Reals { shift, scale, .. } => Scaling { shift, scale },
            Member::Codes(_) => Scaling { shift: 0.0, scale: 1.0 },
        }
    }

    /// What a log density of one row loses from here to stored units: `ln scale`.
    pub fn log_scale(&self, var: Var) -> f64 {
        self.scaling(var).scale.ln()
    }
}

fn scaling(values: &[f64], weights: Option<&[f64]>) -> Scaling {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let n = weights.map_or(values.len().max(1) as f64, |weights| weights.iter().sum());
    // Halves first, so that neither sum nor square overflows whatever the numbers.
    let largest = values.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    if largest == 0.0 || values.iter().all(|x| *x == values[0]) {
        return Scaling { shift: values.first().copied().unwrap_or(0.0), scale: 1.0 };
    }
    let shift = largest * (values.iter().enumerate().map(|(row, x)| weight(row) * (x / largest)).sum::<f64>() / n);
    let square = |(row, x): (usize, &f64)| weight(row) * ((x - shift) / largest).powi(2);
    let spread = values.iter().enumerate().map(square).sum::<f64>() / n;
    let exponent = (largest.log2() + spread.log2() / 2.0).round().clamp(-1000.0, 1000.0);
    Scaling { shift, scale: exponent.exp2() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Codes, Kind, Level, Units, Variable};

    fn table(codes: &[u32], numbers: &[f64]) -> Arc<Table> {
        let levels = (0..4).map(Level::Int).collect();
        let variables = vec![
            Variable { name: "c".into(), kind: Kind::Categorical { levels } },
            Variable { name: "x".into(), kind: Kind::Continuous { scale: Units::IDENTITY } },
        ];
        let columns = vec![Column::Codes(Codes::pack(codes, 4)), Column::Reals(numbers.to_vec())];
        Arc::new(Table::new(variables, columns).unwrap())
    }

    #[test]
    fn the_order_of_rows_is_forgotten() {
        let one = Columns::new(&table(&[3, 1, 1, 0], &[0.1, 0.7, -0.4, 0.3]));
        let other = Columns::new(&table(&[1, 0, 1, 3], &[-0.4, 0.3, 0.7, 0.1]));
        assert_eq!((one.codes(0), one.reals(1)), (other.codes(0), other.reals(1)));
    }

    #[test]
    fn units_are_powers_of_two_near_the_deviation_and_constants_stay() {
        for unit in [1e-300, 1e-9, 1.0, 3e5, 9e49] {
            let columns = Columns::new(&table(&[0; 4], &[-unit, unit, unit, -unit]));
            let x = columns.reals(1);
            assert!(x.iter().all(|x| (0.7..1.5).contains(&x.abs())), "{unit} {x:?}");
            assert_eq!(columns.scaling(1).scale.log2().fract(), 0.0);
        }
        let constant = Columns::new(&table(&[0; 4], &[1e9; 4]));
        assert_eq!(constant.reals(1), [0.0; 4]);
    }
}
