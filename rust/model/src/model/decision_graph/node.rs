//! The nodes of a decision graph: a question, or a distribution of the child.

use serde::{Deserialize, Serialize};

use crate::model::questions;
use crate::predictive::Predictive;

/// A node of a decision graph. Whatever it leads to stands behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "node", rename_all = "snake_case")]
pub enum Node {
    /// One way a level.
    Each {
        /// Position in the graph's parents.
        parent: usize,
        /// Ascending codes.
        levels: Vec<u32>,
        /// Where each leads.
        to: Vec<usize>,
    },
    /// One level, and the others.
    Level {
        /// Position in the graph's parents.
        parent: usize,
        /// The level.
        level: u32,
        /// Where it leads, and where the others lead.
        to: [usize; 2],
    },
    /// Levels before this one, and the others.
    Before {
        /// Position in the graph's parents.
        parent: usize,
        /// The lowest of the others.
        level: u32,
        /// Where those before lead, and where the others lead.
        to: [usize; 2],
    },
    /// Numbers below a threshold, and the others.
    Below {
        /// Position in the graph's parents.
        parent: usize,
        /// In stored units.
        threshold: f64,
        /// Where those below lead, and where the others lead.
        to: [usize; 2],
    },
    /// A distribution of the child.
    Leaf {
        /// Number of training rows.
        n: u64,
        /// Their counts by code.
        counts: Vec<u64>,
        /// What a new row here is predicted with.
        predictive: Predictive,
    },
}

impl Node {
    pub(super) fn to(&self) -> &[usize] {
        match self {
            Self::Each { to, .. } => to,
            Self::Level { to, .. } | Self::Before { to, .. } | Self::Below { to, .. } => to,
            Self::Leaf { .. } => &[],
        }
    }

    /// The same, to be changed.
    pub fn to_mut(&mut self) -> &mut [usize] {
        match self {
            Self::Each { to, .. } => to,
            Self::Level { to, .. } | Self::Before { to, .. } | Self::Below { to, .. } => to,
            Self::Leaf { .. } => &mut [],
        }
    }

    /// Which way the first level goes, or the lowest number.
    pub(super) fn way_of_first(&self) -> usize {
        match self {
            Self::Each { levels, .. } => levels.binary_search(&0).unwrap_or(levels.len() - 1),
            Self::Level { level, .. } => usize::from(*level != 0),
            Self::Before { .. } | Self::Below { .. } | Self::Leaf { .. } => 0,
        }
    }

    /// Which parent it asks about, by its position.
    pub fn parent(&self) -> Option<usize> {
        match self {
            Self::Each { parent, .. }
            | Self::Level { parent, .. }
            | Self::Before { parent, .. }
            | Self::Below { parent, .. } => Some(*parent),
            Self::Leaf { .. } => None,
        }
    }

    pub(super) fn parent_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Each { parent, .. }
            | Self::Level { parent, .. }
            | Self::Before { parent, .. }
            | Self::Below { parent, .. } => Some(parent),
            Self::Leaf { .. } => None,
        }
    }
}

impl questions::Node for Node {
    fn predictive(&self) -> Option<&Predictive> {
        if let Self::Leaf { predictive, .. } = self { Some(predictive) } else { None }
    }

    fn halves(&self) -> Option<(usize, f64)> {
        if let Self::Below { parent, threshold, .. } = self { Some((*parent, *threshold)) } else { None }
    }
}
