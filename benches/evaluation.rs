//! Measures how long one evaluation takes. The classical terms are evaluated with a warm pawn
//! table, as in a search, and with a cold one. The network is evaluated in each position and after
//! each legal move.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tabia::eval::{Evaluation, Evaluator};
use tabia::position::Position;

const POSITIONS: [&str; 10] = [
    "r1bqkb1r/pp2pppp/2np1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 2 6",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9",
    "2kr3r/ppp2pp1/2nqb3/3p3p/3P1P1b/2PBBN2/PP2Q1PP/RN3R1K b - - 3 14",
    "r4rk1/1b3ppp/pq1bp3/1p1n4/3N4/P2BP3/1PQB1PPP/R4RK1 w - - 0 16",
    "3q2k1/1p1r1pp1/p1n4p/3Rp3/4P3/1PQ2N1P/P4PP1/6K1 w - - 0 28",
    "6k1/5ppp/1r2p3/3pP3/1P1P4/P4N2/5PPP/2R3K1 b - - 0 30",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/5pk1/6p1/1P1b3p/4B2P/6P1/5P1K/8 w - - 0 45",
    "8/P5kp/6p1/8/1r6/8/R4PPP/6K1 b - - 0 40",
];

fn positions() -> Vec<(Position, usize)> {
    let mut positions = Vec::new();
    for fen in POSITIONS {
        let position = Position::from_fen(fen).expect(fen);
        positions.push((position, 0));
        positions.extend(position.legal_moves().iter().map(|mv| (position.play(mv), 1)));
    }
    positions
}

fn evaluate_all(evaluator: &mut Evaluator, positions: &[(Position, usize)]) -> i32 {
    positions.iter().map(|(position, ply)| evaluator.evaluate(black_box(position), *ply)).sum()
}

fn evaluation(c: &mut Criterion) {
    let positions = positions();
    let mut group = c.benchmark_group("evaluation");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut evaluator = Evaluator::new(&Evaluation::Classical);
    group.bench_function("warm pawn table", |b| {
        b.iter(|| evaluate_all(&mut evaluator, &positions));
    });
    group.bench_function("cold pawn table", |b| {
        b.iter_batched_ref(
            || Evaluator::new(&Evaluation::Classical),
            |evaluator| evaluate_all(evaluator, &positions),
            BatchSize::LargeInput,
        );
    });
    let mut evaluator = Evaluator::default();
    group.bench_function("network, one move on", |b| {
        b.iter(|| evaluate_all(&mut evaluator, &positions));
    });
    group.finish();
}

criterion_group!(benches, evaluation);
criterion_main!(benches);
