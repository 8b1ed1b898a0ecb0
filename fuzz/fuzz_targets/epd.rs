//! Parses arbitrary text as EPD lines. Parsing must not panic, errors must name the first invalid
//! line, and parsed positions must round-trip.

#![no_main]

use tabia::fuzz::epd::run;
use tabia_fuzz::{fuzz_target, seed};

fn seeds() -> [(&'static str, &'static str); 3] {
    [
        ("solved", "2rr3k/pp3pp1/1nnqbN1p/8/8/8/8/R4RK1 w - - bm Qg6; id \"a; b\";\n"),
        ("counters", "# x\n\n8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 3 40; dm 3; am Re1\n"),
        ("operations", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - hmvc 2; fmvn 3; ce 1; pv O-O O-O\n"),
    ]
}

fuzz_target!(init: seed(seeds()), |text: &str| run(text));
