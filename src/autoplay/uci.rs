//! The match's side of the Universal Chess Interface.
//!
//! Source: the protocol's text by Stefan Meyer-Kahlen,
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::position::{Color, Game, Move, Position};
use crate::score::{self, Score};

use super::clock::Limits;
use super::config::EngineConfig;
use super::dialect::{Dialect, EngineError, Event, Info, Setup, Turn, read_until};
use super::process::Process;

/// How long an engine may take to start, or to clear its tables for a new game.
const START_PATIENCE: Duration = Duration::from_secs(20);

/// What the engine is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Idle,
    Thinking,
    /// On the reply it expects.
    Pondering(Move),
}

/// The conversation with a UCI engine.
#[derive(Debug)]
pub struct Uci {
    options: Vec<(String, String)>,
    init: Vec<String>,
    ponder: bool,
    name: Option<String>,
    /// The engine's own spelling of its options, by the lower-case name.
    known: BTreeMap<String, String>,
    state: State,
    info: Info,
}

impl Uci {
    /// A conversation that has not begun.
    pub fn new(config: &EngineConfig) -> Self {
        Uci {
            options: config.options.clone(),
            init: config.init.clone(),
            ponder: config.ponder,
            name: None,
            known: BTreeMap::new(),
            state: State::Idle,
            info: Info::default(),
        }
    }

    fn read_greeting(&mut self, line: &str) -> bool {
        if let Some(name) = line.strip_prefix("id name ") {
            self.name = Some(name.trim().to_owned());
        } else if let Some(rest) = line.strip_prefix("option name ") {
            let name = rest.split(" type ").next().unwrap_or(rest).trim();
            self.known.insert(name.to_lowercase(), name.to_owned());
        }
        line.trim() == "uciok"
    }

    fn send_options(&mut self, link: &mut Process) -> Result<(), EngineError> {
        if let Some(name) = self.known.get("ponder").filter(|_| self.ponder) {
            link.send(&format!("setoption name {name} value true"))?;
        }
        for (name, value) in &self.options {
            let alias = alias(name);
            let Some(known) = self.known.get(alias.to_lowercase().as_str()) else {
                return Err(unknown_option(name, self.known.values()));
            };
            link.send(&format!("setoption name {known} value {value}"))?;
        }
        for line in &self.init {
            link.send(line)?;
        }
        Ok(())
    }

    fn ready(&mut self, link: &mut Process, deadline: Instant) -> Result<(), EngineError> {
        link.send("isready")?;
        read_until(link, deadline, "readyok", |line| line.trim() == "readyok")
    }

    /// Ends a search that is still on; its `bestmove` is waited for, as the protocol wants.
    fn rest(&mut self, link: &mut Process, deadline: Instant) -> Result<(), EngineError> {
        if self.state != State::Idle {
            link.send("stop")?;
            read_until(link, deadline, "bestmove", |line| line.starts_with("bestmove"))?;
            self.state = State::Idle;
        }
        Ok(())
    }
}

/// The settings that every xboard engine has under these names, as UCI engines call them.
fn alias(name: &str) -> &str {
    match name {
        "memory" => "Hash",
        "cores" => "Threads",
        name => name,
    }
}

/// What to say of an option that the engine does not have.
pub(super) fn unknown_option<'a>(
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> EngineError {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    EngineError::Unable(format!("has no option \"{name}\" (it has: {has})"))
}

/// `position ...` for a game, with `extra` moves that are only expected.
fn position_line(game: &Game, extra: Option<Move>) -> String {
    let start = game.start();
    let mut line = match *start == Position::start() {
        true => "position startpos".to_owned(),
        false => format!("position fen {}", start.fen()),
    };
    for (index, mv) in game.moves().iter().chain(&extra).enumerate() {
        line.push_str(if index == 0 { " moves " } else { " " });
        line.push_str(&mv.to_string());
    }
    line
}

