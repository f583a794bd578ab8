//! Local scores: how well a child is explained by a set of parents. Higher is better, natural logarithms.
//!
//! A new score is one file here and one line below. It implements two traits, [`LocalScore`] and [`ChildScore`]; what it
//! costs and how its models are smoothed are methods of the first.

#[macro_use]
pub mod registry;

pub mod classic;
pub mod limited;
pub mod mixed;

pub use crate::local::{ChildScore, Fit, LocalScore, Tables};

// One line a score: its name in JSON (as snake_case), the parameters' type, which has
// `fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>>`, and the file it is in, if it has one of its own.
scores! {
    /// Decision graphs, grown greedily.
    DecisionGraph(crate::decision_graph::Settings) in decision_graph,
    /// log-likelihood, with AIC's or BIC's penalty or none.
    Likelihood(classic::likelihood::Likelihood),
    /// Bayesian Dirichlet with one alpha for every cell; K2 is alpha = 1.
    Bd(classic::dirichlet::Bd),
    /// Bayesian Dirichlet, equivalent, with a prior network.
    Bde(classic::bde::Bde),
    /// Bayesian Dirichlet, equivalent and uniform.
    Bdeu(classic::dirichlet::Bdeu),
    /// factorised normalised maximum likelihood.
    Nml(classic::nml::Nml),
    /// quotient normalised maximum likelihood.
    Qnml(classic::nml::Qnml),
    /// mutual information tests.
    Mit(classic::mit::Mit),
    /// a Gaussian per configuration of levels.
    ConditionalGaussian(mixed::conditional::ConditionalGaussian),
    /// one Gaussian over numbers and indicators.
    DegenerateGaussian(mixed::degenerate::DegenerateGaussian),
    /// one Gaussian over blocks of features.
    BlockGaussian(mixed::block::BlockGaussian),
    /// a basis of every column, one correlation matrix.
    BasisFunctions(mixed::basis::BasisFunctions),
    /// polynomial regressions per configuration of levels.
    MixedPolynomial(mixed::polynomial::MixedPolynomial),
    /// logistic regressions per configuration of levels.
    LogisticRegression(mixed::polynomial::LogisticRegression),
    /// counts, numbers in bins.
    Multinomial(mixed::multinomial::Multinomial),
    /// full tables over quantile bins.
    FullTable(full_table::FullTable) in full_table,
    /// Splines.
    Mars(mars::Mars) in mars,
    /// Partition-dyadic trees.
    Pcart(pcart::Pcart) in pcart,
}
