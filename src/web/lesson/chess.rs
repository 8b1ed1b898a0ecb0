//! Chess as a [`ZeroSumGame`], with a simple evaluation that is independent of the engine's.
//!
//! A value depends only on the position, because there is no table, no history and no draw by
//! repetition. The value at a given depth is thus the same for all algorithms. Only the pruned
//! nodes differ.
//!
//! ```
//! use tabia::lesson::chess::Chess;
//! use tabia::lesson::game::Window;
//! use tabia::lesson::search::{Algorithm, Search};
//! use tabia::position::Position;
//!
//! let (root, mut observer) = (Position::start(), ());
//! let mut chess = Chess::new(&root);
//! let mut search = Search::new(&mut chess, &mut observer, &[]);
//! let (_, line) = search.run(Algorithm::Pvs, &root, 2, Window::FULL);
//! assert_eq!(line.len(), 2);
//! ```

use super::game::{Window, ZeroSumGame};
use crate::chess::position::{Color, Move, MoveList, Piece, Position, Square};
use crate::chess::score::{DRAW, Depth, INFINITY, Ply, Score, mated_in};
use crate::support::words::named_values;

/// Conventional piece values in centipawns, indexed by [`Piece`].
const VALUE: [Score; 6] = [100, 320, 330, 500, 900, 0];
/// A bonus for central squares, indexed by [`Piece`]: centipawns per ring of squares between the
/// piece and the edge of the board. Chosen by hand.
const CENTRE: [Score; 6] = [3, 8, 5, 1, 2, -9];
/// Used instead of the king's value in [`CENTRE`] if there are no queens on the board, because a
/// central king is then an advantage.
const BARE_KING_CENTRE: Score = 9;
/// A pawn's bonus in centipawns for each rank that it has advanced. Chosen by hand.
const ADVANCE: Score = 5;

/// The order in which moves are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// The move from the previous best line comes first. It is followed by captures, sorted by most
    /// valuable victim and then by least valuable attacker. Other moves come last, sorted by how
    /// much they improve the piece's placement.
    Good,
    /// Moves are searched in the order in which the move generator returns them.
    Plain,
    /// The reverse of [`Ordering::Good`].
    Bad,
}

named_values! { pub Ordering, "move order": Good = "good", Plain = "plain", Bad = "bad" }

/// Chess as a game for the textbook searches of the lessons.
#[derive(Debug, Clone)]
pub struct Chess {
    /// The order in which moves are searched.
    pub ordering: Ordering,
    /// Whether to run a quiescence search at the depth limit instead of evaluating the position
    /// statically.
    pub quiescence: bool,
    /// The number of quiescence nodes so far. The root of each quiescence search is not included,
    /// because the main search counts it.
    pub quiescence_nodes: u64,
    /// The side to move at the root. In minimax terms, it is the maximising player.
    max: Color,
    /// The best line of the last iteration. Each pair contains a position's key and the move to
    /// search first in that position.
    hints: Vec<(u64, Move)>,
}

impl Chess {
    /// Creates the game for a search of `root`, with good move order and quiescence search.
    pub fn new(root: &Position) -> Self {
        Chess {
            ordering: Ordering::Good,
            quiescence: true,
            quiescence_nodes: 0,
            max: root.side_to_move(),
            hints: Vec::new(),
        }
    }

    /// Makes later searches try the moves of `line` first. The line starts at `root`.
    /// [`Ordering::Plain`] ignores it, and [`Ordering::Bad`] tries these moves last.
    pub fn expect(&mut self, root: &Position, line: &[Move]) {
        let mut position = *root;
        self.hints.clear();
        for &mv in line {
            self.hints.push((position.key(), mv));
            position = position.play(mv);
        }
    }

    fn sort(&self, position: &Position, moves: &mut [Move]) {
        moves.sort_by_cached_key(|&mv| -ordering_score(position, mv));
        let hint = self.hints.iter().find(|(key, _)| *key == position.key());
        if let Some(at) = hint.and_then(|(_, hint)| moves.iter().position(|mv| mv == hint)) {
            moves[..=at].rotate_right(1);
        }
        if self.ordering == Ordering::Bad {
            moves.reverse();
        }
    }

    /// Returns the value of a quiescence search over captures and promotions, or over all moves if
    /// the side to move is in check. <https://www.chessprogramming.org/Quiescence_Search>
    fn quiescence(&mut self, position: &Position, ply: Ply, window: Window) -> Score {
        let Window { mut alpha, beta } = window;
        let in_check = position.in_check();
        let mut best = if in_check { mated_in(ply) } else { evaluate(position) };
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);
        let mut list = MoveList::new();
        position.noisy_moves(&mut list);
        if in_check {
            position.quiet_moves(&mut list);
        }
        let mut moves: Vec<Move> = list.iter().collect();
        moves.sort_by_cached_key(|&mv| -ordering_score(position, mv));
        for mv in moves {
            self.quiescence_nodes += 1;
            let next = Window::new(alpha, beta).flip();
            best = best.max(-self.quiescence(&position.play(mv), ply + 1, next));
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        best
    }
}

impl ZeroSumGame for Chess {
    type State = Position;
    type Move = Move;

    fn moves(&mut self, state: &Position) -> Vec<Move> {
        let mut moves: Vec<Move> = state.legal_moves().iter().collect();
        if self.ordering != Ordering::Plain {
            self.sort(state, &mut moves);
        }
        moves
    }

