use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::*;
use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{DRAW, MATE_BOUND, Score, mate_distance};

pub(super) fn game(fen: &str) -> Game {
    Game::new(Position::from_fen(fen).expect(fen))
}

/// Returns a configuration that uses all threads, regardless of the number of cores.
pub(super) fn config(memory_mb: usize, threads: usize) -> Config {
    Config { memory_mb, threads, cores: Some(threads), ..Config::default() }
}

fn search(game: &Game, limits: &Limits, threads: usize) -> SearchResult {
    let mut searcher = Searcher::new(config(8, threads));
    searcher.search(game, limits, &Control::new(), &mut |_| {})
}

fn mv(text: &str) -> Option<Move> {
    Some(text.parse().expect(text))
}

#[test]
fn mates_are_found_with_correct_distance() {
    for (fen, best, moves) in [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "d1d8", 1),
        ("8/8/8/8/8/1k6/2r5/K7 b - - 0 1", "c2c1", 1),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "f6a6", 3),
    ] {
        for threads in [1, 2] {
            let result = search(&game(fen), &Limits::depth(10), threads);
            assert_eq!(mate_distance(result.score), Some(moves), "{fen}");
            assert_eq!(result.best, mv(best), "{fen}");
        }
    }
}

#[test]
fn quiet_mates_are_proven_or_refuted() {
    for (fen, best, moves) in [
        // Mate problems in which no move before the mate gives check. A search that prunes takes a
        // long time to solve them.
        ("k1B5/2p5/NbN5/8/P2p4/P2p4/P1prp3/2RbK3 w - - 0 1", "a4a5", 3),
        ("1Q6/6p1/4n1p1/4p3/3Ppbp1/4pkN1/4N3/5K2 w - - 0 1", "b8h8", 4),
    ] {
        for threads in [1, 2] {
            let result = search(&game(fen), &Limits::mate(moves), threads);
            assert_eq!(mate_distance(result.score), Some(moves as i32), "{fen}");
            let none = search(&game(fen), &Limits::mate(moves - 1), threads);
            assert!(mate_distance(none.score).is_none() && none.depth == 2 * moves as i32 - 3);
            assert_eq!(result.best, mv(best), "{fen}");
        }
    }
}

#[test]
fn no_best_move_in_checkmate_or_stalemate() {
    for fen in ["R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"] {
        let result = search(&game(fen), &Limits::depth(5), 1);
        assert_eq!((result.best, result.nodes), (None, 0), "{fen}");
    }
}

#[test]
fn losing_side_takes_the_perpetual_check() {
    let result = search(&game("6k1/5ppp/8/6Q1/8/8/qr4PP/7K w - - 0 1"), &Limits::depth(8), 1);
    assert_eq!(result.best, mv("g5d8"), "mate is better still");
    let fen = "5rk1/5ppp/8/8/7Q/8/qr4PP/7K b - - 0 1";
    let result = search(&game(fen), &Limits::depth(8), 1);
    assert!(result.score > 0);
    let perpetual = "6k1/6p1/8/6KQ/1r6/q2b4/8/8 w - - 0 1";
    let result = search(&game(perpetual), &Limits::depth(14), 1);
    assert_eq!((result.score, result.best), (DRAW, mv("h5e8")));
}

#[test]
fn parallel_search_finds_the_perpetual_check() {
    let game = game("3k4/p5Q1/2pN1p2/1p6/4r3/Pqp4P/1P3P2/K7 w - - 10 44");
    for threads in [1, 2, 4] {
        let result = search(&game, &Limits::depth(26), threads);
        assert_eq!((result.score, result.best), (DRAW, mv("d6b7")), "{threads} threads");
    }
}

#[test]
fn single_threaded_search_is_deterministic() {
    let game = game("r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4");
    let first = search(&game, &Limits::depth(9), 1);
    let second = search(&game, &Limits::depth(9), 1);
    assert_eq!((first.nodes, first.best, first.score), (second.nodes, second.best, second.score));
}

