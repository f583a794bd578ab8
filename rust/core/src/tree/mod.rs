//! Partition-dyadic trees: cells as bit keys, the optimal tree, the sum over all trees, and the tree a person reads.
//!
//! Talvitie, Eggeling and Koivisto 2019, sections 3 and 4. [`key`] says how rows and cells become 64-bit words,
//! [`normaliser`] sums the structure prior over all trees, [`optimal`] finds the best tree.

pub mod dense;
pub mod key;
pub mod literal;
pub mod ln;
pub mod memo;
pub mod normaliser;
pub mod optimal;
pub mod response;
pub mod trace;
mod wide;