/// `go ...` for a turn of `color`.
fn go_line(turn: &Turn<'_>, color: Color, word: &str) -> String {
    let mut line = format!("go{word}");
    let Limits { clock, move_time, depth, nodes } = turn.own.limits;
    if clock.is_some() {
        let (white, black) = match color {
            Color::White => (turn.own, turn.other),
            Color::Black => (turn.other, turn.own),
        };
        for (name, clock) in [("w", white), ("b", black)] {
            if clock.limits.clock.is_some() {
                line.push_str(&format!(" {name}time {}", clock.remaining.as_millis()));
            }
        }
        for (name, clock) in [("w", white), ("b", black)] {
            let increment = clock.limits.clock.map_or(Duration::ZERO, |clock| clock.increment);
            if !increment.is_zero() {
                line.push_str(&format!(" {name}inc {}", increment.as_millis()));
            }
        }
        if let Some(moves) = turn.own.moves_to_go {
            line.push_str(&format!(" movestogo {moves}"));
        }
    }
    for (name, value) in [
        ("movetime", move_time.map(|time| time.as_millis())),
        ("depth", depth.map(u128::from)),
        ("nodes", nodes.map(u128::from)),
    ] {
        if let Some(value) = value {
            line.push_str(&format!(" {name} {value}"));
        }
    }
    if turn.own.limits == Limits::default() {
        line.push_str(" infinite");
    }
    line
}

impl Dialect for Uci {
    fn handshake(&mut self, link: &mut Process) -> Result<(), EngineError> {
        link.send("uci")?;
        let deadline = Instant::now() + START_PATIENCE;
        read_until(link, deadline, "uciok", |line| self.read_greeting(line))?;
        self.send_options(link)?;
        self.ready(link, deadline)
    }

    fn engine_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn reusable(&self) -> bool {
        true
    }

    fn begin(&mut self, link: &mut Process, _setup: &Setup<'_>) -> Result<(), EngineError> {
        link.send("ucinewgame")?;
        self.ready(link, Instant::now() + START_PATIENCE)
    }

    fn go(&mut self, link: &mut Process, turn: &Turn<'_>) -> Result<(), EngineError> {
        self.info = Info::default();
        let expected = match &self.state {
            State::Pondering(mv) => turn.game.moves().last() == Some(mv),
            _ => false,
        };
        if expected {
            link.send("ponderhit")?;
        } else {
            self.rest(link, Instant::now() + START_PATIENCE)?;
            link.send(&position_line(turn.game, None))?;
            link.send(&go_line(turn, turn.game.position().side_to_move(), ""))?;
        }
        self.state = State::Thinking;
        Ok(())
    }

    fn moved(
        &mut self,
        link: &mut Process,
        turn: &Turn<'_>,
        ponder: Option<Move>,
    ) -> Result<(), EngineError> {
        let Some(mv) = ponder.filter(|_| self.ponder) else { return Ok(()) };
        link.send(&position_line(turn.game, Some(mv)))?;
        link.send(&go_line(turn, !turn.game.position().side_to_move(), " ponder"))?;
        self.state = State::Pondering(mv);
        Ok(())
    }

    fn interpret(&mut self, line: &str) -> Option<Event> {
        let mut words = line.split_whitespace();
        match words.next()? {
            "bestmove" => {
                self.state = State::Idle;
                let text = words.next().unwrap_or("(none)").to_owned();
                let ponder = words.skip_while(|&word| word != "ponder").nth(1);
                Some(Event::Move { text, ponder: ponder.map(str::to_owned) })
            }
            "info" => {
                let is_new = read_info(&mut self.info, words);
                is_new.then(|| Event::Thinking(self.info.clone()))
            }
            _ => None,
        }
    }

    fn hurry(&mut self, link: &mut Process) -> Result<(), EngineError> {
        Ok(link.send("stop")?)
    }

    fn offer_draw(&mut self, _link: &mut Process) -> Result<(), EngineError> {
        // UCI has no word for it.
        Ok(())
    }

    fn finish(
        &mut self,
        link: &mut Process,
        _result: &str,
        _comment: &str,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.rest(link, deadline)?;
        self.ready(link, deadline)
    }
}

