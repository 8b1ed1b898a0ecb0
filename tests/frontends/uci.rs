//! Tests of the UCI protocol. No test depends on the speed of the machine.

use tabia::position::{Move, Position};

use crate::support::Engine;

fn engine() -> Engine {
    let mut engine = Engine::start(&["--uci", "--no-book"]);
    engine.send("uci");
    engine.until(|line| line == "uciok");
    engine
}

fn ready(engine: &mut Engine) -> Vec<String> {
    engine.send("isready");
    engine.until(|line| line == "readyok")
}

#[test]
fn uci_command_selects_the_protocol() {
    let mut engine = Engine::start(&[]);
    engine.send("uci");
    let lines = engine.until(|line| line == "uciok");
    assert!(lines[0].starts_with("id name Tabia "));
    for option in ["Hash", "Threads", "Ponder", "OwnBook", "MultiPV", "SyzygyPath", "Clear Hash"] {
        let start = format!("option name {option} type ");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{option}");
    }
    ready(&mut engine);
    assert_eq!(engine.quit(), "");
}

#[test]
fn uci_command_is_accepted_after_blank_lines() {
    let mut engine = Engine::start(&[]);
    engine.send("\n \r\nuci");
    engine.until(|line| line == "uciok");
    assert!(engine.received[0].starts_with("id name"), "{:?}", engine.received);
}

#[test]
fn options_without_effect_are_not_offered() {
    let mut engine = engine();
    for option in ["ResignBelow", "Contempt", "Propose-draws", "ProposeDraws"] {
        let start = format!("option name {option} ");
        assert!(!engine.received.iter().any(|line| line.starts_with(&start)), "{option}");
        engine.send(&format!("setoption name {option} value 1"));
        assert_eq!(
            engine.line(),
            format!("info string cannot set option {option}: no such option")
        );
    }
    assert!(!engine.received.iter().any(|line| line.starts_with("option name  ")));
}

#[test]
fn log_is_written_or_an_error_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let mut engine = engine();
    engine.send(&format!("setoption name LogFile value {}", path.display()));
    ready(&mut engine);
    let log = std::fs::read_to_string(&path).expect("a log");
    assert!(log.contains("< isready") && log.contains("> readyok"), "{log}");
    engine.send(&format!("setoption name LogFile value {}", folder.path().display()));
    let line = engine.line();
    assert!(
        line.starts_with("info string cannot set option LogFile: cannot write the log"),
        "{line}"
    );
}

/// lichess-bot sets this option through python-chess, which rejects engines that do not have it.
#[test]
fn move_overhead_can_be_set() {
    let mut engine = engine();
    let declared = "option name Move Overhead type spin default 25 min 0 max 5000";
    assert!(engine.received.iter().any(|line| line == declared), "{:?}", engine.received);
    engine.send(
        "setoption name Move Overhead value 5000\nposition startpos\ngo wtime 1000 btime 1000",
    );
    let lines = engine.until_start("bestmove");
    assert!(!lines.iter().any(|line| line.contains("string")), "{lines:?}");
}

/// After an invalid `position` command, the engine must not search the previous position, because
/// it may be from another game.
#[test]
fn invalid_position_is_not_searched_as_the_previous_one() {
    let mut engine = engine();
    engine.send("position startpos moves e2e4\ngo depth 1");
    engine.until_start("bestmove");
    engine.send("position fen 8/8/8/8/8/8/8/8 w - - 0 1 moves e2e4\ngo depth 1");
    let line = engine.line();
    assert!(line.starts_with("info string cannot set the position"), "{line}");
    assert_eq!(engine.line(), "bestmove 0000");
    let mate = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
    for bad in ["g1g3", "nonsense"] {
        engine.send(&format!("position fen {mate} moves g1h1 g8h8 {bad} h8g8\ngo depth 3"));
        assert_eq!(engine.line(), format!("info string cannot make the move {bad}: it is illegal"));
        let lines = engine.until_start("bestmove");
        assert_eq!(
            lines.last().map(String::as_str),
            Some("bestmove a1a8"),
            "the moves before it are played"
        );
    }
    engine.send("ucinewgame\nposition startpos\ngo depth 1");
    engine.until_start("bestmove");
    assert_eq!(engine.received.iter().filter(|line| line.contains("string cannot ")).count(), 3);
}

