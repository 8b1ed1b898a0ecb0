//! Resumes a match from arbitrary text: a state file, a NUL and a PGN file. Either the state is
//! rejected or the match resumes. Then the PGN file contains its old content, except for a
//! truncated last game, followed by the complete last game. A report can be created, and a second
//! resume changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::state::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds(folder())), |bytes: &[u8]| run(folder(), bytes));
