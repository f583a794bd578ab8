//! A parent term times a predictor, and what every knot would gain.
//!
//! With `b` the parent term and `z` the predictor there are the line `l = b z` and, per knot `t`, the hinge `h = b (z - t)+`;
//! both have products with every column `q` of the orthonormal basis. Going down the rows by `z` with the sums
//! `S = sum b q` and `Z = sum b z q` over the rows above, `q'h = Z - t S`, and at the bottom `q'l = Z`: one pass gives the
//! products of one column with the line and all hinges. From these the candidate keeps what the basis leaves of the
//! squares `l'l`, `h'h`, of `l'h`, and of the products with the residuals; a new column of the basis lowers each by a
//! product, so nothing is ever summed twice.

use super::places;
use super::predictor::Number;
use super::spans::Spans;

/// A column of the basis, and what it explains of each response.
pub struct Column {
    /// Of length one.
    pub q: Vec<f64>,
    /// Its products with the responses.
    pub theta: Vec<f64>,
}

/// A parent term times a predictor.
pub struct Candidate {
    /// Active rows: those above first.
    rows: Vec<u32>,
    b: Vec<f64>,
    bz: Vec<f64>,
    /// What a line that the basis explains is measured by.
    scale: f64,
    /// What the basis leaves of `l'l`.
    line: f64,
    /// The line's products with the residuals.
    line_y: Vec<f64>,
    knots: Knots,
    /// How many columns of the basis it knows.
    seen: usize,
}

/// The knots of a candidate, from the top down.
#[derive(Default)]
struct Knots {
    /// Where.
    t: Vec<f64>,
    /// How many active rows lie above.
    above: Vec<u32>,
    /// Squares of the hinges about their means.
    spread: Vec<f64>,
    /// What the basis leaves of `h'h`.
    left: Vec<f64>,
    /// What it leaves of `l'h`.
    cross: Vec<f64>,
    /// Products of the hinges with the residuals, response by response.
    y: Vec<Vec<f64>>,
}

/// The best of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// Of the line alone; zero if the basis explains it.
    pub line: f64,
    /// Whether the basis does not explain the line, so that hinges come in pairs.
    pub independent: bool,
    /// The best knot that beats the line, and its gain.
    pub knot: Option<(f64, f64)>,
}

/// When a hinge may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What of a hinge the basis and the line must leave, of its spread.
    pub tolerance: f64,
    /// Gains from here on are rounding.
    pub most: f64,
    /// Gains that differ by no more are a tie, which goes to the first.
    pub tie: f64,
}

impl Candidate {
    /// An indicator: only the line, which is one where it holds.
    pub fn indicator(holds: &[u32], parent: &[f64], residuals: &[Vec<f64>]) -> Self {
        let rows: Vec<u32> = holds.iter().copied().filter(|&row| parent[row as usize] != 0.0).collect();
        let b: Vec<f64> = rows.iter().map(|&row| parent[row as usize]).collect();
        let square: f64 = b.iter().map(|b| b * b).sum();
        let mut made = Self::empty(rows, b.clone(), b, square, residuals.len());
        made.line = square;
        made.line_y = residuals.iter().map(|y| made.product(y)).collect();
        made
    }

    /// A number: the line and its knots. The parent term is multiplied by the roots of the weights, if rows have some.
    pub fn number(
        x: &Number,
        parent: &[f64],
        weights: Option<&[f64]>,
        spans: Spans,
        residuals: &[Vec<f64>],
        earth: bool,
    ) -> Self {
        let mut order = std::borrow::Cow::Borrowed(&x.order);
        if x.tied && !earth {
            // Among equal values active rows first: knots then do not depend on the order of the rows.
            let order = order.to_mut();
            let mut start = 0;
            while start < order.len() {
                let z = x.z[order[start] as usize];
                let end = start + order[start..].iter().take_while(|&&row| x.z[row as usize] == z).count();
                order[start..end].sort_by_key(|&row| parent[row as usize] == 0.0);
                start = end;
            }
        }
        let (rows, knots) = match weights {
            None => places::by_rows(&x.z, &order, parent, spans),
            Some(weights) => places::by_weights(&x.z, &order, parent, weights, spans),
        };
        let knots = Knots { t: knots.t, above: knots.above, ..Knots::default() };
        let b: Vec<f64> = rows.iter().map(|&row| parent[row as usize]).collect();
        let bz: Vec<f64> = rows.iter().zip(&b).map(|(&row, b)| b * x.z[row as usize]).collect();
        let scale = b.iter().map(|b| b * b).sum();
        let mut made = Self::empty(rows, b, bz, scale, residuals.len());
        made.knots = knots;
        made.squares(x);
        for (k, y) in residuals.iter().enumerate() {
            let mut products = vec![0.0; made.knots.t.len()];
            made.line_y[k] = made.pass([y], |j, [p]| products[j] = p)[0];
            made.knots.y[k] = products;
        }
        made
    }

