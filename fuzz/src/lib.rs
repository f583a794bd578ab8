//! What every target reads, asks and promises: no panic, and at most so much memory for a file of n bytes.
//!
//! The tests of the core read what the fuzzers kept through the same functions.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use arbornet_core::model::Plain;
use arbornet_core::network::{Evidence, Settings};
use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::step1::{Layer, Record};
use arbornet_core::{
    Codes, Column, Constraints, Control, Kind, Level, Network, Table, Units, Value, Variable, bif, jkl,
};

struct Counted;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Bytes of memory that reading a file of one byte may take, and those that come on top.
const PER_BYTE: usize = 512;
const ON_TOP: usize = 64 << 10;

/// Runs a reader over so many bytes and holds its memory against the bound.
fn bounded<T>(bytes: usize, read: impl FnOnce() -> T) -> T {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let out = read();
    let took = PEAK.load(Ordering::Relaxed) - before;
    assert!(took <= PER_BYTE * bytes + ON_TOP, "{took} bytes of memory for a file of {bytes}");
    out
}

/// Asks a network what networks are asked. Answers may be errors; what they may not is panic, or take for ever.
fn answers(network: &Network) {
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
        let told = model.describe(network.variables(), &Plain);
        let _ = told.map(|told| (told.text(&Plain), told.rules(&Plain), told.leaves(&Plain).len()));
        let _ = model.n_parameters();
    }
    let (settings, control) = (Settings { particles: 50, ..Settings::default() }, Control::default());
    let nothing = Evidence::nothing(n);
    if let Ok((rows, _)) = network.sample(3, &nothing, &settings, &control) {
        let drawn = Evidence::new(network.variables(), &rows).expect("draws are rows of the network");
        let _ = network.log_densities(&drawn, &control);
        if let Ok((densities, _)) = network.log_likelihood(&drawn.without(0), &settings, &control) {
            assert!(densities.iter().all(|d| !d.is_nan()), "{densities:?}");
        }
    }
    if network.variables()[n - 1].n_levels().is_some() {
        let _ = network.levels(&nothing, n - 1, &settings, &control);
    } else {
        let _ = network.quantiles(&nothing, n - 1, &[0.1, 0.5], &settings, &control);
    }
}

/// A network's JSON: refused, or a network that answers and comes back as written.
pub fn network(text: &str) {
    if let Ok(network) = bounded(text.len(), || Network::from_json(text)) {
        answers(&network);
        let written = network.to_json();
        assert_eq!(Network::from_json(&written).expect("own output").to_json(), written);
    }
}

/// BIF: refused with a line, or a network that answers and is written as it is read.
pub fn bif(text: &str) {
    if let Ok(network) = bounded(text.len(), || bif::read(text, "fuzz")) {
        answers(&network);
        let Ok(written) = bif::write(&network) else { return };
        let again = bif::read(&written, "written").expect("own output");
        assert_eq!(bif::write(&again).expect("own network"), written);
    }
}

/// Candidates as text: refused with a line, or they come back as written.
pub fn jkl(text: &str) {
    if let Ok(read) = bounded(text.len(), || jkl::read(text, "fuzz")) {
        assert_eq!(jkl::read(&jkl::write(&read), "written").expect("own output"), read);
    }
}

/// What a checkpoint holds and machines send one another.
pub fn record(bytes: &[u8]) {
    if let Ok(record) = bounded(bytes.len(), || Record::from_bytes(bytes)) {
        assert_eq!(record.to_bytes(), bytes);
    }
    if let Ok(layer) = bounded(bytes.len(), || Layer::from_bytes(bytes)) {
        assert!(layer.to_bytes().len() <= bytes.len());
    }
}

static TABLES: LazyLock<[Arc<Table>; 2]> = LazyLock::new(|| [table(false), table(true)]);

fn table(mixed: bool) -> Arc<Table> {
    let levels = |k: i64| (0..k).map(Level::Int).collect();
    let codes = |k: u32, step: u32| {
        Column::Codes(Codes::pack(&(0..12).map(|i| i * step % 7 % k).collect::<Vec<_>>(), k as usize))
    };
    let mut variables = vec![
        Variable { name: "a".into(), kind: Kind::Categorical { levels: levels(2) } },
        Variable { name: "b".into(), kind: Kind::Ordinal { levels: levels(3) } },
    ];
    let mut columns = vec![codes(2, 3), codes(3, 5)];
    if mixed {
        variables.push(Variable { name: "x".into(), kind: Kind::Continuous { scale: Units::IDENTITY } });
        columns.push(Column::Reals((0..12).map(|i| f64::from(i * i % 11) / 4.0 - 1.0).collect()));
    }
    Arc::new(Table::new(variables, columns).expect("well formed"))
}

/// A score and constraints by their JSON: refused, or every family of a small table has a score that is a number.
pub fn spec(text: &str) {
    let _ = bounded(text.len(), || Constraints::parse(text));
    let Ok(spec) = bounded(text.len(), || ScoreSpec::parse(text)) else { return };
    for table in TABLES.iter() {
        let Ok(score) = spec.prepare(table) else { continue };
        for child in 0..table.n_vars() {
            let others: Vec<_> = (0..table.n_vars()).filter(|&v| v != child).collect();
            for parents in [&[][..], &others[..1], &others] {
                if let Ok(found) = score.score(child, parents) {
                    assert!(!found.is_nan() && found != f64::INFINITY, "{found} of {child} given {parents:?}");
                }
                if let Ok(model) = score.model(child, parents) {
                    model.check(table.variables()).expect("own model");
                }
            }
        }
    }
}
