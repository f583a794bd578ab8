//! Children with linear leaves: one search for each number of numeric parents, and the lines of the found leaves.
//!
//! Without numeric parents it is the search of normal leaves, to the letter.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Prepared;
use super::children::{number_node, weighed_node};
use super::family::{Family, Rows};
use crate::control::Halt;
use crate::error::Result;
use crate::leaf::{LineSums, Linear, Normal, n_sums};
use crate::local::Groups;
use crate::model::linear_leaf::Input;
use crate::model::tree::{Node, Tree};
use crate::predictive::Value;
use crate::said::SharedRows;
use crate::table::{Affine, Column, Var};
use crate::tree::normaliser::Prior;
use crate::tree::optimal::Effort;
use crate::tree::response::{
    LineRows, LineSum, Lines, NumberSum, Numbers, Weighed, WeighedLineSum, WeighedLines, WeighedSum,
};

/// Most numeric parents of a linear leaf: no key holds more.
pub const MOST: usize = 10;

/// Codes by variable, values of the response, and the order of both.
pub struct ByValue {
    /// The response, its centre subtracted, ascending.
    pub values: Vec<f64>,
    /// By variable.
    pub codes: Vec<Vec<u16>>,
    /// Where each row stands in the table.
    pub order: Vec<u32>,
    /// How often each counts, if not all count once.
    pub weights: Option<Vec<f64>>,
    /// Which of them hold the child's shared number, if it has one.
    pub shared: Option<SharedRows>,
}

/// The search of a child.
pub struct OfLines<'a> {
    prepared: &'a Prepared,
    child: Var,
    leaf: Normal,
    codes: Arc<Vec<Vec<u16>>>,
    rows: Arc<LineRows>,
    /// Where each row stands in the table.
    order: Vec<u32>,
    weighed: bool,
    shared: Option<SharedRows>,
    families: BTreeMap<usize, Box<dyn Family + 'a>>,
    /// Sums that the last family took.
    last: usize,
    halt: Halt,
    cap: Option<u64>,
}

impl<'a> OfLines<'a> {
    /// Of rows by value.
    pub fn new(prepared: &'a Prepared, child: Var, leaf: Normal, by_value: ByValue, scales: &[Option<Affine>]) -> Self {
        let ByValue { values, codes, order, weights, shared } = by_value;
        let x = (scales.iter().enumerate())
            .map(|(var, scale)| match (scale, prepared.table.column(var)) {
                (Some(scale), Column::Reals(x)) if var != child => {
                    Some(order.iter().map(|&row| scale.to_stored(x[row as usize])).collect())
                }
                _ => None,
            })
            .collect();
        let weighed = weights.is_some();
        let rows = Arc::new(LineRows { y: values, x, weights: weights.unwrap_or_default() });
        let halt = Halt::default();
        Self {
            prepared,
            child,
            leaf,
            codes: Arc::new(codes),
            rows,
            order,
            weighed,
            shared,
            families: BTreeMap::new(),
            last: 0,
            halt,
            cap: None,
        }
    }

    fn numeric(&self, parents: &[Var]) -> Vec<usize> {
        (0..parents.len()).filter(|&i| self.prepared.table.variable(parents[i]).is_continuous()).collect()
    }

    fn family(&mut self, parents: &[Var]) -> Result<&mut (dyn Family + 'a)> {
        let p = self.numeric(parents).len();
        if p > MOST {
            return Err(self.prepared.too_many_numbers(self.child, parents));
        }
        let width = [0, 1, 2, 3, 4].into_iter().find(|&most| p <= most).unwrap_or(MOST);
        self.last = width;
        let dividing = self.prepared.dividing(self.child, parents);
        let beside: Vec<Var> = parents.iter().copied().filter(|parent| !dividing.contains(parent)).collect();
        if !self.families.contains_key(&width) {
            let mut family = match width {
                0 if self.weighed => self.without_lines_weighed(),
                0 => self.without_lines(),
                1 => self.of_width::<{ n_sums(1) }>(),
                2 => self.of_width::<{ n_sums(2) }>(),
                3 => self.of_width::<{ n_sums(3) }>(),
                4 => self.of_width::<{ n_sums(4) }>(),
                _ => self.of_width::<{ n_sums(MOST) }>(),
            };
            family.heed(&self.halt);
            if let Some(steps) = self.cap {
                family.cap(steps);
            }
            self.families.insert(width, family);
        }
        let family = self.families.get_mut(&width).expect("it was just made").as_mut();
        family.beside(&beside);
        Ok(family)
    }

