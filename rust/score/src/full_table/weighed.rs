//! Responses of rows with weights, as full tables see them: sums of weights where [`super::response`] has counts.
//!
//! Nothing is tabulated but what whole sums share with counts, so a cell of numbers costs two log-gammas more.

use super::response::{LevelLeaf, Response, Sums};
use crate::leaf::Normal;
use crate::tree::ln::ln;

/// Numbers with weights, by number and then by weight.
pub struct WeighedNumbers {
    leaf: Normal,
    /// What each row holds.
    rows: Vec<Sums>,
    alone: Vec<f64>,
}

impl WeighedNumbers {
    /// Of numbers of the column with their weights, of a leaf that is not the authors' program's.
    pub fn new(leaf: Normal, rows: impl Iterator<Item = (f64, f64)>) -> Self {
        let of_row = |(y, n): (f64, f64)| {
            let y = y - leaf.centre();
            Sums { n, sum: n * y, squares: n * y * y }
        };
        let rows = rows.map(of_row).collect();
        let mut numbers = Self { leaf, rows, alone: Vec::new() };
        numbers.alone = numbers.rows.iter().map(|row| numbers.log_marginal(std::slice::from_ref(row))).collect();
        numbers
    }
}

impl Response for WeighedNumbers {
    type Number = Sums;

    fn width(&self) -> usize {
        1
    }

    #[inline]
    fn add(&self, row: usize, cell: &mut [Sums]) {
        cell[0] += self.rows[row];
    }

    #[inline]
    fn is_empty(cell: &[Sums]) -> bool {
        cell[0].n == 0.0
    }

    fn log_marginal(&self, cell: &[Sums]) -> f64 {
        let Sums { n, sum, squares } = cell[0];
        if n == 0.0 {
            return 0.0;
        }
        let leaf = &self.leaf;
        let spread = leaf.scatter_of(n, sum, squares) + leaf.shift_of(n, sum) + leaf.nu() * leaf.lam();
        let log = if (f64::MIN_POSITIVE..=f64::MAX).contains(&spread) { ln(spread) } else { spread.ln() };
        leaf.weight_term(n) - 0.5 * (n + leaf.nu()) * log
    }

    fn alone(&self, row: u32) -> f64 {
        self.alone[row as usize]
    }
}

/// Levels with weights, in any order: weights sum without rounding.
pub struct WeighedLevels<L> {
    leaf: L,
    /// What each row holds: its level and its weight.
    rows: Vec<(u32, f64)>,
    /// Number of levels.
    width: usize,
    alone: Vec<f64>,
}

impl<L: LevelLeaf> WeighedLevels<L> {
    /// The codes of the rows, below `width`, and their weights.
    pub fn new(leaf: L, rows: Vec<(u32, f64)>, width: usize) -> Self {
        let mut cell = vec![0.0; width];
        let mut alone = |&(level, weight): &(u32, f64)| {
            cell[level as usize] = weight;
            let worth = leaf.log_marginal_of(&cell);
            cell[level as usize] = 0.0;
            worth
        };
        let alone = rows.iter().map(&mut alone).collect();
        Self { leaf, rows, width, alone }
    }
}

impl<L: LevelLeaf> Response for WeighedLevels<L> {
    type Number = f64;

    fn width(&self) -> usize {
        self.width
    }

    fn add(&self, row: usize, cell: &mut [f64]) {
        let (level, weight) = self.rows[row];
        cell[level as usize] += weight;
    }

    fn is_empty(cell: &[f64]) -> bool {
        cell.iter().all(|&n| n == 0.0)
    }

    fn log_marginal(&self, cell: &[f64]) -> f64 {
        self.leaf.log_marginal_of(cell)
    }

    fn alone(&self, row: u32) -> f64 {
        self.alone[row as usize]
    }

    fn constant(&self) -> f64 {
        self.leaf.constant()
    }
}
