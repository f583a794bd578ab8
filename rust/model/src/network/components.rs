//! Hidden variables that are drawn together, planned once for all rows of a block in which the same ones are hidden.
//!
//! Patterns of gaps are many, what is connected within them is not: with half of the variables incomplete nearly every row
//! has a pattern of its own, and most of its hidden variables stand alone among seen ones. So components are known by their
//! members, and their tables by the levels that they read. Both are forgotten when they hold too much.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Network;
use super::eliminate::Elimination;
use super::infer::{Method, Settings};
use super::pieces::Known;
use super::plan::{Connected, Given, Problem, Scope};
use super::steps::Values;
use crate::error::Result;
use crate::predictive::Value;
use crate::table::Var;

/// Numbers that are kept at most.
const MOST: usize = 1 << 22;

/// How hidden variables are drawn.
pub(super) enum Way {
    Exact(Elimination),
    Grid,
    Chain,
}

/// Hidden variables that are drawn together.
pub(super) struct Component {
    pub problem: Problem,
    pub way: Way,
    /// All it reads are levels, so rows with equal codes share its tables.
    repeats: bool,
    /// The distributions of its hidden numbers, piece by piece.
    known: Known,
    /// Its number among those planned.
    place: usize,
}

/// An elimination's tables; `None` if what is seen cannot be.
pub(super) type Solved = Option<Vec<Vec<f64>>>;

/// What one thread knows of the components of rows.
#[derive(Default)]
pub(super) struct Components {
    planned: FxHashMap<Connected, Rc<Component>>,
    tables: FxHashMap<(usize, SmallVec<[u32; 12]>), Rc<Solved>>,
    n_planned: usize,
    /// Numbers that both hold.
    held: usize,
}

impl Components {
    /// The hidden ancestors of what is seen, those together that depend on one another given what is seen. Numbers that have
    /// `values` are drawn as these.
    pub fn components(
        &mut self,
        network: &Network,
        evidence: Given<'_>,
        values: impl Fn(Var) -> Option<Values>,
        settings: &Settings,
    ) -> Result<Vec<Rc<Component>>> {
        let relevant = network.relevant(evidence, Scope::Everything);
        let mut done = vec![false; network.n_vars()];
        let mut components = Vec::new();
        for v in (0..network.n_vars()).filter(|&v| relevant[v] && !evidence.seen[v]) {
            if done[v] {
                continue;
            }
            let connected = network.connected(evidence, &relevant, vec![v]);
            connected.hidden.iter().for_each(|&u| done[u] = true);
            if let Some(known) = self.planned.get(&connected) {
                components.push(Rc::clone(known));
                continue;
            }
            let mut problem = network.problem_of(evidence, connected.clone(), &[]);
            problem.step(&values);
            let way = match problem.eliminate(&[], settings.limit()) {
                Ok(elimination) => Way::Exact(elimination),
                Err(_) if settings.method != Method::Exact => Way::Chain,
                Err(_) if !problem.is_finite() && problem.hidden.len() == 1 => Way::Grid,
                Err(cost) => return Err(network.not_exact(&problem, cost)),
            };
            if let Way::Exact(elimination) = &way {
                let numbers = problem.hidden.iter().filter(|&&v| network.variables()[v].is_continuous()).count();
                self.hold(elimination.size() + numbers * super::pieces::MOST);
            }
            let repeats = problem.read.iter().all(|&v| !network.variables()[v].is_continuous());
            self.n_planned += 1;
            let made = Rc::new(Component { problem, way, repeats, known: Known::default(), place: self.n_planned });
            self.planned.insert(connected, Rc::clone(&made));
            components.push(made);
        }
        Ok(components)
    }

    /// A component's tables with what a row has filled in.
    pub fn solved(
        &mut self,
        network: &Network,
        component: &Component,
        elimination: &Elimination,
        seen: &impl Fn(Var) -> Value,
    ) -> Rc<Solved> {
        let problem = &component.problem;
        let solve = || {
            let (mut tables, _) = problem.tables(network, seen, &component.known);
            Rc::new((elimination.run(&mut tables) > f64::NEG_INFINITY).then_some(tables))
        };
        if !component.repeats {
            return solve();
        }
        let code = |&v: &Var| if let Value::Code(code) = seen(v) { code } else { u32::MAX };
        let key = (component.place, problem.read.iter().map(code).collect());
        if let Some(known) = self.tables.get(&key) {
            return Rc::clone(known);
        }
        let made = solve();
        self.hold(made.iter().flatten().map(Vec::len).sum());
        self.tables.insert(key, Rc::clone(&made));
        made
    }

    /// Makes room for so many numbers more.
    fn hold(&mut self, more: usize) {
        if self.held + more > MOST {
            self.planned.clear();
            self.tables.clear();
            self.held = 0;
        }
        // An entry takes room beside its numbers.
        self.held += more + 32;
    }
}
