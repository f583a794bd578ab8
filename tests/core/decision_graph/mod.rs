//! Decision graphs, one claim a file: scores against literal recomputation, growing, fitted models, joint search.

mod growing;
mod joint;
mod models;
mod scores;
mod tables;
