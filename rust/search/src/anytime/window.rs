//! The best arrangement of consecutive variables, exactly: subset dynamic programming inside a window of the order.
//!
//! What stands before the window is available to everybody in it, what stands after to nobody, so the rest of the order
//! keeps its sets whatever happens inside. The variables fall into components (who could use whom, there and back); in
//! the order of the components each may have all it wants from earlier ones, so only cycles inside a component cost, and
//! most are single variables. Per variable of a component the first rank usable with each subset comes from one pass over
//! its sets and a min-transform over subsets (Silander and Myllymaki 2006): O(w^2 2^w) for w variables.

use super::order::Order;

/// Buffers for windows of one size.
pub struct Window {
    size: usize,
    /// Sets usable in the window: the members inside as bits, and the rank; per variable up to the first without any.
    usable: Vec<Vec<(u32, u32)>>,
    /// Per variable of a component, by subset: the lowest rank whose parents in the component are within it.
    ranks: Vec<u32>,
    losses: Vec<f64>,
    best: Vec<f64>,
    last: Vec<u8>,
}

impl Window {
    /// For windows of `size` variables.
    pub fn new(size: usize) -> Self {
        Self { size, usable: vec![vec![]; size], ranks: vec![], losses: vec![], best: vec![], last: vec![] }
    }

    /// Number of variables.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Arranges the window that starts at a place; false if it was at its best.
    pub fn improve(&mut self, at: &mut Order<'_>, start: usize) -> bool {
        let variables: Vec<u32> = at.order()[start..start + self.size].to_vec();
        let loss = |i: usize, rank: u32| at.pool().child(variables[i] as usize).loss(rank);
        let now: f64 = (0..self.size).map(|i| loss(i, at.ranks()[variables[i] as usize])).sum();
        let (mut within, mut wished) = (vec![0; self.size], 0.0);
        for (i, &v) in variables.iter().enumerate() {
            self.look(at, start, i, v as usize);
            within[i] = self.usable[i].iter().fold(0, |union, set| union | set.0);
            wished += loss(i, self.usable[i][0].1);
        }
        let least = at.pool().least(now);
        if wished <= now + least {
            return false;
        }
        let (mut arranged, mut ranks, mut total) = (vec![], vec![], 0.0);
        for component in components(&within) {
            total += self.solve(&component, loss);
            let from = arranged.len();
            let mut subset = (1_usize << component.len()) - 1;
            while subset != 0 {
                let i = self.last[subset] as usize;
                subset ^= 1 << i;
                arranged.push(variables[component[i]]);
                ranks.push(self.ranks[(i << component.len()) + subset]);
            }
            arranged[from..].reverse();
            ranks[from..].reverse();
        }
        if total <= now + least {
            return false;
        }
        at.arrange(start, &arranged, &ranks);
        true
    }

    fn look(&mut self, at: &Order<'_>, start: usize, i: usize, v: usize) {
        let (end, child, usable) = (start + self.size, at.pool().child(v), &mut self.usable[i]);
        usable.clear();
        for rank in 0..child.len() {
            let places = || child.set(rank).iter().map(|&p| at.place(p as usize) as usize);
            if places().all(|place| place < end) {
                let mask = places().filter(|&place| place >= start).fold(0, |mask, place| mask | 1 << (place - start));
                usable.push((mask, rank));
                if mask == 0 {
                    break; // usable with every subset: no later rank is the first anywhere
                }
            }
        }
    }

    /// The least loss of a component, all earlier ones available.
    fn solve(&mut self, component: &[usize], loss: impl Fn(usize, u32) -> f64) -> f64 {
        let size = component.len();
        let full = (1_usize << size) - 1;
        self.ranks.resize(size << size, 0);
        self.losses.resize(size << size, 0.0);
        self.best.resize(full + 1, 0.0);
        self.last.resize(full + 1, 0);
        for (i, &v) in component.iter().enumerate() {
            let table = &mut self.ranks[i << size..(i + 1) << size];
            table.fill(u32::MAX);
            for &(mask, rank) in &self.usable[v] {
                let inside = component.iter().enumerate().fold(0, |m, (j, &u)| m | (mask as usize >> u & 1) << j);
                table[inside] = table[inside].min(rank);
                if inside == 0 {
                    break;
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
            let losses = &mut self.losses[i << size..(i + 1) << size];
            for (half, (losses, ranks)) in losses.chunks_exact_mut(1 << i).zip(table.chunks_exact(1 << i)).enumerate() {
                if half % 2 == 0 {
                    for (l, &rank) in losses.iter_mut().zip(ranks) {
                        *l = loss(v, rank);
                    }
                }
            }
        }
        self.best[0] = 0.0;
        for subset in 1..=full {
            let (mut best, mut last) = (f64::NEG_INFINITY, 0);
            let mut rest = subset;
            while rest != 0 {
                let i = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let before = subset ^ (1 << i);
                let score = self.best[before] + self.losses[(i << size) + before];
                if score > best {
                    (best, last) = (score, i);
                }
            }
            (self.best[subset], self.last[subset]) = (best, last as u8);
        }
        self.best[full]
    }
}

/// The strongly connected components of "may use" (row i: bits of what i may use), used ones before their users.
fn components(may_use: &[u32]) -> Vec<Vec<usize>> {
    let n = may_use.len();
    let mut reach = may_use.to_vec();
    for middle in 0..n {
        let via = reach[middle];
        for row in &mut reach {
            if *row >> middle & 1 == 1 {
                *row |= via;
            }
        }
    }
    let mut leaders: Vec<usize> = vec![];
    let mut out: Vec<Vec<usize>> = vec![];
    for i in 0..n {
        let known = leaders.iter().position(|&l| reach[i] >> l & 1 == 1 && reach[l] >> i & 1 == 1);
        if let Some(c) = known {
            out[c].push(i);
        } else {
            leaders.push(i);
            out.push(vec![i]);
        }
    }
    // Who reaches more comes later: a user reaches all that what it uses reaches, and that too.
    out.sort_by_key(|component| ((reach[component[0]] | 1 << component[0]).count_ones(), component[0]));
    out
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_come_after_what_they_use() {
        // 0 uses 3, 3 uses 0 and 1, 1 uses 2, 4 uses nothing.
        let expected = [vec![2], vec![4], vec![1], vec![0, 3]];
        assert_eq!(components(&[1 << 3, 1 << 2, 0, 0b11, 0]), expected);
    }
}
