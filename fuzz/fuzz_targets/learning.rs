//! Any rows as a learning file: read as a book whose moves can be looked up, and compacted without
//! a change of the results.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::learning::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
