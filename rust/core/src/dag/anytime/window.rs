//! The best arrangement of consecutive variables, exactly: subset dynamic programming inside a window of the order.
//!
//! What stands before the window is available to everybody in it, what stands after to nobody, so the rest of the order
//! keeps its sets whatever happens inside. Per variable the first rank usable with each subset of the window comes from
//! one pass over its sets and a min-transform over subsets (Silander and Myllymaki 2006): O(w^2 2^w) for w variables.

use super::order::{LEAST, Order};

/// Buffers for windows of one size.
pub struct Window {
    size: usize,
    /// Per variable of the window, by subset: the lowest rank whose parents in the window are within it.
    ranks: Vec<u32>,
    best: Vec<f64>,
    last: Vec<u8>,
}

impl Window {
    /// For windows of `size` variables.
    pub fn new(size: usize) -> Self {
        Self { size, ranks: vec![0; size << size], best: vec![0.0; 1 << size], last: vec![0; 1 << size] }
    }

    /// Number of variables.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Arranges the window that starts at a place; false if it was at its best.
    pub fn improve(&mut self, at: &mut Order<'_>, start: usize) -> bool {
        let (size, full) = (self.size, (1_usize << self.size) - 1);
        let variables: Vec<u32> = at.order()[start..start + size].to_vec();
        for (i, &v) in variables.iter().enumerate() {
            self.fill(at, start, i, v as usize);
        }
        self.best[0] = 0.0;
        for subset in 1..=full {
            let mut best = (f64::NEG_INFINITY, 0);
            let mut rest = subset;
            while rest != 0 {
                let i = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let before = subset ^ (1 << i);
                let rank = self.ranks[(i << size) + before];
                let score = self.best[before] + at.pool().child(variables[i] as usize).loss(rank);
                if score > best.0 {
                    best = (score, i);
                }
            }
            (self.best[subset], self.last[subset]) = (best.0, best.1 as u8);
        }
        let now: f64 = variables.iter().map(|&v| at.pool().child(v as usize).loss(at.ranks()[v as usize])).sum();
        if self.best[full] <= now + LEAST {
            return false;
        }
        let (mut arranged, mut ranks) = (vec![0; size], vec![0; size]);
        let mut subset = full;
        for slot in (0..size).rev() {
            let i = self.last[subset] as usize;
            subset ^= 1 << i;
            (arranged[slot], ranks[slot]) = (variables[i], self.ranks[(i << size) + subset]);
        }
        at.arrange(start, &arranged, &ranks);
        true
    }

    fn fill(&mut self, at: &Order<'_>, start: usize, i: usize, v: usize) {
        let (size, child) = (self.size, at.pool().child(v));
        let table = &mut self.ranks[i << size..(i + 1) << size];
        table.fill(u32::MAX);
        for rank in 0..child.len() {
            let places = || child.set(rank).iter().map(|&p| at.place(p as usize) as usize);
            if places().all(|place| place < start + size) {
                let mask = places().filter(|&place| place >= start).fold(0, |mask, place| mask | 1 << (place - start));
                table[mask] = table[mask].min(rank);
                if mask == 0 {
                    break; // usable with every subset: no later rank is the first anywhere
                }
            }
        }
        for bit in (0..size).filter(|&bit| bit != i) {
            for block in table.chunks_exact_mut(2 << bit) {
                let (without, with) = block.split_at_mut(1 << bit);
                for (w, wo) in with.iter_mut().zip(without) {
                    *w = (*w).min(*wo);
                }
            }
        }
    }
}
