//! What a lattice costs, and what the search by keys may be expected to, counted from the table alone.
//!
//! Both follow from the parents' occurring levels and bins and from the number of rows, so the
//! choice between the two ways is the same on every machine, at any number of threads, and for any order of the rows.

use super::axis::Axis;

/// Counted work, in the steps of [`crate::LocalScore::family_steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Cells.
    pub cells: u128,
    /// Splits of all cells: one addition each.
    pub splits: u128,
}

impl Size {
    /// Of all cells that these predictors make.
    pub fn of(axes: &[&Axis]) -> Self {
        let cells = axes.iter().fold(1_u128, |cells, axis| cells.saturating_mul(axis.n_parts()));
        let of_axis = |axis: &Axis| (cells / axis.n_parts()).saturating_mul(axis.n_pairs());
        Self { cells, splits: axes.iter().fold(0_u128, |splits, axis| splits.saturating_add(of_axis(axis))) }
    }

    /// Steps of the lattice: its splits, and for each cell so many for its sums and its leaf.
    pub fn lattice_steps(&self, cell: u64) -> u64 {
        saturating(self.splits.saturating_add(self.cells.saturating_mul(u128::from(cell))))
    }

    /// Whether the lattice is the cheaper way. Without numbers nearly all cells are reached by the search too, each by many
    /// ways; with numbers it must be so by a quarter, as the search's bounds may save it more than is expected.
    /// `times` is by how much the search is slower than for a plain response.
    pub fn is_cheaper(&self, axes: &[&Axis], n_rows: usize, cell: u64, times: u64) -> bool {
        let numbers = axes.iter().any(|axis| matches!(axis, Axis::Dyadic(_)));
        !numbers || self.lattice_steps(cell) <= self.search_steps(axes, n_rows).saturating_mul(times) / 4 * 3
    }

    /// Steps that the search by keys may be expected to take. It visits some of the cells that hold two points or more:
    /// how many depends on what its bounds discard, that is, on the response. Over all parent sets of fourteen tables it
    /// was about `0.065 points^1.25`, 1.9 times as many for each predictor of numbers, and for predictors with levels
    /// `parts^0.75` times as many. Only roots and products, which round alike everywhere.
    pub fn search_steps(&self, axes: &[&Axis], n_rows: usize) -> u64 {
        const SHARE: f64 = 0.065;
        const NUMBERS: f64 = 1.9;
        const VISIT: f64 = 240.0;
        const SPLIT: f64 = 20.0;
        let corners: f64 = axes.iter().map(|axis| axis.n_elements().max(1) as f64).product();
        let points = corners.min(n_rows as f64);
        let growth = |axis: &&Axis| match axis {
            Axis::Dyadic(_) => NUMBERS,
            Axis::Subsets(_) | Axis::Intervals(_) => {
                (axis.n_parts() as f64).sqrt() * (axis.n_parts() as f64).sqrt().sqrt()
            }
        };
        let reached = SHARE * points * points.sqrt().sqrt() * axes.iter().map(growth).product::<f64>();
        let cells = self.cells as f64;
        // Beyond what fits, `as` gives the largest number.
        (reached.min(cells) * (VISIT + SPLIT * self.splits as f64 / cells)) as u64
    }
}

fn saturating(steps: u128) -> u64 {
    u64::try_from(steps).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lattice_costs_its_splits_and_its_cells() {
        let (ten, five) = (Axis::Subsets(10), Axis::Subsets(5));
        let size = Size::of(&[&ten, &five, &five]);
        assert_eq!(size.cells, 1023 * 31 * 31);
        assert_eq!(size.splits, 28_501 * 31 * 31 + 2 * 90 * 1023 * 31);
        assert_eq!(size.lattice_steps(3), (size.splits + 3 * size.cells) as u64);
        assert_eq!(Size::of(&[]), Size { cells: 1, splits: 0 });
        assert_eq!(Size::of(&[&Axis::Subsets(64); 4]).lattice_steps(3), u64::MAX);
        assert_eq!(Size::of(&[&Axis::Subsets(64); 40]).search_steps(&[&Axis::Subsets(64); 40], 1000), u64::MAX);
    }

    #[test]
    fn categories_are_for_the_lattice_and_many_numbers_for_the_search() {
        let bins: Vec<u32> = (0..32).collect();
        let number = Axis::of(crate::tree::key::Split::Halving, 5, &bins);
        let lattice_is_cheaper = |axes: &[&Axis]| Size::of(axes).is_cheaper(axes, 1000, 9, 1);
        assert!(lattice_is_cheaper(&[&Axis::Subsets(10), &Axis::Subsets(10)]));
        assert!(lattice_is_cheaper(&[&Axis::Subsets(24)]) && lattice_is_cheaper(&[&Axis::Subsets(20), &number]));
        assert!(lattice_is_cheaper(&[&number]) && lattice_is_cheaper(&[&number, &Axis::Subsets(7)]));
        assert!(!lattice_is_cheaper(&[&number; 4]));
        let both = [&number, &number, &Axis::Subsets(3)];
        assert!(!Size::of(&both).is_cheaper(&both, 1000, 99, 1) && Size::of(&both).is_cheaper(&both, 1000, 99, 3));
    }
}