#[test]
fn new_game_clears_all_state() {
    let mut searcher = Searcher::new(Config { memory_mb: 8, ..Config::default() });
    let mut nodes = || {
        searcher.new_game();
        let limits = Limits::depth(8);
        searcher.search(&Game::default(), &limits, &Control::new(), &mut |_| {}).nodes
    };
    assert_eq!(nodes(), nodes());
}

#[test]
fn node_limit_is_exact_with_one_thread() {
    for limit in [1, 100, 5_000, 5_001] {
        assert_eq!(search(&Game::default(), &Limits::nodes(limit), 1).nodes, limit);
    }
}

#[test]
fn only_the_given_root_moves_are_searched() {
    let root_moves = vec!["a2a3".parse().expect("a move"), "h2h4".parse().expect("a move")];
    let limits = Limits { root_moves: root_moves.clone(), ..Limits::depth(6) };
    let best = search(&Game::default(), &limits, 1).best.expect("two legal moves");
    assert!(root_moves.contains(&best));
}

#[test]
fn multi_pv_lines_are_ordered_and_distinct() {
    let limits = Limits { multi_pv: 3, ..Limits::depth(7) };
    let mut searcher = Searcher::new(Config { memory_mb: 8, ..Config::default() });
    let mut last = Vec::new();
    searcher.search(&Game::default(), &limits, &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) = event
            && (report.depth, report.bound) == (7, Bound::Exact)
        {
            last.push((report.multi_pv, report.pv[0], report.score));
        }
    });
    let numbers: Vec<usize> = last.iter().map(|line| line.0).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(last[0].1 != last[1].1 && last[1].1 != last[2].1 && last[0].1 != last[2].1);
}

#[test]
fn ponder_move_exists_after_a_fail_high() {
    let replies = |moves: &[&str]| {
        let mut game = Game::default();
        for mv in moves {
            game.play(mv.parse().expect(mv)).expect(mv);
        }
        let nodes = (3..25).map(|step: u64| step * step * 25);
        nodes.filter(|&nodes| search(&game, &Limits::nodes(nodes), 1).ponder.is_none()).count()
    };
    for moves in [&["e2e4"][..], &["d2d4", "d7d5", "c2c4"], &["e2e4", "c7c5", "g1f3"]] {
        assert_eq!(replies(moves), 0, "{moves:?}");
    }
}

fn last_reported_lines(game: &Game, limits: &Limits, threads: usize) -> Vec<(Move, Score)> {
    let mut reported = vec![None; limits.multi_pv];
    let mut searcher = Searcher::new(config(4, threads));
    let result = searcher.search(game, limits, &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event {
            reported[report.multi_pv - 1] = Some((report.pv[0], report.score));
        }
    });
    let reported: Vec<_> = reported.into_iter().flatten().collect();
    assert_eq!(reported.first().map(|line| line.0), result.best);
    reported
}

#[test]
fn last_multi_pv_lines_are_distinct_whenever_the_search_stops() {
    let fens = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 2 8",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    ];
    for (fen, threads) in fens.iter().flat_map(|fen| [(fen, 1), (fen, 2)]) {
        let game = game(fen);
        for depth in 1..9 {
            let limits = Limits { multi_pv: 3, ..Limits::depth(depth) };
            let reported = last_reported_lines(&game, &limits, threads);
            assert!(reported.is_sorted_by(|a, b| a.1 >= b.1), "{fen}, {depth} plies: {reported:?}");
            let moves: HashSet<Move> = reported.iter().map(|line| line.0).collect();
            assert_eq!(moves.len(), 3, "{fen}, {depth} plies, {threads} threads: {reported:?}");
        }
        for nodes in (1..25).map(|step: u64| step * step * 12) {
            let limits = Limits { multi_pv: 3, ..Limits::nodes(nodes) };
            let reported = last_reported_lines(&game, &limits, threads);
            let moves: HashSet<Move> = reported.iter().map(|line| line.0).collect();
            assert_eq!(
                moves.len(),
                reported.len(),
                "{fen}, {nodes} nodes, {threads} threads: {reported:?}"
            );
        }
    }
}

