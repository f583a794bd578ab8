//! A question reduced to what its answer depends on, as a finite problem.
//!
//! Only ancestors of what is asked or seen matter; of the hidden ones among them, only those connected with what is
//! asked through families, once the seen values are filled in. A hidden number enters as its *pieces*: the intervals
//! between the thresholds of its children's models, within which no model can tell two values apart. Its factor is the
//! mass of its predictive distribution in each piece, so nothing is approximated. A hidden parent of a model without
//! thresholds has no such states, and the problem is left to sampling.

use smallvec::SmallVec;

use super::eliminate::{Elimination, rescale};
use super::pieces::Known;
use super::steps::{Stepped, Values};
use super::{Network, Within};
use crate::predictive::{Predictive, Value};
use crate::table::Var;

/// The finite states of a hidden variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum States {
    Levels(usize),
    /// Thresholds between pieces, ascending; a value equal to one belongs above it.
    Pieces(Vec<f64>),
    /// The same of a number that is drawn as one of its values.
    Stepped(Stepped),
}

impl States {
    pub fn len(&self) -> usize {
        match self {
            Self::Levels(k) => *k,
            Self::Pieces(_) | Self::Stepped(_) => self.cuts().len() + 1,
        }
    }

    /// The thresholds between pieces.
    pub fn cuts(&self) -> &[f64] {
        match self {
            Self::Levels(_) => &[],
            Self::Pieces(cuts) => cuts,
            Self::Stepped(stepped) => &stepped.cuts,
        }
    }

    /// A number that was drawn in a piece, as the value it stands for.
    pub fn nearest(&self, state: usize, x: f64) -> f64 {
        if let Self::Stepped(stepped) = self { stepped.nearest(state, x) } else { x }
    }

    /// A value that stands for all of a state.
    pub fn representative(&self, state: usize) -> Value {
        match self {
            Self::Levels(_) => Value::Code(state as u32),
            Self::Stepped(stepped) => Value::Real(stepped.representative(state)),
            Self::Pieces(_) => {
                let (low, high) = self.bounds(state);
                Value::Real(match (low.is_finite(), high.is_finite()) {
                    (true, true) => f64::midpoint(low, high),
                    (true, false) => low + low.abs().max(1.0),
                    (false, true) => high - high.abs().max(1.0),
                    (false, false) => 0.0,
                })
            }
        }
    }

    /// The ends of a piece.
    pub fn bounds(&self, state: usize) -> (f64, f64) {
        match self {
            Self::Levels(_) => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Pieces(_) | Self::Stepped(_) => {
                let cuts = self.cuts();
                let low = if state == 0 { f64::NEG_INFINITY } else { cuts[state - 1] };
                (low, cuts.get(state).copied().unwrap_or(f64::INFINITY))
            }
        }
    }
}

/// Where the model of a factor finds the value of a parent.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Seen(Var),
    /// Position in the factor's `free`.
    Free(usize),
}

/// The model of one node, seen as a function of the hidden members of its family.
#[derive(Debug)]
pub(super) struct Factor {
    pub node: Var,
    /// Positions in `Problem::hidden`: parents in ascending order, the node itself last.
    pub free: Vec<usize>,
    parents: SmallVec<[Slot; 4]>,
    node_is_free: bool,
}

/// What is left of a question.
#[derive(Debug)]
pub(super) struct Problem {
    /// Hidden variables that matter, ascending.
    pub hidden: Vec<Var>,
    /// Their states; `None` if no finite set of states will do.
    pub states: Vec<Option<States>>,
    /// What is known of them, short of their values; thresholds of pieces include the ends of intervals.
    pub limits: Vec<Option<Within>>,
    /// The factors that touch them, by node.
    pub factors: Vec<Factor>,
    /// The seen variables these factors read, ascending.
    pub read: Vec<Var>,
}

/// Hidden variables that depend on one another, and the nodes whose families join them, each ascending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Connected {
    pub hidden: Vec<Var>,
    pub nodes: Vec<Var>,
}

