//! Levels by Gaussians: per configuration of the parents with levels, a Gaussian of the numeric parents for every level
//! of the child, and Bayes' rule between them. What the conditional Gaussian score says of a child with levels.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::divided::Divided;
use super::outline::Outline;
use super::regression::repair;
use super::text::number;
use super::{Model, check_family};
use crate::error::{Error, Result};
use crate::numeric::cholesky::{forward, packed};
use crate::predictive::{Predictive, Value};
use crate::table::{Kind, Var, Variable};

/// One level's share and Gaussian.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// The logarithm of its share.
    pub log_share: f64,
    /// Per numeric parent, in stored units.
    pub mean: Vec<f64>,
    /// Packed Cholesky factor of the covariance, in stored units.
    pub factor: Vec<f64>,
}

/// All levels in one configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Rows it was fitted with.
    pub n_rows: usize,
    /// By level.
    pub classes: Vec<Class>,
    /// The numeric parents' means here.
    pub centre: Vec<f64>,
}

/// Gaussians by levels of the child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discriminant {
    child: Var,
    parents: Vec<Var>,
    /// Positions of the numeric parents.
    numbers: Vec<usize>,
    groups: Divided<Group>,
}

impl Class {
    fn log_weight(&self, x: &[f64]) -> f64 {
        let mut z: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        forward(&self.factor, &mut z);
        let k = z.len();
        let log_det: f64 = (0..k).map(|i| self.factor[packed(i) + i].ln()).sum();
        self.log_share - log_det - 0.5 * z.iter().map(|z| z * z).sum::<f64>()
    }
}

impl Group {
    fn predictive(&self, x: &[f64]) -> Predictive {
        let logs: Vec<f64> = self.classes.iter().map(|class| class.log_weight(x)).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut shares: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        repair(&mut shares, self.n_rows);
        Predictive::Levels { probabilities: shares }
    }
}

impl Discriminant {
    /// Puts groups together; `numbers` are the positions of the numeric parents.
    pub fn new(child: Var, parents: Vec<Var>, numbers: Vec<usize>, groups: Divided<Group>) -> Self {
        Self { child, parents, numbers, groups }
    }

    fn leaf(&self, group: &Group, n_rows: usize, variables: &[Variable]) -> Outline {
        Outline::Regression {
            n_rows,
            predictive: group.predictive(&group.centre),
            formula: self.formula(group, variables),
        }
    }

    /// Every level's means and deviations, in the user's units.
    fn formula(&self, group: &Group, variables: &[Variable]) -> String {
        let (Kind::Categorical { levels } | Kind::Ordinal { levels }) = &variables[self.child].kind else {
            return String::new();
        };
        let one = |(level, class): (&crate::table::Level, &Class)| {
            let mut out = format!("{level}:");
            for (i, &position) in self.numbers.iter().enumerate() {
                let variable = &variables[self.parents[position]];
                let Kind::Continuous { scale } = &variable.kind else { continue };
                let variance: f64 = class.factor[packed(i)..=packed(i) + i].iter().map(|l| l * l).sum();
                let (mean, sd) = (scale.affine().to_original(class.mean[i]), variance.sqrt() * scale.scale);
                let name = variable.affine_name();
                let _ = write!(out, " {name} {} ± {}", number(mean, 4), number(sd, 3));
            }
            out
        };
        levels.iter().zip(&group.classes).map(one).collect::<Vec<_>>().join("; ")
    }
}

impl Model for Discriminant {
    fn child(&self) -> Var {
        self.child
    }

    fn parents(&self) -> &[Var] {
        &self.parents
    }

    fn predictive(&self, parents: &[Value]) -> Cow<'_, Predictive> {
        let real = |&i: &usize| if let Some(Value::Real(x)) = parents.get(i) { *x } else { 0.0 };
        let x: Vec<f64> = self.numbers.iter().map(real).collect();
        Cow::Owned(self.groups.find(parents).predictive(&x))
    }

    fn n_parameters(&self) -> usize {
        let k = self.numbers.len();
        let of = |group: &Group| group.classes.len() * (1 + k + packed(k)) - 1;
        self.groups.observed().iter().map(of).sum()
    }

    fn outline(&self, variables: &[Variable]) -> Option<(Outline, Option<Predictive>)> {
        let leaf = |group: &Group, n_rows: usize| self.leaf(group, n_rows, variables);
        let (outline, more) = self.groups.outline(&self.parents, variables, &leaf);
        let otherwise = self.groups.otherwise();
        Some((outline, more.then(|| otherwise.predictive(&otherwise.centre))))
    }

    fn check(&self, variables: &[Variable]) -> Result<()> {
        check_family(self.child, &self.parents, variables)?;
        let child = &variables[self.child];
        self.groups.check(child, &self.parents, variables)?;
        let numeric = |i: usize| self.parents.get(i).is_some_and(|&p| variables[p].is_continuous());
        let k = self.numbers.len();
        let class = |class: &Class| {
            class.log_share.is_finite()
                && class.mean.len() == k
                && class.mean.iter().all(|x| x.is_finite())
                && class.factor.len() == packed(k)
                && class.factor.iter().all(|x| x.is_finite())
                && (0..k).all(|i| class.factor[packed(i) + i] > 0.0)
        };
        let group = |group: &Group| {
            Some(group.classes.len()) == child.n_levels()
                && !group.classes.is_empty()
                && group.classes.iter().all(class)
                && group.centre.len() == k
                && group.centre.iter().all(|x| x.is_finite())
        };
        let placed = self.numbers.is_sorted_by(|a, b| a < b)
            && self.numbers.iter().all(|&i| numeric(i))
            && (0..self.parents.len()).all(|i| numeric(i) || self.groups.divides(i));
        if placed && self.groups.iter().all(group) {
            Ok(())
        } else {
            Err(Error::Shape(format!("the Gaussian models of '{}' do not fit its variables", child.name)))
        }
    }
}
