//! What a score is to step 1 and to the searches: [`LocalScore`], prepared once per table and shared by all threads, and
//! [`ChildScore`], the working memory of one thread that scores many parent sets of one child. The split is what lets a
//! score reuse memory, and what the parent sets of a child have in common.

mod cost;
mod groups;
pub mod tested;

use std::any::Any;

use crate::control::Halt;
use crate::error::{Error, Result};
use crate::model::LocalModel;
use crate::table::{NumberLeaf, Table, Var};

pub use cost::Cost;
pub use groups::Groups;
pub use tested::Tested;

/// What a likelihood-ratio test compares: the maximised log-likelihood of a family and its free parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Natural logarithm.
    pub log_likelihood: f64,
    /// Degrees of freedom.
    pub df: f64,
}

/// What a score's models are, to who wants their counts smoothed otherwise than the score has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// No tables of counts.
    None,
    /// Tables to whose counts the score itself adds something.
    Smoothed,
    /// Tables of a score of maximum likelihood, which adds nothing of its own.
    Counted,
}

/// A score of (child, parents), prepared for one table and shared by all threads.
pub trait LocalScore: Send + Sync {
    /// The table it was prepared for.
    fn table(&self) -> &Table;

    /// Scratch for scoring many parent sets of one child on one thread.
    ///
    /// # Errors
    /// If the child is of a kind this score cannot explain.
    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>>;

    /// The fitted model of the score.
    ///
    /// # Errors
    /// As for scoring the same family.
    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel>;

    /// As `model`, ending with `Error::Interrupted` soon after `halt` is due. The default does not look at it.
    ///
    /// # Errors
    /// As `model`.
    fn model_until(&self, child: Var, parents: &[Var], _halt: &Halt) -> Result<LocalModel> {
        self.model(child, parents)
    }

    /// Whether this family can be scored at all, without scoring it: the planner asks before hours of work.
    ///
    /// # Errors
    /// What scoring it would say.
    fn check(&self, _child: Var, _parents: &[Var]) -> Result<()> {
        Ok(())
    }

    /// How the levels of the parents are grouped in a family, if that may miss its best model (see
    /// [`ChildScore::in_order`]).
    ///
    /// # Errors
    /// As for scoring the family.
    fn in_order(&self, _child: Var, _parents: &[Var]) -> Result<Option<Vec<Groups>>> {
        Ok(None)
    }

    /// True if all members of a Markov equivalence class always score alike, whatever the data.
    fn equivalent(&self) -> bool {
        false
    }

    /// What a family costs, where the score does not count its steps ([`ChildScore::steps`]).
    fn cost(&self) -> Cost {
        Cost::default()
    }

    /// What scoring this family costs, counted, known before it is scored, and the same on every machine. The unit is
    /// that of [`ChildScore::steps`]: one addition of two scores with its comparison, or as much other work, about a
    /// nanosecond. Where a search stops early depends on what it finds, so that it can only be expected: over a table's
    /// families that is right within a factor of two. Families that cannot be scored cost what they would if there were
    /// no limit; `u64::MAX` stands for that and for all above.
    fn family_steps(&self, _child: Var, parents: &[Var]) -> u64 {
        self.cost().steps(self.table(), parents)
    }

    /// What stands in the leaves of a child of numbers, of a score that grows trees with leaves of several kinds.
    fn leaf(&self, _child: Var) -> Option<NumberLeaf> {
        None
    }

    /// Whether its models are tables of counted levels, to which something may be added.
    fn tables(&self) -> Tables {
        Tables::None
    }

    /// What grows decision graphs, of the score that does: their search needs more than scores, and knows its type.
    fn decision_graphs(&self) -> Option<&dyn Any> {
        None
    }

