//! Work spread over threads, whose error does not depend on which thread was the fastest.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IndexedParallelIterator, ParallelIterator};

/// `map` and `collect` over threads for steps that can fail.
///
/// `collect::<Result<_>>` of rayon returns the error that came first in time, which differs from run to run; this one
/// returns that of the first item in order, as a loop would.
pub trait TryMap: IndexedParallelIterator {
    /// The results in order, or the error of the first item that has one. Items after it may be left undone.
    ///
    /// # Errors
    /// That of the first item, in order, for which `of` fails.
    fn try_map<T: Send, E: Send>(self, of: impl Fn(Self::Item) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
        self.try_map_with(|| (), |(), item| of(item))
    }

    /// [`TryMap::try_map`] with a state that each share of the items makes anew.
    ///
    /// # Errors
    /// As there.
    fn try_map_with<S, T: Send, E: Send>(
        self,
        state: impl Fn() -> S + Sync + Send,
        of: impl Fn(&mut S, Self::Item) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let failed = AtomicUsize::new(usize::MAX);
        let step = |state: &mut S, (at, item)| {
            // Only what comes after a failure is skipped, so the first failure in order is always found.
            if at > failed.load(Ordering::Relaxed) {
                return None;
            }
            let result = of(state, item);
            if result.is_err() {
                failed.fetch_min(at, Ordering::Relaxed);
            }
            Some(result)
        };
        let done: Vec<Option<Result<T, E>>> = self.enumerate().map_init(state, step).collect();
        done.into_iter().flatten().collect()
    }
}

impl<I: IndexedParallelIterator> TryMap for I {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rayon::iter::IntoParallelIterator;

    use super::TryMap;

    #[test]
    fn the_first_error_in_order_is_told_though_a_later_one_is_faster() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("four threads");
        let slow = |at: usize| {
            if at == 10 {
                std::thread::sleep(Duration::from_millis(20));
            }
            if at >= 10 { Err(at) } else { Ok(at) }
        };
        for _ in 0..5 {
            assert_eq!(pool.install(|| (0..100).into_par_iter().try_map(slow)), Err(10));
        }
        let all = pool.install(|| (0..10).into_par_iter().try_map(slow));
        assert_eq!(all, Ok((0..10).collect()));
    }
}
