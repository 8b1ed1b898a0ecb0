//! What the two protocols have in common, seen from the match.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::chess::position::{Game, Move};
use crate::chess::score::Score;
use crate::games::book::{ANALYSED, ENDED, MEETS_BOOK};
use crate::support::words::visible;

use super::clock::Clock;
use super::process::{Process, Received};

/// The start of a game, as an engine is told.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The position and the opening moves.
    pub game: &'a Game,
    /// The engine's own clock.
    pub clock: &'a Clock,
    /// Whether it may think on the opponent's time.
    pub ponder: bool,
    /// The opponent's name.
    pub opponent: &'a str,
}

/// The engine's turn.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The game so far.
    pub game: &'a Game,
    /// The engine's own clock.
    pub own: &'a Clock,
    /// The opponent's clock.
    pub other: &'a Clock,
}

/// What an engine says about its thinking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchInfo {
    /// Centipawns or mate, for the engine: its last exact score, never a bound.
    pub score: Option<Score>,
    /// The iteration, in plies.
    pub depth: u32,
    /// Nodes searched.
    pub nodes: u64,
    /// Time by the engine's own clock.
    pub elapsed: Duration,
    /// The principal variation as the engine wrote it.
    pub line: String,
    /// Whether the engine says that its book told the move.
    pub book: bool,
    /// How its search ended in the book, in its words; empty if it did not, or does not say.
    pub ending: String,
}

impl SearchInfo {
    /// Takes in what an engine reports about its thinking; returns false if the event is no such
    /// report.
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

/// What an engine says of its book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookComment {
    /// That it told the move.
    Move,
    /// By what its search ended there.
    Ending(String),
}

impl BookComment {
    /// Reads a remark with the word *book* in it. Engines say what they like of a move from their
    /// book; of a line of the search that only meets the book, ours alone says something.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(ENDED).unwrap_or(text);
        if [MEETS_BOOK, ANALYSED].iter().any(|words| text.starts_with(words)) {
            return Some(BookComment::Ending(text.to_owned()));
        }
        let is_book = |word: &str| word.eq_ignore_ascii_case("book");
        text.split(|c: char| !c.is_alphanumeric()).any(is_book).then_some(BookComment::Move)
    }
}

/// What an engine's line means for the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerEvent {
    /// It moves.
    Move {
        /// The move as it came.
        text: String,
        /// The reply it would like to ponder on.
        ponder: Option<String>,
    },
    /// It thinks.
    Thinking(SearchInfo),
    /// It speaks of its book.
    Book(BookComment),
    /// It gives up.
    Resign,
    /// It offers a draw, or accepts one.
    OfferDraw,
    /// It says that the game is over.
    Claim {
        /// `1-0`, `0-1` or `1/2-1/2`.
        result: String,
        /// Why, in its words.
        comment: String,
    },
    /// It refuses the opponent's move.
    ApiError(String),
}

impl PlayerEvent {
    /// Whether the engine whose turn it is makes no move after this.
    pub fn ends_turn(&self) -> bool {
        matches!(
            self,
            PlayerEvent::Move { .. }
                | PlayerEvent::Resign
                | PlayerEvent::Claim { .. }
                | PlayerEvent::ApiError(_)
        )
    }
}

/// What an engine's option takes, as far as the engine tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionRange {
    /// Whole numbers from the first to the second.
    Whole(i64, i64),
    /// Any text.
    Text,
    /// No value: it is an order that is given by naming the option.
    Button,
    /// Something else, which it calls so.
    Other(String),
}

/// An option of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownOption {
    /// In the engine's own spelling.
    pub name: String,
    /// What it takes.
    pub range: OptionRange,
}

impl KnownOption {
    /// The value to send with the option's name, of the one that the user gave; `None` for a button, which
    /// takes none.
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

/// What to say of an option that is none of those that the engine has.
pub(super) fn unknown_option<'a>(
    name: &str,
    known: impl Iterator<Item = &'a KnownOption>,
) -> EngineError {
    let known: Vec<&str> = known.map(|option| option.name.as_str()).collect();
    let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    EngineError::Unable(format!("has no option \"{name}\" (it has: {has})"))
}

/// Why an engine cannot play.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The process is gone, or its pipes are.
    #[error("{}", visible(.0))]
    Dead(String),
    /// It did not answer in time.
    #[error("{}", visible(.0))]
    Silent(String),
    /// It cannot do what the match needs.
    #[error("{}", visible(.0))]
    Unable(String),
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::TimedOut => {
                EngineError::Silent("does not read its input any more".to_owned())
            }
            std::io::ErrorKind::BrokenPipe if error.get_ref().is_some() => {
                EngineError::Dead(error.to_string())
            }
            _ => EngineError::Dead("has closed its input".to_owned()),
        }
    }
}

/// The match runner's side of a protocol. It keeps the state of the conversation with the engine.
pub trait ProtocolAdapter: Send {
    /// The engine's process.
    fn process(&mut self) -> &mut Process;

    /// Starts the conversation; on return the engine has told what it can do, and has got its
    /// options.
    ///
    /// # Errors
    /// If the engine does not take part, in words for people.
    fn handshake(&mut self) -> Result<(), EngineError>;

    /// What the engine calls itself, once it has.
    fn engine_name(&self) -> Option<&str>;

    /// What an option takes; the introduction is over.
    ///
    /// # Errors
    /// If the engine has no such option.
    fn option_range(&self, name: &str) -> Result<OptionRange, EngineError>;

    /// Changes options by name; the engine plays no game meanwhile.
    ///
    /// # Errors
    /// If the engine is gone, or has no such option.
    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), EngineError>;

    /// What was wrong with the start, although the engine plays.
    fn startup_retry(&self) -> Option<String> {
        None
    }

    /// Whether the process can play another game.
    fn reusable(&self) -> bool;

    /// Starts a new game with its opening moves; the engine then waits.
    ///
    /// # Errors
    /// If the engine is gone or cannot play such a game.
    fn begin(&mut self, setup: &Setup<'_>) -> Result<(), EngineError>;

    /// Sends the opponent's move, if there is one, and makes the engine think.
    ///
    /// # Errors
    /// If the engine is gone.
    fn go(&mut self, turn: &Turn<'_>) -> Result<(), EngineError>;

    /// Notes that the engine's own move was accepted; starts pondering on `ponder` if wished.
    ///
    /// # Errors
    /// If the engine is gone.
    fn moved(&mut self, turn: &Turn<'_>, ponder: Option<Move>) -> Result<(), EngineError>;

    /// What a line means for the game.
    fn interpret(&mut self, line: &str) -> Option<PlayerEvent>;

    /// How long after the start of its turn the engine has to be ordered to move, if its protocol
    /// could not express the time for the move.
    fn move_now_after(&self) -> Option<Duration> {
        None
    }

    /// Demands a move at once.
    ///
    /// # Errors
    /// If the engine is gone.
    fn move_now(&mut self) -> Result<(), EngineError>;

    /// Passes on the opponent's offer of a draw.
    ///
    /// # Errors
    /// If the engine is gone.
    fn offer_draw(&mut self) -> Result<(), EngineError>;

    /// Ends the game; on return the engine is quiet and nothing of this game is still to come.
    ///
    /// # Errors
    /// If the engine is gone, or does not come to rest by `deadline`.
    fn finish(&mut self, result: &str, comment: &str, deadline: Instant)
    -> Result<(), EngineError>;
}

/// Reads lines until one is wanted.
///
/// # Errors
/// If the engine ends, or no such line comes in time; `what` names the wait for people.
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
