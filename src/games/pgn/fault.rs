//! Reports on games that were read, and their faults.

use std::fmt;

use super::GameResult;
use crate::chess::position::SanError;
use crate::support::error::ParseError;
use crate::support::words::visible;

/// How the reading of one game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEnd {
    /// The result of the `Result` tag if it is decided, else that of the movetext.
    pub result: GameResult,
    /// Number of legal plies passed to the visitor.
    pub plies: usize,
    /// The status of the game.
    pub status: GameStatus,
    /// A decided result after the moves that contradicts the `Result` tag, which counts. Only set
    /// for games that were read to their end.
    pub contradiction: Option<Box<Fault>>,
}

/// The status of a game after reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameStatus {
    /// It was read to its end, or as far as the visitor wanted.
    Read,
    /// The visitor declined it.
    Declined,
    /// It is a chess variant.
    Variant,
    /// It is text other than a game: it has no tags and does not begin with legal moves.
    Text,
    /// It stopped at a fault; the moves before it were passed on.
    Broken(Box<Fault>),
}

/// A fault in a game and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the input, counted from 1.
    pub line: u64,
    /// The position in which something is not a legal move, as FEN.
    pub fen: Option<String>,
    /// The token that could not be played.
    pub san: Option<String>,
    /// The reason.
    pub reason: FaultReason,
}

/// The kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultReason {
    /// A move that is illegal or ambiguous.
    Move(SanError),
    /// A token that is neither a move nor any other part of a game.
    Token,
    /// An invalid start position.
    Fen(ParseError),
    /// A comment without a closing brace.
    OpenComment,
    /// A variation without a closing parenthesis.
    OpenVariation,
    /// Contradicting results: that of the tag, and that after the moves.
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
            FaultReason::Results(tag, token) => write!(
                f,
                "the result after the moves is {token}, but that of the Result tag, which \
                 counts, is {tag}"
            ),
        }
    }
}

/// One line; text from the file is quoted without control characters.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, visible(&self.reason.to_string()))?;
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
    /// A fault other than a move, whose line is not determined yet.
    pub(super) fn of(reason: FaultReason) -> Self {
        Fault { line: 0, fen: None, san: None, reason }
    }
}
