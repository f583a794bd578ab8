//! Clusters that a fractional choice of sets violates.
//!
//! For a cluster C let m(C) be the mass of the sets in C's variables that avoid C; a choice between DAGs has m(C) >= 1.
//! From every pair of variables of which one may be the other's parent, the variable that lowers m most is added until
//! none lowers it; then variables leave while that lowers it. Clusters with m < 1 are returned, most violated first.

use rustc_hash::FxHashSet;

use crate::exact::bits::Bits;
use crate::exact::cut::Cut;

/// The sets in use: per variable, sets and how much of each.
pub type Support<const W: usize> = Vec<Vec<(Bits<W>, f64)>>;

/// What a variable's sets contribute to a cluster's mass.
fn mass<const W: usize>(sets: &[(Bits<W>, f64)], cluster: Bits<W>) -> f64 {
    sets.iter().filter(|(s, _)| !s.meets(cluster)).map(|(_, x)| x).sum()
}

fn total<const W: usize>(support: &Support<W>, cluster: Bits<W>) -> f64 {
    cluster.iter().map(|v| mass(&support[v], cluster)).sum()
}

/// The mass of the cluster with w.
fn with<const W: usize>(support: &Support<W>, cluster: Bits<W>, now: f64, w: usize) -> f64 {
    let saved: f64 = cluster
        .iter()
        .map(|v| support[v].iter().filter(|(s, _)| s.has(w) && !s.meets(cluster)).map(|(_, x)| x).sum::<f64>())
        .sum();
    now - saved + mass(&support[w], cluster)
}

fn grow<const W: usize>(support: &Support<W>, mut cluster: Bits<W>, all: Bits<W>) -> (Bits<W>, f64) {
    let mut now = total(support, cluster);
    loop {
        let mut best = (now - 1e-9, None);
        for w in all.minus(cluster).iter() {
            let then = with(support, cluster, now, w);
            if then < best.0 {
                best = (then, Some(w));
            }
        }
        let (then, Some(w)) = best else { break };
        cluster = cluster.with(w);
        now = then;
    }
    loop {
        let mut best = (now + 1e-9, None);
        if cluster.len() > 2 {
            for w in cluster.iter() {
                let then = total(support, cluster.without(w));
                if then <= best.0 {
                    best = (then, Some(w));
                }
            }
        }
        let (then, Some(w)) = best else { break };
        cluster = cluster.without(w);
        now = then;
    }
    (cluster, now)
}

/// At most `limit` violated clusters, most violated first.
pub fn violated<const W: usize>(support: &Support<W>, limit: usize, known: &[Cut<W>]) -> Vec<Cut<W>> {
    let n = support.len();
    let all = Bits::first(n);
    let mut found: Vec<(f64, Bits<W>)> = Vec::new();
    let mut seen: FxHashSet<Bits<W>> = known.iter().filter(|cut| cut.table().is_none()).map(Cut::members).collect();
    let parents: Vec<Bits<W>> =
        support.iter().map(|sets| sets.iter().fold(Bits::EMPTY, |union, (s, _)| union | *s)).collect();
    for v in 0..n {
        for w in parents[v].iter() {
            if w < v && parents[w].has(v) {
                continue;
            }
            let (cluster, mass) = grow(support, Bits::one(v).with(w), all);
            if mass < 0.99 && seen.insert(cluster) {
                found.push((mass, cluster));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.into_iter().take(limit).map(|(_, c)| Cut::cluster(c)).collect()
}
