//! A network's JSON: refused, or a network that answers and comes back as written.
#![no_main]

use arbornet_core::Network;
use bounded::bounded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(network) = bounded(text.len(), || Network::from_json(text)) {
        bounded::answers(&network);
        let written = network.to_json();
        assert_eq!(Network::from_json(&written).expect("own output").to_json(), written);
    }
});
