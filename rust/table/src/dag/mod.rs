//! Directed acyclic graphs and their equivalence classes, as sets of bits.

pub mod ancestors;
pub mod bits;
pub mod graph;
pub mod pdag;

pub use graph::Dag;
pub use pdag::Pdag;
