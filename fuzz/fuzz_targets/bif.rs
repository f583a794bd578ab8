//! BIF: refused with a line, or a network that answers and is written as it is read.
#![no_main]

use arbornet_core::bif;
use bounded::bounded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(network) = bounded(text.len(), || bif::read(text, "fuzz")) {
        bounded::answers(&network);
        let Ok(written) = bif::write(&network) else { return };
        let again = bif::read(&written, "written").expect("own output");
        assert_eq!(bif::write(&again).expect("own network"), written);
    }
});
