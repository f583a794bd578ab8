//! The macro behind the list of all scores in this crate, and how a score is read. A score's parameters arrive as
//! JSON, written by its dataclass on the Python side: `{"score": "bdeu", "ess": 10.0}`. The same text identifies a score in
//! checkpoints and saved models.

use std::sync::Arc;

pub use super::ScoreSpec;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::weights::Weights;

/// How a score takes rows with weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// As rows that are repeated, if the weights are whole.
    Repeated,
    /// The same; and if they are not, of any weights that are the same for all children.
    RepeatedOrShared,
    /// Of any weights that are the same for all children, since children share sums.
    Shared,
    /// Of any weights, also such that a row counts for some children only.
    Any,
}

/// What stands behind `takes` in a score's line, as [`Takes`]; `own` if it depends on the parameters.
macro_rules! takes {
    ($params:ident) => {{
        let _ = $params;
        Takes::Repeated
    }};
    ($params:ident own) => {
        $params.takes()
    };
    ($params:ident $weights:ident) => {{
        let _ = $params;
        Takes::$weights
    }};
}

macro_rules! scores {
    ($($(#[$doc:meta])* $name:ident($params:path) $(in $file:ident)? $(takes $weights:ident)?,)*) => {
        $($(pub mod $file;)?)*

        /// A score's name and parameters, before it meets a table.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "score", rename_all = "snake_case", deny_unknown_fields)]
        pub enum ScoreSpec { $($(#[$doc])* $name($params),)* }

        impl ScoreSpec {
            /// Prepares the score for a table.
            ///
            /// # Errors
            /// If a parameter is outside its range, the table has columns the score cannot read, or its rows have
            /// weights that the score does not take.
            pub fn prepare(
                &self,
                table: &std::sync::Arc<crate::table::Table>,
            ) -> crate::error::Result<Box<dyn LocalScore>> {
                let table = &self.with_rows_it_takes(table)?;
                match self { $(Self::$name(params) => params.prepare(table),)* }
            }

            fn takes(&self) -> crate::registry::Takes {
                use crate::registry::Takes;
                match self { $(Self::$name(params) => takes!(params $($weights)?),)* }
            }
        }
    };
}

/// What is said to who has weights that a score does not take: those that do as another program does.
const OTHERS: &str = "leave out published, compatible and ess, and any score takes any weights";

impl ScoreSpec {
    pub(super) fn with_rows_it_takes(&self, table: &Arc<Table>) -> Result<Arc<Table>> {
        let by_child = table.weights().is_some_and(Weights::differ_by_child);
        match self.takes() {
            Takes::Any => return Ok(table.clone()),
            Takes::Shared if !by_child => return Ok(table.clone()),
            Takes::RepeatedOrShared if !by_child && table.weights().is_none_or(|own| own.repeated().is_err()) => {
                return Ok(table.clone());
            }
            Takes::Shared | Takes::RepeatedOrShared | Takes::Repeated => {}
        }
        let document = serde_json::to_value(self).ok();
        let name = document.as_ref().and_then(|told| told.get("score")?.as_str()).unwrap_or("this");
        table.repeated(("score", name), OTHERS)
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// If it is not JSON, or names no score.
    pub fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|e| Error::parameter("score", &json, e.to_string()))
    }
}
