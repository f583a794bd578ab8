//! Normal scores of a column's numbers: the scale on which the column itself is a normal distribution, whatever its shape.
//!
//! A number's normal score is the quantile of the standard normal distribution at its rank as a share of the rows. Here it is a
//! smooth curve through some of these pairs, the knots, and it has an inverse, so that densities, draws and intervals come back
//! to the user's units. Between knots the number is a cubic in the score (Fritsch and Butland's slopes, which keep it rising), beyond them
//! a straight line. Knots are at even steps of the score, as few as the rows allow: noise between neighbours is none of the curve.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use statrs::function::erf::{erfc, erfc_inv};

/// At most so many knots.
pub const MOST_KNOTS: usize = 33;
/// So many rows for each, and so many between any two.
const ROWS_A_KNOT: f64 = 30.0;
const ROWS_BETWEEN: f64 = 8.0;
/// A knot's slope is at most so many times that of either neighbouring part: with less than 3 the curve rises, and with 2 nowhere
/// less than half as fast as the part does in the mean.
const STEEPEST: f64 = 2.0;

/// The standard normal quantile of a share strictly between 0 and 1; that of `1 - share` is the same, below zero.
pub fn normal_score(share: f64) -> f64 {
    let tail = std::f64::consts::SQRT_2 * erfc_inv(2.0 * share.min(1.0 - share));
    if share < 0.5 { -tail } else { tail }
}

/// The share below a normal score.
pub fn share_below(score: f64) -> f64 {
    erfc(-score / std::f64::consts::SQRT_2) / 2.0
}

/// A curve from scores to numbers and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct NormalScores {
    /// Score and number of each knot; shared, as units are copied about.
    knots: Arc<[(f64, f64)]>,
}

impl NormalScores {
    /// The curve through knots `(score, number)`; `None` unless there are 2 to [`MOST_KNOTS`] and both rise.
    pub fn through(given: &[(f64, f64)]) -> Option<Self> {
        let rises = |w: &[(f64, f64)]| w[0].0 < w[1].0 && w[0].1 < w[1].1;
        let finite = given.iter().all(|&(t, x)| t.is_finite() && x.is_finite());
        if !(2..=MOST_KNOTS).contains(&given.len()) || !finite || !given.windows(2).all(rises) {
            return None;
        }
        Some(Self { knots: given.into() })
    }

    /// Of numbers, which may count more or less than once, but for one that has a probability of its own. Whole weights give what
    /// repeated rows give, in any order.
    pub fn of(values: &[f64], weights: Option<&[f64]>, point: Option<f64>) -> Self {
        let mut rows: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .map(|(i, &x)| (x, weights.map_or(1.0, |w| w[i])))
            .filter(|of| of.1 > 0.0 && Some(of.0) != point)
            .collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let total: f64 = rows.iter().map(|of| of.1).sum();
        let (mut of_values, mut before) = (Vec::new(), 0.0);
        for run in rows.chunk_by(|a, b| a.0 == b.0) {
            let own: f64 = run.iter().map(|of| of.1).sum();
            of_values.push((normal_score((before + own / 2.0) / total), run[0].0));
            before += own;
        }
        let knots = knots_among(&of_values, total);
        Self::through(&knots).unwrap_or_else(|| Self::of_one(of_values.first().map_or(0.0, |of| of.1)))
    }

    /// Of a number that all rows hold: it has the score 0.
    fn of_one(x: f64) -> Self {
        Self::through(&[(0.0, x), (1.0, x + x.abs().max(1.0))]).expect("both rise")
    }

