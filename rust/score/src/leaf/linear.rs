//! Numbers along a line: normal distribution about a linear function of further numbers, conjugate prior.
//!
//! `y = b0 + sum_j b_j x_j + noise`, `b | sigma^2 ~ N((mean, 0, ..., 0), sigma^2 diag(1/a, 1/k, ..., 1/k))` and `sigma^2` as in
//! [`super::normal`]. With `A = diag(a, k, ...) + X'X`, `c = (a mean, 0, ...) + X'y` and `q = a mean^2 + y'y - c' A^-1 c`,
//! `ln p = -n/2 ln pi + nu/2 ln(nu lam) + 1/2 ln(a k^p / det A) + ln G((n+nu)/2) - ln G(nu/2) - (n+nu)/2 ln(nu lam + q)`.
//!
//! The intercept is eliminated first: what is left of `A` is `M = k I + X'X - s s'/(n+a)`, `s` the sums of `x`, and of `q` the
//! normal leaf's own spread, less what the line explains of it. So without `x` this is the normal leaf to the last bit.
//! `M - k I` has no negative eigenvalue: no column of `x`, were it constant or a combination of others, leaves a pivot below
//! `k`, and what rounding takes from one is put back. The prior of the slopes means `x` of about unit spread; who calls
//! standardises it.

use smallvec::SmallVec;

use super::normal::Normal;
use crate::predictive::Line;

/// Sums over rows: what a linear leaf knows of them.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSums {
    /// Number of rows, or the sum of their weights.
    pub n: f64,
    /// Of `y` and `y^2` (`y` from its centre), and of `x_j`, `x_j y`, `x_j x_0` to `x_j^2` for one `j` after the other. So the
    /// sums of fewer numbers are the first of these.
    pub sums: SmallVec<[f64; 20]>,
}

/// How many sums a leaf with so many numbers has.
pub const fn n_sums(p: usize) -> usize {
    2 + p * (p + 5) / 2
}

/// Where the sums of one number begin.
const fn at(j: usize) -> usize {
    n_sums(j)
}

/// Adds one row; `y` from its centre.
#[inline]
pub fn observe(sums: &mut [f64], y: f64, x: &[f64]) {
    sums[0] += y;
    sums[1] += y * y;
    let mut place = 2;
    for (j, &of) in x.iter().enumerate() {
        sums[place] += of;
        sums[place + 1] += of * y;
        for (sum, other) in sums[place + 2..].iter_mut().zip(&x[..=j]) {
            *sum += of * other;
        }
        place += j + 3;
    }
}

/// As [`observe`], of a row with a weight.
pub fn observe_weighed(sums: &mut [f64], y: f64, x: &[f64], weight: f64) {
    sums[0] += weight * y;
    sums[1] += weight * y * y;
    let mut place = 2;
    for (j, &of) in x.iter().enumerate() {
        let of = weight * of;
        sums[place] += of;
        sums[place + 1] += of * y;
        for (sum, other) in sums[place + 2..].iter_mut().zip(&x[..=j]) {
            *sum += of * other;
        }
        place += j + 3;
    }
}

/// What a search asks of the sums of `P` numbers: `det M / k^P`, and what the line explains of the normal leaf's spread.
/// `inverse` is `1 / (n + a)` and `intercept` where the line is at the shrunk means of the numbers. The elimination of
/// [`Linear::solved`], for a number known when it is compiled.
#[allow(clippy::inline_always)] // its loops are unrolled
#[inline(always)]
pub fn eliminated<const P: usize>(sums: &[f64], k: f64, inverse: f64, intercept: f64) -> (f64, f64) {
    let (mut rows, mut right, mut inverses) = ([[0.0; P]; P], [0.0; P], [0.0; P]);
    let (mut det, mut explained) = (1.0, 0.0);
    for j in 0..P {
        let of = &sums[at(j)..at(j + 1)];
        for i in 0..=j {
            rows[j][i] = of[2 + i] - of[0] * sums[at(i)] * inverse;
        }
        let mut pivot = rows[j][j] + k;
        let mut b = of[1] - of[0] * intercept;
        for i in 0..j {
            for l in 0..i {
                rows[j][i] -= rows[j][l] * rows[i][l];
            }
        }
        for i in 0..j {
            let share = rows[j][i] * inverses[i];
            pivot -= share * rows[j][i];
            rows[j][i] = share;
            b -= share * right[i];
        }
        let pivot = pivot.max(k);
        inverses[j] = 1.0 / pivot;
        right[j] = b;
        det *= pivot / k;
        explained += b * b * inverses[j];
    }
    (det, explained)
}

