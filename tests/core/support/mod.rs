//! What several rooms need: how many cases are drawn, where files lie, the golden tables.

pub mod cases;
pub mod golden;
pub mod places;
pub(crate) mod seasons;
