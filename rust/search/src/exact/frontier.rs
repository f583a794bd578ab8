//! The open states of the order search, by the number of variables still to be placed, and their expansion in batches.
//!
//! Breadth first, a layer is complete before it is expanded, so a state is never expanded twice and the incumbent, if
//! it is the optimum already, makes the search expand only states that every search with these bounds must expand.
//! Depth first (for when memory runs short) takes the best states of the deepest layer. A batch is expanded in
//! parallel against one incumbent and merged in its order, so the number of threads changes nothing.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::control::Budget;
use crate::error::Result;
use crate::exact::bits::Bits;
use crate::exact::lattice::{Kernel, Scratch, State};
use crate::exact::pattern::Patterns;

/// How a state was reached, to tell its order afterwards: the step before, and the variable placed by it.
#[derive(Clone, Copy, Debug)]
struct Step {
    before: u32,
    placed: u16,
}

/// An open state's cost, the bound on its completion, and how it was reached.
#[derive(Clone, Copy, Debug)]
struct Open {
    cost: i64,
    completion: i64,
    step: Step,
}

/// Open states and the incumbent they are held against.
pub struct Frontier<const W: usize> {
    kernel: Kernel<W>,
    layers: Vec<FxHashMap<Bits<W>, Open>>,
    /// The batch order of the layer at work, worst first.
    queue: Vec<(Bits<W>, Open)>,
    steps: Vec<Step>,
    below: i64,
    slack: i64,
    best: Option<(i64, Vec<usize>)>,
    /// States expanded so far.
    pub expanded: u64,
    spare: Vec<Scratch<W>>,
}

const ROOT: u32 = u32::MAX;
/// States that one thread expands in a row.
const SLICE: usize = 32;

impl<const W: usize> Frontier<W> {
    /// Opens the root; only what costs less than `below` is searched for, and then less than the best by `slack`.
    pub fn new(kernel: Kernel<W>, below: i64, slack: i64) -> Self {
        let layers = vec![FxHashMap::default(); kernel.n() + 1];
        let mut out =
            Self { kernel, layers, queue: vec![], steps: vec![], below, slack, best: None, expanded: 0, spare: vec![] };
        out.open_root();
        out
    }

    fn open_root(&mut self) {
        let (rest, cost) = self.kernel.root(|_, _| ());
        let open = Open { cost, completion: 0, step: Step { before: ROOT, placed: 0 } };
        if rest.is_empty() {
            self.offer(cost, None);
        } else {
            self.layers[rest.len()].insert(rest, open);
        }
    }

