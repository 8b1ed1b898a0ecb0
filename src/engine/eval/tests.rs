//! Tests for properties that hold for the evaluation as a whole, such as symmetry between the
//! colours.

use super::*;
use crate::chess::position::Game;
use crate::chess::score::TABLEBASE_BOUND;

/// Middlegames and endgames that together use every term.
const POSITIONS: [&str; 12] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9",
    "2kr3r/ppp2pp1/2nqb3/3p3p/3P1P1b/2PBBN2/PP2Q1PP/RN3R1K b - - 3 14",
    "6k1/5ppp/1r2p3/3pP3/1P1P4/P4N2/5PPP/2R3K1 b - - 0 30",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/5pk1/6p1/1P1b3p/4B2P/6P1/5P1K/8 w - - 0 45",
    "8/8/1P6/5k2/8/8/5K2/8 w - - 0 1",
    "4k3/8/8/8/8/2NB4/8/4K3 w - - 0 1",
    "r4rk1/1b3ppp/pq1bp3/1p1n4/3N4/P2BP3/1PQB1PPP/R4RK1 w - - 0 16",
    "3q2k1/1p1r1pp1/p1n4p/3Rp3/4P3/1PQ2N1P/P4PP1/6K1 w - - 0 28",
    "8/P5kp/6p1/8/1r6/8/R4PPP/6K1 b - - 0 40",
];

/// Returns the position with the board flipped vertically, and with the colours and the side to
/// move swapped.
fn flipped(position: &Position) -> Position {
    let fen = position.to_string();
    let fields: Vec<&str> = fen.split(' ').collect();
    let swap = |text: &str| -> String {
        let swap_case = |c: char| match c.is_ascii_uppercase() {
            true => c.to_ascii_lowercase(),
            false => c.to_ascii_uppercase(),
        };
        text.chars().map(swap_case).collect()
    };
    let board: Vec<String> = fields[0].split('/').rev().map(swap).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let mirrored = fields[3].replace('3', "x").replace('6', "3").replace('x', "6");
    let flipped =
        format!("{} {turn} {} {mirrored} {} 1", board.join("/"), swap(fields[2]), fields[4]);
    Position::from_fen(&flipped).expect(&flipped)
}

fn random_positions() -> Vec<Position> {
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut positions = Vec::new();
    for fen in POSITIONS {
        let mut game = Game::new(Position::from_fen(fen).expect(fen));
        for _ in 0..60 {
            positions.push(*game.position());
            let moves: Vec<_> = game.position().legal_moves().iter().collect();
            if moves.is_empty() {
                break;
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mv = moves[(seed >> 33) as usize % moves.len()];
            game.play(mv).expect("a legal move");
        }
    }
    positions
}

fn evaluations() -> [Evaluation; 2] {
    [Evaluation::Classical, Evaluation::default()]
}

#[test]
fn evaluator_can_switch_evaluation() {
    let [mut terms, mut network] = evaluations().map(|one| Evaluator::new(&one));
    let start = Position::start();
    let expected = [&mut terms, &mut network].map(|one| one.evaluate(&start, 0));
    network.set(&Evaluation::Classical);
    terms.set(&Evaluation::default());
    assert_eq!([&mut network, &mut terms].map(|one| one.evaluate(&start, 0)), expected);
}

#[test]
fn evaluation_is_symmetric_in_colour() {
    for evaluation in evaluations() {
        let mut evaluator = Evaluator::new(&evaluation);
        for position in random_positions() {
            let score = evaluator.evaluate(&position, 0);
            assert_eq!(score, evaluator.evaluate(&flipped(&position), 0), "{position}");
            assert!(score.abs() < TABLEBASE_BOUND, "{position}");
        }
    }
}

#[test]
fn breakdown_and_pawn_table_match_the_evaluation() {
    let mut evaluator = Evaluator::new(&Evaluation::Classical);
    for position in random_positions() {
        let terms = breakdown(&position).score();
        let score = match is_mop_up(&position) {
            true => damping::damped_by_clock(&position, terms),
            false => terms,
        };
        assert_eq!(evaluator.evaluate(&position, 0), score, "{position}");
        assert_eq!(evaluator.evaluate(&position, 0), score, "from the table: {position}");
    }
}

#[test]
fn breakdown_terms_add_up() {
    for position in random_positions() {
        let breakdown = breakdown(&position);
        assert!(breakdown.adds_up(), "{position}\n{breakdown}");
    }
}

#[test]
fn extra_material_scores_higher() {
    let mut evaluators = evaluations().map(|evaluation| Evaluator::new(&evaluation));
    for (fen, at_least) in [
        ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 700),
        ("1nbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1", 300),
        ("rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 200),
        ("r1bq1rk1/1p2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9", 30),
    ] {
        for evaluator in &mut evaluators {
            let score = evaluator.evaluate(&Position::from_fen(fen).expect(fen), 0);
            assert!(score > at_least, "{fen}: {score}");
        }
    }
}

#[test]
fn breakdown_table_lists_every_term() {
    let text = breakdown(&Position::start()).to_string();
    for term in [
        "material",
        "pawns",
        "knights",
        "bishops",
        "rooks",
        "queens",
        "king",
        "mobility",
        "king safety",
        "centre",
        "passed pawns",
        "threats",
        "space",
        "tempo",
        "total",
        "White",
        "Black",
    ] {
        assert!(text.contains(term), "{term} is missing:\n{text}");
    }
}
