//! A scripted engine for tests of the match runner: it plays instantly, and misbehaves on demand.
//!
//! Usage: `fake_engine [uci|xboard] [KEY=VALUE]...`
//!
//! - `fault`: what it does wrong (`crash`, `hang`, `illegal`, `claim`, `flood`, `late`, `resign`,
//!   `deaf`, `mute`, `refuse`, `noise`, `nobye`)
//! - `at`: in which of its moves (default 5)
//! - `in`: in which of its games (default 0: in all)
//! - `late_ms`: delay of a late move, in milliseconds
//! - `seed`: seed for the choice of moves
//! - `name`: its name
//! - `words`: what it writes before it crashes
//! - `asleep_ms`: time to start, in milliseconds
//! - `starts`: a file that counts its starts, of which those with the numbers in `stumbles` (`2` or
//!   `1,2`) fail
//! - `best`: the best value of the option `Level`. An xboard engine resigns the sooner the further
//!   its `Level` is from it.
//! - `st`: how it reads a move time with a fraction. `whole` truncates it to whole seconds, and 0
//!   is no limit, so that the engine moves only on request.
//!
//! Moves depend only on the seed, the option `Level` and the position, so games between two such
//! engines can be repeated.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use tabia::position::{Color, Game, Move, Position};

struct Script {
    fault: String,
    at: u64,
    only_in: u64,
    late: Duration,
    seed: u64,
    name: String,
    words: String,
    asleep: Duration,
    best: Option<u64>,
    whole_seconds: bool,
}

impl Script {
    fn new(args: &[String]) -> Self {
        let pairs: HashMap<&str, &str> =
            args.iter().filter_map(|argument| argument.split_once('=')).collect();
        let number = |key: &str, default| {
            pairs.get(key).and_then(|value| value.parse().ok()).unwrap_or(default)
        };
        Script {
            fault: pairs.get("fault").unwrap_or(&"none").to_string(),
            at: number("at", 5),
            only_in: number("in", 0),
            late: Duration::from_millis(number("late_ms", 500)),
            seed: number("seed", 1),
            name: pairs.get("name").unwrap_or(&"Fake").to_string(),
            words: pairs.get("words").unwrap_or(&"about to crash").to_string(),
            asleep: Duration::from_millis(number("asleep_ms", 0)),
            best: pairs.get("best").and_then(|value| value.parse().ok()),
            whole_seconds: pairs.get("st") == Some(&"whole"),
        }
    }
}

struct Engine {
    script: Script,
    uci: bool,
    game: Game,
    games: u64,
    moves: u64,
    forced: bool,
    level: u64,
    /// Whether it thinks until a move is requested.
    endless: bool,
    thinking: bool,
}

const LEVEL: u64 = 1;
const MAX_LEVEL: u64 = 40;

#[derive(PartialEq)]
enum Next {
    Go,
    Stop,
}

/// Counts this start, and returns whether it is to fail.
fn stumbles(args: &[String]) -> bool {
    let value = |key| args.iter().find_map(|argument| argument.strip_prefix(key));
    let (Some(counter), Some(wanted)) = (value("starts="), value("stumbles=")) else {
        return false;
    };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(counter);
    let count = file.and_then(|mut file| {
        file.write_all(b".")?;
        Ok(file.metadata()?.len())
    });
    count.is_ok_and(|count| wanted.split(',').any(|number| number == count.to_string()))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if stumbles(&args) {
        return ExitCode::from(7);
    }
    let uci = args.first().is_some_and(|first| first == "uci");
    let script = Script::new(&args);
    std::thread::sleep(script.asleep);
    let (game, level) = (Game::default(), LEVEL);
    let mut engine = Engine {
        script,
        uci,
        game,
        games: 0,
        moves: 0,
        forced: false,
        level,
        endless: false,
        thinking: false,
    };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let next = if uci { engine.hear_uci(&line) } else { engine.hear_xboard(&line) };
        if next == Next::Stop {
            break;
        }
    }
    if engine.script.fault == "nobye" {
        sleep_forever();
    }
    ExitCode::SUCCESS
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // The runner may have ended and closed the pipe.
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

fn sleep_forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

impl Engine {
    fn hear_uci(&mut self, line: &str) -> Next {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first().copied().unwrap_or_default() {
            "uci" if self.script.fault == "mute" => {}
            "uci" => {
                say(&format!("id name {}", self.script.name));
                say(&format!("option name Level type spin default {LEVEL} min 0 max {MAX_LEVEL}"));
                say("option name Clear Hash type button");
                say("uciok");
            }
            "setoption" => self.set_level(words.last().copied().unwrap_or_default()),
            "isready" => say("readyok"),
            "ucinewgame" => self.new_game(),
            "position" => self.set_position(&words[1..]),
            "go" => self.answer(),
            "quit" => return Next::Stop,
            _ => {}
        }
        Next::Go
    }

