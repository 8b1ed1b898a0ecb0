//! Tests of the xboard protocol, one for each common engine bug. No test depends on speed.

use crate::support::Engine;
use tabia::cecp::{Reply, Thinking};

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
/// Text that must not occur in the engine's output, because xboard takes it to mean that the game
/// or the engine has ended, even in the middle of a line.
const MISREAD_WORDS: [&str; 6] =
    ["Draw", "not found", "No such file", "Permission denied", "can't alloc", "unknown host"];

/// Starts and initialises a single-threaded engine whose searches are limited to few nodes.
fn engine(arguments: &[&str]) -> Engine {
    let mut engine = Engine::start(&[&["-x"], arguments].concat());
    engine.send("xboard\nprotover 2");
    engine.until(|line| line == "feature done=1");
    engine.send("accepted debug\nnew\nrandom\nst 10\nnps 1000\npost");
    engine
}

fn thinking(lines: &[String]) -> Vec<Thinking> {
    let parsed = lines.iter().map(|line| Reply::from(line.as_str()));
    parsed
        .filter_map(|reply| match reply {
            Reply::Thinking(thinking) => Some(thinking),
            _ => None,
        })
        .collect()
}

fn reaches(line: &str, depth: i32) -> bool {
    thinking(&[line.to_owned()]).iter().any(|line| line.depth >= depth)
}

#[test]
fn features_begin_and_end_with_done() {
    let mut engine = Engine::start(&["-x"]);
    engine.send("xboard\nprotover 2");
    let lines = engine.until(|line| line == "feature done=1");
    assert_eq!(lines[0], "feature done=0");
    let all = lines.join("\n");
    for feature in [
        "ping=1",
        "setboard=1",
        "usermove=1",
        "memory=1",
        "smp=1",
        "exclude=1",
        "nps=1",
        "sigint=0",
        "sigterm=0",
        "colors=0",
        "variants=\"normal\"",
        "debug=1",
    ] {
        assert!(all.contains(feature), "{feature}");
    }
    for line in &lines {
        let Reply::Features(features) = Reply::from(line.as_str()) else { panic!("{line}") };
        for feature in features {
            engine.send(&format!("accepted {}", feature.name));
        }
    }
    engine.send("rejected nonsense\naccepted\nrejected");
    assert_eq!(engine.sync(), Vec::<String>::new());
}

#[test]
fn xboard_protocol_starts_without_a_terminal() {
    let mut engine = Engine::start(&[]);
    engine.send("protover 2");
    engine.until(|line| line == "feature done=1");
}

#[test]
fn standard_error_is_empty_and_every_line_is_a_known_reply() {
    let mut engine = engine(&[]);
    engine.send("foo\nusermove e2e5\nsetboard 8/8\nusermove e2e4\nnew\nusermove d2d4");
    engine.until_start("move");
    engine.send("bk\nhint\nundo\nanalyze\n.\nexit");
    engine.sync();
    assert_eq!(engine.quit(), "");
    for line in &engine.received {
        assert!(!matches!(Reply::from(line.as_str()), Reply::Other(_)), "{line}");
    }
}

#[test]
fn no_line_contains_words_that_xboard_misreads() {
    let mut engine = engine(&[]);
    engine.send("Draw not found\nNo such file\nusermove Draw\nsetboard Permission denied");
    engine.send("option BookFile=/no/such/file.tbk\noption LogFile=/no/such/folder/log");
    engine.send("egtpath syzygy /no/such/folder\noption SyzygyPath=/no/such/folder");
    engine.send("option NetworkFile=/no/such/file.net\nnew\nbk\nusermove e2e4");
    engine.until_start("move");
    engine.sync();
    assert_eq!(engine.quit(), "");
    for line in &engine.received {
        assert!(!MISREAD_WORDS.iter().any(|word| line.contains(word)), "{line}");
        assert!(!(line.contains("offer") && line.contains("draw")), "{line}");
        let first = line.split(' ').next().unwrap_or_default();
        assert!(!["White", "Black", "checkmate"].contains(&first), "{line}");
    }
}

