//! The structure prior: `gamma` per leaf, and `ln Z(P)`, the log of its sum over all trees on the predictors.
//!
//! Z depends on a cell only through its type (halvings left per continuous predictor, levels left minus one per
//! predictor with levels):
//! `Z(st) = gamma + sum_cont Z(st-1)^2 + sum_nominal sum_a binom(m,a) Z(a-1) Z(m-a) + sum_ordinal sum_a Z(a-1) Z(m-a)`.
//! Predictors of one kind are interchangeable, so types are sorted before they are looked up.
//!
//! Predictors that do not fit into a key of 64 bits have more levels than this sum can go through; [`super::wide`] has
//! its limit.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::key::{Layout, Split};
use super::wide;

/// What is left to split, predictor by predictor, sorted.
pub(super) type CellType = SmallVec<[(Split, u32); 8]>;

/// `ln gamma` and `ln Z` of the predictors' kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Added for every leaf.
    pub log_gamma: f64,
    /// Subtracted once.
    pub log_z: f64,
}

/// Priors by the predictors' kinds and sizes.
#[derive(Clone, Debug, Default)]
pub struct Priors {
    known: FxHashMap<CellType, Prior>,
}

impl Priors {
    /// The prior of a family.
    pub fn of(&mut self, layout: &Layout) -> Prior {
        self.of_sizes(layout.fields.iter().map(|field| (field.split, field.size)))
    }

    /// The prior of predictors with so many halvings or declared levels.
    pub fn of_sizes(&mut self, sizes: impl Iterator<Item = (Split, u32)>) -> Prior {
        let left =
            |(split, size): (Split, u32)| (split, if split == Split::Halving { size } else { size.saturating_sub(1) });
        let kinds = sorted(sizes.map(left).collect());
        let bits: u32 = kinds.iter().map(|&(_, m)| m.saturating_add(1)).fold(0, u32::saturating_add);
        *self.known.entry(kinds).or_insert_with_key(if bits > 64 { wide::prior } else { prior })
    }
}

pub(super) fn sorted(mut cell: CellType) -> CellType {
    cell.sort_unstable();
    cell
}

pub(super) fn prior(kinds: &CellType) -> Prior {
    // The number of splits of an inner node; in floating point, since 63 levels have 2^62 - 1 of them.
    let splits: f64 = kinds
        .iter()
        .map(|&(split, m)| match split {
            Split::Halving => 1.0,
            Split::Bipartition => f64::from(m).exp2() - 1.0,
            Split::Threshold => f64::from(m),
        })
        .sum();
    if splits == 0.0 {
        return Prior { log_gamma: 0.0, log_z: 0.0 };
    }
    let log_gamma = -(4.0 * splits).ln();
    Prior { log_gamma, log_z: log_sum(kinds, log_gamma, &mut FxHashMap::default()) }
}

fn log_sum(cell: &CellType, log_gamma: f64, known: &mut FxHashMap<CellType, f64>) -> f64 {
    if let Some(&z) = known.get(cell) {
        return z;
    }
    let mut terms = vec![log_gamma];
    for i in 0..cell.len() {
        let (split, m) = cell[i];
        let mut z = |left: u32| {
            let mut part = cell.clone();
            part[i].1 = left;
            log_sum(&sorted(part), log_gamma, known)
        };
        match split {
            Split::Halving if m > 0 => terms.push(2.0 * z(m - 1)),
            Split::Halving => {}
            _ => terms.extend((1..=m).map(|a| {
                let ways = if split == Split::Bipartition { log_binomial(m, a) } else { 0.0 };
                z(a - 1) + z(m - a) + ways
            })),
        }
    }
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let z = top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln();
    known.insert(cell.clone(), z);
    z
}

pub(super) fn log_binomial(m: u32, a: u32) -> f64 {
    (1..=a).map(|i| (f64::from(m - a + i) / f64::from(i)).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all trees, one by one, on cells with their actual levels and intervals.
    fn enumerated(cell: &[(Split, Vec<u32>)], gamma: f64) -> f64 {
        let mut sum = gamma;
        for (i, (split, members)) in cell.iter().enumerate() {
            let with = |part: Vec<u32>| {
                let mut other = cell.to_vec();
                other[i].1 = part;
                enumerated(&other, gamma)
            };
            let both = |left: Vec<u32>, right: Vec<u32>| with(left) * with(right);
            match split {
                Split::Halving if members.len() > 1 => {
                    let (left, right) = members.split_at(members.len() / 2);
                    sum += both(left.to_vec(), right.to_vec());
                }
                Split::Halving => {}
                Split::Threshold => {
                    sum += (1..members.len()).map(|t| both(members[..t].to_vec(), members[t..].to_vec())).sum::<f64>();
                }
                Split::Bipartition => {
                    for side in 0..(1_u32 << members.len().saturating_sub(1)) - 1 {
                        let side = side << 1 | 1;
                        let (left, right) =
                            members.iter().enumerate().partition::<Vec<_>, _>(|(j, _)| side >> j & 1 == 1);
                        let plain = |part: Vec<(usize, &u32)>| part.into_iter().map(|(_, &x)| x).collect();
                        sum += both(plain(left), plain(right));
                    }
                }
            }
        }
        sum
    }

    #[test]
    fn z_is_the_sum_over_all_trees() {
        use Split::{Bipartition as B, Halving as H, Threshold as T};
        let cases: &[&[(Split, u32)]] = &[
            &[(H, 2)],
            &[(B, 3)],
            &[(T, 3)],
            &[(H, 2), (H, 1)],
            &[(H, 2), (B, 2)],
            &[(B, 2), (T, 2)],
            &[(H, 1), (B, 1), (T, 2)],
            &[(B, 2), (B, 2)],
            &[(B, 0), (H, 2)],
        ];
        for kinds in cases {
            let prior = prior(&CellType::from_slice(kinds));
            let members = |&(split, m): &(Split, u32)| {
                let n = if split == H { 1 << m } else { m + 1 };
                (split, (0..n).collect())
            };
            let all = enumerated(&kinds.iter().map(members).collect::<Vec<_>>(), prior.log_gamma.exp());
            assert!((prior.log_z - all.ln()).abs() < 1e-12, "{kinds:?}");
        }
    }

    #[test]
    fn without_anything_to_split_the_only_tree_is_free() {
        let nothing = Prior { log_gamma: 0.0, log_z: 0.0 };
        assert_eq!(prior(&CellType::new()), nothing);
        assert_eq!(prior(&CellType::from_slice(&[(Split::Bipartition, 0)])), nothing);
    }

    #[test]
    fn many_predictors_and_many_levels_stay_finite_and_quick() {
        let ten = CellType::from_slice(&[(Split::Halving, 5); 10]);
        assert!(prior(&ten).log_z.is_finite());
        let wide = prior(&CellType::from_slice(&[(Split::Bipartition, 63)]));
        assert!(wide.log_z.is_finite() && (wide.log_gamma + (4.0 * (2.0_f64.powi(63) - 1.0)).ln()).abs() < 1e-12);
    }
}
