//! Directed acyclic graphs: the graphs themselves, and the searches for the best one.

#[macro_use]
mod registry;

pub mod ancestors;
pub mod bits;
pub mod branching;
pub mod cache;
pub mod exact;
pub mod families;
pub mod graph;
pub mod grow_shrink;
pub mod k_best;
pub mod knowledge;
pub mod pdag;

pub use graph::Dag;
pub use pdag::Pdag;
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
    /// Arcs by several scores.
    hybrid::Hybrid,
    /// A graph and the decision graphs of its variables.
    joint::Joint,
    /// PC and conservative PC.
    pc::Pc,
    /// The best tree.
    trees::TreeSearch,
}

#[cfg(test)]
mod testing;
