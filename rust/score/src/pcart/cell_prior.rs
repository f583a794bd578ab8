//! The other prior over trees: what a split costs depends on its cell alone.
//!
//! A cell that can be split is a leaf with probability q; a cell that cannot is one for certain. Otherwise one of the
//! predictors that can still be split there is drawn, each as likely, then one of its splits in that cell, each as likely.
//! A category of which m levels are in the cell and occur anywhere in the training rows has `2^(m-1) - 1`, ordered levels
//! have m - 1, a number one. So the probabilities of all trees add up to one without a sum over trees, and a leaf does not
//! pay for the levels of predictors that are not split near it, as it does under `gamma = 1 / (4 C)`.
//!
//! The search is Algorithm 1 word by word: a cell is known by its own levels and intervals, not by its rows, since both
//! decide what its splits cost. A leaf without any prior bounds what its parts can be worth. Cells without rows are leaves,
//! which is best for them if q is at least one half, and hence required. With many levels groups in order are searched, as
//! in [`super::ordered`].

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::family::{Family, Rows};
use super::ordered::{Arranged, Arrangement, Ordered};

use super::{Prepared, Way};
use crate::control::Halt;
use crate::error::Result;
use crate::local::Groups;
use crate::model::tree::{Node, Tree};
use crate::table::{Kind, Var};
use crate::tree::fitted;
use crate::tree::key::ones;
use crate::tree::memo::{Ended, Full, Patience};
use crate::tree::normaliser::Prior;
use crate::tree::optimal::Search;
use crate::tree::response::InOrder;
use crate::tree::trace::{Left, Trace, Traced};

/// What is left of one predictor in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A dyadic interval: its first bin, and the halvings left.
    Interval(u32, u32),
    /// Some of the groups of levels, as bits, in any combination.
    Set(u64),
    /// Groups of neighbours, from one to before another.
    Run(u8, u8),
}

/// A predictor as the prior and the search see it.
#[derive(Clone, Debug)]
pub struct Predictor {
    /// Its part of the whole space.
    pub whole: Part,
    /// Levels in each group.
    pub sizes: Vec<u32>,
    /// Whether its levels have an order of their own.
    pub ordered: bool,
}

impl Predictor {
    /// Levels of a part that occur somewhere.
    fn levels(&self, part: &Part) -> u32 {
        match *part {
            Part::Interval(..) => 0,
            Part::Set(groups) => {
                (0..self.sizes.len()).filter(|group| groups >> group & 1 == 1).map(|group| self.sizes[group]).sum()
            }
            Part::Run(from, to) => self.sizes[from as usize..to as usize].iter().sum(),
        }
    }

    /// The logarithm of the number of splits of a part; minus infinity if it cannot be split.
    fn log_splits(&self, part: &Part) -> f64 {
        let levels = f64::from(self.levels(part));
        match *part {
            Part::Interval(_, 0) => f64::NEG_INFINITY,
            Part::Interval(..) => 0.0,
            _ if levels < 2.0 => f64::NEG_INFINITY,
            _ if self.ordered => (levels - 1.0).ln(),
            _ => (levels - 1.0) * std::f64::consts::LN_2 + (-(1.0 - levels).exp2()).ln_1p(),
        }
    }
}

/// The prior of one family's trees.
#[derive(Clone, Debug)]
pub struct CellPrior {
    /// The predictors.
    pub predictors: Vec<Predictor>,
    /// The probability of a leaf.
    pub leaf: f64,
}

impl CellPrior {
    /// Of a cell as a leaf.
    pub fn log_leaf(&self, cell: &[Part]) -> f64 {
        if self.n_open(cell) == 0 { 0.0 } else { self.leaf.ln() }
    }

    /// Of one split of a cell along a predictor; minus infinity if it has none.
    pub fn log_split(&self, cell: &[Part], predictor: usize) -> f64 {
        let log_splits = self.predictors[predictor].log_splits(&cell[predictor]);
        if log_splits == f64::NEG_INFINITY {
            return log_splits;
        }
        (-self.leaf).ln_1p() - (self.n_open(cell) as f64).ln() - log_splits
    }

    fn n_open(&self, cell: &[Part]) -> usize {
        self.predictors.iter().zip(cell).filter(|(of, part)| of.log_splits(part) > f64::NEG_INFINITY).count()
    }

