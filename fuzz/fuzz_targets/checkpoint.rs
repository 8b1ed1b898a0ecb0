//! Resumes a book build from a checkpoint whose files have arbitrary content. The build must either
//! resume or reject the checkpoint.

#![no_main]

use tabia::fuzz::checkpoint::{run, seeds};
use tabia_fuzz::{folder, fuzz_target, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
