//! Reads arbitrary rows as a learning file. Looking up its moves as in a book must not panic, and
//! compacting the file must not change the results.

#![no_main]

use tabia::fuzz::learning::{run, seeds};
use tabia_fuzz::{folder, fuzz_target, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
