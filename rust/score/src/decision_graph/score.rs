//! Decision graphs as a local score: the score of the graph that greedy search grows over a fixed parent set.
//!
//! A greedy score is no function that grows with the parents: a larger set may lead the search astray, and score less.

use std::any::Any;
use std::sync::Arc;

use super::amounts::Tallied;
use super::build::model;
use super::predictors::ADVICE;
use super::state::Problem;
use super::{Prepared, Settings, grow};
use crate::control::Halt;
use crate::error::Result;
use crate::local::{ChildScore, LocalScore};
use crate::model::LocalModel;
use crate::table::{Table, Var};

impl Settings {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range, or the prior network does not fit the table.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        Ok(Box::new(self.prepared(table)?))
    }
}

impl LocalScore for Prepared {
    fn table(&self) -> &Table {
        Self::table(self)
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(if Self::table(self).weights().is_some() {
            Box::new(Grower { prepared: self, problem: self.problem_of::<f64>(child, &[])? })
        } else {
            Box::new(Grower { prepared: self, problem: self.problem(child, &[])? })
        })
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.model_until(child, parents, &Halt::default())
    }

    fn model_until(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        if Self::table(self).weights().is_some() {
            return fitted(self.problem_of::<f64>(child, parents)?, halt);
        }
        fitted(self.problem(child, parents)?, halt)
    }

    fn decision_graphs(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        Self::table(self).codes(child, ADVICE)?;
        self.predictors().check(parents)
    }
}

fn fitted<N: Tallied>(problem: Problem<'_, N>, halt: &Halt) -> Result<LocalModel> {
    let problem = Problem { halt: halt.clone(), ..problem };
    let state = grow::grown(&problem)?;
    Ok(LocalModel::DecisionGraph(model(&problem, &state)?))
}

struct Grower<'a, N: Tallied> {
    prepared: &'a Prepared,
    problem: Problem<'a, N>,
}

impl<N: Tallied> ChildScore for Grower<'_, N> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        self.prepared.predictors().check(parents)?;
        self.problem.fields.clear();
        self.problem.fields.extend_from_slice(parents);
        Ok(grow::grown(&self.problem)?.score())
    }

    fn heed(&mut self, halt: &Halt) {
        self.problem.halt.clone_from(halt);
    }

    fn log_marginal(&mut self, parents: &[Var]) -> Result<Option<f64>> {
        self.score(parents).map(Some)
    }
}
