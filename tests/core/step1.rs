//! Step 1 against an oracle that scores everything and then drops what a permitted subset dominates.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::support::cases::cases;
use arbornet_core::step1::{Journal, Layer, Ledger, Manifest, Next, Outcome, Record, Step1, score_block};
use arbornet_core::table::{Column, Kind, Var, Variable};
use arbornet_core::{
    ChildScore, Constraints, Control, Error, LocalModel, LocalScore, ParentRule, Result, Table, Units,
};
use proptest::prelude::*;

/// Scores drawn from a hash of the family: many ties, no structure.
struct Toy {
    table: Arc<Table>,
    seed: u64,
    /// Distinct values of the score.
    values: u64,
    /// What a further parent gains by itself: where it is nothing, many sets score exactly as a subset does.
    per_parent: f64,
    bounded: bool,
    /// One family in so many cannot be scored.
    unscorable: u64,
    calls: AtomicU64,
}

struct ToyChild<'a>(&'a Toy, Var);

fn names(n: usize) -> Vec<String> {
    (0..n).map(|v| format!("v{v}")).collect()
}

impl Toy {
    fn new(n: usize, seed: u64) -> Self {
        let variable =
            |name: &String| Variable { name: name.as_str().into(), kind: Kind::Continuous { scale: Units::IDENTITY } };
        let columns = vec![Column::Reals(vec![0.5, 1.5]); n];
        let table = Arc::new(Table::new(names(n).iter().map(variable).collect(), columns).unwrap());
        Self { table, seed, values: 6, per_parent: 0.1, bounded: false, unscorable: 0, calls: AtomicU64::new(0) }
    }

    fn hash(&self, child: Var, parents: &[Var]) -> u64 {
        let mut h = self.seed ^ (child as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for &p in parents {
            h = (h ^ (p as u64 + 17)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            h ^= h >> 29;
        }
        (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 20
    }

    fn plain(&self, child: Var, parents: &[Var]) -> Result<f64> {
        let h = self.hash(child, parents);
        if self.unscorable > 0 && !parents.is_empty() && h.is_multiple_of(self.unscorable) {
            return Err(Error::Family {
                child: format!("v{child}"),
                parents: parents.iter().map(|p| format!("v{p}")).collect(),
                problem: "too large".into(),
                advice: "lower max_parents".into(),
            });
        }
        Ok((h % self.values) as f64 + self.per_parent * parents.len() as f64)
    }

    /// The best score of any superset up to four more parents, or everything that is known not to be worse.
    fn bound(&self, child: Var, parents: &[Var]) -> f64 {
        let others: Vec<Var> = (0..self.table.n_vars()).filter(|v| *v != child && !parents.contains(v)).collect();
        let mut best = f64::NEG_INFINITY;
        for mask in 0..1u32 << others.len() {
            let mut set = parents.to_vec();
            set.extend(others.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, &v)| v));
            set.sort_unstable();
            best = best.max(self.plain(child, &set).unwrap_or(f64::NEG_INFINITY));
        }
        best
    }
}

impl LocalScore for Toy {
    fn table(&self) -> &Table {
        &self.table
    }

    fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
        Ok(Box::new(ToyChild(self, child)))
    }

    fn model(&self, _child: Var, _parents: &[Var]) -> Result<LocalModel> {
        unreachable!("Step 1 fits no models")
    }
}

impl ChildScore for ToyChild<'_> {
    fn score(&mut self, parents: &[Var]) -> Result<f64> {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        self.0.plain(self.1, parents)
    }

    fn superset_bound(&mut self, parents: &[Var]) -> f64 {
        if self.0.bounded { self.0.bound(self.1, parents) } else { f64::INFINITY }
    }
}

