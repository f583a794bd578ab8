//! The inner loops of a lattice: the best split of a row of cells along an outer predictor, and within a row.
//!
//! Along an outer predictor the two sides of a split are whole rows, which are added cell by cell: contiguous, in wide
//! registers, each split's sums compared with what the row has. Along the innermost predictor the cells of one row are
//! split by themselves.

use super::axis::{Axis, Node};

/// The parts of a predictor that come before one of its parts, whose cells are `stride` apart, and that part's own cells.
pub struct Row<'a> {
    /// All cells of the parts before it.
    pub done: &'a [f64],
    /// Its own.
    pub now: &'a mut [f64],
}

/// A stretch of a row that stays in the first-level cache while all its splits are tried.
const STRETCH: usize = 1024;

/// Raises each cell of a part to its best split along this predictor.
pub fn along(axis: &Axis, part: usize, row: Row<'_>, log_gamma: f64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked.
        #[allow(unsafe_code)]
        return unsafe { along_in_wide_registers(axis, part, row, log_gamma) };
    }
    along_any(axis, part, row, log_gamma);
}

/// With wider registers; every operation rounds as without, so the results are the same.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn along_in_wide_registers(axis: &Axis, part: usize, row: Row<'_>, log_gamma: f64) {
    along_any(axis, part, row, log_gamma);
}

#[allow(clippy::inline_always)] // compiled for the registers of its caller
#[inline(always)]
fn along_any(axis: &Axis, part: usize, row: Row<'_>, log_gamma: f64) {
    let Row { done, now } = row;
    let stride = now.len();
    let mut start = 0;
    while start < stride {
        let end = (start + STRETCH).min(stride);
        let n = end - start;
        let now = &mut now[start..end];
        match axis {
            Axis::Subsets(_) => {
                let set = part + 1;
                let rest = set & (set - 1);
                // Two splits at a time: with and without the second level on the right.
                let second = rest & rest.wrapping_neg();
                let others = rest ^ second;
                let mut right = others;
                if rest != 0 {
                    loop {
                        let with = right | second;
                        let at = |set: usize| (set - 1) * stride + start;
                        let (one, two) = (&done[at(set ^ with)..][..n], &done[at(with)..][..n]);
                        if right == 0 {
                            raise(now, one, two);
                            break;
                        }
                        let (three, four) = (&done[at(set ^ right)..][..n], &done[at(right)..][..n]);
                        raise_twice(now, one, two, three, four);
                        right = (right - 1) & others;
                    }
                }
            }
            Axis::Intervals(_) => {
                let high = ((8 * part + 1).isqrt() - 1) / 2;
                let low = high - (part - high * (high + 1) / 2);
                for cut in low..high {
                    let at = |part: usize| part * stride + start;
                    let (left, right) = (at(Axis::run(low, cut)), at(Axis::run(cut + 1, high)));
                    raise(now, &done[left..][..n], &done[right..][..n]);
                }
            }
            Axis::Dyadic(dyadic) => match dyadic.nodes[part] {
                Node::Bin(_) => {}
                Node::Both(left, right) => {
                    let at = |part: u32| part as usize * stride + start;
                    raise(now, &done[at(left)..][..n], &done[at(right)..][..n]);
                }
                Node::One(half) => {
                    let half = &done[half as usize * stride + start..][..n];
                    for (now, half) in now.iter_mut().zip(half) {
                        let split = half + log_gamma;
                        *now = if split > *now { split } else { *now };
                    }
                }
            },
        }
        start = end;
    }
}

#[allow(clippy::inline_always)] // compiled for the registers of its caller
#[inline(always)]
fn raise(now: &mut [f64], left: &[f64], right: &[f64]) {
    for ((now, left), right) in now.iter_mut().zip(left).zip(right) {
        let split = left + right;
        *now = if split > *now { split } else { *now };
    }
}

#[allow(clippy::inline_always)] // compiled for the registers of its caller
#[inline(always)]
fn raise_twice(now: &mut [f64], one: &[f64], two: &[f64], three: &[f64], four: &[f64]) {
    for ((((now, one), two), three), four) in now.iter_mut().zip(one).zip(two).zip(three).zip(four) {
        let (first, second) = (one + two, three + four);
        let best = if first > second { first } else { second };
        *now = if best > *now { best } else { *now };
    }
}

/// Raises each cell of a row to its best split along the innermost predictor, whose parts stand side by side.
pub fn within(axis: &Axis, row: &mut [f64], log_gamma: f64) {
    match axis {
        Axis::Subsets(_) => {
            for set in 1..=row.len() {
                let (done, now) = row.split_at_mut(set - 1);
                now[0] = best_bipartition(done, set, now[0]);
            }
        }
        Axis::Intervals(m) => {
            for high in 1..*m as usize {
                for low in (0..high).rev() {
                    let mut best = row[Axis::run(low, high)];
                    for cut in low..high {
                        let split = row[Axis::run(low, cut)] + row[Axis::run(cut + 1, high)];
                        best = if split > best { split } else { best };
                    }
                    row[Axis::run(low, high)] = best;
                }
            }
        }
        Axis::Dyadic(dyadic) => {
            for (part, node) in dyadic.nodes.iter().enumerate() {
                let split = match *node {
                    Node::Bin(_) => continue,
                    Node::Both(left, right) => row[left as usize] + row[right as usize],
                    Node::One(half) => row[half as usize] + log_gamma,
                };
                if split > row[part] {
                    row[part] = split;
                }
            }
        }
    }
}

/// The best of `best` and all bipartitions of a set, `done[s - 1]` being what the set `s` is worth. Four maxima are kept
/// apart, so that none waits for another.
#[inline]
fn best_bipartition(done: &[f64], set: usize, best: f64) -> f64 {
    let rest = set & (set - 1);
    let worth = |right: usize| done[(set ^ right) - 1] + done[right - 1];
    let second = rest & rest.wrapping_neg();
    let after = rest ^ second;
    let third = after & after.wrapping_neg();
    let others = after ^ third;
    if third == 0 {
        return if second == 0 { best } else { best.max(worth(second)) };
    }
    let mut kept = [best, worth(second), worth(third), worth(second | third)];
    let mut right = others;
    while right != 0 {
        let splits = [worth(right), worth(right | second), worth(right | third), worth(right | second | third)];
        for (kept, split) in kept.iter_mut().zip(splits) {
            *kept = if split > *kept { split } else { *kept };
        }
        right = (right - 1) & others;
    }
    kept[0].max(kept[1]).max(kept[2].max(kept[3]))
}
