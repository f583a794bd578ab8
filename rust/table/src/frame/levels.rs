//! A column of levels as it came: codes in order of first appearance, and the distinct values beside them.

use std::cmp::Ordering;

use super::codes::{Code, RawCodes};
use super::{Cells, MISSING};
use crate::table::{Codes, Level};
use crate::with_raw_codes;

/// Codes and what they stand for. Values are addressed by rank: their place in the declared or the sorted order.
#[derive(Clone, Debug)]
pub struct Levels {
    codes: RawCodes,
    values: Vec<Level>,
    counts: Vec<u64>,
    n_missing: u64,
    /// Rank of each raw code.
    ranks: Vec<u32>,
    declared: bool,
}

/// Truth values, then numbers by value, then texts by code point.
pub fn by_value(a: &Level, b: &Level) -> Ordering {
    fn class(level: &Level) -> u8 {
        match level {
            Level::Bool(_) => 0,
            Level::Int(_) | Level::Real(_) => 1,
            Level::Text(_) => 2,
        }
    }
    fn number(level: &Level) -> f64 {
        match level {
            Level::Int(i) => *i as f64,
            Level::Real(x) => *x,
            _ => 0.0,
        }
    }
    match (a, b) {
        (Level::Bool(a), Level::Bool(b)) => a.cmp(b),
        (Level::Int(a), Level::Int(b)) => a.cmp(b),
        (Level::Text(a), Level::Text(b)) => a.cmp(b),
        _ => class(a).cmp(&class(b)).then(number(a).total_cmp(&number(b))),
    }
}

impl Levels {
    /// Distinct values in order of first appearance: they will be known in the order of their values.
    pub fn sorted(codes: RawCodes, values: &[Level]) -> Self {
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by(|&a, &b| by_value(&values[a as usize], &values[b as usize]));
        let mut ranks = vec![0; values.len()];
        for (rank, &code) in order.iter().enumerate() {
            ranks[code as usize] = rank as u32;
        }
        let (raw_counts, n_missing) = codes.counts(values.len());
        let counts = order.iter().map(|&code| raw_counts[code as usize]).collect();
        let values = order.iter().map(|&code| values[code as usize].clone()).collect();
        Self { codes, values, counts, n_missing, ranks, declared: false }
    }

    /// Values in an order their source declared, observed or not; codes already stand for it.
    pub fn declared(codes: RawCodes, values: Vec<Level>) -> Self {
        let (counts, n_missing) = codes.counts(values.len());
        let ranks = (0..values.len() as u32).collect();
        Self { codes, values, counts, n_missing, ranks, declared: true }
    }

    /// The values by rank.
    pub fn values(&self) -> &[Level] {
        &self.values
    }

    /// Number of rows with each value, by rank.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Number of rows without a value.
    pub fn n_missing(&self) -> u64 {
        self.n_missing
    }

