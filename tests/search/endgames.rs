//! The endgame tables, asked alone and from within the search.

use crate::support::shared_data;
use tabia::position::{Color, Game, OutcomeReason, Position};
use tabia::score::TABLEBASE_BOUND;
use tabia::search::{Config, Control, Limits, SearchEvent, Searcher};
use tabia::tablebase::{TablebaseResult, Tables, TablesError};

fn tables() -> Option<Tables> {
    Some(Tables::open(&shared_data("syzygy")?).expect("endgame tables"))
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen).expect(fen)
}

#[test]
fn the_tables_know_simple_endings() {
    let Some(tables) = tables() else { return };
    for (fen, winner) in [
        ("8/8/8/8/8/4k3/8/Q3K3 w - - 0 1", Some(Some(Color::White))),
        ("8/8/8/8/8/4k3/8/Q3K3 b - - 0 1", Some(Some(Color::White))),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", Some(None)),
        ("8/8/8/8/8/4k3/8/RN1QK3 w - - 0 1", None),
        // Castling is not in the tables.
        ("8/8/8/8/8/4k3/8/R3K3 w Q - 0 1", None),
    ] {
        assert_eq!(tables.winner(&position(fen)), winner, "{fen}");
    }
}

/// Both sides follow the tables: the win must come, within the fifty moves.
#[test]
fn their_advice_mates_with_bishop_and_knight() {
    let Some(tables) = tables() else { return };
    let mut game = Game::new(position("7k/8/8/8/8/8/8/KBN5 w - - 0 1"));
    while game.outcome().is_none() {
        let advice = tables.advise(game.position()).expect("four men");
        let wins = game.position().side_to_move() == Color::White;
        assert_eq!(advice.outcome, if wins { TablebaseResult::Win } else { TablebaseResult::Loss });
        game.play(advice.moves[0]).expect("a legal move");
    }
    let outcome = game.outcome().expect("the game has ended");
    assert_eq!((outcome.winner, outcome.reason), (Some(Color::White), OutcomeReason::Checkmate));
}

#[test]
fn the_search_asks_them() {
    let Some(tables) = tables() else { return };
    let mut searcher = Searcher::new(Config { memory_mb: 4, ..Config::default() });
    let mut search = |fen: &str, endgames: Option<Tables>| {
        let mut hits = 0;
        searcher.new_game();
        searcher.configure(Config { endgames, ..searcher.config().clone() });
        let game = Game::new(position(fen));
        let result = searcher.search(&game, &Limits::depth(8), &Control::new(), &mut |event| {
            if let SearchEvent::Iteration(report) = event {
                hits = report.tablebase_hits;
            }
        });
        (result, hits)
    };
    // The rook's pawn queens beside a bishop of the wrong colour: a draw, whatever it looks like.
    let wrong_bishop = "8/8/8/8/2k5/1p6/3P4/1KB5 b - - 0 1";
    let (_, hits) = search(wrong_bishop, None);
    assert_eq!(hits, 0);
    let (_, hits) = search(wrong_bishop, Some(tables.clone()));
    assert!(hits > 0);
    // Five pieces; taking the knight leaves a won ending of four.
    let (result, _) = search("8/8/8/1n6/1R6/8/1p6/1K1k4 w - - 0 1", Some(tables));
    assert!(result.score.abs() < TABLEBASE_BOUND || result.score > 0, "{}", result.score);
}

#[test]
fn the_root_plays_what_the_tables_say() {
    let Some(tables) = tables() else { return };
    let endgames = Some(tables.clone());
    let mut searcher = Searcher::new(Config { memory_mb: 4, endgames, ..Config::default() });
    for fen in [
        "8/8/8/4k3/8/8/8/KBN5 w - - 0 1",
        "8/8/8/8/4k3/8/1p6/1K1R4 b - - 0 1",
        "8/3k4/8/3K4/3P4/8/8/8 b - - 0 1",
    ] {
        let game = Game::new(position(fen));
        let result = searcher.search(&game, &Limits::depth(4), &Control::new(), &mut |_| {});
        let advice = tables.advise(game.position()).expect("few men");
        assert!(result.best.is_some_and(|mv| advice.moves.contains(&mv)), "{fen}");
    }
}

#[test]
fn folders_without_tables_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Tables::open(folder.path()).expect_err("no tables");
    assert!(matches!(error, TablesError::None { .. }), "{error}");
    let error = Tables::open(&folder.path().join("none")).expect_err("no folder");
    assert!(matches!(error, TablesError::Read { .. }), "{error}");
}
