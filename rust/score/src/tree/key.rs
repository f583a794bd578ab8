//! Rows and cells of the predictor space as 64-bit keys (section 4.2).
//!
//! A predictor has one field of bits. In a *row's* key a continuous predictor stands as the number of its finest
//! dyadic bin (`max_splits` bits), a predictor with levels as one bit among `k`. In a *cell's* key a continuous
//! predictor stands as the heap number of its dyadic interval (root 1, halves `2i` and `2i+1`; `max_splits + 1` bits),
//! a predictor with levels as the set of levels. So the rows of either side of a split differ from the others in one
//! mask, and a cell's halves follow from its own key.

use super::bins::{Bins, Cuts};
use super::lattice::axis::Axis;
use super::ranks::Ranks;
use crate::error::{Error, Result};
use crate::table::{Column, Kind, Table, Var};
use crate::weights::Weights;

/// How the tree may split a predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// At the midpoint of its dyadic interval.
    Halving,
    /// Any two sets of levels.
    Bipartition,
    /// Lower levels against higher ones.
    Threshold,
}

impl Split {
    /// Of a predictor of this kind.
    pub fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Continuous { .. } => Self::Halving,
            Kind::Categorical { .. } => Self::Bipartition,
            Kind::Ordinal { .. } => Self::Threshold,
        }
    }
}

/// The bits of one predictor.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// How it splits.
    pub split: Split,
    /// Where its bits begin.
    pub shift: u32,
    /// `max_splits` for halvings, the number of declared levels otherwise.
    pub size: u32,
    /// All bits that a row may set.
    pub mask: u64,
}

impl Field {
    /// The bits of a row with this bin or level.
    #[inline]
    pub fn row(&self, code: u16) -> u64 {
        match self.split {
            Split::Halving => u64::from(code) << self.shift,
            _ => 1 << (u32::from(code) + self.shift),
        }
    }
}

impl Field {
    /// The bits of its interval in a cell's key.
    pub(super) fn cell_mask(&self) -> u64 {
        ones(self.size + 1) << self.shift
    }

    /// The heap number of the interval around a row in which the lowest `open` bits are free.
    pub(super) fn interval(&self, row: u64, open: u32) -> u64 {
        1 << (self.size - open) | (row & self.mask) >> self.shift >> open
    }
}

/// The fields of all predictors of one family.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// One per predictor, in order.
    pub fields: Vec<Field>,
    /// The bits of all predictors with levels.
    pub levels_mask: u64,
    /// The key of the whole space.
    pub root: u64,
}

/// Bits a variable needs as a predictor.
pub fn bits(kind: &Kind, max_splits: u32) -> u32 {
    match kind {
        Kind::Continuous { .. } => max_splits + 1,
        Kind::Categorical { levels } | Kind::Ordinal { levels } => u32::try_from(levels.len()).unwrap_or(u32::MAX),
    }
}

impl Layout {
    /// Lays the parents' fields side by side.
    ///
    /// # Errors
    /// If they need more than 64 bits; the message says which parent needs how many.
    pub fn new(table: &Table, child: Var, parents: &[Var], max_splits: u32) -> Result<Self> {
        let needs = |p: &Var| u64::from(bits(&table.variable(*p).kind, max_splits));
        let total: u64 = parents.iter().map(needs).sum();
        if total > 64 {
            return Err(too_wide(table, child, parents, max_splits, total));
        }
        let mut layout = Self::default();
        let mut shift = 0;
        for &parent in parents {
            let kind = &table.variable(parent).kind;
            let width = bits(kind, max_splits);
            let split = Split::of(kind);
            let size = if split == Split::Halving { max_splits } else { width };
            let mask = ones(size) << shift;
            if split == Split::Halving {
                layout.root |= 1 << shift;
            } else {
                layout.levels_mask |= mask;
                layout.root |= mask;
            }
            layout.fields.push(Field { split, shift, size, mask });
            shift += width;
        }
        Ok(layout)
    }
}

fn too_wide(table: &Table, child: Var, parents: &[Var], max_splits: u32, total: u64) -> Error {
    let each: Vec<_> = parents
        .iter()
        .map(|&p| {
            let variable = table.variable(p);
            let width = bits(&variable.kind, max_splits);
            let what = if variable.is_continuous() { "continuous" } else { "levels" };
            format!("'{}' {width} ({what})", variable.name)
        })
        .collect();
    Error::Family {
        child: table.name(child).to_owned(),
        parents: parents.iter().map(|&p| table.name(p).to_owned()).collect(),
        problem: format!("a cell's key would need {total} bits, and 64 is the limit: {}", each.join(", ")),
        advice: "use fewer parents (max_parents), merge rare levels, or lower max_splits".to_owned(),
    }
}

/// The lowest `n` bits, `n <= 64`.
pub fn ones(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// What the tree search needs of every variable: its bin or code, row by row.
#[derive(Debug)]
pub struct Coded {
    /// By variable; empty where a variable has more levels than 16 bits tell apart.
    pub codes: Vec<Vec<u16>>,
    /// By variable; `None` for those with levels.
    pub bins: Vec<Option<Bins>>,
    /// By variable: the bins or levels that occur, and what may be made of them.
    pub axes: Vec<Axis>,
}

impl Coded {
    /// Of all variables of a table.
    pub fn new(table: &Table, max_splits: u32, cuts: Cuts) -> Self {
        let (mut codes, mut bins, mut axes) = (Vec::new(), Vec::new(), Vec::new());
        for var in 0..table.n_vars() {
            let kind = &table.variable(var).kind;
            match table.column(var) {
                Column::Reals(values) => {
                    let of = match (cuts, kind) {
                        (Cuts::Quantile, Kind::Continuous { scale }) => {
                            let weights = table.weights().map(Weights::of_rows);
                            Bins::Ranks(Ranks::of(values, weights, max_splits, scale))
                        }
                        _ => Bins::of(values, max_splits),
                    };
                    codes.push(values.iter().map(|&x| of.bin(x) as u16).collect::<Vec<_>>());
                    bins.push(Some(of));
                    let occupied = distinct(codes[var].iter().map(|&bin| usize::from(bin)));
                    axes.push(Axis::of(Split::Halving, max_splits, &occupied));
                }
                Column::Codes(column) => {
                    let fits = table.variable(var).n_levels().is_some_and(|k| k <= 1 << 16);
                    codes.push(if fits { column.iter().map(|c| c as u16).collect() } else { Vec::new() });
                    bins.push(None);
                    axes.push(Axis::of(Split::of(kind), 0, &distinct(column.iter())));
                }
            }
        }
        Self { codes, bins, axes }
    }
}

/// The codes that occur, ascending.
fn distinct(codes: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut seen = Vec::new();
    for code in codes {
        if code >= seen.len() {
            seen.resize(code + 1, false);
        }
        seen[code] = true;
    }
    (0..seen.len() as u32).filter(|&code| seen[code as usize]).collect()
}