#[test]
fn stop_ends_the_search_with_any_number_of_threads() {
    for threads in [1, 2, 5] {
        let control = Control::new();
        let stopper = control.clone();
        let handle = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            stopper.stop();
        });
        let mut searcher = Searcher::new(config(8, threads));
        let result = searcher.search(&Game::default(), &Limits::default(), &control, &mut |_| {});
        // The search had no limits, so it can only have ended because of the stop signal.
        handle.join().expect("no panic");
        assert!(result.best.is_some(), "{threads} threads");
    }
}

#[test]
fn every_reported_line_is_legal() {
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let mut searcher = Searcher::new(config(1, 3));
    let mut moves = 0;
    searcher.search(&game(fen), &Limits::depth(11), &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) = event {
            moves += report.pv.len();
            let mut game = game(fen);
            for &mv in &report.pv {
                game.play(mv).expect("the line is legal");
            }
        }
    });
    assert!(moves >= 11, "{moves}");
}

#[test]
fn repetitions_count_positions_of_the_game() {
    // White is lost, but can draw with Kg1, which repeats a position that has already occurred
    // twice in the game.
    let mut game = game("1q4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1");
    for text in ["g8f8", "g1h1", "f8g8", "h1g1", "g8f8", "g1h1", "f8g8"] {
        game.play(text.parse().expect(text)).expect(text);
    }
    let result = search(&game, &Limits::depth(6), 1);
    assert_eq!((result.best, result.score), ("h1g1".parse().ok(), 0));
}

/// Returns a searcher with a one-game book, and a game that can transpose into the book.
///
/// The game is 1. e4 Nc6 2. Ke2 d5 3. exd5. Its last position is not in the book, but 3...Qxd5 4.
/// Ke1 Nf6 reaches the position after 4...Qxd5 in the book's game.
fn transposition_example(mode: BookSearch, threads: usize) -> (Searcher, Game) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("books/dumb.pgn");
    let book = crate::games::book::Book::open(&path).expect("a book of one game");
    let mut game = Game::default();
    for san in ["e4", "Nc6", "Ke2", "d5", "exd5"] {
        game.play(game.position().parse_san(san).expect(san)).expect(san);
    }
    let config = Config { book: Some(book), book_search: mode, ..config(8, threads) };
    (Searcher::new(config), game)
}

fn search_example(mode: BookSearch, limits: &Limits, threads: usize) -> SearchResult {
    let (mut searcher, game) = transposition_example(mode, threads);
    searcher.search(&game, limits, &Control::new(), &mut |_| {})
}

/// Number of nodes after which the best move in [`transposition_example`] no longer changes.
const NODES: u64 = 200_000;

#[test]
fn line_transposing_into_the_book_ends_the_search() {
    let line = ["d8d5", "e2e1", "g8f6"].map(|text| text.parse::<Move>().expect(text));
    let soft = Limits { soft_nodes: Some(NODES), ..Limits::default() };
    for (limits, threads) in [(Limits::nodes(NODES), 1), (Limits::nodes(NODES), 3), (soft, 1)] {
        let [result, alike] = [BookSearch::Stop, BookSearch::Value]
            .map(|mode| search_example(mode, &limits, threads));
        // The book contains no analyses, so `Stop` and `Value` search the same nodes.
        assert!(threads > 1 || alike.nodes == result.nodes, "{} and {}", alike.nodes, result.nodes);
        let found = result.book.expect("a book position is found");
        assert_eq!(found.line, line);
        assert_eq!(found.counts, crate::games::book::Counts::new(0, 0, 1));
        assert_eq!(result.best, mv("d8d5"));
        assert!((NODES * 2 / 5..NODES * 4 / 5).contains(&result.nodes), "{}", result.nodes);
    }
}

