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
        Predictive::Levels { .. } | Predictive::Point { .. } | Predictive::Counts { .. } => None,
    }
}

pub(super) fn centre(predictive: &Predictive) -> f64 {
    match *predictive {
        Predictive::StudentT { location, .. } | Predictive::Point { location, .. } => location,
        Predictive::Levels { .. } | Predictive::Counts { .. } => real(predictive.quantile(0.5)),
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
    // The mixture's quantile lies between its parts' own.
    let own = || piece.iter().map(|part| part.quantile(fraction));
    let (mut low, mut high) = (own().fold(f64::INFINITY, f64::min), own().fold(f64::NEG_INFINITY, f64::max));
    let weight: f64 = piece.iter().map(|part| part.weight).sum();
    let below = |x: f64| {
        let of = |part: &Part| {
            if part.mass > 0.0 { part.weight * mass(&part.predictive, part.low, x) / part.mass } else { 0.0 }
        };
        piece.iter().map(of).sum::<f64>() / weight
    };
    // A number with a probability of its own is met exactly or never.
    let shared = piece.iter().filter_map(|part| part.predictive.point()).map(|point| point.at);
    for at in shared.filter(|at| (low..=high).contains(at)) {
        if below(at) <= fraction && fraction <= below(at.next_up()) {
            return at;
        }
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high || high - low <= 1e-13 * (low.abs() + high.abs()) {
            break;
        }
        if below(middle) < fraction { low = middle } else { high = middle }
    }
    let x = f64::midpoint(low, high);
    piece[0].predictive.counts().map_or(x, |counts| counts.nearest(x))
}