    /// True if the source declared these values and their order.
    pub fn is_declared(&self) -> bool {
        self.declared
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The rank in one row, `MISSING` where there is none.
    pub fn rank(&self, row: usize) -> u32 {
        self.ranks.get(self.codes.get(row) as usize).copied().unwrap_or(MISSING)
    }

    /// From rank to code of the wanted levels, turned into from raw code to code.
    fn look_up(&self, code_of_rank: &[u32]) -> Vec<u32> {
        self.ranks.iter().map(|&rank| code_of_rank[rank as usize]).collect()
    }

    /// Clears the rows of `keep` where this column has no code among the wanted levels; returns how many rows lack one.
    /// `missing` is the code of a missing value, if it has one.
    pub fn clear_missing(&self, code_of_rank: &[u32], missing: u32, keep: &mut [bool]) -> u64 {
        fn clear<C: Code>(codes: &[C], map: &[u32], missing: u32, keep: &mut [bool]) -> u64 {
            let mut n = 0;
            for (code, keep) in codes.iter().zip(keep) {
                if map.get(code.widen() as usize).copied().unwrap_or(missing) == MISSING {
                    *keep = false;
                    n += 1;
                }
            }
            n
        }
        let map = self.look_up(code_of_rank);
        if missing != MISSING && !map.contains(&MISSING) || self.n_missing == 0 && !map.contains(&MISSING) {
            return 0;
        }
        with_raw_codes!(&self.codes, codes => clear(codes, &map, missing, keep))
    }

    /// The codes of the wanted levels in the kept rows (all rows if `None`); no kept row may lack one.
    pub fn encode(&self, code_of_rank: &[u32], missing: u32, n_levels: usize, keep: Option<&[bool]>) -> Codes {
        fn mapped<C: Code, D: Copy>(
            codes: &[C],
            map: &[u32],
            missing: u32,
            keep: Option<&[bool]>,
            to: impl Fn(u32) -> D,
        ) -> Vec<D> {
            let map: Vec<D> = map.iter().map(|&code| to(code)).collect();
            let missing = to(missing);
            let look_up = |code: &C| map.get(code.widen() as usize).copied().unwrap_or(missing);
            match keep {
                None => codes.iter().map(look_up).collect(),
                Some(keep) => {
                    codes.iter().zip(keep).filter(|(_, keep)| **keep).map(|(code, _)| look_up(code)).collect()
                }
            }
        }
        let map = self.look_up(code_of_rank);
        with_raw_codes!(&self.codes, codes => match n_levels {
            0..=256 => Codes::U8(mapped(codes, &map, missing, keep, |code| code as u8)),
            257..=65_536 => Codes::U16(mapped(codes, &map, missing, keep, |code| code as u16)),
            _ => Codes::U32(mapped(codes, &map, missing, keep, |code| code)),
        })
    }

    /// The codes of the wanted levels in every row, `MISSING` where there is none.
    pub fn cells(&self, code_of_rank: &[u32], missing: u32) -> Cells {
        let map = self.look_up(code_of_rank);
        let look_up = |code: u32| map.get(code as usize).copied().unwrap_or(missing);
        Cells::Codes(with_raw_codes!(&self.codes, codes => codes.iter().map(|code| look_up(code.widen())).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Levels {
        let mut interner = super::super::TextInterner::default();
        let mut codes = RawCodes::with_capacity(text.len());
        let of = text.chars().map(|c| if c == '.' { MISSING } else { interner.code(&[c as u8]) });
        codes.extend(of.collect::<Vec<_>>().into_iter());
        let values = interner.into_values();
        Levels::sorted(
            codes,
            &values.iter().map(|v| Level::Text(String::from_utf8_lossy(v).into())).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn values_are_known_in_their_order_not_in_that_of_appearance() {
        let levels = letters("cab.b");
        assert_eq!(levels.values().iter().map(ToString::to_string).collect::<String>(), "abc");
        assert_eq!(levels.counts(), [1, 2, 1]);
        assert_eq!((0..5).map(|row| levels.rank(row)).collect::<Vec<_>>(), [2, 0, 1, MISSING, 1]);
    }

    #[test]
    fn rows_without_a_wanted_level_are_cleared_and_the_others_encoded() {
        let levels = letters("cab.b");
        let (map, mut keep) = ([1, MISSING, 0], [true; 5]);
        assert_eq!(levels.clear_missing(&map, MISSING, &mut keep), 3);
        assert_eq!(keep, [true, true, false, false, false]);
        assert_eq!(levels.encode(&map, MISSING, 2, Some(&keep)), Codes::U8(vec![0, 1]));
        assert_eq!(levels.clear_missing(&[0, 1, 2], 3, &mut [true; 5]), 0);
        assert_eq!(levels.encode(&[0, 1, 2], 3, 4, None), Codes::U8(vec![2, 0, 1, 3, 1]));
    }

    #[test]
    fn numbers_sort_by_value_and_texts_by_code_point() {
        let mut values = [Level::Text("é".into()), Level::Int(10), Level::Real(9.5), Level::Text("z".into())];
        values.sort_by(by_value);
        assert_eq!(values.iter().map(ToString::to_string).collect::<Vec<_>>(), ["9.5", "10", "z", "é"]);
    }
}