    /// Score and number of each knot.
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }

    /// The number of a score.
    pub fn to_number(&self, score: f64) -> f64 {
        match self.part(self.knots().partition_point(|knot| knot.0 <= score)) {
            Part::Line { knot, slope } => knot.1 + (score - knot.0) * slope,
            Part::Cubic(cubic) => cubic.at((score - cubic.low.0) / (cubic.high.0 - cubic.low.0)),
        }
    }

    /// The score of a number; NaN for NaN.
    pub fn to_score(&self, number: f64) -> f64 {
        match self.part(self.knots().partition_point(|knot| knot.1 <= number)) {
            Part::Line { knot, slope } => knot.0 + (number - knot.1) / slope,
            Part::Cubic(cubic) => cubic.low.0 + (cubic.high.0 - cubic.low.0) * cubic.share_of(number),
        }
    }

    /// By how much numbers rise with the score there.
    pub fn slope(&self, score: f64) -> f64 {
        match self.part(self.knots().partition_point(|knot| knot.0 <= score)) {
            Part::Line { slope, .. } => slope,
            Part::Cubic(cubic) => {
                let width = cubic.high.0 - cubic.low.0;
                cubic.slope((score - cubic.low.0) / width) / width
            }
        }
    }

    /// The part above so many knots.
    fn part(&self, n_below: usize) -> Part {
        let knots = self.knots();
        let last = knots.len() - 1;
        match n_below {
            0 => Part::Line { knot: knots[0], slope: self.secant(0) },
            n if n > last => Part::Line { knot: knots[last], slope: self.secant(last - 1) },
            n => {
                let (low, high) = (knots[n - 1], knots[n]);
                let width = high.0 - low.0;
                Part::Cubic(Cubic { low, high, rise: [self.slope_at(n - 1) * width, self.slope_at(n) * width] })
            }
        }
    }

    /// The mean slope between a knot and the next.
    fn secant(&self, knot: usize) -> f64 {
        let (low, high) = (self.knots[knot], self.knots[knot + 1]);
        (high.1 - low.1) / (high.0 - low.0)
    }

    /// The slope at a knot: between those on both sides of it, nearer the smaller one.
    fn slope_at(&self, knot: usize) -> f64 {
        if knot == 0 {
            return self.secant(0);
        }
        if knot + 1 == self.knots.len() {
            return self.secant(knot - 1);
        }
        let (before, after) = (self.secant(knot - 1), self.secant(knot));
        let widths = (self.knots[knot].0 - self.knots[knot - 1].0, self.knots[knot + 1].0 - self.knots[knot].0);
        let (a, b) = (2.0 * widths.1 + widths.0, widths.1 + 2.0 * widths.0);
        ((a + b) / (a / before + b / after)).min(STEEPEST * before.min(after))
    }
}

/// Knots among the scores and numbers of rows that weigh `total` in all, at even steps of the score.
fn knots_among(of_values: &[(f64, f64)], total: f64) -> Vec<(f64, f64)> {
    let [first, .., last] = *of_values else { return Vec::new() };
    let parts = (total / ROWS_A_KNOT).clamp(4.0, (MOST_KNOTS - 1) as f64).floor();
    let between = |low: f64, high: f64| (share_below(high) - share_below(low)) * total;
    let mut knots = vec![first];
    for i in 1..parts as usize {
        let score = first.0 + (last.0 - first.0) * (i as f64 / parts);
        let above = of_values.partition_point(|of| of.0 <= score).min(of_values.len() - 1);
        let (low, high) = (of_values[above - 1], of_values[above]);
        let knot = (score, low.1 + (high.1 - low.1) * ((score - low.0) / (high.0 - low.0)));
        let (before, up) = (knots[knots.len() - 1], (knot.1, last.1));
        let enough = between(before.0, score) >= ROWS_BETWEEN && between(score, last.0) >= ROWS_BETWEEN;
        if enough && knot.1 > before.1 && up.0 < up.1 {
            knots.push(knot);
        }
    }
    knots.push(last);
    knots
}

/// What the curve is between two knots, or beyond the last.
enum Part {
    Line { knot: (f64, f64), slope: f64 },
    Cubic(Cubic),
}

/// A cubic between two knots, by the share of the way from one score to the next.
struct Cubic {
    low: (f64, f64),
    high: (f64, f64),
    /// Its slopes at both ends, for the whole way.
    rise: [f64; 2],
}

impl Cubic {
    fn at(&self, share: f64) -> f64 {
        let rest = 1.0 - share;
        let [up, down] = self.rise;
        self.low.1
            + (self.high.1 - self.low.1) * (share * share * (3.0 - 2.0 * share))
            + share * rest * (up * rest - down * share)
    }

    fn slope(&self, share: f64) -> f64 {
        let rest = 1.0 - share;
        let [up, down] = self.rise;
        6.0 * share * rest * (self.high.1 - self.low.1)
            + rest * (1.0 - 3.0 * share) * up
            + share * (3.0 * share - 2.0) * down
    }

    /// Where it is a number: by Newton's steps, halving where one would leave what is known.
    fn share_of(&self, number: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut share = (number - self.low.1) / (self.high.1 - self.low.1);
        for _ in 0..80 {
            let off = self.at(share) - number;
            if off > 0.0 {
                high = share;
            } else {
                low = share;
            }
            let next = share - off / self.slope(share);
            let next = if next > low && next < high { next } else { f64::midpoint(low, high) };
            if off == 0.0 || (next - share).abs() <= f64::EPSILON * share {
                break;
            }
            share = next;
        }
        share
    }
}

