//! Directed acyclic graphs: the graphs themselves, and the searches for the best one.

pub mod anytime;
pub mod bits;
pub mod branching;
pub mod exact;
pub mod families;
pub mod graph;
pub mod hill_climb;
pub mod k_best;
pub mod pdag;

pub use graph::Dag;
pub use pdag::Pdag;

#[cfg(test)]
mod testing;
