//! Move generation against published leaf counts.

use std::fs;

use tabia::position::{Position, perft};

use crate::support::shared_data;

/// The maximum number of leaves for a quick run. Larger counts are checked only in the full run in
/// release mode.
const QUICK_LEAVES: u64 = 12_000_000;

/// Well-known positions with their leaf counts from depth 1 onwards, as published at
/// <https://www.chessprogramming.org/Perft_Results>.
const PUBLISHED: [(&str, &[u64]); 6] = [
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        &[20, 400, 8_902, 197_281, 4_865_609],
    ),
    (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        &[48, 2_039, 97_862, 4_085_603],
    ),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[14, 191, 2_812, 43_238, 674_624]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", &[6, 264, 9_467, 422_333]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", &[44, 1_486, 62_379, 2_103_487]),
    (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        &[46, 2_079, 89_890, 3_894_594],
    ),
];

#[test]
fn perft_matches_published_counts() {
    for (fen, counts) in PUBLISHED {
        for (depth, &leaves) in (1..).zip(counts) {
            check(fen, depth, leaves);
        }
    }
}

#[test]
fn perft_matches_the_standard_suite() {
    check_standard_suite(QUICK_LEAVES);
}

#[test]
#[ignore = "counts 4.8 billion leaves: run it in release"]
fn perft_matches_the_full_standard_suite() {
    check_standard_suite(u64::MAX);
}

/// Checks the 128 positions of the standard suite (lines such as `FEN ;D1 20 ;D2 400 ...`), except
/// for counts above `most` leaves.
fn check_standard_suite(most: u64) {
    let Some(path) = shared_data("epd/perft/standard.epd") else { return };
    let text = fs::read_to_string(path).expect("the suite is text");
    let mut positions = 0;
    for line in text.lines() {
        let mut parts = line.split(';');
        let fen = parts.next().expect("a line begins with its position").trim();
        let counts = parts.map(|part| depth_and_leaves(part.trim().trim_start_matches('D')));
        let within: Vec<_> = counts.filter(|&(_, leaves)| leaves <= most).collect();
        assert!(!within.is_empty(), "nothing to count: {line}");
        for (depth, leaves) in within {
            check(fen, depth, leaves);
        }
        positions += 1;
    }
    assert_eq!(positions, 128);
}

/// Positions of the tricky suite that Tabia rejects, because they have Chess960 castling rights or
/// too many pieces. Each entry has a part of the error message and the ids of its positions.
const REFUSED: [(&str, &[&str]); 2] = [
    (
        "castling",
        &[
            "xfen-00",
            "xfen-01",
            "xfen-02",
            "xfen-03",
            "xfen-04",
            "hside-rook-blocks-aside-castling",
            "two-knight-checkers",
            "asymmetrical-and-king-on-h",
        ],
    ),
    (" pieces", &["max-legals-too-much-material"]),
];

#[test]
fn perft_matches_the_tricky_suite() {
    let Some(path) = shared_data("epd/perft/tricky.perft") else { return };
    let text = fs::read_to_string(path).expect("the set is text");
    let (mut id, mut fen, mut counted) = ("", "", 0);
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("id", name)) => id = name,
            Some(("epd", position)) => fen = position,
            Some(("perft", count)) => match refusal(id) {
                None => {
                    let (depth, leaves) = depth_and_leaves(count);
                    check(fen, depth, leaves);
                    counted += 1;
                }
                Some(word) => {
                    let error = Position::from_fen(fen).expect_err(id).to_string();
                    assert!(error.contains(word), "{id}: {error}");
                }
            },
            _ => {}
        }
    }
    assert_eq!(counted, 55);
}

fn refusal(id: &str) -> Option<&'static str> {
    REFUSED.iter().find_map(|&(word, ids)| ids.contains(&id).then_some(word))
}

fn depth_and_leaves(text: &str) -> (u32, u64) {
    let (depth, leaves) = text.split_once(' ').expect("depth and leaves");
    (depth.parse().expect("a depth"), leaves.parse().expect("a count"))
}

fn check(fen: &str, depth: u32, leaves: u64) {
    let position = Position::from_fen(fen).expect(fen);
    assert_eq!(perft(&position, depth), leaves, "{fen} at depth {depth}");
}
