//! Any text as lines of the xboard protocol, from either side: parsed without a panic, and parsed
//! commands round-trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::cecp::{Command, Reply};
use tabia::position::Position;

fuzz_target!(|text: &str| {
    let start = Position::start();
    for line in text.lines() {
        let _ = Reply::from(line).to_string();
        let Ok(command) = line.parse::<Command>() else { continue };
        assert_eq!(command.to_string().parse(), Ok(command.clone()), "{line:?}");
        match command {
            Command::Move(text) | Command::UserMove(text) => {
                let legal = start.parse_move(&text).map(|mv| start.is_legal(mv));
                assert_ne!(legal, Ok(false), "{text:?}");
            }
            Command::SetBoard(fen) => drop(Position::from_fen(&fen)),
            _ => {}
        }
    }
});
