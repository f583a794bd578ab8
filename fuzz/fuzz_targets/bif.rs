//! BIF: refused with a line, or a network that answers and is written as it is read.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| targets::bif(text));
