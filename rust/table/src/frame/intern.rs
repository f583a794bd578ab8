//! Distinct values to codes in order of first appearance.
//!
//! A text of at most twelve bytes is hashed as one 128-bit word in the layout of an Arrow view (length, then bytes), so
//! that a column of short texts never follows a pointer; longer texts are kept in a map of their own.

use rustc_hash::FxHashMap;

/// Longest text that fits a view.
const INLINE: usize = 12;

/// Codes of texts.
#[derive(Debug, Default)]
pub struct TextInterner {
    /// The last short text met under each of its hashes, with its code: most rows repeat a text met before.
    recent: Vec<(u128, u32)>,
    short: FxHashMap<u128, u32>,
    long: FxHashMap<Box<[u8]>, u32>,
    values: Vec<Box<[u8]>>,
}

/// The Arrow view of a text of at most twelve bytes.
pub fn inline_view(text: &[u8]) -> Option<u128> {
    if text.len() > INLINE {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[0] = text.len() as u8;
    bytes[4..4 + text.len()].copy_from_slice(text);
    Some(u128::from_le_bytes(bytes))
}

/// The text inside an inline view.
fn inline_text(view: u128) -> Box<[u8]> {
    let bytes = view.to_le_bytes();
    bytes[4..4 + usize::from(bytes[0])].into()
}

impl TextInterner {
    /// The code of a text.
    pub fn code(&mut self, text: &[u8]) -> u32 {
        match inline_view(text) {
            Some(view) => self.inline_code(view),
            None => self.long_code(text),
        }
    }

    /// The code of an inline view; its unused bytes are zero.
    pub fn inline_code(&mut self, view: u128) -> u32 {
        let folded = (view as u64) ^ ((view >> 64) as u64).rotate_left(29);
        let place = (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize;
        match self.recent.get(place) {
            Some(&(known, code)) if known == view => code,
            _ => self.inline_code_by_map(view, place),
        }
    }

    fn inline_code_by_map(&mut self, view: u128, place: usize) -> u32 {
        let values = &mut self.values;
        let code = *self.short.entry(view).or_insert_with(|| {
            values.push(inline_text(view));
            (values.len() - 1) as u32
        });
        // No view is all ones: its length would not be inline.
        self.recent.resize(256, (u128::MAX, 0));
        self.recent[place] = (view, code);
        code
    }

    fn long_code(&mut self, text: &[u8]) -> u32 {
        if let Some(&code) = self.long.get(text) {
            return code;
        }
        let code = self.values.len() as u32;
        self.long.insert(text.into(), code);
        self.values.push(text.into());
        code
    }

    /// Number of distinct texts so far.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True before the first text.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The distinct texts by code.
    pub fn into_values(self) -> Vec<Box<[u8]>> {
        self.values
    }
}

/// Codes of small values: integers, or numbers by their bits.
#[derive(Debug)]
pub struct Interner<K> {
    codes: FxHashMap<K, u32>,
    values: Vec<K>,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Self { codes: FxHashMap::default(), values: Vec::new() }
    }
}

/// The bits that stand for a number: those of 0.0 for -0.0.
pub fn number_key(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

impl<K: Copy + Eq + std::hash::Hash> Interner<K> {
    /// The code of a value.
    pub fn code(&mut self, value: K) -> u32 {
        let values = &mut self.values;
        *self.codes.entry(value).or_insert_with(|| {
            values.push(value);
            (values.len() - 1) as u32
        })
    }

    /// The distinct values by code.
    pub fn into_values(self) -> Vec<K> {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_texts_share_a_code_and_codes_name_their_text(texts in prop::collection::vec("[ab\0]{0,14}", 0..60)) {
            let mut interner = TextInterner::default();
            let codes: Vec<u32> = texts.iter().map(|text| interner.code(text.as_bytes())).collect();
            let values = interner.into_values();
            for (text, &code) in texts.iter().zip(&codes) {
                prop_assert_eq!(text.as_bytes(), &*values[code as usize]);
            }
            let distinct: std::collections::BTreeSet<_> = texts.iter().collect();
            prop_assert_eq!(values.len(), distinct.len());
        }
    }

    #[test]
    fn negative_zero_is_zero() {
        let mut interner = Interner::default();
        assert_eq!(interner.code(number_key(0.0)), interner.code(number_key(-0.0)));
        assert_eq!(interner.into_values(), [0]);
    }
}
