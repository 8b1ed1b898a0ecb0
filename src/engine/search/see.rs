//! Static exchange evaluation (SEE): tests whether a sequence of captures on one square wins at
//! least a given amount of material, using the swap algorithm:
//! <https://www.chessprogramming.org/SEE_-_The_Swap_Algorithm>.

use chess::{
    EMPTY, between, get_bishop_moves, get_bishop_rays, get_rook_moves, get_rook_rays, line,
};

use crate::chess::position::{BitBoard, Color, Move, Piece, Position, Square};
use crate::chess::score::Score;

/// Piece values for exchanges, in centipawns, indexed by [`Piece`]. Chosen by hand, in the usual
/// proportions.
pub(super) const SEE_VALUE: [Score; 6] = [100, 320, 330, 500, 950, 20_000];

#[inline]
pub(crate) fn value(piece: Piece) -> Score {
    SEE_VALUE[piece.to_index()]
}

/// Whether the exchange started by `mv` wins at least `threshold` centipawns. Both sides always
/// capture with their least valuable piece, and stop when another capture would lose material.
pub(crate) fn see_ge(position: &Position, mv: Move, threshold: Score) -> bool {
    let (from, to) = (mv.from(), mv.to());
    let Some(mover) = position.piece_on(from) else { return false };
    let placed = mv.promotion().unwrap_or(mover);
    let mut balance = gain(position, mv) - threshold;
    if balance < 0 {
        return false;
    }
    balance -= value(placed);
    if balance >= 0 {
        return true;
    }
    let mut occupied =
        (position.occupied() & !BitBoard::from_square(from)) | BitBoard::from_square(to);
    if position.is_en_passant(mv) {
        occupied ^= BitBoard::from_square(to.ubackward(position.side_to_move()));
    }
    exchange(position, to, occupied, balance)
}

fn gain(position: &Position, mv: Move) -> Score {
    let taken = match position.piece_on(mv.to()) {
        Some(piece) => value(piece),
        None if position.is_en_passant(mv) => value(Piece::Pawn),
        None => 0,
    };
    taken + mv.promotion().map_or(0, |piece| value(piece) - value(Piece::Pawn))
}

/// Plays out the exchange. Returns whether the side that started it reaches the threshold.
///
/// `balance` is that side's gain minus the threshold, assuming that its piece on `to` is
/// recaptured. The side that first runs out of useful captures loses the exchange.
fn exchange(position: &Position, to: Square, mut occupied: BitBoard, mut balance: Score) -> bool {
    let board = position.board();
    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let first = position.side_to_move();
    let mut side = !first;
    let mut attackers = position.attackers(to, occupied) & occupied;
    loop {
        let own = attackers & position.by_color(side);
        let held = if own == EMPTY { EMPTY } else { held_back(position, side, to, occupied) };
        let Some((piece, from)) = least(position, own & !held) else { break };
        if piece == Piece::King && attackers & position.by_color(!side) != EMPTY {
            break;
        }
        side = !side;
        balance = -balance - 1 - value(piece);
        if balance >= 0 {
            break;
        }
        occupied ^= BitBoard::from_square(from);
        if matches!(piece, Piece::Pawn | Piece::Bishop | Piece::Queen) {
            attackers |= get_bishop_moves(to, occupied) & diagonal;
        }
        if matches!(piece, Piece::Rook | Piece::Queen) {
            attackers |= get_rook_moves(to, occupied) & straight;
        }
        attackers &= occupied;
    }
    side != first
}

/// Returns the pieces of `side` that cannot capture on `to` because they are pinned to their king.
/// Pieces that are no longer on `occupied` squares are ignored.
fn held_back(position: &Position, side: Color, to: Square, occupied: BitBoard) -> BitBoard {
    let board = position.board();
    let king = position.king(side);
    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let on_rays = get_bishop_rays(king) & diagonal | get_rook_rays(king) & straight;
    let mut held = EMPTY;
    for pinner in on_rays & position.by_color(!side) & occupied {
        let blockers = between(king, pinner) & occupied;
        if blockers.popcnt() == 1 && line(king, pinner) & BitBoard::from_square(to) == EMPTY {
            held |= blockers;
        }
    }
    held
}

#[inline]
fn least(position: &Position, pieces: BitBoard) -> Option<(Piece, Square)> {
    if pieces == EMPTY {
        return None;
    }
    chess::ALL_PIECES.into_iter().find_map(|piece| {
        let of_kind = position.board().pieces(piece) & pieces;
        (of_kind != EMPTY).then(|| (piece, of_kind.to_square()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn see_matches_known_exchanges() {
        for (fen, mv, worth) in [
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
            ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", -220),
            ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 100),
            ("4k3/8/4p3/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 0),
            ("4k3/8/4p3/3p4/8/8/3R4/4K3 w - - 0 1", "d2d5", -400),
            ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("3r3k/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8q", 1350),
            ("4k3/8/8/8/8/8/4K3/8 w - - 0 1", "e2e3", 0),
            ("4k3/4r3/8/8/8/8/3K4/8 w - - 0 1", "d2d3", 0),
            // The only defender of the captured pawn is pinned, along a file in the first position
            // and along a diagonal in the second.
            ("3k4/3n4/5p2/8/8/5R2/8/3RK3 w - - 0 1", "f3f6", 100),
            ("7k/6n1/5B2/7p/7R/8/8/4K3 w - - 0 1", "h4h5", 100),
            // The pinned piece may capture along the line of the pin.
            ("3k4/3r4/8/3p4/8/2N5/8/3RK3 w - - 0 1", "c3d5", 100),
            ("3k4/3r4/8/3p4/8/8/3R4/3QK3 w - - 0 1", "d2d5", 100),
            // The pin ends when the pinning piece itself captures on the square.
            ("3k4/3n4/8/3Rp3/8/8/8/4K3 w - - 0 1", "d5e5", -400),
            // The mover's own defender is pinned.
            ("3rk3/8/5p2/4p3/8/3N4/1B6/3K4 w - - 0 1", "b2e5", -230),
        ] {
            let position = Position::from_fen(fen).expect(fen);
            let mv: Move = mv.parse().expect(mv);
            assert!(see_ge(&position, mv, worth), "{fen} {mv} >= {worth}");
            assert!(!see_ge(&position, mv, worth + 1), "{fen} {mv} < {}", worth + 1);
        }
    }

    #[test]
    fn king_does_not_capture_protected_piece() {
        let fen = "4k3/3q4/8/8/8/3b4/3R4/4K3 w - - 0 1";
        let position = Position::from_fen(fen).expect(fen);
        let mv: Move = "d2d3".parse().expect("a move");
        assert!(!see_ge(&position, mv, 0));
    }
}
