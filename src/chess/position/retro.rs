//! Finds retrograde moves: the possible predecessors of a position.
//!
//! The caller has a set of positions, such as a book, and needs those that lead to a given position
//! in one move. First, only the key of each candidate is computed, by incremental updates. If the
//! key is in the set, the candidate is set up as a position and verified by playing the move.

use arrayvec::ArrayVec;
use chess::{
    BitBoard, Board, BoardBuilder, CastleRights, Color, EMPTY, File, Piece, Rank, Square,
    get_pawn_attacks,
};

use super::{Move, Position, attacks, zobrist};

/// White's kingside castling right, as a bit of an index into the castling keys. Black's bits are
/// two places higher.
const SHORT: u8 = 1;
const LONG: u8 = 2;
const HOME_KING: File = File::E;
/// The squares on which kings and rooks start.
const HOME_SQUARES: BitBoard = BitBoard(0x9100_0000_0000_0091);

const MAX_PIECES: u32 = 16;
const MAX_PAWNS: u32 = 8;

/// The initial capacity of a list of unmoves (moves to take back). It is enough for most positions.
const USUAL_UNMOVES: usize = 256;

/// The number of en passant states: one for each file, and one for no en passant.
const MAX_FILES: usize = 9;

#[derive(Debug, Clone, Copy)]
struct Unmove {
    mv: Move,
    /// The piece that moved. For a promotion, this is a pawn.
    piece: Piece,
    taken: Option<(Piece, Square)>,
    /// The rook's squares before and after the move if it was castling.
    rook: Option<(Square, Square)>,
}

impl Unmove {
    fn touches_home(&self) -> bool {
        let (from, to) = (self.mv.from(), self.mv.to());
        (BitBoard::from_square(from) | BitBoard::from_square(to)) & HOME_SQUARES != EMPTY
    }
}

#[derive(Debug, Clone, Copy)]
struct State {
    castling: u8,
    en_passant: Option<File>,
}

impl Position {
    /// Returns the known positions that lead to this one in a single move, each paired with that
    /// move.
    ///
    /// There are a few hundred candidates. For each one, `has_pawns` is called with its pawn key.
    /// If this returns true, `is_known` is called with each possible key of the candidate. The
    /// halfmove clock and move number of the returned positions are guesses.
    pub(crate) fn predecessors(
        &self,
        has_pawns: impl Fn(u64) -> bool,
        is_known: impl Fn(u64) -> bool,
    ) -> Vec<(Position, Move)> {
        let mut found = Vec::new();
        // Most moves do not change the pawn structure, so a single call of `has_pawns` covers many
        // candidates.
        let has_own_pawns = has_pawns(self.pawn_key());
        let pieces_now = self.key_of_pieces() ^ zobrist::turn();
        let same_state = State { castling: self.castling(), en_passant: None };
        for unmove in self.unmoves() {
            let (change, pawn_change) = self.changes(&unmove);
            let is_possible = match pawn_change {
                0 => has_own_pawns,
                _ => has_pawns(self.pawn_key() ^ pawn_change),
            };
            if !is_possible {
                continue;
            }
            let pieces = pieces_now ^ change;
            let mut test = |state: State| {
                let key = pieces ^ zobrist::state_of(state.castling, state.en_passant);
                if is_known(key)
                    && let Some(before) = self.before(&unmove, state)
                    && before.key() == key
                    && before.is_legal(unmove.mv)
                    && before.play(unmove.mv).key() == self.key()
                {
                    found.push((before, unmove.mv));
                }
            };
            match self.keeps_state(&unmove) {
                true => test(same_state),
                false => self.states_before(&unmove).for_each(test),
            }
        }
        found
    }

    /// Whether castling rights and the absence of an en passant file must have been the same before
    /// the move. This quick test may return false for moves that satisfy this condition.
    fn keeps_state(&self, unmove: &Unmove) -> bool {
        let capturing = self.pieces(self.mover(), Piece::Pawn)
            & chess::get_rank(self.side_to_move().to_fourth_rank());
        unmove.piece != Piece::Pawn && !unmove.touches_home() && capturing == EMPTY
    }

    fn mover(&self) -> Color {
        !self.side_to_move()
    }

