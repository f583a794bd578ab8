//! The scores that search, those that judge, and which graph is taken.

use std::sync::Arc;

use rayon::prelude::*;

use super::judge::{Judge, prior};
use super::trees::Trees;
use crate::error::Result;
use crate::kept::Kept;
use crate::leaf::LeafPriors;
use crate::local::LocalScore;
use crate::prior::GraphPrior;
use crate::regress::features::{Block, Features, Scale, TRIED};
use crate::regress::ranks::{normal_score, shares};
use crate::score::classic::nml::Qnml;
use crate::score::mixed::block::BlockGaussian;
use crate::score::mixed::conditional::ConditionalGaussian;
use crate::score::pcart::Pcart;
use crate::table::{Column, Kind, Table, Units};

/// Which score's graph was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The Gaussian over blocks of degree 1.
    Lines,
    /// The Gaussian over blocks of degree 3.
    Curves,
    /// The one of degree 1, every number by its normal scores.
    LinesOfRanks,
    /// The one of degree 3, every number by its normal scores.
    CurvesOfRanks,
    /// The Gaussian over blocks of degree 2.
    Bends,
    /// The one of degree 2, every number by its normal scores.
    BendsOfRanks,
    /// The discretised conditional Gaussian, numbers as they are.
    Cells,
    /// The quotient normalised maximum likelihood.
    Counts,
}

impl Winner {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Curves => "curves",
            Self::LinesOfRanks => "lines_of_ranks",
            Self::CurvesOfRanks => "curves_of_ranks",
            Self::Bends => "bends",
            Self::BendsOfRanks => "bends_of_ranks",
            Self::Cells => "cells",
            Self::Counts => "counts",
        }
    }

    /// Whether it fits curves, which may join what a mere trend suggests.
    pub(super) fn bends(self) -> bool {
        matches!(self, Self::Curves | Self::CurvesOfRanks | Self::Bends | Self::BendsOfRanks)
    }

    /// Whether it reads every number by its normal scores.
    pub(super) fn ranks(self) -> bool {
        matches!(self, Self::LinesOfRanks | Self::CurvesOfRanks | Self::BendsOfRanks)
    }

    /// How much better, as a share, it has to be judged than another.
    pub(super) fn margin(self) -> f64 {
        match self {
            Self::Bends | Self::BendsOfRanks => SLIGHTLY,
            Self::Cells => FAR,
            _ => 0.0,
        }
    }
}

/// One of degree 2 is taken if it is better by this share: it is right where rows are few, and misses bends where they are many.
const SLIGHTLY: f64 = 0.01;
/// The conditional Gaussian's is taken if it is better by this share: where lines differ from cell to cell it mostly is by a
/// tenth and more, and where it is wrong it is by less.
const FAR: f64 = 0.09;
/// The degree of curves.
pub(super) const DEGREE: usize = TRIED;
/// Megabytes of one tree's search.
const TREE_MEMORY: u64 = 256;

/// The scores prepared for a table.
pub(super) struct Prepared {
    /// Those to search with, and whose graph each finds.
    pub scores: Vec<(Winner, Box<dyn LocalScore>)>,
    pub judge: Judge,
    /// The features of degree 1.
    pub firsts: Arc<Features>,
    /// Those of degree 3.
    pub curves: Arc<Features>,
}

impl Prepared {
    /// Of features in the scales chosen by column, and in normal scores if these are others.
    pub fn new(table: &Arc<Table>, features: Features, ranks: Option<Features>) -> Result<Self> {
        let levels: Vec<bool> = (0..table.n_vars()).map(|v| !table.variable(v).is_continuous()).collect();
        let ranked = Arc::new(in_normal_scores(table)?);
        let lines = features.of_degree(table, 1);
        let bent = features.blocks.iter().zip(&lines.blocks).any(|(all, first)| all.width() > first.width());
        let width_of_firsts: Vec<usize> = lines.blocks.iter().map(Block::width).collect();
        let (lines, curves) = (Arc::new(lines), Arc::new(features));
        let block = |features: &Arc<Features>, prior: GraphPrior, degree: usize, scored: Option<Vec<usize>>| {
            BlockGaussian { degree, scale: Scale::Auto, prior }.with(table, features.clone(), scored)
        };
        let cells = |prior| ConditionalGaussian { discretise: true, prior, ..ConditionalGaussian::default() };
        let (one, plain) = (prior(table.n_vars()), GraphPrior::Uniform);
        let mut searched = vec![(Winner::Lines, block(&lines, one, 1, None)?)];
        let mut add = |winner, score| searched.push((winner, score));
        if bent {
            add(Winner::Curves, block(&curves, one, DEGREE, None)?);
        }
        let mut bends = vec![(Winner::Bends, curves.of_degree(table, 2))];
        if let Some(ranks) = ranks {
            let lines = Arc::new(ranks.of_degree(table, 1));
            add(Winner::LinesOfRanks, block(&lines, one, 1, None)?);
            bends.push((Winner::BendsOfRanks, ranks.of_degree(table, 2)));
            if bent {
                add(Winner::CurvesOfRanks, block(&Arc::new(ranks), one, DEGREE, None)?);
            }
        }
        for (winner, features) in bends.into_iter().filter(|_| bent) {
            add(winner, block(&Arc::new(features), one, 2, None)?);
        }
        if levels.iter().all(|l| *l) {
            add(Winner::Counts, Qnml { prior: one }.prepare(table)?);
        }
        add(Winner::Cells, cells(one).prepare(table)?);
        let counts = if levels.iter().filter(|l| **l).count() > 1 { levels_alone(table)? } else { None };
        // The regression on curves stands last: it says which parents are strong.
        let judges: Vec<Box<dyn LocalScore>> = vec![
            block(&lines, plain, 1, None)?,
            cells(plain).prepare(&ranked)?,
            block(&curves, plain, DEGREE, Some(width_of_firsts))?,
        ];
        let trees =
            Pcart { penalised: false, memory_mb: TREE_MEMORY, priors: LeafPriors::default(), ..Pcart::default() };
        let trees = Trees::new(trees.prepare(&ranked)?);
        let judge = Judge { scores: judges, counts, levels, trees, kept: Kept::default() };
        Ok(Self { scores: searched, judge, firsts: lines, curves })
    }
}

/// The table with every number by its normal scores.
fn in_normal_scores(table: &Table) -> Result<Table> {
    let columns = (0..table.n_vars()).into_par_iter().map(|v| match table.column(v) {
        Column::Reals(x) => Column::Reals(shares(x).into_iter().map(normal_score).collect()),
        codes @ Column::Codes(_) => codes.clone(),
    });
    let mut variables = table.variables().to_vec();
    for variable in &mut variables {
        if let Kind::Continuous { scale } = &mut variable.kind {
            *scale = Units::IDENTITY;
        }
    }
    Table::new(variables, columns.collect())
}

/// The score of levels among levels; nothing where numbers stand, of which it knows none.
fn levels_alone(table: &Arc<Table>) -> Result<Option<Box<dyn LocalScore>>> {
    Qnml { prior: GraphPrior::Uniform }.prepare(table).map(Some)
}
