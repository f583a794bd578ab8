//! Before the start: which families are too large, and how long families of each size take.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::control::Control;
use crate::error::Result;
use crate::local::{ChildScore, LocalScore};
use crate::parents::Parents;
use crate::table::Var;

use super::ledger::Skipped;
use super::{Space, Step1};

/// Families looked at without scoring them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// How many were looked at: all of them, or a seeded sample.
    pub n_checked: u64,
    /// How many of these cannot be scored.
    pub n_unscorable: u64,
    /// The first of them.
    pub first: Vec<Skipped>,
}

/// Families of one size that were scored to see what it costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// How many were scored.
    pub n: u64,
    /// What they cost together, in seconds or in steps.
    pub cost: f64,
}

/// So many children's families are sampled.
const SAMPLED_CHILDREN: usize = 12;
/// A sampled family may take this share of the steps of all; what costs more counts as that.
const SHARE_OF_FAMILY: u64 = 20;

impl Step1 {
    /// Asks of every family, or of `limit` drawn with a seed if there are more, whether it can be scored.
    ///
    /// # Errors
    /// If asked to stop.
    pub fn check(&self, score: &dyn LocalScore, limit: u64, told: usize, control: &Control) -> Result<Checked> {
        let mut checked = Checked::default();
        let mut parents = Parents::new();
        let mut look = |child: Var, set: &[usize]| {
            self.space(child).parents(set, &mut parents);
            checked.n_checked += 1;
            if let Err(error) = score.check(child, &parents) {
                checked.n_unscorable += 1;
                if checked.first.len() < told {
                    checked.first.push(Skipped { child, parents: parents.clone(), reason: error.to_string() });
                }
            }
        };
        if self.spaces().iter().map(Space::n_sets).sum::<f64>() <= limit as f64 {
            for (child, space) in self.spaces().iter().enumerate() {
                for size in 0..=space.layers() {
                    control.check()?;
                    let mut set = space.unrank(size, 0);
                    for _ in 0..space.n_of_size(size) {
                        look(child, &set);
                        Space::advance(&mut set);
                    }
                }
            }
        } else {
            let mut draw = Draw::new(self);
            for _ in 0..limit {
                let (child, size) = draw.proportional();
                look(child, &draw.set(child, size));
            }
        }
        Ok(checked)
    }

    /// Scores families drawn with a seed, sizes in turn, until about so much time is spent; by number of optional
    /// parents. A family that takes longer than that is left, and counts with what it took so far. A size whose first family would take longer than the time left, if costs go on growing as they did, is
    /// not tried. Families that cannot be scored count with the time it takes to say so.
    ///
    /// # Errors
    /// If asked to stop, or a child cannot be scored at all.
    pub fn time(&self, score: &dyn LocalScore, budget: Duration, control: &Control) -> Result<Vec<Sampled>> {
        let begun = Instant::now();
        let bound = |scratch: &mut dyn ChildScore| {
            scratch.heed(&control.halt().within(budget.saturating_sub(begun.elapsed())));
        };
        let as_it_was = |_: Var, _: &Parents, cost: f64| cost;
        self.sample(score, budget.as_secs_f64(), control, |_| begun.elapsed().as_secs_f64(), bound, as_it_was)
    }

    /// The same by what families cost in [`ChildScore::steps`], which is equal on every machine; `None` if the score
    /// does not count them. A family that would take more than a share of the budget is left, and counts with what it took; if
    /// it is known what one may take in earnest, with the geometric mean of that share and of what it may take.
    ///
    /// # Errors
    /// As `time`.
    pub fn count(
        &self,
        score: &dyn LocalScore,
        budget: u64,
        in_earnest: Option<u64>,
        control: &Control,
    ) -> Result<Option<Vec<Sampled>>> {
        for child in 0..self.spaces().len() {
            if score.child(child)?.steps().is_none() {
                return Ok(None);
            }
        }
        let steps = |scratch: &dyn ChildScore| scratch.steps().unwrap_or(0) as f64;
        let most = (budget / SHARE_OF_FAMILY).max(1);
        let bound = |scratch: &mut dyn ChildScore| scratch.cap(most);
        let left = |child: Var, parents: &Parents, cost: f64| {
            let may_take = score.family_steps(child, parents).min(in_earnest.unwrap_or(0));
            // What cannot be scored at all costs nothing in earnest either.
            if may_take > most && score.check(child, parents).is_ok() {
                cost.max((most as f64 * may_take as f64).sqrt())
            } else {
                cost
            }
        };
        self.sample(score, budget as f64, control, steps, bound, left).map(Some)
    }

