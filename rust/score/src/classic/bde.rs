//! `BDe`: the Dirichlet marginal likelihood with pseudo-counts from a prior network (Heckerman, Geiger and Chickering
//! 1995; Carvalho 2009, section 2.1.1).
//!
//! `alpha_jk = ess P(child = k, parents = j)` under the prior network, by exact elimination of everything else, so the
//! score of a family is `f(child and parents) - f(parents)` with one function of sets,
//! `f(S) = sum_c [lgamma(n_c + ess P(c)) - lgamma(ess P(c))]`. Each set is counted and eliminated once and kept, and graphs
//! of one equivalence class score alike. With a uniform prior network it is `BDeu`.
//!
//! Data that the prior network calls impossible have the logarithm of a probability of zero, minus infinity.

use std::sync::Arc;

use libm::lgamma;
use serde::{Deserialize, Serialize};

use super::dirichlet::positive;
use super::{ADVICE, Set, n_ln_n};
use crate::control::Halt;
use crate::counts::{Count, Counter};
use crate::error::{Error, Result};
use crate::kept::Kept;
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::network::{Evidence, Method, Network, Settings};
use crate::predictive::Predictive;
use crate::prior::{FamilySize, GraphPrior};
use crate::table::{Kind, Level, Table, Var, Variable};
use crate::weights::Weights;
use crate::{ChildScore, Fit, LocalScore, Tables};

/// The most joint configurations of a family: all of them get a pseudo-count.
const MAX_CONFIGURATIONS: f64 = 1e6;

/// `BDe`: `ess` equivalent rows, spread over the cells as a prior network says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bde {
    /// Equivalent sample size, above 0.
    pub ess: f64,
    /// The distribution believed in beforehand; it knows every variable of the table, and may know more.
    pub network: Network,
    /// The prior over parent sets.
    #[serde(default)]
    pub prior: GraphPrior,
}

impl Bde {
    /// Prepares the score for a table.
    ///
    /// # Errors
    /// If a parameter is outside its range, or the prior network does not know a variable or one of its levels.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        positive("ess", self.ess)?;
        self.prior.check()?;
        let known = (0..table.n_vars()).map(|v| Known::new(table, v, &self.network)).collect::<Result<_>>()?;
        let (network, prior) = (self.network.clone(), self.prior);
        Ok(Box::new(Prepared { table: table.clone(), network, ess: self.ess, prior, known, kept: Kept::default() }))
    }
}

/// A variable of the table in the prior network.
struct Known {
    var: Var,
    /// The network's code of each of the table's levels; none for a continuous column, which no family can have.
    levels: Vec<usize>,
    /// The network's number of levels.
    k: usize,
}

impl Known {
    fn new(table: &Table, var: Var, network: &Network) -> Result<Self> {
        let Variable { name, kind } = table.variable(var);
        let bad = |problem: &str, advice: String| Err(Error::column(&**name, problem, advice));
        let Some(at) = network.variables().iter().position(|v| v.name == *name) else {
            let names: Vec<_> = network.variables().iter().take(8).map(|v| format!("'{}'", v.name)).collect();
            let advice = format!("its variables are {}; rename the column or leave it out", names.join(", "));
            return bad("is not a variable of the prior network", advice);
        };
        let of = |kind: &Kind| match kind {
            Kind::Continuous { .. } => None,
            Kind::Categorical { levels } | Kind::Ordinal { levels } => Some(levels.clone()),
        };
        let Some(own) = of(kind) else { return Ok(Self { var: at, levels: vec![], k: 1 }) };
        let Some(theirs) = of(&network.variables()[at].kind) else {
            return bad("has levels, but is continuous in the prior network", "give both the same kind".to_owned());
        };
        let place = |level: &Level| {
            theirs.iter().position(|other| level.reads_as(other)).ok_or_else(|| {
                let known: Vec<_> = theirs.iter().map(|level| format!("'{level}'")).collect();
                let problem = format!("has the level '{level}', which the prior network lacks");
                Error::column(&**name, problem, format!("its levels there are {}; rename them", known.join(", ")))
            })
        };
        Ok(Self { var: at, levels: own.iter().map(place).collect::<Result<_>>()?, k: theirs.len() })
    }
}

struct Prepared {
    table: Arc<Table>,
    network: Network,
    ess: f64,
    prior: GraphPrior,
    known: Vec<Known>,
    kept: Kept<Set>,
}

impl Prepared {
    /// The joint distribution of a set under the prior network, in the network's levels; the last varies fastest.
    fn joint(&self, set: &[Var]) -> Result<Vec<f64>> {
        let nothing = Evidence::nothing(self.network.n_vars());
        let targets: Vec<_> = set.iter().map(|&v| (self.known[v].var, Vec::new())).collect();
        let settings = Settings { method: Method::Exact, ..Settings::default() };
        Ok(self.network.joint(&nothing, &targets, &settings)?.probabilities)
    }

    /// Row by row, the place in `joint` of the configuration observed.
    fn places(&self, set: &[Var]) -> Result<Vec<usize>> {
        let mut places = vec![0; self.table.n_rows()];
        for &v in set {
            let Known { levels, k, .. } = &self.known[v];
            let codes = self.table.codes(v, ADVICE)?;
            places.iter_mut().zip(codes.iter()).for_each(|(place, code)| *place = *place * k + levels[code]);
        }
        Ok(places)
    }

    /// How many rows, or how much weight, each configuration has.
    fn counts(&self, set: &[Var], n: usize) -> Result<Vec<f64>> {
        let mut counts = vec![0.0; n];
        let weights = self.table.weights().map(Weights::of_rows);
        for (row, place) in self.places(set)?.into_iter().enumerate() {
            counts[place] += weights.map_or(1.0, |weights| weights[row]);
        }
        Ok(counts)
    }

