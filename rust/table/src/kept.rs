//! Values by key, shared by all threads. A value is a pure function of its key, so it does not matter which thread put
//! it there. Beyond its capacity a shard keeps what it has, so that all together hold at most 917,504 (80 MB of 72 bytes and their
//! room, as tables double when they are seven eighths full).

use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::error::Result;

/// Values by key.
pub struct Kept<K, V = f64> {
    shards: Vec<Mutex<FxHashMap<K, V>>>,
}

const SHARDS: usize = 64;
const SHARD_CAPACITY: usize = (1 << 14) / 8 * 7;

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
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
        if kept.len() < SHARD_CAPACITY {
            kept.insert(key, value);
        }
        Ok(value)
    }
}
