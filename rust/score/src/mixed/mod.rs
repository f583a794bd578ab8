//! Scores for tables that mix levels and numbers (Andrews, Ramsey and Cooper 2018): `l - df/2 ln N` and a graph prior.
//!
//! Every one of them is a log-likelihood and a number of parameters per family; [`Rule`] says what the two are, [`Bic`]
//! makes a score and a likelihood-ratio test of them. Scores are half of what Tetrad prints. Each has a published form
//! and a default that counts every parameter and never meets a singular matrix.

mod additions;
pub mod basis;
mod binned;
pub mod block;
pub mod conditional;
pub mod degenerate;
mod models;
mod moments;
pub mod multinomial;
pub mod polynomial;

use super::{ChildScore, Fit, LocalScore};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::local::{Tested, tested};
use crate::model::LocalModel;
use crate::prior::{FamilySize, GraphPrior};
use crate::table::{Table, Var};

/// A model of families by maximum likelihood.
pub trait Rule: Send + Sync {
    /// One thread's scratch for one child.
    type Child<'a>: Fits
    where
        Self: 'a;

    /// The table it was prepared for.
    fn table(&self) -> &Table;

    /// Scratch for many parent sets of a child.
    ///
    /// # Errors
    /// If the child cannot be explained.
    fn child(&self, child: Var) -> Result<Self::Child<'_>>;

    /// The fitted model of a family; to be thrown away once `halt` is due.
    ///
    /// # Errors
    /// If the family cannot be fitted.
    fn model(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel>;

    /// Whether a family can be fitted, without fitting it.
    ///
    /// # Errors
    /// If it is too wide.
    fn check(&self, _child: Var, _parents: &[Var]) -> Result<()> {
        Ok(())
    }

    /// What a family costs.
    fn cost(&self) -> Cost;

    /// Whether Markov equivalent graphs always score alike, the prior aside.
    fn equivalent(&self) -> bool;

    /// The independence test, where it is another than the likelihood ratio.
    ///
    /// # Errors
    /// If a family cannot be fitted.
    fn own_test(&self, _x: Var, _y: Var, _given: &[Var]) -> Result<Option<Tested>> {
        Ok(None)
    }
}

/// Fits one child to many parent sets, one after the other.
pub trait Fits {
    /// The maximised log-likelihood, per stored unit of numbers, and the number of parameters.
    ///
    /// # Errors
    /// If the family cannot be fitted.
    fn fit(&mut self, parents: &[Var]) -> Result<Fit>;

    /// The number of parameters with one parent more than some, and a log-likelihood that `fit` does not exceed; `parents` are
    /// those with the new one. `None` where nothing is known that is much cheaper than `fit`.
    fn most(&mut self, _base: &[Var], _added: Var, _parents: &[Var]) -> Option<Fit> {
        None
    }

    /// From now on, a fit may end soon after this is due, with a result that is thrown away.
    fn heed(&mut self, halt: &Halt);
}

/// `l - df/2 ln N`, and the prior.
pub struct Bic<R> {
    rule: R,
    prior: GraphPrior,
    half_ln_n: f64,
}

impl<R: Rule> Bic<R> {
    /// Makes a score of a rule.
    ///
    /// # Errors
    /// If the prior's parameter is outside its range.
    pub fn new(rule: R, prior: GraphPrior) -> Result<Self> {
        prior.check()?;
        let half_ln_n = rule.table().total_weight().max(1.0).ln() / 2.0;
        Ok(Self { rule, prior, half_ln_n })
    }

    fn of(&self, fit: Fit, n_parents: usize) -> f64 {
        let Fit { log_likelihood, df } = fit;
        let size = FamilySize { n_vars: self.rule.table().n_vars(), n_parents, n_parameters: df };
        log_likelihood - df * self.half_ln_n + self.prior.log_prior(size)
    }
}

impl<R: Rule> LocalScore for Bic<R> {
    fn table(&self) -> &Table {
        self.rule.table()
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(Scratch { score: self, fits: self.rule.child(child)?, halt: Halt::default() }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.rule.model(child, parents, &Halt::default())
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        let model = self.rule.model(child, parents, halt)?;
        halt.check()?;
        Ok(model)
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        self.rule.check(child, parents)
    }

    fn cost(&self) -> Cost {
        self.rule.cost()
    }

    fn equivalent(&self) -> bool {
        // Equivalent graphs have as many arcs, but not the same numbers of parents.
        self.rule.equivalent() && self.prior != GraphPrior::ParentCount
    }

    fn test_until(&self, x: Var, y: Var, given: &[Var], halt: &Halt) -> Result<Tested> {
        tested::check(self, x, y, given)?;
        match self.rule.own_test(x, y, given)? {
            Some(test) => Ok(test),
            None => tested::ratio(self, x, y, given, halt),
        }
    }
}

struct Scratch<'a, R: Rule + 'a> {
    score: &'a Bic<R>,
    fits: R::Child<'a>,
    halt: Halt,
}

impl<R: Rule> Scratch<'_, R> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        let fit = self.fits.fit(parents)?;
        self.halt.check()?;
        Ok(fit)
    }
}

impl<R: Rule> ChildScore for Scratch<'_, R> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        let fit = self.fit(parents)?;
        Ok(self.score.of(fit, parents.len()))
    }

    fn addition_bound(&mut self, parents: &[Var], added: Var) -> f64 {
        let mut with: Vars = parents.iter().copied().collect();
        with.insert(parents.partition_point(|&p| p < added), added);
        self.fits.most(parents, added, &with).map_or(f64::INFINITY, |fit| self.score.of(fit, with.len()))
    }

    fn likelihood(&mut self, parents: &[Var]) -> Result<Fit> {
        self.fit(parents)
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
        self.fits.heed(halt);
    }
}

/// Indicators and numbers of a family that are factored together, at most: more take seconds a score.
const MOST_COLUMNS: usize = 1024;

/// Refuses a family of so many columns.
fn check_width(table: &Table, child: Var, parents: &[Var], width: usize) -> Result<()> {
    if width <= MOST_COLUMNS {
        return Ok(());
    }
    Err(Error::Family {
        child: table.name(child).to_owned(),
        parents: parents.iter().map(|&p| table.name(p).to_owned()).collect(),
        problem: format!("its levels make {width} columns to be factored together, and {MOST_COLUMNS} is the limit"),
        advice: "merge levels or leave out columns with very many of them, or use ConditionalGaussian".to_owned(),
    })
}

/// Members with levels and members that are numbers, each ascending.
fn split(table: &Table, set: &[Var]) -> (Vars, Vars) {
    set.iter().copied().partition(|&v| !table.variable(v).is_continuous())
}

type Vars = smallvec::SmallVec<[Var; 6]>;

/// Declared configurations of variables with levels.
fn configurations(table: &Table, discrete: &[Var]) -> f64 {
    discrete.iter().map(|&v| table.variable(v).n_levels().unwrap_or(1) as f64).product()
}

const LN_2_PI: f64 = 1.837_877_066_409_345_3;
