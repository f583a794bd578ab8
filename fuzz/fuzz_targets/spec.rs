//! A score and constraints by their JSON: refused, or every family of a small table has a score that is a number.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| targets::spec(text));