/// What elimination leaves of the sums.
struct Solved {
    /// `M = L D L'`: the unit triangle `L` row after row, and on its diagonal the pivots.
    triangle: SmallVec<[f64; 16]>,
    /// The right side after elimination: `q` is less by the square of each over its pivot.
    right: SmallVec<[f64; 8]>,
    /// `ln (det M / k^p)`.
    log_det: f64,
    /// What the line explains of the spread.
    explained: f64,
}

/// Linear responses.
#[derive(Clone, Debug)]
pub struct Linear {
    normal: Normal,
    k: f64,
    p: usize,
}

impl Linear {
    /// In `p` numbers of unit spread; the prior is that of the normal leaf, and a slope's precision `k > 0` in units of the
    /// noise's.
    pub fn new(normal: Normal, p: usize, k: f64) -> Self {
        debug_assert!(!normal.is_published(), "the authors have no linear leaves");
        Self { normal, k, p }
    }

    /// From now on in so many numbers.
    pub fn set_numbers(&mut self, p: usize) {
        self.p = p;
    }

    /// A slope's precision.
    pub fn k(&self) -> f64 {
        self.k
    }

    /// The leaf without slopes.
    pub fn normal(&self) -> &Normal {
        &self.normal
    }

    /// Of no rows.
    pub fn empty(&self) -> LineSums {
        LineSums { n: 0.0, sums: smallvec::smallvec![0.0; n_sums(self.p)] }
    }

    /// Takes one more row in.
    pub fn observe(&self, stat: &mut LineSums, y: f64, x: &[f64]) {
        debug_assert_eq!(x.len(), self.p);
        stat.n += 1.0;
        observe(&mut stat.sums, y - self.normal.centre(), x);
    }

    /// Takes all rows of another statistic in.
    pub fn merge(&self, stat: &mut LineSums, other: &LineSums) {
        stat.n += other.n;
        stat.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
    }

    /// Log marginal likelihood of the rows' `y` under the leaf without slopes.
    pub fn log_marginal_without(&self, stat: &LineSums) -> f64 {
        Self { p: 0, ..self.clone() }.log_marginal_of(stat.n, &stat.sums[..2])
    }

    /// Where the line is at the shrunk means of the numbers, from the centre of `y`.
    fn intercept(&self, n: f64, sums: &[f64]) -> f64 {
        let weight = n + self.normal.a();
        (self.normal.a() * (self.normal.mean() - self.normal.centre()) + sums[0]) / weight
    }

