//! Distance to mate in the endgame of king, bishop and knight against a lone king.
//!
//! Driving the king from the wrong corner to the right one within fifty moves is beyond a search of
//! moderate depth. All positions are therefore solved in advance, backwards from the mates:
//! <https://www.chessprogramming.org/Retrograde_Analysis>. A bitboard stores the result for all
//! squares of the lone king at once.

use std::sync::OnceLock;

use chess::{ALL_SQUARES, EMPTY, between, get_bishop_moves, get_king_moves, get_knight_moves};

use crate::chess::position::{BitBoard, Color, Move, Piece, Position, Square, sideways};

const SQUARES: usize = 64;
const DARK_SQUARES: BitBoard = BitBoard(0xaa55_aa55_aa55_aa55);
/// Number of ways to place the king, bishop and knight. Positions with a light-squared bishop are
/// mirrored first, so the bishop is always on a dark square.
const PLACES: usize = SQUARES * (SQUARES / 2) * SQUARES;
const NEVER: u8 = u8::MAX;

/// Number of moves until the lone king is mated, with the lone king to move. Indexed by the
/// placement of the other pieces, then by the lone king's square. The table takes a quarter of a
/// second to compute and 8 MB of memory.
static DISTANCES: OnceLock<Box<[[u8; SQUARES]]>> = OnceLock::new();

#[derive(Clone, Copy)]
struct Place {
    king: Square,
    bishop: Square,
    knight: Square,
}

impl Place {
    fn all() -> impl Iterator<Item = Place> {
        let places = ALL_SQUARES.into_iter().flat_map(|king| {
            DARK_SQUARES.flat_map(move |bishop| {
                ALL_SQUARES.into_iter().map(move |knight| Place { king, bishop, knight })
            })
        });
        places.filter(|place| place.occupied().popcnt() == 3)
    }

    fn index(self) -> usize {
        let [king, bishop, knight] =
            [self.king, self.bishop, self.knight].map(|square| square.to_index());
        (king * (SQUARES / 2) + bishop / 2) * SQUARES + knight
    }

    fn occupied(self) -> BitBoard {
        bit(self.king) | bit(self.bishop) | bit(self.knight)
    }

    fn attacked(self) -> BitBoard {
        get_king_moves(self.king)
            | get_knight_moves(self.knight)
            | get_bishop_moves(self.bishop, self.occupied())
    }

    /// Returns the placements that differ by one move of the king, bishop or knight, each with the
    /// squares on which the lone king would block that move.
    fn moves(self) -> impl Iterator<Item = (Place, BitBoard)> {
        let free = !self.occupied();
        let kings = (get_king_moves(self.king) & free).map(move |king| Place { king, ..self });
        let knights =
            (get_knight_moves(self.knight) & free).map(move |knight| Place { knight, ..self });
        let bishops = (get_bishop_moves(self.bishop, self.occupied()) & free)
            .map(move |bishop| (Place { bishop, ..self }, between(self.bishop, bishop)));
        kings.chain(knights).map(|place| (place, EMPTY)).chain(bishops)
    }

    /// Returns the squares on which the lone king loses if it is to move: either it is mated there,
    /// or it can only move to squares in `won`.
    fn lost(self, won: BitBoard) -> BitBoard {
        let attacked = self.attacked();
        let safe = !(attacked | bit(self.king));
        let stalemated = !(attacked | king_moves(safe));
        let legal = !(self.occupied() | get_king_moves(self.king));
        legal & !stalemated & !king_moves(safe & !won)
    }
}

fn bit(square: Square) -> BitBoard {
    BitBoard::from_square(square)
}

fn king_moves(squares: BitBoard) -> BitBoard {
    let beside = sideways(squares);
    let row = (squares | beside).0;
    BitBoard(beside.0 | row << 8 | row >> 8)
}

fn solve() -> Box<[[u8; SQUARES]]> {
    let mut distances = vec![[NEVER; SQUARES]; PLACES].into_boxed_slice();
    // For each placement, the squares on which the lone king loses: `lost` if the lone king is to
    // move, `won` if the other side is to move.
    let mut lost = vec![EMPTY; PLACES];
    let mut won = vec![EMPTY; PLACES];
    let mut due: Vec<Place> = Place::all().collect();
    let mut is_due = vec![false; PLACES];
    let mut moves = 0;
    while !due.is_empty() {
        let mut found = Vec::new();
        for place in due.drain(..) {
            let index = place.index();
            is_due[index] = false;
            let new = place.lost(won[index]) & !lost[index];
            if new != EMPTY {
                lost[index] |= new;
                new.for_each(|square| distances[index][square.to_index()] = moves);
                found.push((place, new));
            }
        }
        for (place, new) in found {
            for (before, barrier) in place.moves() {
                let index = before.index();
                won[index] |= new & !barrier & !before.occupied();
                if !std::mem::replace(&mut is_due[index], true) {
                    due.push(before);
                }
            }
        }
        moves += 1;
    }
    distances
}

pub(crate) fn is_solved() -> bool {
    DISTANCES.get().is_some()
}

/// Whether one side has king, bishop and knight, and the other has only its king.
pub(crate) fn may_be_won(position: &Position) -> bool {
    winner(position).is_some()
}

