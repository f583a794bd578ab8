//! A table's columns as blocks of orthonormal features: what one Gaussian over features is made of.
//!
//! A number is itself in a scale of choice (its normal scores, say) and, from degree 2 on, Legendre polynomials 2 to `degree`
//! of its ranks; an ordered variable is powers of its normal scores; categories are contrasts of their levels, which span
//! what their indicators do. Within a block features are centred, of unit length and orthogonal to each other, in the
//! order given; one that those before it nearly span is left out, so a constant column has none.
//!
//! Features of levels are functions of the code, kept as such: products with them are sums by level. Where rows have weights,
//! ranks and products are weighted; features that are kept by rows are multiplied by the roots of the weights.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cells::dot;
use super::legendre;
use super::ranks::{normal_score, shares_of_codes, weighted_shares};
use crate::control::Halt;
use crate::error::Result;
use crate::numeric::Log;
use crate::table::{Column, Kind, Table, Var};
use arbornet_table::spread::TryMap;

/// How numbers are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// By their normal scores.
    #[default]
    NormalScores,
    /// As they are.
    Raw,
    /// Their logarithms, of `1 + x` where zeros occur; normal scores where values below zero do.
    Log,
    /// Column by column, whatever makes the column easiest to predict from another one.
    Auto,
}

impl Scale {
    /// As parameters name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NormalScores => "normal_scores",
            Self::Raw => "raw",
            Self::Log => "log",
            Self::Auto => "auto",
        }
    }
}

/// The features of one variable; a copy shares what is as long as the table.
#[derive(Clone)]
pub enum Block {
    /// Of a number, row after row, times the root of the row's weight.
    Rows(Vec<Arc<[f64]>>),
    /// Of levels: every row's code, and each feature by code.
    Codes {
        /// In the order of the rows.
        codes: Arc<[u32]>,
        /// How often each row counts; none where each counts once.
        weights: Option<Arc<[f64]>>,
        /// Feature after feature.
        tables: Vec<Vec<f64>>,
        /// How many features there are; more than `tables` has where there are too many to use.
        width: usize,
    },
}

/// Features beyond these are counted, but not made: no family of so many is scored.
pub const MOST: usize = 1024;
/// What is left of a feature of unit length must be longer than this.
const LEAST: f64 = 1e-6;
/// A scale other than normal scores is chosen for so many nats.
const MARGIN: f64 = 2.0;
/// The degree of the parents that scales are tried with.
pub const TRIED: usize = 3;
/// Correlations between blocks are taken so much smaller, which is a ridge on what they are all part of.
pub const SHRINK: f64 = 0.9999;

impl Block {
    /// Number of features.
    pub fn width(&self) -> usize {
        match self {
            Self::Rows(features) => features.len(),
            Self::Codes { width, .. } => *width,
        }
    }

    /// Inner products of all features of two different variables, row after row of `self`.
    pub fn products(&self, other: &Self) -> Vec<f64> {
        match (self, other) {
            (Self::Rows(x), Self::Rows(y)) => x.iter().flat_map(|x| y.iter().map(|y| dot(x, y))).collect(),
            (Self::Codes { codes, weights, tables, .. }, Self::Rows(y)) => {
                let sums: Vec<Vec<f64>> = y.iter().map(|y| by_level((codes, weights.as_deref()), tables, y)).collect();
                tables.iter().flat_map(|t| sums.iter().map(|s| dot(t, s))).collect()
            }
            (Self::Rows(x), Self::Codes { codes, weights, tables, .. }) => {
                let sums = x.iter().map(|x| by_level((codes, weights.as_deref()), tables, x));
                sums.flat_map(|s| tables.iter().map(move |t| dot(t, &s)).collect::<Vec<_>>()).collect()
            }
            (Self::Codes { codes: a, weights, tables: x, .. }, Self::Codes { codes: b, tables: y, .. }) => {
                let k = y.first().map_or(0, Vec::len);
                let mut counts = vec![0.0; x.first().map_or(0, Vec::len) * k];
                if !counts.is_empty() {
                    let weight = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]);
                    for (row, (&i, &j)) in a.iter().zip(b.iter()).enumerate() {
                        counts[i as usize * k + j as usize] += weight(row);
                    }
                }
                // Per feature of y, its sums by the levels of x.
                let sums: Vec<Vec<f64>> =
                    y.iter().map(|y| counts.chunks_exact(k.max(1)).map(|row| dot(row, y)).collect()).collect();
                x.iter().flat_map(|x| sums.iter().map(|s| dot(x, s))).collect()
            }
        }
    }

    /// The squared multiple correlation of a centred column of unit length with these features.
    fn explains(&self, x: &[f64]) -> f64 {
        match self {
            Self::Rows(features) => features.iter().map(|f| dot(f, x).powi(2)).sum(),
            Self::Codes { codes, weights, tables, .. } => {
                let sums = by_level((codes, weights.as_deref()), tables, x);
                tables.iter().map(|t| dot(t, &sums).powi(2)).sum()
            }
        }
    }
}

