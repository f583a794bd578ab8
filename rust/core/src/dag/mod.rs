//! Directed acyclic graphs: the graphs themselves, and the searches for the best one.

pub mod ancestors;
pub mod anytime;
pub mod bits;
pub mod boss;
pub mod branching;
pub mod cache;
pub mod exact;
pub mod families;
pub mod ges;
pub mod graph;
pub mod grasp;
pub mod grow_shrink;
pub mod hill_climb;
pub mod k_best;
pub mod knowledge;
pub mod pc;
pub mod pdag;
pub mod trees;

pub use graph::Dag;
pub use pdag::Pdag;

#[cfg(test)]
mod testing;
