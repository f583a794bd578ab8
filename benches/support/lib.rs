//! What the benches share: where the data lie, and tables as the papers prepare them.
//!
//! A missing or damaged file ends the bench.
#![allow(clippy::missing_panics_doc)]

#[path = "../../tests/core/support/places.rs"]
pub mod places;
pub mod uci;
