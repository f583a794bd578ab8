//! Processor seconds of scoring every child with every parent set, on one thread.
//!
//! `cargo bench --bench score_seconds -- '{"score":"full_table"}' abalone 3`, which is also what it does without arguments.

use arbornet_benches::uci;
use arbornet_core::score::registry::ScoreSpec;

fn main() {
    // Cargo adds an argument of its own.
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let by_default = [r#"{"score":"full_table"}"#, "abalone", "3"].map(String::from);
    let arguments = if given.is_empty() { &by_default[..] } else { &given[..] };
    let [spec, name, most] = arguments else { panic!("give a score's JSON, a table's name and D") };
    let table = uci::table(name);
    let spec = ScoreSpec::parse(spec).expect("a score");
    let most = most.parse().expect("a number of parents");
    let before = cpu_seconds();
    let score = spec.prepare(&table).expect("a score for this table");
    let (mut n_sets, mut sum, mut steps) = (0, 0.0, 0);
    for child in 0..table.n_vars() {
        let mut scorer = score.child(child).expect("a child this score explains");
        for parents in uci::parent_sets(table.n_vars(), child, most) {
            sum += scorer.score(&parents).expect("a score");
            n_sets += 1;
        }
        steps += scorer.steps().unwrap_or(0);
    }
    let seconds = cpu_seconds() - before;
    println!("{name} D={most}: {n_sets} sets, {seconds:.4} s of one processor, sum of scores {sum:.6}");
    println!("    counted as {:.4} s: {:.2} of what it took", steps as f64 * 1e-9, steps as f64 * 1e-9 / seconds);
}

/// Processor seconds of this thread so far, to the microsecond.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds: f64 = stat.split_whitespace().next().and_then(|t| t.parse().ok()).expect("time on the processor");
    nanoseconds / 1e9
}
