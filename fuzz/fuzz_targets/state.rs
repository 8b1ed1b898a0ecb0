//! Any text as the state of a match and, after a NUL, as its PGN file: rejected or resumed. After a
//! resume, the PGN file contains its old content, except for a truncated last game, and the last
//! game. A report can be created, and a second resume changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::state::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds(folder())), |bytes: &[u8]| run(folder(), bytes));
