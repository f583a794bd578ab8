//! Partition-dyadic trees: cells as bit keys, the optimal tree, the sum over all trees, and the tree a person reads.
//!
//! Talvitie, Eggeling and Koivisto 2019, sections 3 and 4. [`bins`] says where numbers are cut, [`key`] how rows and cells become 64-bit words,
//! [`normaliser`] sums the structure prior over all trees, [`optimal`] finds the best tree.

pub(crate) mod bins;
pub(crate) mod fitted;
pub(crate) mod key;
pub mod lattice;
pub(crate) mod literal;
pub(crate) mod ln;
pub(crate) mod memo;
pub(crate) mod normaliser;
pub mod optimal;
pub(crate) mod ranks;
pub(crate) mod response;
pub(crate) mod trace;
mod wide;
