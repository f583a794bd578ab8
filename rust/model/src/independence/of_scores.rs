//! The tests that scores have, as tests that are asked by themselves.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{IndependenceTest, Tested};
use crate::control::Halt;
use crate::error::Result;
use crate::kept::Kept;
use crate::local::LocalScore;
use crate::table::Var;

/// The test of a prepared score.
pub struct ScoreTest(pub Arc<dyn LocalScore>);

impl IndependenceTest for ScoreTest {
    fn n_vars(&self) -> usize {
        self.0.table().n_vars()
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        self.0.test(x, y, given)
    }

    fn test_until(&self, x: Var, y: Var, given: &[Var], halt: &Halt) -> Result<Tested> {
        self.0.test_until(x, y, given, halt)
    }
}

/// A question: the pair, smaller first, and what is given.
type Question = (Var, Var, SmallVec<[Var; 4]>);

/// Asks another test once a question; `x, y` and `y, x` are one.
pub struct Remembered<T> {
    test: T,
    answers: Kept<Question, Tested>,
}

impl<T: IndependenceTest> Remembered<T> {
    /// Round a test.
    pub fn new(test: T) -> Self {
        Self { test, answers: Kept::default() }
    }
}

impl<T: IndependenceTest> IndependenceTest for Remembered<T> {
    fn n_vars(&self) -> usize {
        self.test.n_vars()
    }

    fn test(&self, x: Var, y: Var, given: &[Var]) -> Result<Tested> {
        self.test_until(x, y, given, &Halt::default())
    }

    fn test_until(&self, x: Var, y: Var, given: &[Var], halt: &Halt) -> Result<Tested> {
        let question = (x.min(y), x.max(y), SmallVec::from_slice(given));
        self.answers.get_or(question, |(x, y, given)| self.test.test_until(*x, *y, given, halt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says how many it was asked, so that no two answers are alike.
    #[derive(Default)]
    struct Counting(std::sync::atomic::AtomicUsize);

    impl IndependenceTest for Counting {
        fn n_vars(&self) -> usize {
            5
        }

        fn test(&self, _x: Var, _y: Var, _given: &[Var]) -> Result<Tested> {
            let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(Tested { p_value: 0.5, statistic: asked as f64, df: 1.0 })
        }
    }

    #[test]
    fn a_question_is_asked_once_and_another_set_or_pair_is_another_question() {
        let remembered = Remembered::new(Counting::default());
        let asked = |x, y, given: &[Var]| remembered.test(x, y, given).unwrap().statistic;
        assert_eq!(
            [asked(0, 1, &[]), asked(0, 1, &[2]), asked(0, 1, &[2, 3]), asked(0, 1, &[2, 4])],
            [0.0, 1.0, 2.0, 3.0]
        );
        assert_eq!([asked(0, 2, &[]), asked(1, 2, &[])], [4.0, 5.0]);
        assert_eq!([asked(1, 0, &[2, 3]), asked(1, 0, &[]), asked(0, 1, &[2])], [2.0, 0.0, 1.0]);
    }
}
