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
//! This crate knows no Python. What a person changes often (type inference, search strategy, presentation) is in the
//! Python package; what runs a million times is here.
//!
//! No unsafe code but where wide registers are asked for and written out, each place with its reason.
#![deny(unsafe_code)]

pub mod bif;
pub mod candidates;
pub mod constraints;
pub mod control;
pub mod counts;
pub mod dag;
pub mod decision_graph;
pub mod error;
pub mod forest;
pub mod frame;
pub mod independence;
pub mod jkl;
pub mod kept;
pub mod leaf;
pub mod local;
pub mod mars;
pub mod mdlp;
pub mod memory;
pub mod model;
pub mod network;
pub mod numeric;
pub mod parents;
pub mod predictive;
pub mod prior;
pub mod regress;
pub mod score;
pub mod step1;
pub mod table;
pub mod tree;

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
pub use table::{Affine, Codes, Column, Kind, Level, Table, Var, Variable};

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
