//! Which of a variable's sets are of any use: those of which no subset stands before them.
//!
//! Three ways, by what is cheaper: where sets spread over few variables, one minimum over sub-subsets answers for all of
//! them; otherwise a set looks its own subsets up among those kept so far, or goes through these one by one.

use rustc_hash::FxHashSet;

use crate::exact::bits::Bits;
use crate::exact::subset_dp::{minima, squeeze};

/// Per set, cheapest first, whether no subset of it (nor the same set) stands before it.
pub fn useful<const W: usize>(sets: &[Bits<W>]) -> Vec<bool> {
    let union = sets.iter().fold(Bits::EMPTY, |union, &set| union | set);
    // An entry of the table takes about as long as a comparison; a look-up as long as eight.
    if union.within(Bits::first(64)) && union.len() < 28 && (1 << union.len()) < sets.len() * sets.len() / 4 {
        by_table(sets, union)
    } else {
        one_by_one(sets)
    }
}

fn by_table<const W: usize>(sets: &[Bits<W>], union: Bits<W>) -> Vec<bool> {
    let at: Vec<usize> = sets.iter().map(|set| squeeze(set.word(), union.word())).collect();
    let mut first = vec![i32::MAX as u32; 1 << union.len()];
    for (i, &at) in at.iter().enumerate().rev() {
        first[at] = i as u32;
    }
    minima(&mut first);
    at.iter().enumerate().map(|(i, &at)| first[at] == i as u32).collect()
}

fn one_by_one<const W: usize>(sets: &[Bits<W>]) -> Vec<bool> {
    let (mut kept, mut known) = (Vec::new(), FxHashSet::default());
    let useful = |&set: &Bits<W>| {
        let few = set.len() < 24 && 8 << set.len() < kept.len();
        let dominated = if few {
            subsets(set).any(|subset| known.contains(&subset))
        } else {
            kept.iter().any(|k: &Bits<W>| k.within(set))
        };
        if !dominated {
            kept.push(set);
            known.insert(set);
        }
        !dominated
    };
    sets.iter().map(useful).collect()
}

/// All subsets, the set itself and the empty one among them, each one member away from the one before (Gray code).
fn subsets<const W: usize>(set: Bits<W>) -> impl Iterator<Item = Bits<W>> {
    let members: Vec<usize> = set.iter().collect();
    let mut subset = Bits::EMPTY;
    (0..1u32 << members.len()).map(move |i| {
        if let Some(&member) = members.get(i.trailing_zeros() as usize).filter(|_| i > 0) {
            subset = if subset.has(member) { subset.without(member) } else { subset.with(member) };
        }
        subset
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn literal<const W: usize>(sets: &[Bits<W>]) -> Vec<bool> {
        (0..sets.len()).map(|i| !sets[..i].iter().any(|s| s.within(sets[i]))).collect()
    }

    #[test]
    fn every_way_keeps_what_has_no_subset_before_it() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for round in 0..200 {
            let (n, count) = (random.random_range(1..12), random.random_range(0..400));
            let mut some = || {
                let size = random.random_range(0..=n.min(4 + round % 6));
                (0..size).map(|_| random.random_range(0..n)).collect::<Bits<1>>()
            };
            let sets: Vec<Bits<1>> = (0..count).map(|_| some()).collect();
            let union = sets.iter().fold(Bits::EMPTY, |union, &set| union | set);
            let wide: Vec<Bits<2>> = sets.iter().map(|s| s.iter().map(|i| 10 * i).collect()).collect();
            let expected = literal(&sets);
            assert_eq!(by_table(&sets, union), expected);
            assert_eq!(one_by_one(&sets), expected);
            assert_eq!(useful(&wide), expected);
        }
    }

    #[test]
    fn subsets_are_all_there_once() {
        let all: FxHashSet<Bits<2>> = subsets([1, 64, 70].into_iter().collect()).collect();
        assert_eq!((all.len(), subsets(Bits::<2>::EMPTY).count()), (8, 1));
        assert!(all.iter().all(|s| s.within([1, 64, 70].into_iter().collect())));
    }
}
