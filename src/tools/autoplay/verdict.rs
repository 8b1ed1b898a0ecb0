//! How a game ended, and why.

use serde::{Deserialize, Serialize};

use crate::chess::notation;
use crate::chess::position::{Color, Outcome, OutcomeReason};
use crate::games::pgn::GameResult;
use crate::support::words::visible;

/// Why a game ended. Everything that ends a game is distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// Mate on the board.
    Checkmate,
    /// No move, no check.
    Stalemate,
    /// Nobody can give mate.
    InsufficientMaterial,
    /// Fifty moves without capture or pawn move.
    FiftyMoves,
    /// The position stood for the third time.
    Repetition,
    /// An engine gave up.
    Resignation,
    /// Both engines wanted a draw.
    Agreement,
    /// The flag fell.
    Time,
    /// An engine made a move that the rules do not allow, or refused one that they do.
    IllegalMove,
    /// An engine claimed a result that does not stand on the board.
    FalseClaim,
    /// An engine's process ended.
    Crash,
    /// An engine does not answer any more.
    Stall,
    /// Both engines saw a draw for long enough.
    DrawAdjudication,
    /// Both engines saw a decided game for long enough.
    WinAdjudication,
    /// The game grew too long.
    LengthAdjudication,
    /// The endgame tables know the result.
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
    /// Who won; `None` for a draw, or an unfinished game.
    pub winner: Option<Color>,
    /// Why the game ended.
    pub termination: Termination,
    /// For people: what exactly happened.
    pub detail: String,
}

impl Verdict {
    /// A verdict against `loser`.
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

    /// The result as PGN has it.
    pub fn result(&self) -> GameResult {
        match self.termination {
            Termination::Unfinished => GameResult::Undecided,
            _ => GameResult::won_by(self.winner),
        }
    }
}

/// A reason that may quote an engine, fit to be shown.
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
