//! One regression on given terms in given rows, and the spread around it. Least squares are weighted as the rows are: terms and
//! child are multiplied by the root of a row's weight.

use super::{LEAST_VARIANCE, spread, told};
use crate::control::Halt;
use crate::model::regression::{Link, Piece, Term};
use crate::regress::cells::dot;
use crate::regress::columns::Columns;
use crate::regress::least_squares::Basis;
use crate::regress::{legendre, logistic};
use crate::table::Var;

/// A regression before its spread is settled.
pub(super) struct Fitted {
    piece: Piece,
    squares: f64,
    rank: usize,
}

impl Fitted {
    /// Fits a child to terms in some rows; to the intercept alone where there are too few rows, or where terms that span
    /// each other are `strict`ly refused. To be thrown away once `halt` is due.
    pub fn new(
        (columns, halt): (&Columns, &Halt),
        child: Var,
        parents: &[Var],
        rows: &[u32],
        mut terms: Vec<Term>,
        link: Link,
        strict: bool,
    ) -> Self {
        let n = rows.len();
        let size = columns.weight_of(rows);
        let root = |row: u32| columns.weights().map_or(1.0, |weights| weights[row as usize].sqrt());
        let k = columns.levels(child);
        let centre = means(columns, parents, rows);
        let mut basis = Basis::default();
        basis.heed(halt);
        basis.clear(n);
        basis.push(rows.iter().map(|&row| root(row)));
        let mut kept = Vec::new();
        let fits = ((terms.len() + 1) as f64) < size && k.is_none_or(|k| (k as f64) < size);
        for term in &terms {
            if !fits {
                break;
            }
            let v = parents[term.parent_position()];
            if basis.push(values(columns, v, term, rows).into_iter().zip(rows).map(|(x, &row)| x * root(row))) {
                kept.push(term.clone());
            } else if strict {
                kept.clear();
                break;
            }
        }
        if kept.is_empty() || !fits {
            basis.truncate(1);
            kept.clear();
        }
        let positions: Vec<usize> = (0..terms.len()).filter(|&i| kept.contains(&terms[i])).map(|i| i + 1).collect();
        terms = kept;
        let select = |b: Vec<f64>| -> Vec<f64> {
            std::iter::once(b[0]).chain(positions.iter().map(|&i| b.get(i).copied().unwrap_or(0.0))).collect()
        };
        let (mut squares, mut coefficients) = (0.0, Vec::new());
        if let Some(k) = k {
            let y: Vec<u32> = rows.iter().map(|&row| columns.codes(child)[row as usize]).collect();
            if link == Link::Logit {
                let roots: Option<Vec<f64>> = columns.weights().map(|_| rows.iter().map(|&row| root(row)).collect());
                let odds = log_odds(&basis, (&y, roots.as_deref()), size, k);
                coefficients = odds.into_iter().map(select).collect();
            } else {
                for level in 0..k as u32 {
                    let target: Vec<f64> =
                        y.iter().zip(rows).map(|(&c, &row)| f64::from(u8::from(c == level)) * root(row)).collect();
                    coefficients.push(select(basis.coefficients(&target)));
                }
            }
        } else {
            let units = columns.scaling(child);
            let y: Vec<f64> = rows.iter().map(|&row| columns.reals(child)[row as usize] * root(row)).collect();
            let mut b = select(basis.coefficients(&y));
            for b in &mut b {
                *b *= units.scale;
            }
            b[0] += units.shift;
            coefficients.push(b);
            let mut rest = y;
            basis.residuals(&mut rest);
            squares = dot(&rest, &rest);
        }
        let piece = Piece { n_rows: told(size), terms, coefficients, centre, spread: None };
        Self { piece, squares, rank: basis.rank() }
    }
}

/// Spreads of numbers: a piece's own, or the pooled one.
pub(super) fn settled(
    columns: &Columns,
    child: Var,
    fitted: Vec<(Vec<u32>, f64, Fitted)>,
) -> Vec<(Vec<u32>, usize, Piece)> {
    let squares: f64 = fitted.iter().map(|(_, _, f)| f.squares).sum();
    let df: f64 = fitted.iter().map(|(_, n, f)| n - f.rank as f64).sum();
    let one = |(codes, n, fitted): (Vec<u32>, f64, Fitted)| {
        let Fitted { mut piece, squares: own, rank } = fitted;
        if !columns.is_discrete(child) {
            let sound = n >= (rank + 2) as f64 && own > LEAST_VARIANCE * n;
            let (squares, df) = if sound { (own, n - rank as f64) } else { (squares, df) };
            piece.spread = Some(spread(columns, child, squares, df));
        }
        (codes, told(n), piece)
    };
    fitted.into_iter().map(one).collect()
}

fn means(columns: &Columns, parents: &[Var], rows: &[u32]) -> Vec<f64> {
    let mean = |&v: &Var| {
        if columns.is_discrete(v) {
            return 0.0;
        }
        let units = columns.scaling(v);
        let total: f64 = rows.iter().map(|&row| columns.weight(row) * columns.reals(v)[row as usize]).sum();
        let n = if rows.is_empty() { 1.0 } else { columns.weight_of(rows) };
        units.shift + units.scale * total / n
    };
    parents.iter().map(mean).collect()
}

/// A term's values in some rows.
fn values(columns: &Columns, var: Var, term: &Term, rows: &[u32]) -> Vec<f64> {
    match *term {
        Term::Level { code, .. } => {
            rows.iter().map(|&row| f64::from(u8::from(columns.codes(var)[row as usize] == code))).collect()
        }
        Term::Number { degree, legendre: bent, centre, scale, .. } => {
            let units = columns.scaling(var);
            let z = |&row: &u32| (units.shift + units.scale * columns.reals(var)[row as usize] - centre) / scale;
            let of = |z: f64| if bent { legendre(degree, z) } else { z.powi(degree as i32) };
            rows.iter().map(z).map(of).collect()
        }
    }
}

/// Log-odds of a level that does not occur in a cell.
const NEVER: f64 = -50.0;

/// Coefficients of every level's log-odds to the first that occurs, on the columns of a basis, in rows of this number or weight
/// with the roots of their weights.
fn log_odds(basis: &Basis, (y, roots): (&[u32], Option<&[f64]>), size: f64, k: usize) -> Vec<Vec<f64>> {
    let occurring: Vec<u32> = (0..k as u32).filter(|c| y.contains(c)).collect();
    let place = |c: &u32| occurring.binary_search(c).expect("it occurs") as u32;
    let constant = |b: f64| {
        let mut out = basis.in_columns(vec![0.0; basis.rank()]);
        out[0] = b;
        out
    };
    let fitted = if occurring.len() > 1 {
        let y: Vec<u32> = y.iter().map(place).collect();
        logistic::fit(basis, (&y, roots), occurring.len()).coefficients
    } else {
        Vec::new()
    };
    let root = size.sqrt();
    let one = |level: u32| match occurring.binary_search(&level) {
        Err(_) => constant(NEVER),
        Ok(0) => constant(0.0),
        Ok(place) => basis.in_columns(fitted[place - 1].iter().map(|b| b * root).collect()),
    };
    (0..k as u32).map(one).collect()
}