/// xboard always sends `egtpath`, and python-chess rejects engines that reply with `Error`.
#[test]
fn missing_table_folder_is_an_error_only_if_set_by_option() {
    let mut engine = engine(&[]);
    engine.send("egtpath syzygy /EGT/Syzygy");
    let lines = engine.sync();
    assert!(matches!(&lines[..], [line] if line.starts_with("# cannot read")), "{lines:?}");
    engine.send("egtpath nalimov /EGT/Nalimov\nrejected debug\negtpath syzygy /EGT/Syzygy");
    assert_eq!(engine.sync(), Vec::<String>::new());
    engine.send("option SyzygyPath=/EGT/Syzygy");
    let line = engine.line();
    assert!(line.starts_with("tellusererror cannot read"), "{line}");
    assert!(line.contains("/EGT/Syzygy"), "{line}");
}

/// xboard starts engines without a shell, so error messages quote `~` and `$HOME` unexpanded.
#[test]
fn unexpanded_shell_path_is_reported_unchanged() {
    let mut engine = engine(&[]);
    for path in ["~/no/such/games.pgn", "$HOME/no/such/games.pgn"] {
        engine.send(&format!("option BookFile={path}"));
        let lines = engine.until_start("tellusererror");
        assert!(lines.last().is_some_and(|line| line.contains(path)), "{lines:?}");
    }
}

#[test]
fn book_move_is_reported_with_chances_and_reason() {
    let mut engine = engine(&[]);
    engine.send("usermove e2e4");
    let lines = engine.until_start("move ");
    let [note, thinking_line, reason, _] = &lines[..] else { panic!("{lines:?}") };
    assert!(note.contains("played against itself"), "{lines:?}");
    // The text is in parentheses, so that GUIs do not mistake it for a line of moves.
    let Reply::Thinking(thinking_line) = Reply::from(thinking_line.as_str()) else {
        panic!("{lines:?}")
    };
    assert_eq!((thinking_line.depth, thinking_line.nodes), (0, 0));
    assert!(
        thinking_line.line.starts_with("(book: ") && thinking_line.line.ends_with(')'),
        "{lines:?}"
    );
    assert!(reason.starts_with("tellothers book move "), "{lines:?}");
}

#[test]
fn book_listing_is_short_and_ends_with_an_empty_line() {
    let mut engine = engine(&[]);
    engine.send("bk");
    let lines = engine.until(str::is_empty);
    assert!(lines.len() > 1);
    assert!(lines.iter().map(|line| line.len() + 1).sum::<usize>() < 4096);
    for line in &lines[..lines.len() - 1] {
        assert!(line.starts_with([' ', '\t']), "{line}");
    }
}

/// The book contains a single game. It does not contain the position after 1.e4 Nc6 2.Ke2 d5
/// 3.exd5, but the best line from there transposes into the game.
#[test]
fn line_transposing_into_the_book_is_reported_and_ends_the_search() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/books/dumb.pgn");
    let expected = "transposes to the book after 3 plies: Qxd5 Ke1 Nf6 (1 game, 0-1)";
    for (arguments, transposes) in [(["-b", book], true), (["--book", book], false)] {
        let mut engine = engine(&arguments);
        engine.send("force\ne2e4\nb8c6\ne1e2\nd7d5\ne4d5\nst 1\nnps 100000\ngo");
        let lines = engine.until_start("move ");
        assert_eq!(lines.iter().any(|line| line.ends_with(expected)), transposes, "{lines:#?}");
        assert_eq!(lines.contains(&format!("tellothers {expected}")), transposes, "{lines:#?}");
        assert_eq!(lines.last().map(String::as_str), Some("move d8d5"));
        engine.quit();
    }
}

#[test]
fn ping_waits_for_the_move() {
    let mut engine = engine(&["--no-book"]);
    engine.send("usermove e2e4\nping 7");
    let lines = engine.until(|line| line == "pong 7");
    assert!(lines.iter().any(|line| line.starts_with("move ")), "{lines:?}");
}

/// xboard drops a move that arrives while it is waiting for a pong, so the pong must come first.
/// The commands before the ping can be slow, because they may clear much memory, whereas a book
/// move takes no time.
#[test]
fn ping_before_the_turn_is_answered_before_the_move() {
    let mut engine = engine(&[]);
    for round in 0..10 {
        let ping = format!("memory {}\nping {round}\nusermove e2e4", 32 << (round % 2));
        engine.send(&format!("new\n{ping}"));
        let lines = engine.until_start("move ");
        assert!(lines.contains(&format!("pong {round}")), "{lines:?}");
    }
    engine.send("new\nst 0.2\nnps 0\noption OwnBook=0\nping 77\ngo");
    let lines = engine.until_start("move ");
    assert!(lines.contains(&"pong 77".to_owned()), "{lines:?}");
}

