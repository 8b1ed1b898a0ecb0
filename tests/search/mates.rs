//! Tests that the mate search finds the mates in the problem suites.

use crate::support::shared_data;
use tabia::position::{Game, Move, OutcomeReason, Position};
use tabia::score::mate_distance;
use tabia::search::{Config, Control, Limits, SearchEvent, Searcher};

/// Searches for a mate in at most `moves` moves. Returns the mate distance and the last reported
/// line.
fn mate_line(searcher: &mut Searcher, game: &Game, moves: u32) -> (Option<i32>, Vec<Move>) {
    let mut line = Vec::new();
    let found = searcher.search(game, &Limits::mate(moves), &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event {
            line.clone_from(&report.pv);
        }
    });
    assert_eq!(line.first().copied(), found.best);
    (mate_distance(found.score), line)
}

fn assert_leads_to_mate(game: &Game, line: &[Move], moves: Option<i32>) {
    let mut end = game.clone();
    line.iter().try_for_each(|&mv| end.play(mv)).expect("legal moves");
    let fen = game.position().fen();
    assert_eq!(Some((line.len() as i32 + 1) / 2), moves, "{fen}: {line:?}");
    let reason = end.outcome().map(|outcome| outcome.reason);
    assert_eq!(reason, Some(OutcomeReason::Checkmate), "{fen}: {line:?}");
}

#[test]
fn mate_line_ends_with_checkmate() {
    for (fen, mate) in [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
        ("6k1/8/6K1/8/8/8/8/4R3 w - - 0 1", 1),
        ("k7/8/2K5/8/8/8/8/4R3 w - - 0 1", 2),
        ("7k/8/8/8/8/8/1R6/R3K3 w - - 0 1", 2),
        ("4r3/8/8/8/8/6k1/8/6K1 b - - 0 1", 1),
        ("r3k3/1r6/8/8/8/8/8/7K b - - 0 1", 2),
        ("8/8/8/8/8/2k5/3q4/K7 b - - 0 1", 1),
        ("8/8/8/8/3k4/8/4q3/K7 b - - 0 1", 3),
    ] {
        let game = Game::new(Position::from_fen(fen).expect(fen));
        let mut searcher = Searcher::new(Config { memory_mb: 16, ..Config::default() });
        // The search must also find a mate if more moves are allowed than necessary.
        for moves in [mate, mate + 1, mate + 2] {
            searcher.new_game();
            let (found, line) = mate_line(&mut searcher, &game, moves);
            assert!(
                found.is_some_and(|found| found >= 1 && found <= moves as i32),
                "{fen}, {moves}: {found:?}"
            );
            assert_leads_to_mate(&game, &line, found);
        }
    }
}

fn check_suite(file: &str, moves: u32) {
    let Some(path) = shared_data(&format!("epd/mate/{file}")) else { return };
    let text = std::fs::read_to_string(path).expect("a suite");
    let mut searcher = Searcher::new(Config { memory_mb: 16, ..Config::default() });
    let mut count = 0;
    for fen in text.lines().filter(|line| !line.trim().is_empty()) {
        let game = Game::new(Position::from_fen(fen.trim()).expect(fen));
        searcher.new_game();
        let (found, line) = mate_line(&mut searcher, &game, moves);
        assert!(found.is_some_and(|found| (1..=moves as i32).contains(&found)), "{fen}");
        assert_leads_to_mate(&game, &line, found);
        count += 1;
    }
    assert!(count > 0, "{file} is empty");
}

#[test]
fn finds_mates_in_one() {
    check_suite("mate1.fen", 1);
}

#[test]
fn finds_mates_in_two() {
    check_suite("mate2.fen", 2);
    check_suite("mate2_eventual.fen", 2);
}

#[test]
fn finds_mates_in_three() {
    check_suite("mate3.fen", 3);
    check_suite("mate3_eventual.fen", 3);
}

#[test]
#[ignore = "takes half a minute unless optimised"]
fn finds_mates_in_four() {
    check_suite("mate4.fen", 4);
}