fn winner(position: &Position) -> Option<Color> {
    let has = |color, piece| position.pieces(color, piece).popcnt() == 1;
    let wins = |&color: &Color| {
        position.by_color(color).popcnt() == 3
            && has(color, Piece::Bishop)
            && has(color, Piece::Knight)
    };
    let is_whole = position.occupied().popcnt() == 4;
    [Color::White, Color::Black].into_iter().find(wins).filter(|_| is_whole)
}

/// Returns the number of plies to mate with best play by both sides.
///
/// Returns `None` for a draw, or if [`may_be_won`] returns false. The first call solves the ending,
/// which takes a quarter of a second.
pub(crate) fn plies_to_mate(position: &Position) -> Option<u32> {
    let side = winner(position)?;
    let (bishops, knights) =
        (position.pieces(side, Piece::Bishop), position.pieces(side, Piece::Knight));
    let mirror = if bishops & DARK_SQUARES == EMPTY { 7 } else { 0 };
    let [king, bishop, knight, lone] =
        [position.king(side), bishops.to_square(), knights.to_square(), position.king(!side)]
            .map(|square| ALL_SQUARES[square.to_index() ^ mirror]);
    let place = Place { king, bishop, knight };
    let distances = DISTANCES.get_or_init(solve);
    let distance = |place: Place| {
        let moves = distances[place.index()][lone.to_index()];
        (moves != NEVER).then(|| 2 * u32::from(moves))
    };
    if position.side_to_move() != side {
        return distance(place);
    }
    let is_free =
        |(next, barrier): &(Place, BitBoard)| bit(lone) & (*barrier | next.occupied()) == EMPTY;
    let after = place.moves().filter(is_free).filter_map(|(next, _)| distance(next));
    after.min().map(|plies| plies + 1)
}

/// Returns a line of best play that ends in mate. It is empty if [`plies_to_mate`] returns `None`.
pub(crate) fn line(position: &Position) -> Vec<Move> {
    let mut at = *position;
    let mut line = Vec::new();
    while let Some(plies) = plies_to_mate(&at).filter(|&plies| plies > 0) {
        let leads = |mv: &Move| plies_to_mate(&at.play(*mv)) == Some(plies - 1);
        let Some(mv) = at.legal_moves().iter().find(leads) else { break };
        line.push(mv);
        at = at.play(mv);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(pieces: [Square; 4], side: char) -> Option<Position> {
        let mut board = [['1'; 8]; 8];
        for (square, piece) in pieces.into_iter().zip("KBNk".chars()) {
            board[7 - square.get_rank().to_index()][square.get_file().to_index()] = piece;
        }
        let ranks = board.map(String::from_iter).join("/");
        let position = Position::from_fen(&format!("{ranks} {side} - - 0 1")).ok()?;
        (position.occupied().popcnt() == 4).then_some(position)
    }

    fn sample() -> impl Iterator<Item = Position> {
        (0..1 << 24).step_by(1_009).flat_map(|number: usize| {
            let pieces = [0, 6, 12, 18].map(|shift| ALL_SQUARES[number >> shift & 63]);
            ['w', 'b'].into_iter().filter_map(move |side| position(pieces, side))
        })
    }

    #[test]
    fn distances_are_consistent_with_successors() {
        let (mut wins, mut draws) = (0, 0);
        for position in sample() {
            let moves = position.legal_moves();
            let mut next = moves.iter().map(|mv| plies_to_mate(&position.play(mv)));
            let is_lone_to_move = position.side_to_move() == Color::Black;
            let expected = match (is_lone_to_move, position.has_no_moves()) {
                (true, true) => position.in_check().then_some(0),
                (true, false) => {
                    next.try_fold(0, |most, plies| Some(plies?.max(most))).map(|plies| plies + 1)
                }
                (false, _) => next.flatten().min().map(|plies| plies + 1),
            };
            assert_eq!(plies_to_mate(&position), expected, "{}", position.fen());
            *if expected.is_some() { &mut wins } else { &mut draws } += 1;
        }
        assert!(wins > 10_000 && draws > 1_000, "{wins} {draws}");
    }

    #[test]
    fn both_colours_and_bishop_colours_are_supported() {
        for fen in [
            "7k/8/8/8/8/8/8/KBN5 w - - 0 1",
            "k7/8/8/8/8/8/8/5NBK w - - 0 1",
            "kbn5/8/8/8/8/8/8/7K b - - 0 1",
            "5nbk/8/8/8/8/8/8/K7 b - - 0 1",
        ] {
            let position = Position::from_fen(fen).expect(fen);
            let line = line(&position);
            assert_eq!(plies_to_mate(&position), Some(line.len() as u32), "{fen}");
            let end = line.iter().fold(position, |position, &mv| position.play(mv));
            assert!(end.in_check() && end.has_no_moves(), "{fen}: {}", end.fen());
        }
        for fen in [
            "7k/8/8/8/8/8/8/KBB5 w - - 0 1",
            "7k/7p/8/8/8/8/8/KBN5 w - - 0 1",
            "6nk/8/8/8/8/8/8/KB6 w - - 0 1",
        ] {
            assert_eq!(plies_to_mate(&Position::from_fen(fen).expect(fen)), None, "{fen}");
        }
    }

    #[test]
    fn longest_mate_takes_33_moves() {
        let distances = DISTANCES.get_or_init(solve).iter().flatten();
        assert_eq!(distances.copied().filter(|&moves| moves != NEVER).max(), Some(33));
    }
}
