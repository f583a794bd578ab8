//! The linear program behind the root bound, by a primal-dual interior-point method (Mehrotra 1992).
//!
//! minimise `sum cost x` over `x >= 0` with, per variable, `sum of its x = 1` and, per cut, `sum of what the columns are
//! worth to it, times x, >= need`. The best prices are its dual solution. A simplex method would stop at a corner of the
//! optimal face; the interior point's x is central in it, and cuts off far more with each round of new clusters. Any
//! prices give a valid bound, so the method may stop early and needs no care with its last digits.

/// A column: its variable, its cost, what it is worth to cuts.
#[derive(Clone, Debug)]
pub struct Column {
    /// The variable.
    pub group: u32,
    /// The cost.
    pub cost: f64,
    /// The cuts it is worth something to, ascending, and how much.
    pub rows: Vec<(u32, f64)>,
}

/// Approximately optimal prices and primal values.
pub struct Optimum {
    /// Price per cut, none negative.
    pub prices: Vec<f64>,
    /// Value per column.
    pub x: Vec<f64>,
    /// The dual objective (a bound up to rounding).
    pub dual: f64,
}

struct Program<'a> {
    columns: &'a [Column],
    groups: usize,
    /// What each cut needs.
    needs: &'a [f64],
}

impl Program<'_> {
    fn rows(&self) -> usize {
        self.groups + self.needs.len()
    }

    /// A x for the structural columns and slacks.
    fn times(&self, x: &[f64], slack: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows()];
        for (column, &x) in self.columns.iter().zip(x) {
            out[column.group as usize] += x;
            for &(r, worth) in &column.rows {
                out[self.groups + r as usize] += worth * x;
            }
        }
        for (o, s) in out[self.groups..].iter_mut().zip(slack) {
            *o -= s;
        }
        out
    }

    fn priced(&self, column: &Column, y: &[f64]) -> f64 {
        y[column.group as usize]
            + column.rows.iter().map(|&(r, worth)| worth * y[self.groups + r as usize]).sum::<f64>()
    }

    /// The normal matrix A D A' in its lower triangle, factored in place.
    fn factor(&self, d: &[f64], d_slack: &[f64]) -> Cholesky {
        let m = self.rows();
        let mut a = vec![0.0; m * m];
        let g = self.groups;
        for (column, &d) in self.columns.iter().zip(d) {
            let group = column.group as usize;
            a[group * m + group] += d;
            for (i, &(r, worth)) in column.rows.iter().enumerate() {
                let d = d * worth;
                let row = &mut a[(g + r as usize) * m..(g + r as usize + 1) * m];
                row[group] += d;
                for &(s, other) in &column.rows[..=i] {
                    row[g + s as usize] += d * other;
                }
            }
        }
        for (r, &d) in d_slack.iter().enumerate() {
            a[(g + r) * m + g + r] += d;
        }
        Cholesky::new(a, m)
    }
}

struct Cholesky {
    l: Vec<f64>,
    m: usize,
}