    fn without_lines(&self) -> Box<dyn Family + 'a> {
        let response = Numbers::new(&self.leaf, self.rows.y.len());
        let leaf = self.leaf.clone();
        let node = move |sum: &NumberSum| number_node(&leaf, &sum.into());
        let codes = Rows::Ordered(self.codes.clone());
        let values = self.rows.y.clone();
        self.prepared.of_numbers(self.child, response, values, codes, node, self.shared.as_ref())
    }

    fn without_lines_weighed(&self) -> Box<dyn Family + 'a> {
        let leaf = self.leaf.clone();
        let node = move |sum: &WeighedSum| weighed_node(&leaf, sum);
        let values = self.rows.y.iter().copied().zip(self.rows.weights.iter().copied()).collect();
        let codes = Rows::Ordered(self.codes.clone());
        let response = Weighed::new(&self.leaf);
        self.prepared.of_numbers(self.child, response, values, codes, node, self.shared.as_ref())
    }

    fn of_width<const W: usize>(&self) -> Box<dyn Family + 'a> {
        let k = Lines::<W>::K;
        let leaf = self.leaf.clone();
        let values = (0..self.rows.y.len() as u32).collect();
        let codes = Rows::Ordered(self.codes.clone());
        if self.weighed {
            let response = WeighedLines::<W>::new(&self.leaf, k, self.rows.clone());
            let node = move |sum: &WeighedLineSum<W>| {
                line_node(&leaf, &sum.stat(), sum.p(), k, |leaf| weighed_node(leaf, &sum.numbers()))
            };
            return self.prepared.of_numbers(self.child, response, values, codes, node, self.shared.as_ref());
        }
        let response = Lines::<W>::new(&self.leaf, self.rows.clone());
        let node = move |sum: &LineSum<W>| {
            let plain = |leaf: &Normal| number_node(leaf, &sum.moments());
            line_node(&leaf, &sum.stat(), sum.p(), k, plain)
        };
        self.prepared.of_numbers(self.child, response, values, codes, node, self.shared.as_ref())
    }
}

/// The leaf that is worth more, its line not yet bound to parents.
fn line_node(normal: &Normal, stat: &LineSums, p: usize, k: f64, plain: impl Fn(&Normal) -> Node) -> Node {
    let leaf = Linear::new(normal.clone(), p, k);
    match plain(normal) {
        Node::Leaf { n, statistic, .. } if leaf.log_marginal(stat) > leaf.log_marginal_without(stat) => {
            Node::Line { n, statistic, inputs: Vec::new(), line: leaf.fit(stat), point: None }
        }
        plain => plain,
    }
}

impl Family for OfLines<'_> {
    fn best(&mut self, parents: &[Var]) -> Result<(f64, Prior)> {
        let dividing = self.prepared.dividing(self.child, parents);
        self.family(parents)?.best(&dividing)
    }

    fn tree(&mut self, parents: &[Var]) -> Result<Tree> {
        let numeric = self.numeric(parents);
        let dividing = self.prepared.dividing(self.child, parents);
        let mut tree = self.family(parents)?.tree(&dividing)?.among(parents);
        let table = &self.prepared.table;
        let input = |&parent: &usize| Input {
            parent,
            scale: self.prepared.scales[parents[parent]].unwrap_or(Affine::IDENTITY),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        };
        let inputs: Vec<Input> = numeric.iter().map(input).collect();
        let value = |&p: &Var, row: usize| match table.column(p) {
            Column::Reals(x) => Value::Real(x[row]),
            Column::Codes(codes) => Value::Code(codes.get(row) as u32),
        };
        // A line is of the rows that do not hold the shared number.
        let other = |place: &usize| self.shared.as_ref().is_none_or(|shared| shared.is_other(*place));
        let rows = (0..self.order.len()).filter(other).map(|place| self.order[place] as usize);
        tree.bind(&inputs, rows.map(|row| parents.iter().map(|p| value(p, row)).collect()));
        Ok(tree)
    }

    fn heed(&mut self, halt: &Halt) {
        self.halt = halt.clone();
        self.families.values_mut().for_each(|family| family.heed(halt));
    }

    fn cap(&mut self, steps: u64) {
        self.cap = Some(steps);
        self.families.values_mut().for_each(|family| family.cap(steps));
    }

    fn steps(&self) -> Option<u64> {
        self.families.values().map(|family| family.steps()).sum()
    }

    fn in_order(&self) -> Option<&[Groups]> {
        self.families.get(&self.last)?.in_order()
    }

    fn effort(&self) -> Effort {
        let mut all = Effort::default();
        self.families.values().for_each(|family| all += family.effort());
        all
    }
}
