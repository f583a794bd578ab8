//! Candidates as text: refused with a line, or they come back as written.
#![no_main]

use arbornet_core::jkl;
use bounded::bounded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(read) = bounded(text.len(), || jkl::read(text, "fuzz")) {
        assert_eq!(jkl::read(&jkl::write(&read), "written").expect("own output"), read);
    }
});
