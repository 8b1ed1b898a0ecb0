//! The benchmark: fixed positions searched to a fixed depth with one thread and without a book.
//!
//! The total node count is the signature of the search. A refactoring must not change it.

use std::time::Duration;

use super::{Config, Control, Limits, Searcher};
use crate::chess::position::{Game, Position};
use crate::chess::score::Depth;
use crate::engine::eval::Evaluation;

pub(crate) const BENCH_DEPTH: Depth = 12;
const BENCH_MEMORY_MB: usize = 16;

/// The Bratko-Kopec test (1982), the start position, and well-known endgames and tactics.
pub(super) const POSITIONS: [&str; 32] = [
    "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - -",
    "3r1k2/4npp1/1ppr3p/p6P/P2PPPP1/1NR5/5K2/2R5 w - -",
    "2q1rr1k/3bbnnp/p2p1pp1/2pPp3/PpP1P1P1/1P2BNNP/2BQ1PRK/7R b - -",
    "rnbqkb1r/p3pppp/1p6/2ppP3/3N4/2P5/PPP1QPPP/R1B1KB1R w KQkq -",
    "r1b2rk1/2q1b1pp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - -",
    "2r3k1/pppR1pp1/4p3/4P1P1/5P2/1P4K1/P1P5/8 w - -",
    "1nk1r1r1/pp2n1pp/4p3/q2pPp1N/b1pP1P2/B1P2R2/2P1B1PP/R2Q2K1 w - -",
    "4b3/p3kp2/6p1/3pP2p/2pP1P2/4K1P1/P3N2P/8 w - -",
    "2kr1bnr/pbpq4/2n1pp2/3p3p/3P1P1B/2N2N1Q/PPP3PP/2KR1B1R w - -",
    "3rr1k1/pp3pp1/1qn2np1/8/3p4/PP1R1P2/2P1NQPP/R1B3K1 b - -",
    "2r1nrk1/p2q1ppp/bp1p4/n1pPp3/P1P1P3/2PBB1N1/4QPPP/R4RK1 w - -",
    "r3r1k1/ppqb1ppp/8/4p1NQ/8/2P5/PP3PPP/R3R1K1 b - -",
    "r2q1rk1/4bppp/p2p4/2pP4/3pP3/3Q4/PP1B1PPP/R3R1K1 w - -",
    "rnb2r1k/pp2p2p/2pp2p1/q2P1p2/8/1Pb2NP1/PB2PPBP/R2Q1RK1 w - -",
    "2r3k1/1p2q1pp/2b1pr2/p1pp4/6Q1/1P1PP1R1/P1PN2PP/5RK1 w - -",
    "r1bqkb1r/4npp1/p1p4p/1p1pP1B1/8/1B6/PPPN1PPP/R2Q1RK1 w kq -",
    "r2q1rk1/1ppnbppp/p2p1nb1/3Pp3/2P1P1P1/2N2N1P/PPB1QP2/R1B2RK1 b - -",
    "r1bq1rk1/pp2ppbp/2np2p1/2n5/P3PP2/N1P2N2/1PB3PP/R1B1QRK1 b - -",
    "3rr3/2pq2pk/p2p1pnp/8/2QBPP2/1P6/P5PP/4RRK1 b - -",
    "r4k2/pb2bp1r/1p1qp2p/3pNp2/3P1P2/2N3P1/PPP1Q2P/2KRR3 w - -",
    "3rn2k/ppb2rpp/2ppqp2/5N2/2P1P3/1P5Q/PB3PPP/3RR1K1 w - -",
    "2r2rk1/1bqnbpp1/1p1ppn1p/pP6/N1P1P3/P2B1N1P/1B2QPP1/R2R2K1 b - -",
    "r1bqk2r/pp2bppp/2p5/3pP3/P2Q1P2/2N1B3/1PP3PP/R4RK1 b kq -",
    "r2qnrnk/p2b2b1/1p1p2pp/2pPpp2/1PP1P3/PRNBB3/3QNPPP/5RK1 w - -",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - -",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - -",
    "6k1/5pp1/8/2bKP2P/2P5/p4PNb/B7/8 b - -",
    "8/5k2/8/5N2/5Q2/2K5/8/8 w - -",
    "4rrk1/pp1n1pp1/q5p1/P1pP4/2n3P1/7P/1P3PB1/R1BQ1RK1 w - -",
];

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BenchResult {
    /// Total number of nodes over all positions: the signature of the search.
    pub nodes: u64,
    pub elapsed: Duration,
}

impl BenchResult {
    pub(crate) fn speed(&self) -> f64 {
        self.nodes as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Searches all positions to `depth`. After each position, calls `on_position` with its FEN, node
/// count and time.
pub(crate) fn bench(
    depth: Depth,
    evaluation: Evaluation,
    on_position: &mut dyn FnMut(&str, BenchResult),
) -> BenchResult {
    let config = Config { memory_mb: BENCH_MEMORY_MB, evaluation, ..Config::default() };
    let mut searcher = Searcher::new(config);
    let mut total = BenchResult::default();
    for fen in POSITIONS {
        searcher.new_game();
        let game = Game::new(Position::from_fen(fen).expect("the bench positions are legal"));
        let found = searcher.search_without_events(&game, &Limits::depth(depth), &Control::new());
        let result = BenchResult { nodes: found.nodes, elapsed: found.elapsed };
        on_position(fen, result);
        total.nodes += result.nodes;
        total.elapsed += result.elapsed;
    }
    total
}