    fn empty(rows: Vec<u32>, b: Vec<f64>, bz: Vec<f64>, scale: f64, n_responses: usize) -> Self {
        let knots = Knots { y: vec![vec![]; n_responses], ..Knots::default() };
        Self { rows, b, bz, scale, line: 0.0, line_y: vec![0.0; n_responses], knots, seen: 0 }
    }

    /// `l'l`, and `h'h` and `l'h` of every knot, before any column of the basis.
    fn squares(&mut self, x: &Number) {
        let (mut one, mut two, mut three) = (0.0, 0.0, 0.0);
        let n_responses = self.line_y.len();
        let knots = &mut self.knots;
        knots.y = vec![vec![]; n_responses];
        let mut next = 0;
        for (i, &row) in self.rows.iter().enumerate() {
            while next < knots.t.len() && knots.above[next] as usize == i {
                push_squares(knots, next, one, two, three);
                next += 1;
            }
            let (b, z) = (self.b[i], x.z[row as usize]);
            one += b * b;
            two += b * b * z;
            three += b * b * z * z;
        }
        while next < knots.t.len() {
            push_squares(knots, next, one, two, three);
            next += 1;
        }
        self.line = three;
    }

    /// The product of a column with the line.
    fn product(&self, column: &[f64]) -> f64 {
        self.rows.iter().zip(&self.bz).map(|(&row, bz)| bz * column[row as usize]).sum()
    }

    /// The products of some columns with every hinge, told as they are known, and with the line.
    fn pass<const W: usize>(&self, columns: [&[f64]; W], mut tell: impl FnMut(usize, [f64; W])) -> [f64; W] {
        let (mut s, mut sz) = ([0.0; W], [0.0; W]);
        let mut start = 0;
        let sum = |from: usize, to: usize, s: &mut [f64; W], sz: &mut [f64; W]| {
            let (mut part, mut part_z) = ([0.0; W], [0.0; W]);
            let rows = self.rows[from..to].iter().zip(&self.b[from..to]).zip(&self.bz[from..to]);
            for ((&row, &b), &bz) in rows {
                for w in 0..W {
                    let q = columns[w][row as usize];
                    part[w] += b * q;
                    part_z[w] += bz * q;
                }
            }
            for w in 0..W {
                s[w] += part[w];
                sz[w] += part_z[w];
            }
        };
        for (j, (&above, &t)) in self.knots.above.iter().zip(&self.knots.t).enumerate() {
            sum(start, above as usize, &mut s, &mut sz);
            start = above as usize;
            tell(j, std::array::from_fn(|w| sz[w] - t * s[w]));
        }
        sum(start, self.rows.len(), &mut s, &mut sz);
        sz
    }

    /// Learns of the columns that the basis has got since; `current` of them are in the residuals it was made with.
    pub fn update(&mut self, basis: &[Column], current: usize) {
        while self.seen < basis.len() {
            let first = self.seen;
            match basis.len() - first {
                1 => self.learn([&basis[first]], [first >= current]),
                2 | 3 => self.learn([0, 1].map(|i| &basis[first + i]), [0, 1].map(|i| first + i >= current)),
                _ => {
                    let four = [0, 1, 2, 3];
                    self.learn(four.map(|i| &basis[first + i]), four.map(|i| first + i >= current));
                }
            }
        }
    }

