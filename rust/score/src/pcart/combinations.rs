//! Which combinations of bins and levels the rows of some parents have.
//!
//! A parent after the other: the rank of what a row had before, and its code, are ranked anew. Where not many more pairs are
//! possible than there are rows they are counted; sorting a million rows takes ten times as long.

use crate::table::Var;

/// With more possible combinations than this a row, rows are sorted instead.
const DIRECT: usize = 4;

/// The combinations of bins and levels that occur, ascending, one after the other; and the combination of every row.
pub fn distinct(parents: &[Var], codes: &[Vec<u16>], n_rows: usize) -> (Vec<u16>, Vec<u32>) {
    let mut of_row = vec![0_u32; n_rows];
    let mut n_points = 1;
    for &parent in parents {
        let codes = &codes[parent][..n_rows];
        let n_codes = codes.iter().max().map_or(1, |&last| usize::from(last) + 1);
        n_points = if n_points * n_codes <= DIRECT * n_rows {
            counted(&mut of_row, codes, n_points, n_codes)
        } else {
            sorted(&mut of_row, codes)
        };
    }
    let n_points = of_row.iter().max().map_or(0, |&last| last as usize + 1);
    let mut of_points = vec![0; n_points * parents.len()];
    for (row, &point) in of_row.iter().enumerate() {
        for (place, &parent) in parents.iter().enumerate() {
            of_points[point as usize * parents.len() + place] = codes[parent][row];
        }
    }
    (of_points, of_row)
}

/// Ranks of the pairs of a rank and a code, of `n_ranks` and `n_codes`, among those that occur; returns how many do.
fn counted(of_row: &mut [u32], codes: &[u16], n_ranks: usize, n_codes: usize) -> usize {
    let place = |rank: u32, code: u16| rank as usize * n_codes + usize::from(code);
    let mut rank_of = vec![0_u32; n_ranks * n_codes];
    for (&rank, &code) in of_row.iter().zip(codes) {
        rank_of[place(rank, code)] = 1;
    }
    let mut next = 0;
    for rank in &mut rank_of {
        next += std::mem::replace(rank, next);
    }
    for (rank, &code) in of_row.iter_mut().zip(codes) {
        *rank = rank_of[place(*rank, code)];
    }
    next as usize
}

/// The same by sorting.
fn sorted(of_row: &mut [u32], codes: &[u16]) -> usize {
    let key = |(row, (&rank, &code)): (usize, (&u32, &u16))| (u64::from(rank) << 16 | u64::from(code), row as u32);
    let mut keyed: Vec<(u64, u32)> = of_row.iter().zip(codes).enumerate().map(key).collect();
    keyed.sort_unstable();
    let mut n_ranks = 0;
    for run in keyed.chunk_by(|one, two| one.0 == two.0) {
        for &(_, row) in run {
            of_row[row as usize] = n_ranks;
        }
        n_ranks += 1;
    }
    n_ranks as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counting_ranks_as_sorting_does(rows in prop::collection::vec((0..5_u32, 0..9_u16), 0..60)) {
            let (before, codes): (Vec<u32>, Vec<u16>) = rows.into_iter().unzip();
            let (mut one, mut two) = (before.clone(), before);
            prop_assert_eq!(counted(&mut one, &codes, 5, 9), sorted(&mut two, &codes));
            prop_assert_eq!(one, two);
        }
    }
}
