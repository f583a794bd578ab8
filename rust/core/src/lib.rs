//! Bayesian networks with a small readable model for every variable, learned from mixed tables.
//!
//! The road goes one way, and the modules stand in its order:
//!
//! ```text
//! Table ── LocalScore ──> Candidates ── DAG search ──> DAG ── fit ──> LocalModels
//! codes,   score of       kept parent                                 a predictive
//! reals    (child,        sets per                                    distribution for
//!          parents)       child                                       every row
//! ```
//!
//! The rooms lie in crates of their own, so that what is below can be built and understood without what is above:
//!
//! ```text
//! arbornet_table <── arbornet_model <─┬─ arbornet_score  <─┐
//!                                     ├─ arbornet_search <─┼─ arbornet_core <── the binding
//!                                     └─ arbornet_step1  <─┘
//! ```
//!
//! Scores, searches and step 1 stand side by side: none of them knows another. This crate puts their rooms together under
//! one roof, and holds the searches that bring scores of their own. None of the crates knows Python. What a person changes
//! often (type inference, search strategy, presentation) is in the Python package; what runs a million times is here.
//!
//! No unsafe code but where wide registers are asked for and written out, each place with its reason.
#![deny(unsafe_code)]

pub mod dag;

pub use arbornet_model::{bif, independence, local, model, network, numeric, predictive, prior};
pub use arbornet_score::{decision_graph, forest, leaf, mars, regress, tree};
pub use arbornet_step1 as step1;
pub use arbornet_table::{
    candidates, constraints, control, counts, error, frame, jkl, kept, mdlp, memory, parents, spread, table, weights,
    with_raw_codes,
};

/// Local scores, and what a score is.
pub mod score {
    pub use arbornet_score::{
        ChildScore, Fit, LocalScore, ScoreSpec, Tables, classic, full_table, limited, mixed, pcart, registry,
    };
}

pub use candidates::Candidates;
pub use constraints::{Constraints, ParentRule};
pub use control::Control;
pub use dag::{Dag, Pdag};
pub use error::{Error, Result};
pub use independence::IndependenceTest;
pub use local::{ChildScore, LocalScore, Tested};
pub use model::{LocalModel, Model};
pub use network::Network;
pub use parents::Parents;
pub use predictive::{Predictive, Value};
pub use table::{Affine, Codes, Column, Kind, Level, NormalScores, NumberLeaf, Point, Table, Units, Var, Variable};

#[cfg(test)]
extern crate self as arbornet_core;

/// The tests that use the crate as others do.
#[cfg(test)]
#[path = "../../../tests/core/mod.rs"]
mod tests;

/// The worked example of a new score compiles and runs as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/contributing-score.md")]
pub struct WorkedExample;

/// So does that of a new search.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/contributing-search.md")]
pub struct WorkedSearch;
