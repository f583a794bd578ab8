//! A table of distributions, one per observed joint configuration of the parents' levels.
//!
//! Only observed configurations are stored, so a wide family costs what its data cost and never the product of its
//! levels; every other configuration gets the `unseen` distribution.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Model;
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
    distributions: Vec<Predictive>,
    unseen: Predictive,
}

impl Cells {
    /// Puts the cells together; each configuration has one code per parent and occurs once.
    pub fn new(child: Var, parents: Vec<Var>, mut cells: Vec<(Vec<u32>, Predictive)>, unseen: Predictive) -> Self {
        cells.sort_by(|a, b| a.0.cmp(&b.0));
        debug_assert!(cells.iter().all(|(codes, _)| codes.len() == parents.len()));
        debug_assert!(cells.windows(2).all(|w| w[0].0 < w[1].0));
        let (configurations, distributions): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
        Self { child, parents, configurations: configurations.concat(), distributions, unseen }
    }

    fn find(&self, codes: &[u32]) -> Option<usize> {
        let width = codes.len();
        let at = |i: usize| &self.configurations[i * width..(i + 1) * width];
        let first_not_less = {
            let (mut low, mut high) = (0, self.distributions.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                if at(middle) < codes { low = middle + 1 } else { high = middle }
            }
            low
        };
        (first_not_less < self.distributions.len() && at(first_not_less) == codes).then_some(first_not_less)
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
        Cow::Borrowed(self.find(&codes).map_or(&self.unseen, |i| &self.distributions[i]))
    }

    fn n_parameters(&self) -> usize {
        self.distributions.iter().map(Predictive::n_parameters).sum()
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        super::check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        let bad = |problem: &str| Err(Error::Shape(format!("the cells of '{}' {problem}", child.name)));
        if self.parents.iter().any(|&p| variables[p].is_continuous()) {
            return bad("have a continuous parent");
        }
        let width = self.parents.len();
        if self.distributions.len().checked_mul(width) != Some(self.configurations.len())
            || (width == 0 && self.distributions.len() > 1)
        {
            return bad("and their configurations differ in number");
        }
        if width > 0 && !self.configurations.chunks(width).is_sorted_by(|a, b| a < b) {
            return bad("are not in lexicographic order");
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
        let model = Cells::new(2, vec![0, 1], vec![(vec![1, 0], coin(0.9)), (vec![0, 3], coin(0.2))], coin(0.5));
        let at = |a, b| model.predictive(&[Value::Code(a), Value::Code(b)]).into_owned();
        assert_eq!(at(1, 0), coin(0.9));
        assert_eq!(at(0, 3), coin(0.2));
        assert_eq!(at(0, 0), coin(0.5));
        assert_eq!(model.n_parameters(), 2);
    }

    #[test]
    fn without_parents_there_is_one_cell() {
        let model = Cells::new(0, vec![], vec![(vec![], coin(0.25))], coin(0.5));
        assert_eq!(*model.predictive(&[]), coin(0.25));
    }
}
