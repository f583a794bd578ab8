//! Local scores: how well a child is explained by a set of parents. Higher is better, natural logarithms.
//!
//! A new score is one file here and one line below. It implements two traits, [`LocalScore`] and [`ChildScore`]; what it
//! costs and how its models are smoothed are methods of the first. Beside the scores stand the rooms that several of them are
//! made of: [`leaf`], [`tree`], [`regress`], `said` (what a column says of its own leaves), and [`forest`], which ranks parents.
//!
//! No search and nothing of step 1 knows this crate: they ask the traits.
#![deny(unsafe_code)]

#[macro_use]
pub mod registry;

pub mod classic;
pub mod decision_graph;
pub mod forest;
pub mod leaf;
pub mod limited;
pub mod mars;
pub mod mixed;
pub mod regress;
mod said;
pub mod tree;

// From below, by the names they have there.
use arbornet_model::{local, model, network, numeric, predictive, prior};
use arbornet_table::{control, counts, error, frame, kept, table, weights};

pub use arbornet_model::local::{ChildScore, Fit, LocalScore, Tables};

// One line a score: its name in JSON (as snake_case), the parameters' type, which has
// `fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>>`, the file it is in, if it has one of its own, and how it takes
// rows with weights (`registry::Takes`), if it heeds them: `own` asks the parameters.
scores! {
    /// Decision graphs, grown greedily.
    DecisionGraph(decision_graph::Settings) takes Any,
    /// log-likelihood, with AIC's or BIC's penalty or none.
    Likelihood(classic::likelihood::Likelihood) takes Any,
    /// Bayesian Dirichlet with one alpha for every cell; K2 is alpha = 1.
    Bd(classic::dirichlet::Bd) takes Any,
    /// Bayesian Dirichlet, equivalent, with a prior network.
    Bde(classic::bde::Bde) takes Shared,
    /// Bayesian Dirichlet, equivalent and uniform.
    Bdeu(classic::dirichlet::Bdeu) takes Any,
    /// factorised normalised maximum likelihood.
    Nml(classic::nml::Nml) takes Any,
    /// quotient normalised maximum likelihood.
    Qnml(classic::nml::Qnml) takes Any,
    /// mutual information tests.
    Mit(classic::mit::Mit) takes Any,
    /// a Gaussian per configuration of levels.
    ConditionalGaussian(mixed::conditional::ConditionalGaussian) takes Shared,
    /// one Gaussian over numbers and indicators.
    DegenerateGaussian(mixed::degenerate::DegenerateGaussian) takes Shared,
    /// one Gaussian over blocks of features.
    BlockGaussian(mixed::block::BlockGaussian) takes Shared,
    /// a basis of every column, one correlation matrix.
    BasisFunctions(mixed::basis::BasisFunctions) takes Shared,
    /// polynomial regressions per configuration of levels.
    MixedPolynomial(mixed::polynomial::MixedPolynomial) takes Shared,
    /// logistic regressions per configuration of levels.
    LogisticRegression(mixed::polynomial::LogisticRegression) takes Shared,
    /// counts, numbers in bins.
    Multinomial(mixed::multinomial::Multinomial) takes Shared,
    /// full tables over quantile bins.
    FullTable(full_table::FullTable) in full_table takes own,
    /// Splines.
    Mars(mars::Mars) takes own,
    /// Partition-dyadic trees.
    Pcart(pcart::Pcart) in pcart takes own,
}

/// How many cases a property is tried on.
#[cfg(test)]
#[path = "../../../tests/core/support/cases.rs"]
mod cases;
