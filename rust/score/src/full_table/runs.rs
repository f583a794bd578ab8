//! Which runs of the parts that hold rows are bins, and of which choices.
//!
//! Most boxes hold rows in a few parts only, so that many bins hold the same rows. Going from each occupied part to the
//! right, with the choices that have a bin begin there, every distinct run comes up once, with all choices that have it.

use super::joint::Axis;

/// Neighbouring occupied parts that are all a bin holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The place of its first part among the occupied ones.
    pub first: u32,
    /// One past that of the last.
    pub end: u32,
    /// The choices that have this bin, as bits.
    pub choices: u64,
}

impl Run {
    /// Its choices, ascending.
    pub fn each_choice(&self, mut see: impl FnMut(usize)) {
        let mut left = self.choices;
        while left != 0 {
            see(left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// The runs of occupied parts (ascending), by first part, then by end: those of one choice are in their order.
pub fn collect(axis: &Axis<'_>, parts: &[u16], runs: &mut Vec<Run>) {
    runs.clear();
    let all = u64::MAX >> (64 - axis.n_choices);
    let with_next = |place: usize| parts.get(place + 1).map_or(0, |&next| axis.together(parts[place], next));
    let mut beginning = all;
    for first in 0..parts.len() {
        let mut open = beginning;
        beginning = all & !with_next(first);
        let mut last = first;
        while open != 0 {
            let longer = open & with_next(last);
            last += 1;
            if longer != open {
                runs.push(Run { first: first as u32, end: last as u32, choices: open & !longer });
            }
            open = longer;
        }
    }
}
