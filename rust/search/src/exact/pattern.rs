//! Pattern databases: what the variables of a block cost at least, if everything outside the block could be had.
//!
//! The variables are divided into blocks. Cuts across blocks keep their prices; within a block, a table over its
//! subsets takes the place of the cuts inside it. For a state with a given rest, the prices of the crossing
//! cuts within rest and, per block, the table's entry for what is left of the block bound any completion: what each
//! crossing cut needs is paid for by its sets, whose costs in the tables are less by what they pay.
//!
//! At the root that is no less than the root bound: the tables are exact where the cuts inside are a relaxation.
//! Below, it misses what the prices of dead cuts give back, so a state takes the better of both.

use crate::control::Budget;
use crate::error::Result;
use crate::exact::bits::Bits;
use crate::exact::cost_to_go::cost_to_go;
use crate::exact::cut::Cut;
use crate::exact::dual::Dual;
use crate::exact::problem::{Columns, Problem};

/// The tables of all blocks, and the prices of the cuts that no block holds.
pub struct Patterns<const W: usize> {
    blocks: Vec<Block>,
    crossing: Vec<(Cut<W>, i64)>,
}

/// A block's variables, and what the rest of it costs at least, by the subset of them that is placed.
struct Block {
    vars: Vec<usize>,
    to_go: Vec<i64>,
}

impl<const W: usize> Patterns<W> {
    /// Tables over blocks of at most `size` variables.
    ///
    /// # Errors
    /// `Error::Interrupted` if stopped.
    pub fn new(problem: &Problem<W>, dual: &Dual<W>, size: usize, budget: Budget) -> Result<Self> {
        let blocks = divide(problem.n(), dual, size);
        let priced = dual.cuts.iter().cloned().zip(dual.prices.iter().copied());
        let crossing: Vec<(Cut<W>, i64)> =
            priced.filter(|(cut, price)| *price > 0 && !blocks.iter().any(|b| cut.members().within(*b))).collect();
        let block = |vars: &Bits<W>| {
            let vars: Vec<usize> = vars.iter().collect();
            let columns: Vec<Columns<1>> = vars.iter().map(|&v| inside(problem, &crossing, v, &vars)).collect();
            Ok(Block { to_go: cost_to_go(&columns, budget)?, vars })
        };
        let blocks = blocks.iter().map(block).collect::<Result<Vec<_>>>()?;
        Ok(Self { blocks, crossing })
    }

    /// What it costs at least to place these variables after all others.
    pub fn bound(&self, rest: Bits<W>) -> i64 {
        let prices: i64 = self
            .crossing
            .iter()
            .filter(|(cut, _)| cut.members().within(rest))
            .map(|(cut, price)| cut.need() * price)
            .sum();
        let to_go = |block: &Block| {
            let place = |(i, &v): (usize, &usize)| usize::from(!rest.has(v)) << i;
            block.to_go[block.vars.iter().enumerate().map(place).sum::<usize>()]
        };
        prices + self.blocks.iter().map(to_go).sum::<i64>()
    }

    /// How many bytes the tables take.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| size_of_val(&block.to_go[..])).sum()
    }
}

/// The sets of a variable as its block sees them: members inside alone, costs less the crossing prices.
fn inside<const W: usize>(problem: &Problem<W>, crossing: &[(Cut<W>, i64)], v: usize, block: &[usize]) -> Columns<1> {
    let columns = &problem.columns[v];
    let mine: Vec<&(Cut<W>, i64)> = crossing.iter().filter(|(cut, _)| cut.members().has(v)).collect();
    let seen = |(&set, &cost): (&Bits<W>, &i64)| {
        let worth: i64 = mine.iter().map(|(cut, price)| cut.worth(v, set) * price).sum();
        let members: Bits<1> = block.iter().enumerate().filter(|&(_, &u)| set.has(u)).map(|(i, _)| i).collect();
        (members, cost - worth, 0)
    };
    let mut sets: Vec<(Bits<1>, i64, u32)> = columns.sets.iter().zip(&columns.costs).map(seen).collect();
    sets.sort_unstable_by_key(|&(set, cost, _)| (cost, set.len(), set));
    let mut columns = Columns::new(sets);
    columns.drop_dominated();
    columns
}

/// Blocks of at most `size` variables: those that share dear cuts come together, pair by pair of blocks.
fn divide<const W: usize>(n: usize, dual: &Dual<W>, size: usize) -> Vec<Bits<W>> {
    let mut ties = vec![vec![0.0; n]; n];
    for (cut, &price) in dual.cuts.iter().zip(&dual.prices) {
        let cluster = cut.members();
        let pairs = (cluster.len() * (cluster.len() - 1)) as f64;
        for u in cluster.iter() {
            for v in cluster.without(u).iter() {
                ties[u][v] += (cut.need() * price) as f64 / pairs;
            }
        }
    }
    let mut blocks: Vec<Bits<W>> = (0..n).map(Bits::one).collect();
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        for (j, b) in blocks.iter().enumerate() {
            for (i, a) in blocks[..j].iter().enumerate().filter(|(_, a)| a.len() + b.len() <= size) {
                let tie = ties[i][j] / ((a.len() * b.len()) as f64).sqrt();
                if best.is_none_or(|(most, ..)| tie > most) {
                    best = Some((tie, i, j));
                }
            }
        }
        let Some((_, i, j)) = best else { return blocks };
        let other = blocks.swap_remove(j);
        blocks[i] |= other;
        let lost = ties.swap_remove(j);
        for (tie, more) in ties[i].iter_mut().zip(&lost) {
            *tie += more;
        }
        for row in &mut ties {
            row.swap_remove(j);
        }
        let merged = ties[i].clone();
        for (row, tie) in ties.iter_mut().zip(merged) {
            row[i] = tie;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_divide_the_variables_and_keep_their_size() {
        let cluster = |c: [usize; 2]| Cut::cluster(c.into_iter().collect());
        let cuts: Vec<Cut<1>> = [[0, 5], [1, 6], [5, 2], [3, 4]].map(cluster).to_vec();
        let dual = Dual { cuts, prices: vec![9, 8, 7, 1], reduced: vec![], bound: 0 };
        for size in 1..9 {
            let blocks = divide(8, &dual, size);
            assert!(blocks.iter().all(|b| b.len() <= size));
            assert_eq!(blocks.iter().map(|b| b.len()).sum::<usize>(), 8);
            assert_eq!(blocks.iter().fold(Bits::EMPTY, |union, b| union | *b), Bits::first(8));
        }
        assert!(divide(8, &dual, 2).contains(&[0, 5].into_iter().collect()));
        assert!(divide(8, &dual, 3).contains(&[0, 2, 5].into_iter().collect()));
    }
}
