//! An open-addressing table of the cells that were searched, reused between parent sets.

use crate::control::Halt;

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The score of its best tree.
    pub score: f64,
    /// The predictors that its best tree splits, as bits; none if it is a leaf.
    pub used: u32,
}

/// The rows of a cell are known by the union and the intersection of their keys. A cell whose intervals are wider than
/// its rows is known by its own key and [`WIDE`].
pub type Key = [u64; 2];

/// Stands where the intersection would: no intersection has all bits, since a level's field has one in each row.
pub const WIDE: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    score: f64,
    used: u32,
    /// The table's generation when it was written: older slots are empty.
    generation: u32,
}

/// Cells of one search after the other.
pub struct Memo {
    slots: Vec<Slot>,
    shift: u32,
    used: usize,
    generation: u32,
    max_slots: usize,
}

/// The table would outgrow what it was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// Bytes that the next size would take.
    pub bytes: u64,
}

/// Why a search has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It needed too much memory.
    Full(Full),
    /// It was stopped.
    Halted,
    /// It would take more than so many steps.
    Dear(u64),
}

/// Asks whether to stop, now and then.
#[derive(Debug, Default)]
pub struct Patience {
    /// Who is asked.
    pub halt: Halt,
    /// Points looked at so far.
    pub points: u64,
    done: usize,
}

/// Points looked at between two questions: about a millisecond.
const STRIDE: usize = 1 << 18;

impl Patience {
    /// After looking at so many points: true if it is time to stop.
    #[inline]
    pub fn is_over(&mut self, points: usize) -> bool {
        self.points += points as u64;
        self.done += points + 8;
        self.done > STRIDE && self.ask()
    }

    /// After other work of so many additions: true if it is time to stop.
    #[inline]
    pub fn is_tired(&mut self, additions: usize) -> bool {
        self.done += additions / 4 + 8;
        self.done > STRIDE && self.ask()
    }

    #[cold]
    fn ask(&mut self) -> bool {
        self.done = 0;
        self.halt.is_due()
    }
}

const EMPTY: Slot = Slot { key: [0; 2], score: 0.0, used: 0, generation: 0 };
const SMALLEST: usize = 256;

impl Memo {
    /// Empty, never to hold more than `max_bytes` (but a few thousand).
    pub fn new(max_bytes: u64) -> Self {
        let max_slots = usize::try_from(max_bytes).unwrap_or(usize::MAX) / size_of::<Slot>();
        let shift = 64 - SMALLEST.trailing_zeros();
        Self { slots: vec![EMPTY; SMALLEST], shift, used: 0, generation: 1, max_slots }
    }

    /// Forgets everything; far more room than was used is given back.
    pub fn clear(&mut self) {
        if self.slots.len() > SMALLEST && self.used < self.slots.len() / 64 || self.generation == u32::MAX {
            let len = self.slots.len().div_ceil(4).max(SMALLEST);
            self.slots = vec![EMPTY; len];
            self.shift = 64 - len.trailing_zeros();
            self.generation = 0;
        }
        self.generation += 1;
        self.used = 0;
    }

    /// Gives back what is held beyond so many bytes, with all that is known.
    pub fn keep(&mut self, max_bytes: u64) {
        if (self.slots.len() * size_of::<Slot>()) as u64 > max_bytes {
            self.slots = vec![EMPTY; SMALLEST];
            self.shift = 64 - SMALLEST.trailing_zeros();
            (self.used, self.generation) = (0, 1);
        }
    }

    /// The first slot that a cell may be in.
    #[inline]
    fn first(&self, key: Key) -> usize {
        let mixed = (key[0].wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ key[1]).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> self.shift) as usize
    }

    /// Has it brought from memory while other things are done: those of a large search are in none of the caches.
    #[inline]
    pub fn fetch(&self, key: Key) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let slot = self.slots.as_ptr().wrapping_add(self.first(key));
            // SAFETY: a hint, which may name any address.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(slot.cast());
            }
        }
    }

    #[inline]
    fn slot(&self, key: Key) -> usize {
        let mut at = self.first(key);
        let mask = self.slots.len() - 1;
        loop {
            let slot = &self.slots[at & mask];
            if slot.generation != self.generation || slot.key == key {
                return at & mask;
            }
            at += 1;
        }
    }

    /// What is known of a cell.
    #[inline]
    pub fn get(&self, key: Key) -> Option<Known> {
        let slot = &self.slots[self.slot(key)];
        (slot.generation == self.generation).then_some(Known { score: slot.score, used: slot.used })
    }

    /// Remembers a cell.
    ///
    /// # Errors
    /// `Full` if the table would have to outgrow its limit.
    #[inline]
    pub fn insert(&mut self, key: Key, known: Known) -> Result<(), Full> {
        if 2 * (self.used + 1) > self.slots.len() {
            self.grow()?;
        }
        let at = self.slot(key);
        self.used += usize::from(self.slots[at].generation != self.generation);
        self.slots[at] = Slot { key, score: known.score, used: known.used, generation: self.generation };
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let len = self.slots.len() * 4;
        if len > self.max_slots {
            return Err(Full { bytes: (len * size_of::<Slot>()) as u64 });
        }
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; len]);
        self.shift = 64 - len.trailing_zeros();
        for slot in old {
            if slot.generation == self.generation {
                let at = self.slot(slot.key);
                self.slots[at] = slot;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(score: f64) -> Known {
        Known { score, used: 1 }
    }

    #[test]
    fn what_was_put_in_comes_out_also_after_growing_and_clearing() {
        let mut memo = Memo::new(1 << 20);
        for round in 0..3_u64 {
            let n = if round == 1 { 100 } else { 5000 };
            for key in 1..n {
                assert_eq!(memo.get([key, key / 3]), None);
                memo.insert([key, key / 3], known((key + round) as f64)).unwrap();
            }
            for key in 1..n {
                assert_eq!(memo.get([key, key / 3]), Some(known((key + round) as f64)));
                assert_eq!(memo.get([key, WIDE]), None);
            }
            assert_eq!(memo.used as u64, n - 1);
            memo.clear();
        }
    }

    #[test]
    fn what_it_keeps_is_limited_and_then_empty() {
        let mut memo = Memo::new(1 << 20);
        (1..5000).for_each(|key| memo.insert([key, 0], known(1.0)).unwrap());
        memo.keep(1 << 20);
        assert_eq!((memo.used, memo.get([7, 0])), (4999, Some(known(1.0))));
        memo.keep(1 << 16);
        assert!(memo.used == 0 && memo.slots.len() == SMALLEST && memo.get([7, 0]).is_none());
        memo.insert([7, 0], known(2.0)).unwrap();
        assert_eq!(memo.get([7, 0]), Some(known(2.0)));
    }

    #[test]
    fn it_never_outgrows_its_limit() {
        let mut memo = Memo::new(65_536);
        let full = (1..100_000).find_map(|key| memo.insert([key, 0], known(0.0)).err());
        assert!(full.is_some_and(|full| full.bytes > 65_536));
        assert!(memo.used <= 1024);
    }
}
