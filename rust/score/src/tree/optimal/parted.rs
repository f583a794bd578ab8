//! The points of a cell, those of its left side first.

use super::super::response::{Point, Response};

/// Puts the points that share no bit with `right` first; returns how many they are.
#[inline]
pub(super) fn parted<R: Response>(points: &mut [Point<R::Sum>], right: u64) -> usize {
    #[cfg(target_arch = "x86_64")]
    if R::DENSE && size_of::<Point<R::Sum>>() == WIDE && std::arch::is_x86_feature_detected!("avx2") {
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

/// Bytes of a wide register.
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 32;

/// The same, step by step, where a point is as large as a register: `swap` moves it in parts by way of the stack, which takes
/// three times as long.
///
/// # Safety
/// All bytes of a point must hold something.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // registers are loaded and stored through pointers
#[allow(clippy::cast_ptr_alignment)] // by instructions that need none
#[target_feature(enable = "avx2")]
unsafe fn in_wide_registers<S>(points: &mut [Point<S>], right: u64) -> usize {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
    assert_eq!(size_of::<Point<S>>(), WIDE);
    let (at, n) = (points.as_mut_ptr(), points.len());
    let mut n_left = 0;
    for i in 0..n {
        // SAFETY: `n_left <= i < n`, a point is as large as a register, and the two are exchanged whole.
        unsafe {
            let goes_left = (*at.add(i)).key & right == 0;
            let (here, first) = (at.add(i).cast::<__m256i>(), at.add(n_left).cast::<__m256i>());
            let (one, two) = (_mm256_loadu_si256(here), _mm256_loadu_si256(first));
            _mm256_storeu_si256(first, one);
            _mm256_storeu_si256(here, two);
            n_left += usize::from(goes_left);
        }
    }
    n_left
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use super::super::super::response::{Weighed, WeighedSum};
    use super::*;

    proptest! {
        #[test]
        fn wide_registers_leave_the_same_points_in_the_same_places(
            keys in prop::collection::vec(0..16_u64, 0..40),
            bit in 0..4_u32,
        ) {
            let points = || -> Vec<Point<WeighedSum>> {
                let number = |(i, &key): (usize, &u64)| {
                    let sum = i as f64;
                    Point { key, sum: WeighedSum { n: 1.0, sum, squares: sum * sum } }
                };
                keys.iter().enumerate().map(number).collect()
            };
            let (mut wide, mut plain) = (points(), points());
            let n_left = parted::<Weighed>(&mut wide, 1 << bit);
            prop_assert_eq!(n_left, one_by_one(&mut plain, 1 << bit));
            prop_assert_eq!(n_left, keys.iter().filter(|&&key| key >> bit & 1 == 0).count());
            let seen = |points: &[Point<WeighedSum>]| -> Vec<_> { points.iter().map(|p| (p.key, p.sum)).collect() };
            prop_assert_eq!(seen(&wide), seen(&plain));
            prop_assert!(wide[..n_left].iter().all(|point| point.key >> bit & 1 == 0));
        }
    }
}
