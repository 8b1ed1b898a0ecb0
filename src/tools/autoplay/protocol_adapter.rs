//! The interface of both protocols to the match runner.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::chess::position::{Game, Move};
use crate::chess::score::Score;
use crate::games::book::{ANALYSED, ENDED, MEETS_BOOK};
use crate::support::words::visible;

use super::clock::Clock;
use super::process::{Process, Received};

/// The start of a game for one engine.
#[derive(Debug)]
pub struct Setup<'a> {
    pub game: &'a Game,
    pub clock: &'a Clock,
    pub ponder: bool,
    pub opponent: &'a str,
}

/// A turn of the engine.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub game: &'a Game,
    pub own: &'a Clock,
    pub other: &'a Clock,
}

/// Search information from an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchInfo {
    /// Score for the engine, in centipawns or as a mate; the last exact one, never a bound.
    pub score: Option<Score>,
    /// Depth in plies.
    pub depth: u32,
    pub nodes: u64,
    /// Time by the engine's own clock.
    pub elapsed: Duration,
    /// The principal variation as the engine wrote it.
    pub line: String,
    /// Whether the engine reports a book move.
    pub book: bool,
    /// How its search ended in the book, in the engine's words; empty if it did not or is not
    /// reported.
    pub ending: String,
}

impl SearchInfo {
    /// Stores search information from an event; returns false if the event has none.
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
    /// The move is from the book.
    Move,
    /// The search ended with this line into the book.
    Ending(String),
}

impl BookComment {
    /// Parses a comment with the word *book* in it. Engines comment on their book moves in various
    /// forms; only Tabia comments on a search line that reaches the book.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(ENDED).unwrap_or(text);
        if [MEETS_BOOK, ANALYSED].iter().any(|words| text.starts_with(words)) {
            return Some(BookComment::Ending(text.to_owned()));
        }
        let is_book = |word: &str| word.eq_ignore_ascii_case("book");
        text.split(|c: char| !c.is_alphanumeric()).any(is_book).then_some(BookComment::Move)
    }
}

/// The meaning of an engine's line for the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerEvent {
    Move {
        /// The move as the engine wrote it.
        text: String,
        /// The reply to ponder on.
        ponder: Option<String>,
    },
    Thinking(SearchInfo),
    Book(BookComment),
    Resign,
    /// A draw offer, or its acceptance.
    OfferDraw,
    /// A claim that the game is over.
    Claim {
        /// `1-0`, `0-1` or `1/2-1/2`.
        result: String,
        /// The reason, in the engine's words.
        comment: String,
    },
    /// An error about the opponent's move.
    MoveRejected(String),
}

impl PlayerEvent {
    /// Whether the engine to move sends no move after this event.
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

/// The values of an option, as declared by the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionRange {
    /// Integers from the first to the second, inclusive.
    Whole(i64, i64),
    Text,
    /// No value: sending the name triggers an action.
    Button,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownOption {
    /// The name in the engine's spelling.
    pub name: String,
    pub range: OptionRange,
}

impl KnownOption {
    /// Returns the value to send for the one that the user gave; `None` for a button.
    ///
    /// # Errors
    /// If the option needs a value and got none.
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

/// The error for an option that the engine does not have.
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
    /// The process has exited or its pipes are closed.
    #[error("{}", visible(.0))]
    Dead(String),
    #[error("{}", visible(.0))]
    Silent(String),
    /// It does not support what the match needs.
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

/// The match runner's side of a protocol, with the state of the connection.
pub trait ProtocolAdapter: Send {
    fn process(&mut self) -> &mut Process;

    /// Performs the handshake: reads the engine's features and sets its options.
    ///
    /// # Errors
    /// If the engine does not take part, with a message for users.
    fn handshake(&mut self) -> Result<(), EngineError>;

    /// The name the engine reported, if any.
    fn engine_name(&self) -> Option<&str>;

    /// Returns the values of an option; requires the handshake.
    ///
    /// # Errors
    /// If the engine has no such option.
    fn option_range(&self, name: &str) -> Result<OptionRange, EngineError>;

    /// Sets options by name; requires that no game is in progress.
    ///
    /// # Errors
    /// If the engine has exited, or has no such option.
    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), EngineError>;

    /// What went wrong in the start although the engine can play.
    fn startup_retry(&self) -> Option<String> {
        None
    }

    fn reusable(&self) -> bool;

    /// Starts a new game with its opening moves; the engine then waits.
    ///
    /// # Errors
    /// If the engine has exited or cannot play such a game.
    fn begin(&mut self, setup: &Setup<'_>) -> Result<(), EngineError>;

    /// Sends the opponent's move, if any, and starts the search.
    ///
    /// # Errors
    /// If the engine has exited.
    fn go(&mut self, turn: &Turn<'_>) -> Result<(), EngineError>;

    /// Records that the engine's move was accepted; starts pondering on `ponder` if set.
    ///
    /// # Errors
    /// If the engine has exited.
    fn moved(&mut self, turn: &Turn<'_>, ponder: Option<Move>) -> Result<(), EngineError>;

    /// Parses a line; returns `None` if it has no meaning for the game.
    fn interpret(&mut self, line: &str) -> Option<PlayerEvent>;

    /// How long after the start of its turn the engine must be ordered to move, if its protocol
    /// could not express the move time.
    fn move_now_after(&self) -> Option<Duration> {
        None
    }

    /// Orders the engine to move at once.
    ///
    /// # Errors
    /// If the engine has exited.
    fn move_now(&mut self) -> Result<(), EngineError>;

    /// Forwards the opponent's draw offer.
    ///
    /// # Errors
    /// If the engine has exited.
    fn offer_draw(&mut self) -> Result<(), EngineError>;

    /// Ends the game; on return the engine is idle and no output of this game is pending.
    ///
    /// # Errors
    /// If the engine has exited or is not idle by `deadline`.
    fn finish(&mut self, result: &str, comment: &str, deadline: Instant)
    -> Result<(), EngineError>;
}

/// Reads lines until one satisfies the predicate; `what` names the wait in error messages.
///
/// # Errors
/// If the engine exits, or no such line arrives in time.
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