    fn learn<const W: usize>(&mut self, columns: [&Column; W], fresh: [bool; W]) {
        self.seen += W;
        let q = columns.map(|column| column.q.as_slice());
        if self.knots.t.is_empty() {
            for w in 0..W {
                let line = self.product(q[w]);
                self.line -= line * line;
                if fresh[w] {
                    for (y, theta) in self.line_y.iter_mut().zip(&columns[w].theta) {
                        *y -= line * theta;
                    }
                }
            }
            return;
        }
        let mut hinges = vec![[0.0; W]; self.knots.t.len()];
        let line = self.pass(q, |j, products| hinges[j] = products);
        let knots = &mut self.knots;
        if self.seen == W {
            // The first column is the intercept's: spreads are about the mean.
            for (spread, (left, hinge)) in knots.spread.iter_mut().zip(knots.left.iter().zip(&hinges)) {
                *spread = left - hinge[0] * hinge[0];
            }
        }
        for ((left, cross), hinge) in knots.left.iter_mut().zip(&mut knots.cross).zip(&hinges) {
            for w in 0..W {
                *left -= hinge[w] * hinge[w];
                *cross -= hinge[w] * line[w];
            }
        }
        for w in 0..W {
            self.line -= line[w] * line[w];
            if fresh[w] {
                for ((y, line_y), theta) in knots.y.iter_mut().zip(&mut self.line_y).zip(&columns[w].theta) {
                    *line_y -= line[w] * theta;
                    for (y, hinge) in y.iter_mut().zip(&hinges) {
                        *y -= hinge[w] * theta;
                    }
                }
            }
        }
    }

    /// Whether the basis does not explain the line: by so much of its scale.
    pub fn independent(&self, share: f64) -> bool {
        self.line > share * self.scale
    }

    /// What of the line's square the basis leaves.
    pub fn line_left(&self) -> f64 {
        self.line
    }

    /// What the line and the best knot would gain.
    pub fn gains(&self, independent: bool, Rule { tolerance, most, tie }: Rule) -> Gains {
        let line = if independent { self.line_y.iter().map(|y| y * y).sum::<f64>() / self.line } else { 0.0 };
        let mut best = line;
        let mut knot = None;
        let knots = &self.knots;
        let slope = if independent { 1.0 / self.line } else { 0.0 };
        let mut see = |j: usize, gain: f64| {
            if gain > best + tie && gain < most {
                best = gain;
                knot = Some((knots.t[j], gain));
            }
        };
        let left = |j: usize| {
            let along = knots.cross[j] * slope;
            (along, knots.left[j] - along * knots.cross[j])
        };
        if let [y] = knots.y.as_slice() {
            for (j, y) in y.iter().enumerate() {
                let (along, left) = left(j);
                if left > tolerance * knots.spread[j] {
                    let product = y - along * self.line_y[0];
                    see(j, line + product * product / left);
                }
            }
        } else {
            for j in 0..knots.t.len() {
                let (along, left) = left(j);
                if left > tolerance * knots.spread[j] {
                    let square = |(y, line): (&Vec<f64>, &f64)| (y[j] - along * line).powi(2);
                    let squares: f64 = knots.y.iter().zip(&self.line_y).map(square).sum();
                    see(j, line + squares / left);
                }
            }
        }
        Gains { line, independent, knot }
    }
}

