//! The standard Student t distribution for any real number of degrees of freedom, from one to hundreds of millions.
//!
//! Probabilities come from a continued fraction of the incomplete beta function, run until it stands still; quantiles from Newton steps on whichever of the central and the tail probability is not close to one, so
//! both keep their relative precision. Leaves of a large table have as many degrees of freedom as rows, where the
//! general-purpose implementations we tried stop after a fixed number of terms.

use std::f64::consts::{LN_2, PI};

use libm::lgamma;

/// `ln Gamma(a + 1/2) - ln Gamma(a)`, without the cancellation of the two for large `a`.
fn ln_gamma_half_step(a: f64) -> f64 {
    if a < 30.0 {
        return lgamma(a + 0.5) - lgamma(a);
    }
    // Asymptotic series in odd powers of 1/a; the next term is below 1e-15 from 30 on.
    let r = 1.0 / (a * a);
    0.5 * a.ln() - (1.0 / 8.0 - r * (1.0 / 192.0 - r * (1.0 / 640.0 - r * 17.0 / 14336.0))) / a
}

/// Log density at `z`.
pub fn ln_density(df: f64, z: f64) -> f64 {
    Constants::of(df).ln_density(z)
}

/// What does not depend on where a distribution is looked at.
struct Constants {
    df: f64,
    half_step: f64,
    ln_peak: f64,
}

impl Constants {
    fn of(df: f64) -> Self {
        let half_step = ln_gamma_half_step(df / 2.0);
        Self { df, half_step, ln_peak: half_step - 0.5 * (df * PI).ln() }
    }

    fn ln_density(&self, z: f64) -> f64 {
        self.ln_peak - f64::midpoint(self.df, 1.0) * (z * z / self.df).ln_1p()
    }
}

/// The continued fraction of `I_x(a, b)`, with `y = 1 - x`, in the form of Didonato and Morris (TOMS 708, `bfrac`):
/// `1 - x` is never formed from `x`. It converges fast where `x` is at most the mean.
fn beta_fraction(x: f64, y: f64, a: f64, b: f64) -> f64 {
    let c = 1.0 + (a + b) * y - b;
    let (c0, c1) = (b / a, 1.0 + 1.0 / a);
    let (mut p, mut s) = (1.0, a + 1.0);
    // The last convergent, and the numerator and denominator before it on the scale where its denominator is one.
    let mut ratio = c1 / c;
    let (mut above, mut below) = (0.0, ratio);
    for n in 1..10_000_000 {
        let n = f64::from(n);
        let w = n * (b - n) * x;
        let e = a / s;
        let alpha = p * (p + c0) * e * e * w * x;
        let t = n / a;
        let beta = n + w / s + (1.0 + t) / (c1 + 2.0 * t) * (c + n * (1.0 + y));
        p = 1.0 + t;
        s += 2.0;
        let denominator = alpha * below + beta;
        let next = (alpha * above + beta * ratio) / denominator;
        below = 1.0 / denominator;
        above = ratio * below;
        let done = (next - ratio).abs() <= 1e-16 * next.abs();
        ratio = next;
        if done {
            break;
        }
    }
    ratio
}

/// `P(|T| < z)` and `ln P(T > z)` for `z >= 0`, each with full relative precision.
fn central_and_ln_tail(of: &Constants, z: f64) -> (f64, f64) {
    if z == 0.0 {
        return (0.0, -LN_2);
    }
    let df = of.df;
    let a = df / 2.0;
    // x = df / (df + z^2) and its complement y, without cancellation and without overflow of z^2.
    let ratio = z / df.sqrt();
    let (ln_x, y) = if ratio < 1e100 {
        let r = ratio * ratio;
        (-r.ln_1p(), r / (1.0 + r))
    } else {
        (-2.0 * ratio.ln(), 1.0)
    };
    // x^a y^(1/2) / B(a, 1/2), where B(a, 1/2) = sqrt(pi) Gamma(a) / Gamma(a + 1/2).
    let ln_front = a * ln_x + 0.5 * y.ln() + of.half_step - 0.5 * PI.ln();
    if y < 1.5 / (a + 2.5) {
        let central = ln_front.exp() * beta_fraction(y, ln_x.exp(), 0.5, a);
        (central, (-central).ln_1p() - LN_2)
    } else {
        let ln_both_tails = ln_front + beta_fraction(ln_x.exp(), y, a, 0.5).ln();
        (-ln_both_tails.exp_m1(), ln_both_tails - LN_2)
    }
}

