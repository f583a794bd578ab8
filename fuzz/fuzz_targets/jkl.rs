//! Candidates as text: refused with a line, or they come back as written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| targets::jkl(text));
