//! Values by key, shared by all threads. A value is a pure function of its key, so it does not matter which thread put
//! it there. Beyond its capacity a shard keeps what it has, so that all together hold at most 917,504 (80 MB of 72 bytes and their
//! room, as tables double when they are seven eighths full).
//!
//! [`KeptSets`] is the same for sets of variables: one that fits a word is one, so that four times as many are held.

use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::error::Result;
use crate::table::Var;

/// Values by key.
pub struct Kept<K, V = f64> {
    shards: Vec<Mutex<FxHashMap<K, V>>>,
    /// Of a shard.
    capacity: usize,
}

const SHARDS: usize = 64;
const SHARD_CAPACITY: usize = (1 << 14) / 8 * 7;

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self::of_capacity(SHARD_CAPACITY)
    }
}

impl<K, V> Kept<K, V> {
    fn of_capacity(capacity: usize) -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), capacity }
    }
}

impl<K: Hash + Eq, V: Copy> Kept<K, V> {
    /// The value of a key, computed if it is not there.
    ///
    /// # Errors
    /// What computing it says; then nothing is kept.
    ///
    /// # Panics
    /// Never: nothing panics while a shard is locked.
    pub fn get_or(&self, key: K, compute: impl FnOnce(&K) -> Result<V>) -> Result<V> {
        let shard = &self.shards[FxBuildHasher.hash_one(&key) as usize >> 20 & (SHARDS - 1)];
        let lock = || shard.lock().expect("nothing panics while a shard is locked");
        if let Some(&value) = lock().get(&key) {
            return Ok(value);
        }
        let value = compute(&key)?;
        let mut kept = lock();
        if kept.len() < self.capacity {
            kept.insert(key, value);
        }
        Ok(value)
    }
}

/// Numbers by set of variables.
pub struct KeptSets {
    /// Bits of a variable in a word.
    bits: u32,
    /// Sets of as many variables as a word has room for: of a thousand, six.
    words: Kept<u64>,
    large: Kept<SmallVec<[Var; 8]>>,
}

/// Words in a shard: with their numbers 71 MB in all.
const SHARD_WORDS: usize = (1 << 16) / 8 * 7;
/// Larger sets in a shard: 21 MB in all.
const SHARD_LARGE: usize = (1 << 12) / 8 * 7;

impl KeptSets {
    /// Of sets of so many variables.
    pub fn new(n_vars: usize) -> Self {
        let (words, large) = (Kept::of_capacity(SHARD_WORDS), Kept::of_capacity(SHARD_LARGE));
        Self { bits: usize::BITS - n_vars.leading_zeros(), words, large }
    }

    /// The number of an ascending set, computed if it is not there.
    ///
    /// # Errors
    /// As [`Kept::get_or`].
    #[inline]
    pub fn get_or(&self, set: &[Var], compute: impl FnOnce() -> Result<f64>) -> Result<f64> {
        if set.len() as u32 * self.bits <= u64::BITS {
            // No variable is zero here, so no set is the beginning of another.
            let word = set.iter().fold(0, |word, &v| word << self.bits | (v as u64 + 1));
            self.words.get_or(word, |_| compute())
        } else {
            self.large.get_or(SmallVec::from_slice(set), |_| compute())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_any_size_are_told_apart() {
        for n_vars in [3, 4, 1000, 70_000] {
            let kept = KeptSets::new(n_vars);
            let members = [0, 1, 2, n_vars - 2, n_vars - 1];
            let mut sets: Vec<Vec<Var>> = (0..32_u32)
                .map(|of| members.iter().enumerate().filter(|(i, _)| of >> i & 1 == 1).map(|(_, &v)| v).collect())
                .collect();
            sets.extend((1..=20).map(|k| (0..k).map(|i| i % n_vars).collect()));
            for set in &mut sets {
                set.sort_unstable();
                set.dedup();
            }
            sets.sort();
            sets.dedup();
            for (i, set) in sets.iter().enumerate() {
                assert_eq!(kept.get_or(set, || Ok(i as f64)).unwrap(), i as f64, "{n_vars} variables, {set:?}");
            }
            for (i, set) in sets.iter().enumerate() {
                assert_eq!(kept.get_or(set, || Ok(-1.0)).unwrap(), i as f64, "{n_vars} variables, {set:?}");
            }
        }
    }

    #[test]
    fn a_full_shard_computes_anew_and_says_the_same() {
        let kept: Kept<u64> = Kept::of_capacity(2);
        for _ in 0..2 {
            for key in 0..1000 {
                assert_eq!(kept.get_or(key, |&key| Ok(key as f64 / 3.0)).unwrap(), key as f64 / 3.0);
            }
        }
        assert!(kept.shards.iter().all(|shard| shard.lock().unwrap().len() <= 2));
    }
}
