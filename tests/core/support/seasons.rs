//! A small network around one number with three neighbours: season -> number -> (team, height).
//!
//! Where the number is hidden or asked for, everything can be summed or integrated by hand.

use arbornet_core::model::cells::{Cell, Cells};
use arbornet_core::model::full_table::FullTable;
use arbornet_core::model::linear_leaf::Input;
use arbornet_core::model::tree::{Node, Tree};
use arbornet_core::network::Network;
use arbornet_core::predictive::Line;
use arbornet_core::{Affine, Kind, Level, LocalModel, Predictive, Units, Variable};

/// How probable each season is.
pub(crate) const SEASONS: [f64; 2] = [0.6, 0.4];

/// The number in the middle.
pub(crate) struct Middle {
    pub(crate) units: Units,
    /// In each season, and in one that no row had.
    pub(crate) of_season: [Predictive; 2],
    pub(crate) unseen: Predictive,
    /// From here on the other team is more probable, in stored units.
    pub(crate) threshold: f64,
}

impl Middle {
    /// season -> number -> (team, height); the team changes at the threshold, and the height follows along a line.
    pub(crate) fn network(self) -> Network {
        let variable = |name: &str, kind| Variable { name: name.into(), kind };
        let letters = |k: i64| Kind::Categorical { levels: (0..k).map(Level::Int).collect() };
        let variables = vec![
            variable("season", letters(2)),
            variable("number", Kind::Continuous { scale: self.units }),
            variable("team", letters(2)),
            variable("height", Kind::Continuous { scale: Units::IDENTITY }),
        ];
        let cell = |codes, distribution| Cell { codes, n_rows: 0, distribution };
        let [winter, summer] = self.of_season;
        let of_number = vec![cell(vec![0], winter), cell(vec![1], summer)];
        let of_team = vec![cell(vec![0], levels(&[0.9, 0.1])), cell(vec![1], levels(&[0.3, 0.7]))];
        let seasons = levels(&SEASONS);
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
            LocalModel::Cells(Cells::new(0, vec![], vec![cell(vec![], seasons.clone())], seasons)),
            LocalModel::Cells(Cells::new(1, vec![0], of_number, self.unseen)),
            LocalModel::FullTable(FullTable::new(
                vec![Some(vec![self.threshold])],
                Cells::new(2, vec![1], of_team, levels(&[0.5, 0.5])),
            )),
            LocalModel::Tree(Tree::new(3, vec![1], vec![line])),
        ];
        Network::new(variables, models).unwrap()
    }
}

fn levels(p: &[f64]) -> Predictive {
    Predictive::Levels { probabilities: p.to_vec() }
}