#[test]
fn fixed_depth_search_completes_and_reports_the_book_line() {
    let (mut searcher, game) = transposition_example(BookSearch::Stop, 1);
    let mut reported = Vec::new();
    let result =
        searcher.search(&game, &Limits::depth(12), &Control::new(), &mut |event| match event {
            SearchEvent::Iteration(report) => {
                reported.push(format!("{} {}", report.depth, report.pv[0]));
            }
            SearchEvent::Transposition(found) => reported.push(format!("book {}", found.line[0])),
            _ => (),
        });
    assert_eq!((result.book, result.depth, result.best), (None, 12, mv("d8d5")));
    let met = reported.iter().position(|line| line == "book d8d5").expect("the line is reported");
    assert!(met + 1 < reported.len(), "it is reported when it is found: {reported:?}");
}

#[test]
fn first_match_decides_in_mode_first() {
    let result = search_example(BookSearch::First, &Limits::depth(12), 1);
    let found = result.book.expect("a book position is found");
    assert_eq!(result.best, Some(found.line[0]));
    // Two move orders lead into the book. Which one the search finds depends on the order in which
    // it searches the moves.
    let ways = [&["d8d5", "e2e1", "g8f6"][..], &["g8f6", "e2e1"]];
    let line: Vec<String> = found.line.iter().map(Move::to_string).collect();
    assert!(ways.iter().any(|way| *way == line), "{line:?}");
}

#[test]
fn mode_off_ignores_the_book() {
    let result = search_example(BookSearch::Off, &Limits::depth(12), 1);
    assert_eq!((result.book, result.depth, result.best), (None, 12, mv("d8d5")));
}

#[test]
fn analysis_continues_and_reports_all_lines_into_the_book() {
    for mode in BookSearch::ALL.into_iter().filter(|&mode| mode != BookSearch::Off) {
        let pondering = Limits { ponder: true, ..Limits::move_time(Duration::from_secs(3600)) };
        for limits in [Limits::default(), pondering] {
            let (mut searcher, game) = transposition_example(mode, 1);
            let control = Control::new();
            let mut reported = Vec::new();
            let result = searcher.search(&game, &limits, &control, &mut |event| match event {
                SearchEvent::Iteration(report) if report.depth == 12 => control.stop(),
                SearchEvent::Transposition(found) => reported.push(found.line[0].to_string()),
                _ => (),
            });
            assert!(result.book.is_none() && result.depth >= 11, "{mode:?} {limits:?}");
            // Both lines into the book are reported, each of them once, even though one is outside
            // the principal variation.
            reported.sort_unstable();
            let ways: Vec<&str> = reported.iter().map(String::as_str).collect();
            assert!(ways.windows(2).all(|pair| pair[0] != pair[1]), "{mode:?} {ways:?}");
            assert!(ways.contains(&"d8d5") && ways.contains(&"g8f6"), "{mode:?} {ways:?}");
        }
    }
}

#[test]
fn last_reported_line_starts_with_the_best_move() {
    let fen = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 2 8";
    for threads in [1, 3] {
        let mut searcher = Searcher::new(config(4, threads));
        for nodes in (1..50).map(|step: u64| step * step * 5) {
            let mut last = None;
            let limits = Limits::nodes(nodes);
            let found = searcher.search(&game(fen), &limits, &Control::new(), &mut |event| {
                if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event {
                    last = report.pv.first().copied();
                }
            });
            assert_eq!(last, found.best, "{nodes} nodes, {threads} threads");
        }
    }
}

