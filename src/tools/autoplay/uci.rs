//! The match runner's side of the Universal Chess Interface (UCI). Source: the specification by
//! Stefan Meyer-Kahlen,
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::chess::position::{Color, Game, Move, Position};
use crate::engine::search::Bound;
use crate::games::book::ENDED;
use crate::protocols::uci::{self, Command, Go, Reply, Start};

use super::clock::{Clock, MoveLimits};
use super::config::EngineConfig;
use super::process::Process;
use super::protocol_adapter::{
    BookComment, EngineError, KnownOption, OptionRange, PlayerEvent, ProtocolAdapter, SearchInfo,
    Setup, Turn, read_until, unknown_option,
};

/// The maximum time that an engine may take to start or to prepare for a new game (for example, by
/// clearing its tables).
const START_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq)]
enum UciState {
    Idle,
    Thinking,
    /// The engine is pondering on this expected reply.
    Pondering(Move),
}

#[derive(Debug)]
pub(super) struct Uci {
    process: Process,
    options: Vec<(String, String)>,
    init: Vec<String>,
    ponder: bool,
    name: Option<String>,
    /// The engine's options, keyed by lower-case name.
    known: BTreeMap<String, KnownOption>,
    state: UciState,
    info: SearchInfo,
}

impl Uci {
    pub(super) fn new(config: &EngineConfig, process: Process) -> Self {
        Uci {
            process,
            options: config.options.clone(),
            init: config.init.clone(),
            ponder: config.ponder,
            name: None,
            known: BTreeMap::new(),
            state: UciState::Idle,
            info: SearchInfo::default(),
        }
    }

    fn send_options(&mut self) -> Result<(), EngineError> {
        if let Some(option) = self.known.get("ponder").filter(|_| self.ponder) {
            let value = Some("true".to_owned());
            self.process.send(Command::SetOption { name: option.name.clone(), value })?;
        }
        let options = std::mem::take(&mut self.options);
        self.set_options(&options)?;
        for line in &self.init {
            self.process.send(line)?;
        }
        Ok(())
    }

    /// Returns the engine's UCI option called `name`. The names of xboard settings are also
    /// accepted.
    fn known(&self, name: &str) -> Result<&KnownOption, EngineError> {
        let known = self.known.get(alias(name).to_lowercase().as_str());
        known.ok_or_else(|| unknown_option(name, self.known.values()))
    }

    fn ready(&mut self, deadline: Instant) -> Result<(), EngineError> {
        self.process.send(Command::IsReady)?;
        read_until(&mut self.process, deadline, "readyok", |line| {
            Reply::from(line) == Reply::ReadyOk
        })
    }

    /// Stops the search, if one is running, and waits for `bestmove`, which the protocol requires
    /// before the next search.
    fn end_search(&mut self, deadline: Instant) -> Result<(), EngineError> {
        if self.state != UciState::Idle {
            self.process.send(Command::Stop)?;
            let is_move = |line: &str| matches!(Reply::from(line), Reply::BestMove { .. });
            read_until(&mut self.process, deadline, "bestmove", is_move)?;
            self.state = UciState::Idle;
        }
        Ok(())
    }
}

/// Maps the name of an xboard setting to that of the corresponding UCI option. Other names are
/// returned unchanged.
fn alias(name: &str) -> &str {
    match name {
        "memory" => "Hash",
        "cores" => "Threads",
        name => name,
    }
}

