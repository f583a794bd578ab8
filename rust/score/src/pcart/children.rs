//! The search for one child: by its column, its leaves and its weights, which response it is of.

use std::sync::Arc;

use super::cell_prior::Cells;
use super::family::{Family, OfKind, Rows};
use super::lines::{ByValue, OfLines};
use super::{NumberLeaf, Prepared, bdeu};
use crate::error::Result;
use crate::leaf::{Amount, Categorical, Leaf, LeafModel, LevelFit, Moments, Normal};
use crate::model::tree::Node;
use crate::numeric::order::by_value;
use crate::table::{Column, Var};
use crate::tree::response::{Levels, LevelsLeaf, NumberSum, Numbers, Store, Weighed, WeighedSum};

impl Prepared {
    /// Scratch for one child, of its own type.
    ///
    /// # Errors
    /// Never for a child of the table.
    pub fn scratch(&self, child: Var) -> Result<Box<dyn Family + '_>> {
        let published = self.parameters.published;
        if let (Some(ess), Column::Codes(codes)) = (self.parameters.ess, self.table.column(child)) {
            return Ok(Box::new(bdeu::Shares::new(self, child, codes, ess)));
        }
        if self.leaf_of(child) == Some(NumberLeaf::Counts) {
            return Ok(self.of_whole_numbers(child));
        }
        if let Some(leaf) = &self.histograms[child] {
            return Ok(self.of_any_shape(child, leaf));
        }
        Ok(match self.parameters.priors.leaf(&self.table, child, published) {
            Leaf::Normal(leaf) => {
                let Column::Reals(values) = self.table.column(child) else {
                    unreachable!("numbers have normal leaves")
                };
                let values: Vec<_> = values.iter().map(|y| y - leaf.centre()).collect();
                if let Some(weights) = self.table.weights_of(child) {
                    return Ok(self.of_weighed_numbers(child, leaf, &values, weights));
                }
                // Sums of numbers depend on their order, so rows are taken by value: then no order of rows matters.
                let mut order = by_value(&values);
                self.equal_ones_by_numbers(child, &mut order, |i, j| values[i].total_cmp(&values[j]));
                let values: Vec<f64> = order.iter().map(|&row| values[row as usize]).collect();
                let shared = self.shared_rows(child, values.iter().map(|y| (y + leaf.centre(), 1.0)));
                let codes = self.ordered(&order);
                if self.has_lines(child) {
                    let by_value = ByValue { values, codes, order, weights: None, shared };
                    return Ok(Box::new(OfLines::new(self, child, leaf, by_value, &self.scales)));
                }
                let codes = Rows::Ordered(Arc::new(codes));
                let response = Numbers::new(&leaf, values.len());
                let node = move |sum: &NumberSum| number_node(&leaf, &sum.into());
                self.of_numbers(child, response, values, codes, node, shared.as_ref())
            }
            Leaf::Categorical(leaf) => self.of_levels(child, leaf.n_levels(), &leaf, &leaf, true),
            Leaf::Ordinal(leaf) => {
                let pure = Categorical::new(leaf.n_levels(), leaf.alpha()).tabulated(self.table.n_rows());
                self.of_levels(child, leaf.n_levels(), &leaf, &pure, !published)
            }
        })
    }

    fn of_levels<L>(&self, child: Var, k: usize, leaf: &L, pure: &Categorical, bounded: bool) -> Box<dyn Family + '_>
    where
        L: LevelsLeaf + LevelFit + 'static,
    {
        if let Some(weights) = self.table.weights_of(child) {
            // What bounds ordered levels holds of counts only.
            let bounded = bounded && !L::ORDERED;
            return match k {
                0..=2 => self.weighed::<[f64; 2], L>(child, leaf, pure, bounded, weights),
                3..=4 => self.weighed::<[f64; 4], L>(child, leaf, pure, bounded, weights),
                5..=8 => self.weighed::<[f64; 8], L>(child, leaf, pure, bounded, weights),
                _ => self.weighed::<Vec<f64>, L>(child, leaf, pure, bounded, weights),
            };
        }
        match k {
            0..=2 => self.with_store::<[u32; 2], L>(child, leaf, pure, bounded),
            3 => self.with_store::<[u32; 3], L>(child, leaf, pure, bounded),
            4 => self.with_store::<[u32; 4], L>(child, leaf, pure, bounded),
            5 => self.with_store::<[u32; 5], L>(child, leaf, pure, bounded),
            6..=8 => self.with_store::<[u32; 8], L>(child, leaf, pure, bounded),
            9..=16 => self.with_store::<[u32; 16], L>(child, leaf, pure, bounded),
            _ => self.with_store::<Vec<u32>, L>(child, leaf, pure, bounded),
        }
    }

    fn with_store<C, L>(&self, child: Var, leaf: &L, pure: &Categorical, bounded: bool) -> Box<dyn Family + '_>
    where
        C: Store<N = u32> + 'static,
        L: LevelsLeaf + LevelFit + 'static,
    {
        let Column::Codes(codes) = self.table.column(child) else { unreachable!("levels are stored as codes") };
        let values = codes.iter().map(|code| code as u32).collect();
        self.of_counts::<C, L>(child, leaf, pure, bounded, values, Rows::AsTheyStand)
    }

    /// Rows of no weight for the child are left out, so that no level or bin of theirs counts.
    fn weighed<C, L>(
        &self,
        child: Var,
        leaf: &L,
        pure: &Categorical,
        bounded: bool,
        weights: &[f64],
    ) -> Box<dyn Family + '_>
    where
        C: Store<N = f64> + 'static,
        L: LevelsLeaf + LevelFit + 'static,
    {
        let Column::Codes(codes) = self.table.column(child) else { unreachable!("levels are stored as codes") };
        let heavy = |row: &u32| weights[*row as usize] > 0.0;
        let order: Vec<u32> = (0..weights.len() as u32).filter(heavy).collect();
        let rows = if order.len() == weights.len() {
            Rows::AsTheyStand
        } else {
            Rows::Ordered(Arc::new(self.ordered(&order)))
        };
        let value = |&row: &u32| (codes.get(row as usize) as u32, weights[row as usize]);
        self.of_counts::<C, L>(child, leaf, pure, bounded, order.iter().map(value).collect(), rows)
    }

    fn of_counts<C, L>(
        &self,
        child: Var,
        leaf: &L,
        pure: &Categorical,
        bounded: bool,
        values: Vec<<C::N as Amount>::Row>,
        rows: Rows,
    ) -> Box<dyn Family + '_>
    where
        C: Store + 'static,
        L: LevelsLeaf + LevelFit + 'static,
    {
        let k = pure.n_levels();
        let fitted = leaf.clone();
        let node = move |sum: &C| level_node(&fitted, &sum.counts()[..k]);
        let response = Levels::<C, L>::new(leaf.clone(), pure.clone(), bounded).of_rows(&values);
        if self.by_the_cell() {
            return Box::new(Cells::new(self, child, response, values, rows, node));
        }
        Box::new(OfKind::new(self, child, response, values, rows, node))
    }

    fn of_weighed_numbers(&self, child: Var, leaf: Normal, values: &[f64], weights: &[f64]) -> Box<dyn Family + '_> {
        let heavy = |row: &u32| weights[*row as usize] > 0.0;
        let mut order: Vec<u32> = (0..values.len() as u32).filter(heavy).collect();
        // By value and weight: then no order of rows matters.
        let of = |row: u32| (values[row as usize], weights[row as usize]);
        order.sort_unstable_by(|&i, &j| {
            let ((x, u), (y, v)) = (of(i), of(j));
            x.total_cmp(&y).then(u.total_cmp(&v)).then(i.cmp(&j))
        });
        let stored = |&row: &u32| (values[row as usize] + leaf.centre(), weights[row as usize]);
        let shared = |order: &[u32]| self.shared_rows(child, order.iter().map(stored));
        if self.has_lines(child) {
            let (value, weight) = (|row: usize| values[row], |row: usize| weights[row]);
            let compare = |i, j| value(i).total_cmp(&value(j)).then(weight(i).total_cmp(&weight(j)));
            self.equal_ones_by_numbers(child, &mut order, compare);
            let (values, weights) = order.iter().map(|&row| of(row)).unzip();
            let shared = shared(&order);
            let by_value = ByValue { values, codes: self.ordered(&order), order, weights: Some(weights), shared };
            return Box::new(OfLines::new(self, child, leaf, by_value, &self.scales));
        }
        let rows = Rows::Ordered(Arc::new(self.ordered(&order)));
        let response = Weighed::new(&leaf);
        let shared = shared(&order);
        let values = order.iter().map(|&row| of(row)).collect();
        let node = move |sum: &WeighedSum| weighed_node(&leaf, sum);
        self.of_numbers(child, response, values, rows, node, shared.as_ref())
    }

    /// Brings rows that compare as equal in the order of the numbers that lines may follow, if the child has lines: sums with them
    /// depend on it.
    fn equal_ones_by_numbers(
        &self,
        child: Var,
        order: &mut [u32],
        compare: impl Fn(usize, usize) -> std::cmp::Ordering,
    ) {
        if !self.has_lines(child) {
            return;
        }
        let others = self.numbers_beside(child);
        for equal in order.chunk_by_mut(|&i, &j| compare(i as usize, j as usize).is_eq()) {
            equal.sort_unstable_by(|&i, &j| {
                let mut by = others.iter().map(|x| x[i as usize].total_cmp(&x[j as usize]));
                by.find(|order| order.is_ne()).unwrap_or(i.cmp(&j))
            });
        }
    }

    /// Codes of some rows, in their order.
    pub(super) fn ordered(&self, order: &[u32]) -> Vec<Vec<u16>> {
        let codes = self.coded.codes.iter().map(|codes| {
            if codes.is_empty() { Vec::new() } else { order.iter().map(|&row| codes[row as usize]).collect() }
        });
        codes.collect()
    }

    /// Whether some rows do not count for the child: what occurs in its rows is not known beforehand then.
    pub(super) fn leaves_rows_out(&self, child: Var) -> bool {
        self.table.weights().and_then(|weights| weights.own_of(child)).is_some_and(|own| own.contains(&0.0))
    }
}