#[test]
fn panic_in_any_thread_ends_only_the_current_search() {
    let mut searcher = Searcher::new(config(8, 3));
    let game = Game::default();
    for thread in 0..3 {
        // Thread 0 is the main thread, which panics only once it has something to report. A helper
        // panics as soon as it starts to help.
        let control = Control::panicking_at(thread, if thread == 0 { 2_000 } else { 0 });
        let result = searcher.search_without_events(&game, &Limits::depth(30), &control);
        let best = result.best.expect("a move");
        assert!(game.position().is_legal(best) && is_ordinary(result.score), "{result:?}");
        let faults = searcher.take_faults();
        let [SearchFault::Crash { thread: crashed, why }] = &faults[..] else {
            panic!("{faults:?}")
        };
        assert!(*crashed == thread && why.contains("deliberate panic"), "{faults:?}");

        let result = searcher.search_without_events(&game, &Limits::depth(7), &Control::new());
        assert_eq!((result.depth, searcher.threads()), (7, 3));
        assert_eq!(searcher.take_faults(), []);
    }
}

fn is_ordinary(score: Score) -> bool {
    score.abs() < MATE_BOUND
}

#[test]
fn search_does_not_depend_on_the_stack_of_the_caller() {
    // Only the kings can move, so the search reaches great depths and its lines become long.
    let fen = "8/8/8/1k1p4/1p1P1p2/1P1P1P2/1K6/8 w - - 0 1";
    let run = |thread: std::thread::Builder| {
        let search = || {
            let game = Game::new(Position::from_fen(fen).expect(fen));
            let (limits, control) = (Limits::depth(60), Control::new());
            let mut longest = 0;
            let mut searcher = Searcher::new(Config::default());
            let result = searcher.search(&game, &limits, &control, &mut |event| {
                if let SearchEvent::Iteration(report) = event {
                    longest = longest.max(report.selective_depth);
                }
            });
            assert_eq!(searcher.take_faults(), []);
            (result.best, result.depth, result.nodes, longest)
        };
        thread.spawn(search).expect("a thread").join().expect("no panic")
    };
    let thread = std::thread::Builder::new;
    let (best, depth, nodes, longest) = run(thread().stack_size(STACK_SIZE));
    assert!(best.is_some() && depth == 60 && longest > 40);
    // The result is the same on a thread with the default stack size and on one with a small stack.
    assert_eq!(run(thread()), (best, depth, nodes, longest));
    assert_eq!(run(thread().stack_size(64 << 10)), (best, depth, nodes, longest));
}

#[test]
fn impossible_table_size_is_rejected_and_the_old_table_kept() {
    let mut searcher = Searcher::new(Config { memory_mb: 2, ..Config::default() });
    for wanted in [1 << 30, usize::MAX] {
        searcher.configure(Config { memory_mb: wanted, ..Config::default() });
        assert_eq!(searcher.take_faults(), [SearchFault::Memory { wanted, kept: 2 }]);
    }
    searcher.configure(Config { memory_mb: 3, ..Config::default() });
    assert_eq!(searcher.take_faults(), []);
}

#[test]
fn node_limit_applies_to_all_threads_together() {
    for threads in [2, 3] {
        let limit = 30_000;
        let result = search(&Game::default(), &Limits::nodes(limit), threads);
        // The other threads may search a few more nodes before they notice the limit.
        assert!((limit..limit + limit / 50).contains(&result.nodes), "{}", result.nodes);
    }
}

#[test]
fn result_depth_is_that_of_the_last_completed_iteration() {
    for nodes in [2_000, 5_000, 20_000] {
        let mut completed = 0;
        let mut searcher = Searcher::new(Config { memory_mb: 4, ..Config::default() });
        let limits = Limits::nodes(nodes);
        let found = searcher.search(&Game::default(), &limits, &Control::new(), &mut |event| {
            if let SearchEvent::Iteration(report) = event
                && report.bound == Bound::Exact
            {
                completed = report.depth;
            }
        });
        assert_eq!(found.depth, completed, "{nodes} nodes");
    }
}

const HANDICAP: Handicap = Handicap { eval_noise: 150, move_blindness: 60, seed: 1 };

