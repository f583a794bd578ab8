//! Fixed point for costs: how fine the grid of a component is, and what may be clamped.
//!
//! A set that costs more than a whole DAG that is known is in no best DAG, however much more it costs. So only what costs
//! no more has to be told apart, and the grid depends on the differences that can matter, not on the largest score: a
//! score of -1e15 that stands for "never" takes no digit from the others. Dearer sets are clamped to a cost just above
//! that of the known DAG, which leaves every bound a bound (they cost at least that) and every optimum where it is.

use crate::exact::orders;
use crate::exact::problem::Loose;

/// Bits that the sum of the largest costs takes at most.
const BITS: i32 = 50;
/// As fine as it has to be where costs come to one and more.
const FINEST: i32 = 40;
/// A grid as fine as this is left as it is: 2^-30 of a unit of score.
const FINE: i32 = 30;

/// So many bits behind the point, and what no cost exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// A unit of score is `2^exponent` units of cost.
    pub exponent: i32,
    /// What dearer costs are clamped to.
    most: i64,
}

impl Scale {
    /// The finest scale on which a total of this size fits: 2^-40 at best for a total of one and more, and the same share of
    /// smaller ones.
    pub fn for_total(total: f64) -> Self {
        let bits = if total > 0.0 { total.log2().ceil() as i32 } else { 0 };
        let exponent = if bits >= 0 { (BITS - bits).min(FINEST) } else { FINEST - bits };
        Self { exponent, most: i64::MAX }
    }

    /// The same, with costs above that of a known DAG over n variables clamped to more than what it comes to.
    fn clamped(self, known: f64, n: usize) -> Self {
        // Each of its costs may have been rounded up.
        Self { most: self.fixed(known) + n as i64 + 1, ..self }
    }

    /// A cost on the grid.
    pub fn fixed(self, cost: f64) -> i64 {
        (libm::scalbn(cost, self.exponent).round() as i64).min(self.most)
    }

    /// A cost off the grid.
    pub fn real(self, cost: i64) -> f64 {
        libm::scalbn(cost as f64, -self.exponent)
    }
}

/// The scale for a component; where some costs had to be clamped, also the order of the DAG that told which.
pub fn fitting<const W: usize>(loose: &Loose) -> (Scale, Option<Vec<usize>>) {
    let n = loose.vars.len();
    let total = |most: f64| loose.sets.iter().map(|sets| sets.last().map_or(0.0, |set| set.1.min(most))).sum();
    let mut scale = Scale::for_total(total(f64::INFINITY));
    let mut known: Option<(f64, Vec<usize>)> = None;
    // Every round tells the costs apart that were all but nothing on the grid before.
    while scale.exponent < FINE {
        let problem = loose.pack::<W>(scale);
        let start = known.as_ref().map(|(_, order)| order.clone());
        let Some((_, order)) = orders::search(&problem, 0, 0, start, &mut || false) else { break };
        let cost = along(loose, &order);
        if known.as_ref().is_some_and(|(best, _)| *best <= cost) {
            break;
        }
        let finer = Scale::for_total(total(cost)).clamped(cost, n);
        known = Some((cost, order));
        let better = finer.exponent > scale.exponent;
        scale = if better { finer } else { Scale { exponent: scale.exponent, most: i64::MAX }.clamped(cost, n) };
        if !better {
            break;
        }
    }
    (scale, known.map(|(_, order)| order))
}

/// What the cheapest choice along an order costs, no less for rounding.
fn along(loose: &Loose, order: &[usize]) -> f64 {
    let mut before = vec![false; order.len()];
    let mut cost = 0.0;
    for &v in order {
        let fits = |set: &[u32]| set.iter().all(|&p| before[p as usize]);
        cost += loose.sets[v].iter().find(|set| fits(&set.0)).map_or(0.0, |set| set.1);
        before[v] = true;
    }
    cost * (1.0 + 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_holds_its_total_and_keeps_its_share_of_small_ones() {
        for total in [1e-300, 1e-9, 0.3, 1.0, 7e3, 1e15, 1e303] {
            let scale = Scale::for_total(total);
            let fixed = scale.fixed(total);
            assert!((1 << 38..=1 << 50).contains(&fixed), "{total}: {fixed}");
            assert!((scale.real(fixed) - total).abs() <= 1e-11 * total);
        }
        assert_eq!(Scale::for_total(0.0).fixed(0.0), 0);
    }

    #[test]
    fn what_no_best_dag_can_use_takes_no_digits() {
        for never in [1e9, 1e15, 1e300] {
            // Either may be the other's parent; without parents, or with the third, it costs what it costs.
            let sets = |other: u32, gain: f64| {
                vec![(vec![other], 0.0, 0), (vec![], gain, 1), (vec![2], gain + 1e-7, 2), (vec![other, 2], never, 3)]
            };
            let last = vec![(vec![], 0.0, 0), (vec![0], never, 1), (vec![0, 1], 2.0 * never, 2)];
            let loose = Loose { vars: vec![0, 1, 2], sets: vec![sets(1, 2.5), sets(0, 3.5), last] };
            let (scale, order) = fitting::<1>(&loose);
            assert!(scale.exponent >= FINE, "{never}: {scale:?}");
            let problem = loose.pack::<1>(scale);
            let (cost, _) = problem.follow(&order.expect("costs were clamped"));
            assert!((scale.real(cost) - 2.5).abs() < 1e-8);
            assert!(problem.columns.iter().flat_map(|c| &c.costs).all(|&c| c <= scale.fixed(f64::MAX)));
            assert!(scale.fixed(never) > cost);
        }
    }
}
