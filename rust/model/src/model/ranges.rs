//! Where a histogram has most of its mass, in few words: "34% between 0 and 2, 31% between 40 and 45".

use serde::Serialize;

/// Neighbouring cells, said together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Their probability.
    pub probability: f64,
    /// Where they begin; of whole numbers the lowest.
    pub low: f64,
    /// Where they end; of whole numbers the highest.
    pub high: f64,
    /// Whether all numbers are whole, by the places of the cells' edges.
    pub is_whole: bool,
}

/// So much of all is said.
const SAID: f64 = 2.0 / 3.0;
/// The cells of the highest densities that hold two thirds of all together, as two ranges that are wide apart; otherwise the
/// narrowest range that holds as much.
pub fn heaviest(edges: &[f64], probabilities: &[f64]) -> Vec<Range> {
    let width = |cell: usize| edges[cell + 1] - edges[cell];
    let enough = SAID * probabilities.iter().sum::<f64>();
    let density = |cell: usize| probabilities[cell] / width(cell);
    let mut dense: Vec<usize> = (0..probabilities.len()).collect();
    dense.sort_by(|&a, &b| density(b).total_cmp(&density(a)).then(a.cmp(&b)));
    let mut held = 0.0;
    let needed = dense.iter().take_while(|&&cell| {
        let before = held;
        held += probabilities[cell];
        before < enough
    });
    let mut taken: Vec<usize> = needed.copied().collect();
    taken.sort_unstable();
    let runs = taken.chunk_by(|&a, &b| b == a + 1).map(|run| (run[0], run[run.len() - 1] + 1));
    let mut runs: Vec<(usize, usize)> = runs.collect();
    // What lies between two peaks is wider than both; a gap within one is chance.
    let gap = |of: &[(usize, usize)]| edges[of[1].0] - edges[of[0].1];
    while runs.len() > 2 {
        let gaps = runs.windows(2).map(gap).collect::<Vec<_>>();
        let least = (0..gaps.len()).fold(0, |least, at| if gaps[at] < gaps[least] { at } else { least });
        runs[least].1 = runs.remove(least + 1).1;
    }
    if runs.len() == 2 && runs.iter().any(|&(from, to)| edges[to] - edges[from] >= gap(&runs)) || runs.len() < 2 {
        runs = vec![narrowest(edges, probabilities, enough)];
    }
    let inner = &edges[1..probabilities.len()];
    let is_whole = !inner.is_empty() && inner.iter().all(|edge| edge.rem_euclid(1.0) == 0.5);
    let range = |(from, to): (usize, usize)| Range {
        probability: probabilities[from..to].iter().sum(),
        low: if is_whole { edges[from].ceil() + 0.0 } else { edges[from] },
        high: if is_whole { edges[to].floor() } else { edges[to] },
        is_whole,
    };
    runs.into_iter().map(range).collect()
}

/// The narrowest run of neighbouring cells that holds so much, the first under ties.
fn narrowest(edges: &[f64], probabilities: &[f64], enough: f64) -> (usize, usize) {
    let mut best = (0, probabilities.len());
    for from in 0..probabilities.len() {
        let mut held = 0.0;
        let last = probabilities[from..].iter().position(|probability| {
            held += probability;
            held >= enough
        });
        let Some(last) = last else { break };
        let to = from + last + 1;
        if edges[to] - edges[from] < edges[best.1] - edges[best.0] {
            best = (from, to);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(edges: &[f64], probabilities: &[f64]) -> Vec<(f64, f64, f64)> {
        let short = |x: f64| (x * 1e6).round() / 1e6;
        heaviest(edges, probabilities).iter().map(|range| (short(range.probability), range.low, range.high)).collect()
    }

    #[test]
    fn one_hill_is_one_range_and_two_are_two() {
        let edges = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(told(&edges, &[0.1, 0.3, 0.4, 0.2]), [(0.7, 1.0, 3.0)]);
        assert_eq!(told(&edges, &[0.4, 0.1, 0.1, 0.4]), [(0.4, 0.0, 1.0), (0.4, 3.0, 4.0)]);
        assert_eq!(told(&edges, &[0.35, 0.1, 0.35, 0.2]), [(0.8, 0.0, 3.0)]);
        // A wide cell holds much and is not dense.
        assert_eq!(told(&[0.0, 1.0, 21.0, 22.0], &[0.35, 0.3, 0.35]), [(0.35, 0.0, 1.0), (0.35, 21.0, 22.0)]);
    }

    #[test]
    fn what_chance_leaves_out_of_a_peak_does_not_part_it() {
        let edges = [0.0, 1.0, 2.0, 3.0, 30.0, 31.0, 32.0];
        assert_eq!(told(&edges, &[0.18, 0.06, 0.17, 0.2, 0.19, 0.2]), [(0.41, 0.0, 3.0), (0.39, 30.0, 32.0)]);
    }

    #[test]
    fn many_hills_are_told_by_the_narrowest_range_that_holds_enough() {
        let edges: Vec<f64> = (0..8).map(f64::from).collect();
        let probabilities = [0.19, 0.04, 0.18, 0.05, 0.18, 0.17, 0.19];
        assert_eq!(told(&edges, &probabilities), [(0.77, 2.0, 7.0)]);
    }

    #[test]
    fn of_whole_numbers_the_lowest_and_the_highest_are_told() {
        let edges = [-0.5, 0.5, 2.5, 6.5];
        assert_eq!(told(&edges, &[0.7, 0.2, 0.1]), [(0.7, 0.0, 0.0)]);
        assert!(heaviest(&edges, &[0.7, 0.2, 0.1])[0].low.is_sign_positive());
        assert_eq!(told(&edges, &[0.2, 0.7, 0.1]), [(0.7, 1.0, 2.0)]);
        assert!(heaviest(&edges, &[0.6, 0.3, 0.1])[0].is_whole);
        assert!(!heaviest(&[-0.5, 0.5, 2.4, 6.5], &[0.6, 0.3, 0.1])[0].is_whole);
        assert!(!heaviest(&[-0.5, 0.5], &[1.0])[0].is_whole);
    }
}
