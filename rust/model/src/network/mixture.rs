//! The distribution of a hidden number given evidence: a mixture of predictive distributions, each cut to a piece.

use crate::predictive::{Predictive, Value};

fn real(value: Value) -> f64 {
    match value {
        Value::Real(x) => x,
        Value::Code(code) => f64::from(code),
    }
}

/// The same distribution seen in a mirror, so that upper tails keep the precision of lower ones.
pub(super) fn mirrored(predictive: &Predictive) -> Option<Predictive> {
    match *predictive {
        Predictive::StudentT { df, location, scale } => Some(Predictive::StudentT { df, location: -location, scale }),
        // One with a shared number tells less from no more, which a mirror would mix up.
        Predictive::Levels { .. }
        | Predictive::Point { .. }
        | Predictive::Counts { .. }
        | Predictive::Histogram { .. } => None,
    }
}

pub(super) fn centre(predictive: &Predictive) -> f64 {
    match *predictive {
        Predictive::StudentT { location, .. } | Predictive::Point { location, .. } => location,
        Predictive::Levels { .. } | Predictive::Counts { .. } | Predictive::Histogram { .. } => {
            real(predictive.quantile(0.5))
        }
    }
}

/// The probability of less than a number.
pub(super) fn below(predictive: &Predictive, x: f64) -> f64 {
    match x {
        f64::INFINITY => 1.0,
        f64::NEG_INFINITY => 0.0,
        x => predictive.below(x),
    }
}

/// The probability of `[low, high)` under a predictive distribution of numbers.
pub(super) fn mass(predictive: &Predictive, low: f64, high: f64) -> f64 {
    if low > centre(predictive)
        && let Some(mirror) = mirrored(predictive)
    {
        return (below(&mirror, -low) - below(&mirror, -high)).max(0.0);
    }
    (below(predictive, high) - below(predictive, low)).max(0.0)
}

/// The value within `[low, high)` below which a fraction of the mass there lies.
pub(super) fn quantile_within(predictive: &Predictive, low: f64, high: f64, fraction: f64) -> f64 {
    quantile_knowing(predictive, low, high, fraction, None)
}

/// The same if the mass before the piece, below it or above it where it lies above the centre, and its own are known.
fn quantile_knowing(predictive: &Predictive, low: f64, high: f64, fraction: f64, known: Option<(f64, f64)>) -> f64 {
    if low > centre(predictive)
        && let Some(mirror) = mirrored(predictive)
    {
        return -quantile_knowing(&mirror, -high, -low, 1.0 - fraction, known);
    }
    let (first, own) = known.unwrap_or_else(|| (below(predictive, low), mass(predictive, low, high)));
    let p = first + fraction * own;
    let clamp = |x: f64| x.clamp(low, high);
    if p > 0.0 && p < 1.0 {
        clamp(real(predictive.quantile(p)))
    } else if p <= 0.0 {
        // The piece is beyond what the tail can tell: its end nearest to the centre holds practically all of it.
        if high.is_finite() { high } else { clamp(centre(predictive)) }
    } else if low.is_finite() {
        low
    } else {
        clamp(centre(predictive))
    }
}

/// One part of a mixture: a predictive distribution restricted to `[low, high)`.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub weight: f64,
    pub low: f64,
    pub high: f64,
    pub predictive: Predictive,
    /// The predictive's own mass in the piece.
    pub mass: f64,
    /// Its mass before the piece, where that is known: below it, or above it where it lies above the centre.
    pub before: Option<f64>,
}

/// Parts in ascending order of their pieces; two pieces are equal or disjoint. Weights sum to one.
#[derive(Clone, Debug, Default)]
pub(super) struct Mixture {
    parts: Vec<Part>,
}

