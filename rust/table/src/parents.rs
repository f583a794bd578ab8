//! Parent sets: sorted, without repetition, and without their child.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::table::{Table, Var};

/// A parent set in ascending order; four or fewer stay off the heap.
pub type Parents = SmallVec<[Var; 4]>;

/// Checks and sorts the parents of a child.
///
/// # Errors
/// If a parent repeats, is the child, or is not in the table.
pub fn parent_set(table: &Table, child: Var, parents: &[Var]) -> Result<Parents> {
    let family = |problem: String| Error::Family {
        child: table.name(child).to_owned(),
        parents: parents.iter().map(|&p| table.variables().get(p).map_or("?".into(), |v| v.name.to_string())).collect(),
        problem,
        advice: "give each parent once, and never the child itself".to_owned(),
    };
    let mut sorted = Parents::from_slice(parents);
    sorted.sort_unstable();
    for (i, &parent) in sorted.iter().enumerate() {
        if parent >= table.n_vars() {
            return Err(family(format!("there is no column {parent}")));
        }
        if parent == child {
            return Err(family("the child is its own parent".to_owned()));
        }
        if i > 0 && sorted[i - 1] == parent {
            return Err(family(format!("parent '{}' is given twice", table.name(parent))));
        }
    }
    Ok(sorted)
}
