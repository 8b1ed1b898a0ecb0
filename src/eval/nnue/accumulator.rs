//! The neurons' values, kept up to date along the lines of a search.
//!
//! For each ply the values of the position last evaluated there are kept, together with the men
//! that they stand for. A new position begins from the values of the ply above it, which mostly
//! are its parent's, and only what differs between the two boards is added and taken off. So the
//! search need not tell what it plays and takes back, positions that are never evaluated cost
//! nothing, and no value can ever be wrong. Where the ply above is of little use (the king has
//! changed sides, the parent was not evaluated), the values that were last computed so, kept for
//! each view, are brought up to date instead; these are known as Finny tables:
//! <https://www.chessprogramming.org/NNUE#Accumulator>.

use std::sync::Arc;

use arrayvec::ArrayVec;
use chess::Color;

use super::kernel::{Kernel, Row};
use super::men::{Men, Perspective};
use super::network::Network;
use crate::position::Position;
use crate::score::{MAX_PLY, Ply, Score};

/// Men that a position may differ by from the one it begins from before another is looked at: a
/// capture that promotes changes three, two moves change four.
const NEAR: usize = 4;
/// Most men that can differ between two boards.
const MAX_DIFFERENCE: usize = 32;

/// The neurons' values in one view of a board.
#[derive(Clone)]
struct Values {
    men: Men,
    view: Perspective,
    row: Row,
}

/// The rows of weights between two boards.
struct Difference<'n> {
    added: ArrayVec<&'n Row, MAX_DIFFERENCE>,
    removed: ArrayVec<&'n Row, MAX_DIFFERENCE>,
}

/// A network at work: evaluates the positions of a search.
#[derive(Clone)]
pub struct Accumulators {
    network: Arc<Network>,
    kernel: Kernel,
    /// By ply and colour.
    plies: Vec<[Values; 2]>,
    /// By colour and view.
    latest: [[Values; 2]; 2],
}

impl Accumulators {
    /// A network that has evaluated nothing yet.
    pub fn new(network: Arc<Network>) -> Self {
        let empty = [Color::White, Color::Black].map(|color| Values {
            men: Men::NONE,
            view: Perspective::new(&Men::NONE, color),
            row: network.biases,
        });
        let latest = empty.clone().map(|values| [values.clone(), values]);
        let plies = vec![empty; MAX_PLY + 1];
        Accumulators { network, kernel: Kernel::detect(), plies, latest }
    }

    /// The score in centipawns for the side to move of a position met at `ply`.
    #[inline]
    pub fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        let men = Men::of(position);
        let ply = ply.min(MAX_PLY);
        self.bring(&men, ply, Color::White);
        self.bring(&men, ply, Color::Black);
        let us = position.side_to_move();
        let [own, enemy] = [us, !us].map(|color| &self.plies[ply][color.to_index()].row);
        self.network.score(self.kernel, men.bucket(), [own, enemy])
    }

    /// Makes the values at `ply` those of `men`, as `color` sees them.
    #[inline]
    fn bring(&mut self, men: &Men, ply: Ply, color: Color) {
        let view = Perspective::new(men, color);
        let (above, here) = self.plies.split_at_mut(ply);
        let target = &mut here[0][color.to_index()];
        if let Some([.., above]) = above.last_mut().map(|above| &above[..=color.to_index()])
            && above.view == view
        {
            let difference = Difference::new(&self.network, view, &above.men, men);
            if difference.len() <= NEAR {
                difference.apply(self.kernel, &above.row, &mut target.row);
                (target.men, target.view) = (*men, view);
                return;
            }
        }
        let latest = &mut self.latest[color.to_index()][view.index()];
        let difference = Difference::new(&self.network, view, &latest.men, men);
        difference.apply(self.kernel, &latest.row, &mut target.row);
        (target.men, target.view) = (*men, view);
        *latest = target.clone();
    }
}

impl<'n> Difference<'n> {
    #[inline]
    fn new(network: &'n Network, view: Perspective, from: &Men, to: &Men) -> Self {
        let rows = &network.inputs;
        let row = |color, piece, square| &rows[view.input(color, piece, square)];
        let (mut added, mut removed) = (ArrayVec::new(), ArrayVec::new());
        to.beyond(from, |color, piece, square| added.push(row(color, piece, square)));
        from.beyond(to, |color, piece, square| removed.push(row(color, piece, square)));
        Difference { added, removed }
    }

    fn len(&self) -> usize {
        self.added.len() + self.removed.len()
    }

    #[inline]
    fn apply(&self, kernel: Kernel, from: &Row, to: &mut Row) {
        kernel.update(from, &self.added, &self.removed, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::network::tests::random_network;
    use crate::position::Game;
    use crate::random::Random;

    /// Walks at random up and down the tree, evaluating now and then, as a search does.
    #[test]
    fn updated_values_are_those_computed_anew() {
        let network = Arc::new(random_network(3));
        let mut accumulators = Accumulators::new(Arc::clone(&network));
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
                let men = Men::of(position);
                assert_eq!(score, network.evaluate(&men, position.side_to_move()), "{position}");
            }
        }
    }

    #[test]
    fn a_game_may_begin_anywhere() {
        let network = Arc::new(random_network(4));
        let mut accumulators = Accumulators::new(Arc::clone(&network));
        for fen in ["8/8/8/8/8/2k5/8/K1q5 w - - 0 1", "QQQQQQQ1/8/8/1k6/8/8/8/6K1 b - - 0 1"] {
            let game = Game::new(Position::from_fen(fen).expect(fen));
            let position = game.position();
            let expected = network.evaluate(&Men::of(position), position.side_to_move());
            assert_eq!(accumulators.evaluate(position, 0), expected);
        }
    }
}
