//! Tests that transpositions into the book end the search early at every time control, and that the
//! last reported line starts with the move played.
//!
//! In the example, the book contains a single game: 1.e4 Nc6 2.Ke2 d5 3.Ke1 Nf6 4.exd5 Qxd5 5.Ke2
//! Qe4#. The position after 1.e4 Nc6 2.Ke2 d5 3.exd5 is not in the book, but 3...Qxd5 4.Ke1 Nf6
//! transposes back into it.

use std::time::Duration;

use tabia::cecp::{Reply, Thinking};
use tabia::position::Position;

use crate::support::Engine;

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/books/dumb.pgn");
const BOOK_LINE: &str = "transposes to the book after 3 plies: Qxd5 Ke1 Nf6 (1 game, 0-1)";
/// A line from the same position that also transposes into the book, but is not best play.
const OTHER_BOOK_LINE: &str = "transposes to the book after 2 plies: Nf6 Ke1 (1 game, 0-1)";

fn xboard(arguments: &[&str]) -> Engine {
    let mut engine = Engine::start(&[&["-x"], arguments].concat());
    engine.send("xboard\nprotover 2");
    engine.until(|line| line == "feature done=1");
    engine.send("accepted debug\nnew\neasy\npost");
    engine
}

fn uci(arguments: &[&str]) -> Engine {
    let mut engine = Engine::start(&[&["--uci"], arguments].concat());
    engine.send("uci");
    engine.until(|line| line == "uciok");
    engine
}

fn thinking(lines: &[String]) -> Vec<Thinking> {
    let parsed = lines.iter().map(|line| Reply::from(line.as_str()));
    let reports = parsed.filter_map(|reply| match reply {
        Reply::Thinking(thinking) => Some(thinking),
        _ => None,
    });
    reports.collect()
}

fn number(line: &str, name: &str) -> Option<u64> {
    let mut words = line.split_whitespace().skip_while(|word| *word != name);
    words.nth(1)?.parse().ok()
}

/// Asserts that a search spent at least 40% of its time or node limit, allowing for rounding.
fn assert_minimum_effort(spent: f64, bound: f64, lines: &[String]) {
    assert!(spent >= 0.399 * bound, "{spent} of {bound}: {lines:#?}");
}

/// Asserts that a search used at least 40% but less than 90% of its node limit.
fn assert_nodes_saved(spent: u64, bound: u64, lines: &[String]) {
    assert_minimum_effort(spent as f64, bound as f64, lines);
    assert!(10 * spent < 9 * bound, "{spent} of {bound}: {lines:#?}");
}

/// Searches the example position via the xboard protocol. `level` is the command that sets the time
/// control, and `bound` is the resulting time limit of the search.
fn check_xboard_search(level: &str, bound: Duration) {
    let mut engine = xboard(&["-b", BOOK]);
    engine.send(&format!("{level}\nforce\ne2e4\nb8c6\ne1e2\nd7d5\ne4d5\ngo"));
    let lines = engine.until_start("move ");
    assert_eq!(lines.last().map(String::as_str), Some("move d8d5"), "{lines:#?}");
    let reports = thinking(&lines);
    let met = reports.iter().position(|report| report.line == BOOK_LINE).expect("it is reported");
    // The line is reported as soon as it is found, long before the search ends, and again as the
    // reason for the move.
    assert!(reports[met].depth <= 10 && met + 2 < reports.len(), "{lines:#?}");
    assert!(lines.contains(&format!("tellothers {BOOK_LINE}")), "{lines:#?}");
    let last = &reports[reports.len() - 1];
    assert_minimum_effort(last.elapsed.as_secs_f64(), bound.as_secs_f64(), &lines);
    engine.quit();
}

// The second arguments of these calls are the time limits that result from the time controls. With
// 40 moves to go, the limit is 1/40 of the clock, after subtracting a reserve for a stalled
// machine. With an increment, it is 2.93% of the clock minus the reserve (the share at the third
// move), plus three quarters of the increment. With a fixed time per move, it is that time minus 25
// ms.

#[test]
fn transposition_saves_time_at_40_moves_in_5_minutes() {
    check_xboard_search("level 40 5 0", Duration::from_millis(7_490));
}

