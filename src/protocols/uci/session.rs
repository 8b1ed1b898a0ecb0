//! The engine's side of the protocol: executes the GUI's commands, and sends the engine's events as
//! replies.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use crate::chess::position::{Color, Game, Move, Position};
use crate::chess::score::DRAW;
use crate::engine::controller::{
    BackgroundEvent, Engine, Event, Flow, Frontend, Input, Kind, Mode, MoveReason, OrderedResult,
    PERFT_DEPTHS, PerftCount, Queue, SearchProgress, Setting, SettingError, Settings, all_settings,
};
use crate::engine::search::{Bound, Limits, SearchResult, TimeLimit};
use crate::games::book::ENDED;
use crate::support::words::clip;

use super::command::{Command, Go, Start};
use super::lag::LagMeter;
use super::reply::{Info, Reply};
use super::win_rate::win_rate;

pub(crate) struct Session<W> {
    engine: Engine,
    out: W,
    /// Whether an `isready` is still unanswered.
    asked: bool,
    /// Commands that arrived during a search. They are executed when the search has ended.
    waiting: VecDeque<Command>,
    debug: bool,
    startup_warnings: Option<String>,
    count: Option<PerftCount>,
    /// Whether the running search was probably started by a script: it has limits, but no game
    /// clock, and is not pondering.
    is_scripted: bool,
    lag: LagMeter,
}

/// How long to search if every given limit is invalid. The GUI still expects a move.
const UNREADABLE_BOUNDS_TIME: Duration = Duration::from_secs(1);

impl<W: Write> Session<W> {
    pub(crate) fn new(mut engine: Engine, out: W) -> Self {
        engine.force();
        let waiting = VecDeque::new();
        Session {
            engine,
            out,
            asked: false,
            waiting,
            debug: false,
            startup_warnings: None,
            count: None,
            is_scripted: false,
            lag: LagMeter::default(),
        }
    }

    pub(crate) fn with_startup_warnings(self, startup_warnings: Option<String>) -> Self {
        Session { startup_warnings, ..self }
    }

    fn send(&mut self, reply: &Reply) -> io::Result<()> {
        log::debug!("> {reply}");
        writeln!(self.out, "{reply}")
    }

    fn send_info_string(&mut self, text: &str) -> io::Result<()> {
        self.send(&Reply::remark(text))
    }

    fn line(&mut self, line: &str) -> io::Result<Flow> {
        log::debug!("< {line}");
        let parsed = line.parse();
        if parsed.is_err() && self.debug {
            self.send_info_string(&format!("unknown command: {}", clip(line)))?;
        }
        let command = parsed.unwrap_or(Command::Ignored);
        if command == Command::Quit {
            self.finish_count()?;
            return Ok(Flow::Quit);
        }
        if self.comes_too_early(&command) {
            self.waiting.push_back(command);
        } else {
            self.execute(command)?;
        }
        self.flush()?;
        Ok(Flow::Continue)
    }

    /// Whether a command has to wait until the current search has ended, or until commands that are
    /// already waiting have been executed.
    fn comes_too_early(&self, command: &Command) -> bool {
        match command {
            Command::NewGame
            | Command::SetOption { .. }
            | Command::Position { .. }
            | Command::Go(_) => self.is_busy(),
            Command::Stop | Command::PonderHit => !self.waiting.is_empty(),
            Command::Uci
            | Command::IsReady
            | Command::Debug(_)
            | Command::Display
            | Command::Quit
            | Command::Ignored => false,
        }
    }

    fn is_busy(&self) -> bool {
        self.count.is_some() || self.engine.mode() == Mode::Thinking
    }

