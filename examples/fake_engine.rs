//! A scripted engine for tests of the match runner. It moves instantly and misbehaves on request.
//!
//! Usage: `fake_engine [uci|xboard] [KEY=VALUE]...`
//!
//! - `fault`: the kind of misbehaviour (`crash`, `hang`, `illegal`, `claim`, `flood`, `late`,
//!   `resign`, `stop_reading`, `no_handshake`, `refuse`, `no_exit`, or `think`, which makes the
//!   engine think until it receives `stop` or `?`)
//! - `at`: the number of the engine's move at which it misbehaves, default 5
//! - `in`: the number of the game in which the engine misbehaves, default 0 (all games)
//! - `late_ms`: delay of a late move, in milliseconds
//! - `seed`: seed for choosing moves
//! - `name`: name of the engine
//! - `stderr`: text written to standard error before a crash
//! - `startup_ms`: delay at startup, in milliseconds
//! - `start_counter`: file in which the engine counts how often it was started
//! - `failing_starts`: which of these starts fail, such as `2` or `1,2`; requires `start_counter`
//! - `best`: the best value of the option `Level`. The further `Level` is from it, the sooner an
//!   xboard engine resigns.
//! - `st`: `whole` truncates move times to whole seconds. A move time of 0 means no limit: the
//!   engine then moves only after `?`.
//! - `options`: `all` declares a UCI option of every type
//! - `option`: an additional UCI option, such as `'name X type check default true'`
//! - `info`: an additional line to send before `bestmove`
//! - `ignores`: a parameter of `go` that the engine ignores. If it is `searchmoves`, the engine
//!   plays any move; otherwise, it searches until `stop`.
//!
//! `fault` can also be one of the protocol errors that `tabia autoplay --check` finds. These errors
//! do not depend on `at` and `in`. For their names, see the uses of `is_faulty` and `script.fault`.
//!
//! Moves depend only on the seed, the option `Level` and the position, so games are reproducible.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use tabia::position::{Color, Game, Move, Position};
use tabia::uci::{Command, Go};

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
    all_options: bool,
    option: Option<String>,
    info: Option<String>,
    ignores: Option<String>,
}

