//! Any text as lines of EPD: read without a panic; the first line that is none is the one that is
//! named; what was read survives writing and reading.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::suite::epd;
use tabia_fuzz::seed;

fn seeds() -> [(&'static str, &'static str); 3] {
    [
        ("solved", "2rr3k/pp3pp1/1nnqbN1p/8/8/8/8/R4RK1 w - - bm Qg6; id \"a; b\";\n"),
        ("counters", "# x\n\n8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 3 40; dm 3; am Re1\n"),
        ("operations", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - hmvc 2; fmvn 3; ce 1; pv O-O O-O\n"),
    ]
}

fuzz_target!(init: seed(seeds()), |text: &str| {
    let (mut read, mut fault) = (Vec::new(), None);
    for (number, line) in epd::lines(text) {
        assert!(!line.is_empty() && !line.starts_with('#'), "{line:?}");
        for (code, operand) in epd::operations(line) {
            assert!(!code.is_empty() && line.contains(operand), "{line:?}");
        }
        let Ok((position, rest)) = epd::position(line) else {
            fault.get_or_insert(number);
            continue;
        };
        assert!(line.ends_with(rest), "{line:?}: {rest:?}");
        let again = format!("{position} {rest}");
        assert_eq!(epd::position(&again), Ok((position, rest)), "{line:?}");
        read.push(position);
    }
    match (epd::positions(text), fault) {
        (Ok(positions), None) => assert_eq!(positions, read),
        (Err((number, _)), Some(line)) => assert_eq!(number, line),
        (other, _) => panic!("{other:?} though the first fault is in line {fault:?}"),
    }
});
