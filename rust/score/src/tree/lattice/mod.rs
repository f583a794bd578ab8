//! The dense lattice of all cells of a family: its predictors ([`axis`]), and what it takes ([`size`]).

pub mod axis;
pub mod size;
