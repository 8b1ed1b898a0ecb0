//! Regression tests for input from GUIs and from users at a terminal.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use tabia::position::{Position, perft};

use crate::support::terminal::Terminal;
use crate::support::{self, Engine, PROGRAM};

fn uci(arguments: &[&str]) -> Engine {
    let mut engine = Engine::start(&[&["--uci"], arguments].concat());
    engine.send("uci");
    engine.until(|line| line == "uciok");
    engine
}

fn tabia(arguments: &[&str]) -> std::process::Output {
    support::tabia(arguments, Path::new("."))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn invalid_settings(folder: &Path) -> Vec<Vec<String>> {
    let file = |name: &str| folder.join(name).display().to_string();
    fs::write(file("noise.tbk"), "noise").expect("written");
    fs::write(file("noise.nnue"), "noise").expect("written");
    let settings = [
        ("-b", file("missing.pgn")),
        ("-b", file("noise.tbk")),
        ("--book", folder.display().to_string()),
        ("--network", file("missing.nnue")),
        ("--network", file("noise.nnue")),
        ("--egtpath", file("missing")),
        ("--log", file("missing/log")),
    ];
    settings.map(|(name, value)| vec![name.to_owned(), value]).to_vec()
}

#[test]
fn invalid_setting_is_reported_to_xboard_and_the_game_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in invalid_settings(folder.path()) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut engine = Engine::start(&[&["-x"], &arguments[..]].concat());
        engine.send("xboard\nprotover 2");
        engine.until(|line| line == "feature done=1");
        let printed = engine.line();
        assert!(printed.starts_with("tellusererror "), "{arguments:?}: {printed}");
        // These words must not occur, because xboard takes them to mean that the engine failed to
        // start.
        for fatal in ["not found", "No such file", "Permission denied"] {
            assert!(!printed.contains(fatal), "{printed}");
        }
        engine.send("new\nst 0.05\ne2e4");
        engine.until_start("move ");
        assert_eq!(engine.received.iter().filter(|line| line.contains("error")).count(), 1);
        assert_eq!(engine.quit(), "", "standard error is empty");
    }
}

#[test]
fn several_invalid_settings_give_one_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = invalid_settings(folder.path());
    let arguments: Vec<&str> =
        [&all[0], &all[3], &all[5]].into_iter().flatten().map(String::as_str).collect();
    let mut engine = Engine::start(&[&["-x"], &arguments[..]].concat());
    engine.send("xboard\nprotover 2");
    engine.sync();
    let messages: Vec<&String> =
        engine.received.iter().filter(|line| line.starts_with("tell")).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    for name in ["missing.pgn", "missing.nnue", "missing: "] {
        assert!(messages[0].contains(name), "{messages:?}");
    }
    let mut engine = uci(&arguments);
    engine.send("isready\nposition startpos\ngo movetime 20");
    engine.until_start("bestmove");
    let messages = engine.received.iter().filter(|line| line.contains("missing.pgn"));
    let messages: Vec<&String> = messages.collect();
    assert_eq!(messages.len(), 1, "{:?}", engine.received);
    assert!(
        messages[0].starts_with("info string ") && messages[0].contains("missing.nnue"),
        "{messages:?}"
    );
}

#[test]
fn valid_books_are_kept_if_another_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = folder.path().join("good.pgn").display().to_string();
    fs::write(&good, "[Event \"?\"]\n[Result \"1-0\"]\n\n1. a4 a5 1-0\n").expect("written");
    let mut engine = Engine::start(&["-x", "-b", "missing.tbk", "-b", &good]);
    engine.send("xboard\nprotover 2\nnew\nbk");
    let lines = engine.until(str::is_empty);
    assert!(lines.iter().any(|line| line.starts_with(" a4 ")), "{lines:?}");
    let option = format!("feature option=\"BookFile -file {good}\"");
    assert!(lines.contains(&option), "the option shows the books in use: {lines:?}");
}

/// Startup errors are reported even if the GUI never requests the features or closes the input at
/// once.
#[test]
fn startup_errors_are_reported_without_a_features_request() {
    let mut engine = Engine::start(&["-x", "-b", "missing.tbk"]);
    engine.send("xboard\nnew");
    engine.until_start("tellusererror ");
    let printed = text(&tabia(&["-x", "-b", "missing.tbk"]).stdout);
    assert!(printed.contains("tellusererror cannot read missing.tbk"), "{printed}");
}

