//! Parses arbitrary text as EPD lines. Parsing must not panic, errors must name the first invalid
//! line, and parsed positions must round-trip.

use crate::chess::epd;

/// Reads the text.
pub fn run(text: &str) {
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
}