    fn sample(
        &self,
        score: &dyn LocalScore,
        budget: f64,
        control: &Control,
        reading: impl Fn(&dyn ChildScore) -> f64,
        bound: impl Fn(&mut dyn ChildScore),
        left: impl Fn(Var, &Parents, f64) -> f64,
    ) -> Result<Vec<Sampled>> {
        let layers = self.spaces().iter().map(Space::layers).max().unwrap_or(0);
        let mut sampled = vec![Sampled::default(); layers + 1];
        let mut draw = Draw::new(self);
        let mut parents = Parents::new();
        let mut spent = 0.0;
        let children = draw.children(SAMPLED_CHILDREN);
        for (i, &child) in children.iter().enumerate() {
            let quota = budget * (i + 1) as f64 / children.len() as f64;
            if spent >= quota {
                continue;
            }
            // One scratch for all sets of a child, as in earnest, so that what a child prepares is shared.
            let mut scratch = score.child(child)?;
            scratch.heed(&control.halt());
            let mut own = vec![0.0_f64; self.space(child).layers() + 1];
            while spent < quota {
                control.check()?;
                // Sizes in turn, each getting about the same: the largest sets are the dearest and the most.
                let affordable = |size: &usize| sampled[*size].n > 0 || expected(&sampled, *size) <= budget - spent;
                let within = (0..own.len()).filter(affordable);
                let Some(size) = within.min_by(|&a, &b| own[a].total_cmp(&own[b])) else { break };
                self.space(child).parents(&draw.set(child, size), &mut parents);
                bound(&mut *scratch);
                let before = reading(&*scratch);
                let scored = scratch.score(&parents).is_ok();
                let cost = reading(&*scratch) - before;
                sampled[size].cost += if scored { cost } else { left(child, &parents, cost) };
                sampled[size].n += 1;
                // What costs nothing ends some time, too.
                let at_least = cost.max(1e-5 * budget);
                own[size] += at_least;
                spent += at_least;
            }
        }
        control.check()?;
        Ok(sampled)
    }
}

/// What the first family of a size may cost, from the two sizes below.
fn expected(sampled: &[Sampled], size: usize) -> f64 {
    let mean = |size: usize| sampled[size].cost / sampled[size].n.max(1) as f64;
    match size {
        0 => 0.0,
        _ if sampled[size - 1].n == 0 => f64::INFINITY,
        1 => mean(0) * 4.0,
        _ => mean(size - 1) * (mean(size - 1) / mean(size - 2).max(1e-9)).max(1.0),
    }
}

/// Draws families.
struct Draw<'a> {
    step: &'a Step1,
    random: Xoshiro256PlusPlus,
}

impl<'a> Draw<'a> {
    fn new(step: &'a Step1) -> Self {
        Self { step, random: Xoshiro256PlusPlus::seed_from_u64(1) }
    }

    /// A child and a size, in proportion to how many sets there are.
    fn proportional(&mut self) -> (Var, usize) {
        let total: f64 = self.step.spaces().iter().map(Space::n_sets).sum();
        let mut left = self.random.random::<f64>() * total;
        for (child, space) in self.step.spaces().iter().enumerate() {
            for size in 0..=space.layers() {
                let n = space.n_of_size(size) as f64;
                if left < n {
                    return (child, size);
                }
                left -= n;
            }
        }
        (0, 0)
    }

    /// At most so many children, none twice.
    fn children(&mut self, most: usize) -> Vec<Var> {
        let mut all: Vec<Var> = (0..self.step.spaces().len()).collect();
        for i in 0..most.min(all.len()) {
            let j = self.random.random_range(i..all.len());
            all.swap(i, j);
        }
        all.truncate(most);
        all
    }

    fn set(&mut self, child: Var, size: usize) -> Vec<usize> {
        let space = self.step.space(child);
        space.unrank(size, self.random.random_range(0..space.n_of_size(size)))
    }
}