/// What is known and done: `seen` variables have values, those of them that were `set` from outside lost their parents;
/// of others it is known within what `limits` they lie.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub seen: &'a [bool],
    pub set: &'a [bool],
    pub limits: &'a [(Var, Within)],
}

/// How much of the network a question is about.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    /// The distribution of these given the evidence.
    About(&'a [Var]),
    /// The probability of the evidence itself.
    Everything,
}

impl Network {
    /// The variables a question depends on: what is seen or asked, and its ancestors.
    pub(super) fn relevant(&self, evidence: Given<'_>, scope: Scope<'_>) -> Vec<bool> {
        let mut relevant = vec![false; self.n_vars()];
        let mut stack: Vec<Var> = (0..self.n_vars()).filter(|&v| evidence.seen[v]).collect();
        stack.extend(evidence.limits.iter().map(|(v, _)| v));
        if let Scope::About(targets) = scope {
            stack.extend(targets);
        }
        while let Some(v) = stack.pop() {
            if !relevant[v] {
                relevant[v] = true;
                if !evidence.set[v] {
                    stack.extend(self.parents(v));
                }
            }
        }
        relevant
    }

    /// Reduces a question; `cuts` are further thresholds for hidden numbers.
    pub(super) fn problem(&self, evidence: Given<'_>, scope: Scope<'_>, cuts: &[(Var, f64)]) -> Problem {
        let relevant = self.relevant(evidence, scope);
        let is_hidden = |v: Var| relevant[v] && !evidence.seen[v];
        let start = match scope {
            Scope::About(targets) => {
                let limited = evidence.limits.iter().map(|(v, _)| *v);
                targets.iter().copied().chain(limited).filter(|&v| is_hidden(v)).collect()
            }
            Scope::Everything => (0..self.n_vars()).filter(|&v| is_hidden(v)).collect(),
        };
        self.problem_of(evidence, self.connected(evidence, &relevant, start), cuts)
    }

    /// The hidden variables that depend on some of them given what is seen, and the nodes whose families join them.
    pub(super) fn connected(&self, evidence: Given<'_>, relevant: &[bool], start: Vec<Var>) -> Connected {
        let is_hidden = |v: Var| relevant[v] && !evidence.seen[v];
        let (mut reached, mut taken) = (vec![false; self.n_vars()], vec![false; self.n_vars()]);
        let mut stack = start;
        while let Some(v) = stack.pop() {
            if std::mem::replace(&mut reached[v], true) {
                continue;
            }
            for &node in self.children(v).iter().chain([&v]) {
                if relevant[node] && !evidence.set[node] && !std::mem::replace(&mut taken[node], true) {
                    stack.extend(self.parents(node).iter().chain([&node]).filter(|&&u| is_hidden(u)));
                }
            }
        }
        let of = |mask: Vec<bool>| (0..self.n_vars()).filter(|&v| mask[v]).collect();
        Connected { hidden: of(reached), nodes: of(taken) }
    }