/// `P(T <= z)`.
pub fn cdf(df: f64, z: f64) -> f64 {
    let (central, ln_tail) = central_and_ln_tail(&Constants::of(df), z.abs());
    if z < 0.0 {
        ln_tail.exp()
    } else if central < 0.5 {
        0.5 + 0.5 * central
    } else {
        1.0 - ln_tail.exp()
    }
}

/// The `z` with `P(T <= z) = p`; infinite for `p` of 0 and 1.
pub fn quantile(df: f64, p: f64) -> f64 {
    let central = 2.0 * (p - 0.5).abs();
    let of = Constants::of(df);
    let magnitude = if p <= 0.0 || p >= 1.0 {
        f64::INFINITY
    } else if central < 0.5 {
        central_quantile(&of, central)
    } else {
        tail_quantile(&of, p.min(1.0 - p).ln())
    };
    if p < 0.5 { -magnitude } else { magnitude }
}

/// Where so many steps from `start` lead. In the last digits Newton's steps often go round in circles, and where the last
/// one ends is then known without taking it. A step gives where it leads, and whether that is the end.
fn walked<S: Copy + PartialEq, const N: usize>(start: S, mut step: impl FnMut(S) -> (S, bool)) -> S {
    let mut been = [start; N];
    for taken in 1..=N {
        let (at, over) = step(been[taken - 1]);
        if over || taken == N {
            return at;
        }
        if let Some(first) = been[..taken].iter().rposition(|earlier| *earlier == at) {
            return been[first + (N - first) % (taken - first)];
        }
        been[taken] = at;
    }
    start
}

/// The `z` with `P(|T| < z) = central`. That probability is concave in `z`, so Newton's steps rise towards it.
fn central_quantile(of: &Constants, central: f64) -> f64 {
    walked::<f64, 100>(central / (2.0 * of.ln_density(0.0).exp()), |z| {
        let step = (central - central_and_ln_tail(of, z).0) / (2.0 * of.ln_density(z).exp());
        let next = z + step;
        (next, step.abs() <= 1e-16 * next)
    })
}

