//! Searches for the best graph. They ask candidates, the traits of a score or tests of independence, and know no score.
//!
//! A new search is one file here and one line below; what it has in common with the others stands in [`registry`]. The exact
//! search ([`exact`]) and the list of the k best graphs ([`k_best`]) are not on the list: one is led from Python step by
//! step, the other returns many graphs.
#![deny(unsafe_code)]

#[macro_use]
pub mod registry;

mod branching;
mod cache;
pub mod exact;
pub mod families;
mod grow_shrink;
mod improving;
pub mod k_best;
pub mod knowledge;

// From below, by the names they have there.
use arbornet_model::{independence, local, model};
use arbornet_table::dag::{ancestors, bits, graph, pdag};
use arbornet_table::{candidates, constraints, control, error, parents, table};

pub use registry::{Detail, Found, Search, Source, Task};

// One line a search: its file here and the type of its parameters, which implements `Search`. In JSON it goes by the
// type's name in snake case.
searches! {
    /// Anytime search over orders.
    anytime::Anytime,
    /// Best order score search.
    boss::Boss,
    /// Greedy equivalence search.
    ges::Fges,
    /// Greedy relaxations of the sparsest permutation.
    grasp::Grasp,
    /// Hill climbing.
    hill_climb::HillClimb,
    /// PC and conservative PC.
    pc::Pc,
    /// The best tree.
    trees::TreeSearch,
}

#[cfg(test)]
mod testing;

/// What the tests of several crates share.
#[cfg(test)]
#[path = "../../../tests/core/support/cases.rs"]
mod cases;
#[cfg(test)]
#[path = "../../../tests/core/support/dags.rs"]
mod dags;
#[cfg(test)]
#[allow(dead_code)] // golden numbers are of scores
#[path = "../../../tests/core/support/places.rs"]
mod places;