#[test]
fn ping_does_not_restart_pondering_or_analysis() {
    let mut engine = engine(&["--no-book"]);
    engine.send("hard\nst 1000000\nnps 0\nanalyze");
    engine.until(|line| line.starts_with("3 "));
    engine.sync();
    let next = engine.until(|line| !thinking(&[line.to_owned()]).is_empty());
    assert!(thinking(&next)[0].depth >= 3, "the analysis restarted");
    engine.send("exit\nnew\nnps 1000\nst 1\nusermove e2e4");
    engine.until_start("move");
    engine.sync();
}

#[test]
fn illegal_moves_and_unknown_commands_have_different_errors() {
    let mut engine = engine(&[]);
    for (line, answer) in [
        ("usermove e2e5", "Illegal move: e2e5"),
        ("e2e5", "Illegal move: e2e5"),
        ("Nf6", "Illegal move: Nf6"),
        ("@@@@", "Illegal move: @@@@"),
        ("a8Q", "Illegal move: a8Q"),
        ("usermove a7a8Q", "Illegal move: a7a8Q"),
        ("foo bar", "Error (unknown command): foo bar"),
        ("usermove foo", "Error (no move): foo"),
        ("sd x", "Error (expected a whole number in range): sd x"),
        ("undo", "Error (command not legal now): undo"),
        ("remove", "Error (command not legal now): remove"),
        ("variant atomic", "Error (unsupported variant): variant atomic"),
        // The error above is followed by a separate line with a message for the user.
        ("", "tellusererror cannot play atomic: Tabia supports only orthodox chess"),
        ("option Nonsense=3", "Error (unknown option): option Nonsense=3"),
    ] {
        engine.send(line);
        assert_eq!(engine.line(), answer);
    }
}

#[test]
fn san_and_coordinates_are_both_accepted() {
    let mut engine = engine(&[]);
    engine.send("force\nusermove e4\nusermove e7e5\nNf3\nb8c6\nusermove Bb5\nusermove Nf6\nO-O");
    assert_eq!(engine.sync(), Vec::<String>::new());
}

#[test]
fn illegal_position_is_reported_and_rejects_moves() {
    let mut engine = engine(&[]);
    engine.send("force\nsetboard 8/8/8/8/8/8/8/8 w - - 0 1");
    assert!(engine.line().starts_with("tellusererror Illegal position"));
    engine.send("usermove e2e4");
    assert_eq!(engine.line(), "Illegal move (illegal position): e2e4");
    engine.send("go\nanalyze\nexit\nnew\nforce\nusermove e2e4");
    assert_eq!(engine.sync(), Vec::<String>::new());
}

#[test]
fn setboard_with_black_to_move_is_searched() {
    let mut engine = engine(&["--no-book"]);
    engine.send("new\nforce\nb2b3\nsetboard 4k3/8/8/8/8/8/4q3/K7 b - - 0 1\nsd 6\ngo");
    let lines = engine.until_start("move");
    assert!(thinking(&lines).iter().any(|line| line.score > 0));
}

#[test]
fn engine_replies_to_either_side_after_new_and_setboard() {
    let mut engine = engine(&["--no-book"]);
    engine.send("new\nsd 6\nsetboard 4k3/8/8/8/8/8/4R3/K7 b - - 0 1");
    assert_eq!(engine.sync(), Vec::<String>::new(), "the engine does not begin");
    engine.send("usermove e8d8");
    engine.until_start("move");
}

#[test]
fn checkmate_is_claimed_when_on_the_board() {
    let mut engine = engine(&["--no-book"]);
    engine.send(&format!("force\nsetboard {MATE_IN_ONE}\ngo"));
    let lines = engine.until_start("move");
    assert_eq!(lines.last().map(String::as_str), Some("move a1a8"));
    assert_eq!(thinking(&lines).last().map(|line| line.score), Some(100_001));
    assert_eq!(engine.line(), "1-0 {White mates}");
    engine.send("force\nundo\nundo\nsetboard 8/8/8/8/8/5k2/6q1/7K w - - 0 1\ngo");
    assert_eq!(engine.until_start("0-1").last().map(String::as_str), Some("0-1 {Black mates}"));
}

