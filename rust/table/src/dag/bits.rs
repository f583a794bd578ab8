//! Sets of variables as words of 64 bits, and square matrices of them (row i: a set).

/// Number of words for a set over `n` elements.
#[inline]
pub fn n_words(n: usize) -> usize {
    n.div_ceil(64)
}

/// A set holding the given elements, over a universe of `n`.
pub fn set_of(n: usize, elements: impl IntoIterator<Item = usize>) -> Vec<u64> {
    let mut set = vec![0; n_words(n)];
    for element in elements {
        insert(&mut set, element);
    }
    set
}

/// True if the element is in the set.
#[inline]
pub fn contains(set: &[u64], element: usize) -> bool {
    set[element / 64] >> (element % 64) & 1 == 1
}

/// Puts an element in.
#[inline]
pub fn insert(set: &mut [u64], element: usize) {
    set[element / 64] |= 1 << (element % 64);
}

/// Takes an element out.
#[inline]
pub fn remove(set: &mut [u64], element: usize) {
    set[element / 64] &= !(1 << (element % 64));
}

/// True if the sets share an element.
#[inline]
pub fn intersect(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(x, y)| x & y != 0)
}

/// True if every element of `a` is in `b`.
#[inline]
pub fn is_subset(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x & !y == 0)
}

/// True without any element.
#[inline]
pub fn is_empty(set: &[u64]) -> bool {
    set.iter().all(|&word| word == 0)
}

/// Number of elements.
#[inline]
pub fn len(set: &[u64]) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}

/// Adds every element of `b` to `a`.
#[inline]
pub fn union_with(a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x |= y;
    }
}

/// Takes every element of `b` out of `a`.
#[inline]
pub fn remove_all(a: &mut [u64], b: &[u64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x &= !y;
    }
}

/// The elements in ascending order.
#[inline]
pub fn ones(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(i, &word)| {
        std::iter::successors((word != 0).then_some(word), |w| {
            let rest = w & (w - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |w| i * 64 + w.trailing_zeros() as usize)
    })
}

/// A square matrix of bits; row `i` is a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitMatrix {
    n: usize,
    width: usize,
    words: Vec<u64>,
}

impl BitMatrix {
    /// All rows empty.
    pub fn new(n: usize) -> Self {
        let width = n_words(n);
        Self { n, width, words: vec![0; n * width] }
    }

    /// Every row full but for its own element.
    pub fn complete(n: usize) -> Self {
        let mut out = Self::new(n);
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                out.insert(i, j);
            }
        }
        out
    }

    /// Number of rows.
    #[inline]
    pub fn n(&self) -> usize {
        self.n
    }

    /// One row.
    #[inline]
    pub fn row(&self, i: usize) -> &[u64] {
        &self.words[i * self.width..(i + 1) * self.width]
    }

    /// One row, to change.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [u64] {
        &mut self.words[i * self.width..(i + 1) * self.width]
    }

    /// The elements of a row, ascending.
    #[inline]
    pub fn iter(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(i))
    }

    /// Whether row `i` holds `j`.
    #[inline]
    pub fn contains(&self, i: usize, j: usize) -> bool {
        contains(self.row(i), j)
    }

    /// Puts `j` in row `i`.
    #[inline]
    pub fn insert(&mut self, i: usize, j: usize) {
        insert(self.row_mut(i), j);
    }

    /// Takes `j` out of row `i`.
    #[inline]
    pub fn remove(&mut self, i: usize, j: usize) {
        remove(self.row_mut(i), j);
    }

    /// Adds row `from` to row `into`.
    #[inline]
    pub fn union_rows(&mut self, into: usize, from: usize) {
        for w in 0..self.width {
            let word = self.words[from * self.width + w];
            self.words[into * self.width + w] |= word;
        }
    }

    /// Number of elements in all rows.
    #[inline]
    pub fn len(&self) -> usize {
        len(&self.words)
    }

    /// True without any element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        is_empty(&self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_ascending_over_words() {
        let set = set_of(200, [199, 0, 64, 63, 128]);
        assert_eq!(ones(&set).collect::<Vec<_>>(), [0, 63, 64, 128, 199]);
        assert_eq!(len(&set), 5);
    }

    #[test]
    fn set_algebra_is_that_of_sets() {
        let (a, b) = (set_of(130, [1, 70, 129]), set_of(130, [70, 129]));
        assert!(is_subset(&b, &a) && !is_subset(&a, &b) && intersect(&a, &b));
        let mut c = a.clone();
        remove_all(&mut c, &b);
        assert_eq!(c, set_of(130, [1]));
        union_with(&mut c, &b);
        assert_eq!(c, a);
        assert!(is_empty(&set_of(130, [])));
    }
}
