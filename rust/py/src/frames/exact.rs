//! Values that are one float and yet differ: whole numbers beyond 2^53, and times told to the nanosecond.
//!
//! A column of numbers is read as floats. That is harmless where what a float leaves out is small beside the spread of
//! the column; where it is not, the column would lie. So such columns are looked at a second time, exactly.

use std::collections::BTreeMap;

use arbornet_core::frame::Profile;
use arbornet_core::frame::numbers::DISTINCT_CAP;
use arrow_array::ArrayRef;
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};

use super::values::{for_each_number, for_each_wide};

/// From here on neighbouring whole numbers may be one float.
const ODD: f64 = 9_007_199_254_740_992.0;

/// Floats that lie within fewer steps than this of each other tell too little of what lies between them.
const STEPS: f64 = 4_294_967_296.0;

/// What a second look told.
#[derive(Debug, Default)]
pub struct Exact {
    /// The distinct whole numbers in their order with their counts, unless there are too many.
    pub distinct: Option<Vec<(i256, u64)>>,
    /// Two different values that are one float, in a column whose floats lie so close that this matters.
    pub merged: Option<(i256, i256)>,
    /// Two different decimals that are one float, and how many of their digits stand behind the point: as levels they
    /// would be one.
    pub alike: Option<(i256, i256, i8)>,
}

/// How many digits stand behind the point, in a column of decimals with a fraction.
fn digits_behind(data_type: &DataType) -> Option<i8> {
    match data_type {
        DataType::Decimal32(_, s)
        | DataType::Decimal64(_, s)
        | DataType::Decimal128(_, s)
        | DataType::Decimal256(_, s) => Some(*s).filter(|&s| s > 0),
        DataType::Dictionary(_, values) => digits_behind(values),
        _ => None,
    }
}

/// Decimals in the words of the user.
pub fn decimal_text(units: i256, behind: i8) -> String {
    let digits = format!("{:0>width$}", units.wrapping_abs().to_string(), width = behind as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - behind as usize);
    format!("{}{whole}.{fraction}", if units.is_negative() { "-" } else { "" })
}

/// True if some value has more digits than a float holds for sure.
fn is_long(chunks: &[ArrayRef]) -> bool {
    let odd = i256::from_i128(ODD as i128);
    let mut long = false;
    for chunk in chunks {
        for_each_wide(chunk, &mut |value| long |= value.is_some_and(|value| value.wrapping_abs() >= odd));
    }
    long
}

/// The distance from the float of the largest size in a column to the next.
fn step(profile: &Profile) -> f64 {
    let most = profile.maximum.abs().max(profile.minimum.abs());
    f64::from_bits(most.to_bits() + 1) - most
}

/// True if some whole numbers of this size are one float.
pub fn is_large(profile: &Profile) -> bool {
    profile.maximum.max(-profile.minimum) >= ODD
}

fn counts_nanoseconds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(TimeUnit::Nanosecond, _) | DataType::Duration(TimeUnit::Nanosecond) => true,
        DataType::Dictionary(_, values) => counts_nanoseconds(values),
        _ => false,
    }
}

impl Exact {
    /// The second look at a column, if it needs one: its chunks, its profile, and whether it is one of whole numbers.
    pub fn of(chunks: &[ArrayRef], profile: &Profile, whole: bool) -> Option<Self> {
        let large = whole && is_large(profile);
        let close = profile.n_values() > 0 && profile.maximum - profile.minimum < STEPS * step(profile);
        let fine = close && chunks.first().is_some_and(|chunk| counts_nanoseconds(chunk.data_type()));
        let behind = chunks.first().and_then(|chunk| digits_behind(chunk.data_type()));
        if let Some(behind) = behind.filter(|_| is_long(chunks)) {
            let alike = merged(chunks);
            let all = Self { alike: alike.map(|(a, b)| (a, b, behind)), ..Self::default() };
            return Some(Self { merged: alike.filter(|_| close), ..all });
        }
        if !large && !fine {
            return None;
        }
        let distinct = if large { distinct(chunks) } else { None };
        let merged = if close { merged(chunks) } else { None };
        Some(Self { distinct, merged, alike: None })
    }
}

/// The distinct values in order with their counts, if they are few.
fn distinct(chunks: &[ArrayRef]) -> Option<Vec<(i256, u64)>> {
    let mut counts: BTreeMap<i256, u64> = BTreeMap::new();
    for chunk in chunks {
        for_each_wide(chunk, &mut |value| {
            if let Some(value) = value
                && counts.len() <= DISTINCT_CAP
            {
                *counts.entry(value).or_insert(0) += 1;
            }
        });
    }
    (counts.len() <= DISTINCT_CAP).then(|| counts.into_iter().collect())
}

/// The smallest two different values that are one float.
fn merged(chunks: &[ArrayRef]) -> Option<(i256, i256)> {
    let (mut values, mut floats) = (Vec::new(), Vec::new());
    for chunk in chunks {
        for_each_wide(chunk, &mut |value| values.push(value));
        for_each_number(chunk, &mut |x| floats.push(x));
    }
    let mut known: Vec<(i256, f64)> = values.into_iter().zip(floats).filter_map(|(value, x)| value.zip(x)).collect();
    known.sort_unstable_by_key(|(value, _)| *value);
    let one_float = |pair: &&[(i256, f64)]| pair[0].0 != pair[1].0 && pair[0].1 == pair[1].1;
    known.windows(2).find(one_float).map(|pair| (pair[0].0, pair[1].0))
}
