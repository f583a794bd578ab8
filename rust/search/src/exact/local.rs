//! Blocks of a few variables in which a fractional choice of sets is no mixture of DAGs.
//!
//! Clusters leave much open where scores do not care for directions: `a` and `b` may each take the other half of the
//! time, and `c` both, and so on around. Restricted to a block of variables, a mixture of DAGs is a mixture of the
//! block's orders. So orders are packed into the fractional choice, the most that fit (a linear program by generated
//! columns: under given prices the best order comes from a dynamic program over the block's subsets). If less than 1
//! fits, the prices are a cut that the choice violates; what the choice does not use is priced as low as the orders
//! allow, one variable after the other.

use rustc_hash::FxHashSet;

use crate::exact::bits::Bits;
use crate::exact::cut::{Block, Cut, MOST_MEMBERS, cheapest_order, least_within};
use crate::exact::separate::Support;

/// Uses of less than this are left out of the packing (not of the final check).
const TRACE: f64 = 1e-3;
/// A cut has to be missed by this share of what it needs.
const VIOLATION: f64 = 0.01;
/// Prices are multiples of one of these fractions, or rounded up to the last.
const FRACTIONS: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 12.0, 60.0];
/// Sizes of blocks, and neighbours of each variable from which they grow; the next only where these gave few.
const STAGES: [(usize, usize); 4] = [(6, 3), (8, 3), (8, 8), (MOST_MEMBERS, 8)];
/// Fewer cuts than this are few.
const FEW: usize = 5;
/// Orders generated for one block at most.
const MOST_ORDERS: usize = 400;
/// A price that no order pays.
const NEVER: f64 = 1e9;

/// Violated cuts on blocks of at most `size` variables, at most `limit`, none among the known; small blocks first, and
/// none that contains another.
pub fn violated<const W: usize>(
    support: &Support<W>,
    size: usize,
    limit: usize,
    known: &[Cut<W>],
    stop: &dyn Fn() -> bool,
) -> Vec<Cut<W>> {
    let known: FxHashSet<&Cut<W>> = known.iter().collect();
    let mut found: Vec<Cut<W>> = Vec::new();
    let mut seen: FxHashSet<Bits<W>> = FxHashSet::default();
    for (largest, neighbours) in STAGES {
        if found.len() >= FEW {
            break;
        }
        for members in blocks(support, largest.min(size), neighbours) {
            if found.len() >= limit || stop() {
                return found;
            }
            if !seen.insert(members) || found.iter().any(|cut| cut.members().within(members)) {
                continue;
            }
            if let Some(cut) = separate(support, members)
                && !known.contains(&cut)
            {
                found.push(cut);
            }
        }
    }
    found
}

/// Blocks whose variables use one another by fractions, grown from pairs; small ones first.
fn blocks<const W: usize>(support: &Support<W>, size: usize, neighbours: usize) -> Vec<Bits<W>> {
    let n = support.len();
    let mut ties = vec![0.0; n * n];
    for (v, sets) in support.iter().enumerate() {
        for (set, x) in sets {
            for p in set.iter() {
                let open = x.min(1.0 - x).max(0.0);
                ties[v * n + p] += open;
                ties[p * n + v] += open;
            }
        }
    }
    let mut out: Vec<Bits<W>> = Vec::new();
    for v in 0..n {
        let mut near: Vec<usize> = (0..n).filter(|&u| ties[v * n + u] > TRACE).collect();
        near.sort_by(|&a, &b| ties[v * n + b].total_cmp(&ties[v * n + a]).then(a.cmp(&b)));
        for &u in near.iter().take(neighbours) {
            let mut block = Bits::one(v).with(u);
            let mut pull: Vec<f64> = (0..n).map(|a| ties[v * n + a] + ties[u * n + a]).collect();
            while block.len() < size {
                let outside = (0..n).filter(|&a| !block.has(a));
                let Some(next) = outside.max_by(|&a, &b| pull[a].total_cmp(&pull[b]).then(b.cmp(&a))) else { break };
                if pull[next] <= TRACE {
                    break;
                }
                block = block.with(next);
                out.push(block);
                for (a, pull) in pull.iter_mut().enumerate() {
                    *pull += ties[next * n + a];
                }
            }
        }
    }
    out.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
    out.dedup();
    out
}

/// A cut on a block that the fractional choice violates, if there is one.
fn separate<const W: usize>(support: &Support<W>, members: Bits<W>) -> Option<Cut<W>> {
    let vars: Vec<usize> = members.iter().collect();
    let mass: Vec<Vec<f64>> = vars
        .iter()
        .map(|&v| {
            let mut mass = vec![0.0; 1 << vars.len()];
            for (set, x) in &support[v] {
                mass[vars.iter().enumerate().map(|(i, &u)| usize::from(set.has(u)) << i).sum::<usize>()] += x;
            }
            let sum: f64 = mass.iter().sum();
            mass.iter().map(|x| x / sum.max(TRACE)).collect()
        })
        .collect();
    let used: Vec<(usize, usize, f64)> = mass
        .iter()
        .enumerate()
        .flat_map(|(v, mass)| mass.iter().enumerate().filter(|(_, x)| **x > TRACE).map(move |(set, x)| (v, set, *x)))
        .collect();
    let prices = Packing::new(vars.len(), &used).prices()?;
    let worth = whole(vars.len(), &used, &prices);
    let block = Block::new(worth)?;
    let cut = Cut::block(members, block);
    let need = cut.need() as f64;
    let table = cut.table()?;
    let value: f64 = table
        .worth
        .iter()
        .zip(&mass)
        .flat_map(|(worth, mass)| worth.iter().zip(mass))
        .map(|(w, x)| f64::from(*w) * x)
        .sum();
    (value < need * (1.0 - VIOLATION)).then_some(cut)
}

