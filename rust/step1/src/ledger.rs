//! Who is under way, which block comes next, and what becomes of the records: the book of a run of Step 1.
//!
//! Children are opened in their order, each goes through its layers, and a layer is closed when all its records are in.
//! Which thread or machine makes a record, and in which order records arrive, changes nothing in what comes out.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::candidates::{Candidates, ChildCandidates};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::local::Groups;
use crate::parents::Parents;
use crate::table::Var;

use super::Step1;
use super::record::{Block, Layer, Record};
use super::space::Space;

/// Families told with their reason; further ones are counted.
pub(super) const TOLD: usize = 100;

/// A family that could not be scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The child.
    pub child: Var,
    /// The parents.
    pub parents: Parents,
    /// Why not.
    pub reason: String,
}

/// A family whose score is a lower bound, since levels of its parents were grouped in order.
#[derive(Clone, Debug, PartialEq)]
pub struct InOrder {
    /// The child.
    pub child: Var,
    /// The parents.
    pub parents: Parents,
    /// Which parents, and what was merged.
    pub groups: Vec<Groups>,
}

/// What came out of Step 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The sets kept.
    pub candidates: Candidates,
    /// How many sets there are.
    pub n_sets: u64,
    /// How many of them were scored; bounds ruled out the rest.
    pub n_evaluated: u64,
    /// How many could not be scored.
    pub n_skipped: u64,
    /// The first of them.
    pub skipped: Vec<Skipped>,
    /// How many of those scored have lower bounds as scores.
    pub n_in_order: u64,
    /// The sets kept among them.
    pub in_order: Vec<InOrder>,
}

/// What to do next.
#[derive(Clone, Debug)]
pub enum Next {
    /// Score these consecutive blocks of one layer, above that layer.
    Blocks(Vec<Block>, Arc<Layer>),
    /// Others have to finish first.
    Wait,
    /// Nothing is left to hand out.
    Done,
}

/// The book of a run.
pub struct Ledger {
    step: Arc<Step1>,
    found: FxHashMap<Block, Record>,
    next_child: Var,
    most_open: usize,
    open: Vec<Open>,
    children: Vec<ChildCandidates>,
    tally: Vec<Tally>,
    kept_bytes: u64,
}

#[derive(Clone, Default)]
struct Tally {
    evaluated: u64,
    n_skipped: u64,
    skipped: Vec<Skipped>,
    n_in_order: u64,
    in_order: Vec<InOrder>,
}

struct Open {
    child: Var,
    size: usize,
    below: Arc<Layer>,
    records: Vec<Option<Record>>,
    next: usize,
    missing: usize,
    kept: Kept,
}

#[derive(Default)]
pub(super) struct Kept {
    offsets: Vec<u32>,
    members: Vec<u32>,
    scores: Vec<f64>,
}

impl Ledger {
    /// Opens the book for so many workers; the records of an earlier run are not made again.
    pub fn new(step: &Arc<Step1>, workers: usize, found: Vec<Record>) -> Self {
        let n = step.names().len();
        Self {
            step: step.clone(),
            found: found.into_iter().map(|record| (record.block, record)).collect(),
            next_child: 0,
            most_open: step.most_open(workers),
            open: vec![],
            children: vec![ChildCandidates::default(); n],
            tally: vec![Tally::default(); n],
            kept_bytes: 0,
        }
    }

    /// Up to `most` consecutive blocks that nobody has yet, of the preferred child if it has any.
    ///
    /// # Errors
    /// If a child that an earlier run had finished cannot be finished again.
    pub fn next(&mut self, prefer: Option<Var>, most: usize, control: &Control) -> Result<Next> {
        loop {
            let ready = |open: &Open| open.next < open.records.len();
            let full = self.open.len() >= self.most_open || self.next_child == self.children.len();
            let preferred = self.open.iter().position(|open| Some(open.child) == prefer && ready(open));
            // Everybody takes a child of their own as long as there are any; then they help one another.
            let chosen = preferred.or_else(|| self.open.iter().position(ready).filter(|_| full));
            if let Some(at) = chosen {
                let open = &mut self.open[at];
                let blocks = open.hand_out(&self.step, most);
                if !blocks.is_empty() {
                    return Ok(Next::Blocks(blocks, open.below.clone()));
                }
            } else if !full {
                let child = self.next_child;
                self.next_child += 1;
                let mut open = Open::new(child);
                open.start_layer(&self.step, &mut self.found, control);
                self.open.push(open);
                self.close_layers(child, control)?;
            } else {
                return Ok(if self.open.is_empty() { Next::Done } else { Next::Wait });
            }
        }
    }

