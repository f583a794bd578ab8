//! Numbers of which one has a probability of its own, hidden and asked for: against sums and integrals by hand.

use super::network::integrate;
use super::support::seasons::{Middle, SEASONS};
use arbornet_core::frame::{Cells as Column, Rows};
use arbornet_core::network::{Draws, Evidence, Method, Network, Settings};
use arbornet_core::predictive::PointMass;
use arbornet_core::{Control, Predictive, Units, Value, Var};

/// Where the mass is: also a threshold of the team, whose upper side has it.
const AT: f64 = 0.25;
const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn rain(share: f64, location: f64) -> Predictive {
    PointMass { at: AT, log_width: -1.5, share }.beside(&Predictive::StudentT { df: 5.0, location, scale: 0.8 })
}

/// The number in the middle is rain, which has a point mass.
fn network() -> Network {
    let of_season = [rain(0.5, 0.4), rain(0.1, 1.0)];
    Middle { units: Units::IDENTITY, of_season, unseen: rain(0.3, 0.0), threshold: AT }.network()
}

/// What the row says of the team and the height, if it is there, at an amount of rain.
fn likelihood(network: &Network, rain: f64, team: Option<u32>, height: Option<f64>) -> f64 {
    let of = |v: Var, value| network.model(v).predictive(&[Value::Real(rain)]).log_density(value).exp();
    team.map_or(1.0, |team| of(2, Value::Code(team))) * height.map_or(1.0, |height| of(3, Value::Real(height)))
}

/// The weights of the mass and of all other rain below `end`, for a season.
fn by_hand(network: &Network, season: u32, end: f64, team: Option<u32>, height: Option<f64>) -> [f64; 2] {
    let predictive = network.model(1).predictive(&[Value::Code(season)]).into_owned();
    let prior = SEASONS[season as usize];
    let share = predictive.point().unwrap().share;
    let others = predictive.others();
    let rest = integrate(end, |x| others.log_density(Value::Real(x)).exp() * likelihood(network, x, team, height));
    [prior * share * likelihood(network, AT, team, height), prior * (1.0 - share) * rest]
}

fn row(season: Option<u32>, team: Option<u32>, height: Option<f64>, n: usize) -> Rows {
    let codes = |code: Option<u32>| Column::Codes(vec![code.unwrap_or(u32::MAX); n]);
    let reals = |x: Option<f64>| Column::Reals(vec![x.unwrap_or(f64::NAN); n]);
    Rows::new(n, vec![codes(season), reals(None), codes(team), reals(height)])
}

#[test]
fn what_is_below_and_above_is_summed_with_the_mass_on_its_side() {
    let network = network();
    let rows = row(None, Some(1), None, 1);
    let evidence = Evidence::new(network.variables(), &rows).unwrap();
    let exact = Settings { method: Method::Exact, ..Settings::default() };
    let control = Control::default();
    let parts = [0, 1].map(|season| by_hand(&network, season, 1e9, Some(1), None));
    let total: f64 = parts.iter().flatten().sum();
    let seasons = network.levels(&evidence, 0, &exact, &control).unwrap().probabilities;
    let want = (parts[0][0] + parts[0][1]) / total;
    assert!((seasons[0] - want).abs() < 1e-6, "{} {want}", seasons[0]);
    let mass = (parts[0][0] + parts[1][0]) / total;
    let before: f64 = [0, 1].iter().map(|&season| by_hand(&network, season, AT, Some(1), None)[1]).sum::<f64>() / total;
    let asked = [before - 0.01, before + 0.01, before + mass - 0.01, before + mass + 0.01];
    let found = network.quantiles(&evidence, 1, &asked, &exact, &control).unwrap().values;
    assert!(found[0] < AT && found[3] > AT, "{found:?}");
    assert_eq!([found[1], found[2]], [AT, AT], "not near it, but exactly it");
    let above: f64 = [0, 1].iter().map(|&s| by_hand(&network, s, found[3], Some(1), None)[1]).sum::<f64>() / total;
    assert!((above + mass - asked[3]).abs() < 1e-6);
}

#[test]
fn a_number_whose_child_follows_it_along_a_line_has_the_mass_of_its_posterior() {
    let network = network();
    let rows = row(Some(0), None, Some(1.3), 1);
    let evidence = Evidence::new(network.variables(), &rows).unwrap();
    let [mass, rest] = by_hand(&network, 0, 1e9, None, Some(1.3));
    let [_, before] = by_hand(&network, 0, AT, None, Some(1.3));
    let (mass, before) = (mass / (mass + rest), before / (mass + rest));
    let asked = [before - 0.01, before + 0.01, before + mass - 0.01, before + mass + 0.01];
    let auto = Settings { particles: 40_000, ..Settings::default() };
    let found = network.quantiles(&evidence, 1, &asked, &auto, &Control::default()).unwrap();
    assert_eq!(found.sampled.rows, 0, "one hidden number is summed on a grid");
    assert!(found.values[0] < AT && found.values[3] > AT, "{:?}", found.values);
    assert_eq!([found.values[1], found.values[2]], [AT, AT]);
    let by_draws = Settings { method: Method::Sampling, ..auto };
    let found = network.quantiles(&evidence, 1, &asked, &by_draws, &Control::default()).unwrap().values;
    assert_eq!([found[1], found[2]], [AT, AT]);
}

#[test]
fn gaps_are_filled_with_it_as_often_as_its_posterior_says() {
    let network = network();
    let n = 20_000;
    for (season, team, height) in [(None, Some(0), None), (Some(0), Some(1), Some(1.3)), (None, None, Some(-0.4))] {
        let rows = row(season, team, height, n);
        let seasons: Vec<u32> = season.map_or(vec![0, 1], |season| vec![season]);
        let parts = seasons.iter().map(|&season| by_hand(&network, season, 1e9, team, height));
        let (mass, all) = parts.fold((0.0, 0.0), |(mass, all), [own, rest]| (mass + own, all + own + rest));
        let p: f64 = mass / all;
        for method in [Method::Auto, Method::Sampling] {
            let keys: Vec<u64> = (0..n as u64).collect();
            let draws = Draws { ranges: &[EVERYWHERE; 4], steps: &[], keys: &keys };
            let settings = Settings { method, particles: 1, seed: 5 };
            let evidence = Evidence::new(network.variables(), &rows).unwrap();
            let (made, _) = network.complete(&evidence, draws, &settings, &Control::default()).unwrap();
            let share = (0..n).filter(|&i| made.get(1, i) == Some(Value::Real(AT))).count() as f64 / n as f64;
            let room = 5.0 * (p * (1.0 - p) / n as f64).sqrt() + 1e-4;
            assert!((share - p).abs() < room, "{method:?} {team:?} {height:?}: {share} for {p}");
        }
    }
}

#[test]
fn a_file_brings_it_back_and_one_that_is_no_distribution_is_refused() {
    let made = network();
    let text = made.to_json();
    assert_eq!(Network::from_json(&text).unwrap(), made);
    assert!(Network::from_json(&text.replace("\"share\":0.5", "\"share\":1.5")).is_err());
}