    /// All splits of a part that the search tries, as both sides.
    pub fn splits(part: &Part) -> Vec<(Part, Part)> {
        match *part {
            Part::Interval(_, 0) => vec![],
            Part::Interval(from, left) => {
                let half = from + (1 << (left - 1));
                vec![(Part::Interval(from, left - 1), Part::Interval(half, left - 1))]
            }
            Part::Set(groups) => {
                let rest = groups & groups.wrapping_sub(1);
                let mut right = 0_u64;
                let mut all = Vec::new();
                while right != rest {
                    right = right.wrapping_sub(rest) & rest;
                    all.push((Part::Set(groups ^ right), Part::Set(right)));
                }
                all
            }
            Part::Run(from, to) => (from + 1..to).map(|at| (Part::Run(from, at), Part::Run(at, to))).collect(),
        }
    }
}

/// The search for a child of one kind.
pub struct Cells<'a, R: InOrder, F> {
    prepared: &'a Prepared,
    child: Var,
    search: Search<R>,
    values: Vec<R::Value>,
    rows: Rows,
    node: F,
    halt: Halt,
    steps: u64,
    in_order: Option<Vec<Groups>>,
}

/// A cell's parts in one word each.
type Key = SmallVec<[u64; 8]>;

/// One search of one family.
struct Walk<'w, R: InOrder> {
    response: &'w R,
    prior: &'w CellPrior,
    /// By point and predictor: its bin or group.
    places: &'w [u16],
    sums: &'w [R::Sum],
    known: FxHashMap<Key, f64>,
    most: usize,
    patience: Patience,
    ended: Option<Ended>,
}

/// How a cell is split best: the predictor, and both sides' parts.
type Division = (usize, [Part; 2]);

impl<'a, R: InOrder, F: Fn(&R::Sum) -> Node> Cells<'a, R, F> {
    /// `node` fits a leaf to its rows.
    pub fn new(prepared: &'a Prepared, child: Var, response: R, values: Vec<R::Value>, rows: Rows, node: F) -> Self {
        let search = Search::new(response, prepared.parameters.memory_mb << 20, false);
        Self { prepared, child, search, values, rows, node, halt: Halt::default(), steps: 0, in_order: None }
    }

    fn found(&mut self, parents: &[Var]) -> Result<(f64, Vec<Traced<R::Sum>>)> {
        let in_order = match self.prepared.way(self.child, parents)? {
            Way::Exact(_) => vec![false; parents.len()],
            Way::InOrder(in_order) => in_order,
        };
        let codes = self.rows.codes(self.prepared);
        let search = Ordered::new(self.prepared, &mut self.search, parents, &in_order, codes, &self.values, 0.0);
        let Arranged { codes, sums, orders, groups } = search.arranged();
        self.in_order = groups;
        let mut best: Option<(f64, Vec<Traced<R::Sum>>)> = None;
        for (_, order) in orders.iter().enumerate().filter(|(i, order)| !orders[..*i].contains(order)) {
            let prior = self.prior(parents, order);
            let places = places(&codes, order);
            let mut patience = Patience::default();
            patience.halt = self.halt.clone();
            let mut walk = Walk {
                response: &self.search.response,
                prior: &prior,
                places: &places,
                sums: &sums,
                known: FxHashMap::default(),
                most: ((self.prepared.parameters.memory_mb << 20) / BYTES) as usize,
                patience,
                ended: None,
            };
            let whole: Vec<Part> = prior.predictors.iter().map(|of| of.whole.clone()).collect();
            let points: Vec<u32> = (0..sums.len() as u32).collect();
            let score = walk.cell(&whole, &points);
            self.steps += 100 * walk.known.len() as u64 + 4 * walk.patience.points;
            if let Some(ended) = walk.ended {
                return Err(self.prepared.ended(self.child, parents, ended));
            }
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                let mut trace = Trace::default();
                walk.trace(&whole, &points, order, &mut trace);
                best = Some((score, trace.finish()));
            }
        }
        Ok(best.expect("there is one order at least"))
    }

    fn prior(&self, parents: &[Var], order: &[Arrangement]) -> CellPrior {
        let predictor = |(&parent, arranged): (&Var, &Arrangement)| {
            let ordered = matches!(self.prepared.table.variable(parent).kind, Kind::Ordinal { .. });
            match arranged {
                Arrangement::Number(halvings) => {
                    Predictor { whole: Part::Interval(0, *halvings), sizes: vec![], ordered: false }
                }
                Arrangement::Sets(groups) => {
                    Predictor { whole: Part::Set(ones(groups.len() as u32)), sizes: sizes(groups), ordered }
                }
                Arrangement::Runs(groups) => {
                    Predictor { whole: Part::Run(0, groups.len() as u8), sizes: sizes(groups), ordered }
                }
            }
        };
        let predictors = parents.iter().zip(order).map(predictor).collect();
        CellPrior { predictors, leaf: self.prepared.parameters.leaf_probability }
    }
}

