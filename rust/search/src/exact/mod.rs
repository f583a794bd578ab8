//! The exact search for the best DAG over given candidate parent sets.

mod bits;
mod cost_to_go;
pub mod cut;
mod dominance;
mod dual;
pub mod engine;
mod frontier;
mod interior;
mod lattice;
mod live;
mod local;
mod orders;
mod pattern;
mod prices;
pub mod problem;
mod relax;
pub mod restrict;
mod scale;
mod separate;
mod subset_dp;

#[cfg(test)]
mod tests;
