//! Codes that grow with the number of distinct values: one byte a row until the 256th value is met.

use super::MISSING;

/// An unsigned integer with its largest value set aside for "missing".
pub trait Code: Copy + Send + Sync {
    /// Number of codes the type can hold beside "missing".
    const ROOM: u32;
    /// Narrows; `MISSING` becomes the type's largest value.
    fn narrow(code: u32) -> Self;
    /// Widens; the type's largest value becomes `MISSING`.
    fn widen(self) -> u32;
}

macro_rules! code {
    ($type:ty) => {
        impl Code for $type {
            const ROOM: u32 = <$type>::MAX as u32;
            fn narrow(code: u32) -> Self {
                code as $type
            }
            fn widen(self) -> u32 {
                if self == <$type>::MAX { MISSING } else { u32::from(self) }
            }
        }
    };
}
code!(u8);
code!(u16);
code!(u32);

/// Codes by row in order of first appearance, `MISSING` where there is no value.
#[derive(Clone, Debug)]
pub enum RawCodes {
    /// At most 255 distinct values.
    U8(Vec<u8>),
    /// At most 65,535.
    U16(Vec<u16>),
    /// More.
    U32(Vec<u32>),
}

/// Calls `$body` with `$codes` bound to the vector inside, whatever its width.
#[macro_export]
macro_rules! with_raw_codes {
    ($raw:expr, $codes:ident => $body:expr) => {
        match $raw {
            $crate::frame::RawCodes::U8($codes) => $body,
            $crate::frame::RawCodes::U16($codes) => $body,
            $crate::frame::RawCodes::U32($codes) => $body,
        }
    };
}

fn fill<C: Code>(codes: &mut Vec<C>, more: &mut impl Iterator<Item = u32>) -> Option<u32> {
    for code in more {
        if code >= C::ROOM && code != MISSING {
            return Some(code);
        }
        codes.push(C::narrow(code));
    }
    None
}

fn widened<A: Code, B: Code>(codes: &[A], capacity: usize) -> Vec<B> {
    let mut wide = Vec::with_capacity(capacity.max(codes.len()));
    wide.extend(codes.iter().map(|&code| B::narrow(code.widen())));
    wide
}

impl RawCodes {
    /// Room for `n_rows` codes of one byte.
    pub fn with_capacity(n_rows: usize) -> Self {
        Self::U8(Vec::with_capacity(n_rows))
    }

    /// Appends codes, widening when one does not fit.
    pub fn extend(&mut self, more: impl Iterator<Item = u32>) {
        let mut more = more;
        loop {
            let Some(code) = with_raw_codes!(&mut *self, codes => fill(codes, &mut more)) else { return };
            *self = match self {
                Self::U8(codes) if code < u16::ROOM => Self::U16(widened(codes, codes.capacity())),
                Self::U8(codes) => Self::U32(widened(codes, codes.capacity())),
                Self::U16(codes) => Self::U32(widened(codes, codes.capacity())),
                Self::U32(_) => unreachable!("every code but MISSING fits u32"),
            };
            self.extend(std::iter::once(code));
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        with_raw_codes!(self, codes => codes.len())
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of one row.
    pub fn get(&self, row: usize) -> u32 {
        with_raw_codes!(self, codes => codes[row].widen())
    }

    /// How many rows hold each of `n` codes, and how many none.
    pub fn counts(&self, n: usize) -> (Vec<u64>, u64) {
        fn count<C: Code>(codes: &[C], n: usize) -> (Vec<u64>, u64) {
            let mut counts = vec![0; n];
            let mut missing = 0;
            for code in codes {
                match counts.get_mut(code.widen() as usize) {
                    Some(count) => *count += 1,
                    None => missing += 1,
                }
            }
            (counts, missing)
        }
        with_raw_codes!(self, codes => count(codes, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_come_back_whatever_their_width(
            codes in prop::collection::vec(prop_oneof![Just(MISSING), 0..300_u32, 65_000..70_000_u32], 0..200)
        ) {
            let mut raw = RawCodes::with_capacity(codes.len());
            raw.extend(codes.iter().copied());
            prop_assert_eq!((0..raw.len()).map(|row| raw.get(row)).collect::<Vec<_>>(), codes);
        }
    }

    #[test]
    fn the_largest_code_of_a_width_is_kept_apart_from_missing() {
        let mut raw = RawCodes::with_capacity(3);
        raw.extend([254, MISSING].into_iter());
        assert!(matches!(raw, RawCodes::U8(_)));
        raw.extend([255].into_iter());
        assert!(matches!(raw, RawCodes::U16(_)));
        assert_eq!((raw.get(0), raw.get(1), raw.get(2)), (254, MISSING, 255));
    }
}