#[test]
fn draws_are_claimed_by_rule_but_not_early() {
    let mut engine = engine(&["--no-book"]);
    engine.send("force\nsetboard 8/8/8/4k3/8/8/3R4/K7 w - - 97 90\nplayother");
    engine.send("usermove d2c2");
    let lines = engine.until_start("move");
    assert!(!lines.iter().any(|line| line.starts_with("1/2")), "{lines:?}");
    assert!(engine.sync().is_empty(), "99 plies are not a draw");
    engine.send("usermove c2c1");
    assert_eq!(engine.line(), "1/2-1/2 {Fifty-move rule}");
    engine.send("force\nsetboard 8/8/8/4k3/5N2/8/8/K7 b - - 0 1\nusermove e5f4");
    assert_eq!(engine.sync(), Vec::<String>::new(), "in force mode nothing is claimed");
}

#[test]
fn only_insufficient_material_is_claimed() {
    let mut engine = engine(&["--no-book"]);
    for (fen, mv, claimed) in [
        ("8/8/8/4k3/5N2/8/8/K7 b - - 0 1", "e5f4", true),
        ("8/8/8/4k3/5r2/7N/8/K7 w - - 0 1", "h3f4", true),
        ("8/8/4k1n1/8/5r2/7N/8/K7 w - - 0 1", "h3f4", false),
        ("8/8/4k1b1/8/5r2/7N/8/K7 w - - 0 1", "h3f4", false),
        ("8/8/3k2b1/8/5p2/4B3/8/K7 w - - 0 1", "e3f4", false),
    ] {
        engine.send(&format!("force\nsetboard {fen}\nplayother\nsd 2\nusermove {mv}"));
        let lines = engine.sync();
        let first = lines.iter().find(|line| line.starts_with("move") || line.starts_with("1/2"));
        let claim = first.is_some_and(|line| line == "1/2-1/2 {Insufficient material}");
        assert_eq!(claim, claimed, "{fen}: {lines:?}");
    }
}

#[test]
fn all_level_forms_are_accepted() {
    let mut engine = engine(&["--no-book"]);
    engine.send("level 40 5 0\nlevel 40 0:30 0\nlevel 0 2 12\nlevel 0 0:10 0.05\nlevel 20 22+5 0");
    engine.send("st 0.01\ntime 100\notim -20\nsd 3\nnps 1000\nlevel 0 1 0");
    assert_eq!(engine.sync(), Vec::<String>::new());
    engine.send("usermove e2e4");
    let lines = engine.until_start("move");
    assert!(thinking(&lines).iter().all(|line| line.depth <= 3));
}

#[test]
fn node_rate_replaces_time() {
    let mut engine = engine(&["--no-book"]);
    engine.send("st 1\nnps 3000\nusermove e2e4");
    let lines = thinking(&engine.until_start("move"));
    assert!(lines.iter().all(|line| line.nodes <= 3000), "{lines:?}");
}

#[test]
fn analysis_follows_moves_and_reports_status() {
    let mut engine = engine(&[]);
    engine.send("analyze");
    engine.until(|line| line.starts_with("4 "));
    engine.send(".");
    let status = engine.until_start("stat01:");
    let status = Reply::from(status.last().expect("a line").as_str());
    let Reply::Status(status) = status else { panic!("no status") };
    assert_eq!(status.moves, 20);
    engine.send("usermove e2e4");
    engine.until(|line| line.starts_with("4 "));
    engine.send(&format!("setboard {MATE_IN_ONE}"));
    engine.until(|line| line.contains("Ra8#"));
    engine.send("undo");
    assert!(!engine.until_start("Error").is_empty());
    engine.send("new\nusermove d2d4\nundo\nbk\nhint\nexit");
    engine.sync();
    assert!(
        !engine.received.iter().any(|line| line.starts_with("move")),
        "analysis plays no moves"
    );
    engine.send(".");
    assert_eq!(engine.sync(), Vec::<String>::new(), "no search is running");
}

#[test]
fn moves_can_be_excluded_and_included() {
    let mut engine = engine(&[]);
    engine.send(&format!("setboard {MATE_IN_ONE}\nanalyze"));
    engine.until(|line| line.contains("Ra8#"));
    engine.send("exclude a1a8");
    engine.sync();
    // Wait for a later iteration, because the first ones may have been reported before the pong.
    let lines = engine.until(|line| reaches(line, 5));
    assert!(!lines.iter().any(|line| line.contains("\tRa8")), "{lines:?}");
    // Send no ping here, because the search soon ends with a mate, and its lines could all arrive
    // before the pong.
    engine.send("exclude all\ninclude a1a8");
    engine.until(|line| line.contains("\tRa8#"));
    engine.send("include all\nexclude e2e5");
    let lines = engine.until_start("Error");
    assert!(lines.last().expect("a line").contains("not a legal move"));
}