/// The `z > 0` with `ln P(T > z) = ln_tail`. In `ln z` the log tail is concave and bends from flat to slope `-df`, so
/// Newton's steps from the right come down to it; a bracket catches those from the flat left.
fn tail_quantile(of: &Constants, ln_tail: f64) -> f64 {
    let start = (0.0_f64, f64::NEG_INFINITY, f64::INFINITY);
    let (u, ..) = walked::<(f64, f64, f64), 200>(start, |(u, mut low, mut high)| {
        let z = u.exp();
        let here = central_and_ln_tail(of, z).1;
        if here > ln_tail {
            low = u;
        } else {
            high = u;
        }
        let slope = -(u + of.ln_density(z) - here).exp();
        let mut next = u + (ln_tail - here) / slope;
        if !(next >= low && next <= high) {
            next = if high.is_infinite() { low + 1.0 } else { f64::midpoint(low, high) };
        }
        ((next, low, high), (next - u).abs() <= 2e-16 * next.abs().max(1.0))
    });
    u.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (df, p, quantile): tangent, `2p - 1 = z / sqrt(2 + z^2)`, and the table every textbook prints, by `scipy.stats.t`.
    const ORACLE: [(f64, f64, f64); 3] =
        [(1.0, 0.75, 1.0), (2.0, 0.9, 1.8856180831641272), (4.0, 0.975, 2.7764451051977987)];

    #[test]
    fn quantiles_of_closed_form_cases() {
        for (df, p, z) in ORACLE {
            assert!((quantile(df, p) / z - 1.0).abs() < 1e-14, "{df} {p} {}", quantile(df, p));
            assert!((cdf(df, z) - p).abs() < 1e-15);
        }
    }

    #[test]
    fn steps_that_go_round_in_circles_end_where_the_last_would() {
        // From 0 into a circle of so many.
        for (circle, way) in [(1, 0), (1, 7), (2, 4), (5, 3), (20, 11), (90, 60)] {
            let step = |at: u32| if at + 1 < way + circle { at + 1 } else { way };
            let mut last = 0;
            for _ in 0..100 {
                last = step(last);
            }
            let mut taken = 0;
            let mut counted = |at| {
                taken += 1;
                (step(at), false)
            };
            assert_eq!(walked::<u32, 100>(0, &mut counted), last, "{circle} {way}");
            assert!(taken <= (way + circle).min(100));
        }
        assert_eq!(walked::<u32, 100>(0, |at| (at + 1, at == 4)), 5);
        assert_eq!(walked::<u32, 100>(0, |at| (at + 1, false)), 100);
    }

    #[test]
    fn quantiles_of_the_centre_are_those_of_all_steps() {
        for df in [1.5, 7.0, 50.0, 500.3, 1e5] {
            let of = Constants::of(df);
            for i in 1..400 {
                let central = f64::from(i) / 801.0;
                let mut z = central / (2.0 * of.ln_density(0.0).exp());
                for _ in 0..100 {
                    let step = (central - central_and_ln_tail(&of, z).0) / (2.0 * of.ln_density(z).exp());
                    z += step;
                    if step.abs() <= 1e-16 * z {
                        break;
                    }
                }
                assert_eq!(central_quantile(&of, central), z, "{df} {i}");
            }
        }
    }

    #[test]
    fn cauchy_tails_keep_their_relative_precision() {
        for exponent in [1, 10, 100, 250] {
            let p = 10.0_f64.powi(-exponent);
            let z = -1.0 / (PI * p).tan();
            assert!((quantile(1.0, p) / z - 1.0).abs() < 1e-12, "{p}");
            assert!((cdf(1.0, z) / p - 1.0).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn many_degrees_of_freedom_approach_the_normal() {
        // 2.5% point of the standard normal, with the first term of its expansion in 1/df.
        let z = -1.959963984540054_f64;
        for df in [1e6, 1e8] {
            let expected = z + (z.powi(3) + z) / (4.0 * df);
            assert!((quantile(df, 0.025) / expected - 1.0).abs() < 1e-11, "{df} {}", quantile(df, 0.025));
        }
    }

    #[test]
    fn quantile_inverts_cdf_over_degrees_and_probabilities() {
        for df in [0.5, 1.0, 2.5, 7.0, 30.0, 61.0, 1e3, 1e5] {
            for p in [1e-12, 1e-4, 0.025, 0.3, 0.499999, 0.5, 0.500001, 0.75, 0.999] {
                assert!((cdf(df, quantile(df, p)) / p - 1.0).abs() < 1e-11, "{df} {p}");
            }
        }
    }

    #[test]
    fn the_cdf_is_the_integral_of_the_density() {
        for df in [0.7, 3.0, 59.0, 61.0, 400.0] {
            // Simpson's rule from 0 to 2.
            let steps = 2_000;
            let h = 2.0 / f64::from(steps);
            let term = |i: i32| {
                let weight = if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                weight * ln_density(df, f64::from(i) * h).exp()
            };
            let integral = (0..=steps).map(term).sum::<f64>() * h / 3.0;
            assert!((cdf(df, 2.0) - 0.5 - integral).abs() < 1e-12, "{df}");
        }
    }
}
