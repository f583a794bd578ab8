//! Where golden numbers and data lie. A file that is not there ends the test or the bench.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The golden numbers: `tests/golden`, whose README says where each came from.
pub fn golden() -> PathBuf {
    root().join("tests/golden")
}

/// Tables, networks and instances: `benches/data`, or where `ARBORNET_DATA` says.
pub fn data() -> PathBuf {
    std::env::var_os("ARBORNET_DATA").map_or_else(|| root().join("benches/data"), PathBuf::from)
}

/// The folder of the workspace: the nearest that holds the golden numbers.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().find(|folder| folder.join("tests/golden").is_dir()).expect("within the repository")
}

/// The text of a file, unpacked where its name ends in `.gz`.
pub fn text(path: &Path) -> String {
    let mut bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.extension().is_some_and(|ending| ending == "gz") {
        let packed = std::mem::take(&mut bytes);
        GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).expect("a whole gzip file");
    }
    String::from_utf8(bytes).expect("UTF-8")
}
