//! Both sides of several halvings of any response, one halving after the other: sums without branches, since on which side a point
//! lies is hard to predict.

use smallvec::SmallVec;

use super::{Half, Halves, LANES, Point, Response, Worth};

/// Points on the right, worth of both sides, both sides.
type Lane<S> = (usize, [Worth; 2], [Half<S>; 2]);

/// Halvings, one after the other.
pub struct HalvesOf<S> {
    lanes: SmallVec<[Lane<S>; LANES]>,
}

impl<S: Clone> HalvesOf<S> {
    /// Of these points, which together are `total`.
    #[inline]
    pub(super) fn new<R: Response<Sum = S>>(response: &R, points: &[Point<S>], total: &S, bits: &[u32]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked.
            #[allow(unsafe_code)]
            return unsafe { Self::in_wide_registers(response, points, total, bits) };
        }
        Self::of(response, points, total, bits)
    }

    /// With wider registers; every operation rounds as without, so the results are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn in_wide_registers<R: Response<Sum = S>>(response: &R, points: &[Point<S>], total: &S, bits: &[u32]) -> Self {
        Self::of(response, points, total, bits)
    }

    #[allow(clippy::inline_always)] // compiled for the registers of its caller
    #[inline(always)]
    fn of<R: Response<Sum = S>>(response: &R, points: &[Point<S>], total: &S, bits: &[u32]) -> Self {
        let mut lanes = SmallVec::new();
        for &bit in bits {
            let [mut left, mut right] = [(0, u64::MAX), (0, u64::MAX)];
            let (mut n_right, mut sum) = (0, response.zero());
            for point in points {
                let goes_right = point.key >> bit & 1;
                let mask = goes_right.wrapping_neg();
                n_right += goes_right as usize;
                response.add_masked(&mut sum, &point.sum, mask);
                left = (left.0 | point.key & !mask, left.1 & (point.key | mask));
                right = (right.0 | point.key & mask, right.1 & (point.key | !mask));
            }
            let mut rest = total.clone();
            response.subtract(&mut rest, &sum);
            let worth = [response.worth(&rest), response.worth(&sum)];
            let left = Half { sum: rest, or: left.0, and: left.1 };
            lanes.push((n_right, worth, [left, Half { sum, or: right.0, and: right.1 }]));
        }
        Self { lanes }
    }
}

impl<S: Clone> Halves<S> for HalvesOf<S> {
    #[inline]
    fn n_right(&self, lane: usize) -> usize {
        self.lanes[lane].0
    }

    #[inline]
    fn worth(&self, lane: usize) -> [Worth; 2] {
        self.lanes[lane].1
    }

    #[inline]
    fn key(&self, lane: usize, side: usize) -> [u64; 2] {
        let half = &self.lanes[lane].2[side];
        [half.or, half.and]
    }

    #[inline]
    fn half(&self, lane: usize, side: usize) -> Half<S> {
        self.lanes[lane].2[side].clone()
    }
}

/// A number if all bits of the mask are set, 0 if none is.
#[inline]
pub(super) fn masked(x: f64, mask: u64) -> f64 {
    f64::from_bits(x.to_bits() & mask)
}
