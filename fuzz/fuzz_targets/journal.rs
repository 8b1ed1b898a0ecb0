//! Opens arbitrary lines as the journal of an annotation, a tuning run or an analysis. The file is
//! either accepted, or rejected and left unchanged. Opening it again gives the same records and
//! changes nothing, and an appended record can be read back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::journal::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| run(folder(), bytes));
