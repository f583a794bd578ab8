//! Numbers of any shape: a Polya tree over cells of the whole column, whose probabilities are marginalised.
//!
//! The column is halved by its ranks, and each half again. At a halving of depth d (the first has depth 1) the probability of the
//! left side has the prior `Beta(d^2, d^2)`: with these a Polya tree has densities however often it is halved (Ferguson 1974;
//! Lavine 1992), so few rows say little of fine cells. Halvings are independent, so the log marginal of a leaf is a sum of
//! beta-binomials,
//!
//! `sum over halvings of ln B(d^2 + left, d^2 + right) - ln B(d^2, d^2)`,
//!
//! and counts by cell are all that it needs. What the cells' widths make of it is a constant of the column, as every row lies in
//! the same cell under every tree; so is the probability of a number within the ends, of which a leaf cannot know.
//!
//! **The bound.** A halving gives no leaf more than if its left and its right side were leaves of their own, and what these are worth is
//! convex in their counts and nothing without rows. So no partition is worth more than all halvings' sides, each pure.

use std::sync::Arc;

use libm::lgamma;

use super::{Amount, LevelFit, Total};
use crate::predictive::{Histogram, Predictive};

/// A column is halved so often at most.
pub const MOST_HALVINGS: u32 = 5;
/// Cells at most.
pub const MOST_CELLS: usize = 1 << MOST_HALVINGS;

/// Counts up to so many are tabulated: of more rows there are few leaves.
const MOST_KNOWN: usize = 1 << 15;

/// The cells of a column, and what decides the marginal of a leaf.
#[derive(Clone, Debug)]
pub struct HistogramLeaf {
    edges: Vec<f64>,
    outside: f64,
    tails: [f64; 2],
    /// From the finest: each joins two elements, the cells first and then the halvings in this order.
    halvings: Vec<Halving>,
    /// The part that each element plays.
    roles: Vec<u8>,
    /// What elements of a role are worth.
    worths: Vec<Worths>,
    constant: f64,
}

#[derive(Clone, Copy, Debug)]
struct Halving {
    sides: [u8; 2],
    /// Of its beta variable.
    prior: f64,
}

/// What the rows of an element are worth: as a side of the halving above it, and less what it takes them to be halved again.
#[derive(Clone, Debug)]
struct Worths {
    above: Option<f64>,
    own: Option<f64>,
    /// By count, with what they would be worth there if the other side had none.
    known: Vec<[f64; 2]>,
}

impl Worths {
    fn computed(&self, n: f64) -> [f64; 2] {
        let rising = |x: f64| if n == 0.0 { 0.0 } else { lgamma(x + n) - lgamma(x) };
        let above = self.above.map_or(0.0, rising);
        [
            above - self.own.map_or(0.0, |own| rising(2.0 * own)),
            self.above.map_or(0.0, |prior| above - rising(2.0 * prior)),
        ]
    }

    #[inline]
    fn at<T: Total>(&self, n: T) -> [f64; 2] {
        match n.place().and_then(|at| self.known.get(at)) {
            Some(known) => *known,
            None => self.computed(n.number()),
        }
    }
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Where they begin, and where the last ends.
    pub edges: Vec<f64>,
    /// How deep the cuts between them are, 1 or more; of neighbours no two are of the same depth.
    pub depths: Vec<u32>,
    /// The weight of all rows in each.
    pub totals: Vec<f64>,
}

impl HistogramLeaf {
    /// Of the cells of a column.
    pub fn new(cells: &Cells) -> Self {
        let Cells { edges, depths, totals } = cells;
        let n: f64 = totals.iter().sum();
        // As much as one row would be, of all that were seen and a few.
        let outside = 1.0 / (n + 4.0);
        let first = edges[0];
        let last = edges[totals.len()];
        let middle = depths.iter().position(|&depth| depth == 1).map(|cut| edges[cut + 1]);
        let tails = [first, last].map(|end| middle.map_or(last - first, |middle| (end - middle).abs() / 4.0));
        let mut leaf = Self {
            edges: edges.clone(),
            outside,
            tails,
            halvings: Vec::new(),
            roles: vec![0; totals.len()],
            worths: Vec::new(),
            constant: 0.0,
        };
        let inside = (-2.0 * outside).ln_1p();
        leaf.constant =
            totals.iter().zip(edges.windows(2)).map(|(n, ends)| n * (inside - (ends[1] - ends[0]).ln())).sum();
        let mut sums = totals.clone();
        leaf.join(0, totals.len(), None, depths, &mut sums);
        leaf
    }