#[test]
fn result_is_accepted_at_any_time() {
    let mut engine = engine(&["--no-book"]);
    engine.send("st 1000000\nnps 0\nhard\nusermove e2e4\nresult 1-0 {Black resigns}\nforce");
    let lines = engine.sync();
    assert!(!lines.iter().any(|line| line.starts_with("move")), "{lines:?}");
    engine.send("new\nst 1\nnps 100\nusermove e2e4");
    engine.until_start("move");
}

/// The expected reply is reported with a `Hint:` line, because python-chess attributes the first
/// lines of pondering to the previous search.
#[test]
fn expected_reply_is_reported_with_the_move() {
    let mut engine = engine(&["--no-book"]);
    engine.send("post\nhard\nusermove e2e4");
    engine.until_start("move");
    let hint = engine.line();
    let expected = hint.strip_prefix("Hint: ").expect(&hint).to_owned();
    let line = engine.line();
    assert!(line.split_whitespace().any(|word| word == expected), "{hint}: {line}");
    engine.send(&format!("usermove {expected}\n?"));
    engine.until_start("move");
    engine.send("easy\nnew\nsd 6\nusermove e2e4");
    engine.until_start("move");
    let lines = engine.sync();
    assert!(!lines.iter().any(|line| line.starts_with("Hint:")), "{lines:?}");
}

#[test]
fn result_ends_pondering() {
    let mut engine = engine(&["--no-book"]);
    engine.send("hard\nusermove e2e4");
    engine.until_start("move");
    engine.send(".");
    engine.until_start("stat01:");
    engine.send("result 1/2-1/2 {Mutual agreement}");
    engine.sync();
    engine.send(".");
    assert_eq!(engine.sync(), Vec::<String>::new(), "no search is running");
    engine.send("force\nusermove d2d4\nnew\nst 1\nnps 100\nusermove e2e4");
    engine.until_start("move");
}

#[test]
fn settings_can_change_at_any_time() {
    let mut engine = engine(&["--no-book"]);
    engine.send("st 1000000\nnps 0\nusermove e2e4\nmemory 2\ncores 2\noption MultiPV=2");
    engine.send("option BookSearch=stop\noption ClearHash\neasy\nhard\ncores 1\n?");
    engine.until_start("move");
    engine.send("memory 4\ncores 2\noption OwnBook=1\nusermove d2d4\n?");
    engine.until_start("move");
    engine.send("analyze\nmemory 1\ncores 1\noption MultiPV=3");
    engine.sync();
    // Wait for a later iteration, because the first ones may have been reported before the pong.
    engine.until(|line| reaches(line, 3));
    engine.send("exit");
    engine.sync();
    assert!(!engine.received.iter().any(|line| line.starts_with("Error")));
}

#[test]
fn moves_can_be_taken_back_while_thinking() {
    let mut engine = engine(&["--no-book"]);
    engine.send("st 1000000\nnps 0\nusermove e2e4\nundo");
    assert!(!engine.sync().iter().any(|line| line.starts_with("move")));
    engine.send("usermove d2d4\n?");
    engine.until_start("move");
    engine.send("remove\nusermove c2c4\n?");
    engine.until_start("move");
    engine.send("force\nundo\nundo\nundo");
    let lines = engine.sync();
    assert_eq!(lines.iter().filter(|line| line.starts_with("Error")).count(), 1, "{lines:?}");
}

#[test]
fn repeated_moves_without_new_are_answered() {
    let mut engine = engine(&["--no-book"]);
    for _ in 0..3 {
        engine.send("force\nusermove e2e4\ngo");
        engine.until_start("move");
        engine.send("force\nundo\nundo");
    }
    assert!(engine.sync().iter().all(|line| !line.starts_with("Error")));
}

#[test]
fn sides_can_be_changed() {
    let mut engine = engine(&["--no-book"]);
    engine.send("force\nusermove e2e4\nplayother");
    assert!(!engine.sync().iter().any(|line| line.starts_with("move")));
    engine.send("usermove e7e5");
    engine.until_start("move");
    engine.send("go");
    engine.until_start("move");
    engine.sync();
}