    fn execute(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Uci => self.send_introduction()?,
            Command::IsReady => self.asked = true,
            Command::NewGame => {
                self.lag.forget_turn();
                self.engine.new_game();
                self.engine.force();
            }
            Command::SetOption { name, value } => {
                let value = value.unwrap_or_default();
                if name.eq_ignore_ascii_case(CHESS960) {
                    self.set_chess960(&value)?;
                } else if let Err(error) = self.set_option(&name, &value) {
                    self.send_info_string(&format!("cannot set option {name}: {error}"))?;
                }
            }
            Command::Position { start, moves } => self.set_position(&start, &moves)?,
            Command::Go(go) => match go.perft {
                Some(depth) => self.begin_count(depth)?,
                None => self.go(&go)?,
            },
            Command::Stop => self.stop(),
            Command::PonderHit => self.engine.ponder_hit(),
            Command::Display => self.display()?,
            Command::Debug(on) => self.debug = on,
            Command::Quit | Command::Ignored => {}
        }
        Ok(())
    }

    fn send_introduction(&mut self) -> io::Result<()> {
        self.send(&Reply::Name(format!("Tabia {}", env!("CARGO_PKG_VERSION"))))?;
        self.send(&Reply::Author("the Tabia authors".to_owned()))?;
        for row in all_settings().filter(|row| !row.uci.is_empty()) {
            let option = declaration(row, self.engine.settings());
            self.send(&option)?;
        }
        self.send(&Reply::UciOk)?;
        self.send_startup_warnings()
    }

    fn send_startup_warnings(&mut self) -> io::Result<()> {
        self.startup_warnings
            .take()
            .map_or(Ok(()), |startup_warnings| self.send_info_string(&startup_warnings))
    }

    fn stop(&mut self) {
        self.count.iter().for_each(PerftCount::stop);
        self.engine.move_now();
    }

    /// Starts a perft count. Until it ends, commands that change the engine's state have to wait.
    fn begin_count(&mut self, depth: u32) -> io::Result<()> {
        if self.engine.is_broken() || !PERFT_DEPTHS.contains(&depth) {
            let most = PERFT_DEPTHS.end();
            return self.send_info_string(&format!(
                "go perft: expected a position and a depth up to {most}"
            ));
        }
        match PerftCount::begin(*self.engine.position(), depth, self.engine.event_sender()) {
            Ok(count) => self.count = Some(count),
            Err(error) => self.send_info_string(&format!("cannot count moves: {error}"))?,
        }
        Ok(())
    }

    /// Prints the perft count of each root move in Stockfish's format, because tools compare the
    /// output of different engines.
    fn print_count(&mut self) -> io::Result<()> {
        let Some(count) = &mut self.count else { return Ok(()) };
        let counted = count.take();
        for (mv, nodes) in counted.moves {
            self.send(&Reply::Other(format!("{mv}: {nodes}")))?;
        }
        if let Some(end) = counted.end {
            self.count = None;
            if end.stopped {
                self.send_info_string("go perft: stopped; the sum covers the moves above")?;
            }
            self.send(&Reply::Other(format!("\nNodes searched: {}", end.nodes)))?;
        }
        Ok(())
    }

    /// Waits until the perft count ends. Scripts send `quit` immediately after `go perft N`, and
    /// still expect the result.
    fn finish_count(&mut self) -> io::Result<()> {
        while self.count.is_some()
            && let Ok(background_event) = self.engine.background_events().messages.recv()
        {
            self.engine.receive(background_event);
            self.print_count()?;
        }
        self.out.flush()
    }

    /// Completes all searches and sends their replies after the input has ended. Searches that were
    /// probably started by a script run to their end, because the script may still be waiting.
    /// Other searches are stopped, because the GUI that started them has exited.
    fn finish(&mut self) -> io::Result<()> {
        loop {
            if self.engine.mode() == Mode::Thinking && !self.is_scripted {
                self.engine.move_now();
            }
            if !self.is_busy() && self.waiting.is_empty() {
                // Send the remaining replies now, because no further event might arrive to trigger
                // this.
                return self.flush();
            }
            let Ok(background_event) = self.engine.background_events().messages.recv() else {
                return Ok(());
            };
            self.engine.receive(background_event);
            self.flush()?;
        }
    }

    /// Prints the position, in a format from which tools can extract the FEN and the key.
    fn display(&mut self) -> io::Result<()> {
        if self.engine.is_broken() {
            return self.send_info_string("cannot print the position: the last one was illegal");
        }
        let text = display(self.engine.position());
        self.send(&Reply::Other(text))
    }

    /// Reports that Chess960 is not supported, unless `value` is `false`.
    fn set_chess960(&mut self, value: &str) -> io::Result<()> {
        if value.eq_ignore_ascii_case("false") {
            Ok(())
        } else {
            self.send_info_string(NO_CHESS960)
        }
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        match Setting::find(name) {
            Some(row) if !row.uci.is_empty() => self.engine.set_option(name, value),
            _ => Err(SettingError::Unknown),
        }
    }

    /// Sets the position to search. The first illegal move and all moves after it are ignored. If
    /// the start position is invalid, no search runs until another position is set.
    fn set_position(&mut self, start: &Start, moves: &[String]) -> io::Result<()> {
        let start = match start {
            Start::Usual => Ok(Position::start()),
            Start::Fen(fen) => Position::from_orthodox_fen(fen).map_err(|error| error.to_string()),
            Start::Missing => Err("expected startpos or fen".to_owned()),
        };
        let start = match start {
            Ok(start) => start,
            Err(error) => {
                self.engine.set_illegal_position();
                return self.send_info_string(&format!("cannot set the position: {error}"));
            }
        };
        let mut game = Game::new(start);
        let illegal = moves.iter().find(|text| {
            let mv = text.parse::<Move>();
            !mv.is_ok_and(|mv| game.play(mv).is_ok())
        });
        self.engine.set_game(game);
        illegal.map_or(Ok(()), |text| {
            self.send_info_string(&format!("cannot make the move {}: it is illegal", clip(text)))
        })
    }

    fn go(&mut self, go: &Go) -> io::Result<()> {
        for garbled in &go.garbled {
            self.send_info_string(&format!("go: ignored, not a number: {}", clip(garbled)))?;
        }
        if self.engine.is_broken() {
            return self.send_best_move(None, None);
        }
        let mut limits = limits(go, self.engine.position(), self.engine.settings());
        if go.has_lost_its_bounds(side_index(self.engine.position())) {
            limits.time = TimeLimit::MoveTime(UNREADABLE_BOUNDS_TIME);
            let seconds = UNREADABLE_BOUNDS_TIME.as_secs();
            self.send_info_string(&format!("go: no limit is valid; searching for {seconds} s"))?;
        }
        if limits.root_moves.is_empty() && !go.search_moves.is_empty() {
            self.send_info_string("go: searchmoves contains no legal move; searching all moves")?;
        }
        self.is_scripted = is_scripted(&limits);
        limits.time = self.lag.begin_turn(limits.time, self.engine.position());
        if limits.ponder {
            // The clock starts only when the opponent moves, so the time used by this turn is
            // unknown and cannot be used to measure the lag.
            self.lag.forget_turn();
        }
        self.engine.search(limits);
        Ok(())
    }

    /// Sends the replies to pending events, and executes commands that were waiting for a search to
    /// end.
    fn flush(&mut self) -> io::Result<()> {
        loop {
            if !self.waiting.is_empty() {
                // A command is waiting for the search to end, so stop it. Its `bestmove` is still
                // sent, because GUIs expect one for every `go`.
                self.engine.move_now();
            }
            self.send_events()?;
            self.print_count()?;
            if self.is_busy() {
                break;
            }
            let Some(command) = self.waiting.pop_front() else { break };
            self.execute(command)?;
        }
        if self.asked && (self.engine.is_done() || self.engine.status().is_some()) {
            self.asked = false;
            self.send(&Reply::ReadyOk)?;
        }
        self.out.flush()
    }

    fn send_events(&mut self) -> io::Result<()> {
        for event in self.engine.take_events() {
            match event {
                Event::Report(progress) => {
                    let info = info(&progress, self.engine.settings().show_wdl);
                    self.send(&info)?;
                }
                Event::Transposed(found) => self.send_info_string(&found.describe())?,
                Event::OrderedResult(found) => self.found(&found)?,
                Event::Note(note) => self.send_info_string(note)?,
                Event::BookFailed(why) | Event::Fault(why) | Event::Vetoed(why) => {
                    self.send_info_string(&why)?;
                }
                // UCI has no messages for these events.
                Event::Moved(_)
                | Event::Pondering(_)
                | Event::Over(_)
                | Event::OfferDraw
                | Event::Resigned
                | Event::Pong(_) => {}
            }
        }
        Ok(())
    }

    fn found(&mut self, found: &OrderedResult) -> io::Result<()> {
        self.lag.end_turn(found.move_reason.planned());
        if let MoveReason::Search(SearchResult { book: Some(met), .. }) = &found.move_reason {
            self.send_info_string(&format!("{ENDED}{}", met.describe(self.engine.position())))?;
        }
        if let MoveReason::Book(choice) = &found.move_reason {
            self.send_info_string(&choice.describe(self.engine.position()))?;
            // A book move has no score. Send 0, because GUIs that show or record the last score
            // need one.
            self.send(&Reply::Info(Box::new(Info {
                depth: Some(0),
                score: Some((DRAW, Bound::Exact)),
                nodes: Some(0),
                elapsed: Some(Duration::ZERO),
                line: Some(choice.mv.to_string()),
                ..Info::default()
            })))?;
        }
        let position = self.engine.position();
        let known = match &found.move_reason {
            MoveReason::Analysed(value) => Some((value.as_move_reason(position), value)),
            MoveReason::Learned(unrefuted) => {
                Some((unrefuted.describe(position), &unrefuted.value))
            }
            MoveReason::Book(_) | MoveReason::Search(_) => None,
        };
        if let Some((why, value)) = known {
            self.send_info_string(&why)?;
            self.send(&Reply::Info(Box::new(Info {
                depth: u64::try_from(value.depth).ok(),
                score: Some((value.score, Bound::Exact)),
                nodes: Some(0),
                elapsed: Some(Duration::ZERO),
                line: value.best.map(|mv| mv.to_string()),
                ..Info::default()
            })))?;
        }
        self.send_best_move(found.mv, found.ponder)
    }

    /// Ends a search by sending the best move, or the null move `0000` if there is no legal move.
    fn send_best_move(&mut self, mv: Option<Move>, ponder: Option<Move>) -> io::Result<()> {
        let mv = mv.map_or_else(|| "0000".to_owned(), |mv| mv.to_string());
        self.send(&Reply::BestMove { mv, ponder: ponder.map(|mv| mv.to_string()) })
    }
}

