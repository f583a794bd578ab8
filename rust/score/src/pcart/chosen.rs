//! `leaf="auto"`: whether the leaves of a child of numbers follow lines, chosen once for the child.
//!
//! Chosen is what makes the child more probable where it has its best single numeric parent: the best tree with normal leaves
//! against the best with lines, each a marginal likelihood, so that what lines may follow by chance is paid for. A leaf with
//! lines may be normal too, at the cost of that choice in every leaf; a child that is chosen normal does not pay it. The trees
//! are those of at most [`MOST_ROWS`] rows, evenly from all in an order that any order of the rows gives, and of at most
//! [`MOST_PARENTS`] numbers, those most correlated with the child: the same on every machine, and known by the table alone.

use std::sync::{Arc, OnceLock};

use super::{NumberLeaf, Pcart, Prepared};
use crate::table::{Column, Table, Var};

/// Rows that the choice looks at, at most twice as many.
const MOST_ROWS: usize = 1000;
/// Parents that it looks at.
const MOST_PARENTS: usize = 10;

/// What is known of the children so far.
pub struct Choices {
    of_child: Vec<OnceLock<NumberLeaf>>,
    /// The two scores of some rows that are compared.
    scores: OnceLock<Option<Box<[Prepared; 2]>>>,
}

impl Choices {
    /// Of a table with so many variables.
    pub fn new(n_vars: usize) -> Self {
        Self { of_child: (0..n_vars).map(|_| OnceLock::new()).collect(), scores: OnceLock::new() }
    }
}

impl Prepared {
    /// What stands in the leaves of a child of numbers of which neither its column nor the score says so.
    pub(super) fn chosen(&self, child: Var) -> NumberLeaf {
        *self.choices.of_child[child].get_or_init(|| self.choose(child))
    }

    fn choose(&self, child: Var) -> NumberLeaf {
        let Some(scores) = self.choices.scores.get_or_init(|| self.both()) else { return NumberLeaf::Normal };
        let parents = nearest(&scores[0].table, child);
        let [normal, lines] = [&scores[0], &scores[1]].map(|score| score.best_of_one(child, &parents));
        if lines > normal { NumberLeaf::Linear } else { NumberLeaf::Normal }
    }

    fn both(&self) -> Option<Box<[Prepared; 2]>> {
        let few = self.table.n_rows() < 2 * MOST_ROWS;
        let table = if few { self.table.clone() } else { Arc::new(self.table.every(MOST_ROWS).ok()?) };
        let of = |leaf| Pcart { leaf, linear_only: Vec::new(), ..self.parameters.clone() }.prepared(&table).ok();
        Some(Box::new([of(NumberLeaf::Normal)?, of(NumberLeaf::Linear)?]))
    }

    /// The log marginal likelihood of the best tree of one of these parents; a family that cannot be scored is none.
    fn best_of_one(&self, child: Var, parents: &[Var]) -> f64 {
        let Ok(mut family) = self.scratch(child) else { return f64::NEG_INFINITY };
        let of = |parent: &Var| family.best(&[*parent]).map_or(f64::NEG_INFINITY, |(log, prior)| log - prior.log_z);
        parents.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The numbers that are most correlated with a child, the earlier under ties, as they stand in the table.
fn nearest(table: &Table, child: Var) -> Vec<Var> {
    let Column::Reals(y) = table.column(child) else { return Vec::new() };
    let mut others: Vec<(f64, Var)> = (0..table.n_vars())
        .filter(|&var| var != child)
        .filter_map(|var| match table.column(var) {
            Column::Reals(x) => Some((correlation(x, y), var)),
            Column::Codes(_) => None,
        })
        .collect();
    if others.len() > MOST_PARENTS {
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        others.truncate(MOST_PARENTS);
        others.sort_by_key(|&(_, var)| var);
    }
    others.into_iter().map(|(_, var)| var).collect()
}

/// The size of the correlation of two columns of stored numbers, 0 of a constant.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / n;
    let (at, to) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        xx += (x - at) * (x - at);
        yy += (y - to) * (y - to);
        xy += (x - at) * (y - to);
    }
    let size = xy.abs() / (xx * yy).sqrt();
    if size.is_finite() { size } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LocalScore;
    use crate::table::{Kind, Units, Variable};

