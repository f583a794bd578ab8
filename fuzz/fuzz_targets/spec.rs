//! A score and constraints by their JSON: refused, or every family of a small table has a score that is a number.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbornet_core::score::registry::ScoreSpec;
use arbornet_core::{Affine, Codes, Column, Constraints, Kind, Level, Table, Variable};
use bounded::bounded;
use libfuzzer_sys::fuzz_target;

static TABLES: LazyLock<[Arc<Table>; 2]> = LazyLock::new(|| [table(false), table(true)]);

fn table(mixed: bool) -> Arc<Table> {
    let levels = |k: i64| (0..k).map(Level::Int).collect();
    let codes = |k: u32, step: u32| Column::Codes(Codes::pack(&(0..12).map(|i| i * step % 7 % k).collect::<Vec<_>>(), k as usize));
    let mut variables = vec![
        Variable { name: "a".into(), kind: Kind::Categorical { levels: levels(2) } },
        Variable { name: "b".into(), kind: Kind::Ordinal { levels: levels(3) } },
    ];
    let mut columns = vec![codes(2, 3), codes(3, 5)];
    if mixed {
        variables.push(Variable { name: "x".into(), kind: Kind::Continuous { scale: Affine { shift: 0.0, scale: 1.0 } } });
        columns.push(Column::Reals((0..12).map(|i| f64::from(i * i % 11) / 4.0 - 1.0).collect()));
    }
    Arc::new(Table::new(variables, columns).expect("well formed"))
}

fuzz_target!(|text: &str| {
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
});
