//! Sums over columns, and the triangle that stands for the basis: `B = Q R` with orthonormal `Q`.

/// `a' b`, in four running sums.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (pairs, rest) = (a.chunks_exact(4).zip(b.chunks_exact(4)), a.len() / 4 * 4);
    for (a, b) in pairs {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    let tail: f64 = a[rest..].iter().zip(&b[rest..]).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

/// `a += factor * b`.
pub fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// The terms in the coordinates of the orthonormal basis, and so the responses.
#[derive(Clone, Debug)]
pub struct Triangle {
    /// Column `j` holds its first `j + 1` coordinates.
    pub columns: Vec<Vec<f64>>,
    /// Per response, its coordinates.
    pub responses: Vec<Vec<f64>>,
    /// Sum of squares that the whole basis leaves, over all responses.
    pub rss: f64,
}

impl Triangle {
    /// Number of terms.
    pub fn n_terms(&self) -> usize {
        self.columns.len()
    }

    /// Least squares on some of the terms: per response its coefficients; and the RSS of all.
    pub fn solve(&self, terms: &[usize]) -> (Vec<Vec<f64>>, f64) {
        let m = self.n_terms();
        let k = terms.len();
        let mut columns: Vec<Vec<f64>> = terms
            .iter()
            .map(|&t| self.columns[t].iter().copied().chain(std::iter::repeat(0.0)).take(m).collect())
            .collect();
        let mut responses = self.responses.clone();
        // Householder reflections, column by column; columns are independent, as those of the triangle are.
        for j in 0..k {
            let norm = dot(&columns[j][j..], &columns[j][j..]).sqrt();
            if norm == 0.0 {
                continue;
            }
            let head = columns[j][j];
            let pivot = if head > 0.0 { -norm } else { norm };
            let mut v: Vec<f64> = columns[j][j..].to_vec();
            v[0] = head - pivot;
            let square = dot(&v, &v);
            if square > 0.0 {
                for column in columns[j..].iter_mut().chain(&mut responses) {
                    let factor = -2.0 * dot(&v, &column[j..]) / square;
                    add(&mut column[j..], factor, &v);
                }
            }
            columns[j][j] = pivot;
        }
        let left: f64 = responses.iter().map(|y| dot(&y[k..], &y[k..])).sum();
        let back = |y: &Vec<f64>| {
            let mut beta = y[..k].to_vec();
            for j in (0..k).rev() {
                beta[j] = if columns[j][j] == 0.0 { 0.0 } else { beta[j] / columns[j][j] };
                for i in 0..j {
                    beta[i] -= columns[j][i] * beta[j];
                }
            }
            beta
        };
        (responses.iter().map(back).collect(), self.rss + left)
    }

    /// `(B'B)^-1` by columns, and per response the coefficients of all terms.
    pub fn inverse(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let m = self.n_terms();
        // Columns of R^-1.
        let mut inverse: Vec<Vec<f64>> = Vec::with_capacity(m);
        for j in 0..m {
            let mut x = vec![0.0; j + 1];
            x[j] = 1.0 / self.columns[j][j];
            for i in (0..j).rev() {
                let sum: f64 = (i + 1..=j).map(|l| self.columns[l][i] * x[l]).sum();
                x[i] = -sum / self.columns[i][i];
            }
            inverse.push(x);
        }
        let cross = (0..m)
            .map(|a| (0..m).map(|b| (a.max(b)..m).map(|l| inverse[l][a] * inverse[l][b]).sum()).collect())
            .collect();
        let beta = |y: &Vec<f64>| (0..m).map(|a| (a..m).map(|l| inverse[l][a] * y[l]).sum()).collect();
        (cross, self.responses.iter().map(beta).collect())
    }
}