    fn solved(&self, n: f64, sums: &[f64]) -> Solved {
        let (p, k) = (self.p, self.k);
        let inverse = 1.0 / (n + self.normal.a());
        let intercept = self.intercept(n, sums);
        let mut triangle: SmallVec<[f64; 16]> = SmallVec::with_capacity(p * (p + 1) / 2);
        let mut right: SmallVec<[f64; 8]> = SmallVec::with_capacity(p);
        let (mut log_det, mut explained) = (0.0, 0.0);
        for j in 0..p {
            let of = &sums[at(j)..at(j + 1)];
            let row = triangle.len();
            triangle.extend((0..=j).map(|i| of[2 + i] - of[0] * sums[at(i)] * inverse));
            triangle[row + j] += k;
            let mut b = of[1] - of[0] * intercept;
            // Row j of the triangle: each entry still times its pivot, until the earlier ones are taken out.
            for i in 0..j {
                let above = i * (i + 1) / 2;
                for l in 0..i {
                    let taken = triangle[row + l] * triangle[above + l];
                    triangle[row + i] -= taken;
                }
            }
            for i in 0..j {
                let pivot = triangle[i * (i + 3) / 2];
                let share = triangle[row + i] / pivot;
                let taken = share * triangle[row + i];
                triangle[row + j] -= taken;
                triangle[row + i] = share;
                b -= share * right[i];
            }
            let pivot = triangle[row + j].max(k);
            triangle[row + j] = pivot;
            right.push(b);
            log_det += (pivot / k).ln();
            explained += b * b / pivot;
        }
        Solved { triangle, right, log_det, explained }
    }

    /// As the function of that name, for any number of numbers.
    pub fn eliminated(&self, n: f64, sums: &[f64]) -> (f64, f64) {
        let solved = self.solved(n, sums);
        (solved.log_det.exp(), solved.explained)
    }

    fn spread(&self, n: f64, sums: &[f64], solved: &Solved) -> f64 {
        let (normal, sum, squares) = (&self.normal, sums[0], sums[1]);
        let own = normal.scatter_of(n, sum, squares) + normal.shift_of(n, sum);
        (own - solved.explained).max(0.0) + normal.nu() * normal.lam()
    }

    /// `nu lam + q`.
    pub fn spread_of(&self, n: f64, sums: &[f64]) -> f64 {
        self.spread(n, sums, &self.solved(n, sums))
    }

    /// Log marginal likelihood of the rows' `y` given their `x`; of no rows exactly zero.
    pub fn log_marginal(&self, stat: &LineSums) -> f64 {
        self.log_marginal_of(stat.n, &stat.sums)
    }

    /// As `log_marginal`, of sums that stand in a slice.
    pub fn log_marginal_of(&self, n: f64, sums: &[f64]) -> f64 {
        if n == 0.0 {
            return 0.0;
        }
        let solved = self.solved(n, sums);
        let spread = self.spread(n, sums, &solved);
        let normal = &self.normal;
        normal.weight_term(n) - 0.5 * (n + normal.nu()) * spread.ln() - 0.5 * solved.log_det
    }

    /// The posterior predictive distribution of one more row; of no rows it is the prior predictive.
    pub fn fit(&self, stat: &LineSums) -> Line {
        let solved = self.solved(stat.n, &stat.sums);
        let df = stat.n + self.normal.nu();
        let weight = stat.n + self.normal.a();
        let (p, triangle) = (self.p, &solved.triangle);
        let pivot = |i: usize| triangle[i * (i + 3) / 2];
        let mut slopes: Vec<f64> = (0..p).map(|i| solved.right[i] / pivot(i)).collect();
        for i in (0..p).rev() {
            for j in i + 1..p {
                slopes[i] -= triangle[j * (j + 1) / 2 + i] * slopes[j];
            }
        }
        let mut factor = Vec::with_capacity(triangle.len());
        for j in 0..p {
            let row = &triangle[j * (j + 1) / 2..][..j];
            factor.extend(row.iter().enumerate().map(|(i, share)| share * pivot(i).sqrt()));
            factor.push(pivot(j).sqrt());
        }
        Line {
            df,
            location: self.normal.centre() + self.intercept(stat.n, &stat.sums),
            scale: (self.spread(stat.n, &stat.sums, &solved) / df).sqrt(),
            weight,
            centre: (0..p).map(|j| stat.sums[at(j)] / weight).collect(),
            slopes,
            factor,
        }
    }
}

