//! An open-addressing table from cell keys to scores, reused between parent sets.

/// Scores by nonzero key.
#[derive(Debug)]
pub struct Memo {
    slots: Vec<(u64, f64)>,
    shift: u32,
    used: usize,
    max_slots: usize,
}

/// The table would outgrow what it was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// Bytes that the next size would take.
    pub bytes: u64,
}

const SLOT: usize = size_of::<(u64, f64)>();
const SMALLEST: u32 = 8;

impl Memo {
    /// Empty, never to hold more than `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        let max_slots = usize::try_from(max_bytes).unwrap_or(usize::MAX) / SLOT;
        Self { slots: vec![(0, 0.0); 1 << SMALLEST], shift: 64 - SMALLEST, used: 0, max_slots }
    }

    /// Forgets everything and makes room for about as much as was forgotten.
    pub fn clear(&mut self) {
        let log2 = (4 * self.used).next_power_of_two().trailing_zeros().max(SMALLEST);
        let len = (1_usize << log2).min(self.slots.len());
        // Memory of a set far larger than the others is given back.
        self.slots.truncate(len);
        if self.slots.capacity() > 64 * len {
            self.slots.shrink_to_fit();
        }
        self.slots.fill((0, 0.0));
        self.shift = 64 - len.trailing_zeros();
        self.used = 0;
    }

    /// Number of keys held.
    pub fn len(&self) -> usize {
        self.used
    }

    /// True without keys.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    fn slot(&self, key: u64) -> usize {
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        let mask = self.slots.len() - 1;
        loop {
            let held = self.slots[at & mask].0;
            if held == key || held == 0 {
                return at & mask;
            }
            at += 1;
        }
    }

    /// The score of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<f64> {
        let (held, value) = self.slots[self.slot(key)];
        (held == key).then_some(value)
    }

    /// Remembers the score of a key that was not held.
    ///
    /// # Errors
    /// `Full` if the table would have to outgrow its limit.
    #[inline]
    pub fn insert(&mut self, key: u64, value: f64) -> Result<(), Full> {
        if 2 * (self.used + 1) > self.slots.len() {
            self.grow()?;
        }
        let at = self.slot(key);
        self.slots[at] = (key, value);
        self.used += 1;
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let len = self.slots.len() * 4;
        if len > self.max_slots {
            return Err(Full { bytes: (len * SLOT) as u64 });
        }
        let old = std::mem::replace(&mut self.slots, vec![(0, 0.0); len]);
        self.shift = 64 - len.trailing_zeros();
        for (key, value) in old {
            if key != 0 {
                let at = self.slot(key);
                self.slots[at] = (key, value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out_also_after_growing_and_clearing() {
        let mut memo = Memo::new(1 << 20);
        for round in 0..3_u64 {
            for key in 1..5000 {
                assert_eq!(memo.get(key), None);
                memo.insert(key, (key + round) as f64).unwrap();
            }
            for key in 1..5000 {
                assert_eq!(memo.get(key), Some((key + round) as f64));
            }
            assert_eq!(memo.len(), 4999);
            memo.clear();
        }
    }

    #[test]
    fn it_never_outgrows_its_limit() {
        let mut memo = Memo::new(16_384);
        let full = (1..10_000).find_map(|key| memo.insert(key, 0.0).err());
        assert!(full.is_some_and(|full| full.bytes > 16_384));
        assert!(memo.len() <= 1024);
    }
}
