//! Reads arbitrary rows as a learning file. Its moves can be looked up as in a book, and compacting
//! the file does not change the results.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::learning::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
