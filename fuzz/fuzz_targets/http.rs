//! Sends arbitrary text to the explorer's server as an HTTP request. The server must not panic,
//! must answer with a documented status, and must give the same answer if the request is repeated.

#![no_main]

use tabia::fuzz::http::{run, seeds};
use tabia_fuzz::{folder, fuzz_target, seed};

fuzz_target!(init: seed(seeds()), |text: &str| run(folder(), text));
