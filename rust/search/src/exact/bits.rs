//! Sets of variables as machine words: one word up to 64 variables, more where a component is larger.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of numbers below `64 * W`. Sets order and hash like the number their bits spell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Bits<W> {
    /// The empty set.
    pub const EMPTY: Self = Self([0; W]);

    /// The numbers below n.
    pub fn first(n: usize) -> Self {
        (0..n).collect()
    }

    /// The set of one number.
    pub fn one(i: usize) -> Self {
        let mut words = [0; W];
        words[i / 64] = 1 << (i % 64);
        Self(words)
    }

    /// True if the set has the number.
    #[inline]
    pub fn has(self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    /// With the number.
    #[inline]
    #[must_use]
    pub fn with(mut self, i: usize) -> Self {
        self.0[i / 64] |= 1 << (i % 64);
        self
    }

    /// Without the number.
    #[inline]
    #[must_use]
    pub fn without(mut self, i: usize) -> Self {
        self.0[i / 64] &= !(1 << (i % 64));
        self
    }

    /// What this set has and the other has not.
    #[inline]
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self & !other
    }

    /// True without any number.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// True if the other set has all of this one.
    #[inline]
    pub fn within(self, other: Self) -> bool {
        self.minus(other).is_empty()
    }

    /// True if the two have a number in common.
    #[inline]
    pub fn meets(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    /// How many numbers there are.
    #[inline]
    pub fn len(self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// True with no number or one.
    #[inline]
    pub fn at_most_one(self) -> bool {
        let mut seen = 0;
        let mut more = 0;
        for w in self.0 {
            more |= (w & w.wrapping_sub(1)) | if seen == 0 { 0 } else { w };
            seen |= w;
        }
        more == 0
    }

    /// The smallest number.
    #[inline]
    pub fn lowest(self) -> Option<usize> {
        self.0.iter().position(|&w| w != 0).map(|i| i * 64 + self.0[i].trailing_zeros() as usize)
    }

    /// The numbers, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    i * 64 + bit
                })
            })
        })
    }

    /// The first word: the whole set where W is 1.
    pub fn word(self) -> u64 {
        self.0[0]
    }
}

impl<const W: usize> PartialOrd for Bits<W> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<const W: usize> Ord for Bits<W> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl<const W: usize> FromIterator<usize> for Bits<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        numbers.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl<const W: usize> BitAnd for Bits<W> {
    type Output = Self;
    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self &= other;
        self
    }
}

impl<const W: usize> BitAndAssign for Bits<W> {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a &= b;
        }
    }
}

impl<const W: usize> BitOr for Bits<W> {
    type Output = Self;
    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl<const W: usize> BitOrAssign for Bits<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
}

impl<const W: usize> Not for Bits<W> {
    type Output = Self;
    #[inline]
    fn not(mut self) -> Self {
        for word in &mut self.0 {
            *word = !*word;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave_as_sets_across_word_borders() {
        let set: Bits<2> = [3, 63, 64, 100].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 64, 100]);
        assert_eq!((set.len(), set.lowest(), set.has(64), set.has(65)), (4, Some(3), true, false));
        assert!(set.without(3).within(set) && !set.within(set.without(100)));
        assert!(set.meets(Bits::one(63)) && !set.meets(!set));
        assert_eq!(set.minus(Bits::first(64)), [64, 100].into_iter().collect());
        assert!(Bits::<2>::one(64) > Bits::first(64));
        assert_eq!(Bits::<2>::EMPTY.lowest(), None);
    }
}
