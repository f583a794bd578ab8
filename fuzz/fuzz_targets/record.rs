//! What a checkpoint holds and machines send one another.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| targets::record(bytes));
