//! Parses arbitrary text as xboard protocol lines, both those from the GUI and those from the
//! engine. Parsing must not panic, and parsed commands must round-trip.

#![no_main]

use tabia::cecp::{Command, Reply};
use tabia::position::Position;
use tabia_fuzz::{fuzz_target, seed};

const LINES: &str = "level 40 5:30 0.1\nst 0.5\ntime 6000\nping 1\nusermove e2e4\nNf3\nsetboard \
    rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nrating 2000 1900\nexclude all\n\
    result 1-0 {White mates}\noption OwnBook=1\negtpath syzygy /tb\nmove e7e8q\n\
    feature ping=1 myname=\"x y\"\n9 12 34 5678 10 20 30\t1. e4 e5\n\
    stat01: 10 20 3 4 5 e2e4\nIllegal move (why): e2e5\n";

fuzz_target!(init: seed([("lines", LINES)]), |text: &str| {
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
