//! The core against literal twins, brute force and golden numbers: one file a room.
//!
//! These are modules of the crate's own test program, so that the crate is compiled once for all tests; they name it
//! `arbornet_core` and use what is public, as any other crate would.

mod averaged;
mod bde;
mod block_gaussian;
mod completed;
mod counted;
mod decision_graph;
mod full_table;
mod golden_classic;
mod golden_decision_graph;
mod golden_full_table;
mod golden_linear_leaf;
mod golden_mars;
mod golden_mixed;
mod golden_pcart;
mod mars;
mod mixed;
mod network;
mod pcart_groups;
mod pcart_limits;
mod pcart_oracles;
mod point_mass;
mod step1;
pub(crate) mod support;