    /// Returns every move that could have led to this position. Moves that left a king in check are
    /// not excluded.
    fn unmoves(&self) -> Vec<Unmove> {
        let mut list = Vec::with_capacity(USUAL_UNMOVES);
        let has_room_for_pawn = self.pieces(self.mover(), Piece::Pawn).popcnt() < MAX_PAWNS;
        for to in self.by_color(self.mover()) {
            match self.piece_on(to) {
                Some(Piece::Pawn) => self.unmove_pawn(to, None, &mut list),
                Some(piece) => {
                    let origins = attacks(piece, to, self.occupied()) & !self.occupied();
                    for from in origins {
                        self.with_captures(Move::new(from, to), piece, true, &mut list);
                    }
                    let last_rank = self.mover().to_their_backrank();
                    if to.get_rank() == last_rank && piece != Piece::King && has_room_for_pawn {
                        self.unmove_pawn(to, Some(piece), &mut list);
                    }
                    if piece == Piece::King {
                        list.extend(self.uncastle(to));
                    }
                }
                None => {}
            }
        }
        list
    }

    /// Appends the move once for each kind of piece that it may have captured. If `is_quiet` is
    /// set, also appends it without a capture.
    fn with_captures(&self, mv: Move, piece: Piece, is_quiet: bool, list: &mut Vec<Unmove>) {
        if is_quiet {
            list.push(Unmove { mv, piece, taken: None, rook: None });
        }
        let is_edge = matches!(mv.to().get_rank(), Rank::First | Rank::Eighth);
        let them = self.side_to_move();
        let has_room = self.by_color(them).popcnt() < MAX_PIECES;
        let has_room_for_pawn = self.pieces(them, Piece::Pawn).popcnt() < MAX_PAWNS && !is_edge;
        let kinds = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
        let can_be = |kind: &Piece| has_room && (has_room_for_pawn || *kind != Piece::Pawn);
        for taken in kinds.into_iter().filter(can_be) {
            list.push(Unmove { mv, piece, taken: Some((taken, mv.to())), rook: None });
        }
    }

    /// Appends the pawn moves to `to` that could have led to this position. If `promotion` is
    /// given, the moves are promotions to that piece.
    fn unmove_pawn(&self, to: Square, promotion: Option<Piece>, list: &mut Vec<Unmove>) {
        let us = self.mover();
        let mv = |from| match promotion {
            Some(piece) => Move::promoting(from, to, piece),
            None => Move::new(from, to),
        };
        let is_free = |square: Square| self.piece_on(square).is_none();
        let Some(behind) =
            to.backward(us).filter(|square| square.get_rank() != us.to_my_backrank())
        else {
            return;
        };
        if is_free(behind) {
            let quiet = |from| Unmove { mv: mv(from), piece: Piece::Pawn, taken: None, rook: None };
            list.push(quiet(behind));
            let start =
                behind.backward(us).filter(|square| square.get_rank() == us.to_second_rank());
            list.extend(start.filter(|&square| is_free(square)).map(quiet));
        }
        // A pawn captures on `to` from the squares that an enemy pawn on `to` would attack.
        let origins = get_pawn_attacks(to, !us, !EMPTY) & !self.occupied();
        for from in origins {
            self.with_captures(mv(from), Piece::Pawn, false, list);
            let is_sixth = behind.get_rank() == (!us).to_fourth_rank();
            if is_sixth && is_free(behind) {
                let taken = Some((Piece::Pawn, behind));
                list.push(Unmove { mv: mv(from), piece: Piece::Pawn, taken, rook: None });
            }
        }
    }

    fn uncastle(&self, to: Square) -> Option<Unmove> {
        let us = self.mover();
        let rank = us.to_my_backrank();
        let at = |file| Square::make_square(rank, file);
        let (corner, beside, empty) = match to.get_file() {
            File::G => (File::H, File::F, vec![File::E, File::H]),
            File::C => (File::A, File::D, vec![File::A, File::B, File::E]),
            _ => return None,
        };
        let is_free = |file: &File| self.piece_on(at(*file)).is_none();
        let has_rook = self.pieces(us, Piece::Rook) & BitBoard::from_square(at(beside)) != EMPTY;
        (to.get_rank() == rank && has_rook && empty.iter().all(is_free)).then(|| Unmove {
            mv: Move::new(at(HOME_KING), to),
            piece: Piece::King,
            taken: None,
            rook: Some((at(corner), at(beside))),
        })
    }

