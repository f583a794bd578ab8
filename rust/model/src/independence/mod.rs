//! Tests of conditional independence: is x independent of y, given some variables?
//!
//! Data answer with a p-value ([`IndependenceTest`], made of scores); a known graph answers with certainty
//! ([`DSeparation`]), which is what searches by tests are checked against.

mod of_scores;

use crate::control::Halt;
use crate::dag::Dag;
use crate::error::Result;
use crate::table::Var;

pub use crate::local::Tested;
pub use of_scores::{Remembered, ScoreTest};

/// Tests x against y given others. Shared by all threads; the same question always has the same answer.
pub trait IndependenceTest: Send + Sync {
    /// Number of variables.
    fn n_vars(&self) -> usize;

    /// Tests two different variables given an ascending set without them; x and y may be swapped.
    ///
    /// # Errors
    /// If these variables cannot be tested.
    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested>;

    /// As `test`, ending with `Error::Interrupted` soon after `halt` is due. The default does not look at it.
    ///
    /// # Errors
    /// As `test`.
    fn test_until(&self, x: Var, y: Var, given: &[Var], _halt: &Halt) -> Result<Tested> {
        self.test(x, y, given)
    }

    /// The p-value of `test`.
    ///
    /// # Errors
    /// As `test`.
    fn p_value(&self, x: Var, y: Var, given: &[Var]) -> Result<f64> {
        Ok(self.test(x, y, given)?.p_value)
    }
}

/// The independences of a graph: p is 1 where x and y are d-separated, else 0.
#[derive(Clone, Debug)]
pub struct DSeparation(pub Dag);

impl IndependenceTest for DSeparation {
    fn n_vars(&self) -> usize {
        self.0.n_vars()
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        let separated = self.0.d_separated(x, y, given);
        let (p_value, statistic) = if separated { (1.0, 0.0) } else { (0.0, f64::INFINITY) };
        Ok(Tested { p_value, statistic, df: 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collider_separates_until_it_is_known() {
        let oracle = DSeparation(Dag::from_arcs(3, [(0, 2), (1, 2)]).unwrap());
        assert_eq!(oracle.p_value(0, 1, &[]).unwrap(), 1.0);
        assert_eq!(oracle.p_value(0, 1, &[2]).unwrap(), 0.0);
        assert_eq!(oracle.p_value(0, 2, &[]).unwrap(), 0.0);
    }
}
