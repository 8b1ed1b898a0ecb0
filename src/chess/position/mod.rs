//! A position: a [`chess::Board`] with a Polyglot key, clocks, and a table of the piece on each
//! square.
//!
//! A [`Position`] is created from a validated FEN. [`Position::play`] and [`Position::play_null`]
//! return a new position, so the keys always match the position.
//!
//! `shakmaty` validates every FEN, because `chess::Board` corrupts memory in some illegal
//! positions. No code outside this module creates a `chess::Board`. Check a [`Move`] from a table,
//! a book or a user with [`Position::is_legal`] before calling [`Position::play`].
//!
//! The key includes an en passant square only if the capture is legal, taking pins into account.
//! For Polyglot books, see [`Position::polyglot_key`].
//!
//! ```
//! use tabia::position::{Game, Position, perft};
//!
//! let mut game = Game::new(Position::start());
//! for text in ["e4", "e7e5", "Ngf3"] {
//!     game.play(game.position().parse_move(text)?)?;
//! }
//! let position = game.position();
//! assert_eq!(position.fen(), "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
//! assert_eq!(position.san(position.parse_move("b8c6")?), "Nc6");
//! assert_eq!(perft(position, 1), position.legal_moves().len() as u64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checks;
mod cycles;
mod fen;
mod game;
mod key_map;
mod loose;
mod movegen;
mod moves;
mod perft;
mod polyglot_constants;
mod replay;
mod retro;
mod san;
mod threats;
mod zobrist;

pub use chess::{BitBoard, Color, File, Piece, Rank, Square};

pub(crate) use checks::Checks;
pub(crate) use cycles::Cycles;
pub(crate) use fen::is_chess960;
pub use game::{Game, IllegalMove, Outcome, OutcomeReason};
pub(crate) use key_map::{KeyHasher, KeyMap};
pub(crate) use loose::is_loose_san;
pub use movegen::MoveList;
pub(crate) use movegen::{MAX_MOVES, attacks, distance};
pub use moves::Move;
pub(crate) use moves::{UCI_BYTES, UCI_NULL};
pub use perft::{perft, perft_until};
pub(crate) use replay::Replay;
pub use san::SanError;
pub(crate) use san::{SAN_BYTES, read_san};

pub(crate) use threats::{FILE_A, FILE_H, Threats, sideways};

use chess::{Board, CastleRights, EMPTY};

pub(crate) const LIGHT_SQUARES: BitBoard = BitBoard(0x55aa_55aa_55aa_55aa);

/// A legal chess position with its move counters and Zobrist keys.
#[derive(Clone, Copy)]
pub struct Position {
    /// The board. Its en passant square is set after a double step if an enemy pawn is next to the
    /// pawn that moved, even if capturing is illegal.
    board: Board,
    /// The piece on each square, stored here because `Board` can find a piece only by searching its
    /// bitboards.
    squares: [Option<Piece>; 64],
    key: u64,
    pawn_key: u64,
    non_pawn_keys: [u64; 2],
    halfmove_clock: u16,
    fullmove_number: u16,
    en_passant: Option<Square>,
}

/// Compares the pieces, side to move, castling rights, legal en passant square and move counters.
impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        let facts = |position: &Position| {
            let pieces = chess::ALL_PIECES.map(|piece| *position.board.pieces(piece));
            let colors = [Color::White, Color::Black];
            let sides = colors
                .map(|color| (position.by_color(color), position.castle_rights(color).to_index()));
            let clocks = (position.halfmove_clock, position.fullmove_number);
            (pieces, sides, position.side_to_move(), position.en_passant, clocks)
        };
        self.key == other.key && facts(self) == facts(other)
    }
}

impl Eq for Position {}

impl Position {
    /// Returns the start position of chess.
    pub fn start() -> Self {
        Self::from_board(Board::default(), 0, 1)
    }

    fn from_board(board: Board, halfmove_clock: u16, fullmove_number: u16) -> Self {
        let mut position = Position {
            key: 0,
            pawn_key: zobrist::pawn_key(&board),
            non_pawn_keys: [Color::White, Color::Black]
                .map(|color| zobrist::non_pawn_key(&board, color)),
            squares: chess::ALL_SQUARES.map(|square| board.piece_on(square)),
            board,
            halfmove_clock,
            fullmove_number,
            en_passant: None,
        };
        position.find_en_passant();
        position.key = zobrist::key(&board, position.en_passant);
        position
    }

    /// Sets the en passant square if a pawn can legally capture there, and clears it otherwise. The
    /// capture is illegal if the capturing pawn is pinned or if it leaves the king in check from
    /// another piece.
    #[inline]
    fn find_en_passant(&mut self) {
        self.en_passant = match self.board.en_passant() {
            None => None,
            Some(pawn) => {
                let target = pawn.uforward(self.side_to_move());
                self.can_take_en_passant(target).then_some(target)
            }
        };
    }

