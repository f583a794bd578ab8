//! Pruning: from all terms down to the intercept, one at a time; the subset of least GCV is kept.
//!
//! Each step drops the term whose loss raises the RSS least, `sum beta^2 / diag((B'B)^-1)` over the responses. With one
//! response the terms stay in the order of their dropping, and wherever the order changed, the RSS of every prefix is
//! looked at too (Miller's exchange, as in his subset routines): each size has its best subset seen, not only the last one.

use super::linear::Triangle;
use super::{Settings, gcv};

/// How terms are pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// By exchange for one response and at least three terms, else by least contribution.
    Usual,
    /// By least contribution always.
    LeastContribution,
}

/// The best subset seen of every size.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// By size, from the intercept alone: positions of the terms, ascending.
    pub subsets: Vec<Vec<usize>>,
    /// Their residual sums of squares.
    pub rss: Vec<f64>,
    /// Their GCVs.
    pub gcv: Vec<f64>,
}

impl Path {
    /// The subset of least GCV, the smaller under ties.
    pub fn best(&self) -> &[usize] {
        let mut best = 0;
        for (size, &gcv) in self.gcv.iter().enumerate() {
            if gcv < self.gcv[best] {
                best = size;
            }
        }
        &self.subsets[best]
    }
}

/// Prunes all the way.
pub fn path(triangle: &Triangle, settings: &Settings, n: f64) -> Path {
    let exchange = settings.pruning == Pruning::Usual && triangle.responses.len() == 1 && triangle.n_terms() > 2;
    // What the intercept leaves.
    let null = triangle.rss + triangle.responses.iter().flat_map(|y| y.iter().skip(1)).map(|y| y * y).sum::<f64>();
    let mut best = Best { tie: settings.tie * null, ..Best::default() };
    if exchange {
        by_exchange(triangle, &mut best);
    } else {
        by_contribution(triangle, &mut best);
    }
    let gcv = best.rss.iter().enumerate().map(|(i, &rss)| gcv(rss, i + 1, n, settings.penalty)).collect();
    for subset in &mut best.subsets {
        subset.sort_unstable();
    }
    Path { subsets: best.subsets, rss: best.rss, gcv }
}

#[derive(Default)]
struct Best {
    subsets: Vec<Vec<usize>>,
    rss: Vec<f64>,
    /// Sums that differ by no more are a tie, which goes to the first.
    tie: f64,
}

impl Best {
    fn see(&mut self, terms: &[usize], rss: f64) {
        let size = terms.len() - 1;
        if self.rss.len() <= size {
            self.rss.resize(size + 1, f64::INFINITY);
            self.subsets.resize(size + 1, vec![]);
        }
        if rss < self.rss[size] - self.tie {
            self.rss[size] = rss;
            self.subsets[size] = terms.to_vec();
        }
    }
}

/// Coefficients and the inverse cross-products of the terms that are left, which change little as one goes.
struct Left {
    terms: Vec<usize>,
    inverse: Vec<Vec<f64>>,
    beta: Vec<Vec<f64>>,
}

impl Left {
    fn new(triangle: &Triangle) -> Self {
        let (inverse, beta) = triangle.inverse();
        Self { terms: (0..triangle.n_terms()).collect(), inverse, beta }
    }

    /// By how much the RSS rises without a term.
    fn loss(&self, term: usize) -> f64 {
        let gained = self.beta.iter().map(|b| b[term] * b[term]).sum::<f64>() / self.inverse[term][term];
        // Where terms are all but dependent, rounding may say otherwise.
        if gained > 0.0 { gained } else { 0.0 }
    }

    /// The place of the least loss among all but the intercept, the first of equals.
    fn least(&self, tie: f64) -> usize {
        let mut least = (1, f64::INFINITY);
        for (place, &term) in self.terms.iter().enumerate().skip(1) {
            let loss = self.loss(term);
            if loss < least.1 - tie {
                least = (place, loss);
            }
        }
        least.0
    }

    fn drop(&mut self, place: usize) {
        let term = self.terms.remove(place);
        let column = self.inverse[term].clone();
        for &a in &self.terms {
            let factor = column[a] / column[term];
            if factor != 0.0 {
                for &b in &self.terms {
                    self.inverse[a][b] -= factor * column[b];
                }
                for beta in &mut self.beta {
                    beta[a] -= factor * beta[term];
                }
            }
        }
    }
}

fn by_contribution(triangle: &Triangle, best: &mut Best) {
    let mut left = Left::new(triangle);
    let mut rss = triangle.rss;
    best.see(&left.terms, rss);
    while left.terms.len() > 1 {
        let place = left.least(best.tie);
        rss += left.loss(left.terms[place]);
        left.drop(place);
        best.see(&left.terms, rss);
    }
}

fn by_exchange(triangle: &Triangle, best: &mut Best) {
    let m = triangle.n_terms();
    let mut ordered = Ordered {
        order: (0..m).collect(),
        columns: triangle.columns.iter().map(|c| c.iter().copied().chain([0.0]).collect()).collect(),
        response: triangle.responses[0].clone(),
    };
    let see = |ordered: &Ordered, best: &mut Best, sizes: std::ops::RangeInclusive<usize>| {
        let mut rss = triangle.rss + ordered.response[*sizes.end()..].iter().rev().map(|y| y * y).sum::<f64>();
        for size in sizes.rev() {
            best.see(&ordered.order[..size], rss);
            rss += ordered.response[size - 1] * ordered.response[size - 1];
        }
    };
    see(&ordered, best, 1..=m);
    let mut left = Left::new(triangle);
    for last in (2..m).rev() {
        let place = left.least(best.tie);
        left.drop(place);
        // `left` and the order agree on the first `last + 1` terms.
        if place < last {
            for i in place..last {
                ordered.swap(i);
            }
            see(&ordered, best, place..=last);
        }
    }
}

/// The triangle of terms in a changing order.
struct Ordered {
    order: Vec<usize>,
    /// Column `j` holds `j + 2` coordinates, the last of them zero.
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
}

impl Ordered {
    /// Exchanges the terms at `i` and `i + 1`, and makes the columns a triangle again.
    fn swap(&mut self, i: usize) {
        self.order.swap(i, i + 1);
        self.columns.swap(i, i + 1);
        self.columns[i + 1].push(0.0);
        let (a, b) = (self.columns[i][i], self.columns[i][i + 1]);
        let r = a.hypot(b);
        if r > 0.0 {
            let (c, s) = (a / r, b / r);
            let turn = |y: &mut [f64]| (y[i], y[i + 1]) = (c * y[i] + s * y[i + 1], c * y[i + 1] - s * y[i]);
            self.columns[i..].iter_mut().for_each(|column| turn(column));
            turn(&mut self.response);
        }
        self.columns[i][i + 1] = 0.0;
        self.columns[i].truncate(i + 2);
    }
}
