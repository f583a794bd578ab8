//! All graphs of a few variables.

use arbornet_table::dag::Dag;

/// Every DAG over n variables, n at most 5.
pub fn all_dags(n: usize) -> Vec<Dag> {
    let pairs: Vec<_> = (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let mut out = Vec::new();
    for code in 0..3_usize.pow(pairs.len() as u32) {
        let mut rest = code;
        let mut arcs = Vec::new();
        for &(a, b) in &pairs {
            match rest % 3 {
                1 => arcs.push((a, b)),
                2 => arcs.push((b, a)),
                _ => {}
            }
            rest /= 3;
        }
        out.extend(Dag::from_arcs(n, arcs));
    }
    out
}
