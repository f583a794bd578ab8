//! In which orders the levels of a predictor should stand, so that good groups of them are neighbours.
//!
//! Log marginals of conjugate leaves are convex in their sums. So of all ways to divide levels between two leaves the best
//! is cut by a plane through the levels' sums (Chou 1991; Burshtein et al. 1992): with two classes that is one point
//! in the order of their shares, so this order holds the best cut. With more, the order is the levels' distance from the
//! plane, and the plane follows from a division: divide, take the slopes of both leaves' scores, order by their difference,
//! until nothing changes. It begins with means and spreads (numbers), mean ranks (ordered levels), or the first principal
//! component of the shares and each class against the rest (classes; Coppersmith, Hong and Hosking 1999).

use super::numbers::{NumberSum, Numbers};
use super::weighed::{Weighed, WeighedSum};
use super::{Levels, LevelsLeaf, Response, Store};
use crate::counts::Count;

/// Each of so many of the most frequent classes is held against the rest.
const CLASSES: usize = 32;
/// Of more classes than this, fewer are.
const MANY: usize = 2048;
/// Rounds of the power iteration for the first principal component.
const POWERS: usize = 40;
/// So many orders are also tried as they are: means and spreads, or the principal component and the most frequent class.
const PLAIN: usize = 2;
/// Most divisions in turn.
const TURNS: usize = 20;

/// What ordering the levels of a predictor needs to know of a response.
pub trait InOrder: Response {
    /// Rows in a sum.
    fn n_rows(sum: &Self::Sum) -> f64;

    /// Numbers that a sum holds.
    fn width(&self) -> usize;

    /// Numbers by which to order levels with these sums, one a level; several ways. No sum is of no rows.
    fn keys(&self, levels: &[Self::Sum]) -> Vec<Vec<f64>>;

    /// The slope of a leaf's score in the numbers of its sum.
    fn slope(&self, sum: &Self::Sum) -> Vec<f64>;

    /// How much a leaf with this slope gains by these rows, to first order; never more than it does.
    fn along(&self, slope: &[f64], sum: &Self::Sum) -> f64;

    /// Whether the first order is sure to hold the best groups, since sums have one direction.
    fn one_suffices(&self) -> bool;
}

impl InOrder for Numbers {
    fn n_rows(sum: &NumberSum) -> f64 {
        sum.n as f64
    }

    fn width(&self) -> usize {
        3
    }

    fn keys(&self, levels: &[NumberSum]) -> Vec<Vec<f64>> {
        let mean = |sum: &NumberSum| sum.sum / sum.n as f64;
        let variance = |sum: &NumberSum| (sum.squares / sum.n as f64 - mean(sum).powi(2)).max(0.0);
        vec![levels.iter().map(mean).collect(), levels.iter().map(variance).collect()]
    }

    fn slope(&self, sum: &NumberSum) -> Vec<f64> {
        self.slope_of(sum).to_vec()
    }

    fn along(&self, slope: &[f64], sum: &NumberSum) -> f64 {
        slope[0] * sum.n as f64 + slope[1] * sum.sum + slope[2] * sum.squares
    }

    fn one_suffices(&self) -> bool {
        false
    }
}

impl InOrder for Weighed {
    fn n_rows(sum: &WeighedSum) -> f64 {
        sum.n
    }

    fn width(&self) -> usize {
        3
    }

    fn keys(&self, levels: &[WeighedSum]) -> Vec<Vec<f64>> {
        let mean = |sum: &WeighedSum| sum.sum / sum.n;
        let variance = |sum: &WeighedSum| (sum.squares / sum.n - mean(sum).powi(2)).max(0.0);
        vec![levels.iter().map(mean).collect(), levels.iter().map(variance).collect()]
    }

    fn slope(&self, sum: &WeighedSum) -> Vec<f64> {
        self.slope_of(sum).to_vec()
    }

    fn along(&self, slope: &[f64], sum: &WeighedSum) -> f64 {
        slope[0] * sum.n + slope[1] * sum.sum + slope[2] * sum.squares
    }

    fn one_suffices(&self) -> bool {
        false
    }
}

impl<C: Store, L: LevelsLeaf> InOrder for Levels<C, L> {
    fn n_rows(sum: &C) -> f64 {
        total(sum)
    }

    fn width(&self) -> usize {
        self.n_levels()
    }

    fn keys(&self, levels: &[C]) -> Vec<Vec<f64>> {
        let k = self.n_levels();
        let of_class = |y: usize| levels.iter().map(|sum| sum.counts()[y].real() / total(sum)).collect::<Vec<_>>();
        if k <= 2 {
            return vec![of_class(k.saturating_sub(1))];
        }
        if L::ORDERED {
            let rank =
                |sum: &C| sum.counts().iter().enumerate().map(|(y, &n)| y as f64 * n.real()).sum::<f64>() / total(sum);
            return vec![levels.iter().map(rank).collect()];
        }
        let mut of_all = C::zeros(k);
        for sum in levels {
            self.add(&mut of_all, sum);
        }
        let mut classes: Vec<usize> = (0..k).filter(|&y| of_all.counts()[y] != C::N::default()).collect();
        let whole = principal(levels, &of_all, &classes);
        let of = |y: usize| of_all.counts()[y].real();
        classes.sort_by(|&y, &z| of(z).total_cmp(&of(y)).then(y.cmp(&z)));
        classes.truncate(CLASSES.min(MANY / k).max(2));
        std::iter::once(whole).chain(classes.into_iter().map(of_class)).collect()
    }