    fn stood(&self, unmove: &Unmove, square: Square) -> Option<(Color, Piece)> {
        let us = self.mover();
        if square == unmove.mv.from() {
            return Some((us, unmove.piece));
        }
        if let Some((taken, at)) = unmove.taken
            && at == square
        {
            return Some((!us, taken));
        }
        match unmove.rook {
            Some((from, _)) if from == square => return Some((us, Piece::Rook)),
            Some((_, to)) if to == square => return None,
            _ => {}
        }
        if square == unmove.mv.to() {
            return None;
        }
        let piece = self.piece_on(square)?;
        let is_white = self.by_color(Color::White) & BitBoard::from_square(square) != EMPTY;
        Some((if is_white { Color::White } else { Color::Black }, piece))
    }

    fn castling(&self) -> u8 {
        let bits = |color| self.castle_rights(color).to_index() as u8;
        bits(Color::White) | bits(Color::Black) << 2
    }

    /// Iterates over the combinations of castling rights and en passant file that were possible
    /// before the move.
    fn states_before(&self, unmove: &Unmove) -> impl Iterator<Item = State> + use<> {
        let now = self.castling();
        let lost = self.rights_at_stake(unmove) & !now;
        let must = match unmove.rook {
            Some(_) if unmove.mv.to().get_file() == File::G => SHORT,
            Some(_) => LONG,
            None => 0,
        } << if self.mover() == Color::White { 0 } else { 2 };
        let files = self.en_passant_before(unmove);
        (0..=lost).filter(move |set| set & !lost == 0 && set & must == must).flat_map(
            move |castling| {
                let state = move |en_passant| State { castling: now | castling, en_passant };
                files.clone().into_iter().map(state)
            },
        )
    }

    /// Returns the castling rights that the move may have taken away: those whose king and rook
    /// were on their home squares before it.
    fn rights_at_stake(&self, unmove: &Unmove) -> u8 {
        let mut rights = 0;
        if !unmove.touches_home() {
            return rights;
        }
        for color in [Color::White, Color::Black] {
            let rank = color.to_my_backrank();
            let home = |file, piece| {
                self.stood(unmove, Square::make_square(rank, file)) == Some((color, piece))
            };
            let touched = |file| {
                let square = Square::make_square(rank, file);
                [unmove.mv.from(), unmove.mv.to()].contains(&square)
            };
            for (right, corner) in [(SHORT, File::H), (LONG, File::A)] {
                let are_home = home(HOME_KING, Piece::King) && home(corner, Piece::Rook);
                if are_home && (touched(HOME_KING) || touched(corner)) {
                    rights |= right << if color == Color::White { 0 } else { 2 };
                }
            }
        }
        rights
    }

    /// Returns the possible en passant states before the move: none, and each file on which a
    /// double step may just have been played.
    fn en_passant_before(&self, unmove: &Unmove) -> ArrayVec<Option<File>, MAX_FILES> {
        let (us, them) = (self.mover(), self.side_to_move());
        let rank = them.to_fourth_rank();
        let mut files = ArrayVec::new();
        files.push(None);
        let taken = unmove
            .taken
            .filter(|&(piece, square)| piece == Piece::Pawn && square.get_rank() == rank);
        let taken = taken.map_or(EMPTY, |(_, square)| BitBoard::from_square(square));
        let pawns = self.pieces(them, Piece::Pawn) & chess::get_rank(rank);
        // Skip the loop if no pawn could have captured en passant, as in most positions.
        let mut capturing = self.pieces(us, Piece::Pawn);
        if unmove.piece == Piece::Pawn {
            capturing |= BitBoard::from_square(unmove.mv.from());
        }
        let can_capture = capturing & chess::get_rank(rank) != EMPTY;
        for square in if can_capture { pawns | taken } else { EMPTY } {
            let passed = square.ubackward(them);
            let is_met = || {
                let beside = [square.left(), square.right()].into_iter().flatten();
                beside.into_iter().any(|at| self.stood(unmove, at) == Some((us, Piece::Pawn)))
            };
            if self.stood(unmove, passed).is_none()
                && self.stood(unmove, passed.ubackward(them)).is_none()
                && self.stood(unmove, square) == Some((them, Piece::Pawn))
                && is_met()
            {
                files.push(Some(square.get_file()));
            }
        }
        match unmove.taken {
            Some((_, square)) if square != unmove.mv.to() => {
                files.retain(|file| *file == Some(square.get_file()));
            }
            _ => {}
        }
        files
    }

