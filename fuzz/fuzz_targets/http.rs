//! Any text as a request to the explorer's server: answered without a panic and with a documented
//! status, and a second time with the same answer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::http::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds()), |text: &str| run(folder(), text));