    /// Joins the cells `from..to`: which element they are together, below a halving of some prior.
    fn join(&mut self, from: usize, to: usize, above: Option<f64>, depths: &[u32], sums: &mut Vec<f64>) -> u8 {
        if to - from == 1 {
            self.roles[from] = self.role(above, None, sums[from]);
            return from as u8;
        }
        let cut = (from..to - 1).min_by_key(|&cut| depths[cut]).expect("two cells have a cut between them");
        let prior = f64::from(depths[cut].pow(2));
        let sides = [(from, cut + 1), (cut + 1, to)].map(|(from, to)| self.join(from, to, Some(prior), depths, sums));
        let n = sums[sides[0] as usize] + sums[sides[1] as usize];
        self.halvings.push(Halving { sides, prior });
        let role = self.role(above, Some(prior), n);
        self.roles.push(role);
        sums.push(n);
        self.roles.len() as u8 - 1
    }

    /// The role of an element of up to so many rows.
    fn role(&mut self, above: Option<f64>, own: Option<f64>, n: f64) -> u8 {
        let known = self.worths.iter().position(|worths| worths.above == above && worths.own == own);
        let role = known.unwrap_or_else(|| {
            self.worths.push(Worths { above, own, known: Vec::new() });
            self.worths.len() - 1
        });
        let worths = &mut self.worths[role];
        for n in worths.known.len()..=(n as usize).min(MOST_KNOWN) {
            let worth = worths.computed(n as f64);
            worths.known.push(worth);
        }
        role as u8
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.edges.len() - 1
    }

    /// The cell of a number.
    pub fn cell(&self, x: f64) -> u32 {
        self.edges[1..self.n_cells()].partition_point(|&edge| edge <= x) as u32
    }

    /// What widths and ends make of all rows of the column.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The log marginal of the cells of some rows, and at most that of any partition of them.
    #[inline]
    pub fn both<N: Amount>(&self, counts: &[N]) -> [f64; 2] {
        let mut sums = [N::Total::default(); 2 * MOST_CELLS];
        let k = self.n_cells();
        let (mut leaf, mut apart) = (0.0, 0.0);
        let mut take = |role: u8, n: N::Total| {
            let [own, pure] = self.worths[role as usize].at(n);
            leaf += own;
            apart += pure;
        };
        for ((sum, &n), &role) in sums.iter_mut().zip(&counts[..k]).zip(&self.roles) {
            *sum = n.total();
            if n != N::default() {
                take(role, *sum);
            }
        }
        for (i, (halving, &role)) in self.halvings.iter().zip(&self.roles[k..]).enumerate() {
            let mut sum = sums[halving.sides[0] as usize];
            sum += sums[halving.sides[1] as usize];
            sums[k + i] = sum;
            if sum != N::Total::default() {
                take(role, sum);
            }
        }
        [leaf, apart]
    }

    /// The predictive probabilities of the cells after some rows.
    pub fn shares<N: Amount>(&self, counts: &[N]) -> Vec<f64> {
        let k = self.n_cells();
        let mut sums: Vec<f64> = counts[..k].iter().map(|n| n.real()).collect();
        for Halving { sides, .. } in &self.halvings {
            sums.push(sums[sides[0] as usize] + sums[sides[1] as usize]);
        }
        let mut shares = vec![1.0; sums.len()];
        for (i, &Halving { sides, prior }) in self.halvings.iter().enumerate().rev() {
            for side in sides.map(usize::from) {
                shares[side] = shares[k + i] * (prior + sums[side]) / (2.0 * prior + sums[k + i]);
            }
        }
        shares.truncate(k);
        shares
    }
}

