//! Mutual information of binned columns, less what chance would give.

use super::bins::{Binned, Bins};
use crate::table::Var;

/// Bins are put together to at most so many before they are counted.
const COARSE: usize = 16;

fn coarse(bins: &Bins) -> (usize, Vec<u8>) {
    let n = bins.n.min(COARSE);
    (n, (0..bins.n).map(|bin| (bin * n / bins.n) as u8).collect())
}

/// The mutual information of a child with each of some variables, less `(a - 1) (b - 1) / 2N` for `a` and `b` bins.
pub fn shared(binned: &Binned, child: Var, others: &mut [(Var, f64)]) {
    let y = binned.column(child);
    let (n_y, fold_y) = coarse(y);
    let own: Vec<u8> = y.codes.iter().map(|&code| fold_y[code as usize]).collect();
    let n = own.len() as f64;
    let entropy = |count: u32| if count > 0 { f64::from(count) * f64::from(count).ln() } else { 0.0 };
    for (v, information) in others {
        let x = binned.column(*v);
        let (n_x, fold_x) = coarse(x);
        let fold: [u8; 256] = std::array::from_fn(|bin| fold_x.get(bin).map_or(0, |&b| b << 4));
        let mut joint = [0u32; COARSE * COARSE];
        for (&x, &y) in x.codes.iter().zip(&own) {
            joint[usize::from(fold[x as usize] | y)] += 1;
        }
        let row = |a: usize| joint[a * COARSE..(a + 1) * COARSE].iter().sum::<u32>();
        let column = |b: usize| (0..COARSE).map(|a| joint[a * COARSE + b]).sum::<u32>();
        let mut sum = n * n.max(1.0).ln();
        sum += joint.iter().map(|&count| entropy(count)).sum::<f64>();
        sum -= (0..COARSE).map(|a| entropy(row(a)) + entropy(column(a))).sum::<f64>();
        let seen = |count: &u32| *count > 0;
        let (a, b) = ((0..n_x).filter(|&a| seen(&row(a))).count(), (0..n_y).filter(|&b| seen(&column(b))).count());
        *information = (sum - 0.5 * (a.max(1) - 1) as f64 * (b.max(1) - 1) as f64) / n;
    }
}
