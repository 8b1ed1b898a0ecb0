//! Formats moves, scores, outcomes and colours for display.

use std::fmt::Write;

use arrayvec::ArrayString;
use serde::{Deserialize, Serialize};

use super::position::{Color, Move, Outcome, OutcomeReason, Position, SAN_BYTES, UCI_BYTES};
use super::score::{self, Score};

/// A score from the side to move's point of view, serialized as JSON.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScoreAnswer {
    /// Score in centipawns.
    Cp(Score),
    /// Number of moves (not plies) until mate; negative if the side to move is mated.
    Mate(i32),
}

impl From<Score> for ScoreAnswer {
    fn from(score: Score) -> Self {
        score::mate_distance(score).map_or(ScoreAnswer::Cp(score), ScoreAnswer::Mate)
    }
}

/// A move in UCI notation and in SAN, serialized as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NamedMove {
    /// The move in UCI notation. Castling is written as a king move, such as `e1g1`.
    pub(crate) uci: ArrayString<UCI_BYTES>,
    pub(crate) san: ArrayString<SAN_BYTES>,
}

impl NamedMove {
    pub(crate) fn new(position: &Position, mv: Move) -> Self {
        NamedMove { uci: mv.uci(), san: position.short_san(mv) }
    }

    pub(crate) fn line(start: &Position, moves: &[Move]) -> Vec<Self> {
        let mut position = *start;
        let mut line = Vec::with_capacity(moves.len());
        for &mv in moves {
            let Some(next) = position.try_play(mv) else { break };
            line.push(Self::new(&position, mv));
            position = next;
        }
        line
    }
}

pub(crate) fn color(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// Describes why a game is over, using words that no GUI parses as a command.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match (outcome.reason, outcome.winner) {
        (OutcomeReason::Checkmate, Some(Color::White)) => "White mates",
        (OutcomeReason::Checkmate, _) => "Black mates",
        (OutcomeReason::Stalemate, _) => "Stalemate",
        (OutcomeReason::InsufficientMaterial, _) => "Insufficient material",
        (OutcomeReason::FiftyMoves, _) => "Fifty-move rule",
        (OutcomeReason::Repetition, _) => "Threefold repetition",
    }
}

/// Formats a score in pawns (`+0.35`) or as a mate in N moves (`+M5`).
pub(crate) fn score(score: Score) -> String {
    match score::mate_distance(score) {
        Some(moves) if score > 0 => format!("+M{moves}"),
        Some(moves) => format!("-M{}", -moves),
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}

/// Formats a bound of the search window in centipawns, or as `±∞` if it is infinite.
pub(crate) fn bound(score: Score) -> String {
    match score {
        score::INFINITY.. => "+∞".to_owned(),
        _ if score <= -score::INFINITY => "-∞".to_owned(),
        _ => score.to_string(),
    }
}

/// Formats moves in SAN, stopping before the first illegal move.
pub(crate) fn line(start: &Position, moves: &[Move]) -> String {
    let mut position = *start;
    let mut words = Vec::with_capacity(moves.len());
    for &mv in moves {
        let Some(next) = position.try_play(mv) else { break };
        words.push(position.san(mv));
        position = next;
    }
    words.join(" ")
}

/// Formats moves in SAN with move numbers: `3... a6 4. Ba4`. `moves` must be legal from `start`.
pub(crate) fn numbered_line(start: &Position, moves: &[NamedMove]) -> String {
    let (mut number, mut side) = (start.fullmove_number(), start.side_to_move());
    let mut text = String::new();
    for (at, mv) in moves.iter().enumerate() {
        let gap = if at == 0 { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = match side {
            Color::White => write!(text, "{gap}{number}. {}", mv.san),
            Color::Black if at == 0 => write!(text, "{number}... {}", mv.san),
            Color::Black => write!(text, " {}", mv.san),
        };
        number = number.saturating_add(u16::from(side == Color::Black));
        side = !side;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::{mate_in, mated_in};

    #[test]
    fn scores_are_printed_in_pawns_and_mates_in_moves() {
        for (value, text) in [
            (35, "+0.35"),
            (0, "+0.00"),
            (-120, "-1.20"),
            (mate_in(9), "+M5"),
            (mated_in(4), "-M2"),
        ] {
            assert_eq!(score(value), text);
        }
    }

    #[test]
    fn line_stops_before_the_first_illegal_move() {
        let moves: Vec<Move> =
            ["e2e4", "e7e5", "e1e3"].iter().map(|text| text.parse().expect(text)).collect();
        assert_eq!(line(&Position::start(), &moves), "e4 e5");
    }

    #[test]
    fn numbered_line_starts_with_either_side() {
        let moves: Vec<Move> =
            ["e2e4", "e7e5", "g1f3"].iter().map(|text| text.parse().expect(text)).collect();
        let start = Position::start();
        let line = NamedMove::line(&start, &moves);
        assert_eq!(numbered_line(&start, &line), "1. e4 e5 2. Nf3");
        assert_eq!(numbered_line(&start.play(moves[0]), &line[1..]), "1... e5 2. Nf3");
        assert_eq!(numbered_line(&start, &[]), "");
    }
}