impl<W: Write + Send> Frontend for Session<W> {
    fn input(&mut self, input: Input) -> io::Result<Flow> {
        match input {
            Input::Line(line) => self.line(&line),
            Input::TooLong(_) => {
                self.send_info_string("line too long, ignored")?;
                self.out.flush()?;
                Ok(Flow::Continue)
            }
            Input::End => {
                self.send_startup_warnings()?;
                self.finish()?;
                Ok(Flow::Quit)
            }
            Input::Leave => {
                self.send_startup_warnings()?;
                self.waiting.clear();
                self.stop();
                self.finish()?;
                Ok(Flow::Quit)
            }
        }
    }

    fn handle_background_event(&mut self, background_event: BackgroundEvent) -> io::Result<()> {
        self.engine.receive(background_event);
        self.flush()
    }

    fn background_events(&self) -> Queue<BackgroundEvent> {
        self.engine.background_events().clone()
    }
}

/// The option that GUIs set to turn on Chess960. Tabia does not declare it, because it supports
/// only orthodox chess.
const CHESS960: &str = "UCI_Chess960";
const NO_CHESS960: &str = "cannot play Chess960: Tabia supports only orthodox chess";

/// Draws the board as a text diagram with White at the bottom, followed by the FEN, the key and the
/// checking pieces.
fn display(position: &Position) -> String {
    const LINE: &str = " +---+---+---+---+---+---+---+---+\n";
    let mut text = format!("\n{LINE}");
    for rank in (0..8).rev() {
        for file in 0..8 {
            let square = chess::ALL_SQUARES[8 * rank + file];
            let color = position.board().color_on(square);
            let piece = position.piece_on(square).zip(color);
            let letter = piece.map_or(" ".to_owned(), |(piece, color)| piece.to_string(color));
            text.push_str(&format!(" | {letter}"));
        }
        text.push_str(&format!(" | {}\n{LINE}", rank + 1));
    }
    let checkers: Vec<String> = position.checkers().map(|square| square.to_string()).collect();
    let (key, checkers) = (position.key(), checkers.join(" "));
    text + &format!(
        "   a   b   c   d   e   f   g   h\n\nFen: {position}\nKey: {key:016X}\nCheckers: {checkers}"
    )
}

