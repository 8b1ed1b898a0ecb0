//! Runs every fuzz target once on each of its committed inputs, without libFuzzer: `fuzz/run.sh
//! --replay`.
//!
//! One program contains all targets, and it is not instrumented, so that it is built in a fraction
//! of the time that the fuzzing programs need.

// The files of the targets begin with `#![no_main]`.
#![allow(unused_attributes)]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A fuzz target: its name, and the functions that `fuzz_target!` defines.
struct Target {
    name: &'static str,
    prepare: fn(),
    run: fn(&[u8]),
}

/// Includes the files of targets as modules, and lists the targets.
macro_rules! targets {
    ($($name:ident = $path:literal)*) => {
        $(#[path = $path] mod $name;)*

        const TARGETS: &[Target] = &[$(Target {
            name: stringify!($name),
            prepare: $name::prepare_target,
            run: $name::run_target,
        }),*];
    };
}

targets! {
    book_file = "../../fuzz_targets/book_file.rs"
    cecp = "../../fuzz_targets/cecp.rs"
    checkpoint = "../../fuzz_targets/checkpoint.rs"
    console = "../../fuzz_targets/console.rs"
    counts = "../../fuzz_targets/counts.rs"
    engines = "../../fuzz_targets/engines.rs"
    epd = "../../fuzz_targets/epd.rs"
    fen = "../../fuzz_targets/fen.rs"
    http = "../../fuzz_targets/http.rs"
    journal = "../../fuzz_targets/journal.rs"
    learning = "../../fuzz_targets/learning.rs"
    movetext = "../../fuzz_targets/movetext.rs"
    network = "../../fuzz_targets/network.rs"
    pattern = "../../fuzz_targets/pattern.rs"
    pgn = "../../fuzz_targets/pgn.rs"
    polyglot = "../../fuzz_targets/polyglot.rs"
    repertoire = "../../fuzz_targets/repertoire.rs"
    san = "../../fuzz_targets/san.rs"
    state = "../../fuzz_targets/state.rs"
    uci = "../../fuzz_targets/uci.rs"
}

fn main() -> io::Result<ExitCode> {
    // One target changes the current folder, so the paths must be absolute.
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named: BTreeSet<_> = TARGETS.iter().map(|target| format!("{}.rs", target.name)).collect();
    let present: BTreeSet<_> =
        entries(&fuzz.join("fuzz_targets"))?.iter().map(|path| name(path)).collect();
    assert_eq!(named, present, "the list of targets differs from the files");
    let mut failed = 0;
    for target in TARGETS {
        (target.prepare)();
        let inputs = entries(&fuzz.join("corpus").join(target.name))?;
        println!("{}: {} inputs", target.name, inputs.len());
        assert!(!inputs.is_empty(), "no inputs for {}", target.name);
        for input in inputs {
            let bytes = fs::read(&input)?;
            // A panic prints its message.
            if catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes))).is_err() {
                println!("{} fails on {}", target.name, input.display());
                failed += 1;
            }
        }
    }
    println!("{failed} failures");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the sorted paths of the files in a folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
