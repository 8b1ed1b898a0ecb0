//! Tests that the search is deterministic with one thread, and that every mate it reports exists.
//! They take seconds to minutes and are best run in a release build.

use std::path::Path;
use std::process::Stdio;
use std::thread;

use crate::support::{shared_data, tabia};
use tabia::position::{Game, Position};
use tabia::score::mate_distance;
use tabia::search::{Bound, Config, Control, Limits, SearchEvent, Searcher};

/// The number of `bench` runs, which must all have the same node count. Two of them run at a time.
const RUNS: usize = 20;
/// The longest mate, in moves, that is verified by trying all moves.
const MAX_PROVEN: u32 = 3;

/// Positions with and without a short forced mate.
const POSITIONS: [&str; 12] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
    "r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 1",
    "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
    "3r2k1/5ppp/8/8/8/8/5PPP/2RR2K1 b - - 0 1",
    "k7/8/2K5/8/8/8/8/4R3 w - - 0 1",
    "7k/8/8/8/8/8/1R6/R3K3 w - - 0 1",
    "8/8/8/3k4/8/8/4QK2/8 w - - 0 1",
    "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1",
    "4k2r/6r1/8/8/8/8/3R4/R3K3 w Qk - 0 1",
    "5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27",
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 99 80",
];

#[test]
#[ignore = "takes half a minute unless optimised"]
fn bench_counts_the_same_nodes_every_time() {
    let count = || {
        let output = tabia(&["bench", "--depth", "10"], Path::new("."));
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().expect("a count").to_owned();
        last.split(' ').next().expect("a number").to_owned()
    };
    let runs: Vec<String> = (0..RUNS / 2)
        .flat_map(|_| {
            thread::scope(|scope| {
                [scope.spawn(count), scope.spawn(count)].map(|run| run.join().expect("no panic"))
            })
        })
        .collect();
    assert!(runs[0].parse::<u64>().is_ok_and(|nodes| nodes > 100_000), "{runs:?}");
    assert!(runs.iter().all(|nodes| *nodes == runs[0]), "{runs:?}");
}

/// Returns whether the side to move can force mate in at most `moves` moves, by trying all legal
/// moves.
fn forces_mate(position: &Position, moves: u32) -> bool {
    position.legal_moves().iter().any(|mv| {
        let after = position.play(mv);
        (moves > 1 || after.in_check()) && is_mated(&after, moves - 1)
    })
}

/// Returns whether the side to move is mated, or will be mated in at most `moves` moves whatever it
/// plays.
fn is_mated(position: &Position, moves: u32) -> bool {
    let replies = position.legal_moves();
    match replies.is_empty() {
        true => position.in_check(),
        false => moves > 0 && replies.iter().all(|mv| forces_mate(&position.play(mv), moves)),
    }
}

/// Searches a position to the given depth and verifies every reported mate in [`MAX_PROVEN`] moves
/// or fewer. Returns the number of mates verified.
fn check_mates(searcher: &mut Searcher, position: &Position, depth: i32) -> usize {
    let game = Game::new(*position);
    let mut reported = Vec::new();
    searcher.new_game();
    let found = searcher.search(&game, &Limits::depth(depth), &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) = event
            && report.bound == Bound::Exact
        {
            reported.push(report.score);
        }
    });
    reported.push(found.score);
    let mut mates: Vec<i32> = reported.into_iter().filter_map(mate_distance).collect();
    mates.sort_unstable();
    mates.dedup();
    mates.retain(|mate| mate.unsigned_abs() <= MAX_PROVEN);
    for &mate in &mates {
        let exists = match mate {
            1.. => forces_mate(position, mate.unsigned_abs()),
            _ => is_mated(position, mate.unsigned_abs()),
        };
        assert!(exists, "{position}: there is no mate in {mate}");
    }
    mates.len()
}

fn check_all(positions: &[Position], depth: i32, least: usize) {
    for threads in [1, 4] {
        let config = Config { memory_mb: 4, threads, ..Config::default() };
        let mut searcher = Searcher::new(config);
        let mates: usize =
            positions.iter().map(|position| check_mates(&mut searcher, position, depth)).sum();
        let all = positions.len();
        assert!(mates >= least, "{mates} mates in {all} positions with {threads} threads");
    }
}

/// Returns the given positions and the positions after each of their legal moves, including
/// blunders. Positions without legal moves are omitted.
fn with_successors(fens: &[&str]) -> Vec<Position> {
    let roots = fens.iter().map(|fen| Position::from_fen(fen).expect(fen));
    roots
        .flat_map(|root| {
            let after = move |mv| root.play(mv);
            let moves: Vec<Position> = root.legal_moves().iter().map(after).collect();
            [root].into_iter().chain(moves)
        })
        .filter(|position| !position.legal_moves().is_empty())
        .collect()
}

#[test]
#[ignore = "takes a minute unless optimised"]
fn reported_mates_exist() {
    check_all(&with_successors(&POSITIONS), 7, 20);
}

#[test]
#[ignore = "takes minutes unless optimised"]
fn reported_mates_of_the_suites_exist() {
    for (file, moves) in [("mate1.fen", 1), ("mate2.fen", 2), ("mate3.fen", 3)] {
        let Some(path) = shared_data(&format!("epd/mate/{file}")) else { return };
        let text = std::fs::read_to_string(path).expect("a suite");
        let fens = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let positions: Vec<Position> =
            fens.map(|fen| Position::from_fen(fen).expect(fen)).take(40).collect();
        // Reductions hide some of the mates.
        check_all(&positions, 2 * moves + 3, positions.len() / 4);
    }
}

/// Plays games with several threads, small transposition tables, and a book that is used in the
/// search. The engines must not panic or exit; in a debug build, assertions check the search's
/// invariants.
#[test]
#[ignore = "takes a minute"]
fn games_hold_all_assertions() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = crate::support::PROGRAM;
    let engines = [
        format!("{program} -x --memory 1 --cores 3 --bookpvs"),
        format!("{program} -x --memory 1 --cores 1 --evaluation classical --book-search value -b"),
    ];
    let mut command = std::process::Command::new(program);
    command.args([
        "autoplay",
        "-1",
        &engines[0],
        "-2",
        &engines[1],
        "--nodes",
        "2000",
        "--games",
        "10",
    ]);
    command.args([
        "--concurrency",
        "2",
        "--openings",
        "embedded",
        "--opening-plies",
        "8",
        "--seed",
        "3",
    ]);
    command.args(["--pgn", "games.pgn"]).current_dir(folder.path()).stdin(Stdio::null());
    let output = command.output().expect("tabia can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!([0, 3, 4].contains(&output.status.code().unwrap_or(-1)), "{output:?}");
    assert_eq!(text.lines().filter(|line| line.starts_with("Game ")).count(), 10, "{text}");
    for fault in ["forfeit", "illegal", "false", "crash", "stall", "unfinished"] {
        assert!(!text.contains(fault), "{text}");
    }
}
