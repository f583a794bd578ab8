//! Logarithms of whole numbers: counts are mostly small, and the same few come again and again.

use std::sync::LazyLock;

/// So many are kept: 32 kB.
const KEPT: u32 = 1 << 12;

static LOGARITHMS: LazyLock<Box<[f64]>> = LazyLock::new(|| (0..KEPT).map(|n| f64::from(n).ln()).collect());

/// `ln n`.
#[inline]
pub fn ln_of_count(n: u32) -> f64 {
    if n < KEPT { LOGARITHMS[n as usize] } else { f64::from(n).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_logarithms_are_those_of_their_numbers() {
        for n in (0..2 * KEPT).chain([u32::MAX]) {
            assert_eq!(ln_of_count(n).to_bits(), f64::from(n).ln().to_bits());
        }
    }
}