#[test]
fn pause_stops_and_resume_restarts_the_search() {
    let mut engine = engine(&["--no-book"]);
    engine.send("usermove e2e4\npause");
    engine.sync();
    engine.send("resume");
    engine.sync();
    let moves = engine.received.iter().filter(|line| line.starts_with("move")).count();
    assert_eq!(moves, 1);
}

#[test]
fn garbage_input_is_answered_with_errors() {
    let mut engine = engine(&[]);
    engine.send_bytes(b"\0\0\xff\xfe\n\r\n \t \nusermove \0\nsetboard \xff\n");
    engine.send_bytes(&[vec![b'e'; 2 << 20], b"\n".to_vec()].concat());
    engine
        .send("level 99999999999 1 1\nst 1e9\ntime 99999999999999999999\nping -1\nexclude\noption");
    engine.send("force\nusermove e2e4");
    let lines = engine.sync();
    assert!(lines.iter().any(|line| line.starts_with("Error (line too long): eee")));
    assert!(lines.iter().all(|line| line.len() < 300));
    assert_eq!(engine.quit(), "");
}

#[test]
fn end_of_input_ends_the_engine_during_a_search() {
    for unfinished in ["", "usermov", "quit"] {
        let mut engine = engine(&["--no-book"]);
        engine.send("st 1000000\nnps 0\nusermove e2e4");
        engine.send_bytes(unfinished.as_bytes());
        engine.close();
        assert!(engine.wait().success());
    }
}

#[cfg(unix)]
#[test]
fn sigint_is_ignored_and_sigterm_ends_the_engine() {
    let mut engine = engine(&["--no-book"]);
    engine.send("st 1000000\nnps 0\nusermove e2e4");
    engine.until(|line| line.starts_with("3 "));
    engine.signal("-INT");
    engine.send("?");
    engine.until_start("move");
    engine.signal("-TERM");
    assert!(engine.wait().success());
}

#[test]
fn log_is_written_to_the_given_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let mut engine = engine(&["--log", path.to_str().expect("UTF-8")]);
    engine.send("ping 5");
    engine.until(|line| line == "pong 5");
    assert_eq!(engine.quit(), "");
    let log = std::fs::read_to_string(path).expect("a log");
    assert!(log.contains("< ping 5") && log.contains("> pong 5"), "{log}");
}

#[test]
fn log_can_start_and_stop_at_any_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let mut engine = engine(&[]);
    engine.send(&format!(
        "ping 1\noption LogFile={}\nping 2\noption LogFile=\nping 3",
        path.display()
    ));
    engine.until(|line| line == "pong 3");
    assert_eq!(engine.quit(), "");
    let log = std::fs::read_to_string(path).expect("a log");
    let logged = ["ping 1", "ping 2", "ping 3"].map(|line| log.contains(line));
    assert_eq!(logged, [false, true, false], "{log}");
}

#[test]
fn chess960_is_rejected_with_a_clear_message() {
    let mut engine = engine(&["--no-book"]);
    engine.send("variant fischerandom");
    assert_eq!(engine.line(), "Error (unsupported variant): variant fischerandom");
    assert_eq!(
        engine.line(),
        "tellusererror cannot play fischerandom: Tabia supports only orthodox chess"
    );
    engine.send("setboard rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1");
    let line = engine.line();
    assert!(
        line.starts_with("tellusererror Illegal position") && line.contains("Chess960"),
        "{line}"
    );
}

#[test]
fn strength_options_are_declared() {
    let mut engine = Engine::start(&["-x", "--no-book", "--elo", "900"]);
    engine.send("xboard\nprotover 2");
    let lines = engine.until(|line| line == "feature done=1");
    for option in [
        "LimitStrength -check 1",
        "Elo -spin 900 800 ",
        "HumanPauses -check 0",
        "OpponentBook -file ",
    ] {
        let declared = format!("feature option=\"{option}");
        assert!(lines.iter().any(|line| line.starts_with(&declared)), "{option}: {lines:?}");
    }
    // With limited strength, the engine moves early; otherwise, this move would take a day.
    engine.send("new\nst 86400\npost\nusermove e2e4");
    engine.until_start("move ");
    let begin = std::time::Instant::now();
    engine.send("new\noption HumanPauses=1\nst 1\nusermove e2e4");
    engine.until_start("move ");
    assert!(begin.elapsed().as_millis() >= 100, "pauses are enabled");
}
