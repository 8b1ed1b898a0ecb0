//! Sends arbitrary text as a request to the explorer's server. The server must answer without
//! panicking and with a documented status, and must give the same answer if the request is
//! repeated.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::fuzz::http::{run, seeds};
use tabia_fuzz::{folder, seed};

fuzz_target!(init: seed(seeds()), |text: &str| run(folder(), text));
