//! What every target promises besides not to panic: reading n bytes takes at most so much memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use arbornet_core::network::{Rows, Settings};
use arbornet_core::{Control, Network, Value};

struct Counted;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Bytes of memory that reading a file of one byte may take, and those that come on top.
pub const PER_BYTE: usize = 512;
pub const ON_TOP: usize = 64 << 10;

/// Runs a reader over so many bytes and holds its memory against the bound.
pub fn bounded<T>(bytes: usize, read: impl FnOnce() -> T) -> T {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let out = read();
    let took = PEAK.load(Ordering::Relaxed) - before;
    assert!(took <= PER_BYTE * bytes + ON_TOP, "{took} bytes of memory for a file of {bytes}");
    out
}

/// Asks a network what networks are asked. Answers may be errors; what they may not is panic, or take for ever.
pub fn answers(network: &Network) {
    let n = network.n_vars();
    if n == 0 || n > 64 {
        return;
    }
    for v in 0..n {
        let model = network.model(v);
        for odd in [0.0_f64, -1.0, 1e300, -1e300, 5e-324] {
            let value = |&p: &usize| match network.variables()[p].n_levels() {
                Some(k) => Value::Code((odd.abs() as u64 % k.max(1) as u64) as u32),
                None => Value::Real(odd),
            };
            let parents: Vec<Value> = network.parents(v).iter().map(value).collect();
            let predictive = model.predictive(&parents);
            let at = predictive.log_density(value(&v));
            assert!(!at.is_nan(), "log density of {v} at {odd}: {predictive:?}");
            let _ = (predictive.mean(), predictive.sd(), predictive.quantile(0.3), predictive.interval(0.9));
        }
        let _ = model.describe(network.variables()).map(|told| (told.text(), told.rules(), told.leaves().len()));
        let _ = model.n_parameters();
    }
    let (settings, control) = (Settings { particles: 50, ..Settings::default() }, Control::default());
    let Ok(nothing) = Rows::single(network.variables(), &[]) else { return };
    if let Ok((rows, _)) = network.sample(3, &nothing, &[], &settings, &control) {
        let _ = network.log_densities(&rows, &control);
        if let Ok((densities, _)) = network.log_likelihood(&rows.without(0), &settings, &control) {
            assert!(densities.iter().all(|d| !d.is_nan()), "{densities:?}");
        }
    }
    if network.variables()[n - 1].n_levels().is_some() {
        let _ = network.levels(&nothing, &[], n - 1, &settings, &control);
    } else {
        let _ = network.quantiles(&nothing, &[], n - 1, &[0.1, 0.5], &settings, &control);
    }
}