fn is_scripted(limits: &Limits) -> bool {
    let bounded = limits.depth.is_some() || limits.nodes.is_some() || limits.mate.is_some();
    match limits.time {
        TimeLimit::MoveTime(_) => !limits.ponder,
        TimeLimit::Infinite => bounded && !limits.ponder,
        TimeLimit::Clock { .. } => false,
    }
}

fn side_index(position: &Position) -> usize {
    usize::from(position.side_to_move() == Color::Black)
}

fn limits(go: &Go, position: &Position, settings: &Settings) -> Limits {
    let side = side_index(position);
    let time = match (go.move_time, go.time[side]) {
        _ if go.infinite => TimeLimit::Infinite,
        (Some(time), _) => TimeLimit::MoveTime(time),
        (None, Some(remaining)) => TimeLimit::Clock {
            remaining,
            increment: go.increment[side],
            moves_to_go: go.moves_to_go,
        },
        (None, None) => TimeLimit::Infinite,
    };
    let root_moves = go.search_moves.iter().filter_map(|text| text.parse().ok());
    Limits {
        depth: go.depth,
        nodes: go.nodes,
        mate: go.mate.map(|moves| moves.max(1).unsigned_abs()),
        time,
        root_moves: root_moves.filter(|&mv| position.is_legal(mv)).collect(),
        multi_pv: settings.lines.unsigned_abs() as usize,
        ponder: go.ponder,
        ..Limits::default()
    }
}

