//! Structural constraints in resolved form: per child, the parents it must have, those it may have, and how many.
//!
//! Names, tiers, roots and leaves are the user's language; they are resolved to this form before the core sees them
//! (the Python side explains contradictions by name). What remains is exactly what scoring and searching need: a
//! parent set is permitted if it holds every required parent and otherwise only allowed ones, up to the limit. Any
//! such constraints admit a DAG if the required arcs form none with a cycle: that DAG itself.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::table::Var;

/// What one child's parent set has to obey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentRule {
    /// In every parent set, ascending.
    pub required: Vec<Var>,
    /// May be in a parent set, ascending; the required ones are among them.
    pub allowed: Vec<Var>,
    /// At most so many parents; at least as many as are required.
    pub max_parents: usize,
}

impl ParentRule {
    /// Whether an ascending parent set obeys.
    #[inline]
    pub fn permits(&self, parents: &[Var]) -> bool {
        parents.len() <= self.max_parents
            && parents.iter().all(|p| self.allowed.binary_search(p).is_ok())
            && self.required.iter().all(|p| parents.binary_search(p).is_ok())
    }

    /// Whether one parent may be in the set.
    #[inline]
    pub fn allows(&self, parent: Var) -> bool {
        self.allowed.binary_search(&parent).is_ok()
    }

    /// Whether one parent must be in the set.
    #[inline]
    pub fn requires(&self, parent: Var) -> bool {
        self.required.binary_search(&parent).is_ok()
    }

    /// The allowed parents that are not required, ascending.
    pub fn optional(&self) -> Vec<Var> {
        self.allowed.iter().copied().filter(|&p| !self.requires(p)).collect()
    }
}

/// The rules of every child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<ParentRule>", into = "Vec<ParentRule>")]
pub struct Constraints {
    children: Vec<ParentRule>,
}

impl Constraints {
    /// No constraint on any of `n` variables.
    pub fn none(n: usize) -> Self {
        let rule = |v| ParentRule {
            required: vec![],
            allowed: (0..n).filter(|&p| p != v).collect(),
            max_parents: n.saturating_sub(1),
        };
        Self { children: (0..n).map(rule).collect() }
    }

    /// Puts the children's rules together.
    ///
    /// # Errors
    /// If a rule contradicts itself, names a variable that is not there, or the required arcs form a cycle.
    pub fn new(children: Vec<ParentRule>) -> Result<Self> {
        let n = children.len();
        for (v, rule) in children.iter().enumerate() {
            let bad =
                |problem: String| Err(Error::Shape(format!("constraints on the parents of variable {v}: {problem}")));
            for list in [&rule.required, &rule.allowed] {
                if list.windows(2).any(|w| w[0] >= w[1]) {
                    return bad(format!("{list:?} is not in ascending order"));
                }
                if let Some(&p) = list.iter().find(|&&p| p >= n || p == v) {
                    return bad(format!("variable {p} cannot be its parent"));
                }
            }
            if let Some(&p) = rule.required.iter().find(|&&p| !rule.allows(p)) {
                return bad(format!("variable {p} is required but not allowed"));
            }
            if rule.required.len() > rule.max_parents {
                return bad(format!("{} are required, at most {} allowed", rule.required.len(), rule.max_parents));
            }
        }
        let made = Self { children };
        if made.required_order().is_none() {
            return Err(Error::Shape("the required arcs form a cycle".to_owned()));
        }
        Ok(made)
    }

    /// Reads the JSON form: one object a child, `{"required": [..], "allowed": [..], "max_parents": ..}`.
    ///
    /// # Errors
    /// If it is not of that form, or as in [`Constraints::new`].
    pub fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|e| Error::Shape(format!("constraints: {e}")))
    }

    /// Number of variables.
    #[inline]
    pub fn n_vars(&self) -> usize {
        self.children.len()
    }

    /// The rule of one child.
    #[inline]
    pub fn child(&self, child: Var) -> &ParentRule {
        &self.children[child]
    }

    /// True if every parent set without its child is permitted.
    pub fn is_empty(&self) -> bool {
        let most = self.children.len().saturating_sub(1);
        self.children.iter().all(|r| r.required.is_empty() && r.allowed.len() == most && r.max_parents >= most)
    }

    /// An order of the variables in which every required arc points forward, if there is one.
    pub fn required_order(&self) -> Option<Vec<Var>> {
        let mut missing: Vec<usize> = self.children.iter().map(|r| r.required.len()).collect();
        let mut order: Vec<Var> = (0..missing.len()).filter(|&v| missing[v] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            let parent = order[next];
            next += 1;
            for (child, rule) in self.children.iter().enumerate() {
                if rule.requires(parent) {
                    missing[child] -= 1;
                    if missing[child] == 0 {
                        order.push(child);
                    }
                }
            }
        }
        (order.len() == missing.len()).then_some(order)
    }
}

impl TryFrom<Vec<ParentRule>> for Constraints {
    type Error = Error;

    fn try_from(children: Vec<ParentRule>) -> Result<Self> {
        Self::new(children)
    }
}

impl From<Constraints> for Vec<ParentRule> {
    fn from(constraints: Constraints) -> Self {
        constraints.children
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(required: &[Var], allowed: &[Var], max_parents: usize) -> ParentRule {
        ParentRule { required: required.to_vec(), allowed: allowed.to_vec(), max_parents }
    }

    #[test]
    fn a_set_needs_every_required_parent_and_no_other_than_allowed_ones() {
        let r = rule(&[1], &[1, 2, 3], 2);
        assert!(r.permits(&[1]) && r.permits(&[1, 3]));
        assert!(!r.permits(&[]) && !r.permits(&[2]) && !r.permits(&[1, 4]) && !r.permits(&[1, 2, 3]));
    }

    #[test]
    fn no_constraint_permits_every_set_without_the_child() {
        let none = Constraints::none(3);
        assert!(none.is_empty());
        assert!(none.child(1).permits(&[]) && none.child(1).permits(&[0, 2]) && !none.child(1).permits(&[1]));
        assert_eq!(Constraints::parse(&serde_json::to_string(&none).unwrap()).unwrap(), none);
    }

    #[test]
    fn contradictions_are_refused() {
        let free = |v: Var| rule(&[], &[(v + 1) % 2], 1);
        assert!(Constraints::new(vec![rule(&[1], &[1], 1), rule(&[0], &[0], 1)]).is_err(), "cycle");
        assert!(Constraints::new(vec![rule(&[1], &[], 1), free(1)]).is_err(), "required, not allowed");
        assert!(Constraints::new(vec![rule(&[1], &[1], 0), free(1)]).is_err(), "more required than allowed");
        assert!(Constraints::new(vec![rule(&[0], &[0], 1), free(1)]).is_err(), "own parent");
        assert!(Constraints::new(vec![rule(&[], &[2], 1), free(1)]).is_err(), "no such variable");
    }

    #[test]
    fn required_arcs_point_forward_in_their_order() {
        let all = |v: Var| (0..3).filter(|&p| p != v).collect::<Vec<_>>();
        let made =
            Constraints::new(vec![rule(&[2], &all(0), 2), rule(&[0], &all(1), 2), rule(&[], &all(2), 2)]).unwrap();
        assert_eq!(made.required_order().unwrap(), [2, 0, 1]);
    }
}