    fn of_set(&self, set: &[Var]) -> Result<f64> {
        self.kept.get_or(Set::from_slice(set), |set| {
            let prior = self.joint(set)?;
            let counts = self.counts(set, prior.len())?;
            Ok(counts.into_iter().zip(prior).map(|(n, p)| rising(self.ess * p, n)).sum())
        })
    }

    fn family_size(&self, child: Var, parents: &[Var]) -> FamilySize {
        let levels = |v: Var| self.known[v].levels.len().max(1) as f64;
        let n_parameters = (levels(child) - 1.0) * parents.iter().map(|&p| levels(p)).product::<f64>();
        FamilySize { n_vars: self.table.n_vars(), n_parents: parents.len(), n_parameters }
    }
}

/// `lgamma(a + n) - lgamma(a)`: minus infinity where something happened that has no pseudo-count.
fn rising(a: f64, n: f64) -> f64 {
    match n.whole() {
        Some(0) => 0.0,
        Some(n @ 1..32) => (0..n).map(|i| (a + f64::from(i)).ln()).sum(),
        _ if a == 0.0 => f64::NEG_INFINITY,
        _ => lgamma(a + n) - lgamma(a),
    }
}

impl LocalScore for Prepared {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        self.table.codes(child, ADVICE)?;
        if self.of_set(&[child])? == f64::NEG_INFINITY {
            let advice = "give every level that occurs some probability in the prior network";
            let problem = "holds a level that is impossible under the prior network";
            return Err(Error::column(self.table.name(child), problem, advice));
        }
        Ok(Box::new(Scratch { score: self, child, halt: Halt::default() }))
    }

    fn model(&self, child: Var, parents: &[Var]) -> Result<LocalModel> {
        self.check(child, parents)?;
        let family: Vec<Var> = parents.iter().copied().chain([child]).collect();
        let prior = self.joint(&family)?;
        let counts = self.counts(&family, prior.len())?;
        let response = &self.known[child];
        // Every configuration has pseudo-counts of its own, so all are listed, observed or not.
        let configurations = parents.iter().fold(vec![(Vec::new(), 0)], |configurations, &p| {
            let Known { levels, k, .. } = &self.known[p];
            let extended = |(codes, place): (Vec<u32>, usize)| {
                levels.iter().enumerate().map(move |(code, level)| {
                    (codes.iter().copied().chain([code as u32]).collect::<Vec<u32>>(), place * k + level)
                })
            };
            configurations.into_iter().flat_map(extended).collect()
        });
        let cell = |(codes, place): (Vec<u32>, usize)| {
            let at = response.levels.iter().map(|level| place * response.k + level);
            let n_rows = at.clone().map(|i| counts[i]).sum::<f64>().round() as usize;
            Cell { codes, n_rows, distribution: shares(at.map(|i| counts[i] + self.ess * prior[i])) }
        };
        let alone = self.joint(&[child])?;
        let unseen = shares(response.levels.iter().map(|&level| alone[level]));
        let cells = configurations.into_iter().map(cell).collect();
        Ok(LocalModel::Cells(Cells::new(child, parents.to_vec(), cells, unseen)))
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        let n: f64 = parents.iter().chain([&child]).map(|&v| self.known[v].k as f64).product();
        if n <= MAX_CONFIGURATIONS {
            return Ok(());
        }
        Err(Error::Family {
            child: self.table.name(child).to_owned(),
            parents: parents.iter().map(|&p| self.table.name(p).to_owned()).collect(),
            problem: format!("the prior network would give pseudo-counts to {n:.0} joint configurations"),
            advice: "merge levels or lower max_parents".to_owned(),
        })
    }

    fn tables(&self) -> Tables {
        Tables::Smoothed
    }

    fn equivalent(&self) -> bool {
        true
    }
}

/// Weights as probabilities, all alike if there is none.
fn shares(weights: impl Iterator<Item = f64> + Clone) -> Predictive {
    let (total, k) = (weights.clone().sum::<f64>(), weights.clone().count());
    let share = |weight: f64| if total > 0.0 { weight / total } else { 1.0 / k as f64 };
    Predictive::Levels { probabilities: weights.map(share).collect() }
}

struct Scratch<'a> {
    score: &'a Prepared,
    child: Var,
    halt: Halt,
}

impl ChildScore for Scratch<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        self.score.check(self.child, parents)?;
        let mut members: Set = parents.iter().copied().chain([self.child]).collect();
        members.sort_unstable();
        self.halt.check()?;
        let joint = self.score.of_set(&members)?;
        if joint == f64::NEG_INFINITY {
            return Ok(joint);
        }
        self.halt.check()?;
        let size = self.score.family_size(self.child, parents);
        Ok(joint - self.score.of_set(parents)? + self.score.prior.log_prior(size))
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }

    /// Of the full table over the prior network's levels, as for the other scores of counts.
    fn likelihood(&mut self, parents: &[Var]) -> Result<Fit> {
        let mut counter = Counter::new(&self.score.table, ADVICE);
        counter.heed(&self.halt);
        let weights = self.score.table.weights().map(Weights::of_rows);
        let mut sum = |set: &[Var]| -> Result<f64> {
            Ok(match weights {
                None => counter.count(set)?.iter().map(|&n| n_ln_n(n)).sum(),
                Some(weights) => counter.weigh(set, weights)?.iter().map(|&n| n_ln_n(n)).sum(),
            })
        };
        let mut members: Set = parents.iter().copied().chain([self.child]).collect();
        members.sort_unstable();
        let log_likelihood = sum(&members)? - sum(parents)?;
        Ok(Fit { log_likelihood, df: self.score.family_size(self.child, parents).n_parameters })
    }
}
