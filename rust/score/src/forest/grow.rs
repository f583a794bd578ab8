//! One tree: a bootstrap sample, splits from histograms, and what each variable was worth.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bins::{Binned, Bins, MOST};
use crate::table::{Column, Table, Var};

/// What is predicted, by row: a number (of levels, two are one number), or a level.
pub enum Target {
    Number(Vec<f64>),
    Levels { codes: Vec<u32>, n: usize },
}

impl Target {
    pub fn new(table: &Table, binned: &Binned, child: Var) -> Self {
        match table.column(child) {
            Column::Reals(x) => {
                let values: Vec<f64> = binned.rows().iter().map(|&row| x[row as usize]).collect();
                let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
                Self::Number(values.iter().map(|x| x - mean).collect())
            }
            Column::Codes(c) => {
                let codes: Vec<usize> = binned.rows().iter().map(|&row| c.get(row as usize)).collect();
                let mut place = vec![u32::MAX; table.variable(child).n_levels().unwrap_or(0)];
                let mut n = 0;
                let mut number = |code: usize| {
                    if place[code] == u32::MAX {
                        place[code] = n;
                        n += 1;
                    }
                    place[code]
                };
                let codes: Vec<u32> = codes.into_iter().map(&mut number).collect();
                if n <= 2 {
                    Self::Number(codes.iter().map(|&code| f64::from(code)).collect())
                } else {
                    Self::Levels { codes, n: n as usize }
                }
            }
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Number(_) => 1,
            Self::Levels { n, .. } => *n,
        }
    }

    /// Adds a row to sums of responses.
    fn add(&self, row: usize, sums: &mut [f64]) {
        match self {
            Self::Number(y) => sums[0] += y[row],
            Self::Levels { codes, .. } => sums[codes[row] as usize] += 1.0,
        }
    }

    /// The squared error of predicting a row with means.
    fn error(&self, row: usize, means: &[f64]) -> f64 {
        match self {
            Self::Number(y) => (y[row] - means[0]).powi(2),
            Self::Levels { codes, .. } => {
                let own = codes[row] as usize;
                means.iter().enumerate().map(|(k, m)| (f64::from(u8::from(k == own)) - m).powi(2)).sum()
            }
        }
    }
}

/// What all trees of a child share.
pub struct Plan<'a> {
    pub binned: &'a Binned,
    pub target: &'a Target,
    pub features: &'a [Var],
    /// How many features a split may choose from.
    pub tried: usize,
    pub min_leaf: usize,
    pub permute: bool,
}

/// What a tree says of each feature.
pub struct Grown {
    pub importance: Vec<f64>,
}

/// A set of bins that goes left.
type Mask = [u64; MOST / 64];

fn holds(mask: &Mask, bin: u8) -> bool {
    mask[usize::from(bin) / 64] >> (bin % 64) & 1 == 1
}

enum Node {
    Split { feature: usize, left: Mask, below: usize },
    Leaf(Vec<f64>),
}

struct Split {
    feature: usize,
    left: Mask,
    gain: f64,
}

/// Scratch of one tree.
struct Scratch {
    /// Sums by bin and response.
    sums: Vec<f64>,
    counts: [u32; MOST],
    order: Vec<usize>,
    below: Vec<f64>,
}