    /// Enters a record; one that is already there is ignored.
    ///
    /// # Errors
    /// If it belongs to no layer under way, no set of its child can be kept, or kept sets exceed the memory limit.
    pub fn accept(&mut self, record: Record, control: &Control) -> Result<()> {
        let child = record.block.child;
        let stray = || Error::Shape("a record arrived of parent sets that are not being scored".to_owned());
        let open = self.open.iter_mut().find(|open| open.child == child).ok_or_else(stray)?;
        let place = (record.block.start / self.step.block_sets()) as usize;
        if open.size != record.block.size || open.block(&self.step, place) != Some(record.block) {
            return Err(stray());
        }
        if open.records[place].is_none() {
            open.enter(&self.step, place, record, control);
        }
        self.close_layers(child, control)
    }

    /// What came out, once `next` has said that all is done.
    ///
    /// # Errors
    /// As `Candidates::new`.
    pub fn finish(self) -> Result<Outcome> {
        let candidates = Candidates::new(self.step.names().to_vec(), self.children)?;
        let skipped = self.tally.iter().flat_map(|t| &t.skipped).take(TOLD).cloned().collect();
        Ok(Outcome {
            candidates,
            n_sets: self.step.spaces().iter().map(Space::n_sets).sum::<f64>() as u64,
            n_evaluated: self.tally.iter().map(|t| t.evaluated).sum(),
            n_skipped: self.tally.iter().map(|t| t.n_skipped).sum(),
            skipped,
            n_in_order: self.tally.iter().map(|t| t.n_in_order).sum(),
            in_order: self.tally.into_iter().flat_map(|t| t.in_order).collect(),
        })
    }

    /// Closes every layer of a child whose records are all in, and the child after its last one.
    fn close_layers(&mut self, child: Var, control: &Control) -> Result<()> {
        let step = self.step.clone();
        let space = step.space(child);
        let at = self.open.iter().position(|open| open.child == child).expect("the caller found it open");
        while self.open[at].missing == 0 {
            let before = self.open[at].kept.bytes();
            self.open[at].close_layer(space, &mut self.tally[child])?;
            self.kept_bytes += self.open[at].kept.bytes() - before;
            self.within_memory()?;
            if self.open[at].size == space.layers() {
                let open = self.open.remove(at);
                self.children[child] = open.kept.sorted();
                return self.not_empty(child);
            }
            self.open[at].size += 1;
            self.open[at].start_layer(&step, &mut self.found, control);
        }
        Ok(())
    }

