//! Everything that can go wrong through no fault of ours, with the name, the value and what to do.

use thiserror::Error;

/// The result of a call that reads what a user gave.
pub type Result<T> = std::result::Result<T, Error>;

/// A mistake in what was given. Our own mistakes are panics.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// A column cannot be used in this way.
    #[error("column '{column}' {problem}; {advice}")]
    Column {
        /// The column's name.
        column: String,
        /// What is wrong, with the offending value and row.
        problem: String,
        /// What to do about it.
        advice: String,
    },
    /// A child and its parents cannot be scored.
    #[error("cannot score '{child}' given [{}]: {problem}; {advice}", .parents.join(", "))]
    Family {
        /// The child's name.
        child: String,
        /// The parents' names.
        parents: Vec<String>,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        advice: String,
    },
    /// A score failed where it should not have: a user's own score raised, or a score is not a number.
    #[error("the score of '{child}' given [{}] failed: {problem}", .parents.join(", "))]
    Score {
        /// The child's name.
        child: String,
        /// The parents' names.
        parents: Vec<String>,
        /// What happened.
        problem: String,
    },
    /// A parameter is outside its range.
    #[error("{name}={value}: {problem}")]
    Parameter {
        /// The parameter's public name.
        name: String,
        /// The value given.
        value: String,
        /// What it must be.
        problem: String,
    },
    /// A file or string is not of its format.
    #[error("{origin}, line {line}: {problem}")]
    Format {
        /// The file's name, or what stands for it.
        origin: String,
        /// One-based line.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A file or folder cannot be used.
    #[error("{path}: {problem}")]
    File {
        /// Where.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// A table or graph does not fit the call (rows, columns, names).
    #[error("{0}")]
    Shape(String),
    /// More memory would be needed than was allowed.
    #[error("{what} needs about {needed_mb} MB, the limit is {limit_mb} MB; {advice}")]
    Memory {
        /// What would be allocated.
        what: String,
        /// About how many megabytes.
        needed_mb: u64,
        /// The limit in force.
        limit_mb: u64,
        /// What to do about it.
        advice: String,
    },
    /// The system does not give the memory that was asked for.
    #[error("{what} needs {bytes} bytes, which the system does not give; {advice}")]
    Allocation {
        /// What would be allocated.
        what: String,
        /// How many bytes.
        bytes: u64,
        /// What to do about it.
        advice: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A column that cannot be used in this way.
    pub fn column(column: impl Into<String>, problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Column { column: column.into(), problem: problem.into(), advice: advice.into() }
    }

    /// A parameter outside its range.
    pub fn parameter(name: impl Into<String>, value: &impl ToString, problem: impl Into<String>) -> Self {
        Self::Parameter { name: name.into(), value: value.to_string(), problem: problem.into() }
    }
}