#[test]
fn transposition_saves_time_at_40_moves_in_1_minute() {
    check_xboard_search("level 40 1 0", Duration::from_millis(1_490));
}

#[test]
fn transposition_saves_time_at_2_minutes_plus_increment() {
    check_xboard_search("level 0 2 1", Duration::from_millis(4_257));
}

#[test]
fn transposition_saves_time_at_a_fixed_move_time() {
    check_xboard_search("st 1", Duration::from_millis(975));
    check_xboard_search("st 5", Duration::from_millis(4_975));
}

#[test]
fn transposition_saves_nodes_at_a_fixed_node_count() {
    for nodes in [100_000, 400_000] {
        let mut engine = xboard(&["-b", BOOK]);
        engine.send(&format!("st 1\nnps {nodes}\nforce\ne2e4\nb8c6\ne1e2\nd7d5\ne4d5\ngo"));
        let lines = engine.until_start("move ");
        assert_eq!(lines.last().map(String::as_str), Some("move d8d5"), "{lines:#?}");
        let reports = thinking(&lines);
        assert!(reports.iter().any(|report| report.line == BOOK_LINE), "{lines:#?}");
        let searched = reports.last().map_or(0, |last| last.nodes);
        assert_nodes_saved(searched, nodes, &lines);
        engine.quit();
    }
}

#[test]
fn fixed_depth_is_completed_except_in_mode_first() {
    for (mode, last) in [("stop", Some(12)), ("value", Some(12)), ("first", None)] {
        let mut engine = xboard(&["-b", BOOK, "--book-search", mode]);
        engine.send("st 600\nsd 12\nforce\ne2e4\nb8c6\ne1e2\nd7d5\ne4d5\ngo");
        let lines = engine.until_start("move ");
        let reports = thinking(&lines);
        let depth = reports.iter().map(|report| report.depth).max().unwrap_or(0);
        match last {
            Some(last) => assert_eq!(depth, last, "{mode}: {lines:#?}"),
            None => assert!(depth < 12, "{mode}: {lines:#?}"),
        }
        if mode == "stop" || mode == "value" {
            assert!(lines.ends_with(&["move d8d5".to_owned()]), "{lines:#?}");
            assert!(reports.iter().any(|report| report.line == BOOK_LINE), "{lines:#?}");
        }
        engine.quit();
    }
}

#[test]
fn transposition_saves_time_in_uci() {
    for (go, bound, unit) in [
        ("movetime 1000", 975, "time"),
        ("nodes 200000", 200_000, "nodes"),
        ("wtime 60000 btime 60000", 1_749, "time"),
        ("depth 12", 12, "depth"),
    ] {
        let mut engine = uci(&["-b", BOOK]);
        engine.send(&format!("position startpos moves e2e4 b8c6 e1e2 d7d5 e4d5\ngo {go}"));
        let lines = engine.until_start("bestmove ");
        assert!(lines.ends_with(&lines[lines.len() - 1..]) && lines.len() > 1);
        assert!(lines[lines.len() - 1].starts_with("bestmove d8d5"), "{go}: {lines:#?}");
        assert!(lines.contains(&format!("info string {BOOK_LINE}")), "{go}: {lines:#?}");
        let is_report = |line: &&String| line.starts_with("info depth");
        let last = lines.iter().rfind(is_report).expect("a report");
        let ended = lines.contains(&format!("info string ended in the book: {BOOK_LINE}"));
        assert_eq!(ended, unit != "depth", "{go}: {lines:#?}");
        let spent = number(last, unit).expect("the last line is a report");
        match unit {
            "depth" => assert_eq!(spent, bound, "{lines:#?}"),
            "nodes" => assert_nodes_saved(spent, bound, &lines),
            _ => assert_minimum_effort(spent as f64, bound as f64, &lines),
        }
        engine.quit();
    }
}

