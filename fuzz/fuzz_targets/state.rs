//! Resumes a match from any text as its state file and, after a NUL, as its PGN file. The state is
//! rejected or the match resumes. After that, the PGN file contains its old content, without any
//! truncated last game, and the complete last game. A report can be created, and a second resume
//! changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::state::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds(folder())), |bytes: &[u8]| run(folder(), bytes));