/// Every permitted set with its score, without those that a permitted subset dominates.
fn oracle(score: &Toy, rule: &ParentRule, child: Var, most: usize) -> BTreeMap<Vec<u32>, f64> {
    let n = score.table.n_vars();
    let mut scored: Vec<(u32, f64)> = vec![];
    for mask in 0..1u32 << n {
        let set: Vec<Var> = (0..n).filter(|v| mask >> v & 1 == 1).collect();
        if set.len() <= most
            && rule.permits(&set)
            && let Ok(s) = score.plain(child, &set)
        {
            scored.push((mask, s));
        }
    }
    let undominated = |&&(mask, s): &&(u32, f64)| !scored.iter().any(|&(m, t)| m != mask && m & mask == m && t >= s);
    let members = |mask: u32| (0..n as u32).filter(|v| mask >> v & 1 == 1).collect();
    scored.iter().filter(undominated).map(|&(mask, s)| (members(mask), s)).collect()
}

fn run(step: &Arc<Step1>, score: &Toy, threads: usize, journal: Option<&mut Journal>) -> Result<Outcome> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| step.run(score, &Control::default(), journal))
}

/// A run as another machine would make it: records and layers travel as bytes, several blocks at a time, out of order.
fn run_abroad(step: &Arc<Step1>, score: &Toy) -> Outcome {
    let control = Control::default();
    let mut ledger = Ledger::new(step, 3, vec![]);
    let mut waiting: Vec<(arbornet_core::step1::Block, Vec<u8>)> = vec![];
    loop {
        let next = ledger.next(None, 2, &control).unwrap();
        match next {
            Next::Blocks(blocks, below) => waiting.extend(blocks.into_iter().map(|b| (b, below.to_bytes()))),
            Next::Wait => {
                let (block, below) = waiting.pop().expect("something is under way");
                let below = Layer::from_bytes(&below).unwrap();
                let mut scratch = score.child(block.child).unwrap();
                let space = step.space(block.child);
                let record = score_block(score, scratch.as_mut(), space, block, &below, &control).unwrap();
                ledger.accept(Record::from_bytes(&record.to_bytes()).unwrap(), &control).unwrap();
            }
            Next::Done => return ledger.finish().unwrap(),
        }
    }
}

