//! The values that a network assigns to individual pieces, for display.

use std::fmt;

use chess::{ALL_RANKS, Color, File, Piece, Rank, Square};

use super::network::Network;
use super::pieces::PieceSet;
use crate::chess::position::Position;
use crate::chess::score::Score;

/// A network's score for a position and the value of each piece. `Display` formats it as a board.
#[derive(Debug, Clone)]
pub(crate) struct Explanation {
    position: Position,
    score: Score,
    /// The value of the piece on each square from White's point of view, in centipawns. `None` for
    /// kings and empty squares.
    values: [Option<Score>; 64],
}

/// Computes a network's score for a position and the value of each piece.
///
/// The value of a piece is the difference between the score and the score of the position without
/// that piece. Kings have no value.
pub(crate) fn explain(network: &Network, position: &Position) -> Explanation {
    let pieces = PieceSet::of(position);
    let for_white = |pieces: &PieceSet| {
        let score = network.evaluate(pieces, position.side_to_move());
        if position.side_to_move() == Color::White { score } else { -score }
    };
    let score = for_white(&pieces);
    let values = chess::ALL_SQUARES.map(|square| {
        let piece = position.piece_on(square)?;
        (piece != Piece::King).then(|| score - for_white(&pieces.without(square)))
    });
    Explanation { position: *position, score, values }
}

impl Explanation {
    fn letter(&self, square: Square) -> Option<String> {
        let piece = self.position.piece_on(square)?;
        Some(piece.to_string(self.position.board().color_on(square)?))
    }

    fn write_rank(&self, f: &mut fmt::Formatter<'_>, rank: Rank) -> fmt::Result {
        let squares = chess::ALL_FILES.map(|file: File| Square::make_square(rank, file));
        for square in squares {
            write!(f, "|{:^7}", self.letter(square).unwrap_or_default())?;
        }
        writeln!(f, "| {}", rank.to_index() + 1)?;
        for square in squares {
            match self.values[square.to_index()] {
                Some(worth) => write!(f, "|{:^+7.2}", f64::from(worth) / 100.0)?,
                None => write!(f, "|       ")?,
            }
        }
        writeln!(f, "|")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{}+", "+-------".repeat(8));
        writeln!(f, "pawns that White would lose without each piece")?;
        for rank in ALL_RANKS.into_iter().rev() {
            writeln!(f, "{line}")?;
            self.write_rank(f, rank)?;
        }
        writeln!(f, "{line}")?;
        writeln!(f, "    a       b       c       d       e       f       g       h")?;
        let (white, us) = (self.score, self.position.side_to_move());
        let ours = if us == Color::White { white } else { -white };
        let pawns = f64::from(white) / 100.0;
        writeln!(f, "network {pawns:+.2} pawns for White, {ours:+} centipawns for the side to move")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::eval::nnue::network::tests::random_network;

    #[test]
    fn every_piece_except_kings_has_a_value() {
        let network = random_network(1);
        let fen = "4k3/8/8/3p4/8/8/8/R3K3 b - - 0 1";
        let explanation = explain(&network, &Position::from_fen(fen).expect(fen));
        assert_eq!(explanation.values.iter().flatten().count(), 2);
        let without = Position::from_fen("4k3/8/8/8/8/8/8/R3K3 b - - 0 1").expect("legal");
        let rest = explain(&network, &without).score;
        let pawn = explanation.values[Square::D5.to_index()];
        assert_eq!(pawn, Some(explanation.score - rest));
        let text = explanation.to_string();
        assert!(text.contains('R') && text.contains('p') && text.contains("for White"), "{text}");
    }
}
