//! Small numerics that fitted models and the scores that fit them share: triangular factors ([`cholesky`]), ranks and normal
//! scores ([`ranks`]), rows by value ([`order`]), Legendre polynomials, logarithms in the user's units and of
//! counts.

pub mod cholesky;
mod log;
pub mod order;
pub mod ranks;
mod whole;

pub use log::Log;
pub use whole::ln_of_count;

/// The Legendre polynomial of a degree.
#[inline]
pub fn legendre(degree: usize, u: f64) -> f64 {
    let (mut before, mut now) = (1.0, u);
    for t in 1..degree {
        let t = t as f64;
        (before, now) = (now, ((2.0 * t + 1.0) * u * now - t * before) / (t + 1.0));
    }
    if degree == 0 { 1.0 } else { now }
}