/// Bytes that a cell in memory takes, about.
const BYTES: u64 = 160;

fn sizes(groups: &[Vec<u16>]) -> Vec<u32> {
    groups.iter().map(|codes| codes.len() as u32).collect()
}

/// By point and predictor, its bin or the group of its level.
fn places(codes: &[u16], order: &[Arrangement]) -> Vec<u16> {
    let of_code: Vec<Vec<u16>> = order
        .iter()
        .map(|arranged| match arranged {
            Arrangement::Number(_) => vec![],
            Arrangement::Sets(groups) | Arrangement::Runs(groups) => {
                let most = groups.iter().flatten().max().map_or(0, |&code| code as usize + 1);
                let mut place = vec![u16::MAX; most];
                for (at, group) in groups.iter().enumerate() {
                    for &code in group {
                        place[code as usize] = at as u16;
                    }
                }
                place
            }
        })
        .collect();
    let n = order.len().max(1);
    let place =
        |(i, &code): (usize, &u16)| if of_code[i % n].is_empty() { code } else { of_code[i % n][code as usize] };
    codes.iter().enumerate().map(place).collect()
}

impl<R: InOrder> Walk<'_, R> {
    fn cell(&mut self, cell: &[Part], points: &[u32]) -> f64 {
        if points.is_empty() || self.ended.is_some() {
            return self.prior.log_leaf(cell);
        }
        let key = key(cell);
        if let Some(&score) = self.known.get(&key) {
            return score;
        }
        let score = self.visit(cell, points).0;
        if self.known.len() >= self.most {
            self.ended = Some(Ended::Full(Full { bytes: 2 * BYTES * self.most as u64 }));
        }
        self.known.insert(key, score);
        score
    }

    fn sum(&self, points: &[u32]) -> R::Sum {
        let mut sum = self.response.zero();
        for &point in points {
            self.response.add(&mut sum, &self.sums[point as usize]);
        }
        sum
    }

    /// The best score of a cell with rows, and how it is split.
    fn visit(&mut self, cell: &[Part], points: &[u32]) -> (f64, Option<Division>) {
        if self.patience.is_over(points.len()) {
            self.ended = Some(Ended::Halted);
        }
        let worth = self.response.worth(&self.sum(points));
        let (mut best, mut division) = (self.prior.log_leaf(cell) + worth.leaf, None);
        let [mut left, mut right] = [cell.to_vec(), cell.to_vec()];
        for predictor in 0..cell.len() {
            let cost = self.prior.log_split(cell, predictor);
            // The best that any leaves could do if they cost nothing.
            if cost + worth.split <= best {
                continue;
            }
            for (one, two) in CellPrior::splits(&cell[predictor]) {
                if self.ended.is_some() {
                    break;
                }
                (left[predictor], right[predictor]) = (one, two);
                let score = cost + self.sides(&left, &right, predictor, points);
                if score > best {
                    best = score;
                    division = Some((predictor, [left[predictor].clone(), right[predictor].clone()]));
                }
            }
            left[predictor].clone_from(&cell[predictor]);
            right[predictor].clone_from(&cell[predictor]);
        }
        (best, division)
    }

    fn sides(&mut self, left: &[Part], right: &[Part], predictor: usize, points: &[u32]) -> f64 {
        let known = [left, right].map(|side| self.known.get(&key(side)).copied());
        if let [Some(one), Some(two)] = known {
            return one + two;
        }
        let [one, two] = self.partition(&left[predictor], predictor, points);
        self.cell(left, &one) + self.cell(right, &two)
    }

    fn partition(&self, left: &Part, predictor: usize, points: &[u32]) -> [Vec<u32>; 2] {
        let n = self.prior.predictors.len();
        let place = |point: u32| self.places[point as usize * n + predictor];
        let (one, two) = points.iter().partition(|&&point| holds(left, place(point)));
        [one, two]
    }

    fn trace(&mut self, cell: &[Part], points: &[u32], order: &[Arrangement], trace: &mut Trace<R::Sum>) {
        let division = if points.is_empty() { None } else { self.visit(cell, points).1 };
        let Some((predictor, [one, two])) = division else {
            trace.leaf(self.sum(points));
            return;
        };
        let codes = |groups: &[Vec<u16>], part: &Part| -> Vec<u32> {
            let within = (0..groups.len()).filter(|&group| holds(part, group as u16));
            let mut codes: Vec<u32> = within.flat_map(|group| groups[group].iter().map(|&c| u32::from(c))).collect();
            codes.sort_unstable();
            codes
        };
        let (mut sides, ordered) = ([one, two], self.prior.predictors[predictor].ordered);
        let left = match (&order[predictor], &sides[1]) {
            (Arrangement::Number(_), Part::Interval(from, _)) => Left::Bins(*from),
            (Arrangement::Sets(groups) | Arrangement::Runs(groups), right) if ordered => {
                Left::Codes(codes(groups, right)[0])
            }
            (Arrangement::Sets(groups) | Arrangement::Runs(groups), right) => {
                // The lowest code goes left; levels that never occur follow the right side.
                if codes(groups, right)[0] < codes(groups, &sides[0])[0] {
                    sides.reverse();
                }
                Left::Among(codes(groups, &sides[0]))
            }
            _ => unreachable!("numbers have intervals"),
        };
        let split = trace.split(predictor, left);
        let of_points = self.partition(&sides[0], predictor, points);
        let mut side = cell.to_vec();
        side[predictor] = sides[0].clone();
        self.trace(&side, &of_points[0], order, trace);
        trace.turn_right(split);
        side[predictor] = sides[1].clone();
        self.trace(&side, &of_points[1], order, trace);
    }
}

