//! Families that are too large: they end when they are told to, and never take more memory than they may.

use std::sync::Arc;
use std::time::Duration;

use arbornet_core::control::Budget;
use arbornet_core::score::full_table::FullTable;
use arbornet_core::score::pcart::{Pcart, Route};
use arbornet_core::step1::Step1;
use arbornet_core::{
    Codes, Column, Constraints, Control, Error, Kind, Level, LocalModel, LocalScore, Table, Units, Variable,
};

/// Noise: nothing splits for good, so everything is tried. The last column has two levels.
fn noise(n_rows: usize, n_numbers: usize) -> Arc<Table> {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut variables, mut columns) = (Vec::new(), Vec::new());
    for i in 0..n_numbers {
        let kind = Kind::Continuous { scale: Units::IDENTITY };
        variables.push(Variable { name: format!("x{i}").as_str().into(), kind });
        columns.push(Column::Reals((0..n_rows).map(|_| next()).collect()));
    }
    let levels = (0..2).map(Level::Int).collect();
    variables.push(Variable { name: "y".into(), kind: Kind::Categorical { levels } });
    columns.push(Column::Codes(Codes::pack(&(0..n_rows).map(|_| (next() * 2.0) as u32).collect::<Vec<_>>(), 2)));
    Arc::new(Table::new(variables, columns).unwrap())
}

/// With a stop asked for beforehand, each of these would still run for seconds if it looked only between families.
#[test]
fn a_family_ends_midway_when_it_is_told_to() {
    let table = noise(4000, 6);
    let all = |score: &dyn LocalScore, child: usize, parents: &[usize]| {
        let [control, other] = [Control::default(), Control::default()];
        control.stop();
        let mut scratch = score.child(child).unwrap();
        for halt in [control.halt(), Budget::new(&other, Some(Duration::ZERO)).halt()] {
            scratch.heed(&halt);
            assert_eq!(scratch.score(parents), Err(Error::Interrupted));
            assert_eq!(score.model_until(child, parents, &halt), Err(Error::Interrupted));
        }
        // What was stopped leaves nothing behind.
        scratch.heed(&other.halt());
        assert_eq!(scratch.score(&parents[..1]), score.score(child, &parents[..1]));
    };
    let five = [1, 2, 3, 4, 5];
    all(&Pcart::default().prepared(&table).unwrap(), 0, &five);
    all(&Pcart::default().prepared(&table).unwrap(), 6, &five);
    all(&Pcart { ess: Some(2.0), ..Pcart::default() }.prepared(&table).unwrap(), 6, &five);
    all(&*FullTable::default().prepare(&table).unwrap(), 0, &five);
}

/// Columns of so many levels each, all of noise; the first is the child.
fn categories(n_rows: usize, levels: &[usize]) -> Arc<Table> {
    let mut state = 3_u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let variable = |&k: &usize| {
        let kind = Kind::Categorical { levels: (0..k as i64).map(Level::Int).collect() };
        Variable { name: format!("c{k}").as_str().into(), kind }
    };
    let codes = |&k: &usize| Column::Codes(Codes::pack(&(0..n_rows).map(|_| next(k) as u32).collect::<Vec<_>>(), k));
    let mut variables: Vec<_> = levels.iter().map(variable).collect();
    for (i, variable) in variables.iter_mut().enumerate() {
        variable.name = format!("{}_{i}", variable.name).into();
    }
    Arc::new(Table::new(variables, levels.iter().map(codes).collect()).unwrap())
}

/// What a cell costs is what the counts of the child's levels cost: a column of cases that each occur a few times.
#[test]
fn a_child_of_many_levels_is_counted_for_its_levels() {
    let steps = |k: usize| {
        let numbers = noise(2 * 1600, 2);
        let mut variables = numbers.variables().to_vec();
        variables.truncate(2);
        variables.push(Variable {
            name: "case".into(),
            kind: Kind::Categorical { levels: (0..k as i64).map(Level::Int).collect() },
        });
        let mut columns: Vec<Column> = (0..2).map(|v| numbers.column(v).clone()).collect();
        // Neighbours by the first number are of one case.
        let Column::Reals(x) = &columns[0] else { unreachable!("it is noise") };
        let cases = x.iter().map(|x| ((x * k as f64) as u32).min(k as u32 - 1)).collect::<Vec<_>>();
        columns.push(Column::Codes(Codes::pack(&cases, k)));
        let score = Pcart::default().prepared(&Arc::new(Table::new(variables, columns).unwrap())).unwrap();
        let mut scratch = score.child(2).unwrap();
        scratch.score(&[0, 1]).unwrap();
        scratch.steps().unwrap()
    };
    let [some, many] = [200, 1600].map(steps);
    assert!(many > 4 * some, "{some} {many}");
}

