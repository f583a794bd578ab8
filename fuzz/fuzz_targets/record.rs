//! What a checkpoint holds and machines send one another.
#![no_main]

use arbornet_core::step1::{Layer, Record};
use bounded::bounded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(record) = bounded(bytes.len(), || Record::from_bytes(bytes)) {
        assert_eq!(record.to_bytes(), bytes);
    }
    if let Ok(layer) = bounded(bytes.len(), || Layer::from_bytes(bytes)) {
        assert!(layer.to_bytes().len() <= bytes.len());
    }
});