/// Argument errors are reported in the xboard protocol, because xboard would otherwise wait forever
/// for an engine that has exited.
#[test]
fn invalid_arguments_are_reported_to_xboard() {
    let output = tabia(&["-x", "--cores", "none"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).starts_with("tellusererror tabia: "), "{output:?}");
}

#[test]
fn win_rates_are_reported_if_enabled() {
    let mut engine = uci(&["--no-book"]);
    let offered = "option name UCI_ShowWDL type check default false";
    assert!(engine.received.iter().any(|line| line == offered), "{:?}", engine.received);
    engine.send("position startpos\ngo depth 5");
    let lines = engine.until_start("bestmove");
    assert!(!lines.iter().any(|line| line.contains(" wdl ")), "{lines:?}");
    engine.send("setoption name UCI_ShowWDL value true\nposition startpos\ngo depth 5");
    let level = engine.until_start("bestmove");
    engine.send("position fen 4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1\ngo depth 5");
    let won = engine.until_start("bestmove");
    for (lines, least, most) in [(level, 100, 600), (won, 900, 1000)] {
        let reports: Vec<&String> = lines.iter().filter(|line| line.contains(" score ")).collect();
        assert!(!reports.is_empty());
        for report in reports {
            let (_, rest) = report.split_once(" wdl ").expect(report);
            let numbers: Vec<u32> =
                rest.split(' ').take(3).map(|word| word.parse().expect(report)).collect();
            assert_eq!(numbers.iter().sum::<u32>(), 1000, "{report}");
            assert!((least..=most).contains(&numbers[0]), "{report}");
        }
    }
}

#[test]
fn invalid_search_limit_is_reported_and_ignored() {
    let mut engine = uci(&["--no-book"]);
    for (go, messages) in [
        ("go depth x", "depth x"),
        ("go depth", "depth "),
        ("go depth -3", "depth -3"),
        ("go wtime one btime 1000", "wtime one"),
        ("go nodes 1e6", "nodes 1e6"),
        ("go movetime", "movetime "),
    ] {
        engine.send(&format!("position startpos\n{go}"));
        let lines = engine.until_start("bestmove");
        assert_eq!(
            lines[0].trim_end(),
            format!("info string go: ignored, not a number: {messages}").trim_end()
        );
        let depth = |line: &str| line.strip_prefix("info depth ")?.split(' ').next()?.parse().ok();
        let deepest: i32 = lines.iter().filter_map(|line| depth(line)).max().expect("a search");
        assert!(deepest >= 6, "no real search for {go}: {lines:?}");
    }
    engine.send("position startpos\ngo depth x nodes 300 joho");
    let lines = engine.until_start("bestmove");
    assert!(!lines.iter().any(|line| line.contains("no limit")), "{lines:?}");
    engine.send("go infinite depth x\nisready");
    engine.until(|line| line == "readyok");
    engine.send("stop");
    engine.until_start("bestmove");
}