fn holds(part: &Part, place: u16) -> bool {
    match *part {
        Part::Interval(from, left) => (from..from + (1 << left)).contains(&u32::from(place)),
        Part::Set(groups) => groups >> place & 1 == 1,
        Part::Run(from, to) => (u16::from(from)..u16::from(to)).contains(&place),
    }
}

fn key(cell: &[Part]) -> Key {
    let word = |part: &Part| match *part {
        Part::Interval(from, left) => u64::from(from) << 8 | u64::from(left),
        Part::Set(groups) => groups,
        Part::Run(from, to) => u64::from(from) << 8 | u64::from(to),
    };
    cell.iter().map(word).collect()
}

impl<R: InOrder, F: Fn(&R::Sum) -> Node> Family for Cells<'_, R, F> {
    fn best(&mut self, parents: &[Var]) -> Result<(f64, Prior)> {
        // The prior is one already: there is no Z.
        let (best, _) = self.found(parents)?;
        Ok((best + self.search.response.constant(), Prior { log_gamma: 0.0, log_z: 0.0 }))
    }

    fn tree(&mut self, parents: &[Var]) -> Result<Tree> {
        let (_, trace) = self.found(parents)?;
        Ok(fitted::tree(self.child, parents, &self.prepared.coded, &trace, &self.node))
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }

    fn steps(&self) -> Option<u64> {
        Some(self.steps + self.search.steps())
    }

    fn in_order(&self) -> Option<&[Groups]> {
        self.in_order.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities of all trees over a cell, one by one.
    fn every_tree(prior: &CellPrior, cell: &[Part]) -> Vec<f64> {
        let mut all = vec![prior.log_leaf(cell).exp()];
        for predictor in 0..cell.len() {
            let cost = prior.log_split(cell, predictor).exp();
            for (one, two) in CellPrior::splits(&cell[predictor]) {
                let side = |part: Part| {
                    let mut side = cell.to_vec();
                    side[predictor] = part;
                    every_tree(prior, &side)
                };
                let (left, right) = (side(one), side(two));
                all.extend(left.iter().flat_map(|l| right.iter().map(move |r| cost * l * r)));
            }
        }
        all
    }

    #[test]
    fn the_probabilities_of_all_trees_add_up_to_one() {
        let nominal = |k: u32| Predictor { whole: Part::Set(ones(k)), sizes: vec![1; k as usize], ordered: false };
        let ordered = |k: u8| Predictor { whole: Part::Run(0, k), sizes: vec![1; k as usize], ordered: true };
        let number = |halvings| Predictor { whole: Part::Interval(0, halvings), sizes: vec![], ordered: false };
        let spaces: Vec<Vec<Predictor>> = vec![
            vec![],
            vec![nominal(1)],
            vec![nominal(4)],
            vec![ordered(5)],
            vec![number(3)],
            vec![nominal(3), number(1)],
            vec![number(2), ordered(2)],
            vec![nominal(2), ordered(2), number(1)],
            vec![nominal(3), nominal(2)],
        ];
        for predictors in spaces {
            for leaf in [0.5, 0.8] {
                let whole: Vec<Part> = predictors.iter().map(|of| of.whole.clone()).collect();
                let all = every_tree(&CellPrior { predictors: predictors.clone(), leaf }, &whole);
                let sum: f64 = all.iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{whole:?}: {} trees, {sum}", all.len());
            }
        }
    }
}
