//! A minimal board for pattern searches. Since a search replays all games, moves are played without
//! updating keys or castling rights, without checking legality, and almost without branches.

use crate::chess::position::{Color, Piece, Position};

/// The number of possible contents of a square: empty, or one of six pieces in either colour.
pub(super) const KINDS: usize = 13;
/// The kind that represents an empty square. The next six kinds are White's pieces, from pawn to
/// king, and the last six are Black's.
pub(super) const EMPTY: u8 = 0;
const PIECES: u8 = 6;
/// The length of tables indexed by kind: a power of two, so that masking the index makes bounds
/// checks unnecessary.
const TABLE: usize = 16;

/// The number of kinds of piece counted in [`Placement::material`]: all except the kings.
pub(super) const COUNTED: usize = 10;
/// The number of bits for each count in [`Placement::material`]. The highest bit of a count is
/// always clear, so that comparisons can use it as a guard bit.
pub(super) const COUNT_BITS: u32 = 6;

const PROMOTION_SHIFT: u32 = 12;
const FROM_SHIFT: u32 = 6;
const SQUARE_MASK: u16 = 63;

/// For each kind, the value added to [`Placement::material`] for one piece of that kind.
const WEIGHTS: [u64; TABLE] = {
    let mut weights = [0; TABLE];
    let mut lane = 0;
    while lane < COUNTED {
        let kind = 1 + lane + lane / (COUNTED / 2);
        weights[kind] = 1 << (COUNT_BITS * lane as u32);
        lane += 1;
    }
    weights
};

pub(super) fn kind(color: Color, piece: Piece) -> u8 {
    1 + PIECES * color.to_index() as u8 + piece.to_index() as u8
}