/// Whole prices for all sets: those given, scaled; the others as low as orders of the price needed allow.
fn whole(size: usize, used: &[(usize, usize, f64)], prices: &[f64]) -> Vec<Vec<u32>> {
    let near_whole = |f: f64| prices.iter().all(|p| (p * f - (p * f).round()).abs() < 1e-6);
    let fraction = FRACTIONS.into_iter().find(|&f| near_whole(f)).unwrap_or(FRACTIONS[FRACTIONS.len() - 1]);
    let never = u32::MAX;
    let mut pay = vec![vec![never; 1 << size]; size];
    for (&(v, set, _), price) in used.iter().zip(prices) {
        pay[v][set] = (price * fraction - 1e-6).ceil().max(0.0) as u32;
    }
    let need = cheapest_order(&pay, never, u32::saturating_add);
    let need = if need == never { 1 } else { need };
    for (&(v, set, _), _) in used.iter().zip(prices) {
        pay[v][set] = pay[v][set].min(need);
    }
    for v in 0..size {
        let others = without(&pay, v);
        for set in (0..1usize << size).filter(|set| set >> v & 1 == 0) {
            if pay[v][set] == never {
                pay[v][set] = need.saturating_sub(others[set]);
            }
        }
    }
    for (v, own) in pay.iter_mut().enumerate() {
        for (set, pay) in own.iter_mut().enumerate() {
            if set >> v & 1 == 1 {
                *pay = 0;
            }
        }
    }
    pay
}

/// Per subset of a block, what the others pay at least where v comes after the subset.
fn without(pay: &[Vec<u32>], v: usize) -> Vec<u32> {
    let (size, never) = (pay.len(), u32::MAX);
    let full = (1usize << size) - 1;
    let mut within = pay.to_vec();
    for (u, own) in within.iter_mut().enumerate() {
        least_within(own, u, never);
    }
    // Before v: orders of a subset. After v: what completes a subset that has v.
    let mut before = vec![never; full + 1];
    before[0] = 0;
    for placed in (1..=full).filter(|placed| placed >> v & 1 == 0) {
        let last = (0..size).filter(|u| placed >> u & 1 == 1).map(|u| placed & !(1 << u));
        let own = (0..size).filter(|u| placed >> u & 1 == 1).map(|u| &within[u]);
        before[placed] = last.zip(own).map(|(p, own)| before[p].saturating_add(own[p])).min().unwrap_or(never);
    }
    let mut after = vec![never; full + 1];
    after[full] = 0;
    for placed in (0..full).rev().filter(|placed| placed >> v & 1 == 1) {
        let next = (0..size).filter(|u| placed >> u & 1 == 0);
        after[placed] = next.map(|u| after[placed | 1 << u].saturating_add(within[u][placed])).min().unwrap_or(never);
    }
    let mut least = vec![never; full + 1];
    for set in (0..=full).rev().filter(|set| set >> v & 1 == 0) {
        let larger = (0..size).filter(|&u| u != v && set >> u & 1 == 0).map(|u| least[set | 1 << u]).min();
        least[set] = before[set].saturating_add(after[set | 1 << v]).min(larger.unwrap_or(never));
    }
    least
}

/// As many orders as fit into the uses: `max sum of l` with, per use, `sum of the l of the orders that have it <= x`.
struct Packing<'a> {
    size: usize,
    used: &'a [(usize, usize, f64)],
    /// Row of each member and set among the uses.
    row: Vec<Vec<usize>>,
    /// The basis inverse, by rows, and the basic values.
    inverse: Vec<f64>,
    values: Vec<f64>,
    /// Whether each basic column is an order.
    is_order: Vec<bool>,
}

impl<'a> Packing<'a> {
    fn new(size: usize, used: &'a [(usize, usize, f64)]) -> Self {
        let rows = used.len();
        let mut row = vec![vec![usize::MAX; 1 << size]; size];
        let mut inverse = vec![0.0; rows * rows];
        for (i, &(v, set, _)) in used.iter().enumerate() {
            row[v][set] = i;
            inverse[i * rows + i] = 1.0;
        }
        // A little more room in each row than in the one before keeps the simplex method from circling.
        let values = used.iter().enumerate().map(|(i, (_, _, x))| x + 1e-9 * (i + 1) as f64).collect();
        Self { size, used, row, inverse, values, is_order: vec![false; rows] }
    }