impl Mixture {
    /// Puts weighted parts together; `None` if all weights are zero.
    pub fn new(mut parts: Vec<Part>) -> Option<Self> {
        parts.retain(|part| part.weight > 0.0);
        parts.sort_by(|a, b| a.low.total_cmp(&b.low));
        // Configurations of the parents that lead to the same leaf are one part.
        let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
        for part in parts {
            let twin =
                merged.iter_mut().rev().take_while(|m| m.low == part.low).find(|m| m.predictive == part.predictive);
            if let Some(twin) = twin { twin.weight += part.weight } else { merged.push(part) }
        }
        let total: f64 = merged.iter().map(|part| part.weight).sum();
        (total > 0.0 && total.is_finite()).then(|| {
            for part in &mut merged {
                part.weight /= total;
            }
            Self { parts: merged }
        })
    }

    /// The value below which probability `p` lies, to about 1e-12 of the spread of its piece.
    pub fn quantile(&self, p: f64) -> f64 {
        let mut before = 0.0;
        let mut start = 0;
        loop {
            let low = self.parts[start].low;
            let len = self.parts[start..].iter().take_while(|part| part.low == low).count();
            let piece = &self.parts[start..start + len];
            let weight: f64 = piece.iter().map(|part| part.weight).sum();
            if before + weight >= p || start + len == self.parts.len() {
                return quantile_of_piece(piece, ((p - before) / weight).clamp(0.0, 1.0));
            }
            before += weight;
            start += len;
        }
    }
}

impl Part {
    fn quantile(&self, fraction: f64) -> f64 {
        let known = self.before.map(|before| (before, self.mass));
        quantile_knowing(&self.predictive, self.low, self.high, fraction, known)
    }
}

fn quantile_of_piece(piece: &[Part], fraction: f64) -> f64 {
    if let [part] = piece {
        return part.quantile(fraction);
    }
    let shares = Shares::new(piece);
    // A number with a probability of its own is met exactly or never, and a count where its probability begins.
    let is_smooth = piece.iter().all(|part| matches!(part.predictive, Predictive::StudentT { .. }));
    let ends = if is_smooth && fraction > 0.0 && fraction < 1.0 { around(piece, &shares, fraction) } else { None };
    if let Some(ends) = ends {
        return crossing(ends, |x| shares.below(x) - fraction);
    }
    // The mixture's quantile lies between its parts' own.
    let own: Vec<f64> = piece.iter().map(|part| part.quantile(fraction)).collect();
    let (mut low, mut high) =
        (own.iter().copied().fold(f64::INFINITY, f64::min), own.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let shared = piece.iter().filter_map(|part| part.predictive.point()).map(|point| point.at);
    for at in shared.filter(|at| (low..=high).contains(at)) {
        if shares.below(at) <= fraction && fraction <= shares.below(at.next_up()) {
            return at;
        }
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high || high - low <= 1e-13 * (low.abs() + high.abs()) {
            break;
        }
        if shares.below(middle) < fraction { low = middle } else { high = middle }
    }
    let x = f64::midpoint(low, high);
    piece[0].predictive.counts().map_or(x, |counts| counts.nearest(x))
}

/// The distribution function of a piece's mixture, with what does not depend on the number computed once.
struct Shares<'a> {
    parts: Vec<(&'a Part, Option<Predictive>, f64)>,
    weight: f64,
}

impl<'a> Shares<'a> {
    fn new(piece: &'a [Part]) -> Self {
        let start = |part: &'a Part| {
            let mirror = if part.low > centre(&part.predictive) { mirrored(&part.predictive) } else { None };
            let before =
                mirror.as_ref().map_or_else(|| below(&part.predictive, part.low), |mirror| below(mirror, -part.low));
            (part, mirror, before)
        };
        let parts = piece.iter().filter(|part| part.mass > 0.0).map(start).collect();
        Self { parts, weight: piece.iter().map(|part| part.weight).sum() }
    }

    /// The share of the piece's mass below a number.
    fn below(&self, x: f64) -> f64 {
        let of = |(part, mirror, before): &(&Part, Option<Predictive>, f64)| {
            let mass = match mirror {
                Some(mirror) => before - below(mirror, -x),
                None => below(&part.predictive, x) - before,
            };
            part.weight * mass.max(0.0) / part.mass
        };
        self.parts.iter().map(of).sum::<f64>() / self.weight
    }
}

