//! How Python says that a column is coded.

use std::sync::Arc;

use arbornet_core::frame::{Bend, Coding, Logarithm, Recipe};
use arbornet_core::{Kind, Level, Point, Units, Variable};
use pyo3::prelude::*;

use super::column::RawColumn;
use crate::handles::{PyUnits, leaf_from_python, level_from_python};

/// How one variable is coded: which raw column it comes from and what becomes of its values.
#[derive(FromPyObject)]
pub struct Plan<'py> {
    name: String,
    /// Position among the raw columns; none if the frame lacks it.
    column: Option<usize>,
    kind: String,
    levels: Option<Vec<Bound<'py, PyAny>>>,
    /// For each distinct value of the column by rank, the code of its level.
    codes: Option<Vec<u32>>,
    /// The code of a missing value.
    missing: u32,
    /// Upper ends of bins.
    cuts: Option<Vec<f64>>,
    /// Known shift and scale; none to standardise by the rows at hand.
    scale: Option<PyUnits>,
    /// What a logarithmic scale adds before it takes logarithms; none for a linear one.
    log: Option<f64>,
    /// Whether numbers are taken by their normal scores.
    scores: bool,
    /// On a logarithmic scale the least number that is taken as it is: those below count as it.
    least: Option<f64>,
    /// A number that many rows share, and the length it stands for.
    point: Option<(f64, f64)>,
    /// What stands in the leaves of trees, if the column says so.
    leaf: Option<String>,
}

impl Plan<'_> {
    fn recipe(&self) -> PyResult<Recipe> {
        let levels: Arc<[Level]> = match &self.levels {
            Some(levels) => levels.iter().map(|level| level_from_python(&self.name, level)).collect::<PyResult<_>>()?,
            None => Arc::new([]),
        };
        let kind = match self.kind.as_str() {
            "categorical" => Kind::Categorical { levels },
            "ordinal" => Kind::Ordinal { levels },
            _ => {
                let point = self.point.map(|(at, width)| Point { at, width });
                let leaf = self.leaf.as_deref().map(|leaf| leaf_from_python(&self.name, leaf)).transpose()?;
                Kind::Continuous { scale: Units { point, leaf, ..Units::IDENTITY } }
            }
        };
        let coding = match (&self.cuts, &self.codes) {
            (Some(cuts), _) => Coding::Bins(cuts.clone()),
            (None, Some(codes)) => Coding::Levels { codes: codes.clone(), missing: self.missing },
            (None, None) => {
                let known = self.scale.clone().map(Units::from);
                let shift = known.as_ref().map_or(self.log, |scale| scale.log);
                let least = self.least.unwrap_or(f64::NEG_INFINITY);
                let bend = match shift {
                    Some(shift) => Some(Bend::Log(Logarithm { shift, least })),
                    None if self.scores => Some(Bend::Scores(known.as_ref().and_then(|scale| scale.scores.clone()))),
                    None => None,
                };
                Coding::Reals { bend, map: known.as_ref().map(Units::affine) }
            }
        };
        Ok(Recipe { variable: Variable { name: self.name.as_str().into(), kind }, coding })
    }
}

/// A recipe and the place of its column among the raw ones, if the frame has it. It no longer needs the GIL.
pub struct Planned {
    pub recipe: Recipe,
    column: Option<usize>,
}

impl Planned {
    pub fn all(plans: &[Plan<'_>]) -> PyResult<Vec<Self>> {
        plans.iter().map(|plan| Ok(Self { recipe: plan.recipe()?, column: plan.column })).collect()
    }

    pub fn column<'a>(&self, columns: &'a [RawColumn]) -> Option<&'a RawColumn> {
        columns.get(self.column?)
    }
}