impl TryFrom<Vec<(f64, f64)>> for NormalScores {
    type Error = &'static str;

    fn try_from(knots: Vec<(f64, f64)>) -> Result<Self, Self::Error> {
        Self::through(&knots).ok_or("knots of normal scores do not rise")
    }
}

impl From<NormalScores> for Vec<(f64, f64)> {
    fn from(of: NormalScores) -> Self {
        of.knots().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let one = prop_oneof![-1e3..1e3, Just(2.5), (-20..20_i32).prop_map(f64::from), (-6.0..6.0).prop_map(f64::exp)];
        prop::collection::vec(one, 1..400)
    }

    proptest! {
        #[test]
        fn there_and_back_a_number_is_what_it_was(values in numbers(), beyond in -5e3..5e3) {
            let curve = NormalScores::of(&values, None, None);
            for &x in values.iter().chain([&beyond]) {
                let back = curve.to_number(curve.to_score(x));
                prop_assert!((back - x).abs() <= 1e-12 * (x.abs() + 1e3), "{x} {back}");
            }
        }

        #[test]
        fn it_rises_and_its_slope_is_that_of_the_curve(values in numbers(), score in -5.0..5.0, step in 1e-3..2.0) {
            let curve = NormalScores::of(&values, None, None);
            let (low, high) = (curve.to_number(score), curve.to_number(score + step));
            prop_assert!(low < high);
            // Simpson's rule is exact for the derivative of a cubic; over knots small steps are near enough.
            let n = 4000;
            let of = |i: usize| curve.slope(score + step * (i as f64 + 0.5) / f64::from(n));
            let area: f64 = (0..n as usize).map(of).sum::<f64>() * step / f64::from(n);
            prop_assert!((area - (high - low)).abs() <= 1e-4 * (high - low), "{area} {}", high - low);
        }

        #[test]
        fn whole_weights_give_what_repeated_rows_give_in_any_order(
            rows in prop::collection::vec((-9.0..9.0, 0..4_u8), 1..200).prop_filter("some weigh", |r| r.iter().any(|of| of.1 > 0)),
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = rows.iter().map(|of| (of.0, f64::from(of.1))).unzip();
            let repeated: Vec<f64> = rows.iter().rev().flat_map(|of| vec![of.0; of.1.into()]).collect();
            prop_assert_eq!(NormalScores::of(&values, Some(&weights), None), NormalScores::of(&repeated, None, None));
        }
    }

    #[test]
    fn scores_of_many_rows_are_those_of_their_ranks() {
        let n = 5000;
        let values: Vec<f64> =
            (0..n).map(|i| (normal_score((f64::from(i) + 0.5) / f64::from(n)) * 2.0).exp()).collect();
        let curve = NormalScores::of(&values, None, None);
        for i in (0..n).step_by(7) {
            let score = normal_score((f64::from(i) + 0.5) / f64::from(n));
            let most = if score.abs() < 2.0 { 0.01 } else { 0.3 };
            let told = curve.to_score(values[i as usize]);
            assert!((told - score).abs() < most, "{i}: {told} {score}");
        }
        let outermost = &curve.knots()[curve.knots().len() - 2..];
        let beyond = (share_below(outermost[1].0) - share_below(outermost[0].0)) * f64::from(n);
        assert!(curve.knots().len() > 20 && beyond >= ROWS_BETWEEN, "{:?}", curve.knots());
    }

    #[test]
    fn of_few_rows_there_are_few_knots() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(NormalScores::of(&values, None, None).knots().len(), 5);
        let one = NormalScores::of(&[7.0; 5], None, None);
        assert_eq!((one.to_score(7.0), one.to_number(0.0)), (0.0, 7.0));
        assert_eq!(NormalScores::of(&[], None, None).to_number(0.0), 0.0);
        let without = NormalScores::of(&[3.0, 1.0, 3.0, 2.0], None, Some(3.0));
        assert_eq!(without, NormalScores::of(&[1.0, 2.0], None, None));
        assert!(one.to_score(f64::NAN).is_nan());
    }

    #[test]
    fn a_file_cannot_hold_knots_that_do_not_rise() {
        let curve = NormalScores::of(&[1.0, 5.0, 2.0], None, None);
        let text = serde_json::to_string(&curve).unwrap();
        assert_eq!(serde_json::from_str::<NormalScores>(&text).unwrap(), curve);
        for bad in ["[]", "[[0,1]]", "[[0,1],[1,1]]", "[[1,1],[0,2]]", "[[0,1],[1,null]]"] {
            assert!(serde_json::from_str::<NormalScores>(bad).is_err(), "{bad}");
        }
    }
}