impl Cholesky {
    fn new(mut a: Vec<f64>, m: usize) -> Self {
        for i in 0..m {
            let (above, rest) = a.split_at_mut(i * m);
            let row = &mut rest[..m];
            for j in 0..i {
                let other = &above[j * m..j * m + j];
                let dot = dot(&row[..j], other);
                row[j] = (row[j] - dot) * above[j * m + j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            // The diagonal is kept inverted; a vanished pivot means a redundant row, which is left out.
            row[i] = if pivot > 1e-12 * row[i].abs().max(1e-300) { 1.0 / pivot.sqrt() } else { 0.0 };
        }
        Self { l: a, m }
    }

    fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let m = self.m;
        for i in 0..m {
            let row = &self.l[i * m..=i * m + i];
            b[i] = (b[i] - dot(&row[..i], &b[..i])) * row[i];
        }
        for i in (0..m).rev() {
            let row = &self.l[i * m..=i * m + i];
            b[i] *= row[i];
            let value = b[i];
            for (b, l) in b[..i].iter_mut().zip(row) {
                *b -= l * value;
            }
        }
        b
    }
}

/// Eight sums side by side, for the compiler to vectorise.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (x, y) in a8.iter().zip(b8) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// Longest step in [0, 1] that keeps all values positive.
fn longest(values: &[f64], steps: &[f64]) -> f64 {
    values.iter().zip(steps).filter(|(_, d)| **d < 0.0).map(|(v, d)| -v / d).fold(1.0, f64::min)
}

/// Solves to a relative gap, from given prices (a warm start helps little, but bounds the scale).
pub fn solve(
    columns: &[Column],
    groups: usize,
    needs: &[f64],
    start: &[f64],
    tolerance: f64,
    stop: &dyn Fn() -> bool,
) -> Optimum {
    let program = Program { columns, groups, needs };
    let cuts = needs.len();
    let scale = columns.iter().map(|c| c.cost).fold(0.0, f64::max).max(1e-9);
    let mut counts = vec![0.0; groups];
    for c in columns {
        counts[c.group as usize] += 1.0;
    }
    let mut x: Vec<f64> = columns.iter().map(|c| 1.0 / counts[c.group as usize]).collect();
    let mut slack = vec![1.0; cuts];
    let mut y = vec![0.0; program.rows()];
    for (y, s) in y[groups..].iter_mut().zip(start) {
        *y = s.max(1e-3 * scale);
    }
    let mut least = vec![f64::INFINITY; groups];
    for c in columns {
        let g = c.group as usize;
        least[g] = least[g].min(c.cost - program.priced(c, &y));
    }
    for (y, l) in y.iter_mut().zip(&least) {
        *y = l - 1e-2 * scale;
    }
    let mut z: Vec<f64> = columns.iter().map(|c| c.cost - program.priced(c, &y)).collect();
    let n_total = (columns.len() + cuts) as f64;
    let mut iterations = 0;
    loop {
        let w: Vec<f64> = y[groups..].to_vec();
        let ax = program.times(&x, &slack);
        let targets = || std::iter::repeat_n(&1.0, groups).chain(needs);
        let r_p: Vec<f64> = ax.iter().zip(targets()).map(|(a, t)| t - a).collect();
        let dual: f64 = y.iter().zip(targets()).map(|(y, t)| y * t).sum();
        let mu = (dot(&x, &z) + dot(&slack, &w)) / n_total;
        let infeasible = r_p.iter().map(|r| r.abs()).fold(0.0, f64::max);
        let close = mu * n_total <= tolerance * (1.0 + dual.abs()) && infeasible < 1e-6;
        if close || iterations >= 60 || stop() {
            return Optimum { prices: w, x, dual };
        }
        iterations += 1;
        let d: Vec<f64> = x.iter().zip(&z).map(|(x, z)| x / z).collect();
        let d_slack: Vec<f64> = slack.iter().zip(&w).map(|(s, w)| s / w).collect();
        let factor = program.factor(&d, &d_slack);
        // The dual stays feasible throughout, so its residual is 0: A'dy + dz = 0, dw = dy on the rows of cuts.
        let direction = |target: &[f64], target_slack: &[f64]| {
            // x dz + z dx = target  =>  dx = (target - x dz) / z = target / z + d A'dy
            let tz: Vec<f64> = target.iter().zip(&z).map(|(t, z)| t / z).collect();
            let tw: Vec<f64> = target_slack.iter().zip(&w).map(|(t, w)| t / w).collect();
            let known = program.times(&tz, &tw);
            let rhs: Vec<f64> = r_p.iter().zip(&known).map(|(r, k)| r - k).collect();
            let dy = factor.solve(rhs);
            let dz: Vec<f64> = columns.iter().map(|c| -program.priced(c, &dy)).collect();
            let dx: Vec<f64> = tz.iter().zip(&dz).zip(&d).map(|((t, dz), d)| t - d * dz).collect();
            let dw: Vec<f64> = dy[groups..].to_vec();
            let ds: Vec<f64> = tw.iter().zip(&dw).zip(&d_slack).map(|((t, dw), d)| t - d * dw).collect();
            (dx, ds, dy, dz, dw)
        };
        let target: Vec<f64> = x.iter().zip(&z).map(|(x, z)| -x * z).collect();
        let target_slack: Vec<f64> = slack.iter().zip(&w).map(|(s, w)| -s * w).collect();
        let (dx, ds, _, dz, dw) = direction(&target, &target_slack);
        let step_p = longest(&x, &dx).min(longest(&slack, &ds));
        let step_d = longest(&z, &dz).min(longest(&w, &dw));
        let after = |v: &[f64], dv: &[f64], t: &[f64], dt: &[f64]| -> f64 {
            (0..v.len()).map(|i| (v[i] + step_p * dv[i]) * (t[i] + step_d * dt[i])).sum()
        };
        let mu_after = (after(&x, &dx, &z, &dz) + after(&slack, &ds, &w, &dw)) / n_total;
        let centre = (mu_after / mu).powi(3) * mu;
        let corrected = |v: &[f64], dv: &[f64], t: &[f64], dt: &[f64]| -> Vec<f64> {
            (0..v.len()).map(|i| centre - v[i] * t[i] - dv[i] * dt[i]).collect()
        };
        let (dx, ds, dy, dz, dw) = direction(&corrected(&x, &dx, &z, &dz), &corrected(&slack, &ds, &w, &dw));
        let step_p = (0.995 * longest(&x, &dx).min(longest(&slack, &ds))).min(1.0);
        let step_d = (0.995 * longest(&z, &dz).min(longest(&w, &dw))).min(1.0);
        let advance = |v: &mut [f64], dv: &[f64], step: f64| v.iter_mut().zip(dv).for_each(|(v, d)| *v += step * d);
        advance(&mut x, &dx, step_p);
        advance(&mut slack, &ds, step_p);
        advance(&mut y, &dy, step_d);
        advance(&mut z, &dz, step_d);
    }
}