    #[inline]
    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the key used by the book, the transposition table and repetition detection.
    ///
    /// The key includes the en passant file only if a pawn can legally capture there. Otherwise,
    /// the rules of chess do not distinguish the position from one reached without the double step.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the key under which books made by Polyglot store this position.
    ///
    /// The key includes the en passant file whenever an enemy pawn is next to the pawn that made a
    /// double step, even if the enemy pawn is pinned. If the position was read from a FEN without
    /// an en passant square, the result equals [`Position::key`].
    pub fn polyglot_key(&self) -> u64 {
        let target = self.board.en_passant().map(|pawn| pawn.uforward(self.side_to_move()));
        self.key
            ^ zobrist::state(&self.board, self.en_passant)
            ^ zobrist::state(&self.board, target)
    }

    /// Returns the Zobrist key of the pawns of both sides.
    #[inline]
    pub fn pawn_key(&self) -> u64 {
        self.pawn_key
    }

    /// Returns the Zobrist key of the given side's pieces, excluding pawns.
    #[inline]
    pub fn non_pawn_key(&self, color: Color) -> u64 {
        self.non_pawn_keys[color.to_index()]
    }

    /// Returns the side to move.
    #[inline]
    pub fn side_to_move(&self) -> Color {
        self.board.side_to_move()
    }

    /// Returns the number of plies since the last capture or pawn move.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// Returns the number of the current move, which starts at 1 and increases after each move by
    /// Black.
    #[inline]
    pub fn fullmove_number(&self) -> u16 {
        self.fullmove_number
    }

    /// Returns all occupied squares.
    #[inline]
    pub fn occupied(&self) -> BitBoard {
        *self.board.combined()
    }

    /// Returns the squares occupied by the given side.
    #[inline]
    pub fn by_color(&self, color: Color) -> BitBoard {
        *self.board.color_combined(color)
    }

    /// Returns the squares occupied by the given side's pieces of the given kind.
    #[inline]
    pub fn pieces(&self, color: Color, piece: Piece) -> BitBoard {
        self.board.pieces(piece) & self.board.color_combined(color)
    }

