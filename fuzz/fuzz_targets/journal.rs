//! Opens arbitrary lines as the journal of an annotation, a tuning run or an analysis. The file
//! must be either accepted, or rejected and left unchanged. Reopening an accepted file must give
//! the same records and change nothing, and an appended record must be readable.

#![no_main]

use tabia::fuzz::journal::{run, seeds};
use tabia_fuzz::{folder, fuzz_target, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