    fn play(&self, state: &Position, mv: Move) -> Position {
        state.play(mv)
    }

    fn value(&mut self, state: &Position, ply: Ply, window: Window) -> Score {
        if state.has_no_moves() {
            return if state.in_check() { mated_in(ply) } else { DRAW };
        }
        if self.quiescence { self.quiescence(state, ply, window) } else { evaluate(state) }
    }

    fn is_exact(&mut self, state: &Position, depth: Depth) -> bool {
        (depth <= 0 && !self.quiescence) || state.has_no_moves()
    }

    fn key(&self, state: &Position) -> u64 {
        state.key()
    }

    fn fen(&self, state: &Position) -> Option<String> {
        Some(state.to_string())
    }

    fn maximises(&self, state: &Position) -> bool {
        state.side_to_move() == self.max
    }

    fn name(&self, state: &Position, mv: Move) -> String {
        state.san(mv)
    }
}

/// Returns a score for sorting moves. Captures and promotions come first, sorted by most valuable
/// victim and then by least valuable attacker. Quiet moves are sorted by how much they improve the
/// piece's placement.
fn ordering_score(position: &Position, mv: Move) -> Score {
    /// A base score larger than any improvement in placement, so that captures and promotions come
    /// before quiet moves.
    const NOISY: Score = 1_000;
    let mover = position.piece_on(mv.from()).unwrap_or(Piece::Pawn);
    let promoted = mv.promotion().map_or(0, |piece| VALUE[piece.to_index()]);
    if position.is_noisy(mv) {
        let victim = position
            .piece_on(mv.to())
            .map_or(promoted.max(100), |piece| VALUE[piece.to_index()] + promoted);
        return NOISY + 10 * victim - VALUE[mover.to_index()];
    }
    let side = position.side_to_move();
    let queens = has_queens(position);
    placement(mover, mv.to(), side, queens) - placement(mover, mv.from(), side, queens)
}

fn evaluate(position: &Position) -> Score {
    let queens = has_queens(position);
    let side = |color: Color| -> Score {
        let worth = |(piece, square): (Piece, Square)| {
            VALUE[piece.to_index()] + placement(piece, square, color, queens)
        };
        pieces_of(position, color).map(worth).sum()
    };
    let white = side(Color::White) - side(Color::Black);
    let score = if position.side_to_move() == Color::White { white } else { -white };
    debug_assert!(score.abs() < INFINITY);
    score
}

fn pieces_of(position: &Position, color: Color) -> impl Iterator<Item = (Piece, Square)> + '_ {
    chess::ALL_PIECES
        .into_iter()
        .flat_map(move |piece| position.pieces(color, piece).map(move |square| (piece, square)))
}

fn has_queens(position: &Position) -> bool {
    [Color::White, Color::Black]
        .into_iter()
        .any(|color| position.pieces(color, Piece::Queen).popcnt() > 0)
}

fn placement(piece: Piece, square: Square, color: Color, queens: bool) -> Score {
    let (file, rank) = (square.get_file().to_index(), square.get_rank().to_index());
    // Rings of squares are numbered from 0 at the edge of the board to 3 in the centre.
    let ring = file.min(7 - file).min(rank.min(7 - rank)) as Score;
    let advance = if color == Color::White { rank } else { 7 - rank } as Score;
    match piece {
        Piece::King if !queens => BARE_KING_CENTRE * ring,
        Piece::Pawn => CENTRE[piece.to_index()] * ring + ADVANCE * advance,
        _ => CENTRE[piece.to_index()] * ring,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::suite::positions::positions;
    use crate::web::lesson::search::{Algorithm, Search};

    fn value(chess: &mut Chess, algorithm: Algorithm, root: &Position, depth: Depth) -> Score {
        Search::new(chess, &mut (), &[]).run(algorithm, root, depth, Window::FULL).0
    }

    #[test]
    fn all_algorithms_and_orders_find_the_same_value() {
        for position in positions().iter().step_by(6) {
            let mut chess = Chess::new(position);
            let minimax = value(&mut chess, Algorithm::Minimax, position, 2);
            for ordering in Ordering::ALL {
                chess.ordering = ordering;
                for algorithm in [Algorithm::AlphaBeta, Algorithm::Pvs] {
                    assert_eq!(value(&mut chess, algorithm, position, 2), minimax, "{position}");
                }
            }
        }
    }

    #[test]
    fn mates_and_stalemates_are_scored() {
        for (fen, depth, expected) in [
            ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 2, crate::chess::score::mate_in(1)),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 3, DRAW),
            ("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", 3, mated_in(0)),
        ] {
            let position = Position::from_fen(fen).expect(fen);
            for quiescence in [false, true] {
                let mut chess = Chess { quiescence, ..Chess::new(&position) };
                assert_eq!(value(&mut chess, Algorithm::Pvs, &position, depth), expected, "{fen}");
            }
        }
    }

    #[test]
    fn expected_line_is_searched_first() {
        let start = Position::start();
        let mut chess = Chess::new(&start);
        let line: Vec<Move> = ["a2a3", "h7h6"].map(|text| text.parse().expect(text)).to_vec();
        chess.expect(&start, &line);
        assert_eq!(chess.moves(&start)[0], line[0]);
        assert_eq!(chess.moves(&start.play(line[0]))[0], line[1]);
        chess.ordering = Ordering::Bad;
        assert_eq!(chess.moves(&start).last(), Some(&line[0]));
    }
}