    /// Returns the piece on `square`.
    #[inline]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        self.squares[square.to_index()]
    }

    #[inline]
    pub(crate) fn squares(&self) -> &[Option<Piece>; 64] {
        &self.squares
    }

    /// Returns the square of the given side's king.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.board.king_square(color)
    }

    /// Returns the squares of the enemy pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> BitBoard {
        *self.board.checkers()
    }

    /// Returns the squares of the pieces that shield the king of the side to move: pieces of either
    /// colour that stand alone between the king and an enemy slider.
    #[inline]
    pub fn pinned(&self) -> BitBoard {
        *self.board.pinned()
    }

    /// Returns true if the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.checkers() != EMPTY
    }

    /// Returns the target square of a legal en passant capture, if there is one.
    #[inline]
    pub fn en_passant_target(&self) -> Option<Square> {
        self.en_passant
    }

    /// Returns true if `color` has any piece other than its king and pawns.
    #[inline]
    pub fn has_pieces(&self, color: Color) -> bool {
        let light = self.board.pieces(Piece::Pawn) | self.board.pieces(Piece::King);
        self.by_color(color) & !light != EMPTY
    }

    /// Returns the position after `mv`, which must be legal in this position.
    #[inline]
    pub fn play(&self, mv: Move) -> Position {
        self.play_on(mv, self.keys_after(mv))
    }

    /// Returns the Zobrist keys after `mv`, ignoring changes to castling rights and the en passant
    /// square. Computing them takes a quarter of the time needed to play the move.
    #[inline]
    pub(crate) fn keys_after(&self, mv: Move) -> Keys {
        debug_assert!(self.is_legal(mv), "{mv} is illegal in {self}");
        Keys::after(self, mv)
    }

    /// Returns the position after `mv`, given the keys returned by [`Position::keys_after`]. The
    /// position is built in place. Copying data immediately after writing it would stall until the
    /// writes complete.
    #[inline]
    pub(crate) fn play_on(&self, mv: Move, keys: Keys) -> Position {
        let us = self.side_to_move();
        let mut next = *self;
        self.board.make_move(mv.into(), &mut next.board);
        self.update_squares(mv, &mut next.squares);
        next.pawn_key ^= keys.pawns;
        next.non_pawn_keys[us.to_index()] ^= keys.own;
        next.non_pawn_keys[(!us).to_index()] ^= keys.enemy;
        next.halfmove_clock = if keys.irreversible { 0 } else { self.halfmove_clock + 1 };
        next.fullmove_number += (us == Color::Black) as u16;
        next.find_en_passant();
        let states = [self, &next].map(|at| zobrist::state(&at.board, at.en_passant));
        next.key = keys.whole ^ states[0] ^ states[1];
        next
    }

    #[inline(always)]
    fn update_squares(&self, mv: Move, squares: &mut [Option<Piece>; 64]) {
        let (from, to) = (mv.from(), mv.to());
        squares[from.to_index()] = None;
        squares[to.to_index()] = mv.promotion().or(self.piece_on(from));
        if self.is_en_passant(mv) {
            squares[to.ubackward(self.side_to_move()).to_index()] = None;
        } else if self.is_castling(mv) {
            let (rook_from, rook_to) = castling_rook(from, to);
            squares.swap(rook_from.to_index(), rook_to.to_index());
        }
    }

    /// Returns the position after `mv`, or `None` if the move is illegal. `mv` may be a null move.
    pub fn try_play(&self, mv: Move) -> Option<Position> {
        if mv.is_null() {
            return self.play_null();
        }
        self.is_legal(mv).then(|| self.play(mv))
    }

    /// Returns the position after a null move, or `None` if the side to move is in check.
    #[inline]
    pub fn play_null(&self) -> Option<Position> {
        let board = self.board.null_move()?;
        let state = zobrist::state(&self.board, self.en_passant) ^ zobrist::state(&board, None);
        let key = self.key ^ zobrist::turn() ^ state;
        let halfmove_clock = self.halfmove_clock + 1;
        let passed_by_black = (self.side_to_move() == Color::Black) as u16;
        let fullmove_number = self.fullmove_number + passed_by_black;
        let en_passant = None;
        Some(Position { board, key, halfmove_clock, fullmove_number, en_passant, ..*self })
    }

    /// Returns the value that is XORed into [`Position::key`] when the side to move changes.
    #[inline]
    pub fn turn_key() -> u64 {
        zobrist::turn()
    }

    /// Returns true if neither side has enough material to mate. This is the case if there are,
    /// besides the kings, no pieces, a single knight, or only bishops that are all on squares of
    /// the same colour.
    pub fn insufficient_material(&self) -> bool {
        let board = &self.board;
        let heavy =
            board.pieces(Piece::Pawn) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
        if heavy != EMPTY {
            return false;
        }
        let (knights, bishops) = (*board.pieces(Piece::Knight), *board.pieces(Piece::Bishop));
        if knights != EMPTY {
            return knights.popcnt() == 1 && bishops == EMPTY;
        }
        bishops & LIGHT_SQUARES == EMPTY || bishops & !LIGHT_SQUARES == EMPTY
    }

    /// Returns true if `color` has enough material to mate by some sequence of legal moves. If not,
    /// the game is a draw when the opponent runs out of time (FIDE Laws of Chess, 6.9).
    ///
    /// Source: python-chess, `Board.has_insufficient_material`.
    pub fn can_mate(&self, color: Color) -> bool {
        let board = &self.board;
        let pieces = |piece| *board.pieces(piece);
        let [own, other] = [color, !color].map(|color| self.by_color(color));
        let (knights, bishops) = (pieces(Piece::Knight), pieces(Piece::Bishop));
        if own & (pieces(Piece::Pawn) | pieces(Piece::Rook) | pieces(Piece::Queen)) != EMPTY {
            return true;
        }
        if own & knights != EMPTY {
            // A lone knight can mate only if the opponent has a piece other than a queen that can
            // block a flight square of its own king.
            let helpers = other & !pieces(Piece::King) & !pieces(Piece::Queen);
            return own.popcnt() > 2 || helpers != EMPTY;
        }
        if own & bishops != EMPTY {
            let both_colors = bishops & LIGHT_SQUARES != EMPTY && bishops & !LIGHT_SQUARES != EMPTY;
            return both_colors || (knights | pieces(Piece::Pawn)) != EMPTY;
        }
        false
    }

    /// Returns true if the side to move has no legal moves.
    pub fn has_no_moves(&self) -> bool {
        self.legal_moves().is_empty()
    }

    #[inline]
    pub(crate) fn castle_rights(&self, color: Color) -> CastleRights {
        self.board.castle_rights(color)
    }
}

/// The complete Zobrist key after a move, and the values to be XORed into the partial keys. All of
/// them ignore changes to castling rights and the en passant square. `own` and `enemy` are separate
/// fields, because the compiler keeps separate fields in registers, but not an array indexed by
/// colour.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    whole: u64,
    pawns: u64,
    own: u64,
    enemy: u64,
    irreversible: bool,
}

impl Keys {
    #[inline]
    pub(crate) fn pawns(&self) -> u64 {
        self.pawns
    }

    /// Returns the transposition table key after the move. It is available early enough to prefetch
    /// the table entry, but it is wrong if the move changes the castling rights or the en passant
    /// square.
    #[inline]
    pub(crate) fn whole(&self) -> u64 {
        self.whole
    }

