//! A scripted engine for tests of the match runner: it plays instantly, and misbehaves on demand.
//!
//! Usage: `fake_engine [uci|xboard] [KEY=VALUE]...`
//!
//! - `fault`: the kind of fault (`crash`, `hang`, `illegal`, `claim`, `flood`, `late`, `resign`,
//!   `stop_reading`, `no_handshake`, `refuse`, `no_exit`)
//! - `at`: the number of the move with the fault, default 5
//! - `in`: the number of the game with the fault, default 0 (all games)
//! - `late_ms`: delay of a late move, in milliseconds
//! - `seed`: seed for the choice of moves
//! - `name`: name of the engine
//! - `stderr`: text written to standard error before a crash
//! - `startup_ms`: delay of the start, in milliseconds
//! - `start_counter`: file that counts the starts
//! - `failing_starts`: numbers of the starts that fail, such as `2` or `1,2`; requires
//!   `start_counter`
//! - `best`: the best value of the option `Level`. The further `Level` is from it, the sooner an
//!   xboard engine resigns.
//! - `st`: `whole` truncates move times to whole seconds. A move time of 0 is no limit: the engine
//!   then moves only on request.
//!
//! Moves depend only on the seed, the option `Level` and the position, so games between two such
//! engines can be repeated.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use tabia::position::{Color, Game, Move, Position};

/// The behaviour that the arguments select.
struct Script {
    fault: String,
    at: u64,
    only_in: u64,
    late: Duration,
    seed: u64,
    name: String,
    stderr: String,
    startup_delay: Duration,
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
            stderr: pairs.get("stderr").unwrap_or(&"about to crash").to_string(),
            startup_delay: Duration::from_millis(number("startup_ms", 0)),
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
    is_unlimited: bool,
    thinking: bool,
}

const LEVEL: u64 = 1;
const MAX_LEVEL: u64 = 40;

#[derive(PartialEq)]
enum Next {
    Go,
    Stop,
}

/// Counts this start. Returns whether it must fail.
fn is_failing_start(args: &[String]) -> bool {
    let value = |key| args.iter().find_map(|argument| argument.strip_prefix(key));
    let (Some(counter), Some(failing)) = (value("start_counter="), value("failing_starts=")) else {
        return false;
    };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(counter);
    let count = file.and_then(|mut file| {
        file.write_all(b".")?;
        Ok(file.metadata()?.len())
    });
    count.is_ok_and(|count| failing.split(',').any(|number| number == count.to_string()))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if is_failing_start(&args) {
        return ExitCode::from(7);
    }
    let uci = args.first().is_some_and(|first| first == "uci");
    let script = Script::new(&args);
    std::thread::sleep(script.startup_delay);
    let (game, level) = (Game::default(), LEVEL);
    let mut engine = Engine {
        script,
        uci,
        game,
        games: 0,
        moves: 0,
        forced: false,
        level,
        is_unlimited: false,
        thinking: false,
    };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let next = if uci { engine.handle_uci(&line) } else { engine.handle_xboard(&line) };
        if next == Next::Stop {
            break;
        }
    }
    if engine.script.fault == "no_exit" {
        sleep_forever();
    }
    ExitCode::SUCCESS
}

fn send(text: &str) {
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
    fn handle_uci(&mut self, line: &str) -> Next {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first().copied().unwrap_or_default() {
            "uci" if self.script.fault == "no_handshake" => {}
            "uci" => {
                send(&format!("id name {}", self.script.name));
                send(&format!("option name Level type spin default {LEVEL} min 0 max {MAX_LEVEL}"));
                send("option name Clear Hash type button");
                send("uciok");
            }
            "setoption" => self.set_level(words.last().copied().unwrap_or_default()),
            "isready" => send("readyok"),
            "ucinewgame" => self.new_game(),
            "position" => self.set_position(&words[1..]),
            "go" => self.respond(),
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

    fn handle_xboard(&mut self, line: &str) -> Next {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "xboard" => send(""),
            "protover" if self.script.fault == "no_handshake" => {}
            "protover" => send(&format!(
                "feature done=0\nfeature myname=\"{}\" ping=1 setboard=1 usermove=1 sigint=0 \
                 option=\"Level -spin {LEVEL} 0 {MAX_LEVEL}\" option=\"Clear Hash -button\"\n\
                 feature done=1",
                self.script.name
            )),
            "option" => self.set_level(rest.rsplit('=').next().unwrap_or_default()),
            "ping" => send(&format!("pong {rest}")),
            "st" => {
                let seconds: f64 = rest.parse().unwrap_or_default();
                self.is_unlimited = self.script.whole_seconds && seconds < 1.0;
            }
            "?" if self.thinking => {
                self.thinking = false;
                self.choose().into_iter().for_each(|mv| self.send_move(mv));
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
                self.respond();
            }
            "usermove" => {
                if self.is_due("refuse") {
                    send(&format!("Illegal move: {rest}"));
                    return Next::Go;
                }
                self.play(rest);
                if !self.forced {
                    self.respond();
                }
            }
            "uci" => send("Error (unknown command): uci"),
            "quit" => return Next::Stop,
            _ => {}
        }
        Next::Go
    }

    /// Sets the option `Level`; ignores invalid values.
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

    /// Whether the script has this fault at the current move.
    fn is_due(&self, fault: &str) -> bool {
        let game = self.script.only_in == 0 || self.script.only_in == self.games;
        self.script.fault == fault && game && self.moves == self.script.at
    }

    fn respond(&mut self) {
        self.moves += 1;
        let Some(mv) = self.choose() else { return };
        if self.is_unlimited {
            self.thinking = true;
            return;
        }
        if self.is_due("crash") {
            eprintln!("{}", self.script.stderr);
            std::process::exit(3);
        }
        if self.is_due("hang") {
            sleep_forever();
        }
        if self.is_due("stop_reading") {
            // Makes this move, then reads no more input and leaves its pipes open.
            self.send_move(mv);
            sleep_forever();
        }
        if self.is_due("claim") && !self.uci {
            let white = self.game.position().side_to_move() == Color::White;
            send(if white { "1-0 {White mates}" } else { "0-1 {Black mates}" });
            return;
        }
        let last_move = self.script.best.map(|best| MAX_LEVEL - best.abs_diff(self.level));
        let resigns = last_move.is_some_and(|number| self.moves > number);
        if (self.is_due("resign") || resigns) && !self.uci {
            send("resign");
            return;
        }
        if self.is_due("illegal") {
            send(if self.uci { "bestmove e2e5" } else { "move e2e5" });
            return;
        }
        if self.is_due("flood") {
            loop {
                send("info string flood flood flood flood flood flood flood flood flood flood");
            }
        }
        if self.is_due("late") {
            std::thread::sleep(self.script.late);
        }
        self.send_move(mv);
    }

    fn send_move(&mut self, mv: Move) {
        // Scores depend only on the move number, so that games can be repeated.
        let score = 20 + self.moves;
        if self.uci {
            send(&format!("info depth 1 score cp {score} nodes {} time 0 pv {mv}", self.moves));
            send(&format!("bestmove {mv}"));
        } else {
            send(&format!("1 {score} 0 {} {mv}", self.moves));
            send(&format!("move {mv}"));
        }
        // Cannot fail: the move is one of the legal ones.
        let _ = self.game.play(mv);
    }

    /// Returns a legal move that depends on the seed and the position. Prefers captures, so that
    /// games end.
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
