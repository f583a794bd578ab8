//! A prior network in the table's terms: the probability of a leaf's region by the child's levels.

use super::levels::Levels;
use crate::error::{Error, Result};
use crate::network::Network;
use crate::network::mass::Masses;
use crate::table::{Kind, Level, Table, Var};

/// A prior network matched with a table by names and levels.
#[derive(Clone, Debug)]
pub struct Beliefs {
    masses: Masses,
    /// By the table's variable: where the network has it.
    place: Vec<Var>,
    /// By the table's variable: the network's code of each of its codes.
    codes: Vec<Vec<u32>>,
}

impl Beliefs {
    /// Matches a network with a table.
    ///
    /// # Errors
    /// If the network lacks a variable or a level of the table, or has numbers.
    pub fn new(network: &Network, table: &Table) -> Result<Self> {
        let masses = Masses::new(network)?;
        let (mut place, mut codes) = (Vec::new(), Vec::new());
        for variable in table.variables() {
            let advice = "a prior network has every variable of the table, with the same levels (declare those that do not occur)";
            let missing = |what: String| Error::column(&*variable.name, what, advice);
            let at = network.variables().iter().position(|v| v.name == variable.name);
            let at = at.ok_or_else(|| missing("is missing in the prior network".to_owned()))?;
            let (Kind::Categorical { levels } | Kind::Ordinal { levels }) = &variable.kind else {
                return Err(missing("is continuous".to_owned()));
            };
            let (Kind::Categorical { levels: theirs } | Kind::Ordinal { levels: theirs }) =
                &network.variables()[at].kind
            else {
                return Err(missing("is continuous in the prior network".to_owned()));
            };
            if let Some(extra) = theirs.iter().find(|theirs| !levels.iter().any(|level| level.reads_as(theirs))) {
                return Err(missing(format!("lacks the level {extra} of the prior network")));
            }
            let known = |level: &Level| theirs.iter().position(|theirs| level.reads_as(theirs));
            let of = levels.iter().map(|level| {
                let code = known(level).ok_or_else(|| missing(format!("has no level {level} in the prior network")))?;
                Ok(code as u32)
            });
            codes.push(of.collect::<Result<Vec<u32>>>()?);
            place.push(at);
        }
        Ok(Self { masses, place, codes })
    }

    /// The probability of the box by the child's levels, or by the child's and then a predictor's.
    ///
    /// # Errors
    /// If the network is too dense to say.
    pub fn masses(&self, child: Var, predictor: Option<Var>, within: &[(Var, &Levels)]) -> Result<Vec<f64>> {
        let inside: Vec<Box<dyn Fn(u32) -> bool + '_>> = within
            .iter()
            .map(|&(var, levels)| {
                let chosen: Vec<u32> = levels.iter().map(|c| self.codes[var][c as usize]).collect();
                Box::new(move |code: u32| chosen.contains(&code)) as Box<dyn Fn(u32) -> bool>
            })
            .collect();
        let limits: Vec<(Var, &dyn Fn(u32) -> bool)> =
            within.iter().zip(&inside).map(|(&(var, _), inside)| (self.place[var], &**inside)).collect();
        let kept: Vec<Var> = [child].into_iter().chain(predictor).collect();
        let asked: Vec<Var> = kept.iter().map(|&v| self.place[v]).collect();
        let found = self.masses.of(&asked, &limits)?;
        // From the network's order of levels to the table's.
        let Some(predictor) = predictor else {
            return Ok(self.codes[child].iter().map(|&c| found[c as usize]).collect());
        };
        let wide = self.masses.n_levels(self.place[predictor]);
        let of = |&c: &u32| self.codes[predictor].iter().map(move |&p| (c as usize, p as usize));
        Ok(self.codes[child].iter().flat_map(of).map(|(c, p)| found[c * wide + p]).collect())
    }
}
