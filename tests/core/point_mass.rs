//! Numbers of which one has a probability of its own, hidden and asked for: against sums and integrals by hand.

use super::network::integrate;
use arbornet_core::frame::{Cells as Column, Rows};
use arbornet_core::model::cells::{Cell, Cells};
use arbornet_core::model::full_table::FullTable;
use arbornet_core::model::linear_leaf::Input;
use arbornet_core::model::tree::{Node, Tree};
use arbornet_core::network::{Draws, Evidence, Method, Network, Settings};
use arbornet_core::predictive::{Line, PointMass};
use arbornet_core::{Affine, Control, Kind, Level, LocalModel, Predictive, Units, Value, Var, Variable};

/// Where the mass is: also a threshold of the team, whose upper side has it.
const AT: f64 = 0.25;
const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn rain(share: f64, location: f64) -> Predictive {
    PointMass { at: AT, log_width: -1.5, share }.beside(&Predictive::StudentT { df: 5.0, location, scale: 0.8 })
}

fn levels(p: &[f64]) -> Predictive {
    Predictive::Levels { probabilities: p.to_vec() }
}

/// season -> rain -> (team, height); rain has a point mass, height follows it along a line.
fn network() -> Network {
    let variable = |name: &str, kind| Variable { name: name.into(), kind };
    let letters = |k: i64| Kind::Categorical { levels: (0..k).map(Level::Int).collect() };
    let number = || Kind::Continuous { scale: Units::IDENTITY };
    let variables = vec![
        variable("season", letters(2)),
        variable("rain", number()),
        variable("team", letters(2)),
        variable("height", number()),
    ];
    let cell = |codes, distribution| Cell { codes, n_rows: 0, distribution };
    let of_rain = vec![cell(vec![0], rain(0.5, 0.4)), cell(vec![1], rain(0.1, 1.0))];
    let of_team = vec![cell(vec![0], levels(&[0.9, 0.1])), cell(vec![1], levels(&[0.3, 0.7]))];
    let line = Line {
        df: 9.0,
        location: 0.0,
        scale: 0.6,
        weight: 50.0,
        centre: vec![0.0],
        slopes: vec![0.8],
        factor: vec![6.0],
    };
    let inputs = vec![Input { parent: 0, scale: Affine::IDENTITY, low: -50.0, high: 50.0 }];
    let line = Node::Line { n: 50, statistic: vec![0.0, 1.0], inputs, line, point: None };
    let models = vec![
        LocalModel::Cells(Cells::new(0, vec![], vec![cell(vec![], levels(&[0.6, 0.4]))], levels(&[0.6, 0.4]))),
        LocalModel::Cells(Cells::new(1, vec![0], of_rain, rain(0.3, 0.0))),
        LocalModel::FullTable(FullTable::new(
            vec![Some(vec![AT])],
            Cells::new(2, vec![1], of_team, levels(&[0.5, 0.5])),
        )),
        LocalModel::Tree(Tree::new(3, vec![1], vec![line])),
    ];
    Network::new(variables, models).unwrap()
}

/// What the row says of the team and the height, if it is there, at an amount of rain.
fn likelihood(network: &Network, rain: f64, team: Option<u32>, height: Option<f64>) -> f64 {
    let of = |v: Var, value| network.model(v).predictive(&[Value::Real(rain)]).log_density(value).exp();
    team.map_or(1.0, |team| of(2, Value::Code(team))) * height.map_or(1.0, |height| of(3, Value::Real(height)))
}

/// The weights of the mass and of all other rain below `end`, for a season.
fn by_hand(network: &Network, season: u32, end: f64, team: Option<u32>, height: Option<f64>) -> [f64; 2] {
    let predictive = network.model(1).predictive(&[Value::Code(season)]).into_owned();
    let prior = [0.6, 0.4][season as usize];
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
            let draws = Draws { ranges: &[EVERYWHERE; 4], keys: &keys };
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
