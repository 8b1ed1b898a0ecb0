//! Generates legal moves using the attack tables of the `chess` crate, and tests the legality of a
//! single move without generating the others.
//!
//! Captures and quiet moves are generated separately, so that the search need not generate quiet
//! moves if a capture causes a cutoff. Pins and checks are handled with masks, so no move has to be
//! played to test its legality. See <https://www.chessprogramming.org/Move_Generation#Legal>.

use arrayvec::ArrayVec;
use chess::{
    BitBoard, Color, EMPTY, Piece, Square, between, get_bishop_moves, get_king_moves,
    get_knight_moves, get_pawn_attacks, get_pawn_quiets, get_rook_moves, line,
};

use super::{Move, Position};

/// Upper bound on the number of legal moves in any position that can be set up. A side has at most
/// fifteen pieces in addition to its king. The king has at most 8 moves, and each other piece has
/// at most 27, the maximum for a queen. Castling need not be counted: it adds at most two moves but
/// requires a rook, which has at least 13 fewer moves than a queen. Positions that can occur in a
/// game have at most 218 moves (R. Petrović, 1964).
pub(crate) const MAX_MOVES: usize = 15 * 27 + 8;
pub(super) const PROMOTION_RANKS: BitBoard = BitBoard(0xff00_0000_0000_00ff);
const PROMOTION_PIECES: [Piece; 4] = [Piece::Queen, Piece::Knight, Piece::Rook, Piece::Bishop];

/// A list of moves that is stored on the stack.
#[derive(Clone, Default)]
pub struct MoveList(ArrayVec<Move, MAX_MOVES>);

impl MoveList {
    /// Creates an empty list.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a move.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        self.0.push(mv);
    }

    /// Returns the number of moves.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the moves in the order in which they were appended.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Move> + '_ {
        self.0.iter().copied()
    }

    /// Whether the list contains `mv`.
    pub fn contains(&self, mv: Move) -> bool {
        self.0.contains(&mv)
    }
}

/// Returns the squares attacked by a piece on `from`. `piece` must not be a pawn. See
/// [`chess::get_pawn_attacks`] for pawns.
#[inline]
pub(crate) fn attacks(piece: Piece, from: Square, occupied: BitBoard) -> BitBoard {
    match piece {
        Piece::Pawn => EMPTY,
        Piece::Knight => get_knight_moves(from),
        Piece::Bishop => get_bishop_moves(from, occupied),
        Piece::Rook => get_rook_moves(from, occupied),
        Piece::Queen => get_bishop_moves(from, occupied) | get_rook_moves(from, occupied),
        Piece::King => get_king_moves(from),
    }
}

/// Returns the number of moves that a king needs from one square to the other on an empty board.
#[inline]
pub(crate) fn distance(a: Square, b: Square) -> i32 {
    let files = a.get_file().to_index().abs_diff(b.get_file().to_index());
    let ranks = a.get_rank().to_index().abs_diff(b.get_rank().to_index());
    files.max(ranks) as i32
}

