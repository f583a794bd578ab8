//! Inequalities that every DAG satisfies: what a choice of sets is worth to a cut, and how much it has to be worth.
//!
//! * A *cluster* C: the sets in C's variables that avoid C are worth 1; some variable of C takes one, so 1 is needed.
//! * A *block* B of a few variables: a set in one of them is worth what a table says for its members in B. What the
//!   choices of a DAG are worth at least is the cheapest order of B's variables under the table, found by dynamic
//!   programming, so any table of whole numbers makes a valid cut and no table can make a wrong one. Supersets are
//!   worth no more than what they contain lets an order take, which the program sees to.

use std::sync::Arc;

use crate::exact::bits::Bits;

/// Blocks have at most so many variables.
pub const MOST_MEMBERS: usize = 10;

/// An inequality with whole coefficients, none negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cut<const W: usize> {
    members: Bits<W>,
    block: Option<Arc<Block>>,
}

/// What sets are worth to a block.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// Per member, ascending, and per subset of the block (bit i is the i-th member), what a set with just these
    /// members of the block is worth.
    pub worth: Vec<Vec<u32>>,
    need: u32,
}

impl Block {
    /// The block of a table; None where nothing is needed, so that it would say nothing.
    pub fn new(worth: Vec<Vec<u32>>) -> Option<Self> {
        let need = cheapest_order(&worth, u32::MAX, u32::saturating_add);
        (need > 0 && need < u32::MAX).then_some(Self { worth, need })
    }
}

/// The least sum over the orders of a block, where each member pays for its cheapest subset of those before it.
pub fn cheapest_order<T: Copy + PartialOrd + Default>(pay: &[Vec<T>], never: T, add: impl Fn(T, T) -> T) -> T {
    let size = pay.len();
    let mut within: Vec<Vec<T>> = pay.to_vec();
    for (v, own) in within.iter_mut().enumerate() {
        least_within(own, v, never);
    }
    let mut total = vec![never; 1 << size];
    total[0] = T::default();
    for placed in 1..1usize << size {
        for (v, own) in within.iter().enumerate().filter(|(v, _)| placed >> v & 1 == 1) {
            let before = placed & !(1 << v);
            let sum = add(total[before], own[before]);
            if sum < total[placed] {
                total[placed] = sum;
            }
        }
    }
    total[(1 << size) - 1]
}

/// Makes each entry the least over its subsets; a set cannot hold its own variable v.
pub fn least_within<T: Copy + PartialOrd>(pay: &mut [T], v: usize, never: T) {
    for (set, value) in pay.iter_mut().enumerate() {
        if set >> v & 1 == 1 {
            *value = never;
        }
    }
    for bit in 0..pay.len().trailing_zeros() {
        for set in 0..pay.len() {
            if set >> bit & 1 == 1 && pay[set ^ 1 << bit] < pay[set] {
                pay[set] = pay[set ^ 1 << bit];
            }
        }
    }
}

impl<const W: usize> Cut<W> {
    /// How many bytes it takes, its table with it.
    pub fn bytes(&self) -> usize {
        let table = |block: &Arc<Block>| block.worth.iter().map(|row| row.capacity() * size_of::<u32>()).sum::<usize>();
        size_of::<Self>() + self.block.as_ref().map_or(0, table)
    }

    /// The cluster of some variables.
    pub fn cluster(members: Bits<W>) -> Self {
        Self { members, block: None }
    }

    /// A block of some variables.
    pub fn block(members: Bits<W>, block: Block) -> Self {
        Self { members, block: Some(Arc::new(block)) }
    }

    /// Its variables.
    pub fn members(&self) -> Bits<W> {
        self.members
    }

    /// The block's table; None for a cluster.
    pub fn table(&self) -> Option<&Block> {
        self.block.as_deref()
    }

    /// What the choices of a DAG are worth at least.
    pub fn need(&self) -> i64 {
        self.block.as_ref().map_or(1, |block| i64::from(block.need))
    }

    /// All that a set can be worth in one of the cut's variables, above 0, ascending.
    pub fn worths(&self, v: usize) -> Vec<i64> {
        let Some(block) = &self.block else { return vec![1] };
        let place = self.members.iter().take_while(|&u| u < v).count();
        let mut all: Vec<i64> = block.worth[place].iter().map(|&w| i64::from(w)).filter(|&w| w > 0).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What a set is worth in one of the cut's variables.
    pub fn worth(&self, v: usize, set: Bits<W>) -> i64 {
        match &self.block {
            None => i64::from(!self.members.meets(set)),
            Some(block) => {
                let (mut inside, mut place) = (0, 0);
                for (i, u) in self.members.iter().enumerate() {
                    inside |= usize::from(set.has(u)) << i;
                    if u == v {
                        place = i;
                    }
                }
                i64::from(block.worth[place][inside])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_variables_cannot_all_have_both_others_or_nearly_so() {
        // Worth 1 with at most one of the others: the first two of any order are.
        let worth = (0..3).map(|v| (0..8u32).map(|s| u32::from((s & !(1 << v)).count_ones() < 2)).collect()).collect();
        let block = Block::new(worth).expect("says something");
        assert_eq!(block.need, 2);
        let cut = Cut::<1>::block([3, 5, 9].into_iter().collect(), block);
        assert_eq!(cut.worth(5, [3, 9].into_iter().collect()), 0);
        assert_eq!(cut.worth(5, [3, 7].into_iter().collect()), 1);
        assert_eq!(cut.worth(9, Bits::one(40)), 1);
    }

    #[test]
    fn what_is_needed_is_the_least_over_all_orders() {
        // Of random tables, the program against all 24 orders with all subsets of those before.
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 60) as u32
        };
        for _ in 0..200 {
            let worth: Vec<Vec<u32>> = (0..4).map(|_| (0..16).map(|_| random()).collect()).collect();
            let mut least = u32::MAX;
            for code in 0..256 {
                let order: Vec<usize> = (0..4).map(|i| code >> (2 * i) & 3).collect();
                if (0..4).all(|v| order.contains(&v)) {
                    let pays = order.iter().enumerate().map(|(at, &v)| {
                        let before: usize = order[..at].iter().map(|u| 1 << u).sum();
                        (0..16).filter(|set| set & !before == 0).map(|set| worth[v][set]).min().expect("the empty set")
                    });
                    least = least.min(pays.sum());
                }
            }
            assert_eq!(Block::new(worth).map_or(0, |block| block.need), least);
        }
    }
}