/// Grows a tree.
pub fn grow(plan: &Plan<'_>, seed: u64) -> Grown {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let n = plan.binned.n_rows();
    let mut rows: Vec<u32> = (0..n).map(|_| random.random_range(0..n as u32)).collect();
    let mut out = vec![];
    if plan.permute {
        let mut drawn = vec![false; n];
        for &row in &rows {
            drawn[row as usize] = true;
        }
        out = (0..n as u32).filter(|&row| !drawn[row as usize]).collect();
    }
    // Rows in ascending order read the columns from front to back.
    rows.sort_unstable();
    let width = plan.target.width();
    let mut scratch = Scratch {
        sums: vec![0.0; MOST * width],
        counts: [0; MOST],
        order: Vec::with_capacity(MOST),
        below: vec![0.0; width],
    };
    let mut gains = vec![0.0; plan.features.len()];
    let mut features: Vec<usize> = (0..plan.features.len()).collect();
    let mut nodes = vec![Node::Leaf(vec![])];
    let mut open = vec![(0usize, 0usize, n)];
    let mut right: Vec<u32> = vec![];
    while let Some((node, start, end)) = open.pop() {
        let mut total = vec![0.0; width];
        for &row in &rows[start..end] {
            plan.target.add(row as usize, &mut total);
        }
        let best = (end - start >= 2 * plan.min_leaf)
            .then(|| {
                // The first of a shuffle, as far as it is needed.
                for i in 0..plan.tried {
                    let j = random.random_range(i..features.len());
                    features.swap(i, j);
                }
                best_split(plan, &rows[start..end], &total, &features[..plan.tried], &mut scratch)
            })
            .flatten();
        let Some(Split { feature, left, gain }) = best else {
            let count = (end - start).max(1) as f64;
            nodes[node] = Node::Leaf(total.iter().map(|sum| sum / count).collect());
            continue;
        };
        gains[feature] += gain;
        let bins = &plan.binned.column(plan.features[feature]).codes;
        right.clear();
        let mut middle = start;
        for place in start..end {
            let row = rows[place];
            if holds(&left, bins[row as usize]) {
                rows[middle] = row;
                middle += 1;
            } else {
                right.push(row);
            }
        }
        rows[middle..end].copy_from_slice(&right);
        let below = nodes.len();
        nodes[node] = Node::Split { feature, left, below };
        nodes.push(Node::Leaf(vec![]));
        nodes.push(Node::Leaf(vec![]));
        open.push((below + 1, middle, end));
        open.push((below, start, middle));
    }
    let importance = if plan.permute { permuted(plan, &nodes, &out, &gains, &mut random) } else { gains };
    Grown { importance }
}

fn best_split(
    plan: &Plan<'_>,
    rows: &[u32],
    total: &[f64],
    features: &[usize],
    scratch: &mut Scratch,
) -> Option<Split> {
    let n = rows.len() as f64;
    let base = total.iter().map(|t| t * t).sum::<f64>() / n;
    // Gains of rounding's size are none.
    let mut best: Option<Split> = None;
    let mut least = 1e-9 * (1.0 + base.abs());
    for &feature in features {
        let bins = plan.binned.column(plan.features[feature]);
        if bins.n < 2 {
            continue;
        }
        fill(plan.target, bins, rows, scratch);
        if let Some((gain, left)) = best_cut(plan, bins, total, n, base, scratch)
            && (gain > least || (gain == least && best.as_ref().is_some_and(|b| feature < b.feature)))
        {
            least = gain;
            best = Some(Split { feature, left, gain });
        }
    }
    best
}

/// The histogram of a feature.
fn fill(target: &Target, bins: &Bins, rows: &[u32], scratch: &mut Scratch) {
    scratch.counts[..bins.n].fill(0);
    match target {
        Target::Number(y) => {
            scratch.sums[..bins.n].fill(0.0);
            for &row in rows {
                let bin = usize::from(bins.codes[row as usize]);
                scratch.counts[bin] += 1;
                scratch.sums[bin] += y[row as usize];
            }
        }
        Target::Levels { codes, n } => {
            scratch.sums[..bins.n * n].fill(0.0);
            for &row in rows {
                let bin = usize::from(bins.codes[row as usize]);
                scratch.counts[bin] += 1;
                scratch.sums[bin * n + codes[row as usize] as usize] += 1.0;
            }
        }
    }
}