#[test]
fn go_respects_its_limits() {
    let mut engine = engine();
    engine.send("ucinewgame\nposition startpos moves e2e4 e7e5\ngo depth 3");
    let lines = engine.until_start("bestmove");
    assert!(lines.iter().any(|line| line.starts_with("info depth 3 ")));
    assert!(!lines.iter().any(|line| line.starts_with("info depth 4 ")));
    engine.send("go nodes 2000 searchmoves a2a3 h2h3");
    let lines = engine.until_start("bestmove");
    let best = lines.last().expect("a line");
    assert!(best.starts_with("bestmove a2a3") || best.starts_with("bestmove h2h3"), "{best}");
    engine.send("go wtime 50 btime 50 winc 1 binc 1 movestogo 5\n");
    engine.until_start("bestmove");
    engine.send("go movetime 20");
    engine.until_start("bestmove");
    engine.send("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1\ngo mate 1");
    let lines = engine.until_start("bestmove");
    assert!(lines.iter().any(|line| line.contains("score mate 1 ")), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove a1a8"));
}

#[test]
fn unbounded_search_waits_for_stop() {
    let mut engine = engine();
    // The search finishes quickly, because there is only one legal move and mate follows.
    engine.send("position fen 7k/8/5K2/6Q1/8/8/8/8 b - - 0 1\ngo infinite");
    ready(&mut engine);
    engine.send("stop");
    let lines = engine.until_start("bestmove");
    assert_eq!(lines.iter().filter(|line| line.starts_with("bestmove")).count(), 1);
    engine.send("position startpos\ngo infinite\nstop\nstop");
    engine.until_start("bestmove");
    assert_eq!(ready(&mut engine), ["readyok"]);
}

/// Plays random games with few pieces, and returns the final positions of those that ended, each
/// with whether it is checkmate.
fn ends_of_games() -> Vec<(String, bool)> {
    let starts = [
        "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1",
        "k7/2Q5/8/1K6/8/8/8/8 w - - 0 1",
        "8/8/8/8/8/2k5/1q6/3K4 b - - 0 1",
        "6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - 0 1",
    ];
    let mut ends = Vec::new();
    for (start, seed) in starts.iter().flat_map(|start| (0..400_usize).map(move |s| (start, s))) {
        let mut position = Position::from_fen(start).expect(start);
        for ply in 1..20 {
            let moves: Vec<Move> = position.legal_moves().iter().collect();
            if moves.is_empty() {
                ends.push((position.fen(), position.in_check()));
                break;
            }
            position = position.play(moves[(seed * 7 + ply * seed * seed) % moves.len()]);
        }
    }
    ends.sort();
    ends.dedup();
    ends
}

/// If the game is already over, the engine reports a score and then sends `bestmove 0000`. In
/// infinite and ponder searches, it waits for `stop` or `ponderhit` first.
#[test]
fn finished_game_has_a_score_but_no_move() {
    let ends = ends_of_games();
    assert!(ends.iter().any(|end| end.1) && ends.iter().any(|end| !end.1), "both kinds: {ends:?}");
    let mut engine = engine();
    let searches = [
        ("infinite", Some("stop")),
        ("ponder wtime 60000 btime 60000", Some("ponderhit")),
        ("ponder", Some("stop")),
        ("depth 3", None),
        ("nodes 100", None),
        ("wtime 60000 btime 60000", None),
        ("mate 2", None),
    ];
    for (index, (fen, is_mate)) in ends.iter().enumerate() {
        let (go, release) = searches[index % searches.len()];
        engine.send(&format!("position fen {fen}\ngo {go}"));
        let info = engine.line();
        let score = if *is_mate { " score mate 0 " } else { " score cp 0 " };
        assert!(info.starts_with("info depth 0 ") && info.contains(score), "{fen}: {info}");
        if let Some(release) = release {
            assert_eq!(ready(&mut engine), ["readyok"], "go {go}: no move before {release}");
            engine.send(release);
        }
        assert_eq!(engine.line(), "bestmove 0000", "{fen}: go {go}");
    }
}

#[test]
fn pondering_ends_with_ponderhit_or_stop() {
    let mut engine = engine();
    engine.send("position startpos moves e2e4 e7e5\ngo ponder wtime 200 btime 200");
    engine.until(|line| line.starts_with("info depth 3 "));
    engine.send("ponderhit");
    engine.until_start("bestmove");
    engine.send("position startpos moves e2e4 c7c5\ngo ponder wtime 60000 btime 60000");
    engine.until(|line| line.starts_with("info depth 3 "));
    engine.send("stop");
    engine.until_start("bestmove");
}

#[test]
fn multi_pv_lines_are_numbered() {
    let mut engine = engine();
    engine.send("setoption name MultiPV value 3\nposition startpos\ngo depth 4");
    let lines = engine.until_start("bestmove");
    for number in 1..=3 {
        assert!(lines.iter().any(|line| line.contains(&format!(" multipv {number} "))));
    }
}

#[test]
fn invalid_commands_are_ignored() {
    let mut engine = engine();
    engine.send(
        "stop\nponderhit\ngo depth 1 movetime\nposition fen nonsense\nsetoption name X value 3",
    );
    engine.send("position startpos moves e2e5\nposition\nsetoption\n\0\nfoo\nregister later");
    engine.until_start("bestmove");
    engine.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo depth 3");
    let lines = engine.until_start("bestmove");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove 0000"));
    engine.send("position startpos\ngo infinite");
    engine.close();
    assert!(engine.wait().success());
}

#[test]
fn limited_strength_limits_the_search() {
    let mut engine = engine();
    for declared in [
        "option name UCI_LimitStrength type check default false",
        "option name UCI_Elo type spin default 1500 min 800 max ",
    ] {
        assert!(engine.received.iter().any(|line| line.starts_with(declared)), "{declared}");
    }
    let nodes = |lines: &[String]| -> u64 {
        let reported =
            lines.iter().filter_map(|line| line.split_once(" nodes ")?.1.split(' ').next());
        reported.filter_map(|number| number.parse().ok()).max().expect("a node count")
    };
    let mut searched = Vec::new();
    for elo in [800, 1400, 2000] {
        engine.send(&format!(
            "setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value {elo}"
        ));
        engine.send("ucinewgame\nposition startpos moves e2e4\ngo wtime 600000 btime 600000");
        searched.push(nodes(&engine.until_start("bestmove")));
    }
    assert!(searched.is_sorted() && searched[2] > 4 * searched[0], "{searched:?}");
    // Analysis uses full strength.
    engine.send("position startpos\ngo infinite");
    engine.until(|line| line.starts_with("info depth 8 "));
    engine.send("stop");
    engine.until_start("bestmove");
    engine.send("setoption name UCI_Elo value 100");
    assert!(
        engine
            .line()
            .starts_with("info string cannot set option UCI_Elo: expected a whole number from 800")
    );
}

#[test]
fn perft_is_counted_move_by_move() {
    let mut engine = engine();
    engine.send("position startpos moves e2e4\ngo perft 3");
    let lines = engine.until_start("Nodes searched: ");
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 13160"));
    let counts = lines.iter().filter_map(|line| line.split_once(": ")?.1.parse::<u64>().ok());
    assert_eq!(counts.take(20).sum::<u64>(), 13160);
    // The engine answers other commands during perft, and `stop` ends it. On `quit`, the engine
    // first completes a running perft.
    engine.send("go perft 20\nisready");
    engine.until_start("readyok");
    engine.send("stop");
    let lines = engine.until_start("Nodes searched: ");
    assert!(
        lines.iter().any(|line| line.starts_with("info string go perft: stopped")),
        "{lines:?}"
    );
    engine.send("go perft 0\ngo perft 100");
    for _ in 0..2 {
        assert!(engine.line().starts_with("info string go"), "{:?}", engine.received.last());
    }
    engine.send("go perft 2");
    assert_eq!(engine.quit(), "");
    assert!(
        engine.received.iter().any(|line| line == "Nodes searched: 600"),
        "{:?}",
        engine.received
    );
}

#[test]
fn d_shows_the_position() {
    let mut engine = engine();
    engine.send("position startpos moves e2e4\nd");
    let lines = engine.until_start("Checkers:");
    let fen = "Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert!(lines.iter().any(|line| line == fen), "{lines:?}");
    // This key is an example in the specification of the Polyglot book format.
    assert!(lines.iter().any(|line| line == "Key: 823C9B50FD114196"), "{lines:?}");
    assert!(lines.iter().any(|line| line == " |   |   |   |   | P |   |   |   | 4"), "{lines:?}");
}

#[test]
fn chess960_is_rejected_with_a_clear_message() {
    let mut engine = engine();
    engine.send("setoption name UCI_Chess960 value false\nsetoption name UCI_Chess960 value true");
    assert_eq!(
        engine.line(),
        "info string cannot play Chess960: Tabia supports only orthodox chess"
    );
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1",
        "bqnrkbnr/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBNR w KQkq - 0 1",
    ] {
        engine.send(&format!("position fen {fen}\ngo depth 2"));
        let line = engine.line();
        assert!(line.contains("invalid FEN") && line.contains("Chess960"), "{line}");
        assert_eq!(engine.line(), "bestmove 0000");
    }
}

