//! What a score says of a family whose levels it grouped in order.

use crate::table::Var;

/// What a family's parent with levels was searched as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Groups {
    /// The parent.
    pub parent: Var,
    /// Its levels that occur.
    pub levels: u32,
    /// The groups of neighbours that were searched: as many as levels if none were merged.
    pub groups: u32,
}