    fn slope(&self, sum: &C) -> Vec<f64> {
        self.leaf().slope(&sum.counts()[..self.n_levels()])
    }

    fn along(&self, slope: &[f64], sum: &C) -> f64 {
        slope.iter().zip(sum.counts()).map(|(slope, &n)| slope * n.real()).sum()
    }

    fn one_suffices(&self) -> bool {
        self.n_levels() <= 2
    }
}

fn total<C: Store>(sum: &C) -> f64 {
    sum.counts().iter().map(|&n| n.real()).sum()
}

/// Levels along the first principal component of their shares of the classes, each share smoothed by one row of the
/// average level, each level weighted by its rows.
fn principal<C: Store>(levels: &[C], of_all: &C, classes: &[usize]) -> Vec<f64> {
    let n = total(of_all);
    let average: Vec<f64> = classes.iter().map(|&y| of_all.counts()[y].real() / n).collect();
    let away: Vec<Vec<f64>> = levels
        .iter()
        .map(|sum| {
            let weight = 1.0 / (total(sum) + 1.0);
            let share = |(&y, average): (&usize, &f64)| (sum.counts()[y].real() + average) * weight - average;
            classes.iter().zip(&average).map(share).collect()
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let pull: Vec<f64> = levels.iter().zip(&away).map(|(sum, away)| total(sum) * dot(away, away)).collect();
    let farthest = (0..levels.len()).fold(0, |best, l| if pull[l] > pull[best] { l } else { best });
    let mut along = away[farthest].clone();
    for _ in 0..POWERS {
        let mut next = vec![0.0; along.len()];
        for (sum, away) in levels.iter().zip(&away) {
            let weight = total(sum) * dot(away, &along);
            next.iter_mut().zip(away).for_each(|(next, away)| *next += weight * away);
        }
        let length = dot(&next, &next).sqrt();
        if length == 0.0 {
            break;
        }
        along = next.iter().map(|x| x / length).collect();
    }
    away.iter().map(|away| dot(away, &along)).collect()
}

/// Positions of levels by their keys, ties by position.
pub fn by_key(keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]).then(a.cmp(&b)));
    order
}

/// Orders of levels to begin with: the best found for a division into two leaves, then the first ones as they are.
pub fn first_orders<R: InOrder>(response: &R, levels: &[R::Sum]) -> Vec<Vec<usize>> {
    let plain: Vec<Vec<usize>> = response.keys(levels).iter().map(|keys| by_key(keys)).collect();
    if response.one_suffices() {
        return plain;
    }
    let mut best: Option<(f64, Vec<usize>)> = None;
    for order in &plain {
        let (order, value) = alternated(response, levels, order.clone());
        if best.as_ref().is_none_or(|(known, _)| value > *known + 1e-9 * (1.0 + known.abs())) {
            best = Some((value, order));
        }
    }
    best.into_iter().map(|(_, order)| order).chain(plain.into_iter().take(PLAIN)).collect()
}

/// Divides at the best place, orders by the difference of both sides' slopes, and again, as long as that gains.
fn alternated<R: InOrder>(response: &R, levels: &[R::Sum], mut order: Vec<usize>) -> (Vec<usize>, f64) {
    let Some((mut value, mut sides)) = best_cut(response, levels, &order) else { return (order, 0.0) };
    for _ in 0..TURNS {
        let slopes = sides.each_ref().map(|side| response.slope(side));
        let keys: Vec<f64> = levels
            .iter()
            .map(|sum| {
                let [left, right] = slopes.each_ref().map(|slope| response.along(slope, sum));
                (right - left) / R::n_rows(sum)
            })
            .collect();
        let next = by_key(&keys);
        let Some((found, cut)) = best_cut(response, levels, &next) else { break };
        if found <= value + 1e-9 * (1.0 + value.abs()) {
            break;
        }
        (value, sides, order) = (found, cut, next);
    }
    (order, value)
}

/// The best place to divide an order, by the scores of two leaves: their scores, and both sides.
fn best_cut<R: InOrder>(response: &R, levels: &[R::Sum], order: &[usize]) -> Option<(f64, [R::Sum; 2])> {
    let mut rest: Vec<R::Sum> = vec![response.zero()];
    for &level in order.iter().skip(1).rev() {
        let mut sum = rest[rest.len() - 1].clone();
        response.add(&mut sum, &levels[level]);
        rest.push(sum);
    }
    let mut left = response.zero();
    let mut best: Option<(f64, [R::Sum; 2])> = None;
    for (i, &level) in order.iter().enumerate().take(order.len().saturating_sub(1)) {
        response.add(&mut left, &levels[level]);
        let right = &rest[order.len() - 1 - i];
        let value = response.worth(&left).leaf + response.worth(right).leaf;
        if best.as_ref().is_none_or(|(known, _)| value > *known) {
            best = Some((value, [left.clone(), right.clone()]));
        }
    }
    best
}