prop_compose! {
    fn rules(n: usize)(
        allowed in prop::collection::vec(0u32..1 << n, n),
        required in prop::collection::vec(0u32..1 << n, n),
        strict in prop::collection::vec(any::<u32>(), n),
    ) -> Constraints {
        // Required arcs point from lower to higher numbers, and are few, so that they never contradict.
        let rule = |v: usize| {
            let must: Vec<Var> = (0..v).filter(|&p| required[v] >> p & 1 == 1 && strict[v] % 4 == 0).take(2).collect();
            let may = (0..n).filter(|&p| p != v && (allowed[v] >> p & 1 == 1 || strict[v] % 2 == 1 || must.contains(&p)));
            ParentRule { allowed: may.collect(), max_parents: must.len() + strict[v] as usize % 5, required: must }
        };
        Constraints::new((0..n).map(rule).collect()).unwrap()
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn what_is_kept_is_what_no_permitted_subset_dominates(
        (n, constraints) in (1usize..7).prop_flat_map(|n| (Just(n), rules(n))),
        seed in any::<u64>(),
        most in 2usize..9,
        block in 1usize..9,
        bounded in any::<bool>(),
        unscorable in prop::sample::select(vec![0u64, 3, 7]),
        per_parent in prop::sample::select(vec![0.0, 0.1]),
    ) {
        let score = Toy { per_parent, bounded, unscorable, ..Toy::new(n, seed) };
        let step = Arc::new(Step1::new(&score.table, most, &constraints, Some(block), None).unwrap());
        let expected: Vec<_> = (0..n).map(|v| oracle(&score, constraints.child(v), v, most)).collect();
        let outcome = run(&step, &score, 1, None);
        if expected.iter().any(BTreeMap::is_empty) {
            prop_assert!(outcome.is_err());
        } else {
            let outcome = outcome.unwrap();
            for (v, expected) in expected.iter().enumerate() {
                let got: BTreeMap<_, _> = outcome.candidates.child(v).iter().map(|(p, s)| (p.to_vec(), s)).collect();
                prop_assert_eq!(&got, expected);
            }
            if unscorable == 0 {
                prop_assert_eq!(outcome.n_skipped, 0);
                prop_assert_eq!(outcome.n_evaluated, score.calls.load(Ordering::Relaxed));
                prop_assert!(bounded || outcome.n_evaluated == outcome.n_sets);
            }
            let many = run(&step, &score, 4, None).unwrap();
            prop_assert_eq!(&many, &outcome);
            prop_assert_eq!(run_abroad(&step, &score), outcome);
        }
    }
}

#[test]
fn bounds_leave_sets_unscored_and_change_nothing() {
    let none = Constraints::none(8);
    let plain = Toy::new(8, 5);
    let bounded = Toy { bounded: true, ..Toy::new(8, 5) };
    let step = Arc::new(Step1::new(&plain.table, 6, &none, Some(10), None).unwrap());
    let (a, b) = (run(&step, &plain, 2, None).unwrap(), run(&step, &bounded, 2, None).unwrap());
    assert_eq!(a.candidates, b.candidates);
    assert!(b.n_evaluated < a.n_evaluated, "{} of {}", b.n_evaluated, a.n_evaluated);
}

#[test]
fn a_family_that_cannot_be_scored_is_told_and_counted() {
    let score = Toy { unscorable: 4, ..Toy::new(6, 1) };
    let step = Arc::new(Step1::new(&score.table, 3, &Constraints::none(6), None, None).unwrap());
    let outcome = run(&step, &score, 2, None).unwrap();
    assert_eq!(outcome.n_evaluated + outcome.n_skipped, outcome.n_sets);
    let first = &outcome.skipped[0];
    assert!(score.plain(first.child, &first.parents).is_err());
    assert!(first.reason.contains("too large; lower max_parents"), "{}", first.reason);
}

#[test]
fn a_score_that_is_not_a_number_ends_the_run_with_its_family() {
    struct Broken(Toy);
    struct BrokenChild;
    impl LocalScore for Broken {
        fn table(&self) -> &Table {
            &self.0.table
        }
        fn child(&self, _: Var) -> Result<Box<dyn ChildScore + '_>> {
            Ok(Box::new(BrokenChild))
        }
        fn model(&self, _: Var, _: &[Var]) -> Result<LocalModel> {
            unreachable!()
        }
    }
    impl ChildScore for BrokenChild {
        fn score(&mut self, parents: &[Var]) -> Result<f64> {
            Ok(if parents.len() == 2 { f64::NAN } else { 0.0 })
        }
    }
    let score = Broken(Toy::new(3, 0));
    let step = Arc::new(Step1::new(&score.0.table, 2, &Constraints::none(3), None, None).unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let error = pool.install(|| step.run(&score, &Control::default(), None)).unwrap_err();
    assert!(error.to_string().contains("'v0' given [v1, v2] failed: it is NaN"), "{error}");
}

#[test]
fn a_stop_ends_the_run() {
    let score = Toy::new(10, 0);
    let step = Arc::new(Step1::new(&score.table, 4, &Constraints::none(10), None, None).unwrap());
    let control = Control::default();
    control.stop();
    assert_eq!(step.run(&score, &control, None).unwrap_err(), Error::Interrupted);
}

#[test]
fn a_panic_in_a_score_is_passed_on_and_leaves_nobody_waiting() {
    struct Panics(Toy);
    impl LocalScore for Panics {
        fn table(&self) -> &Table {
            &self.0.table
        }
        fn child(&self, child: Var) -> Result<Box<dyn ChildScore + '_>> {
            assert!(child != 2, "a broken score");
            self.0.child(child)
        }
        fn model(&self, _: Var, _: &[Var]) -> Result<LocalModel> {
            unreachable!()
        }
    }
    let score = Panics(Toy::new(6, 0));
    let step = Arc::new(Step1::new(&score.0.table, 3, &Constraints::none(6), None, None).unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pool.install(|| step.run(&score, &Control::default(), None))
    }));
    assert!(caught.is_err());
}

