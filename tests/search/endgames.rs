//! Tests of endgame tables, on their own and in the search.

use crate::support::shared_data;
use tabia::position::{Color, Game, OutcomeReason, Position};
use tabia::score::TABLEBASE_BOUND;
use tabia::search::{Config, Control, Limits, Report, SearchEvent, SearchResult, Searcher};
use tabia::tablebase::{TablebaseResult, Tables};

fn tables() -> Option<Tables> {
    Some(Tables::open(&shared_data("syzygy")?).expect("endgame tables"))
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen).expect(fen)
}

#[test]
fn tables_give_known_results() {
    let Some(tables) = tables() else { return };
    for (fen, winner) in [
        ("8/8/8/8/8/4k3/8/Q3K3 w - - 0 1", Some(Some(Color::White))),
        ("8/8/8/8/8/4k3/8/Q3K3 b - - 0 1", Some(Some(Color::White))),
        ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", Some(None)),
        ("8/8/8/8/8/4k3/8/RN1QK3 w - - 0 1", None),
        // The result is unknown, because the tables do not contain positions with castling rights.
        ("8/8/8/8/8/4k3/8/R3K3 w Q - 0 1", None),
    ] {
        assert_eq!(tables.winner(&position(fen)), winner, "{fen}");
    }
}

/// Both sides play the moves recommended by the tables. White must then mate before the fifty-move
/// rule applies.
#[test]
fn root_moves_of_the_tables_mate_with_bishop_and_knight() {
    let Some(tables) = tables() else { return };
    let mut game = Game::new(position("7k/8/8/8/8/8/8/KBN5 w - - 0 1"));
    while game.outcome().is_none() {
        let advice = tables.probe_root(game.position()).expect("four men");
        let wins = game.position().side_to_move() == Color::White;
        assert_eq!(advice.outcome, if wins { TablebaseResult::Win } else { TablebaseResult::Loss });
        game.play(advice.moves[0]).expect("a legal move");
    }
    let outcome = game.outcome().expect("the game has ended");
    assert_eq!((outcome.winner, outcome.reason), (Some(Color::White), OutcomeReason::Checkmate));
}

#[test]
fn search_probes_the_tables() {
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
    // A position with five pieces.
    let five_pieces = "8/8/8/8/2k5/1p6/3P4/1KB5 b - - 0 1";
    let (_, hits) = search(five_pieces, None);
    assert_eq!(hits, 0);
    let (_, hits) = search(five_pieces, Some(tables.clone()));
    assert!(hits > 0);
    // A position with five pieces, in which capturing the knight leads to a won ending with four.
    // The score must not be a proven loss.
    let (result, _) = search("8/8/8/1n6/1R6/8/1p6/1K1k4 w - - 0 1", Some(tables));
    assert!(result.score.abs() < TABLEBASE_BOUND || result.score > 0, "{}", result.score);
}

#[test]
fn root_move_follows_the_tables() {
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
        let advice = tables.probe_root(game.position()).expect("few men");
        assert!(result.best.is_some_and(|mv| advice.moves.contains(&mv)), "{fen}");
    }
}

fn reported(fen: &str, limits: &Limits, endgames: Option<Tables>) -> (Vec<Report>, SearchResult) {
    let mut searcher = Searcher::new(Config { memory_mb: 4, endgames, ..Config::default() });
    let mut reports = Vec::new();
    let game = Game::new(position(fen));
    let result = searcher.search(&game, limits, &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event {
            reports.push(report.clone());
        }
    });
    (reports, result)
}

/// The root score of every report agrees with the tables, which take the fifty-move rule into
/// account.
#[test]
fn root_score_follows_the_tables() {
    let Some(tables) = tables() else { return };
    let sign = |score: i32| match score {
        0 => TablebaseResult::Draw,
        score if score >= TABLEBASE_BOUND => TablebaseResult::Win,
        score if score <= -TABLEBASE_BOUND => TablebaseResult::Loss,
        score => panic!("{score} is not proven"),
    };
    for pieces in [
        "8/8/6k1/3B4/3K4/4N3/8/8",
        "8/8/8/4k3/8/8/8/KBN5",
        "8/8/8/8/4k3/8/1p6/1K1R4",
        "8/3k4/8/3K4/3P4/8/8/8",
        "8/8/8/8/2k5/1p6/3P4/1KB5",
        "8/8/4k3/8/8/8/3QK3/7r",
    ] {
        for (side, clock) in
            ["w", "b"].into_iter().flat_map(|side| [0, 60, 95].map(|clock| (side, clock)))
        {
            let fen = format!("{pieces} {side} - - {clock} 106");
            let game = position(&fen);
            let Some(ranked) = tables.ranked(&game) else { continue };
            if ranked.iter().any(|known| !known.is_certain) {
                continue;
            }
            let advice = tables.probe_root(&game).expect("a move");
            for multi_pv in [1, 3] {
                let limits = Limits { multi_pv, ..Limits::depth(5) };
                let (reports, result) = reported(&fen, &limits, Some(tables.clone()));
                assert_eq!(sign(result.score), advice.outcome, "{fen}");
                for report in reports {
                    let known = ranked.iter().find(|known| known.mv == report.pv[0]);
                    assert_eq!(sign(report.score), known.expect("a move").outcome, "{fen}");
                    assert!(report.tablebase_hits >= ranked.len() as u64, "{fen}");
                }
            }
        }
    }
}