    /// Prices under which every order costs 1 at least, of least total over the uses, if that is below 1.
    fn prices(mut self) -> Option<Vec<f64>> {
        let rows = self.used.len();
        for _ in 0..MOST_ORDERS {
            let prices: Vec<f64> = (0..rows)
                .map(|c| (0..rows).filter(|&r| self.is_order[r]).map(|r| self.inverse[r * rows + c]).sum())
                .collect();
            let packed: f64 = (0..rows).filter(|&r| self.is_order[r]).map(|r| self.values[r]).sum();
            if packed > 1.0 - VIOLATION / 2.0 {
                return None;
            }
            let lowest = (0..rows).min_by(|&a, &b| f64::total_cmp(&prices[a], &prices[b]))?;
            if prices[lowest] < -1e-9 {
                self.enter(&[lowest], false)?;
                continue;
            }
            let (price, order) = self.cheapest(&prices);
            if price > 1.0 - 1e-7 {
                return Some(prices);
            }
            self.enter(&order, true)?;
        }
        None
    }

    /// The cheapest order and the rows of the sets it takes.
    fn cheapest(&self, prices: &[f64]) -> (f64, Vec<usize>) {
        let full = 1usize << self.size;
        let mut pay = vec![vec![NEVER; full]; self.size];
        for (&(v, set, _), &price) in self.used.iter().zip(prices) {
            pay[v][set] = price;
        }
        let mut within = pay.clone();
        for (v, own) in within.iter_mut().enumerate() {
            least_within(own, v, NEVER);
        }
        let mut total = vec![NEVER; full];
        let mut last = vec![0; full];
        total[0] = 0.0;
        for placed in 1..full {
            for v in (0..self.size).filter(|v| placed >> v & 1 == 1) {
                let before = placed & !(1 << v);
                let sum = total[before] + within[v][before];
                if sum < total[placed] {
                    (total[placed], last[placed]) = (sum, v);
                }
            }
        }
        if total[full - 1] >= NEVER {
            return (NEVER, Vec::new());
        }
        let mut placed = full - 1;
        let mut order = Vec::with_capacity(self.size);
        while placed > 0 {
            let v = last[placed];
            placed &= !(1 << v);
            let mut subset = placed;
            let set = loop {
                if pay[v][subset] <= within[v][placed] {
                    break subset;
                }
                subset = (subset - 1) & placed;
            };
            order.push(self.row[v][set]);
        }
        (total[full - 1], order)
    }

    /// Brings a column of ones in these rows into the basis; None if nothing bounds it.
    fn enter(&mut self, ones: &[usize], is_order: bool) -> Option<()> {
        let rows = self.used.len();
        let step: Vec<f64> = (0..rows).map(|r| ones.iter().map(|&c| self.inverse[r * rows + c]).sum()).collect();
        let ratio = |r: usize| self.values[r] / step[r];
        let leaves = (0..rows)
            .filter(|&r| step[r] > 1e-9)
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(step[b].total_cmp(&step[a])))?;
        let pivot: Vec<f64> =
            self.inverse[leaves * rows..(leaves + 1) * rows].iter().map(|x| x / step[leaves]).collect();
        let value = ratio(leaves);
        for (r, (own, &step)) in self.inverse.chunks_exact_mut(rows).zip(&step).enumerate() {
            if r == leaves {
                own.copy_from_slice(&pivot);
                self.values[r] = value;
            } else if step != 0.0 {
                own.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= step * p);
                self.values[r] -= step * value;
            }
        }
        self.is_order[leaves] = is_order;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[usize]) -> Bits<1> {
        members.iter().copied().collect()
    }

    #[test]
    fn halves_around_a_triangle_are_found_though_no_cluster_is_violated() {
        let others = |v: usize| set(&(0..3).filter(|&u| u != v).collect::<Vec<_>>());
        let support: Support<1> = (0..3).map(|v| vec![(others(v), 0.5), (Bits::EMPTY, 0.5)]).collect();
        assert!(crate::exact::separate::violated(&support, 9, &[]).is_empty());
        let found = violated(&support, 3, 9, &[], &|| false);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].members(), set(&[0, 1, 2]));
        let value = |support: &Support<1>| -> f64 {
            support
                .iter()
                .enumerate()
                .flat_map(|(v, sets)| sets.iter().map(move |s| (v, s)))
                .map(|(v, (s, x))| found[0].worth(v, *s) as f64 * x)
                .sum()
        };
        assert!(value(&support) < found[0].need() as f64 - 0.2);
    }

    #[test]
    fn mixtures_of_orders_violate_nothing() {
        // Half 0 -> 1 -> 2 -> 3, half the reverse.
        let support: Support<1> = vec![
            vec![(set(&[]), 0.5), (set(&[1]), 0.5)],
            vec![(set(&[0]), 0.5), (set(&[2]), 0.5)],
            vec![(set(&[1]), 0.5), (set(&[3]), 0.5)],
            vec![(set(&[2]), 0.5), (set(&[]), 0.5)],
        ];
        assert!(violated(&support, 4, 9, &[], &|| false).is_empty());
    }
}