/// The sums by level of a column that is times the roots of the weights.
fn by_level((codes, weights): (&[u32], Option<&[f64]>), tables: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; tables.first().map_or(0, Vec::len)];
    match weights {
        _ if sums.is_empty() => {}
        None => codes.iter().zip(x).for_each(|(&code, x)| sums[code as usize] += x),
        Some(own) => codes.iter().zip(x).zip(own).for_each(|((&code, x), w)| sums[code as usize] += x * w.sqrt()),
    }
    sums
}

/// All variables' blocks.
pub struct Features {
    /// By variable.
    pub blocks: Vec<Block>,
    /// How each number is read: never `Auto`; `None` for levels.
    pub scales: Vec<Option<Scale>>,
}

impl Features {
    /// Blocks of a degree.
    #[allow(clippy::missing_panics_doc)] // a halt that nobody holds is never due
    pub fn new(table: &Arc<Table>, degree: usize, scale: Scale) -> Self {
        Self::until(table, degree, scale, &Halt::default()).expect("nobody asks it to stop")
    }

    /// As `new`, ending with `Error::Interrupted` soon after `halt` is due.
    ///
    /// # Errors
    /// If it is due.
    pub fn until(table: &Arc<Table>, degree: usize, scale: Scale, halt: &Halt) -> Result<Self> {
        if scale == Scale::Auto {
            return Self::until(table, TRIED, Scale::NormalScores, halt)?.rescaled(table, degree, halt);
        }
        let order = table.canonical_rows();
        let one = |v: Var| halt.check().map(|()| block(table, &order, v, degree, scale));
        let made: Vec<_> = (0..table.n_vars()).into_par_iter().try_map(one)?;
        let (blocks, scales) = made.into_iter().unzip();
        Ok(Self { blocks, scales })
    }

    /// Blocks of a degree with every number in the scale that is best for it; these are of normal scores and degree `TRIED`.
    ///
    /// # Errors
    /// `Error::Interrupted` soon after `halt` is due.
    pub fn rescaled(&self, table: &Arc<Table>, degree: usize, halt: &Halt) -> Result<Self> {
        let order = table.canonical_rows();
        let one = |v: Var| -> Result<(Block, Option<Scale>)> {
            let scale = best_scale(table, &order, v, &self.blocks, halt)?;
            let same = degree == TRIED && scale == Scale::NormalScores;
            Ok(if same { (self.blocks[v].clone(), self.scales[v]) } else { block(table, &order, v, degree, scale) })
        };
        let made: Vec<_> = (0..table.n_vars()).into_par_iter().try_map(one)?;
        let (blocks, scales) = made.into_iter().unzip();
        Ok(Self { blocks, scales })
    }

    /// Of numbers and ordered levels the first features alone, at most so many.
    #[must_use]
    pub fn of_degree(&self, table: &Table, degree: usize) -> Self {
        let first = |(v, block): (Var, &Block)| match block {
            Block::Rows(features) => Block::Rows(features.iter().take(degree).cloned().collect()),
            Block::Codes { codes, weights, tables, .. } if matches!(table.variable(v).kind, Kind::Ordinal { .. }) => {
                let tables: Vec<_> = tables.iter().take(degree).cloned().collect();
                Block::Codes { codes: codes.clone(), weights: weights.clone(), width: tables.len(), tables }
            }
            categories @ Block::Codes { .. } => categories.clone(),
        };
        Self { blocks: self.blocks.iter().enumerate().map(first).collect(), scales: self.scales.clone() }
    }
}