    /// Tests whether `x` and `y` are independent given others: by the likelihood ratios of both directions, or by their
    /// Bayes factors if the score has marginal likelihoods.
    ///
    /// # Errors
    /// If it has neither, or a family cannot be scored.
    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        self.test_until(x, y, given, &Halt::default())
    }

    /// As `test`, ending with `Error::Interrupted` soon after `halt` is due, also midway in a family.
    ///
    /// # Errors
    /// As `test`.
    fn test_until(&self, x: Var, y: Var, given: &[Var], halt: &Halt) -> Result<Tested> {
        tested::ratio(self, x, y, given, halt)
    }

    /// The score of one family: `child` and `score` in one call.
    ///
    /// # Errors
    /// As those two.
    fn score(&self, child: Var, parents: &[Var]) -> Result<f64> {
        self.child(child)?.score(parents)
    }
}

/// Scores parent sets of one child, one after the other, on one thread.
pub trait ChildScore {
    /// The score of a sorted parent set.
    ///
    /// # Errors
    /// If this family cannot be scored (too large, wrong kinds).
    fn score(&mut self, parents: &[Var]) -> Result<f64>;

    /// From now on, end with `Error::Interrupted` soon after this is due, also midway in a family. Who calls asks between
    /// families; a score whose families never take long has nothing to do.
    fn heed(&mut self, _halt: &Halt) {}

    /// From now on, a family that takes more than so many steps ends with `Error::Family`. A score whose families never
    /// take long, or that does not count its steps, has nothing to do.
    fn cap(&mut self, _steps: u64) {}

    /// What the families so far cost, counted and not timed, in steps of about a nanosecond; `None` if nobody counts. The
    /// choice of `max_parents="auto"` rests on it, since it is the same on every machine.
    fn steps(&self) -> Option<u64> {
        None
    }

    /// The score if it is above `threshold`, `None` if it is at most that. Step 1 gives the best score among the subsets
    /// it would keep: a set that does not beat it is dominated and dropped, so its exact score is never needed, and a
    /// score that has a cheap upper bound may stop early. The default computes the score.
    ///
    /// # Errors
    /// As `score`.
    fn score_above(&mut self, parents: &[Var], threshold: f64) -> Result<Option<f64>> {
        let score = self.score(parents)?;
        // What is not a number is no score that fell short: the caller has to see it.
        Ok((score > threshold || score.is_nan()).then_some(score))
    }

    /// The log-likelihood and the free parameters of a family, for tests; the default says that there is no likelihood.
    ///
    /// # Errors
    /// As `score`, or if this score has no likelihood.
    fn likelihood(&mut self, _parents: &[Var]) -> Result<Fit> {
        Err(Error::Shape(NO_LIKELIHOOD.to_owned()))
    }

    /// The log marginal likelihood of a family, without a prior over parent sets, for tests; `None` of a score that is none.
    ///
    /// # Errors
    /// As `score`.
    fn log_marginal(&mut self, _parents: &[Var]) -> Result<Option<f64>> {
        Ok(None)
    }

    /// How the levels of the parents were grouped in the family scored last, if that may have missed its best model: its
    /// score is a lower bound then.
    fn in_order(&self) -> Option<&[Groups]> {
        None
    }

    /// An upper bound on the score of every superset of these parents, themselves included; infinity says nothing.
    /// Step 1 skips a set if the bound of one of its subsets is at most the score of one of its subsets.
    fn superset_bound(&mut self, _parents: &[Var]) -> f64 {
        f64::INFINITY
    }

    /// An upper bound on the score of these parents with one added to them; infinity says nothing. A search asks for many
    /// additions to the same parents in a row, of which few score more than the parents alone: a bound that is much cheaper
    /// than the score shows which do not.
    fn addition_bound(&mut self, _parents: &[Var], _added: Var) -> f64 {
        f64::INFINITY
    }
}

const NO_LIKELIHOOD: &str = "this score has no likelihood to test with; test with BIC, ConditionalGaussian, \
                             DegenerateGaussian, PCART or another score of a likelihood";
