//! Detects whether a single move can repeat an earlier position, using the key differences of
//! moves.
//!
//! The key difference of a move is the XOR of the position keys before and after it. A single move
//! can lead from the current position to an earlier one only if its key difference equals the XOR
//! of the keys of these two positions. All key differences are stored in a cuckoo hash table (R.
//! Pagh and F. Rodler, 2001), in which a look-up takes at most two probes.
//!
//! Source: M. van Kervinck, "The design and implementation of the Rookie 2.0 chess playing program"
//! (2002). <https://www.chessprogramming.org/Repetitions>

use chess::{ALL_SQUARES, BitBoard, Color, EMPTY, Piece, Square, get_bishop_moves, get_king_moves};
use chess::{get_knight_moves, get_rook_moves};

use super::{Position, zobrist};

/// Number of slots. Cuckoo hashing requires more than twice as many slots as entries, of which
/// there are 3668.
const SLOTS: usize = 1 << 13;

#[derive(Clone, Copy)]
struct CycleSlot {
    /// Key difference of the move; zero if the slot is empty.
    difference: u64,
    squares: [Square; 2],
}

/// All moves of pieces other than pawns on an empty board, with their key differences. Each key
/// difference includes the change of side to move. A move and its reverse share one entry.
pub(crate) struct Cycles(Box<[CycleSlot]>);

impl Cycles {
    pub(crate) fn new() -> Self {
        let empty = CycleSlot { difference: 0, squares: [Square::A1; 2] };
        let mut cycles = Cycles(vec![empty; SLOTS].into_boxed_slice());
        for color in [Color::White, Color::Black] {
            for piece in [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen, Piece::King] {
                for from in ALL_SQUARES {
                    for to in moves(piece, from).filter(|to| to.to_index() > from.to_index()) {
                        let key = |square| zobrist::piece_square(color, piece, square);
                        let difference = key(from) ^ key(to) ^ zobrist::turn();
                        cycles.insert(CycleSlot { difference, squares: [from, to] });
                    }
                }
            }
        }
        cycles
    }

    /// Inserts a move into one of its two slots. If the slot is occupied, the displaced entry moves
    /// to its own other slot, and so on until a slot is empty.
    fn insert(&mut self, mut moving: CycleSlot) {
        let mut index = slots(moving.difference)[0];
        while moving.difference != 0 {
            std::mem::swap(&mut self.0[index], &mut moving);
            let [one, other] = slots(moving.difference);
            index = if index == one { other } else { one };
        }
    }

    /// Returns true if some move has this key difference and its path is not blocked in `position`.
    /// The direction is not checked, because a move and its reverse have the same key difference.
    #[inline]
    pub(crate) fn is_move(&self, position: &Position, difference: u64) -> bool {
        slots(difference).into_iter().any(|index| {
            let CycleSlot { difference: found, squares: [from, to] } = self.0[index];
            found == difference && position.occupied() & chess::between(from, to) == EMPTY
        })
    }
}

impl Default for Cycles {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn slots(difference: u64) -> [usize; 2] {
    [difference, difference >> 16].map(|bits| bits as usize % SLOTS)
}

fn moves(piece: Piece, from: Square) -> BitBoard {
    match piece {
        Piece::Knight => get_knight_moves(from),
        Piece::Bishop => get_bishop_moves(from, EMPTY),
        Piece::Rook => get_rook_moves(from, EMPTY),
        Piece::Queen => get_bishop_moves(from, EMPTY) | get_rook_moves(from, EMPTY),
        Piece::King => get_king_moves(from),
        Piece::Pawn => EMPTY, // pawns cannot move back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_contains_every_reversible_move() {
        let cycles = Cycles::new();
        // On an empty board, a colour has 336 knight, 560 bishop, 896 rook, 1456 queen and 420 king
        // moves. A move and its reverse share an entry.
        let held = cycles.0.iter().filter(|slot| slot.difference != 0).count();
        assert_eq!(held, 3668);
    }

    #[test]
    fn move_back_to_an_earlier_position_is_found() {
        let cycles = Cycles::new();
        let play = |moves: &[&str]| {
            let mut positions = vec![Position::start()];
            for text in moves {
                let position = positions[positions.len() - 1];
                positions.push(position.play(text.parse().expect("a move")));
            }
            positions
        };
        // The knight can return from e5 to f3, which repeats the position after the first move.
        let line = play(&["g1f3", "g8f6", "f3e5", "f6g8"]);
        assert!(cycles.is_move(&line[4], line[4].key() ^ line[1].key()));
        assert!(!cycles.is_move(&line[4], line[4].key() ^ line[2].key()));
        // In the first line, the bishop can return to f1. In the second line, it cannot, because
        // the knight on e2 is in the way.
        let line = play(&["e2e4", "b8c6", "f1c4", "c6b8", "g1f3", "b8c6", "f3g1"]);
        assert!(cycles.is_move(&line[4], line[4].key() ^ line[1].key()));
        let line = play(&["e2e4", "b8c6", "f1a6", "c6b8", "g1e2", "b8c6"]);
        assert!(!cycles.is_move(&line[6], line[4].key() ^ line[1].key()));
    }
}