impl Position {
    /// Returns all legal moves.
    pub fn legal_moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.noisy_moves(&mut list);
        self.quiet_moves(&mut list);
        list
    }

    /// Appends the legal captures (including en passant) and promotions.
    pub fn noisy_moves(&self, list: &mut MoveList) {
        self.generate::<true>(list);
    }

    /// Appends the legal moves that neither capture nor promote.
    pub fn quiet_moves(&self, list: &mut MoveList) {
        self.generate::<false>(list);
    }

    fn generate<const NOISY: bool>(&self, list: &mut MoveList) {
        let us = self.side_to_move();
        let occupied = self.occupied();
        let wanted = if NOISY { self.by_color(!us) } else { !occupied };
        self.king_moves(wanted, list);
        if self.checkers().popcnt() > 1 {
            return;
        }
        let mask = self.check_mask();
        self.pawn_moves::<NOISY>(mask, list);
        for piece in [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
            for from in self.pieces(us, piece) {
                let targets = attacks(piece, from, occupied) & wanted & mask & self.pin_mask(from);
                for to in targets {
                    list.push(Move::new(from, to));
                }
            }
        }
        if !NOISY && self.checkers() == EMPTY {
            self.castling_moves(list);
        }
    }

    /// Returns the squares to which pieces other than the king may move, ignoring pins. If the king
    /// is in check, these are the squares on which a piece would block the check or capture the
    /// checking piece; otherwise, all squares. Must not be called in double check.
    #[inline]
    fn check_mask(&self) -> BitBoard {
        match self.checkers() {
            EMPTY => !EMPTY,
            checkers => between(checkers.to_square(), self.king(self.side_to_move())) | checkers,
        }
    }

    /// Returns the squares to which the piece on `from` may move without exposing its king.
    #[inline]
    fn pin_mask(&self, from: Square) -> BitBoard {
        if self.pinned() & BitBoard::from_square(from) == EMPTY {
            !EMPTY
        } else {
            line(from, self.king(self.side_to_move()))
        }
    }

    fn king_moves(&self, wanted: BitBoard, list: &mut MoveList) {
        let from = self.king(self.side_to_move());
        for to in get_king_moves(from) & wanted {
            if self.king_is_safe_on(to) {
                list.push(Move::new(from, to));
            }
        }
    }

    #[inline]
    fn king_is_safe_on(&self, to: Square) -> bool {
        let us = self.side_to_move();
        let without_king = self.occupied() ^ BitBoard::from_square(self.king(us));
        self.attackers(to, without_king) & self.by_color(!us) == EMPTY
    }

    /// Returns the squares of the pieces of both sides that attack `target`. Sliders are blocked by
    /// `occupied` instead of the pieces on the board.
    #[inline]
    pub fn attackers(&self, target: Square, occupied: BitBoard) -> BitBoard {
        let board = self.board();
        let queens = *board.pieces(Piece::Queen);
        let pawns = board.pieces(Piece::Pawn);
        // White pawns attack `target` from the squares that a black pawn on `target` would attack.
        (get_pawn_attacks(target, Color::Black, pawns & self.by_color(Color::White)))
            | (get_pawn_attacks(target, Color::White, pawns & self.by_color(Color::Black)))
            | (get_knight_moves(target) & board.pieces(Piece::Knight))
            | (get_king_moves(target) & board.pieces(Piece::King))
            | (get_bishop_moves(target, occupied) & (board.pieces(Piece::Bishop) | queens))
            | (get_rook_moves(target, occupied) & (board.pieces(Piece::Rook) | queens))
    }

    fn pawn_moves<const NOISY: bool>(&self, mask: BitBoard, list: &mut MoveList) {
        let us = self.side_to_move();
        let (occupied, theirs) = (self.occupied(), self.by_color(!us));
        for from in self.pieces(us, Piece::Pawn) {
            let mask = mask & self.pin_mask(from);
            let pushes = get_pawn_quiets(from, us, occupied) & mask;
            if NOISY {
                let noisy = get_pawn_attacks(from, us, theirs) & mask | pushes & PROMOTION_RANKS;
                push_pawn_moves(from, noisy, list);
            } else {
                push_pawn_moves(from, pushes & !PROMOTION_RANKS, list);
            }
        }
        if NOISY && let Some(to) = self.en_passant_target() {
            for from in get_pawn_attacks(to, !us, self.pieces(us, Piece::Pawn)) {
                if self.en_passant_is_safe(from, to) {
                    list.push(Move::new(from, to));
                }
            }
        }
    }

    /// Returns true if a pawn can legally capture en passant on `to`. The caller must have checked
    /// that a pawn is next to the pawn that made the double step.
    #[cold]
    pub(super) fn can_take_en_passant(&self, to: Square) -> bool {
        let us = self.side_to_move();
        let mut takers = get_pawn_attacks(to, !us, self.pieces(us, Piece::Pawn));
        takers.any(|from| self.en_passant_is_safe(from, to))
    }

    /// Returns true if the king of the capturing side is not in check after an en passant capture.
    /// Pin and check masks cannot determine this, because two pawns leave their squares at the same
    /// time.
    fn en_passant_is_safe(&self, from: Square, to: Square) -> bool {
        let us = self.side_to_move();
        let king = self.king(us);
        let victim = BitBoard::from_square(to.ubackward(us));
        let occupied =
            (self.occupied() ^ BitBoard::from_square(from) ^ victim) | BitBoard::from_square(to);
        self.attackers(king, occupied) & self.by_color(!us) & !victim == EMPTY
    }

    fn castling_moves(&self, list: &mut MoveList) {
        let us = self.side_to_move();
        let king = self.king(us);
        let rights = self.board().castle_rights(us);
        if rights.has_kingside() {
            self.push_castling(king, rights.kingside_squares(us), king.uright(), list);
        }
        if rights.has_queenside() {
            self.push_castling(king, rights.queenside_squares(us), king.uleft(), list);
        }
    }

    fn push_castling(&self, king: Square, path: BitBoard, over: Square, list: &mut MoveList) {
        let to = if over > king { over.uright() } else { over.uleft() };
        let free = path & self.occupied() == EMPTY;
        if free && self.king_is_safe_on(over) && self.king_is_safe_on(to) {
            list.push(Move::new(king, to));
        }
    }

    /// Returns true if `mv` is legal in this position. `mv` may come from any source, such as a
    /// table, a book or a user. The test takes a tenth of the time needed to generate all moves.
    pub fn is_legal(&self, mv: Move) -> bool {
        let us = self.side_to_move();
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.piece_on(from) else { return false };
        let from_bb = BitBoard::from_square(from);
        let to_bb = BitBoard::from_square(to);
        if from_bb & self.by_color(us) == EMPTY || to_bb & self.by_color(us) != EMPTY {
            return false;
        }
        let promotes = piece == Piece::Pawn && to_bb & PROMOTION_RANKS != EMPTY;
        if promotes != mv.promotion().is_some() {
            return false;
        }
        match piece {
            Piece::King => self.king_move_is_legal(from, to),
            _ if self.checkers().popcnt() > 1 => false,
            Piece::Pawn
                if self.en_passant_target() == Some(to) && from.get_file() != to.get_file() =>
            {
                get_pawn_attacks(from, us, to_bb) != EMPTY && self.en_passant_is_safe(from, to)
            }
            _ => {
                let reach = match piece {
                    Piece::Pawn => {
                        get_pawn_attacks(from, us, self.by_color(!us))
                            | get_pawn_quiets(from, us, self.occupied())
                    }
                    _ => attacks(piece, from, self.occupied()),
                };
                reach & to_bb & self.check_mask() & self.pin_mask(from) != EMPTY
            }
        }
    }

    fn king_move_is_legal(&self, from: Square, to: Square) -> bool {
        if get_king_moves(from) & BitBoard::from_square(to) != EMPTY {
            return self.king_is_safe_on(to);
        }
        if self.checkers() != EMPTY {
            return false;
        }
        let mut castling = MoveList::new();
        self.castling_moves(&mut castling);
        castling.contains(Move::new(from, to))
    }

    /// Returns true if `mv` is a capture, including en passant. `mv` must be legal in this
    /// position.
    #[inline]
    pub fn is_capture(&self, mv: Move) -> bool {
        BitBoard::from_square(mv.to()) & self.occupied() != EMPTY || self.is_en_passant(mv)
    }

    /// Returns true if `mv` is a capture or a promotion. `mv` must be legal in this position.
    #[inline]
    pub fn is_noisy(&self, mv: Move) -> bool {
        mv.promotion().is_some() || self.is_capture(mv)
    }

    /// Returns true if `mv` is an en passant capture. `mv` must be legal in this position.
    #[inline]
    pub fn is_en_passant(&self, mv: Move) -> bool {
        self.en_passant_target() == Some(mv.to())
            && self.piece_on(mv.from()) == Some(Piece::Pawn)
            && mv.from().get_file() != mv.to().get_file()
    }

    /// Returns true if `mv` is a castling move. `mv` must be legal in this position.
    #[inline]
    pub fn is_castling(&self, mv: Move) -> bool {
        self.piece_on(mv.from()) == Some(Piece::King)
            && get_king_moves(mv.from()) & BitBoard::from_square(mv.to()) == EMPTY
    }
}

#[inline]
fn push_pawn_moves(from: Square, targets: BitBoard, list: &mut MoveList) {
    for to in targets {
        if BitBoard::from_square(to) & PROMOTION_RANKS == EMPTY {
            list.push(Move::new(from, to));
        } else {
            for piece in PROMOTION_PIECES {
                list.push(Move::promoting(from, to, piece));
            }
        }
    }
}