    /// Returns the keys after `mv`, which must be legal in `position`.
    #[inline(always)]
    fn after(position: &Position, mv: Move) -> Self {
        let us = position.side_to_move();
        let (from, to) = (mv.from(), mv.to());
        let (mut pawns, mut own, mut enemy) = (0, 0, 0);
        let moved = position.piece_on(from).unwrap_or(Piece::Pawn);
        let taken = position.piece_on(to);
        let leaves = zobrist::piece_square(us, moved, from);
        let arrives = zobrist::piece_square(us, mv.promotion().unwrap_or(moved), to);
        match (moved, mv.promotion()) {
            (Piece::Pawn, None) => pawns ^= leaves ^ arrives,
            (Piece::Pawn, Some(_)) => (pawns, own) = (leaves, arrives),
            _ => own ^= leaves ^ arrives,
        }
        match taken {
            Some(Piece::Pawn) => pawns ^= zobrist::piece_square(!us, Piece::Pawn, to),
            Some(taken) => enemy ^= zobrist::piece_square(!us, taken, to),
            None if position.is_en_passant(mv) => {
                pawns ^= zobrist::piece_square(!us, Piece::Pawn, to.ubackward(us));
            }
            None if position.is_castling(mv) => {
                let (rook_from, rook_to) = castling_rook(from, to);
                own ^= zobrist::piece_square(us, Piece::Rook, rook_from)
                    ^ zobrist::piece_square(us, Piece::Rook, rook_to);
            }
            None => {}
        }
        let whole = position.key ^ zobrist::turn() ^ pawns ^ own ^ enemy;
        let irreversible = moved == Piece::Pawn || taken.is_some();
        Keys { whole, pawns, own, enemy, irreversible }
    }
}

/// Returns the origin and target squares of the rook in castling, given those of the king.
#[inline]
fn castling_rook(from: Square, to: Square) -> (Square, Square) {
    if to > from { (to.uright(), to.uleft()) } else { (to.uleft().uleft(), to.uright()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).expect(fen)
    }

    #[test]
    fn moves_update_halfmove_clock_and_move_number() {
        let mut position = Position::start();
        let moves = ["e2e4 0 1", "g8f6 1 2", "b1c3 2 2", "f6e4 0 3", "c3e4 0 3", "d7d5 0 4"];
        for row in moves {
            let fields: Vec<&str> = row.split(' ').collect();
            position = position.play(fields[0].parse().expect(row));
            let clocks = (position.halfmove_clock(), position.fullmove_number());
            assert_eq!(
                clocks,
                (fields[1].parse().expect(row), fields[2].parse().expect(row)),
                "{row}"
            );
        }
    }

    fn compare_squares(position: &Position, plies: usize) {
        for square in chess::ALL_SQUARES {
            assert_eq!(position.piece_on(square), position.board.piece_on(square), "{position}");
        }
        if plies > 0 {
            let moves = position.legal_moves();
            moves.iter().for_each(|mv| compare_squares(&position.play(mv), plies - 1));
        }
    }

    #[test]
    fn piece_array_matches_the_bitboards() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k3/1P6/8/2pP4/8/8/6p1/4K2R w Kq c6 0 1",
        ] {
            compare_squares(&position(fen), 3);
        }
    }

    #[test]
    fn insufficient_material_is_detected() {
        for (fen, insufficient) in [
            ("8/8/4k3/8/8/4K3/8/8 w - - 0 1", true),
            ("8/8/4k3/8/6N1/4K3/8/8 w - - 0 1", true),
            ("8/8/4k3/8/5B2/4K3/8/8 w - - 0 1", true),
            ("8/8/4kb2/8/5B2/4K3/8/8 w - - 0 1", true),
            ("8/8/4k1b1/8/5B2/4K3/8/8 w - - 0 1", false),
            ("8/8/4kn2/8/6N1/4K3/8/8 w - - 0 1", false),
            ("8/8/4k3/8/4N1N1/4K3/8/8 w - - 0 1", false),
            ("8/8/4k3/8/4B1N1/4K3/8/8 w - - 0 1", false),
            ("8/8/4k3/8/4P3/4K3/8/8 w - - 0 1", false),
        ] {
            assert_eq!(position(fen).insufficient_material(), insufficient, "{fen}");
        }
    }

    #[test]
    fn null_move_passes_the_turn_and_clears_en_passant() {
        let pushed = position("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1");
        assert_eq!(pushed.en_passant_target(), Some(Square::E3));
        let passed = pushed.play_null().expect("not in check");
        assert_eq!(passed.side_to_move(), Color::White);
        assert_eq!(passed.key(), position("4k3/8/8/8/3pP3/8/8/4K3 w - - 1 2").key());
        assert!(position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1").play_null().is_none());
    }
}
