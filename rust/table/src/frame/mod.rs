//! From a column as it came to a column of codes or standardised numbers.
//!
//! A text or dictionary column is read once, into compact codes in order of first appearance with its distinct values
//! beside them ([`Levels`]); what the levels of a variable are is decided later, on the distinct values alone, and then
//! every row is one table look-up. A column of numbers is described by one pass ([`Profile`]) and standardised by two
//! more ([`numbers::standardise`]). Nothing here depends on how the rows came in chunks: levels are ordered by value,
//! never by appearance, and sums run over the whole column in one fixed order.
//!
//! The variables' [`Recipe`]s say which rows are complete ([`complete_rows`]); of these some are kept ([`KeptRows`]), coded, and
//! become a table. Rows that come later are coded by the same recipes, gaps and all ([`Rows`]).

pub mod codes;
pub mod coding;
mod intern;
pub mod kept_rows;
pub mod levels;
pub mod numbers;
pub mod raw;
pub mod rows;
mod step;

pub use codes::RawCodes;
pub use coding::{Bend, Coding, Logarithm, Recipe, complete_rows};
pub use intern::{Interner, TextInterner, number_key};
pub use kept_rows::KeptRows;
pub use levels::Levels;
pub use numbers::Profile;
pub use raw::RawValues;
pub use rows::{Cells, Rows, Value};

/// The code of a value that is not there.
pub const MISSING: u32 = u32::MAX;