/// Returns the same piece in the other colour. An empty square remains empty.
pub(super) fn other_color(kind: u8) -> u8 {
    match kind {
        EMPTY => EMPTY,
        1..=PIECES => kind + PIECES,
        _ => kind - PIECES,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placement {
    squares: [u8; 64],
    /// The squares of each kind, as bit sets.
    sets: [u64; TABLE],
    /// The number of pieces of each kind except kings, in [`COUNT_BITS`] bits per kind.
    material: u64,
}

impl Placement {
    pub(super) fn of(position: &Position) -> Self {
        let mut placement = Placement { squares: [EMPTY; 64], sets: [0; TABLE], material: 0 };
        for square in chess::ALL_SQUARES {
            let is_white = position.by_color(Color::White).0 >> square.to_index() & 1 == 1;
            let color = if is_white { Color::White } else { Color::Black };
            let content = position.piece_on(square).map_or(EMPTY, |piece| kind(color, piece));
            placement.squares[square.to_index()] = content;
            placement.sets[usize::from(content)] |= 1 << square.to_index();
            placement.material += WEIGHTS[usize::from(content)];
        }
        placement
    }

    #[inline]
    pub(super) fn set(&self, kind: u8) -> u64 {
        self.sets[usize::from(kind) % TABLE]
    }

    #[inline]
    pub(super) fn material(&self) -> u64 {
        self.material
    }

    /// Plays a legal move, encoded as in [`crate::chess::position::Move::to_polyglot`], or a null
    /// move (0). After an illegal move, the placement is meaningless.
    #[inline]
    pub(super) fn play(&mut self, word: u16) {
        if word == 0 {
            return;
        }
        let (from, to) = (word >> FROM_SHIFT & SQUARE_MASK, word & SQUARE_MASK);
        let (from, to) = (usize::from(from), usize::from(to));
        let (moved, taken) = (self.squares[from], self.squares[to]);
        self.shift(from, to);
        self.material = self.material.wrapping_sub(WEIGHTS[usize::from(taken) % TABLE]);
        let is_promotion = word >> PROMOTION_SHIFT != 0;
        let is_en_passant = moved % PIECES == 1 && taken == EMPTY && (from ^ to) % 8 != 0;
        let is_castling = moved != EMPTY && moved % PIECES == 0 && from.abs_diff(to) == 2;
        if is_promotion | is_en_passant | is_castling {
            self.complete(word >> PROMOTION_SHIFT, (from, to), (is_en_passant, is_castling));
        }
    }

    #[inline]
    fn shift(&mut self, from: usize, to: usize) {
        let (moved, taken) = (self.squares[from % 64], self.squares[to % 64]);
        let (left, entered) = (1 << (from % 64), 1 << (to % 64));
        self.sets[usize::from(moved) % TABLE] ^= left | entered;
        self.sets[usize::from(taken) % TABLE] ^= entered;
        self.sets[usize::from(EMPTY)] ^= left;
        self.squares[from % 64] = EMPTY;
        self.squares[to % 64] = moved;
    }

    /// Completes a promotion, an en passant capture or castling after the pawn or king itself has
    /// moved.
    fn complete(
        &mut self,
        promotion: u16,
        (from, to): (usize, usize),
        (is_en_passant, is_castling): (bool, bool),
    ) {
        if promotion != 0 {
            // Polyglot's promotion codes, from 1 for a knight to 4 for a queen, are in the same
            // order as the kinds, so adding a code to the kind of the pawn gives the kind of the
            // new piece.
            let pawn = self.squares[to];
            self.replace(to, pawn + (promotion % u16::from(PIECES)) as u8);
        } else if is_en_passant {
            self.replace(from / 8 * 8 + to % 8, EMPTY);
        } else if is_castling {
            let (rook, beside) =
                if to > from { (to + 1, to - 1) } else { (to.wrapping_sub(2), to + 1) };
            self.shift(rook, beside);
        }
    }

    fn replace(&mut self, square: usize, kind: u8) {
        let old = usize::from(self.squares[square]) % TABLE;
        let new = usize::from(kind) % TABLE;
        self.sets[old] ^= 1 << square;
        self.sets[new] ^= 1 << square;
        self.material = self.material.wrapping_sub(WEIGHTS[old]).wrapping_add(WEIGHTS[new]);
        self.squares[square] = new as u8;
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::chess::position::Move;

    /// Positions from which random moves soon lead to castling, promotions and en passant captures.
    const STARTS: [&str; 4] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "rnbqkbnr/8/8/pPpPpPpP/PpPpPpPp/8/8/RNBQKBNR w KQkq - 0 1",
        "8/PPPPPPPP/8/7k/K7/8/pppppppp/8 b - - 0 1",
    ];

    proptest! {
        #[test]
        fn replayed_placement_equals_the_placement_of_the_position(
            fen in select(&STARTS[..]),
            choices in vec(any::<u16>(), 0..100),
        ) {
            let mut position = Position::from_fen(fen).expect(fen);
            let mut placement = Placement::of(&position);
            for choice in choices {
                let moves = position.legal_moves();
                let pick = usize::from(choice) % moves.len().max(1);
                let Some(mv) = moves.iter().nth(pick) else { break };
                position = position.play(mv);
                placement.play(mv.to_polyglot());
                prop_assert_eq!(&placement, &Placement::of(&position), "{} in {}", mv, position);
                placement.play(Move::NULL.to_polyglot());
                prop_assert_eq!(&placement, &Placement::of(&position));
            }
        }

        #[test]
        fn arbitrary_moves_do_not_panic(words in vec(any::<u16>(), 0..200)) {
            let mut placement = Placement::of(&Position::start());
            words.into_iter().for_each(|word| placement.play(word));
        }
    }

    #[test]
    fn numbers_of_pieces_do_not_overlap() {
        let material = Placement::of(&Position::start()).material();
        let number = |lane: usize| material >> (COUNT_BITS * lane as u32) & 63;
        let numbers: Vec<u64> = (0..COUNTED).map(number).collect();
        assert_eq!(numbers, [8, 2, 2, 2, 1, 8, 2, 2, 2, 1]);
    }
}
