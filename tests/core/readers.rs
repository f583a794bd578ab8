//! Every reader against the inputs that its fuzzer kept: no panic, no hang, and no more memory than was promised.
//!
//! `fuzz/keep.py` writes the inputs, one JSON string a line whose characters are bytes. One test for all, because the
//! memory that is counted is the whole process's.

#[path = "../../fuzz/src/lib.rs"]
#[allow(clippy::pedantic)]
mod targets;

use std::path::Path;

fn inputs(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/corpus/{target}.jsonl"));
    let lines = std::fs::read_to_string(path).expect("the corpus lies in tests/corpus");
    let bytes = |line: &str| serde_json::from_str::<String>(line).expect("a JSON string").chars().map(byte).collect();
    lines.lines().map(bytes).collect()
}

fn byte(of: char) -> u8 {
    u8::try_from(u32::from(of)).expect("a byte")
}

fn texts(target: &str, read: fn(&str)) -> usize {
    let texts: Vec<String> = inputs(target).into_iter().filter_map(|bytes| String::from_utf8(bytes).ok()).collect();
    for text in &texts {
        read(text);
    }
    texts.len()
}

#[test]
fn every_reader_holds_what_its_fuzzer_holds_it_to() {
    assert!(texts("network", targets::network) > 20);
    assert!(texts("bif", targets::bif) > 20);
    assert!(texts("jkl", targets::jkl) > 20);
    assert!(texts("spec", targets::spec) > 20);
    let records = inputs("record");
    for bytes in &records {
        targets::record(bytes);
    }
    assert!(records.len() > 10);
}
