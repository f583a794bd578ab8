//! One suite for every kind of distribution.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn every_kind() -> Vec<Predictive> {
    vec![
        Predictive::Levels { probabilities: vec![1.0] },
        Predictive::Levels { probabilities: vec![0.1, 0.0, 0.65, 0.25] },
        Predictive::StudentT { df: 1.0, location: -2.0, scale: 3.0 },
        Predictive::StudentT { df: 3.0, location: 1.0, scale: 0.5 },
        Predictive::StudentT { df: 401.0, location: 0.0, scale: 1e-3 },
        Predictive::Point {
            point: PointMass { at: 0.7, log_width: -2.0, share: 0.3 },
            df: 7.0,
            location: 0.5,
            scale: 2.0,
        },
        counted(None),
        counted(Some(PointMass { at: -1.5, log_width: -2.0_f64.ln(), share: 0.3 })),
        of_any_shape(None),
        of_any_shape(Some(PointMass { at: 0.4, log_width: -3.0, share: 0.2 })),
    ]
}

/// Whole numbers, stored as `(count - 3) / 2`; without 0 if that has a probability of its own.
fn counted(point: Option<PointMass>) -> Predictive {
    let gap = point.map(|_| 0.0);
    Predictive::Counts { counts: Counts { size: Some(4.0), a: 90.0, b: 120.0, gap, shift: 3.0, scale: 2.0 }, point }
}

fn of_any_shape(point: Option<PointMass>) -> Predictive {
    let [edges, shares] = [vec![-1.0, -0.25, 0.5, 4.0], vec![0.1, 0.6, 0.3]];
    Predictive::Histogram { histogram: Arc::new(Histogram { edges, shares, outside: 0.02, tails: [0.3, 2.0] }), point }
}

fn real(value: Value) -> f64 {
    match value {
        Value::Code(code) => f64::from(code),
        Value::Real(x) => x,
    }
}

#[test]
fn everything_sums_or_integrates_to_one() {
    for predictive in every_kind() {
        let total = match &predictive {
            Predictive::Levels { probabilities } => {
                (0..probabilities.len()).map(|c| predictive.log_density(Value::Code(c as u32)).exp()).sum::<f64>()
            }
            // A count stands for the length of 1, in stored units half of that.
            Predictive::Counts { .. } => {
                let at = |y: i32| predictive.log_density(Value::Real((f64::from(y) - 3.0) / 2.0)).exp() / 2.0;
                (0..2000).map(at).sum::<f64>()
            }
            // The midpoint rule over x = location + scale tan(u), which brings the heavy tails within reach.
            &Predictive::StudentT { location, scale, .. } | &Predictive::Point { location, scale, .. } => {
                let steps = 200_000;
                let h = std::f64::consts::PI / f64::from(steps);
                let at = |i: i32| {
                    let u = (f64::from(i) + 0.5) * h - std::f64::consts::FRAC_PI_2;
                    let jacobian = scale / u.cos().powi(2);
                    predictive.log_density(Value::Real(location + scale * u.tan())).exp() * jacobian
                };
                // The length that a shared number stands for holds its probability.
                let shared = predictive
                    .point()
                    .map_or(0.0, |point| predictive.log_density(Value::Real(point.at)).exp() * point.log_width.exp());
                shared + (0..steps).map(at).sum::<f64>() * h
            }
            Predictive::Histogram { histogram, .. } => {
                let others = predictive.others();
                let density = |x: f64| others.log_density(Value::Real(x)).exp();
                let cells: f64 = histogram
                    .edges
                    .windows(2)
                    .map(|ends| (ends[1] - ends[0]) * density(ends[0].midpoint(ends[1])))
                    .sum();
                // Of the tails the same rule, from their ends on.
                let (low, high) = (histogram.edges[0], histogram.edges[histogram.shares.len()]);
                let steps = 200_000;
                let h = std::f64::consts::FRAC_PI_2 / f64::from(steps);
                let at = |i: i32| {
                    let u = (f64::from(i) + 0.5) * h;
                    (density(low - u.tan()) + density(high + u.tan())) / u.cos().powi(2)
                };
                let rest = cells + (0..steps).map(at).sum::<f64>() * h;
                predictive.point().map_or(rest, |point| {
                    let shared = predictive.log_density(Value::Real(point.at)).exp() * point.log_width.exp();
                    shared + (1.0 - point.share) * rest
                })
            }
        };
        assert!((total - 1.0).abs() < 1e-9, "{predictive:?} {total}");
    }
}