    /// The problem of variables that depend on one another; `cuts` are further thresholds for hidden numbers.
    pub(super) fn problem_of(&self, evidence: Given<'_>, connected: Connected, cuts: &[(Var, f64)]) -> Problem {
        let Connected { hidden, nodes } = connected;
        let position = |v: Var| hidden.binary_search(&v).ok();
        let factors: Vec<Factor> = nodes
            .iter()
            .map(|&node| {
                let mut free = Vec::new();
                let slot = |&p: &Var| {
                    position(p).map_or(Slot::Seen(p), |at| {
                        free.push(at);
                        Slot::Free(free.len() - 1)
                    })
                };
                let parents = self.parents(node).iter().map(slot).collect();
                let own = position(node);
                free.extend(own);
                Factor { node, free, parents, node_is_free: own.is_some() }
            })
            .collect();
        let mut read: Vec<Var> = factors
            .iter()
            .flat_map(|f| self.parents(f.node).iter().copied().chain([f.node]))
            .filter(|&v| evidence.seen[v])
            .collect();
        read.sort_unstable();
        read.dedup();
        let limits: Vec<Option<Within>> = hidden
            .iter()
            .map(|v| evidence.limits.iter().find(|(u, _)| u == v).map(|(_, within)| within.clone()))
            .collect();
        let states = hidden
            .iter()
            .zip(&limits)
            .map(|(&v, limit)| {
                if let Some(k) = self.variables[v].n_levels() {
                    return Some(States::Levels(k));
                }
                let mut all: Vec<f64> = cuts.iter().filter(|(u, _)| *u == v).map(|(_, cut)| *cut).collect();
                all.extend(limit.iter().flat_map(Within::cuts));
                for &child in self.children(v).iter().filter(|c| nodes.binary_search(c).is_ok()) {
                    let place = self.parents(child).binary_search(&v).expect("a child lists its parent");
                    all.extend(self.model(child).thresholds(place)?);
                }
                all.sort_unstable_by(f64::total_cmp);
                all.dedup();
                Some(States::Pieces(all))
            })
            .collect();
        Problem { hidden, states, limits, factors, read }
    }
}

impl Problem {
    /// True if every hidden variable has finitely many states.
    pub fn is_finite(&self) -> bool {
        self.states.iter().all(Option::is_some)
    }

    /// Has hidden numbers that are of such values drawn as these, each in the piece that its value is in.
    pub fn step(&mut self, values: impl Fn(Var) -> Option<Values>) {
        for (&v, states) in self.hidden.iter().zip(&mut self.states) {
            if let (Some(States::Pieces(cuts)), Some(values)) = (&*states, values(v)) {
                *states = Some(States::Stepped(Stepped::new(values, cuts)));
            }
        }
    }

    /// The states of a hidden variable of a finite problem.
    pub fn states_of(&self, position: usize) -> &States {
        self.states[position].as_ref().expect("the problem is finite")
    }

    /// The position of a variable among the hidden ones.
    pub fn position(&self, var: Var) -> Option<usize> {
        self.hidden.binary_search(&var).ok()
    }

    /// Plans the elimination of everything but `keep`.
    ///
    /// # Errors
    /// The number of products needed, if it is above `limit`, or infinity if the problem is not finite.
    pub fn eliminate(&self, keep: &[usize], limit: f64) -> Result<Elimination, f64> {
        if !self.is_finite() {
            return Err(f64::INFINITY);
        }
        let dims: Vec<usize> = (0..self.hidden.len()).map(|h| self.states_of(h).len()).collect();
        let factors: Vec<Vec<usize>> = self.factors.iter().map(|f| f.free.clone()).collect();
        let filled: f64 = factors.iter().map(|f| f.iter().map(|&h| dims[h] as f64).product::<f64>()).sum();
        if filled > limit {
            return Err(filled);
        }
        Elimination::plan(&dims, &factors, keep, limit)
    }

    /// The tables of all factors with the seen values filled in, and the logarithm of what they were divided by.
    pub fn tables(&self, network: &Network, seen: &impl Fn(Var) -> Value, known: &Known) -> (Vec<Vec<f64>>, f64) {
        let mut log_scale = 0.0;
        let table = |factor| self.table(network, factor, seen, known, &mut log_scale);
        let tables = self.factors.iter().map(table).collect();
        (tables, log_scale)
    }

    /// The table an elimination leaves over, up to a factor.
    pub fn solve(
        &self,
        network: &Network,
        elimination: &Elimination,
        seen: &impl Fn(Var) -> Value,
        known: &Known,
    ) -> Vec<f64> {
        let (mut tables, _) = self.tables(network, seen, known);
        elimination.run(&mut tables);
        tables.pop().expect("a plan has a last step")
    }