#[test]
fn opponent_book_plays_the_moves_of_its_player() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    let games = "[White \"Ann\"]\n[WhiteElo \"1200\"]\n[Black \"Bob\"]\n\n1. g4 e5 2. f3 d5 *\n";
    std::fs::write(&file, games).expect("written");
    let spec = format!("{},player=ann", file.display());
    let mut engine = Engine::start(&["--uci", "--opponent-book", &spec]);
    engine.send("uci\nposition startpos\ngo wtime 60000 btime 60000");
    assert_eq!(engine.until_start("bestmove").last().map(String::as_str), Some("bestmove g2g4"));
    // Once out of the opponent's book, the engine plays at that player's strength. The UCI option
    // works like the command-line argument, here under its old name.
    engine.send("position startpos moves g2g4 d7d5\ngo wtime 60000 btime 60000");
    engine.until_start("bestmove");
    engine.send(&format!("setoption name SparFile value {},player=Bob", file.display()));
    engine.send("position startpos moves g2g4\nisready");
    engine.until(|line| line == "readyok");
    engine.send("go wtime 60000 btime 60000");
    assert_eq!(engine.until_start("bestmove").last().map(String::as_str), Some("bestmove e7e5"));
    engine.send("setoption name OpponentBook value /nowhere.pgn\nisready");
    let lines = engine.until(|line| line == "readyok");
    assert!(lines.iter().any(|line| line.contains("/nowhere.pgn")), "{lines:?}");
}

