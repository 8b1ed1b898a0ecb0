//! The neuron values, updated incrementally along the lines of a search.
//!
//! For each ply, the stack stores the set of pieces and the neuron values of the last position at
//! that ply. The values of a new position are computed from those at the previous ply, which
//! usually belong to its parent, by adding and removing only the pieces that differ. The search
//! therefore does not have to report moves.
//!
//! The values at the previous ply cannot be used if the viewing side's king was in a different
//! bucket or in the other half of the board, or if the two positions differ on too many squares
//! because one is not the parent of the other. In these cases, the update starts from a cache,
//! which stores, for each colour and view, the last values that were computed in this way. This
//! technique is known as Finny tables: <https://www.chessprogramming.org/NNUE#Accumulator>.
//!
//! The search prepares the values of every position before it is clear whether they are needed.
//! This costs little, because the search has to wait for the transposition table's memory anyway,
//! and the values are reused to compute those of the children.

use std::sync::Arc;

use arrayvec::ArrayVec;
use chess::Color;

use super::kernel::{Kernel, Row};
use super::network::Network;
use super::pieces::{Changes, Perspective, PieceSet, PieceSquare, VIEWS};
use crate::chess::position::Position;
use crate::chess::score::{MAX_PLY, Ply, Score};

/// The neuron values of a position before clipping, from White's and Black's points of view.
#[derive(Clone)]
struct Accumulator {
    pieces: PieceSet,
    views: [Perspective; 2],
    rows: [Row; 2],
}

type Rows<'a, const MAX: usize> = ArrayVec<&'a Row, MAX>;

#[derive(Clone)]
pub(crate) struct AccumulatorStack {
    network: Arc<Network>,
    kernel: Kernel,
    plies: Vec<Accumulator>,
    /// For each colour and view, the last values that were computed without those of the previous
    /// ply, and the pieces that they belong to.
    latest: Box<[[(PieceSet, Row); VIEWS]; 2]>,
}

impl AccumulatorStack {
    pub(crate) fn new(network: Arc<Network>) -> Self {
        let views = views(&PieceSet::NONE);
        let empty = Accumulator { pieces: PieceSet::NONE, views, rows: [network.biases; 2] };
        let latest = Box::new([[(PieceSet::NONE, network.biases); VIEWS]; 2]);
        let plies = vec![empty; MAX_PLY + 1];
        AccumulatorStack { network, kernel: Kernel::detect(), plies, latest }
    }

    /// Returns the score of the position at `ply`, in centipawns for the side to move.
    #[inline]
    pub(crate) fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        self.prepare(position, ply);
        let Accumulator { pieces, rows, .. } = &self.plies[ply.min(MAX_PLY)];
        let us = position.side_to_move();
        let (own, enemy) = (&rows[us.to_index()], &rows[(!us).to_index()]);
        self.network.score(self.kernel, pieces.bucket(), [own, enemy])
    }

    #[inline]
    pub(crate) fn prepare(&mut self, position: &Position, ply: Ply) {
        let (above, here) = self.plies.split_at_mut(ply.min(MAX_PLY));
        let Accumulator { pieces: pieces_here, views: views_here, rows } = &mut here[0];
        let pieces = PieceSet::of(position);
        if pieces.is_same(pieces_here) {
            return;
        }
        (*pieces_here, *views_here) = (pieces, views(&pieces));
        let above = above.last().and_then(|above| {
            let changes = pieces.few_changes(&above.pieces)?;
            Some((above, changes))
        });
        for (color, row) in rows.iter_mut().enumerate() {
            let view = views_here[color];
            if let Some((above, changes)) = &above
                && above.views[color] == view
            {
                apply(changes, &self.network, self.kernel, view, &above.rows[color], row);
            } else {
                let (pieces_before, before) = &mut self.latest[color][view.index()];
                let changes = pieces.changes(pieces_before);
                apply(&changes, &self.network, self.kernel, view, before, row);
                (*pieces_before, *before) = (pieces, *row);
            }
        }
    }
}

#[inline]
fn views(pieces: &PieceSet) -> [Perspective; 2] {
    [Perspective::new(pieces, Color::White), Perspective::new(pieces, Color::Black)]
}

#[inline(always)]
fn apply<const MAX: usize>(
    changes: &Changes<MAX>,
    network: &Network,
    kernel: Kernel,
    view: Perspective,
    from: &Row,
    to: &mut Row,
) {
    let row = |piece: PieceSquare| &network.inputs[view.input(piece)];
    match (changes.added.as_slice(), changes.removed.as_slice()) {
        (&[a], &[r]) => kernel.update(from, &[row(a)], &[row(r)], to),
        (&[a], &[r, s]) => kernel.update(from, &[row(a)], &[row(r), row(s)], to),
        (added, removed) => {
            // The lists are filled in place, because returning them from a function would copy
            // them.
            let (mut add, mut remove) = (Rows::<MAX>::new(), Rows::<MAX>::new());
            add.extend(added.iter().map(|&piece| row(piece)));
            remove.extend(removed.iter().map(|&piece| row(piece)));
            kernel.update(from, &add, &remove, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Game;
    use crate::engine::eval::nnue::network::tests::random_network;
    use crate::support::random::Random;

    #[test]
    fn incremental_evaluation_matches_full_evaluation() {
        let network = Arc::new(random_network(3));
        let mut accumulators = AccumulatorStack::new(Arc::clone(&network));
        let mut random = Random::new(9);
        let mut line = vec![Position::start()];
        for _ in 0..20_000 {
            let position = line[line.len() - 1];
            let moves: Vec<_> = position.legal_moves().iter().collect();
            if moves.is_empty() || line.len() > MAX_PLY || random.below(5) < 2 {
                line.truncate(1 + random.below(line.len()));
            } else {
                line.push(position.play(moves[random.below(moves.len())]));
            }
            if random.below(4) > 0 {
                let position = &line[line.len() - 1];
                let score = accumulators.evaluate(position, line.len() - 1);
                let pieces = PieceSet::of(position);
                assert_eq!(score, network.evaluate(&pieces, position.side_to_move()), "{position}");
            }
        }
    }

    #[test]
    fn unusual_start_positions_are_evaluated_correctly() {
        let network = Arc::new(random_network(4));
        let mut accumulators = AccumulatorStack::new(Arc::clone(&network));
        for fen in ["8/8/8/8/8/2k5/8/K1q5 w - - 0 1", "QQQQQQQ1/8/8/1k6/8/8/8/6K1 b - - 0 1"] {
            let game = Game::new(Position::from_fen(fen).expect(fen));
            let position = game.position();
            let expected = network.evaluate(&PieceSet::of(position), position.side_to_move());
            assert_eq!(accumulators.evaluate(position, 0), expected);
        }
    }
}
