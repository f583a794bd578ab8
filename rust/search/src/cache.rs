//! Scores of one child's parent sets, remembered, and what is known to be no improvement.
//!
//! Searches ask for millions of families, nearly all of them small, so a set of up to four parents is one word (16 bits
//! each), exact for up to 65,535 variables; other sets are kept as they are. The memory is bounded: of two halves the older
//! is forgotten when the younger is full, which costs time and changes no result.

use rustc_hash::FxHashMap;

use super::bits;
use crate::parents::Parents;
use crate::table::Var;

/// A memory for at most so many sets is made whole at once: grown, it would leave as much behind in pieces.
const AT_ONCE: usize = 1 << 13;

/// A set of more than four parents takes about as much memory as so many words: its members lie apart.
const LARGE: usize = 5;

/// Scores by parent set.
#[derive(Debug, Default)]
pub struct Known {
    young: Half,
    old: Half,
}

#[derive(Debug, Default)]
struct Half {
    small: FxHashMap<u64, f64>,
    large: FxHashMap<Parents, f64>,
}

/// Up to four parents as a word; none is the word 0.
fn word(parents: &Parents) -> Option<u64> {
    if parents.len() > 4 {
        return None;
    }
    let shifted = |word: u64, &p: &usize| (p < 0xffff).then(|| word << 16 | (p as u64 + 1));
    parents.iter().try_fold(0, shifted)
}

impl Known {
    /// The score of a set, if it is known.
    pub fn get(&self, parents: &Parents) -> Option<f64> {
        match word(parents) {
            Some(word) => self.young.small.get(&word).or_else(|| self.old.small.get(&word)).copied(),
            None => self.young.large.get(parents).or_else(|| self.old.large.get(parents)).copied(),
        }
    }

    /// Remembers a score; with half as many in memory since it last forgot as `most` words take, forgets those before.
    pub fn insert(&mut self, parents: &Parents, score: f64, most: usize) {
        let half = (most / 2).max(1);
        if self.young.small.len() + LARGE * self.young.large.len() >= half {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.small.clear();
            self.young.large.clear();
        }
        if self.young.small.is_empty() && most <= AT_ONCE {
            self.young.small.reserve(half);
        }
        match word(parents) {
            Some(word) => self.young.small.insert(word, score),
            None => self.young.large.insert(parents.clone(), score),
        };
    }
}

/// What was ruled out takes so many bytes at most, about.
const MOST_RULED_OUT: usize = 16 << 20;

/// Additions to parents of one child that do not improve, as bits by parents.
#[derive(Debug, Default)]
pub struct RuledOut(FxHashMap<Parents, Box<[u64]>>);

impl RuledOut {
    /// Whether that addition was ruled out.
    pub fn has(&self, parents: &Parents, added: Var) -> bool {
        self.0.get(parents).is_some_and(|ruled| bits::contains(ruled, added))
    }

    /// Rules an addition out; with as many parents in memory as a child of `n_vars` has room for, forgets those before.
    pub fn insert(&mut self, parents: &Parents, added: Var, n_vars: usize) {
        let one = 100 + 8 * bits::n_words(n_vars);
        if !self.0.contains_key(parents) && (self.0.len() + 1) * one * n_vars > MOST_RULED_OUT {
            self.0.clear();
        }
        bits::insert(self.0.entry(parents.clone()).or_insert_with(|| vec![0; bits::n_words(n_vars)].into()), added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_any_size_are_told_apart() {
        let sets: Vec<Parents> = [&[][..], &[0], &[1], &[0, 1], &[65_534], &[70_000], &[0, 1, 2, 3], &[0, 1, 2, 3, 4]]
            .map(Parents::from_slice)
            .to_vec();
        let mut known = Known::default();
        for (i, set) in sets.iter().enumerate() {
            assert_eq!(known.get(set), None);
            known.insert(set, i as f64, 100);
        }
        for (i, set) in sets.iter().enumerate() {
            assert_eq!(known.get(set), Some(i as f64));
        }
    }

    #[test]
    fn a_full_memory_forgets_rather_than_grows() {
        let mut known = Known::default();
        for p in 0..10 {
            known.insert(&Parents::from_slice(&[p]), 0.0, 4);
            assert!(known.young.small.len() <= 2 && known.old.small.len() <= 2);
            // What came last but one is still there.
            let last = p.saturating_sub(2)..=p;
            assert!(last.clone().all(|q| known.get(&Parents::from_slice(&[q])) == Some(0.0)), "{last:?}");
        }
        assert_eq!(known.get(&Parents::from_slice(&[0])), None);
        for p in 5..15 {
            known.insert(&Parents::from_slice(&[0, 1, 2, 3, p]), 0.0, 4 * LARGE);
            assert!(known.young.large.len() <= 2 && known.old.large.len() <= 2);
        }
    }

    #[test]
    fn what_was_ruled_out_is_forgotten_rather_than_grows() {
        let (mut ruled_out, n_vars) = (RuledOut::default(), 40_000);
        for base in 0..10 {
            let parents = Parents::from_slice(&[base]);
            ruled_out.insert(&parents, 20, n_vars);
            ruled_out.insert(&parents, 39_999, n_vars);
            assert!(ruled_out.0.len() == 1 && ruled_out.has(&parents, 20) && ruled_out.has(&parents, 39_999));
            assert!(!ruled_out.has(&parents, 22) && !ruled_out.has(&Parents::from_slice(&[base + 1]), 20));
        }
        let mut of_few = RuledOut::default();
        (0..10).for_each(|base| of_few.insert(&Parents::from_slice(&[base]), 20, 30));
        assert!((0..10).all(|base| of_few.has(&Parents::from_slice(&[base]), 20)));
    }
}
