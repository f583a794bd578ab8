//! A network's JSON: refused, or a network that answers and comes back as written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| targets::network(text));