    /// A complete order was reached by a step (None: by closing the root).
    fn offer(&mut self, cost: i64, step: Option<Step>) {
        if cost < self.below {
            self.below = self.below.min(cost - self.slack);
            if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
                self.best = Some((cost, self.order(step)));
            }
        }
    }

    /// From now on, states are held against patterns too, the open ones at once.
    pub fn equip(&mut self, patterns: Patterns<W>) {
        self.unload();
        for (rest, open) in self.layers.iter_mut().flatten() {
            open.completion = open.completion.max(patterns.bound(*rest));
        }
        self.kernel.equip(patterns);
    }

    /// Everything costs at least the incumbent, or at least this.
    pub fn bound(&self) -> i64 {
        let open = self.layers.iter().flat_map(|l| l.values()).chain(self.queue.iter().map(|(_, open)| open));
        open.map(|o| o.cost + o.completion).fold(self.below, i64::min)
    }

    /// The order of the best complete state found here, and its cost.
    pub fn best(&self) -> Option<(i64, &[usize])> {
        self.best.as_ref().map(|(cost, order)| (*cost, order.as_slice()))
    }

    /// Variables still to be placed in the layer at work.
    pub fn depth(&self) -> usize {
        self.queue.last().map_or(0, |(rest, _)| rest.len())
    }

    /// About how many bytes the open states, the prices and the patterns take.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<(Bits<W>, Open)>();
        let tables: usize = self.layers.iter().map(|l| l.capacity() * (entry + 1) * 8 / 7).sum();
        let spare = self.spare.iter().map(Scratch::bytes).sum::<usize>();
        self.kernel.bytes() + spare + tables + self.queue.capacity() * entry + self.steps.capacity() * size_of::<Step>()
    }

    /// Keeps only the best states of the layer about to be expanded: a beam, which proves nothing.
    pub fn narrow(&mut self, width: usize) {
        if self.queue.is_empty() {
            self.load(false);
        }
        let excess = self.queue.len().saturating_sub(width);
        self.queue.drain(..excess);
    }

    /// Moves a layer into the queue, best last.
    fn load(&mut self, deepest: bool) {
        let found = |l: &FxHashMap<Bits<W>, Open>| !l.is_empty();
        let layer = if deepest { self.layers.iter().position(found) } else { self.layers.iter().rposition(found) };
        let Some(layer) = layer else { return };
        let below = self.below;
        self.queue = std::mem::take(&mut self.layers[layer]).into_iter().collect();
        self.queue.retain(|(_, o)| o.cost + o.completion < below);
        self.queue.sort_unstable_by(|(a, x), (b, y)| (y.cost + y.completion, b).cmp(&(x.cost + x.completion, a)));
    }

    /// Puts the queue back into its layer: a deeper one is to be worked on first.
    fn unload(&mut self) {
        for (rest, open) in std::mem::take(&mut self.queue) {
            self.insert(rest, open);
        }
    }

    fn insert(&mut self, rest: Bits<W>, new: Open) {
        let open = self.layers[rest.len()].entry(rest).or_insert(new);
        open.completion = open.completion.max(new.completion);
        if new.cost < open.cost {
            (open.cost, open.step) = (new.cost, new.step);
        }
    }

    /// Expands up to `count` states; false once none is open.
    ///
    /// # Errors
    /// `Error::Interrupted` when the budget is used up; no state is lost.
    pub fn expand(&mut self, count: usize, deepest: bool, budget: Budget) -> Result<bool> {
        if deepest {
            self.unload();
        }
        while self.queue.is_empty() {
            if self.layers.iter().all(FxHashMap::is_empty) {
                return Ok(false);
            }
            self.load(deepest);
        }
        let batch: Vec<(Bits<W>, Open)> = self.queue[self.queue.len().saturating_sub(count)..].to_vec();
        let (kernel, below) = (&self.kernel, self.below);
        let pool = std::sync::Mutex::new(std::mem::take(&mut self.spare));
        let slices: Vec<Result<Vec<(u32, usize, State<W>)>>> = batch
            .par_chunks(SLICE)
            .enumerate()
            .map(|(slice, states)| {
                budget.check()?;
                let spare = pool.lock().map_or(None, |mut pool| pool.pop());
                let mut scratch = spare.unwrap_or_else(|| kernel.scratch());
                let mut out = Vec::new();
                for (i, (rest, open)) in states.iter().enumerate() {
                    let bound = open.cost + open.completion;
                    if bound < below {
                        let state = State { rest: *rest, cost: open.cost, bound };
                        let from = (slice * SLICE + i) as u32;
                        kernel.expand(&state, below, &mut scratch, |v, next| out.push((from, v, next)));
                    }
                }
                if let Ok(mut pool) = pool.lock() {
                    pool.push(scratch);
                }
                Ok(out)
            })
            .collect();
        self.spare = pool.into_inner().unwrap_or_default();
        let slices = slices.into_iter().collect::<Result<Vec<_>>>()?;
        self.queue.truncate(self.queue.len() - batch.len());
        self.expanded += batch.len() as u64;
        let mut step_of: Vec<u32> = vec![ROOT; batch.len()];
        for (from, placed, next) in slices.into_iter().flatten() {
            let from = from as usize;
            if step_of[from] == ROOT {
                step_of[from] = self.steps.len() as u32;
                self.steps.push(batch[from].1.step);
            }
            let step = Step { before: step_of[from], placed: placed as u16 };
            if next.rest.is_empty() {
                self.offer(next.cost, Some(step));
            } else if next.bound < self.below {
                self.insert(next.rest, Open { cost: next.cost, completion: next.bound - next.cost, step });
            }
        }
        Ok(true)
    }

    /// The order of all variables at the end of a way, replayed from the root.
    fn order(&self, end: Option<Step>) -> Vec<usize> {
        // A stored step is how its state was reached; the root's has no step before it.
        let mut way = Vec::new();
        let mut at = end;
        while let Some(step) = at {
            way.push(step.placed as usize);
            let before = self.steps[step.before as usize];
            at = (before.before != ROOT).then_some(before);
        }
        way.reverse();
        self.kernel.replay(&way)
    }
}
