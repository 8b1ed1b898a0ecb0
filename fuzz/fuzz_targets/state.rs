//! Any text as the state of a match and, after a NUL, as its PGN file: refused, or gone on with, and
//! then the PGN file has all that it had, less a piece of the last game, and that game; a report can
//! be made of it; and all is the same when the match is taken up a second time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::state::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds(folder())), |bytes: &[u8]| run(folder(), bytes));
