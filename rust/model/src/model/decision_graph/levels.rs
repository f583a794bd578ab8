//! A set of levels of one variable, as bits; up to 64 levels stay off the heap.

use smallvec::SmallVec;

/// A set of codes below some number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Levels(SmallVec<[u64; 1]>);

impl Levels {
    /// No level of `k`.
    #[inline]
    pub fn none(k: usize) -> Self {
        Self(SmallVec::from_elem(0, k.div_ceil(64).max(1)))
    }

    /// All of `k` levels.
    #[inline]
    pub fn all(k: usize) -> Self {
        Self::of(k, 0..k as u32)
    }

    /// These of `k` levels.
    #[inline]
    pub fn of(k: usize, codes: impl IntoIterator<Item = u32>) -> Self {
        let mut out = Self::none(k);
        for code in codes {
            out.0[code as usize / 64] |= 1 << (code % 64);
        }
        out
    }

    /// Whether a code is among them.
    #[inline]
    pub fn contains(&self, code: u32) -> bool {
        self.0[code as usize / 64] >> (code % 64) & 1 == 1
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The codes, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(i as u32 * 64 + bit)
            })
        })
    }

    fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(&a, &b)| with(a, b)).collect())
    }

    /// Those in both.
    #[must_use]
    #[inline]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Those in either.
    #[must_use]
    #[inline]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Those that the other does not hold.
    #[must_use]
    #[inline]
    pub fn without(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether no level is in both.
    #[inline]
    pub fn disjoint(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(&a, &b)| a & b == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_many_levels_act_as_sets() {
        let (k, odd) = (200, |c: &u32| c % 2 == 1);
        let odds = Levels::of(k, (0..200).filter(odd));
        let low = Levels::of(k, 0..70);
        assert_eq!(odds.and(&low).iter().collect::<Vec<_>>(), (0..70).filter(odd).collect::<Vec<_>>());
        assert_eq!(odds.or(&low).len(), 70 + 65);
        assert_eq!(Levels::all(k).without(&odds).len(), 100);
        assert!(odds.without(&odds).is_empty() && odds.disjoint(&Levels::all(k).without(&odds)));
        assert!(odds.contains(199) && !odds.contains(198));
    }
}
