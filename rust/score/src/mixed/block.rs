//! A Gaussian over blocks of features: the degenerate Gaussian, for dependence that bends and for columns of any shape.
//!
//! Every variable is a block of orthonormal features ([`crate::regress::features`]). With `F` all of them, one correlation
//! matrix `R = .9999 F F' + .0001 I` scores every family: `-n/2 (ln |R_(child, parents)| - ln |R_parents| - ln |R_child|)`
//! less `ln n / 2` for every pair of a child's and a parent's feature. Without parents that is zero, equivalent graphs
//! score alike, and under normal scores nothing but the order of a number's values counts. Within a block the matrix is the
//! identity, and the ridge keeps every pivot at .01 or more, however many columns there are.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Bic, Fits, Rule, check_width};
use crate::control::Halt;
use crate::error::{Error, Result};
use crate::local::Cost;
use crate::model::LocalModel;
use crate::prior::GraphPrior;
use crate::regress::blocks::{Blocks, FamilyRows};
use crate::regress::cholesky::{factor_from, packed};
use crate::regress::features::{Block, Features, MOST, SHRINK, Scale};
use crate::table::{Table, Var};
use crate::{Fit, LocalScore};

/// Parameters of the Gaussian over blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockGaussian {
    /// The highest power of ordered levels and the highest polynomial of ranks.
    pub degree: usize,
    /// How numbers are read.
    pub scale: Scale,
    /// The prior over parent sets.
    pub prior: GraphPrior,
}

impl Default for BlockGaussian {
    fn default() -> Self {
        Self { degree: 3, scale: Scale::NormalScores, prior: GraphPrior::Uniform }
    }
}

const MOST_DEGREE: usize = 20;

impl BlockGaussian {
    /// Prepares the score for a table: the features of every column.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn prepare(&self, table: &Arc<Table>) -> Result<Box<dyn LocalScore>> {
        if !(1..=MOST_DEGREE).contains(&self.degree) {
            return Err(Error::parameter("degree", &self.degree, format!("must be between 1 and {MOST_DEGREE}")));
        }
        self.with(table, Arc::new(Features::new(table, self.degree, self.scale)), None)
    }

    /// The score of features made before; of a child only so many, if that is said.
    ///
    /// # Errors
    /// If the prior's parameter is outside its range.
    pub fn with(
        &self,
        table: &Arc<Table>,
        features: Arc<Features>,
        scored: Option<Vec<usize>>,
    ) -> Result<Box<dyn LocalScore>> {
        let scales = features.scales.clone();
        let widths = features.blocks.iter().map(Block::width).collect();
        let make = move |v: Var, w: Var, halt: &Halt| -> Result<Box<[f64]>> {
            halt.check()?;
            let blocks = &features.blocks;
            if v == w {
                let width = blocks[v].width().min(MOST + 1);
                let mut identity = vec![0.0; width * width];
                (0..width).for_each(|i| identity[i * width + i] = 1.0);
                return Ok(identity.into());
            }
            Ok(blocks[v].products(&blocks[w]).into_iter().map(|x| SHRINK * x).collect())
        };
        let correlations = Blocks::new(widths, Box::new(make) as Make);
        let rule = OverBlocks { table: table.clone(), correlations, scored, scales, degree: self.degree };
        Ok(Box::new(Bic::new(rule, self.prior)?))
    }
}

type Make = Box<dyn Fn(Var, Var, &Halt) -> Result<Box<[f64]>> + Send + Sync>;

/// The score prepared for a table.
struct OverBlocks {
    table: Arc<Table>,
    correlations: Blocks<Make>,
    /// How many of each child's features are scored, if not all.
    scored: Option<Vec<usize>>,
    scales: Vec<Option<Scale>>,
    degree: usize,
}

impl Rule for OverBlocks {
    type Child<'a> = Child<'a>;

    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Child<'_>> {
        Ok(Child { rule: self, var: child, rows: FamilyRows::default(), factor: Vec::new(), halt: Halt::default() })
    }

    fn check(&self, child: Var, parents: &[Var]) -> Result<()> {
        check_width(&self.table, child, parents, self.correlations.width_of(parents) + self.correlations.width(child))
    }

    fn cost(&self) -> Cost {
        Cost { fixed: 1000.0, row: 0.5, continuous: 1.8, levels: 0.7 }
    }

    fn equivalent(&self) -> bool {
        self.scored.is_none()
    }

    fn model(&self, child: Var, parents: &[Var], halt: &Halt) -> Result<LocalModel> {
        self.check(child, parents)?;
        Ok(super::models::blocks(&self.table, child, parents, self.degree, (&self.scales, halt)))
    }
}

/// One child's scratch: the correlations of the last parents and their factor, whose first rows stay while parents do.
struct Child<'a> {
    rule: &'a OverBlocks,
    var: Var,
    rows: FamilyRows,
    factor: Vec<f64>,
    halt: Halt,
}

/// The product of so many pivots, each at least .01 and at most 1, is no zero.
const MOST_MULTIPLIED: usize = 100;

impl Fits for Child<'_> {
    fn fit(&mut self, parents: &[Var]) -> Result<Fit> {
        let Self { rule, var: child, rows, factor, halt } = self;
        rule.check(*child, parents)?;
        let done = rows.of(&rule.correlations, parents, halt)?;
        rule.correlations.append(&mut rows.matrix, parents, *child, halt)?;
        let m = rule.correlations.width_of(parents);
        let q = rule.scored.as_ref().map_or_else(|| rule.correlations.width(*child), |scored| scored[*child]);
        factor.resize(packed(m + q), 0.0);
        let sound = factor_from(&rows.matrix, factor, done, m + q, 0.0);
        assert!(sound, "a correlation matrix with a ridge is positive definite");
        rows.stand(parents);
        let pivots: Vec<f64> = (m..m + q).map(|i| factor[packed(i) + i]).collect();
        let half_log_det: f64 = pivots.chunks(MOST_MULTIPLIED).map(|some| some.iter().product::<f64>().ln()).sum();
        Ok(Fit { log_likelihood: -rule.table.total_weight() * half_log_det, df: (q * m) as f64 })
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
    }
}