    fn set_position(&mut self, words: &[&str]) {
        let moves = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
        let start = match words.first() {
            Some(&"fen") => Position::from_fen(&words[1..moves].join(" ")).ok(),
            _ => None,
        };
        self.game = Game::new(start.unwrap_or_else(Position::start));
        for word in words.iter().skip(moves + 1) {
            self.play(word);
        }
    }

    fn hear_xboard(&mut self, line: &str) -> Next {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "xboard" => say(""),
            "protover" if self.script.fault == "mute" => {}
            "protover" => say(&format!(
                "feature done=0\nfeature myname=\"{}\" ping=1 setboard=1 usermove=1 sigint=0 \
                 option=\"Level -spin {LEVEL} 0 {MAX_LEVEL}\" option=\"Clear Hash -button\"\n\
                 feature done=1",
                self.script.name
            )),
            "option" => self.set_level(rest.rsplit('=').next().unwrap_or_default()),
            "ping" => say(&format!("pong {rest}")),
            "st" => {
                let seconds: f64 = rest.parse().unwrap_or_default();
                self.endless = self.script.whole_seconds && seconds < 1.0;
            }
            "?" if self.thinking => {
                self.thinking = false;
                self.choose().into_iter().for_each(|mv| self.announce(mv));
            }
            "new" => self.new_game(),
            "force" => self.forced = true,
            "setboard" => {
                if let Ok(position) = Position::from_fen(rest) {
                    self.game = Game::new(position);
                }
            }
            "go" => {
                self.forced = false;
                self.answer();
            }
            "usermove" => {
                if self.is_due("refuse") {
                    say(&format!("Illegal move: {rest}"));
                    return Next::Go;
                }
                self.play(rest);
                if !self.forced {
                    self.answer();
                }
            }
            "uci" => say("Error (unknown command): uci"),
            "quit" => return Next::Stop,
            _ => {}
        }
        Next::Go
    }

    /// Sets the option `Level`; invalid values are ignored.
    fn set_level(&mut self, text: &str) {
        let level = text.parse().ok().filter(|&level| level <= MAX_LEVEL);
        self.level = level.unwrap_or(self.level);
    }

    fn new_game(&mut self) {
        self.game = Game::default();
        self.games += 1;
        self.moves = 0;
        self.forced = false;
    }

    fn play(&mut self, text: &str) {
        if let Ok(mv) = self.game.position().parse_move(text) {
            // Cannot fail: a legal move was just parsed.
            let _ = self.game.play(mv);
        }
    }

    /// Whether the script requires this fault now.
    fn is_due(&self, fault: &str) -> bool {
        let game = self.script.only_in == 0 || self.script.only_in == self.games;
        self.script.fault == fault && game && self.moves == self.script.at
    }

    fn answer(&mut self) {
        self.moves += 1;
        let Some(mv) = self.choose() else { return };
        if self.endless {
            self.thinking = true;
            return;
        }
        if self.is_due("crash") {
            eprintln!("{}", self.script.words);
            std::process::exit(3);
        }
        if self.is_due("hang") {
            sleep_forever();
        }
        if self.is_due("deaf") {
            // Still makes this move, but reads nothing any more and leaves its pipes open.
            self.announce(mv);
            sleep_forever();
        }
        if self.is_due("claim") && !self.uci {
            let white = self.game.position().side_to_move() == Color::White;
            say(if white { "1-0 {White mates}" } else { "0-1 {Black mates}" });
            return;
        }
        let patience = self.script.best.map(|best| MAX_LEVEL - best.abs_diff(self.level));
        let is_impatient = patience.is_some_and(|moves| self.moves > moves);
        if (self.is_due("resign") || is_impatient) && !self.uci {
            say("resign");
            return;
        }
        if self.is_due("illegal") {
            say(if self.uci { "bestmove e2e5" } else { "move e2e5" });
            return;
        }
        if self.is_due("flood") {
            loop {
                say("info string flood flood flood flood flood flood flood flood flood flood");
            }
        }
        if self.is_due("late") {
            std::thread::sleep(self.script.late);
        }
        self.announce(mv);
    }

    fn announce(&mut self, mv: Move) {
        // Scores depend only on the number of the move.
        let score = 20 + self.moves;
        if self.uci {
            say(&format!("info depth 1 score cp {score} nodes {} time 0 pv {mv}", self.moves));
            say(&format!("bestmove {mv}"));
        } else {
            say(&format!("1 {score} 0 {} {mv}", self.moves));
            say(&format!("move {mv}"));
        }
        // Cannot fail: the move is one of the legal ones.
        let _ = self.game.play(mv);
    }

    /// Chooses a legal move by the seed and the position. Captures are preferred, so that games
    /// end.
    fn choose(&self) -> Option<Move> {
        let position = self.game.position();
        let moves = position.legal_moves();
        let hash = |mv: &Move| {
            let seed = self.script.seed ^ (self.level ^ LEVEL) << 8;
            let mixed = position.key() ^ seed ^ u64::from(mv.to_polyglot()) << 17;
            mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
        };
        moves.iter().max_by_key(|mv| (position.piece_on(mv.to()).is_some(), hash(mv)))
    }
}