impl LevelFit for HistogramLeaf {
    fn fit_of<N: Amount>(&self, counts: &[N]) -> Predictive {
        let shares = self.shares(counts);
        let histogram = Histogram { edges: self.edges.clone(), shares, outside: self.outside, tails: self.tails };
        Predictive::Histogram { histogram: Arc::new(histogram), point: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predictive::Value;

    /// Five cells: the second half is halved once more on its right.
    fn leaf() -> HistogramLeaf {
        HistogramLeaf::new(&Cells {
            edges: vec![0.0, 1.0, 1.5, 4.0, 4.25, 6.0],
            depths: vec![2, 1, 2, 3],
            totals: vec![4.0, 2.0, 3.0, 5.0, 6.0],
        })
    }

    #[test]
    fn a_marginal_is_a_product_of_integrals_over_halvings() {
        // The midpoint rule for each of the four probabilities.
        let counts = [2_u32, 1, 0, 3, 2];
        let beta = |prior: i32, left: i32, right: i32| {
            let steps = 100_000;
            let at = |i: i32| (f64::from(i) + 0.5) / f64::from(steps);
            let sum = |left: i32, right: i32| -> f64 {
                (0..steps).map(|i| at(i).powi(left) * (1.0 - at(i)).powi(right)).sum()
            };
            sum(prior - 1 + left, prior - 1 + right) / sum(prior - 1, prior - 1)
        };
        let want = beta(1, 3, 5) * beta(4, 2, 1) * beta(4, 0, 5) * beta(9, 3, 2);
        assert!((leaf().both(&counts)[0] - want.ln()).abs() < 1e-8);
    }

    #[test]
    fn a_marginal_is_the_product_of_its_predictives() {
        let leaf = leaf();
        let rows = [0.3, 5.0, 4.1, 4.2, 0.1, 1.2, 4.0, 6.0_f64.next_down()];
        let (mut by_steps, mut counts) = (0.0, [0_u32; 5]);
        for x in rows {
            let cell = leaf.cell(x) as usize;
            let constant = (1.0 - 2.0 * leaf.outside).ln() - (leaf.edges[cell + 1] - leaf.edges[cell]).ln();
            by_steps += leaf.fit_of(&counts).log_density(Value::Real(x)) - constant;
            counts[cell] += 1;
        }
        assert!((by_steps - leaf.both(&counts)[0]).abs() < 1e-12);
    }

    #[test]
    fn the_constant_is_that_of_all_rows() {
        let leaf = leaf();
        let widths = [1.0_f64, 0.5, 2.5, 0.25, 1.75];
        let want: f64 = widths.iter().zip([4.0, 2.0, 3.0, 5.0, 6.0]).map(|(w, n)| n * (22.0 / 24.0 / w).ln()).sum();
        assert!((leaf.constant() - want).abs() < 1e-12);
    }

    #[test]
    fn weights_count_as_so_many_rows_and_what_lies_between_between() {
        let leaf = leaf();
        let whole = leaf.both(&[2_u32, 1, 0, 3, 2]);
        assert_eq!(leaf.both(&[2.0, 1.0, 0.0, 3.0, 2.0]), whole);
        let part = leaf.both(&[2.0, 1.0, 0.0, 3.0, 1.5])[0];
        assert!(whole[0] < part && part < leaf.both(&[2_u32, 1, 0, 3, 1])[0]);
        // Beyond what the column holds nothing is tabulated.
        assert!(leaf.both(&[100_u32, 0, 0, 0, 0])[0] < leaf.both(&[10_u32, 0, 0, 0, 0])[0]);
    }

    #[test]
    fn one_cell_is_certain() {
        let leaf = HistogramLeaf::new(&Cells { edges: vec![2.0, 2.5], depths: vec![], totals: vec![3.0] });
        assert_eq!(leaf.both(&[3_u32]), [0.0, 0.0]);
        assert_eq!(leaf.shares(&[3_u32]), [1.0]);
        assert_eq!([leaf.cell(-9.0), leaf.cell(9.0)], [0, 0]);
    }

    #[test]
    fn without_rows_each_side_of_a_halving_is_equally_probable() {
        assert_eq!(leaf().shares(&[0_u32; 5]), [0.25, 0.25, 0.25, 0.125, 0.125]);
        let Predictive::Histogram { histogram, .. } = leaf().fit_of(&[0_u32; 5]) else { panic!("a histogram") };
        assert!(histogram.is_sound());
    }
}