/// 67 million cells: seconds of work and half a gigabyte, of which a stop leaves nothing but the first milliseconds.
#[test]
fn a_lattice_ends_midway_when_it_is_told_to() {
    let table = categories(4000, &[2, 13, 13, 3]);
    let score = Pcart::default().prepared(&table).unwrap();
    let (route, steps) = score.route(0, &[1, 2]);
    assert!(route == Route::Lattice && steps > 10_000_000_000, "{route:?} {steps}");
    let control = Control::default();
    control.stop();
    let mut scratch = score.child(0).unwrap();
    scratch.heed(&control.halt());
    assert_eq!(scratch.score(&[1, 2]), Err(Error::Interrupted));
    assert_eq!(score.model_until(0, &[1, 2], &control.halt()), Err(Error::Interrupted));
    // What was stopped leaves nothing behind.
    scratch.heed(&Control::default().halt());
    assert_eq!(scratch.score(&[1, 3]), score.score(0, &[1, 3]));
}

#[test]
fn a_lattice_beyond_its_memory_is_left_to_the_search_by_keys() {
    // 261,121 cells of eight bytes, and their sums.
    let table = categories(60, &[2, 9, 9]);
    let routes = [2, 3].map(|memory_mb| {
        let score = Pcart { memory_mb, ..Pcart::default() }.prepared(&table).unwrap();
        (score.route(0, &[1, 2]), score.score(0, &[1, 2]))
    });
    let [((by_keys, _), small), ((by_lattice, steps), large)] = routes;
    assert_eq!((by_keys, by_lattice), (Route::Search, Route::Lattice));
    assert!(steps > 9_535_260, "{steps}");
    match small {
        Ok(small) => assert!((small - large.unwrap()).abs() < 1e-9),
        Err(error) => assert!(matches!(error, Error::Memory { .. }), "{error}"),
    }
}

#[test]
fn a_family_beyond_its_memory_is_reported_by_name() {
    let table = noise(3000, 6);
    for ess in [None, Some(2.0)] {
        let score = Pcart { memory_mb: 1, ess, ..Pcart::default() }.prepared(&table).unwrap();
        let told = score.score(6, &[0, 1, 2, 3]).unwrap_err();
        let Error::Memory { what, needed_mb, limit_mb, advice } = &told else { panic!("{told}") };
        assert!(what.contains("'y'") && what.contains("x0, x1, x2, x3"), "{what}");
        assert!(*needed_mb > 1 && *limit_mb == 1 && advice.contains("memory_limit"), "{told}");
        assert_eq!(score.model(6, &[0, 1, 2, 3]).unwrap_err(), told);
        // Smaller families of the same scratch are scored as ever.
        let mut scratch = score.child(6).unwrap();
        assert_eq!(scratch.score(&[0, 1, 2, 3]).unwrap_err(), told);
        assert_eq!(scratch.score(&[0]), score.score(6, &[0]));
        assert!(matches!(score.model(6, &[0]).unwrap(), LocalModel::Tree(_)));
    }
}

#[test]
fn step_1_leaves_out_what_is_beyond_its_memory_and_says_so() {
    let table = noise(1500, 4);
    let score = Pcart { memory_mb: 1, ..Pcart::default() }.prepared(&table).unwrap();
    let constraints = Constraints::none(table.n_vars());
    let step = Arc::new(Step1::new(&table, 4, &constraints, None, None).unwrap());
    let outcome = step.run(&score, &Control::default(), None).unwrap();
    assert!(outcome.n_skipped > 0 && !outcome.skipped.is_empty());
    for skipped in &outcome.skipped {
        assert!(
            skipped.parents.len() >= 3 && skipped.reason.contains(table.name(skipped.parents[0])),
            "{}",
            skipped.reason
        );
        assert!(skipped.reason.contains("the limit is 1 MB"), "{}", skipped.reason);
    }
}
