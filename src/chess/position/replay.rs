//! A position for replaying games, updated in place.
//!
//! Code that reads games plays each move once and never undoes it. Therefore, this type does not
//! copy the position for each move, and does not keep track of pins and checks. To resolve a move,
//! it finds the pieces that could move to the target square, and checks that the move does not
//! leave the king in check. For sliders, it looks up the squares between the origin and the target
//! in a table. This table takes 32 kB and stays in the cache, whereas magic tables take nearly a
//! megabyte. In a profile of a book build, resolving and playing a move takes 40% of the time that
//! it takes with a [`Position`].
//!
//! This is a second implementation of the rules, independent of [`Position`]. `tests/position`
//! checks that both agree.

use chess::{
    ALL_SQUARES, BitBoard, CastleRights, Color, EMPTY, File, Piece, Rank, Square, between,
    get_bishop_rays, get_king_moves, get_knight_moves, get_pawn_attacks, get_rook_rays,
};
use shakmaty::CastlingSide;
use shakmaty::san::San;

use super::movegen::PROMOTION_RANKS;
use super::{Move, Position, SanError, zobrist};

const SHORT: u8 = 1;
const LONG: u8 = 2;
/// The index of the lowest bit of Black's castling rights. White's rights are in the lower bits.
const BLACK_SHIFT: u32 = 2;

