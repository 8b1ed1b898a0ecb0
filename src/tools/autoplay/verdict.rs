//! The result of a game and the reason for it.
//!
//! ```
//! use tabia::autoplay::verdict::{Termination, Verdict};
//! use tabia::pgn::GameResult;
//! use tabia::position::Color;
//!
//! let verdict = Verdict::against(Color::White, Termination::Time, "0.2 s late");
//! assert_eq!(verdict.result(), GameResult::Black);
//! ```

use serde::{Deserialize, Serialize};

use crate::chess::notation;
use crate::chess::position::{Color, Outcome, OutcomeReason};
use crate::games::pgn::GameResult;
use crate::support::words::visible;

/// The reason why a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// The side to move is checkmated.
    Checkmate,
    /// The side to move is stalemated.
    Stalemate,
    /// Neither side has enough material to mate.
    InsufficientMaterial,
    /// Each side has made fifty moves without a capture or pawn move.
    FiftyMoves,
    /// The position has occurred for the third time.
    Repetition,
    /// An engine resigned.
    Resignation,
    /// One engine accepted the other's draw offer.
    Agreement,
    /// An engine exceeded its time limit.
    Time,
    /// An engine made an illegal move, or rejected a legal one.
    IllegalMove,
    /// An engine claimed a result that is wrong in the current position.
    FalseClaim,
    /// An engine's process exited during the game.
    Crash,
    /// An engine stopped responding.
    Stall,
    /// The scores of both engines stayed close to zero for the required number of moves.
    DrawAdjudication,
    /// Both engines' scores showed a decisive advantage for the same side for the required number
    /// of moves.
    WinAdjudication,
    /// The game reached the maximum number of moves.
    LengthAdjudication,
    /// The result is known from endgame tablebases.
    TablebaseAdjudication,
    /// The game was not played to the end, for example because the match was interrupted.
    Unfinished,
}

impl Termination {
    /// Returns the name that is used in tables and logs.
    pub fn name(self) -> &'static str {
        match self {
            Termination::Checkmate => "checkmate",
            Termination::Stalemate => "stalemate",
            Termination::InsufficientMaterial => "insufficient material",
            Termination::FiftyMoves => "fifty moves",
            Termination::Repetition => "repetition",
            Termination::Resignation => "resignation",
            Termination::Agreement => "draw agreed",
            Termination::Time => "time forfeit",
            Termination::IllegalMove => "illegal move",
            Termination::FalseClaim => "false claim",
            Termination::Crash => "crash",
            Termination::Stall => "stall",
            Termination::DrawAdjudication => "draw adjudicated",
            Termination::WinAdjudication => "win adjudicated",
            Termination::LengthAdjudication => "length adjudicated",
            Termination::TablebaseAdjudication => "tablebase adjudicated",
            Termination::Unfinished => "unfinished",
        }
    }

    /// Returns the value of the `Termination` PGN tag (PGN standard, section 9.8.1).
    pub fn pgn(self) -> &'static str {
        match self {
            Termination::Time => "time forfeit",
            Termination::IllegalMove | Termination::FalseClaim => "rules infraction",
            Termination::Crash | Termination::Stall => "abandoned",
            Termination::Unfinished => "unterminated",
            Termination::DrawAdjudication
            | Termination::WinAdjudication
            | Termination::LengthAdjudication
            | Termination::TablebaseAdjudication => "adjudication",
            _ => "normal",
        }
    }

    /// Returns whether an engine was at fault: it exceeded its time limit, crashed, stopped
    /// responding or broke the rules.
    pub fn is_fault(self) -> bool {
        matches!(
            self,
            Termination::Time
                | Termination::IllegalMove
                | Termination::FalseClaim
                | Termination::Crash
                | Termination::Stall
        )
    }
}

/// The result of a game, and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The winner, or `None` for a draw or an unfinished game.
    pub winner: Option<Color>,
    /// The reason why the game ended.
    pub termination: Termination,
    /// A detailed description of how the game ended, for human readers.
    pub detail: String,
}

impl Verdict {
    /// Creates the verdict that `loser` lost the game.
    pub fn against(loser: Color, termination: Termination, detail: impl Into<String>) -> Self {
        Verdict { winner: Some(!loser), termination, detail: shown(detail) }
    }

    /// Creates a verdict for a drawn game.
    pub fn draw(termination: Termination, detail: impl Into<String>) -> Self {
        Verdict { winner: None, termination, detail: shown(detail) }
    }

    /// Returns the score of `color` in half points (0, 1 or 2). The game must be finished.
    pub fn half_points(&self, color: Color) -> u8 {
        self.winner.map_or(1, |winner| 2 * u8::from(winner == color))
    }

    /// Creates a verdict for a game without a result.
    pub fn unfinished(detail: impl Into<String>) -> Self {
        Verdict { winner: None, termination: Termination::Unfinished, detail: shown(detail) }
    }

    /// Returns the result in PGN notation.
    pub fn result(&self) -> GameResult {
        match self.termination {
            Termination::Unfinished => GameResult::Undecided,
            _ => GameResult::won_by(self.winner),
        }
    }
}

/// Replaces unprintable characters in a description, because it may quote engine output.
fn shown(detail: impl Into<String>) -> String {
    visible(&detail.into()).into_owned()
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        let termination = match outcome.reason {
            OutcomeReason::Checkmate => Termination::Checkmate,
            OutcomeReason::Stalemate => Termination::Stalemate,
            OutcomeReason::InsufficientMaterial => Termination::InsufficientMaterial,
            OutcomeReason::FiftyMoves => Termination::FiftyMoves,
            OutcomeReason::Repetition => Termination::Repetition,
        };
        let detail = notation::outcome(outcome).to_owned();
        Verdict { winner: outcome.winner, termination, detail }
    }
}