/// Steps away from the heaviest part's own quantile, each twice as long as the one before, until it is passed.
const STEPS: usize = 60;

/// Two numbers between which the quantile lies, if a few steps find them.
fn around(piece: &[Part], shares: &Shares<'_>, fraction: f64) -> Option<((f64, f64), (f64, f64))> {
    let heaviest = piece.iter().rev().max_by(|a, b| a.weight.total_cmp(&b.weight))?;
    let Predictive::StudentT { scale, .. } = heaviest.predictive else { return None };
    let (low, high) = (heaviest.low, heaviest.high);
    let at = |x: f64| (x, shares.below(x) - fraction);
    let mut from = at(heaviest.quantile(fraction));
    let up = from.1 < 0.0;
    let mut step = scale;
    for _ in 0..STEPS {
        let to = at(if up { (from.0 + step).min(high) } else { (from.0 - step).max(low) });
        if (to.1 < 0.0) != up {
            return Some((from, to));
        }
        if to.0 <= low || to.0 >= high {
            return None;
        }
        (from, step) = (to, 2.0 * step);
    }
    None
}

/// Where a function that does not decrease is zero, between two numbers with their values, of which just one is below
/// zero (Chandrupatla 1997: quadratic steps where these are safe, halves otherwise).
fn crossing(((mut a, mut fa), (mut b, mut fb)): ((f64, f64), (f64, f64)), f: impl Fn(f64) -> f64) -> f64 {
    let finest = 1e-15 * (b - a).abs();
    let mut t = 0.5;
    for _ in 0..100 {
        let x = a + t * (b - a);
        let fx = f(x);
        let (c, fc);
        if (fx < 0.0) == (fa < 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let near = 1e-13 * (a.abs() + b.abs()) + finest;
        let width = (b - a).abs();
        if fa == 0.0 || width <= near {
            break;
        }
        let (xi, phi) = ((a - b) / (c - b), (fa - fb) / (fc - fb));
        t = if phi * phi < xi && (1.0 - phi).powi(2) < 1.0 - xi {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        let least = 0.5 * near / width;
        t = t.clamp(least, 1.0 - least);
    }
    if fa.abs() <= fb.abs() { a } else { b }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// The literal search: halves between ends that hold everything.
    fn by_halves(piece: &[Part], fraction: f64) -> f64 {
        let weight: f64 = piece.iter().map(|part| part.weight).sum();
        let of = |part: &Part, x: f64| part.weight * mass(&part.predictive, part.low, x) / part.mass;
        let below = |x: f64| piece.iter().map(|part| of(part, x)).sum::<f64>() / weight;
        let (mut low, mut high) = (piece[0].low.max(-1e9), piece[0].high.min(1e9));
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if below(middle) < fraction { low = middle } else { high = middle }
        }
        high
    }

    #[test]
    fn a_quantile_of_many_parts_is_where_halving_finds_it() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        for round in 0..200 {
            let (low, high) = match round % 4 {
                0 => (f64::NEG_INFINITY, f64::INFINITY),
                1 => (-0.5, f64::INFINITY),
                2 => (f64::NEG_INFINITY, 0.7),
                _ => (2.0, 2.5),
            };
            let piece: Vec<Part> = (0..2 + round % 5)
                .map(|_| {
                    let location = 6.0 * rng.random::<f64>() - 3.0;
                    let scale = 10f64.powf(3.0 * rng.random::<f64>() - 2.5);
                    let df = 1.0 + 20.0 * rng.random::<f64>();
                    let predictive = Predictive::StudentT { df, location, scale };
                    let own = mass(&predictive, low, high);
                    Part { weight: rng.random::<f64>(), low, high, predictive, mass: own, before: None }
                })
                .collect();
            for fraction in [0.025, 0.2, 0.5, 0.9, 0.975] {
                let (got, wanted) = (quantile_of_piece(&piece, fraction), by_halves(&piece, fraction));
                assert!((got - wanted).abs() <= 1e-9 * (1.0 + wanted.abs()), "{round} {fraction}: {got} {wanted}");
                assert!((low..=high).contains(&got));
            }
        }
    }
}
