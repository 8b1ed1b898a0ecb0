//! Benchmarks the position module on positions from all phases of the game: `cargo bench --bench
//! position`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tabia::position::{Move, Position, perft};

/// The positions to measure: an opening, quiet and sharp middlegames, and endgames. In one of them,
/// the side to move is in check.
const POSITIONS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "r1b1k2r/ppppnppp/2n2q2/2b5/3NP3/2P1B3/PP3PPP/RN1QKB1R w KQkq - 0 1",
    "rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/5pk1/6p1/3R3p/1r5P/6P1/5PK1/8 w - - 0 40",
];

fn positions() -> Vec<Position> {
    POSITIONS.iter().map(|fen| Position::from_fen(fen).expect(fen)).collect()
}

fn moves() -> Vec<(Position, Move)> {
    let each = |position: Position| {
        position.legal_moves().iter().map(move |mv| (position, mv)).collect::<Vec<_>>()
    };
    positions().into_iter().flat_map(each).collect()
}

fn generation(criterion: &mut Criterion) {
    let positions = positions();
    let mut group = criterion.benchmark_group("generation");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("legal_moves", |bencher| {
        bencher
            .iter(|| positions.iter().map(|position| position.legal_moves().len()).sum::<usize>());
    });
    group.bench_function("has_no_moves", |bencher| {
        bencher.iter(|| positions.iter().filter(|position| position.has_no_moves()).count());
    });
    group.finish();
}

fn one_move(criterion: &mut Criterion) {
    let moves = moves();
    let mut group = criterion.benchmark_group("move");
    group.throughput(Throughput::Elements(moves.len() as u64));
    group.bench_function("play", |bencher| {
        bencher.iter(|| moves.iter().fold(0, |keys, (from, mv)| keys ^ from.play(*mv).key()));
    });
    group.bench_function("is_legal", |bencher| {
        bencher.iter(|| moves.iter().filter(|(from, mv)| from.is_legal(black_box(*mv))).count());
    });
    let texts: Vec<(Position, String)> =
        moves.iter().map(|(from, mv)| (*from, from.san(*mv))).collect();
    group.bench_function("parse_san", |bencher| {
        bencher.iter(|| texts.iter().filter(|(from, san)| from.parse_san(san).is_ok()).count());
    });
    group.finish();
}

fn tree(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("perft");
    for (name, fen, depth) in [("start", POSITIONS[0], 4), ("kiwipete", POSITIONS[2], 3)] {
        let position = Position::from_fen(fen).expect(fen);
        group.throughput(Throughput::Elements(perft(&position, depth)));
        group.bench_function(name, |bencher| bencher.iter(|| perft(black_box(&position), depth)));
    }
    group.finish();
}

criterion_group!(benches, generation, one_move, tree);
criterion_main!(benches);