fn push_squares(knots: &mut Knots, j: usize, one: f64, two: f64, three: f64) {
    let t = knots.t[j];
    knots.left.push(three - 2.0 * t * two + t * t * one);
    knots.cross.push(three - t * two);
    knots.spread.push(0.0);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::linear::dot;
    use super::*;
    use crate::cases::cases;

    /// What the columns do not explain of a vector: each is taken away twice.
    fn left_of(basis: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
        let mut left = vector.to_vec();
        for q in basis.iter().chain(basis) {
            let product = dot(q, &left);
            left.iter_mut().zip(q).for_each(|(x, q)| *x -= product * q);
        }
        left
    }

    /// The basis with one column more, unless it is explained already.
    fn grown(basis: &[Vec<f64>], column: &[f64]) -> Vec<Vec<f64>> {
        let left = left_of(basis, column);
        let length = dot(&left, &left).sqrt();
        let mut grown = basis.to_vec();
        if length > 1e-6 * dot(column, column).sqrt() {
            grown.push(left.iter().map(|x| x / length).collect());
        }
        grown
    }

    fn rss(basis: &[Vec<f64>], responses: &[Vec<f64>]) -> f64 {
        responses.iter().map(|y| left_of(basis, y)).map(|left| dot(&left, &left)).sum()
    }

    /// Ties, few rows, a constant, far outliers, units of any size.
    fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            3 => prop::collection::vec(-2.0..2.0_f64, n),
            2 => prop::collection::vec((-2..3_i8).prop_map(f64::from), n),
            1 => prop::collection::vec(prop_oneof![9 => -1.0..1.0_f64, 1 => Just(50.0)], n),
            1 => Just(vec![0.7; n]),
        ];
        (value, prop::sample::select(vec![1.0, 1e-9, 1e9])).prop_map(|(x, unit)| x.iter().map(|x| unit * x).collect())
    }

    proptest! {
        #![proptest_config(cases(128))]

        /// Kept from column to column, or made late and told of several at once: each knot's gain is what the residual
        /// sum of squares loses when line and hinge are fitted anew.
        #[test]
        fn every_gain_is_what_fitting_anew_gains(
            (x, other, responses, columns) in (3..40_usize).prop_flat_map(|n| (
                numbers(n), numbers(n),
                prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, n), 1..3),
                prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, n), 0..6),
            )),
            product in prop::option::of(any::<prop::sample::Index>()), made_at in 1..4_usize, told_at in 1..7_usize, between in 1..4_usize,
        ) {
            let n = x.len();
            let number = Number::new(&x, None, None);
            // A hinge's own knot is one of its values, so that where it is zero it is exactly that.
            let parent: Vec<f64> = product.map_or(vec![1.0; n], |knot| {
                let z = Number::new(&other, None, None).z;
                z.iter().map(|x| (x - z[knot.index(n)]).max(0.0)).collect()
            });
            let mut literal: Vec<Vec<f64>> = vec![];
            for column in [vec![1.0; n], parent.clone()].iter().chain(&columns) {
                literal = grown(&literal, column);
            }
            let theta = |q: &[f64]| responses.iter().map(|y| dot(q, y)).collect();
            let basis: Vec<Column> = literal.iter().map(|q| Column { q: q.clone(), theta: theta(q) }).collect();
            let current = made_at.min(basis.len());
            let residuals: Vec<Vec<f64>> = responses.iter().map(|y| left_of(&literal[..current], y)).collect();
            let spans = Spans { end: 1, start: 1, between };
            let mut candidate = Candidate::number(&number, &parent, None, spans, &residuals, false);
            candidate.update(&basis[..told_at.clamp(current, basis.len())], current);
            candidate.update(&basis, current);

            let before = rss(&literal, &responses);
            let close = |gain: f64, literal: f64| (gain - literal).abs() < 1e-5 * (1.0 + before);
            let line: Vec<f64> = parent.iter().zip(&number.z).map(|(b, z)| b * z).collect();
            let independent = candidate.independent(1e-5);
            let with_line = if independent { grown(&literal, &line) } else { literal.clone() };
            let rule = Rule { tolerance: 0.01, most: f64::INFINITY, tie: 0.0 };
            let best = candidate.gains(independent, rule);
            prop_assert!(close(best.line, before - rss(&with_line, &responses)), "{best:?} of {before}");
            // One knot at a time: the others are taken out.
            let all = std::mem::take(&mut candidate.knots);
            for j in 0..all.t.len() {
                candidate.knots = Knots {
                    t: vec![all.t[j]],
                    above: vec![all.above[j]],
                    spread: vec![all.spread[j]],
                    left: vec![all.left[j]],
                    cross: vec![all.cross[j]],
                    y: all.y.iter().map(|y| vec![y[j]]).collect(),
                };
                let hinge: Vec<f64> = parent.iter().zip(&number.z).map(|(b, z)| b * (z - all.t[j]).max(0.0)).collect();
                let anew = before - rss(&grown(&with_line, &hinge), &responses);
                // Of a hinge far smaller than the line, differences of sums over all rows keep no digits.
                if dot(&hinge, &hinge) < 1e-9 * dot(&line, &line) {
                    continue;
                }
                if let Some((_, gain)) = candidate.gains(independent, rule).knot {
                    prop_assert!(close(gain, anew), "knot {} gains {gain}, not {anew}", all.t[j]);
                    prop_assert!(gain <= best.knot.map_or(best.line, |knot| knot.1));
                }
            }
        }
    }
}
