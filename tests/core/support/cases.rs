//! How many cases a property is tried on: what its test says, times `CAMPAIGN` where that is set.

use proptest::prelude::ProptestConfig;

/// So many cases by default; `CAMPAIGN=1000 cargo test -p arbornet-core --lib full_table` tries a thousand times as many.
pub fn cases(by_default: u32) -> ProptestConfig {
    ProptestConfig::with_cases(by_default * factor())
}

/// By how much a campaign is larger than a test.
pub fn factor() -> u32 {
    std::env::var("CAMPAIGN").ok().map_or(1, |times| times.parse().expect("CAMPAIGN is a whole number"))
}