/// The scale in which the best single parent explains the most of a number, normal scores unless another is clearly better.
fn best_scale(table: &Table, order: &[u32], v: Var, parents: &[Block], halt: &Halt) -> Result<Scale> {
    let n = table.total_weight();
    let weights = weights_in(table, order);
    let gain = |scale: Scale| -> Option<f64> {
        let x = by_rows(std::iter::once(in_scale(table, order, v, scale)?), weights.as_deref()).pop()?;
        let of = |w: Var| {
            let width = parents[w].width();
            // Who asks to stop gets no scale, so what is made of nothing here is never seen.
            if width > MOST || halt.is_due() {
                return f64::NEG_INFINITY;
            }
            let rest = (1.0 - SHRINK * SHRINK * parents[w].explains(&x)).max(1e-4);
            -n / 2.0 * rest.ln() - 0.5 * n.ln() * width as f64
        };
        (0..parents.len()).filter(|&w| w != v).map(of).reduce(f64::max)
    };
    if !table.variable(v).is_continuous() {
        return Ok(Scale::NormalScores);
    }
    let Some(plain) = gain(Scale::NormalScores) else { return Ok(Scale::NormalScores) };
    let mut best = (Scale::NormalScores, plain + MARGIN);
    for scale in [Scale::Raw, Scale::Log] {
        if let Some(gain) = gain(scale).filter(|gain| *gain > best.1) {
            best = (scale, gain);
        }
    }
    halt.check().map(|()| best.0)
}

/// A number in a scale; `None` where it has no logarithm.
fn in_scale(table: &Table, order: &[u32], v: Var, scale: Scale) -> Option<Vec<f64>> {
    let Column::Reals(stored) = table.column(v) else { return None };
    let values: Vec<f64> = order.iter().map(|&row| stored[row as usize]).collect();
    match scale {
        Scale::NormalScores | Scale::Auto => {
            let shares = weighted_shares(&values, weights_in(table, order).as_deref());
            Some(shares.into_iter().map(normal_score).collect())
        }
        Scale::Raw => {
            let largest = values.iter().fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()));
            Some(values.iter().map(|x| x / largest).collect())
        }
        Scale::Log => {
            let log = Log::of(table, v)?;
            Some(values.into_iter().map(|x| log.at(x)).collect())
        }
    }
}

fn block(table: &Table, order: &[u32], v: Var, degree: usize, scale: Scale) -> (Block, Option<Scale>) {
    let codes = match table.column(v) {
        Column::Reals(_) => return number(table, order, v, degree, scale),
        Column::Codes(codes) => codes,
    };
    let codes: Arc<[u32]> = order.iter().map(|&row| codes.get(row as usize) as u32).collect();
    let k = table.variable(v).n_levels().unwrap_or(0);
    let mut counts = vec![0.0; k];
    let weights = weights_in(table, order);
    for (row, &code) in codes.iter().enumerate() {
        counts[code as usize] += weights.as_ref().map_or(1.0, |weights| weights[row]);
    }
    let tables = if let Kind::Ordinal { .. } = table.variable(v).kind {
        let scores: Vec<f64> = shares_of_codes(&counts).into_iter().map(normal_score).collect();
        let most = degree.min(k.saturating_sub(1)) as i32;
        let powers = (1..=most).map(|power| scores.iter().map(|z| z.powi(power)).collect());
        let weighted = |x: &[f64], y: &[f64]| counts.iter().zip(x).zip(y).map(|((n, x), y)| n * x * y).sum::<f64>();
        orthonormal(powers, &weighted)
    } else {
        let observed = counts.iter().filter(|n| **n > 0.0).count();
        if observed > MOST + 1 {
            return (Block::Codes { codes, weights, tables: Vec::new(), width: observed - 1 }, None);
        }
        contrasts(&counts)
    };
    let width = tables.len();
    (Block::Codes { codes, weights, tables, width }, None)
}

fn number(table: &Table, order: &[u32], v: Var, degree: usize, scale: Scale) -> (Block, Option<Scale>) {
    let Column::Reals(stored) = table.column(v) else { unreachable!("numbers are reals") };
    let values: Vec<f64> = order.iter().map(|&row| stored[row as usize]).collect();
    if values.iter().all(|x| *x == values[0]) {
        return (Block::Rows(Vec::new()), Some(Scale::NormalScores));
    }
    let weights = weights_in(table, order);
    let shares = weighted_shares(&values, weights.as_deref());
    let (first, scale) = match in_scale(table, order, v, scale) {
        Some(first) if scale != Scale::Auto => (first, scale),
        _ => (shares.iter().map(|&share| normal_score(share)).collect(), Scale::NormalScores),
    };
    let u: Vec<f64> = shares.into_iter().map(|share| 2.0 * share - 1.0).collect();
    let bent = (2..=degree).map(|t| u.iter().map(|&u| legendre(t, u)).collect());
    let features = by_rows(std::iter::once(first).chain(bent), weights.as_deref());
    (Block::Rows(features.into_iter().map(Arc::from).collect()), Some(scale))
}

