//! From a column as it came to a column of codes or standardised numbers.
//!
//! A text or dictionary column is read once, into compact codes in order of first appearance with its distinct values
//! beside them ([`Levels`]); what the levels of a variable are is decided later, on the distinct values alone, and then
//! every row is one table look-up. A column of numbers is described by one pass ([`Profile`]) and standardised by two
//! more ([`numbers::standardise`]). Nothing here depends on how the rows came in chunks: levels are ordered by value,
//! never by appearance, and sums run over the whole column in one fixed order.

pub mod codes;
mod intern;
pub mod levels;
pub mod numbers;
pub mod rows;
mod step;

pub use codes::RawCodes;
pub use intern::{Interner, TextInterner, number_key};
pub use levels::Levels;
pub use numbers::Profile;
pub use rows::{Cells, Rows, Value};

/// The code of a value that is not there.
pub const MISSING: u32 = u32::MAX;
