//! How a game ended, and why.
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

/// Why a game ended; every cause has its own value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// Checkmate.
    Checkmate,
    /// Stalemate.
    Stalemate,
    /// Neither side can mate.
    InsufficientMaterial,
    /// Fifty moves without capture or pawn move.
    FiftyMoves,
    /// The position occurred for the third time.
    Repetition,
    /// An engine resigned.
    Resignation,
    /// Both engines offered a draw.
    Agreement,
    /// The flag fell.
    Time,
    /// An engine made an illegal move, or rejected a legal one.
    IllegalMove,
    /// An engine claimed a result that is not on the board.
    FalseClaim,
    /// An engine's process exited.
    Crash,
    /// An engine stopped answering.
    Stall,
    /// The scores of both engines were drawn for long enough.
    DrawAdjudication,
    /// The scores of both engines were decided for long enough.
    WinAdjudication,
    /// The game reached the maximum length.
    LengthAdjudication,
    /// The tablebases determine the result.
    TablebaseAdjudication,
    /// The match was interrupted, or an engine could not be started.
    Unfinished,
}

impl Termination {
    /// The name for tables and logs.
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

    /// The value of the PGN tag `Termination` (standard, section 9.8.1).
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

    /// Whether an engine broke down or broke the rules.
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

/// The result of a game with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The winner; `None` for a draw or an unfinished game.
    pub winner: Option<Color>,
    /// Why the game ended.
    pub termination: Termination,
    /// What exactly happened, for people.
    pub detail: String,
}

impl Verdict {
    /// A win against `loser`.
    pub fn against(loser: Color, termination: Termination, detail: impl Into<String>) -> Self {
        Verdict { winner: Some(!loser), termination, detail: shown(detail) }
    }

    /// A draw.
    pub fn draw(termination: Termination, detail: impl Into<String>) -> Self {
        Verdict { winner: None, termination, detail: shown(detail) }
    }

    /// No result.
    pub fn unfinished(detail: impl Into<String>) -> Self {
        Verdict { winner: None, termination: Termination::Unfinished, detail: shown(detail) }
    }

    /// The result in PGN notation.
    pub fn result(&self) -> GameResult {
        match self.termination {
            Termination::Unfinished => GameResult::Undecided,
            _ => GameResult::won_by(self.winner),
        }
    }
}

/// A reason that may quote an engine, made printable.
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
