//! Room whose size a user chose: asked for before it is used, since an allocation that fails ends the process.

use crate::error::{Error, Result};

/// An empty vector with room for `n` values.
///
/// # Errors
/// What `refused` makes of the bytes, if the system does not give them.
pub fn reserved<T>(n: usize, refused: impl FnOnce(u64) -> Error) -> Result<Vec<T>> {
    let mut room = Vec::new();
    match room.try_reserve_exact(n) {
        Ok(()) => Ok(room),
        Err(_) => Err(refused((n as u64).saturating_mul(size_of::<T>() as u64))),
    }
}

/// As many copies of a value as asked for.
///
/// # Errors
/// As `reserved`.
pub fn filled<T: Clone>(value: T, n: usize, refused: impl FnOnce(u64) -> Error) -> Result<Vec<T>> {
    let mut room = reserved(n, refused)?;
    room.resize(n, value);
    Ok(room)
}

/// Whether the system would give so many bytes now.
///
/// # Errors
/// As `reserved`.
pub fn affordable(bytes: u64, refused: impl FnOnce(u64) -> Error) -> Result<()> {
    let probe: Vec<u8> = reserved(usize::try_from(bytes).unwrap_or(usize::MAX), refused)?;
    // Seen from outside, so that the compiler does not leave the question out.
    std::hint::black_box(probe.as_ptr());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: u64) -> Error {
        Error::Allocation { what: "all of it".to_owned(), bytes, advice: "ask for less".to_owned() }
    }

    #[test]
    fn what_no_machine_has_is_an_error_that_says_how_much_was_asked_for() {
        let told = "all of it needs 9223372036854775808 bytes, which the system does not give; ask for less";
        assert_eq!(reserved::<f64>(1 << 60, refused).expect_err("too much").to_string(), told);
        assert_eq!(filled(0.0, 1 << 60, refused).expect_err("too much").to_string(), told);
        assert_eq!(affordable(1 << 63, refused).expect_err("too much").to_string(), told);
        assert_eq!(filled(1.5, 3, refused), Ok(vec![1.5; 3]));
        assert!(affordable(1000, refused).is_ok());
    }
}
