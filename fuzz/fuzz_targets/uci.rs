//! Any text as lines of UCI: read without a panic, the same with unknown words before the command
//! and any blanks in between, as the protocol wants.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::uci::Command;

fuzz_target!(|text: &str| {
    let parse = |line: &str| line.parse::<Command>().unwrap_or(Command::Other);
    for line in text.lines() {
        let command = parse(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(parse(&format!("joho\t {}", words.join(" \t"))), command, "{line:?}");
    }
});
