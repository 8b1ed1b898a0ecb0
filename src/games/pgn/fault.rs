//! What became of a game, and what may be wrong with one.

use std::fmt;

use super::GameResult;
use crate::chess::position::{FenError, SanError};
use crate::support::words::visible;

/// How the reading of one game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEnd {
    /// The result of the `Result` tag if it is a decided one, else that of the movetext.
    pub result: GameResult,
    /// Legal plies handed to the visitor.
    pub plies: usize,
    /// What became of the game.
    pub status: GameStatus,
    /// That the decided result after the moves is another than that of the `Result` tag, which
    /// counts. Only of games that were read to their end.
    pub contradiction: Option<Box<Fault>>,
}

/// What became of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameStatus {
    /// It was read to its end, or as far as the visitor wanted.
    Read,
    /// The visitor declined it.
    Declined,
    /// It is not orthodox chess.
    Variant,
    /// It is a piece of text that is no game: it has no tags and does not begin with legal moves.
    Text,
    /// It stopped at a fault; the moves before it were handed over.
    Broken(Box<Fault>),
}

/// What is wrong with a game, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the input, counted from 1.
    pub line: u64,
    /// The position in which something is no legal move, as FEN.
    pub fen: Option<String>,
    /// The token that could not be played.
    pub san: Option<String>,
    /// What is wrong.
    pub reason: FaultReason,
}

/// The kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultReason {
    /// A move that is illegal or ambiguous.
    Move(SanError),
    /// A token that is neither a move nor anything else that belongs to a game.
    Token,
    /// A start position that is none.
    Fen(FenError),
    /// A comment whose closing brace is missing.
    OpenComment,
    /// A variation whose closing parenthesis is missing.
    OpenVariation,
    /// Results that contradict each other: that of the tag, and that after the moves.
    Results(GameResult, GameResult),
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultReason::Move(error) => error.fmt(f),
            FaultReason::Token => f.write_str("cannot understand"),
            FaultReason::Fen(error) => error.fmt(f),
            FaultReason::OpenComment => f.write_str("a comment without its closing brace"),
            FaultReason::OpenVariation => {
                f.write_str("a variation without its closing parenthesis")
            }
            FaultReason::Results(tag, token) => write!(
                f,
                "the result after the moves is {token}, that of the Result tag {tag}, which counts"
            ),
        }
    }
}

/// One line; what the file says stands in it without its control characters.
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
    /// A game that stopped at something other than a move.
    pub(super) fn broken(reason: FaultReason) -> Self {
        GameStatus::Broken(Box::new(Fault::of(reason)))
    }
}

impl Fault {
    /// A fault of something other than a move, on a line that is not found yet.
    pub(super) fn of(reason: FaultReason) -> Self {
        Fault { line: 0, fen: None, san: None, reason }
    }
}
