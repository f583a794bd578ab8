//! Pieces of a model by the levels of some parents: one piece per observed configuration, one for all others.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::configurations::Configurations;
use super::{Outline, Values};
use crate::error::{Error, Result};
use crate::predictive::Value;
use crate::table::{Var, Variable};

/// Pieces by configurations of the parents at some positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Divided<T> {
    /// Positions among the parents, ascending.
    by: Vec<usize>,
    /// Observed configurations in lexicographic order, `by.len()` codes each.
    configurations: Vec<u32>,
    n_rows: Vec<usize>,
    pieces: Vec<T>,
    otherwise: T,
}

impl<T> Divided<T> {
    /// Puts pieces together: codes, rows, piece, in lexicographic order of the codes.
    pub fn new(by: Vec<usize>, pieces: Vec<(Vec<u32>, usize, T)>, otherwise: T) -> Self {
        let mut made = Self {
            by,
            configurations: Vec::new(),
            n_rows: Vec::new(),
            pieces: Vec::with_capacity(pieces.len()),
            otherwise,
        };
        for (codes, n, piece) in pieces {
            debug_assert_eq!(codes.len(), made.by.len());
            made.configurations.extend(codes);
            made.n_rows.push(n);
            made.pieces.push(piece);
        }
        made
    }

    /// Every piece, that of all other configurations last.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().chain([&self.otherwise])
    }

    /// The pieces of observed configurations.
    pub fn observed(&self) -> &[T] {
        &self.pieces
    }

    /// Whether the parent at a position divides.
    pub fn divides(&self, position: usize) -> bool {
        self.by.binary_search(&position).is_ok()
    }

    /// The piece that answers for these values of the parents.
    pub fn find(&self, parents: &[Value]) -> &T {
        let code = |&i: &usize| if let Some(Value::Code(c)) = parents.get(i) { *c } else { u32::MAX };
        let codes: SmallVec<[u32; 8]> = self.by.iter().map(code).collect();
        self.configurations().find(&codes).map_or(&self.otherwise, |i| &self.pieces[i])
    }

    #[inline]
    fn configurations(&self) -> Configurations<'_> {
        Configurations { codes: &self.configurations, width: self.by.len(), n: self.pieces.len() }
    }

    /// Whether a file's division can stand in a network of these variables.
    ///
    /// # Errors
    /// If not, with the child's name.
    pub fn check(&self, child: &Variable, parents: &[Var], variables: &[Variable]) -> Result<()> {
        let bad = |problem: &str| Err(Error::Shape(format!("the regressions of '{}' {problem}", child.name)));
        if !self.by.is_sorted_by(|a, b| a < b) || self.by.iter().any(|&i| i >= parents.len()) {
            return bad("divide by parents that are not there");
        }
        if self.by.iter().any(|&i| variables[parents[i]].is_continuous()) {
            return bad("divide by a continuous parent");
        }
        self.configurations().problem(self.n_rows.len()).map_or(Ok(()), bad)
    }

    /// One question per dividing parent; `leaf` makes what stands at the end from a piece and its rows. Also whether
    /// there are configurations without a piece.
    pub fn outline(
        &self,
        parents: &[Var],
        variables: &[Variable],
        leaf: &impl Fn(&T, usize) -> Outline,
    ) -> (Outline, bool) {
        if self.pieces.is_empty() {
            return (leaf(&self.otherwise, 0), false);
        }
        let levels = |&i: &usize| variables[parents[i]].n_levels().unwrap_or(1);
        let possible = self.by.iter().fold(1_usize, |n, i| n.saturating_mul(levels(i)));
        let (parent, values) = (|depth: usize| parents[self.by[depth]], |_, code| Values::Codes(vec![code]));
        let outline = self.configurations().outline(&parent, &values, &|i| leaf(&self.pieces[i], self.n_rows[i]));
        (outline, self.pieces.len() < possible)
    }

    /// What answers for configurations that were not observed.
    pub fn otherwise(&self) -> &T {
        &self.otherwise
    }
}