/// Parses the part of an option declaration that follows `type`. If a bound of a `spin` option is
/// missing, the range is unlimited on that side.
fn range(kind: &str) -> OptionRange {
    let words: Vec<&str> = kind.split_whitespace().collect();
    let limit = |name: &str| {
        let at = words.iter().position(|&word| word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    match words.first() {
        Some(&"spin") => {
            OptionRange::Whole(limit("min").unwrap_or(i64::MIN), limit("max").unwrap_or(i64::MAX))
        }
        Some(&"string") => OptionRange::Text,
        Some(&"button") => OptionRange::Button,
        other => OptionRange::Other(other.unwrap_or(&"unknown").to_string()),
    }
}

/// Returns the `position` command for a game. If `extra` is given, it is appended as the move on
/// which to ponder.
fn position(game: &Game, extra: Option<Move>) -> Command {
    let start = match *game.start() == Position::start() {
        true => Start::Usual,
        false => Start::Fen(game.start().fen()),
    };
    let moves = game.moves().iter().chain(&extra).map(Move::to_string).collect();
    Command::Position { start, moves }
}

/// Returns the `go` command for a search with `color` to move and the limits in `turn`, or `go
/// ponder` if `ponder` is set.
fn go(turn: &Turn<'_>, color: Color, ponder: bool) -> Command {
    let MoveLimits { clock, move_time, depth, nodes } = turn.own.limits;
    let mut go = Go {
        ponder,
        move_time,
        depth: depth.map(|plies| i32::try_from(plies).unwrap_or(i32::MAX)),
        nodes,
        infinite: turn.own.limits == MoveLimits::default(),
        ..Go::default()
    };
    if clock.is_some() {
        let clocks = match color {
            Color::White => [turn.own, turn.other],
            Color::Black => [turn.other, turn.own],
        };
        let control = |clock: &Clock| clock.limits.clock;
        go.time = clocks.map(|clock| control(clock).map(|_| clock.remaining));
        go.increment = clocks.map(|clock| control(clock).map_or(Duration::ZERO, |c| c.increment));
        go.moves_to_go = turn.own.moves_to_go;
    }
    Command::Go(Box::new(go))
}

impl ProtocolAdapter for Uci {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    fn handshake(&mut self) -> Result<(), EngineError> {
        self.process.send(Command::Uci)?;
        let deadline = Instant::now() + START_TIMEOUT;
        read_until(&mut self.process, deadline, "uciok", |line| {
            match Reply::from(line) {
                Reply::Name(name) => self.name = Some(name),
                Reply::Option { name, kind } => {
                    let option = KnownOption { range: range(&kind), name };
                    self.known.insert(option.name.to_lowercase(), option);
                }
                Reply::UciOk => return true,
                _ => {}
            }
            false
        })?;
        self.send_options()?;
        self.ready(deadline)
    }

    fn engine_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn option_range(&self, name: &str) -> Result<OptionRange, EngineError> {
        Ok(self.known(name)?.range.clone())
    }

    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), EngineError> {
        for (name, value) in options {
            let option = self.known(name)?;
            let (name, value) = (option.name.clone(), option.value(value)?);
            self.process.send(Command::SetOption { name, value })?;
        }
        Ok(())
    }

    fn reusable(&self) -> bool {
        true
    }

    fn begin(&mut self, _setup: &Setup<'_>) -> Result<(), EngineError> {
        self.process.send(Command::NewGame)?;
        self.ready(Instant::now() + START_TIMEOUT)
    }

    fn go(&mut self, turn: &Turn<'_>) -> Result<(), EngineError> {
        self.info = SearchInfo::default();
        let expected = match &self.state {
            UciState::Pondering(mv) => turn.game.moves().last() == Some(mv),
            _ => false,
        };
        if expected {
            self.process.send(Command::PonderHit)?;
        } else {
            self.end_search(Instant::now() + START_TIMEOUT)?;
            self.process.send(position(turn.game, None))?;
            self.process.send(go(turn, turn.game.position().side_to_move(), false))?;
        }
        self.state = UciState::Thinking;
        Ok(())
    }

    fn moved(&mut self, turn: &Turn<'_>, ponder: Option<Move>) -> Result<(), EngineError> {
        let Some(mv) = ponder.filter(|_| self.ponder) else { return Ok(()) };
        self.process.send(position(turn.game, Some(mv)))?;
        self.process.send(go(turn, !turn.game.position().side_to_move(), true))?;
        self.state = UciState::Pondering(mv);
        Ok(())
    }

    fn interpret(&mut self, line: &str) -> Option<PlayerEvent> {
        match Reply::from(line) {
            Reply::BestMove { mv, ponder } => {
                self.state = UciState::Idle;
                Some(PlayerEvent::Move { text: mv, ponder })
            }
            Reply::Info(infos) => {
                take_over(&mut self.info, *infos).then(|| PlayerEvent::Thinking(self.info.clone()))
            }
            _ => None,
        }
    }

    fn move_now(&mut self) -> Result<(), EngineError> {
        Ok(self.process.send(Command::Stop)?)
    }

    fn offer_draw(&mut self) -> Result<(), EngineError> {
        // UCI does not support draw offers.
        Ok(())
    }

    fn finish(
        &mut self,
        _result: &str,
        _comment: &str,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.end_search(deadline)?;
        self.ready(deadline)
    }
}

/// Updates `info` with the data of an `info` line, unless the line belongs to a secondary
/// variation. Returns whether the line has a score, moves or a comment about the book.
fn take_over(info: &mut SearchInfo, infos: uci::Info) -> bool {
    if infos.multi_pv.is_some_and(|number| number != 1) {
        return false;
    }
    let is_ending = infos.text.as_deref().is_some_and(|text| text.starts_with(ENDED));
    match infos.text.as_deref().and_then(BookComment::read) {
        Some(BookComment::Move) => info.book = true,
        // Ignore remarks about variations that reached the book without ending the search.
        Some(BookComment::Ending(how)) if is_ending => info.ending = how,
        _ => {}
    }
    let is_remark = infos.text.is_some_and(|_| info.book || is_ending);
    let is_new = infos.score.is_some() || infos.line.is_some() || is_remark;
    info.depth = infos.depth.map_or(info.depth, |plies| u32::try_from(plies).unwrap_or(u32::MAX));
    info.nodes = infos.nodes.unwrap_or(info.nodes);
    info.elapsed = infos.elapsed.unwrap_or(info.elapsed);
    info.selective_depth = infos.selective_depth.or(info.selective_depth);
    info.speed = infos.speed.or(info.speed);
    info.hash_full = infos.hash_full.or(info.hash_full);
    info.tablebase_hits = infos.tablebase_hits.or(info.tablebase_hits);
    let exact = infos.score.filter(|&(_, bound)| bound == Bound::Exact);
    info.score = exact.map(|(score, _)| score).or(info.score);
    info.line = infos.line.unwrap_or_else(|| std::mem::take(&mut info.line));
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(control: &str) -> Clock {
        let clock = Some(control.parse().expect(control));
        Clock::new(MoveLimits { clock, ..MoveLimits::default() }, Duration::ZERO)
    }

    #[test]
    fn go_sends_both_clocks() {
        let (own, other) = (clock("40/60+0.5"), clock("10"));
        let game = Game::default();
        let turn = Turn { game: &game, own: &own, other: &other };
        assert_eq!(
            go(&turn, Color::Black, false).to_string(),
            "go wtime 10000 btime 60000 binc 500 movestogo 40"
        );
        let limits = MoveLimits { depth: Some(5), nodes: Some(7), ..MoveLimits::default() };
        let own = Clock::new(limits, Duration::ZERO);
        let turn = Turn { game: &game, own: &own, other: &other };
        assert_eq!(go(&turn, Color::White, true).to_string(), "go ponder depth 5 nodes 7");
    }

    #[test]
    fn position_is_sent_with_its_moves() {
        let position = |game: &Game, extra| position(game, extra).to_string();
        let mut game = Game::default();
        assert_eq!(position(&game, None), "position startpos");
        game.play("e2e4".parse().expect("a move")).expect("legal");
        let reply = "e7e5".parse().expect("a move");
        assert_eq!(position(&game, Some(reply)), "position startpos moves e2e4 e7e5");
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 9";
        let game = Game::new(Position::from_fen(fen).expect(fen));
        assert_eq!(position(&game, None), format!("position fen {fen}"));
    }

    #[test]
    fn option_ranges_are_parsed() {
        assert_eq!(range("spin default 3 min -1 max 9"), OptionRange::Whole(-1, 9));
        assert_eq!(range("spin"), OptionRange::Whole(i64::MIN, i64::MAX));
        assert_eq!(range("spin max x"), OptionRange::Whole(i64::MIN, i64::MAX));
        assert_eq!(range("string default min"), OptionRange::Text);
        assert_eq!(range("button"), OptionRange::Button);
        assert_eq!(range("check default true"), OptionRange::Other("check".to_owned()));
        assert_eq!(range(""), OptionRange::Other("unknown".to_owned()));
    }

    #[test]
    fn info_lines_are_parsed() {
        let mut info = SearchInfo::default();
        let mut accept = |line: &str| match Reply::from(line) {
            Reply::Info(infos) => take_over(&mut info, *infos),
            other => panic!("{other}"),
        };
        assert!(!accept("info multipv 2 score cp 5"));
        assert!(!accept("info currmove e2e4 currmovenumber 1"));
        assert!(!accept("info string thinking") && accept("info string From Book"));
        assert!(accept(
            "info depth 9 seldepth 12 score mate -2 upperbound nodes 77 nps 5 time 12 pv e2e4 e7e5"
        ));
        assert_eq!((info.depth, info.nodes, info.elapsed.as_millis()), (9, 77, 12));
        assert_eq!((info.selective_depth, info.speed), (Some(12), Some(5)));
        assert_eq!((info.hash_full, info.tablebase_hits), (None, None));
        assert_eq!(info.score, None, "a bound is not a score");
        assert!(info.line == "e2e4 e7e5" && info.book);
        let mut accept = |line: &str| match Reply::from(line) {
            Reply::Info(infos) => take_over(&mut info, *infos),
            other => panic!("{other}"),
        };
        assert!(
            accept("info depth 9 score mate -2") && accept("info depth 10 score cp 7 lowerbound")
        );
        assert_eq!(info.score.and_then(crate::chess::score::mate_distance), Some(-2));
        let mut info = SearchInfo::default();
        let mut accept = |line: &str| match Reply::from(line) {
            Reply::Info(infos) => take_over(&mut info, *infos),
            other => panic!("{other}"),
        };
        let met = "transposes to the book after 1 ply: d4 (2 games)";
        assert!(!accept("info string transposes to the book after 1 ply: e4 (3 games)"));
        assert!(accept(&format!("info string ended in the book: {met}")));
        assert!(
            !info.book && info.ending == met,
            "a search that finds the book is not a book move"
        );
    }
}