/// The best division of a feature's bins: along their order, or by their means for one response, or one bin against the
/// rest.
fn best_cut(
    plan: &Plan<'_>,
    bins: &Bins,
    total: &[f64],
    n: f64,
    base: f64,
    scratch: &mut Scratch,
) -> Option<(f64, Mask)> {
    let width = total.len();
    let Scratch { sums, counts, order, below } = scratch;
    order.clear();
    order.extend((0..bins.n).filter(|&bin| counts[bin] > 0));
    if order.len() < 2 {
        return None;
    }
    let alone = !bins.ordered && width > 1 && order.len() > 2;
    if !bins.ordered && width == 1 {
        let mean = |bin: usize| sums[bin] / f64::from(counts[bin]);
        order.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
    }
    let fewest = plan.min_leaf as f64;
    let mut best: Option<(f64, usize)> = None;
    below.fill(0.0);
    let mut count = 0.0;
    for (place, &bin) in order.iter().enumerate() {
        if alone {
            below.fill(0.0);
            count = 0.0;
        } else if place + 1 == order.len() {
            break;
        }
        count += f64::from(counts[bin]);
        for (below, sum) in below.iter_mut().zip(&sums[bin * width..(bin + 1) * width]) {
            *below += sum;
        }
        if count < fewest || n - count < fewest {
            continue;
        }
        let (mut left, mut right) = (0.0, 0.0);
        for (below, total) in below.iter().zip(total) {
            left += below * below;
            right += (total - below) * (total - below);
        }
        let gain = left / count + right / (n - count) - base;
        if best.is_none_or(|best| gain > best.0) {
            best = Some((gain, place));
        }
    }
    let (gain, place) = best?;
    let mut mask = Mask::default();
    let chosen = if alone { &order[place..=place] } else { &order[..=place] };
    for &bin in chosen {
        mask[bin / 64] |= 1 << (bin % 64);
    }
    Some((gain, mask))
}

/// The rise of the error on rows that the tree has not seen when a feature's values are permuted among them.
fn permuted(plan: &Plan<'_>, nodes: &[Node], out: &[u32], gains: &[f64], random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let columns: Vec<&[u8]> = plan.features.iter().map(|&v| plan.binned.column(v).codes.as_slice()).collect();
    let mean = |row: u32, other: Option<(usize, u32)>| {
        let mut node = 0;
        loop {
            match &nodes[node] {
                Node::Leaf(means) => break means,
                Node::Split { feature, left, below } => {
                    let from = if let Some((f, from)) = other
                        && f == *feature
                    {
                        from
                    } else {
                        row
                    };
                    node = below + usize::from(!holds(left, columns[*feature][from as usize]));
                }
            }
        }
    };
    let n = out.len().max(1) as f64;
    let errors: Vec<f64> = out.iter().map(|&row| plan.target.error(row as usize, mean(row, None))).collect();
    let mut shuffled = out.to_vec();
    let rise = |feature: usize| {
        if gains[feature] == 0.0 {
            return 0.0;
        }
        shuffled.copy_from_slice(out);
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, random.random_range(0..=i));
        }
        let each =
            out.iter().zip(&shuffled).zip(&errors).map(|((&row, &from), error)| {
                plan.target.error(row as usize, mean(row, Some((feature, from)))) - error
            });
        each.sum::<f64>() / n
    };
    (0..gains.len()).map(rise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Kind, Units, Variable};

    #[test]
    fn neither_side_of_a_split_has_fewer_rows_than_a_leaf_may() {
        let number = |name: &str| Variable { name: name.into(), kind: Kind::Continuous { scale: Units::IDENTITY } };
        let few = |below: usize| -> Vec<f64> { (0..20).map(|i| f64::from(u8::from(i >= below))).collect() };
        for below in [5, 15] {
            let columns = vec![Column::Reals(few(below)), Column::Reals(few(below))];
            let table = Table::new(vec![number("y"), number("x")], columns).unwrap();
            let binned = Binned::new(&table);
            let target = Target::new(&table, &binned, 0);
            let rows: Vec<u32> = (0..20).collect();
            let mut total = [0.0];
            for &row in &rows {
                target.add(row as usize, &mut total);
            }
            for (min_leaf, splits) in [(4, true), (5, true), (6, false)] {
                let plan =
                    Plan { binned: &binned, target: &target, features: &[1], tried: 1, min_leaf, permute: false };
                let mut scratch =
                    Scratch { sums: vec![0.0; MOST], counts: [0; MOST], order: Vec::new(), below: vec![0.0] };
                let found = best_split(&plan, &rows, &total, &[0], &mut scratch);
                assert_eq!(found.is_some(), splits, "{below} rows below, leaves of {min_leaf}");
            }
        }
    }
}
