//! What everything else speaks about: columns that arrive ([`frame`]), tables of codes and reals ([`table`](mod@table)),
//! graphs over their variables ([`dag`]), constraints on graphs, candidates for parents; errors and how work is stopped.
//!
//! The lowest of the core's crates: it knows no score and no model.
#![deny(unsafe_code)]

pub mod candidates;
pub mod constraints;
pub mod control;
pub mod counts;
pub mod dag;
pub mod error;
pub mod frame;
pub mod jkl;
pub mod kept;
pub mod mdlp;
pub mod memory;
pub mod normal_scores;
pub mod parents;
pub mod spread;
pub mod table;
pub mod units;
pub mod weights;

#[cfg(test)]
extern crate self as arbornet_table;

/// What the tests of several crates share.
#[cfg(test)]
#[path = "../../../tests/core/support/dags.rs"]
mod dags;
