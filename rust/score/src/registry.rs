//! The macro behind the list of all scores in this crate, and how a score is read. A score's parameters arrive as
//! JSON, written by its dataclass on the Python side: `{"score": "bdeu", "ess": 10.0}`. The same text identifies a score in
//! checkpoints and saved models.

pub use super::ScoreSpec;
use crate::error::{Error, Result};

macro_rules! scores {
    ($($(#[$doc:meta])* $name:ident($params:path) $(in $file:ident)?,)*) => {
        $($(pub mod $file;)?)*

        /// A score's name and parameters, before it meets a table.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "score", rename_all = "snake_case", deny_unknown_fields)]
        pub enum ScoreSpec { $($(#[$doc])* $name($params),)* }

        impl ScoreSpec {
            /// Prepares the score for a table.
            ///
            /// # Errors
            /// If a parameter is outside its range, or the table has columns the score cannot read.
            pub fn prepare(
                &self,
                table: &std::sync::Arc<crate::table::Table>,
            ) -> crate::error::Result<Box<dyn LocalScore>> {
                match self { $(Self::$name(params) => params.prepare(table),)* }
            }
        }
    };
}

impl ScoreSpec {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// If it is not JSON, or names no score.
    pub fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|e| Error::parameter("score", &json, e.to_string()))
    }
}