impl Linear {
    /// The slope of the log marginal in the sums: `-1/2 tr(A^-1 dA) - h (dy'y - 2 w' dc + w' dA w) / spread` with `w = A^-1 c` and
    /// `h` half the degrees of freedom; then what the sum of ones adds by these terms, the count's own left out.
    pub fn gradient(&self, n: f64, sums: &[f64]) -> (Vec<f64>, f64) {
        let p = self.p;
        let line = self.fit(&LineSums { n, sums: sums.into() });
        let g = 0.5 / (line.scale * line.scale);
        let inverse = inverse_of(&line.factor, p);
        let m = |i: usize, j: usize| inverse[i * p + j];
        // The first row of A^-1, and the intercept where the numbers are zero.
        let beside: Vec<f64> = (0..p).map(|j| -(0..p).map(|i| line.centre[i] * m(i, j)).sum::<f64>()).collect();
        let first = 1.0 / line.weight - line.centre.iter().zip(&beside).map(|(x, b)| x * b).sum::<f64>();
        let along: f64 = line.slopes.iter().zip(&line.centre).map(|(w, x)| w * x).sum();
        let w0 = line.location - self.normal.centre() - along;
        let mut gradient = vec![2.0 * g * w0, -g];
        for (j, &w) in line.slopes.iter().enumerate() {
            gradient.push(-beside[j] - 2.0 * g * w0 * w);
            gradient.push(2.0 * g * w);
            gradient.extend((0..j).map(|i| -m(i, j) - 2.0 * g * w * line.slopes[i]));
            gradient.push(-0.5 * m(j, j) - g * w * w);
        }
        (gradient, -0.5 * first - g * w0 * w0)
    }
}

