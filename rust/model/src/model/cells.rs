//! A table of distributions, one per observed joint configuration of the parents' levels.
//!
//! Only observed configurations are stored, so a wide family costs what its data cost and never the product of its
//! levels; every other configuration gets the `unseen` distribution.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::configurations::Configurations;
use super::{Model, Outline, Values};
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::{Var, Variable};

/// One distribution per observed joint configuration of the parents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cells {
    child: Var,
    parents: Vec<Var>,
    /// Observed configurations in lexicographic order, `parents.len()` codes each.
    configurations: Vec<u32>,
    /// How many rows each configuration was fitted with.
    n_rows: Vec<usize>,
    distributions: Vec<Predictive>,
    unseen: Predictive,
}

/// One observed configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// One code per parent.
    pub codes: Vec<u32>,
    /// How many rows were observed in it.
    pub n_rows: usize,
    /// What they predict.
    pub distribution: Predictive,
}

impl Cells {
    /// Puts the cells together; each configuration has one code per parent and occurs once.
    pub fn new(child: Var, parents: Vec<Var>, mut cells: Vec<Cell>, unseen: Predictive) -> Self {
        cells.sort_by(|a, b| a.codes.cmp(&b.codes));
        debug_assert!(cells.iter().all(|cell| cell.codes.len() == parents.len()));
        debug_assert!(cells.windows(2).all(|w| w[0].codes < w[1].codes));
        Self {
            child,
            parents,
            configurations: cells.iter().flat_map(|cell| cell.codes.iter().copied()).collect(),
            n_rows: cells.iter().map(|cell| cell.n_rows).collect(),
            distributions: cells.into_iter().map(|cell| cell.distribution).collect(),
            unseen,
        }
    }

    /// A distribution for each configuration of parents with so many levels, the last parent's fastest; each level is as
    /// probable as another in a configuration that is none of them.
    pub(crate) fn of_table<'a>(
        child: Var,
        parents: Vec<Var>,
        dims: &[usize],
        rows: impl ExactSizeIterator<Item = &'a [f64]>,
    ) -> Self {
        let levels = |probabilities| Predictive::Levels { probabilities };
        let (mut codes, mut configurations, n) = (vec![0_u32; dims.len()], Vec::new(), rows.len());
        let (mut distributions, mut k) = (Vec::with_capacity(n), 1);
        for row in rows {
            configurations.extend_from_slice(&codes);
            k = row.len();
            distributions.push(levels(row.to_vec()));
            for (code, &dim) in codes.iter_mut().zip(dims).rev() {
                *code += 1;
                if (*code as usize) < dim {
                    break;
                }
                *code = 0;
            }
        }
        Self {
            child,
            parents,
            configurations,
            n_rows: vec![0; n],
            distributions,
            unseen: levels(vec![1.0 / k as f64; k]),
        }
    }

    /// Every observed configuration, in lexicographic order: its codes, its rows, its distribution.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], usize, &Predictive)> + '_ {
        let observed = self.observed();
        self.distributions.iter().enumerate().map(move |(i, p)| (observed.at(i), self.n_rows[i], p))
    }

    /// What every other configuration predicts.
    pub fn unseen(&self) -> &Predictive {
        &self.unseen
    }

    #[inline]
    fn observed(&self) -> Configurations<'_> {
        Configurations { codes: &self.configurations, width: self.parents.len(), n: self.distributions.len() }
    }
}

impl Model for Cells {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        let codes: smallvec::SmallVec<[u32; 8]> =
            parents.iter().map(|v| if let Value::Code(c) = v { *c } else { u32::MAX }).collect();
        Cow::Borrowed(self.observed().find(&codes).map_or(&self.unseen, |i| &self.distributions[i]))
    }

    fn n_parameters(&self) -> usize {
        self.distributions.iter().map(Predictive::n_parameters).sum()
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let n_levels = |position: usize| variables[self.parents[position]].n_levels().unwrap_or(0);
        Some(self.outline_with(n_levels, |_, code| Values::Codes(vec![code])))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        self.check_with(variables, |_| false)
    }
}

impl Cells {
    /// [`Model::outline`]: one question a parent, in order; `values` says what a code of a parent stands for, `n_codes`
    /// how many it could have.
    pub fn outline_with(
        &self,
        n_codes: impl Fn(usize) -> usize,
        values: impl Fn(usize, u32) -> Values,
    ) -> (Outline, Option<Predictive>) {
        let possible = (0..self.parents.len()).fold(1_usize, |n, i| n.saturating_mul(n_codes(i)));
        let otherwise = (self.distributions.len() < possible).then(|| self.unseen.clone());
        if self.distributions.is_empty() {
            return (Outline::Leaf { n_rows: 0, predictive: self.unseen.clone() }, None);
        }
        let leaf = |i: usize| Outline::Leaf { n_rows: self.n_rows[i], predictive: self.distributions[i].clone() };
        (self.observed().outline(&|position| self.parents[position], &values, &leaf), otherwise)
    }

    /// [`Model::check`] where the parents at some positions are binned before they come here, and may be continuous.
    ///
    /// # Errors
    /// If these cells cannot stand for their child in a network of these variables.
    pub fn check_with(&self, variables: &[Variable], binned: impl Fn(usize) -> bool) -> Result<()> {
        super::check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        let bad = |problem: &str| Err(Error::Shape(format!("the cells of '{}' {problem}", child.name)));
        if self.parents.iter().enumerate().any(|(i, &p)| variables[p].is_continuous() && !binned(i)) {
            return bad("have a continuous parent");
        }
        if let Some(problem) = self.observed().problem(self.n_rows.len()) {
            return bad(problem);
        }
        self.distributions.iter().chain([&self.unseen]).try_for_each(|p| p.check(child))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(p: f64) -> Predictive {
        Predictive::Levels { probabilities: vec![1.0 - p, p] }
    }

    #[test]
    fn observed_cells_answer_for_themselves_and_others_get_the_unseen() {
        let cell = |codes: &[u32], p| Cell { codes: codes.to_vec(), n_rows: 1, distribution: coin(p) };
        let model = Cells::new(2, vec![0, 1], vec![cell(&[1, 0], 0.9), cell(&[0, 3], 0.2)], coin(0.5));
        let at = |a, b| model.predictive(&[Value::Code(a), Value::Code(b)]).into_owned();
        assert_eq!(at(1, 0), coin(0.9));
        assert_eq!(at(0, 3), coin(0.2));
        assert_eq!(at(0, 0), coin(0.5));
        assert_eq!(model.n_parameters(), 2);
    }

    #[test]
    fn without_parents_there_is_one_cell() {
        let only = Cell { codes: vec![], n_rows: 9, distribution: coin(0.25) };
        let model = Cells::new(0, vec![], vec![only], coin(0.5));
        assert_eq!(*model.predictive(&[]), coin(0.25));
    }
}
