//! Decision graphs, one claim a file: scores against literal recomputation, growing, fitted models, joint search.

#[path = "../support/cases.rs"]
mod cases;
mod growing;
mod joint;
mod models;
mod scores;
mod tables;
