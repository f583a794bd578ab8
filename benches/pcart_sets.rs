//! User seconds and effort of PCART on every child with every parent set, on one thread.
//!
//! `cargo bench --bench pcart_sets -- wine 3`, or without arguments: the tables that the authors' program was
//! timed on, each with the ratio of its user seconds to ours, corrected by a loop of arithmetic that stands for the
//! speed of the machine.

use arbornet_benches::uci;
use arbornet_core::LocalScore;
use arbornet_core::score::pcart::{Pcart, Route};
use arbornet_core::tree::optimal::Effort;

/// User seconds of the authors' program.
const AUTHORS: [(&str, usize, f64); 6] = [
    ("concrete-compressive-strength", 3, 3.29),
    ("abalone", 3, 16.95),
    ("contraceptive-method-choice", 3, 1.82),
    ("wine", 3, 4.85),
    ("tic-tac-toe-endgame", 4, 3.75),
    ("website-phishing", 4, 3.38),
];

fn main() {
    // Cargo adds an argument of its own.
    let arguments: Vec<String> = std::env::args().filter(|argument| argument != "--bench").collect();
    if let [_, name, most] = &arguments[..] {
        measured(name, most.parse().expect("a number of parents"));
        return;
    }
    let mut log_ratios = 0.0;
    for (name, most, authors) in AUTHORS {
        let ratio = authors / measured(name, most);
        println!("    the authors' program: {authors} s, {ratio:.1} times as long (as measured on another day)");
        log_ratios += ratio.ln();
    }
    println!("geometric mean {:.1}", (log_ratios / AUTHORS.len() as f64).exp());
}

fn measured(name: &str, most: usize) -> f64 {
    let table = uci::table(name);
    let before = cpu_seconds();
    let score = Pcart { penalised: false, ..Pcart::default() }.prepared(&table).expect("valid parameters");
    let (mut n_sets, mut sum) = (0, 0.0);
    let (mut total, mut steps, mut told, mut n_lattices) = (Effort::default(), 0, 0, 0);
    for child in 0..table.n_vars() {
        let mut family = score.scratch(child).expect("a child of the table");
        for parents in uci::parent_sets(table.n_vars(), child, most) {
            let (log_tree, prior) = family.best(&parents).expect("64 bits suffice");
            sum += log_tree - prior.log_z;
            n_sets += 1;
            told += score.family_steps(child, &parents);
            n_lattices += u64::from(score.route(child, &parents).0 == Route::Lattice);
        }
        total += family.effort();
        steps += family.steps().expect("trees count their steps");
    }
    let seconds = cpu_seconds() - before;
    let each = |n: u64| n as f64 / 1e6;
    println!("{name} D={most}: {n_sets} sets, {seconds:.3} s of one processor, sum of scores {sum:.6}");
    println!("    counted as {:.3} s: {:.2} of what it took", steps as f64 * 1e-9, steps as f64 * 1e-9 / seconds);
    println!("    {n_lattices} by lattice; told before: {:.2} of what was counted", told as f64 / steps as f64);
    println!(
        "    millions by keys: {:.3} visited, {:.3} wide, {:.3} splits, {:.3} discarded, {:.3} found",
        each(total.visited),
        each(total.wide),
        each(total.splits),
        each(total.discarded),
        each(total.found)
    );
    seconds
}

/// Processor seconds of this thread so far, to the microsecond.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds: f64 = stat.split_whitespace().next().and_then(|t| t.parse().ok()).expect("time on the processor");
    nanoseconds / 1e9
}
