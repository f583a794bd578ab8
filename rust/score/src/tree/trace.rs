//! A found tree in preorder, its splits still in bins and codes.

use super::key::{Field, Split, ones};

/// How a cell is split: rows that share a bit with `right` go right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Which predictor.
    pub field: usize,
    /// The mask of the right side.
    pub right: u64,
    /// Empty sides before it.
    pub jumps: u32,
}

/// A cell of the best tree. Nodes stand in preorder: the left side of a split is the next node.
#[derive(Clone, Debug, PartialEq)]
pub enum Traced<S> {
    /// Its rows.
    Leaf(S),
    /// Two sides.
    Split {
        /// Position of the predictor.
        field: usize,
        /// What goes left.
        left: Left,
        /// Where the right side stands.
        right: usize,
    },
}

/// What goes left.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    /// Bins below this one.
    Bins(u32),
    /// Codes below this one.
    Codes(u32),
    /// These codes, ascending.
    Among(Vec<u32>),
}

impl Left {
    /// `key` holds the cell's interval, `levels` its levels.
    pub fn of(field: &Field, choice: Choice, key: u64, levels: u64) -> Self {
        let position = choice.right.trailing_zeros() - field.shift;
        match field.split {
            Split::Halving => {
                let interval = key >> field.shift & ones(field.size + 1);
                let depth = interval.ilog2();
                let prefix = (interval ^ 1 << depth) as u32;
                Self::Bins((2 * prefix + 1) << position)
            }
            Split::Threshold => Self::Codes(position),
            Split::Bipartition => {
                let left = (levels & field.mask & !choice.right) >> field.shift;
                Self::Among((0..field.size).filter(|code| left >> code & 1 == 1).collect())
            }
        }
    }
}

/// A preorder list under construction.
#[derive(Debug)]
pub struct Trace<S> {
    nodes: Vec<Traced<S>>,
}

impl<S> Default for Trace<S> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<S> Trace<S> {
    /// Adds a leaf.
    pub fn leaf(&mut self, sum: S) {
        self.nodes.push(Traced::Leaf(sum));
    }

    /// Adds a split; its left side comes next. Returns where it stands.
    pub fn split(&mut self, field: usize, left: Left) -> usize {
        self.nodes.push(Traced::Split { field, left, right: 0 });
        self.nodes.len() - 1
    }

    /// The left side of a split is complete, its right side comes next.
    pub fn turn_right(&mut self, split: usize) {
        let next = self.nodes.len();
        if let Traced::Split { right, .. } = &mut self.nodes[split] {
            *right = next;
        }
    }

    /// The finished list.
    pub fn finish(self) -> Vec<Traced<S>> {
        self.nodes
    }
}