    fn table(columns: &[Vec<f64>]) -> Arc<Table> {
        let kind = Kind::Continuous { scale: Units::IDENTITY };
        let variables = (0..columns.len()).map(|i| Variable { name: format!("v{i}").into(), kind: kind.clone() });
        let columns = columns.iter().cloned().map(Column::Reals).collect();
        Arc::new(Table::new(variables.collect(), columns).unwrap())
    }

    /// Numbers from -1 to 1 that repeat for the same seed.
    fn noise(n: usize, mut seed: u64) -> Vec<f64> {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        };
        (0..n).map(|_| next() + next() + next()).collect()
    }

    fn made(n: usize) -> Arc<Table> {
        let (e, f) = (noise(n, 2), noise(n, 3));
        // The middle of its range is 0.
        let x: Vec<f64> = (0..n).map(|i| (2 * i + 1) as f64 / n as f64 - 1.0).collect();
        let along = x.iter().zip(&e).map(|(x, e)| x + 0.2 * e).collect();
        let steps = x.iter().zip(&f).map(|(x, f)| if *x > 0.0 { 2.0 } else { 0.0 } + 0.05 * f).collect();
        table(&[x, along, steps, noise(n, 4)])
    }

    fn auto() -> Pcart {
        Pcart { leaf: NumberLeaf::Auto, ..Pcart::default() }
    }

    #[test]
    fn what_follows_a_line_gets_lines_and_what_steps_or_follows_nothing_gets_none() {
        for n in [300, 5000] {
            let score = auto().prepared(&made(n)).unwrap();
            let chosen = [0, 1, 2, 3].map(|child| score.leaf_of(child).unwrap());
            assert_eq!(chosen, [NumberLeaf::Linear, NumberLeaf::Linear, NumberLeaf::Normal, NumberLeaf::Normal], "{n}");
        }
    }

    #[test]
    fn a_child_scores_as_under_the_leaf_that_was_chosen() {
        let table = made(300);
        let score = auto().prepared(&table).unwrap();
        for child in 0..4 {
            let leaf = score.leaf_of(child).unwrap();
            let own = Pcart { leaf, ..Pcart::default() }.prepared(&table).unwrap();
            let parents: Vec<Var> = (0..4).filter(|&var| var != child).collect();
            assert_eq!(score.score(child, &parents).unwrap().to_bits(), own.score(child, &parents).unwrap().to_bits());
            assert_eq!(score.family_steps(child, &parents), own.family_steps(child, &parents));
            assert_eq!(score.model(child, &parents).unwrap(), own.model(child, &parents).unwrap());
        }
    }

    #[test]
    fn no_order_of_the_rows_changes_the_choice() {
        let table = made(5000);
        let backwards: Vec<usize> = (0..5000).rev().collect();
        let turned = Arc::new(table.take(&backwards));
        let of = |table: &Arc<Table>| {
            let score = auto().prepared(table).unwrap();
            let scores = score.both().unwrap();
            (0..4).map(|child| scores[1].best_of_one(child, &nearest(&scores[1].table, child)).to_bits()).collect()
        };
        let (one, two): (Vec<u64>, Vec<u64>) = (of(&table), of(&turned));
        assert_eq!(one, two);
    }

    #[test]
    fn of_many_numbers_the_most_correlated_are_looked_at() {
        let n = 200;
        let mut columns: Vec<Vec<f64>> = (0..15).map(|i| noise(n, 10 + i)).collect();
        columns.push(columns[13].iter().zip(noise(n, 40)).map(|(x, e)| e - 2.0 * x).collect());
        let near = nearest(&table(&columns), 15);
        assert_eq!(near.len(), MOST_PARENTS);
        assert!(near.contains(&13) && near.is_sorted());
        columns[3] = vec![5.0; n];
        assert!(!nearest(&table(&columns), 15).contains(&3), "a constant is the last");
    }
}
