//! The points of a cell, those of its left side first.

use super::super::response::{Point, Response};

/// Puts the points that share no bit with `right` first; returns how many they are.
#[inline]
pub(super) fn parted<R: Response>(points: &mut [Point<R::Sum>], right: u64) -> usize {
    #[cfg(target_arch = "x86_64")]
    if R::DENSE && size_of::<Point<R::Sum>>() % WORD == 0 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked, and there is a number in each byte of a point.
        #[allow(unsafe_code)]
        return unsafe { in_wide_registers(points, right) };
    }
    one_by_one(points, right)
}

fn one_by_one<S>(points: &mut [Point<S>], right: u64) -> usize {
    let mut n_left = 0;
    // Without branches, which nothing could predict: between the left ones and `i` are those that go right.
    for i in 0..points.len() {
        let goes_left = points[i].key & right == 0;
        points.swap(n_left, i);
        n_left += usize::from(goes_left);
    }
    n_left
}

/// Bytes of a number, and of wide registers.
#[cfg(target_arch = "x86_64")]
const WORD: usize = 8;
#[cfg(target_arch = "x86_64")]
const HALF: usize = 16;
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 32;

/// The same, step by step, in registers: `swap` moves a point in parts by way of the stack, which takes three times as long.
///
/// # Safety
/// All bytes of a point must hold something.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // registers are loaded and stored through pointers
#[allow(clippy::cast_ptr_alignment)] // by instructions that need none
#[target_feature(enable = "avx2")]
unsafe fn in_wide_registers<S>(points: &mut [Point<S>], right: u64) -> usize {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256,
    };
    let size = size_of::<Point<S>>();
    assert_eq!(size % WORD, 0);
    let (wide, half) = (size - size % WIDE, size - size % HALF);
    let (at, n) = (points.as_mut_ptr(), points.len());
    let mut n_left = 0;
    for i in 0..n {
        // SAFETY: `n_left <= i < n`, and the bytes of the two points are exchanged, each once.
        unsafe {
            let goes_left = (*at.add(i)).key & right == 0;
            let (here, first) = (at.add(i).cast::<u8>(), at.add(n_left).cast::<u8>());
            let mut from = 0;
            while from < wide {
                let (here, first) = (here.add(from).cast::<__m256i>(), first.add(from).cast::<__m256i>());
                let (one, two) = (_mm256_loadu_si256(here), _mm256_loadu_si256(first));
                _mm256_storeu_si256(first, one);
                _mm256_storeu_si256(here, two);
                from += WIDE;
            }
            if wide < half {
                let (here, first) = (here.add(wide).cast::<__m128i>(), first.add(wide).cast::<__m128i>());
                let (one, two) = (_mm_loadu_si128(here), _mm_loadu_si128(first));
                _mm_storeu_si128(first, one);
                _mm_storeu_si128(here, two);
            }
            if half < size {
                let (here, first) = (here.add(half).cast::<u64>(), first.add(half).cast::<u64>());
                let (one, two) = (here.read_unaligned(), first.read_unaligned());
                first.write_unaligned(one);
                here.write_unaligned(two);
            }
            n_left += usize::from(goes_left);
        }
    }
    n_left
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use std::fmt::Debug;
    use std::sync::Arc;

    use super::super::super::response::{Counts, Held, LineRows, Lines, Pointed, Weighed};
    use super::*;
    use crate::leaf::{CountLeaf, Normal, Shares, n_sums};

    /// Compares both ways, of points that hold these values.
    fn is_the_same<R: Response>(response: &R, keys: &[u64], right: u64, value: impl Fn(usize) -> R::Value) -> usize
    where
        R::Sum: PartialEq + Debug,
    {
        assert!(R::DENSE && size_of::<Point<R::Sum>>() % WORD == 0);
        let points = || -> Vec<Point<R::Sum>> {
            let point = |(i, &key): (usize, &u64)| {
                let mut sum = response.zero();
                response.observe(&mut sum, value(i));
                Point { key, sum }
            };
            keys.iter().enumerate().map(point).collect()
        };
        let (mut wide, mut plain) = (points(), points());
        let n_left = parted::<R>(&mut wide, right);
        assert_eq!(n_left, one_by_one(&mut plain, right));
        let seen = |points: Vec<Point<R::Sum>>| -> Vec<_> { points.into_iter().map(|p| (p.key, p.sum)).collect() };
        assert!(wide[..n_left].iter().all(|point| point.key & right == 0));
        assert_eq!(seen(wide), seen(plain));
        n_left
    }

    proptest! {
        #[test]
        fn wide_registers_leave_the_same_points_in_the_same_places(
            keys in prop::collection::vec(0..16_u64, 0..40),
            bit in 0..4_u32,
        ) {
            let n_left = keys.iter().filter(|&&key| key >> bit & 1 == 0).count();
            let numbers = |i: usize| (i as f64, 1.0);
            let weighed = Weighed::new(&Normal::default());
            prop_assert_eq!(is_the_same(&weighed, &keys, 1 << bit, numbers), n_left);
            // Points that are no multiple of the widest register.
            let leaf = CountLeaf::new(2.0, None, [0.0, 1.0], 40);
            let rows = (0..40).map(|i| leaf.row(f64::from(i), 1.0)).collect();
            prop_assert_eq!(is_the_same(&Counts::new(leaf, rows), &keys, 1 << bit, |i| i as u32), n_left);
            let pointed = Pointed::new(weighed, Shares::new(0.5, 0.0, 40));
            let held = |i: usize| if i.is_multiple_of(3) { Held::Shared(1.0) } else { Held::Other(numbers(i)) };
            prop_assert_eq!(is_the_same(&pointed, &keys, 1 << bit, held), n_left);
            let y: Vec<f64> = (0..40).map(f64::from).collect();
            let rows = Arc::new(LineRows { x: vec![Some(y.clone())], y, ..LineRows::default() });
            let mut lines = Lines::<{ n_sums(1) }>::new(&Normal::default(), rows);
            lines.read(&[0]);
            prop_assert_eq!(is_the_same(&lines, &keys, 1 << bit, |i| i as u32), n_left);
        }
    }
}
