//! The interface between the match runner and the engine protocols.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::chess::position::{Game, Move};
use crate::chess::score::Score;
use crate::games::book::{ANALYSED, ENDED, MEETS_BOOK};
use crate::support::words::visible;

use super::clock::Clock;
use super::process::{Process, Received};

/// The data that an engine needs at the start of a game.
#[derive(Debug)]
pub struct Setup<'a> {
    pub game: &'a Game,
    pub clock: &'a Clock,
    pub ponder: bool,
    pub opponent: &'a str,
}

/// The game and both clocks, from the engine's point of view.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub game: &'a Game,
    pub own: &'a Clock,
    pub other: &'a Clock,
}

/// Search information reported by an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchInfo {
    /// The last exact score (never a bound) from the engine's point of view, in centipawns or as a
    /// mate score.
    pub score: Option<Score>,
    /// The search depth in plies.
    pub depth: u32,
    pub nodes: u64,
    /// The search time measured by the engine.
    pub elapsed: Duration,
    /// The length, in plies, of the longest line searched.
    pub selective_depth: Option<u64>,
    /// Nodes per second.
    pub speed: Option<u64>,
    /// How full the transposition table is, in permille.
    pub hash_full: Option<u64>,
    /// The number of tablebase hits.
    pub tablebase_hits: Option<u64>,
    /// The principal variation, as written by the engine.
    pub line: String,
    /// Whether the engine reports that the move comes from its book.
    pub book: bool,
    /// The engine's description of how the book ended its search ([`BookComment::Ending`]). Empty
    /// if the book did not end it.
    pub ending: String,
}

impl SearchInfo {
    /// Updates the search information from an event. Returns `false` if the event contains none.
    pub fn take_in(&mut self, event: &PlayerEvent) -> bool {
        match event {
            PlayerEvent::Thinking(thinking) => {
                let before = std::mem::replace(self, thinking.clone());
                self.score = self.score.or(before.score);
                self.book |= before.book;
                if self.ending.is_empty() {
                    self.ending = before.ending;
                }
            }
            PlayerEvent::Book(BookComment::Move) => self.book = true,
            PlayerEvent::Book(BookComment::Ending(how)) => self.ending.clone_from(how),
            _ => return false,
        }
        true
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookComment {
    /// The move comes from the book.
    Move,
    /// The search ended because a line reached the book, or because the book contains an analysis
    /// of the root position. Contains the engine's description.
    Ending(String),
}

impl BookComment {
    /// Parses a comment about the book. Only Tabia reports that a search ended in the book, and
    /// such comments are recognised by their first words. Engines announce book moves in various
    /// ways, so any other comment that contains the word *book* is taken to announce one.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(ENDED).unwrap_or(text);
        if [MEETS_BOOK, ANALYSED].iter().any(|words| text.starts_with(words)) {
            return Some(BookComment::Ending(text.to_owned()));
        }
        let is_book = |word: &str| word.eq_ignore_ascii_case("book");
        text.split(|c: char| !c.is_alphanumeric()).any(is_book).then_some(BookComment::Move)
    }
}

/// An event in a game, reported by a line of engine output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerEvent {
    Move {
        /// The move, as written by the engine.
        text: String,
        /// The reply that the engine expects and would ponder on.
        ponder: Option<String>,
    },
    Thinking(SearchInfo),
    Book(BookComment),
    Resign,
    /// A draw offer, or the acceptance of one.
    OfferDraw,
    /// A claim that the game is over.
    Claim {
        /// The claimed result: `1-0`, `0-1` or `1/2-1/2`.
        result: String,
        /// The reason, as stated by the engine.
        comment: String,
    },
    /// The engine reports that the opponent's move is illegal. Contains the move as quoted by the
    /// engine.
    MoveRejected(String),
}

impl PlayerEvent {
    /// Returns whether the event ends the engine's turn, so that no further move is expected.
    pub fn ends_turn(&self) -> bool {
        matches!(
            self,
            PlayerEvent::Move { .. }
                | PlayerEvent::Resign
                | PlayerEvent::Claim { .. }
                | PlayerEvent::MoveRejected(_)
        )
    }
}

/// The values that an option accepts, as declared by the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionRange {
    /// Integers between the two values, inclusive.
    Whole(i64, i64),
    Text,
    /// The option has no value. Sending its name triggers an action.
    Button,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownOption {
    /// The name, as spelled by the engine.
    pub name: String,
    pub range: OptionRange,
}