/// `(L L')^-1` in full.
fn inverse_of(factor: &[f64], p: usize) -> Vec<f64> {
    let l = |i: usize, j: usize| factor[i * (i + 1) / 2 + j];
    let mut inverse = vec![0.0; p * p];
    for column in 0..p {
        let mut z = vec![0.0; p];
        for i in column..p {
            let known: f64 = (column..i).map(|j| l(i, j) * z[j]).sum();
            z[i] = (f64::from(u8::from(i == column)) - known) / l(i, i);
        }
        for i in (0..p).rev() {
            let known: f64 = (i + 1..p).map(|j| l(j, i) * z[j]).sum();
            z[i] = (z[i] - known) / l(i, i);
        }
        for (i, z) in z.into_iter().enumerate() {
            inverse[i * p + column] = z;
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use libm::lgamma;
    use proptest::prelude::*;

    use super::super::LeafModel;
    use super::super::normal::Moments;
    use super::*;
    use crate::predictive::{Predictive, Value};

    fn observed(leaf: &Linear, rows: &[(f64, Vec<f64>)]) -> LineSums {
        let mut stat = leaf.empty();
        for (y, x) in rows {
            leaf.observe(&mut stat, *y, x);
        }
        stat
    }

    /// What the normal leaf knows of these rows.
    fn moments(stat: &LineSums) -> Moments {
        Moments { n: stat.n as u64, sum: stat.sums[0], squares: stat.sums[1] }
    }

    /// The marginal as what it is: a multivariate t with nu degrees of freedom, its matrix written out.
    fn multivariate_t(rows: &[(f64, Vec<f64>)], prior: [f64; 5]) -> f64 {
        let [mean, a, nu, lam, k] = prior;
        let n = rows.len();
        let mut s = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..n {
                let along: f64 = rows[i].1.iter().zip(&rows[j].1).map(|(x, z)| x * z / k).sum();
                s[i][j] = lam * (f64::from(u8::from(i == j)) + 1.0 / a + along);
            }
        }
        let (mut log_det, mut squares) = (0.0, 0.0);
        let mut z: Vec<f64> = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                let taken: f64 = (0..j).map(|l| s[i][l] * s[j][l]).sum();
                s[i][j] = if i == j { (s[i][i] - taken).sqrt() } else { (s[i][j] - taken) / s[j][j] };
            }
            let taken: f64 = (0..i).map(|j| s[i][j] * z[j]).sum();
            z.push((rows[i].0 - mean - taken) / s[i][i]);
            log_det += 2.0 * s[i][i].ln();
            squares += z[i] * z[i];
        }
        let n = n as f64;
        lgamma(0.5 * (nu + n))
            - lgamma(0.5 * nu)
            - 0.5 * n * (nu * std::f64::consts::PI).ln()
            - 0.5 * log_det
            - 0.5 * (nu + n) * (squares / nu).ln_1p()
    }

    fn rows(p: usize) -> impl Strategy<Value = Vec<(f64, Vec<f64>)>> {
        let x = prop_oneof![Just(0.0), Just(1.0), -2.0..2.0_f64];
        prop::collection::vec((-4.0..4.0_f64, prop::collection::vec(x, p)), 1..12)
    }

    proptest! {
        #[test]
        fn the_marginal_is_a_multivariate_t(
            rows in (0..6_usize).prop_flat_map(rows), mean in -1.0..1.0_f64, a in 0.1..3.0_f64, nu in 0.3..5.0_f64,
            lam in 0.1..3.0_f64, k in 0.2..4.0_f64, centre in -3.0..3.0_f64,
        ) {
            let leaf = Linear::new(Normal::new(mean, a, nu, lam).centred(centre), rows[0].1.len(), k);
            let (got, want) = (leaf.log_marginal(&observed(&leaf, &rows)), multivariate_t(&rows, [mean, a, nu, lam, k]));
            prop_assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{got} {want}");
        }

        #[test]
        fn a_search_knows_the_same_marginal(rows in (1..5_usize).prop_flat_map(rows), centre in -3.0..3.0_f64) {
            let (p, k) = (rows[0].1.len(), 0.7);
            let leaf = Linear::new(Normal::new(0.3, 2.0, 1.5, 0.5).centred(centre), p, k);
            let stat = observed(&leaf, &rows);
            let inverse = 1.0 / (stat.n + 2.0);
            let intercept = leaf.intercept(stat.n, &stat.sums);
            let of = match p {
                1 => eliminated::<1>,
                2 => eliminated::<2>,
                3 => eliminated::<3>,
                _ => eliminated::<4>,
            };
            let (det, explained) = of(&stat.sums, k, inverse, intercept);
            let solved = leaf.solved(stat.n, &stat.sums);
            prop_assert!((det.ln() - solved.log_det).abs() < 1e-9 * (1.0 + solved.log_det));
            prop_assert!((explained - solved.explained).abs() < 1e-9 * (1.0 + solved.explained));
        }

        #[test]
        fn predictives_of_one_row_after_the_other_multiply_to_the_marginal(
            rows in (0..6_usize).prop_flat_map(rows), centre in -3.0..3.0_f64,
        ) {
            let leaf = Linear::new(Normal::new(0.3, 2.0, 1.5, 0.5).centred(centre), rows[0].1.len(), 1.0);
            let mut stat = leaf.empty();
            let mut chain = 0.0;
            for (y, x) in &rows {
                chain += leaf.fit(&stat).at(x).log_density(Value::Real(*y));
                leaf.observe(&mut stat, *y, x);
            }
            let whole = leaf.log_marginal(&stat);
            prop_assert!((chain - whole).abs() < 1e-9 * (1.0 + whole.abs()), "{chain} {whole}");
        }

        #[test]
        fn merging_is_observing_together_in_any_order(rows in (0..5_usize).prop_flat_map(rows), cut in 0..12_usize) {
            let leaf = Linear::new(Normal::default().centred(0.4), rows[0].1.len(), 1.0);
            let (one, two) = rows.split_at(cut.min(rows.len()));
            let mut merged = observed(&leaf, two);
            leaf.merge(&mut merged, &observed(&leaf, one));
            let (apart, together) = (leaf.log_marginal(&merged), leaf.log_marginal(&observed(&leaf, &rows)));
            prop_assert!((apart - together).abs() < 1e-9 * (1.0 + together.abs()), "{apart} {together}");
            prop_assert_eq!(merged.n, rows.len() as f64);
        }

        #[test]
        fn whole_weights_are_rows_repeated_and_half_weights_are_half_of_the_sums(
            rows in (1..5_usize).prop_flat_map(rows), times in prop::collection::vec(1..4_u32, 12),
        ) {
            let leaf = Linear::new(Normal::new(0.3, 2.0, 1.5, 0.5).centred(0.2), rows[0].1.len(), 1.0);
            let (mut repeated, mut weighed, mut halves) = (leaf.empty(), leaf.empty(), leaf.empty());
            for ((y, x), &times) in rows.iter().zip(&times) {
                (0..times).for_each(|_| leaf.observe(&mut repeated, *y, x));
                for (stat, weight) in [(&mut weighed, f64::from(times)), (&mut halves, f64::from(times) / 2.0)] {
                    stat.n += weight;
                    observe_weighed(&mut stat.sums, *y - leaf.normal().centre(), x, weight);
                }
            }
            let (one, two) = (leaf.log_marginal(&repeated), leaf.log_marginal(&weighed));
            prop_assert!((one - two).abs() < 1e-9 * (1.0 + one.abs()), "{one} {two}");
            let mut both = halves.clone();
            leaf.merge(&mut both, &halves);
            let three = leaf.log_marginal(&both);
            prop_assert!((one - three).abs() < 1e-9 * (1.0 + one.abs()), "{one} {three}");
        }

        #[test]
        fn without_numbers_it_is_the_normal_leaf_to_the_last_bit(ys in prop::collection::vec(-4.0..4.0_f64, 0..20)) {
            let normal = Normal::new(0.7, 1.3, 2.0, 0.4).centred(-0.2).tabulated(30);
            let leaf = Linear::new(normal.clone(), 0, 1.0);
            let stat = observed(&leaf, &ys.iter().map(|&y| (y, vec![])).collect::<Vec<_>>());
            let moments = moments(&stat);
            prop_assert_eq!(leaf.log_marginal(&stat).to_bits(), normal.log_marginal(&moments).to_bits());
            let same = |a: f64, b: f64| (a - b).abs() <= 1e-13 * (1.0 + a.abs());
            let (
                Predictive::StudentT { df, location, scale },
                Predictive::StudentT { df: degrees, location: at, scale: width },
            ) = (leaf.fit(&stat).at(&[]), normal.fit(&moments)) else { panic!("numbers") };
            prop_assert!(df == degrees && same(location, at) && same(scale, width));
        }
    }

    #[test]
    fn its_gradient_is_that_of_differences() {
        let leaf = Linear::new(Normal::new(0.3, 2.0, 1.5, 0.5).centred(-0.4), 3, 0.7);
        let x = |i: u32, j: u32| f64::from((7 * i + 5 * j * i + j) % 11) / 4.0 - 1.2;
        let rows: Vec<_> =
            (0..15).map(|i| (f64::from(i % 4) + x(i, 0) - x(i, 2), vec![x(i, 0), x(i, 1), x(i, 2)])).collect();
        let stat = observed(&leaf, &rows);
        let (gradient, _) = leaf.gradient(stat.n, &stat.sums);
        assert_eq!(gradient.len(), n_sums(3));
        for (i, slope) in gradient.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = stat.clone();
                moved.sums[i] += by;
                leaf.log_marginal(&moved)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((difference - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope} {difference}");
        }
    }

    #[test]
    fn no_rows_are_worth_nothing_and_predict_with_the_prior() {
        let leaf = Linear::new(Normal::new(3.0, 2.0, 1.0, 4.0), 2, 0.5);
        assert_eq!(leaf.log_marginal(&leaf.empty()), 0.0);
        let Predictive::StudentT { df, location, scale } = leaf.fit(&leaf.empty()).at(&[1.0, 2.0]) else { panic!() };
        // Squared scale: lam (1 + 1/a + x'x/k).
        assert!((df, location) == (1.0, 3.0) && (scale * scale - 4.0 * (1.0 + 0.5 + 10.0)).abs() < 1e-12);
    }

    #[test]
    fn a_number_that_repeats_another_tells_no_more_than_the_prior_lets_it() {
        // Twice the same x with slopes of variance 1/k each is once that x with a slope of variance 2/k.
        let ys = [0.3, -1.2, 2.0, 0.7, 5.0];
        let xs = [-1.0, 0.2, 0.9, 1.4, -0.3];
        let twice = Linear::new(Normal::default(), 2, 1.0);
        let once = Linear::new(Normal::default(), 1, 0.5);
        let both: Vec<_> = ys.iter().zip(xs).map(|(&y, x)| (y, vec![x, x])).collect();
        let alone: Vec<_> = ys.iter().zip(xs).map(|(&y, x)| (y, vec![x])).collect();
        let (of_two, of_one) = (observed(&twice, &both), observed(&once, &alone));
        assert!((twice.log_marginal(&of_two) - once.log_marginal(&of_one)).abs() < 1e-12);
        let (two, one) = (twice.fit(&of_two), once.fit(&of_one));
        assert!((two.slopes[0] + two.slopes[1] - one.slopes[0]).abs() < 1e-12);
        assert!((two.slopes[0] - two.slopes[1]).abs() < 1e-12);
    }

    #[test]
    fn a_million_rows_along_repeated_numbers_keep_every_pivot() {
        let leaf = Linear::new(Normal::default(), 3, 1.0);
        let mut stat = leaf.empty();
        for i in 0..994_000_u32 {
            let x = f64::from(i % 1000) / 300.0 - 1.6;
            leaf.observe(&mut stat, 3.0 * x + f64::from(i % 7), &[x, 3.0 * x, 1e3]);
        }
        let line = leaf.fit(&stat);
        assert!(line.is_sound() && leaf.log_marginal(&stat).is_finite());
        assert!((line.slopes[0] + 3.0 * line.slopes[1] - 3.0).abs() < 1e-4, "{line:?}");
    }

    #[test]
    fn fewer_rows_than_numbers_are_a_leaf_like_any_other() {
        let leaf = Linear::new(Normal::default(), 5, 1.0);
        let rows = [(0.4, vec![1.0, -0.2, 0.0, 2.0, 0.3])];
        assert!(
            (leaf.log_marginal(&observed(&leaf, &rows)) - multivariate_t(&rows, [0.0, 1.0, 1.0, 1.0, 1.0])).abs()
                < 1e-12
        );
        assert!(leaf.fit(&observed(&leaf, &rows)).is_sound());
    }

    #[test]
    fn far_numbers_keep_their_digits_about_a_centre() {
        let (far, near) = (Normal::new(1e8, 1.0, 1.0, 1.0).centred(1e8), Normal::new(0.0, 1.0, 1.0, 1.0));
        let (far, near) = (Linear::new(far, 1, 1.0), Linear::new(near, 1, 1.0));
        let rows = |from: f64| [(from + 0.25, vec![0.5]), (from - 0.5, vec![-1.0]), (from + 1.0, vec![2.0])];
        let (one, two) =
            (far.log_marginal(&observed(&far, &rows(1e8))), near.log_marginal(&observed(&near, &rows(0.0))));
        assert!((one - two).abs() < 1e-12, "{one} {two}");
    }

    #[test]
    fn what_follows_a_line_is_likelier_under_it() {
        let leaf = Linear::new(Normal::default(), 1, 1.0);
        let along: Vec<_> = (0..20).map(|i| f64::from(i) / 10.0 - 1.0).map(|x| (0.9 * x, vec![x])).collect();
        let stat = observed(&leaf, &along);
        assert!(leaf.log_marginal(&stat) > leaf.log_marginal_without(&stat) + 1.0);
        let slope = leaf.fit(&stat).slopes[0];
        assert!((0.7..0.9).contains(&slope), "{slope}");
    }
}