/// Returns the best moves and node counts of short searches of several positions. Each search uses
/// a new searcher.
fn choices(handicap: Option<Handicap>) -> Vec<(Option<Move>, u64)> {
    let limits = Limits { soft_nodes: Some(500), handicap, ..Limits::depth(12) };
    let positions = bench::POSITIONS.iter().take(12);
    positions
        .map(|fen| {
            let result = search(&game(fen), &limits, 3);
            (result.best, result.nodes)
        })
        .collect()
}

#[test]
fn handicap_depends_only_on_the_seed() {
    let erring = choices(Some(HANDICAP));
    assert_eq!(erring, choices(Some(HANDICAP)));
    assert_ne!(erring, choices(Some(Handicap { seed: 2, ..HANDICAP })));
}

#[test]
fn handicap_never_hides_mate_in_one_or_recapture() {
    for seed in 0..20 {
        let limits = Limits {
            soft_nodes: Some(200),
            handicap: Some(Handicap { move_blindness: 0, seed, ..HANDICAP }),
            ..Limits::default()
        };
        let mate = search(&game("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"), &limits, 1);
        assert_eq!(mate.best, mv("d1d8"), "{seed}");
        let mut queens = game("3qk3/8/8/8/8/8/8/3QK3 w - - 0 1");
        queens.play(mv("d1d8").expect("a move")).expect("legal");
        let blind = Handicap { eval_noise: 0, move_blindness: 900, seed };
        let result = search(&queens, &Limits { handicap: Some(blind), ..limits }, 1);
        assert_eq!(result.best, mv("e8d8"), "{seed}");
    }
}

/// A player who overlooks nearly every move still plays a move, and does not mistake a position
/// with no visible move for stalemate.
#[test]
fn total_blindness_still_gives_a_move() {
    let position = game("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    for seed in 0..20 {
        let blind = Handicap { eval_noise: 0, move_blindness: 1000, seed };
        let limits = Limits { handicap: Some(blind), ..Limits::depth(4) };
        let result = search(&position, &limits, 1);
        assert!(result.best.is_some());
        assert_ne!(result.score, DRAW, "{seed}");
    }
}

#[test]
fn minimum_time_is_kept_unless_stopped() {
    let min_time = Duration::from_millis(150);
    let limits = Limits { min_time, ..Limits::depth(1) };
    let begin = Instant::now();
    search(&game("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"), &limits, 1);
    assert!(begin.elapsed() >= min_time);
    let control = Control::new();
    control.stop();
    let limits = Limits { min_time: Duration::from_secs(600), ..Limits::depth(1) };
    let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
    searcher.search_without_events(&Game::default(), &limits, &control);
}

fn search_together(game: &Game, limits: &Limits, threads: usize) -> SearchResult {
    let mut searcher = Searcher::new(config(8, threads));
    let result = searcher.search_without_events(game, limits, &Control::new());
    assert_eq!(searcher.take_faults(), []);
    result
}

#[test]
fn parallel_search_finds_mates_and_keeps_limits() {
    let mate = game("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1");
    for threads in [2, 3, 5] {
        let result = search_together(&mate, &Limits::depth(10), threads);
        assert_eq!((result.best, mate_distance(result.score)), (mv("f6a6"), Some(3)));
        let limit = 30_000;
        let result = search_together(&Game::default(), &Limits::nodes(limit), threads);
        assert!((limit..limit + limit / 50).contains(&result.nodes), "{}", result.nodes);
        let mated = game("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1");
        let result = search_together(&mated, &Limits::depth(5), threads);
        assert_eq!((result.best, result.nodes), (None, 0));
    }
}

#[test]
fn sharing_statistics_are_counted() {
    let limits = Limits::depth(13);
    let alone = search_together(&Game::default(), &limits, 1);
    assert_eq!(alone.sharing, Sharing::default());
    let split = search_together(&Game::default(), &limits, 2);
    let Sharing { splits, joined, joins, waiting } = split.sharing;
    assert!(0 < joined && joined <= splits && joined <= joins, "{:?}", split.sharing);
    assert!(Duration::ZERO < waiting && waiting < 2 * split.elapsed + Duration::from_secs(1));
}
