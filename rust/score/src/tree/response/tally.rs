//! One pass over the points of a cell for several halvings at once, each in a lane of its own.

use super::numbers::NumberSum;
use super::{LANES, Point};

/// Sums over the right sides of several halvings.
#[derive(Debug, PartialEq)]
pub struct Tally {
    /// Points.
    pub points: [u64; LANES],
    /// Rows.
    pub n: [u64; LANES],
    /// Their sums.
    pub sum: [f64; LANES],
    /// And those of their squares.
    pub squares: [f64; LANES],
    /// Unions left and right, intersections left and right.
    pub keys: [[u64; LANES]; 4],
}

impl Tally {
    /// A point whose key has a lane's bit goes right.
    pub fn of(points: &[Point<NumberSum>], bits: [u64; LANES]) -> Self {
        let (zeros, ones) = ([0; LANES], [u64::MAX; LANES]);
        let numbers = [0.0; LANES];
        let mut t = Self { points: zeros, n: zeros, sum: numbers, squares: numbers, keys: [zeros, zeros, ones, ones] };
        for point in points {
            for (i, bit) in bits.iter().enumerate() {
                let right = u64::from(point.key & bit == *bit).wrapping_neg();
                t.points[i] += right & 1;
                t.n[i] += point.sum.n & right;
                t.sum[i] += f64::from_bits(point.sum.sum.to_bits() & right);
                t.squares[i] += f64::from_bits(point.sum.squares.to_bits() & right);
                t.keys[0][i] |= point.key & !right;
                t.keys[1][i] |= point.key & right;
                t.keys[2][i] &= point.key | right;
                t.keys[3][i] &= point.key | !right;
            }
        }
        t
    }

    /// The same with a register for all lanes: a compiler makes shuffles of the loop above.
    #[cfg(target_arch = "x86_64")]
    #[allow(clippy::wildcard_imports)] // a list of instructions
    #[allow(unsafe_code)] // registers are stored through pointers
    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn in_wide_registers(points: &[Point<NumberSum>], bits: [u64; LANES]) -> Self {
        use std::arch::x86_64::*;
        let bits = _mm256_set_epi64x(bits[3] as i64, bits[2] as i64, bits[1] as i64, bits[0] as i64);
        let zero = _mm256_setzero_si256();
        let (mut count, mut n) = (zero, zero);
        let (mut sum, mut squares) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        let mut unions = [zero; 2];
        let mut intersections = [_mm256_set1_epi64x(-1); 2];
        for point in points {
            let key = _mm256_set1_epi64x(point.key as i64);
            let right = _mm256_cmpeq_epi64(_mm256_and_si256(key, bits), bits);
            let right_numbers = _mm256_castsi256_pd(right);
            count = _mm256_sub_epi64(count, right);
            n = _mm256_add_epi64(n, _mm256_and_si256(right, _mm256_set1_epi64x(point.sum.n as i64)));
            sum = _mm256_add_pd(sum, _mm256_and_pd(right_numbers, _mm256_set1_pd(point.sum.sum)));
            squares = _mm256_add_pd(squares, _mm256_and_pd(right_numbers, _mm256_set1_pd(point.sum.squares)));
            unions[0] = _mm256_or_si256(unions[0], _mm256_andnot_si256(right, key));
            unions[1] = _mm256_or_si256(unions[1], _mm256_and_si256(right, key));
            intersections[0] = _mm256_and_si256(intersections[0], _mm256_or_si256(right, key));
            let missing = _mm256_andnot_si256(key, right);
            intersections[1] = _mm256_andnot_si256(missing, intersections[1]);
        }
        let integers = |x: __m256i| {
            let mut lanes = [0_u64; LANES];
            // SAFETY: the array is as large as the register, and need not be aligned.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x) };
            lanes
        };
        let numbers = |x: __m256d| {
            let mut lanes = [0.0; LANES];
            // SAFETY: as above, and four numbers are as large as four integers.
            unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), x) };
            lanes
        };
        Self {
            points: integers(count),
            n: integers(n),
            sum: numbers(sum),
            squares: numbers(squares),
            keys: [unions[0], unions[1], intersections[0], intersections[1]].map(integers),
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wide_registers_give_the_same_bits(
            rows in prop::collection::vec((any::<u64>(), 1..9_u64, -1e3..1e3_f64), 0..40),
            positions in any::<[u32; LANES]>(),
        ) {
            let point = |&(key, n, sum): &(u64, u64, f64)| Point { key, sum: NumberSum { n, sum, squares: sum * sum } };
            let points: Vec<_> = rows.iter().map(point).collect();
            let bits = positions.map(|position| 1 << (position % 64));
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor was just asked.
                #[allow(unsafe_code)]
                let wide = unsafe { Tally::in_wide_registers(&points, bits) };
                prop_assert_eq!(wide, Tally::of(&points, bits));
            }
        }
    }
}
