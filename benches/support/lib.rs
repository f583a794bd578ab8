//! What the benches share: where the data lie, and tables as the papers prepare them.

#[path = "../../tests/core/support/places.rs"]
pub mod places;
pub mod uci;