#[test]
fn quantile_is_the_smallest_value_whose_cdf_reaches_p() {
    for predictive in every_kind() {
        for p in [0.001, 0.1, 0.100001, 0.5, 0.75, 0.9, 0.9999] {
            let x = predictive.quantile(p);
            match x {
                Value::Real(x) if predictive.point().is_some_and(|point| x == point.at) => {
                    assert!(predictive.below(x) <= p && p <= predictive.cdf(Value::Real(x)));
                }
                Value::Real(y) if predictive.counts().is_some() => {
                    assert!(predictive.below(y) < p && p <= predictive.cdf(x));
                }
                Value::Real(_) => assert!((predictive.cdf(x) / p - 1.0).abs() < 1e-12),
                Value::Code(c) => {
                    assert!(predictive.cdf(x) >= p);
                    assert!(c == 0 || predictive.cdf(Value::Code(c - 1)) < p);
                }
            }
        }
    }
}

#[test]
fn draws_follow_the_cdf() {
    // Kolmogorov-Smirnov at the values themselves (an upper bound for levels); 1.95 is exceeded once in a thousand.
    let n = 20_000;
    for predictive in every_kind() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut draws: Vec<Value> = (0..n).map(|_| predictive.sample(&mut rng)).collect();
        draws.sort_by(|a, b| real(*a).total_cmp(&real(*b)));
        let distinct_ends = (0..n).filter(|&i| i + 1 == n || draws[i] != draws[i + 1]);
        let distance =
            distinct_ends.map(|i| ((i + 1) as f64 / n as f64 - predictive.cdf(draws[i])).abs()).fold(0.0, f64::max);
        assert!(distance * (n as f64).sqrt() < 1.95, "{predictive:?} {distance}");
    }
}

#[test]
fn the_same_seed_draws_the_same_values() {
    for predictive in every_kind() {
        let draw = || {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            (0..50).map(|_| predictive.sample(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(draw(), draw());
    }
}

#[test]
fn a_draw_is_a_number_however_far_the_tails_reach() {
    let predictive = Predictive::StudentT { df: 1e-3, location: 0.0, scale: 1e150 };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let draws: Vec<f64> = (0..1000).map(|_| real(predictive.sample(&mut rng))).collect();
    assert!(draws.contains(&f64::MAX) && draws.contains(&f64::MIN));
    assert!(draws.iter().all(|x| x.is_finite()));
}

#[test]
fn an_impossible_level_is_never_drawn_nor_a_quantile() {
    let predictive = Predictive::Levels { probabilities: vec![0.0, 0.5, 0.5, 0.0] };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for p in [0.0, 0.5, 1.0] {
        assert!(predictive.log_density(predictive.quantile(p)).is_finite());
    }
    for _ in 0..1000 {
        assert!(predictive.log_density(predictive.sample(&mut rng)).is_finite());
    }
}

#[test]
fn an_interval_holds_its_mass() {
    for predictive in every_kind() {
        for mass in [0.5, 0.95, 0.999] {
            let (low, high) = predictive.interval(mass);
            let below = if let Value::Code(c) = low {
                if c == 0 { 0.0 } else { predictive.cdf(Value::Code(c - 1)) }
            } else {
                predictive.below(real(low))
            };
            let held = predictive.cdf(high) - below;
            assert!(held >= mass - 1e-12, "{predictive:?} {mass} {held}");
            let exact = matches!(predictive, Predictive::StudentT { .. });
            assert!(!exact || held <= mass + 1e-12);
        }
    }
}

#[test]
fn moments_of_small_cases() {
    let levels = Predictive::Levels { probabilities: vec![0.25, 0.25, 0.5] };
    assert_eq!(levels.mean(), Some(1.25));
    assert_eq!(levels.sd(), Some(0.6875_f64.sqrt()));
    assert_eq!(levels.mode(), Value::Code(2));
    let tied = Predictive::Levels { probabilities: vec![0.2, 0.4, 0.4] };
    assert_eq!(tied.mode(), Value::Code(1), "of equally probable levels the first");
    let t = |df| Predictive::StudentT { df, location: 1.5, scale: 2.0 };
    assert_eq!((t(1.0).mean(), t(2.0).mean()), (None, Some(1.5)));
    assert_eq!((t(2.0).sd(), t(4.0).sd()), (None, Some(2.0 * 2.0_f64.sqrt())));
    assert_eq!(t(1.0).mode(), Value::Real(1.5));
}

#[test]
fn a_value_of_the_other_kind_is_impossible() {
    let levels = Predictive::Levels { probabilities: vec![0.5, 0.5] };
    assert_eq!(levels.log_density(Value::Real(0.0)), f64::NEG_INFINITY);
    assert_eq!(levels.log_density(Value::Code(2)), f64::NEG_INFINITY);
    assert_eq!(levels.log_density(Value::Code(1)), 0.5_f64.ln());
}
