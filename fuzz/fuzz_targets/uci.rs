//! Parses arbitrary text as UCI lines. Parsing must not panic and, as the protocol requires, must
//! ignore extra white space and unknown words before the command.

#![no_main]

use tabia::uci::Command;
use tabia_fuzz::{fuzz_target, seed};

const LINES: &str = "position startpos moves e2e4 e7e5\nposition fen 8/8/8/8/8/8/8/8 w - - 0 1\n\
    go wtime 1000 btime 1000 winc 10 binc 10 movestogo 3 searchmoves e2e4 d2d4 ponder\n\
    go depth 3 nodes 5 mate 2 movetime 7 infinite\nsetoption name Clear Hash\n\
    setoption name Book File value a b\nregister later\n";

fn parse(line: &str) -> Option<Command> {
    line.parse().ok()
}

fuzz_target!(init: seed([("lines", LINES)]), |text: &str| {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(parse(&format!("joho\t {}", words.join(" \t"))), parse(line), "{line:?}");
    }
});