#[test]
fn unknown_words_are_ignored() {
    let mut engine = Engine::start(&["--no-book"]);
    engine.send("joho uci");
    engine.until(|line| line == "uciok");
    engine.send("nonsense\njoho debug on\nnonsense");
    assert_eq!(engine.line(), "info string unknown command: nonsense");
    engine.send("debug off\nnonsense\nsetoption joho name MultiPV value 2\njoho isready");
    assert_eq!(engine.until(|line| line == "readyok"), ["readyok"]);
    let mate = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
    engine.send(&format!("position joho fen {mate}\njoho go joho depth 3"));
    let lines = engine.until_start("bestmove");
    assert!(lines.iter().any(|line| line.contains(" multipv 2 ")), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove a1a8"));
    // A `position` command without `startpos` or `fen` is an error, and the previous position is
    // not searched instead.
    engine.send(&format!("position {mate}\ngo depth 3"));
    assert!(engine.line().starts_with("info string cannot set the position: "));
    assert_eq!(engine.line(), "bestmove 0000");
}

#[test]
fn argument_errors_name_the_help_of_their_command() {
    for (arguments, words, command) in [
        (&["book", "build"][..], "--output", "tabia book build"),
        (&["book", "build", "--nonsense"], "'--nonsense'", "tabia book build"),
        (&["book"], "a command is missing", "tabia book"),
        (&["book", "nonsense"], "'nonsense'", "tabia book"),
        (&["perft", "x"], "expected a whole number", "tabia perft"),
        (&["perft", "1", "startpos"], "found 1 field.", "tabia perft"),
        (&["perft", "99999999999"], "not in 1..=99", "tabia perft"),
        (&["eval", "startpos"], "found 1 field.", "tabia eval"),
        (&["bench", "--depth", ""], "expected a whole number", "tabia bench"),
        (&["book", "show", "embedded", "--fen", "x"], "found 1 field.", "tabia book show"),
        (&["autoplay"], "two engines are needed", "tabia autoplay"),
        #[cfg(feature = "train")]
        (&["train", "tune", "x", "--epochs", "0x3"], "expected a whole number", "tabia train tune"),
        (&["--cores", "many"], "expected a whole number", "tabia"),
        (&["--nonsense"], "'--nonsense'", "tabia"),
    ] {
        let output = tabia(arguments);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {printed}");
        assert!(printed.contains(words), "{arguments:?}: {printed}");
        let help = format!(". For more information, try '{command} --help'.\n");
        assert!(printed.ends_with(&help), "{arguments:?}: {printed}");
        assert!(!printed.contains("digit") && !printed.contains("1 fields"), "{printed}");
    }
}

#[test]
fn proposal_for_a_wrong_command_ends_with_a_question_mark() {
    let output = tabia(&["bock"]);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("did you mean `book`? For more information"), "{printed}");
}

#[test]
fn help_command_equals_the_help_option() {
    for (arguments, same) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "perft"], &["perft", "--help"]),
        (&["help", "book", "build"], &["book", "build", "--help"]),
        (&["book", "help", "build"], &["book", "build", "--help"]),
    ] {
        let output = tabia(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert_eq!(text(&output.stdout), text(&tabia(same).stdout), "{arguments:?}");
    }
}

#[test]
fn duplicate_castling_rights_are_rejected() {
    for castling in ["KKKK", "KK", "KQkqK", "QQ", "KHkq"] {
        let fen = format!("r3k2r/8/8/8/8/8/8/R3K2R w {castling} - 0 1");
        let error = Position::from_fen(&fen).expect_err(castling).to_string();
        assert!(error.contains("more than once"), "{castling}: {error}");
    }
    for castling in ["-", "K", "qK", "KQkq", "HAha"] {
        let fen = format!("r3k2r/8/8/8/8/8/8/R3K2R w {castling} - 0 1");
        assert!(Position::from_fen(&fen).is_ok(), "{castling}");
    }
}

/// Counts the legal moves of a position without the move generator, by testing every combination of
/// squares and promotion piece.
fn moves_one_by_one(position: &Position) -> usize {
    let squares =
        || ('1'..='8').flat_map(|rank| ('a'..='h').map(move |file| format!("{file}{rank}")));
    let pairs = squares().flat_map(|from| squares().map(move |to| format!("{from}{to}")));
    let texts =
        pairs.flat_map(|pair| ["", "n", "b", "r", "q"].map(|piece| format!("{pair}{piece}")));
    let legal = |text: &String| text.parse().is_ok_and(|mv| position.is_legal(mv));
    texts.filter(legal).count()
}

#[test]
fn any_sixteen_pieces_per_side_are_accepted() {
    for (fen, moves) in [
        // Three rooks and eight pawns, which is impossible in a game.
        ("4k3/pppppppp/8/8/8/8/PPPPPPPP/RRR1K3 w - - 0 1", 19),
        // The position with the most moves among those that a game can reach: R. Petrović, 1964.
        ("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", 218),
        // Fifteen queens have more moves than are possible in a game. The move counts of this
        // position and the next were computed with python-chess.
        ("krQ4Q/rr3Q2/3Q4/QQ4Q1/4Q3/1Q5Q/5Q2/Q1QQ2QK w - - 0 1", 236),
        ("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", 83),
    ] {
        let position = Position::from_fen(fen).expect(fen);
        let counted = perft(&position, 1) as usize;
        assert_eq!(counted, moves, "{fen}");
        assert_eq!(counted, moves_one_by_one(&position), "{fen}");
        let output = tabia(&["eval", fen]);
        assert!(output.status.success(), "{fen}: {output:?}");
        let mut engine = uci(&["--no-book"]);
        // With thirty queens, not even the first iteration finishes, but the time limit must still
        // be respected.
        engine.send(&format!("position fen {fen}\ngo movetime 100"));
        engine.until_start("bestmove");
    }
    let error = Position::from_fen("4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1").expect_err("9 pawns");
    assert!(error.to_string().contains("9 pawns"), "{error}");
    let error = Position::from_fen("nnnnknnn/nnnnnnnn/n7/8/8/8/8/4K3 w - - 0 1").expect_err("17");
    assert!(error.to_string().contains("17 pieces"), "{error}");
}

