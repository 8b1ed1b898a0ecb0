//! Any text as lines of UCI: parsed without a panic. Unknown words before the command and extra
//! white space do not matter, as the protocol requires.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::uci::Command;

fn parse(line: &str) -> Option<Command> {
    line.parse().ok()
}

fuzz_target!(|text: &str| {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(parse(&format!("joho\t {}", words.join(" \t"))), parse(line), "{line:?}");
    }
});
