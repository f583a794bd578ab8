//! Directed acyclic graphs: the graphs themselves, and the searches for the best one.

pub mod bits;
pub mod graph;
pub mod pdag;

pub use graph::Dag;
pub use pdag::Pdag;
