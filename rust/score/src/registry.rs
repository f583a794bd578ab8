//! The macro behind the list of all scores in this crate, and how a score is read. A score's parameters arrive as
//! JSON, written by its dataclass on the Python side: `{"score": "bdeu", "ess": 10.0}`. The same text identifies a score in
//! checkpoints and saved models.

use std::sync::Arc;

pub use super::ScoreSpec;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::weights::Weights;

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
            /// If a parameter is outside its range, the table has columns the score cannot read, or its rows have
            /// weights that the score does not take.
            pub fn prepare(
                &self,
                table: &std::sync::Arc<crate::table::Table>,
            ) -> crate::error::Result<Box<dyn LocalScore>> {
                let table = &self.with_rows_it_takes(table)?;
                match self { $(Self::$name(params) => params.prepare(table),)* }
            }
        }
    };
}

/// What is said to who has weights that a score does not take.
const OTHERS: &str = "LL, AIC, BIC, K2, BD, BDe, BDeu, NML, QNML, MIT, ConditionalGaussian (without discretise), \
                      DegenerateGaussian, BasisFunctions, BlockGaussian and PCART (without ess and published) take any";

impl ScoreSpec {
    /// Whether the score takes rows of any weights; for others, rows are repeated as often as whole weights say.
    fn takes_any_weights(&self) -> bool {
        if let Self::Pcart(pcart) = self {
            return pcart.takes_any_weights();
        }
        if let Self::ConditionalGaussian(gaussians) = self {
            return !gaussians.discretise;
        }
        matches!(
            self,
            Self::DegenerateGaussian(_)
                | Self::BasisFunctions(_)
                | Self::BlockGaussian(_)
                | Self::Likelihood(_)
                | Self::Bd(_)
                | Self::Bde(_)
                | Self::Bdeu(_)
                | Self::Nml(_)
                | Self::Qnml(_)
                | Self::Mit(_)
        )
    }

    /// Whether sums of rows are shared by children, so that a row cannot weigh differently for each of them.
    fn shares_sums(&self) -> bool {
        matches!(
            self,
            Self::Bde(_)
                | Self::ConditionalGaussian(_)
                | Self::DegenerateGaussian(_)
                | Self::BasisFunctions(_)
                | Self::BlockGaussian(_)
        )
    }

    pub(super) fn with_rows_it_takes(&self, table: &Arc<Table>) -> Result<Arc<Table>> {
        let by_child = table.weights().is_some_and(Weights::differ_by_child);
        if self.takes_any_weights() && !(by_child && self.shares_sums()) {
            return Ok(table.clone());
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
