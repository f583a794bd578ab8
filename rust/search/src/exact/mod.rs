//! The exact search for the best DAG over given candidate parent sets.

pub mod bits;
pub mod cost_to_go;
pub mod cut;
pub mod dominance;
pub mod dual;
pub mod engine;
pub mod frontier;
pub mod interior;
pub mod lattice;
pub mod live;
pub mod local;
pub mod orders;
pub mod pattern;
pub mod prices;
pub mod problem;
pub mod relax;
pub mod restrict;
pub mod scale;
pub mod separate;
pub mod subset_dp;

#[cfg(test)]
mod tests;