    fn table(
        &self,
        network: &Network,
        factor: &Factor,
        seen: &impl Fn(Var) -> Value,
        known: &Known,
        log_scale: &mut f64,
    ) -> Vec<f64> {
        let own = factor.node_is_free.then(|| {
            let hidden = *factor.free.last().expect("the node is free");
            (hidden, self.states_of(hidden))
        });
        let mut out = Vec::new();
        // Pieces next to each other often lead to the same leaf.
        let mut last: Option<(Predictive, f64)> = None;
        self.each_configuration(network, factor, seen, |_, predictive| match (own, &last, predictive) {
            (Some((_, States::Levels(_))), _, Predictive::Levels { probabilities }) => {
                out.extend_from_slice(probabilities);
            }
            (Some((hidden, states)), ..) => {
                out.extend_from_slice(&known.pieces(hidden, predictive, states).masses);
            }
            (
                None,
                Some((same, found)),
                Predictive::StudentT { .. }
                | Predictive::Point { .. }
                | Predictive::Counts { .. }
                | Predictive::Histogram { .. },
            ) if same == predictive => {
                out.push(*found);
            }
            (None, ..) => {
                let found = predictive.log_density(seen(factor.node));
                if !matches!(predictive, Predictive::Levels { .. }) {
                    last = Some((predictive.clone(), found));
                }
                out.push(found);
            }
        });
        if let (Some((_, states)), Some(within)) = (own, self.limit_of(factor)) {
            let shares: Vec<f64> = (0..states.len()).map(|s| within.share(states.representative(s))).collect();
            for masses in out.chunks_mut(shares.len()) {
                masses.iter_mut().zip(&shares).for_each(|(mass, share)| *mass *= share);
            }
        }
        if own.is_none() {
            let max = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if max > f64::NEG_INFINITY {
                for x in &mut out {
                    *x = (*x - max).exp();
                }
                *log_scale += max;
            } else {
                out.fill(0.0);
            }
        } else {
            *log_scale += rescale(&mut out);
        }
        out
    }

    /// What is known of a factor's own node, if it is hidden.
    pub fn limit_of(&self, factor: &Factor) -> Option<&Within> {
        let own = factor.node_is_free.then(|| *factor.free.last().expect("the node is free"))?;
        self.limits[own].as_ref()
    }

    /// The values of a factor's parents, the hidden ones from one value per hidden variable.
    pub fn parents_of(factor: &Factor, hidden: &[Value], seen: &impl Fn(Var) -> Value) -> SmallVec<[Value; 8]> {
        let value = |slot: &Slot| match *slot {
            Slot::Seen(v) => seen(v),
            Slot::Free(i) => hidden[factor.free[i]],
        };
        factor.parents.iter().map(value).collect()
    }

    /// Calls with the predictive distribution of a factor's node for every state of its hidden parents, the last
    /// parent's varying fastest.
    pub fn each_configuration(
        &self,
        network: &Network,
        factor: &Factor,
        seen: &impl Fn(Var) -> Value,
        mut call: impl FnMut(&[usize], &Predictive),
    ) {
        let n_free = factor.free.len() - usize::from(factor.node_is_free);
        let states: SmallVec<[&States; 4]> = factor.free[..n_free].iter().map(|&h| self.states_of(h)).collect();
        let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, n_free);
        let mut values: SmallVec<[Value; 8]> = factor
            .parents
            .iter()
            .map(|slot| match *slot {
                Slot::Seen(v) => seen(v),
                Slot::Free(i) => states[i].representative(0),
            })
            .collect();
        let place = |i: usize| factor.parents.iter().position(|s| matches!(s, Slot::Free(j) if *j == i));
        let places: SmallVec<[usize; 4]> =
            (0..n_free).map(|i| place(i).expect("every free parent has a slot")).collect();
        let model = network.model(factor.node);
        loop {
            call(&at, &model.predictive(&values));
            let Some(turning) = (0..n_free).rev().find(|&i| at[i] + 1 < states[i].len()) else { return };
            at[turning] += 1;
            at[turning + 1..].fill(0);
            for i in turning..n_free {
                values[places[i]] = states[i].representative(at[i]);
            }
        }
    }
}
