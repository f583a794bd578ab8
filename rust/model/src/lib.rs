//! What a fitted family is and says: predictive distributions ([`predictive`]), the kinds of models with their texts
//! ([`model`]), networks of them ([`network`]: densities, inference, sampling; [`bif`]: their files). And what a score is to
//! step 1 and to the searches, whichever it is ([`local`]: two traits; [`prior`]; [`independence`]: tests made of scores).
//!
//! The second of the core's crates: it knows tables, and no score.
#![deny(unsafe_code)]

pub mod bif;
pub mod independence;
pub mod local;
pub mod model;
pub mod network;
pub mod numeric;
pub mod predictive;
pub mod prior;

// From below, by the names they have there.
use arbornet_table::{control, dag, error, frame, kept, memory, parents, table};
