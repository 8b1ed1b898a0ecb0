//! The outcome of reading a game, and the errors that a game can contain.

use std::fmt;

use super::GameResult;
use crate::chess::position::SanError;
use crate::support::error::ParseError;
use crate::support::words::visible;

/// How reading a game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEnd {
    /// The result in the `Result` tag, or the result in the movetext if the tag is missing or `*`.
    pub result: GameResult,
    /// The number of plies passed to the visitor.
    pub plies: usize,
    /// The status of the game.
    pub status: GameStatus,
    /// An error if the movetext ends with a result other than `*` that contradicts the `Result`
    /// tag. The tag takes precedence. Set only for games that were read completely.
    pub contradiction: Option<Box<Fault>>,
}

/// Whether a game was read and, if not, the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameStatus {
    /// The game was read to its end, or to the point at which the visitor stopped reading.
    Read,
    /// The visitor declined the game.
    Declined,
    /// The game is a chess variant.
    Variant,
    /// The text is not a game, because it has no tags and does not begin with legal moves.
    Text,
    /// Reading stopped at an error. The visitor received the moves before it.
    Broken(Box<Fault>),
}

/// An error in a game, and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The 1-based line number in the input, or 0 if unknown.
    pub line: u64,
    /// The position before the invalid move, as FEN.
    pub fen: Option<String>,
    /// The token that is not a legal move.
    pub san: Option<String>,
    /// The kind of error.
    pub reason: FaultReason,
}

/// The kinds of errors in games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultReason {
    /// A move that is illegal or ambiguous.
    Move(SanError),
    /// A token that is not valid movetext.
    Token,
    /// An invalid start position.
    Fen(ParseError),
    /// A comment without a closing brace.
    OpenComment,
    /// A variation without a closing parenthesis.
    OpenVariation,
    /// A variation that is nested too deeply.
    Nesting,
    /// Two contradictory results: the first from the `Result` tag, the second from the end of the
    /// movetext.
    Results(GameResult, GameResult),
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultReason::Move(error) => error.fmt(f),
            FaultReason::Token => f.write_str("cannot understand"),
            FaultReason::Fen(error) => error.fmt(f),
            FaultReason::OpenComment => f.write_str("a comment without a closing brace"),
            FaultReason::OpenVariation => f.write_str("a variation without a closing parenthesis"),
            FaultReason::Nesting => f.write_str("variations are nested too deeply"),
            FaultReason::Results(tag, token) => write!(
                f,
                "the result after the moves is {token}, but that of the Result tag, which \
                 counts, is {tag}"
            ),
        }
    }
}

/// Formats the error as one line. In text quoted from the file, control characters are escaped.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}", visible(&self.reason.to_string()))?;
        if let Some(san) = &self.san {
            write!(f, " {}", visible(san))?;
        }
        if let Some(fen) = &self.fen {
            write!(f, " in {fen}")?;
        }
        Ok(())
    }
}

impl GameStatus {
    pub(super) fn broken(reason: FaultReason) -> Self {
        GameStatus::Broken(Box::new(Fault::of(reason)))
    }
}

impl Fault {
    /// Creates an error that is not about a move. The caller sets the line number later.
    pub(super) fn of(reason: FaultReason) -> Self {
        Fault { line: 0, fen: None, san: None, reason }
    }
}
