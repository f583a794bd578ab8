//! `CandidatesHandle`: the core's candidate parent sets, held by Python.

use std::sync::Arc;

use arbornet_core::candidates::ChildCandidates;
use arbornet_core::step1::reweighed;
use arbornet_core::{Candidates, Error, jkl};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::arrays::values;
use crate::errors::CoreError;

/// One child's sets as (scores, offsets, members).
type Arrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);
type GivenArrays<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>);
/// What pickle asks for: a constructor and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Vec<String>, Vec<Arrays<'py>>));

/// Candidate parent sets of every variable, best first; immutable and shared.
#[pyclass(frozen, module = "arbornet._core")]
pub struct CandidatesHandle {
    pub inner: Arc<Candidates>,
}

impl From<Candidates> for CandidatesHandle {
    fn from(candidates: Candidates) -> Self {
        Self { inner: Arc::new(candidates) }
    }
}

#[pymethods]
impl CandidatesHandle {
    /// Reads the text of a .jkl file; origin names it in errors.
    #[staticmethod]
    fn from_jkl(py: Python<'_>, text: &str, origin: &str) -> Result<Self, CoreError> {
        Ok(py.detach(|| jkl::read(text, origin))?.into())
    }

    /// Puts together, per child, (score, parents) pairs in any order.
    #[staticmethod]
    fn from_lists(names: Vec<String>, children: Vec<Vec<(f64, Vec<u32>)>>) -> Result<Self, CoreError> {
        let sorted = |(score, mut parents): (f64, Vec<u32>)| {
            parents.sort_unstable();
            (score, parents)
        };
        let children = children.into_iter().map(|sets| ChildCandidates::from_sets(sets.into_iter().map(sorted)));
        Ok(Candidates::new(names, children.collect())?.into())
    }

    /// Puts together, per child, arrays as `child` gives them.
    #[staticmethod]
    fn from_arrays(names: Vec<String>, children: Vec<GivenArrays<'_>>) -> PyResult<Self> {
        let child = |(scores, offsets, members): GivenArrays<'_>| {
            let (scores, offsets, members) = (values(&scores)?, values(&offsets)?, values(&members)?);
            let fits = offsets.len() == scores.len() + 1
                && offsets.windows(2).all(|w| w[0] <= w[1])
                && offsets.first() == Some(&0)
                && offsets.last().is_some_and(|&end| end as usize == members.len());
            if !fits {
                return Err(CoreError(Error::Shape("offsets do not fit scores and members".to_owned())).into());
            }
            let set = |i: usize| members[offsets[i] as usize..offsets[i + 1] as usize].to_vec();
            Ok(ChildCandidates::from_sets(scores.iter().enumerate().map(|(i, &score)| (score, set(i)))))
        };
        let children = children.into_iter().map(child).collect::<PyResult<Vec<_>>>()?;
        Ok(Candidates::new(names, children).map_err(CoreError)?.into())
    }

    /// The same under a prior over parent sets (as JSON), where up to so many parents were looked at, and sets that a
    /// subset beats were left out or not.
    fn reweighed(&self, py: Python<'_>, prior: &str, max_parents: usize, pruned: bool) -> Result<Self, CoreError> {
        let prior = serde_json::from_str(prior).map_err(|e| Error::parameter("prior", &prior, e.to_string()))?;
        Ok(py.detach(|| reweighed(&self.inner, prior, max_parents, pruned))?.into())
    }

    /// The text of a .jkl file.
    fn to_jkl(&self, py: Python<'_>) -> String {
        py.detach(|| jkl::write(&self.inner))
    }

    /// Number of variables.
    #[getter]
    fn n_vars(&self) -> usize {
        self.inner.n_vars()
    }

    /// The variables' names.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names().to_vec()
    }

    /// Number of sets over all variables.
    #[getter]
    fn n_sets(&self) -> usize {
        self.inner.n_sets()
    }

    /// The best score of every variable; minus infinity without any set.
    #[getter]
    fn bests(&self) -> Vec<f64> {
        (0..self.inner.n_vars()).map(|v| self.inner.child(v).best()).collect()
    }

    /// One variable's sets, best first: scores, offsets (one more than scores), members.
    fn child<'py>(&self, py: Python<'py>, child: usize) -> PyResult<Arrays<'py>> {
        if child >= self.inner.n_vars() {
            let text = format!("there is no variable {child}; there are {}", self.inner.n_vars());
            return Err(CoreError(Error::Shape(text)).into());
        }
        let sets = self.inner.child(child);
        let mut offsets = vec![0u32];
        let (mut scores, mut members) = (Vec::with_capacity(sets.len()), Vec::new());
        for (parents, score) in sets.iter() {
            scores.push(score);
            members.extend_from_slice(parents);
            offsets.push(members.len() as u32);
        }
        Ok((scores.to_pyarray(py), offsets.to_pyarray(py), members.to_pyarray(py)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let py = slf.py();
        let this = slf.get();
        let children = (0..this.n_vars()).map(|v| this.child(py, v)).collect::<PyResult<Vec<_>>>()?;
        Ok((slf.get_type().getattr("from_arrays")?, (this.names(), children)))
    }
}