/// Sends `lines`, calls `end_input`, and returns the number of `bestmove` replies.
fn count_best_moves(lines: &str, end_input: impl FnOnce(&mut Engine)) -> usize {
    let mut engine = engine();
    engine.send(lines);
    end_input(&mut engine);
    assert!(engine.wait().success());
    engine.rest().iter().filter(|line| line.starts_with("bestmove ")).count()
}

#[test]
fn searches_complete_after_end_of_input() {
    for go in ["depth 7", "nodes 20000", "movetime 30", "depth 3\ngo depth 4", "mate 1"] {
        let moves = 1 + go.matches("go").count();
        let lines = format!("position startpos\ngo {go}");
        assert_eq!(count_best_moves(&lines, Engine::close), moves, "{go}");
    }
}

/// The search thread reports its progress while another thread handles the end of the input.
#[test]
fn search_completes_if_input_ends_while_progress_is_reported() {
    for closed_after in (1..=5).cycle().take(60) {
        let mut engine = engine();
        engine.send("position startpos\ngo depth 8");
        engine.until(|line| line.starts_with(&format!("info depth {closed_after} ")));
        engine.close();
        engine.until(|line| line.starts_with("info depth 8 "));
        engine.until_start("bestmove ");
        assert!(engine.wait().success());
    }
}

#[test]
fn unbounded_searches_stop_at_end_of_input() {
    for go in ["infinite", "ponder", "ponder depth 3", "wtime 36000000 btime 36000000"] {
        let lines = format!("position startpos\ngo {go}");
        assert_eq!(count_best_moves(&lines, Engine::close), 1, "{go}");
    }
    let lines = "position fen 7k/5KQ1/8/8/8/8/8/8 b - - 0 1\ngo ponder\nponderhit";
    assert_eq!(count_best_moves(lines, Engine::close), 1, "the game is over");
}

#[cfg(unix)]
#[test]
fn sigterm_ends_a_search_or_perft() {
    for go in ["depth 90", "perft 20"] {
        let lines = format!("position startpos\ngo {go}\nisready");
        count_best_moves(&lines, |engine| engine.signal("-TERM"));
    }
}

#[test]
fn a_book_move_is_explained_and_self_play_is_noted_once_a_game() {
    let mut engine = Engine::start(&["--uci"]);
    engine.send("uci\nsetoption name OwnBook value true");
    for game in 0..2 {
        engine.send("ucinewgame");
        for (moves, notes) in [("", 1), ("moves d2d4 g8f6", 0)] {
            engine.send(&format!("position startpos {moves}\ngo movetime 10000"));
            let lines = engine.until_start("bestmove");
            let noted = lines.iter().filter(|line| line.contains("played against itself")).count();
            assert_eq!(noted, notes, "game {game}, {moves:?}: {lines:?}");
            let text = lines.iter().find(|line| line.starts_with("info string book move "));
            let text = text.unwrap_or_else(|| panic!("no book move: {lines:?}"));
            assert!(text.contains("% for White in "), "{text}");
        }
    }
}
