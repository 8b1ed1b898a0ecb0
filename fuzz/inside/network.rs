//! Compares the incremental evaluation of a network with its plain evaluation.

use std::sync::Arc;

use crate::chess::position::Position;
use crate::engine::eval::nnue::{AccumulatorStack, Network, PieceSet, explain};

/// Positions with few and many pieces, and with kings on both wings.
const POSITIONS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "2kr3r/ppp2ppp/2n5/8/8/2N5/PPP2PPP/1K1R3R b - - 3 17",
    "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1",
];

/// Asserts that the incremental and the plain evaluation agree.
pub fn evaluate(network: Network) {
    let network = Arc::new(network);
    let mut fast = AccumulatorStack::new(Arc::clone(&network));
    for fen in POSITIONS {
        let position = Position::from_fen(fen).expect(fen);
        let mut line = vec![position];
        line.extend(position.legal_moves().iter().take(3).map(|mv| position.play(mv)));
        for (ply, position) in [0, 1, 1, 2].into_iter().zip(&line) {
            let plain = network.evaluate(&PieceSet::of(position), position.side_to_move());
            assert_eq!(fast.evaluate(position, ply), plain, "{position}");
        }
        let _ = explain(&network, &position).to_string();
    }
}