fn declaration(row: &Setting, settings: &Settings) -> Reply {
    let text = |value: &str| if value.is_empty() { "<empty>".to_owned() } else { value.to_owned() };
    let kind = match &row.kind {
        Kind::Check { get, .. } => format!("check default {}", get(settings)),
        Kind::Spin { min, max, get, .. } => {
            format!("spin default {} min {min} max {max}", get(settings))
        }
        Kind::Choice { choices, get, .. } => {
            let vars: Vec<String> = choices.iter().map(|choice| format!(" var {choice}")).collect();
            format!("combo default {}{}", choices[get(settings)], vars.concat())
        }
        Kind::File { get, .. } | Kind::Folder { get, .. } => {
            format!("string default {}", text(get(settings)))
        }
        Kind::ClearMemory => "button".to_owned(),
    };
    Reply::Option { name: row.uci.to_owned(), kind }
}

/// Converts a search report to an `info` line. If `show_wdl` is true, it includes win, draw and
/// loss probabilities.
fn info(progress: &SearchProgress, show_wdl: bool) -> Reply {
    let report = &progress.report;
    let microseconds = report.elapsed.as_micros().max(1);
    let speed = u128::from(report.nodes) * 1_000_000 / microseconds;
    let moves: Vec<String> = report.pv.iter().map(Move::to_string).collect();
    Reply::Info(Box::new(Info {
        depth: u64::try_from(report.depth).ok(),
        selective_depth: Some(report.selective_depth as u64),
        multi_pv: Some(report.multi_pv as u64),
        score: Some((report.score, report.bound)),
        chances: show_wdl.then(|| win_rate(report.score, &progress.position)),
        nodes: Some(report.nodes),
        speed: u64::try_from(speed).ok(),
        hash_full: Some(report.hash_full.into()),
        tablebase_hits: Some(report.tablebase_hits),
        elapsed: Some(report.elapsed),
        line: (!moves.is_empty()).then(|| moves.join(" ")),
        text: None,
    }))
}
