//! Graphs and the searches for the best one: those that know no score ([`arbornet_search`]), and here the two that bring
//! their own, which therefore stand above searches and scores.

#[macro_use]
mod registry;

pub mod hybrid;
pub mod joint;

pub use arbornet_search::{anytime, boss, exact, families, ges, grasp, hill_climb, k_best, knowledge, pc, trees};
pub use arbornet_table::dag::{Dag, Pdag, ancestors, bits, graph, pdag};
pub use registry::{Detail, Found, Search, Source, Task};

arbornet_search::with_searches! { specs! {
    /// Arcs by several scores.
    hybrid::Hybrid,
    /// A graph and the decision graphs of its variables.
    joint::Joint,
} }
