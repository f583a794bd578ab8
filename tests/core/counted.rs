//! Counts that are hidden and asked for: against sums over all counts by hand.

use super::support::seasons::{Middle, SEASONS};
use arbornet_core::frame::{Cells as Column, Rows};
use arbornet_core::network::{Draws, Evidence, Method, Network, Settings};
use arbornet_core::predictive::{Counts, PointMass};
use arbornet_core::{Affine, Control, Predictive, Value};

const SHIFT: f64 = 3.0;
const SCALE: f64 = 2.0;
const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
/// More than any that is likely.
const MOST: u32 = 400;

fn stored(count: f64) -> f64 {
    (count - SHIFT) / SCALE
}

/// Visits with a mean of about `b / a`, and as a share of their own zeros.
fn visits(a: f64, b: f64, size: Option<f64>, zeros: Option<f64>) -> Predictive {
    let counts = Counts { size, a, b, gap: zeros.map(|_| 0.0), shift: SHIFT, scale: SCALE };
    let point = zeros.map(|share| PointMass { at: stored(0.0), log_width: -SCALE.ln(), share });
    Predictive::Counts { counts, point }
}

/// The number in the middle counts visits; the team changes at 5 of them.
fn network(zeros: Option<f64>) -> Network {
    let winter = visits(20.0, 40.0, None, zeros);
    let summer = visits(60.0, 150.0, Some(4.0), zeros);
    Middle {
        units: Affine { shift: SHIFT, scale: SCALE }.into(),
        unseen: winter.clone(),
        of_season: [winter, summer],
        // A threshold of 5 is stored a very little lower.
        threshold: stored(5.0) - 1e-12,
    }
    .network()
}

/// How probable each count is, season by season, together with what is known.
fn by_hand(network: &Network, season: Option<u32>, team: Option<u32>, cost: Option<f64>) -> Vec<f64> {
    let of = |v, given: &[Value], value| network.model(v).predictive(given).log_density(value).exp();
    let weight = |count: u32| -> f64 {
        let here = Value::Real(stored(f64::from(count)));
        let below = team.map_or(1.0, |team| of(2, &[here], Value::Code(team)))
            * cost.map_or(1.0, |cost| of(3, &[here], Value::Real(cost)));
        let seasons = (0..2_u32).filter(|own| season.is_none_or(|season| season == *own));
        let above = seasons.map(|own| SEASONS[own as usize] * of(1, &[Value::Code(own)], here) / SCALE);
        below * above.sum::<f64>()
    };
    let weights: Vec<f64> = (0..MOST).map(weight).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

fn row(season: Option<u32>, team: Option<u32>, cost: Option<f64>, n: usize) -> Rows {
    let codes = |code: Option<u32>| Column::Codes(vec![code.unwrap_or(u32::MAX); n]);
    let reals = |x: Option<f64>| Column::Reals(vec![x.unwrap_or(f64::NAN); n]);
    Rows::new(n, vec![codes(season), reals(None), codes(team), reals(cost)])
}

#[test]
fn quantiles_are_the_counts_at_which_the_sums_reach_them() {
    for zeros in [None, Some(0.3)] {
        let network = network(zeros);
        for (season, team, cost) in [(None, Some(1), None), (Some(1), None, None), (Some(1), Some(0), Some(1.9))] {
            let p = by_hand(&network, season, team, cost);
            let rows = row(season, team, cost, 1);
            let evidence = Evidence::new(network.variables(), &rows).unwrap();
            let mut below = 0.0;
            for (count, own) in p.iter().enumerate().filter(|(_, own)| **own > 1e-3) {
                let before: f64 = p[..count].iter().sum();
                assert!(before >= below);
                below = before;
                let asked = [before + 0.1 * own, before + 0.9 * own];
                let found = network.quantiles(&evidence, 1, &asked, &Settings::default(), &Control::default()).unwrap();
                assert_eq!(found.sampled.rows, 0, "sums and grids");
                for found in found.values {
                    assert!((found - count as f64).abs() < 1e-9, "{zeros:?} {season:?} {cost:?}: {found} for {count}");
                }
            }
        }
    }
}

#[test]
fn gaps_are_filled_with_counts_as_often_as_their_posterior_says() {
    let n = 20_000;
    for zeros in [None, Some(0.3)] {
        let network = network(zeros);
        for (season, team, cost) in [(None, Some(0), None), (Some(0), Some(1), Some(0.4)), (None, None, Some(1.2))] {
            let p = by_hand(&network, season, team, cost);
            let rows = row(season, team, cost, n);
            for method in [Method::Auto, Method::Sampling] {
                let keys: Vec<u64> = (0..n as u64).collect();
                let draws = Draws { ranges: &[EVERYWHERE; 4], steps: &[], keys: &keys };
                let settings = Settings { method, particles: 1, seed: 5 };
                let evidence = Evidence::new(network.variables(), &rows).unwrap();
                let (made, _) = network.complete(&evidence, draws, &settings, &Control::default()).unwrap();
                let mut found = vec![0_usize; MOST as usize];
                for i in 0..n {
                    let Some(Value::Real(x)) = made.get(1, i) else { panic!("a number") };
                    let count = (SHIFT + SCALE * x).round();
                    assert!((SHIFT + SCALE * x - count).abs() < 1e-9 && count >= 0.0, "a count");
                    found[count as usize] += 1;
                }
                for (count, p) in p.iter().enumerate().filter(|(_, p)| **p > 1e-3) {
                    let share = found[count] as f64 / n as f64;
                    let room = 5.0 * (p * (1.0 - p) / n as f64).sqrt() + 1e-3;
                    assert!((share - p).abs() < room, "{method:?} {zeros:?} {cost:?} {count}: {share} for {p}");
                }
            }
        }
    }
}

#[test]
fn a_file_brings_them_back_and_one_that_is_no_distribution_is_refused() {
    for zeros in [None, Some(0.3)] {
        let made = network(zeros);
        let text = made.to_json();
        assert_eq!(Network::from_json(&text).unwrap(), made);
        for (sound, broken) in [("\"a\":20.0", "\"a\":-20.0"), ("\"size\":4.0", "\"size\":0.0")] {
            assert!(Network::from_json(&text.replace(sound, broken)).is_err(), "{broken}");
        }
    }
}
