//! What a column says of its own leaves, whatever the score: counts, histograms, a number that many rows share.

mod counts;
mod histogram;
mod points;

pub use counts::{CountRows, check_counts};
pub use histogram::histograms;
pub use points::{SharedRows, point_of};