#[test]
fn progress_ends_at_its_total() {
    let score = Toy::new(7, 3);
    let step = Arc::new(Step1::new(&score.table, 3, &Constraints::none(7), Some(5), None).unwrap());
    let control = Control::default();
    step.run(&score, &control, None).unwrap();
    let (done, total) = control.progress();
    assert!(done == total && total > 0);
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_scored() {
    let score = Toy::new(1000, 0);
    let none = Constraints::none(1000);
    let error = Step1::new(&score.table, 5, &none, None, None).unwrap_err();
    assert!(matches!(error, Error::Parameter { .. }), "{error}");
    let error = Step1::new(&score.table, 3, &none, None, Some(1_000_000)).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert!(Step1::new(&score.table, 2, &none, None, Some(1_000_000)).is_ok());
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("arbornet-step1-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_run_cut_short_anywhere_resumes_to_the_same_outcome_without_scoring_twice() {
    let score = Toy { bounded: true, ..Toy::new(7, 11) };
    let none = Constraints::none(7);
    let step = Arc::new(Step1::new(&score.table, 3, &none, Some(4), None).unwrap());
    let manifest = Manifest::new(&score.table, "toy", 3, &none, &step);
    let whole = run(&step, &score, 1, None).unwrap();
    let full = folder("full");
    run(&step, &score, 1, Some(&mut Journal::open(&full, &manifest).unwrap())).unwrap();
    let bytes = std::fs::read(full.join("blocks-000001.bin")).unwrap();
    for cut in (0..bytes.len()).step_by(97) {
        let cut_short = folder("cut");
        drop(Journal::open(&cut_short, &manifest).unwrap());
        std::fs::write(cut_short.join("blocks-000001.bin"), &bytes[..cut]).unwrap();
        let mut journal = Journal::open(&cut_short, &manifest).unwrap();
        let found = journal.n_found();
        let before = score.calls.load(Ordering::Relaxed);
        assert_eq!(run(&step, &score, 2, Some(&mut journal)).unwrap(), whole);
        drop(journal);
        let resumed = score.calls.load(Ordering::Relaxed) - before;
        let mut again = Journal::open(&cut_short, &manifest).unwrap();
        let records = again.take_found();
        let scored: u64 = records[found..].iter().map(|r| u64::from(r.evaluated)).sum();
        assert_eq!(resumed, scored);
        let known: u64 = records[..found].iter().map(|r| u64::from(r.evaluated)).sum();
        assert_eq!(known + scored, whole.n_evaluated, "nothing scored twice");
        std::fs::remove_dir_all(cut_short).unwrap();
    }
    std::fs::remove_dir_all(full).unwrap();
}

#[test]
fn a_checkpoint_of_something_else_is_refused_with_the_reason() {
    let score = Toy::new(4, 1);
    let none = Constraints::none(4);
    let step = Arc::new(Step1::new(&score.table, 2, &none, None, None).unwrap());
    let place = folder("other");
    drop(Journal::open(&place, &Manifest::new(&score.table, "toy", 2, &none, &step)).unwrap());
    let refused = |manifest: &Manifest| Journal::open(&place, manifest).unwrap_err().to_string();

    let told = refused(&Manifest::new(&score.table, "other", 2, &none, &step));
    assert!(told.contains("its score is toy, not other"), "{told}");
    let told = refused(&Manifest::new(&score.table, "toy", 3, &none, &step));
    assert!(told.contains("max_parents is 2, not 3"), "{told}");
    let mut rules: Vec<ParentRule> = none.clone().into();
    rules[0].max_parents = 1;
    let told = refused(&Manifest::new(&score.table, "toy", 2, &Constraints::new(rules).unwrap(), &step));
    assert!(told.contains("constraints are different"), "{told}");

    let mut columns: Vec<Column> = (0..4).map(|v| score.table.column(v).clone()).collect();
    columns[2] = Column::Reals(vec![0.5, 1.25]);
    let table = Table::new(score.table.variables().to_vec(), columns.clone()).unwrap();
    let told = refused(&Manifest::new(&table, "toy", 2, &none, &step));
    assert!(told.contains("column 'v2' has other values"), "{told}");
    let mut variables = score.table.variables().to_vec();
    variables[1].name = "w".into();
    let table = Table::new(variables, columns).unwrap();
    let told = refused(&Manifest::new(&table, "toy", 2, &none, &step));
    assert!(told.contains("columns are 'v0', 'v1', 'v2', 'v3', not 'v0', 'w', 'v2', 'v3'"), "{told}");
    std::fs::remove_dir_all(place).unwrap();
}