    /// Returns the position's key without the keys of the castling rights and the en passant file.
    fn key_of_pieces(&self) -> u64 {
        let file = self.en_passant_target().map(|square| square.get_file());
        self.key() ^ zobrist::state_of(self.castling(), file)
    }

    /// Returns the changes to the position key and the pawn key when the move is undone. Both are
    /// to be XORed into the keys, and exclude changes to castling rights, en passant file and side
    /// to move.
    fn changes(&self, unmove: &Unmove) -> (u64, u64) {
        let us = self.mover();
        let (mut key, mut pawn_key) = (0, 0);
        let mut add = |color, piece, square| {
            let change = zobrist::piece_square(color, piece, square);
            key ^= change;
            if piece == Piece::Pawn {
                pawn_key ^= change;
            }
        };
        add(us, unmove.piece, unmove.mv.from());
        add(us, unmove.mv.promotion().unwrap_or(unmove.piece), unmove.mv.to());
        if let Some((piece, square)) = unmove.taken {
            add(!us, piece, square);
        }
        if let Some((from, to)) = unmove.rook {
            add(us, Piece::Rook, from);
            add(us, Piece::Rook, to);
        }
        (key, pawn_key)
    }

    fn before(&self, unmove: &Unmove, state: State) -> Option<Position> {
        let us = self.mover();
        let mut builder = BoardBuilder::new();
        for square in chess::ALL_SQUARES {
            if let Some((color, piece)) = self.stood(unmove, square) {
                builder.piece(square, piece, color);
            }
        }
        builder.side_to_move(us);
        for (color, rights) in [(Color::White, state.castling), (Color::Black, state.castling >> 2)]
        {
            builder.castle_rights(
                color,
                CastleRights::from_index(usize::from(rights & (SHORT | LONG))),
            );
        }
        builder.en_passant(state.en_passant);
        // Neither side has more than the sixteen pieces that `Board` permits, because
        // `with_captures` adds a captured piece only if there is room for it.
        let board = Board::try_from(&builder).ok()?;
        let number =
            self.fullmove_number() - u16::from(us == Color::Black && self.fullmove_number() > 1);
        Some(Position::from_board(board, 0, number))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).expect(fen)
    }

    fn all(position: &Position) -> Vec<(Position, Move)> {
        position.predecessors(|_| true, |_| true)
    }

    #[test]
    fn predecessors_include_special_moves() {
        for (before, mv) in [
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", "e5f6"),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", "b1c3"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "h1h8"),
            ("3nk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8n"),
            ("4k3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8q"),
            ("rnbqkbnr/ppp1pppp/8/8/3p4/8/PPPPPPP1/RNBQKBN1 w - - 0 1", "e2e4"),
        ] {
            let before = position(before);
            let mv: Move = mv.parse().expect(mv);
            let found = all(&before.play(mv));
            let is_it =
                |(other, with): &(Position, Move)| (other.key(), *with) == (before.key(), mv);
            assert!(found.iter().any(is_it), "{before} {mv}");
        }
    }

    #[test]
    fn predecessors_are_reached_by_legal_moves_of_the_other_side() {
        assert!(
            all(&position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")).iter().all(|(before, mv)| {
                before.is_legal(*mv) && before.side_to_move() == Color::Black
            })
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn predecessors_include_the_previous_position_and_all_lead_here(
            choices in proptest::collection::vec(any::<prop::sample::Index>(), 1..90),
        ) {
            let mut now = Position::start();
            for choice in choices {
                let moves: Vec<Move> = now.legal_moves().iter().collect();
                if moves.is_empty() {
                    break;
                }
                let (before, mv) = (now, moves[choice.index(moves.len())]);
                now = before.play(mv);
                let known = now.predecessors(|pawns| pawns == before.pawn_key(), |key| key == before.key());
                prop_assert!(known.iter().any(|(other, with)| (other.key(), *with) == (before.key(), mv)));
            }
            for (before, mv) in all(&now) {
                prop_assert!(before.is_legal(mv));
                prop_assert_eq!(before.play(mv).key(), now.key());
            }
        }
    }
}
