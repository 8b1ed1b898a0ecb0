//! Resumes a match from arbitrary text, which consists of a state file, a NUL and a PGN file. The
//! state must either be rejected or allow the match to resume. If the match resumes, the PGN file
//! must still contain its old games, and must end with the complete last game even if that game was
//! truncated. It must be possible to create a report, and resuming again must change nothing.

#![no_main]

use tabia::fuzz::state::{run, seeds};
use tabia_fuzz::{folder, fuzz_target, seed};

fuzz_target!(init: seed(seeds(folder())), |bytes: &[u8]| run(folder(), bytes));