pub(super) fn number_node(leaf: &Normal, sum: &Moments) -> Node {
    let n = sum.n as f64;
    let statistic = if sum.n == 0 {
        Vec::new()
    } else {
        let scatter = (sum.squares - sum.sum * sum.sum / n).max(0.0);
        vec![leaf.centre() + sum.sum / n, (scatter / n).sqrt()]
    };
    Node::Leaf { n: sum.n, statistic, predictive: leaf.fit(sum) }
}

/// As of a count of rows: the number of rows told is the sum of weights, rounded.
pub(super) fn weighed_node(leaf: &Normal, of: &WeighedSum) -> Node {
    let statistic = if of.n == 0.0 {
        Vec::new()
    } else {
        let scatter = (of.squares - of.sum * of.sum / of.n).max(0.0);
        vec![leaf.centre() + of.sum / of.n, (scatter / of.n).sqrt()]
    };
    Node::Leaf { n: of.n.round() as u64, statistic, predictive: leaf.fit_weighed(of.n, of.sum, of.squares) }
}

pub(super) fn level_node<L: LevelFit, N: Amount>(leaf: &L, counts: &[N]) -> Node {
    let n: f64 = counts.iter().map(|&n| n.real()).sum();
    Node::Leaf {
        n: n.round() as u64,
        statistic: counts.iter().map(|&n| n.real()).collect(),
        predictive: leaf.fit_of(counts),
    }
}