/// A capture leads to a position in the tables. The search must use its result as a bound on the
/// score, even in PV nodes.
#[test]
fn tables_bound_the_principal_variation() {
    let Some(tables) = tables() else { return };
    for (fen, depth) in
        [("8/8/8/3n4/8/1k6/8/3RK2R w - - 0 1", 6), ("4k3/8/8/3q4/8/8/3R4/3RK3 w - - 0 1", 6)]
    {
        let (_, result) = reported(fen, &Limits::depth(depth), Some(tables.clone()));
        assert!(result.score >= TABLEBASE_BOUND, "{fen}: {}", result.score);
    }
}

/// The engine must not give up a piece in a drawn position, even if it would still be a draw
/// according to the tables, because the opponent could make a mistake as long as the piece remains.
#[test]
fn drawn_position_is_played_without_losing_pieces() {
    let Some(tables) = tables() else { return };
    for fen in [
        "8/8/3k4/3n4/8/2R5/3K4/8 w - - 0 1",
        "8/8/8/2b5/2k5/8/6R1/4K3 w - - 0 1",
        "8/8/5r2/3k4/8/5N2/4K3/8 b - - 0 1",
    ] {
        let start = position(fen);
        let advice = tables.probe_root(&start).expect("four men");
        let takes = |next: &Position| next.legal_moves().iter().any(|reply| next.is_noisy(reply));
        assert_eq!(advice.outcome, TablebaseResult::Draw, "{fen}");
        assert!(advice.moves.iter().any(|&mv| takes(&start.play(mv))), "{fen}");
        let (_, result) = reported(fen, &Limits::depth(6), Some(tables.clone()));
        let next = start.play(result.best.expect("a move"));
        assert!(result.score == 0 && !takes(&next), "{fen}: {result:?}");
    }
}

/// Tabia must win `starts` random positions with bishop and knight. The opponent plays the moves of
/// the endgame tables if they are available, and Tabia's moves otherwise.
fn win_with_bishop_and_knight(starts: usize, nodes: u64, mut random: u64) {
    let mut square = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 58) as usize
    };
    let tables = tables();
    let mut searchers =
        [0, 1].map(|_| Searcher::new(Config { memory_mb: 16, ..Config::default() }));
    let mut played = 0;
    while played < starts {
        let mut board = [' '; 64];
        for piece in ['K', 'B', 'N', 'k'] {
            board[square()] = piece;
        }
        let Ok(start) = Position::from_fen(&fen_of(&board)) else { continue };
        let is_whole = start.occupied().popcnt() == 4;
        let is_won = || match &tables {
            Some(tables) => tables.winner(&start) == Some(Some(Color::White)),
            None => !piece_is_lost(&start),
        };
        if !is_whole || start.in_check() || !is_won() {
            continue;
        }
        played += 1;
        let mut game = Game::new(start);
        searchers.iter_mut().for_each(Searcher::new_game);
        while game.outcome().is_none() {
            let is_white = game.position().side_to_move() == Color::White;
            let advice = tables
                .as_ref()
                .filter(|_| !is_white)
                .and_then(|tables| tables.probe_root(game.position()));
            let mv = match advice {
                Some(advice) => advice.moves[0],
                None => {
                    let searcher = &mut searchers[usize::from(is_white)];
                    let limits = Limits::nodes(nodes);
                    searcher
                        .search_without_events(&game, &limits, &Control::new())
                        .best
                        .expect("a move")
                }
            };
            game.play(mv).expect("a legal move");
        }
        let outcome = game.outcome().expect("it has ended");
        assert_eq!(outcome.winner, Some(Color::White), "{}", start.fen());
    }
}

#[test]
fn bishop_and_knight_win_with_few_nodes() {
    win_with_bishop_and_knight(12, 1_000, 5);
}

#[test]
#[ignore = "takes minutes"]
fn bishop_and_knight_win_from_random_starts() {
    for seed in [1, 2] {
        win_with_bishop_and_knight(60, 40_000, seed);
    }
}

/// Returns true if Black can capture a piece whatever White plays.
fn piece_is_lost(start: &Position) -> bool {
    let takes = |position: &Position| position.legal_moves().iter().any(|mv| position.is_noisy(mv));
    start.legal_moves().iter().all(|mv| takes(&start.play(mv)))
}

fn fen_of(board: &[char; 64]) -> String {
    let ranks = board.chunks(8).map(|rank| {
        rank.iter().map(|&piece| if piece == ' ' { '1' } else { piece }).collect::<String>()
    });
    format!("{} w - - 0 1", ranks.collect::<Vec<_>>().join("/"))
}

#[test]
fn folders_without_tables_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Tables::open(folder.path()).expect_err("no tables");
    assert!(error.reason.starts_with("there are no Syzygy tables"), "{error}");
    let error = Tables::open(&folder.path().join("none")).expect_err("no folder");
    assert_eq!(error.reason, "it does not exist", "{error}");
}