/// Takes an `info` line's numbers over; tells whether anything worth showing was in it. Lines of
/// other than the first variation are passed over.
fn read_info<'a>(info: &mut Info, words: impl Iterator<Item = &'a str>) -> bool {
    let words: Vec<&str> = words.collect();
    if words.windows(2).any(|pair| pair[0] == "multipv" && pair[1] != "1") {
        return false;
    }
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
    let mut is_new = false;
    let mut index = 0;
    while let Some(&word) = words.get(index) {
        index += 1;
        match word {
            "depth" => info.depth = number(index).unwrap_or_default() as u32,
            "nodes" => info.nodes = number(index).unwrap_or_default(),
            "time" => info.elapsed = Duration::from_millis(number(index).unwrap_or_default()),
            "score" => {
                let value = words.get(index + 1).and_then(|word| word.parse::<i32>().ok());
                info.score = value.and_then(|value| read_score(words[index], value));
                is_new = true;
            }
            "pv" => {
                info.line = words[index..].join(" ");
                return true;
            }
            "string" => {
                info.book |= words[index..].iter().any(|word| word.eq_ignore_ascii_case("book"));
                return info.book;
            }
            _ => {}
        }
    }
    is_new
}

/// A score of UCI as one of ours.
fn read_score(kind: &str, value: i32) -> Option<Score> {
    let limit = score::MAX_PLY as i32;
    match kind {
        "cp" => Some(value.clamp(1 - score::TABLEBASE_BOUND, score::TABLEBASE_BOUND - 1)),
        "mate" if value > 0 => Some(score::MATE - (2 * value.min(limit) - 1).min(limit)),
        "mate" => Some((-2 * value.max(-limit)).min(limit) - score::MATE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(control: &str) -> super::super::clock::Clock {
        let clock = Some(control.parse().expect(control));
        let limits = Limits { clock, ..Limits::default() };
        super::super::clock::Clock::new(limits, Duration::ZERO)
    }

    #[test]
    fn the_engine_is_told_both_clocks() {
        let (own, other) = (clock("40/60+0.5"), clock("10"));
        let game = Game::default();
        let turn = Turn { game: &game, own: &own, other: &other };
        assert_eq!(
            go_line(&turn, Color::Black, ""),
            "go wtime 10000 btime 60000 binc 500 movestogo 40"
        );
        let limits = Limits { depth: Some(5), nodes: Some(7), ..Limits::default() };
        let own = super::super::clock::Clock::new(limits, Duration::ZERO);
        let turn = Turn { game: &game, own: &own, other: &other };
        assert_eq!(go_line(&turn, Color::White, " ponder"), "go ponder depth 5 nodes 7");
    }

    #[test]
    fn the_position_is_told_with_its_moves() {
        let mut game = Game::default();
        assert_eq!(position_line(&game, None), "position startpos");
        game.play("e2e4".parse().expect("a move")).expect("legal");
        let reply = "e7e5".parse().expect("a move");
        assert_eq!(position_line(&game, Some(reply)), "position startpos moves e2e4 e7e5");
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 9";
        let game = Game::new(Position::from_fen(fen).expect(fen));
        assert_eq!(position_line(&game, None), format!("position fen {fen}"));
    }

    #[test]
    fn thinking_is_read() {
        let mut info = Info::default();
        let line =
            "depth 9 seldepth 12 score mate -2 upperbound nodes 77 nps 5 time 12 pv e2e4 e7e5";
        assert!(read_info(&mut info, line.split(' ')));
        assert_eq!((info.depth, info.nodes, info.elapsed.as_millis()), (9, 77, 12));
        assert_eq!(info.score.and_then(score::mate_distance), Some(-2));
        assert_eq!(info.line, "e2e4 e7e5");
        assert!(!read_info(&mut info, "multipv 2 score cp 5".split(' ')));
        assert!(!read_info(&mut info, "currmove e2e4 currmovenumber 1".split(' ')));
        for (value, distance) in [(1, 1), (3, 3), (-1, -1), (-4, -4)] {
            let score = read_score("mate", value).expect("a score");
            assert_eq!(score::mate_distance(score), Some(distance));
        }
        assert!(read_score("mate", i32::MIN).is_some() && read_score("cp", i32::MIN).is_some());
    }
}