/// The weights of rows in an order.
fn weights_in(table: &Table, order: &[u32]) -> Option<Arc<[f64]>> {
    table.weights().map(|weights| order.iter().map(|&row| weights.of_rows()[row as usize]).collect())
}

/// Orthonormal columns of rows, times the roots of their weights.
fn by_rows(columns: impl Iterator<Item = Vec<f64>>, weights: Option<&[f64]>) -> Vec<Vec<f64>> {
    let Some(weights) = weights else { return orthonormal(columns, &dot) };
    let weighted = |x: &[f64], y: &[f64]| {
        let heavy: Vec<f64> = x.iter().zip(weights).map(|(x, w)| x * w).collect();
        dot(&heavy, y)
    };
    let mut made = orthonormal(columns, &weighted);
    for column in &mut made {
        column.iter_mut().zip(weights).for_each(|(x, w)| *x *= w.sqrt());
    }
    made
}

/// Columns centred, of unit length and orthogonal, in their order; without those that earlier ones span.
fn orthonormal(columns: impl Iterator<Item = Vec<f64>>, inner: &dyn Fn(&[f64], &[f64]) -> f64) -> Vec<Vec<f64>> {
    let mut out: Vec<Vec<f64>> = Vec::new();
    for mut x in columns {
        let ones = vec![1.0; x.len()];
        let n = inner(&ones, &ones);
        let size = inner(&x, &x).sqrt();
        // Twice, as the mean of large numbers is itself rounded.
        for _ in 0..2 {
            let mean = inner(&x, &ones) / n;
            for x in &mut x {
                *x -= mean;
            }
        }
        let length = inner(&x, &x).sqrt();
        if !(length > 1e-12 * size && length.is_finite()) {
            continue;
        }
        for x in &mut x {
            *x /= length;
        }
        for _ in 0..2 {
            for q in &out {
                let share = inner(q, &x);
                x.iter_mut().zip(q).for_each(|(x, q)| *x -= share * q);
            }
        }
        let rest = inner(&x, &x).sqrt();
        if rest >= LEAST {
            for x in &mut x {
                *x /= rest;
            }
            out.push(x);
        }
    }
    out
}

