//! Any state and any other files as the checkpoint of a build: the build resumes, or rejects the
//! checkpoint.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::checkpoint::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