/// Starts a perft that would take many hours, and returns the terminal in which it runs.
fn start_perft(folder: &Path) -> Terminal {
    let mut terminal = Terminal::start(folder);
    terminal.answer(&["force", "e4", "perft 99"]);
    terminal.wait_for("Ctrl-C ends it");
    terminal
}

#[test]
fn perft_ends_on_quit_and_sighup() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = start_perft(folder.path());
    terminal.enter("quit");
    assert!(terminal.wait_for_end().success());
    let mut terminal = start_perft(folder.path());
    kill_process(Pid::from_child(&terminal.child), Signal::HUP).expect("sent");
    assert!(terminal.wait_for_end().success());
    let kept = fs::read_to_string(folder.path().join("tabia/games.pgn")).expect("games are kept");
    assert_eq!(kept.matches("1. e4 *").count(), 2, "{kept}");
}

#[test]
fn perft_ends_on_ctrl_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = start_perft(folder.path());
    // Input typed during the perft is processed only after the perft has ended.
    terminal.enter("e5");
    kill_process(Pid::from_child(&terminal.child), Signal::INT).expect("sent");
    terminal.wait_for(" nodes so far");
    terminal.answer(&["perft 1"]);
    terminal.wait_for("29 nodes");
}

#[test]
fn perft_command_prints_counts_and_ends_on_ctrl_c() {
    // Restore the default action of Ctrl-C, which child processes ignore if a shell runs the tests
    // in the background.
    let mut child = std::process::Command::new("env")
        .args(["--default-signal=INT", PROGRAM])
        .args(["perft", "99", "7k/8/8/8/8/8/8/K7 w - - 0 1"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    // Wait until `env` has replaced itself with the program, because the signal may be ignored
    // before that.
    let program = format!("/proc/{}/exe", child.id());
    let is_started = || fs::read_link(&program).is_ok_and(|path| path.ends_with("tabia"));
    while !is_started() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("sent");
    assert!(!child.wait().expect("ended").success());
}

#[test]
fn console_escapes_control_characters_of_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    let name = "A\x1b]0;title\x07\u{9b}31m\u{202e}B\nWhite wins";
    let game = format!(
        "[Event \"x\"]\n[White \"{name}\"]\n[Black \"C\"]\n[Result \"*\"]\n\n\
         1. e4 {{D\x1b[2J\u{202e}E}} e5 *\n"
    );
    fs::write(&file, game).expect("written");
    let mut terminal = Terminal::start(folder.path());
    let file = file.display();
    terminal.answer(&[&format!("pgnload {file}"), &format!("list {file}"), "show game", "quit"]);
    assert!(terminal.wait_for_end().success());
    let shown = terminal.everything();
    for foreign in ["\x1b]", "\x1b[2J", "\u{9b}", "\u{202e}", "\x07"] {
        assert!(!shown.contains(foreign), "{foreign:?} in {shown:?}");
    }
    assert!(shown.contains("]0;title"), "{shown}");
}

#[test]
fn commands_before_the_end_of_input_are_answered() {
    for _ in 0..20 {
        let mut engine = Engine::start(&["-x", "--no-book"]);
        engine.send("xboard\nprotover 2\nmemory 2\nping 1\nst 1000000\nusermove e2e4\nping 2");
        engine.close();
        let replies = engine.rest();
        let place = |start| replies.iter().position(|line| line.starts_with(start));
        let (first, mv, second) = (place("pong 1"), place("move "), place("pong 2"));
        assert!(first.is_some() && first < mv && mv < second, "{replies:?}");
        assert!(engine.wait().success());
    }
}