impl KnownOption {
    /// Converts a value given by the user into the value to send. Returns `None` for a button,
    /// which has no value.
    pub(super) fn value(&self, given: &str) -> Result<Option<String>, EngineError> {
        let needs_value = match &self.range {
            OptionRange::Button => return Ok(None),
            OptionRange::Whole(..) => true,
            OptionRange::Other(kind) => ["check", "combo"].contains(&kind.as_str()),
            OptionRange::Text => false,
        };
        if needs_value && given.is_empty() {
            let problem = format!("needs a value for its option \"{}\"", self.name);
            return Err(EngineError::Unable(problem));
        }
        Ok(Some(given.to_owned()))
    }
}

/// Returns the error for an unknown option. The message lists the options that the engine has.
pub(super) fn unknown_option<'a>(
    name: &str,
    known: impl Iterator<Item = &'a KnownOption>,
) -> EngineError {
    let known: Vec<&str> = known.map(|option| option.name.as_str()).collect();
    let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    EngineError::Unable(format!("has no option \"{name}\" (it has: {has})"))
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    #[error("{}", visible(.0))]
    Dead(String),
    #[error("{}", visible(.0))]
    Silent(String),
    /// The engine does not support something required by the match.
    #[error("{}", visible(.0))]
    Unable(String),
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::TimedOut => {
                EngineError::Silent("no longer reads its input".to_owned())
            }
            std::io::ErrorKind::BrokenPipe if error.get_ref().is_some() => {
                EngineError::Dead(error.to_string())
            }
            _ => EngineError::Dead("has closed its input".to_owned()),
        }
    }
}

/// The match runner's end of the connection to an engine. Implements one engine protocol and tracks
/// the state of the connection.
pub trait ProtocolAdapter: Send {
    fn process(&mut self) -> &mut Process;

    /// Performs the protocol's handshake: reads the engine's features and sets its configured
    /// options.
    fn handshake(&mut self) -> Result<(), EngineError>;

    fn engine_name(&self) -> Option<&str>;

    /// Returns the range of values that an option accepts. Call this only after the handshake.
    fn option_range(&self, name: &str) -> Result<OptionRange, EngineError>;

    /// Sets options by name. Call this only between games.
    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), EngineError>;

    /// Describes a startup problem that did not prevent the engine from playing. Returns `None` if
    /// there was none.
    fn startup_retry(&self) -> Option<String> {
        None
    }

    fn reusable(&self) -> bool;

    /// Prepares the engine for a new game. The engine stays idle until [`Self::go`] is called.
    fn begin(&mut self, setup: &Setup<'_>) -> Result<(), EngineError>;

    /// Sends the opponent's last move, if any, and starts the engine's search.
    fn go(&mut self, turn: &Turn<'_>) -> Result<(), EngineError>;

    /// Notes that the engine's move has been accepted. If `ponder` is given, starts pondering on
    /// that move.
    fn moved(&mut self, turn: &Turn<'_>, ponder: Option<Move>) -> Result<(), EngineError>;

    /// Parses a line of engine output. Returns `None` if it is irrelevant to the game.
    fn interpret(&mut self, line: &str) -> Option<PlayerEvent>;

    /// Returns how long after the start of the engine's turn to send "move now", or `None` if the
    /// engine observes the time limit itself.
    fn move_now_after(&self) -> Option<Duration> {
        None
    }

    /// Orders the engine to move immediately.
    fn move_now(&mut self) -> Result<(), EngineError>;

    /// Forwards the opponent's draw offer to the engine.
    fn offer_draw(&mut self) -> Result<(), EngineError>;

    /// Ends the game and waits until the engine is idle and all its output from this game has been
    /// read. Fails if the engine is not idle by `deadline`.
    fn finish(&mut self, result: &str, comment: &str, deadline: Instant)
    -> Result<(), EngineError>;
}

/// Reads lines until `wanted` returns `true` for one. `what` names the expected line in error
/// messages.
pub(crate) fn read_until(
    process: &mut Process,
    deadline: Instant,
    what: &str,
    mut wanted: impl FnMut(&str) -> bool,
) -> Result<(), EngineError> {
    loop {
        match process.receive(deadline) {
            Received::Line(line) if wanted(&line.text) => return Ok(()),
            Received::Line(_) => {}
            Received::Timeout => return Err(EngineError::Silent(format!("no {what} in time"))),
            Received::Closed => {
                return Err(EngineError::Dead(format!("{} before {what}", process.exit_reason())));
            }
        }
    }
}
