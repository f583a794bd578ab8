//! Values that are one float and yet differ: whole numbers beyond 2^53, and times told to the nanosecond.
//!
//! A column of numbers is read as floats. That is harmless where what a float leaves out is small beside the spread of
//! the column; where it is not, the column would lie. So such columns are looked at a second time, exactly.

use arbornet_core::frame::Profile;
use arbornet_core::frame::numbers::DISTINCT_CAP;
use arrow_array::ArrayRef;
use arrow_schema::{DataType, TimeUnit};

use super::values::for_each_wide;

/// From here on neighbouring whole numbers may be one float.
const ODD: f64 = 9_007_199_254_740_992.0;

/// Floats that lie within fewer steps than this of each other tell too little of what lies between them.
const STEPS: f64 = 4_294_967_296.0;

/// What a second look told.
#[derive(Debug, Default)]
pub struct Exact {
    /// The distinct whole numbers in their order with their counts, unless there are too many.
    pub distinct: Option<Vec<(i128, u64)>>,
    /// Two different values that are one float, in a column whose floats lie so close that this matters.
    pub merged: Option<(i128, i128)>,
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
        if !large && !fine {
            return None;
        }
        let mut values: Vec<(i128, f64)> = Vec::new();
        for chunk in chunks {
            for_each_wide(chunk, &mut |value| values.extend(value));
        }
        values.sort_unstable_by_key(|value| value.0);
        let same = |(a, b): &(&(i128, f64), &(i128, f64))| a.0 != b.0 && a.1 == b.1;
        let merged = values.iter().zip(values.iter().skip(1)).find(same).map(|(a, b)| (a.0, b.0));
        let mut distinct: Vec<(i128, u64)> = Vec::new();
        for (value, _) in values {
            if let Some((_, count)) = distinct.last_mut().filter(|(last, _)| *last == value) {
                *count += 1;
            } else if distinct.len() > DISTINCT_CAP {
                break;
            } else {
                distinct.push((value, 1));
            }
        }
        let few = large && distinct.len() <= DISTINCT_CAP;
        Some(Self { distinct: few.then_some(distinct), merged: merged.filter(|_| close) })
    }
}