impl Script {
    fn new(args: &[String]) -> Self {
        let pairs: HashMap<&str, &str> =
            args.iter().filter_map(|argument| argument.split_once('=')).collect();
        let number = |key: &str, default| {
            pairs.get(key).and_then(|value| value.parse().ok()).unwrap_or(default)
        };
        let text = |key: &str| pairs.get(key).map(ToString::to_string);
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
            all_options: pairs.get("options") == Some(&"all"),
            option: text("option"),
            info: text("info"),
            ignores: text("ignores"),
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
    /// Whether the current search has no limit, so that the engine thinks until it receives `stop`
    /// or `?`.
    is_unlimited: bool,
    thinking: bool,
    limits: Go,
    lines: usize,
}

const LEVEL: u64 = 1;
const MAX_LEVEL: u64 = 40;

#[derive(PartialEq)]
enum Next {
    Go,
    Stop,
}

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
        limits: Go::default(),
        lines: 1,
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
    // Errors are ignored, because the match runner may have exited and closed the pipe.
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
        if self.is_faulty("strict_space") && words.join(" ") != line {
            return Next::Go;
        }
        match words.first().copied().unwrap_or_default() {
            "uci" if self.script.fault == "no_handshake" => {}
            "uci" => self.introduce(),
            "setoption" => self.set_option(line),
            "isready" if self.thinking && self.is_faulty("busy") => {}
            "isready" if self.games > 0 && self.is_faulty("deaf_after_new_game") => {}
            "isready" => {
                if self.thinking && self.is_faulty("ready_stops") {
                    self.stop();
                }
                send("readyok");
            }
            "ucinewgame" => self.new_game(),
            "position" => self.set_position(&words[1..]),
            "go" => self.go(line),
            "stop" if self.is_faulty("ignores_stop") => {}
            "ponderhit" if self.is_faulty("ignores_ponderhit") => {}
            "stop" | "ponderhit" if self.thinking => {
                if self.is_faulty("slow_stop") {
                    std::thread::sleep(self.script.late);
                }
                self.stop();
            }
            "stop" if self.is_faulty("idle_stop") => send("bestmove e2e4"),
            "quit" if self.is_faulty("aborts") => std::process::abort(),
            "quit" => return Next::Stop,
            "xyzzy" if self.is_faulty("dies_on_garbage") => return Next::Stop,
            "xyzzy" if self.is_faulty("answers_garbage") => send("bestmove e2e4"),
            _ => {}
        }
        Next::Go
    }

    fn is_faulty(&self, fault: &str) -> bool {
        self.script.fault == fault
    }

    fn introduce(&self) {
        if !self.is_faulty("no_name") {
            send(&format!("id name {}", self.script.name));
        }
        if !self.is_faulty("no_author") {
            send("id author nobody");
        }
        send(&format!("option name Level type spin default {LEVEL} min 0 max {MAX_LEVEL}"));
        send("option name Clear Hash type button");
        if self.script.all_options {
            send("option name Ponder type check default false");
            send("option name MultiPV type spin default 1 min 1 max 500");
            send("option name Style type combo default Normal var Solid var Normal");
            send("option name Log File type string default <empty>");
        }
        if let Some(option) = &self.script.option {
            send(&format!("option {option}"));
        }
        send("uciok");
    }

    fn set_option(&mut self, line: &str) {
        let Ok(Command::SetOption { name, value }) = line.parse() else { return };
        let value = value.unwrap_or_default();
        let is_valid = ["Solid", "Normal"].contains(&value.as_str());
        let deadly = if is_valid { "dies_on_value" } else { "dies_on_bad_value" };
        match name.to_lowercase().as_str() {
            "level" => self.set_level(&value),
            "multipv" if self.is_faulty("case_sensitive") && name != "MultiPV" => {}
            "multipv" => {
                let lines = value.parse().ok().filter(|lines| (1..=500).contains(lines));
                self.lines = lines.unwrap_or(self.lines);
            }
            "style" if self.is_faulty(deadly) => std::process::exit(3),
            _ => {}
        }
    }

    fn go(&mut self, line: &str) {
        let Ok(Command::Go(limits)) = line.parse() else { return };
        self.limits = *limits;
        let ignored = self.script.ignores.as_deref();
        if ignored == Some("searchmoves") {
            self.limits.search_moves.clear();
        }
        let is_ignored = line.split(' ').any(|word| Some(word) == ignored && word != "searchmoves");
        let endless = (self.limits.infinite && !self.is_faulty("ends_infinite"))
            || (self.limits.ponder && !self.is_faulty("ends_ponder"));
        if endless || is_ignored {
            self.thinking = true;
        } else {
            if self.limits.move_time.is_some() && self.is_faulty("exceeds_movetime") {
                std::thread::sleep(self.script.late);
            }
            self.respond();
        }
    }

    fn stop(&mut self) {
        self.thinking = false;
        self.respond();
    }

    fn set_position(&mut self, words: &[&str]) {
        let moves = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
        let start = match words.first() {
            Some(&"fen") if !self.is_faulty("no_fen") => {
                Position::from_fen(&words[1..moves].join(" ")).ok()
            }
            _ => None,
        };
        if start.is_none() && words.contains(&"fen") && self.is_faulty("dies_on_bad_fen") {
            std::process::exit(3);
        }
        self.game = Game::new(start.unwrap_or_else(Position::start));
        let limit = if self.is_faulty("short_list") { 100 } else { usize::MAX };
        for word in words.iter().skip(moves + 1).take(limit) {
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
        let position = self.game.position();
        if let Ok(mv) = position.parse_move(text) {
            let is_lost = match self.script.fault.as_str() {
                "no_castling" => position.is_castling(mv),
                "no_promotion" => mv.promotion().is_some(),
                "no_en_passant" => position.is_en_passant(mv),
                _ => false,
            };
            if is_lost {
                return;
            }
            // Cannot fail: a legal move was just parsed.
            let _ = self.game.play(mv);
        }
    }

    fn is_due(&self, fault: &str) -> bool {
        let game = self.script.only_in == 0 || self.script.only_in == self.games;
        self.script.fault == fault && game && self.moves == self.script.at
    }

    fn respond(&mut self) {
        self.moves += 1;
        let Some(mv) = self.choose() else {
            if self.uci && !self.is_faulty("silent_mate") {
                send(if self.is_faulty("null_mate") { "bestmove a1a1" } else { "bestmove (none)" });
            }
            return;
        };
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
        if self.is_due("think") {
            self.thinking = true;
            return;
        }
        if self.is_due("stop_reading") {
            // Send this move, then stop reading input but leave the pipes open.
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

    fn send_move(&mut self, mut mv: Move) {
        // Scores depend only on the move number, so that games are reproducible.
        let score = 20 + self.moves;
        if self.uci {
            let mate = self.mate();
            mv = mate.as_ref().and_then(|line| line.first().copied()).unwrap_or(mv);
            match mate {
                Some(line) => self.send_mate(&line),
                None => self.send_infos(score),
            }
            self.script.info.iter().for_each(|line| send(line));
            let ponder = if self.is_faulty("bad_ponder") { " ponder e1e8" } else { "" };
            send(&format!("bestmove {mv}{ponder}"));
            match self.script.fault.as_str() {
                "twice" => send(&format!("bestmove {mv}")),
                "talks" => send("info depth 1 score cp 1"),
                _ => {}
            }
        } else {
            send(&format!("1 {score} 0 {} {mv}", self.moves));
            send(&format!("move {mv}"));
        }
        // Cannot fail: the move is legal.
        let _ = self.game.play(mv);
    }

    fn send_infos(&self, score: u64) {
        let depth = if self.is_faulty("deeper") { 9 } else { 1 };
        let lines = if self.is_faulty("one_line") { 1 } else { self.lines };
        let mut lines: Vec<_> = (1..).zip(self.ranked()).take(lines).collect();
        match self.script.fault.as_str() {
            "no_info" => return,
            "lines_in_disorder" => lines.reverse(),
            "same_lines" => lines = lines.iter().map(|&(rank, _)| (rank, lines[0].1)).collect(),
            _ => {}
        }
        for (rank, mv) in lines {
            let number = if self.lines > 1 { format!(" multipv {rank}") } else { String::new() };
            let nodes = match self.limits.nodes {
                Some(limit) if self.is_faulty("exceeds_nodes") => 3 * limit,
                _ => self.moves,
            };
            send(&format!(
                "info depth {depth}{number} score cp {score} nodes {nodes} time 0 pv {mv}"
            ));
        }
    }

    fn send_mate(&self, line: &[Move]) {
        let moves = (line.len() as i64 + 1) / 2;
        let moves = if line.len().is_multiple_of(2) { -moves } else { moves };
        let score = match self.script.fault.as_str() {
            "mate_as_cp" => format!("cp {}", 29_000 * moves.signum()),
            "mate_in_plies" => format!("mate {}", line.len() as i64 * moves.signum()),
            "mate_without_sign" => format!("mate {}", moves.abs()),
            _ => format!("mate {moves}"),
        };
        let line: Vec<String> = line.iter().map(Move::to_string).collect();
        send(&format!("info depth 4 score {score} nodes 9 time 0 pv {}", line.join(" ")));
    }

    /// Returns the line of a forced mate in at most two moves, for or against the side to move.
    /// Returns `None` unless the search has a depth of at least 4 or is limited by `go mate`.
    fn mate(&self) -> Option<Vec<Move>> {
        let is_deep = self.limits.depth.is_some_and(|depth| depth >= 4);
        let position = Some(self.game.position()).filter(|_| is_deep || self.limits.mate.is_some());
        let position = position?;
        [1, 3].iter().find_map(|&plies| mating(position, plies)).or_else(|| mated(position, 2))
    }

    fn choose(&self) -> Option<Move> {
        self.ranked().first().copied()
    }

    /// Returns the legal moves, captures first, in an order that depends on the seed.
    fn ranked(&self) -> Vec<Move> {
        let position = self.game.position();
        let hash = |mv: &Move| {
            let seed = self.script.seed ^ (self.level ^ LEVEL) << 8;
            let mixed = position.key() ^ seed ^ u64::from(mv.to_polyglot()) << 17;
            mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
        };
        let searched = &self.limits.search_moves;
        let is_searched = |mv: &Move| searched.is_empty() || searched.contains(&mv.to_string());
        let mut moves: Vec<Move> = position.legal_moves().iter().filter(is_searched).collect();
        moves.sort_by_key(|mv| Reverse((position.piece_on(mv.to()).is_some(), hash(mv))));
        moves
    }
}

/// Returns the shortest line with which the side to move forces mate within `plies` plies.
fn mating(position: &Position, plies: u32) -> Option<Vec<Move>> {
    let moves = position.legal_moves();
    let lines = moves.iter().filter_map(|mv| {
        let rest = mated(&position.play(mv), plies.checked_sub(1)?)?;
        Some([vec![mv], rest].concat())
    });
    lines.min_by_key(Vec::len)
}

/// Returns the line that delays mate longest if the side to move cannot avoid being mated within
/// `plies` plies.
fn mated(position: &Position, plies: u32) -> Option<Vec<Move>> {
    let moves = position.legal_moves();
    if moves.is_empty() {
        return position.in_check().then(Vec::new);
    }
    let lines = moves.iter().map(|mv| {
        let rest = mating(&position.play(mv), plies.checked_sub(1)?)?;
        Some([vec![mv], rest].concat())
    });
    lines.collect::<Option<Vec<_>>>()?.into_iter().max_by_key(Vec::len)
}
