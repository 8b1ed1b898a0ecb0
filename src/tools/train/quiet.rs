//! Detects quiet positions. The static evaluation is a meaningful prediction of the game's result
//! only in such positions.

use crate::chess::position::{Move, Piece, Position};
use crate::chess::score::{INFINITY, Score};
use crate::engine::eval::{Evaluation, Evaluator};

/// Piece values in pawns, indexed by [`Piece`], used to order captures: most valuable victim first,
/// then least valuable attacker.
const ORDER_VALUE: [i32; 6] = [1, 3, 3, 5, 9, 10];

const DEPTH: u32 = 12;

/// A simple quiescence search over captures and promotions, or over all evasions if in check. It
/// uses alpha-beta but no other pruning and no tables. It is independent of the engine's search.
/// Source: <https://www.chessprogramming.org/Quiescence_Search>.
pub(crate) struct Quiescence {
    evaluator: Evaluator,
}

impl Default for Quiescence {
    fn default() -> Self {
        Self::new()
    }
}

impl Quiescence {
    pub(crate) fn new() -> Self {
        Quiescence { evaluator: Evaluator::new(&Evaluation::Classical) }
    }

    /// Returns the static score for the side to move if the position is quiet. Returns `None` if
    /// the side to move is in check, or if the quiescence search finds captures or promotions that
    /// improve the score.
    pub(crate) fn quiet_score(&mut self, position: &Position) -> Option<Score> {
        if position.in_check() {
            return None;
        }
        let score = self.evaluator.evaluate(position, 0);
        // A null window suffices, because the exact score of a move that beats standing pat is not
        // needed.
        let best = self.search(position, score, score + 1, DEPTH);
        (best <= score).then_some(score)
    }

    fn search(&mut self, position: &Position, mut alpha: Score, beta: Score, depth: u32) -> Score {
        let mut best =
            if position.in_check() { -INFINITY } else { self.evaluator.evaluate(position, 0) };
        if best >= beta || depth == 0 {
            return best.max(-INFINITY + 1);
        }
        alpha = alpha.max(best);
        for mv in moves(position) {
            let score = -self.search(&position.play(mv), -beta, -alpha, depth - 1);
            best = best.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        best
    }
}

/// Returns captures and promotions, or all evasions if in check. Captures are sorted by most
/// valuable victim and least valuable attacker.
fn moves(position: &Position) -> Vec<Move> {
    let mut list = crate::chess::position::MoveList::new();
    position.noisy_moves(&mut list);
    if position.in_check() {
        position.quiet_moves(&mut list);
    }
    let mut moves: Vec<Move> = list.iter().collect();
    moves.sort_by_key(|&mv| {
        let value = |square| {
            position.piece_on(square).map_or(0, |piece: Piece| ORDER_VALUE[piece.to_index()])
        };
        -(16 * value(mv.to()) - value(mv.from()))
    });
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_with_a_winning_capture_are_not_quiet() {
        for (fen, quiet) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", true),
            // White can win an undefended knight, but a queen cannot profitably capture a defended
            // one.
            ("4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", false),
            ("4k3/8/4p3/3n4/8/8/3Q4/4K3 w - - 0 1", true),
            ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", false),
        ] {
            let position = Position::from_fen(fen).expect(fen);
            assert_eq!(Quiescence::new().quiet_score(&position).is_some(), quiet, "{fen}");
        }
    }
}
