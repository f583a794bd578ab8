//! The natural logarithm of positive normal numbers, branch-free, so that several are taken at once.
//!
//! The method of fdlibm's `e_log.c`: `x = 2^e (1 + f)`, `s = f / (2 + f)`, `ln(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2))`;
//! within one unit in the last place, and the same bits on every machine.

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// Coefficients of R, from the lowest power on.
const R: [f64; 7] = [
    f64::from_bits(0x3fe5_5555_5555_5593),
    f64::from_bits(0x3fd9_9999_9997_fa04),
    f64::from_bits(0x3fd2_4924_9422_9359),
    f64::from_bits(0x3fcc_71c5_1d8e_78af),
    f64::from_bits(0x3fc7_4664_96cb_03de),
    f64::from_bits(0x3fc3_9a09_d078_c69f),
    f64::from_bits(0x3fc2_f112_df3e_5244),
];
/// Bits of a number just below the square root of one half: mantissas are taken from there on.
const LEAST: u64 = 0x3fe6_a09e_0000_0000;
/// `2^52`, whose lowest mantissa bits count ones.
const ONES: u64 = 0x4330_0000_0000_0000;

/// `ln x` for a positive normal `x`.
#[allow(clippy::inline_always)] // it must be compiled for the registers of its caller
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // The exponent, lifted by 1023 so that it stays positive.
    let above = x.to_bits().wrapping_sub(LEAST).wrapping_add(1023 << 52);
    let exponent = above >> 52;
    let e = f64::from_bits(ONES | exponent) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits((above & ((1 << 52) - 1)) + LEAST) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = w * (R[1] + w * (R[3] + w * R[5]));
    let even = z * (R[0] + w * (R[2] + w * (R[4] + w * R[6])));
    let half = 0.5 * f * f;
    e * LN2_HIGH - ((half - (s * (half + (odd + even)) + e * LN2_LOW)) - f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logarithm() {
        let mut x = 1e-300_f64;
        while x < 1e300 {
            let (got, want) = (ln(x), x.ln());
            assert!((got - want).abs() <= 2.3e-16 * want.abs().max(1e-3), "{x}: {got} {want}");
            x *= 1.000_37;
        }
        assert_eq!(ln(1.0), 0.0);
        for i in 1..1000 {
            let x = 1.0 + f64::from(i - 500) * 1e-9;
            assert!((ln(x) - x.ln()).abs() <= 1e-24_f64.max(x.ln().abs() * 3e-16), "{x}");
        }
    }
}