    fn within_memory(&self) -> Result<()> {
        match self.step.memory_limit {
            Some(limit) if self.kept_bytes > limit => Err(Error::Memory {
                what: "keeping the parent sets that no subset dominates".to_owned(),
                needed_mb: self.kept_bytes / 1_000_000,
                limit_mb: limit / 1_000_000,
                advice: "lower max_parents, use a prior that penalises large sets more, or allow fewer parents"
                    .to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn not_empty(&self, child: Var) -> Result<()> {
        if !self.children[child].is_empty() {
            return Ok(());
        }
        Err(nothing_kept(&self.step.names()[child], &self.tally[child].skipped))
    }
}

/// Says that no parents of a child can be scored.
pub(super) fn nothing_kept(child: &str, skipped: &[Skipped]) -> Error {
    let reason = skipped.first().map(|skipped| format!(": {}", skipped.reason));
    Error::Family {
        child: child.to_owned(),
        parents: vec![],
        problem: format!(
            "nor with any other permitted parents{}",
            reason.unwrap_or_else(|| ", as every score is minus infinity".to_owned())
        ),
        advice: "use another score, or allow other parents".to_owned(),
    }
}

impl Open {
    fn new(child: Var) -> Self {
        Self { child, size: 0, below: Arc::default(), records: vec![], next: 0, missing: 0, kept: Kept::new() }
    }

    fn block(&self, step: &Step1, place: usize) -> Option<Block> {
        let start = place as u64 * step.block_sets();
        let left = step.space(self.child).n_of_size(self.size).checked_sub(start).filter(|&left| left > 0)?;
        let len = left.min(step.block_sets()) as u32;
        Some(Block { child: self.child, size: self.size, start, len })
    }

    fn start_layer(&mut self, step: &Step1, found: &mut FxHashMap<Block, Record>, control: &Control) {
        let n_blocks = step.space(self.child).n_of_size(self.size).div_ceil(step.block_sets()) as usize;
        self.records = vec![None; n_blocks];
        self.next = 0;
        self.missing = n_blocks;
        if found.is_empty() {
            return;
        }
        for place in 0..n_blocks {
            let record = self.block(step, place).and_then(|block| found.remove(&block));
            if let Some(record) = record {
                self.enter(step, place, record, control);
            }
        }
    }

    fn enter(&mut self, step: &Step1, place: usize, record: Record, control: &Control) {
        control.advance(step.effort(record.block));
        self.records[place] = Some(record);
        self.missing -= 1;
    }

    /// The next blocks without a record, consecutive; empty if the rest of the layer came from an earlier run.
    fn hand_out(&mut self, step: &Step1, most: usize) -> Vec<Block> {
        while self.records.get(self.next).is_some_and(Option::is_some) {
            self.next += 1;
        }
        let mut blocks = vec![];
        while blocks.len() < most && self.records.get(self.next).is_some_and(Option::is_none) {
            blocks.extend(self.block(step, self.next));
            self.next += 1;
        }
        blocks
    }

    /// Keeps the layer's undominated sets and turns it into the layer below the next.
    fn close_layer(&mut self, space: &Space, tally: &mut Tally) -> Result<()> {
        let last = self.size == space.layers();
        let mut layer = Layer::default();
        let bounded = self.records.iter().flatten().any(|record| !record.bounds.is_empty());
        let mut parents = Parents::new();
        for record in self.records.drain(..).flatten() {
            tally.evaluated += u64::from(record.evaluated);
            tally.n_skipped += u64::from(record.n_skipped);
            tally.n_in_order += u64::from(record.n_in_order);
            for (place, groups) in record.in_order {
                space.parents(&space.unrank(self.size, record.block.start + u64::from(place)), &mut parents);
                tally.in_order.push(InOrder { child: self.child, parents: parents.clone(), groups });
            }
            for (place, reason) in record.skipped {
                if tally.skipped.len() < TOLD {
                    space.parents(&space.unrank(self.size, record.block.start + u64::from(place)), &mut parents);
                    tally.skipped.push(Skipped { child: self.child, parents: parents.clone(), reason });
                }
            }
            for &(place, score) in &record.kept {
                space.parents(&space.unrank(self.size, record.block.start + u64::from(place)), &mut parents);
                self.kept.push(&parents, score)?;
            }
            if !last {
                let mut kept = record.kept.iter().copied().peekable();
                let mut set = space.unrank(self.size, record.block.start);
                for place in 0..record.block.len {
                    let best = match kept.next_if(|k| k.0 == place) {
                        Some((_, score)) => score,
                        None if self.size == 0 => f64::NEG_INFINITY,
                        None => self.below.around(space, &set).0,
                    };
                    layer.best.push(best);
                    Space::advance(&mut set);
                }
                if bounded && record.bounds.is_empty() {
                    layer.bounds.extend(std::iter::repeat_n(f64::INFINITY, record.block.len as usize));
                }
                layer.bounds.extend(record.bounds);
            }
        }
        self.below = Arc::new(layer);
        Ok(())
    }
}

impl Kept {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], ..Self::default() }
    }

    pub(super) fn push(&mut self, parents: &[Var], score: f64) -> Result<()> {
        self.members.extend(parents.iter().map(|&p| p as u32));
        let end = u32::try_from(self.members.len()).map_err(|_| Error::Memory {
            what: "keeping the parent sets of one child".to_owned(),
            needed_mb: self.bytes() / 1_000_000,
            limit_mb: (u64::from(u32::MAX) * 4) / 1_000_000,
            advice: "lower max_parents, or allow fewer parents".to_owned(),
        })?;
        self.offsets.push(end);
        self.scores.push(score);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        (4 * self.members.len() + 12 * self.scores.len()) as u64
    }

    pub(super) fn sorted(self) -> ChildCandidates {
        ChildCandidates::from_flat(&self.offsets, &self.members, &self.scores)
    }
}
