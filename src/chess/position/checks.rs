//! Detects moves that give check, without playing them.

use chess::{
    ALL_PIECES, EMPTY, between, get_bishop_moves, get_bishop_rays, get_knight_moves,
    get_pawn_attacks, get_rook_moves, get_rook_rays, line,
};

use super::{BitBoard, Move, Piece, Position, Square};

/// The squares from which the side to move can give check, and its pieces that can give discovered
/// check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Checks {
    /// For each kind of piece, the squares from which it would attack the enemy king.
    direct: [BitBoard; ALL_PIECES.len()],
    /// The pieces of the side to move that give discovered check if they leave the line to the
    /// enemy king. Each is the only piece between a slider of its own side and this king.
    discoverers: BitBoard,
    king: Square,
}

impl Checks {
    #[inline]
    pub(crate) fn from(&self, piece: Piece) -> BitBoard {
        self.direct[piece.to_index()]
    }
}

impl Position {
    pub(crate) fn checks(&self) -> Checks {
        let (us, occupied) = (self.side_to_move(), self.occupied());
        let king = self.king(!us);
        let (bishop, rook) = (get_bishop_moves(king, occupied), get_rook_moves(king, occupied));
        let mut direct = [EMPTY; ALL_PIECES.len()];
        direct[Piece::Pawn.to_index()] = get_pawn_attacks(king, !us, !EMPTY);
        direct[Piece::Knight.to_index()] = get_knight_moves(king);
        direct[Piece::Bishop.to_index()] = bishop;
        direct[Piece::Rook.to_index()] = rook;
        direct[Piece::Queen.to_index()] = bishop | rook;
        let queens = self.pieces(us, Piece::Queen);
        let sliders = (get_bishop_rays(king) & (self.pieces(us, Piece::Bishop) | queens))
            | (get_rook_rays(king) & (self.pieces(us, Piece::Rook) | queens));
        let mut discoverers = EMPTY;
        for slider in sliders {
            let screen = between(slider, king) & occupied;
            if screen.0 & screen.0.wrapping_sub(1) == 0 {
                discoverers |= screen & self.by_color(us);
            }
        }
        Checks { direct, discoverers, king }
    }

    /// Returns true if a legal quiet move gives check. `checks` must have been computed for this
    /// position.
    #[inline]
    pub(crate) fn quiet_checks(&self, mv: Move, checks: &Checks) -> bool {
        let (from, to) = (BitBoard::from_square(mv.from()), BitBoard::from_square(mv.to()));
        let Some(piece) = self.piece_on(mv.from()) else { return false };
        let direct = checks.from(piece) & to != EMPTY;
        let discovers =
            checks.discoverers & from != EMPTY && line(mv.from(), checks.king) & to == EMPTY;
        direct || discovers || (self.is_castling(mv) && self.play(mv).in_check())
    }

    /// Returns true if a legal move gives check.
    pub(crate) fn gives_check(&self, mv: Move) -> bool {
        // A promotion changes the piece, and an en passant capture removes a piece from a square
        // other than the target.
        match mv.promotion().is_some() || self.is_en_passant(mv) {
            true => self.play(mv).in_check(),
            false => self.quiet_checks(mv, &self.checks()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FENS: [&str; 8] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "5k2/8/8/8/8/8/8/R3K2R w KQ - 0 1",
        "3k4/8/3N4/8/3P4/8/3R4/3K4 w - - 0 1",
        "8/2k5/8/1P6/8/4K3/5B2/6Q1 w - - 0 1",
        "k7/8/2P5/3B4/8/8/6B1/4K2R w K - 0 1",
        "8/8/8/8/k2P2KR/8/8/8 w - - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r6k/1P3P2/8/8/8/8/1p4p1/4K3 w - - 0 1",
    ];

    /// Asserts that `gives_check` is correct for each move in this position and in all positions
    /// reachable within `plies` plies, and `quiet_checks` for each quiet move. Returns the number
    /// of quiet moves that give check.
    fn compare(position: &Position, plies: usize) -> usize {
        let checks = position.checks();
        let moves = position.legal_moves();
        let mut found = 0;
        for mv in moves.iter() {
            let next = position.play(mv);
            assert_eq!(position.gives_check(mv), next.in_check(), "{mv} {position}");
            if !position.is_noisy(mv) {
                assert_eq!(position.quiet_checks(mv, &checks), next.in_check(), "{mv} {position}");
                found += usize::from(next.in_check());
            }
            if plies > 0 {
                found += compare(&next, plies - 1);
            }
        }
        found
    }

    #[test]
    fn quiet_checks_match_in_check_after_the_move() {
        let found: usize =
            FENS.iter().map(|fen| compare(&Position::from_fen(fen).expect(fen), 2)).sum();
        assert!(found > 1_000, "{found}");
    }

    #[test]
    fn castling_and_discovered_checks_are_detected() {
        for (fen, mv, expected) in [
            ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", true),
            ("6k1/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", false),
            ("3k4/8/3N4/8/8/8/3R4/3K4 w - - 0 1", "d6b5", true),
            ("3k4/8/8/8/3P4/8/3R4/3K4 w - - 0 1", "d4d5", false),
            ("8/8/8/8/k2P2KR/8/8/8 w - - 0 1", "d4d5", false),
            ("8/8/8/8/k2P3R/6K1/8/8 w - - 0 1", "d4d5", true),
            ("8/8/8/8/k5KR/8/8/8 w - - 0 1", "g4g5", true),
            ("8/8/8/k5KR/8/8/8/8 w - - 0 1", "g5f5", false),
        ] {
            let position = Position::from_fen(fen).expect(fen);
            let mv = mv.parse().expect(mv);
            assert_eq!(position.quiet_checks(mv, &position.checks()), expected, "{fen}");
        }
    }
}