/// Orthonormal functions of a code that sum to zero over the rows: each observed level against those before it (Helmert).
fn contrasts(counts: &[f64]) -> Vec<Vec<f64>> {
    let mut before = 0.0;
    let mut out = Vec::new();
    for (code, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0.0) {
        if before > 0.0 {
            let scale = (1.0 / before + 1.0 / n).sqrt();
            let mut table = vec![0.0; counts.len()];
            (0..code).filter(|&c| counts[c] > 0.0).for_each(|c| table[c] = -1.0 / (before * scale));
            table[code] = 1.0 / (n * scale);
            out.push(table);
        }
        before += n;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Affine, Codes, Level, Units, Variable};

    fn table(numbers: Vec<f64>, codes: &[u32], ordered: bool) -> Arc<Table> {
        let levels: Arc<[Level]> = (0..5).map(Level::Int).collect();
        let kind = if ordered { Kind::Ordinal { levels } } else { Kind::Categorical { levels } };
        let variables = vec![
            Variable { name: "x".into(), kind: Kind::Continuous { scale: Affine { shift: 3.0, scale: 2.0 }.into() } },
            Variable { name: "c".into(), kind },
        ];
        Arc::new(Table::new(variables, vec![Column::Reals(numbers), Column::Codes(Codes::pack(codes, 5))]).unwrap())
    }

    /// Features row after row, whatever the variable.
    fn rows(block: &Block) -> Vec<Vec<f64>> {
        match block {
            Block::Rows(features) => features.iter().map(|x| x.to_vec()).collect(),
            Block::Codes { codes, tables, .. } => {
                tables.iter().map(|t| codes.iter().map(|&c| t[c as usize]).collect()).collect()
            }
        }
    }

    #[test]
    fn features_are_orthonormal_and_centred_and_products_are_those_of_their_rows() {
        let numbers = vec![0.3, -1.2, 0.8, 2.5, 0.3, -0.4, 1.1, -2.0];
        for ordered in [false, true] {
            let features =
                Features::new(&table(numbers.clone(), &[0, 3, 3, 4, 1, 1, 0, 3], ordered), 3, Scale::NormalScores);
            assert_eq!(features.blocks.iter().map(Block::width).collect::<Vec<_>>(), [3, 3]);
            for block in &features.blocks {
                let x = rows(block);
                for (i, a) in x.iter().enumerate() {
                    assert!(a.iter().sum::<f64>().abs() < 1e-12);
                    for (j, b) in x.iter().enumerate() {
                        assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-12);
                    }
                }
            }
            let (one, other) = (&features.blocks[0], &features.blocks[1]);
            let expected = |a: &Block, b: &Block| -> Vec<f64> {
                let (x, y) = (rows(a), rows(b));
                x.iter().flat_map(|x| y.iter().map(|y| dot(x, y)).collect::<Vec<_>>()).collect()
            };
            for (a, b) in [(one, other), (other, one), (other, other), (one, one)] {
                let close = a.products(b).iter().zip(expected(a, b)).all(|(x, y)| (x - y).abs() < 1e-12);
                assert!(close && a.products(b).len() == a.width() * b.width());
            }
        }
    }

    #[test]
    fn a_block_has_no_more_features_than_there_are_differences_to_see() {
        let widths = |numbers: Vec<f64>, codes: &[u32]| -> Vec<usize> {
            let made = Features::new(&table(numbers, codes, false), 3, Scale::NormalScores);
            made.blocks.iter().map(Block::width).collect()
        };
        assert_eq!(widths(vec![2.0; 4], &[1; 4]), [0, 0]);
        assert_eq!(widths(vec![1.0, 2.0, 1.0, 2.0], &[0, 4, 4, 0]), [1, 1]);
        assert_eq!(widths(vec![1.0, 2.0, 3.0], &[0, 1, 4]), [2, 2]);
        assert_eq!(widths(vec![], &[]), [0, 0]);
    }

    #[test]
    fn logarithms_need_values_from_zero_up() {
        // Stored 3 + 2 x: from -1.5 on nothing is below zero.
        let scales = |numbers: Vec<f64>| {
            let codes = vec![0; numbers.len()];
            Features::new(&table(numbers, &codes, false), 1, Scale::Log).scales[0]
        };
        assert_eq!(scales(vec![-1.4, 0.0, 5.0]), Some(Scale::Log));
        assert_eq!(scales(vec![-1.6, 0.0, 5.0]), Some(Scale::NormalScores));
        let log = Log::of(&table(vec![-1.5, 0.0], &[0, 0], false), 0).unwrap();
        assert!(log.one_more && log.at(-1.5) == 0.0 && (log.back(log.at(0.7)) - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_scale_is_chosen_in_which_a_parent_explains_clearly_more() {
        // Two heaps: as numbers, or as logarithms, they are what the code says; their ranks are spread evenly.
        let codes: Vec<u32> = (0..200).map(|i| u32::from(i % 3 == 0)).collect();
        let noise = |i: usize| ((i * i) as f64).cos();
        let made = |of: fn(f64) -> f64| {
            let at = |(i, &code): (usize, &u32)| of(4.0 * f64::from(code) + 0.5 * noise(i));
            let numbers: Vec<f64> = codes.iter().enumerate().map(at).collect();
            let levels: Arc<[Level]> = (0..2).map(Level::Int).collect();
            let variables = vec![
                Variable { name: "x".into(), kind: Kind::Continuous { scale: Units::IDENTITY } },
                Variable { name: "c".into(), kind: Kind::Categorical { levels } },
            ];
            let columns = vec![Column::Reals(numbers), Column::Codes(Codes::pack(&codes, 2))];
            Features::new(&Arc::new(Table::new(variables, columns).unwrap()), 3, Scale::Auto).scales
        };
        assert_eq!(made(|x| x - 2.0), [Some(Scale::Raw), None]);
        assert_eq!(made(f64::exp), [Some(Scale::Log), None]);
        assert_eq!(made(|x| (17.0 * x).sin()), [Some(Scale::NormalScores), None]);
    }
}
