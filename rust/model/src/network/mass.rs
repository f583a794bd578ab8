//! The probability that a network of levels gives to a box: every variable within a set of its levels, by the levels of a
//! few of them. One variable elimination over the ancestors of what is asked, each set entering as zeros and ones.

use super::Network;
use super::eliminate::Elimination;
use crate::error::{Error, Result};
use crate::predictive::{Predictive, Value};
use crate::table::Var;

/// Products that one box may take.
const MOST_PRODUCTS: f64 = (1 << 28) as f64;
/// Entries of one variable's table.
const MOST_ENTRIES: f64 = (1 << 26) as f64;

/// The tables of a network of levels, ready to be asked many times.
#[derive(Clone, Debug)]
pub struct Masses {
    n_levels: Vec<usize>,
    parents: Vec<Vec<Var>>,
    /// By variable: its probabilities, parents' levels first, its own varying fastest.
    tables: Vec<Vec<f64>>,
}

impl Masses {
    /// Of a network.
    ///
    /// # Errors
    /// If a variable is continuous, or its family has too many configurations.
    pub fn new(network: &Network) -> Result<Self> {
        let mut n_levels = Vec::with_capacity(network.n_vars());
        for variable in network.variables() {
            let advice = "a prior network has levels only";
            n_levels.push(variable.n_levels().ok_or_else(|| Error::column(&*variable.name, "is continuous", advice))?);
        }
        let table = |v: Var| {
            let parents = network.parents(v);
            let entries = parents.iter().chain([&v]).map(|&p| n_levels[p] as f64).product::<f64>();
            if entries > MOST_ENTRIES {
                let problem = format!("has {entries:.0} probabilities in the prior network");
                return Err(Error::column(
                    &*network.variables()[v].name,
                    problem,
                    "give a network of smaller families",
                ));
            }
            let mut table = Vec::with_capacity(entries as usize);
            let mut codes = vec![0; parents.len()];
            loop {
                let values: Vec<Value> = codes.iter().map(|&c| Value::Code(c)).collect();
                match &*network.model(v).predictive(&values) {
                    Predictive::Levels { probabilities } => table.extend_from_slice(probabilities),
                    _ => unreachable!("a variable with levels has no density"),
                }
                // The next configuration, the last parent varying fastest.
                let Some(at) = (0..codes.len()).rev().find(|&i| codes[i] as usize + 1 < n_levels[parents[i]]) else {
                    return Ok(table);
                };
                codes[at] += 1;
                codes[at + 1..].fill(0);
            }
        };
        let tables = (0..network.n_vars()).map(table).collect::<Result<_>>()?;
        let parents = (0..network.n_vars()).map(|v| network.parents(v).to_vec()).collect();
        Ok(Self { n_levels, parents, tables })
    }

    /// How many levels a variable has.
    pub fn n_levels(&self, var: Var) -> usize {
        self.n_levels[var]
    }

    /// The probabilities of the levels of `keep` (the last varies fastest), together with every variable of `within` being
    /// one of its levels, of which the function tells.
    ///
    /// # Errors
    /// If this takes too many products.
    #[allow(clippy::missing_panics_doc)] // ancestors are closed under taking parents
    pub fn of(&self, keep: &[Var], within: &[(Var, &dyn Fn(u32) -> bool)]) -> Result<Vec<f64>> {
        let mut needed = vec![false; self.parents.len()];
        let mut stack: Vec<Var> = keep.iter().copied().chain(within.iter().map(|w| w.0)).collect();
        while let Some(v) = stack.pop() {
            if !std::mem::replace(&mut needed[v], true) {
                stack.extend(&self.parents[v]);
            }
        }
        let vars: Vec<Var> = (0..needed.len()).filter(|&v| needed[v]).collect();
        let place = |v: Var| vars.binary_search(&v).expect("ancestors are among the variables");
        let dims: Vec<usize> = vars.iter().map(|&v| self.n_levels[v]).collect();
        let mut factors: Vec<Vec<usize>> = Vec::with_capacity(vars.len() + within.len());
        let mut tables: Vec<Vec<f64>> = Vec::with_capacity(factors.capacity());
        for &v in &vars {
            factors.push(self.parents[v].iter().map(|&p| place(p)).chain([place(v)]).collect());
            tables.push(self.tables[v].clone());
        }
        for &(v, inside) in within {
            factors.push(vec![place(v)]);
            tables.push((0..self.n_levels[v] as u32).map(|c| f64::from(u8::from(inside(c)))).collect());
        }
        let keep: Vec<usize> = keep.iter().map(|&v| place(v)).collect();
        let plan = Elimination::plan(&dims, &factors, &keep, MOST_PRODUCTS).map_err(|cost| {
            Error::Shape(format!("the prior network is too dense: one question takes {cost:.1e} products"))
        })?;
        let scale = plan.run(&mut tables).exp();
        let answer = tables.pop().expect("the last table is the answer");
        Ok(answer.into_iter().map(|p| p * scale).collect())
    }
}