/// For each square, a mask of the castling rights that are kept when a piece leaves the square or
/// is captured on it.
const KEPT_RIGHTS: [u8; 64] = {
    let mut kept = [0xff; 64];
    kept[0] = !LONG;
    kept[4] = !(SHORT | LONG);
    kept[7] = !SHORT;
    kept[56] = !(LONG << BLACK_SHIFT);
    kept[60] = !((SHORT | LONG) << BLACK_SHIFT);
    kept[63] = !(SHORT << BLACK_SHIFT);
    kept
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replay {
    mailbox: [Option<Piece>; 64],
    pieces: [BitBoard; 6],
    colors: [BitBoard; 2],
    key: u64,
    pawn_key: u64,
    side: Color,
    /// The castling rights. White's are in the low two bits, and Black's are in the next two.
    castling: u8,
    en_passant: Option<Square>,
    halfmove_clock: u16,
}

impl From<&Position> for Replay {
    fn from(position: &Position) -> Self {
        let rights = |color| position.castle_rights(color).to_index() as u8;
        Replay {
            mailbox: ALL_SQUARES.map(|square| position.piece_on(square)),
            pieces: chess::ALL_PIECES.map(|piece| *position.board().pieces(piece)),
            colors: [Color::White, Color::Black].map(|color| position.by_color(color)),
            key: position.key(),
            pawn_key: position.pawn_key(),
            side: position.side_to_move(),
            castling: rights(Color::White) | rights(Color::Black) << BLACK_SHIFT,
            en_passant: position.en_passant_target(),
            halfmove_clock: position.halfmove_clock(),
        }
    }
}

impl Replay {
    #[inline]
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    pub(crate) fn pawn_key(&self) -> u64 {
        self.pawn_key
    }

    #[inline]
    pub(super) fn piece_on(&self, square: Square) -> Option<Piece> {
        self.mailbox[square.to_index()]
    }

    #[inline]
    pub(crate) fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    #[inline]
    pub(crate) fn resolve_san(&self, san: San) -> Result<Move, SanError> {
        match san {
            San::Normal { role, file, rank, capture, to, promotion } => {
                let (piece, to) = (piece_of(role), ALL_SQUARES[usize::from(to)]);
                let mut origins = self.origins(piece, to, capture);
                if let Some(file) = file {
                    origins &= BitBoard(0x0101_0101_0101_0101 << usize::from(file));
                }
                if let Some(rank) = rank {
                    origins &= BitBoard(0xff << (8 * usize::from(rank)));
                }
                let promotion = promotion.map(piece_of);
                let promotes =
                    piece == Piece::Pawn && PROMOTION_RANKS & BitBoard::from_square(to) != EMPTY;
                if promotes != promotion.is_some()
                    || matches!(promotion, Some(Piece::Pawn | Piece::King))
                {
                    return Err(SanError::Illegal);
                }
                let from = self.only_safe(origins, to)?;
                Ok(match promotion {
                    None => Move::new(from, to),
                    Some(piece) => Move::promoting(from, to, piece),
                })
            }
            San::Castle(side) => self.castling(side),
            San::Put { .. } => Err(SanError::Malformed),
            San::Null => Err(SanError::Null),
        }
    }

    #[inline]
    pub(crate) fn play(&mut self, mv: Move) {
        let (us, from, to) = (self.side, mv.from(), mv.to());
        let Some(piece) = self.mailbox[from.to_index()] else { return };
        let state_before = self.state();
        self.halfmove_clock += 1;
        if let Some(taken) = self.mailbox[to.to_index()] {
            self.remove(!us, taken, to);
            self.halfmove_clock = 0;
        }
        self.shift(us, piece, from, to);
        let en_passant = self.en_passant.take();
        match piece {
            Piece::Pawn => self.play_pawn(mv, en_passant),
            Piece::King => self.move_castling_rook(from, to),
            _ => {}
        }
        self.castling &= KEPT_RIGHTS[from.to_index()] & KEPT_RIGHTS[to.to_index()];
        self.side = !us;
        if let Some(target) = self.en_passant
            && !self.can_take_en_passant(target)
        {
            self.en_passant = None;
        }
        self.key ^= zobrist::turn() ^ state_before ^ self.state();
    }

    /// Plays a null move, like [`Position::play_null`]. The side to move must not be in check.
    pub(crate) fn pass(&mut self) {
        let state_before = self.state();
        self.halfmove_clock += 1;
        self.en_passant = None;
        self.side = !self.side;
        self.key ^= zobrist::turn() ^ state_before ^ self.state();
    }

    pub(crate) fn in_check(&self) -> bool {
        let king = self.pieces_of(self.side, Piece::King).to_square();
        self.attacked(king, self.colors[(!self.side).to_index()], self.occupied())
    }

    /// Returns true if the pawn that has just made a double step over `target` can legally be
    /// captured en passant.
    #[cold]
    fn can_take_en_passant(&self, target: Square) -> bool {
        let own = self.pieces_of(self.side, Piece::Pawn);
        get_pawn_attacks(target, !self.side, own).any(|from| self.is_safe(from, target))
    }

    #[inline]
    fn play_pawn(&mut self, mv: Move, en_passant: Option<Square>) {
        let (us, from, to) = (self.side, mv.from(), mv.to());
        self.halfmove_clock = 0;
        if let Some(piece) = mv.promotion() {
            self.remove(us, Piece::Pawn, to);
            self.put(us, piece, to);
        }
        let behind = to.ubackward(us);
        if from.get_file() != to.get_file() {
            if en_passant == Some(to) {
                self.remove(!us, Piece::Pawn, behind);
            }
        } else if behind != from
            && get_pawn_attacks(behind, us, self.pieces_of(!us, Piece::Pawn)) != EMPTY
        {
            self.en_passant = Some(behind);
        }
    }

    #[inline]
    fn move_castling_rook(&mut self, from: Square, to: Square) {
        if get_king_moves(from) & BitBoard::from_square(to) != EMPTY {
            return;
        }
        let (corner, beside) =
            if to > from { (File::H, to.uleft()) } else { (File::A, to.uright()) };
        let corner = Square::make_square(from.get_rank(), corner);
        self.shift(self.side, Piece::Rook, corner, beside);
    }

    #[inline]
    fn put(&mut self, color: Color, piece: Piece, square: Square) {
        self.mailbox[square.to_index()] = Some(piece);
        let key = zobrist::piece_square(color, piece, square);
        self.toggle(color, piece, BitBoard::from_square(square), key);
    }

    #[inline]
    fn remove(&mut self, color: Color, piece: Piece, square: Square) {
        self.mailbox[square.to_index()] = None;
        let key = zobrist::piece_square(color, piece, square);
        self.toggle(color, piece, BitBoard::from_square(square), key);
    }

    #[inline]
    fn shift(&mut self, color: Color, piece: Piece, from: Square, to: Square) {
        self.mailbox[from.to_index()] = None;
        self.mailbox[to.to_index()] = Some(piece);
        let key =
            zobrist::piece_square(color, piece, from) ^ zobrist::piece_square(color, piece, to);
        self.toggle(color, piece, BitBoard::from_square(from) | BitBoard::from_square(to), key);
    }

    /// Adds the piece on the empty squares in `squares`, and removes it from the others. `key` is
    /// the XOR of its Zobrist keys on all these squares.
    #[inline]
    fn toggle(&mut self, color: Color, piece: Piece, squares: BitBoard, key: u64) {
        self.pieces[piece.to_index()] ^= squares;
        self.colors[color.to_index()] ^= squares;
        self.key ^= key;
        if piece == Piece::Pawn {
            self.pawn_key ^= key;
        }
    }

    #[inline]
    fn state(&self) -> u64 {
        zobrist::state_of(self.castling, self.en_passant.map(|square| square.get_file()))
    }

    #[inline]
    fn occupied(&self) -> BitBoard {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    fn pieces_of(&self, color: Color, piece: Piece) -> BitBoard {
        self.pieces[piece.to_index()] & self.colors[color.to_index()]
    }

    /// Returns the squares from which a piece of the given kind can move to `to`. The piece belongs
    /// to the side to move, and the move may leave its king in check.
    #[inline]
    fn origins(&self, piece: Piece, to: Square, capture: bool) -> BitBoard {
        let us = self.side;
        let own = self.pieces_of(us, piece);
        let occupied = self.occupied();
        if BitBoard::from_square(to) & self.colors[us.to_index()] != EMPTY {
            return EMPTY;
        }
        match piece {
            Piece::Pawn => self.pawn_origins(own, to, capture),
            Piece::Knight => own & get_knight_moves(to),
            Piece::King => own & get_king_moves(to),
            Piece::Bishop => seen_from(to, own & get_bishop_rays(to), occupied),
            Piece::Rook => seen_from(to, own & get_rook_rays(to), occupied),
            Piece::Queen => {
                seen_from(to, own & (get_bishop_rays(to) | get_rook_rays(to)), occupied)
            }
        }
    }

    #[inline]
    fn pawn_origins(&self, own: BitBoard, to: Square, capture: bool) -> BitBoard {
        let us = self.side;
        let empty = self.mailbox[to.to_index()].is_none();
        if capture {
            let takes = !empty || self.en_passant == Some(to);
            return if takes { get_pawn_attacks(to, !us, own) } else { EMPTY };
        }
        if !empty {
            return EMPTY;
        }
        let behind = to.ubackward(us);
        let double_rank = if us == Color::White { Rank::Fourth } else { Rank::Fifth };
        if self.mailbox[behind.to_index()].is_none() && to.get_rank() == double_rank {
            return own & BitBoard::from_square(behind.ubackward(us));
        }
        own & BitBoard::from_square(behind)
    }

    /// Returns the only square in `origins` from which a piece can move to `to` without leaving its
    /// king in check. Fails if there is no such square or more than one.
    #[inline]
    fn only_safe(&self, origins: BitBoard, to: Square) -> Result<Square, SanError> {
        let mut found = Err(SanError::Illegal);
        for from in origins {
            if self.is_safe(from, to) {
                if found.is_ok() {
                    return Err(SanError::Ambiguous);
                }
                found = Ok(from);
            }
        }
        found
    }

    #[inline]
    fn is_safe(&self, from: Square, to: Square) -> bool {
        let us = self.side;
        let (left, entered) = (BitBoard::from_square(from), BitBoard::from_square(to));
        let piece = self.mailbox[from.to_index()];
        let king = match piece {
            Some(Piece::King) => to,
            _ => self.pieces_of(us, Piece::King).to_square(),
        };
        let mut gone = entered;
        let mut occupied = self.occupied() & !left;
        if piece == Some(Piece::Pawn) && self.en_passant == Some(to) {
            gone |= BitBoard::from_square(to.ubackward(us));
            occupied &= !gone;
        }
        !self.attacked(king, self.colors[(!us).to_index()] & !gone, occupied | entered)
    }

    /// Returns true if an enemy piece on one of the squares in `by` attacks `square`.
    #[inline]
    fn attacked(&self, square: Square, by: BitBoard, occupied: BitBoard) -> bool {
        let [pawns, knights, bishops, rooks, queens, kings] = self.pieces;
        let near = (knights & get_knight_moves(square))
            | (kings & get_king_moves(square))
            | get_pawn_attacks(square, self.side, pawns);
        let far = ((bishops | queens) & get_bishop_rays(square))
            | ((rooks | queens) & get_rook_rays(square));
        near & by != EMPTY || seen_from(square, far & by, occupied) != EMPTY
    }

    fn castling(&self, side: CastlingSide) -> Result<Move, SanError> {
        let us = self.side;
        let rights = CastleRights::from_index(usize::from(
            self.castling >> (BLACK_SHIFT * us.to_index() as u32) & (SHORT | LONG),
        ));
        let king = self.pieces_of(us, Piece::King).to_square();
        let short = side == CastlingSide::KingSide;
        let (has_right, path) = if short {
            (rights.has_kingside(), rights.kingside_squares(us))
        } else {
            (rights.has_queenside(), rights.queenside_squares(us))
        };
        if !has_right || path & self.occupied() != EMPTY {
            return Err(SanError::Illegal);
        }
        let (over, to) = if short {
            (king.uright(), king.uright().uright())
        } else {
            (king.uleft(), king.uleft().uleft())
        };
        let theirs = self.colors[(!us).to_index()];
        let attacked = |square| self.attacked(square, theirs, self.occupied());
        if attacked(king) || attacked(over) || attacked(to) {
            return Err(SanError::Illegal);
        }
        Ok(Move::new(king, to))
    }
}

#[inline]
fn piece_of(role: shakmaty::Role) -> Piece {
    chess::ALL_PIECES[usize::from(role) - 1]
}

/// Returns the squares in `pieces` from which a slider has an unblocked path to `square`. Each of
/// them must be on the same rank, file or diagonal as `square`.
#[inline]
fn seen_from(square: Square, pieces: BitBoard, occupied: BitBoard) -> BitBoard {
    let hidden = |&from: &Square| between(from, square) & occupied != EMPTY;
    pieces.filter(hidden).fold(pieces, |seen, from| seen ^ BitBoard::from_square(from))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, proptest};
    use proptest::sample::select;

    use super::*;

    const PLIES: usize = 120;
    const PLIES_TO_NULL: u16 = 8;

    /// Starting positions in which castling, promotions and en passant captures soon become
    /// possible, including en passant captures by pinned pawns.
    const STARTS: [&str; 4] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "rnbqkbnr/8/8/pPpPpPpP/PpPpPpPp/8/8/RNBQKBNR w KQkq - 0 1",
        "8/PPPPPPPP/8/7k/K7/8/pppppppp/8 b - - 0 1",
    ];

    proptest! {
        #[test]
        fn replay_reaches_the_same_positions_as_play(
            fen in select(&STARTS[..]),
            choices in vec(any::<u16>(), 0..=PLIES),
        ) {
            let mut position = Position::from_fen(fen).expect(fen);
            let mut reading = Replay::from(&position);
            for choice in choices {
                assert_eq!(reading.in_check(), position.in_check(), "{position}");
                if choice % PLIES_TO_NULL == 0 && let Some(passed) = position.play_null() {
                    position = passed;
                    reading.pass();
                    assert_eq!(reading, Replay::from(&position), "{position}");
                }
                let moves = position.legal_moves();
                let pick = usize::from(choice) % moves.len().max(1);
                let Some(mv) = moves.iter().nth(pick) else { break };
                position = position.play(mv);
                reading.play(mv);
                assert_eq!(reading, Replay::from(&position), "{position}");
            }
        }
    }
}