#[test]
fn analysis_and_pondering_report_all_book_lines_and_continue() {
    for mode in ["first", "stop", "value", "steer"] {
        let mut engine = xboard(&["-b", BOOK, "--book-search", mode]);
        engine.send("force\ne2e4\nb8c6\ne1e2\nd7d5\ne4d5\nanalyze");
        let lines = engine.until_start("13 ");
        for expected in [BOOK_LINE, OTHER_BOOK_LINE] {
            let times =
                thinking(&lines).iter().filter(|report| report.line.starts_with(expected)).count();
            assert_eq!(times, 1, "{mode}, {expected}: {lines:#?}");
        }
        engine.quit();
        for go in ["infinite", "ponder wtime 1000 btime 1000"] {
            let mut engine = uci(&["-b", BOOK, "--book-search", mode]);
            engine.send(&format!("position startpos moves e2e4 b8c6 e1e2 d7d5 e4d5\ngo {go}"));
            let lines = engine.until_start("info depth 13 ");
            for expected in [BOOK_LINE, OTHER_BOOK_LINE] {
                let expected = format!("info string {expected}");
                assert!(
                    lines.iter().any(|line| line.starts_with(&expected)),
                    "{mode} {go}: {lines:#?}"
                );
            }
            assert!(
                !lines.iter().any(|line| line.starts_with("bestmove")),
                "{mode} {go}: {lines:#?}"
            );
            engine.send(if go == "infinite" { "stop" } else { "ponderhit" });
            engine.until_start("bestmove ");
            engine.quit();
        }
    }
}

const UNSTABLE: [&str; 8] = [
    "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 2 8",
    "r1b2rk1/2q1b1pp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - - 0 1",
    "2r3k1/pppR1pp1/4p3/4P1P1/5P2/1P4K1/P1P5/8 w - - 0 1",
    "rnbqkb1r/p3pppp/1p6/2ppP3/3N4/2P5/PPP1QPPP/R1B1KB1R w KQkq - 0 1",
    "r2q1rk1/4bppp/p2p4/2pP4/3pP3/3Q4/PP1B1PPP/R3R1K1 w - - 0 1",
    "3rr1k1/pp3pp1/1qn2np1/8/3p4/PP1R1P2/2P1NQPP/R1B3K1 b - - 0 1",
    "2q1rr1k/3bbnnp/p2p1pp1/2pPp3/PpP1P1P1/1P2BNNP/2BQ1PRK/7R b - - 0 1",
    "r1bqk2r/pp2bppp/2p5/3pP3/P2Q1P2/2N1B3/1PP3PP/R4RK1 b kq - 0 1",
];

#[test]
fn last_thinking_line_starts_with_the_move_in_xboard() {
    let mut engine = xboard(&["-b", BOOK]);
    for fen in UNSTABLE {
        let position = Position::from_fen(fen).expect(fen);
        for level in [
            "st 0.02\nnps 0",
            "st 0.1\nnps 0",
            "st 1\nnps 500",
            "st 1\nnps 7000",
            "st 1\nnps 30001",
        ] {
            engine.send(&format!("new\npost\nforce\nsetboard {fen}\n{level}\ngo"));
            let lines = engine.until_start("move ");
            let last = thinking(&lines).pop().expect("a thinking line");
            let expected = last.line.split_whitespace().next().unwrap_or_default().to_owned();
            let expected = position.parse_san(&expected).expect("a move comes first");
            assert_eq!(
                lines.last(),
                Some(&format!("move {expected}")),
                "{fen} {level}: {lines:#?}"
            );
        }
    }
    engine.quit();
}

#[test]
fn last_info_line_starts_with_the_best_move_in_uci() {
    let mut engine = uci(&["-b", BOOK]);
    for fen in UNSTABLE {
        for go in
            ["movetime 15", "movetime 80", "nodes 1", "nodes 300", "nodes 9000", "nodes 40000"]
        {
            engine.send(&format!("ucinewgame\nposition fen {fen}\ngo {go}"));
            let lines = engine.until_start("bestmove ");
            let expected =
                lines.iter().rev().find_map(|line| line.split_once(" pv ")).map(|line| line.1);
            let expected = expected
                .and_then(|line| line.split_whitespace().next())
                .expect("a line is reported");
            let best = lines[lines.len() - 1].split_whitespace().nth(1);
            assert_eq!(best, Some(expected), "{fen} {go}: {lines:#?}");
        }
    }
    engine.quit();
}
