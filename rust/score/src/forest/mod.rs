//! Which variables matter for a child: importance in a random forest (Breiman 2001) over binned columns.
//!
//! Every column is binned once, to at most 64 quantile bins or its levels, and the bins are shared by the forests of all
//! children; a split is found from the histogram of the responses by bin. A child with levels is split by its Gini
//! impurity, a number by its variance. Importance is the impurity that splits on a variable took away, or, as in Sharma and
//! van Beek (2022), the rise of the out-of-bag error when its values are permuted, divided by that rise's deviation over
//! the trees. Where there are many variables, those of least mutual information with the child may be left out before.
//!
//! Every tree has its own generator, seeded by the child and the tree, and sums run in the order of the trees: the same
//! ranks at any number of threads. Rows come in the canonical order of their values, so their order changes nothing.

mod bins;
mod grow;
mod information;

use rayon::prelude::*;

use self::bins::Binned;
use self::grow::{Grown, Plan, Target, grow};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::table::{Table, Var};
use arbornet_table::spread::TryMap;

/// How variables are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Importance {
    /// By the impurity their splits took away.
    #[default]
    Gain,
    /// By the out-of-bag error when their values are permuted.
    Permutation,
}

/// A forest before it meets a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// Number of trees.
    pub trees: usize,
    /// How variables are judged.
    pub importance: Importance,
    /// Only so many variables, those of most mutual information with the child, get into the forest.
    pub prefilter: Option<usize>,
    /// The share of variables that a split may choose from.
    pub share: f64,
    /// The fewest rows of a leaf; by default 5, or one in 250.
    pub min_leaf: Option<usize>,
    /// Of all random choices.
    pub seed: u64,
}

impl Default for Forest {
    fn default() -> Self {
        Self { trees: 50, importance: Importance::Gain, prefilter: None, share: 1.0 / 3.0, min_leaf: None, seed: 0 }
    }
}

/// The variables that may be parents of a child, best first, with their importance.
pub type Ranks = Vec<(Var, f64)>;

impl Forest {
    /// Ranks, for each of some children, the variables that `among` names for it (ascending), with the threads of the
    /// current rayon pool. Those left out before the forest stand last, in the order of their mutual information.
    ///
    /// # Errors
    /// If a parameter is outside its range, a child is not in the table, or asked to stop.
    pub fn rank(
        &self,
        table: &Table,
        children: &[Var],
        among: &(dyn Fn(Var) -> Vec<Var> + Sync),
        control: &Control,
    ) -> Result<Vec<Ranks>> {
        if self.trees == 0 {
            return Err(Error::parameter("n_trees", &self.trees, "must be at least 1"));
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err(Error::parameter("share", &self.share, "must be above 0 and at most 1"));
        }
        if let Some(&child) = children.iter().find(|&&child| child >= table.n_vars()) {
            return Err(Error::Shape(format!("there is no column {child}")));
        }
        control.expect(children.len() as u64);
        let binned = Binned::new(table);
        children.par_iter().try_map(|&child| {
            control.check()?;
            let ranks = self.rank_one(table, &binned, child, &among(child), control)?;
            control.advance(1);
            Ok(ranks)
        })
    }

    fn rank_one(&self, table: &Table, binned: &Binned, child: Var, among: &[Var], control: &Control) -> Result<Ranks> {
        let mut others: Vec<(Var, f64)> = among.iter().filter(|&&v| v != child).map(|&v| (v, 0.0)).collect();
        let mut left_out = vec![];
        if let Some(most) = self.prefilter.filter(|&most| most < others.len()) {
            information::shared(binned, child, &mut others);
            others.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            left_out = others.split_off(most);
            others.sort_unstable_by_key(|&(v, _)| v);
        }
        let features: Vec<Var> = others.iter().map(|&(v, _)| v).collect();
        let target = Target::new(table, binned, child);
        let importances = self.importances(binned, &target, child, &features, control)?;
        let mut ranks: Ranks = features.into_iter().zip(importances).collect();
        ranks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranks.extend(left_out.into_iter().map(|(v, _)| (v, 0.0)));
        Ok(ranks)
    }

    fn importances(
        &self,
        binned: &Binned,
        target: &Target,
        child: Var,
        features: &[Var],
        control: &Control,
    ) -> Result<Vec<f64>> {
        let n_rows = binned.n_rows();
        if n_rows < 2 || features.is_empty() {
            return Ok(vec![0.0; features.len()]);
        }
        let plan = Plan {
            binned,
            target,
            features,
            tried: ((features.len() as f64 * self.share).ceil() as usize).clamp(1, features.len()),
            min_leaf: self.min_leaf.unwrap_or_else(|| (n_rows / 250).max(5)).max(1),
            permute: self.importance == Importance::Permutation,
        };
        let trees: Vec<Grown> = (0..self.trees).into_par_iter().try_map(|tree| {
            control.check()?;
            Ok(grow(&plan, seed(self.seed, child, tree)))
        })?;
        let n = self.trees as f64;
        let per_feature = |f: usize| match self.importance {
            Importance::Gain => trees.iter().map(|tree| tree.importance[f]).sum::<f64>() / n,
            Importance::Permutation => {
                let mean = trees.iter().map(|tree| tree.importance[f]).sum::<f64>() / n;
                let square = trees.iter().map(|tree| (tree.importance[f] - mean).powi(2)).sum::<f64>();
                let deviation = (square / (n - 1.0).max(1.0)).sqrt();
                if deviation > 0.0 { mean / deviation } else { 0.0 }
            }
        };
        Ok((0..features.len()).map(per_feature).collect())
    }
}

/// A seed for one tree of one child.
fn seed(seed: u64, child: Var, tree: usize) -> u64 {
    // Steele, Lea and Flood's finaliser, over the three numbers in turn.
    [child as u64, tree as u64].iter().fold(seed, |state, part| {
        let mut z = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
