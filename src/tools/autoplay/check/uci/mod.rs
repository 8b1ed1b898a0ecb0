//! The UCI handshake, and searches in which all output is checked.

mod info;
mod options;
mod positions;
mod probes;

use std::time::{Duration, Instant};

use super::Finding;
use super::conversation::{self, Handshake};
use crate::chess::position::Position;
use crate::protocols::uci::{Command, Info, Reply};

pub(super) use probes::PROBES;

/// The declarations that an engine sends in reply to `uci`.
#[derive(Default)]
pub(super) struct Declarations {
    has_name: bool,
    has_author: bool,
    /// The lines that declare options.
    options: Vec<String>,
    is_complete: bool,
}

type Conversation = conversation::Conversation<Declarations>;

impl Handshake for Declarations {
    type Reply = Reply;

    const NEW_GAME: &'static str = "ucinewgame";
    const LONG_SEARCH: &'static [&'static str] = &["position startpos", "go infinite"];

    fn perform(conversation: &mut Conversation) {
        conversation.send("uci");
        let deadline = Instant::now() + conversation.patience;
        while let Some(line) = conversation.next(deadline) {
            let declared = &mut conversation.handshake;
            match Reply::from(line.as_str()) {
                Reply::Name(name) => declared.has_name |= !name.is_empty(),
                Reply::Author(name) => declared.has_author |= !name.is_empty(),
                Reply::UciOk => {
                    declared.is_complete = true;
                    return;
                }
                _ if line.split_whitespace().next() == Some("option") => {
                    declared.options.push(line);
                }
                _ => {}
            }
        }
    }

    fn is_usable(&self) -> bool {
        self.is_complete
    }

    fn option(name: String, value: Option<String>) -> String {
        Command::SetOption { name, value }.to_string()
    }

    fn unsolicited(_conversation: &Conversation) -> Vec<Finding> {
        // In UCI, there is no output that an engine must never send: it has no rules for standard
        // error, and GUIs ignore unknown lines.
        Vec::new()
    }
}

/// The arguments of a `position` command.
#[derive(Debug, Clone, Copy)]
struct Setup<'a> {
    /// The FEN of the starting position, or an empty string for the usual one.
    fen: &'a str,
    /// The moves played from the starting position, separated by spaces.
    moves: &'a str,
}

impl<'a> Setup<'a> {
    const fn fen(fen: &'a str) -> Self {
        Setup { fen, moves: "" }
    }

    fn command(&self) -> String {
        let start = if self.fen.is_empty() { "startpos" } else { &format!("fen {}", self.fen) };
        let word = if self.moves.is_empty() { "" } else { " moves " };
        format!("position {start}{word}{}", self.moves)
    }

    /// Returns the position after the moves. The unit tests in `positions` check that all moves are
    /// legal.
    fn position(&self) -> Position {
        let start = Position::from_fen(self.fen).unwrap_or_else(|_| Position::start());
        let moves = self.moves.split_whitespace();
        moves.fold(start, |position, text| {
            position.parse_move(text).map_or(position, |mv| position.play(mv))
        })
    }
}

/// The output of a completed search.
struct Search {
    infos: Vec<String>,
    best: String,
    /// The time from sending the last command until `bestmove`.
    elapsed: Duration,
}

impl Search {
    fn parsed(&self) -> impl Iterator<Item = Info> {
        self.infos.iter().filter_map(|line| match Reply::from(line.as_str()) {
            Reply::Info(info) => Some(*info),
            _ => None,
        })
    }
}

const READY: &str = "isready must be answered by readyok, whatever was sent before";
const BEST_MOVE: &str = "every go must be answered by bestmove";
const LEGAL: &str = "bestmove must be a legal move in coordinates, such as e1g1 or e7e8q";
const NO_MOVE: &str = "in a position without legal moves, bestmove must be 0000 or (none)";
const LEGAL_PONDER: &str = "the move after ponder must be legal after bestmove";
const AFTER: &str = "after bestmove, no further bestmove or info may follow until the next go";

/// Returns whether a line may occur only during a search. `info string` lines may occur at any
/// time.
fn is_search_output(line: &str) -> bool {
    match Reply::from(line) {
        Reply::BestMove { .. } => true,
        Reply::Info(info) => info.text.is_none(),
        _ => false,
    }
}

fn is_best_move(reply: &Reply) -> bool {
    matches!(reply, Reply::BestMove { .. })
}

impl Conversation {
    /// Sends `isready`. Returns the lines that precede `readyok`.
    fn ready(&mut self) -> Result<Vec<String>, Finding> {
        self.ready_by(READY)
    }

    fn ready_by(&mut self, rule: &'static str) -> Result<Vec<String>, Finding> {
        self.send("isready");
        let deadline = Instant::now() + self.patience;
        let mut lines = Vec::new();
        while let Some(line) = self.next(deadline) {
            if Reply::from(line.as_str()) == Reply::ReadyOk {
                return Ok(lines);
            }
            lines.push(line);
        }
        Err(self.missing("readyok", rule))
    }

    fn start_search(&mut self, setup: Setup<'_>, limits: &str) {
        self.send(&setup.command());
        self.send(&format!("go {limits}"));
    }

    fn search(&mut self, setup: Setup<'_>, limits: &str) -> Result<Search, Finding> {
        self.start_search(setup, limits);
        self.finish_search(setup, BEST_MOVE)
    }

    /// Waits for `bestmove`, and reports errors in the output of the search. If `bestmove` does not
    /// arrive, `rule` is reported as the violated rule.
    fn finish_search(&mut self, setup: Setup<'_>, rule: &'static str) -> Result<Search, Finding> {
        let start = self.process.sent_at();
        let deadline = Instant::now() + self.patience;
        let mut infos = Vec::new();
        let (best, ponder) = loop {
            let Some(line) = self.next(deadline) else {
                return Err(self.missing("bestmove", rule));
            };
            match Reply::from(line.as_str()) {
                Reply::BestMove { mv, ponder } => break (mv, ponder),
                Reply::Info(_) => infos.push(line),
                _ => {}
            }
        };
        let elapsed = self.arrived.saturating_duration_since(start);
        if let Some(line) = self.ready()?.into_iter().find(|line| is_search_output(line)) {
            self.report(line, AFTER);
        }
        let position = setup.position();
        match info::legal(&position, &best) {
            Some(mv) => {
                let after = position.play(mv);
                if let Some(reply) = ponder.filter(|reply| info::legal(&after, reply).is_none()) {
                    self.report(format!("bestmove {best} ponder {reply}"), LEGAL_PONDER);
                }
            }
            None if !position.has_no_moves() => self.report(format!("bestmove {best}"), LEGAL),
            None if ["0000", "(none)"].contains(&best.as_str()) => {}
            None => self.report(format!("bestmove {best}"), NO_MOVE),
        }
        for (line, rule) in info::faults(&infos, &position) {
            self.report(line, rule);
        }
        Ok(Search { infos, best, elapsed })
    }
}
