//! What several integration tests need.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A file or folder of the shared test data, which is never part of the project: below
/// `$TABIA_DATA`, or else `../shared/data` beside the project.
///
/// `None`, said aloud, if it is absent; with `TABIA_REQUIRE_DATA` set that is a failure instead.
pub fn shared_data(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = std::env::var_os("TABIA_DATA").map_or(beside, PathBuf::from);
    let full = folder.join(path);
    if full.exists() {
        return Some(full);
    }
    let missing = format!("no shared test data at {}", full.display());
    assert!(std::env::var_os("TABIA_REQUIRE_DATA").is_none(), "{missing}");
    // Not `eprintln!`, which the test runner hides for a test that passes.
    writeln!(std::io::stderr(), "SKIPPED: {missing}").expect("stderr is open");
    None
}
