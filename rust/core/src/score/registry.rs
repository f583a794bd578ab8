//! Every score by name. A score's parameters arrive as JSON, written by its dataclass on the Python side:
//! `{"score": "bdeu", "ess": 10.0}`. The same text identifies a score in checkpoints and saved models.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::LocalScore;
use crate::error::{Error, Result};
use crate::table::Table;

macro_rules! scores {
    ($($(#[$doc:meta])* $name:ident($params:path),)*) => {
        /// A score's name and parameters, before it meets a table.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "score", rename_all = "snake_case", deny_unknown_fields)]
        pub enum ScoreSpec { $($(#[$doc])* $name($params),)* }

        impl ScoreSpec {
            /// Prepares the score for a table.
            ///
            /// # Errors
            /// If a parameter is outside its range, or the table has columns the score cannot read.
            pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
                match self { $(Self::$name(params) => params.prepare(table),)* }
            }
        }
    };
}

// One line a score: its name in JSON (as snake_case), and the parameters' type, which has
// `fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>>`.
scores! {
    /// Decision graphs, grown greedily.
    DecisionGraph(crate::decision_graph::Settings),
    /// log-likelihood, with AIC's or BIC's penalty or none.
    Likelihood(super::classic::likelihood::Likelihood),
    /// Bayesian Dirichlet with one alpha for every cell; K2 is alpha = 1.
    Bd(super::classic::dirichlet::Bd),
    /// Bayesian Dirichlet, equivalent, with a prior network.
    Bde(super::classic::bde::Bde),
    /// Bayesian Dirichlet, equivalent and uniform.
    Bdeu(super::classic::dirichlet::Bdeu),
    /// factorised normalised maximum likelihood.
    Nml(super::classic::nml::Nml),
    /// quotient normalised maximum likelihood.
    Qnml(super::classic::nml::Qnml),
    /// mutual information tests.
    Mit(super::classic::mit::Mit),
    /// a Gaussian per configuration of levels.
    ConditionalGaussian(super::mixed::conditional::ConditionalGaussian),
    /// one Gaussian over numbers and indicators.
    DegenerateGaussian(super::mixed::degenerate::DegenerateGaussian),
    /// one Gaussian over blocks of features.
    BlockGaussian(super::mixed::block::BlockGaussian),
    /// a basis of every column, one correlation matrix.
    BasisFunctions(super::mixed::basis::BasisFunctions),
    /// polynomial regressions per configuration of levels.
    MixedPolynomial(super::mixed::polynomial::MixedPolynomial),
    /// logistic regressions per configuration of levels.
    LogisticRegression(super::mixed::polynomial::LogisticRegression),
    /// counts, numbers in bins.
    Multinomial(super::mixed::multinomial::Multinomial),
    /// full tables over quantile bins.
    FullTable(super::full_table::FullTable),
    /// Splines.
    Mars(super::mars::Mars),
    /// Partition-dyadic trees.
    Pcart(super::pcart::Pcart),
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
